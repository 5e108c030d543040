"""Newton's method for smooth losses, to a proven duality gap: one plane or one a class, examples in memory or not.

Each step solves (∇²P) p = −∇P by preconditioned conjugate gradients. The preconditioner is a factor of the same Hessian
over a sample of the examples, and used again while it serves; where the sample is everything, or a pass has added the
Hessian up, the factor alone gives the step. Of several classes it is the whole Hessian, or its blocks on the diagonal,
one a class. Too many features for a factor: the diagonal preconditions, and of several classes dual ascent comes first.
A sample of the examples also gives the point to start from.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..._common.types import FloatArray
from ..._core import length
from ...objective.objective import Objective
from ..dual.of_classes import dual_passes, suits
from ..result import Observer, Result, Start
from ..run import EndOfRun, GapRun, GapSolver, no_step_lowers
from ..sampling import knows, sample, sample_objective, sample_size
from ..workspace import Workspace
from .conjugate_gradients import conjugate_gradients, dot
from .line_search import ARMIJO, first_lower
from .preconditioner import FACTORED, Metric, is_dear, metric_at, products_of_factor


@dataclass(frozen=True)
class Tuning:
    """The constants of Newton's method, with what each trades; `benchmarks/race.py` shows what a change costs."""

    shortest: float = 1e-10  #: The shortest step that is tried.
    #: A step is made longer if at its end this share of its slope is left: one more pass, for far fewer steps where the
    #: classes are (all but) separable.
    steep: float = 0.25
    #: Where a pass adds up the Hessian as well, it is worth a step: one is made longer only if it goes twice as far.
    twice: float = 0.5
    #: Of more features than this a pass that adds up the Hessian takes twice as long as one that does not, and more: a
    #: sample's serves as long as a step leaves no more than this share of the gap. (covtype, 54 features, two workers:
    #: 30 ms instead of 90, and as many passes.)
    few: int = 32
    serves: float = 0.5
    #: What a step gains is lost in the rounding of the objective below this share of it; the gap, which goes with the
    #: gradient, may still be large there, if some columns are huge, and must then fall to the second share of itself.
    flat: float = 1e-12
    nearer: float = 0.9
    #: How far conjugate gradients go at first, how much further each time, and at last: products against steps.
    accuracy: tuple[float, float, float] = (0.3, 0.3, 0.01)
    #: Of several classes they go as far as the last step's fall of the gap promises for this one (the forcing term of
    #: Eisenstat and Walker: the share that was left of it), or as `usual`; and no further than takes the gap below the
    #: goal, `enough` times √(goal/gap), or `coarsest`. A pass for another step takes as long as two or three products.
    usual: float = 0.1
    enough: float = 0.5
    coarsest: float = 0.25
    #: And how far before there is no better point: C = 1e8 and three classes, where .004 does not always lower the gap.
    sharp: float = 1e-6
    #: Of a point with a gap this many times the goal a rough bound says enough.
    far: float = 100.0
    #: What rounding may add to a gap: of a `tol` that is not far above, a proof needs some room.
    rounding: float = 1e-10
    #: Products with the Hessian at the most.
    products: int = 100
    #: A sample knows a feature that it has seen so often: its factor then serves the first step on all examples.
    known: int = 50
    #: The gap at the end of a sample (of several classes, about half of what its last step gains of the objective), and
    #: the steps: more than that says nothing of all examples.
    sample_tol: float = 1e-2
    sample_steps: int = 20
    #: How many times a sample of examples that are elsewhere counts where it does not know every feature: what it has
    #: hardly seen is not to run away, and steps from there to find the way back, each of them a pass. Passes at 1, .1
    #: and .01, the worst of two seeds and samples of 1/32 to 1/8: covtype 17, 10, 6; a9a 43, 9, 6; w8a 33, 30, 49, of
    #: which `_doubted` leaves 27. From zero they are 8, 8 and 13.
    trust: float = 0.01
    #: Examples of a sample that stands for all where nobody has set the size of one.
    sample_rows: int = 1000


TUNED = Tuning()


@dataclass(frozen=True)
class Newton(GapSolver):
    """Newton's method with a line search, stopped by the relative duality gap.

    Parameters
    ----------
    tol : float
        The relative duality gap at which to stop.
    max_iter : int
        Newton steps at the most.

    Examples
    --------
    >>> from linsep._core import Rows
    >>> from linsep.objective.examples import InMemory
    >>> from linsep.objective.heads import Softmax
    >>> objective = Objective(InMemory(Rows(np.eye(3)), np.arange(3)), Softmax(3), C=1.0)
    >>> Newton(tol=1e-8).solve(objective).w.round(3)
    array([[ 0.49 , -0.245, -0.245],
           [-0.245,  0.49 , -0.245],
           [-0.245, -0.245,  0.49 ]])
    """

    max_iter: int = 100
    name = "newton"
    needs = frozenset({"smooth", "curvature", "conjugate", "no_l1"})
    helped_by = frozenset({"merging", "centring", "sparse", "scaling", "polishing"})

    def _run(self, objective: Objective, *told: Any) -> _Run:
        return _Run(self, objective, *told)


