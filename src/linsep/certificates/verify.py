"""The check of a model from the data alone: every proof of it, and on which list each thing that it reports belongs.

Everything that a fit leaves behind is a hint: a dual point, rows of two hulls, a cover of conflicts. Which class is +1,
what is minimised, where scores are cut and what `tol` is, the model says; the rest is computed from it and the data. A
stored value that differs is a refusal, and whatever else is reported without being computed is named as not checked.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

from numpy.typing import ArrayLike

from ..separation.recession import Estimates
from ..separation.verdict import NotSeparableError, Separability
from . import data_hash
from .case import GIVEN, STATED, Case, exactly
from .outcome import ClaimError, Verification
from .proof import PROOFS, Alone, Proof, check_kinds, proof_of
from .training_data import TrainingData


def check(
    said: Any,
    X: Any,
    y: Any,
    sample_weight: ArrayLike | None = None,
    *,
    threshold: float | None = None,
    data: Mapping[str, Any] | None = None,
    time_limit: float | None = None,
    split: Any = None,
) -> Verification:
    """Check a fitted model or a proof, as `linsep.verify` says.

    X may be `TrainingData`, with labels and weights. `data` is the hash of the data that a model names; `split` gives
    the columns of a fold as its own rows make them.
    """
    said = said.proof if isinstance(said, NotSeparableError) else getattr(said, "certificate", said)
    checked: list[str] = []
    examples = X if isinstance(X, TrainingData) else TrainingData(X, y, sample_weight, exact=_is_exact(said))
    if data is not None:
        if difference := data_hash.differs(data, examples.hashed(data)):
            return Verification(False, difference)
        checked.append("the data are those that the model names, bit for bit (SHA-256)")
    try:
        if _is_model(said):
            outcome = _of_model(Case(said, examples, threshold, time_limit, split))
        else:
            outcome = _alone(said, examples, time_limit)
    except ClaimError as failure:
        return Verification(False, str(failure))
    rest = unchecked_of(said, outcome.covered) if outcome and _is_model(said) else ()
    lists: Any = dict(checked=(*checked, *outcome.checked), unchecked=(*rest, *outcome.unchecked))
    return replace(outcome, **lists) if outcome else outcome


def _is_model(said: Any) -> bool:
    return hasattr(said, "coef_")


def _proofs(model: Any) -> Sequence[Proof]:
    """Return what a model brings; nothing, if it is another library's."""
    found: Sequence[Proof] = getattr(model, "_proofs", ())
    return found


def _is_exact(said: Any) -> bool:
    """Whether a proof is about the numbers as they are given, and not about those that they are rounded to."""
    if _is_model(said):
        return any(proof.exact for proof in _proofs(said))
    return isinstance(said, Separability | Estimates) or (isinstance(said, Alone) and said.exact)


def _alone(said: Any, examples: TrainingData, time_limit: float | None) -> Verification:
    """Check a proof that left its model behind."""
    if isinstance(said, Separability | Estimates):
        found = said.verify(examples.X, examples.labels, examples.sample_weight, time_limit=time_limit)
        return replace(exactly(found, "the proof, on every example it speaks of"), unchecked=("feature_names",))
    if not isinstance(said, Alone):
        raise TypeError(f"{said!r} is neither a fitted model, nor a path of one, nor a proof: nothing to verify")
    outcome = said.check(examples, time_limit)
    return replace(outcome, unchecked=("tol", *outcome.unchecked)) if outcome else outcome


def _of_model(case: Case) -> Verification:
    """Check every proof of a model; the first that fails is the last to be looked at."""
    model, outcomes = case.model, []
    proofs = _proofs(model)
    if proofs:
        case.check_shape()
        check_kinds(model)
    for outcome in chain.from_iterable(proof.check(case) for proof in proofs):
        if not outcome:
            return outcome
        outcomes.append(outcome)
    if not any(proof for proof in proofs if not proof.of_any_model):
        why = "a stream, a fit that was cut short, or a loss without a conjugate proves nothing"
        return Verification(False, f"this {type(model).__name__} claims nothing that could be checked: {why}")
    found = _together(outcomes)
    chosen = any(hasattr(model, name) for name in ("choice_", "C_")) and proof_of(model, "choice") is None
    return replace(found, reason=f"{found.reason}; how C was chosen is no part of what is proven") if chosen else found


def _together(outcomes: list[Verification]) -> Verification:
    """Return outcomes that all hold as one."""

    def joined(name: str) -> tuple[str, ...]:
        return tuple(dict.fromkeys(what for outcome in outcomes for what in getattr(outcome, name)))

    reason = "; ".join(dict.fromkeys(outcome.reason for outcome in outcomes if outcome.reason))
    lists: Any = {name: joined(name) for name in ("checked", "trusted", "unchecked", "covered")}
    return replace(outcomes[0], reason=reason, proven=all(outcome.proven for outcome in outcomes), **lists)


def unchecked_of(model: Any, covered: tuple[str, ...] | None = None) -> tuple[str, ...]:
    """Return the names of all that a model reports besides what is covered: attributes of its fit, then parameters.

    Examples
    --------
    >>> from linsep import LeastSquaresClassifier
    >>> unchecked_of(LeastSquaresClassifier().fit([[0.0], [1.0], [3.0], [4.0]], [0, 0, 1, 1]))
    (...'history_', 'n_iter_',... 'n_jobs')
    """
    if covered is None:  # what proofs of these kinds can cover
        kinds = [PROOFS[kind] for kind in model._kinds_of_proof()]
        own = {"converged_", "tol"} if model._own_rule else set()
        covered = (*GIVEN, *({*STATED, *(name for kind in kinds for name in kind.confirms)} - own))
    public = [name for name in vars(model) if not name.startswith("_")]
    held = [proof.attribute for proof in model._proofs if proof.attribute]
    attributes = sorted(name for name in [*public, *held] if name.endswith("_"))
    parameters = [name for name in public if not name.endswith("_")]  # each is kept as an attribute of its name
    votes = ["ballots"] if hasattr(model, "_ballots") else []
    return tuple(name for name in (*attributes, *votes, *parameters) if name not in covered)
