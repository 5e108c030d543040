"""What a margin model says of its examples: which of them hold the plane, how hard, and who falls short by how much."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..certificates.claim import Fingerprint
from ..objective.duality import weights
from ..objective.problem import Problem

if TYPE_CHECKING:
    from ..solvers import Result, Start

FloatArray = NDArray[np.float64]

__all__ = ["SUPPORT", "dual_starts", "store_support", "support_left_out"]

#: The attributes that `store_support` sets; only a fit on all data can know them.
SUPPORT = ("support_", "support_vectors_", "n_support_", "dual_coef_", "slack_")

#: A dual variable below this share of its largest value, cᵢ = C sᵢ, is zero.
NEGLIGIBLE = 1e-9


_left_out = ContextVar("left_out", default=False)


@contextmanager
def support_left_out() -> Iterator[None]:
    """Fit margin models without what they say of single examples: copying rows of a large file takes a while.

    Examples
    --------
    >>> from linsep import LinearSVC
    >>> with support_left_out():
    ...     model = LinearSVC().fit([[0.0], [1.0]], [0, 1])
    >>> hasattr(model, "support_vectors_")
    False
    """
    before = _left_out.set(True)
    try:
        yield
    finally:
        _left_out.reset(before)


def store_support(estimator: Any, problems: list[Problem], results: list[Result]) -> None:
    """Set the attributes of a margin model; of another loss, or a solver that knows no dual point, those it can know.

    ``slack_`` is ξ = max(0, 1 − z), one column for each plane (for one plane, a vector). ``support_`` are the examples
    with α > 0 for any plane, ascending; ``dual_coef_`` their yᵢαᵢ, one row a plane, so that up to the proven gap
    ``coef_ = dual_coef_ @ support_vectors_``.
    """
    for name in SUPPORT:
        estimator.__dict__.pop(name, None)
    if not problems[0].loss.margin or _left_out.get():
        return
    z = [_agreements(problem, result) for problem, result in zip(problems, results, strict=True)]
    slack = np.column_stack([np.maximum(0.0, 1.0 - agreements) for agreements in z])
    estimator.slack_ = slack[:, 0] if len(problems) == 1 else slack
    duals = [_dual(*each) for each in zip(problems, results, z, strict=True)]
    known = [signed for signed in duals if signed is not None]
    if len(known) < len(duals):
        return
    signed = np.array(known)
    estimator.support_ = np.flatnonzero(signed.any(axis=0))
    estimator.support_vectors_ = problems[0].rows.X[estimator.support_]
    estimator.dual_coef_ = signed[:, estimator.support_]
    codes = codes_of(problems)[estimator.support_]
    estimator.n_support_ = np.bincount(codes, minlength=len(estimator.classes_)).astype(np.int32)


def dual_starts(estimator: Any, problems: list[Problem], starts: list[Start | None]) -> list[Start | None]:
    """Return the starts with the dual variables of the last fit, if that was on the same rows; αᵢ grows as cᵢ does."""
    claims = getattr(estimator, "_claims", [])
    if not hasattr(estimator, "dual_coef_") or len(claims) != len(problems):
        return starts
    found: list[Start | None] = []
    for problem, start, claim, signed in zip(problems, starts, claims, estimator.dual_coef_, strict=True):
        if start is None or claim.data.differs(replace(Fingerprint.of(problem), weight=claim.data.weight)):
            return starts
        scale = problem.weight_of_loss * problem.total_weight / (claim.statement.C * claim.data.weight)
        alpha = np.zeros(problem.rows.n)
        alpha[estimator.support_] = np.maximum(signed * problem.y[estimator.support_], 0.0) * scale
        found.append(replace(start, alpha=alpha))
    return found


def _agreements(problem: Problem, result: Result) -> FloatArray:
    return problem.agreements(result.w, result.b) if result.z is None else result.z


def _dual(problem: Problem, result: Result, z: FloatArray) -> FloatArray | None:
    """Return yᵢαᵢ: of a smooth loss αᵢ = −cᵢ ℓ'(zᵢ), of another the solver's; None where that has none."""
    c = weights(problem)
    with np.errstate(over="ignore", invalid="ignore"):  # where C s exceeds the largest float
        alpha = -c * problem.loss.slope(z) if problem.loss.smooth else result.alpha
    return None if alpha is None else np.where(alpha > NEGLIGIBLE * c, alpha, 0.0) * problem.y


def codes_of(problems: list[Problem]) -> NDArray[np.int64]:
    """Return the position of each example's class."""
    if len(problems) == 1:
        return (problems[0].y > 0).astype(np.int64)
    return np.asarray(np.argmax([problem.y for problem in problems], axis=0), dtype=np.int64)
