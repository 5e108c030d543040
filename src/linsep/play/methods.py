"""The methods that a page offers: their settings, what they have no use for and why, and their estimators."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .. import schedules
from ..estimators import (
    HardMarginSVC,
    LeastSquaresClassifier,
    LinearClassifier,
    LinearSVC,
    LogisticRegression,
    Perceptron,
    SGDClassifier,
    ZeroOneClassifier,
)
from ..solvers import GradientDescent
from .errors import RefusedError

#: Passes or steps at the most, and seconds that the exact search may take while somebody waits.
MOST_PASSES, PATIENCE = 10_000, 5.0


@dataclass(frozen=True)
class Setting:
    """Something to choose: one of several words, or a number between two bounds (`"inf"` where `endless`)."""

    label: str
    default: Any
    choices: Mapping[str, str] = field(default_factory=dict)  # words, and what the page calls them
    low: float = 0.0
    high: float = np.inf
    whole: bool = False
    endless: bool = False

    def read(self, name: str, value: Any) -> Any:
        """Return what was chosen; refuse what cannot be."""
        if isinstance(self.default, bool):
            if not isinstance(value, bool):
                raise RefusedError(f"{self.label} is yes or no, not {value!r}")
            return value
        if self.choices:
            if not isinstance(value, str) or value not in self.choices:
                raise RefusedError(f"{self.label}: {str(value)[:40]!r} is none of {', '.join(self.choices)}")
            return value
        if self.endless and value == "inf":
            return np.inf
        if isinstance(value, bool) or not isinstance(value, int | float) or not self.low <= value <= self.high:
            raise RefusedError(f"{self.label} is a number from {self.low:g} to {self.high:g}, not {str(value)[:40]!r}")
        if self.whole and value != int(value):
            raise RefusedError(f"{self.label} is a whole number, not {value!r}")
        return int(value) if self.whole else float(value)

    def to_dict(self) -> dict[str, Any]:
        """Return what the page must know to ask for it."""
        kind = "yes" if isinstance(self.default, bool) else "choice" if self.choices else "number"
        return dict(label=self.label, default=self.default, kind=kind, choices=dict(self.choices), whole=self.whole)


SETTINGS = {
    "loss": Setting(
        "Loss",
        "logistic",
        {
            "perceptron": "perceptron, max(0, −z)",
            "hinge": "hinge, max(0, 1 − z)",
            "logistic": "logistic, log(1 + e^(−z))",
            "square": "square, (1 − z)²",
            "squared_hinge": "squared hinge, max(0, 1 − z)²",
            "zero_one": "zero-one, 1 if z ≤ 0",
        },
    ),
    "order": Setting(
        "Order of the examples",
        "cyclic",
        {"cyclic": "one after the other", "random": "at random", "worst": "the worst one each time"},
    ),
    "keep": Setting(
        "What is kept",
        "best",
        {
            "best": "the best plane so far",
            "last": "the last plane",
            "average": "the mean of all",
            "vote": "all, by vote",
        },
    ),
    "schedule": Setting(
        "Step sizes",
        "auto",
        {
            "auto": "chosen by the data",
            "constant": "constant, η",
            "inverse_time": "falling, η/(k + 1)",
            "inverse_sqrt": "falling slowly, η/√(k + 1)",
        },
    ),
    "eta": Setting("Step size η", 0.1, low=1e-6, high=1e6),
    "stopping": Setting(
        "Stop when",
        "auto",
        {
            "auto": "no progress is made",
            "gradient_norm": "the gradient is nearly 0",
            "parameter_change": "the plane hardly moves",
            "zero_one_unchanged": "the mistakes stay the same",
            "none": "the passes are used up",
        },
    ),
    "max_iter": Setting("Passes at the most", 100, low=1, high=MOST_PASSES, whole=True),
    "C": Setting("C, the weight of the losses", 1.0, low=1e-6, high=1e9, endless=True),
    "intercept": Setting("With an offset b", True),
    "seed": Setting("Seed of what is random", 0, high=2**32 - 1, whole=True),
}


@dataclass(frozen=True)
class Algorithm:
    """A method by its name: what it does in a sentence, the settings it has, and why it has not the others."""

    label: str
    says: str
    uses: tuple[str, ...]
    without: Mapping[str, str]
    make: Callable[[dict[str, Any]], Any]
    #: What stands instead of a setting's own default.
    defaults: Mapping[str, Any] = field(default_factory=dict)

    def read(self, chosen: Mapping[str, Any]) -> dict[str, Any]:
        """Return all settings of the method; refuse one that it has no use for."""
        for name in chosen:
            if name not in self.uses:
                known = name in SETTINGS
                why = self.without.get(name, "it has none") if known else f"the settings are {', '.join(self.uses)}"
                raise RefusedError(
                    f"{self.label}: {SETTINGS[name].label if known else name[:40]!r} cannot be set: {why}"
                )
        defaults = {name: self.defaults.get(name, SETTINGS[name].default) for name in self.uses}
        return {name: SETTINGS[name].read(name, chosen.get(name, default)) for name, default in defaults.items()}

    def to_dict(self) -> dict[str, Any]:
        """Return what the page must know of it."""
        without = {name: why for name, why in self.without.items() if name in SETTINGS}
        return dict(label=self.label, says=self.says, uses=self.uses, without=without, defaults=dict(self.defaults))


def _perceptron(s: dict[str, Any]) -> Any:
    intercept, seed = s["intercept"], s["seed"]
    return Perceptron(
        order=s["order"], keep=s["keep"], max_iter=s["max_iter"], fit_intercept=intercept, random_state=seed
    )


def _schedule(s: dict[str, Any]) -> schedules.Schedule | None:
    return None if s["schedule"] == "auto" else schedules.get(s["schedule"]).with_first(s["eta"])


def _stopping(s: dict[str, Any]) -> dict[str, Any]:
    return {} if s["stopping"] == "auto" else dict(stopping=None if s["stopping"] == "none" else s["stopping"])


def _check_loss(s: dict[str, Any]) -> None:
    """Refuse what has no sense, and say why."""
    if s["loss"] == "zero_one":
        raise RefusedError(
            "The zero-one loss is flat almost everywhere: its slope is 0, so no step leads downhill. Choose the exact "
            "zero-one search, or a loss that bounds it from above, such as hinge or logistic."
        )
    if s["loss"] == "perceptron" and np.isfinite(s["C"]):
        raise RefusedError(
            "The perceptron loss with a penalty is least at w = 0, which is no plane. Write inf for C (no penalty), "
            "or choose another loss."
        )


def _gradient_descent(s: dict[str, Any]) -> Any:
    _check_loss(s)
    solver = GradientDescent(schedule=_schedule(s), max_iter=s["max_iter"], **_stopping(s))
    return LinearClassifier(s["loss"], C=s["C"], solver=solver, fit_intercept=s["intercept"])


def _sgd(s: dict[str, Any]) -> Any:
    _check_loss(s)
    if s["keep"] == "vote":
        raise RefusedError(
            "Only the perceptron lets its lines vote, each for as long as it was right. Here choose the mean of all."
        )
    common = dict(keep=s["keep"], max_iter=s["max_iter"], fit_intercept=s["intercept"], random_state=s["seed"])
    return SGDClassifier(s["loss"], C=s["C"], schedule=_schedule(s), **_stopping(s), **common)


ALL_AT_ONCE = "every step takes all examples at once"
EXACT = "it is solved to the proven optimum, not by steps of a chosen size"
BY_PROOF = "it stops when the optimum is proven"
OF_EXACT = dict(order=ALL_AT_ONCE, keep="the last plane is the optimum", schedule=EXACT, eta=EXACT)
OF_EXACT |= dict(stopping=BY_PROOF, max_iter=BY_PROOF)
NOT_RANDOM = dict(OF_EXACT, seed="nothing in it is random")

ALGORITHMS = {
    "perceptron": Algorithm(
        "Perceptron",
        "Takes the examples one by one. Where the line is wrong about one, it adds y·x to w (y is +1 for ●, −1 for ■); "
        "where it is right, it does nothing. If some line separates the classes, it finds one.",
        ("order", "keep", "max_iter", "intercept", "seed"),
        dict(
            loss="its loss is max(0, −z)",
            C="it has no penalty",
            schedule="every step has length 1: a larger one would give the same lines",
            eta="every step has length 1: a larger one would give the same lines",
            stopping="it stops when no mistake is left",
        ),
        _perceptron,
    ),
    "gradient_descent": Algorithm(
        "Gradient descent",
        "Walks downhill on the mean loss of all examples: each step goes against the gradient, as far as η says.",
        ("loss", "schedule", "eta", "stopping", "max_iter", "C", "intercept"),
        dict(order=ALL_AT_ONCE, keep="the best plane is reported", seed="nothing in it is random"),
        _gradient_descent,
    ),
    "sgd": Algorithm(
        "Stochastic gradient descent",
        "Walks downhill on the loss of one example at a time, drawn at random: cheap steps that wander.",
        ("loss", "schedule", "eta", "stopping", "keep", "max_iter", "C", "intercept", "seed"),
        dict(order="its examples are drawn at random"),
        _sgd,
        dict(loss="hinge"),
    ),
    "hard_margin": Algorithm(
        "Hard margin (SVM)",
        "Of all lines that separate the classes, the one with the widest margin. Only points on the margin hold it.",
        ("intercept",),
        dict(NOT_RANDOM, loss="no mistake is allowed", C="no mistake is allowed, so there is nothing to weigh"),
        lambda s: HardMarginSVC(fit_intercept=s["intercept"]),
    ),
    "soft_margin": Algorithm(
        "Soft margin (SVM)",
        "A wide margin that some points may violate: C says how much a violation costs.",
        ("C", "intercept"),
        dict(NOT_RANDOM, loss="its loss is the hinge, max(0, 1 − z)"),
        lambda s: LinearSVC(C=s["C"], fit_intercept=s["intercept"]),
    ),
    "logistic": Algorithm(
        "Logistic regression",
        "The line under which the classes seen are the most probable; far points count little.",
        ("C", "intercept"),
        dict(NOT_RANDOM, loss="its loss is log(1 + e^(−z))"),
        lambda s: LogisticRegression(C=s["C"], fit_intercept=s["intercept"]),
    ),
    "least_squares": Algorithm(
        "Least squares",
        "Wants g(x) to be +1 or −1 exactly, and so is pulled by points that are very right, too.",
        ("C", "intercept"),
        dict(NOT_RANDOM, loss="its loss is (1 − z)²"),
        lambda s: LeastSquaresClassifier(C=s["C"], fit_intercept=s["intercept"]),
        dict(C="inf"),
    ),
    "zero_one": Algorithm(
        "Fewest mistakes (exact)",
        "Searches for the line with the fewest mistakes, and proves that no line makes fewer. Hard in general.",
        ("intercept", "seed"),
        dict(
            OF_EXACT,
            loss="it counts mistakes",
            C="it has no penalty",
            stopping="it stops when nothing is left to search",
        ),
        lambda s: ZeroOneClassifier(time_limit=PATIENCE, fit_intercept=s["intercept"], random_state=s["seed"]),
    ),
}


def estimator_of(method: Mapping[str, Any]) -> Any:
    """Return the estimator of a method as a page writes it.

    Examples
    --------
    >>> estimator_of({"name": "soft_margin", "C": 10})
    LinearSVC(C=10.0)
    >>> estimator_of({"name": "perceptron", "C": 10})
    Traceback (most recent call last):
    linsep.play.errors.RefusedError: Perceptron: 'C, the weight of the losses' cannot be set: it has no penalty
    """
    name = method.get("name")
    if not isinstance(name, str) or name not in ALGORITHMS:
        raise RefusedError(f"the method {str(name)[:40]!r} is none of {', '.join(ALGORITHMS)}")
    algorithm = ALGORITHMS[name]
    return algorithm.make(algorithm.read({key: value for key, value in method.items() if key != "name"}))


def described() -> dict[str, Any]:
    """Return all that a page must know to offer the methods."""
    return {
        "settings": {name: setting.to_dict() for name, setting in SETTINGS.items()},
        "algorithms": {name: algorithm.to_dict() for name, algorithm in ALGORITHMS.items()},
    }
