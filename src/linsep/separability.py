"""Whether a plane separates two classes, with a proof either way that exact arithmetic confirms."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from operator import index
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from ._core import is_sparse
from .exact import Check, Clock, ProofTimeoutError, check_overlap, check_plane, check_support, sides
from .exact_input import refuse_inexact
from .separation import Search, safe_margin

FloatArray = NDArray[np.float64]

__all__ = [
    "NotSeparableError",
    "ProofTimeoutError",
    "Separability",
    "decided",
    "explain_no_optimum",
    "explain_no_softmax_optimum",
    "of_plane",
    "separability",
]

TIME_LIMIT = 60.0


@dataclass(frozen=True, eq=False)
class Separability:
    """What is proven of two classes.

    Attributes
    ----------
    verdict : {"separable", "quasi", "overlap", "inseparable"}
        A plane with every point strictly on its own side; none, but one with no point on the wrong side and some off
        the plane (the likelihood of logistic regression has then no maximum); neither. "inseparable" leaves open which
        of the last two it is: all that a perceptron has to know, and on large data all that it asks.
    coef, intercept : array and float, or None
        The plane, where one separates, strictly or weakly.
    plane : tuple of Fraction, or None
        The same plane [w, b] exactly, where `coef` and `intercept` round it and the rounded one proves less.
    margin : float or None
        The smallest distance of a point to the plane: a lower bound on the largest possible margin.
    points, weights : lists of int and Fraction, or None
        Unless separable: at most d + 2 rows, and weights that sum to one in each class, such that the two convex
        combinations are the same point. (Without an intercept: weights that sum to one over both, Σ λᵢ yᵢ xᵢ = 0.)
    support, support_weights : lists of int and Fraction, or None
        For an overlap: the same on rows that span all others, which excludes a quasi-separation.
    dependencies : dict
        For an overlap: columns that are combinations {column: Fraction} of others on all rows (column d is constant).
    infinite : list of int
        Columns whose coefficients run to infinity in unpenalised logistic regression: those with a weight in the plane.
    on_plane : int
        How many points lie on the plane.
    classes : tuple
        The negative and the positive label.
    feature_names : list of str or None
    fit_intercept : bool

    Examples
    --------
    >>> result = separability([[0.0], [1.0], [2.0]], ["a", "b", "a"])
    >>> result.verdict, result.points, [str(weight) for weight in result.weights]
    ('overlap', [0, 1, 2], ['1/2', '1', '1/2'])
    >>> bool(result.verify([[0.0], [1.0], [2.0]], ["a", "b", "a"]))
    True
    """

    verdict: str
    classes: tuple[Any, Any]
    coef: FloatArray | None = None
    intercept: float | None = None
    plane: tuple[Fraction, ...] | None = None
    margin: float | None = None
    points: list[int] | None = None
    weights: list[Fraction] | None = None
    support: list[int] | None = None
    support_weights: list[Fraction] | None = None
    dependencies: dict[int, dict[int, Fraction]] = field(default_factory=dict)
    infinite: list[int] = field(default_factory=list)
    on_plane: int = 0
    feature_names: list[str] | None = None
    fit_intercept: bool = True

    @property
    def separable(self) -> bool:
        """Whether a plane has every point strictly on its own side."""
        return self.verdict == "separable"

    def verify(self, X: Any, y: ArrayLike, *, time_limit: float | None = None) -> Check:
        """Check the proof on the data, in exact rational arithmetic and without the solver that found it.

        Returns
        -------
        Check
            True or false, with a `reason`. Raises `ProofTimeoutError` after `time_limit` seconds.
        """
        X, labels = _matrix(X), np.asarray(y)
        known = np.isin(labels, np.array(self.classes))
        if labels.shape != (X.shape[0],) or not known.all():
            return Check(False, f"y must hold a label {self.classes[0]!r} or {self.classes[1]!r} for each row of X")
        signs = np.where(labels == self.classes[1], 1.0, -1.0)
        clock: Any = dict(time_limit=time_limit)
        if self.verdict not in ("separable", "quasi", "overlap", "inseparable"):
            return Check(False, f"{self.verdict!r} is no verdict that could be checked")
        has_plane = self.verdict in ("separable", "quasi")
        if not has_plane and any(said is not None for said in (self.coef, self.intercept, self.plane, self.margin)):
            return Check(False, f"a plane and a margin do not go with the verdict {self.verdict!r}")
        if self.on_plane != 0 and self.verdict != "quasi":
            return Check(False, f"points on a plane do not go with the verdict {self.verdict!r}")
        if has_plane:
            if self.coef is None or self.intercept is None:
                return Check(False, "there is no plane to check")
            if self.plane is not None and len(self.plane) != len(self.coef) + 1:
                return Check(False, f"the plane has {len(self.plane)} numbers for {len(self.coef)} coefficients")
            coef: Any = self.coef if self.plane is None else self.plane[: len(self.coef)]
            b: Any = self.intercept if self.plane is None else self.plane[-1]
            plane = check_plane(X, signs, coef, b if self.fit_intercept else None, strict=self.separable, **clock)
            said = self._check_numbers(X, signs, coef) if plane else plane
            if self.separable or not said:
                return plane if said else said
        if self.points is None or self.weights is None:
            return Check(False, "there are no points to check")
        if self.verdict == "overlap" and self.points == self.support and self.weights == self.support_weights:
            touching = Check(True, "the same combinations are checked below")
        else:
            touching = check_overlap(X, signs, self.points, self.weights, intercept=self.fit_intercept, **clock)
        if not touching or self.verdict != "overlap":
            return touching
        if self.support is None or self.support_weights is None:
            return Check(False, "there is no proof that excludes a quasi-separation")
        proof = self.support, self.support_weights, self.dependencies
        return check_support(X, signs, *proof, intercept=self.fit_intercept, **clock)

    def _check_numbers(self, X: Any, signs: FloatArray, coef: Sequence[float | Fraction]) -> Check:
        """Check what is said of the plane besides that it separates."""
        assert self.coef is not None
        assert self.intercept is not None
        if self.infinite != [j for j, value in enumerate(coef) if value != 0]:
            return Check(False, "the coefficients said to run to infinity are not those of the plane")
        width = safe_margin(X, signs, self.coef, self.intercept) if self.coef.any() else np.inf
        limit = max(0.0, width) * (1 + 1e-9) + 1e-12 * float(abs(X).max()) if self.separable else 0.0
        if self.margin is None or not self.margin <= limit:
            return Check(False, f"the plane keeps a margin of {width:.6g}, not of {self.margin}")
        if not self.separable and self.plane is not None:
            zeros = int((sides(X, signs, self._theta(), intercept=self.fit_intercept) == 0).sum())
            if self.on_plane != zeros:
                return Check(False, f"{zeros} points lie on the plane, not {self.on_plane}")
        return Check(True, "")

    def _theta(self) -> Sequence[Fraction]:
        assert self.plane is not None
        return self.plane if self.fit_intercept else self.plane[:-1]

    def to_dict(self) -> dict[str, Any]:
        """Return it in terms of JSON; a Fraction is "p/q" in base 16, in which Python reads any number of digits."""
        dependencies = [[j, [[k, _written(c)] for k, c in others.items()]] for j, others in self.dependencies.items()]
        return {
            "verdict": self.verdict,
            "classes": list(self.classes),
            "coef": None if self.coef is None else np.asarray(self.coef).tolist(),
            "intercept": None if self.intercept is None else float(self.intercept),
            "plane": _all_written(self.plane),
            "margin": float(self.margin) if self.margin is not None and np.isfinite(self.margin) else None,
            "points": None if self.points is None else [int(i) for i in self.points],
            "weights": _all_written(self.weights),
            "support": None if self.support is None else [int(i) for i in self.support],
            "support_weights": _all_written(self.support_weights),
            "dependencies": dependencies,
            "infinite": [int(j) for j in self.infinite],
            "on_plane": int(self.on_plane),
            "feature_names": self.feature_names,
            "fit_intercept": bool(self.fit_intercept),
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Read what `to_dict` wrote."""
        negative, positive = data["classes"]
        plane, coef, names = _all_read(data["plane"]), data["coef"], data["feature_names"]
        return cls(
            verdict=str(data["verdict"]),
            classes=(negative, positive),
            coef=None if coef is None else np.asarray(coef, dtype=np.float64),
            intercept=None if data["intercept"] is None else float(data["intercept"]),
            plane=None if plane is None else tuple(plane),
            # the margin of a plane without weights is infinite, which JSON cannot say
            margin=_margin_read(data["margin"], str(data["verdict"])),
            points=None if data["points"] is None else [index(i) for i in data["points"]],
            weights=_all_read(data["weights"]),
            support=None if data["support"] is None else [index(i) for i in data["support"]],
            support_weights=_all_read(data["support_weights"]),
            dependencies={int(j): {int(k): _read(c) for k, c in others} for j, others in data["dependencies"]},
            infinite=[index(j) for j in data["infinite"]],
            on_plane=index(data["on_plane"]),
            feature_names=None if names is None else [str(name) for name in names],
            fit_intercept=bool(data["fit_intercept"]),
        )

    def in_rows(self, rows: Sequence[int]) -> Separability:
        """Return the same for the data that these rows were taken from."""
        points = None if self.points is None else [int(rows[i]) for i in self.points]
        support = None if self.support is None else [int(rows[i]) for i in self.support]
        return replace(self, points=points, support=support)

    def name(self, column: int) -> str:
        """Return what a column is called."""
        return f"x{column}" if self.feature_names is None else self.feature_names[column]

    def _names(self, columns: Sequence[int], most: int = 8) -> str:
        shown = ", ".join(self.name(j) for j in columns[:most])
        return shown + (f" and {len(columns) - most} more" if len(columns) > most else "")

    def _common_point(self) -> str:
        """The overlap proof in words."""
        assert self.points is not None
        assert self.weights is not None
        if len(self.points) == 2 and self.fit_intercept:
            return f"rows {self.points[0]} and {self.points[1]} are the same point with different labels"
        shown = [f"{_short(w)} × row {i}" for i, w in zip(self.points[:6], self.weights[:6], strict=True)]
        more = f" + {len(self.points) - 6} more" if len(self.points) > 6 else ""
        if not self.fit_intercept:
            return f"zero is a convex combination of the points y·x: {' + '.join(shown)}{more}"
        return f"a point lies in both convex hulls, a combination of {len(self.points)} rows: {', '.join(shown)}{more}"

    def __str__(self) -> str:
        if self.verdict == "separable":
            return f"separable: a plane has all points strictly on their own side, with margin {self.margin:.6g}"
        if self.verdict == "overlap":
            return f"overlap: no plane separates, not even weakly; {self._common_point()}"
        if self.verdict == "inseparable":
            return f"inseparable: no plane separates (weakly was not asked); {self._common_point()}"
        return (
            f"quasi-separable: a plane has no point on the wrong side and {self.on_plane} on it, and no plane "
            f"separates strictly; {self._common_point()}. Coefficients that run to infinity without a penalty: "
            f"{self._names(self.infinite) or 'the intercept'}"
        )

    __repr__ = __str__


