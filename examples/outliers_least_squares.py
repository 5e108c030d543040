"""Least squares punishes points that are very correct, logistic regression does not (Bishop's figure 4.4)."""

import matplotlib.pyplot as plt
import numpy as np

from linsep.display import OutlierDisplay

plt.style.use("linsep.display.slides")

rng = np.random.default_rng(3)
spread = [[1.0, 0.8], [0.8, 1.0]]
X = np.vstack([rng.multivariate_normal([-1, 1], spread, 40), rng.multivariate_normal([1, -1], spread, 40)])
y = np.repeat(["upper class", "lower class"], 40)
far = rng.normal([7, -6], 0.6, (12, 2))  # deep on the side of their own class

fig, ax = plt.subplots(figsize=(13.33, 7))
display = OutlierDisplay.from_data(X, y, far, ["lower class"] * len(far), ax=ax)
for name, degrees in display.turned.items():
    print(f"{name}: turned by {degrees:.1f}°, mistakes without and with the extra points: {display.mistakes[name]}")
plt.show()
