"""Whether a plane separates two classes, with a proof either way that exact arithmetic confirms."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from operator import index
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from .. import _reading as reading
from .._core import is_sparse
from ..arithmetic.exact import (
    Check,
    Clock,
    ProofTimeoutError,
    check_dependencies,
    check_margin,
    check_overlap,
    check_plane,
    check_support,
    plane_margin,
    sides,
)
from ..arithmetic.exact_input import refuse_inexact
from .face import unbounded
from .search import Search, rounded

FloatArray = NDArray[np.float64]

__all__ = [
    "NotSeparableError",
    "ProofTimeoutError",
    "Separability",
    "columns_of",
    "counted_rows",
    "decided",
    "judged",
    "matrix_of",
    "of_plane",
    "phrase",
    "read_fraction",
    "separability",
    "short_fraction",
    "written_fraction",
]

TIME_LIMIT = 60.0

#: How a file says that no coefficient has a finite estimate.
ALL = "all"
#: What a verdict stands on, besides what depends on the data.
EXPECTED = {
    "separable": ("coef", "intercept", "margin"),
    "quasi": ("coef", "intercept", "margin", "points", "weights", "support", "support_weights"),
    "overlap": ("points", "weights", "support", "support_weights"),
    "inseparable": ("points", "weights"),
}
_KIND = {
    "coef": "coefficients",
    "intercept": "coefficients",
    "margin": "margins",
    "points": "points that coincide",
    "weights": "points that coincide",
    "support": "rows that span others",
    "support_weights": "rows that span others",
}


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
        No point is nearer to the plane than this, which is therefore below the largest possible margin, too. It is the
        smallest distance rounded down, to nine digits and more.
    points, weights : lists of int and Fraction, or None
        Unless separable: at most d + 2 rows, and weights that sum to one in each class, such that the two convex
        combinations are the same point. (Without an intercept: weights that sum to one over both, Σ λᵢ yᵢ xᵢ = 0.)
    support, support_weights : lists of int and Fraction, or None
        For an overlap: the same on rows that span all others, which excludes a quasi-separation. For one of these: on
        rows that span those on the plane, which are then on every weak plane.
    dependencies : dict
        Unless separable: columns that are combinations {column: Fraction} of others on all rows (column d is constant).
    infinite : list of int, or None
        Columns without a finite estimate in unpenalised logistic regression; column d is the intercept. If the classes
        are separable these are all; if quasi-separable, those whose e_j is no combination of the rows on the plane; if
        they overlap there are none. None where that was not decided (in time). `linsep.estimates` tells in which
        direction each of them runs, and `aliased` which of them depend on each other.
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
    infinite: list[int] | None = None
    on_plane: int = 0
    feature_names: list[str] | None = None
    fit_intercept: bool = True

    @property
    def separable(self) -> bool:
        """Whether a plane has every point strictly on its own side."""
        return self.verdict == "separable"

    @property
    def aliased(self) -> list[int]:
        """Columns that depend on each other on all rows, so that their coefficients are not determined one by one."""
        return sorted({*self.dependencies, *(j for others in self.dependencies.values() for j in others if others[j])})

    def verify(
        self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None, *, time_limit: float | None = None
    ) -> Check:
        """Check the proof on the data, in exact rational arithmetic and without the solver that found it.

        Parameters
        ----------
        X, y : the data
        sample_weight : array of shape (n,), optional
            Rows without weight are left out, and no proof may name them.
        time_limit : float, optional
            Seconds after which `ProofTimeoutError` is raised.

        Returns
        -------
        Check
            True or false, with a `reason`.
        """
        matrix, labels = matrix_of(X), np.asarray(y)
        if labels.shape != (matrix.shape[0],):
            return Check(False, f"y must hold a label {self.classes[0]!r} or {self.classes[1]!r} for each row of X")
        if sample_weight is not None:
            counted = counted_rows(sample_weight, matrix.shape[0])
            named = np.array([*(self.points or []), *(self.support or [])], dtype=np.int64)
            place = np.full(matrix.shape[0], -1)
            place[counted] = np.arange(len(counted))
            if not all(0 <= i < len(place) and place[i] >= 0 for i in named.tolist()):
                return Check(False, "the proof names a row that the data do not have, or that has no weight")
            return self.in_rows(place.tolist()).verify(matrix[counted], labels[counted], time_limit=time_limit)
        if not np.isin(labels, np.array(self.classes)).all():
            return Check(False, f"y must hold a label {self.classes[0]!r} or {self.classes[1]!r} for each row of X")
        signs = np.where(labels == self.classes[1], 1.0, -1.0)
        fields = self._check_fields(matrix.shape[1])
        return self._check(matrix, signs, Clock(time_limit)) if fields else fields

    def _check_fields(self, d: int) -> Check:
        """Check that everything which goes with the verdict is there, in the right number, and nothing else."""
        if self.verdict not in EXPECTED:
            return Check(False, f"{self.verdict!r} is no verdict that could be checked")
        for name in ("coef", "intercept", "margin", "points", "weights", "support", "support_weights"):
            there, expected = getattr(self, name) is not None, name in EXPECTED[self.verdict]
            if there != expected and not (self.verdict == "quasi" and name in ("support", "support_weights")):
                return Check(False, f"{_KIND[name]} {'do not go' if there else 'must go'} with {self.verdict!r}")
        if self.verdict not in ("separable", "quasi") and self.plane is not None:
            return Check(False, f"a plane does not go with {self.verdict!r}")
        if self.dependencies and self.verdict not in ("overlap", "quasi"):
            return Check(False, f"columns that depend on others do not go with {self.verdict!r}")
        if self.on_plane != 0 and self.verdict != "quasi":
            return Check(False, f"points on a plane do not go with {self.verdict!r}")
        expected_infinite = {"separable": list(range(d + self.fit_intercept)), "overlap": [], "inseparable": None}
        if self.verdict in expected_infinite and self.infinite != expected_infinite[self.verdict]:
            return Check(False, f"other coefficients are without a finite estimate if data are {self.verdict!r}")
        if self.feature_names is not None and len(self.feature_names) != d:
            return Check(False, f"there are {len(self.feature_names)} names for {d} columns")
        return self._check_sizes(d)

    def _check_sizes(self, d: int) -> Check:
        """Check that there are as many coefficients as columns, and that the plane in floats is the exact one's."""
        if self.coef is None or self.intercept is None:
            return Check(True, "")
        if np.shape(self.coef) != (d,):
            return Check(False, f"the plane has {len(self.coef)} coefficients, the data {d} columns")
        if not self.fit_intercept and self.intercept != 0:
            return Check(False, f"a plane through the origin has no intercept, not {self.intercept}")
        if self.plane is None:
            return Check(True, "")
        if len(self.plane) != d + 1 or (not self.fit_intercept and self.plane[-1] != 0):
            return Check(False, f"the plane has {len(self.plane)} numbers for {d} coefficients, or one too many")
        if not np.array_equal(rounded(self.plane), [*self.coef, self.intercept]):
            return Check(False, "the coefficients are not those of the plane, rounded")
        return Check(True, "")

    def _check(self, X: Any, signs: FloatArray, clock: Clock) -> Check:
        """Check the proof itself."""
        if self.verdict in ("separable", "quasi"):
            plane = self._check_plane(X, signs, clock)
            if self.separable or not plane:
                return plane
        assert self.points is not None
        assert self.weights is not None
        intercept: Any = dict(intercept=self.fit_intercept)
        if self.verdict == "overlap" and self.points == self.support and self.weights == self.support_weights:
            touching = Check(True, "the same combinations are checked below")
        else:
            touching = check_overlap(X, signs, self.points, self.weights, **intercept, time_limit=clock.left())
        if not touching or self.verdict == "inseparable":
            return touching
        if self.verdict == "quasi":
            held = self._check_infinite(X, signs, clock)
            return touching if held else held
        assert self.support is not None
        assert self.support_weights is not None
        proof = self.support, self.support_weights, self.dependencies
        return check_support(X, signs, *proof, **intercept, time_limit=clock.left())

    def _check_plane(self, X: Any, signs: FloatArray, clock: Clock) -> Check:
        """Check that the plane separates, its margin, and how many points are on it."""
        assert self.coef is not None
        assert self.intercept is not None
        assert self.margin is not None
        coef: Any = self.coef if self.plane is None else self.plane[:-1]
        b: Any = self.intercept if self.plane is None else self.plane[-1]
        b = b if self.fit_intercept else None
        found = check_plane(X, signs, coef, b, strict=self.separable, time_limit=clock.left())
        if not found:
            return found
        if not self.separable:
            zeros = len(self._on_plane(X, signs, clock))
            if self.on_plane != zeros:
                return Check(False, f"{zeros} points lie on the plane, not {self.on_plane}")
            return found if self.margin == 0 else Check(False, f"a weak plane has no margin, not {self.margin}")
        if not np.any(coef):  # of one class
            return found if self.margin == np.inf else Check(False, "a plane without weights is infinitely far away")
        kept = check_margin(X, signs, coef, b, self.margin, time_limit=clock.left())
        return found if kept else kept

    def _check_infinite(self, X: Any, signs: FloatArray, clock: Clock) -> Check:
        """Check which coefficients are said to have no finite estimate, and so that the others have one."""
        size, intercept = X.shape[1] + self.fit_intercept, self.fit_intercept
        depend = check_dependencies(X, self.dependencies, intercept=intercept, time_limit=clock.left())
        if not depend:
            return depend
        if self.infinite is None:
            return Check(self.support is None, "rows that hold coefficients go with saying which ones")
        if self.support is None or self.support_weights is None:
            return Check(False, "there is no proof that some coefficients have a finite estimate")
        weights = check_overlap(
            X, signs, self.support, self.support_weights, intercept=intercept, time_limit=clock.left()
        )
        if not weights:
            return weights
        on_plane = self._on_plane(X, signs, clock)
        found = unbounded(X, signs, self.support, on_plane, intercept=intercept, clock=clock)
        if found is None:
            return Check(False, "the rows of the proof do not span all points on the plane")
        if found != self.infinite:
            return Check(False, f"{len(found)} of {size} coefficients are without a finite estimate, or others")
        return Check(True, "")

    def _on_plane(self, X: Any, signs: FloatArray, clock: Clock) -> NDArray[np.int64]:
        """Return the rows on the plane."""
        exact: Any = self.plane
        if exact is None:
            assert self.coef is not None
            assert self.intercept is not None
            exact = np.append(self.coef, self.intercept)
        theta = exact if self.fit_intercept else exact[:-1]
        return np.flatnonzero(sides(X, signs, theta, intercept=self.fit_intercept, clock=clock) == 0)

    def to_dict(self) -> dict[str, Any]:
        """Return it in terms of JSON; a Fraction is "p/q" in base 16, in which Python reads any number of digits."""
        dependencies = [
            [j, [[k, written_fraction(c)] for k, c in others.items()]] for j, others in self.dependencies.items()
        ]
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
            "infinite": self._infinite_written(),
            "on_plane": int(self.on_plane),
            "feature_names": self.feature_names,
            "fit_intercept": bool(self.fit_intercept),
        }

    def _infinite_written(self) -> list[int] | str | None:
        """Return the columns without a finite estimate; of separable classes, one word for all of them."""
        size = 0 if self.coef is None else len(self.coef) + self.fit_intercept
        if self.infinite is None:
            return None
        return ALL if self.separable and self.infinite == list(range(size)) else [int(j) for j in self.infinite]

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Read what `to_dict` wrote."""
        negative, positive = data["classes"]
        plane, coef, names = _all_read(data["plane"]), data["coef"], data["feature_names"]
        return cls(
            verdict=str(data["verdict"]),
            classes=(negative, positive),
            coef=None if coef is None else np.array(reading.items(data, "coef", reading.number), dtype=np.float64),
            intercept=None if data["intercept"] is None else float(data["intercept"]),
            plane=None if plane is None else tuple(plane),
            # the margin of a plane without weights is infinite, which JSON cannot say
            margin=_margin_read(data),
            points=None if data["points"] is None else [index(i) for i in data["points"]],
            weights=_all_read(data["weights"]),
            support=None if data["support"] is None else [index(i) for i in data["support"]],
            support_weights=_all_read(data["support_weights"]),
            dependencies={int(j): {int(k): read_fraction(c) for k, c in others} for j, others in data["dependencies"]},
            infinite=_infinite_read(data),
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
        """Return what a column is called; the one after the last is the intercept's."""
        if self.coef is not None and column == len(self.coef):
            return "the intercept"
        return f"x{column}" if self.feature_names is None else self.feature_names[column]

    def names(self, columns: Sequence[int]) -> str:
        """Return what some columns are called, in a phrase."""
        return phrase([self.name(j) for j in columns])

    def _common_point(self) -> str:
        """The overlap proof in words."""
        assert self.points is not None
        assert self.weights is not None
        if len(self.points) == 2 and self.fit_intercept:
            return f"rows {self.points[0]} and {self.points[1]} are the same point with different labels"
        shown = [f"{short_fraction(w)} × row {i}" for i, w in zip(self.points[:6], self.weights[:6], strict=True)]
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
            f"separates strictly; {self._common_point()}. {self._unbounded()}"
        )

    def _unbounded(self) -> str:
        """Which coefficients have no finite estimate, in words."""
        if self.infinite is None:
            return "Which coefficients have no finite estimate without a penalty was not determined in time"
        alone = [j for j in self.infinite if j not in set(self.aliased)]
        said = f"Coefficients without a finite estimate unless penalised: {self.names(alone)}" if alone else ""
        if not self.aliased:
            return said
        others = f"columns that depend on each other, whose coefficients are not determined: {self.names(self.aliased)}"
        return f"{said}; {others}" if said else others.capitalize()

    __repr__ = __str__


