"""What the estimators that choose C share: what is asked for, the choice, and the fit with it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn import get_config
from sklearn.model_selection import check_cv
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.validation import check_is_fitted

from .._common.checks import check_choice
from .._common.frames import frame_of
from .._common.types import FloatArray, IntArray
from .._common.words import shown
from ..certificates.case import Case
from ..certificates.counted_mistakes import costs_of_two, counts_mistakes
from ..certificates.held_out import Fold
from ..certificates.kinds.choice import partition
from ..certificates.training_data import TrainingData
from ..estimators._certified import CertifiedEstimator
from ..estimators._fitting import posed
from .folds import Folds, Planes, check_folds, grid_of, knows_groups
from .proven import Proven, Search, allowance
from .scores import scorer_named


class CrossValidated(CertifiedEstimator):
    """What both estimators share: the folds, their scores, the choice, and the fit with it."""

    Cs: Any
    cv: Any
    scoring: Any
    refit: bool
    rule: str
    prove: bool | float
    random_state: Any
    n_jobs: int | None
    Cs_: FloatArray
    l1_ratios_: FloatArray
    C_: Any
    l1_ratio_: Any
    scores_: Any
    _paths: list[list[Planes]]
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
        check_folds(folds, examples.codes, classes)
        scored = Folds(self, examples, classes, labels, score, grid, ratios)
        scored.try_scorer(folds[0][1])
        tried = scored.tried(folds)
        self.Cs_, self.l1_ratios_ = grid, np.array(ratios)
        self._paths = [one.planes for one in tried]
        self.scores_ = np.array([one.scores for one in tried])
        self._n_iter_of_folds = np.array([one.iterations for one in tried])
        best = self._best(self.scores_)
        self.C_, self.l1_ratio_ = float(grid[best[1]]), float(ratios[best[0]])
        if self.prove:
            search = self._prove(scored, folds, [(one.folds[best[0]], one.planes[best[0]]) for one in tried])
        if self.refit:
            self._column_names = None
            self._learn(examples, classes)
            if self.prove and self._proofs:
                self._keep_choice(search, scored, partition(folds, examples.n))
        else:
            self._average(classes)
        self._as_scikit_learn(classes)
        return self

    # -- what is asked for --------------------------------------------------------------------------------------------

    def _check_choice(self) -> None:
        check_choice("rule", self.rule, ("best", "1se"))
        if not isinstance(self.refit, bool | np.bool_):
            raise ValueError(f"refit={shown(self.refit)} must be True or False")
        if not isinstance(self.prove, bool | np.bool_) and not (isinstance(self.prove, Real) and self.prove > 0):
            raise ValueError(
                f"prove={shown(self.prove)} must be True, False, or how many times the work of plain cross-validation "
                "it may take"
            )
        if self.prove and not (self.scoring is None or counts_mistakes(self.scoring)):
            raise ValueError(f"prove=True counts mistakes; with scoring={shown(self.scoring)} there is no bound")
        if self.prove and self.rule != "best":
            raise ValueError("prove=True bounds the fewest mistakes, and chooses by them; use rule='best'")
        if self.prove and np.isinf(grid_of(self.Cs)).any():
            raise ValueError(f"prove=True is for an interval of C, and Cs={shown(self.Cs)} has an infinite one")
        if self.prove and len(grid_of(self.Cs)) < 2:
            raise ValueError(
                f"prove=True is for an interval of C, and Cs={shown(self.Cs)} is one value; give both ends"
            )

    def _check_provable(self, classes: NDArray[Any], ratios: list[float]) -> None:
        if self.prove and (len(classes) != 2 or 1.0 in ratios):
            raise ValueError("prove=True is for two classes, and for a penalty with a share of L2")
        if costs_of_two(self.scoring) is not None and len(classes) != 2:
            raise ValueError(f"scoring={shown(self.scoring)} is for two classes, and here are {len(classes)}")

    def _scorer(self, classes: Any = None) -> Any:
        """Return what scores a model; costs ask for the classes, of which it may know those of a fit."""
        classes = getattr(self, "classes_", (0, 1)) if classes is None else classes
        return scorer_named(self.scoring, classes[1])

    def _routed(self, sample_weight: Any, params: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return what goes to the splitter, and what to the scorer."""
        if get_config()["enable_metadata_routing"]:
            routed = process_routing(self, "fit", sample_weight=sample_weight, **params)
            return dict(routed.splitter.split), dict(routed.scorer.score)
        unknown = sorted(set(params) - {"groups"})
        if unknown:
            raise ValueError(f"passing {unknown} on is only supported if enable_metadata_routing=True; leave them out")
        groups = params.get("groups")
        if groups is not None and not knows_groups(self.cv):
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

    # -- the choice ---------------------------------------------------------------------------------------------------

    def _best(self, scores: FloatArray) -> tuple[int, int]:
        """Return the numbers of the share of L1 and of C: the best mean, or the strongest penalty within one error."""
        mean = scores.mean(axis=0)
        ratio, at = (int(one) for one in np.unravel_index(int(np.argmax(mean)), mean.shape))
        if self.rule == "1se" and len(scores) > 1:
            error = float(scores[:, ratio, at].std(ddof=1)) / np.sqrt(len(scores))
            at = int(np.argmax(mean[ratio] >= mean[ratio, at] - error))
        return ratio, at

    def _average(self, classes: NDArray[Any]) -> None:
        """Keep the mean of the planes that are best in each fold, as scikit-learn does without `refit`."""
        flat = self.scores_.reshape(len(self.scores_), -1).argmax(axis=1)
        which = [np.unravel_index(k, self.scores_.shape[1:]) for k in flat]
        planes = np.mean([self._paths[fold][ratio].at(at) for fold, (ratio, at) in enumerate(which)], axis=0)
        self.C_ = float(np.mean([self.Cs_[at] for _, at in which]))
        self.l1_ratio_ = float(np.mean([self.l1_ratios_[ratio] for ratio, _ in which]))
        self.classes_, self._proofs = classes, []
        self.coef_ = np.ascontiguousarray(planes[:, : self.n_features_in_])
        self.intercept_ = planes[:, -1].copy() if self.fit_intercept else np.zeros(len(planes))

    def _prove(self, scored: Folds, folds: list[Any], known: list[tuple[Fold | None, Planes]]) -> Search:
        """Bound the mistakes of every C, and choose the best one found on the way."""
        made = []
        if any(fold is None for fold, _ in known):
            scored.prepare(scored.track(self.l1_ratio_, np.arange(scored.examples.n)))
        for (train, test), (fold, planes) in zip(folds, known, strict=True):
            if fold is None:
                fold = scored.held_out(scored.track(self.l1_ratio_, train), test, merged=False)
                # else a dual point does not follow from planes, or they are of other columns
                if fold.objective.loss.smooth and not scored.chain:
                    for k, C in enumerate(self.Cs_):
                        plane = planes.at(k)[0]
                        b = float(plane[-1]) if self.fit_intercept else 0.0
                        fold.add(float(C), plane[: self.n_features_in_].copy(), b)
            made.append(fold)
        slack = 1e-3 * sum(float(fold.weight.sum()) for fold in made)
        search = Search(made, seed=scored.seed)
        self.proof_ = search.run(self.Cs_, slack, most=allowance(self.prove, len(made) * len(self.Cs_)))
        self.C_ = self.proof_.C
        return search

    def _keep_choice(self, search: Search, scored: Folds, held_out: IntArray | None) -> None:
        """Keep the proof of the choice beside those of the fit, and say what it proves."""
        examples = TrainingData(scored.examples.rows.X, scored.labels, scored.examples.weight)
        case, found, score = Case(self, examples, None, None), self.proof_, self.scoring or "accuracy"
        proof = search.proof(found, self.Cs_, score, held_out, case, planes=scored.planes_of)
        self.proof_ = replace(found, mistakes=proof.claimed.mistakes, bound=proof.claimed.bound)
        self._proofs = [*self._proofs, proof]

    def to_frame(self, backend: Any = "pandas") -> Any:
        """Return the scores as a table: one row a C (and share of L1), with mean, spread, and a column a fold."""
        scores = np.asarray(self._scores_by_fold)
        ratios, Cs = (one.ravel() for one in np.meshgrid(self.l1_ratios_, self.Cs_, indexing="ij"))
        table: dict[str, Any] = {"l1_ratio": ratios, "C": Cs, "mean": scores.mean(axis=0).ravel()}
        table["std"] = scores.std(axis=0).ravel()
        table |= {f"fold_{k + 1}": one.ravel() for k, one in enumerate(scores)}
        return frame_of(table, backend).to_native()

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
        check_is_fitted(self, "scores_")
        if not self.refit:
            raise ValueError("with refit=False it is a mean of planes, the optimum of nothing; fit with refit=True")
        plain = self._plain(float(np.ravel(self.l1_ratio_)[0])).set_params(C=self._C())
        own = {"C_", "Cs_", "l1_ratio_", "l1_ratios_", "scores_", "_paths", "proof_", "_scores_by_fold"}
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
            names = ("mistakes", "bound", "C_min", "C_max")
            plain.choice_["proof"] = {name: float(getattr(self.proof_, name)) for name in names}
        return plain

    @property
    def coefs_paths_(self) -> Any:
        """The planes of every fold for each share of L1 and each C, made of those that were solved for when asked."""
        if "_paths" not in vars(self):
            raise AttributeError(f"{type(self).__name__} has no coefs_paths_ before it is fitted: call fit first")
        paths = np.array([[planes.all() for planes in fold] for fold in self._paths])
        if not getattr(self, "use_legacy_attributes", False):
            return paths
        paths = np.moveaxis(paths, (3, 1), (0, 3))
        by_class = paths[:, :, :, 0] if self._shown_without_ratios() else paths
        positive = self.classes_[1:] if len(self.classes_) == 2 else self.classes_
        return dict(zip(positive.tolist(), by_class, strict=True))

    # -- attributes ---------------------------------------------------------------------------------------------------

    def _as_scikit_learn(self, classes: NDArray[Any]) -> None:
        """Name what was found as scikit-learn does: arrays, or with `use_legacy_attributes` dictionaries by class."""
        self._n_iter_of_refit = self.n_iter_ if self.refit else None
        self._scores_by_fold, self.n_iter_ = self.scores_, self._n_iter_of_folds
        del self._n_iter_of_folds
        if not getattr(self, "use_legacy_attributes", False):
            return
        positive = classes[1:] if len(classes) == 2 else classes
        scores, iterations = np.moveaxis(self.scores_, 1, 2), np.moveaxis(self.n_iter_, 1, 2)[None]
        if self._shown_without_ratios():
            scores, iterations = scores[..., 0], iterations[..., 0]
        self.scores_ = dict.fromkeys(positive.tolist(), scores)
        self.n_iter_ = iterations
        self.C_, self.l1_ratio_ = np.full(len(positive), self.C_), np.full(len(positive), self.l1_ratio_)

    def _C(self) -> float:
        return float(np.ravel(getattr(self, "C_", 1.0))[0])
