"""What is said of a model: its coefficients by name, the heaviest first, its threshold and its proof."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..data.encoding import Scaled, from_dict
from .summaries import certificate_record, finite, proof
from .training import is_proven

#: The length of the longest bar.
BAR = 24


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
        "certificate": certificate_record(getattr(model, "certificate_", None)),
        "proven": is_proven(model),
        "threshold": found.threshold or 0.0,
        "threshold_in_words": _threshold(found),
        "planes": planes,
    }
    return finite(record)  # type: ignore[no-any-return]


def explanation_text(found: Any, top: int | None = 20) -> str:
    """Return the same for people: bars by weight on the scale of training, coefficients on that of the columns."""
    scaled, model = _scaled(found), found.model
    lines = [
        f"{type(model).__name__} of {', '.join(map(str, model.classes_[:8]))}, on {len(scaled.names):,} features",
        f"minimised   {model.objective_}",
        f"proven      {proof(model)}",
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


def _positives(model: Any) -> Sequence[Any]:
    classes: Sequence[Any] = model.classes_.tolist()
    return classes[1:] if len(model.coef_) == 1 else classes
