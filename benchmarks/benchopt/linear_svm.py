"""linsep in benchopt's comparison of linear SVMs without an intercept: copy this file to its `solvers/` as `linsep.py`.

benchopt asks for more and more exact answers, and measures how long each takes: here an answer is as exact as `tol`,
the relative duality gap, says.
"""

import warnings

from benchopt import BaseSolver
from benchopt.stopping_criterion import SufficientProgressCriterion
from sklearn.exceptions import ConvergenceWarning

from linsep import LinearSVC


class Solver(BaseSolver):
    """Minimise C Σ max(0, 1 − yᵢ xᵢ·w) + ½‖w‖²."""

    name = "linsep"
    install_cmd = "conda"
    requirements = ("pip::linsep",)
    # A step of Newton's method reaches many tolerances at once: that one gains nothing over the last means little.
    stopping_criterion = SufficientProgressCriterion(patience=20, strategy="tolerance")
    references = ("linsep: linear classifiers that prove their answers",)

    def set_objective(self, X, y, C):
        """Take the data."""
        self.X, self.y = X, y
        self.model = LinearSVC(loss="hinge", C=C, fit_intercept=False, max_iter=10_000)

    def run(self, tolerance):
        """Fit to a duality gap."""
        self.model.set_params(tol=max(min(tolerance, 1.0), 1e-14))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # the last digit of a float is asked for in the end
            self.model.fit(self.X, self.y)

    def get_result(self):
        """Return the weights."""
        return dict(beta=self.model.coef_.ravel())
