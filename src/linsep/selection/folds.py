"""The folds of a cross-validation: for each C, and share of L1, the planes of a fold and their score."""

from __future__ import annotations

import inspect
import sys
import warnings
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import get_scorer
from sklearn.utils import check_random_state
from sklearn.utils.metadata_routing import get_routing_for_object
from sklearn.utils.parallel import Parallel, delayed

from .._common.types import FloatArray
from .._common.words import shown
from .._core import Rows, one_blas_thread, one_thread
from ..certificates.counted_mistakes import costs, counts_mistakes
from ..certificates.held_out import Fold
from . import in_step
from .curves import along, first, suits
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
    if isinstance(Cs, bool | np.bool_):
        raise ValueError(f"Cs={shown(Cs)} must be numbers: the values of C to try, or how many")
    if isinstance(Cs, Integral):
        if Cs < 1:
            raise ValueError(f"Cs={shown(Cs)} must be at least 1: how many values of C to try, or these values")
        return np.geomspace(*RANGE, int(Cs))
    try:
        grid = np.unique(np.asarray(Cs, dtype=np.float64).ravel())
    except (TypeError, ValueError) as error:
        raise ValueError(f"Cs={shown(Cs)} must be numbers: the values of C to try, or how many") from error
    if not len(grid) or not (grid > 0).all():
        raise ValueError(f"Cs={shown(Cs)} must be positive numbers: the values of C to try")
    return grid


def check_folds(folds: list[Any], codes: NDArray[Any], classes: NDArray[Any]) -> None:
    """Raise unless there are folds, each with examples of all classes to learn from."""
    if not folds:
        raise ValueError("cv gives no folds at all")
    for number, (train, _) in enumerate(folds, start=1):
        missing = np.setdiff1d(np.arange(len(classes)), codes[train])
        if len(missing):
            raise ValueError(
                f"fold {number} of {len(folds)} has no example of class {shown(classes[missing[0]])} to learn "
                "from; use fewer folds, or a stratified splitter"
            )


def knows_groups(cv: Any) -> bool:
    """Whether a splitter asks for groups; one that says nothing of it, by what its `split` takes."""
    if hasattr(cv, "get_metadata_routing"):
        return bool(get_routing_for_object(cv).consumes("split", ["groups"]))
    return hasattr(cv, "split") and "groups" in inspect.signature(cv.split).parameters


@dataclass(frozen=True)
class Planes:
    """The planes of a fold for each C: those that were solved for, and how much each of them counts."""

    solved: FloatArray  # shape (solved, planes, d + 1): the intercept last, if there is one
    shares: FloatArray | None = None  # shape (Cs, solved); None where each C was solved for

    def at(self, k: int) -> FloatArray:
        """Return the planes for one C."""
        if self.shares is None:
            return np.asarray(self.solved[k])
        which = np.flatnonzero(self.shares[k])
        return np.asarray(np.tensordot(self.shares[k, which], self.solved[which], axes=1))

    def all(self) -> FloatArray:
        """Return the planes for every C."""
        return self.solved if self.shares is None else np.tensordot(self.shares, self.solved, axes=1)


@dataclass(frozen=True)
class Tried:
    """One fold: by share of L1 its planes, scores and iterations for each C, and where it can be bounded, the fold."""

    planes: list[Planes]
    scores: list[list[float]]
    iterations: list[list[int]]
    folds: list[Fold | None]


