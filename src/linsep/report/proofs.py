"""What is proven of a fit, in sentences: its certificate, and whether a plane separates the classes at all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..certificates.verify import unchecked_of
from ..separation.verdict import ProofTimeoutError, Separability, separability

#: Of more classes than this, only so many are asked whether a plane separates them from the rest.
ASKED = 20


def certificates(model: Any) -> list[Any]:
    """Return what proves a gap: nothing for some methods, one certificate, or one for each class."""
    try:
        found = model.certificate_
    except AttributeError:  # this kind of fit proves no gap
        return []
    return list(found) if isinstance(found, Sequence) else [found]


def is_proven(model: Any) -> bool:
    """Whether the model says that it is proven to be optimal, within its `tol`."""
    said = [optimal for proof in model._proofs if (optimal := proof.says_optimal(model)) is not None]
    return bool(said) and all(said)


def sentences(model: Any) -> list[str]:
    """Return what the model says is proven, one sentence a line, and what no check of that looks at."""
    said = [sentence for proof in model._proofs for sentence in proof.sentences(model)]
    nothing = ["Nothing is proven of this fit: its solver computes no bound on the optimum."]
    rest = ", ".join(unchecked_of(model))
    return [*(said or nothing), f"This page repeats what the model says of itself. Not checked, by any proof: {rest}."]


def verdicts(
    classes: NDArray[Any], X: Any, y: NDArray[Any], names: Sequence[str], seconds: float
) -> tuple[list[str], bool]:
    """Say whether a plane separates each class from the others, within some seconds; and whether all were decided."""
    if len(classes) == 2:
        said, decided = _decided(X, y, names, seconds)
        return [said], decided
    share = seconds / len(classes)
    found = [(label, *_decided(X, y == label, names, share)) for label in classes[:ASKED]]
    return [f"{label} against the rest: {said}" for label, said, _ in found], all(done for _, _, done in found)


def _decided(X: Any, y: NDArray[Any], names: Sequence[str], seconds: float) -> tuple[str, bool]:
    if len(np.unique(y)) < 2:
        return "these rows have one class only.", True
    try:
        return told(separability(X, y, time_limit=seconds), names, X.shape[0]), True
    except ProofTimeoutError:
        return (
            f"not decided within {seconds:.3g} s; linsep.separability(X, y, time_limit=…) takes its time.",
            False,
        )


def told(found: Separability, names: Sequence[str], n: int) -> str:
    """Tell a verdict on `n` rows of a table as its readers count and call them: from 1, and by name.

    Examples
    --------
    >>> told(separability([[0.0], [1.0], [1.0], [2.0]], [0, 0, 1, 1]), ["age"], 4)  # doctest: +ELLIPSIS
    'quasi-separable: ... rows 2 and 3 are the same point ...: age and the intercept (rows are counted from 1)'
    """
    words = str(replace(found.in_rows(range(1, n + 1)), feature_names=list(names)))
    return words if found.points is None else f"{words} (rows are counted from 1)"
