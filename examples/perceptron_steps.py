"""The perceptron, update by update: the example that causes each one, and the plane before and after it."""

import matplotlib.pyplot as plt
import numpy as np

from linsep import Perceptron
from linsep.display import BoundaryDisplay
from linsep.palette import LIGHT

rng = np.random.default_rng(8)
X = np.vstack([rng.normal([1.0, 2.6], 0.7, (12, 2)), rng.normal([2.6, 0.8], 0.7, (12, 2))])
y = np.repeat([-1, 1], 12)
order = rng.permutation(len(y))
X, y = X[order], y[order]

model = Perceptron(order="cyclic", record="update").fit(X, y)
updates = [record for record in model.history_.records if record.example >= 0]
shown = updates[:6]

fig, axes = plt.subplots(2, 3, figsize=(12, 7), layout="constrained", squeeze=False)
for ax in axes.ravel()[len(shown) :]:
    ax.set_axis_off()
before = np.zeros(3)  # w = 0, b = 0: no plane yet
for k, (ax, record) in enumerate(zip(axes.ravel(), shown, strict=False)):
    w, b = record.iterate[:2], record.iterate[2]
    mistakes = int((y * (X @ w + b) <= 0).sum())
    display = BoundaryDisplay(X, (y > 0).astype(int), [-1, 1], w[None], np.array([b]))
    title = f"update {k + 1}: {mistakes} mistake{'s' * (mistakes != 1)} left"
    display.plot(ax, key=False, title=title)
    if before[:2].any():
        through = -before[2] * before[:2] / (before[:2] @ before[:2])
        ax.axline(through, slope=-before[0] / before[1], color=LIGHT.muted, linestyle="--", linewidth=1.2)
    ax.plot(*X[record.example], marker="o", markersize=15, fillstyle="none", color=LIGHT.text, linestyle="none")
    before = record.iterate
print(f"{model.mistakes_} updates until no example is misclassified. Circled: the example that caused each one;")
print("dashed: the plane before it, which had that example on the wrong side.")
plt.show()
