"""The zero-one risk over two weights: terraces, on which no slope leads downhill. The perceptron risk beside it."""

import matplotlib.pyplot as plt
import numpy as np

from linsep import LinearClassifier, ZeroOneClassifier
from linsep.display import RiskSurfaceDisplay
from linsep.solvers import GradientDescent

rng = np.random.default_rng(1)
X = np.vstack([rng.normal([-1, -1], 1.2, (12, 2)), rng.normal([1, 1], 1.2, (12, 2))])
y = np.repeat([0, 1], 12)

model = LinearClassifier("logistic", fit_intercept=False, solver=GradientDescent(0.5, record="update")).fit(X, y)
exact = ZeroOneClassifier(fit_intercept=False).fit(X, y)  # NP-hard, but these are few

landscape = RiskSurfaceDisplay.from_estimator(
    exact, X, y, loss="perceptron", x_limits=(-2, 2), y_limits=(-2, 2), resolution=101, kind="surface"
)
display = RiskSurfaceDisplay.from_estimator(model, X, y)  # from above, with the path of a descent
print(f"The fewest mistakes possible are {exact.n_mistakes_} of {len(y)}; proven: {exact.proven_}.")
plt.show()