def phrase(names: Sequence[str], most: int = 8) -> str:
    """Return names as they are listed in a sentence; of many, the first.

    Examples
    --------
    >>> phrase(["age", "height", "the intercept"])
    'age, height and the intercept'
    """
    if len(names) > most:
        return f"{', '.join(names[:most])} and {len(names) - most} more"
    return " and ".join([", ".join(names[:-1]), names[-1]]) if len(names) > 1 else "".join(names)


def written_fraction(value: Fraction) -> str:
    """Return "p/q" in base 16, in which Python reads any number of digits."""
    value = Fraction(value)
    return f"{value.numerator:x}/{value.denominator:x}"


def read_fraction(text: str) -> Fraction:
    """Read what `written_fraction` wrote."""
    numerator, denominator = text.split("/")
    return Fraction(int(numerator, 16), int(denominator, 16))


def _margin_read(data: Mapping[str, Any]) -> float | None:
    margin, separable = data["margin"], data["verdict"] == "separable"
    if margin is None:
        return np.inf if separable else None
    older = separable and data["infinite"] != ALL  # whose margins were rounded, but not down
    return float(margin) * (1.0 - 1e-9) if older else float(margin)


def _infinite_read(data: Mapping[str, Any]) -> list[int] | None:
    """Return the columns without a finite estimate; older files name those of one plane, without a proof."""
    verdict, said = str(data["verdict"]), data["infinite"]
    if verdict == "separable":
        coef = list(data["coef"] or [])
        named = [j for j, value in enumerate(_all_read(data["plane"]) or coef) if value and j < len(coef)]
        return list(range(len(coef) + bool(data["fit_intercept"]))) if said in (ALL, named) else said
    if said is None or verdict == "inseparable" or (verdict == "quasi" and data["support"] is None):
        return None
    return [index(j) for j in said]


