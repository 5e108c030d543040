"""The augmented Lagrangian method with Newton's inside, for losses with a kink (hinge), to a proven duality gap.

Each example's dual variable is tied by a spring (a proximal term) to where it was, ᾱ, with a slack h:

    min over (w, b)  penalty(w) + Σ max over a of  −a z − cᵢ ℓ*(−a/cᵢ) − ½ (h/cᵢ)(a − ᾱᵢ)²

This inner problem is smooth, and bends only where examples lie in a band of width h around the kink: Newton's method
factors the Hessian of these few. Then ᾱ moves to a, h is halved, and the gap falls by an order of magnitude.
(Rockafellar 1976; with semismooth Newton inside: Li, Sun and Toh 2018.)

The dual variables are where their examples are. In memory an exact line search costs no pass over the rows, and what a
step changes is added to what was known; in blocks one pass gives value, gradient and Hessian of the inner problem and
the bound, and a step is halved, or doubled, by another pass.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ...history import Record
from ...objective.duality import Bound, class_scales
from ...objective.objective import Objective
from .._checks import check_count
from ..contract import check_needs
from ..result import Observer, Result, Start
from ..run import EndOfRun, GapRun, no_step_lowers, words_of
from ..streamed import Workspace
from .preconditioner import Metric

FloatArray = NDArray[np.float64]

__all__ = ["TUNED", "Multipliers"]


@dataclass(frozen=True)
class Tuned:
    """What was tuned, with what it trades; set by `benchmarks/race.py` (hinge), what concerns blocks by `files.py`."""

    widest: float = 4.0  #: The first width: at w = 0 all examples are in the band. Narrower: fewer bend, more steps.
    nearby: float = 0.5  #: The first width from a point that is near the optimum.
    narrower: float = 0.5  #: What becomes of the width at each outer step: outer steps against inner ones.
    narrowest: float = 1e-9  #: Where that ends: below, rounding is all that moves.
    share: int = 8  #: A run on many examples begins with one on this share of them, an eighth …
    rough: float = 1e-2  #: … to this gap; of examples in blocks, where each further pass costs a reading …
    rough_in_blocks: float = 1e-3  #: … to this one.
    exact: float = 1e-13  #: A small run goes on to this gap whatever was asked: it costs next to nothing, and the same
    #: fit from repeated rows and from weights, say, is then the same to many digits.
    small: int = 2000  #: Small is up to so many stored numbers; from there to …
    large: int = 8000  #: … so many the goal goes over into what was asked, order by order.
    more: int = 20  #: Steps that may follow when what was asked is proven.
    at_once: int = 2_000_000  #: Up to so many numbers a run of few features is one call of a kernel …
    work: int = 10**9  #: … or several of about so many operations, so that Ctrl-C is heard.
    many: int = 300  #: With so many features other runs begin with dual coordinate descent …
    passes: int = 100  #: … of so many passes: they find the band, and a Newton step costs as much as many of them.
    accuracy: float = 0.1  #: What an exact line search leaves of the slope.
    armijo: float = 1e-4  #: Which share of the promised decrease a step has to keep.
    shortest: float = 1e-8  #: The shortest step that is tried.
    long: float = 0.5  #: A step that leaves more of the slope than this was too short: it is made longer, once …
    longest: float = 4.0  #: … up to so many times.


TUNED = Tuned()


@dataclass(frozen=True)
class Multipliers:
    """The augmented Lagrangian method, for losses with a kink that have a `dual_step`, and an L2 penalty.

    Parameters
    ----------
    tol : float
        The relative duality gap at which to stop.
    max_iter : int
        Newton steps at the most; of examples in blocks, passes.
    """

    tol: float = 1e-4
    max_iter: int = 500
    name = "multipliers"
    needs = frozenset({"kink", "convex", "dual_step", "conjugate", "l2", "one_plane"})
    helped_by = frozenset({"merging", "centring", "sparse", "scaling"})

    def __post_init__(self) -> None:
        check_count("max_iter", self.max_iter)

    def solve(
        self,
        objective: Objective,
        *,
        start: Start | None = None,
        seed: int = 0,
        observer: Observer | None = None,
        workspace: Workspace | None = None,
    ) -> Result:
        """Minimise; dual variables of examples in blocks are kept in the workspace."""
        check_needs(self, objective)
        return _Run(self, objective, seed, observer, workspace).result(start)


def goal(tol: float, stored: int) -> float:
    """Return the gap that a run aims at: what was asked, or less where that costs little, without a cliff between.

    Examples
    --------
    >>> [f"{goal(1e-4, stored):.0e}" for stored in (500, 2000, 4000, 8000)]
    ['1e-13', '1e-13', '3e-09', '1e-04']
    """
    if stored >= TUNED.large or tol <= TUNED.exact:
        return tol
    share = min(1.0, np.log(TUNED.large / max(stored, 1)) / np.log(TUNED.large / TUNED.small))
    return float(tol * (TUNED.exact / tol) ** share)


@dataclass(frozen=True, eq=False)
class _Point:
    """A point (w, b), and what a pass says of it with dual variables on springs."""

    w: FloatArray
    b: float
    primal: float
    dual: float
    outer: float  # how much of the gap is the springs'
    gradient: FloatArray  # of the inner problem
    value: float  # Σ c ℓ(z)
    mistakes: float  # Σ c over the examples with z ≤ 0
    inner: float = np.nan  # the inner problem's value, where somebody asks
    duals: str = ""  # the vector that holds the dual variables, if they are not in memory


class _Duals(Protocol):
    """Where the dual variables are, and what is done with all of them."""

    fresh: bool  # whether nothing was added up that had better be computed afresh

    def begin(self, w: FloatArray, b: float, alpha: FloatArray | None) -> _Point:
        """Set the point, and the springs' centres as far as they are known."""
        ...

    def released(self, point: _Point) -> _Point:
        """Let the springs give way: centres move to where the dual variables are; all again with the run's width."""
        ...

    def refreshed(self, point: _Point) -> _Point:
        """Compute afresh what is otherwise kept up to date by adding to it."""
        ...

    def factor(self) -> Metric:
        """Return a factor of the inner problem's Hessian at the last point."""
        ...

    def moved(self, point: _Point, step: FloatArray, slope: float) -> _Point | None:
        """Return a better point along a step; None where there is none."""
        ...

    def best(self) -> Any:
        """Return the dual variables of the best bound."""
        ...


