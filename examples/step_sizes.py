"""Steps that are too small, right, and too large; and steps that shrink."""

import matplotlib.pyplot as plt
import numpy as np

from linsep import LinearClassifier, SGDClassifier
from linsep.display import StepSizeDisplay
from linsep.schedules import Constant, Inverse, InverseSqrt, InverseTime
from linsep.solvers import GradientDescent

plt.style.use("linsep.display.slides")

rng = np.random.default_rng(11)
X = np.vstack([rng.normal([0, 0], 1, (60, 2)), rng.normal([2, 1.5], 1, (60, 2))])
y = np.repeat([0, 1], 60)

fig, (left, right) = plt.subplots(1, 2, figsize=(13.33, 6.4))
whole = LinearClassifier("logistic", solver=GradientDescent(max_iter=60))
display = StepSizeDisplay.from_estimator(whole, X, y, ax=left, title="full gradient")
left.set_ylim(top=3e3)  # room for the key above the curve that jumps
stochastic = SGDClassifier("logistic", stopping=None, keep="last", max_iter=12, random_state=0)
shrinking = [Constant(0.1), InverseSqrt(1.0), InverseTime(), Inverse(alpha=0.5)]
StepSizeDisplay.from_estimator(stochastic, X, y, schedules=shrinking, ax=right, title="one example a step")
for name, verdict in display.verdicts.items():
    print(f"{name}: {verdict}. {display.runs[name].message}")
plt.show()
