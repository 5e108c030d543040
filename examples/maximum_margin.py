"""Many planes separate; the one with the largest margin leaves the most room. Its support vectors hold it."""

import matplotlib.pyplot as plt
import numpy as np

from linsep import HardMarginSVC, LogisticRegression, Perceptron, geometry
from linsep.display import BoundaryDisplay

plt.style.use("linsep.display.slides")

rng = np.random.default_rng(4)
X = np.vstack([rng.normal([0, 0], 0.8, (20, 2)), rng.normal([3.2, 2.4], 0.8, (20, 2))])
y = np.repeat([-1, 1], 20)

models = {
    "perceptron": Perceptron(order="cyclic").fit(X, y),
    "logistic regression": LogisticRegression().fit(X, y),
    "maximum margin": HardMarginSVC().fit(X, y),
}
margins = {name: geometry.margin(X, y, model.coef_[0], model.intercept_[0]) for name, model in models.items()}
fig, axes = plt.subplots(1, 3, figsize=(13.33, 5.6), sharey=True)
displays = {}
for ax, (name, model) in zip(axes, models.items(), strict=True):
    title = f"{name}:\nmargin {margins[name]:.3f}"
    displays[name] = BoundaryDisplay.from_estimator(model, X, y, ax=ax, title=title, key=False)
    ax.set_ylabel("x1" if ax is axes[0] else "")
fig.legend(*axes[2].get_legend_handles_labels(), loc="outside lower center", ncols=5)
plt.show()
