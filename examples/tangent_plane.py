"""Which way is down? Near a point, f looks like a plane; of all directions, −∇f leads down it most steeply."""

import matplotlib.pyplot as plt
import numpy as np

from linsep.display import RiskSurfaceDisplay
from linsep.palette import LIGHT


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
fig = plt.figure(figsize=(13, 5), layout="constrained")
landscape, around = fig.add_subplot(1, 2, 1, projection="3d"), fig.add_subplot(1, 2, 2)
RiskSurfaceDisplay.from_function(
    f, x_limits=(-0.8, 0.8), y_limits=(-0.8, 0.8), name="f, and its tangent plane at P", kind="surface", ax=landscape
)
side = np.linspace(-0.45, 0.45, 9)
x, y = np.meshgrid(P[0] + side, P[1] + side)
plane = np.apply_along_axis(tangent, 2, np.dstack([x, y]))
landscape.computed_zorder = False  # the plane lies below f, and would be hidden
landscape.plot_wireframe(x, y, plane, color=LIGHT.negative, linewidth=0.9, zorder=3)
landscape.scatter(*P, f(P), color=LIGHT.text, s=40, zorder=4)
landscape.text(*P, f(P) + 1.5, "P", color=LIGHT.text, zorder=4)

# A small step in every direction: the plane's change is |δ| ‖∇f‖ cos θ, and f's is almost the same.
theta, length = np.linspace(-np.pi, np.pi, 181), 0.05
up = gradient(P) / np.linalg.norm(gradient(P))
across = np.array([-up[1], up[0]])
steps = length * (np.outer(np.cos(theta), up) + np.outer(np.sin(theta), across))
changes = np.array([f(P + step) - f(P) for step in steps])
predicted = steps @ gradient(P)
around.plot(np.degrees(theta), changes, color=LIGHT.positive, linewidth=2, label="f(P + δ) − f(P)")
around.plot(np.degrees(theta), predicted, color=LIGHT.negative, linestyle="--", label="δ·∇f(P) = ‖δ‖ ‖∇f‖ cos θ")
around.axhline(0, color=LIGHT.grid, zorder=0)
around.annotate("∇f: steepest ascent", (0, predicted.max()), (0, 1.12 * predicted.max()), ha="center")
around.annotate("−∇f: steepest descent", (-180, predicted.min()), (-178, 1.12 * predicted.min()), ha="left")
around.margins(y=0.15)
around.set(xlabel="angle θ between the step δ and ∇f, in degrees", ylabel="change", xticks=range(-180, 181, 90))
around.legend(loc="lower right")
print(f"∇f(P) = {gradient(P)}; at right angles to it f hardly changes: {changes[np.abs(theta).argmin() + 45]:+.4f}")
plt.show()
