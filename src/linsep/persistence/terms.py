"""A fitted model and its encoding as a list of plain terms: what every export writes in its own language."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .._types import FloatArray
from ..data.csv_text import MISSING as WORDS
from ..data.encoding import MISSING, OTHER, MatrixEncoding, TableEncoding, from_dict, spellings
from ..data.sources import DataError


@dataclass(frozen=True)
class Number:
    """A number: standardised, 0 where it is missing; and the weights of its being missing, if it has any.

    `form` is how text writes it: what sets decimals apart, and the unit; empty where it is no text in the file.
    """

    name: str
    mean: float
    scale: float
    missing: list[float] | None
    form: str = ""


@dataclass(frozen=True)
class Category:
    """The weights of each value, however it is spelt, one list a plane's worth; of a missing value, of all others."""

    name: str
    levels: dict[str, list[float]]
    missing: list[float]
    other: list[float]


@dataclass(frozen=True)
class Text:
    """Words with their idf and weights."""

    name: str
    words: dict[str, tuple[float, list[float]]]


@dataclass(frozen=True)
class Model:
    """All that a prediction needs.

    Attributes
    ----------
    classes : list
    intercept : list of float
        One a plane.
    numbers : list of Number
    products : list of (powers, weights)
        Each a product of standardised numbers: which, to which power, and its weights.
    categories, texts : list
    threshold : float or None
        The second of two classes is predicted where the score is no less; None for where it is above 0.
    link : {"sigmoid", "softmax", "shares", None}
        How scores become probabilities; None where they do not.
    dates : dict
        The columns that are dates, of which `date_parts` are numbers and categories, and the order in which text writes
        day, month and year.
    header : bool
        Whether the file that it was fitted on named its columns.
    words : list of str
        What stands for a missing value in text.
    """

    classes: list[Any]
    intercept: list[float]
    numbers: list[Number]
    products: list[tuple[dict[int, int], list[float]]]
    categories: list[Category]
    texts: list[Text]
    threshold: float | None
    link: str | None
    dates: dict[str, str]
    header: bool = True
    words: list[str] = field(default_factory=lambda: list(WORDS))

    @property
    def date_parts(self) -> dict[str, tuple[str, str]]:
        """Which part of which date numbers and categories are: "days" since 1970, "month", or "weekday" from 0."""
        names = {"days": "{} in days", "month": "month of {}", "weekday": "weekday of {}"}
        return {name.format(date): (date, part) for date in self.dates for part, name in names.items()}


def is_softmax(model: Any) -> bool:
    """Whether a model of several classes normalises its scores together."""
    return type(model).__name__ == "LogisticRegression" and model.multi_class != "ovr"


def model_terms(found: Any) -> Model:
    """Return the terms of a model file's content."""
    encoding, model = from_dict(found.encoding), found.model
    if not hasattr(model, "predict_proba"):
        link = None
    elif len(model.classes_) == 2:
        link = "sigmoid"
    else:
        link = "softmax" if is_softmax(model) else "shares"
    shared = dict(
        classes=np.asarray(model.classes_).tolist(),
        intercept=model.intercept_.tolist(),
        threshold=found.threshold,
        link=link,
    )
    W = model.coef_.T
    if isinstance(encoding, MatrixEncoding):
        if len(set(encoding.names)) < len(encoding.names):
            raise DataError("two columns of the model have the same name; rename one and fit again")
        numbers = [Number(name, 0.0, 1.0, None) for name in encoding.names]
        products = [({j: 1}, W[j].tolist()) for j in range(len(numbers))]
        return Model(numbers=numbers, products=products, categories=[], texts=[], dates={}, **shared)
    return Model(**_table_terms(encoding, W), **shared)


def _table_terms(encoding: TableEncoding, W: FloatArray) -> dict[str, Any]:
    powers = np.eye(len(encoding.numbers), dtype=int)
    if encoding.degree > 1 and encoding.numbers:
        powers = encoding.polynomial().powers_
    products = [({int(j): int(row[j]) for j in np.flatnonzero(row)}, W[k].tolist()) for k, row in enumerate(powers)]
    place, numbers, categories, texts = len(powers), [], [], []
    comma = "," if encoding.decimal == "," else ""
    forms = {column.name: column.form or comma for column in encoding.columns if column.kind == "number"}
    for name, (mean, scale, lacking) in encoding.numbers.items():
        numbers.append(Number(name, mean, scale, W[place].tolist() if lacking else None, forms.get(name, "")))
        place += lacking
    none = [0.0] * W.shape[1]
    for name, levels in encoding.levels.items():
        weights = W[place : place + len(levels)].tolist()
        place += len(levels)
        of_value = {value: weights[k] for value, k in spellings(levels).items()}
        categories.append(Category(name, of_value, of_value.get(MISSING, none), of_value.get(OTHER, none)))
    for name, (words, idf) in encoding.words.items():
        texts.append(Text(name, {word: (idf[k], W[place + k].tolist()) for k, word in enumerate(words)}))
        place += len(words)
    dates = {column.name: column.form for column in encoding.columns if column.kind == "date"}
    read = dict(header=encoding.header, words=[*WORDS, *encoding.missing])
    return dict(numbers=numbers, products=products, categories=categories, texts=texts, dates=dates, **read)
