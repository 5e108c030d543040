"""One outlier turns the plane of maximum margin; the soft margin pays a slack for it and turns less."""

import matplotlib.pyplot as plt
import numpy as np

from linsep import HardMarginSVC, LinearSVC
from linsep.display import OutlierDisplay

plt.style.use("linsep.display.slides")

rng = np.random.default_rng(5)
X = np.vstack([rng.normal([0, 0], 0.5, (20, 2)), rng.normal([4, 0], 0.5, (20, 2))])
y = np.repeat([-1, 1], 20)

models = {"soft margin": LinearSVC(C=0.1), "hard margin": HardMarginSVC()}  # the soft one has the hinge's colour
fig, ax = plt.subplots(figsize=(13.33, 6))
display = OutlierDisplay.from_data(X, y, [[1.4, 2.6]], [1], estimators=models, ax=ax, title="one point, two planes")
for name, degrees in display.turned.items():
    print(f"{name}: turned by {degrees:.1f}° by one point")
plt.show()
