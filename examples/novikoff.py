"""R and γ, the two lengths in Novikoff's theorem, and the mistakes that a perceptron made against (R/γ)²."""

import matplotlib.pyplot as plt
import numpy as np

from linsep import HardMarginSVC, Perceptron
from linsep.display import BoundaryDisplay, NovikoffDisplay
from linsep.palette import LIGHT

plt.style.use("linsep.display.slides")

rng = np.random.default_rng(9)
y = np.repeat([-1, 1], 30)
# Along (0.8, 0.6) both classes have the same spread; across it they are apart.
X = np.outer(rng.uniform(1, 5, 60), [0.8, 0.6]) + np.outer(y * rng.uniform(0.5, 2.0, 60), [-0.6, 0.8])

model = Perceptron(fit_intercept=False, record="update", random_state=3).fit(X, y)
widest = HardMarginSVC(fit_intercept=False).fit(X, y)

fig, (left, right) = plt.subplots(1, 2, figsize=(13.33, 6.4))
R, gamma = model.radius_, widest.margin_
ball = dict(x_limits=(-1.2, 1.1 * R), y_limits=(-0.35 * R, R))
plane = BoundaryDisplay(X, (y > 0).astype(int), [-1, 1], widest.coef_, np.zeros(1))
plane.plot(left, key=False, title=f"R = {R:.2f}, γ = {gamma:.2f}", **ball)
left.add_patch(plt.Circle((0, 0), R, fill=False, color=LIGHT.text, linestyle=":", linewidth=2))


def arrow(begin, end, words, offset, at=0.5):
    """Draw a length with its name beside it, in the middle or where it is told."""
    style = dict(arrowstyle="<|-|>", color=LIGHT.text, linewidth=2.5, shrinkA=0, shrinkB=0)
    left.annotate("", end, begin, arrowprops=style)
    place = (1 - at) * np.asarray(begin) + at * np.asarray(end)
    left.annotate(words, place, textcoords="offset points", xytext=offset, weight="bold", fontsize="large")


arrow((0, 0), X[np.linalg.norm(X, axis=1).argmax()], "R", (-4, 12), at=0.35)
nearest = X[(y * (X @ widest.coef_[0])).argmin()]
normal = widest.coef_[0] / np.linalg.norm(widest.coef_)
arrow(nearest - (nearest @ normal) * normal, nearest, "γ", (-26, -16))
display = NovikoffDisplay.from_estimator(model, ax=right)
right.set_ylim(top=3e4)
print(
    f"{model.mistakes_} mistakes; at most (R/γ)² = {int(model.best_mistake_bound_ + 1e-6)} are possible, in any order."
)
plt.show()