class _Run(GapRun):
    """One run of Newton's method."""

    def __init__(
        self,
        method: Newton,
        problem: Objective,
        seed: int = 0,
        observer: Observer | None = None,
        workspace: Workspace | None = None,
        *,
        of_sample: bool = False,
    ) -> None:
        super().__init__(method, observer, workspace)
        self.problem, self.seed, self.rng = problem, seed, np.random.default_rng(seed)
        # Whether what a step gains says enough, of which the gap is a large multiple. Of one plane steps on a sample
        # cost next to nothing, and the last one's metric serves all examples: fewer took covtype twice as long.
        self.by_gain = of_sample and problem.head.planes is not None
        self.resident = problem.examples.resident is not None
        self.dual = False  # whether it began with dual ascent
        self.metric: Metric | None = None
        self.first: Metric | None = None  # of the first step, where a sample has told it
        # Whether steps take a factor of the Hessian: where that is dear not before one has taken as many products.
        self.factor, self.worth = True, TUNED.products
        if self.resident and problem.head.planes is None and problem.d <= FACTORED and is_dear(problem):
            self.factor, self.worth = False, min(TUNED.products, int(products_of_factor(problem)))
        self.by_sample = False  # whether a sample, which is here, gives each step's Hessian: no pass adds one up
        self.latest: Metric | None = None  # of the last Hessian that was added up
        self.decrement = 0.0  # of the last step
        self.cut = False  # whether that was solved for only so far
        self.careful = False  # whether a step is to come from all examples, since one from a sample says it is the last
        self.sampled: Objective | None = None  # on a sample, where the examples are elsewhere
        self.lower: Any = None  # a point that a line search has found, while it looks for a better one
        # What is asked of a point: the sums that its bound and its metric need.
        self.want = dict(split=problem.fit_intercept, curvature=self.resident)
        self.summed = not self.resident and problem.head.planes is None and problem.d <= FACTORED
        if self.summed and problem.examples.dear:  # else where a step is to follow
            self.want["gram"] = True

    @property
    def goal(self) -> float:
        """The gap to go for: `tol`, less what the rounding of the proof will take of it."""
        return max(self.method.tol - TUNED.rounding, 0.25 * self.method.tol)

    def result(self, start: Start | None) -> Result:
        """Step until the gap is proven small."""
        problem, tol, goal = self.problem, self.method.tol, self.goal
        (w, b), k = problem.zeros() if start is None else (start.w, start.b), 0
        point: Any = None
        with self.until_it_ends():
            for k, w, b in self._begin(start):
                if self.dual and k and self.observer is not None:
                    self.tell(k, w, b, self._evaluate(w, b).objective, join=problem.planes)
            point = self._evaluate(w, b)
            if self.sampled is not None and self.method.max_iter > 0 and self._gap(point) > goal:
                point, k = self._doubted(point), k + 1
                self._keep(k, point)
            if self.dual and k and self._gap(point) > goal:  # rare classes are the last to have their weight
                point = problem.head.balanced(point)
            accuracy, begun, before = TUNED.accuracy[0], k, 0.0
            while True:
                self.record(
                    k, point, length(point.smooth_gradient.ravel()) / (problem.weight_of_loss * problem.total_weight)
                )
                gap = self._gap(point)
                if gap <= goal or k >= self.method.max_iter:
                    self.end_if_proven(point.bound)
                if k > begun:
                    self.tell(k, point.w, point.b, point.objective, join=problem.planes)
                self.end_if_exhausted(k)
                left, before = gap / before if before > 0 else 1.0, gap
                if problem.head.planes:
                    accuracy = _accuracy(goal, gap, left)
                self.by_sample = self.by_sample and (k == begun or left <= TUNED.serves)
                new, decrement = self._stepped(point, accuracy, gap)
                # Without a penalty no dual point is feasible to the last digit; about half of this is left to gain.
                if not problem.penalised and decrement <= tol * abs(point.objective):
                    point, k = (point, k) if new is None else (new, k + 1)
                    if self.is_sure():
                        raise EndOfRun(f"a step gains no more than {decrement:.1e}", converged=True)
                    continue
                if new is None:
                    self.end_if_proven(point.bound)
                    raise no_step_lowers("objective")
                point, k = new, k + 1
                if self.by_gain and decrement <= 2 * tol * abs(point.objective):
                    raise EndOfRun(f"a step gains no more than {decrement:.1e}", converged=True)
                accuracy = max(TUNED.accuracy[2], TUNED.accuracy[1] * accuracy)
                self._keep(k, point)
        return self._outcome(point, w, b, k)

    def _keep(self, k: int, point: Any) -> None:
        """Leave behind where the run is: one that is cut short goes on from there."""
        if self.workspace is not None:
            self.workspace.keep({"k": k, "w": point.w.tolist(), "b": np.asarray(point.b).tolist()})

    def is_sure(self) -> bool:
        """Whether a step that gains next to nothing is the last; else the next ones come from all examples.

        Some of the examples, and a few products, see little of where the likelihood of a rare feature still leads.
        """
        problem = self.problem
        sure = self.careful or not self.resident or problem.head.planes is not None or problem.d > FACTORED
        self.careful, self.metric = True, None
        return sure

    def _outcome(self, point: Any, w: FloatArray, b: Any, k: int) -> Result:
        if point is None and not self.resident:  # before the first pass was over nothing is known of the point
            return self.outcome(w, b, k, None)
        self.ended = self.lower or (self._evaluate(w, b) if point is None else point)
        proof = self.ended.bound
        if not self.resident and not self.proves(proof):  # what proves enough needs no other pass
            proof = self.last_proof(self.ended)
        converged = not self.interrupted and (self.converged or self.proves(proof))
        return self.outcome(self.ended.w, self.ended.b, k, proof, converged=converged)

    # -- where to begin ----------------------------------------------------------------------------------------------

    def _begin(self, start: Start | None) -> Iterable[tuple[int, FloatArray, Any]]:
        """Return the points to begin with, the last of which counts, each with the number of iterations before it.

        It is where an earlier run was, where one is told to, where a sample leads, or, of wide rows and several
        classes, where passes of dual ascent over all examples do: these are iterations as any.
        """
        problem, kept = self.problem, None if self.workspace is None else self.workspace.state
        if kept is not None:
            b = kept["b"] if np.ndim(kept["b"]) == 0 else np.array(kept["b"])
            return [(int(kept["k"]), np.array(kept["w"]), b)]
        if start is not None:
            return [(0, *problem.head.canonical(start.w, start.b))]
        if self.resident and problem.head.planes and problem.d > FACTORED and suits(problem):
            self.dual = True
            return dual_passes(problem, self.goal, self.rng, self.method.max_iter, each=self.observer is not None)
        return [(0, *(self._from_part() if self.resident else self._from_sample()))]

    def _from_part(self) -> tuple[FloatArray, Any]:
        """Return roughly the optimum on a sample of examples in memory."""
        problem = self.problem
        size = sample_size(problem)
        part = sample(problem, size, self.rng) if problem.n >= 4 * size else None
        if part is None:
            return problem.zeros()
        run = _Run(Newton(TUNED.sample_tol, TUNED.sample_steps), part, of_sample=True)
        result = run.result(None).as_part()
        self.factor = self.factor or run.factor
        if problem.head.planes is None and problem.rows.narrow and part.rows.filled().min() >= TUNED.known:
            self.first = run._metric(run.ended)  # as good as that of all examples, so far from the end
        return result.w, result.b

    def _from_sample(self) -> tuple[FloatArray, Any]:
        """Return the optimum on a sample of examples that are elsewhere."""
        part = self.sampled = sample_objective(self.problem, self.seed)
        if part is None:
            return self.problem.zeros()
        known = knows(self.problem, part, TUNED.known)
        if self.summed and not self.problem.examples.dear:
            self.by_sample = known or bool(part.rows.filled().min() >= TUNED.known)
        if not known:
            part = sample_objective(self.problem, self.seed, trust=TUNED.trust)
            assert part is not None
        method = Newton(0.1 * TUNED.sample_tol, TUNED.sample_steps)
        result = _Run(method, part, of_sample=True).result(None).as_part()
        return result.w, result.b

    def _doubted(self, point: Any) -> Any:
        """Return where the first step from a sample's optimum leads; or zero if it climbs: the sample has misled."""
        step = self._direction(point, TUNED.accuracy[0])
        self.by_sample = self.by_sample and self.problem.d > TUNED.few
        if self.summed and not self.by_sample:
            self.want["gram"] = True
        new = self._along(point, step, 1.0)
        if new.objective <= point.objective + ARMIJO * dot(point.smooth_gradient, step):
            return new
        self.metric, self.latest, self.by_sample = None, None, False
        return self._evaluate(*self.problem.zeros())

    def _stepped(self, point: Any, accuracy: float, gap: float) -> tuple[Any, float]:
        """Return where a step leads, or None, and what it gains at the most.

        One that was solved for only so far, by products in single precision, may lower the objective and not the gap,
        which goes with another norm of the gradient: before there is none an exact one is tried.
        """
        step = self._direction(point, accuracy)
        decrement = -dot(point.smooth_gradient, step)
        if self.summed and not self.problem.examples.dear:
            self.want["gram"] = not self.by_sample and self._goes_on(gap, decrement)
        new = self._line_search(point, step, -decrement)
        if new is None and self.cut and accuracy > TUNED.sharp and not self.proves(point.bound):
            return self._stepped(point, TUNED.sharp, gap)
        return new, decrement

    # -- directions --------------------------------------------------------------------------------------------------

    def _evaluate(self, w: FloatArray, b: Any) -> Any:
        point = self.problem.evaluate(w, b, **self.want)
        if not self.resident:
            self.count_pass(point.bound.relative_gap)
        return point

    def _gap(self, point: Any) -> float:
        """Return a point's relative gap: roughly, where that is far above the goal."""
        rough: float = point.rough_bound.relative_gap
        return rough if rough > TUNED.far * self.goal else float(point.bound.relative_gap)

    def _direction(self, point: Any, accuracy: float) -> FloatArray:
        metric, self.first = self.first or self.metric or self._metric(point), None
        self.cut = not metric.exact
        if metric.exact:
            return -metric.solve(point.smooth_gradient)
        told = None if self.resident else lambda: self.count_pass(point.bound.relative_gap)
        bend = self.problem.bending(point, exact=accuracy <= TUNED.sharp)
        most = TUNED.products if self.factor else self.worth
        step, products = conjugate_gradients(bend, -point.smooth_gradient, metric, accuracy, most, told)
        self.metric = metric if metric.serves(products) else None  # else a new one is cheaper than such products
        self.factor = self.factor or TUNED.products > products >= self.worth
        return step

    def _goes_on(self, gap: float, decrement: float) -> bool:
        """Whether another step is likely to follow this one: the decrement falls quadratically, and the gap with it."""
        left, self.decrement = decrement / self.decrement if self.decrement > 0 else 1.0, decrement
        return gap * left**2 > self.goal

    def _metric(self, point: Any) -> Metric:
        if self.by_sample:
            assert self.sampled is not None
            return metric_at(self.sampled.evaluate(point.w, point.b, curvature=True), self.rng)
        if self.summed and point.gram is None and self.latest is not None:
            metric, self.latest = self.latest, None  # where no step was to follow, the Hessian of the last one serves
            return metric
        if self.summed and point.gram is None:
            self.count_pass(point.bound.relative_gap)
            point = self.problem.evaluate(point.w, point.b, gradient=False, gram=True)
        if self.resident or self.summed:
            self.latest = metric_at(point, None if self.careful else self.rng, factor=self.factor)
            return self.latest
        if self.sampled is None:
            self.sampled = sample_objective(self.problem, self.seed, TUNED.sample_rows) or self.problem
        return metric_at(self.sampled.evaluate(point.w, point.b, curvature=True), self.rng, exact=False)

    # -- the line search ---------------------------------------------------------------------------------------------

    def _line_search(self, point: Any, step: FloatArray, slope: float) -> Any:
        """Return a point along the step that lowers the objective enough; None if none does.

        Half the step is tried, and half of that, until one does. Where the whole step does and it still goes down, as
        on classes that are (all but) separable, one more guess goes to where the slope should vanish. What is lost in
        the rounding of the objective is decided by the gap.
        """
        if -slope <= TUNED.flat * abs(point.objective):
            return self._nearer(point, step)
        new, t = first_lower(
            lambda t: (self._along(point, step, t), t * slope), point.objective, shortest=TUNED.shortest
        )
        if new is None:
            return self._nearer(point, step)
        left = dot(new.smooth_gradient, step)
        if t == 1.0 and slope < left < (TUNED.twice if self.summed else TUNED.steep) * slope:
            self.lower = new
            longer = self._along(point, step, min(slope / (slope - left), 10.0))
            new = longer if longer.objective < new.objective else new
            self.lower = None
        return new

    def _nearer(self, point: Any, step: FloatArray) -> Any:
        """Return the end of a step whose gain is lost in the rounding of the objective, if the gap is smaller there."""
        new = self.problem.head.balanced(self._along(point, step, 1.0))
        smaller = new.bound.gap < TUNED.nearer * point.bound.gap
        return new if smaller and new.objective <= point.objective * (1 + 1e-9) else None

    def _along(self, point: Any, step: FloatArray, t: float) -> Any:
        """Return the point t times the step away."""
        problem = self.problem
        return self._evaluate(*problem.head.moved(point.w, point.b, step, t, intercept=problem.fit_intercept))


def _accuracy(goal: float, gap: float, left: float) -> float:
    """Return how far to solve for a step, from the gap that is wanted, the one there is, and what the last one left."""
    enough = min(TUNED.coarsest, TUNED.enough * (goal / max(gap, 1e-300)) ** 0.5)
    return float(max(enough, min(TUNED.usual, left)))
