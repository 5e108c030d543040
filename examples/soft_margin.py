"""Slacks: points inside the margin, or across the plane, pay ξ = 1 − z. The larger C is, the dearer."""

import matplotlib.pyplot as plt
import numpy as np

from linsep import LinearSVC
from linsep.display import BoundaryDisplay

plt.style.use("linsep.display.slides")

rng = np.random.default_rng(6)
X = np.vstack([rng.normal([0, 0], 1, (25, 2)), rng.normal([2.6, 1.6], 1, (25, 2))])
y = np.repeat([-1, 1], 25)

fig, axes = plt.subplots(1, 2, figsize=(13.33, 6.8), sharey=True)
displays = {}
for ax, C in zip(axes, (0.05, 10.0), strict=True):
    model = LinearSVC(C=C).fit(X, y)
    title = f"C = {C:g}: margin {1 / np.linalg.norm(model.coef_):.2f}, Σξ = {model.slack_.sum():.1f}"
    displays[C] = BoundaryDisplay.from_estimator(model, X, y, ax=ax, key=False)
    ax.set_title(f"{title},\n{len(displays[C].support)} support vectors")
    ax.set_ylabel("x1" if ax is axes[0] else "")
    displays[C].support_marks_.set_label("support vector")  # how many, each panel says itself
fig.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
plt.show()
