"""Estimators with a solver of the choice of users, and what two of them have of the parameters of scikit-learn."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

import numpy as np

from .._common.checks import check_count
from .._common.words import shown
from ..history import History
from ..objective.objective import Objective
from ._base import LinearEstimator
from ._single import bound_at
from ._specification import check_C

if TYPE_CHECKING:
    from ..solvers import Result, Solver, Start

#: scikit-learn's solvers: the optimum is the same, and which way leads to it is ours to choose.
SCIKIT_LEARN_SOLVERS = ("lbfgs", "liblinear", "newton-cg", "newton-cholesky", "sag", "saga")


def check_number(name: str, value: object, least: float, most: float = np.inf) -> float:
    """Return the setting as a float; raise unless it is a number in that range."""
    if not isinstance(value, Real) or isinstance(value, bool) or not least <= float(value) <= most:
        limits = f"of at least {least:g}" if np.isinf(most) else f"from {least:g} to {most:g}"
        raise ValueError(f"{name}={shown(value)} must be a number {limits}")
    return float(value)


def check_tol(tol: object, *, may_be_zero: bool = False) -> None:
    """Raise unless it is a gap at which to stop; zero is one that nothing reaches."""
    if not isinstance(tol, Real) or isinstance(tol, bool) or not (float(tol) > 0 or (may_be_zero and tol == 0)):
        raise ValueError(f"tol={shown(tol)} must be positive: it is the relative duality gap at which to stop")


@dataclass(frozen=True)
class Standstill:
    """No iteration at all, for ``max_iter=0``: the plane is where a fit begins."""

    name = "none"

    def solve(self, objective: Objective, *, start: Start | None = None, **run: Any) -> Result:
        """Return the start, or zeros."""
        from ..solvers import Result, Start

        at = Start(*objective.zeros()) if start is None else start
        proof = bound_at(objective, at.w, at.b)
        return Result(at.w, at.b, 0, False, "stopped after max_iter=0", History(), last=at, proof=proof)


class SolverEstimator(LinearEstimator):
    """An estimator with parameters `solver`, `tol` and `max_iter`, which stops at a proven gap wherever it can."""

    solver: str | Solver
    tol: float
    max_iter: int | None
    #: Whether a fit may be asked to go on until nothing improves.
    _tol_may_be_zero = False
    #: Names of solvers that mean "auto".
    _other_names: tuple[str, ...] = ()

    def _check_parameters(self) -> None:
        if self.max_iter is not None:
            check_count("max_iter", self.max_iter, least=0)
        check_tol(self.tol, may_be_zero=self._tol_may_be_zero)
        self._solver()

    def _solver(self) -> Solver | None:
        if self.max_iter == 0:
            return Standstill()
        if isinstance(self.solver, str) and self.solver in ("auto", *self._other_names):
            return None
        from ..solvers import SOLVERS, get

        if self._other_names and isinstance(self.solver, str) and self.solver not in SOLVERS:
            raise ValueError(
                f"solver={self.solver!r} is not known; use 'auto', one of {', '.join(SOLVERS)}, one of scikit-learn's "
                f"({', '.join(self._other_names)}), which mean 'auto', or an object of linsep.solvers"
            )
        solver = self._named(self.solver) if isinstance(self.solver, str) else get(self.solver)
        if getattr(solver, "keep", "") == "vote":
            raise ValueError("keep='vote' gives many planes, not one; use linsep.Perceptron(keep='vote')")
        return solver


class CertifiedEstimator(SolverEstimator):
    """What `LogisticRegression` and `LinearSVC` share: scikit-learn's parameters."""

    C: float | None
    dual: bool | str
    intercept_scaling: float
    verbose: int
    fit_intercept: bool
    warm_start: bool
    _other_names = SCIKIT_LEARN_SOLVERS

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if not isinstance(self.dual, bool | np.bool_) and self.dual != "auto":
            raise ValueError(
                f"dual={shown(self.dual)} is not possible; use True, False or 'auto': the optimum is the same"
            )
        for name in ("fit_intercept", "warm_start"):
            if not isinstance(getattr(self, name), bool | np.bool_ | Integral) or getattr(self, name) not in (0, 1):
                raise ValueError(f"{name}={shown(getattr(self, name))} is not possible; use True or False")
        if not check_number("intercept_scaling", self.intercept_scaling, 0.0) > 0:
            raise ValueError(f"intercept_scaling={shown(self.intercept_scaling)} must be positive")
        if not isinstance(self.verbose, Integral) or self.verbose < 0:
            raise ValueError(
                f"verbose={shown(self.verbose)} must be a whole number: 0 says nothing, 1 how the fit ended"
            )
        self._C()
        self._penalty()
        self._loss()

    def _C(self) -> float:
        return check_C(self.C)

    def _after_fit(self, objectives: list[Objective], results: list[Result]) -> None:
        super()._after_fit(objectives, results)
        self._say(results)
