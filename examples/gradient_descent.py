"""Walking downhill on e^(x² + y²) + (x − 2)² + (y − 3)²: the lecture's steps, and which way is down."""

import matplotlib.pyplot as plt
import numpy as np

from linsep.display import RiskSurfaceDisplay
from linsep.palette import LIGHT
from linsep.solvers import minimize


def f(x):
    """The function of the lecture."""
    return np.exp(x @ x) + (x[0] - 2) ** 2 + (x[1] - 3) ** 2


def gradient(x):
    """Its gradient: there is no closed form for where it vanishes."""
    return 2 * x * np.exp(x @ x) + 2 * (x - [2, 3])


run = minimize(f, gradient, [0.5, 0.0], schedule=0.05)
print("The first steps:", run.history.iterates[1:3].round(2).tolist(), "and the minimum:", run.x.round(3).tolist())

name = "e^(x² + y²) + (x − 2)² + (y − 3)²"
limits = dict(x_limits=(-0.5, 1.4), y_limits=(-0.6, 1.4))
fig = plt.figure(figsize=(12, 5), layout="constrained")
above, landscape = fig.add_subplot(1, 2, 1), fig.add_subplot(1, 2, 2, projection="3d")
display = RiskSurfaceDisplay.from_function(f, run, **limits, name=name, log=True, ax=above)
RiskSurfaceDisplay.from_function(f, run, **limits, name=name, kind="surface", ax=landscape)

# Steepest descent is against the gradient, across the contour line.
start = np.array([1.1, 0.2])
down = -gradient(start) / np.linalg.norm(gradient(start))
above.annotate("", start + 0.35 * down, start, arrowprops=dict(arrowstyle="-|>", color=LIGHT.text, linewidth=2))
above.annotate("−∇f", start, textcoords="offset points", xytext=(-8, -14), color=LIGHT.text)
plt.show()
