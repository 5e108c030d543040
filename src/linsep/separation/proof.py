"""What is proven of two classes: a verdict on planes and its proof, as a record that files keep and `verify` checks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from operator import index
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from .._common import reading
from .._common.html import card
from .._common.types import FloatArray
from .._common.words import phrase
from ..arithmetic.exact import Check, Clock, Dependencies
from ._checks import verify

#: How a file says that no coefficient has a finite estimate.
ALL = "all"


def involved(dependencies: Dependencies) -> list[int]:
    """Return the columns of some relations between columns.

    Examples
    --------
    >>> involved({3: {0: Fraction(1), 1: Fraction(0)}})
    [0, 3]
    """
    return sorted({*dependencies, *(j for others in dependencies.values() for j, factor in others.items() if factor)})


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
    sides, common : list of bool and tuple of Fraction, or None
        Of those rows, which are of the positive class; and the point itself, where it has few coordinates. For words
        alone: files do not keep them.
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
    >>> from linsep import separability
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
    sides: list[bool] | None = None
    common: tuple[Fraction, ...] | None = None
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
    def theta(self) -> Any:
        """The plane [w, b], or w without an intercept: exactly where `plane` is given, else in floats."""
        assert self.coef is not None
        assert self.intercept is not None
        theta = np.append(self.coef, self.intercept) if self.plane is None else self.plane
        return theta if self.fit_intercept else theta[:-1]

    @property
    def aliased(self) -> list[int]:
        """Columns that depend on each other on all rows, so that their coefficients are not determined one by one."""
        return involved(self.dependencies)

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
        return verify(self, X, y, sample_weight, Clock(time_limit))

    def in_rows(self, rows: Sequence[int] | Mapping[int, int]) -> Separability:
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

    def common_point_in_words(self) -> str:
        """The overlap proof in words."""
        assert self.points is not None
        assert self.weights is not None
        if len(self.points) == 2 and self.fit_intercept:
            if self.points[0] == self.points[1]:  # of a file whose rows stand for several
                return f"row {self.points[0]:,} was seen with both labels"
            return f"rows {self.points[0]:,} and {self.points[1]:,} are the same point with different labels"
        parts = list(zip(self.points, self.weights, strict=True))
        if not self.fit_intercept:
            return f"zero is a convex combination of the points y·x: {_mixture(parts)}"
        if self.sides is None:  # read from a file
            return f"a point lies in both convex hulls, a combination of {len(parts):,} rows: {_mixture(parts)}"
        hulls = [[part for part, side in zip(parts, self.sides, strict=True) if side == sign] for sign in (False, True)]
        return f"a point lies in both convex hulls: {' = '.join(map(_mixture, hulls))}{_point(self.common)}"

    def __str__(self) -> str:
        plane = "plane" if self.fit_intercept else "plane through the origin"
        if self.verdict == "separable":
            return f"separable: a {plane} has all points strictly on their own side, with margin {self.margin:.6g}"
        if self.verdict == "overlap":
            return f"overlap: no {plane} separates, not even weakly; {self.common_point_in_words()}"
        if self.verdict == "inseparable":
            return f"inseparable: no {plane} separates (weakly was not asked); {self.common_point_in_words()}"
        return (
            f"quasi-separable: a {plane} has no point on the wrong side and {self.on_plane:,} on it, and no {plane} "
            f"separates strictly; {self.common_point_in_words()}. {self._unbounded()}"
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
        return f"{said}; {others}" if said else others[:1].upper() + others[1:]

    __repr__ = __str__

    def _repr_html_(self) -> str:
        title, _, proof = str(self).partition(": ")
        return card(title, proof, "Proven in exact arithmetic: .verify(X, y) checks it.", tone="good")

    # -- files ----------------------------------------------------------------------------------------------------

    def to_dict(self) -> dict[str, Any]:
        """Return it in terms of JSON; a Fraction is "p/q" in base 16, in which Python reads any number of digits."""
        return {
            "verdict": self.verdict,
            "classes": list(self.classes),
            "coef": None if self.coef is None else np.asarray(self.coef).tolist(),
            "intercept": None if self.intercept is None else float(self.intercept),
            "plane": written(self.plane),
            "margin": float(self.margin) if self.margin is not None and np.isfinite(self.margin) else None,
            "points": None if self.points is None else [int(i) for i in self.points],
            "weights": written(self.weights),
            "support": None if self.support is None else [int(i) for i in self.support],
            "support_weights": written(self.support_weights),
            "dependencies": mapping_written(self.dependencies),
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

        def items(name: str, read: Any) -> Any:
            return reading.optional(data, name, reading.items, read)

        negative, positive = reading.entry(data, "classes")
        coef, plane = items("coef", reading.number), items("plane", fraction)
        return cls(
            verdict=reading.text(data, "verdict"),
            classes=(negative, positive),
            coef=None if coef is None else np.array(coef, dtype=np.float64),
            intercept=reading.optional(data, "intercept", reading.number),
            plane=None if plane is None else tuple(plane),
            margin=_margin_read(data),
            points=items("points", reading.whole),
            weights=items("weights", fraction),
            support=items("support", reading.whole),
            support_weights=items("support_weights", fraction),
            dependencies=mapping_read(data, "dependencies"),
            infinite=_infinite_read(data, coef, plane),
            on_plane=reading.whole(data, "on_plane"),
            feature_names=items("feature_names", reading.text),
            fit_intercept=reading.flag(data, "fit_intercept"),
        )


def _mixture(parts: Sequence[tuple[int, Fraction]], most: int = 4) -> str:
    """Return a convex combination of rows in words; of many, the first.

    Examples
    --------
    >>> _mixture([(1, Fraction(1, 2)), (4, Fraction(1, 2))]), _mixture([(2, Fraction(1))])
    ('½ of row 1 + ½ of row 4', 'row 2')
    >>> _mixture([(1000, Fraction(1))])
    'row 1,000'
    """
    shown = [f"row {i:,}" if w == 1 else f"{_share(w)} of row {i:,}" for i, w in parts[:most]]
    return " + ".join([*shown, *([f"{len(parts) - most:,} more"] if len(parts) > most else [])])


def _share(weight: Fraction) -> str:
    named = {(1, 2): "½", (1, 3): "⅓", (2, 3): "⅔", (1, 4): "¼", (3, 4): "¾"}
    return named.get((weight.numerator, weight.denominator)) or (
        str(weight) if weight.denominator < 10**6 else f"{float(weight):.6g}"
    )


def _point(common: Sequence[Fraction] | None) -> str:
    """Return the coordinates of a point, to six digits.

    Examples
    --------
    >>> _point([Fraction(1, 2), Fraction(1, 3)]), _point([Fraction(-3)]), _point(None)
    (' ≈ (0.5, 0.333333)', ' = −3', '')
    """
    if common is None:
        return ""
    numbers = [f"{float(value):.6g}" for value in common]
    equals = "=" if all(float(text) == float(value) for text, value in zip(numbers, common, strict=True)) else "≈"
    shown = ", ".join(numbers).replace("-", "−")
    return f" {equals} {shown}" if len(common) == 1 else f" {equals} ({shown})"


def _margin_read(data: Mapping[str, Any]) -> float | None:
    """Return the margin: that of a plane without weights is infinite, which JSON cannot say."""
    margin, separable = reading.optional(data, "margin", reading.number), data["verdict"] == "separable"
    if margin is None:
        return np.inf if separable else None
    older = separable and reading.entry(data, "infinite") != ALL  # whose margins were rounded, but not down
    return margin * (1.0 - 1e-9) if older else margin


def _infinite_read(data: Mapping[str, Any], coef: list[float] | None, plane: list[Fraction] | None) -> Any:
    """Return the columns without a finite estimate; older files name those of one plane, without a proof."""
    verdict, said, d = data["verdict"], reading.entry(data, "infinite"), len(coef or [])
    if verdict == "separable":
        named = [j for j, value in enumerate(plane or coef or []) if value and j < d]
        return list(range(d + reading.flag(data, "fit_intercept"))) if said in (ALL, named) else said
    if verdict == "inseparable" or (verdict == "quasi" and data["support"] is None):
        return None
    return reading.optional(data, "infinite", reading.items, reading.whole)


def written(values: Iterable[Fraction] | None) -> list[str] | None:
    """Return fractions as "p/q" in base 16, in which Python reads any number of digits; nothing as nothing."""
    ratios = None if values is None else [Fraction(value).as_integer_ratio() for value in values]
    return None if ratios is None else [f"{p:x}/{q:x}" for p, q in ratios]


def fraction(data: Mapping[Any, Any], name: Any) -> Fraction:
    """Read one that `written` wrote."""
    numerator, denominator = reading.text(data, name).split("/")
    return Fraction(int(numerator, 16), int(denominator, 16))


def mapping_written(of: Mapping[int, Mapping[int, Fraction]]) -> list[list[Any]]:
    """Return pairs of a column and what it maps rows or columns to, in pairs, too: in terms of JSON."""
    return [[int(j), [[int(i), *(written([weight]) or [])] for i, weight in each.items()]] for j, each in of.items()]


def mapping_read(data: Mapping[str, Any], name: str) -> dict[int, dict[int, Fraction]]:
    """Read what `mapping_written` wrote."""
    pairs = [
        (index(j), [(index(i), fraction({name: text}, name)) for i, text in each])
        for j, each in reading.entry(data, name)
    ]
    return {j: dict(each) for j, each in pairs}
