"""What is proven of a fit, in sentences and as sections: its certificate, and whether a plane separates the classes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._common.types import IntArray
from .._common.words import phrase
from ..certificates.outcome import in_words
from ..certificates.verify import unchecked_of
from ..separation.verdict import ProofTimeoutError, Separability, separability
from .markup import paragraph, section, text

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
    if said and hasattr(model, "threshold_"):
        where = "this is about the scores, wherever they are cut"
        if any(proof.of_a_cut for proof in model._proofs):
            where = "what is said above of a margin or of mistakes is of a cut at 0, linsep verify tells it of this one"
        said.append(f"Predictions are cut at {model.threshold_:g}, not at 0: {where}.")
    rest = ", ".join(in_words(unchecked_of(model)))
    return [*(said or nothing), f"This page repeats what the model says of itself. Not checked, by any proof: {rest}."]


def proof_section(said: Sequence[str], is_proven: bool, recheck: str) -> str:
    """Return the certificate."""
    badge = "proven" if is_proven else "not proven"
    meaning = (
        "In plain words: whoever fits the same kind of model to the same rows, with whatever program, cannot do better "
        "than this bound. More computing would change nothing that matters."
        if is_proven
        else "In plain words: a better plane for this objective may exist; how much better is not bounded as asked for."
    )
    again = "Nobody has to believe this. To check it again, from the training data alone:"
    return section(
        f'The certificate <span class="badge">{badge}</span>',
        *map(paragraph, said),
        paragraph(meaning),
        f"<p>{again} <code>{text(recheck)}</code></p>",
        kind="good" if is_proven else "warning",
    )


def verdicts(
    classes: NDArray[Any],
    X: Any,
    y: NDArray[Any],
    names: Sequence[str],
    seconds: float,
    numbers: IntArray | None = None,
) -> tuple[list[str], bool]:
    """Say whether a plane separates each class from the others, within some seconds; and whether all were decided.

    `numbers` are those of the rows in their file, from 0, where they are some of these.
    """
    if len(classes) == 2:
        said = _decided(X, y, names, seconds, numbers)
        return [said or f"Not decided within {seconds:.3g} s; with more time the answer can be proven."], bool(said)
    share = seconds / len(classes)
    found = {str(label): _decided(X, y == label, names, share, numbers) for label in classes[:ASKED]}
    lines = [f"{label} against the rest: {said}" for label, said in found.items() if said]
    open_ones = [label for label, said in found.items() if not said]
    if open_ones:
        lines.append(f"Not decided within {share:.3g} s each: {phrase(open_ones, ASKED)}, each against the rest.")
    if len(classes) > ASKED:
        lines.append(f"Of the other {len(classes) - ASKED} classes it was not asked.")
    return lines, not open_ones


def _decided(X: Any, y: NDArray[Any], names: Sequence[str], seconds: float, numbers: IntArray | None) -> str:
    """Return a verdict in words; nothing where it takes longer."""
    if len(np.unique(y)) < 2:
        return "these rows have one class only."
    try:
        return told(separability(X, y, time_limit=seconds), names, X.shape[0], numbers)
    except ProofTimeoutError:
        return ""


def told(found: Separability, names: Sequence[str], n: int, numbers: IntArray | None = None) -> str:
    """Tell a verdict on `n` rows of a table as its readers count and call them: from 1, and by name.

    `numbers` are those of the rows, from 0, where they are some of the table's.

    Examples
    --------
    >>> told(separability([[0.0], [1.0], [1.0], [2.0]], [0, 0, 1, 1]), ["age"], 4)  # doctest: +ELLIPSIS
    'quasi-separable: ... rows 2 and 3 are the same point ...: age and the intercept (rows are counted from 1)'
    """
    counted = range(1, n + 1) if numbers is None else (numbers + 1).tolist()
    words = str(replace(found.in_rows(counted), feature_names=list(names)))
    return words if found.points is None else f"{words} (rows are counted from 1)"


def separability_section(said: Sequence[str], is_decided: bool, knows_fit: bool) -> str:
    """Return whether a plane separates the classes, in sentences."""
    rows = "the rows of the fit" if knows_fit else "the rows above"
    proven = f"Decided for {rows}, and proven in exact arithmetic." if is_decided else f"Asked of {rows}."
    return section("Can a plane separate the classes at all?", *map(paragraph, said), paragraph(proven, "quiet"))
