"""What `LogisticRegression` and `LinearSVC` share: a solver that proves its answer, and scikit-learn's parameters."""

from __future__ import annotations

from numbers import Integral, Real
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from .._checks import check_count
from ..objective.objective import Objective
from ._base import LinearEstimator
from ._specification import check_C

if TYPE_CHECKING:
    from ..solvers import Result, Solver

FloatArray = NDArray[np.float64]

#: scikit-learn's solvers: the optimum is the same, and which way leads to it is ours to choose.
SCIKIT_LEARN_SOLVERS = ("lbfgs", "liblinear", "newton-cg", "newton-cholesky", "sag", "saga")


def check_number(name: str, value: object, least: float, most: float = np.inf) -> float:
    """Return the setting as a float; raise unless it is a number in that range."""
    if not isinstance(value, Real) or isinstance(value, bool) or not least <= float(value) <= most:
        limits = f"of at least {least:g}" if np.isinf(most) else f"from {least:g} to {most:g}"
        raise ValueError(f"{name}={value!r} must be a number {limits}")
    return float(value)


class CertifiedEstimator(LinearEstimator):
    """An estimator that stops at a proven gap wherever a solver can prove one."""

    C: float | None
    tol: float
    max_iter: int | None
    solver: str | Solver
    dual: bool | str
    intercept_scaling: float
    verbose: int
    fit_intercept: bool
    warm_start: bool

    def _check_parameters(self) -> None:
        if self.max_iter is not None:
            check_count("max_iter", self.max_iter)
        if not (isinstance(self.tol, Real) and not isinstance(self.tol, bool) and self.tol > 0):
            raise ValueError(f"tol={self.tol!r} must be positive: it is the relative duality gap at which to stop")
        if not isinstance(self.dual, bool | np.bool_) and self.dual != "auto":
            raise ValueError(f"dual={self.dual!r} is not possible; use True, False or 'auto': the optimum is the same")
        for name in ("fit_intercept", "warm_start"):
            if not isinstance(getattr(self, name), bool | np.bool_ | Integral) or getattr(self, name) not in (0, 1):
                raise ValueError(f"{name}={getattr(self, name)!r} is not possible; use True or False")
        if not check_number("intercept_scaling", self.intercept_scaling, 0.0) > 0:
            raise ValueError(f"intercept_scaling={self.intercept_scaling!r} must be positive")
        if not isinstance(self.verbose, Integral) or self.verbose < 0:
            raise ValueError(f"verbose={self.verbose!r} must be a whole number: 0 says nothing, 1 how the fit ended")
        self._C()
        self._penalty()
        self._loss()
        self._solver()

    def _C(self) -> float:
        return check_C(self.C)

    def _solver(self) -> Solver | None:
        if isinstance(self.solver, str) and self.solver in ("auto", *SCIKIT_LEARN_SOLVERS):
            return None
        from ..solvers import SOLVERS, get

        if isinstance(self.solver, str) and self.solver not in SOLVERS:
            raise ValueError(
                f"solver={self.solver!r} is not known; use 'auto', one of {', '.join(SOLVERS)}, one of scikit-learn's "
                f"({', '.join(SCIKIT_LEARN_SOLVERS)}), which mean 'auto', or an object of linsep.solvers"
            )
        solver = self._named(self.solver) if isinstance(self.solver, str) else get(self.solver)
        if getattr(solver, "keep", "") == "vote":
            raise ValueError("keep='vote' gives many planes, not one; use linsep.Perceptron(keep='vote')")
        return solver

    def _after_fit(self, objectives: list[Objective], results: list[Result]) -> None:
        super()._after_fit(objectives, results)
        self._say(results)
