"""Why a likelihood without a penalty has no maximum on some data: which coefficients run to infinity, and where to."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from .._common.types import IntArray
from .._common.words import phrase
from ..arithmetic.exact import Clock, Dependencies, ProofTimeoutError
from ._input import matrix_of
from ._question import CountedRows
from .estimates import FINITE, OPEN, verdicts_in_words
from .proof import Separability, involved
from .recession import RecessionCone
from .verdict import TIME_LIMIT, judged

#: Operations that the directions of infinite estimates may cost in an explanation, and coefficients up to which they
#: are looked for; of more, it is only told which have no finite estimate.
DIRECTIONS, MANY = 5e8, 100
#: Beyond this many numbers the pairs of `explain_no_softmax_optimum` are not written down.
MOST_PAIRED = 2 * 10**7


def explain_no_optimum(
    X: Any,
    y: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    fit_intercept: bool = True,
    feature_names: Iterable[Any] | None = None,
    time_limit: float | None = TIME_LIMIT,
    budget: float | None = None,
) -> str | None:
    """Say why unpenalised logistic regression has no finite optimum on these data, or None where it has one.

    The likelihood has a maximum if and only if the classes overlap; on others some coefficients run to infinity.

    Examples
    --------
    >>> print(explain_no_optimum([[0.0], [1.0], [2.0]], [0, 0, 1]))
    the data are separable, so no finite optimum exists: the estimate of x0 is +∞; the estimate of the intercept is −∞;
    use a finite C
    >>> explain_no_optimum([[0.0], [1.0], [2.0]], [0, 1, 0]) is None
    True
    """
    clock = Clock(time_limit, budget)
    found = judged(X, y, sample_weight, fit_intercept=fit_intercept, clock=clock, feature_names=feature_names)
    return _no_optimum(CountedRows.of(X, y, sample_weight, found, clock), found)


def explain_no_softmax_optimum(
    X: Any,
    codes: IntArray,
    classes: Sequence[Any],
    *,
    fit_intercept: bool = True,
    feature_names: Iterable[Any] | None = None,
    time_limit: float | None = None,
    budget: float | None = None,
) -> str | None:
    """Say why the softmax without a penalty has no finite optimum on these data, or None where it has one.

    It has one if and only if no planes, that are not all the same, give every example a score for its own class that is
    nowhere less than for another: (w_y − w_k)·x ≥ 0 for all, and > 0 for some. That is one question of a plane through
    the origin, about the points (e_y − e_k) ⊗ x; the last class's plane may be held at zero. Where that would be more
    numbers than can be looked at the answer is None, too.

    Examples
    --------
    >>> X, codes = [[0.0], [1.0], [3.0], [4.0], [6.0], [7.0]], np.array([0, 0, 1, 1, 2, 2])
    >>> print(explain_no_softmax_optimum(X, codes, "abc"))
    the data are separable, so no finite optimum exists: the estimates of the intercept (a against c) and the intercept
    (b against c) are +∞; the estimates of x0 (a against c) and x0 (b against c) are −∞; use a finite C
    >>> explain_no_softmax_optimum(X, np.array([0, 1, 2, 2, 1, 0]), "abc") is None
    True
    """
    matrix: Any = sparse.csr_matrix(matrix_of(X), dtype=np.float64)
    K, clock = len(classes), Clock(time_limit, budget)
    names = (
        [f"x{j}" for j in range(matrix.shape[1])] if feature_names is None else [str(name) for name in feature_names]
    )
    if fit_intercept:
        ones: Any = sparse.csr_matrix(np.ones((matrix.shape[0], 1)))
        matrix, names = sparse.hstack([matrix, ones], format="csr"), [*names, "the intercept"]
    if 2 * (K - 1) * matrix.nnz > MOST_PAIRED:
        return None
    pairs = [(k, m) for k in range(K) for m in range(K) if k != m]
    selected = [sparse.kron(_difference(k, m, K), matrix[codes == k]) for k, m in pairs]
    points = sparse.vstack(selected, format="csr")
    # All on one side; a point turned about the origin is on the other.
    y = np.where(np.arange(points.shape[0]) % 2 == 0, 1.0, -1.0)
    turned = sparse.csr_matrix(sparse.diags_array(y) @ points)
    paired = [f"{name} ({label} against {classes[-1]})" for label in classes[:-1] for name in names]
    found = judged(turned, y, None, fit_intercept=False, clock=clock, feature_names=paired)
    return _no_optimum(CountedRows.of(turned, y, None, found, clock), found)


def _no_optimum(rows: CountedRows, found: Separability) -> str | None:
    if found.verdict == "overlap":
        return None
    kind = "separable" if found.separable else "quasi-separable"
    return f"the data are {kind}, so no finite optimum exists: {_reasons(rows, found)}; use a finite C"


def _reasons(rows: CountedRows, found: Separability) -> str:
    """Say which coefficients run to infinity, and where to, as far as the work that is left tells it."""
    if found.infinite is None:
        return "some coefficients run to infinity (which ones was not determined in time)"
    verdicts, dependencies = _aliased(found)
    if len(found.infinite) <= MANY:
        clock = rows.clock
        left = DIRECTIONS if clock.budget is None else min(DIRECTIONS, clock.budget - clock.spent)
        verdicts, dependencies = _directions(replace(rows, clock=Clock(clock.left(), left)), found)
    rest = [j for j in found.infinite if j not in verdicts]
    if len(rest) == rows.size:
        return "every coefficient runs to infinity"
    whole = verdicts | {j: FINITE for j in range(rows.size) if j not in found.infinite}
    parts = []
    if verdicts:
        ordered, d = {j: whole[j] for j in sorted(whole)}, rows.X.shape[1]
        parts = [verdicts_in_words(found.name, ordered, dependencies, d, diverges=not rest)]
    if rest:
        who = phrase([found.name(j) for j in rest])
        runs = f"{who} runs" if rest == [rows.size - 1] and rows.intercept else f"coefficients {who} run"
        parts.insert(0, f"{runs} to infinity")
    return "; ".join(parts)


def _directions(rows: CountedRows, found: Separability) -> tuple[dict[int, str], Dependencies]:
    """Return what is proven of coefficients without a finite estimate within the work of a clock, and aliased ones."""
    assert found.infinite is not None
    try:
        cone = RecessionCone(rows, found)
    except ProofTimeoutError:
        return _aliased(found)
    with suppress(ProofTimeoutError):  # what was proven until then is told
        cone.decide(found.infinite)
    open_, dependencies = _aliased(found)
    if cone.dependencies:
        open_, dependencies = dict.fromkeys(involved(cone.dependencies), OPEN), cone.dependencies
    known = {j: cone.verdict(j) for j in found.infinite if j not in open_}
    return {j: kind for j, kind in known.items() if kind is not None} | open_, dependencies


def _aliased(found: Separability) -> tuple[dict[int, str], Dependencies]:
    """Return what is known without further work: columns that depend on each other, whose coefficients are open."""
    return dict.fromkeys(found.aliased, OPEN), found.dependencies


def _difference(k: int, m: int, K: int) -> Any:
    """Return e_k − e_m as a row, without its last entry."""
    row = np.zeros((1, K))
    row[0, k], row[0, m] = 1.0, -1.0
    return sparse.csr_matrix(row[:, :-1])
