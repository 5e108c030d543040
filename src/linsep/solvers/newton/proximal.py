"""Proximal Newton with working sets: smooth losses with an L1 penalty or an elastic net, to a proven duality gap.

Most weights of the answer are zero. So the problem is solved on a working set of features: those that are not zero and
those whose slopes press hardest against the penalty's box |Σ αᵢ yᵢ xᵢⱼ| ≤ l1. One look at all features then proves how
far from the optimum that is, drops the features that are zero for certain, and picks the next set. Of examples that are
not in memory all features are worked on at once, as long as there is room for their Hessian; else at each step those
that are not zero and, as many as there is room for, those that press hardest to leave it. Where there is no room for
those that are not zero, a step is found by conjugate gradients, and ends where a weight would change its sign (Andrew
and Gao 2007, *Scalable training of L1-regularized log-linear models*).

On a working set each step minimises a quadratic model of the losses plus the penalty: see `proximal_models`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._common.types import FloatArray, IntArray
from ...certificates.gap.certify import balancing_shift
from ...objective.duality import Bound
from ...objective.objective import Objective
from ..result import Observer, Result, Start
from ..run import GapRun, GapSolver, no_step_lowers
from ..sampling import sample, sample_objective, sample_size
from ..workspace import Workspace
from .conjugate_gradients import conjugate_gradients, dot
from .line_search import first_lower
from .preconditioner import FACTORED, diagonal_in_blocks
from .proximal_models import TUNED as MODELS
from .proximal_models import models_at, summed
from .rough_steps import RoughSteps


@dataclass(frozen=True)
class Tuning:
    """The constants of the method, with what each trades; the L1 problems of `benchmarks/race.py` show the cost."""

    #: With this many features or fewer all of them are worked on; else the first working set has so many.
    few: int = 300
    first: int = 128
    #: Beside what presses outward it has features within the box by this share of how far others are outside: columns
    #: to go over against sets to come.
    margin: float = 0.1
    #: Where the steepest slope at w = 0 is `leap` times the penalty's, a run on working sets comes by way of values of
    #: C that are less, each by `stronger`: slopes far from the optimum say little of which features count.
    leap: float = 12.0
    stronger: float = 3.0
    #: Steps at each C on that way.
    on_the_way: int = 3
    #: Where it is so many times the penalty's there is as good as none, and the way would have no end.
    no_penalty: float = 1e30
    #: The gap and the steps on a sample, from where a run on many examples begins, and how many of these it has for
    #: each feature: with fewer it takes chance for evidence, and the way back is longer than the way from zero.
    sample_tol: float = 1e-2
    sample_steps: int = 30
    per_feature: int = 40
    #: Where rough steps can be taken on all examples, a sample must have so many of the rarer class for each feature.
    rarer_per_feature: int = 10
    #: Newton steps on one working set at the most, before all features are looked at again.
    steps: int = 2
    #: The slopes of a model are made so exact at first, each time so much more, and at last: passes over the model
    #: against Newton steps.
    accuracy: tuple[float, float, float] = (0.1, 0.3, 1e-3)
    #: A model left as a product is gone over so often at first. As often again, the next one, if the step did what its
    #: model said, which is that it lowered P by this share of what its slope promises; else half as often.
    passes: int = 4
    most_passes: int = 1000
    promised: float = 0.4
    #: Where it did not, curvatures are taken this share of the way to those of a parabola above the loss, and so many
    #: times that share after the next such step; a step that did makes it less by the same factor squared.
    caution: float = 0.25
    more_cautious: float = 2.0
    #: The last steps lower P by less than its rounding error, and the gap still by much.
    noise: float = 1e-14
    #: Products with the Hessian for one step at the most, where it is not added up: passes each.
    products: int = 50
    #: The residual, as a share, of the first of these steps; of later ones the root of the relative gap.
    loose: float = 0.3
    shortest: float = 1e-4
    #: Steps without a smaller gap or objective, after which there is none.
    without: int = 5


TUNED = Tuning()


@dataclass(frozen=True)
class ProximalNewton(GapSolver):
    """Proximal Newton on working sets, stopped by the relative duality gap: for smooth losses with an L1 penalty.

    Parameters
    ----------
    tol : float
        The relative duality gap at which to stop.
    max_iter : int
        Newton steps at the most, over all working sets; rough ones on one of these count as one.

    Examples
    --------
    >>> from linsep import LinearClassifier
    >>> X, y = [[0.0, 1.0], [1.0, 0.0], [3.0, 0.0], [4.0, 1.0]], [0, 0, 1, 1]
    >>> model = LinearClassifier("logistic", penalty="l1", C=2.0).fit(X, y)
    >>> model.history_.solver, float(model.coef_[0, 1]), model.certificate_.proven
    ('proximal_newton', 0.0, True)
    """

    max_iter: int = 1000
    name = "proximal_newton"
    needs = frozenset({"convex", "smooth", "curvature", "conjugate", "l1"})
    helped_by = frozenset({"merging", "centring", "sparse", "scaling"})

    def _run(self, objective: Objective, *told: Any) -> _Run:
        return _Run(self, objective, *told)


class _Run(GapRun):
    """One run: the point, how many steps led to it, and the features that may still matter."""

    def __init__(
        self,
        method: ProximalNewton,
        problem: Objective,
        seed: int,
        observer: Observer | None,
        workspace: Workspace | None,
    ) -> None:
        super().__init__(method, observer, workspace)
        self.problem, self.k, self.seed = problem, 0, seed
        self.resident = problem.examples.resident is not None
        self.w, self.b = problem.zeros()
        # Of examples in blocks a pass adds up the Hessian, that of so many features at the most.
        self.most = problem.d if self.resident else FACTORED // (problem.head.planes or 1) - 1
        self.whole = self.resident or problem.d <= self.most
        self.accuracy = TUNED.accuracy[0]
        self.alive = np.ones(problem.d, dtype=bool)
        # Whether the last step did what its model said; how cautious the next model is, and how exact.
        self.trusted, self.caution, self.model_passes = True, 0.0, TUNED.passes
        self.finer = 1.0  # how many times the usual sample its Hessian is summed over
        self.squares: FloatArray | None = None  # Σ s x² of each feature
        self.rough = False  # whether only where the run has come to counts
        self.steps_roughly = RoughSteps(problem) if RoughSteps.serve(problem) else None

    def result(self, start: Start | None) -> Result:
        """Solve on one working set after the other until the gap of the whole problem is proven small."""
        best: tuple[Any, Bound] | None = None
        with self.until_it_ends():
            self._begin(start)
            point = self._evaluate()
            self.record(self.k, point)
            while True:
                proof = point.bound
                if best is None or proof.gap < best[1].gap:
                    best = point, proof
                self.end_if_proven(proof)
                self.end_if_exhausted(self.k)
                if np.isnan(proof.gap):  # of numbers that another thread has changed: no step is ever counted
                    raise no_step_lowers("gap")
                point = self._improve(point, proof)
        if self.rough and self.resident:
            return self.outcome(self.w, self.b, self.k, None, converged=False)
        if best is None and not self.resident:
            return self.outcome(self.w, self.b, self.k, None)
        point, proof = self._last(best)
        converged = not self.interrupted and self.proves(proof)
        return self.outcome(point.w, point.b, self.k, proof, converged=converged)

    def _last(self, best: tuple[Any, Bound] | None) -> tuple[Any, Bound]:
        """Return the best point, the current one included."""
        if not self.resident and best is not None:
            return best[0], self.last_proof(best[0])
        if best is not None and np.array_equal(self.b, best[0].b) and np.array_equal(self.w, best[0].w):
            return best
        point = self._evaluate()
        return (point, point.bound) if best is None or point.bound.gap < best[1].gap else best

    def _evaluate(self) -> Any:
        if self.resident:
            return self._by_columns.evaluate(self.w, self.b, split=self.problem.fit_intercept)
        return self._passed(_at(self.problem, self.w, self.b, gram=self.whole))

    @cached_property
    def _by_columns(self) -> Objective:
        """The problem by columns, where most weights are zero and cost nothing that way; else as it is."""
        problem = self.problem
        if problem.head.planes is not None or not problem.rows.is_sparse or problem.d <= TUNED.few:
            return problem
        return problem.with_rows(problem.rows.turned)  # type: ignore[arg-type]

    def _passed(self, point: Any) -> Any:
        """Count the pass that gave a point, where examples are in blocks."""
        if not self.resident:
            self.count_pass(point.bound.relative_gap)
        return point

    # -- where to begin ----------------------------------------------------------------------------------------------

    def _begin(self, start: Start | None) -> None:
        problem, size = self.problem, max(sample_size(self.problem), TUNED.per_feature * self.problem.d)
        kept = None if self.workspace is None else self.workspace.state
        if kept is not None:
            self.k, self.w, self.b = int(kept["k"]), np.array(kept["w"]), np.array(kept["b"])[()]
        elif start is not None:
            self.w, self.b = start.w.astype(np.float64), start.b if problem.fit_intercept else problem.zeros()[1]
        elif self.resident:
            part = sample(problem, size, np.random.default_rng(self.seed)) if self._sampled(size) else None
            if part is not None:
                self._come_from(part, None, tol=TUNED.sample_tol, max_iter=TUNED.sample_steps)
                return
            self.b = _best_intercept(problem, self.w) if problem.fit_intercept else self.b
            if self.steps_roughly is not None:
                self._roughly()
                return
            for C in self._weaker() if problem.d > TUNED.few else []:
                self._come_from(replace(problem, C=C), Start(self.w, self.b), tol=0.1, max_iter=TUNED.on_the_way)
        else:
            part = sample_objective(problem, self.seed)
            if part is not None:
                self._come_from(part, None, tol=1e-3, max_iter=30)

    def _sampled(self, size: int) -> bool:
        """Whether a run on a sample of that size is a better beginning than all examples."""
        problem = self.problem
        if problem.n < 4 * size or self.steps_roughly is None:
            return problem.n >= 4 * size
        rarer = 0.5 - abs(float(np.mean(problem.y > 0)) - 0.5)
        return size * rarer >= TUNED.rarer_per_feature * problem.d

    def _roughly(self) -> None:
        """Go from zero to where rough steps lead, on the features that press to leave it."""
        problem, few = self.problem, self.problem.d <= TUNED.few
        slopes = np.abs(self._evaluate().smooth_gradient[: problem.d])
        chosen = np.arange(problem.d) if few else np.flatnonzero(slopes > problem.penalty.l1)
        assert self.steps_roughly is not None, "who begins roughly has such steps"
        self.w, self.b = self.steps_roughly.take(chosen, self.w, self.b)

    def _weaker(self) -> list[float]:
        """Return the values of C that the run comes by, ascending."""
        problem = self.problem
        gradient = np.abs(self._evaluate().smooth_gradient[: problem.d])
        steep, way = float(gradient.max(initial=0.0)) / problem.penalty.l1, list[float]()
        if steep >= TUNED.no_penalty:
            return []
        while steep > TUNED.leap:
            steep /= TUNED.stronger
            way.append(problem.C / TUNED.stronger ** (len(way) + 1))
        return way[::-1]

    def _come_from(self, other: Objective, start: Start | None, tol: float, max_iter: int) -> None:
        """Go to where a few steps on another objective lead."""
        run = _Run(ProximalNewton(tol, max_iter), other, self.seed, None, None)
        run.squares, run.rough = self.squares, True
        run.result(start).as_part()
        self.w, self.b = run.w, run.b
        if self.resident:  # the same examples
            self.caution, self.model_passes, self.squares = run.caution, run.model_passes, run.squares

    # -- working sets ------------------------------------------------------------------------------------------------

    def _improve(self, point: Any, proof: Bound) -> Any:
        """Solve on the next working set; return the new point of the whole problem."""
        if not self.whole:
            return self._step_of_some(point)
        rough = self.steps_roughly if self.problem.d > TUNED.few else None  # the Hessian of few features is cheap
        if rough is not None and rough.pay and rough.are_less_work(chosen := self._working_set(point)):
            return self._improve_roughly(rough, chosen, proof)
        self._screen(point, proof)
        chosen = self._working_set(point)
        whole = len(chosen) == self.problem.d
        part = self._part(chosen)
        # A set that leaves features out need not be solved further than these may be wrong.
        goal = self.method.tol if whole else max(0.5 * self.method.tol, 0.2 * proof.relative_gap)
        steps = self._steps(part, self.w[chosen], self.b, goal, point if whole and not self.resident else None)
        for at in steps if whole else islice(steps, TUNED.steps):
            self._note(at, chosen)
            point = at
        return self._evaluate() if self.resident else point

    def _improve_roughly(self, steps: RoughSteps, chosen: IntArray, proof: Bound) -> Any:
        """Go over the next working set by rough steps, which count as one; return the whole problem's new point."""
        self.w, self.b = steps.go_on(chosen, self.w, self.b, self.method.tol / proof.relative_gap)
        point = self._evaluate()
        steps.judge(proof, point.bound)
        self._note(point, slice(None))
        return point

    def _note(self, at: Any, chosen: Any) -> None:
        """Account for a step, to a point whose weights are those of the chosen features; the others' are zero."""
        self.w = np.zeros_like(self.w)
        self.w[chosen], self.b = at.w, at.b
        self.k += 1
        self.record(self.k, at)
        if self.workspace is not None:
            self.workspace.keep({"k": self.k, "w": self.w.tolist(), "b": np.asarray(self.b).tolist()})
        self.tell(self.k, self.w, self.b, at.objective, join=self.problem.planes)
        self.end_if_exhausted(self.k)

    def _step_of_some(self, point: Any) -> Any:
        """Take a step on the features that matter, in two passes: one for their Hessian, one to look."""
        problem, g = self.problem, point.smooth_gradient
        used = _largest(point.w != 0)
        if used.sum() >= self.most:
            return self._step_of_many(point)
        chosen = self._furthest(point, used)
        gram = self._passed(problem.evaluate(point.w, point.b, gram=chosen)).gram
        moving = np.append(chosen, np.arange(problem.d, len(g)))  # b too, if that is free
        step = np.zeros_like(g)
        step[moving] = summed(problem, gram, point.w[chosen], g[moving], self.accuracy)
        self.accuracy = max(TUNED.accuracy[2], TUNED.accuracy[1] * self.accuracy)
        new = self._line_search(point, step, 1e-8)
        if new is None:
            raise no_step_lowers("gap")
        self._note(new, slice(None))
        return new

    def _furthest(self, point: Any, used: NDArray[Any]) -> IntArray:
        """Return the features in use, and those that press hardest to leave zero, ascending."""
        press = _largest(np.abs(self._steepest(point)[0][: self.problem.d]))
        press[used] = np.inf
        size = max(1, min(self.most, int((press > 0).sum())))
        return np.sort(np.argpartition(-press, size - 1)[:size])

    def _steepest(self, point: Any) -> tuple[FloatArray, FloatArray]:
        """Return the smallest subgradient, and the sign that each weight has or would take: 0 where it stays zero."""
        g, l1 = point.smooth_gradient.copy(), self.problem.penalty.l1
        slopes = g[: self.problem.d]
        signs = np.where(point.w != 0, np.sign(point.w), np.where(np.abs(slopes) > l1, -np.sign(slopes), 0.0))
        slopes[:] = np.where(signs != 0, slopes + l1 * signs, 0.0)
        return g, signs

    def _step_of_many(self, point: Any) -> Any:
        """Take a Newton step, by conjugate gradients, on the features with a sign, and none beyond its orthant."""
        d = self.problem.d
        (g, signs), free = self._steepest(point), np.ones_like(point.smooth_gradient, dtype=bool)
        free[:d] = signs != 0
        metric = diagonal_in_blocks(point)
        told = partial(self.count_pass, point.bound.relative_gap)
        told()
        accuracy = min(TUNED.loose, max(point.bound.relative_gap, 0.0) ** 0.5)
        bend = self.problem.bending(point)
        step, _ = conjugate_gradients(bend, -g, metric, accuracy, TUNED.products, told, free)
        new = self._within(point, step, g, signs) or self._within(
            point, np.where(free, -metric.solve(g), 0.0), g, signs
        )
        if new is None:
            raise no_step_lowers("gap")
        self._note(new, slice(None))
        return new

    def _within(self, point: Any, step: FloatArray, g: FloatArray, signs: FloatArray) -> Any:
        """Return the first point along a step, halving it, that lowers P enough, no weight having left its orthant."""
        problem, d = self.problem, self.problem.d

        def along(t: float) -> tuple[Any, float]:
            ahead, moved = point.w + t * step[:d], t * step
            moved[:d] = np.where(signs * ahead > 0, ahead, 0.0) - point.w
            if (slope := dot(g, moved)) >= 0:
                return None, slope
            b = point.b + moved[d] if problem.fit_intercept else point.b
            return self._passed(_at(problem, point.w + moved[:d], _level(b), gram=False)), slope

        noise = TUNED.noise * abs(point.objective)
        return first_lower(along, point.objective, shortest=TUNED.shortest, noise=noise)[0]

    def _part(self, chosen: IntArray) -> Objective:
        """Return the problem on these features alone: by columns, if its models are.

        Few columns are turned into rows again: their Hessian is written down sooner than gone over by columns.
        """
        problem, whole = self.problem, len(chosen) == self.problem.d
        if not self.resident or problem.head.planes is not None or not problem.rows.is_sparse:
            return problem if whole else problem.columns(chosen)
        if len(chosen) > MODELS.gram:
            return problem.with_rows(problem.rows.turned.columns(chosen))  # type: ignore[arg-type]
        return problem if whole else problem.with_rows(problem.rows.turned.columns(chosen).rows())

    def _screen(self, point: Any, proof: Bound) -> None:
        """Drop the features that are zero at the optimum for certain.

        D bends by at least 1/(L cᵢ) along αᵢ, so that no slope is further from its value at the optimum than
        √(2 L gap Σ cᵢ xᵢⱼ²); one that cannot reach the box has weight zero.
        """
        problem, L = self.problem, self.problem.head.max_curvature
        if not np.isfinite(L) or problem.d <= TUNED.few or not self.resident:
            return
        if self.squares is None:
            rows = problem.rows
            self.squares = rows.turned.moments(problem.s)[1] if rows.is_sparse else rows.square_rmatvec(problem.s)
        reach = np.sqrt(2.0 * L * problem.weight_of_loss * max(proof.gap, 0.0) * self.squares) * (1 + 1e-9)
        self.alive &= _largest(np.abs(point.dual[0])) + reach >= problem.penalty.l1

    def _working_set(self, point: Any) -> IntArray:
        """Return the features that are not zero, and up to as many that press hardest against the box, ascending.

        What lies further within the box than a share of how far others lie outside is likely to stay zero.
        """
        d = self.problem.d
        if d <= TUNED.few or not self.resident:
            return np.arange(d)
        used = _largest(self.w != 0)
        size = max(TUNED.first, 2 * int(used.sum()))
        press = np.where(self.alive, _largest(np.abs(point.smooth_gradient[:d])), -1.0)
        beyond = float(press.max(initial=-1.0)) - self.problem.penalty.l1
        press[used] = np.inf
        near = np.flatnonzero(press >= max(0.0, self.problem.penalty.l1 - TUNED.margin * beyond))
        if 2 * min(size, len(near)) > d:
            return np.arange(d)
        return near if len(near) <= size else np.sort(near[np.argpartition(-press[near], size - 1)[:size]])

    # -- Newton's method on one working set --------------------------------------------------------------------------

    def _steps(self, problem: Objective, w: FloatArray, b: Any, goal: float, point: Any = None) -> Iterator[Any]:
        """Yield the points that proximal Newton steps lead to, until the problem's own gap is `goal` at most."""
        point = self._passed(_at(problem, w, b)) if point is None else point
        least, lowest, without = np.inf, np.inf, 0
        while (proof := point.bound).relative_gap > goal:
            without = 0 if proof.gap < least or proof.primal < lowest * (1 - TUNED.noise) else without + 1
            least, lowest = min(least, proof.gap), min(lowest, proof.primal)
            new = None
            for minimise, shortest in models_at(point, self.caution, self.finer):
                new = self._line_search(point, minimise(self.accuracy, self.model_passes), shortest)
                if new is not None:
                    break
                self.caution = 1.0
            self._adapt()
            if new is None or without > TUNED.without:
                raise no_step_lowers("gap")
            point, self.accuracy = new, max(TUNED.accuracy[2], TUNED.accuracy[1] * self.accuracy)
            yield point

    def _adapt(self) -> None:
        """Make the next model as exact, and as cautious, as the last one has earned."""
        if not self.trusted:
            self.caution = min(1.0, max(TUNED.caution, TUNED.more_cautious * self.caution))
            self.finer *= TUNED.more_cautious
            self.model_passes = max(TUNED.passes, self.model_passes // 2)
            return
        self.caution /= TUNED.more_cautious**2
        if self.caution < TUNED.caution / TUNED.more_cautious:
            self.caution, self.model_passes = 0.0, min(TUNED.most_passes, 2 * self.model_passes)

    def _line_search(self, point: Any, step: FloatArray, shortest: float) -> Any:
        """Return the first point along a model's step, halving it, that lowers P enough; None if none does."""
        problem, d = point.problem, point.problem.d
        if not np.isfinite(step).all() or not step.any():
            return None
        grown = float(np.abs(point.w + step[:d]).sum() - np.abs(point.w).sum())
        slope = dot(point.smooth_gradient, step) + problem.penalty.l1 * grown
        noise = TUNED.noise * abs(point.objective)
        new, t = first_lower(
            lambda t: (self._along(point, step, t), t * slope), point.objective, shortest=shortest, noise=noise
        )
        if new is not None:
            self.trusted = t == 1.0 and point.objective - new.objective >= -TUNED.promised * slope
        return new

    def _along(self, point: Any, step: FloatArray, t: float) -> Any:
        """Return the point t times a step away."""
        problem, d = point.problem, point.problem.d
        w, b = point.w + t * step[:d], point.b + t * step[d] if problem.fit_intercept else point.b
        return self._passed(_at(problem, w, _level(b), gram=self.whole))


def _at(problem: Objective, w: FloatArray, b: Any, *, gram: bool = True) -> Any:
    resident = problem.examples.resident is not None
    return problem.evaluate(w, b, split=problem.fit_intercept, curvature=resident, gram=gram and not resident)


def _best_intercept(problem: Objective, w: FloatArray) -> Any:
    """Return the best intercepts where all weights are zero: of several classes these are known."""
    if problem.head.planes is None:
        shift = balancing_shift(problem, w, 0.0)
        return shift if np.isfinite(shift) else 0.0
    b = np.log(np.maximum(problem.class_totals / problem.total_weight, 1e-300))
    return np.maximum(b, -30.0) - b.max()


def _level(b: Any) -> Any:
    """Return intercepts less their mean over the classes, which changes nothing; a single one as it is."""
    return b - b.mean() if np.ndim(b) else float(b)


def _largest(sizes: NDArray[Any]) -> NDArray[Any]:
    """Return the largest of each feature, over the classes."""
    return sizes if sizes.ndim == 1 else sizes.max(axis=1)
