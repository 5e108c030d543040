"""`SGDClassifier`: any loss and penalty, one example a step."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from .._common.checks import check_choice, check_count
from ..losses import Loss
from ..objective.objective import Objective
from ..penalties import Penalty
from ..schedules import Schedule
from ..stopping import Rule
from . import _scaling as scaling
from ._scikit_learn import ScikitLearnNames, known_loss
from ._streaming import PenalisedEstimator

if TYPE_CHECKING:
    from ..solvers import Result, Solver, Start

#: By how much less of the labels the optimum has wrong where a fit is told to be a bad one; where it stopped by
#: scikit-learn's rule, which asks for less. And the share of the way down that a bad fit has left.
FEWER, FEWER_THERE, MISSED = 0.02, 0.1, 0.1


class SGDClassifier(ScikitLearnNames, PenalisedEstimator):
    """Linear classifier by stochastic (sub)gradient descent, one random example a step.

    It minimises ``penalty(w) + C Σ sᵢ ℓ(zᵢ)`` by steps on the mean objective (that divided by ``C Σ sᵢ``), so a step
    size means the same whatever the number of examples. With L1 alone each example is visited once a pass, with steps
    as long as its weight says, and weights are exactly zero where that costs less than counts as progress.

    Parameters
    ----------
    loss : str or Loss, default="hinge"
        ``"perceptron"``, ``"hinge"``, ``"squared_hinge"``, ``"modified_huber"``, ``"logistic"``, ``"square"``, or a
        `linsep.losses.Loss`; as in scikit-learn ``"log_loss"`` is the logistic one, ``"squared_error"`` half the
        square.
    penalty : {"l2", "l1", "elasticnet", None} or Penalty, default="l2"
    C : float, default=1.0
        How much the losses count against the penalty; inf or None for no penalty.
    l1_ratio : float, default=0.15
        The share of L1 in ``penalty="elasticnet"``.
    schedule : Schedule, str, float or None
        Step sizes: ``"constant"``, ``"inverse_time"``, ``"inverse_sqrt"``, ``"inverse"``, a number, an object of
        `linsep.schedules`, or None for one that suits the data.
    stopping : rule, str, list of these, or None, default="no_progress"
        When to stop: names or objects of `linsep.stopping`.
    keep : {"best", "last", "average"} or None
        Which iterate is reported: the best at the end of a pass, the last, or the mean of all. None for the best, or
        for what scikit-learn's names ask for.
    max_iter : int, default=1000
        Passes over the data at the most.
    fit_intercept : bool, default=True
    class_weight : dict, "balanced" or None
    record : {"pass", "update"}, default="pass"
        What ``history_`` holds: the end of every pass, or every update with its iterate and example.
    random_state : int, RandomState or None
    warm_start : bool, default=False
        Begin where the last fit ended.
    n_jobs : int or None
        Threads over the classes, where there are more than two; None for all.
    alpha, learning_rate, eta0, power_t, tol, early_stopping, validation_fraction, n_iter_no_change, average, shuffle
        scikit-learn's names for `C`, `schedule`, `stopping` and `keep`, with their meaning there: if one of them is
        given, those that are not have scikit-learn's defaults, each example is visited once a pass, and the last
        iterate is reported. Two names for one thing are an error. ``tol=None`` takes all passes, ``"auto"`` leaves it
        to `stopping`; what it is compared with is measured at the end of a pass, not on the way. With None nothing
        is measured in the first passes over large data (NaN in ``history_``), which would take as long as they do.
    verbose : int, default=0
        Whether to print how the fit ended.
    epsilon : float, optional
        Of scikit-learn's losses for regression, which are not here: without effect.

    Attributes
    ----------
    coef_, intercept_, classes_, n_iter_, n_features_in_, feature_names_in_
        As in scikit-learn: 32-bit floats where the examples are.
    converged_ : bool
        Whether a stopping rule ended the fit; this estimator has no `tol`, so that nothing need be proven of it.
    history_ : History, or a list with one for each class
    objective_ : str
        What was minimised.
    mistakes_ : int
        How many steps moved the plane (of the class with the most).
    t_ : int
        Steps taken and one, as scikit-learn counts: ``n_iter_ * n_samples + 1``.
    certificate_, dual_gap_
        As for `LinearClassifier`; a stream has none, nor has a fit with scikit-learn's names.

    Examples
    --------
    >>> from linsep import SGDClassifier
    >>> X, y = [[0.0, 0.0], [0.0, 1.0], [3.0, 2.0], [4.0, 3.0]], ["no", "no", "yes", "yes"]
    >>> SGDClassifier(random_state=0).fit(X, y).predict([[0.0, 0.5], [4.0, 2.0]])
    array(['no', 'yes'], dtype='<U3')
    """

    _own_rule = True
    _single_of_single = True

    def __init__(
        self,
        loss: str | Loss = "hinge",
        *,
        penalty: str | Penalty | None = "l2",
        C: float | None = 1.0,
        l1_ratio: float | None = 0.15,
        schedule: str | float | Schedule | None = None,
        stopping: str | Rule | Iterable[str | Rule] | None = "no_progress",
        keep: str | None = None,
        max_iter: int = 1000,
        fit_intercept: bool = True,
        class_weight: Mapping[Any, float] | str | None = None,
        record: str = "pass",
        random_state: Any = None,
        warm_start: bool = False,
        n_jobs: int | None = None,
        alpha: float | None = None,
        tol: float | str | None = "auto",
        shuffle: bool | None = None,
        learning_rate: str | None = None,
        eta0: float | None = None,
        power_t: float | None = None,
        average: bool | int | None = None,
        early_stopping: bool | None = None,
        validation_fraction: float | None = None,
        n_iter_no_change: int | None = None,
        verbose: int = 0,
        epsilon: float | None = None,
    ) -> None:
        self.loss = loss
        self.penalty = penalty
        self.C = C
        self.l1_ratio = l1_ratio
        self.schedule = schedule
        self.stopping = stopping
        self.keep = keep
        self.max_iter = max_iter
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
        self.record = record
        self.random_state = random_state
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.alpha = alpha
        self.tol = tol
        self.shuffle = shuffle
        self.learning_rate = learning_rate
        self.eta0 = eta0
        self.power_t = power_t
        self.average = average
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.verbose = verbose
        self.epsilon = epsilon

    def _check_parameters(self) -> None:
        check_choice("keep", self.keep, (None, "best", "last", "average"))
        check_choice("record", self.record, ("pass", "update"))
        check_count("max_iter", self.max_iter)
        self._check_names()
        self._loss()
        self._terms()

    def _loss(self) -> Loss:
        return known_loss(self.loss)[0]

    def _C(self) -> float:
        C = self._strength(self.C, known_loss(self.loss)[1])
        return np.inf if self.penalty is None else C

    def _is_linear(self, X: Any) -> bool:
        """Whether a fit multiplies rows and adds them, and no more: where nothing is proven of it."""
        return self._is_scikit_learns()

    def _solver(self) -> Solver:
        from ..solvers import StochasticDescent

        settings, penalty = self._walk(known_loss(self.loss)[1]), self._penalty()
        if penalty.l1 > 0 and penalty.l2 == 0 and not self._is_scikit_learns():
            settings["order"] = "shuffled"  # rows drawn twice or not at all are noise that lifts weights off zero
        return StochasticDescent(**settings)

    def _solve(self, objectives: list[Objective], starts: list[Start] | None) -> list[Result]:
        """Solve; where that stopped far from the optimum because of a column's scale, it has not converged."""
        results = super()._solve(objectives, starts)
        limits = (FEWER_THERE, np.inf) if self._is_scikit_learns() else (FEWER, MISSED)
        if not all(result.converged for result in results):
            if self.schedule is not None or self._is_scikit_learns():
                return results
            named = zip(objectives, results, strict=True)
            return [replace(one, advice=scaling.instead_of_steps(of, one, self._feature_names)) for of, one in named]
        k, words = scaling.advice(objectives, results, self._feature_names, *limits)
        if not words and not self._is_scikit_learns() and not starts:
            k, words = scaling.too_long(objectives, results)
        if words:
            results[k] = replace(results[k], converged=False, advice=words)
        return results
