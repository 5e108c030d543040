"""What is said of a fit and of a proof: text for people, records in terms of JSON for programs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Self

import numpy as np

from .._common.words import many, told_apart, with_unit
from ..analysis.suspects import Suspect
from ..data.encoding import MatrixEncoding
from .choosing import Choice
from .deciding import decision_lines, decision_record
from .preparation import NO_WEIGHTS, Encoding, Examples
from .reference import Reference
from .training import is_proven
from .weighing import Weighing

NO_REFERENCE = Reference()
#: What the columns of weights are called, where not as the option.
TITLES = {"weights": "counted by", "sample_weight": "weighed by"}


def finite(value: Any) -> Any:
    """Return the same with None for what JSON has no number for, and Python's own types for NumPy's."""
    if isinstance(value, dict):
        return {str(key): finite(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [finite(one) for one in value]
    if isinstance(value, np.generic):
        value = value.item()
    return None if isinstance(value, float) and not np.isfinite(value) else value


@dataclass(frozen=True)
class Facts:
    """What there is to say of the rows that a model was fitted on.

    Attributes
    ----------
    name : str
        The file.
    features : int
    counts : dict
        How many rows each class has; of counted rows, how many times they were seen.
    encoding : TableEncoding or MatrixEncoding
    notes : list of str
    accuracy : float
        On these rows.
    doubts : sequence of Suspect
        What a person should look at; of rows that are not in memory a sample was looked at.
    weighing : Weighing
        Which columns say how much rows count.
    reference : Reference
        The levels that coefficients are told relative to.
    rows_of_file : int or None
        How many rows of the file are used, where these may count several times.
    said : list
        What is predicted of all rows, where that is always the same; of rows that are not in memory it is not known.
    """

    name: str
    features: int
    counts: dict[Any, int]
    encoding: Encoding
    notes: list[str]
    accuracy: float
    doubts: Sequence[Suspect] = ()
    weighing: Weighing = NO_WEIGHTS
    reference: Reference = NO_REFERENCE
    rows_of_file: int | None = None
    said: Sequence[Any] = ()

    @property
    def size(self) -> str:
        """How many rows of the file there are and, where these count several times, how often."""
        if self.rows_of_file is None or not self.weighing or self.weighing.sample_weight:
            return many(self.rows, "row")
        told = many(self.rows_of_file, "row")
        if self.weighing.is_grouped:
            return f"{told} with {many(self.rows, 'trial')}"
        return f"{told} that {'stands' if self.rows_of_file == 1 else 'stand'} for {self.rows:,}"

    @property
    def weighed(self) -> str:
        """By which column rows count, where they do not count alike."""
        column = self.weighing.sample_weight
        return "" if column is None else f", weighed by {column}"

    def baseline(self, model: Any) -> str:
        """Say that the same answer for every row is right as often, where it is and rows count alike."""
        label, most = max(self.counts.items(), key=lambda pair: pair[1])
        is_better = self.accuracy * self.rows > most + 0.5  # both are whole numbers, but for rounding
        if is_better or self.weighed:
            return ""
        same = f", of all of which {self.said[0]} is predicted" if self.said and self.said[0] != label else ""
        return f"{same}, no more than by always saying {label}{other_aim(model)}"

    @property
    def rows(self) -> int:
        """How many there are."""
        return sum(self.counts.values())

    def is_known(self, features: set[int]) -> bool:
        """Whether it goes without saying that these depend on each other, and on the intercept, which comes last."""
        levels = self.reference.places(self.encoding).values()
        return features - {self.features} <= {j for places in levels for j in places}

    @classmethod
    def of(cls, examples: Examples, model: Any, doubts: Sequence[Suspect], reference: Reference) -> Self:
        """Return the facts of examples in memory."""
        labels, codes = examples.coded
        counted = None if examples.weighing.sample_weight else examples.weight
        counts = np.bincount(codes, weights=counted).astype(np.int64)
        predicted = model.predict(examples.X)
        accuracy = float(np.average(predicted == examples.y, weights=examples.weight))
        said = predicted[:1].tolist() if (predicted == predicted[0]).all() else []
        shares = dict(zip(labels.tolist(), counts.tolist(), strict=True))
        known = examples.encoding, examples.notes, accuracy, doubts, examples.weighing, reference, examples.rows_of_file
        return cls(examples.name, examples.X.shape[1], shares, *known, said)


def other_aim(model: Any) -> str:
    """Return, in brackets, what else than accuracy a model was made for, "" where nothing is known of it."""
    said = getattr(model, "threshold_choice_", None)
    if said is not None:
        return "" if said["aim"] == "accuracy" else f" (its threshold was chosen for {said['aim']}, not for accuracy)"
    if getattr(model, "threshold_", None) is not None:
        return " (its threshold was given, not chosen for accuracy)"
    return "" if getattr(model, "class_weight", None) is None else " (it was fitted with weights of classes)"


def fit_record(facts: Facts, model: Any, choice: Choice | None, output: Path | None) -> dict[str, Any]:
    """Return how a fit went."""
    certificate = getattr(model, "certificate_", None)
    encoding = facts.encoding
    columns = [] if isinstance(encoding, MatrixEncoding) else [asdict(column) for column in encoding.columns]
    return finite(  # type: ignore[no-any-return]
        {
            "data": facts.name,
            "rows": facts.rows,
            "rows_of_file": facts.rows if facts.rows_of_file is None else facts.rows_of_file,
            "features": facts.features,
            "classes": model.classes_.tolist(),
            "columns": columns,
            "weights": facts.weighing.columns,
            "reference": facts.reference.levels,
            "estimates": facts.reference.estimates,
            "notes": facts.notes,
            "suspects": [asdict(doubt) for doubt in facts.doubts],
            "objective": model.objective_,
            "C": getattr(model, "C", None),
            "cross_validation": [] if choice is None else choice.record,
            "choice": None if choice is None else choice.to_dict(),
            "iterations": int(np.max(model.n_iter_)),
            "certificate": certificate_record(certificate),
            "proven": is_proven(model),
            **decision_record(model),
            "redundant": relations(facts, model),
            "training_accuracy": facts.accuracy,
            "output": None if output is None else str(output),
        }
    )


def certificate_record(certificate: Any) -> dict[str, Any] | None:
    """Return what a certificate says, in numbers."""
    if certificate is None:
        return None
    names = ("primal", "dual", "relative_gap", "tol", "proven")
    return {name: getattr(certificate, name) for name in names if hasattr(certificate, name)}


def fit_text(facts: Facts, model: Any, choice: Choice | None, output: Path | None) -> str:
    """Return the same for people."""
    shares = ", ".join(f"{label}: {count:,}" for label, count in list(facts.counts.items())[:8])
    lines = [
        f"data        {facts.name}: {facts.size}, {many(facts.features, 'feature')}",
        f"classes     {shares}{', …' if len(facts.counts) > 8 else ''}",
        *_column_lines(facts.encoding),
        *[f"{TITLES.get(what, what):11} {column}" for what, column in facts.weighing.columns.items()],
    ]
    lines += [] if choice is None else choice.lines
    if facts.reference.levels:
        lines.append(f"reference   {facts.reference.in_words()}")
    lines += [
        f"minimised   {model.objective_}",
        f"proven      {proof(model)}",
        *_redundant_lines(facts, model),
        *decision_lines(model),
        f"accuracy    {facts.accuracy:.4f} on these rows{facts.weighed}{facts.baseline(model)}; `linsep evaluate` "
        "measures it on others",
        f"saved       {output}" if output else "saved       nothing: say where with -o model.json",
    ]
    return "\n".join(lines)


def relations(facts: Facts, model: Any) -> list[str]:
    """Return which features are exact combinations of others, by their names in the file."""
    redundancy = getattr(model, "_redundancy", None)
    if redundancy is None:
        return []
    known = {j for j, parts in redundancy.combinations.items() if facts.is_known({j, *parts})}
    if len(known) <= len(facts.reference.levels):  # one level of each is to be expected
        left = {j: parts for j, parts in redundancy.combinations.items() if j not in known}
        redundancy = replace(redundancy, combinations=left)
    return list(redundancy.in_words(facts.encoding.names))


def _redundant_lines(facts: Facts, model: Any) -> list[str]:
    found = relations(facts, model)
    lines = [f"redundant   {relation}" for relation in found[:8]]
    more = [f"            and {len(found) - 8:,} more"] if len(found) > 8 else []
    said = ["            their coefficients are those of least norm: others predict the same"] if found else []
    return [*lines, *more, *said]


def proof(model: Any) -> str:
    """Return what is proven of a model, in words."""
    certificate = getattr(model, "certificate_", None)
    if certificate is not None:
        return str(certificate)
    return "it converged, by its own stopping rule" if model.converged_ else "nothing: it did not converge"


def _column_lines(encoding: Encoding) -> list[str]:
    if isinstance(encoding, MatrixEncoding):
        return ["columns     numbers, used as they are"]
    lines = []
    for kind, title in (("number", "numbers"), ("category", "categories"), ("date", "dates"), ("text", "text")):
        names = [with_unit(column.name, column.unit) for column in encoding.columns if column.kind == kind]
        if names:
            units = " (standardised)" if kind == "number" and encoding.is_scaled else ""
            lines.append(f"{title:11} {_few(names)}{units}")
    aside = [column.name for column in encoding.columns if column.kind == "ignored"]
    return [*lines, *([f"set aside   {_few(aside)}"] if aside else [])]


def _few(names: list[str]) -> str:
    more = f" and {len(names) - 12:,} more" if len(names) > 12 else ""
    return f"{', '.join(told_apart(names[:12]))}{more}"


def verification_record(outcome: Any) -> dict[str, Any]:
    """Return the outcome of a verification."""
    record = dict(
        ok=bool(outcome),
        proven=bool(outcome.proven),
        reason=outcome.reason,
        relative_gap=getattr(outcome, "relative_gap", None),
        checked=list(outcome.checked),
        trusted=list(outcome.trusted),
        unchecked=list(outcome.unchecked),
    )
    return finite(record)  # type: ignore[no-any-return]
