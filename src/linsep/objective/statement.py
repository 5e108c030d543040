"""What was minimised, in the user's terms, and how a file says it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from .. import _reading as reading
from .. import losses
from .._core import Rows
from ..losses import Loss
from ..penalties import Penalty
from .problem import Problem

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

__all__ = ["Statement", "plain"]


@dataclass(frozen=True)
class Statement:
    """What was minimised: the loss, the penalty, and how they and the examples are weighed."""

    loss: Loss
    penalty: Penalty
    C: float
    fit_intercept: bool
    class_weight: Mapping[Any, float] | str | None = None

    def problem(self, rows: Rows, y: FloatArray, sample_weight: FloatArray | None) -> Problem:
        """Return the problem on these examples."""
        return Problem(rows, y, self.loss, self.penalty, self.C, sample_weight, self.fit_intercept)

    def __post_init__(self) -> None:
        weights = self.class_weight
        if not (
            weights is None or isinstance(weights, Mapping) or (isinstance(weights, str) and weights == "balanced")
        ):
            raise ValueError(f"class_weight={weights!r} must be None, 'balanced' or a dictionary of label: weight")
        if isinstance(weights, Mapping) and not all(_is_weight(weight) for weight in weights.values()):
            raise ValueError(f"class_weight={dict(weights)!r} has a weight that is negative or not finite")

    def class_weights(
        self, codes: IntArray, classes: Sequence[Any], sample_weight: FloatArray | None = None
    ) -> FloatArray:
        """Return the weight of each class: "balanced" gives Σ s / (k Σₖ s), as scikit-learn 1.9 counts them.

        So a weight of 2 is the same as two rows here too; a class without weight gets none.
        """
        if isinstance(self.class_weight, str):
            counts = np.bincount(codes, weights=sample_weight, minlength=len(classes)).astype(np.float64)
            shares = np.divide(counts.sum(), len(classes) * counts, out=np.zeros(len(classes)), where=counts > 0)
            return np.asarray(shares, dtype=np.float64)
        given = {} if self.class_weight is None else self.class_weight
        return np.array([float(given.get(label, 1.0)) for label in classes])

    def to_dict(self) -> dict[str, Any]:
        """Return it in terms of JSON; only losses that `linsep.losses` knows by name can be written down."""
        if not losses.has_a_name(self.loss):
            raise ValueError(
                f"{self.loss!r} is no loss of linsep.losses, so a file cannot say what it is; register its class there"
            )
        weights = self.class_weight
        return {
            "loss": self.loss.name,
            "l2": self.penalty.l2,
            "l1": self.penalty.l1,
            "C": None if np.isinf(self.C) else self.C,
            "fit_intercept": self.fit_intercept,
            "class_weight": [[plain(k), float(v)] for k, v in weights.items()]
            if isinstance(weights, Mapping)
            else weights,
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Read what `to_dict` wrote."""
        weights = data["class_weight"]
        return cls(
            losses.get(reading.text(data, "loss")),
            Penalty(reading.number(data, "l2"), reading.number(data, "l1")),
            np.inf if data["C"] is None else reading.number(data, "C"),
            reading.flag(data, "fit_intercept"),
            {plain(label): float(weight) for label, weight in weights} if isinstance(weights, list) else weights,
        )

    def same_as(self, other: Statement) -> bool:
        """Whether both say the same; a named penalty is its two numbers."""
        return self.terms() == other.terms()

    def terms(self) -> tuple[Any, ...]:
        """Return what it says, in terms that can be compared."""
        # Without a penalty its form is of no consequence.
        penalty = (0.0, 0.0) if np.isinf(self.C) else (self.penalty.l2, self.penalty.l1)
        weights = self.class_weight
        return (
            self.loss,
            penalty,
            self.C,
            self.fit_intercept,
            dict(weights) if isinstance(weights, Mapping) else weights,
        )


def _is_weight(weight: Any) -> bool:
    return isinstance(weight, Real) and 0 <= float(weight) < np.inf


def plain(label: Any) -> Any:
    """Return a label as JSON knows it."""
    value = label.item() if isinstance(label, np.generic) else label
    if not isinstance(value, str | int | float | bool):
        raise ValueError(f"the label {label!r} is neither text nor a number, so a file cannot hold it")
    return value
