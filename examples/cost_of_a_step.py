"""A full gradient looks at every example for one step, a stochastic one at one: progress by cost, not by step."""

import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.exceptions import ConvergenceWarning

from linsep import LinearClassifier, SGDClassifier
from linsep.palette import LIGHT, LOSSES
from linsep.solvers import GradientDescent

plt.style.use("linsep.display.slides")
warnings.simplefilter("ignore", ConvergenceWarning)  # none of them is given the time to converge

rng = np.random.default_rng(13)
n = 200
X = np.vstack([rng.normal([0, 0], 1, (n // 2, 2)), rng.normal([2, 1.5], 1, (n // 2, 2))])
y = np.repeat([0, 1], n // 2)

fig, axes = plt.subplots(1, 3, figsize=(13.33, 5.8), sharex=True)
reached = {}
for ax, loss in zip(axes, ("perceptron", "hinge", "logistic"), strict=True):
    full = GradientDescent("inverse_sqrt", stopping=None, max_iter=12, record="update")
    runs = {
        "full gradient": LinearClassifier(loss, C=np.inf, solver=full),
        "one example": SGDClassifier(loss, C=np.inf, schedule="inverse_sqrt", stopping=None, max_iter=12),
    }
    for (name, model), style in zip(runs.items(), ("o--", "-"), strict=True):
        model.set_params(random_state=0, **({} if "full" in name else {"record": "update"}))
        history = model.fit(X, y).history_
        cost = np.maximum(history["passes"] * n, 0.5)[1:]  # examples looked at
        risk = np.fmin.accumulate(history["risk"][1:])
        reached[loss, name] = cost, risk
        ax.plot(cost, risk, style, color=LIGHT.series[LOSSES[loss]], markersize=7, label=name)
    ax.axvline(n, ymax=0.66, color=LIGHT.muted, linestyle=":", label="one pass")
    ax.set(xscale="log", xlabel="examples looked at", title=f"{loss} risk")
    ax.set_ylim(0, 2 * reached[loss, "full gradient"][1][0])  # the first stochastic steps are worse by far
    ax.legend(loc="upper right")
axes[0].set_ylabel("best risk so far")
print("The dotted line is one pass over the data: the first step of a full gradient, and the n-th of a stochastic one.")
plt.show()
