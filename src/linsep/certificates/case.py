"""A model as it predicts, and the data: what every check of a proof begins from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from .._common.types import BoolArray, FloatArray, IntArray
from .._core import Rows
from ..arithmetic.exact import Check, Clock, sides
from ..objective.examples import InMemory
from ..objective.objective import Objective
from ..objective.objective import formula as in_words
from ..objective.statement import Statement
from .outcome import ClaimError, Verification, planes_in_words
from .training_data import TrainingData, positive_classes

EXACT = "Python's whole numbers"
ROUNDED = "that predict's scores, which are rounded, have the signs of the exact ones"

#: What is said of an objective in words needs none.
NO_EXAMPLES = InMemory(Rows(np.empty((0, 1))))
#: What every sentence is about.
GIVEN = ("coef_", "intercept_", "classes_", "n_features_in_", "threshold_")
#: The parameters that say what is minimised, and `tol`; all others say how it was fitted.
STATED = ("C", "class_weight", "fit_intercept", "l1_ratio", "loss", "multi_class", "penalty", "tol")


@dataclass(frozen=True, eq=False)
class Case:
    """A model as it predicts, and the examples: everything here is the model's own or follows from it."""

    model: Any
    examples: TrainingData
    threshold: float | None
    time_limit: float | None
    split: Callable[[IntArray, IntArray], tuple[Any, Any]] | None = None  # the columns of a fold, made by its own rows

    @cached_property
    def classes(self) -> tuple[Any, ...]:
        """The labels that it predicts."""
        return tuple(np.asarray(self.model.classes_).tolist())

    @cached_property
    def positive(self) -> list[int]:
        """The class that each plane is for."""
        return positive_classes(self.classes)

    @cached_property
    def statement(self) -> Statement:
        """What its parameters say is minimised."""
        found: Statement = self.model._statement()
        return found

    @cached_property
    def coef(self) -> FloatArray:
        """One plane a row."""
        return np.asarray(self.model._planes(), dtype=np.float64)

    @cached_property
    def intercept(self) -> FloatArray:
        """Of each plane."""
        return np.ravel(np.asarray(self.model.intercept_, dtype=np.float64))

    @cached_property
    def weights(self) -> FloatArray | None:
        """What each example counts."""
        return self.examples.weights(self.statement, self.classes)

    def check_shape(self) -> None:
        """Raise unless the classes, the planes and the columns of the data fit each other."""
        d, names = self.examples.shape[1], getattr(self.model, "feature_names_in_", None)
        needed = planes_in_words(len(self.positive))
        if self.coef.shape != (len(self.positive), d) or self.intercept.shape != (len(self.positive),):
            raise ClaimError(
                f"{len(self.classes)} classes and {d} columns of the data need {needed} of {d} coefficients, the model "
                f"has {self.coef.shape} and {len(self.intercept)} intercepts: it was changed, or the data are others"
            )
        if not (np.isfinite(self.coef).all() and np.isfinite(self.intercept).all()):
            raise ClaimError("a coefficient or intercept is not a finite number: such a plane predicts nothing")
        if self.model.n_features_in_ != d:
            raise ClaimError(f"the model says that it has {self.model.n_features_in_} columns, the data have {d}")
        if names is not None and self.examples.names is not None and list(names) != self.examples.names:
            raise ClaimError(f"the columns of the data have other names than those of the model, {list(names)}")

    @cached_property
    def by_vote(self) -> bool:
        """Whether predictions are by vote of all planes of a run, not by the plane."""
        return hasattr(self.model, "_ballots")

    @property
    def covered(self) -> tuple[str, ...]:
        """The attributes and parameters that any sentence is about."""
        # A model with a rule of its own has no `tol` that a gap could be compared with.
        own = ("tol",) if self.model._own_rule else ()
        stated = [name for name in STATED if hasattr(self.model, name) and name not in own]
        has_names = self.examples.names is not None and hasattr(self.model, "feature_names_in_")
        given = [name for name in GIVEN if hasattr(self.model, name)]
        return (*given, *stated, *(["feature_names_in_"] if has_names else []))

    def who(self, k: int) -> str:
        """Return of which plane something is said, where there are several."""
        return "" if len(self.positive) == 1 else f"class {self.classes[self.positive[k]]!r} against the rest: "

    def plane(self, k: int) -> Any:
        """Return θ = [w, b − t] of plane k as it is cut at the threshold t, exactly."""
        w, b, t = self.coef[k], float(self.intercept[k]), self.threshold
        return [*map(Fraction, w.tolist()), Fraction(b) - Fraction(t)] if t else np.append(w, b)

    def problem(self, k: int) -> Objective:
        """Return what plane k minimises: its own class is +1, as in `predict`."""
        return self.examples.problem(self.statement, self.classes, self.positive[k])

    @property
    def counted(self) -> BoolArray:
        """Which examples have weight."""
        return np.ones(self.examples.X.shape[0], dtype=bool) if self.weights is None else self.weights > 0

    def wrong(self, k: int) -> BoolArray:
        """Return which examples are not strictly on their own side of the plane (w, b − t), by exact signs."""
        problem, clock = self.problem(k), Clock(self.time_limit)
        return np.asarray(sides(problem.rows.X, problem.y, self.plane(k), clock=clock) <= 0)

    def number(self, name: str, k: int) -> float:
        """Return what the model says of its plane k."""
        value: Any = getattr(self.model, name, None)
        said = np.ravel(value)
        if said.dtype.kind not in "iuf" or len(said) not in (1, len(self.positive)):
            raise ClaimError(f"{name} is {value!r}, which is not a number for each plane")
        return float(said[min(k, len(said) - 1)])

    def flag(self, name: str) -> bool:
        """Return whether the model says so."""
        said = getattr(self.model, name, None)
        if not isinstance(said, bool | np.bool_):
            raise ClaimError(f"{name} is {said!r}, which is neither True nor False")
        return bool(said)

    def check_objective(self, formula: Callable[[bool], str]) -> None:
        """Raise unless what was minimised is said in words that follow from the weights of the examples."""
        # Weights that are all one may go unsaid.
        each = (False, True) if self.examples.all_one(self.statement, self.classes) else (True,)
        words = [formula(weighted) for weighted in each]
        if self.model.objective_ not in words:
            raise ClaimError(f"objective_ is {self.model.objective_!r}, the parameters say {words[0]!r}")

    def formula(self, weighted: bool, *, at_once: bool = False) -> str:
        """Return what each plane minimises, or all planes `at_once`, in words."""
        said = self.statement.on(NO_EXAMPLES, positive=None if at_once else 1, classes=len(self.classes))
        return in_words(said.head, said.penalty, said.C, weighted=weighted)

    def check_converged(self, proven: bool) -> list[str]:
        """Return whether `converged_` is confirmed: true has to be proven, but a proof may come after a fit gave up."""
        converged = self.flag("converged_")
        if converged and not proven:
            raise ClaimError("converged_ is True, but the data do not prove a gap of at most tol")
        return ["converged_"] if converged == proven else []

    @property
    def cut(self) -> str:
        """Where scores are cut, in words."""
        return f" where its scores are cut at {self.threshold:g}" if self.threshold else ""

    @property
    def kind(self) -> str:
        """The planes among which it is the best, in words."""
        return "plane" if self.statement.fit_intercept else "plane through the origin"

    @property
    def remark(self) -> str:
        """Return what a sentence on scores has to add, where predictions are not their signs."""
        if self.by_vote:
            return "; this is about the averaged plane, while predictions are by vote of all planes of the run"
        if self.threshold:
            return f"; this is about its scores, while predictions are cut at {self.threshold:g}, not at 0"
        return ""


def exactly(check: Check, what: str) -> Verification:
    """Return the outcome of a check in whole numbers."""
    checked = (f"{what}, in exact arithmetic",) if check else ()
    return Verification(check.holds, check.reason, proven=check.holds, checked=checked, trusted=(EXACT,))
