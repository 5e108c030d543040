"""What maximum likelihood says of each coefficient: finite, infinite in one direction, or not determined; with proofs.

The log-likelihood of logistic regression is Σ cᵢ log σ(aᵢ·θ) with rows aᵢ = yᵢ [xᵢ, 1]. It never falls along the
planes of the recession cone K = {θ : aᵢ·θ ≥ 0 for all i}. Rows with aᵢ·θ = 0 for all of K, the *face*, carry a positive
relation Σ λᵢ aᵢ = 0. Along any sequence that approaches the supremum aᵢ·θ runs to infinity for all other rows, and to a
limit for the rows of the face, at which the likelihood of these alone is largest. So a coefficient is

- *finite* if e_j is a combination of rows of the face: the limit of θ_j is the same for all such sequences;
- *+inf* if e_j = Σ λᵢ aᵢ with λ ≥ 0 (Farkas), and some θ in K has θ_j > 0; *-inf* likewise;
- *not determined* if K has one θ with θ_j > 0 and another with θ_j < 0. Columns that are *aliased*, combinations of
  each other on all rows, are the case in which both leave every aᵢ·θ as it is.

Floats search for these, and whole numbers prove every one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from operator import index
from typing import Any, Self

import numpy as np
import scipy.linalg
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from .._core import Rows, is_sparse
from ..arithmetic.enclosure import Interval
from ..arithmetic.exact import Check, Clock, ProofTimeoutError, check_cone, check_rank, sides
from ..arithmetic.rational import WIDEST
from ..losses import Logistic
from ..objective.dual_point import DualPoint, enclosed_bound
from ..objective.problem import Problem
from .face import Face, signed_rows
from .floats import scaled
from .search import Search
from .verdict import (
    TIME_LIMIT,
    Separability,
    columns_of,
    counted_rows,
    judged,
    matrix_of,
    phrase,
    read_fraction,
    short_fraction,
    written_fraction,
)

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
Plane = tuple[Fraction, ...]
Dependencies = Mapping[int, Mapping[int, Fraction]]

__all__ = ["Estimates", "estimates", "explain_no_optimum", "explain_no_softmax_optimum"]

FINITE, PLUS, MINUS, OPEN = "finite", "+inf", "-inf", "not determined"
KINDS = (PLUS, MINUS, FINITE, OPEN)
NEWTON = 100  # steps at the most
NEAR = 1e-6  # the share of a log-likelihood to which it is enclosed where it counts as proven
SMALL = 2 * 10**7  # numbers up to which columns are made orthogonal before the fit


# -- the record -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Estimates:
    """What maximum likelihood says of each coefficient, the intercept last, and the proof.

    Attributes
    ----------
    verdicts : list of {"finite", "+inf", "-inf", "not determined"}
        One for each column, and one for the intercept.
    coef, intercept : array and float
        The estimates: a number where it is finite, ±inf, or NaN where it is not determined. What is proven of numbers
        is that they attain the supremum to within its bounds; where these are not `proven` they are NaN, too.
    supremum : tuple of two floats
        Numbers between which the supremum of the log-likelihood lies, every rounding accounted for: what the limit
        attains, and a bound from the curvature there, or zero if none was found.
    aliased : list of int
        Columns that are combinations of each other on all rows; `dependencies` tells them.
    separability : Separability
        Whether the classes overlap, and the proof.
    directions : list of tuples of Fraction
        Planes [w, b] without a point on their wrong side, along which the likelihood never falls.
    proofs : dict of {column: {row: Fraction}}
        For an infinite estimate: positive λ with Σ λᵢ aᵢ = ±e_j, which exclude the other direction.
    dependencies, spanning
        Columns as combinations of others on all rows, and rows whose rank shows that there are no more of these.
    limit : array or None
        The fit on the rows that lie on every such plane (all rows, if the classes overlap), on as many columns as are
        independent there.

    Examples
    --------
    >>> X, y = [[0.0, 0.0], [1.0, 0.0], [2.0, 0.0], [1.0, 1.0]], [0, 1, 0, 1]
    >>> found = estimates(X, y)
    >>> print(found)
    Quasi-complete separation: the estimate of x1 is +∞; the others are finite; supremum of the log-likelihood
    −1.9095425, proven to ...
    >>> found.verdicts, bool(found.verify(X, y))
    (['finite', '+inf', 'finite'], True)
    """

    separability: Separability
    verdicts: list[str]
    supremum: tuple[float, float]
    directions: list[Plane] = field(default_factory=list)
    proofs: dict[int, dict[int, Fraction]] = field(default_factory=dict)
    dependencies: dict[int, dict[int, Fraction]] = field(default_factory=dict)
    spanning: list[int] = field(default_factory=list)
    limit: FloatArray | None = None

    @property
    def aliased(self) -> list[int]:
        """Columns that are combinations of each other on all rows; the last is the intercept's."""
        return _involved(self.dependencies)

    @property
    def proven(self) -> bool:
        """Whether the bounds on the supremum of the log-likelihood are close to each other."""
        low, high = self.supremum
        return high - low <= NEAR * -low or self.supremum == (0.0, 0.0)

    @property
    def _values(self) -> FloatArray:
        fixed = {PLUS: np.inf, MINUS: -np.inf, OPEN: np.nan}
        limit = self.limit if self.proven and self.limit is not None else np.full(len(self.verdicts), np.nan)
        return np.array([fixed.get(kind, value) for kind, value in zip(self.verdicts, limit, strict=True)])

    @property
    def coef(self) -> FloatArray:
        """The estimates of the columns' coefficients."""
        return self._values[:-1] if self.separability.fit_intercept else self._values

    @property
    def intercept(self) -> float:
        """The estimate of the intercept; zero where there is none."""
        return float(self._values[-1]) if self.separability.fit_intercept else 0.0

    def name(self, column: int) -> str:
        """Return what a column is called; the last may be the intercept's."""
        has_intercept = self.separability.fit_intercept
        return "the intercept" if has_intercept and column == len(self.verdicts) - 1 else self.separability.name(column)

    # -- the check ------------------------------------------------------------------------------------------------

    def verify(
        self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None, *, time_limit: float | None = None
    ) -> Check:
        """Check every verdict on the data in exact rational arithmetic, and the supremum with all roundings bounded.

        Returns
        -------
        Check
            True or false, with a `reason`. Raises `ProofTimeoutError` after `time_limit` seconds.
        """
        clock = Clock(time_limit)
        base = self.separability.verify(X, y, sample_weight, time_limit=clock.left())
        if not base:
            return base
        rows = _Weighted.of(X, y, sample_weight, self.separability)
        named = [*self.spanning, *(i for weights in self.proofs.values() for i in weights)]
        if not rows.has(named):
            return Check(False, "the proof names a row that the data do not have, or that has no weight")
        for check in (self._check_relations, self._check_directions, self._check_verdicts, self._check_supremum):
            found = check(rows, clock)
            if not found:
                return found
        return Check(True, f"{len(self.verdicts)} estimates are as told; {_likelihood(self)}")

    def _check_relations(self, rows: _Weighted, clock: Clock) -> Check:
        """Check that the aliased columns depend on each other, and that there are no others that do."""
        intercept = self.separability.fit_intercept
        points = [rows.place[i] for i in self.spanning]
        return check_rank(rows.X, points, self.dependencies, intercept=intercept, time_limit=clock.left())

    def _check_directions(self, rows: _Weighted, clock: Clock) -> Check:
        for plane in self.directions:
            if len(plane) != rows.size:
                return Check(False, f"a direction has {len(plane)} numbers for {rows.size} coefficients")
            signs = sides(rows.X, rows.y, plane, intercept=rows.intercept, clock=clock)
            if (signs < 0).any():
                return Check(False, f"row {rows.number(int(np.argmax(signs < 0)))} is on the wrong side of a direction")
        return Check(True, "")

    def _check_verdicts(self, rows: _Weighted, clock: Clock) -> Check:
        found = self.separability
        if len(self.verdicts) != rows.size or any(kind not in KINDS for kind in self.verdicts):
            return Check(False, f"{rows.size} coefficients need as many verdicts, each one of {', '.join(KINDS)}")
        if found.verdict not in ("separable", "quasi", "overlap") or found.infinite is None:
            return Check(False, f"nothing follows for coefficients from {found.verdict!r}")
        unheld = set(self.aliased if found.verdict == "overlap" else found.infinite)
        for j, kind in enumerate(self.verdicts):
            if (kind == FINITE) != (j not in unheld):
                return Check(False, f"the estimate of {self.name(j)} is {'not finite' if j in unheld else 'finite'}")
            if kind == OPEN and j not in self.aliased:
                seen = {_sign(plane[j]) for plane in self.directions}
                if not {1, -1} <= seen:
                    return Check(False, f"no two directions show that {self.name(j)} is not determined")
            if kind in (PLUS, MINUS):
                shown = self._check_infinite(rows, j, 1 if kind == PLUS else -1, clock)
                if not shown:
                    return shown
        if any(self.verdicts[j] != OPEN for j in self.aliased):
            return Check(False, "the estimates of columns that depend on each other are not determined")
        if set(self.proofs) != {j for j, kind in enumerate(self.verdicts) if kind in (PLUS, MINUS)}:
            return Check(False, "there are proofs for other coefficients than those of infinite estimates")
        return Check(True, "")

    def _check_infinite(self, rows: _Weighted, j: int, sign: int, clock: Clock) -> Check:
        weights, name = self.proofs.get(j, {}), self.name(j)
        if not any(_sign(plane[j]) == sign for plane in self.directions):
            return Check(False, f"no direction shows that {name} has no finite estimate")
        points = [rows.place[i] for i in weights]
        proof = points, list(weights.values()), j, sign
        cone = check_cone(rows.X, rows.y, *proof, intercept=rows.intercept, time_limit=clock.left())
        return cone if cone else Check(False, f"{name}: {cone.reason}")

    def _check_supremum(self, rows: _Weighted, clock: Clock) -> Check:
        low, high = self.supremum
        if self.separability.separable:
            alone = self.limit is None and (low, high) == (0.0, 0.0)
            return Check(alone, "" if alone else "the likelihood of separable classes has the supremum 0, and no limit")
        if self.limit is None or self.limit.shape != (rows.size,) or not np.isfinite(self.limit).all():
            return Check(False, f"the limit needs {rows.size} finite numbers")
        face = rows.face(self.separability, clock)
        if any(value and j not in face.columns for j, value in enumerate(self.limit)):
            return Check(False, "the limit has weights on columns that depend on others")
        found = _enclosed(rows.on_face(self.separability, clock), face.columns, self.limit)
        if not (low <= found.low and found.high <= high <= 0):
            said = f"between {_signed(found.low, 12)} and {_signed(found.high, 12)}"
            return Check(False, f"the supremum of the log-likelihood is only known to be {said}")
        if not self.proven and high != 0:
            return Check(False, "the limit attains too little of the supremum for its numbers to be the estimates")
        return Check(True, "")

    # -- words, and files -----------------------------------------------------------------------------------------

    def __str__(self) -> str:
        kind = {"separable": "Complete separation", "quasi": "Quasi-complete separation", "overlap": "Overlap"}
        d = len(self.verdicts) - self.separability.fit_intercept
        said = _told(self.name, dict(enumerate(self.verdicts)), self.dependencies, d, diverges=bool(self.directions))
        return f"{kind[self.separability.verdict]}: {said}; {_likelihood(self)}"

    __repr__ = __str__

    def to_dict(self) -> dict[str, Any]:
        """Return it in terms of JSON."""
        return {
            "separability": self.separability.to_dict(),
            "verdicts": list(self.verdicts),
            "supremum": [float(end) if math.isfinite(end) else None for end in self.supremum],
            "directions": [[written_fraction(value) for value in plane] for plane in self.directions],
            "proofs": [[int(j), _weights_written(weights)] for j, weights in self.proofs.items()],
            "dependencies": [[int(j), _weights_written(others)] for j, others in self.dependencies.items()],
            "spanning": [int(i) for i in self.spanning],
            "limit": None if self.limit is None else self.limit.tolist(),
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Read what `to_dict` wrote."""
        low, high = data["supremum"]
        return cls(
            separability=Separability.from_dict(data["separability"]),
            verdicts=[str(kind) for kind in data["verdicts"]],
            supremum=(-math.inf if low is None else float(low), math.inf if high is None else float(high)),
            directions=[tuple(read_fraction(text) for text in plane) for plane in data["directions"]],
            proofs={index(j): _weights_read(weights) for j, weights in data["proofs"]},
            dependencies={index(j): _weights_read(others) for j, others in data["dependencies"]},
            spanning=[index(i) for i in data["spanning"]],
            limit=None if data["limit"] is None else np.asarray(data["limit"], dtype=np.float64),
        )


def _weights_written(weights: Mapping[int, Fraction]) -> list[list[Any]]:
    return [[int(i), written_fraction(weight)] for i, weight in weights.items()]


def _weights_read(pairs: Iterable[Sequence[Any]]) -> dict[int, Fraction]:
    return {index(i): read_fraction(text) for i, text in pairs}


def _sign(value: Fraction) -> int:
    return (value > 0) - (value < 0)


def _involved(dependencies: Dependencies) -> list[int]:
    """Return the columns of some relations between columns."""
    return sorted({*dependencies, *(j for others in dependencies.values() for j, factor in others.items() if factor)})


# -- words ------------------------------------------------------------------------------------------------------------


def _told(
    name: Callable[[int], str], verdicts: Mapping[int, str], dependencies: Dependencies, d: int, *, diverges: bool
) -> str:
    """Say of each coefficient what is known, grouped: 'the estimate of x1 is +∞; the others are finite'."""
    aliased = _involved(dependencies)
    open_ = [j for j, kind in verdicts.items() if kind == OPEN and j not in aliased]
    parts = [
        _estimates_of(name, [j for j, kind in verdicts.items() if kind == PLUS], "+∞"),
        _estimates_of(name, [j for j, kind in verdicts.items() if kind == MINUS], "−∞"),
        _estimates_of(name, open_, "not determined by the data"),
        _estimates_of(name, aliased, f"not determined (aliased: {_relations_told(name, dependencies, d)})"),
    ]
    if aliased and diverges and not any(parts[:3]):
        parts[3] += ", and some combination of these runs to infinity"
    parts = [part for part in parts if part]
    finite = [j for j, kind in verdicts.items() if kind == FINITE]
    if finite:
        who = "all estimates are" if not parts else "the others are" if len(finite) > 1 else "the other is"
        parts.append(f"{who} finite")
    return "; ".join(parts)


def _relations_told(name: Callable[[int], str], dependencies: Dependencies, d: int, most: int = 3) -> str:
    """Say which columns are which combinations of others: 'c = 1 − a − b'."""
    said = [f"{name(j)} = {_sum_told(name, others, d)}" for j, others in list(dependencies.items())[:most]]
    return ", ".join(said) + (f" and {len(dependencies) - most} more" if len(dependencies) > most else "")


def _sum_told(name: Callable[[int], str], terms: Mapping[int, Fraction], d: int, most: int = 6) -> str:
    if len(terms) > most:
        return f"a combination of {len(terms)} others"
    text = ""
    for j, factor in sorted(terms.items(), key=lambda term: term[0] != d):  # the constant first
        size = "" if abs(factor) == 1 and j != d else short_fraction(abs(factor))
        sign = (" − " if text else "−") if factor < 0 else " + " if text else ""
        text += f"{sign}{size if j == d else f'{size} {name(j)}'.strip()}"
    return text or "0"


def _estimates_of(name: Callable[[int], str], columns: Sequence[int], what: str) -> str:
    if not columns:
        return ""
    one = len(columns) == 1
    return f"the estimate{'' if one else 's'} of {phrase([name(j) for j in columns])} {'is' if one else 'are'} {what}"


def _likelihood(found: Estimates) -> str:
    """The supremum in words."""
    low, high = found.supremum
    name = "maximum" if found.separability.verdict == "overlap" else "supremum"
    if (low, high) == (0.0, 0.0):
        return f"{name} of the log-likelihood 0"
    if not found.proven:
        return f"{name} of the log-likelihood at least {_signed(low, 8)} (not proven from above)"
    width = high - low
    digits = max(2, min(15, math.floor(math.log10(-low / width)))) if 0 < width < -low else 15
    return f"{name} of the log-likelihood {_signed(high, min(8, digits))}, proven to {_rounded_up(width)}"


def _signed(value: float, digits: int) -> str:
    return f"{value:.{digits}g}".replace("-", "−", 1) if math.isfinite(value) else "−∞"


def _rounded_up(width: float) -> str:
    """Return a width with one digit, rounded up."""
    if width == 0:
        return "0"
    exponent = math.floor(math.log10(width))
    leading = math.ceil(width / 10.0**exponent)
    return f"{leading}e{exponent:+03d}" if leading < 10 else f"1e{exponent + 1:+03d}"


# -- the rows that count ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Weighted:
    """The rows with weight, their labels ±1 and weights, and where each is in the data given."""

    X: Any
    y: FloatArray
    c: FloatArray
    rows: IntArray
    place: dict[int, int]
    intercept: bool

    @classmethod
    def of(cls, X: Any, y: ArrayLike, sample_weight: ArrayLike | None, found: Separability) -> _Weighted:
        matrix = matrix_of(X)
        n = int(matrix.shape[0])
        rows = np.arange(n) if sample_weight is None else counted_rows(sample_weight, n)
        c = np.ones(n) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        labels = np.where(np.asarray(y) == found.classes[1], 1.0, -1.0)
        place = dict(zip(rows.tolist(), range(len(rows)), strict=True))
        part = matrix if len(rows) == n else matrix[rows]
        return cls(part, labels[rows], c[rows], rows, place, found.fit_intercept)

    @property
    def size(self) -> int:
        return int(self.X.shape[1]) + self.intercept

    def has(self, named: Iterable[int]) -> bool:
        """Whether these rows of the data given have weight."""
        return all(i in self.place for i in named)

    def number(self, i: int) -> int:
        """Return which of the rows given one is."""
        return int(self.rows[i])

    def face(self, found: Separability, clock: Clock) -> Face:
        """Return the span of the rows on every weak plane: of all, if the classes overlap; of none, if separable."""
        support = [self.place[i] for i in found.support or []]
        return Face(self.X, self.y, support, intercept=self.intercept, clock=clock)

    def on_face(self, found: Separability, clock: Clock) -> _Weighted:
        """Return the rows of the face alone."""
        if found.verdict == "overlap":
            return self
        on = np.flatnonzero(self.sides(_plane(found), clock) == 0)
        return replace(self, X=self.X[on], y=self.y[on], c=self.c[on], rows=self.rows[on])

    def sides(self, theta: Sequence[Fraction], clock: Clock) -> IntArray:
        return sides(self.X, self.y, theta, intercept=self.intercept, clock=clock)


def _plane(found: Separability) -> Plane:
    """Return the plane of a verdict exactly."""
    if found.plane is not None:
        return found.plane if found.fit_intercept else found.plane[:-1]
    assert found.coef is not None
    assert found.intercept is not None
    coef = [Fraction(value) for value in found.coef.tolist()]
    return tuple([*coef, Fraction(found.intercept)] if found.fit_intercept else coef)


# -- the search for directions ----------------------------------------------------------------------------------------


class _Cone:
    """The planes without a point on their wrong side; what is known of the signs of their coefficients so far."""

    def __init__(self, rows: _Weighted, found: Separability, clock: Clock) -> None:
        self.rows, self.found, self.clock = rows, found, clock
        self.face = rows.face(found, clock)
        theta = _plane(found)
        self.off = np.flatnonzero(rows.sides(theta, clock) != 0)
        self.directions = [self._moving_all(theta)]
        self.proofs: dict[int, dict[int, Fraction]] = {}
        support = zip(found.support or [], found.support_weights or [], strict=True)
        self.relation = {rows.place[i]: weight for i, weight in support}

    def _moving_all(self, theta: Plane) -> Plane:
        """Return a plane near this one that has weights on all coefficients that the face does not hold."""
        v = self.face.direction()
        size = 1
        while True:
            self.clock.check("a direction that moves all coefficients")
            step = Fraction(1, size)
            near = tuple(a + step * b for a, b in zip(theta, v, strict=True))
            moved = all(near[j] for j, value in enumerate(v) if value)
            X, y = self.rows.X[self.off], self.rows.y[self.off]
            if moved and (sides(X, y, near, intercept=self.rows.intercept, clock=self.clock) > 0).all():
                return near
            size <<= 12

    def decide(self, columns: Iterable[int]) -> None:
        """Find for each of these coefficients a second direction, or weights that exclude one."""
        for j in columns:
            signs = {_sign(plane[j]) for plane in self.directions}
            if not {1, -1} <= signs:
                self._ask(j, -1 if 1 in signs else 1)

    def _ask(self, j: int, sign: int) -> None:
        """Look for a plane of the cone with sign·θ_j > 0: one that is strict on all rows and on sign·e_j."""
        self.clock.check("the direction of an estimate")
        rows = [*self.face.basis, *self.off.tolist()]
        A = signed_rows(self.rows.X, self.rows.y, rows, intercept=self.rows.intercept)
        unit: Any = np.zeros((1, self.rows.size))
        unit[0, j] = sign
        both: Any = sparse.vstack([A, sparse.csr_matrix(unit)], format="csr") if is_sparse(A) else np.vstack([A, unit])
        search = Search(both, np.ones(len(rows) + 1), False, self.clock, 0)
        answer = search.beyond(range(len(self.face.basis)))
        if isinstance(answer, dict):
            self.proofs[j] = self._weights(answer, rows)
        else:
            self.directions.append(tuple(Fraction(value) for value in answer))

    def _weights(self, relation: dict[int, Fraction], rows: list[int]) -> dict[int, Fraction]:
        """Return λ ≥ 0 on rows from a relation with the row that was added, last, any on the basis of the face."""
        own = relation.pop(len(rows))
        weights = {rows[k]: weight / own for k, weight in relation.items()}
        enough = max((-weight / self.relation[i] for i, weight in weights.items() if weight < 0), default=Fraction(0))
        for i, weight in self.relation.items():
            weights[i] = weights.get(i, Fraction(0)) + enough * weight
        return {self.rows.number(i): weight for i, weight in sorted(weights.items()) if weight}

    def verdict(self, j: int) -> str | None:
        """Return what is proven of a coefficient that is not finite; None for nothing more than that."""
        signs = {_sign(plane[j]) for plane in self.directions}
        if {1, -1} <= signs:
            return OPEN
        if j not in self.proofs:
            return None
        return PLUS if 1 in signs else MINUS


def _relations(rows: _Weighted, start: Sequence[int], clock: Clock) -> tuple[dict[int, dict[int, Fraction]], list[int]]:
    """Return the columns that are combinations of others on all rows, and rows that span all of them."""
    if rows.size > WIDEST:
        raise ProofTimeoutError(f"undecided: relations between more than {WIDEST} columns are not looked for")
    n = len(rows.y)
    some = np.unique(np.linspace(0, n - 1, min(n, 2 * rows.size)).astype(np.int64)).tolist()
    search = Search(rows.X, rows.y, rows.intercept, clock, 0)
    dependencies, spanning = search.aliases([*start, *(i for i in some if i not in set(start))])
    basis = Face(rows.X, rows.y, spanning, intercept=rows.intercept, clock=clock).basis
    return dependencies, basis


# -- the limit --------------------------------------------------------------------------------------------------------


def _on(rows: _Weighted, columns: Sequence[int]) -> tuple[Any, list[int], bool]:
    """Return some columns of the rows, which ones of them are features, and whether the intercept is one."""
    d = rows.X.shape[1]
    features = [j for j in columns if j < d]
    return rows.X[:, features].astype(np.float64), features, d in columns


def _enclosed(rows: _Weighted, columns: Sequence[int], limit: FloatArray) -> Interval:
    """Return the supremum of the rows' log-likelihood, given a point near it and columns that are independent there."""
    X, features, intercept = _on(rows, columns)
    w, b = limit[features], float(limit[-1]) if intercept else 0.0
    if not features:  # of zeros, which say nothing
        X, w = np.zeros((len(rows.y), 1)), np.zeros(1)
    problem = Problem(Rows(X), rows.y, Logistic(), sample_weight=rows.c, fit_intercept=intercept)
    least, bound = enclosed_bound(problem, w, b, DualPoint())
    if not columns:  # nothing to choose: it is what it is
        bound = least
    return Interval(-least.high, min(0.0, -bound.low))


def _fitted(rows: _Weighted, columns: Sequence[int], clock: Clock) -> FloatArray:
    """Return where the rows' log-likelihood is largest, on some independent columns; zero on others."""
    X, features, intercept = _on(rows, columns)
    A = signed_rows(X, rows.y, np.arange(len(rows.y)), intercept=intercept)
    A, exponents = scaled(A)
    c = rows.c / rows.c.max(initial=0.0)
    if A.shape[0] * A.shape[1] <= SMALL:
        A, R = np.linalg.qr(np.asarray(A.toarray() if is_sparse(A) else A))
        theta = scipy.linalg.solve_triangular(R, _newton(A, c, clock), check_finite=False)
    else:
        theta = _newton(A, c, clock)
    limit = np.zeros(rows.size)
    with np.errstate(over="ignore"):
        limit[[*features, *([rows.size - 1] if intercept else [])]] = np.ldexp(theta, exponents)
    return limit if np.isfinite(limit).all() else np.zeros(rows.size)  # too large for floats: nothing is proven there


def _newton(A: Any, c: FloatArray, clock: Clock) -> FloatArray:
    """Return θ where Σ cᵢ log(1 + exp(−aᵢ·θ)) is least: full steps, halved while they do not help."""
    n, r = A.shape
    theta, z = np.zeros(r), np.zeros(n)
    value, best = float(c @ np.logaddexp(0.0, -z)), np.inf
    for _ in range(NEWTON):
        clock.check("the limit of the likelihood", 2.0 * n * r * r + r**3)
        alpha = 1.0 / (1.0 + np.exp(np.clip(z, -700.0, 700.0)))
        slope = A.T @ (c * alpha)
        h = c * alpha * (1.0 - alpha)
        H = np.asarray((A.multiply(h[:, None]).T @ A).todense() if is_sparse(A) else A.T @ (A * h[:, None]))
        step = np.linalg.lstsq(H, slope, rcond=None)[0]
        decrement = float(slope @ step)
        if not 0.0 < decrement < best and decrement <= 1e-20 * value:  # rounding is all that is left
            break
        best = min(best, decrement)
        length, move = 1.0, A @ step
        while length > 1e-6 and float(c @ np.logaddexp(0.0, -(z + length * move))) > value * (1.0 + 1e-14):
            length /= 2
        theta = theta + length * step
        z = A @ theta
        value = float(c @ np.logaddexp(0.0, -z))
    return theta


def _wider(found: Interval) -> tuple[float, float]:
    """Return ends a little further out, so that a machine that adds up in another order confirms them."""
    slack = 0.5 * found.width + 1e-15 * abs(found.low)
    wider = found.low - slack, found.high + slack
    if math.isfinite(slack) and wider[1] - wider[0] <= NEAR * -wider[0]:
        return wider
    return found.low * (1.0 + 1e-12), 0.0


# -- questions --------------------------------------------------------------------------------------------------------


def estimates(
    X: Any,
    y: ArrayLike,
    sample_weight: ArrayLike | None = None,
    *,
    fit_intercept: bool = True,
    feature_names: Iterable[Any] | None = None,
    time_limit: float | None = TIME_LIMIT,
    budget: float | None = None,
) -> Estimates:
    """Say which maximum likelihood estimates of a logistic regression are finite, which are infinite, and prove it.

    Parameters
    ----------
    X : array, sparse matrix or DataFrame of shape (n, d)
        Finite numbers. The verdicts are on these floats, exactly.
    y : array of shape (n,)
        Labels of two classes; the second in order is the one whose probability is modelled.
    sample_weight : array of shape (n,), optional
        Weights of the rows in the likelihood; rows of weight zero are left out.
    fit_intercept : bool, default=True
    feature_names : iterable of str, optional
        What to call the columns; a DataFrame's own names otherwise.
    time_limit : float or None, default=60
        Seconds after which `linsep.exact.ProofTimeoutError` says that not all is decided; None for no limit.
    budget : float or None, default=None
        Elementary operations after which the same error is raised, some 10⁹ to a second.

    Returns
    -------
    Estimates

    Examples
    --------
    A drug that nobody survived without:

    >>> import pandas as pd
    >>> data = pd.DataFrame({"drug": [0, 0, 1, 1, 1], "dose": [1, 2, 1, 3, 2]})
    >>> print(estimates(data, [0, 0, 1, 1, 1]))
    Complete separation: the estimate of drug is +∞; the estimates of dose and the intercept are not determined by the
    data; supremum of the log-likelihood 0
    """
    clock = Clock(time_limit, budget)
    found = _named(judged(X, y, sample_weight, fit_intercept=fit_intercept, clock=clock), X, feature_names)
    if found.infinite is None:
        raise ProofTimeoutError("undecided in time: which coefficients have a finite estimate; raise time_limit")
    rows = _Weighted.of(X, y, sample_weight, found)
    if found.verdict == "overlap":
        dependencies, spanning = found.dependencies, list(found.support or [])
        return _completed(rows, Estimates(found, [], (0.0, 0.0), [], {}, dependencies, spanning), clock)
    cone = _Cone(rows, found, clock)
    dependencies, basis = _relations(rows, cone.face.basis, clock)
    aliased = set(_involved(dependencies))
    cone.decide(j for j in found.infinite if j not in aliased)
    spanning = [rows.number(i) for i in basis]
    return _completed(
        rows, Estimates(found, [], (0.0, 0.0), cone.directions, cone.proofs, dependencies, spanning), clock, cone
    )


def _completed(rows: _Weighted, found: Estimates, clock: Clock, cone: _Cone | None = None) -> Estimates:
    """Add the verdicts, the limit and the supremum."""
    aliased, proof = set(found.aliased), found.separability
    unheld = aliased if cone is None else set(proof.infinite or [])
    verdicts = [
        FINITE if j not in unheld else OPEN if j in aliased or cone is None else cone.verdict(j) or OPEN
        for j in range(rows.size)
    ]
    found = replace(found, verdicts=verdicts)
    if proof.separable:
        return found
    columns = rows.face(proof, clock).columns
    part = rows.on_face(proof, clock)
    limit = _fitted(part, columns, clock)
    return replace(found, limit=limit, supremum=_wider(_enclosed(part, columns, limit)))


def _named(found: Separability, X: Any, feature_names: Iterable[Any] | None) -> Separability:
    names = columns_of(X) if feature_names is None else [str(name) for name in feature_names]
    return replace(found, feature_names=names)


#: Operations that the directions of infinite estimates may cost in an explanation, and coefficients up to which they
#: are looked for; of more, it is only told which have no finite estimate.
DIRECTIONS, MANY = 5e8, 100


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
    found = _named(judged(X, y, sample_weight, fit_intercept=fit_intercept, clock=clock), X, feature_names)
    return _no_optimum(_Weighted.of(X, y, sample_weight, found), found, clock)


def _no_optimum(rows: _Weighted, found: Separability, clock: Clock) -> str | None:
    if found.verdict == "overlap":
        return None
    kind = "separable" if found.separable else "quasi-separable"
    return f"the data are {kind}, so no finite optimum exists: {_reasons(rows, found, clock)}; use a finite C"


def _reasons(rows: _Weighted, found: Separability, clock: Clock) -> str:
    """Say which coefficients run to infinity, and where to, as far as the work that is left tells it."""
    if found.infinite is None:
        return "some coefficients run to infinity (which ones was not determined in time)"
    verdicts: dict[int, str] = {}
    dependencies: Dependencies = {}
    if len(found.infinite) <= MANY:
        left = DIRECTIONS if clock.budget is None else min(DIRECTIONS, clock.budget - clock.spent)
        verdicts, dependencies = _directions(rows, found, Clock(clock.left(), left))
    rest = [j for j in found.infinite if j not in verdicts]
    if len(rest) == rows.size:
        return "every coefficient runs to infinity"
    whole = verdicts | {j: FINITE for j in range(rows.size) if j not in found.infinite}
    parts = []
    if verdicts:
        ordered, d = {j: whole[j] for j in sorted(whole)}, rows.X.shape[1]
        parts = [_told(found.name, ordered, dependencies, d, diverges=not rest)]
    if rest:
        who = phrase([found.name(j) for j in rest])
        runs = f"{who} runs" if rest == [rows.size - 1] and rows.intercept else f"coefficients {who} run"
        parts.insert(0, f"{runs} to infinity")
    return "; ".join(parts)


def _directions(rows: _Weighted, found: Separability, clock: Clock) -> tuple[dict[int, str], Dependencies]:
    """Return what is proven of coefficients without a finite estimate within the work of a clock, and aliased ones."""
    cone: _Cone | None = None
    dependencies: Dependencies = {}
    assert found.infinite is not None
    try:
        cone = _Cone(rows, found, clock)
        dependencies, _ = _relations(rows, cone.face.basis, clock)
        cone.decide(j for j in found.infinite if j not in _involved(dependencies))
    except ProofTimeoutError:  # what was proven until then is told
        if cone is None:
            return {}, {}
    aliased = _involved(dependencies)
    known = {j: cone.verdict(j) for j in found.infinite if j not in aliased}
    return {j: kind for j, kind in known.items() if kind is not None} | dict.fromkeys(aliased, OPEN), dependencies


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
    found = judged(turned, y, None, fit_intercept=False, clock=clock)
    paired = [f"{name} ({label} against {classes[-1]})" for label in classes[:-1] for name in names]
    return _no_optimum(_Weighted.of(turned, y, None, found), replace(found, feature_names=paired), clock)


def _difference(k: int, m: int, K: int) -> Any:
    """Return e_k − e_m as a row, without its last entry."""
    row = np.zeros((1, K))
    row[0, k], row[0, m] = 1.0, -1.0
    return sparse.csr_matrix(row[:, :-1])
