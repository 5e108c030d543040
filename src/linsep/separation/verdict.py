"""Whether a plane separates two classes, with a proof either way that exact arithmetic confirms."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .._common.types import FloatArray
from ..arithmetic.exact import Clock, ProofTimeoutError, check_plane
from ._input import columns_of, counted_rows, matrix_of
from ._outcome import separable
from ._question import Question
from .proof import Separability
from .search import Search

__all__ = ["NotSeparableError", "ProofTimeoutError", "Separability", "decided", "judged", "of_plane", "separability"]

TIME_LIMIT = 60.0


class NotSeparableError(ValueError):
    """No plane separates the classes; `proof` is the `Separability` that shows it.

    Examples
    --------
    >>> proof = separability([[0.0], [1.0], [2.0]], [0, 1, 0])
    >>> print(NotSeparableError(proof))
    the classes 0 and 1 are not linearly separable: a point lies in both convex hulls: ½ of row 0 + ...
    >>> print(NotSeparableError(separability([[1.0], [2.0]], [0, 1], fit_intercept=False), intercept_helps=True))
    the classes 0 and 1 are not linearly separable by a plane through the origin; with an intercept one does: ...
    """

    def __init__(self, proof: Separability, who: str | None = None, *, intercept_helps: bool = False) -> None:
        self.proof = proof
        who = who or "the classes {} and {}".format(*proof.classes)
        planes = "" if proof.fit_intercept else " by a plane through the origin"
        planes += "; with an intercept one does" if intercept_helps else ""
        super().__init__(f"{who} are not linearly separable{planes}: {proof.common_point_in_words()}")

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuilt, (self.proof, str(self))


def _rebuilt(proof: Separability, message: str) -> NotSeparableError:
    error = NotSeparableError(proof)
    error.args = (message,)
    return error


def separability(
    X: Any,
    y: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    fit_intercept: bool = True,
    time_limit: float | None = TIME_LIMIT,
    budget: float | None = None,
    seed: int = 0,
) -> Separability:
    """Decide whether a plane separates two classes, and prove it.

    Parameters
    ----------
    X : array, sparse matrix or DataFrame of shape (n, d)
        Finite numbers, each of which is a 64-bit float exactly; others are refused by name. The verdict is on these
        numbers, exactly.
    y : array of shape (n,)
        Labels of two classes.
    sample_weight : array of shape (n,), optional
        Rows of weight zero are left out; how much the others weigh does not matter.
    fit_intercept : bool, default=True
        Whether planes may miss the origin.
    time_limit : float or None, default=60
        Seconds after which `linsep.exact.ProofTimeoutError` says that nothing was decided; None for no limit.
    budget : float or None, default=None
        Elementary operations after which the same error is raised, some 10⁹ to a second: a limit that means the same on
        all machines; None for no such limit.
    seed : int
        Of the order in which the perceptron visits the points.

    Returns
    -------
    Separability

    Examples
    --------
    >>> print(separability([[0.0, 1.0], [1.0, 1.0], [2.0, 0.0], [3.0, 0.0]], [0, 0, 1, 1]))
    separable: a plane has all points strictly on their own side, with margin ...
    >>> print(separability([[0.0], [1.0], [1.0], [2.0]], [0, 0, 1, 1]))
    quasi-separable: a plane has no point on the wrong side and 2 on it, and no plane separates strictly; rows 1 and 2
    are the same point with different labels. Coefficients without a finite estimate unless penalised: x0 and the
    intercept
    """
    return judged(X, y, sample_weight, fit_intercept=fit_intercept, clock=Clock(time_limit, budget), seed=seed)


def judged(
    X: Any,
    y: ArrayLike,
    sample_weight: ArrayLike | None,
    *,
    fit_intercept: bool,
    clock: Clock,
    seed: int = 0,
    feature_names: Iterable[Any] | None = None,
) -> Separability:
    """Return what `separability` does, within the limits of a clock; names stand before those of a table."""
    names = columns_of(X) if feature_names is None else [str(name) for name in feature_names]
    X = matrix_of(X)
    labels, where = np.asarray(y), ""
    if labels.shape != (X.shape[0],):
        raise ValueError(f"y has shape {labels.shape}; it needs one label for each of the {X.shape[0]} rows of X")
    if labels.dtype.kind == "f" and not np.isfinite(labels).all():
        raise ValueError("y has a label that is not a finite number")
    rows = np.arange(len(labels)) if sample_weight is None else counted_rows(sample_weight, len(labels))
    if len(rows) < len(labels):
        X, labels, where = X[rows], labels[rows], " among the rows with weight"
    classes = np.unique(labels)
    if len(classes) != 2:
        raise ValueError(
            f"y has {len(classes)} class{'es' * (len(classes) != 1)}{where}; separability is a question about two. "
            "Of more, ask for each one against the rest: separability(X, y == label)"
        )
    signs = np.where(labels == classes[1], 1.0, -1.0)
    found = decided(X, signs, fit_intercept=fit_intercept, clock=clock, seed=seed)
    pair = (classes[0].item(), classes[1].item()) if hasattr(classes[0], "item") else (classes[0], classes[1])
    return replace(found.in_rows(rows.tolist()), classes=pair, feature_names=names)


def decided(
    X: Any,
    y: FloatArray,
    *,
    fit_intercept: bool,
    clock: Clock,
    seed: int = 0,
    ranking: FloatArray | None = None,
    weakly: bool = True,
) -> Separability:
    """Return the verdict on labels ±1, within the time and the work of a clock.

    A `ranking` says which rows are likely to be part of a proof of overlap, the lowest first; it is given by those who
    have looked for a plane in quick ways already. Without `weakly` the verdict on data that nothing separates is
    "inseparable", which takes much less work than to tell a quasi-separation from an overlap.

    Examples
    --------
    >>> decided(np.array([[0.0], [1.0]]), np.array([-1.0, 1.0]), fit_intercept=True, clock=Clock(None)).verdict
    'separable'
    """
    found = Search(Question(X, y, fit_intercept, clock, seed), ranking).decide(weakly=weakly)
    return Separability(classes=(-1, 1), fit_intercept=fit_intercept, **found)


def of_plane(X: Any, y: FloatArray, coef: FloatArray, intercept: float, *, fit_intercept: bool) -> Separability | None:
    """Return the verdict that a plane in floats gives on labels ±1, or None where it does not separate exactly."""
    if not check_plane(X, y, coef, intercept if fit_intercept else None):
        return None
    theta = np.append(coef, intercept) if fit_intercept else coef
    found = separable(Question(X, y, fit_intercept, Clock(None)), theta)
    return Separability(classes=(-1, 1), fit_intercept=fit_intercept, **found)
