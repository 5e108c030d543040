"""scikit-learn's names for stochastic descent, translated into ours: C, schedule, stopping, keep and order.

scikit-learn minimises ``mean of sᵢ ℓᵢ + alpha · penalty`` by steps η on one example after the other. Where one of its
own names is given, those that are not have its defaults, and the fit takes its steps: each example once a pass, as long
as its weight says. `C`, `schedule`, `stopping`, `keep` and `order` still may be given for what they say alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Integral
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import losses, schedules, stopping
from .._common.checks import check_choice, check_count
from .._common.words import shown
from ..losses import Loss
from ..objective.examples import Examples
from ..schedules import Adaptive, Constant, InversePower, InverseTime, Schedule
from ..stopping import HeldOut, NoImprovement, NoProgress, Rule
from ._certified import check_number
from ._specification import check_C
from ._streaming import StreamingEstimator

if TYPE_CHECKING:
    from ..objective.objective import Objective
    from ..solvers import Result, Start

#: scikit-learn's names of losses: ours, and what it is multiplied by there.
LOSSES = {"log_loss": ("logistic", 1.0), "squared_error": ("square", 0.5)}
#: Losses that are not here, and what to use.
NOT_HERE = {
    "huber": "'modified_huber', or 'squared_error'",
    "epsilon_insensitive": "'hinge'",
    "squared_epsilon_insensitive": "'squared_hinge'",
}
#: What scikit-learn's names are where only others of them are given.
DEFAULTS: Mapping[str, Any] = {
    "alpha": 1e-4,
    "learning_rate": "optimal",
    "eta0": 0.01,
    "power_t": 0.5,
    "tol": 1e-3,
    "early_stopping": False,
    "validation_fraction": 0.1,
    "n_iter_no_change": 5,
    "average": False,
    "shuffle": True,
}
#: Our name of each thing, what it is if nobody says, and scikit-learn's names for it.
SPELLINGS: tuple[tuple[str, Any, tuple[str, ...]], ...] = (
    ("C", 1.0, ("alpha",)),
    ("schedule", None, ("learning_rate", "eta0", "power_t")),
    ("stopping", "no_progress", ("tol", "early_stopping", "validation_fraction", "n_iter_no_change")),
    ("keep", None, ("average",)),
    ("order", "random", ("shuffle",)),
)


def known_loss(loss: str | Loss) -> tuple[Loss, float]:
    """Return a loss of ours, and what it is multiplied by: scikit-learn's squared error is half of ours.

    Examples
    --------
    >>> known_loss("squared_error"), known_loss("hinge")
    ((Square(), 0.5), (Hinge(), 1.0))
    """
    if isinstance(loss, str) and loss in NOT_HERE:
        raise ValueError(f"loss={loss!r} of scikit-learn is not here; use {NOT_HERE[loss]}")
    name, factor = LOSSES.get(loss, (loss, 1.0)) if isinstance(loss, str) else (loss, 1.0)
    return losses.get(name), factor


@dataclass(frozen=True)
class Terms:
    """How a fit walks, in our terms."""

    schedule: Schedule | None
    rules: list[Rule]
    keep: str
    order: str
    average_from: int = 0
    absolute: bool = False  # whether a step is as long as the example's weight says, and not as its share
    endless: bool = False  # whether it is to take all its passes: then there is nothing to warn of


class ScikitLearnNames(StreamingEstimator):
    """An estimator by stochastic descent with scikit-learn's parameters beside its own."""

    #: Where its defaults are others than those of `SGDClassifier`.
    _defaults: ClassVar[Mapping[str, Any]] = {}
    _init: tuple[ArrayLike | None, ArrayLike | None] = (None, None)
    _held_out: Any = None
    _n: int = 1
    tol: Any
    max_iter: int
    record: str
    verbose: int
    random_state: Any

    def fit(
        self,
        X: Any,
        y: ArrayLike,
        coef_init: ArrayLike | None = None,
        intercept_init: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Learn from examples.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (n, d)
            The examples; float32 and float64 data in rows (C order or CSR) are not copied.
        y : array of shape (n,)
            Their labels, any two or more values.
        coef_init, intercept_init : array, optional
            Where to begin: of the shape of ``coef_`` and ``intercept_``.
        sample_weight : array of shape (n,), optional
            How much each example counts.

        Returns
        -------
        self
        """
        self._init = coef_init, intercept_init
        try:
            super().fit(X, y, sample_weight)
            return self
        finally:
            del self._init

    def _goal(self) -> float | None:
        """Return None: `tol` is scikit-learn's here, and no gap."""
        return None

    # -- what is given ------------------------------------------------------------------------------------------------

    def _given(self) -> dict[str, Any]:
        """Return scikit-learn's own names that were given."""
        named = {name: getattr(self, name) for name in DEFAULTS if hasattr(self, name)}
        return {
            name: value for name, value in named.items() if (value != "auto" if name == "tol" else value is not None)
        }

    def _is_scikit_learns(self) -> bool:
        """Whether one of them is given that says what is done; two only say how."""
        return bool(self._given().keys() - {"n_iter_no_change", "validation_fraction"})

    def _theirs(self, name: str) -> Any:
        """Return what one of scikit-learn's names is."""
        given = getattr(self, name, None if name != "tol" else "auto")
        is_given = given != "auto" if name == "tol" else given is not None
        return given if is_given else self._defaults.get(name, DEFAULTS[name])

    def _check_names(self) -> None:
        """Raise where one thing is given twice, or makes no sense."""
        given = self._given()
        for ours, usual, theirs in SPELLINGS:
            both = [name for name in theirs if name in given]
            if both and hasattr(self, ours) and not _same(getattr(self, ours), usual):
                said = f"{ours}={shown(getattr(self, ours))} and {both[0]}={shown(given[both[0]])}"
                raise ValueError(f"{said} say the same thing twice; give {ours}, or {both[0]} as in scikit-learn")
        for name, least in (("alpha", 0.0), ("power_t", 0.0), ("epsilon", 0.0)):
            if getattr(self, name, None) is not None:
                check_number(name, getattr(self, name), least)
        if not isinstance(self.tol, str) and self.tol is not None:
            check_number("tol", self.tol, 0.0)
        elif isinstance(self.tol, str) and self.tol != "auto":
            raise ValueError(f"tol={self.tol!r} is not possible; use a number, None for no rule, or 'auto'")
        for name in ("eta0", "validation_fraction"):
            most = 1.0 if name == "validation_fraction" else np.inf
            if not 0 < check_number(name, self._theirs(name), 0.0, most) < most:
                raise ValueError(
                    f"{name}={shown(self._theirs(name))} must be more than 0" + ", and less than 1" * (most == 1)
                )
        check_count("n_iter_no_change", self._theirs("n_iter_no_change"))
        for name in ("shuffle", "early_stopping"):
            check_choice(name, self._theirs(name), (True, False))
        average = self._theirs("average")
        if not isinstance(average, bool | np.bool_ | Integral) or average < 0:
            raise ValueError(f"average={shown(average)} must be True, False, or from which step on to average")
        if not isinstance(self.verbose, Integral) or self.verbose < 0:
            raise ValueError(
                f"verbose={shown(self.verbose)} must be a whole number: 0 says nothing, 1 how the fit ended"
            )

    # -- what it means ------------------------------------------------------------------------------------------------

    def _terms(self, factor: float = 1.0) -> Terms:
        """Return how to walk; a step on ``factor · ℓ`` is that much shorter on ℓ."""
        ours = {name: getattr(self, name, usual) for name, usual, _ in SPELLINGS}
        theirs = self._is_scikit_learns()
        schedule = None if ours["schedule"] is None else schedules.get(ours["schedule"])
        schedule = self._schedule(factor) if theirs and schedule is None else schedule
        rules = stopping.get(ours["stopping"])
        average = int(self._theirs("average")) if theirs else 0
        if not theirs:
            if "n_iter_no_change" in self._given() and ours["stopping"] == "no_progress":
                rules = [NoProgress(patience=int(self._theirs("n_iter_no_change")))]
            return Terms(schedule, rules, ours["keep"] or "best", ours["order"])
        own_rule = not _same(ours["stopping"], "no_progress")
        rules = rules if own_rule else self._rules(factor)
        keep = ours["keep"] or ("average" if average else "last")
        order = ours["order"] if ours["order"] != "random" else "shuffled" if self._theirs("shuffle") else "cyclic"
        return Terms(schedule, rules, keep, order, max(0, average - 1), absolute=True, endless=not rules)

    def _walk(self, factor: float = 1.0) -> dict[str, Any]:
        """Return the settings of `StochasticDescent`."""
        terms = self._terms(factor)
        settings: dict[str, Any] = dict(
            schedule=terms.schedule, stopping=terms.rules, keep=terms.keep, order=terms.order
        )
        settings |= dict(average_from=terms.average_from, absolute=terms.absolute, held_out=self._held_out)
        return settings | dict(max_iter=self.max_iter, record=self.record)

    def _schedule(self, factor: float) -> Schedule:
        rate, eta0, power = self._theirs("learning_rate"), float(self._theirs("eta0")), float(self._theirs("power_t"))
        if rate in ("pa1", "pa2"):
            raise ValueError(f"learning_rate={rate!r} (passive-aggressive steps) is not here; use 'constant'")
        check_choice("learning_rate", rate, ("optimal", "constant", "invscaling", "adaptive"))
        if rate == "adaptive":
            return Adaptive(factor * eta0)
        if rate == "invscaling" and power > 0:
            return InversePower(factor * eta0, power)
        if rate != "optimal":
            return Constant(factor * eta0)
        alpha = float(self._theirs("alpha"))
        if alpha == 0:
            raise ValueError("learning_rate='optimal' divides by alpha, which is 0; choose another, or alpha > 0")
        first = alpha**-0.25  # the size that weights are guessed to have, there
        return InverseTime(factor * first, alpha * first)

    def _rules(self, factor: float) -> list[Rule]:
        tol, patience = self._theirs("tol"), int(self._theirs("n_iter_no_change"))
        if tol is None:
            return []
        return [
            HeldOut(float(tol), patience) if self._theirs("early_stopping") else NoImprovement(tol / factor, patience)
        ]

    def _strength(self, C: object, factor: float) -> float:
        """Return our C of the data at hand: alpha counts against the mean of the losses."""
        if not self._is_scikit_learns() or not _same(C, 1.0):
            return factor * check_C(C)
        alpha = float(self._theirs("alpha"))
        return factor / alpha / self._n if alpha > 0 else np.inf

    # -- what it changes ----------------------------------------------------------------------------------------------

    def _learn(self, examples: Examples, classes: NDArray[Any], *rest: Any) -> Self:
        """Put the rows aside by which to stop early, and learn from the others."""
        self._held_out = None
        if self._is_scikit_learns() and self._theirs("early_stopping"):
            examples, self._held_out = self._split(examples)
        self._n = examples.n
        try:
            return super()._learn(examples, classes, *rest)
        finally:
            self.__dict__.pop("_held_out", None)

    def _split(self, examples: Any) -> tuple[Any, Any]:
        fraction = float(self._theirs("validation_fraction"))
        from sklearn.model_selection import StratifiedShuffleSplit  # it loads much, for early stopping alone

        split = StratifiedShuffleSplit(test_size=fraction, random_state=self.random_state)
        parts = [np.sort(part) for part in next(split.split(np.zeros((examples.n, 1)), examples.codes))]
        weight = examples.weight
        if weight is not None and not weight[parts[1]].any():
            raise ValueError(
                "early_stopping=True put rows aside that have no weight in sample_weight; use another random_state"
            )
        learned, held_out = (examples.chosen(part, None if weight is None else weight[part]) for part in parts)
        return learned, held_out

    def _objectives(self, examples: Examples, class_weight: Any) -> list[Objective]:
        self._n = examples.n
        return super()._objectives(examples, class_weight)

    def _starts(self, classes: NDArray[Any]) -> list[Start] | None:
        from ..solvers import Start

        if all(part is None for part in self._init):
            return super()._starts(classes)
        planes = 1 if len(classes) == 2 else len(classes)
        shapes = {"coef_init": (planes, self.n_features_in_), "intercept_init": (planes,)}
        filled = []
        for (name, shape), value in zip(shapes.items(), self._init, strict=True):
            array = np.zeros(shape) if value is None else np.asarray(value, dtype=np.float64)
            if array.size != np.prod(shape) or (planes > 1 and array.shape != shape):
                raise ValueError(f"{name} has shape {array.shape}; these rows and classes need {shape}")
            filled.append(array.reshape(shape))
        return [Start(w.copy(), float(b)) for w, b in zip(*filled, strict=True)]

    def _claim(self, objective: Objective, result: Result) -> Any:
        """Return what is proven; alpha depends on how many rows there were, which no file says, so nothing with it."""
        return None if self._is_scikit_learns() else super()._claim(objective, result)

    def _why_no_certificate(self) -> str:
        """Say what a certificate takes."""
        if not self._is_scikit_learns():
            return super()._why_no_certificate()
        return f"a fit by scikit-learn's {next(iter(self._given()))} has none; without it there is one"

    def _warn(self, objective: Objective, results: list[Result]) -> None:
        """Say what went wrong; that all passes were taken is no news to whoever asked for them."""
        if not (self._terms().endless and all(result.n_iter >= self.max_iter for result in results)):
            super()._warn(objective, results)

    def partial_fit(
        self, X: Any, y: ArrayLike, classes: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Learn from one batch of a stream: see `StreamingEstimator.partial_fit`."""
        if self._is_scikit_learns() and self._theirs("early_stopping"):
            raise ValueError("early_stopping=True puts rows of a fit aside; a stream has none. Set it to False")
        return super().partial_fit(X, y, classes, sample_weight)

    def _after_fit(self, objectives: list[Objective], results: list[Result]) -> None:
        super()._after_fit(objectives, results)
        self._say(results)


def _same(value: object, usual: object) -> bool:
    """Whether a parameter is what it is if nobody says; one that cannot be compared is not."""
    return value is usual or (type(value) is type(usual) and bool(value == usual))
