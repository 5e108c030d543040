"""When to stop: the share of mistakes stands still long before the logistic risk does. Two rules, two ends."""

import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.exceptions import ConvergenceWarning

from linsep import LinearClassifier
from linsep.palette import LIGHT, LOSSES
from linsep.solvers import GradientDescent

plt.style.use("linsep.display.slides")
warnings.simplefilter("ignore", ConvergenceWarning)  # that the rule ends early is the point

rng = np.random.default_rng(12)
X = np.vstack([rng.normal([0, 0], 1, (80, 2)), rng.normal([2, 1.5], 1, (80, 2))])
y = np.repeat([0, 1], 80)


def stopped_by(rule):
    """Descend by full gradients until the rule says that it is enough."""
    return LinearClassifier("logistic", C=10.0, solver=GradientDescent(stopping=rule, max_iter=4000)).fit(X, y)


full, early = stopped_by("gradient_norm"), stopped_by("zero_one_unchanged")
history = full.history_
fig, ax = plt.subplots(figsize=(13.33, 6.6))
for what, loss, words in (("risk", "logistic", "logistic risk"), ("zero_one", "zero_one", "mistakes (z ≤ 0)")):
    ax.plot(history["step"][1:], history[what][1:], color=LIGHT.series[LOSSES[loss]], label=words)
ends = {"zero-one error unchanged": early.n_iter_, "gradient vanishes": full.n_iter_}
for (words, end), style in zip(ends.items(), ("--", ":"), strict=True):
    ax.axvline(end, color=LIGHT.text, linestyle=style, label=f"{words}: stops after {end:,} steps")
ax.set(xscale="log", xlabel="steps of gradient descent", ylabel="risk, share of mistakes", ylim=(0, None))
fig.legend(loc="outside upper center", ncols=2)
print(*[f"{words}: after {end:,} steps" for words, end in ends.items()], sep="; ")
print("Mistakes at either end:", early.history_["zero_one"][-1], history["zero_one"][-1])
plt.show()
