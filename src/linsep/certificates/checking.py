"""What every check of a certificate shares: its outcome, its way to fail, and how it reads data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._core import Rows
from .._labels import positions
from .._reading import ClaimError
from ..arithmetic.blocked import BlockedMatrix, rows_of
from ..arithmetic.enclosure import Interval, relative_gap
from ..arithmetic.exact_input import refuse_inexact
from ..objective.statement import Statement

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

__all__ = [
    "ClaimError",
    "Examples",
    "Verification",
    "codes_of",
    "planes_in_words",
    "positive_classes",
    "read_data",
    "verdict_in_words",
    "within",
]


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
    unchecked : tuple of str
        What else the model, its file or its certificate reports, by name: of that nothing is known.
    covered : tuple of str
        The attributes and parameters that the sentence is about, or that were computed anew.
    """

    ok: bool
    reason: str
    primal: Interval | None = None
    dual: Interval | None = None
    proven: bool = False
    checked: tuple[str, ...] = ()
    trusted: tuple[str, ...] = ()
    unchecked: tuple[str, ...] = ()
    covered: tuple[str, ...] = ()

    @property
    def relative_gap(self) -> float:
        """The largest share of the objective that the optimum can lie below it; infinite where nothing is known."""
        if self.primal is None or self.dual is None:
            return np.inf
        return relative_gap(self.primal, self.dual)

    def __bool__(self) -> bool:
        return self.ok

    def __str__(self) -> str:
        head = "Verified" if self.ok else "NOT verified"
        lines = [f"{head}: {self.reason}."]
        lines += [f"{title}: {between.join(what)}." for title, between, what in self._lists() if what]
        return "\n".join(lines)

    def _lists(self) -> list[tuple[str, str, tuple[str, ...]]]:
        return [
            ("Checked", "; ", self.checked),
            ("Taken on trust", "; ", self.trusted),
            ("Not checked", ", ", self.unchecked),
        ]


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
    given = np.asarray(sample_weight)
    if given.dtype.kind == "c" or given.shape not in ((), labels.shape):
        raise ValueError(f"sample_weight has shape {given.shape}; it needs a real number for each row, {len(labels)}")
    s = np.broadcast_to(given.astype(np.float64), labels.shape)
    if not (np.isfinite(s).all() and (s >= 0).all() and s.any()):
        raise ValueError("sample_weight must be finite, zero or more, and not all zero")
    return X, labels, np.ascontiguousarray(s)


class Examples:
    """Rows, labels and weights as a fit reads them: read once, for all checks.

    Examples
    --------
    >>> examples = Examples([[1.0], [2.0]], ["b", "a"])
    >>> examples.rows.n, examples.codes(("a", "b"))
    (2, array([1, 0]))
    """

    def __init__(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None, *, exact: bool = False) -> None:
        names = getattr(X, "columns", None)  # of a table; as scikit-learn, which knows columns by text alone
        self.names = None if names is None or not all(isinstance(name, str) for name in names) else list(names)
        self.X, self.labels, self.sample_weight = read_data(X, y, sample_weight, exact=exact)
        self._codes: dict[tuple[Any, ...], IntArray] = {}

    @cached_property
    def rows(self) -> Rows:
        """The rows, wherever they are."""
        return rows_of(self.X)

    def codes(self, classes: tuple[Any, ...]) -> IntArray:
        """Return the position of every label among the classes."""
        if classes not in self._codes:
            self._codes[classes] = codes_of(self.labels, classes)
        return self._codes[classes]

    def weights(self, statement: Statement, classes: tuple[Any, ...]) -> FloatArray | None:
        """Return what each example counts, by itself and by its class; None where all count one."""
        s = self.sample_weight
        if statement.class_weight is None:
            return s
        codes = self.codes(classes)
        by_class = statement.class_weights(codes, list(classes), s)[codes]
        return by_class if s is None else s * by_class


def positive_classes(classes: Sequence[Any]) -> list[int]:
    """Return for each plane the class that it predicts: of two classes the second, else one plane a class.

    Examples
    --------
    >>> positive_classes(["no", "yes"]), positive_classes(["a", "b", "c"])
    ([1], [0, 1, 2])
    """
    return [1] if len(classes) == 2 else list(range(len(classes)))


def planes_in_words(count: int) -> str:
    """Return how many planes, in words."""
    return "one plane" if count == 1 else f"{count} planes"


def codes_of(labels: NDArray[Any], classes: Sequence[Any]) -> IntArray:
    """Return the position of every label among the classes."""
    found = positions(labels, classes)
    if (found < 0).any():
        raise ClaimError(f"y has the label {labels[found < 0][0]!s}, which the fit did not know")
    return found


def within(primal: float, dual: float, relative_gap: float) -> str:
    """Return between what the optimum lies, in words."""
    found = f"The objective is {primal:.10g}; no plane reaches less than {dual:.10g}"
    return f"{found}: within {relative_gap:.1e} of the optimum"


def verdict_in_words(proven: bool, tol: float) -> str:
    """Return whether that proves `tol`, in words."""
    return f", proven to tol={tol:g}" if proven else f", which does not prove tol={tol:g}"
