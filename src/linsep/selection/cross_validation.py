"""`LogisticRegressionCV` and `LinearSVCCV`: C, and the share of L1, by cross-validation along warm starts."""

from __future__ import annotations

import inspect
import sys
import warnings
from collections.abc import Mapping, Sequence
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import narwhals as nw
import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn import get_config
from sklearn.metrics import get_scorer
from sklearn.model_selection import check_cv
from sklearn.utils import check_random_state
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, get_routing_for_object, process_routing
from sklearn.utils.parallel import Parallel, delayed

from .._checks import check_choice
from .._core import Rows
from .._types import FloatArray
from .._words import shown
from ..certificates.held_out import Fold
from ..estimators import LinearSVC, LogisticRegression
from ..estimators._certified import CertifiedEstimator
from ..estimators._fitting import posed
from ..estimators._specification import penalty_of
from ..penalties import Penalty
from .proven import Proven, Search
from .tracks import Track

#: Where C is looked for, if nobody says.
RANGE = (1e-4, 1e4)
#: Fits on folds may stop at a gap so much larger than the last one's: they are scored, not kept.
LOOSER = 10.0


def grid_of(Cs: Any) -> FloatArray:
    """Return the values of C, ascending: those given, or so many from 1e-4 to 1e4, as in scikit-learn.

    Examples
    --------
    >>> grid_of(3), grid_of([1, 0.1])
    (array([1.e-04, 1.e+00, 1.e+04]), array([0.1, 1. ]))
    """
    if isinstance(Cs, Integral) and not isinstance(Cs, bool):
        if Cs < 1:
            raise ValueError(f"Cs={shown(Cs)} must be at least 1: how many values of C to try, or these values")
        return np.geomspace(*RANGE, int(Cs))
    grid = np.unique(np.asarray(Cs, dtype=np.float64).ravel())
    if not len(grid) or not (grid > 0).all():
        raise ValueError(f"Cs={shown(Cs)} must be positive numbers: the values of C to try")
    return grid