def _written(value: Fraction) -> str:
    value = Fraction(value)
    return f"{value.numerator:x}/{value.denominator:x}"


def _read(text: str) -> Fraction:
    numerator, denominator = text.split("/")
    return Fraction(int(numerator, 16), int(denominator, 16))


def _margin_read(margin: float | None, verdict: str) -> float | None:
    if margin is None:
        return np.inf if verdict == "separable" else None
    return float(margin)


def _all_written(values: Sequence[Fraction] | None) -> list[str] | None:
    return None if values is None else [_written(value) for value in values]


def _all_read(texts: Sequence[str] | None) -> list[Fraction] | None:
    return None if texts is None else [_read(text) for text in texts]


def _short(value: Fraction) -> str:
    return str(value) if value.denominator < 10**6 else f"{float(value):.6g}"


class NotSeparableError(ValueError):
    """No plane separates the classes; `proof` is the `Separability` that shows it.

    Examples
    --------
    >>> proof = separability([[0.0], [1.0], [2.0]], [0, 1, 0])
    >>> print(NotSeparableError(proof))
    the classes 0 and 1 are not linearly separable: a point lies in both convex hulls, ...
    """

    def __init__(self, proof: Separability, who: str | None = None) -> None:
        self.proof = proof
        who = who or "the classes {} and {}".format(*proof.classes)
        super().__init__(f"{who} are not linearly separable: {proof._common_point()}")

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
    are the same point with different labels. Coefficients that run to infinity without a penalty: x0
    """
    clock = Clock(time_limit, budget)
    names = [str(name) for name in X.columns] if hasattr(X, "columns") else None
    X = _matrix(X)
    labels = np.asarray(y)
    if labels.shape != (X.shape[0],):
        raise ValueError(f"y has shape {labels.shape}; it needs one label for each of the {X.shape[0]} rows of X")
    if labels.dtype.kind == "f" and not np.isfinite(labels).all():
        raise ValueError("y has a label that is not a finite number")
    classes = np.unique(labels)
    if len(classes) != 2:
        raise ValueError(
            f"y has {len(classes)} class{'es' * (len(classes) != 1)}; separability is a question about two. "
            "Of more, ask for each one against the rest: separability(X, y == label)"
        )
    signs = np.where(labels == classes[1], 1.0, -1.0)
    found = decided(X, signs, fit_intercept=fit_intercept, clock=clock, seed=seed)
    pair = (classes[0].item(), classes[1].item()) if hasattr(classes[0], "item") else (classes[0], classes[1])
    return replace(found, classes=pair, feature_names=names)


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
    found = Search(X, y, fit_intercept, clock, seed, ranking).decide(weakly=weakly)
    return Separability(classes=(-1, 1), fit_intercept=fit_intercept, **found)


def of_plane(X: Any, y: FloatArray, coef: FloatArray, intercept: float, *, fit_intercept: bool) -> Separability | None:
    """Return the verdict that a plane in floats gives on labels ±1, or None where it does not separate exactly."""
    if not check_plane(X, y, coef, intercept if fit_intercept else None):
        return None
    width = safe_margin(X, y, coef, intercept) if coef.any() else np.inf
    infinite = np.flatnonzero(coef).tolist()
    return Separability(
        "separable", (-1, 1), coef, intercept, margin=width, infinite=infinite, fit_intercept=fit_intercept
    )


def explain_no_optimum(
    X: Any,
    y: ArrayLike,
    *,
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
    the data are separable, so no finite optimum exists: coefficients x0 run to infinity; use a finite C
    >>> explain_no_optimum([[0.0], [1.0], [2.0]], [0, 1, 0]) is None
    True
    """
    found = separability(X, y, fit_intercept=fit_intercept, time_limit=time_limit, budget=budget)
    if feature_names is not None:
        found = replace(found, feature_names=[str(name) for name in feature_names])
    if found.verdict == "overlap":
        return None
    kind = "separable" if found.separable else "quasi-separable"
    which = f"coefficients {found._names(found.infinite)} run" if found.infinite else "the intercept runs"
    return f"the data are {kind}, so no finite optimum exists: {which} to infinity; use a finite C"