def _all_written(values: Sequence[Fraction] | None) -> list[str] | None:
    return None if values is None else [written_fraction(value) for value in values]


def _all_read(texts: Sequence[str] | None) -> list[Fraction] | None:
    return None if texts is None else [read_fraction(text) for text in texts]


def short_fraction(value: Fraction) -> str:
    """Return a fraction, or six digits of a long one."""
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
    X: Any, y: ArrayLike, sample_weight: ArrayLike | None, *, fit_intercept: bool, clock: Clock, seed: int = 0
) -> Separability:
    """Return what `separability` does, within the time and the work of a clock."""
    names = columns_of(X)
    X = matrix_of(X)
    labels = np.asarray(y)
    if labels.shape != (X.shape[0],):
        raise ValueError(f"y has shape {labels.shape}; it needs one label for each of the {X.shape[0]} rows of X")
    if labels.dtype.kind == "f" and not np.isfinite(labels).all():
        raise ValueError("y has a label that is not a finite number")
    rows = None if sample_weight is None else counted_rows(sample_weight, X.shape[0])
    if rows is not None and len(rows) < X.shape[0]:
        X, labels = X[rows], labels[rows]
    else:
        rows = None
    classes = np.unique(labels)
    if len(classes) != 2:
        where = "" if rows is None else " among the rows with weight"
        raise ValueError(
            f"y has {len(classes)} class{'es' * (len(classes) != 1)}{where}; separability is a question about two. "
            "Of more, ask for each one against the rest: separability(X, y == label)"
        )
    signs = np.where(labels == classes[1], 1.0, -1.0)
    found = decided(X, signs, fit_intercept=fit_intercept, clock=clock, seed=seed)
    pair = (classes[0].item(), classes[1].item()) if hasattr(classes[0], "item") else (classes[0], classes[1])
    found = found if rows is None else found.in_rows(rows.tolist())
    return replace(found, classes=pair, feature_names=names)


