"""Which way is down? Near a point, f looks like a plane; of all directions, −∇f leads down it most steeply."""

import matplotlib.pyplot as plt
import numpy as np

from linsep.palette import LIGHT

plt.style.use("linsep.display.slides")


def f(x):
    """The function of the lecture."""
    return np.exp(x @ x) + (x[0] - 2) ** 2 + (x[1] - 3) ** 2


def gradient(x):
    """Its gradient."""
    return 2 * x * np.exp(x @ x) + 2 * (x - [2, 3])


def tangent(x):
    """The plane that touches f at P: f(P) + δ·∇f(P), where δ = x − P."""
    return f(P) + (x - P) @ gradient(P)


P = np.array([0.0, 0.0])
up = gradient(P) / np.linalg.norm(gradient(P))
across = np.array([-up[1], up[0]])
fig, (near, around) = plt.subplots(1, 2, figsize=(13.33, 6.6), width_ratios=(1, 1.15))

# Level lines, from above: those of the plane are straight and evenly spaced, and near P those of f are, too.
side = np.linspace(-0.8, 0.8, 121)
places = np.dstack(np.meshgrid(side, side))
levels = f(P) + np.arange(-4, 5)
for function, colour, style in ((f, LIGHT.positive, "solid"), (tangent, LIGHT.negative, "dashed")):
    heights = np.apply_along_axis(function, 2, places)
    near.contour(side, side, heights, levels=levels, colors=colour, linestyles=style, linewidths=2.5)
    near.plot([], [], color=colour, linestyle=style, label="f" if function is f else "its tangent plane at P")
near.annotate("", P - 0.4 * up, P, arrowprops=dict(arrowstyle="-|>", color=LIGHT.text, linewidth=3, shrinkA=0))
near.annotate("−∇f", P - 0.4 * up, textcoords="offset points", xytext=(8, 4), weight="bold")
near.plot(*P, "o", color=LIGHT.text)
near.annotate("P", P, textcoords="offset points", xytext=(-24, -22), weight="bold")
near.set(xlabel="x", ylabel="y", aspect="equal", title="level lines, 1 apart")
near.legend(loc="lower center", bbox_to_anchor=(0.5, -0.32), ncols=2)

# A small step in every direction: the plane's change is |δ| ‖∇f‖ cos θ, and f's is almost the same.
theta, length = np.linspace(-np.pi, np.pi, 181), 0.05
steps = length * (np.outer(np.cos(theta), up) + np.outer(np.sin(theta), across))
changes = np.array([f(P + step) - f(P) for step in steps])
predicted = steps @ gradient(P)
around.plot(np.degrees(theta), changes, color=LIGHT.positive, label="f(P + δ) − f(P)")
around.plot(np.degrees(theta), predicted, color=LIGHT.negative, linestyle="--", label="δ·∇f = ‖δ‖ ‖∇f‖ cos θ")
around.axhline(0, color=LIGHT.grid, zorder=0)
around.annotate("along ∇f: up", (0, predicted.max()), (0, 1.12 * predicted.max()), ha="center")
around.annotate("against it: down", (-180, predicted.min()), (-176, 1.12 * predicted.min()), ha="left")
around.set(xlabel="angle θ between the step δ and ∇f, in degrees", ylabel="change", xticks=range(-180, 181, 90))
around.set(ylim=(1.25 * predicted.min(), 1.9 * predicted.max()), title="a step of length 0.05 in every direction")
around.legend(loc="upper right")
print(f"∇f(P) = {gradient(P)}; at right angles to it f hardly changes: {changes[np.abs(theta).argmin() + 45]:+.4f}")
plt.show()
