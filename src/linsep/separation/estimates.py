"""What maximum likelihood says of each coefficient and its proof, as a record that files keep and `verify` checks."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from .._common import reading
from .._common.html import card
from .._common.reading import ClaimError
from .._common.types import FloatArray
from .._common.words import combination, phrase, quoted
from ..arithmetic.exact import Check, Clock, Dependencies, check_cone, check_rank
from ._limit import NEAR, enclosed_supremum
from ._question import CountedRows, held
from .proof import Separability, fraction, involved, mapping_read, mapping_written, written

FINITE, PLUS, MINUS, OPEN = "finite", "+inf", "-inf", "not determined"
KINDS = (PLUS, MINUS, FINITE, OPEN)


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
    >>> from linsep import estimates
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
    directions: list[tuple[Fraction, ...]] = field(default_factory=list)
    proofs: dict[int, dict[int, Fraction]] = field(default_factory=dict)
    dependencies: dict[int, dict[int, Fraction]] = field(default_factory=dict)
    spanning: list[int] = field(default_factory=list)
    limit: FloatArray | None = None

    @property
    def aliased(self) -> list[int]:
        """Columns that are combinations of each other on all rows; the last is the intercept's."""
        return involved(self.dependencies)

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

    def verify(
        self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None, *, time_limit: float | None = None
    ) -> Check:
        """Check every verdict on the data in exact rational arithmetic, and the supremum with all roundings bounded.

        Returns
        -------
        Check
            True or false, with a `reason`. Raises `ProofTimeoutError` after `time_limit` seconds.
        """
        return _verify(self, X, y, sample_weight, Clock(time_limit))

    # -- words, and files -----------------------------------------------------------------------------------------

    def __str__(self) -> str:
        kind = {"separable": "Complete separation", "quasi": "Quasi-complete separation", "overlap": "Overlap"}
        d = len(self.verdicts) - self.separability.fit_intercept
        said = verdicts_in_words(
            self.name, dict(enumerate(self.verdicts)), self.dependencies, d, diverges=bool(self.directions)
        )
        return f"{kind[self.separability.verdict]}: {said}; {_supremum_in_words(self)}"

    __repr__ = __str__

    def _repr_html_(self) -> str:
        title, _, said = str(self).partition(": ")
        return card(title, said, "Proven in exact arithmetic: .verify(X, y) checks it.", tone="good")

    def to_dict(self) -> dict[str, Any]:
        """Return it in terms of JSON."""
        return {
            "separability": self.separability.to_dict(),
            "verdicts": list(self.verdicts),
            "supremum": [float(end) if math.isfinite(end) else None for end in self.supremum],
            "directions": [written(plane) for plane in self.directions],
            "proofs": mapping_written(self.proofs),
            "dependencies": mapping_written(self.dependencies),
            "spanning": [int(i) for i in self.spanning],
            "limit": None if self.limit is None else self.limit.tolist(),
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Read what `to_dict` wrote."""
        low, high = reading.entry(data, "supremum")
        planes = reading.items(data, "directions", lambda at, name: tuple(reading.items(at, name, fraction)))
        limit = reading.optional(data, "limit", reading.items, reading.number)
        return cls(
            separability=Separability.from_dict(reading.section(data, "separability")),
            verdicts=reading.items(data, "verdicts", reading.text),
            supremum=(-math.inf if low is None else float(low), math.inf if high is None else float(high)),
            directions=planes,
            proofs=mapping_read(data, "proofs"),
            dependencies=mapping_read(data, "dependencies"),
            spanning=reading.items(data, "spanning", reading.whole),
            limit=None if limit is None else np.array(limit, dtype=np.float64),
        )


# -- words ------------------------------------------------------------------------------------------------------------


def verdicts_in_words(
    name: Callable[[int], str], verdicts: Mapping[int, str], dependencies: Dependencies, d: int, *, diverges: bool
) -> str:
    """Say of each coefficient what is known, grouped: 'the estimate of x1 is +∞; the others are finite'."""
    aliased = involved(dependencies)
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
    said = []
    for j, others in list(dependencies.items())[:most]:
        of = (
            combination(others, d, lambda k: quoted(name(k)))
            if len(others) <= 6
            else f"a combination of {len(others)} others"
        )
        said.append(f"{quoted(name(j))} = {of}")
    return ", ".join(said) + (f" and {len(dependencies) - most} more" if len(dependencies) > most else "")


def _estimates_of(name: Callable[[int], str], columns: Sequence[int], what: str) -> str:
    if not columns:
        return ""
    one = len(columns) == 1
    return f"the estimate{'' if one else 's'} of {phrase([name(j) for j in columns])} {'is' if one else 'are'} {what}"


def _supremum_in_words(found: Estimates) -> str:
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


# -- the check: every verdict in exact arithmetic, the supremum with roundings bounded ---------------------------------


def _verify(found: Estimates, X: Any, y: ArrayLike, sample_weight: ArrayLike | None, clock: Clock) -> Check:
    """Check all that is said of the coefficients, on data."""
    try:
        held(found.separability.verify(X, y, sample_weight, time_limit=clock.left()))
        rows = CountedRows.of(X, y, sample_weight, found.separability, clock)
        rows.check_names([*found.spanning, *(i for weights in found.proofs.values() for i in weights)])
        # The aliased columns depend on each other, and there are no others that do.
        points, limits = [rows.place[i] for i in found.spanning], dict(time_limit=clock.left())
        held(check_rank(rows.X, points, found.dependencies, intercept=rows.intercept, **limits))
        _check_directions(found, rows)
        _check_verdicts(found, rows)
        _check_supremum(found, rows)
    except ClaimError as failure:
        return Check(False, str(failure))
    return Check(True, f"{len(found.verdicts)} estimates are as told; {_supremum_in_words(found)}")


def _check_directions(found: Estimates, rows: CountedRows) -> None:
    for plane in found.directions:
        if len(plane) != rows.size:
            raise ClaimError(f"a direction has {len(plane)} numbers for {rows.size} coefficients")
        signs = rows.sides(plane)
        if (signs < 0).any():
            raise ClaimError(f"row {rows.numbers[np.argmax(signs < 0)]} is on the wrong side of a direction")


def _check_verdicts(found: Estimates, rows: CountedRows) -> None:
    proof = found.separability
    if len(found.verdicts) != rows.size or any(kind not in KINDS for kind in found.verdicts):
        raise ClaimError(f"{rows.size} coefficients need as many verdicts, each one of {', '.join(KINDS)}")
    if proof.verdict not in ("separable", "quasi", "overlap") or proof.infinite is None:
        raise ClaimError(f"nothing follows for coefficients from {proof.verdict!r}")
    unheld = set(found.aliased if proof.verdict == "overlap" else proof.infinite)
    for j, kind in enumerate(found.verdicts):
        if (kind == FINITE) != (j not in unheld):
            raise ClaimError(f"the estimate of {found.name(j)} is {'not finite' if j in unheld else 'finite'}")
        if kind == OPEN and j not in found.aliased:
            seen = {sign(plane[j]) for plane in found.directions}
            if not {1, -1} <= seen:
                raise ClaimError(f"no two directions show that {found.name(j)} is not determined")
        if kind in (PLUS, MINUS):
            _check_infinite(found, rows, j, 1 if kind == PLUS else -1)
    if any(found.verdicts[j] != OPEN for j in found.aliased):
        raise ClaimError("the estimates of columns that depend on each other are not determined")
    if set(found.proofs) != {j for j, kind in enumerate(found.verdicts) if kind in (PLUS, MINUS)}:
        raise ClaimError("there are proofs for other coefficients than those of infinite estimates")


def _check_infinite(found: Estimates, rows: CountedRows, j: int, side: int) -> None:
    """Check that some direction has this sign at j, and that none has the other."""
    weights, name = found.proofs.get(j, {}), found.name(j)
    if not any(sign(plane[j]) == side for plane in found.directions):
        raise ClaimError(f"no direction shows that {name} has no finite estimate")
    try:
        rows.holds(check_cone, [rows.place[i] for i in weights], list(weights.values()), j, side)
    except ClaimError as failure:
        raise ClaimError(f"{name}: {failure}") from failure


def _check_supremum(found: Estimates, rows: CountedRows) -> None:
    low, high = found.supremum
    if found.separability.separable:
        alone = found.limit is None and (low, high) == (0.0, 0.0)
        held(Check(alone, "the likelihood of separable classes has the supremum 0, and no limit"))
        return
    if found.limit is None or found.limit.shape != (rows.size,) or not np.isfinite(found.limit).all():
        raise ClaimError(f"the limit needs {rows.size} finite numbers")
    face = rows.held(found.separability)
    if any(value and j not in face.columns for j, value in enumerate(found.limit)):
        raise ClaimError("the limit has weights on columns that depend on others")
    between = enclosed_supremum(rows.on_face(found.separability), face.columns, found.limit)
    if not (low <= between.low and between.high <= high <= 0):
        said = f"between {_signed(between.low, 12)} and {_signed(between.high, 12)}"
        raise ClaimError(f"the supremum of the log-likelihood is only known to be {said}")
    if not found.proven and high != 0:
        raise ClaimError("the limit attains too little of the supremum for its numbers to be the estimates")


def sign(value: Fraction) -> int:
    """Return −1, 0 or 1."""
    return (value > 0) - (value < 0)
