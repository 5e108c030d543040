"""The door between estimators and documents: what a fitted model keeps beside its public attributes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

from .._common.types import IntArray
from ..certificates.proof import Proof
from ._base import LinearEstimator
from ._streaming import StreamingEstimator

if TYPE_CHECKING:
    from ..solvers import Start


def unfitted(kind: type[LinearEstimator], parameters: Mapping[str, Any]) -> LinearEstimator:
    """Return a new estimator; raise for parameters that make no sense now, not when they are asked for."""
    made = kind(**parameters)
    made._check_parameters()
    if getattr(made, "fit_intercept", True) not in (True, False):
        raise ValueError(f"fit_intercept={made.fit_intercept!r} is neither true nor false")
    made._statement()  # which says what is minimised, and knows a class_weight that makes no sense
    return made


@dataclass(frozen=True)
class Memory:
    """What a fitted model keeps beside its public attributes; None where a model has no such thing."""

    proofs: Sequence[Proof] = ()
    provenance: Mapping[str, Any] = field(default_factory=dict)  # what a file said of the data that it was fitted on
    ballots: Sequence[Mapping[str, Any]] | None = None  # the planes of a voted perceptron
    stream: tuple[list[Start], IntArray] | None = None  # where a stream goes on, and the mistakes so far
    is_soft: bool | None = None  # of a hard margin: whether it is a soft one, because no plane separates

    @classmethod
    def of(cls, model: Any) -> Self:
        """Return what the model keeps."""
        return cls(
            model._proofs,
            getattr(model, "_provenance", {}),
            [vars(ballot) for ballot in model._ballots] if hasattr(model, "_ballots") else None,
            (model._stream, model._mistakes) if hasattr(model, "_stream") else None,
            getattr(model, "_is_soft", None),
        )

    def restore(self, model: LinearEstimator) -> None:
        """Give it to a model that has its public attributes already; raise where it is not of such a model."""
        from ._hard_margin import HardMarginSVC  # not loaded by those who only write another model down
        from ._perceptron import Ballot, Perceptron

        for name, value, kind in (
            ("ballots", self.ballots, Perceptron),
            ("stream", self.stream, StreamingEstimator),
            ("is_soft", self.is_soft, HardMarginSVC),
        ):
            if value is not None and not isinstance(model, kind):
                raise ValueError(f"{name!r} is no attribute of a fit of {type(model).__name__}")
        model._proofs, model._provenance = list(self.proofs), dict(self.provenance)
        if isinstance(model, HardMarginSVC):
            if self.is_soft is None:
                raise ValueError("'is_soft' is missing")
            model._is_soft = self.is_soft
        if self.ballots is not None and isinstance(model, Perceptron):
            model._ballots = [Ballot(**ballot) for ballot in self.ballots]
            if len(model._ballots) != len(model.coef_):
                raise ValueError(f"there are votes of {len(model._ballots)} planes, not of {len(model.coef_)}")
            for ballot in model._ballots:
                ballot.check(model.coef_.shape[1])
        if self.stream is not None and isinstance(model, StreamingEstimator):
            model._stream, model._mistakes = self.stream
