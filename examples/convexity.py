"""Convex: every chord lies above the graph. A parabola and the perceptron loss are, the zero-one loss is not."""

import matplotlib.pyplot as plt
import numpy as np

from linsep.convexity import midpoint_test
from linsep.losses import Perceptron, ZeroOne
from linsep.palette import LIGHT, LOSSES

plt.style.use("linsep.display.slides")


def parabola(x):
    """Has its minimum, 2, at x = 1."""
    return (x - 1) ** 2 + 2


shown = {
    "(x − 1)² + 2": (parabola, -1.0, 3.5, LIGHT.text),
    "perceptron loss": (Perceptron().value, -2.0, 2.0, LIGHT.series[LOSSES["perceptron"]]),
    "zero-one loss": (ZeroOne().value, -0.5, 1.5, LIGHT.series[LOSSES["zero_one"]]),
}
fig, axes = plt.subplots(1, 3, figsize=(13.33, 5.4))
verdicts = {}
for ax, (name, (f, low, high, colour)) in zip(axes, shown.items(), strict=True):
    verdicts[name] = midpoint_test(f, -2.0, 4.0)
    x, ends = np.linspace(low - 0.5, high + 0.5, 801), np.array([low, high])
    ax.plot(x, f(x), color=colour)
    ax.plot(ends, f(ends), color=LIGHT.negative, linestyle="--", marker="o", label="chord")
    ax.set(xlabel="x" if f is parabola else "z", title=f"{name}:\n{'convex' if verdicts[name] else 'not convex'}")

axes[0].plot(1, 2, "D", color=LIGHT.text, label="slope 0: the minimum")
# Where the test found the midpoint above the chord.
found = verdicts["zero-one loss"]
axes[2].plot((found.a + found.b) / 2, found.at_midpoint, "k*", markersize=18, label="above its chord")
axes[2].set_ylim(top=1.45)
for ax in axes:
    ax.legend(loc="upper center" if ax is axes[0] else "upper right")
print(found)
plt.show()
