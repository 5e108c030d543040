"""The dual variables of the augmented Lagrangian method beside examples in blocks: one pass gives all that is asked.

With many features no Hessian is added up: how each example bends stays beside it, and a step is found by conjugate
gradients, a pass a product.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from ..._common.types import FloatArray
from ..._core import sprung_slopes
from ...objective.examples import Block, InPieces, Several
from ..result import Start
from ..sampling import sample_objective
from ..workspace import Vector, Workspace
from .conjugate_gradients import conjugate_gradients
from .line_search import ARMIJO
from .preconditioner import FACTORED, diagonal_of, scaled_factor
from .sprung_point import SprungPoint, sprung_sums

if TYPE_CHECKING:
    from .augmented_lagrangian import _Run


@dataclass(frozen=True)
class Tuned:
    """What was tuned, with what it trades; set by `benchmarks/files.py`."""

    rough: float = 1e-3  #: The gap to which a sample is solved at first: each further pass costs a reading.
    #: The first width from there, and what becomes of it: narrow springs take shorter steps, wide ones have to be moved
    #: more often. (Passes of covtype, normal, lognormal and all but separable rows, C = 1 and .001, together: 128 for
    #: these, 153 for .5 and .5, 130 for .2 and .5, 156 for .5 and .25.)
    nearby: float = 0.2
    narrow: float = 0.25
    #: Lengths of a step at which its slope is looked at in one pass, where the whole one was too long: the next to be
    #: tried is between two of them. One that was never too short: such a step is halved after all.
    lengths: FloatArray = field(default_factory=lambda: np.geomspace(2.0**-24, 1.0, 25))
    accuracy: float = 0.1  #: What a step may leave of the slope.
    shortest: float = 1e-14  #: The shortest step that is tried.
    residual: float = 0.1  #: What conjugate gradients leave of a step's residual: products against steps.
    products: int = 100  #: Products for one step at the most.
    narrower: float = 0.7  #: What becomes of the width then: the narrower the springs, the more products a step takes.
    #: (These three by 3,000 × 4,000 rows at random, C = 1 and 100; on 20 newsgroups 278 rounds instead of 762.)


TUNED = Tuned()

#: Where dual variables are kept, by turns: the centres, now and as a killed run would want them, those of the best
#: bound, of the last point, and of this pass.
VECTORS = tuple(f"duals-{k}" for k in range(5))
#: Where agreements z are kept, by turns: those of the point, and those of the next one; and how a step changes them.
AGREEMENTS, CHANGE = ("agreements-0", "agreements-1"), "change"
#: How each example bends, as the last pass found it, where no Hessian is added up.
BENDS = "bends"


class InBlocks:
    """Dual variables beside the blocks of their examples: a pass sets them and adds up all that is asked."""

    fresh = True  # sums are: z + t dz between two whole steps is off by no more than some units in the last place

    def __init__(self, run: _Run, workspace: Workspace) -> None:
        self.run, self.objective, self.workspace = run, run.objective, workspace
        # The names of vectors; None for centres in the middle.
        self.centre: str | None = None
        self.kept: str | None = None
        self.highest: str | None = None
        self.at, self.next = AGREEMENTS  # where the point's agreements are, and those of the last pass may be
        self.wide = run.objective.d > FACTORED
        self.bent = np.zeros(0)  # the Hessian of the losses as the last pass has added it up, or its diagonal
        self.products = 0
        if self.wide:
            run.narrower = TUNED.narrower
        else:
            run.nearby, run.narrower = TUNED.nearby, TUNED.narrow
        self.wary = False  # whether steps are likely to be too long: the springs were released, and none was not since

    def resumed(self) -> Start | None:
        """Return where a run that was killed stood."""
        state = self.workspace.state
        if state is None:
            return None
        self.centre = self.kept = state["centre"]
        self.run.width, self.run.steps = float(state["width"]), int(state["passes"])
        return Start(np.array(state["w"], dtype=np.float64), float(state["b"]))

    def rough(self) -> Start | None:
        """Return where a sample of the examples leads."""
        part = sample_objective(self.objective, self.run.seed)
        return None if part is None else self.run.of_sample(part, TUNED.rough)

    def is_small(self) -> bool:
        """No run is."""
        return False

    def begin(self, w: FloatArray, b: float, alpha: FloatArray | None) -> SprungPoint:
        """Make the first pass."""
        return self._accepted(self._pass(w, b))

    def _accepted(self, point: SprungPoint) -> SprungPoint:
        """Go on from the point of the last pass."""
        self.at, self.next = self.next, self.at
        return point

    def released(self, point: SprungPoint) -> SprungPoint:
        """Move the centres to where the dual variables are."""
        self.centre, self.wary = point.duals, True
        return self._keep(self._pass(point.w, point.b, along=0.0))

    def keep(self, scales: tuple[float, float], *, duals: str, inner: float) -> None:
        """Remember which vector has the dual variables of the best bound."""
        self.highest = duals

    def direction(self, point: SprungPoint) -> FloatArray:
        """Return Newton's step."""
        if not self.wide:
            return -scaled_factor(self.objective, self.bent.copy()).solve(point.gradient)
        metric = diagonal_of(self.objective, self.bent.copy())
        return conjugate_gradients(self._product, -point.gradient, metric, TUNED.residual, TUNED.products)[0]

    def _product(self, v: FloatArray) -> FloatArray:
        """Return the Hessian of the last pass times a vector: a pass."""
        objective, bends = self.objective, self.workspace.vector(BENDS)

        def task(block: Block) -> FloatArray:
            part = objective.on(block)
            found: FloatArray = part.head.bending(part, bends.read(block.which))(v)
            return found

        found: FloatArray = objective.examples.sum(InPieces(task))
        found[: objective.d] += objective.penalty.l2 * v[: objective.d]
        self.products += 1
        self._tell()
        return found

    def moved(self, point: SprungPoint, step: FloatArray, slope: float) -> SprungPoint | None:
        """Go along the step, a pass for each length that is tried: the whole one first, or where one ought to end."""
        theta, looked = self.objective.join(point.w, point.b), self.wary
        t = self._flattest(point, step, slope) if looked else 1.0
        while t > TUNED.shortest and slope < 0:
            along = t if looked else None
            new = self._pass(*self.objective.split(theta + t * step), keep=point.duals, along=along)
            # The inner problem is convex: it has fallen as long as its slope has not turned. Where values drown in
            # rounding, as with a large C, the slope still tells.
            turned = float(new.gradient @ step) / -slope
            if new.inner <= point.inner + ARMIJO * t * slope or turned <= TUNED.accuracy:
                self.wary = self.wary and t < 1.0
                return self._keep(self._accepted(new))
            if not looked:
                t, looked = self._flattest(point, step, slope), True
            else:  # where the parabola through what is known is lowest
                t *= float(np.clip(-0.5 * slope * t / (new.inner - point.inner - slope * t), 0.1, 0.5))
        return None

    def _flattest(self, point: SprungPoint, step: FloatArray, slope: float) -> float:
        """Return about the length of a step, less than one, where its slope vanishes: a pass for many lengths at once.

        Where few examples are in the band a step is too long by any factor, and halving it would take a pass each time.
        """
        objective, lengths, middle_of, width = self.objective, TUNED.lengths, self._middle(), self.run.width
        w, (dw, db) = point.w, objective.split(step)
        at, change = (self.workspace.vector(name) for name in (self.at, CHANGE))

        def task(block: Block) -> FloatArray:
            part = objective.on(block)
            c, dz = part.C * part.s, part.agreements(dw, db)
            change.write(block.which, dz)
            line = dict(centre=middle_of(block, c), z=at.read(block.which), dz=dz, width=width)
            return sprung_slopes(c, part.loss, lengths, **line)

        slopes = objective.examples.sum(InPieces(task))
        slopes += objective.penalty.l2 * (float(w @ dw) + lengths * float(dw @ dw))
        self._count()
        ends, slopes = np.append(0.0, lengths), np.append(slope, slopes)
        rises = int(np.argmax(slopes > 0)) or len(ends) - 1
        low, high = ends[rises - 1], ends[rises]
        at, until = slopes[rises - 1], slopes[rises]
        return float(low + (high - low) * (-at / (until - at) if until > 0 > at else 1.0))

    def _middle(self) -> Callable[[Block, FloatArray], FloatArray]:
        """Return what gives the centres of a block's dual variables."""
        centre = None if self.centre is None else self.workspace.vector(self.centre)
        return lambda block, c: 0.5 * c if centre is None else np.clip(centre.read(block.which), 0.0, c)

    def _count(self) -> None:
        """Count a pass, and let whoever listens hear of it."""
        self.run.steps += 1
        self._tell()

    def _tell(self) -> None:
        self.workspace.passed(self.run.steps + self.products, self.run.proof().relative_gap)

    def _agreements(self, w: FloatArray, b: float, along: float | None) -> Callable[[Any, slice], FloatArray]:
        """Return what gives those of some examples at (w, b): without a product, where it is so far along a step."""
        at, change, into = (self.workspace.vector(name) for name in (self.at, CHANGE, self.next))

        def found(part: Any, which: slice) -> FloatArray:
            if along == 0.0:
                return at.read(which)
            z: FloatArray = part.agreements(w, b) if along is None else at.read(which) + along * change.read(which)
            into.write(which, z)
            return z

        return found

    def _pass(self, w: FloatArray, b: float, keep: str | None = None, along: float | None = None) -> SprungPoint:
        """Go through the examples once: set their dual variables, and add up what is needed.

        `along`: how far along the step that was looked at last this is; not at all, if 0.
        """
        objective, run, width = self.objective, self.run, self.run.width
        in_use = {self.centre, self.kept, self.highest, keep}
        name = next(name for name in VECTORS if name not in in_use)
        into, middle_of = self.workspace.vector(name), self._middle()
        bends, z_of = self.workspace.vector(BENDS) if self.wide else None, self._agreements(w, b, along)

        def task(block: Block) -> Several:
            part, which = objective.on(block), block.which
            c = part.C * part.s
            middle = middle_of(block, c)
            a, h = np.zeros(part.n), np.zeros(part.n)
            sums = sprung_sums(part, c, a=a, h=h, centre=middle, z=z_of(part, which), width=width)
            into.write(which, a)
            moved = np.divide((a - middle) ** 2, c, out=np.zeros_like(a), where=c > 0)
            shares = np.where(c > 0, c * part.loss.conjugate(-np.divide(a, c, out=np.zeros_like(a), where=c > 0)), 0.0)
            by_class = np.array([shares[part.y > 0].sum(), shares[part.y < 0].sum()])
            if bends is None:
                bent = part.rows.gram(h, np.flatnonzero(h != 0))
            else:
                bends.write(which, h)
                bent = np.append(part.rows.square_rmatvec(h), h.sum())
            return Several((sums, 0.5 * width * float(moved.sum()), by_class, bent))

        sums, spring, by_class, self.bent = objective.examples.sum(InPieces(task))
        inner = objective.penalty.value(w) - float(sums[1] + sums[2]) - spring
        # A class scaled by p ≤ 1 adds no more than p times its own: ℓ* is convex and ℓ*(0) = 0.
        conjugates = lambda scales: float(by_class @ scales)  # noqa: E731
        run.steps += 1
        point = run.point(w, b, sums, sums[6:].reshape(-1, objective.d), conjugates, duals=name, inner=inner)
        self._tell()
        return point

    def _keep(self, point: SprungPoint) -> SprungPoint:
        """Let a killed run go on from here."""
        state: dict[str, Any] = dict(centre=self.centre, width=self.run.width, passes=self.run.steps)
        self.workspace.keep({**state, "w": point.w.tolist(), "b": point.b})
        self.kept = self.centre
        return point

    def best(self) -> Vector | None:
        """Return the dual variables of the best bound."""
        return None if self.highest is None else self.workspace.vector(self.highest)

    def agreements(self, w: FloatArray) -> None:
        """They are not kept."""
