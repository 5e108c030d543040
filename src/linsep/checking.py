"""What every check of a certificate shares: its outcome, its way to fail, and how it reads data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .blocked import BlockedMatrix
from .duality import share
from .enclosure import Interval
from .exact_input import refuse_inexact

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

__all__ = ["ClaimError", "Verification", "codes_of", "read_data", "verdict_in_words", "within"]


class ClaimError(Exception):
    """A check that a certificate does not pass; the message says which."""


@dataclass(frozen=True)
class Verification:
    """The outcome of checking a certificate against data; true if every claim holds.

    Attributes
    ----------
    ok : bool
        Whether the certificate is about these data and this plane, and all it claims is so.
    reason : str
        Why, in a sentence.
    primal, dual : Interval or None
        Between what the objective and the bound truly lie, as far as the check got.
    proven : bool
        Whether the plane is within `tol` of the optimum, by these data and with rounding accounted for.
    checked, trusted : tuple of str
        What was computed anew, and what was taken on trust.
    """

    ok: bool
    reason: str
    primal: Interval | None = None
    dual: Interval | None = None
    proven: bool = False
    checked: tuple[str, ...] = ()
    trusted: tuple[str, ...] = ()

    @property
    def relative_gap(self) -> float:
        """The largest share of the objective that the optimum can lie below it; infinite where nothing is known."""
        if self.primal is None or self.dual is None:
            return np.inf
        return share(self.primal.high - self.dual.low, self.primal.low)

    def __bool__(self) -> bool:
        return self.ok

    def __str__(self) -> str:
        head = "Verified" if self.ok else "NOT verified"
        lines = [f"{head}: {self.reason}."]
        lines += [f"{title}: {'; '.join(what)}." for title, what in self._lists() if what]
        return "\n".join(lines)

    def _lists(self) -> list[tuple[str, tuple[str, ...]]]:
        return [("Checked", self.checked), ("Taken on trust", self.trusted)]


def read_data(
    X: Any, y: ArrayLike, sample_weight: ArrayLike | None, *, exact: bool = False
) -> tuple[Any, NDArray[Any], FloatArray | None]:
    """Return the data as a fit reads them, in doubles; `exact` refuses numbers that are none, instead of rounding."""
    from sklearn.utils import check_array, column_or_1d  # here, because a certificate is no reason to load all of it

    if exact:
        refuse_inexact(X)
        refuse_inexact(sample_weight, "sample_weight")
    if not isinstance(X, BlockedMatrix):  # whoever wrote its blocks has looked at them
        X = check_array(X, accept_sparse="csr", dtype=[np.float64, np.float32], order="C")
    labels = column_or_1d(np.asarray(y), dtype=None)
    if len(labels) != X.shape[0]:
        raise ValueError(f"X has {X.shape[0]} rows and y {len(labels)} labels: give each row its label")
    if sample_weight is None:
        return X, labels, None
    s = np.broadcast_to(np.asarray(sample_weight, dtype=np.float64), labels.shape)
    if not (np.isfinite(s).all() and (s >= 0).all() and s.any()):
        raise ValueError("sample_weight must be finite, zero or more, and not all zero")
    return X, labels, np.ascontiguousarray(s)


def codes_of(labels: NDArray[Any], classes: Sequence[Any]) -> IntArray:
    """Return the position of every label among the classes."""
    places = {label: k for k, label in enumerate(classes)}
    different, inverse = np.unique(labels, return_inverse=True)
    found = np.array([places.get(label, -1) for label in different.tolist()], dtype=np.int64)
    if (found < 0).any():
        raise ClaimError(f"y has the label {different[found < 0][0]!s}, which the fit did not know")
    return np.asarray(found[inverse.reshape(-1)])


def within(primal: float, dual: float, relative_gap: float) -> str:
    """Return between what the optimum lies, in words."""
    found = f"The objective is {primal:.10g}; no plane reaches less than {dual:.10g}"
    return f"{found}: within {relative_gap:.1e} of the optimum"


def verdict_in_words(proven: bool, tol: float) -> str:
    """Return whether that proves what was asked for, in words."""
    return f", proven to tol={tol:g}" if proven else f", which does not prove tol={tol:g}"
