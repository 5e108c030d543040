"""x² + |y| has a kink along y = 0: constant steps jump over it for ever, steps that shrink like 1/√k arrive."""

import warnings

import matplotlib.pyplot as plt
import numpy as np

from linsep.display import RiskSurfaceDisplay
from linsep.schedules import Constant, InverseSqrt
from linsep.solvers import StepSizeWarning, minimize


def f(x):
    """Not differentiable where y = 0."""
    return x[0] ** 2 + abs(x[1])


def subgradient(x):
    """One of many where y = 0: any second number from −1 to 1 would do."""
    return np.array([2 * x[0], np.sign(x[1])])


start = [0.5, 0.52]
with warnings.catch_warnings(record=True) as said:  # minimize says that the steps are too large
    warnings.simplefilter("always", StepSizeWarning)
    constant = minimize(f, subgradient, start, schedule=Constant(0.1), max_iter=60)
    shrinking = minimize(f, subgradient, start, schedule=InverseSqrt(0.1), max_iter=2000)
print(*[warning.message for warning in said], sep="\n")

fig = plt.figure(figsize=(15, 4.6), layout="constrained")
limits = dict(x_limits=(-0.6, 0.6), y_limits=(-0.6, 0.6), name="x² + |y|")
surface = fig.add_subplot(1, 3, 1, projection="3d")
RiskSurfaceDisplay.from_function(f, **limits, kind="surface", ax=surface)
for place, run, words in ((2, constant, "η = 0.1: does not converge"), (3, shrinking, "η = 0.1/√(k + 1): converges")):
    RiskSurfaceDisplay.from_function(f, run, **limits, ax=fig.add_subplot(1, 3, place), title=words)
plt.show()