class Folds:
    """All folds, and what their scores are computed from."""

    def __init__(
        self, owner: Any, examples: Any, classes: Any, labels: Any, params: Any, grid: Any, ratios: Any
    ) -> None:
        self.owner, self.examples, self.classes, self.labels = owner, examples, classes, labels
        self.params, self.grid, self.ratios, self.scorer = params, grid, ratios, owner._scorer(classes)
        self.seed, self.tol = int(check_random_state(owner.random_state).randint(2**31 - 1)), LOOSER * owner.tol
        #: What makes the columns fit for solvers, for all folds at once; equal rows are merged fold by fold.
        self.chain: list[Any] = []
        self.columns, self.in_best_form = examples.rows, False

    def try_scorer(self, test: Any) -> None:
        """Score a plane of zeros, so that a score that such a model cannot have is refused before the work.

        Only a scorer that scikit-learn made: one of the user's own may count how often it is called.
        """
        if not isinstance(self.scorer, type(get_scorer("accuracy"))):
            return
        planes = np.zeros((1, 1 if len(self.classes) == 2 else len(self.classes), self.examples.d + 1))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                self._scores(self.plain(self.ratios[0]), Planes(planes), 1, test)
            except AttributeError as error:
                raise ValueError(
                    f"scoring={shown(self.owner.scoring)} cannot be had of {type(self.owner).__name__}: {error}; use a "
                    "score of predictions, or LogisticRegressionCV for one of probabilities"
                ) from error

    def tried(self, folds: list[Any]) -> list[Tried]:
        """Return what is found of each fold; all are solved in step, or the first one shows the others the way."""
        interpolated = self._are_interpolated()
        posed = self._each(folds, self._posed) if interpolated else []
        guided = interpolated and not self._in_step(posed, folds)
        made = [self._tried(0, folds, posed[0], [None] * len(self.ratios))] if guided else []
        guides = made[0].folds if guided else [None] * len(self.ratios)

        def one(number: int) -> Tried:
            return self._tried(number, folds, posed[number] if interpolated else None, guides)

        return made + self._each(range(len(made), len(folds)), one)

    def _each(self, items: Any, task: Any) -> list[Any]:
        """Do a task for each fold: side by side, if so many jobs are asked for."""
        side_by_side = self.owner.n_jobs not in (None, 1)

        def alone(item: Any) -> Any:
            with one_thread() if side_by_side else nullcontext():
                return task(item)

        with one_blas_thread() if side_by_side else nullcontext():
            return list(Parallel(n_jobs=self.owner.n_jobs, prefer="threads")(delayed(alone)(item) for item in items))

    def _posed(self, fold: Any) -> list[Fold]:
        """Return a fold to be solved along C, for each share of L1."""
        return [self.held_out(self.track(ratio, fold[0]), fold[1]) for ratio in self.ratios]

    def _in_step(self, posed: list[list[Fold]], folds: list[Any]) -> bool:
        """Whether all folds can be solved in step; then they are, where one fold would be solved for first."""
        if not all(in_step.suits(some, folds, self.columns) for some in zip(*posed, strict=True)):
            return False
        y, weight = np.where(self.examples.codes == 1, 1.0, -1.0), self.examples.weight
        for some in zip(*posed, strict=True):
            in_step.InStep(some, folds, self.columns, y, weight).along(first(self.grid, self.tol), self.tol, self.seed)
        return True

    def plain(self, ratio: float) -> Any:
        """Return the estimator that is fitted for each C."""
        plain = self.owner._plain(ratio)
        plain.n_features_in_, plain.classes_ = self.examples.d, self.classes
        return plain

    def held_out(self, track: Track, test: Any, *, merged: bool = True) -> Fold:
        """Return a fold to be solved along C, in the form that a solver wants: with equal rows `merged` or not."""
        codes, weight = self.examples.codes[test], self.examples.weight
        score = self.owner.scoring if counts_mistakes(self.owner.scoring) else None
        cost = costs(codes, None if weight is None else weight[test], score)
        objective = track.objectives[0]
        if self.in_best_form and merged:
            form, chain = track.best_form()
            # Columns have the form that all folds share: in one of their own, planes are not those of held-out rows.
            objective = form if all(one.help == "merging" for one in chain) else objective
        found = Fold(objective, Rows(self.columns.X[test]), np.where(codes == 1, 1.0, -1.0), cost)
        found.in_best_form = self.in_best_form
        return found

    def track(self, ratio: float, train: Any) -> Track:
        """Return a fold's training rows, to be fitted along C."""
        weight = self.examples.weight
        part = self.examples.with_rows(self.columns).chosen(train, None if weight is None else weight[train])
        return Track(self.plain(ratio), part, self.classes, self.tol, self.seed)

    def _are_interpolated(self) -> bool:
        """Whether all folds can be interpolated; then their columns are made fit for solvers."""
        if not np.isfinite(self.grid).all():  # without a penalty there is no curve that leads there
            return False
        tracks = [Track(self.plain(ratio), self.examples, self.classes, self.tol) for ratio in self.ratios]
        return all(suits(track.objectives[0]) for track in tracks) and self.prepare(tracks[0])

    def prepare(self, track: Track) -> bool:
        """Make all columns fit for solvers, where that is the same for every C and the solver is ours to choose."""
        if len(track.objectives) > 1 or track.template._solver() is not None:
            return False
        objective, chain = track.best_form(but_for="merging")
        if any(reduction.help == "scaling" for reduction in chain):  # whose form depends on C
            return False
        self.chain, self.columns, self.in_best_form = chain, objective.rows, True
        return True

    def _tried(
        self, number: int, folds: list[Any], posed: Sequence[Fold | None] | None, guides: Sequence[Fold | None]
    ) -> Tried:
        """Return what is found of one fold; unless it is posed to be interpolated, each C is solved for."""
        found, (train, test) = Tried([], [], [], []), folds[number]
        for ratio, fold, guide in zip(self.ratios, posed or [None] * len(self.ratios), guides, strict=True):
            if fold is not None:
                points, iterations = along(fold, self.grid, self.tol, self.seed, guide)
                planes = self._mixed(fold, points)
            else:
                track = self.track(ratio, train)
                models = [track.model(float(C)) for C in self.grid]
                planes = Planes(np.array([self._plane(model) for model in models]))
                iterations = [model.n_iter_ for model in models]
            found.planes.append(planes)
            found.scores.append(self._scores(self.plain(ratio), planes, len(self.grid), test, fold))
            found.iterations.append(iterations)
            found.folds.append(fold)
        if self.owner.verbose:
            print(f"fold {number + 1} of {len(folds)}: best score {np.max(found.scores):.4f}", file=sys.stderr)
        return found

    def planes_of(self, fold: Fold) -> FloatArray:
        """Return the planes of a fold's stops on the rows as they are given, the intercept last."""
        theta = np.array([np.append(stop.w, stop.b) for stop in fold.stops])
        for reduction in reversed(self.chain) if fold.in_best_form else ():
            theta = reduction.plane(theta)
        return np.asarray(theta)

    def _mixed(self, fold: Fold, points: list[Any]) -> Planes:
        """Return the planes of interpolated points, on the rows as they are given."""
        numbers = {id(stop): k for k, stop in enumerate(fold.stops)}
        shares = np.zeros((len(points), len(fold.stops)))
        for k, point in enumerate(points):
            shares[k, [numbers[id(stop)] for stop in point.stops]] = point.shares
        theta = self.planes_of(fold)
        return Planes(theta[:, None, :] if self.owner.fit_intercept else theta[:, None, :-1], shares)

    def _plane(self, model: Any) -> FloatArray:
        planes = np.asarray(model.coef_, dtype=np.float64)
        return np.column_stack([planes, np.ravel(model.intercept_)]) if self.owner.fit_intercept else planes

    def _scores(self, model: Any, planes: Planes, count: int, test: Any, fold: Fold | None = None) -> list[float]:
        """Return the score of the planes for each C on the held-out rows."""
        held, labels, d = self.examples.rows.X[test], self.labels[test], self.examples.d
        params = {name: np.asarray(value)[test] for name, value in self.params.items()}
        counts = params.get("sample_weight", np.ones(len(test))).sum() > 0  # else the scorer says what it makes of it
        if self.owner.scoring in (None, "accuracy") and len(self.classes) == 2 and counts:  # all C by one product
            if fold is None:
                theta = planes.all()[:, 0]
                g = np.asarray(held @ theta[:, :d].T).T + (theta[:, d:] if theta.shape[1] > d else 0.0)
            else:
                g = planes.shares @ np.array([stop.g for stop in fold.stops])
            hits, weight = (g > 0) == (labels == self.classes[1]), params.get("sample_weight")
            shares = np.average(hits, axis=1, weights=weight) if weight is not None else hits.sum(axis=1) / len(test)
            return [float(one) for one in shares]
        found = []
        for k in range(count):
            theta = planes.at(k)
            model.coef_ = np.ascontiguousarray(theta[:, :d])
            model.intercept_ = theta[:, d].copy() if theta.shape[1] > d else np.zeros(len(theta))
            found.append(float(self.scorer(model, held, labels, **params)))
        return found
