"""What the commands print: text for people, records in terms of JSON for programs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from ..analysis.suspects import Suspect
from ..data.encoding import MatrixEncoding, Scaled, from_dict
from .preparation import Encoding, Examples
from .training import is_proven

# What other commands print is not loaded with this one's.
if TYPE_CHECKING:
    from ..analysis.evaluation import Evaluation, Measure
    from ..replay import Film

__all__ = [
    "Facts",
    "evaluation_record",
    "evaluation_text",
    "explanation_record",
    "explanation_text",
    "finite",
    "fit_record",
    "fit_text",
    "replay_record",
    "replay_text",
    "verification_record",
]

BAR = 24


def finite(value: Any) -> Any:
    """Return the same with None for what JSON has no number for, and Python's own types for NumPy's."""
    if isinstance(value, dict):
        return {str(key): finite(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [finite(one) for one in value]
    if isinstance(value, np.generic):
        value = value.item()
    return None if isinstance(value, float) and not np.isfinite(value) else value


# -- fit ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Facts:
    """What there is to say of the rows that a model was fitted on.

    Attributes
    ----------
    name : str
        The file.
    features : int
    counts : dict
        How many rows each class has.
    encoding : TableEncoding or MatrixEncoding
    notes : list of str
    accuracy : float
        On these rows.
    doubts : sequence of Suspect
        What a person should look at; of rows that are not in memory nobody has looked.
    """

    name: str
    features: int
    counts: dict[Any, int]
    encoding: Encoding
    notes: list[str]
    accuracy: float
    doubts: Sequence[Suspect] = ()

    @property
    def rows(self) -> int:
        """How many there are."""
        return sum(self.counts.values())

    @classmethod
    def of(cls, examples: Examples, model: Any, doubts: Sequence[Suspect]) -> Self:
        """Return the facts of examples in memory."""
        labels, counts = np.unique(examples.y, return_counts=True)
        accuracy = float((model.predict(examples.X) == examples.y).mean())
        shares = dict(zip(labels.tolist(), counts.tolist(), strict=True))
        return cls(examples.name, examples.X.shape[1], shares, examples.encoding, examples.notes, accuracy, doubts)


def fit_record(facts: Facts, model: Any, scores: list[tuple[float, float]], output: Path | None) -> dict[str, Any]:
    """Return how a fit went."""
    certificate = getattr(model, "certificate_", None)
    encoding = facts.encoding
    columns = [] if isinstance(encoding, MatrixEncoding) else [asdict(column) for column in encoding.columns]
    return finite(  # type: ignore[no-any-return]
        {
            "data": facts.name,
            "rows": facts.rows,
            "features": facts.features,
            "classes": model.classes_.tolist(),
            "columns": columns,
            "notes": facts.notes,
            "suspects": [asdict(doubt) for doubt in facts.doubts],
            "objective": model.objective_,
            "C": getattr(model, "C", None),
            "cross_validation": [{"C": C, "accuracy": score} for C, score in scores],
            "iterations": model.n_iter_,
            "certificate": _certificate_record(certificate),
            "proven": is_proven(model),
            "redundant": relations(facts, model),
            "training_accuracy": facts.accuracy,
            "output": None if output is None else str(output),
        }
    )


def _certificate_record(certificate: Any) -> dict[str, Any] | None:
    if certificate is None:
        return None
    names = ("primal", "dual", "relative_gap", "tol", "proven")
    return {name: getattr(certificate, name) for name in names if hasattr(certificate, name)}


def fit_text(facts: Facts, model: Any, scores: list[tuple[float, float]], output: Path | None) -> str:
    """Return the same for people."""
    shares = ", ".join(f"{label} {count:,}" for label, count in list(facts.counts.items())[:8])
    lines = [
        f"data        {facts.name}: {facts.rows:,} rows, {facts.features:,} features",
        f"classes     {shares}{', …' if len(facts.counts) > 8 else ''}",
        *_column_lines(facts.encoding),
    ]
    if scores:
        tried = ", ".join(f"{C:g}: {score:.4f}" for C, score in scores)
        lines.append(f"C           {model.C:g}, by cross-validated accuracy ({tried})")
    lines += [
        f"minimised   {model.objective_}",
        f"proven      {_proof(model)}",
        *_redundant_lines(facts, model),
        f"accuracy    {facts.accuracy:.4f} on these rows; `linsep evaluate` measures it on others",
        f"saved       {output}" if output else "saved       nothing: say where with -o model.json",
    ]
    return "\n".join(lines)


def relations(facts: Facts, model: Any) -> list[str]:
    """Return which features are exact combinations of others, by their names in the file."""
    redundancy = getattr(model, "_redundancy", None)
    return [] if redundancy is None else redundancy.in_words(facts.encoding.names)


def _redundant_lines(facts: Facts, model: Any) -> list[str]:
    found = relations(facts, model)
    lines = [f"redundant   {relation}" for relation in found[:8]]
    more = [f"            and {len(found) - 8} more"] if len(found) > 8 else []
    said = ["            their coefficients are those of least norm: others predict the same"] if found else []
    return [*lines, *more, *said]


def _proof(model: Any) -> str:
    certificate = getattr(model, "certificate_", None)
    if certificate is not None:
        return str(certificate)
    return "it converged, by its own stopping rule" if model.converged_ else "nothing: it did not converge"


def _column_lines(encoding: Encoding) -> list[str]:
    if isinstance(encoding, MatrixEncoding):
        return ["columns     numbers, used as they are"]
    lines = []
    for kind, title in (("number", "numbers"), ("category", "categories"), ("date", "dates"), ("text", "text")):
        names = [column.name for column in encoding.columns if column.kind == kind]
        if names:
            lines.append(
                f"{title:11} {', '.join(names[:12])}{f' and {len(names) - 12} more' if len(names) > 12 else ''}"
            )
    aside = [column.name for column in encoding.columns if column.kind == "ignored"]
    return [*lines, *([f"set aside   {', '.join(aside[:12])}"] if aside else [])]


# -- evaluate and verify ------------------------------------------------------------------------------------------


def evaluation_record(found: Evaluation) -> dict[str, Any]:
    """Return ``{"accuracy": {"value": …, "low": …, "high": …}, …}``."""
    measures = {name: asdict(one) for name, one in found.measures.items()}
    confusion = [[asdict(one) for one in row] for row in found.confusion]
    return finite({"rows": found.rows, **measures, "classes": found.classes, "confusion": confusion})  # type: ignore[no-any-return]


TITLES = {
    "accuracy": "accuracy",
    "balanced_accuracy": "balanced accuracy",
    "log_loss": "log loss",
    "auc": "area under ROC",
}


def evaluation_text(found: Evaluation) -> str:
    """Return the same for people."""
    lines = [f"{found.rows:,} rows; in brackets, where 95 % of resampled values lie", ""]
    lines += [
        f"{TITLES[name]:18} {one.value:.4f}  [{one.low:.4f}, {one.high:.4f}]" for name, one in found.measures.items()
    ]
    return "\n".join([*lines, "", *_confusion_lines(found)])


def _confusion_lines(found: Evaluation) -> list[str]:
    cells = [[_cell(one) for one in row] for row in found.confusion]
    heads = [f"said {label}" for label in found.classes]
    sides = [f"is {label}" for label in found.classes]
    width = max(len(side) for side in sides)
    widths = [max(len(heads[k]), *(len(row[k]) for row in cells)) for k in range(len(heads))]
    lines = [" " * width + "".join(f"  {head:>{w}}" for head, w in zip(heads, widths, strict=True))]
    for side, row in zip(sides, cells, strict=True):
        lines.append(f"{side:{width}}" + "".join(f"  {cell:>{w}}" for cell, w in zip(row, widths, strict=True)))
    return lines


def _cell(one: Measure) -> str:
    return f"{one.value:,.0f} [{one.low:,.0f}, {one.high:,.0f}]"


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


# -- explain ------------------------------------------------------------------------------------------------------


def _scaled(found: Any) -> Scaled:
    """Return the coefficients by name, on the scale of the file's columns."""
    model = found.model
    if found.encoding is not None:
        return from_dict(found.encoding).original_scale(model.coef_, model.intercept_)
    names = getattr(model, "feature_names_in_", [f"x{j}" for j in range(model.n_features_in_)])
    return Scaled([str(name) for name in names], model.coef_, model.intercept_)


