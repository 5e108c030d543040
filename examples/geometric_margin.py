"""γ = y g(x)/‖w‖: how far an example is from the plane, negative on the wrong side; and angles with w."""

import matplotlib.pyplot as plt
import numpy as np

from linsep import geometry
from linsep.display import BoundaryDisplay
from linsep.palette import LIGHT

plt.style.use("linsep.display.slides")


def name(ax, point, words, outwards):
    """Write beside a point, to the right or to the left of it."""
    place = dict(xytext=(12 if outwards else -12, 6), ha="left" if outwards else "right")
    ax.annotate(words.replace("-", "−"), point, textcoords="offset points", fontsize="small", **place)


w, b = np.array([1.2, 0.9]), -3.0
X = np.array([[0.2, 0.8], [1.0, 2.8], [2.6, 0.6], [3.4, 1.8], [0.6, 1.7], [2.9, 3.0]])
y = np.array([-1, -1, 1, 1, -1, 1])

gamma = geometry.geometric_margin(X, y, w, b)
feet = X - np.outer(y * gamma, w / np.linalg.norm(w))  # from x back along w, by its signed distance

fig, (left, right) = plt.subplots(1, 2, figsize=(13.33, 6.4))
display = BoundaryDisplay(X, (y > 0).astype(int), [-1, 1], w[None], np.array([b]))
square = dict(x_limits=(-1.2, 4.8), y_limits=(-0.6, 4.2))
display.plot(left, key=False, normal=True, title=f"the set's margin is the least: −{-gamma.min():.2f}", **square)
for point, foot, margin in zip(X, feet, gamma, strict=True):
    left.plot(*np.array([point, foot]).T, color=LIGHT.text, linestyle=":", linewidth=2)
    name(left, point, f"γ = {margin:.2f}", outwards=point @ w + b > 0)

# Through the origin, after b has become the weight of a constant: acute angles with w are positive.
centred = X - feet.mean(axis=0)
display = BoundaryDisplay(centred, (y > 0).astype(int), [-1, 1], w[None], np.array([0.0]))
square = dict(x_limits=(-3.6, 3.6), y_limits=(-2.8, 2.9))
display.plot(right, key=False, normal=True, title="through the origin: the angle with w", **square)
for point in centred:
    degrees = np.degrees(np.arccos(point @ w / np.linalg.norm(point) / np.linalg.norm(w)))
    right.plot(*np.array([[0, 0], point]).T, color=LIGHT.muted, linewidth=1.5)
    name(right, point, f"{degrees:.0f}°", outwards=point @ w > 0)
print("The feet are on the plane:", np.allclose(feet @ w + b, 0), "; angles below 90° are acute: positive examples.")
plt.show()
