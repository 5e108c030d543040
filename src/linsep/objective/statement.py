"""What was minimised, in the user's terms, and how a file says it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any, Self

import numpy as np

from .. import losses
from .._common import reading
from .._common.types import FloatArray, IntArray
from .._common.words import shown
from ..losses import Loss
from ..penalties import Penalty
from .examples import Examples
from .heads import Margin, of_all_classes
from .objective import Objective, in_force


@dataclass(frozen=True)
class Statement:
    """What was minimised: the loss, the penalty, and how they and the examples are weighed."""

    loss: Loss
    penalty: Penalty
    C: float
    fit_intercept: bool
    class_weight: Mapping[Any, float] | str | None = None

    def on(self, examples: Examples, *, positive: int | None = 1, classes: int = 2) -> Objective:
        """Return the objective on these examples: of one plane, whose class is `positive`, or of all (None)."""
        head = of_all_classes(self.loss, classes) if positive is None else Margin(self.loss, positive)
        return Objective(examples, head, self.penalty, self.C, None, self.fit_intercept)

    def __post_init__(self) -> None:
        weights = self.class_weight
        if not (
            weights is None or isinstance(weights, Mapping) or (isinstance(weights, str) and weights == "balanced")
        ):
            raise ValueError(f"class_weight={shown(weights)} must be None, 'balanced' or a dictionary of label: weight")
        if isinstance(weights, Mapping) and not all(isinstance(w, Real) and 0 <= w < np.inf for w in weights.values()):
            raise ValueError(f"class_weight={shown(dict(weights))} has a weight that is negative or not finite")

    @property
    def in_force(self) -> tuple[Penalty, float]:
        """The penalty that counts, and what multiplies the sum of losses."""
        return in_force(self.penalty, self.C)

    @property
    def penalised(self) -> bool:
        """Whether more than losses is minimised."""
        return any(self.in_force[0].numbers)

    def class_weights(
        self, codes: IntArray, classes: Sequence[Any], sample_weight: FloatArray | None = None
    ) -> FloatArray:
        """Return the weight of each class: "balanced" gives Σ s / (k Σₖ s), as scikit-learn 1.9 counts them.

        So a weight of 2 is the same as two rows here too; a class without weight gets none.
        """
        return self.by_class(np.bincount(codes, weights=sample_weight, minlength=len(classes)), classes)

    def by_class(self, totals: FloatArray | IntArray, classes: Sequence[Any]) -> FloatArray:
        """Return the weight of each class, from Σ s of its examples."""
        if isinstance(self.class_weight, str):
            return balanced(totals)
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
        weights, C = reading.entry(data, "class_weight"), reading.optional(data, "C", reading.number)
        return cls(
            losses.get(reading.text(data, "loss")),
            Penalty(reading.number(data, "l2"), reading.number(data, "l1")),
            np.inf if C is None else C,
            reading.flag(data, "fit_intercept"),
            {plain(label): float(weight) for label, weight in weights} if isinstance(weights, list) else weights,
        )

    def same_as(self, other: Statement) -> bool:
        """Whether both say the same; a named penalty is its two numbers."""
        return self.terms() == other.terms()

    def terms(self) -> tuple[Any, ...]:
        """Return what it says, in terms that can be compared."""
        weights = dict(self.class_weight) if isinstance(self.class_weight, Mapping) else self.class_weight
        return self.loss, self.in_force[0].numbers, self.C, self.fit_intercept, weights


def balanced(totals: FloatArray | IntArray) -> FloatArray:
    """Return the weight that each class needs for all to count the same, from those that they have: Σ s / (k Σₖ s).

    Examples
    --------
    >>> balanced(np.array([1, 3]))
    array([2.        , 0.66666667])
    """
    totals = np.asarray(totals, dtype=np.float64)
    shares = np.divide(totals.sum(), len(totals) * totals, out=np.zeros(len(totals)), where=totals > 0)
    return np.asarray(shares, dtype=np.float64)


def plain(label: Any) -> Any:
    """Return a label as JSON knows it."""
    value = label.item() if isinstance(label, np.generic) else label
    if not isinstance(value, str | int | float | bool):
        raise ValueError(f"the label {shown(label)} is neither text nor a number, so a file cannot hold it")
    return value
