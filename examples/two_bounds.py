"""With a bias the lecture bounds mistakes by (2R/γ)²: true where b moves by y R², not where it moves by y.

As the same points move away from the origin, the perceptron that adds y to b makes more mistakes than (2R/γ)²; its own
bound is (R/γ)² of the augmented examples [x, 1]. The constant R in place of 1 keeps to the lecture's.
"""

import matplotlib.pyplot as plt
import numpy as np

from linsep import HardMarginSVC, Perceptron
from linsep.palette import LIGHT

plt.style.use("linsep.display.slides")

rng = np.random.default_rng(0)
y = np.repeat([-1, 1], 20)
X = np.column_stack([y * rng.uniform(0.4, 1.2, 40), rng.uniform(-1, 1, 40)])
order = rng.permutation(40)
X, y = X[order], y[order]
gamma = HardMarginSVC().fit(X, y).margin_  # the same wherever they are

away = np.arange(0.0, 9.0)
rows = []
for shift in away:
    moved = X + shift
    R = np.linalg.norm(moved, axis=1).max()
    plain = Perceptron(order="cyclic", max_iter=10_000).fit(moved, y)
    constant = np.column_stack([moved, np.full(len(y), R)])  # w·x + c R with c ← c + y R: b = c R moves by y R²
    scaled = Perceptron(order="cyclic", max_iter=10_000, fit_intercept=False).fit(constant, y)
    rows.append((plain.mistakes_, plain.best_mistake_bound_, scaled.mistakes_, (2 * R / gamma) ** 2))
made, own_bound, made_by_lecture, lecture_bound = np.array(rows).T

fig, ax = plt.subplots(figsize=(13.33, 6.6))
first, second = LIGHT.series[0], LIGHT.series[1]
ax.plot(away, own_bound, "--", color=first, label="(R/γ)² of [x, 1]")
ax.plot(away, made, "o-", color=first, label="mistakes, b ← b + y")
ax.plot(away, lecture_bound, "--", color=second, label="(2R/γ)² of x")
ax.plot(away, made_by_lecture, "s-", color=second, label="mistakes, b ← b + y R²")
ax.set(yscale="log", xlabel="how far the points are moved from the origin, in both directions", ylabel="mistakes")
ax.legend(loc="upper left")
broken = away[made > lecture_bound]
print(f"Moved by {broken[0]:g} and more, b ← b + y makes more mistakes than (2R/γ)²: that bound is of the other rule.")
plt.show()
