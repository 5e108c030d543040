"""A fitted model and its encoding as a list of plain terms: what every export writes in its own language."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .._common.types import FloatArray
from ..data.csv_text import MISSING as WORDS
from ..data.encoding import MISSING, OTHER, MatrixEncoding, TableEncoding, from_dict, spellings
from ..data.sources import DataError
from ..losses import scores_are_log_odds


@dataclass(frozen=True)
class Number:
    """A number: standardised, `fill` where it is missing; and the weights of its being missing, if it has any.

    `form` is how text writes it: what sets decimals apart, and the unit; empty where it is no text in the file.
    """

    name: str
    mean: float
    scale: float
    missing: list[float] | None
    fill: float = 0.0
    form: str = ""


@dataclass(frozen=True)
class Category:
    """The weights of each value, however it is spelt, one list a plane's worth; of a missing value, of all others."""

    name: str
    levels: dict[str, list[float]]
    missing: list[float]
    other: list[float]
    fitted: tuple[str, ...]  # the levels as the rows of the fit spell them


@dataclass(frozen=True)
class Text:
    """Words with their idf and weights."""

    name: str
    words: dict[str, tuple[float, list[float]]]


@dataclass(frozen=True)
class Model:
    """All that a prediction needs."""

    classes: list[Any]
    intercept: list[float]  # one a plane
    numbers: list[Number]
    products: list[tuple[dict[int, int], list[float]]]  # of standardised numbers: which, to which power, and weights
    categories: list[Category]
    texts: list[Text]
    threshold: float | None  # the second of two classes from this score on; None for above 0
    link: str | None  # how scores become probabilities: "sigmoid", "softmax", "shares"; None where they do not
    maps: list[dict[str, Any]] | None  # before that: of each plane slope and offset, or scores and shares to look it up
    odds: bool  # whether the maps are of the log odds of a softmax
    dates: dict[str, str]  # the columns that are dates, and in which order text writes day, month and year
    header: bool = True  # whether the file that it was fitted on named its columns
    words: list[str] = field(default_factory=lambda: list(WORDS))  # what stands for a missing value in text

    @property
    def date_parts(self) -> dict[str, tuple[str, str]]:
        """Which part of which date numbers and categories are: "days" since 1970, "month", or "weekday" from 0."""
        names = {"days": "{} in days", "month": "month of {}", "weekday": "weekday of {}"}
        return {name.format(date): (date, part) for date in self.dates for part, name in names.items()}


def model_terms(found: Any) -> Model:
    """Return the terms of a model file's content."""
    model = found.model
    encoding = from_dict(found.encoding, model.n_features_in_)
    link, together, calibration = _link(model), False, getattr(model, "calibration_", None)
    if calibration is not None:
        together = calibration.together and calibration.method != "prior"
        link = (
            "sigmoid" if len(model.classes_) == 2 else "shares" if together or not calibration.together else "softmax"
        )
    shared: dict[str, Any] = dict(
        classes=np.asarray(model.classes_).tolist(),
        intercept=model.intercept_.tolist(),
        threshold=found.threshold,
        link=link,
        maps=None if calibration is None else calibration.to_dict()["planes"],
        odds=together,
    )
    W = model.coef_.T
    if isinstance(encoding, MatrixEncoding):
        if len(set(encoding.names)) < len(encoding.names):
            raise DataError("two columns of the model have the same name; rename one and fit again")
        numbers = [Number(name, 0.0, 1.0, None) for name in encoding.names]
        products = [({j: 1}, W[j].tolist()) for j in range(len(numbers))]
        return Model(numbers=numbers, products=products, categories=[], texts=[], dates={}, **shared)
    return Model(**_table_terms(encoding, W), **shared)


def _link(model: Any) -> str | None:
    """Return how the loss makes probabilities of scores."""
    if not scores_are_log_odds(model):
        return None
    if len(model.classes_) == 2:
        return "sigmoid"
    together = type(model).__name__ == "LogisticRegression" and model.multi_class != "ovr"
    return "softmax" if together else "shares"


def _table_terms(encoding: TableEncoding, W: FloatArray) -> dict[str, Any]:
    powers = np.eye(len(encoding.numbers), dtype=int)
    if encoding.degree > 1 and encoding.numbers:
        powers = encoding.polynomial().powers_
    products = [({int(j): int(row[j]) for j in np.flatnonzero(row)}, W[k].tolist()) for k, row in enumerate(powers)]
    place, numbers, categories, texts = len(powers), [], [], []
    comma = "," if encoding.decimal == "," else ""
    forms = {column.name: column.form or comma for column in encoding.columns if column.kind == "number"}
    for name, one in encoding.numbers.items():
        missing = W[place].tolist() if one.lacking else None
        numbers.append(Number(name, one.mean, one.scale, missing, one.filled, forms.get(name, "")))
        place += one.lacking
    none = [0.0] * W.shape[1]
    for name, levels in encoding.levels.items():
        weights = W[place : place + len(levels)].tolist()
        place += len(levels)
        of_value = {value: weights[k] for value, k in spellings(levels).items()}
        fitted = tuple(level for level in levels if level not in (MISSING, OTHER))
        categories.append(Category(name, of_value, of_value.get(MISSING, none), of_value.get(OTHER, none), fitted))
    for name, (words, idf) in encoding.words.items():
        texts.append(Text(name, {word: (idf[k], W[place + k].tolist()) for k, word in enumerate(words)}))
        place += len(words)
    dates = {column.name: column.form for column in encoding.columns if column.kind == "date"}
    read = dict(header=encoding.header, words=[*WORDS, *encoding.missing])
    return dict(numbers=numbers, products=products, categories=categories, texts=texts, dates=dates, **read)
