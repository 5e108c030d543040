"""When to stop: rules chosen by name or as objects, each asked after every recorded step.

A rule is a small immutable record; `Rule.begin` returns the function that watches one run, so a rule object can be
shared by many fits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ._common.types import FloatArray
from ._common.words import shown, typed

__all__ = [
    "DualityGap",
    "GradientNorm",
    "HeldOut",
    "MaxIterations",
    "NoImprovement",
    "NoMistakes",
    "NoProgress",
    "ParameterChange",
    "Progress",
    "Rule",
    "ZeroOneUnchanged",
    "fired",
    "get",
    "without_gap",
]


@dataclass(frozen=True)
class Progress:
    """Where a run stands: the step, the point and the one before it, and numbers that a rule may ask for.

    A number that this run cannot know (the zero-one error of a function without examples) is NaN.
    """

    step: int
    theta: FloatArray
    previous: FloatArray
    objective: float
    gradient_norm: float = np.nan
    zero_one: float = np.nan
    relative_gap: float = np.nan
    held_out: float = np.nan  # the share of wrong labels among rows that nothing is learned from


Watcher = Callable[[Progress], bool]


@dataclass(frozen=True)
class Rule:
    """A reason to stop. `converged` tells whether stopping for it counts as success."""

    converged: ClassVar[bool] = True
    needs_good_steps: ClassVar[bool] = False  # a step size that is far too small makes it fire as well
    needs: ClassVar[str] = ""  # the number of a Progress without which the rule could never fire
    needs_point: ClassVar[bool] = True  # whether it looks at θ; where no rule does, a run may leave θ empty
    ended: ClassVar[str] = "{0} said so"  # why a run ended that it ended

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if not value > 0:
                raise ValueError(f"{type(self).__name__}({name}={shown(value)}) must be positive")

    def __str__(self) -> str:
        """Return it as somebody would type it, whatever kind of number it was given."""
        return typed(self)

    def begin(self) -> Watcher:
        """Return a function that watches one run and says when to stop."""
        raise TypeError(f"{type(self).__name__} does not say when to stop")

    def in_words(self, steps: str = "steps") -> str:
        """Return why a run ended where the rule ended it; `steps` is what these are called there.

        Examples
        --------
        >>> NoProgress(0.001, 5).in_words("passes")
        'the objective had not fallen by 0.1 % within 5 passes'
        """
        return self.ended.format(self, steps=steps)


@dataclass(frozen=True)
class MaxIterations(Rule):
    """After `n` iterations (of a stochastic method: passes over the data), converged or not."""

    n: int = 1000
    converged: ClassVar[bool] = False
    needs_point: ClassVar[bool] = False
    ended: ClassVar[str] = "it had made {0.n:,} {steps}"

    def begin(self) -> Watcher:
        """Watch the step number."""
        return lambda progress: progress.step >= self.n


@dataclass(frozen=True)
class GradientNorm(Rule):
    """When ‖∇F‖ < tol: at an optimum of a smooth function the gradient vanishes."""

    tol: float = 1e-4
    needs: ClassVar[str] = "gradient_norm"
    needs_point: ClassVar[bool] = False
    ended: ClassVar[str] = "the gradient was shorter than {0.tol:g}"

    def begin(self) -> Watcher:
        """Watch the gradient."""
        return lambda progress: progress.gradient_norm < self.tol


@dataclass(frozen=True)
class ParameterChange(Rule):
    """When the step is negligible: ‖θ_new − θ‖ < tol."""

    tol: float = 1e-4
    needs_good_steps: ClassVar[bool] = True
    ended: ClassVar[str] = "a step was shorter than {0.tol:g}"

    def begin(self) -> Watcher:
        """Watch the parameters."""
        return lambda progress: bool(np.linalg.norm(progress.theta - progress.previous) < self.tol)


@dataclass(frozen=True)
class ZeroOneUnchanged(Rule):
    """When the lowest zero-one error so far has stood for `patience` steps."""

    patience: int = 5
    needs: ClassVar[str] = "zero_one"
    needs_point: ClassVar[bool] = False
    ended: ClassVar[str] = "the mistakes had not become fewer for {0.patience:,} {steps}"

    def begin(self) -> Watcher:
        """Watch the training error."""
        return _standstill(lambda progress: progress.zero_one, 0.0, self.patience)


@dataclass(frozen=True)
class NoProgress(Rule):
    """When the lowest objective so far has not fallen by the share `tol` within `patience` steps."""

    tol: float = 1e-3
    patience: int = 5
    needs_good_steps: ClassVar[bool] = True
    needs_point: ClassVar[bool] = False

    def in_words(self, steps: str = "steps") -> str:
        """Return why a run ended."""
        return f"the objective had not fallen by {100 * self.tol:g} % within {self.patience:,} {steps}"

    def begin(self) -> Watcher:
        """Watch the objective."""
        return _standstill(lambda progress: progress.objective, self.tol, self.patience)


@dataclass(frozen=True)
class NoImprovement(Rule):
    """When the objective was not below the lowest so far by more than `tol`, `patience` steps in a row.

    Unlike `NoProgress` it counts `tol` in the objective's own units, and lets progress by less than that count for
    nothing however long it goes on: scikit-learn's rule, of the objective at the end of a pass.
    """

    tol: float = 1e-3
    patience: int = 5
    needs_point: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if not (self.tol >= 0 and self.patience > 0):
            raise ValueError(f"{self}: tol must be zero or more, and patience positive")

    ended: ClassVar[str] = "the objective had not fallen by more than {0.tol:g}, {0.patience:,} {steps} in a row"

    def begin(self) -> Watcher:
        """Watch the objective."""
        return _in_a_row(lambda progress: progress.objective, self.tol, self.patience)


@dataclass(frozen=True)
class HeldOut(NoImprovement):
    """The same of the share of wrong labels among rows that were put aside."""

    needs: ClassVar[str] = "held_out"
    ended: ClassVar[str] = (
        "rows put aside had not been told better by more than {0.tol:g}, {0.patience:,} {steps} in a row"
    )

    def begin(self) -> Watcher:
        """Watch the rows that were put aside."""
        return _in_a_row(lambda progress: progress.held_out, self.tol, self.patience)


@dataclass(frozen=True)
class NoMistakes(Rule):
    """When every example is on its own side of the plane: the perceptron's."""

    needs: ClassVar[str] = "zero_one"
    needs_point: ClassVar[bool] = False
    ended: ClassVar[str] = "no mistakes were left"

    def begin(self) -> Watcher:
        """Watch the training error."""
        return lambda progress: progress.zero_one == 0


