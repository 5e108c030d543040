"""`LogisticRegressionCV` and `LinearSVCCV`: C, and the share of L1, by cross-validation."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .._common.checks import check_choice
from .._common.words import shown
from ..estimators import LinearSVC, LogisticRegression
from ..estimators._specification import penalty_of
from ..penalties import Penalty
from .cross_validated import CrossValidated

__all__ = ["LinearSVCCV", "LogisticRegressionCV"]


class LogisticRegressionCV(CrossValidated, LogisticRegression):
    """Logistic regression with C, and the share of L1, chosen by cross-validation.

    Parameters
    ----------
    Cs : int or array, default=10
        The values of C to try, or how many from 1e-4 to 1e4.
    l1_ratios : array, optional
        The shares of L1 to try; by default none.
    fit_intercept, dual, solver, tol, max_iter, class_weight, n_jobs, verbose, intercept_scaling, random_state
        As for `LogisticRegression`; `n_jobs` folds are fitted at once, and meanwhile NumPy's and SciPy's linear algebra
        has one thread in the whole process. Classes are balanced by the rows that a fold learns from.
    cv : int, splitter or None
        Folds; by default five, stratified.
    penalty : {"l2", "l1", "elasticnet"}, optional
        scikit-learn's older way to say `l1_ratios`.
    scoring : str, scorer or None
        By default the accuracy. ``"costs=1:5"``: of two classes, what a false alarm (the second said of the first) and
        a miss cost, as little as possible.
    refit : bool, default=True
        Whether to learn from all examples with the choice; otherwise the planes of the folds are averaged.
    multi_class : {"softmax", "ovr"}, default="softmax"
        As for `LogisticRegression`.
    rule : {"best", "1se"}, default="best"
        The best mean score, or the smallest C within one standard error of it.
    prove : bool or float, default=False
        Whether to bound the mistakes of every C from the smallest to the largest of `Cs` (accuracy, balanced accuracy,
        costs; two classes): ``proof_`` says how many no C makes fewer than, and the choice is the best one found on the
        way. It ends within 1 mistake in 1,000 rows, after 10 times the work of plain cross-validation (a number: so
        many times; ``np.inf``: 100,000 fits and cells) or with Ctrl-C; ``proof_`` then says what is proven by then.
    use_legacy_attributes : bool, default=False
        Whether ``C_``, ``scores_``, … are by class, as in scikit-learn up to 1.9.

    Attributes
    ----------
    C_, l1_ratio_ : float
        The choice.
    Cs_, l1_ratios_ : array
        What was tried.
    scores_ : array of shape (folds, shares, Cs)
    coefs_paths_ : array of shape (folds, shares, Cs, planes, d + 1)
        The planes of every fold; the intercept last, if there is one.
    n_iter_ : array of shape (folds, shares, Cs)
    proof_ : Proven
        With `prove`.
    coef_, intercept_, certificate_, …
        As for `LogisticRegression`, at the choice.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> from linsep import LogisticRegressionCV
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = LogisticRegressionCV(Cs=9).fit(scale(X), y)
    >>> model.C_, model.scores_.shape, model.certificate_.proven
    (1.0, (5, 1, 9), True)
    """

    _shared = (
        *("fit_intercept", "dual", "solver", "tol", "max_iter", "class_weight", "multi_class"),
        *("random_state", "intercept_scaling", "n_jobs"),
    )

    def __init__(
        self,
        *,
        Cs: Any = 10,
        l1_ratios: ArrayLike | None = None,
        fit_intercept: bool = True,
        cv: Any = None,
        dual: bool = False,
        penalty: str = "deprecated",
        scoring: Any = None,
        solver: Any = "auto",
        tol: float = 1e-4,
        max_iter: int | None = None,
        class_weight: Mapping[Any, float] | str | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        refit: bool = True,
        intercept_scaling: float = 1.0,
        random_state: Any = None,
        multi_class: str = "softmax",
        rule: str = "best",
        prove: bool | float = False,
        use_legacy_attributes: bool = False,
    ) -> None:
        self.Cs = Cs
        self.l1_ratios = l1_ratios
        self.fit_intercept = fit_intercept
        self.cv = cv
        self.dual = dual
        self.penalty = penalty
        self.scoring = scoring
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.class_weight = class_weight
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.refit = refit
        self.intercept_scaling = intercept_scaling
        self.random_state = random_state
        self.multi_class = multi_class
        self.rule = rule
        self.prove = prove
        self.use_legacy_attributes = use_legacy_attributes

    def _ratios(self) -> list[float]:
        """Return the shares of L1 to try, as `l1_ratios` or scikit-learn's older `penalty` says."""
        check_choice("penalty", self.penalty, ("deprecated", "l2", "l1", "elasticnet"))
        if self.penalty in ("l2", "l1"):
            return [1.0 if self.penalty == "l1" else 0.0]
        given = [0.0] if self.l1_ratios is None and self.penalty == "deprecated" else self.l1_ratios
        ratios = [] if given is None else list(np.ravel(np.asarray(given, dtype=object)))
        if not ratios or not all(isinstance(one, Real) and 0 <= float(one) <= 1 for one in ratios):
            raise ValueError(
                f"l1_ratios must be an array-like of numbers between 0 and 1; got (l1_ratios={shown(self.l1_ratios)})"
            )
        return [float(one) for one in ratios]

    def _shown_without_ratios(self) -> bool:
        return self.l1_ratios is None or self.penalty in ("l2", "l1")

    def _plain(self, l1_ratio: float) -> LogisticRegression:
        return LogisticRegression(l1_ratio=l1_ratio, **{name: getattr(self, name) for name in self._shared})

    def _penalty(self) -> Penalty:
        return penalty_of("elasticnet", float(np.ravel(getattr(self, "l1_ratio_", self._ratios()[0]))[0]))

    def _warn_of_ignored(self) -> None:
        """There is no C beside which something could be ignored."""


