"""Steps on a parabola: too small and it takes for ever, too large and it overshoots, shrinking and it settles."""

import warnings

import matplotlib.pyplot as plt
import numpy as np

from linsep.palette import LIGHT
from linsep.schedules import Constant, Inverse
from linsep.solvers import StepSizeWarning, minimize


def J(w):
    """Least at w = 1."""
    return float((w[0] - 1) ** 2)


def slope(w):
    """Its derivative."""
    return 2 * (w - 1)


shown = {
    "η = 0.02: slow": Constant(0.02),
    "η = 0.3: there in a few steps": Constant(0.3),
    "η = 0.97: overshoots each time": Constant(0.97),
    "η = 1/(1.1 (k + 1)): shrinking": Inverse(alpha=1.1),
}
fig, axes = plt.subplots(1, 4, figsize=(16, 3.8), layout="constrained", sharey=True)
curve = np.linspace(-1.2, 3.2, 201)
runs = {}
for ax, (name, schedule) in zip(axes, shown.items(), strict=True):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", StepSizeWarning)  # two of them are meant to be wrong
        runs[name] = minimize(J, slope, [-1.0], schedule=schedule, max_iter=12)
    w = runs[name].history.iterates[:, 0]
    ax.plot(curve, (curve - 1) ** 2, color=LIGHT.positive)
    ax.plot(w, (w - 1) ** 2, "o--", color=LIGHT.negative, markersize=5, linewidth=1)
    ax.plot(w[0], (w[0] - 1) ** 2, "s", color=LIGHT.text, label="start")
    ax.set_title(f"{name}\nafter {len(w) - 1} steps J = {J(runs[name].last):.2g}", fontsize="medium")
    ax.set_xlabel("w")
axes[0].set_ylabel("J(w)")
axes[0].legend()
plt.show()
