"""A model file read without linsep: its settings, classes and planes, and how these read the data."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from .honest import Data
from .objectives import Numbers, Plane
from .packing import coefficients

__all__ = ["Case", "Raw", "fold_weights", "objective_in_words", "plain"]


def plain(value: Any) -> Any:
    """Return a value of the file in plain terms: arrays are lists, numbers that JSON does not know are floats."""
    if isinstance(value, list):
        return [plain(item) for item in value]
    if isinstance(value, dict) and len(value) == 1:
        ((kind, content),) = value.items()
        if kind == "float":
            return float(content)
        if kind == "tuple":
            return plain(content)
        if kind == "map":
            return {key: plain(item) for key, item in content}
        if kind == "array":
            return plain(content["values"])
    return value


@dataclass(frozen=True, eq=False)
class Raw:
    """A model as its file has it."""

    name: str
    parameters: dict[str, Any]
    classes: list[Any]
    planes: list[Plane]
    threshold: float
    fitted: dict[str, Any]
    proofs: dict[str, Any]
    document: dict[str, Any] = field(repr=False)

    @classmethod
    def of(cls, document: dict[str, Any]) -> Raw:
        """Read a document that linsep was able to read."""
        W, b = coefficients(document).tolist(), document["intercept"]
        return cls(
            document["estimator"]["class"],
            {key: plain(value) for key, value in document["estimator"]["parameters"].items()},
            plain(document["classes"]["values"]),
            [([float(x) for x in w], float(c)) for w, c in zip(W, b, strict=True)],
            float(document["threshold"] or 0.0),
            {key: plain(value) for key, value in document["fitted"].items()},
            document["certificate"] or {},
            document,
        )

    def cut(self, k: int) -> Plane:
        """Return plane k as it predicts: moved by the threshold."""
        w, b = self.planes[k]
        return w, Fraction(b) - Fraction(self.threshold)

    @property
    def at_once(self) -> bool:
        """Whether all classes are one objective: a softmax, or margins between them."""
        many = len(self.classes) > 2 and self.parameters.get("multi_class", "softmax") != "ovr"
        return many and (self.name == "LogisticRegression" or self.by_margins)

    @property
    def by_margins(self) -> bool:
        """Whether it is Crammer and Singer's machine."""
        return self.name == "LinearSVC" and self.parameters.get("multi_class") == "crammer_singer"

    @property
    def tol(self) -> float:
        """The gap that was asked for."""
        tol = self.parameters.get("tol")
        return float(tol) if isinstance(tol, (int, float)) else 1e-4

    @property
    def intercept(self) -> bool:
        """Whether the intercept is free."""
        return bool(self.parameters.get("fit_intercept", True))

    def loss(self) -> str:
        """Return the name of the loss."""
        own = {"LogisticRegression": "logistic", "LeastSquaresClassifier": "square", "Perceptron": "perceptron"}
        default = "hinge"
        loss = own.get(self.name) or (default if self.by_margins else self.parameters.get("loss", default))
        if isinstance(loss, dict):
            loss = re.sub(r"(?<!^)(?=[A-Z])", "_", loss["object"]["class"].split(".")[-1]).lower()
        return str(loss)

    def penalty(self) -> tuple[float, float, float]:
        """Return l2, l1 and C, infinite where there is no penalty."""
        parameters = self.parameters
        if self.name == "Perceptron":
            return 0.0, 0.0, np.inf
        C = parameters.get("C", np.inf if self.name == "LeastSquaresClassifier" else 1.0)
        C = np.inf if C is None else float(C)
        penalty = parameters.get("penalty", "deprecated" if self.name == "LogisticRegression" else "l2")
        ratio = parameters.get("l1_ratio")
        if self.name == "LogisticRegression" and penalty == "deprecated":
            penalty, ratio = "elasticnet", ratio or 0.0
        if penalty is None:
            return 0.0, 0.0, np.inf
        if isinstance(penalty, dict):
            return *_own_penalty(penalty["object"]), C
        ratio = 0.5 if ratio is None else float(ratio)
        if self.by_margins and len(self.classes) == 2:  # of w₁ = −w₂ = w/2
            return 0.5, 0.0, C
        l2, l1 = {"l2": (1.0, 0.0), "l1": (0.0, 1.0), "elasticnet": (1.0 - ratio, ratio)}[penalty]
        return l2, l1, C


