"""The geometry of g(x) = w·x + b: two half-spaces, the normal vector, and the distance of the plane from the origin."""

import matplotlib.pyplot as plt
import numpy as np

from linsep import Perceptron, geometry
from linsep.display import BoundaryDisplay

plt.style.use("linsep.display.slides")

rng = np.random.default_rng(2)
X = np.vstack([rng.normal([0.0, 0.5], 0.8, (20, 2)), rng.normal([4.0, 3.0], 0.8, (20, 2))])
y = np.repeat([-1, 1], 20)

offset = Perceptron(order="cyclic").fit(X, y)
# Through the origin: positive points have an acute angle with w, negative ones an obtuse angle.
centred = X - X.mean(axis=0)
through_origin = Perceptron(order="cyclic", fit_intercept=False).fit(centred, y)

fig, axes = plt.subplots(1, 2, figsize=(13.33, 6))
show = dict(normal=True, x_limits=(-2.2, 6), y_limits=(-2, 5.2))
left = BoundaryDisplay.from_estimator(offset, X, y, ax=axes[0], title="with an offset b", key=False, **show)
show = dict(normal=True, x_limits=(-4.1, 4.1), y_limits=(-3.6, 3.6))
BoundaryDisplay.from_estimator(through_origin, centred, y, ax=axes[1], title="through the origin", **show)

distance = geometry.distance_from_origin(offset.coef_[0], offset.intercept_[0])
print(f"The plane is {distance:.3f} from the origin; {geometry.side(X, offset.coef_[0], offset.intercept_[0])[:3]} …")
plt.show()
