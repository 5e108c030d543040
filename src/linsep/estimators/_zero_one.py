"""`ZeroOneClassifier`: the plane with the fewest mistakes on the training data, exactly."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from math import ceil
from threading import Lock
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .. import losses
from .._common.checks import check_choice, check_seconds
from .._common.types import FloatArray
from ..certificates.kinds.mistakes import Mistakes
from ..certificates.kinds.seals import Seals
from ..certificates.mistakes.bound import MistakeBound
from ..certificates.proof import ProofAttribute
from ..losses import Loss
from ..objective.examples import Examples
from ..objective.heads import Margin
from ..objective.objective import Objective
from ._exact import ExactEstimator
from ._fitting import thread_count

if TYPE_CHECKING:
    from ..solvers import Result, Solver
    from ..solvers.zero_one.solver import Progress


#: Without being asked, a fit shows its progress on a terminal after this many seconds.
LONG = 2.0


class ZeroOneClassifier(ExactEstimator):
    """The plane with the fewest mistakes on the training data: the zero-one risk, minimised exactly.

    It minimises ``Σ sᵢ [zᵢ ≤ 0]``: how many examples are not strictly on their own side of the plane. That is NP-hard,
    and flat almost everywhere, so no gradient leads there; but two features, few mistakes or few examples can be
    solved outright. The search is anytime: it holds a plane and a proven lower bound, and ends when they meet.

    Parameters
    ----------
    time_limit : float or None, default=60
        Seconds for the fit at the most (shared among the classes, where there are more than two); None for no limit.
        Ctrl-C ends it too. Either way the best plane so far is kept.
    fit_intercept : bool, default=True
        Otherwise the plane goes through the origin, and an example x = 0 is always a mistake.
    class_weight : dict, "balanced" or None
        With weights, of the classes or the examples, the weight of the mistakes is what is minimised: sᵢ is the
        product of both as it is in floats, and sums of weights are exact, however far apart they are.
    verbose : bool or None, default=None
        Whether to show the two numbers on standard error while they close in. None: on a terminal, after two seconds.
    random_state : int, RandomState or None, default=0
        Which lines are searched along. It does not matter to the number of mistakes once that is proven.
    n_jobs : int or None
        Threads over the classes, where there are more than two; None for all.

    Attributes
    ----------
    coef_, intercept_, classes_, n_iter_, n_features_in_, feature_names_in_
        As in scikit-learn. Of the planes with the fewest mistakes that were found, the one with the most room: the
        largest (weighted) geometric mean of its distances to the examples that it has right.
    n_mistakes_ : int or float
        The mistakes of the plane on the training data: examples not strictly on their own side in exact arithmetic.
        (`predict` errs on the same ones but for points on the plane, which it takes for ``classes_[0]``, and points
        within rounding of it.) Their weight where there are weights: the exact sum, rounded once. With more than two
        classes an array: one number for each class against the rest.
    lower_bound_ : int or float
        No plane makes fewer.
    proven_ : bool
        Whether the two are equal, as exact sums: the plane is optimal. `converged_` is the same.
    lower_bound_proof_ : MistakeBound
        Why: the sets of at most d + 2 rows that no plane has all on their right sides, so that each costs a mistake;
        or that every cell was looked at. A list, with more than two classes.
    progress_ : array of shape (steps, 3)
        Seconds, mistakes and lower bound, as they closed in. A list, with more than two classes.
    history_, objective_
        As for `SGDClassifier`.

    Examples
    --------
    >>> from linsep import ZeroOneClassifier
    >>> X, y = [[0.0], [1.0], [2.0], [3.0], [9.0]], [0, 0, 1, 1, 0]
    >>> model = ZeroOneClassifier().fit(X, y)
    >>> model.n_mistakes_, model.lower_bound_, model.proven_
    (1, 1, True)
    >>> model.predict([[1.4], [1.6]])
    array([0, 1])
    """

    lower_bound_proof_ = ProofAttribute(Mistakes)

    _weighs_exactly = True

    def __init__(
        self,
        *,
        time_limit: float | None = 60.0,
        fit_intercept: bool = True,
        class_weight: Mapping[Any, float] | str | None = None,
        verbose: bool | None = None,
        random_state: Any = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.time_limit = time_limit
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
        self.verbose = verbose
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _check_parameters(self) -> None:
        check_choice("verbose", self.verbose, (None, True, False))
        check_seconds("time_limit", self.time_limit)

    def _loss(self) -> Loss:
        return losses.ZeroOne()

    def _kinds_of_proof(self) -> tuple[str, ...]:
        return "seals", "mistakes"

    def _solver(self) -> Solver:
        problems = len(self.classes_) if len(self.classes_) > 2 else 1
        turns = ceil(problems / min(problems, thread_count(self.n_jobs)))
        limit = None if self.time_limit is None else float(self.time_limit) / turns
        return _Shown(limit, None if self.verbose is False else _Meter(self.verbose))

    def _remedy(self, objective: Objective, has_advice: bool) -> str:
        return ". The best plane so far is kept; raise time_limit to go on"

    def _class_weights(self, examples: Examples, classes: NDArray[Any]) -> FloatArray | None:
        with np.errstate(over="ignore"):
            factors = super()._class_weights(examples, classes)
            s = Objective(examples, Margin(self._loss()), class_weight=factors).sample_weight
            if s is not None and not np.isfinite(s.sum()):
                raise ValueError("sample_weight (times class_weight) adds up to more than any float: scale the weights")
        return factors

    def _claim(self, objective: Objective, result: Any) -> MistakeBound:
        bound: MistakeBound = result.lower
        return bound

    def _keep_proofs(self, objectives: list[Objective], results: list[Result], claims: list[MistakeBound]) -> None:
        self._proofs = [Seals.of(objectives, results, self._statement(), self.classes_), Mistakes(claims)]

    def _after_fit(self, problems: list[Objective], results: list[Result]) -> None:
        found: list[Any] = list(results)  # of `ZeroOne`: with the mistakes, and how few there can be
        s = problems[0].sample_weight  # the same for all classes
        number: Any = int if s is None or ((s % 1 == 0).all() and s.sum() <= 2**53) else float
        mistakes = np.array([number(result.mistakes) for result in found])
        lower = np.array([number(result.lower.bound) for result in found])
        one = len(found) == 1
        self.n_mistakes_ = number(mistakes[0]) if one else mistakes
        self.lower_bound_ = number(lower[0]) if one else lower
        self.proven_ = self.converged_
        self.progress_ = found[0].trace if one else [result.trace for result in found]

    def _proven(self) -> str:
        if self.proven_:
            return f"no plane makes fewer mistakes than {self.n_mistakes_}"
        return f"mistakes {self.n_mistakes_}, and no plane makes fewer than {self.lower_bound_}"


@dataclass(frozen=True)
class _Shown:
    """The search, shown while it runs where somebody looks."""

    time_limit: float | None
    meter: _Meter | None
    name = "zero_one"

    def solve(self, problem: Objective, **run: Any) -> Result:
        """Search, in a part of the meter of its own."""
        from ..solvers import ZeroOne

        return ZeroOne(self.time_limit, None if self.meter is None else self.meter.part()).solve(problem, **run)


class _Meter:
    """Shows how far a search is, or one for each class, in one line of standard error that is written over."""

    def __init__(self, verbose: bool | None) -> None:
        self.terminal = sys.stderr.isatty()
        self.first = 0.0 if verbose else LONG if self.terminal else np.inf
        self.pause = 0.1 if self.terminal else 1.0
        self.last, self.shown, self.begun = -np.inf, "", perf_counter()
        self.parts: list[tuple[float, float]] = []
        self.lock = Lock()

    def part(self) -> Progress:
        """Return what a search calls; the searches are shown in the order in which they ask."""
        with self.lock:
            k = len(self.parts)
            self.parts.append((np.inf, 0.0))

        def heard(mistakes: float, lower: float, seconds: float) -> None:
            now = perf_counter()
            with self.lock:
                self.parts[k] = mistakes, lower
                done = all(mistakes <= lower for mistakes, lower in self.parts)
                if now - self.begun >= self.first and (done or now >= self.last + self.pause):
                    self._show(now, done)

        return heard

    def _show(self, now: float, done: bool) -> None:
        """Show the two numbers of each search, unless they are there already."""
        found, lower = ([f"{pair[k]:g}" if np.isfinite(pair[k]) else "?" for pair in self.parts] for k in (0, 1))
        numbers = f"mistakes: {' + '.join(found)} found, {' + '.join(lower)} proven necessary"
        text = f"{now - self.begun:6.1f} s  {numbers}"
        if text == self.shown:
            return
        self.last, self.shown = now, text
        sys.stderr.write(f"\r{text}\033[K" + "\n" * done if self.terminal else f"{text}\n")
        sys.stderr.flush()
