"""What all estimators share: validation, labels, weights, one problem a class, and reading the fitted plane."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from numbers import Integral, Real
from threading import Event
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_array, check_random_state
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import check_is_fitted, validate_data

from .. import _core, penalties
from .._core import Rows
from ..arithmetic.exact_input import refuse_inexact
from ..arithmetic.redundancy import Redundancy
from ..certificates.gap.certify import certify
from ..certificates.gap.rounding import rounding
from ..certificates.kinds.gap import Gap
from ..certificates.proof import Proof
from ..losses import Loss
from ..objective.curvature import MANY_FEATURES
from ..objective.duality import share
from ..objective.problem import Problem
from ..objective.statement import Statement
from ..penalties import Penalty
from ..separation.no_optimum import explain_no_optimum
from ..separation.verdict import ProofTimeoutError
from ..solvers import STOPPED_BY_OBSERVER, Result, Solver, Start, StochasticDescent, automatic, get
from ..solvers.first_order.prover import MOST_WORK
from ..solvers.newton.polishing import can_be_proven, polished
from ..solvers.reductions.centring import CENTRING, find_centre
from ..solvers.reductions.fallback import second_try
from ..solvers.reductions.in_range import find_middle
from ._callbacks import CallbackSupport, Observer, report_progress, stop_when, with_callbacks

FloatArray = NDArray[np.float64]

__all__ = ["Explanation", "LinearEstimator", "check_C", "check_batch_labels"]

#: Why a solver was chosen, if the user did.
ASKED_FOR = "asked for"
#: Squares that are no more than this share of those of no plane at all are as good as zero.
EXACT = 1e-16
#: Solvers that go all the way to the optimum: without a penalty, a few more steps prove that they did.
POLISHED = ("newton", "least_squares", "softmax_newton")


def check_C(C: object) -> float:
    """Return C as a float, infinite for None; raise unless it is positive."""
    if C is None:
        return np.inf
    if not isinstance(C, Real) or isinstance(C, bool) or not float(C) > 0:
        raise ValueError(f"C={C!r} must be a positive number; inf or None means no penalty")
    return float(C)


def thread_count(n_jobs: int | None) -> int:
    """Return how many threads `n_jobs` asks for: None for all, −1 for all, −2 for all but one, as in scikit-learn."""
    if n_jobs is None:
        return _core.threads()
    if not isinstance(n_jobs, Integral) or isinstance(n_jobs, bool) or n_jobs == 0:
        raise ValueError(f"n_jobs={n_jobs!r} must be a whole number other than 0; None or -1 for all threads")
    return n_jobs if n_jobs > 0 else max(1, _core.threads() + 1 + n_jobs)


def side_by_side(
    solve: Callable[[range], list[Result]], shares: list[range], n_jobs: int, interrupt: Event
) -> list[list[Result]]:
    """Return solve(share) for every share of the planes, in several threads; Ctrl-C sets the event, and they end."""

    def alone(share: range) -> list[Result]:
        with _core.one_thread():
            return solve(share)

    with ThreadPoolExecutor(min(n_jobs, len(shares))) as pool:
        tasks = [pool.submit(alone, share) for share in shares]
        try:
            # A signal may land in a worker; the main thread hears of it when it next wakes.
            while wait(tasks, timeout=0.1).not_done:
                pass
        except KeyboardInterrupt:
            interrupt.set()
        return [task.result() for task in tasks]


def _labels(y: NDArray[Any]) -> NDArray[Any]:
    """Return the different labels in their order; two are found sooner than by sorting all of y."""
    if y.dtype.kind in "biufUS":
        other = y != y[0]
        second = y[int(other.argmax())]
        if (other == (y == second)).all():  # no third one
            return np.sort(np.array([y[0], second], dtype=y.dtype))
    return np.unique(y)


@dataclass(frozen=True)
class Explanation:
    """The weights of one plane, the most important first: |w_j| is the importance of a feature, its sign the direction.

    Attributes
    ----------
    features : list of str
        Names, ranked.
    weights : array
        In the same order.
    towards, away : label
        The class that a positive weight speaks for, and the other (None: the rest).
    intercept : float
    """

    features: list[str]
    weights: FloatArray
    towards: Any
    away: Any
    intercept: float

    def __str__(self) -> str:
        width = max(len(name) for name in [*self.features, "intercept"])
        longest = float(np.abs(self.weights).max()) if len(self.weights) else 1.0
        rest = "the rest" if self.away is None else self.away
        lines = [f"{'':{width}}   speaks for {self.towards} (+) or {rest} (−)"]
        for name, weight in zip(self.features, self.weights, strict=True):
            bar = "█" * round(20 * abs(weight) / (longest or 1.0))
            lines.append(f"{name:{width}} {weight:+12.5g} {bar}")
        return "\n".join([*lines, f"{'intercept':{width}} {self.intercept:+12.5g}"])


class LinearEstimator(CallbackSupport, ClassifierMixin, BaseEstimator):
    """A linear classifier: h(x) = sign(w·x + b), one plane for two classes, one against the rest for more.

    Subclasses say which loss, penalty and C they minimise and which solver they use.
    """

    classes_: NDArray[Any]
    coef_: FloatArray
    intercept_: FloatArray
    converged_: bool
    #: What is proven of the fit, one of a kind.
    _proofs: Sequence[Proof] = ()
    _no_optimum: str | None = None
    #: What to call the columns of arrays in messages, where somebody knows.
    _column_names: Sequence[str] | None = None
    #: Whether a fit ends by a rule of its own, and not at a proven gap.
    _own_rule: bool = False

    # -- what a subclass says -------------------------------------------------------------------------------------

    def _loss(self) -> Loss:
        raise TypeError(f"{type(self).__name__} does not say its loss")

    def _penalty(self) -> Penalty:
        return penalties.NoPenalty()

    def _C(self) -> float:
        return np.inf

    def _solver(self) -> Solver | None:
        """Return the solver, or None to let the problem decide."""
        return None

    def _named(self, name: str) -> Solver:
        """Return the solver of that name, with the estimator's own limits where both have them."""
        solver = get(name)
        limits = {limit: getattr(self, limit, None) for limit in ("max_iter", "tol") if hasattr(solver, limit)}
        return get(name, **{limit: value for limit, value in limits.items() if value is not None})

    def _check_parameters(self) -> None:
        """Raise for parameters that make no sense, before anything is computed."""

    def _after_fit(self, problems: list[Problem], results: list[Result]) -> None:
        """Set further attributes."""

    # -- fitting --------------------------------------------------------------------------------------------------

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

    def _is_exact(self) -> bool:
        """Whether this fit says something exactly: without a penalty, of columns that are redundant or run away."""
        return bool(np.isinf(self._C()))

    def _check_X(self, X: Any, y: Any = "no_validation", *, reset: bool, order: str | None = "C") -> Any:
        """Return X (and y) as the kernels read them."""
        if not isinstance(y, str) and self._is_exact():  # rows to learn from, not to read
            refuse_inexact(X)
        return validate_data(self, X, y, reset=reset, accept_sparse="csr", dtype=[np.float64, np.float32], order=order)

    def _rows(self, X: Any) -> Rows:
        """Return the examples as rows; raise where their squares do not fit into a float."""
        rows = Rows(X)
        if not np.isfinite(rows.squared_norms()).all():
            largest = np.asarray(abs(rows.X).max(axis=0).todense() if rows.is_sparse else np.abs(rows.X).max(axis=0))
            j = int(largest.argmax())
            name = getattr(self, "feature_names_in_", [f"number {k}" for k in range(rows.d)])[j]
            raise ValueError(
                f"column {name} has values up to {largest.ravel()[j]:g}, whose squares overflow; "
                "scale the columns first, e.g. with sklearn.preprocessing.StandardScaler"
            )
        return rows

    def _encode(self, y: ArrayLike) -> tuple[NDArray[Any], NDArray[np.int64]]:
        y = np.asarray(y)
        if y.dtype.kind not in "biufUS":
            check_classification_targets(y)
        classes = _labels(y)
        # Few values, whole numbers or words, are labels; scikit-learn looks closely at all others, which takes longer.
        if 2 * len(classes) > len(y) or (classes.dtype.kind == "f" and (classes % 1 != 0).any()):
            check_classification_targets(y)
        if len(classes) < 2:
            raise ValueError(
                f"y has one class only, {classes[0]!r}: {type(self).__name__} needs examples of at least two classes"
            )
        return classes, (y == classes[1]).astype(np.int64) if len(classes) == 2 else np.searchsorted(classes, y)

    def _weights(
        self, classes: NDArray[Any], codes: NDArray[np.int64], sample_weight: ArrayLike | None
    ) -> FloatArray | None:
        """Return sample weight × class weight, or None where all are one."""
        class_weight, n = getattr(self, "class_weight", None), len(codes)
        if sample_weight is None and class_weight is None:
            return None
        if sample_weight is None:
            s = np.ones(n)
        elif np.isscalar(sample_weight):
            s = np.full(n, float(sample_weight))  # type: ignore[arg-type]
        else:
            s = check_array(sample_weight, ensure_2d=False, dtype=np.float64, input_name="sample_weight", copy=True)
        if not np.isfinite(s).all():
            raise ValueError("sample_weight has a value that is not a finite number")
        if s.shape != (n,):
            raise ValueError(f"sample_weight has shape {s.shape}; it needs one weight for each of the {n} rows of X")
        if (s < 0).any():
            raise ValueError(f"sample_weight[{int(np.argmax(s < 0))}] is negative; weights must be zero or more")
        if class_weight is not None:
            s *= self._class_weight(class_weight, classes, codes, s)[codes]
        if not s.any():
            raise ValueError("sample_weight (times class_weight) is zero for all examples: nothing to learn from")
        return s

    def _class_weight(
        self, class_weight: Mapping[Any, float] | str, classes: NDArray[Any], codes: NDArray[np.int64], s: FloatArray
    ) -> FloatArray:
        if not isinstance(class_weight, Mapping) and class_weight != "balanced":
            raise ValueError(f"class_weight={class_weight!r} must be None, 'balanced' or a dictionary of label: weight")
        if class_weight == "balanced":
            return self._statement().class_weights(codes, list(classes), s)
        weight = compute_class_weight(class_weight, classes=classes, y=classes[codes])
        weight = np.asarray(weight, dtype=np.float64)
        if (weight < 0).any() or not np.isfinite(weight).all():
            raise ValueError(f"class_weight={class_weight!r} has a weight that is negative or not finite")
        return weight

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
        if self._no_optimum is not None or result.history.solver not in POLISHED or not can_be_proven(problem):
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
        if not self._own_rule and self._gap() is not None:
            self.converged_ = self.certificate_.proven
        self.converged_ = bool(self.converged_ and self._no_optimum is None)

    def _fits_exactly(self) -> bool:
        """Whether a quadratic without a penalty is all but zero, of which no share can be shown to be small."""
        gap = self._gap()
        if not (self._loss().quadratic and np.isinf(self._C()) and gap is not None):
            return False
        return all(claim.primal <= EXACT * claim.data.weight for claim in gap.each)

    def _kinds_of_proof(self) -> tuple[str, ...]:
        """Return what is proven of a fit with these parameters: all of these kinds of proof, or nothing."""
        return ("gap",)

    def _gap(self) -> Gap | None:
        """Return the proof of a gap, if there is one."""
        return next((proof for proof in self._proofs if isinstance(proof, Gap)), None)

    def _tol(self) -> float:
        """Return the relative gap that is asked for."""
        return float(getattr(self, "tol", 1e-4))

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
        solvers = [self._choose(problem) for problem in problems]
        solver, reason = solvers[0]
        first = problems[0]
        centre = find_centre(first.rows, fit_intercept=first.fit_intercept) if solver.name in CENTRING else None
        if centre is not None:
            solved, starts = [centre.moved(problem) for problem in problems], [centre.start(start) for start in starts]
        else:
            solved = problems
        n_jobs, shares = thread_count(getattr(self, "n_jobs", None)), [range(k, k + 1) for k in range(len(problems))]
        if isinstance(solver, StochasticDescent):
            shares = solver.shares(len(problems), n_jobs)
        with report_progress(self, X, y, len(problems)) as observer:
            interrupt = Event()

            def solve(share: range) -> list[Result]:
                listeners = {k: stop_when(interrupt, observer(k)) for k in share}
                if isinstance(solver, StochasticDescent):
                    found = solver.solve_together(problems, share, starts=starts, seed=seed, observers=listeners)
                elif centre is not None:
                    each = [(k, centre.observer(listeners[k])) for k in share]
                    found = [self._solve(*solvers[k], solved[k], starts[k], seed, listener) for k, listener in each]
                    found = [centre.back(result, problems[k]) for k, result in zip(share, found, strict=True)]
                else:
                    found = [self._solve(*solvers[k], solved[k], starts[k], seed, listeners[k]) for k in share]
                if any(result.interrupted for result in found):
                    interrupt.set()  # the classes that are left take one iteration each
                for result in found:
                    result.history.solver = result.history.solver or solver.name
                    result.history.reason = "; ".join(filter(None, [reason, result.history.reason]))
                return [replace(result, interrupted=interrupt.is_set()) for result in found]

            if len(shares) == 1 or n_jobs == 1:
                results = [solve(share) for share in shares]
            else:
                results = side_by_side(solve, shares, n_jobs, interrupt)
            return [result for some in results for result in some]

    def _solve(
        self, solver: Solver, reason: str, problem: Problem, start: Start | None, seed: int, observer: Observer | None
    ) -> Result:
        """Solve one problem, in the middle of the range of floats."""
        middle = find_middle(problem, solver.name)
        if middle is None:
            return self._solve_here(solver, reason, problem, start, seed, observer)
        start, observer = middle.start(start), middle.observer(observer)
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):  # its proof will tell how near it came
            return middle.back(self._solve_here(solver, reason, middle.scaled.problem, start, seed, observer))

    def _solve_here(
        self, solver: Solver, reason: str, problem: Problem, start: Start | None, seed: int, observer: Observer | None
    ) -> Result:
        """Solve one problem as it is; where the method is ours to choose and did not arrive, by another."""
        found = solver.solve(problem, start=start, seed=seed, observer=observer)
        if reason == ASKED_FOR or getattr(self, "max_iter", None) is not None:
            return found
        return second_try(found, problem, solver.name, self._tol(), observer)

    def _choose(self, problem: Problem) -> tuple[Solver, str]:
        """Return the solver, and why it is that one; the labels of a problem play no part in it."""
        solver = self._solver()
        if solver is not None:
            return solver, ASKED_FOR
        name, reason = automatic(problem)
        return self._named(name), reason

    def _starts(self, classes: NDArray[Any]) -> list[Start | None]:
        """Return the planes of the last fit, where it was on the same classes."""
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
        self._store_gap(problems, results)
        self._after_fit(problems, results)

    def _store_gap(self, problems: list[Problem], results: list[Result]) -> None:
        """Keep what is proven of each plane; the certificate joins it with the plane as it is when asked for."""
        statement, tol = self._statement(), self._tol()
        if not (statement.loss.convex and statement.loss.defines("conjugate")):
            return
        positive = [1] if len(problems) == 1 else range(len(problems))
        each = zip(problems, results, positive, strict=True)
        claims = [certify(problem, result, statement, self.classes_, tol, k) for problem, result, k in each]
        self._proofs = [Gap(claims)]
        self.dual_gap_ = self.certificate_.relative_gap

    def _statement(self) -> Statement:
        """Return what the parameters say is minimised."""
        intercept, class_weight = bool(getattr(self, "fit_intercept", True)), getattr(self, "class_weight", None)
        class_weight = dict(class_weight) if isinstance(class_weight, Mapping) else class_weight
        return Statement(self._loss(), self._penalty(), self._C(), intercept, class_weight)

    def _store_planes(self, problems: list[Problem], results: list[Result]) -> None:
        self.coef_ = np.array([result.w for result in results])
        self.intercept_ = np.array([result.b for result in results])
        self.n_iter_ = max(1, max(result.n_iter for result in results))
        self.converged_ = all(result.converged for result in results)
        self.history_ = results[0].history if len(results) == 1 else [result.history for result in results]
        self.objective_ = problems[0].formula
        self.dual_gap_ = np.inf
        self._store_redundancy(results[0].redundancy)
        self._proofs = []
        self.__dict__.pop("_provenance", None)  # what a model file said of another fit

    def _store_redundancy(self, redundancy: Redundancy | None) -> None:
        """Keep what was found of the columns: the same for all classes."""
        self._redundancy = redundancy
        self.redundant_ = {} if redundancy is None else redundancy.relations(self._feature_names())

    def _feature_names(self) -> list[str]:
        """Return the names of the columns; x0, x1 and so on where they have none."""
        names = getattr(self, "feature_names_in_", self._column_names)
        return [f"x{j}" for j in range(self.n_features_in_)] if names is None else [str(name) for name in names]

    def _why_no_optimum(self, X: Any, codes: NDArray[np.int64], weight: FloatArray | None) -> str | None:
        """Say which coefficients run to infinity, where a likelihood is maximised that has no maximum."""
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

    def _warn(self, results: list[Result]) -> None:
        """Say what went wrong and what to do; that there is nothing to be found, or a step size, comes first."""
        if self._no_optimum is not None:
            has_limit = "quasi" in self._no_optimum and len(self.classes_) == 2
            limit = " linsep.estimates has the limit, and the supremum of the likelihood." if has_limit else ""
            warnings.warn(f"{type(self).__name__}: {self._no_optimum}.{limit}", ConvergenceWarning, stacklevel=4)
            return
        if self.converged_ or results[0].message == STOPPED_BY_OBSERVER:
            return
        failed = [result for result in results if not result.converged]
        advice = next((result.advice for result in failed if result.advice), "")
        if failed:
            how_far = f". {self._how_far()}" if np.isfinite(self.dual_gap_) and not self._own_rule else ""
            message = f"did not converge: {advice or failed[0].message}{self._remedy(bool(advice))}{how_far}"
        else:
            message = f"has not reached its goal. {self._how_far()}: {self._why_unproven(results)}"
        warnings.warn(f"{type(self).__name__} {message}.", ConvergenceWarning, stacklevel=4)

    def _how_far(self) -> str:
        return f"It is proven to be within {self.dual_gap_:.1e} of the optimum only, not tol={self._tol():g}"

    def _why_unproven(self, results: list[Result]) -> str:
        """Say why no more is proven, and what to do about it."""
        if not np.isinf(self._C()) and self._penalty() != penalties.NoPenalty():
            return self._why_unproven_with_penalty(results)
        redundancy = self._redundancy
        if self._fits_exactly():
            return "the scores are the labels but for rounding, and of an objective that small no share can be proven"
        if not np.isfinite(self._loss().self_concordance):
            return f"without a penalty nothing more can be proven of {self.objective_}; use a finite C"
        if self._coefficients() > MANY_FEATURES:
            return f"without a penalty nothing is proven of more than {MANY_FEATURES:,} coefficients; use a finite C"
        if redundancy is not None and not redundancy.looked:
            return "with fewer rows than columns and no penalty many planes do the same; use a finite C"
        if redundancy is not None and redundancy.nearly:
            near = min(redundancy.nearly, key=lambda one: one.left).in_words(self._feature_names())
            return f"{near}; leave that column out, give more digits, or use a finite C"
        if results[0].history.solver not in POLISHED:
            return self._why_unproven_with_penalty(results)
        return "these numbers leave too few digits for it; scale the columns, or use a finite C"

    def _coefficients(self) -> int:
        """Return how many coefficients one problem has."""
        return int(self.n_features_in_)

    def _why_unproven_with_penalty(self, results: list[Result]) -> str:
        solver = results[0].history.solver
        if self._solver() is not None:
            return f"solver {solver!r} stopped by its own rule; leave it more iterations, or use solver='auto'"
        if results[0].proof is None:
            smooth = "a smooth loss such as squared_hinge instead of hinge, or penalty='l2', is solved to the end"
            return f"no solver proves more of {self.objective_}; {smooth}"
        return "these numbers leave too few digits for it; scale the columns"

    def _remedy(self, has_advice: bool) -> str:
        return "" if has_advice else "; raise max_iter, scale the features, or choose another stopping rule"

    # -- reading --------------------------------------------------------------------------------------------------

    @property
    def certificate_(self) -> Any:
        """What is proven of the plane as it is now, and how to check it; with more than two classes, one for each."""
        check_is_fitted(self, "coef_")
        found = (proof.certificate(self) for proof in self._proofs)
        certificate = next((one for one in found if one is not None), None)
        if certificate is None:
            raise AttributeError(
                f"this {type(self).__name__} has no certificate: it takes a fit on all data at once (partial_fit sees "
                "one batch) and a convex loss that defines its conjugate"
            )
        return certificate

    def sparsify(self) -> Self:
        """Keep ``coef_`` as a sparse matrix, as in scikit-learn: smaller where most weights are zero, by L1.

        Predictions, `certificate_`, `explain` and files are the same; what else reads ``coef_`` as an array needs
        `densify` first.

        Examples
        --------
        >>> from linsep import LogisticRegression
        >>> X, y = [[0.0, 1.0], [1.0, 0.0], [3.0, 1.0], [4.0, 0.0]], [0, 0, 1, 1]
        >>> model = LogisticRegression(l1_ratio=1.0).fit(X, y).sparsify()
        >>> model.coef_.nnz, model.predict(X), bool(model.certificate_.verify(X, y))
        (1, array([0, 0, 1, 1]), True)
        """
        check_is_fitted(self, "coef_")
        self.coef_ = sparse.csr_matrix(self.coef_)  # type: ignore[assignment]
        return self

    def densify(self) -> Self:
        """Keep ``coef_`` as an array, as after a fit."""
        check_is_fitted(self, "coef_")
        self.coef_ = self._planes()
        return self

    def _planes(self) -> FloatArray:
        """Return the weights as an array, one row a plane."""
        return np.asarray(self.coef_.toarray()) if sparse.issparse(self.coef_) else self.coef_  # type: ignore[attr-defined]

    def decision_function(self, X: Any) -> FloatArray:
        """g(x) = w·x + b: positive for ``classes_[1]``; with more than two classes, one column each."""
        scores = self._read(X, _core.scores)
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class of each row: ``classes_[1]`` where g(x) ≥ 0, else ``classes_[0]``; of more, the highest."""
        return self._read(X, lambda rows, W, b: _core.labels(rows, W, b, self.classes_))

    def _read(self, X: Any, kernel: Callable[[Any, FloatArray, FloatArray], tuple[NDArray[Any], bool]]) -> NDArray[Any]:
        """Return what the kernel makes of the rows and the planes.

        Rows that can be read as they are need no check beforehand, which would take as long as the reading: finite
        scores say that all entries are finite.
        """
        if not hasattr(self, "coef_"):
            check_is_fitted(self, "coef_")
        as_it_is = self._readable(X)
        rows = X if as_it_is else self._check_X(X, reset=False, order=None)
        out, finite = kernel(rows, self._planes(), self.intercept_)
        if as_it_is and not finite:
            self._check_X(X, reset=False)  # raises, unless finite numbers overflowed
        return out

    def _readable(self, X: Any) -> bool:
        """Whether the kernels can read X as it is and scikit-learn would find nothing in it but its values to check."""
        if type(X) is np.ndarray:
            laid_out = X.ndim == 2 and (X.flags.c_contiguous or X.flags.f_contiguous)
        else:
            laid_out = type(X) in (sparse.csr_array, sparse.csr_matrix)
        return (
            laid_out
            and X.dtype in (np.float64, np.float32)
            and X.dtype.isnative
            and X.shape[0] > 0
            and X.shape[1] == getattr(self, "n_features_in_", None)
            and not hasattr(self, "feature_names_in_")
        )

    def explain(self, top: int | None = None) -> Explanation | list[Explanation]:
        """Return the features by importance |w_j|; with more than two classes, a list with one explanation each."""
        check_is_fitted(self, "coef_")
        names = self._feature_names()
        explanations = []
        planes = self._planes()
        for k, (w, b) in enumerate(zip(planes, self.intercept_, strict=True)):
            ranked = np.argsort(-np.abs(w), kind="stable")[:top]
            towards, away = (self.classes_[1], self.classes_[0]) if len(planes) == 1 else (self.classes_[k], None)
            explanations.append(Explanation([str(names[j]) for j in ranked], w[ranked], towards, away, float(b)))
        return explanations[0] if len(explanations) == 1 else explanations

    def summary(self) -> str:
        """Return a few lines: what was minimised, how it ended, and the heaviest weights."""
        check_is_fitted(self, "coef_")
        histories = self.history_ if isinstance(self.history_, list) else [self.history_]
        ended = "converged" if self.converged_ else "NOT converged"
        lines = [
            f"{type(self).__name__} on {self.n_features_in_} features, classes {', '.join(map(str, self.classes_))}",
            f"minimised   {self.objective_}",
            f"solver      {histories[0].solver} ({histories[0].reason})",
            f"proven      {self._proven()}",
            f"ended       {ended} after {self.n_iter_} iteration{'s' * (self.n_iter_ > 1)}",
        ]
        for name, relation in getattr(self, "redundant_", {}).items():
            lines.append(f"redundant   {name} = {relation}")
        explained = self.explain(top=5)
        for part in explained if isinstance(explained, list) else [explained]:
            lines += ["", str(part)]
        return "\n".join(lines)

    def report(self, path: str | os.PathLike[str], X: Any, y: ArrayLike, **about: Any) -> None:
        """Write one HTML file: what was fitted, what is proven of it, how good it is on these rows, and its mistakes.

        Parameters
        ----------
        path : str or path
        X, y
            Rows to measure it on, best those that it was not fitted on.
        **about
            More about the data: ``training=(X_train, y_train)`` is what separability and what to watch out for are told
            of, ``title``, ``threshold``, and what else `linsep.report.compute` takes.

        Examples
        --------
        >>> import tempfile
        >>> from linsep import LogisticRegression
        >>> X, y = [[0.0], [1.0], [3.0], [4.0]], ["no", "no", "yes", "yes"]
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     LogisticRegression().fit(X, y).report(f"{folder}/report.html", X, y)
        """
        from ..report import write_report  # what shows a model stands above it: imported where it is asked for

        check_is_fitted(self, "coef_")
        write_report(self, path, X, y, **about)

    def _proven(self) -> str:
        if np.isfinite(self.dual_gap_):
            return f"within {max(self.dual_gap_, 0.0):.1e} of the optimum, relative to the objective"
        return "nothing: this solver computes no duality gap"

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        shown = str(super().__repr__(N_CHAR_MAX=N_CHAR_MAX))
        return f"{shown}  # minimised {self.objective_}" if hasattr(self, "objective_") else shown

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def check_batch_labels(classes: NDArray[Any], y: ArrayLike) -> NDArray[np.int64]:
    """Return the position of each label among the classes; raise for one that is not there."""
    labels = np.asarray(y)
    if type_of_target(labels) in ("continuous", "unknown", "continuous-multioutput"):
        check_classification_targets(labels)
    unknown = np.setdiff1d(labels, classes)
    if len(unknown):
        raise ValueError(
            f"y has the label {unknown[0]}, which is not among the classes {list(classes)} of the first partial_fit; "
            "name all labels in its 'classes'"
        )
    return np.asarray(np.searchsorted(classes, labels), dtype=np.int64)
