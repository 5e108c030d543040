"""σ(z) turns a discriminant into a probability: an S, whose middle is the decision boundary."""

import matplotlib.pyplot as plt
import numpy as np
from scipy.special import expit

from linsep import LogisticRegression
from linsep.display import BoundaryDisplay
from linsep.palette import LIGHT

plt.style.use("linsep.display.slides")

rng = np.random.default_rng(10)
X = np.vstack([rng.normal([0, 0], 1, (40, 2)), rng.normal([2.2, 1.4], 1, (40, 2))])
y = np.repeat([0, 1], 40)
model = LogisticRegression().fit(X, y)

fig, (left, right) = plt.subplots(1, 2, figsize=(13.33, 6))
z = np.linspace(-6, 6, 241)
left.plot(z, expit(z), color=LIGHT.positive, label="σ(z) = 1/(1 + e^(−z))")
left.plot(z, expit(-z), color=LIGHT.negative, linestyle="--", label="σ(−z) = 1 − σ(z)")
scores = model.decision_function(X)
left.scatter(scores, model.predict_proba(X)[:, 1], s=40, color=LIGHT.text, label="examples", zorder=3)
left.axvline(0, color=LIGHT.grid, zorder=0)
left.set(xlabel="log odds, g(x)", ylabel="probability", ylim=(-0.03, 1.35), yticks=np.linspace(0, 1, 6))
left.legend(loc="upper left")
BoundaryDisplay.from_estimator(model, X, y, ax=right, title="g(x) = 0: both as likely")
plt.show()
