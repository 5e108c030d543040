"""Data that a line separates, and data that none does: the convex hulls share a point, and linsep names it."""

import matplotlib.pyplot as plt
import numpy as np
from scipy.spatial import ConvexHull

from linsep import palette, separability

rng = np.random.default_rng(0)
negative, positive = rng.normal([0, 0], 1, (25, 2)), rng.normal([0, 0], 1, (25, 2))
y = np.repeat([-1, 1], 25)

fig, axes = plt.subplots(1, 2, figsize=(10, 4.4), layout="constrained")
verdicts = []
for ax, shift in zip(axes, (5.0, 2.0), strict=True):
    X = np.vstack([negative, positive + np.array([shift, 1.0])])
    found = separability(X, y)
    verdicts.append(found)
    for points, colour, marker in ((X[:25], palette.LIGHT.negative, "s"), (X[25:], palette.LIGHT.positive, "o")):
        ax.scatter(*points.T, color=colour, marker=marker, s=24)
        ax.fill(*points[ConvexHull(points).vertices].T, color=colour, alpha=0.15)
    if found.separable:
        through = -found.intercept * found.coef / (found.coef @ found.coef)
        ax.axline(through, slope=-found.coef[0] / found.coef[1], color=palette.LIGHT.text)
    else:
        in_negative = y[found.points] < 0
        weights = np.array([float(w) for w in found.weights])
        common = weights[in_negative] @ X[found.points][in_negative]
        ax.plot(*common, "k*", markersize=15, label=f"in both hulls, from {len(found.points)} rows")
        ax.legend(loc="lower right")
    ax.set(xlabel="x0", ylabel="x1")
    ax.set_title(f"{found.verdict}, proven in exact arithmetic: {bool(found.verify(X, y))}", fontsize="medium")
plt.show()
