"""Fitting, from top to bottom: validate, encode the labels, pose the problems, solve, certify, store, warn."""

from __future__ import annotations

from dataclasses import replace
from numbers import Integral
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state

from .. import _core
from .._core import Rows
from ..arithmetic.redundancy import Redundancy
from ..certificates.claim import certify, rounding
from ..objective.duality import share
from ..objective.problem import Problem
from ..separation.no_optimum import explain_no_optimum
from ..separation.verdict import ProofTimeoutError
from ._callbacks import report_progress, with_callbacks
from ._certificate import Certified
from ._input import Input
from ._unproven import Warnings

if TYPE_CHECKING:
    from ..solvers import Result, Start

FloatArray = NDArray[np.float64]

__all__ = ["Fitting", "thread_count"]


def thread_count(n_jobs: int | None) -> int:
    """Return how many threads `n_jobs` asks for: None for all, −1 for all, −2 for all but one, as in scikit-learn."""
    if n_jobs is None:
        return _core.threads()
    if not isinstance(n_jobs, Integral) or isinstance(n_jobs, bool) or n_jobs == 0:
        raise ValueError(f"n_jobs={n_jobs!r} must be a whole number other than 0; None or -1 for all threads")
    return n_jobs if n_jobs > 0 else max(1, _core.threads() + 1 + n_jobs)