def columns_of(X: Any) -> list[str] | None:
    """Return what a table calls its columns, or None for what is no table."""
    return [str(name) for name in X.columns] if hasattr(X, "columns") else None


def counted_rows(sample_weight: ArrayLike, n: int) -> NDArray[np.int64]:
    """Return the rows that have weight; raise for weights that are none.

    Examples
    --------
    >>> counted_rows([1.0, 0.0, 2.5], 3)
    array([0, 2])
    """
    weight = np.asarray(sample_weight)
    if weight.shape != (n,):
        raise ValueError(f"sample_weight has shape {weight.shape}; it needs one weight for each of the {n} rows of X")
    if weight.dtype.kind not in "fiub" or not np.isfinite(weight).all() or (weight < 0).any():
        raise ValueError("sample_weight has a weight that is negative or not a finite number")
    return np.flatnonzero(weight > 0)


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
    theta = np.append(coef, intercept) if fit_intercept else coef
    width = plane_margin(X, y, theta, intercept=fit_intercept)[0] if coef.any() else np.inf
    infinite = list(range(len(theta)))
    b = intercept if fit_intercept else 0.0
    return Separability("separable", (-1, 1), coef, b, margin=width, infinite=infinite, fit_intercept=fit_intercept)


def matrix_of(X: Any) -> Any:
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
