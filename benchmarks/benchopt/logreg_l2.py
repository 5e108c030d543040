"""linsep in benchopt's comparison of L2 logistic regression: copy this file to its `solvers/` as `linsep.py`.

benchopt asks for more and more exact answers, and measures how long each takes: here an answer is as exact as `tol`,
the relative duality gap, says.
"""

import warnings

import numpy as np
from benchopt import BaseSolver
from benchopt.stopping_criterion import SufficientProgressCriterion
from sklearn.exceptions import ConvergenceWarning

from linsep import LogisticRegression


class Solver(BaseSolver):
    """Minimise Σ log(1 + e^(−yᵢ xᵢ·w)) + ½ λ‖w‖²; the intercept, where there is one, is not penalised."""

    name = "linsep"
    install_cmd = "conda"
    requirements = ("pip::linsep",)
    # A step of Newton's method reaches many tolerances at once: that one gains nothing over the last means little.
    stopping_criterion = SufficientProgressCriterion(patience=20, strategy="tolerance")
    references = ("linsep: linear classifiers that prove their answers",)

    def set_objective(self, X, y, lmbd, fit_intercept=False):
        """Take the data; λ is 1/C."""
        self.X, self.y = X, y
        self.model = LogisticRegression(C=1.0 / lmbd, fit_intercept=fit_intercept, max_iter=10_000)

    def run(self, tolerance):
        """Fit to a duality gap."""
        self.model.set_params(tol=max(min(tolerance, 1.0), 1e-14))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # the last digit of a float is asked for in the end
            self.model.fit(self.X, self.y)

    def get_result(self):
        """Return the weights, and the intercept after them where there is one."""
        coef = self.model.coef_.ravel()
        return dict(beta=np.append(coef, self.model.intercept_) if self.model.fit_intercept else coef)
