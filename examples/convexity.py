"""Convex: every chord lies above the graph. A parabola and the perceptron loss are, the zero-one loss is not."""

import matplotlib.pyplot as plt
import numpy as np

from linsep.convexity import midpoint_test
from linsep.losses import Perceptron, ZeroOne
from linsep.palette import LIGHT


def parabola(x):
    """Has its minimum, 2, at x = 1."""
    return (x - 1) ** 2 + 2


shown = {
    "(x − 1)² + 2": (parabola, -1.0, 3.5),
    "perceptron loss": (Perceptron().value, -2.0, 2.0),
    "zero-one loss": (ZeroOne().value, -0.5, 1.5),
}
fig, axes = plt.subplots(1, 3, figsize=(13, 4), layout="constrained")
verdicts = {}
for ax, (name, (f, low, high)) in zip(axes, shown.items(), strict=True):
    verdicts[name] = midpoint_test(f, -2.0, 4.0)
    x, ends = np.linspace(low - 0.5, high + 0.5, 801), np.array([low, high])
    ax.plot(x, f(x), color=LIGHT.positive, linewidth=2)
    ax.plot(ends, f(ends), color=LIGHT.negative, linestyle="--", marker="o", label="chord")
    ax.set_title(f"{name}: {'convex' if verdicts[name] else 'not convex'}", fontsize="medium")
    ax.set(xlabel="x" if f is parabola else "z", ylabel="f")
    ax.legend(fontsize="small")

axes[0].plot(1, 2, "o", color=LIGHT.text, label="minimum, where the slope 2(x − 1) is 0")
axes[0].legend(fontsize="small", loc="upper center")
# Where the test found the midpoint above the chord.
found = verdicts["zero-one loss"]
axes[2].plot((found.a + found.b) / 2, found.at_midpoint, "k*", markersize=14, label="above its chord")
axes[2].legend(fontsize="small")
print(found)
plt.show()
