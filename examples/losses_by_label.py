"""The same losses against the prediction ŷ = w·x + b, for either label: z = yŷ, so one is the other's mirror image."""

import matplotlib.pyplot as plt
import numpy as np

from linsep.losses import Hinge, Logistic, Perceptron, ZeroOne
from linsep.palette import LIGHT

predicted = np.linspace(-3, 3, 601)
losses = {"zero-one": ZeroOne(), "perceptron": Perceptron(), "hinge": Hinge(), "logistic": Logistic()}

fig, axes = plt.subplots(1, 2, figsize=(12, 4.4), layout="constrained", sharey=True)
curves = {}
for ax, y in zip(axes, (-1, 1), strict=True):
    for k, (name, loss) in enumerate(losses.items()):
        curves[name, y] = loss.value(y * predicted)
        style = dict(color=LIGHT.series[k], linestyle=("-", "--", "-.", ":")[k], linewidth=2)
        ax.plot(predicted, curves[name, y], label=name, **style)
    ax.axvline(0, color=LIGHT.grid, zorder=0)
    ax.set(
        xlabel="prediction ŷ",
        title=f"y = {'+' if y > 0 else '−'}1: {'small' if y > 0 else 'large'} where ŷ is positive",
    )
axes[0].set_ylabel("loss ℓ(ŷ, y)")
axes[0].legend()
plt.show()
