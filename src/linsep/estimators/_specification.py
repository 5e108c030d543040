"""What an estimator says of itself: the loss, the penalty, C, its solver; and the names of what a fit leaves."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .. import penalties
from .._common.types import FloatArray
from .._common.words import shown
from ..losses import Loss
from ..objective.objective import in_force
from ..objective.statement import Statement
from ..penalties import Penalty

if TYPE_CHECKING:  # a solver is loaded by a fit, not by whoever reads a model
    from ..arithmetic.redundancy import Redundancy
    from ..solvers import Solver


def penalty_of(penalty: str | Penalty | None, l1_ratio: float | None) -> Penalty:
    """Return the penalty; `l1_ratio` must be a share, and counts for the elastic net, which cannot do without."""
    if l1_ratio is not None and not (isinstance(l1_ratio, Real) and not isinstance(l1_ratio, bool)):
        raise ValueError(f"l1_ratio={shown(l1_ratio)} must be a number from 0 to 1")
    if l1_ratio is not None and not 0 <= l1_ratio <= 1:
        raise ValueError(f"l1_ratio={shown(l1_ratio)} must be a number from 0 to 1")
    return penalties.get(penalty, l1_ratio if penalty == "elasticnet" else None)


def check_C(C: object) -> float:
    """Return C as a float, infinite for None; raise unless it is positive."""
    if C is None:
        return np.inf
    if not isinstance(C, Real) or isinstance(C, bool) or not float(C) > 0:
        raise ValueError(f"C={shown(C)} must be a positive number; inf or None means no penalty")
    return float(C)


#: What to call the columns of arrays in messages, where somebody knows.
column_names: ContextVar[Sequence[str] | None] = ContextVar("column_names", default=None)


#: Columns that messages do not speak of, because those of others are told relative to them: reference levels.
columns_left_out: ContextVar[Sequence[int]] = ContextVar("columns_left_out", default=())


@contextmanager
def columns_named(names: Sequence[str], left_out: Sequence[int] = ()) -> Iterator[None]:
    """Fit arrays whose columns have names, as those of a file do: messages say them, but for those left out."""
    before, before_that = column_names.set(names), columns_left_out.set(left_out)
    try:
        yield
    finally:
        column_names.reset(before)
        columns_left_out.reset(before_that)


@contextmanager
def solved_by(model: Specification, choose: Callable[[], Any]) -> Iterator[None]:
    """Fit a model by a solver of somebody else's choice, such as one that listens to the model's own."""
    model._solver = choose  # type: ignore[method-assign]
    try:
        yield
    finally:
        del model._solver


class Specification:
    """The objective of a linear classifier, in the terms of its parameters; subclasses say which."""

    classes_: NDArray[Any]
    coef_: FloatArray
    intercept_: FloatArray
    n_features_in_: int
    n_iter_: Any
    converged_: bool
    dual_gap_: float
    objective_: str
    history_: Any
    _redundancy: Redundancy | None
    _no_optimum: str | None = None
    _column_names: Sequence[str] | None = None
    #: Whether 32-bit data give 32-bit planes, scores and probabilities, as they do of scikit-learn's class.
    _single_of_single: bool = False
    #: Whether a fit ends by a rule of its own, and not at a proven gap.
    _own_rule: bool = False

    def _loss(self) -> Loss:
        raise TypeError(f"{type(self).__name__} does not say its loss")

    def _penalty(self) -> Penalty:
        return penalties.NoPenalty()

    def _C(self) -> float:
        return np.inf

    def _solver(self) -> Solver | None:
        """Return the solver, or None to let the problem decide."""
        return None

    def _named(self, name: str) -> Solver:
        """Return the solver of that name, with the estimator's own limits where both have them."""
        from ..solvers import get

        solver = get(name)
        limits = {limit: getattr(self, limit, None) for limit in ("max_iter", "tol") if hasattr(solver, limit)}
        return get(name, **{limit: value for limit, value in limits.items() if value is not None})

    def _check_parameters(self) -> None:
        """Raise for parameters that make no sense, before anything is computed."""

    def _is_exact(self) -> bool:
        """Whether this fit says something exactly: without a penalty, of columns that are redundant or run away."""
        return not any(in_force(self._penalty(), self._C())[0].numbers)

    def _is_linear(self, X: Any) -> bool:
        """Whether a fit on X does no more with rows than to multiply and to add them."""
        return False

    def _goal(self) -> float | None:
        """Return the relative gap that was asked for; None of estimators that have no such parameter."""
        return getattr(self, "tol", None)

    def _tol(self) -> float:
        """Return the relative gap at which to stop."""
        goal = self._goal()
        return 1e-4 if goal is None else float(goal)

    def _statement(self) -> Statement:
        """Return what the parameters say is minimised."""
        intercept, class_weight = bool(getattr(self, "fit_intercept", True)), getattr(self, "class_weight", None)
        class_weight = dict(class_weight) if isinstance(class_weight, Mapping) else class_weight
        return Statement(self._loss(), self._penalty(), self._C(), intercept, class_weight)

    def _feature_names(self) -> list[str]:
        """Return the names of the columns; x0, x1 and so on where they have none."""
        names = getattr(self, "feature_names_in_", self._column_names)
        return [f"x{j}" for j in range(self.n_features_in_)] if names is None else [str(name) for name in names]

    def _iterations(self) -> int:
        """Return how many iterations the plane took that took the most."""
        return int(np.max(self.n_iter_))

    def _planes(self) -> FloatArray:
        """Return the weights as an array of doubles, one row a plane."""
        dense = self.coef_.toarray() if sparse.issparse(self.coef_) else self.coef_  # type: ignore[attr-defined]
        return np.asarray(dense, dtype=np.float64)
