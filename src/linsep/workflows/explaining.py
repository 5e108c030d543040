"""What is said of a model: its coefficients by name, the most important first, its threshold and its proof."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .._common.types import FloatArray
from .._common.words import in_a_line, listed, many, phrase, with_unit
from ..analysis.importance import MEANING, Importance, odds_ratio, written
from ..data.encoding import Scaled, from_dict
from ..data.sources import DataError
from ..estimators._calibration import slope_of
from .deciding import calibration_in_words, choice_in_words, threshold_in_words
from .reference import Reference
from .summaries import certificate_record, finite, proof
from .training import is_proven

#: The length of the longest bar.
BAR = 24
#: Where all columns together move a score by no more than this, a plane tells nothing.
NOTHING = 1e-3
#: What is said where a file keeps nothing of its rows.
BY_WEIGHT = "importance: the size of the weight that was trained; this file does not say how much the features vary"
#: What is said where nobody knows which coefficients are infinite.
UNDECIDED = (
    "without a penalty some estimates are infinite, and which ones was not found in time: numbers below may be where "
    "the fit stopped on the way there; `linsep separable --estimates --time-limit 600` takes longer, --C 100 is finite"
)


@dataclass(frozen=True)
class Explained:
    """The planes of a model by name, on the scale of the file's columns, and how important what is.

    Attributes
    ----------
    scaled : Scaled
    features : array of shape (K, d)
    columns : dict
        Of each column of the file, the importance in each plane; empty where the rows of the fit are not known.
    meaning : str
        What importance is here.
    units : dict
        Of features that are columns of numbers, what these are written with.
    """

    scaled: Scaled
    features: FloatArray
    columns: dict[str, FloatArray]
    meaning: str
    units: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, found: Any) -> Explained:
        """Return what a model file says."""
        coef, known = found.model.coef_, importance_in(found)
        if known is None:
            return cls(_scaled(found), np.abs(coef), {}, BY_WEIGHT)
        encoding = from_dict(found.encoding)
        weights = Reference.of_model(found.encoding).weights(found.model, encoding)
        by_column = known.of_columns(weights, encoding.origins)
        return cls(_scaled(found), known.of_features(weights), by_column, MEANING, encoding.units)

    def ranked(self, k: int) -> list[int]:
        """Return the features of a plane, the most important first."""
        return [int(j) for j in np.argsort(-self.features[k], kind="stable")]

    def ranked_columns(self, k: int) -> list[tuple[str, float]]:
        """Return the columns by importance in a plane."""
        return sorted(((name, float(one[k])) for name, one in self.columns.items()), key=lambda pair: -pair[1])


def importance_in(found: Any) -> Importance | None:
    """Return what a model file says of the rows of its fit; None where it is older than that, or not of a table."""
    said = (found.encoding or {}).get("importance")
    if said is None:
        return None
    try:
        return Importance.from_dict(said, found.model.coef_.shape)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise DataError(
            f"what the model's file says of importance is damaged ({error}); fit the model again"
        ) from error


def explanation_record(found: Any) -> dict[str, Any]:
    """Return coefficients, objective, certificate and threshold."""
    explained, model = Explained.of(found), found.model
    scaled, reference, slope = explained.scaled, Reference.of_model(found.encoding), slope_of(model)
    planes = []
    for k, label in enumerate(_positives(model)):
        rows = [
            {
                "feature": scaled.names[j],
                "coefficient": scaled.coef[k, j],
                "estimate": reference.estimates.get(scaled.names[j], "finite"),
                **({} if slope is None else {"odds_ratio": odds_ratio(slope * scaled.coef[k, j])}),
                "weight": model.coef_[k, j],
                "importance": explained.features[k, j],
            }
            for j in explained.ranked(k)
        ]
        columns = [{"column": name, "importance": value} for name, value in explained.ranked_columns(k)]
        planes.append({"class": label, "intercept": scaled.intercept[k], "columns": columns, "coefficients": rows})
    record = {
        "classes": model.classes_.tolist(),
        "objective": model.objective_,
        "certificate": certificate_record(getattr(model, "certificate_", None)),
        "proven": is_proven(model),
        "threshold": found.threshold or 0.0,
        "threshold_in_words": threshold_in_words(model),
        "threshold_choice": getattr(model, "threshold_choice_", None),
        "probabilities": calibration_in_words(model),
        "importance": explained.meaning,
        "reference": reference.levels,
        "units": list(scaled.notes),
        "planes": planes,
    }
    return finite(record)  # type: ignore[no-any-return]


def explanation_text(found: Any, top: int | None = 20) -> str:
    """Return the same for people: bars by importance, coefficients on the scale of the columns."""
    explained, model = Explained.of(found), found.model
    lines = [
        f"{type(model).__name__} of {listed(model.classes_, 8)}, on {many(model.n_features_in_, 'feature')}",
        f"minimised   {model.objective_}",
        f"proven      {proof(model)}",
        *(f"{title:11} {said}" for title, said in _decision(model).items() if said),
        *_reference_lines(found),
        "",
        explained.meaning,
    ]
    for k, label in enumerate(_positives(model)):
        which = [f"class {label}{_of_nothing(explained.features[k])}"] if len(model.coef_) > 1 else []
        lines += ["", *which, *_column_lines(explained, k, top), *_plane_lines(explained, model, k, label, top)]
    return "\n".join(lines)


def _reference_lines(found: Any) -> list[str]:
    reference = Reference.of_model(found.encoding)
    lines = [reference.remark()] if reference.levels else []
    unknown = [name for name, kind in reference.estimates.items() if kind == "not determined"]
    if not reference.decided:
        lines.append(f"watch out   {UNDECIDED}")
    elif unknown:
        # Estimates are looked at where there is no optimum: what runs to infinity is one of those that are not finite.
        runs = ", and some combination of these runs to infinity" if len(unknown) == len(reference.estimates) else ""
        lines.append(
            f"watch out   the estimates of {phrase(unknown)} are not determined: other numbers predict the same{runs}"
        )
    return lines


def _column_lines(explained: Explained, k: int, top: int | None) -> list[str]:
    """Return the columns by importance, where a column is not the same as a feature."""
    ranked = explained.ranked_columns(k)
    if not 1 < len(ranked) < len(explained.scaled.names):
        return []
    shown = [(in_a_line(name), value) for name, value in ranked[:top]]
    width, longest = max(len(name) for name, _ in shown), _longest([value for _, value in ranked])
    heading = f"{'column':{width}} {'importance':>12}"
    lines = [f"{name:{width}} {_size(value)} {_bar(value, longest)}".rstrip() for name, value in shown]
    return [heading, *lines, *_more(len(ranked) - len(shown)), ""]


def _plane_lines(explained: Explained, model: Any, k: int, label: Any, top: int | None) -> list[str]:
    scaled, order, slope = explained.scaled, explained.ranked(k)[:top], slope_of(model)
    units = explained.units
    names = {j: in_a_line(with_unit(scaled.names[j], units.get(scaled.names[j], ""))) for j in order}
    width = max(map(len, [*names.values(), "intercept"]))
    longest = _longest(explained.features[k])
    rest = model.classes_[0] if len(model.coef_) == 1 else "the rest"
    lines = [
        *scaled.notes,
        f"per unit of the column; + speaks for {label}, − for {rest}"
        + ("" if slope is None else f"; the odds of {label} are multiplied by the odds ratio"),
        f"{'feature':{width}} {'per unit':>12}{'' if slope is None else '   odds ratio'} {'importance':>12}",
    ]
    for j in order:
        ratio = "" if slope is None else f" {written(odds_ratio(slope * scaled.coef[k, j])):>12}"
        value = explained.features[k, j]
        shown = f"{names[j]:{width}} {_signed(scaled.coef[k, j])}{ratio} {_size(value)} {_bar(value, longest)}"
        lines.append(shown.rstrip())
    return [*lines, *_more(scaled.coef.shape[1] - len(order)), f"{'intercept':{width}} {_signed(scaled.intercept[k])}"]


def _of_nothing(importance: FloatArray) -> str:
    """Say where a class has a plane that tells nothing: of rare ones the best answer may be that no row is of them."""
    return ": hardly depends on any column, nearly all of its score is the intercept" * bool(max(importance) < NOTHING)


def _longest(sizes: Any) -> float:
    """Return the largest of some sizes that are finite, for the others' bars to be as long."""
    sizes = np.asarray(sizes)
    return float(np.max(sizes, where=np.isfinite(sizes), initial=0.0)) or 1.0