def _threshold(found: Any) -> str:
    classes = found.model.classes_
    if len(classes) > 2:
        return "the class with the highest score is predicted"
    if found.threshold is not None:
        return f"{classes[1]} is predicted where the score is at least {found.threshold:g}, the threshold in the file"
    half = ", where its probability is one half" if hasattr(found.model, "predict_proba") else ""
    return f"{classes[1]} is predicted where the score is at least 0{half}"


def explanation_record(found: Any) -> dict[str, Any]:
    """Return coefficients, objective, certificate and threshold."""
    scaled, model = _scaled(found), found.model
    planes = []
    for k, label in enumerate(_positives(model)):
        order = np.argsort(-np.abs(model.coef_[k]), kind="stable")
        rows = [
            {"feature": scaled.names[j], "coefficient": scaled.coef[k, j], "weight": model.coef_[k, j]} for j in order
        ]
        planes.append({"class": label, "intercept": scaled.intercept[k], "coefficients": rows})
    record = {
        "classes": model.classes_.tolist(),
        "objective": model.objective_,
        "certificate": _certificate_record(getattr(model, "certificate_", None)),
        "proven": is_proven(model),
        "threshold": found.threshold or 0.0,
        "threshold_in_words": _threshold(found),
        "planes": planes,
    }
    return finite(record)  # type: ignore[no-any-return]


