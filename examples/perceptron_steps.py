"""The perceptron, update by update: the example that causes each one, w and b after it, and the plane before."""

import matplotlib.pyplot as plt
import numpy as np

from linsep import Perceptron
from linsep.display import BoundaryDisplay
from linsep.palette import LIGHT

plt.style.use("linsep.display.slides")

rng = np.random.default_rng(0)
X = np.vstack([rng.normal([1.0, 2.6], 0.7, (12, 2)), rng.normal([2.6, 0.8], 0.7, (12, 2))]).round(1)
y = np.repeat([-1, 1], 12)
order = rng.permutation(len(y))
X, y = X[order], y[order]

model = Perceptron(order="cyclic", record="update").fit(X, y)
steps = [record for record in model.history_.records if record.updates > 0]
updates = [next(record for record in steps if record.updates == k) for k in range(1, model.mistakes_ + 1)]
shown = updates[:6]

fig, axes = plt.subplots(2, 3, figsize=(13.33, 7.5), sharex=True, sharey=True)
for ax in axes.ravel()[len(shown) :]:
    ax.set_axis_off()
before = np.zeros(3)  # w = 0, b = 0: no plane yet
for ax, record in zip(axes.ravel(), shown, strict=False):
    w, b = record.iterate[:2], record.iterate[2]
    display = BoundaryDisplay(X, (y > 0).astype(int), [-1, 1], w[None], np.array([b]), labels=("", ""))
    numbers = f"w = ({w[0]:.1f}, {w[1]:.1f}), b = {b:g}".replace("-", "−")
    display.plot(ax, key=False, title=f"{record.updates:.0f}: {numbers}")
    ax.set_aspect("auto")
    if before[:2].any():
        through = -before[2] * before[:2] / (before[:2] @ before[:2])
        ax.axline(through, slope=-before[0] / before[1], color=LIGHT.muted, linestyle="--", linewidth=1.8)
    ax.plot(*X[record.example], marker="o", markersize=22, fillstyle="none", color=LIGHT.series[3], markeredgewidth=2.5)
    before = record.iterate
circle = plt.Line2D([], [], marker="o", markersize=18, fillstyle="none", color=LIGHT.series[3], linestyle="none")
now, then = (plt.Line2D([], [], color=c, linestyle=s) for c, s in ((LIGHT.text, "-"), (LIGHT.muted, "--")))
key = {"causes the update: w ← w + y·x, b ← b + y": circle, "plane after it": now, "plane before": then}
fig.legend(key.values(), key.keys(), loc="outside lower center", ncols=3)
mistakes = [int((y * (X @ record.iterate[:2] + record.iterate[2]) <= 0).sum()) for record in shown]
print(f"{model.mistakes_} updates until no example is misclassified. Circled: the example that caused each one;")
print(f"dashed: the plane before it, which had that example on the wrong side. Mistakes left: {mistakes}.")
plt.show()
