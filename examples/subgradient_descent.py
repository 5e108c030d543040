"""``x² + |y|`` has a kink along y = 0: constant steps jump over it for ever, steps that shrink like 1/√k arrive."""

import warnings

import matplotlib.pyplot as plt
import numpy as np

from linsep.display import RiskSurfaceDisplay
from linsep.palette import LIGHT
from linsep.schedules import Constant, InverseSqrt
from linsep.solvers import StepSizeWarning, minimize

plt.style.use("linsep.display.slides")


def f(x):
    """Not differentiable where y = 0."""
    return x[0] ** 2 + abs(x[1])


def subgradient(x):
    """One of many where y = 0: any second number from −1 to 1 would do."""
    return np.array([2 * x[0], np.sign(x[1])])


start = [0.5, 0.52]  # from (½, ½) five steps of exactly 0.1 land on the kink, and stay there
with warnings.catch_warnings(record=True) as said:  # minimize says that the steps are too large
    warnings.simplefilter("always", StepSizeWarning)
    constant = minimize(f, subgradient, start, schedule=Constant(0.1), max_iter=60)
    shrinking = minimize(f, subgradient, start, schedule=InverseSqrt(0.1), max_iter=2000)
print(*[warning.message for warning in said], sep="\n")

fig, axes = plt.subplots(1, 3, figsize=(13.33, 5.4), width_ratios=(1, 1, 1.1))
limits = dict(x_limits=(-0.15, 0.6), y_limits=(-0.2, 0.6))
runs = {"η = 0.1": constant, "η = 0.1/√(k + 1)": shrinking}
for ax, (words, run) in zip(axes, runs.items(), strict=False):
    RiskSurfaceDisplay.from_function(f, run, **limits, name=f"x² + |y|, {words}", ax=ax, bar=False)
    ax.axhline(0, color=LIGHT.text, linestyle=":", linewidth=2)
for (words, run), style, colour in zip(runs.items(), ("o-", "-"), LIGHT.series, strict=False):
    axes[2].plot(run.history.iterates[:40, 1], style, label=words, markersize=6, color=colour)
axes[2].axhline(0, color=LIGHT.text, linestyle=":", linewidth=2)
axes[2].set(xlabel="step k", ylabel="y", title="back and forth, or there")
axes[2].legend()
plt.show()