class CrossValidated(CertifiedEstimator):
    """What both estimators share: the folds, their scores, the choice, and the fit with it."""

    Cs: Any
    cv: Any
    scoring: Any
    refit: bool
    rule: str
    prove: bool
    random_state: Any
    n_jobs: int | None
    Cs_: FloatArray
    l1_ratios_: FloatArray
    C_: Any
    l1_ratio_: Any
    scores_: Any
    coefs_paths_: Any
    proof_: Proven
    warm_start = False
    #: What the estimator has of the parameters of the one that is fitted for each C.
    _shared: ClassVar[Sequence[str]] = ()

    def _ratios(self) -> list[float]:
        """Return the shares of L1 to try."""
        return [self._penalty().l1]

    def _plain(self, l1_ratio: float) -> Any:
        """Return the estimator that is fitted for each C."""
        raise TypeError(f"{type(self).__name__} does not say what it fits")

    def _shown_without_ratios(self) -> bool:
        """Whether `use_legacy_attributes` leaves the shares of L1 out."""
        return True

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None, **params: Any) -> Self:
        """Choose C by cross-validation, and learn from all examples with it.

        Parameters
        ----------
        X, y, sample_weight
            As for `LogisticRegression`.
        **params
            For the splitter and the scorer: by metadata routing where that is enabled, else ``groups`` goes to the
            splitter.

        Returns
        -------
        self
        """
        self._check_choice()
        ratios, grid = self._ratios(), grid_of(self.Cs)
        plain, examples, classes = posed(self._plain(ratios[0]), X, y, sample_weight)
        plain._class_weights(examples, classes)  # which refuses weights that are all zero
        self._check_provable(classes, ratios)
        for name in ("n_features_in_", "feature_names_in_"):
            self.__dict__.pop(name, None)
            if hasattr(plain, name):
                setattr(self, name, getattr(plain, name))
        labels, split, score = np.asarray(y), *self._routed(examples.weight, params)
        folds = list(check_cv(self.cv, labels, classifier=True).split(X, labels, **split))
        self._check_folds(folds, examples.codes, classes)
        scored = _Scored(self, examples, classes, labels, score, grid, ratios)
        scored.try_scorer(folds[0][1])
        work = (delayed(scored.fold)(number, len(folds), *fold) for number, fold in enumerate(folds))
        tables = Parallel(n_jobs=self.n_jobs, prefer="threads")(work)
        coefs, scores, counts = (np.array(part) for part in zip(*tables, strict=True))
        self.Cs_, self.l1_ratios_ = grid, np.array(ratios)
        self.coefs_paths_, self.scores_, self._n_iter_of_folds = coefs, scores, counts
        best = self._best(scores, counts)
        self.C_, self.l1_ratio_ = float(grid[best[1]]), float(ratios[best[0]])
        if self.prove:
            self._prove(examples, classes, folds, coefs[:, best[0], :, 0])
        if self.refit:
            self._column_names = None
            self._learn(examples, classes)
        else:
            self._average(classes, coefs, scores)
        self._as_scikit_learn(classes)
        return self

    # -- what is asked for --------------------------------------------------------------------------------------------

    def _check_choice(self) -> None:
        check_choice("rule", self.rule, ("best", "1se"))
        for name in ("refit", "prove"):
            if not isinstance(getattr(self, name), bool | np.bool_):
                raise ValueError(f"{name}={shown(getattr(self, name))} must be True or False")
        if self.prove and self.scoring not in (None, "accuracy", "balanced_accuracy"):
            raise ValueError(f"prove=True counts mistakes; with scoring={shown(self.scoring)} there is no bound")
        if self.prove and self.rule != "best":
            raise ValueError("prove=True bounds the fewest mistakes, and chooses by them; use rule='best'")

    def _check_provable(self, classes: NDArray[Any], ratios: list[float]) -> None:
        if self.prove and (len(classes) != 2 or 1.0 in ratios):
            raise ValueError("prove=True is for two classes, and for a penalty with a share of L2")

    def _scorer(self) -> Any:
        return get_scorer("accuracy" if self.scoring is None else self.scoring)

    def _routed(self, sample_weight: Any, params: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return what goes to the splitter, and what to the scorer."""
        if get_config()["enable_metadata_routing"]:
            routed = process_routing(self, "fit", sample_weight=sample_weight, **params)
            return dict(routed.splitter.split), dict(routed.scorer.score)
        unknown = sorted(set(params) - {"groups"})
        if unknown:
            raise ValueError(f"passing {unknown} on is only supported if enable_metadata_routing=True; leave them out")
        groups = params.get("groups")
        if groups is not None and not _knows_groups(self.cv):
            raise ValueError(
                f"groups would be ignored by cv={shown(self.cv)}; use one that knows groups: GroupKFold(5)"
            )
        weights = {} if sample_weight is None else {"sample_weight": sample_weight}
        return {} if groups is None else {"groups": groups}, weights

    def get_metadata_routing(self) -> Any:
        """Return who takes which metadata: the splitter at `fit`, the scorer at `fit` and `score`."""
        fit_split = MethodMapping().add(caller="fit", callee="split")
        scores = MethodMapping().add(caller="score", callee="score").add(caller="fit", callee="score")
        router = MetadataRouter(owner=self).add_self_request(self)
        return router.add(splitter=self.cv, method_mapping=fit_split).add(scorer=self._scorer(), method_mapping=scores)

    def _check_folds(self, folds: list[Any], codes: NDArray[Any], classes: NDArray[Any]) -> None:
        if not folds:
            raise ValueError("cv gives no folds at all")
        for number, (train, _) in enumerate(folds, start=1):
            missing = np.setdiff1d(np.arange(len(classes)), codes[train])
            if len(missing):
                raise ValueError(
                    f"fold {number} of {len(folds)} has no example of class {shown(classes[missing[0]])} to learn "
                    "from; use fewer folds, or a stratified splitter"
                )

    # -- the choice ---------------------------------------------------------------------------------------------------

    def _best(self, scores: FloatArray, counts: Any) -> tuple[int, int]:
        """Return the numbers of the share of L1 and of C: the best mean, or the strongest penalty within one error."""
        mean = scores.mean(axis=0)
        ratio, at = (int(one) for one in np.unravel_index(int(np.argmax(mean)), mean.shape))
        if self.rule == "1se" and len(scores) > 1:
            error = float(scores[:, ratio, at].std(ddof=1)) / np.sqrt(len(scores))
            at = int(np.argmax(mean[ratio] >= mean[ratio, at] - error))
        return ratio, at

    def _average(self, classes: NDArray[Any], coefs: FloatArray, scores: FloatArray) -> None:
        """Keep the mean of the planes that are best in each fold, as scikit-learn does without `refit`."""
        flat = scores.reshape(len(scores), -1).argmax(axis=1)
        which = [np.unravel_index(k, scores.shape[1:]) for k in flat]
        planes = np.mean([coefs[fold, ratio, at] for fold, (ratio, at) in enumerate(which)], axis=0)
        self.C_ = float(np.mean([self.Cs_[at] for _, at in which]))
        self.l1_ratio_ = float(np.mean([self.l1_ratios_[ratio] for ratio, _ in which]))
        self.classes_, self._proofs = classes, []
        self.coef_ = np.ascontiguousarray(planes[:, : self.n_features_in_])
        self.intercept_ = planes[:, -1].copy() if self.fit_intercept else np.zeros(len(planes))

    def _prove(self, examples: Any, classes: NDArray[Any], folds: list[Any], planes: FloatArray) -> None:
        """Bound the mistakes of every C, and choose the best one found on the way."""
        plain = self._plain(self.l1_ratio_)
        plain.n_features_in_ = examples.d
        made = [_fold(plain, examples, classes, self.scoring, *fold) for fold in folds]
        for fold, path in zip(made, planes, strict=True):
            for C, plane in zip(self.Cs_, path, strict=True):
                if fold.objective.loss.smooth:  # else a dual point does not follow from the plane
                    fold.add(float(C), plane[: examples.d].copy(), float(plane[-1]) if self.fit_intercept else 0.0)
        slack = 1e-3 * sum(float(fold.weight.sum()) for fold in made)
        self.proof_ = Search(made, seed=_seed(self.random_state)).run(self.Cs_, slack)
        self.C_ = self.proof_.C

    def to_frame(self, backend: Any = "pandas") -> Any:
        """Return the scores as a table: one row a C (and share of L1), with mean, spread, and a column a fold."""
        scores = np.asarray(self._scores_by_fold)
        ratios, Cs = (one.ravel() for one in np.meshgrid(self.l1_ratios_, self.Cs_, indexing="ij"))
        table: dict[str, Any] = {"l1_ratio": ratios, "C": Cs, "mean": scores.mean(axis=0).ravel()}
        table["std"] = scores.std(axis=0).ravel()
        table |= {f"fold_{k + 1}": one.ravel() for k, one in enumerate(scores)}
        return nw.from_dict(table, backend=backend).to_native()

    def score(self, X: Any, y: ArrayLike, **params: Any) -> float:
        """Return the score by which C was chosen, on these examples; `params` are for the scorer."""
        if get_config()["enable_metadata_routing"]:
            params = process_routing(self, "score", **params).scorer.score
        unknown = sorted(set(params) - {"sample_weight"})
        if unknown and not get_config()["enable_metadata_routing"]:
            raise ValueError(f"passing {unknown} on is only supported if enable_metadata_routing=True; leave them out")
        return float(self._scorer()(self, X, y, **params))

    def at_choice(self) -> Any:
        """Return the plain estimator with the chosen C, fitted as this one is; its ``choice_`` says how C was chosen.

        What `linsep.save` writes.

        Returns
        -------
        LogisticRegression or LinearSVC
            ``choice_`` is a dictionary: the rule, the score, and for each C (and share of L1) the score of every fold.
        """
        if not hasattr(self, "scores_"):
            raise ValueError("it is not fitted: call fit first")
        if not self.refit:
            raise ValueError("with refit=False it is a mean of planes, the optimum of nothing; fit with refit=True")
        plain = self._plain(float(np.ravel(self.l1_ratio_)[0])).set_params(C=self._C())
        own = {"C_", "Cs_", "l1_ratio_", "l1_ratios_", "scores_", "coefs_paths_", "proof_", "_scores_by_fold"}
        vars(plain).update(
            {name: value for name, value in vars(self).items() if name not in own | {*self.get_params()}}
        )
        plain.n_iter_ = self._n_iter_of_refit
        del plain._n_iter_of_refit
        plain.choice_ = {
            "rule": self.rule,
            "score": self.scoring if isinstance(self.scoring, str | None) else shown(self.scoring),
            "C": self.Cs_.tolist(),
            "l1_ratio": self.l1_ratios_.tolist(),
            "folds": self._scores_by_fold.tolist(),
        }
        if self.prove:
            plain.choice_["bound"] = str(self.proof_)
        return plain

    # -- attributes ---------------------------------------------------------------------------------------------------

    def _as_scikit_learn(self, classes: NDArray[Any]) -> None:
        """Name what was found as scikit-learn does: arrays, or with `use_legacy_attributes` dictionaries by class."""
        self._n_iter_of_refit = self.n_iter_ if self.refit else None
        self._scores_by_fold, self.n_iter_ = self.scores_, self._n_iter_of_folds
        del self._n_iter_of_folds
        if not getattr(self, "use_legacy_attributes", False):
            return
        positive = classes[1:] if len(classes) == 2 else classes
        scores, paths = np.moveaxis(self.scores_, 1, 2), np.moveaxis(self.coefs_paths_, (3, 1), (0, 3))
        iterations = np.moveaxis(self.n_iter_, 1, 2)[None]
        if self._shown_without_ratios():
            scores, paths, iterations = scores[..., 0], paths[:, :, :, 0], iterations[..., 0]
        self.scores_ = dict.fromkeys(positive.tolist(), scores)
        self.coefs_paths_ = dict(zip(positive.tolist(), paths, strict=True))
        self.n_iter_ = iterations
        self.C_, self.l1_ratio_ = np.full(len(positive), self.C_), np.full(len(positive), self.l1_ratio_)

    def _C(self) -> float:
        return float(np.ravel(getattr(self, "C_", 1.0))[0])

    def _plane(self, model: Any) -> FloatArray:
        planes = np.asarray(model.coef_, dtype=np.float64)
        return np.column_stack([planes, np.ravel(model.intercept_)]) if self.fit_intercept else planes


class _Scored:
    """The scores of all folds, and what they are computed from."""

    def __init__(
        self, owner: Any, examples: Any, classes: Any, labels: Any, params: Any, grid: Any, ratios: Any
    ) -> None:
        self.owner, self.examples, self.classes, self.labels = owner, examples, classes, labels
        self.params, self.grid, self.ratios, self.scorer = params, grid, ratios, owner._scorer()
        self.seed = _seed(owner.random_state)

    def try_scorer(self, test: Any) -> None:
        """Score a plane of zeros, so that a score that such a model cannot have is refused before the work.

        Only a scorer that scikit-learn made: one of the user's own may count how often it is called.
        """
        if not isinstance(self.scorer, type(get_scorer("accuracy"))):
            return
        model, planes = self._plain(self.ratios[0]), 1 if len(self.classes) == 2 else len(self.classes)
        model.classes_, model._proofs = self.classes, []
        model.coef_, model.intercept_ = np.zeros((planes, self.examples.d)), np.zeros(planes)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                self._score([model], test)
            except AttributeError as error:
                raise ValueError(
                    f"scoring={shown(self.owner.scoring)} cannot be had of {type(self.owner).__name__}: {error}; use a "
                    "score of predictions, or LogisticRegressionCV for one of probabilities"
                ) from error

    def _plain(self, ratio: float) -> Any:
        plain = self.owner._plain(ratio)
        plain.n_features_in_ = self.examples.d
        return plain

    def _score(self, models: list[Any], test: Any) -> list[float]:
        held, labels = self.examples.rows.X[test], self.labels[test]
        params = {name: np.asarray(value)[test] for name, value in self.params.items()}
        counts = params.get("sample_weight", np.ones(len(test))).sum() > 0  # else the scorer says what it makes of it
        if self.owner.scoring in (None, "accuracy") and len(self.classes) == 2 and counts:  # all C by one product
            g = np.asarray(held @ np.array([model.coef_[0] for model in models]).T)
            hits = ((g + [model.intercept_[0] for model in models]) > 0) == (labels == self.classes[1])[:, None]
            return [float(one) for one in np.average(hits, axis=0, weights=params.get("sample_weight"))]
        return [float(self.scorer(model, held, labels, **params)) for model in models]

    def fold(self, number: int, count: int, train: Any, test: Any) -> tuple[FloatArray, FloatArray, NDArray[Any]]:
        """Return the planes, the scores and the iterations of one fold, by share of L1 and C."""
        weight, owner = self.examples.weight, self.owner
        part = self.examples.chosen(train, None if weight is None else weight[train])
        tables: list[list[Any]] = [[], [], []]
        for ratio in self.ratios:
            track = Track(self._plain(ratio), part, self.classes, LOOSER * owner.tol, self.seed)
            models = [track.model(float(C)) for C in self.grid]
            tables[0].append([owner._plane(model) for model in models])
            tables[1].append(self._score(models, test))
            tables[2].append([model.n_iter_ for model in models])
        if owner.verbose:
            print(f"fold {number + 1} of {count}: best score {np.max(tables[1]):.4f}", file=sys.stderr)
        planes, scores, iterations = (np.array(table) for table in tables)
        return planes, scores, iterations


def _fold(plain: Any, examples: Any, classes: Any, scoring: Any, train: Any, test: Any) -> Fold:
    """Return a fold to bound the mistakes of; with balanced accuracy each class's rows count the same together."""
    weight = None if examples.weight is None else examples.weight[train]
    objective = Track(plain, examples.chosen(train, weight), classes, 1.0).objectives[0]
    codes = examples.codes[test]
    cost = np.ones(len(test)) if examples.weight is None else examples.weight[test].copy()
    if scoring == "balanced_accuracy":
        cost *= 0.5 * cost.sum() / np.bincount(codes, weights=cost, minlength=2)[codes]
    return Fold(objective, Rows(examples.rows.X[test]), np.where(codes == 1, 1.0, -1.0), cost)


def _knows_groups(cv: Any) -> bool:
    """Whether a splitter asks for groups; one that says nothing of it, by what its `split` takes."""
    if hasattr(cv, "get_metadata_routing"):
        return bool(get_routing_for_object(cv).consumes("split", ["groups"]))
    return hasattr(cv, "split") and "groups" in inspect.signature(cv.split).parameters


def _seed(random_state: Any) -> int:
    return int(check_random_state(random_state).randint(2**31 - 1))


class LogisticRegressionCV(CrossValidated, LogisticRegression):
    """Logistic regression with C, and the share of L1, chosen by cross-validation.

    Parameters
    ----------
    Cs : int or array, default=10
        The values of C to try, or how many from 1e-4 to 1e4.
    l1_ratios : array, optional
        The shares of L1 to try; by default none.
    fit_intercept, dual, solver, tol, max_iter, class_weight, n_jobs, verbose, intercept_scaling, random_state
        As for `LogisticRegression`; `n_jobs` folds are fitted at once. Classes are balanced by the rows that a fold
        learns from.
    cv : int, splitter or None
        Folds; by default five, stratified.
    penalty : {"l2", "l1", "elasticnet"}, optional
        scikit-learn's older way to say `l1_ratios`.
    scoring : str, scorer or None
        By default the accuracy.
    refit : bool, default=True
        Whether to learn from all examples with the choice; otherwise the planes of the folds are averaged.
    multi_class : {"softmax", "ovr"}, default="softmax"
        As for `LogisticRegression`.
    rule : {"best", "1se"}, default="best"
        The best mean score, or the smallest C within one standard error of it.
    prove : bool, default=False
        Whether to bound the mistakes of every C from the smallest to the largest of `Cs` (accuracy, balanced accuracy;
        two classes): ``proof_`` says how many no C makes fewer than, and the choice is the best one found on the way.
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
        prove: bool = False,
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
                f"l1_ratios must be an array-like of numbers between 0 and 1; got (l1_ratios={self.l1_ratios!r})"
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
        prove: bool = False,
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