@dataclass(frozen=True)
class DualityGap(Rule):
    """When the relative duality gap is at most tol: the point is then proven to be that close to the optimum."""

    tol: float = 1e-4
    needs: ClassVar[str] = "relative_gap"
    needs_point: ClassVar[bool] = False
    ended: ClassVar[str] = "it was proven to be within {0.tol:g} of the optimum"

    def begin(self) -> Watcher:
        """Watch the gap."""
        return lambda progress: progress.relative_gap <= self.tol


def _standstill(measure: Callable[[Progress], float], share: float, patience: int) -> Watcher:
    """Return a watcher that stops once a number has not fallen by that share of itself within `patience` steps."""
    lowest, when = np.inf, 0

    def watch(progress: Progress) -> bool:
        nonlocal lowest, when
        value = measure(progress)
        if not np.isfinite(value):
            return False
        if value < lowest - share * abs(value):
            lowest, when = value, progress.step
        return progress.step - when >= patience

    return watch


def _in_a_row(measure: Callable[[Progress], float], tol: float, patience: int) -> Watcher:
    """Return a watcher that stops when so many steps in a row have not lowered a number by more than `tol`."""
    lowest, when, seen = np.inf, 0, 0

    def watch(progress: Progress) -> bool:
        nonlocal lowest, when, seen
        value, seen = measure(progress), progress.step
        if not value > lowest - tol:
            when = progress.step
        lowest = min(lowest, value)
        if seen - when < patience:
            return False
        when = seen  # whoever goes on all the same is patient again
        return True

    return watch


RULES: dict[str, type[Rule]] = {
    "max_iterations": MaxIterations,
    "gradient_norm": GradientNorm,
    "parameter_change": ParameterChange,
    "zero_one_unchanged": ZeroOneUnchanged,
    "no_mistakes": NoMistakes,
    "no_progress": NoProgress,
    "no_improvement": NoImprovement,
    "duality_gap": DualityGap,
}


def get(stopping: str | Rule | Iterable[str | Rule] | None) -> list[Rule]:
    """Return the rules of those names, or the rules themselves; None is no rule.

    Examples
    --------
    >>> get(["gradient_norm", ParameterChange(1e-6)])
    [GradientNorm(tol=0.0001), ParameterChange(tol=1e-06)]
    """
    if stopping is None:
        return []
    if isinstance(stopping, str | Rule) or not isinstance(stopping, Iterable):
        stopping = [stopping]
    return [_one(rule) for rule in stopping]


def _one(rule: str | Rule) -> Rule:
    if isinstance(rule, Rule):
        return rule
    if isinstance(rule, str) and rule in RULES:
        return RULES[rule]()
    raise ValueError(f"stopping rule {rule!r} is not known; use one of {', '.join(RULES)}, or a Rule object")


def without_gap(rules: list[Rule], solver: str) -> list[Rule]:
    """Return the rules; raise if one needs a duality gap, which this solver does not compute."""
    for rule in rules:
        if rule.needs == "relative_gap":
            raise ValueError(
                f"{rule} would never stop solver {solver!r}, which computes no duality gap; use another rule"
            )
    return rules


def fired(watchers: Iterable[tuple[Rule, Watcher]], progress: Progress) -> Rule | None:
    """Return the first rule that says stop. Every watcher sees every step."""
    stops = [rule for rule, watch in watchers if watch(progress)]
    return next((rule for rule in stops if rule.converged), stops[0] if stops else None)
