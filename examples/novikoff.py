"""R and γ, the two lengths in Novikoff's theorem, and the mistakes that a perceptron made against (R/γ)²."""

import matplotlib.pyplot as plt
import numpy as np

from linsep import HardMarginSVC, Perceptron
from linsep.display import BoundaryDisplay, NovikoffDisplay
from linsep.palette import LIGHT

rng = np.random.default_rng(9)
y = np.repeat([-1, 1], 60)
# Along (0.8, 0.6) both classes have the same spread; across it they are apart.
X = np.outer(rng.uniform(1, 5, 120), [0.8, 0.6]) + np.outer(y * rng.uniform(0.1, 1.2, 120), [-0.6, 0.8])

model = Perceptron(fit_intercept=False, record="update", random_state=3).fit(X, y)
widest = HardMarginSVC(fit_intercept=False).fit(X, y)

fig, (left, right) = plt.subplots(1, 2, figsize=(13, 5), layout="constrained")
R, gamma = model.radius_, widest.margin_
ball = dict(x_limits=(-1.1 * R, 1.1 * R), y_limits=(-1.1 * R, 1.1 * R))
BoundaryDisplay.from_estimator(widest, X, y, ax=left, key=False, title=f"R = {R:.2f}, γ = {gamma:.3f}", **ball)
left.add_patch(plt.Circle((0, 0), R, fill=False, color=LIGHT.text, linestyle=":"))
edge = R * np.array([-0.6, 0.8])
left.annotate("", edge, (0, 0), arrowprops=dict(arrowstyle="-|>", color=LIGHT.text, shrinkA=0, shrinkB=0))
left.annotate("R", edge / 2, textcoords="offset points", xytext=(6, 4), weight="bold")
display = NovikoffDisplay.from_estimator(model, ax=right)
print(f"{model.mistakes_} mistakes; at most (R/γ)² = {model.best_mistake_bound_ // 1:.0f} are possible, in any order.")
plt.show()