def _positives(model: Any) -> Sequence[Any]:
    classes: Sequence[Any] = model.classes_.tolist()
    return classes[1:] if len(model.coef_) == 1 else classes


def explanation_text(found: Any, top: int | None = 20) -> str:
    """Return the same for people: bars by weight on the scale of training, coefficients on that of the columns."""
    scaled, model = _scaled(found), found.model
    lines = [
        f"{type(model).__name__} of {', '.join(map(str, model.classes_[:8]))}, on {len(scaled.names):,} features",
        f"minimised   {model.objective_}",
        f"proven      {_proof(model)}",
        f"threshold   {_threshold(found)}",
    ]
    for k, label in enumerate(_positives(model)):
        lines += ["", *_plane_lines(scaled, model, k, label, top)]
    return "\n".join(lines)


def _plane_lines(scaled: Scaled, model: Any, k: int, label: Any, top: int | None) -> list[str]:
    order = np.argsort(-np.abs(model.coef_[k]), kind="stable")[:top]
    width = max([len(scaled.names[j]) for j in order] + [len("intercept")])
    longest = float(np.abs(model.coef_[k]).max()) or 1.0
    rest = model.classes_[0] if len(model.coef_) == 1 else "the rest"
    lines = [f"{'':{width}}  per unit of the column; + speaks for {label}, − for {rest}; bars by importance"]
    for j in order:
        bar = "█" * max(1, round(BAR * abs(model.coef_[k, j]) / longest)) if model.coef_[k, j] else ""
        lines.append(f"{scaled.names[j]:{width}} {scaled.coef[k, j]:+12.5g} {bar}".rstrip())
    left = scaled.coef.shape[1] - len(order)
    more = [f"… and {left:,} more (--top 0 for all)"] if left else []
    return [*lines, *more, f"{'intercept':{width}} {scaled.intercept[k]:+12.5g}"]


# -- replay -------------------------------------------------------------------------------------------------------


def replay_record(film: Film, output: Path) -> dict[str, Any]:
    """Return what a replay shows and where it is."""
    last = film.records[-1]
    return finite(  # type: ignore[no-any-return]
        {
            "output": str(output),
            "bytes": output.stat().st_size,
            "frames": len(film.records),
            "steps": last.step,
            "updates": last.updates,
            "objective": last.objective,
            "best_objective": last.best,
            "zero_one": last.zero_one,
            "mistake_bound": None if film.bound is None else film.bound.value,
            "picture": film.scene.kind,
            "facts": dict(film.facts),
            "advice": film.advice or None,
            "notes": film.notes,
        }
    )


def replay_text(film: Film, output: Path) -> str:
    """Return the same for people."""
    lines = [f"{name:11} {fact}" for name, fact in film.facts]
    last = film.records[-1]
    if not np.isnan(last.updates):
        lines.append(f"{'mistakes' if film.counts_mistakes else 'updates':11} {last.updates:,.0f}")
    if film.bound is not None:
        lines.append(film.bound.sentence)
    lines += [*filter(None, [film.advice]), *film.notes]
    return "\n".join([*lines, f"{len(film.records):,} frames in {output}, {output.stat().st_size:,} bytes"])
