"""When to stop: the zero-one error stands still long before the logistic risk does; and the best so far never rises."""

import matplotlib.pyplot as plt
import numpy as np

from linsep import LinearClassifier, SGDClassifier
from linsep.display import ConvergenceDisplay
from linsep.solvers import GradientDescent

rng = np.random.default_rng(12)
X = np.vstack([rng.normal([0, 0], 1, (80, 2)), rng.normal([2, 1.5], 1, (80, 2))])
y = np.repeat([0, 1], 80)

full = LinearClassifier("logistic", C=10.0, solver=GradientDescent(stopping="gradient_norm", max_iter=4000)).fit(X, y)
noisy = SGDClassifier("hinge", schedule="inverse_sqrt", max_iter=30, random_state=0).fit(X, y)

display = ConvergenceDisplay.from_estimator(full, log=True, title="gradient descent, logistic loss")
ConvergenceDisplay.from_estimator(noisy, by="pass", title="stochastic subgradient descent, hinge loss")
errors = full.history_["zero_one"]
settled = int(np.flatnonzero(errors != errors[-1])[-1]) + 1
print(f"The zero-one error is final after {settled} steps; the gradient vanishes after {full.n_iter_}.")
plt.show()
