"""What a margin model says of its examples: which of them hold the plane, how hard, and who falls short by how much."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from .._common.types import FloatArray
from ..certificates.kinds.gap import Gap
from ..certificates.seal import Fingerprint
from ..objective.class_margins import rivals, signed_masses
from ..objective.duality import weights
from ..objective.objective import Objective

if TYPE_CHECKING:
    from ..solvers import Result, Start


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


def store_support(estimator: Any, problems: list[Objective], results: list[Result]) -> None:
    """Set the attributes of a margin model; of another loss, or a solver that knows no dual point, those it can know.

    ``slack_`` is ξ = max(0, 1 − z), one column for each plane (for one plane, a vector). ``support_`` are the examples
    with α > 0 for any plane, ascending; ``dual_coef_`` their yᵢαᵢ, one row a plane, so that up to the proven gap
    ``coef_ = dual_coef_ @ support_vectors_``.
    """
    for name in SUPPORT:
        estimator.__dict__.pop(name, None)
    if not problems[0].loss.margin or problems[0].examples.resident is None or _left_out.get():
        return
    if problems[0].head.planes is not None:
        _store_of_classes(estimator, problems[0], results[0])
        return
    z = [_agreements(problem, result) for problem, result in zip(problems, results, strict=True)]
    slack = np.column_stack([np.maximum(0.0, 1.0 - agreements) for agreements in z])
    estimator.slack_ = slack[:, 0] if len(problems) == 1 else slack
    duals = [_dual(*each) for each in zip(problems, results, z, strict=True)]
    known = [signed for signed in duals if signed is not None]
    if len(known) < len(duals):
        return
    _store_duals(estimator, problems[0], np.array(known))


def _store_of_classes(estimator: Any, problem: Objective, result: Result) -> None:
    """Set the same where all classes are one objective: ``slack_`` is a vector, ``dual_coef_`` has a row a class."""
    scores, c = problem.rows.matmat(result.w) + result.b, weights(problem)[:, None]
    estimator.slack_ = problem.loss.value(rivals(scores, problem.codes)[0])
    if result.alpha is None:
        return
    masses = np.where(result.alpha > NEGLIGIBLE * c, result.alpha, 0.0)
    _store_duals(estimator, problem, signed_masses(problem, masses).T)


def _store_duals(estimator: Any, problem: Objective, signed: FloatArray) -> None:
    estimator.support_ = np.flatnonzero(signed.any(axis=0))
    estimator.support_vectors_ = problem.rows.X[estimator.support_]
    estimator.dual_coef_ = signed[:, estimator.support_]
    codes = problem.codes[estimator.support_]
    estimator.n_support_ = np.bincount(codes, minlength=len(estimator.classes_)).astype(np.int32)


def dual_starts(estimator: Any, problems: list[Objective], starts: list[Start]) -> list[Start]:
    """Return the starts with the dual variables of the last fit, if that was on the same rows; αᵢ grows as cᵢ does."""
    claims = [claim for proof in estimator._proofs if isinstance(proof, Gap) for claim in proof.each]
    if not hasattr(estimator, "dual_coef_") or len(claims) != len(problems):
        return starts
    found: list[Start] = []
    for problem, start, claim, signed in zip(problems, starts, claims, estimator.dual_coef_, strict=True):
        if claim.data.differs(replace(Fingerprint.of(problem), weight=claim.data.weight)):
            return starts
        scale = problem.weight_of_loss * problem.total_weight / (claim.statement.C * claim.data.weight)
        alpha = np.zeros(problem.rows.n)
        alpha[estimator.support_] = np.maximum(signed * problem.y[estimator.support_], 0.0) * scale
        found.append(replace(start, alpha=alpha))
    return found


def _agreements(problem: Objective, result: Result) -> FloatArray:
    return problem.agreements(result.w, result.b) if result.z is None else result.z


def _dual(problem: Objective, result: Result, z: FloatArray) -> FloatArray | None:
    """Return yᵢαᵢ: of a smooth loss αᵢ = −cᵢ ℓ'(zᵢ), of another the solver's; None where that has none."""
    c = weights(problem)
    with np.errstate(over="ignore", invalid="ignore"):  # where C s exceeds the largest float
        alpha = -c * problem.loss.slope(z) if problem.loss.smooth else result.alpha
    return None if alpha is None else np.where(alpha > NEGLIGIBLE * c, alpha, 0.0) * problem.y
