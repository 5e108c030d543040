"""σ(z) turns a discriminant into a probability: an S, whose middle is the decision boundary."""

import matplotlib.pyplot as plt
import numpy as np
from scipy.special import expit

from linsep import LogisticRegression
from linsep.display import BoundaryDisplay
from linsep.palette import LIGHT

rng = np.random.default_rng(10)
X = np.vstack([rng.normal([0, 0], 1, (40, 2)), rng.normal([2.2, 1.4], 1, (40, 2))])
y = np.repeat([0, 1], 40)
model = LogisticRegression().fit(X, y)

fig, (left, right) = plt.subplots(1, 2, figsize=(12, 4.4), layout="constrained")
z = np.linspace(-6, 6, 241)
left.plot(z, expit(z), color=LIGHT.positive, linewidth=2, label="σ(z) = 1/(1 + e^(−z))")
left.plot(z, expit(-z), color=LIGHT.negative, linestyle="--", label="σ(−z) = 1 − σ(z)")
left.scatter(
    model.decision_function(X), model.predict_proba(X)[:, 1], s=14, color=LIGHT.text, label="examples", zorder=3
)
left.axvline(0, color=LIGHT.grid, zorder=0)
left.set(xlabel="log odds, g(x)", ylabel="probability")
left.legend()
BoundaryDisplay.from_estimator(model, X, y, ax=right, title="g(x) = 0, where both classes are as likely")
plt.show()
