"""Data that a line separates, and data that none does: the convex hulls share a point, and linsep names its rows."""

import matplotlib.pyplot as plt
import numpy as np
from scipy.spatial import ConvexHull

from linsep import palette, separability

plt.style.use("linsep.display.slides")

rng = np.random.default_rng(12)
negative, positive = rng.normal([0, 0], 1, (25, 2)), rng.normal([0, 0], 1, (25, 2))
y = np.repeat([-1, 1], 25)
colours = (palette.LIGHT.negative, palette.LIGHT.positive)

fig, axes = plt.subplots(1, 2, figsize=(13.33, 6.4), sharey=True)
verdicts = []
for ax, shift in zip(axes, (5.0, 2.5), strict=True):
    X = np.vstack([negative, positive + np.array([shift, 1.0])]).round(2)
    found = separability(X, y)
    verdicts.append(found)
    for points, colour, marker in zip((X[:25], X[25:]), colours, palette.MARKERS, strict=False):
        ax.scatter(*points.T, color=colour, marker=marker, s=70)
        ax.fill(*points[ConvexHull(points).vertices].T, color=colour, alpha=0.15)
    if found.separable:
        through = -found.intercept * found.coef / (found.coef @ found.coef)
        ax.axline(through, slope=-found.coef[0] / found.coef[1], color=palette.LIGHT.text)
        words = f"separable: margin {found.margin:.2f}"
    else:
        common = [float(coordinate) for coordinate in found.common]
        for row, weight in zip(found.points, found.weights, strict=True):
            ax.plot(*np.array([common, X[row]]).T, color=colours[int(y[row] > 0)], linewidth=3)
            away = 34 * (X[row] - common) / np.linalg.norm(X[row] - common)  # from the star, where there is room
            box = dict(boxstyle="round,pad=0.1", facecolor="white", edgecolor="none", alpha=0.8)
            place = dict(textcoords="offset points", xytext=away, ha="center", va="center", weight="bold", bbox=box)
            ax.annotate(f"{float(weight):.0%}", X[row], color=colours[int(y[row] > 0)], **place)
        ax.plot(*common, "k*", markersize=24)
        words = "overlap: ★ lies in both hulls"
    ax.set(xlabel="x0", ylabel="x1" if ax is axes[0] else "")
    ax.set_title(words)
    assert found.verify(X, y)  # in exact arithmetic, from the data
    print(found)
plt.show()