#: Beyond this many numbers the pairs of `explain_no_softmax_optimum` are not written down.
MOST_PAIRED = 2 * 10**7


def explain_no_softmax_optimum(
    X: Any,
    codes: NDArray[np.int64],
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
    the data are separable, so no finite optimum exists: coefficients x0 (a against c), ... run to infinity; use ...
    >>> explain_no_softmax_optimum(X, np.array([0, 1, 2, 2, 1, 0]), "abc") is None
    True
    """
    matrix: Any = sparse.csr_matrix(_matrix(X), dtype=np.float64)
    K = len(classes)
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
    found = separability(sparse.diags_array(y) @ points, y, fit_intercept=False, time_limit=time_limit, budget=budget)
    if found.verdict == "overlap":
        return None
    kind = "separable" if found.separable else "quasi-separable"
    d = len(names)
    which = ", ".join(f"{names[c % d]} ({classes[c // d]} against {classes[-1]})" for c in found.infinite)
    return f"the data are {kind}, so no finite optimum exists: coefficients {which} run to infinity; use a finite C"


def _difference(k: int, m: int, K: int) -> Any:
    """Return e_k − e_m as a row, without its last entry."""
    row = np.zeros((1, K))
    row[0, k], row[0, m] = 1.0, -1.0
    return sparse.csr_matrix(row[:, :-1])


def _matrix(X: Any) -> Any:
    """Return X as a float matrix, dense or CSR; raise for what is not finite, or not a double exactly."""
    refuse_inexact(X)
    if is_sparse(X):
        matrix: Any = sparse.csr_matrix(X)
        if not matrix.has_canonical_format:
            matrix = matrix.copy()
            matrix.sum_duplicates()
    else:
        matrix = np.asarray(X)
        if matrix.dtype.kind == "O":
            matrix = matrix.astype(np.float64)
        if matrix.ndim != 2:
            raise ValueError(f"X has shape {matrix.shape}; it needs rows and columns")
    if matrix.dtype.kind not in "fiub":
        raise ValueError(f"X has dtype {matrix.dtype}; it needs numbers")
    if 0 in matrix.shape:
        raise ValueError(f"X has shape {matrix.shape}: there is nothing to separate, or nothing to do it by")
    if matrix.dtype not in (np.float32, np.float64):
        matrix = matrix.astype(np.float64)
    values = matrix.data if is_sparse(matrix) else matrix
    if not np.isfinite(values).all():
        row = _first_bad_row(matrix)
        raise ValueError(f"X has a NaN or an infinite value in row {row}; leave such rows out or fill them in first")
    return matrix


def _first_bad_row(matrix: Any) -> int:
    if is_sparse(matrix):
        return int(np.searchsorted(matrix.indptr, int(np.argmax(~np.isfinite(matrix.data))), side="right")) - 1
    return int(np.argmax(~np.isfinite(matrix).all(axis=1)))
