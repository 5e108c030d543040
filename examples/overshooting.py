"""Steps on a parabola: too small and it takes for ever, too large and it overshoots, shrinking and it settles."""

import warnings

import matplotlib.pyplot as plt
import numpy as np

from linsep.palette import LIGHT
from linsep.schedules import Constant, Inverse
from linsep.solvers import StepSizeWarning, minimize

plt.style.use("linsep.display.slides")


def J(w):
    """Least at w = 1."""
    return float((w[0] - 1) ** 2)


def slope(w):
    """Its derivative."""
    return 2 * (w - 1)


shown = {
    "η = 0.02: slow": Constant(0.02),
    "η = 0.3: right": Constant(0.3),
    "η = 0.97: overshoots": Constant(0.97),
    "η = 1/(1.1 (k + 1)): shrinking": Inverse(alpha=1.1),
}
fig, axes = plt.subplots(2, 2, figsize=(13.33, 7.4), sharex=True, sharey=True)
curve = np.linspace(-1.2, 3.2, 201)
runs = {}
for ax, (name, schedule) in zip(axes.ravel(), shown.items(), strict=True):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", StepSizeWarning)  # two of them are meant to be wrong
        runs[name] = minimize(J, slope, [-1.0], schedule=schedule, max_iter=12)
    w = runs[name].history.iterates[:, 0]
    ax.plot(curve, (curve - 1) ** 2, color=LIGHT.positive)
    ax.plot(w, (w - 1) ** 2, "o--", color=LIGHT.negative, linewidth=1.5)
    ax.plot(w[0], (w[0] - 1) ** 2, "s", color=LIGHT.text, label="start")
    ax.set_title(f"{name}, ends at J = {J(runs[name].last):.1g}")
for ax in axes[1]:
    ax.set_xlabel("w")
for ax in axes[:, 0]:
    ax.set_ylabel("J(w)")
fig.suptitle("J(w) = (w − 1)²: twelve steps from w = −1")
axes[0, 0].legend(loc="upper right")
plt.show()