class LinearSVCCV(CrossValidated, LinearSVC):
    """Linear support vector machine with C chosen by cross-validation.

    Parameters
    ----------
    penalty, loss, fit_intercept, class_weight, tol, max_iter, solver, random_state, n_jobs, verbose
        As for `LinearSVC`.
    Cs, cv, scoring, refit, rule, prove
        As for `LogisticRegressionCV`.

    Attributes
    ----------
    C_, Cs_, scores_, coefs_paths_, n_iter_, proof_
        As for `LogisticRegressionCV`; the shares of L1 are one.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> from linsep import LinearSVCCV
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = LinearSVCCV(Cs=[0.01, 0.1, 1.0], rule="1se").fit(scale(X), y)
    >>> model.C_, model.certificate_.proven
    (0.1, True)
    """

    dual = "auto"
    intercept_scaling = 1.0
    multi_class = "ovr"
    _shared = (
        *("penalty", "loss", "fit_intercept", "class_weight", "tol", "max_iter", "solver"),
        *("random_state", "n_jobs"),
    )

    def __init__(
        self,
        penalty: str = "l2",
        loss: str = "hinge",
        *,
        Cs: Any = 10,
        fit_intercept: bool = True,
        cv: Any = None,
        scoring: Any = None,
        class_weight: Mapping[Any, float] | str | None = None,
        tol: float = 1e-4,
        max_iter: int | None = None,
        solver: Any = "auto",
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        refit: bool = True,
        rule: str = "best",
        prove: bool | float = False,
    ) -> None:
        self.penalty = penalty
        self.loss = loss
        self.Cs = Cs
        self.fit_intercept = fit_intercept
        self.cv = cv
        self.scoring = scoring
        self.class_weight = class_weight
        self.tol = tol
        self.max_iter = max_iter
        self.solver = solver
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.refit = refit
        self.rule = rule
        self.prove = prove

    def _plain(self, l1_ratio: float) -> LinearSVC:
        return LinearSVC(**{name: getattr(self, name) for name in self._shared})
