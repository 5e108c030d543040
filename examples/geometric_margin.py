"""γ = y g(x)/‖w‖: how far an example is from the plane, negative on the wrong side; and angles with w."""

import matplotlib.pyplot as plt
import numpy as np

from linsep import geometry
from linsep.display import BoundaryDisplay
from linsep.palette import LIGHT


def name(ax, point, words, outwards):
    """Write beside a point, to the right or to the left of it."""
    place = dict(xytext=(8 if outwards else -8, 5), ha="left" if outwards else "right")
    ax.annotate(words.replace("-", "−"), point, textcoords="offset points", fontsize="small", **place)


w, b = np.array([1.2, 0.9]), -3.0
X = np.array([[0.2, 0.8], [1.0, 2.8], [2.6, 0.6], [3.4, 1.8], [0.6, 1.7], [2.9, 3.0]])
y = np.array([-1, -1, 1, 1, -1, 1])

gamma = geometry.geometric_margin(X, y, w, b)
feet = X - np.outer(y * gamma, w / np.linalg.norm(w))  # from x back along w, by its signed distance

fig, (left, right) = plt.subplots(1, 2, figsize=(13, 5), layout="constrained")
display = BoundaryDisplay(X, (y > 0).astype(int), [-1, 1], w[None], np.array([b]))
square = dict(x_limits=(-0.8, 4.2), y_limits=(-0.4, 3.6))
display.plot(left, normal=True, title=f"the margin of the set is the smallest: −{-gamma.min():.2f}", **square)
for point, foot, margin in zip(X, feet, gamma, strict=True):
    left.plot(*np.array([point, foot]).T, color=LIGHT.text, linestyle=":", linewidth=1.4)
    name(left, point, f"γ = {margin:.2f}", outwards=point @ w + b > 0)

# Through the origin, after b has become the weight of a constant: acute angles with w are positive.
centred = X - feet.mean(axis=0)
display = BoundaryDisplay(centred, (y > 0).astype(int), [-1, 1], w[None], np.array([0.0]))
square = dict(x_limits=(-2.9, 2.9), y_limits=(-2.4, 2.4))
display.plot(right, key=False, normal=True, title="through the origin: the angle with w", **square)
for point in centred:
    degrees = np.degrees(np.arccos(point @ w / np.linalg.norm(point) / np.linalg.norm(w)))
    right.plot(*np.array([[0, 0], point]).T, color=LIGHT.muted, linewidth=1)
    name(right, point, f"{degrees:.0f}°: {'acute' if degrees < 90 else 'obtuse'}", outwards=point @ w > 0)
print("The feet are on the plane:", np.allclose(feet @ w + b, 0))
plt.show()
