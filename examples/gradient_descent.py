"""Walking downhill on e^(x² + y²) + (x − 2)² + (y − 3)²: the lecture's steps, numbered, with their numbers."""

import matplotlib.pyplot as plt
import numpy as np

from linsep.display import RiskSurfaceDisplay
from linsep.palette import LIGHT
from linsep.solvers import minimize

plt.style.use("linsep.display.slides")


def f(x):
    """The function of the lecture."""
    return np.exp(x @ x) + (x[0] - 2) ** 2 + (x[1] - 3) ** 2


def gradient(x):
    """Its gradient: there is no closed form for where it vanishes."""
    return 2 * x * np.exp(x @ x) + 2 * (x - [2, 3])


run = minimize(f, gradient, [0.5, 0.0], schedule=0.05)
steps = run.history.iterates
fig, (above, table) = plt.subplots(1, 2, figsize=(13.33, 6.6), width_ratios=(1, 1.1))
limits = dict(x_limits=(0.2, 1.0), y_limits=(-0.1, 1.1))
title = "f = e^(x² + y²) + (x − 2)² + (y − 3)²"
display = RiskSurfaceDisplay.from_function(f, run, **limits, name=title, bar=False, ax=above)
for k, point in enumerate(steps[:5]):
    above.annotate(str(k), point, textcoords="offset points", xytext=(12, -4), weight="bold")
# Steepest descent is against the gradient, across the contour line.
down = -0.2 * gradient(steps[0]) / np.linalg.norm(gradient(steps[0]))
beside = steps[0] - [0.1, 0]
above.annotate("", beside + down, beside, arrowprops=dict(arrowstyle="-|>", color=LIGHT.text, linewidth=3))
above.annotate("−∇f", beside, textcoords="offset points", xytext=(-14, 24), ha="right")

table.set_axis_off()
lines = [
    f"{k:<3} ({x[0]:.4f}, {x[1]:.4f})   ({gradient(x)[0]:+.2f}, {gradient(x)[1]:+.2f})   {f(x):.3f}"
    for k, x in enumerate(steps)
]
lines[5:-1] = ["…"]
words = "\n".join(["k   (x, y)             ∇f                f", *lines]).replace("-", "−")
table.text(0, 0.5, words, family="monospace", fontsize="small", va="center", linespacing=1.9)
table.set_title("η = 0.05: x − η ∇f(x), step by step", loc="left")
print("The lecture cuts its numbers off: (0.5858, 0.3) is printed as (.58, .3), and the step from there to (.63, .52).")
plt.show()