class Fitting(Input, Certified, Warnings):
    """fit(X, y)."""

    def _after_fit(self, problems: list[Problem], results: list[Result]) -> None:
        """Set further attributes."""

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
        goes_on = bool(getattr(self, "warm_start", False)) and hasattr(self, "coef_")
        X, y = self._check_X(X, y, reset=not goes_on)
        classes, codes = self._encode(y)
        starts = self._starts(classes) if goes_on else None
        weight = self._weights(classes, codes, sample_weight)
        self.classes_ = classes
        seed = int(check_random_state(getattr(self, "random_state", None)).randint(2**31 - 1))
        rows = self._rows(X)
        self._no_optimum = self._why_no_optimum(X, codes, weight)
        results = self._learn(rows, codes, weight, starts, seed, X, y)
        self._believe_the_proof()
        if any(result.interrupted for result in results):
            raise KeyboardInterrupt
        self._warn(results)
        return self

    def _learn(
        self,
        rows: Rows,
        codes: NDArray[np.int64],
        weight: FloatArray | None,
        starts: list[Start | None] | None,
        seed: int,
        X: Any,
        y: Any,
    ) -> list[Result]:
        """Solve, and store what was found."""
        problems = self._problems(rows, codes, weight)
        starts = [None] * len(problems) if starts is None else self._dual_starts(problems, starts)
        results = self._solve_all(problems, starts, seed, X, y)
        if not any(result.interrupted for result in results):
            try:
                results = [self._proven_further(*each) for each in zip(problems, results, strict=True)]
            except KeyboardInterrupt:  # the planes that were found are kept
                results = [replace(result, interrupted=True) for result in results]
        self._store(problems, results)
        return results

    def _proven_further(self, problem: Problem, result: Result) -> Result:
        """Return the result with its gap proven, where no penalty does that by itself and there is an optimum."""
        from ..solvers import helped_by
        from ..solvers.newton.polishing import can_be_proven, polished

        arrives = "polishing" in helped_by(result.history.solver)
        if self._no_optimum is not None or not arrives or not can_be_proven(problem):
            return result
        proof, tol = result.proof, self._tol()
        if problem.loss.quadratic and proof is not None and proof.dual > 0:
            error = rounding(problem, result.w, result.b, proof)
            if share(max(proof.gap, 0.0) + error, proof.primal - error) <= tol:
                return result  # its own solver's proof will do
        return polished(result, problem, tol)

    def _believe_the_proof(self) -> None:
        """A fit has converged where `tol` is proven, whatever the solver says of it; where nothing is, it is asked.

        Nothing is proven by estimators without a `tol`, which stop by a rule of their own, and of losses of the user's
        own that say no conjugate.
        """
        if not self._own_rule and (hasattr(self, "_claims") or hasattr(self, "_claim")):
            self.converged_ = self.certificate_.proven
        self.converged_ = bool(self.converged_ and self._no_optimum is None)

    def _problems(self, rows: Rows, codes: NDArray[np.int64], weight: FloatArray | None) -> list[Problem]:
        """Return one problem for two classes, one a class for more."""
        positive = [1] if len(self.classes_) == 2 else range(len(self.classes_))
        shared = dict(loss=self._loss(), penalty=self._penalty(), C=self._C(), sample_weight=weight)
        intercept = bool(getattr(self, "fit_intercept", True))
        labels = [np.where(codes == k, 1.0, -1.0) for k in positive]
        return [Problem(rows, y, fit_intercept=intercept, **shared) for y in labels]  # type: ignore[arg-type]

    def _solve_all(
        self, problems: list[Problem], starts: list[Start | None], seed: int, X: Any, y: Any
    ) -> list[Result]:
        from ..solvers import Automatic, minimise_all

        solver = self._solver() or Automatic(self._tol(), getattr(self, "max_iter", None))
        n_jobs = thread_count(getattr(self, "n_jobs", None))
        with report_progress(self, X, y, len(problems)) as observer:
            return minimise_all(problems, solver, starts=starts, seed=seed, observers=observer, n_jobs=n_jobs)

    def _starts(self, classes: NDArray[Any]) -> list[Start | None]:
        """Return the planes of the last fit, where it was on the same classes."""
        from ..solvers import Start

        if not np.array_equal(classes, self.classes_):
            raise ValueError(
                f"warm_start=True goes on from the last fit, but that had other classes, {list(self.classes_)}; "
                "fit a new estimator, or set warm_start=False"
            )
        return [Start(w.copy(), float(b)) for w, b in zip(self._planes(), self.intercept_, strict=True)]

    def _dual_starts(self, problems: list[Problem], starts: list[Start | None]) -> list[Start | None]:
        """Return where to begin, with the dual variables of the last fit where that has left some."""
        return starts

    def _store(self, problems: list[Problem], results: list[Result]) -> None:
        self._store_planes(problems, results)
        self._store_claims(problems, results)
        self._after_fit(problems, results)

    def _store_claims(self, problems: list[Problem], results: list[Result]) -> None:
        """Keep what is proven of each plane; the certificate joins it with the plane as it is when asked for."""
        statement, tol = self._statement(), self._tol()
        if not (statement.loss.convex and statement.loss.defines("conjugate")):
            return
        positive = [1] if len(problems) == 1 else range(len(problems))
        self._claims = [
            certify(problem, result, statement, self.classes_, k, tol)
            for problem, result, k in zip(problems, results, positive, strict=True)
        ]
        self.dual_gap_ = self.certificate_.relative_gap

    def _store_planes(self, problems: list[Problem], results: list[Result]) -> None:
        self.coef_ = np.array([result.w for result in results])
        self.intercept_ = np.array([result.b for result in results])
        self.n_iter_ = max(1, max(result.n_iter for result in results))
        self.converged_ = all(result.converged for result in results)
        self.history_ = results[0].history if len(results) == 1 else [result.history for result in results]
        self.objective_ = problems[0].formula
        self.dual_gap_ = np.inf
        self._store_redundancy(results[0].redundancy)
        self.__dict__.pop("_claims", None)
        self.__dict__.pop("_provenance", None)  # what a model file said of another fit

    def _store_redundancy(self, redundancy: Redundancy | None) -> None:
        """Keep what was found of the columns: the same for all classes."""
        self._redundancy = redundancy
        self.redundant_ = {} if redundancy is None else redundancy.relations(self._feature_names())

    def _why_no_optimum(self, X: Any, codes: NDArray[np.int64], weight: FloatArray | None) -> str | None:
        """Say which coefficients run to infinity, where a likelihood is maximised that has no maximum."""
        from ..solvers.first_order.prover import MOST_WORK

        if not self._loss().is_likelihood:
            return None
        if weight is not None and getattr(self, "fit_intercept", True):
            weightless = np.bincount(codes, weights=weight, minlength=len(self.classes_)) == 0
            if weightless.any():
                label = self.classes_[weightless][0]
                return f"the examples of class {label} have no weight: no finite intercept is best; leave them out"
        if not np.isinf(self._C()):
            return None
        counted = slice(None) if weight is None else weight > 0
        X, codes = X[counted], codes[counted]
        asked: dict[str, Any] = dict(
            fit_intercept=bool(getattr(self, "fit_intercept", True)),
            feature_names=self._feature_names(),
            time_limit=None,
            budget=MOST_WORK,
        )
        for k in [1] if len(self.classes_) == 2 else range(len(self.classes_)):
            y = np.where(codes == k, 1.0, -1.0)
            if abs(y.sum()) == len(y):  # one class
                continue
            try:
                why = explain_no_optimum(X, y, **asked)
            except ProofTimeoutError:
                continue  # nothing is known: the fit's own report stands
            if why is not None:
                return self._of_class(k, why)
        return None

    def _of_class(self, k: int, why: str) -> str:
        """Say of which class it is that there is no optimum, where there are several."""
        return why if len(self.classes_) == 2 else f"class {self.classes_[k]} against the rest: {why}"
