"""What maximum likelihood says of each coefficient and its proof, as a record that files keep and `verify` checks."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from operator import index
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from .._types import FloatArray
from ..arithmetic.exact import Check, Clock
from ._aliases import involved
from ._estimates_checks import verify
from ._estimates_words import MINUS, OPEN, PLUS, supremum_in_words, verdicts_in_words
from ._fractions import read_fraction, weights_read, weights_written, written_fraction
from ._limit import NEAR
from .proof import Separability


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
        return verify(self, X, y, sample_weight, Clock(time_limit))

    # -- words, and files -----------------------------------------------------------------------------------------

    def __str__(self) -> str:
        kind = {"separable": "Complete separation", "quasi": "Quasi-complete separation", "overlap": "Overlap"}
        d = len(self.verdicts) - self.separability.fit_intercept
        said = verdicts_in_words(
            self.name, dict(enumerate(self.verdicts)), self.dependencies, d, diverges=bool(self.directions)
        )
        return f"{kind[self.separability.verdict]}: {said}; {supremum_in_words(self)}"

    __repr__ = __str__

    def to_dict(self) -> dict[str, Any]:
        """Return it in terms of JSON."""
        return {
            "separability": self.separability.to_dict(),
            "verdicts": list(self.verdicts),
            "supremum": [float(end) if math.isfinite(end) else None for end in self.supremum],
            "directions": [[written_fraction(value) for value in plane] for plane in self.directions],
            "proofs": [[int(j), weights_written(weights)] for j, weights in self.proofs.items()],
            "dependencies": [[int(j), weights_written(others)] for j, others in self.dependencies.items()],
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
            proofs={index(j): weights_read(weights) for j, weights in data["proofs"]},
            dependencies={index(j): weights_read(others) for j, others in data["dependencies"]},
            spanning=[index(i) for i in data["spanning"]],
            limit=None if data["limit"] is None else np.asarray(data["limit"], dtype=np.float64),
        )
