"""Fitting, from top to bottom: validate, encode the labels, pose the objectives, solve, certify, store, warn.

`fit(X, y)` makes examples of what it is given, `fit_examples` learns from examples wherever they are, and both go on in
`_learn`. What differs between estimators is what they say of themselves (`_specification`) and a hook or two.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from numbers import Integral
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.utils import check_random_state

from .. import _core
from .._common.types import FloatArray
from .._common.words import shown
from ..certificates.gap.certify import certify
from ..certificates.kinds.gap import Gap
from ..objective.examples import Examples, InMemory
from ..objective.heads import Head, Margin
from ..objective.objective import Objective
from ._callbacks import report_progress, with_callbacks
from ._input import Input
from ._margin import dual_starts
from ._no_optimum import why_no_optimum
from ._resuming import Run, read, written
from ._single import as_single, in_single, is_proven, is_single
from ._specification import column_names
from ._unproven import Warnings

if TYPE_CHECKING:  # a solver is loaded by a fit, not by whoever reads a model
    from ..solvers import Result, Solver, Start


#: What a model file said of another fit, and what was chosen for its scores.
OF_OTHER_PLANES = ("_provenance", "threshold_", "threshold_choice_", "calibration_")


def thread_count(n_jobs: int | None) -> int:
    """Return how many threads `n_jobs` asks for: None for all, −1 for all, −2 for all but one, as in scikit-learn."""
    if n_jobs is None:
        return _core.threads()
    if not isinstance(n_jobs, Integral) or isinstance(n_jobs, bool) or n_jobs == 0:
        raise ValueError(f"n_jobs={shown(n_jobs)} must be a whole number other than 0; None or -1 for all threads")
    return n_jobs if n_jobs > 0 else max(1, _core.threads() + 1 + n_jobs)


class Fitting(Input, Warnings):
    """fit(X, y), and what it takes."""

    @with_callbacks
    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Learn from examples.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (n, d)
            The examples; float32 and float64 data in rows (C order or CSR) are not copied. Other numbers are read as
            64-bit floats: rounded, if they are none, or refused where something is proven exactly.
        y : array of shape (n,)
            Their labels, any two or more values.
        sample_weight : array of shape (n,), optional
            How much each example counts; a weight of 2 is the same as two rows.

        Returns
        -------
        self
        """
        _core.warn_if_slow()
        self._check_parameters()
        self._column_names = column_names.get()
        return self._learn(*self._examples(X, y, sample_weight))

    def _examples(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None) -> tuple[InMemory, NDArray[Any]]:
        """Return the examples as a fit takes them, and the labels of their classes."""
        X, y = self._check_X(X, y, reset=not self._goes_on())
        classes, codes = self._encode(y)
        weight = self._sample_weight(sample_weight, len(codes))
        return InMemory(self._rows(X), codes, weight), classes

    def fit_examples(
        self,
        examples: Examples,
        classes: ArrayLike,
        *,
        names: Sequence[str] | None = None,
        run: Run | None = None,
        most_features: int | None = None,
    ) -> Self:
        """Learn from examples wherever they are, such as blocks on the disk.

        Ctrl-C leaves the best so far, if that is a model, and is raised again.

        Parameters
        ----------
        examples : Examples
            Each with the number of its class.
        classes : array
            The labels of the classes, in their order.
        names : list of str, optional
            What to call the columns in messages.
        run : Run, optional
            Where the planes that are finished are kept, and how far the next one has come: a run that is begun again
            goes on from there.
        most_features : int, optional
            With more of them no matrix of all their products is to be made.

        Returns
        -------
        self

        Examples
        --------
        >>> import numpy as np
        >>> from linsep import LogisticRegression
        >>> from linsep._core import Rows
        >>> from linsep.objective.examples import InMemory
        >>> examples = InMemory(Rows(np.array([[0.0], [1.0], [3.0], [4.0]])), np.array([0, 0, 1, 1]))
        >>> LogisticRegression().fit_examples(examples, ["no", "yes"]).predict([[4.0]])
        array(['yes'], dtype='<U3')
        """
        _core.warn_if_slow()
        self._check_parameters()
        self.n_features_in_, self._column_names = examples.d, names
        self.__dict__.pop("feature_names_in_", None)  # of another fit
        return self._learn(examples, np.asarray(classes), run, most_features)

    def _learn(
        self,
        examples: Examples,
        classes: NDArray[Any],
        run: Run | None = None,
        most_features: int | None = None,
    ) -> Self:
        """Pose the objectives, solve, certify, store, and warn."""
        self._warn_of_ignored()
        starts = self._starts(classes)
        class_weight = self._class_weights(examples, classes)
        self.classes_ = classes
        objectives = self._objectives(examples, class_weight)
        self._no_optimum = why_no_optimum(objectives, classes, self._feature_names)
        learned = self._as_precise(objectives, self._learned(objectives, starts, run, most_features))
        results, claims = [result for result, _ in learned], [claim for _, claim in learned]
        self._no_optimum = self._no_optimum or next(filter(None, (result.no_optimum for result in results)), None)
        self._store(objectives, results)
        self._keep_proofs(objectives, results, claims)
        self._after_fit(objectives, results)
        self.converged_ = bool(self.converged_ and self._no_optimum is None)
        if any(result.interrupted for result in results):
            raise KeyboardInterrupt
        self._warn(objectives[0], results)
        return self

    def _learned(
        self, objectives: list[Objective], starts: list[Start] | None, run: Run | None, most_features: int | None
    ) -> list[tuple[Result, Any]]:
        """Return what is found of each objective, and what is proven of that; a run knows some of it already."""
        learned = [] if run is None else [read(one) for one in run.results]
        left = objectives[len(learned) :]
        solved = self._solve(left, starts) if run is None else self._solve_in_turn(left, run, most_features)
        for objective, result in zip(left, solved, strict=False):  # fewer are solved where Ctrl-C put an end to it
            learned.append((result, self._claim(objective, result)))
            if run is not None and not result.interrupted:
                run.finish(written(*learned[-1]))
        if len(learned) < len(objectives):
            raise KeyboardInterrupt
        return learned

    # -- the objectives -----------------------------------------------------------------------------------------------

    def _heads(self) -> list[Head]:
        """Return what the objectives do with scores: one plane for two classes, one a class for more."""
        positive = [1] if len(self.classes_) == 2 else range(len(self.classes_))
        return [Margin(self._loss(), k) for k in positive]

    def _objectives(self, examples: Examples, class_weight: FloatArray | None) -> list[Objective]:
        terms = self._penalty(), self._C(), class_weight, bool(getattr(self, "fit_intercept", True))
        return [Objective(examples, head, *terms) for head in self._heads()]

    # -- where they begin ---------------------------------------------------------------------------------------------

    def _goes_on(self) -> bool:
        """Whether the fit begins where the last one ended."""
        return bool(getattr(self, "warm_start", False)) and hasattr(self, "coef_")

    def _starts(self, classes: NDArray[Any]) -> list[Start] | None:
        """Return the planes of the last fit, if it was on the same classes; one against the rest, one start each."""
        from ..solvers import Start

        if not self._goes_on():
            return None
        if not np.array_equal(classes, self.classes_):
            raise ValueError(
                f"warm_start=True goes on from the last fit, but that had other classes, {self.classes_.tolist()}; "
                "fit a new estimator, or set warm_start=False"
            )
        return [Start(w.copy(), float(b)) for w, b in zip(self._planes(), self.intercept_, strict=True)]

    # -- solving ------------------------------------------------------------------------------------------------------

    def _method(self, most_features: int | None = None) -> Solver:
        """Return the solver that was asked for, or one that chooses by the objective."""
        from ..solvers import Automatic

        limits: dict[str, Any] = dict(tol=self._aim(), max_iter=getattr(self, "max_iter", None))
        if most_features is not None:
            limits["most_features"] = min(most_features, Automatic.most_features)
        return self._solver() or Automatic(**limits)

    def _asked(self) -> dict[str, Any]:
        """Return what is asked of any solver: without an optimum there is nothing to polish."""
        random_state = getattr(self, "random_state", None)
        seed = (_drawn_by if isinstance(random_state, int) else _drawn)(random_state)
        return dict(seed=seed, tol=self._aim(), polish=self._no_optimum is None)

    def _aim(self) -> float:
        """Return the gap that a solver is asked for: no bound tells it how far off it is where there is no optimum."""
        return self._tol() if self._no_optimum is None else 1e-3 * self._tol()

    def _solve(self, objectives: list[Objective], starts: list[Start] | None) -> list[Result]:
        from ..solvers import minimise_all

        first = objectives[0]
        asked = self._asked() | {"n_jobs": thread_count(getattr(self, "n_jobs", None))}
        if starts is not None:
            asked["starts"] = [_joined(starts)] if first.head.planes else dual_starts(self, objectives, starts)
        with report_progress(self, objectives) as (observers, ended):
            results = minimise_all(objectives, self._method(), observers=observers, **asked)
            ended(results)
        return results

    def _solve_in_turn(self, objectives: list[Objective], run: Run, most_features: int | None) -> Iterator[Result]:
        """Solve one objective after the other, each when the last one is finished; Ctrl-C ends them all."""
        from ..solvers import minimise

        solver, asked, done = self._method(most_features), self._asked(), len(run.results)
        for k, objective in enumerate(objectives, start=done):
            workspace = run.place(k, done + len(objectives))
            result = minimise(objective, solver, workspace=workspace, **asked)
            if result.interrupted and result.proof is None:  # there is no plane to speak of
                return
            yield result
            if result.interrupted:
                return

    # -- proving ------------------------------------------------------------------------------------------------------

    def _claim(self, objective: Objective, result: Result) -> Any:
        """Return what is proven of the planes of one objective; None where nothing can be."""
        statement = self._statement()
        if not (statement.loss.convex and statement.loss.defines("conjugate")):
            return None
        return certify(objective, result, statement, self.classes_, self._tol())

    def _keep_proofs(self, objectives: list[Objective], results: list[Result], claims: list[Any]) -> None:
        """Keep what is proven; the certificate joins it with the planes as they are when it is asked for.

        A fit has converged where `tol` is proven, whatever the solver says of it. Nothing is proven by estimators
        without a `tol`, which stop by a rule of their own, nor of losses of the user's own that say no conjugate.
        """
        if claims[0] is not None:
            self._proofs = [Gap.of(claims)]
            certificate = self.certificate_
            self.dual_gap_ = certificate.relative_gap
            if not self._own_rule:  # else it has stopped by that
                self.converged_ = certificate.proven

    def _as_precise(self, objectives: list[Objective], learned: list[tuple[Result, Any]]) -> list[tuple[Result, Any]]:
        """Return what was found as precise as the data, where scikit-learn's class is too and that costs no proof."""
        if not (self._single_of_single and is_single(objectives[0])):
            return learned
        rounded = [in_single(objective, result) for objective, (result, _) in zip(objectives, learned, strict=True)]
        claims = [self._claim(*each) for each in zip(objectives, rounded, strict=True)]
        lost = any(is_proven(before) and not is_proven(now) for (_, before), now in zip(learned, claims, strict=True))
        return learned if lost else list(zip(rounded, claims, strict=True))

    # -- storing ------------------------------------------------------------------------------------------------------

    def _store(self, objectives: list[Objective], results: list[Result]) -> None:
        """Keep the planes, and how they were found."""
        self.coef_ = np.concatenate([np.atleast_2d(result.w.T) for result in results])
        self.intercept_ = np.concatenate([np.atleast_1d(result.b) for result in results])
        if self._single_of_single and is_single(objectives[0]):
            self.coef_, self.intercept_ = as_single(self.coef_, self.intercept_)
        self.n_iter_ = self._counted(results)
        self.converged_ = all(result.converged for result in results)
        self.history_ = results[0].history if len(results) == 1 else [result.history for result in results]
        self.objective_ = objectives[0].formula
        self.dual_gap_ = np.inf
        self._redundancy = results[0].redundancy  # of the columns: the same for all classes
        self.redundant_ = {} if self._redundancy is None else self._redundancy.relations(self._feature_names())
        self._proofs = []
        for name in OF_OTHER_PLANES:
            self.__dict__.pop(name, None)

    def _counted(self, results: list[Result]) -> Any:
        """Return the iterations of the fit: of the objective that took the most."""
        return max(result.n_iter for result in results)

    def _after_fit(self, objectives: list[Objective], results: list[Result]) -> None:
        """Set further attributes."""


def _drawn(random_state: Any) -> int:
    """Return the seed that a random state gives next."""
    return int(check_random_state(random_state).randint(2**31 - 1))


#: The same of a whole number, which always gives the same: to set up a generator takes a tenth of a small fit.
_drawn_by = lru_cache(maxsize=256)(_drawn)


def posed(
    estimator: Any, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None
) -> tuple[Any, InMemory, NDArray[Any]]:
    """Return a copy of an estimator that knows the columns, the examples as it takes them, and their classes.

    So that many fits on the same data, by `fit_examples`, look at these once.
    """
    model = clone(estimator)
    model._check_parameters()
    return model, *model._examples(X, y, sample_weight)


def _joined(starts: list[Start]) -> Start:
    """Return the planes of all classes as one start: a column each."""
    return replace(starts[0], w=np.column_stack([one.w for one in starts]), b=np.array([one.b for one in starts]))