def _size(value: float) -> str:
    return f"{value:12.4g}".replace("inf", "  ∞")


def _bar(value: float, longest: float) -> str:
    return "█" * max(1, round(BAR * min(value / longest, 1.0))) if value else ""


def _more(left: int) -> list[str]:
    return [f"… and {left:,} more (--top 0 for all)"] if left else []


def _signed(value: float) -> str:
    return f"{value:+12.5g}" if np.isfinite(value) else f"{'+∞' if value > 0 else '−∞':>12}"


def _scaled(found: Any) -> Scaled:
    """Return the coefficients by name, on the scale of the file's columns and relative to its reference levels."""
    model = found.model
    if found.encoding is not None:
        encoding = from_dict(found.encoding)
        scaled = encoding.original_scale(model.coef_, model.intercept_)
        return Reference.of_model(found.encoding).told(scaled, encoding)
    names = getattr(model, "feature_names_in_", [f"x{j}" for j in range(model.n_features_in_)])
    return Scaled([str(name) for name in names], model.coef_, model.intercept_)


def _decision(model: Any) -> dict[str, str | None]:
    return {
        "threshold": threshold_in_words(model),
        "chosen": choice_in_words(model),
        "probability": calibration_in_words(model),
    }


def _positives(model: Any) -> Sequence[Any]:
    classes: Sequence[Any] = model.classes_.tolist()
    return classes[1:] if len(model.coef_) == 1 else classes
