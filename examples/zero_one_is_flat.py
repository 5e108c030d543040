"""The zero-one risk over two weights: terraces, on which no slope leads downhill; the logistic risk has slopes."""

import matplotlib.pyplot as plt
import numpy as np

from linsep import LinearClassifier, ZeroOneClassifier
from linsep.display import RiskSurfaceDisplay
from linsep.losses import Logistic, ZeroOne
from linsep.palette import LIGHT, LOSSES
from linsep.solvers import GradientDescent

plt.style.use("linsep.display.slides")

rng = np.random.default_rng(1)
X = np.vstack([rng.normal([-1, -1], 1.2, (12, 2)), rng.normal([1, 1], 1.2, (12, 2))])
y = np.repeat([0, 1], 12)

# Without a penalty, so that what is descended is the risk that is drawn.
descent = GradientDescent(0.5, record="update")
model = LinearClassifier("logistic", C=np.inf, fit_intercept=False, solver=descent).fit(X, y)
exact = ZeroOneClassifier(fit_intercept=False).fit(X, y)  # NP-hard, but these are few

fig, axes = plt.subplots(1, 2, figsize=(13.33, 6))
landscape = RiskSurfaceDisplay.from_estimator(model, X, y, x_limits=(-1, 3), y_limits=(-1, 3), resolution=161, ax=axes)
axes[0].set_title("logistic risk, and the way down")
axes[1].set_title("zero-one risk: terraces")

# Once around the origin: w = 2 (cos θ, sin θ).
theta = np.linspace(-180, 180, 1441)
circle = 2 * np.column_stack([np.cos(np.radians(theta)), np.sin(np.radians(theta))])
z = np.where(y == 1, 1, -1)[:, None] * (X @ circle.T)
stairs = {loss.name: loss.value(z).mean(axis=0) for loss in (ZeroOne(), Logistic())}
fig, ax = plt.subplots(figsize=(13.33, 6))
for name, words in (("zero_one", "zero-one risk: a staircase"), ("logistic", "logistic risk: a slope")):
    ax.plot(theta, stairs[name], color=LIGHT.series[LOSSES[name]], label=words)
fewest = exact.n_mistakes_ / len(y)
ax.axhline(fewest, color=LIGHT.muted, linestyle=":", label=f"fewest mistakes, proven: {exact.n_mistakes_} of {len(y)}")
ax.set(xlabel="direction of w, in degrees", ylabel="risk at ‖w‖ = 2", xticks=range(-180, 181, 45), ylim=(0, None))
ax.legend(loc="upper center")
print(f"The fewest mistakes possible are {exact.n_mistakes_} of {len(y)}; proven: {exact.proven_}.")
plt.show()