class _Run(GapRun):
    """One run: the width of the springs, the best bounds so far, and the steps taken."""

    def __init__(
        self,
        method: Multipliers,
        objective: Objective,
        seed: int,
        observer: Observer | None,
        workspace: Workspace | None,
    ) -> None:
        super().__init__(method, observer)
        self.objective, self.seed, self.workspace = objective, seed, workspace
        self.steps, self.width, self.enough = 0, TUNED.widest, method.max_iter
        self.resident = objective.examples.resident is not None
        self.target = goal(method.tol, objective.rows.stored) if self.resident else method.tol
        self.duals: Any = _InMemory(self) if self.resident else _InBlocks(self)
        self.lowest: tuple[float, FloatArray, float] = (np.inf, np.zeros(objective.d), 0.0)
        self.highest = -np.inf

    def result(self, start: Start | None) -> Result:
        """Take Newton steps until the gap is proven small."""
        with self.until_it_ends():
            start = self._start(start)
            if self.resident and self.duals.is_small():
                self.duals.at_once(start)
            else:
                self._step_by_step(start)
        primal, w, b = self.lowest
        proof = self.proof() if np.isfinite(primal) else None
        return self.outcome(w, b, self.steps, proof, alpha=self.duals.best(), z=self.duals.agreements(w))

    def _start(self, start: Start | None) -> Start:
        """Return where to begin: as told, or where a sample of the examples leads, or passes of dual descent."""
        start = self.duals.resumed() or start or self.duals.rough()
        if start is None:
            return Start(*self.objective.zeros())
        if self.steps == 0:
            self.width = TUNED.nearby
        return start

    def _step_by_step(self, start: Start) -> None:
        """Take one step after the other; springs that hold more than all else give way before."""
        point = self.duals.begin(start.w.copy(), start.b, start.alpha)
        while True:
            proof = self.proof()
            if proof.relative_gap <= self.target:
                if self.duals.fresh:
                    raise EndOfRun(words_of(proof))
                point = self.duals.refreshed(point)
            elif point.primal - point.dual - point.outer <= point.outer and self.width > TUNED.narrowest:
                self._end_if_exhausted(proof, passes_only=True)
                self.width *= TUNED.narrower
                point = self.duals.released(point)
            else:
                self._end_if_exhausted(proof)
                point = self._step(point)

    def _end_if_exhausted(self, proof: Bound, *, passes_only: bool = False) -> None:
        """End the run after its last step: what was asked is proven soon before, or there were as many as may be."""
        if passes_only and self.resident:
            return
        if self.proves(proof) and self.enough == self.method.max_iter:
            self.enough = min(self.enough, self.steps + TUNED.more)
        if self.steps:
            self.tell(self.steps, *self.lowest[1:], self.lowest[0])
        if self.steps >= self.enough:
            raise EndOfRun(self.message)

    def _step(self, point: _Point) -> _Point:
        """Take one Newton step on the inner problem."""
        step = -self.duals.factor().solve(point.gradient)
        found: _Point | None = self.duals.moved(point, step, float(point.gradient @ step))
        if found is None:
            raise no_step_lowers("objective")
        return found

    def proof(self) -> Bound:
        """Return what is known of the optimum from all points so far."""
        return Bound(self.lowest[0], self.highest)

    def point(self, w: FloatArray, b: float, sums: FloatArray, v: FloatArray, conjugates: Any, **more: Any) -> _Point:
        """Return a point from its sums; `conjugates` gives Σ c ℓ*(−a/c) with the classes scaled. Note the better one.

        Parameters
        ----------
        sums : array
            Σ c ℓ(z), Σ c ℓ*(−a/c), Σ a z, Σ c over the mistakes, Σ a by class.
        v : array
            Σ aᵢ yᵢ xᵢ, a row for each class if b is free.
        """
        objective = self.objective
        value, conjugate, product, mistakes = sums[:4].tolist()
        scales = class_scales(*sums[4:6]) if objective.fit_intercept else (1.0, 1.0)
        penalty = objective.penalty.value(w)
        primal = penalty + value
        total = v[0] if len(v) == 1 else scales[0] * v[0] + scales[1] * v[1]
        dual = -objective.penalty.conjugate(total) - conjugates(scales)
        gradient = objective.penalty.l2 * w - v.sum(axis=0)
        if objective.fit_intercept:
            gradient = np.append(gradient, sums[5] - sums[4])
        if primal < self.lowest[0]:
            self.lowest = primal, w, b
        if dual > self.highest:
            self.highest = dual
            self.duals.keep(scales, **more)
        point = _Point(w, b, primal, dual, value + conjugate + product, gradient, value, mistakes, **more)
        scale = objective.weight_of_loss * objective.total_weight
        numbers = primal / scale, value / scale, mistakes / scale
        self.history.add(Record(self.steps, self.steps, *numbers, best=self.lowest[0] / scale))
        return point

    def forget(self) -> None:
        """Drop what was proven: it rested on sums that are now computed afresh."""
        self.lowest, self.highest = (np.inf, *self.lowest[1:]), -np.inf
