"""Training data as a check is given them: rows, labels and weights, read once and as a fit reads them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._common.labels import positions
from .._common.types import FloatArray, IntArray
from .._core import Rows, sound
from ..arithmetic.blocked import BlockedMatrix, rows_of
from ..arithmetic.exact_input import refuse_inexact
from ..objective.examples import InMemory
from ..objective.objective import Objective
from ..objective.statement import Statement
from .outcome import ClaimError


def read_data(
    X: Any, y: ArrayLike, sample_weight: ArrayLike | None, *, exact: bool = False
) -> tuple[Any, NDArray[Any], FloatArray | None]:
    """Return the data as a fit reads them, in doubles; `exact` refuses numbers that are none, instead of rounding."""
    from sklearn.utils import check_array, column_or_1d  # here, because a certificate is no reason to load all of it

    if exact:
        refuse_inexact(X)
        refuse_inexact(sample_weight, "sample_weight")
    if not isinstance(X, BlockedMatrix):  # whoever wrote its blocks has looked at them
        X = check_array(sound(X), accept_sparse="csr", dtype=[np.float64, np.float32], order="C")
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


class TrainingData:
    """Rows, labels and weights as a fit reads them: read once, for all checks.

    Examples
    --------
    >>> examples = TrainingData([[1.0], [2.0]], ["b", "a"])
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

    def weighed(self, classes: tuple[Any, ...], s: FloatArray | None) -> InMemory:
        """Return the examples as an objective takes them, with these weights."""
        return InMemory(self.rows, self.codes(classes), s)

    def weights(self, statement: Statement, classes: tuple[Any, ...]) -> FloatArray | None:
        """Return what each example counts, by itself and by its class; None where all count one."""
        s = self.sample_weight
        if statement.class_weight is None:
            return s
        codes = self.codes(classes)
        by_class = statement.class_weights(codes, list(classes), s)[codes]
        return by_class if s is None else s * by_class

    # What a check of gaps asks for; rows that are elsewhere answer that where they are.

    @property
    def shape(self) -> tuple[int, int]:
        """How many rows and columns there are."""
        n, d = self.X.shape
        return int(n), int(d)

    def problem(self, statement: Statement, classes: tuple[Any, ...], positive: int | None) -> Objective:
        """Return what a statement says is minimised, of one plane or (None) of all."""
        data = self.weighed(classes, self.weights(statement, classes))
        return statement.on(data, positive=positive, classes=len(classes))

    def all_one(self, statement: Statement, classes: tuple[Any, ...]) -> bool:
        """Whether every example counts one."""
        s = self.weights(statement, classes)
        return s is None or bool((s == 1.0).all())

    def hashed(self, like: Mapping[str, Any]) -> dict[str, Any]:
        """Return the hash of the data, as `like` was made."""
        from .data_hash import data_hash  # which reads data as this does

        return data_hash(self.X, self.labels, self.sample_weight, like)


def positive_classes(classes: Sequence[Any]) -> list[int]:
    """Return for each plane the class that it predicts: of two classes the second, else one plane a class.

    Examples
    --------
    >>> positive_classes(["no", "yes"]), positive_classes(["a", "b", "c"])
    ([1], [0, 1, 2])
    """
    return [1] if len(classes) == 2 else list(range(len(classes)))


def codes_of(labels: NDArray[Any], classes: Sequence[Any]) -> IntArray:
    """Return the position of every label among the classes."""
    found = positions(labels, classes)
    if (found < 0).any():
        raise ClaimError(f"y has the label {labels[found < 0][0]!s}, which the fit did not know")
    return found
