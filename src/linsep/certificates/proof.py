"""What is proven of a fitted model: one protocol for every kind of proof, and the registry by which files name them.

A model keeps its proofs in the list `_proofs`, one of a kind, for all of its planes. Model files, `linsep.verify`,
reports and the check of long files ask what is declared here, and nothing else: a new kind is a file in `kinds`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

from .outcome import ClaimError, Verification, planes_in_words

if TYPE_CHECKING:
    from .case import Case
    from .training_data import TrainingData

#: Of more classes than this, a report names only so many.
NAMED = 20

#: The kinds of proof by the names that files know them by.
PROOFS: dict[str, type[Proof]] = {}


class Proof(ABC):
    """A proof of one kind. A subclass that says its `kind` is known by that from then on."""

    kind: ClassVar[str]  # what files call it
    confirms: ClassVar[tuple[str, ...]] = ()  # the attributes of a model that a check can confirm
    attribute: ClassVar[str] = ""  # the public attribute that holds it, if there is one
    exact: ClassVar[bool] = False  # whether numbers that are no doubles are refused, and not rounded
    in_blocks: ClassVar[bool] = False  # whether it can be checked on rows that are read block by block
    of_any_model: ClassVar[bool] = False  # whether every model may have it; other kinds only those that name them
    of_a_cut: ClassVar[bool] = False  # whether it speaks of where scores are cut, and not of the scores alone
    decides: bool = False  # whether it answers what the model is for, so that a gap says nothing more

    def __init_subclass__(cls, **settings: Any) -> None:
        super().__init_subclass__(**settings)
        if "kind" in vars(cls):
            PROOFS[cls.kind] = cls

    @abstractmethod
    def to_dict(self) -> Any:
        """Return it in terms of JSON."""

    @classmethod
    @abstractmethod
    def from_dict(cls, data: Any, planes: int) -> Self:
        """Read what `to_dict` wrote, for a model with so many planes; raise `ValueError` for what it never writes."""

    @abstractmethod
    def check(self, case: Case) -> Iterator[Verification]:
        """Yield what the data and the model as it predicts say of it: outcomes that all have to hold."""

    def certificate(self, model: Any) -> Any:
        """Return what the model shows as ``certificate_``: the proof, with the planes as they are now; or None."""
        return None

    def sentences(self, model: Any) -> list[str]:
        """Return what it says of the model, for a report: by default what its certificate does."""
        certificate = self.certificate(model)
        if certificate is None:
            return []
        if not isinstance(certificate, Sequence):
            return [str(certificate)]
        each = zip(model.classes_, certificate, strict=True)
        return [f"{label} against the rest: {one}" for label, one in each][:NAMED]

    def says_optimal(self, model: Any) -> bool | None:
        """Return whether it says that the model is proven to be optimal; None if it says nothing of that."""
        certificate = self.certificate(model)
        if certificate is None:
            return None
        return all(one.proven for one in (certificate if isinstance(certificate, Sequence) else [certificate]))


class Alone(ABC):
    """A proof that left its model behind: it brings the planes along, and says itself how it is checked."""

    exact: ClassVar[bool] = False  # as of `Proof`

    @abstractmethod
    def check(self, examples: TrainingData, time_limit: float | None = None) -> Verification:
        """Check it on examples that were read already."""


class PlaneProofs(Proof):
    """A proof that has one record for `each` plane of a model, in their order."""

    record: ClassVar[Any]  # their class, with `to_dict` and `from_dict`
    optional: ClassVar[bool] = False  # whether a plane may have none

    def __init__(self, each: Sequence[Any]) -> None:
        self.each = list(each)

    def to_dict(self) -> list[Any]:
        """Return the records in terms of JSON."""
        return [None if one is None else one.to_dict() for one in self.each]

    @classmethod
    def from_dict(cls, data: Any, planes: int) -> Self:
        """Read what `to_dict` wrote."""
        if not isinstance(data, list) or len(data) != planes:
            raise ValueError(f"there must be as many proofs of the kind {cls.kind!r} as planes, {planes}")
        return cls([None if one is None and cls.optional else cls.record.from_dict(one) for one in data])


class PlaneByPlane(PlaneProofs):
    """Records that are checked one plane after the other."""

    def check(self, case: Case) -> Iterator[Verification]:
        """Yield the outcome of every plane, in words that say which; covered is what all of them cover."""
        if len(self.each) != len(case.positive):
            count = planes_in_words(len(case.positive))
            raise ClaimError(f"there are {len(self.each)} proofs of the kind {self.kind!r} for {count}")
        outcomes = []
        for k in range(len(self.each)):
            try:
                outcome = self.check_plane(case, k)
            except ClaimError as failure:
                yield Verification(False, f"{case.who(k)}{failure}")
                return
            outcomes.append(replace(outcome, reason=outcome.reason and f"{case.who(k)}{outcome.reason}"))
        common = tuple(name for name in outcomes[0].covered if all(name in outcome.covered for outcome in outcomes))
        yield from (replace(outcome, covered=common) for outcome in outcomes)

    @abstractmethod
    def check_plane(self, case: Case, k: int) -> Verification:
        """Return the outcome of one plane; raise `ClaimError` for what is not so."""


def proof_of(model: Any, kind: str) -> Any:
    """Return the model's proof of a kind, or None."""
    return next((proof for proof in model._proofs if proof.kind == kind), None)


def keep_proof(model: Any, proof: Proof) -> None:
    """Give a model a proof, beside those that it has of other kinds."""
    model._proofs = [*(one for one in model._proofs if one.kind != proof.kind), proof]


def check_kinds(model: Any) -> None:
    """Raise unless a model with any proofs has all that such a model has, and no others but those of any model."""
    kinds, named = [proof.kind for proof in model._proofs if not proof.of_any_model], model._kinds_of_proof()
    if kinds and set(kinds) != set(named):
        raise ClaimError(
            f"its proofs are of the kind {', '.join(map(repr, kinds))}; those of a {type(model).__name__} with these "
            f"parameters are of the kind {', '.join(map(repr, named))}"
        )


class ProofAttribute:
    """An attribute of an estimator that is one of its proofs: a record, or of several planes a list of them.

    Examples
    --------
    >>> from linsep import Perceptron
    >>> model = Perceptron(random_state=0).fit([[0.0], [1.0]], [0, 1])
    >>> model.separability_.verdict, [proof.kind for proof in model._proofs]
    ('separable', ['gap', 'separability'])
    """

    def __init__(self, proof: type[PlaneProofs]) -> None:
        self.proof = proof

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, model: Any, owner: type | None = None) -> Any:
        if model is None:
            return self
        proof = proof_of(model, self.proof.kind)
        if proof is None:
            raise AttributeError(f"this {type(model).__name__} has no {self.name}: only a fit on all data at once has")
        return proof.each[0] if len(proof.each) == 1 else list(proof.each)

    def __set__(self, model: Any, value: Any) -> None:
        keep_proof(model, self.proof(value if isinstance(value, list) else [value]))