def _own_penalty(data: dict[str, Any]) -> tuple[float, float]:
    name, settings = data["class"].split(".")[-1], data["settings"]
    if name == "ElasticNet":
        ratio = float(settings.get("l1_ratio", 0.5))
        return 1.0 - ratio, ratio
    named = {"L2": (1.0, 0.0), "L1": (0.0, 1.0), "NoPenalty": (0.0, 0.0)}
    return named[name] if name in named else (float(settings["l2"]), float(settings["l1"]))


class Case:
    """A model and data: how its own classes, signs and weights read them."""

    def __init__(self, raw: Raw, data: Data, numbers: Numbers) -> None:
        self.raw, self.numbers = raw, numbers
        labels = np.asarray(data.y).tolist()
        self.known = all(any(same_label(label, c) for c in raw.classes) for label in set(labels))
        self.codes = [next((k for k, c in enumerate(raw.classes) if same_label(label, c)), -1) for label in labels]
        s = [1.0] * len(labels) if data.s is None else np.asarray(data.s, dtype=float).tolist()
        self.weights = _weights([Fraction(x) for x in s], self.codes, raw)

    def signs(self, k: int) -> list[int]:
        """Return the labels of plane k, ±1, as `predict` takes them."""
        positive = 1 if len(self.raw.planes) == 1 else k
        return [1 if code == positive else -1 for code in self.codes]

    @property
    def counted(self) -> list[int]:
        """Rows that have weight."""
        return [i for i, weight in enumerate(self.weights) if weight > 0]


def same_label(label: Any, other: Any) -> bool:
    return bool(label == other) and isinstance(label, str) == isinstance(other, str)


def _weights(s: list[Fraction], codes: list[int], raw: Raw) -> list[Fraction]:
    """Return the weight of each example times that of its class."""
    given = raw.parameters.get("class_weight")
    if given is None:
        return s
    if given == "balanced":
        totals = [
            sum((x for x, k in zip(s, codes, strict=True) if k == j), Fraction(0)) for j in range(len(raw.classes))
        ]
        by_class = [sum(totals) / (len(totals) * total) if total else Fraction(0) for total in totals]
    elif not isinstance(given, dict):
        raise TypeError(f"class_weight={given!r}")
    else:
        found = [next((w for label, w in given.items() if same_label(label, c)), 1.0) for c in raw.classes]
        by_class = [Fraction(float(w)) for w in found]
    return [x * by_class[k] for x, k in zip(s, codes, strict=True)]


def fold_weights(s: list[float], codes: list[int], raw: Raw) -> list[Fraction]:
    """Return the weight of each example that a fold learns from, times that of its class among them."""
    return _weights([Fraction(x) for x in s], codes, raw)


#: Losses as formulas of z.
FORMULAS = {
    "hinge": "max(0, 1 − z)",
    "squared_hinge": "max(0, 1 − z)²",
    "logistic": "log(1 + e^(−z))",
    "square": "(1 − z)²",
    "perceptron": "max(0, −z)",
    "zero_one": "[z ≤ 0]",
}


def objective_in_words(raw: Raw) -> tuple[str, ...]:
    """Return what a model's parameters minimise, in a line; with weights, and as if all of them were one."""
    if raw.name == "HardMarginSVC":
        return ("½‖w‖² subject to y(w·x + b) ≥ 1" if raw.intercept else "½‖w‖² subject to y w·x ≥ 1",)
    l2, l1, C = (0.0, 0.0, np.inf) if raw.name == "ZeroOneClassifier" else raw.penalty()
    loss = FORMULAS["zero_one" if raw.name == "ZeroOneClassifier" else raw.loss()]
    w = "W" if raw.at_once else "w"
    parts = [(l2, f"½‖{w}‖²"), (l1, f"‖{w}‖₁")] if np.inf != C else []
    penalty = " + ".join(norm if c == 1 else f"{c:g}·{norm}" for c, norm in parts if c)
    factor = "" if C in (1.0, np.inf) else f"{C:g}·"
    if raw.at_once:
        loss = "(max(gₖ + [k≠y]) − gᵧ)" if raw.by_margins else "−log softmax(g)ᵧ"
    losses = [f"{factor}Σ {s}{loss}" for s in ("", "s·")]
    return tuple(f"{penalty} + {each}" if penalty else each for each in losses)
