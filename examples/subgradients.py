"""A subgradient's line touches f and lies below it everywhere; at a kink there are many such lines."""

import matplotlib.pyplot as plt
import numpy as np

from linsep.losses import Perceptron
from linsep.palette import LIGHT, LOSSES

plt.style.use("linsep.display.slides")

loss = Perceptron()
x = np.linspace(-1.5, 1.5, 301)
own = LIGHT.series[LOSSES["perceptron"]]
# Each function with the point where it is touched, and the slopes of lines through that point.
shown = {
    "|y| at 0: any slope\nfrom −1 to 1": (np.abs, 0.0, [-1.0, -0.5, 0.0, 0.5, 1.0], LIGHT.positive),
    "|y| at 0.7:\nthe slope is 1": (np.abs, 0.7, [1.0], LIGHT.positive),
    "perceptron loss at 0:\nany slope from −1 to 0": (loss.value, 0.0, [-1.0, -0.6, -0.3, 0.0], own),
}
fig, axes = plt.subplots(1, 3, figsize=(13.33, 5.6), sharey=True)
below = {}
for ax, (name, (f, at, slopes, colour)) in zip(axes, shown.items(), strict=True):
    lines = [f(np.array(at)) + g * (x - at) for g in slopes]
    below[name] = all((line <= f(x) + 1e-12).all() for line in lines)
    for g, line in zip(slopes, lines, strict=True):
        ax.plot(x, line, color=LIGHT.muted, linestyle="--", linewidth=2, label="f + δ g" if g == slopes[0] else "")
    ax.plot(x, f(x), color=colour, linewidth=4, label="f")
    ax.plot(at, f(np.array(at)), "o", color=LIGHT.text)
    ax.set_title(name)
    ax.set(xlabel="z" if "loss" in name else "y", ylim=(-1.5, 2.1))
    ax.legend(loc="upper center", ncols=2)
print(f"All lines below their function: {below}. linsep takes the slope {loss.slope(np.array([0.0]))[0]:g} at z = 0,")
print("so that a plane through an example counts as a mistake and moves: from w = 0 the slope 0 would never start.")
plt.show()
