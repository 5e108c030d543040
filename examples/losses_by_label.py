"""The same losses against the prediction ŷ = w·x + b, for either label: z = yŷ, so one is the other's mirror image."""

import matplotlib.pyplot as plt
import numpy as np

from linsep.display import LossDisplay
from linsep.losses import Hinge, Logistic, Perceptron, ZeroOne
from linsep.palette import LIGHT

plt.style.use("linsep.display.slides")

predicted = np.linspace(-3, 3, 601)
losses = {loss.name.replace("_", "-"): loss for loss in (ZeroOne(), Perceptron(), Hinge(), Logistic())}

fig, axes = plt.subplots(1, 2, figsize=(13.33, 6), sharey=True)
curves = {}
for ax, y in zip(axes, (-1, 1), strict=True):
    curves |= {(name, y): loss.value(y * predicted) for name, loss in losses.items()}
    LossDisplay(predicted, {name: curves[name, y] for name in losses}).plot(ax)
    ax.texts[0].remove()  # which side is right depends on the label here
    ax.axvline(0, color=LIGHT.grid, zorder=0)
    ax.set(xlabel="prediction ŷ", ylabel="loss ℓ(ŷ, y)" if y < 0 else "")
    ax.set_title(f"y = {'+' if y > 0 else '−'}1: {'small' if y > 0 else 'large'} where ŷ is positive")
axes[0].legend(loc="upper left")
axes[1].legend(loc="upper right")
plt.show()
