"""The dual variables of the augmented Lagrangian method where all classes are one objective, by margins between them.

An example has masses πₖ ≥ 0 on all classes, together c; those off its own class are its dual variables. With springs to
π̄ the best ones for scores g are the point of that simplex which is nearest to

    π̄ + (c/h)(gₖ + [k ≠ y]),

and they bend with the scores as a softmax with equal probabilities on the classes that have a mass: its products and
its preconditioners serve here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..._common.types import BoolArray, FloatArray, IntArray
from ..._core import simplex_masses
from ...objective.class_margins import bound_of
from ...objective.heads import Softmax
from ...objective.objective import Objective
from ..dual.of_margins import margin_start
from ..result import Start
from .conjugate_gradients import conjugate_gradients, dot
from .preconditioner import Metric, ScaledFactor, metric_at, product_work, whole_of_classes
from .sprung_point import SprungPoint

if TYPE_CHECKING:
    from .augmented_lagrangian import _Run


@dataclass(frozen=True)
class Tuned:
    """What was tuned, with what it trades."""

    least: float = 1e-6  #: The first width grows as masses are small beside c, up to one over this.
    direct: float = 200.0  #: A step is solved for by a factor, if that costs no more than so many products …
    accuracy: float = 0.05  #: … and else by conjugate gradients, to this share of the residual: products against steps.
    products: int = 200  #: Products with the Hessian at the most.
    slope: float = 0.1  #: What an exact line search leaves of the slope …
    trials: int = 40  #: … after so many trials at the most.
    nearer: float = 0.8  #: A step along which none is found must leave no more than this of the gradient's square.


TUNED = Tuned()


@dataclass(frozen=True, eq=False)
class _Bend:
    """What the masses bend, as a point of a softmax with equal probabilities on the classes that have one."""

    problem: Objective
    p: FloatArray
    doubt: FloatArray


class OfClasses:
    """Masses of all examples in memory, with their scores: a step adds to the scores."""

    def __init__(self, run: _Run) -> None:
        self.run, self.objective = run, run.objective
        objective, K = self.objective, self.objective.classes
        self.c = objective.C * objective.s
        self.codes = np.ascontiguousarray(objective.codes, dtype=np.int64)
        self.each = np.arange(objective.n), self.codes
        self.own = objective.C * np.vstack([objective.class_sums, objective.class_totals])  # Σ c x over each class
        self.centre = np.repeat(self.c[:, None] / K, K, axis=1)
        self.masses = self.alpha = self.centre
        self.rng, self.fresh = np.random.default_rng(run.seed), True
        self.metric: Metric | None = None

    def resumed(self) -> None:
        """There is nothing to go on from."""

    def is_small(self) -> bool:
        """There is no kernel of a whole run."""
        return False

    def rough(self) -> Start:
        """Return where passes of dual ascent lead."""
        return margin_start(self.objective, self.run.method.tol, self.rng)

    def begin(self, w: FloatArray, b: FloatArray, alpha: FloatArray | None) -> SprungPoint:
        """Set the scores, and the masses' centres; what masses that are given prove counts."""
        self._score(w, b)
        if alpha is not None:
            self.centre = alpha.copy()
            self.centre[self.each] = 0.0
            self.centre[self.each] = np.maximum(self.c - self.centre.sum(axis=1), 0.0)
            self.run.highest, self.alpha = bound_of(self.objective, np.inf, alpha)[0].dual, alpha
            # A width of one moves a mass by c as a score moves by one: where masses are much less, so is that.
            which, classes = np.nonzero(alpha)
            share = float(np.mean(alpha[which, classes] / self.c[which])) if len(which) else 1.0
            self.run.width /= max(share, TUNED.least)
        return self._note(w, b)

    def released(self, point: SprungPoint) -> SprungPoint:
        """Move the centres to where the masses are."""
        self.centre = self.masses
        return self._note(point.w, point.b)

    def refreshed(self, point: SprungPoint) -> SprungPoint:
        """Compute the scores afresh, and prove anew what rested on them."""
        self._score(point.w, point.b)
        self.run.forget()
        return self._note(point.w, point.b)

    def _score(self, w: FloatArray, b: FloatArray) -> None:
        self.scores, self.fresh = self.objective.rows.matmat(w) + b, True

    def _masses(self, change: FloatArray | None = None, t: float = 0.0) -> tuple[FloatArray, FloatArray, float]:
        springs: dict[str, Any] = dict(c=self.c, centre=self.centre, width=self.run.width)
        return simplex_masses(self.scores, self.codes, change, t, **springs)

    def _note(self, w: FloatArray, b: FloatArray) -> SprungPoint:
        """Set the masses at the scores."""
        objective, l2, g = self.objective, self.objective.penalty.l2, self.scores
        self.masses, self.count, _ = self._masses()
        raised = g + 1.0
        raised[self.each] -= 1.0
        lost = raised.max(axis=1) - g[self.each]
        others = raised.copy()
        others[self.each] = -np.inf
        mistakes = float(self.c @ (others.max(axis=1) - 1.0 >= g[self.each]))
        value = float(self.c @ lost)
        outer = value - dot(self.masses, raised) + float(self.c @ g[self.each])
        gradient = np.vstack([objective.rows.rmatmat(self.masses), self.masses.sum(axis=0)]) - self.own
        gradient[:-1] += l2 * w
        primal = objective.penalty.value(w.reshape(-1)) + value
        stray = dot(gradient[:-1], gradient[:-1]) / (2.0 * l2)
        dual = -np.inf
        if stray <= max(outer, self.run.method.tol * primal):
            off = self.masses.copy()
            off[self.each] = 0.0
            dual = bound_of(objective, primal, off)[0].dual
        point = SprungPoint(w, b, primal, dual, outer, gradient if objective.fit_intercept else gradient[:-1])
        return self.run.noted(point, value, mistakes, self.keep)

    def keep(self) -> None:
        """Remember the masses off the own classes."""
        self.alpha = self.masses.copy()
        self.alpha[self.each] = 0.0

    def direction(self, point: SprungPoint) -> FloatArray:
        """Return Newton's step."""
        objective = self.objective
        which = np.flatnonzero((self.count > 1) & (self.c > 0))
        if len(which) == 0:  # on a piece that is flat but for the penalty
            step = -point.gradient
            step[: objective.d] /= objective.penalty.l2
            return step
        count = self.count[which]
        p = (self.masses[which] > 0) / count[:, None]
        softmax = replace(objective, head=Softmax(objective.classes))
        softmax = softmax.chosen(which, objective.s[which] * count / self.run.width)
        bent: Any = _Bend(softmax, p, 1.0 - 1.0 / count)
        cost, make = min(whole_of_classes(bent), _ByMasses.of(bent, count), key=lambda each: each[0])
        if cost <= TUNED.direct:
            return -make().solve(point.gradient)
        metric = self.metric or metric_at(bent, self.rng)
        bend = softmax.bending(bent)
        step, products = conjugate_gradients(bend, -point.gradient, metric, TUNED.accuracy, TUNED.products)
        self.metric = metric if metric.serves(products) else None
        return step

    def moved(self, point: SprungPoint, step: FloatArray, slope: float) -> SprungPoint | None:
        """Go as far along the step as is best."""
        objective, l2 = self.objective, self.objective.penalty.l2
        dw, db = objective.split(step)
        change = objective.rows.matmat(np.ascontiguousarray(dw)) + db
        linear = l2 * dot(point.w, dw) - float(self.c @ change[self.each])
        quadratic = l2 * dot(dw, dw)

        def slope_at(t: float) -> float:
            return linear + t * quadratic + self._masses(change, t)[2]

        found = line_search(slope_at, slope)
        t = found or 1.0  # where rounding hides all slopes along the step its end may be nearer: the gradient tells
        self.run.steps += 1
        self.scores, self.fresh = self.scores + t * change, False
        new = self._note(point.w + t * dw, point.b + t * db)
        left = dot(new.gradient, new.gradient) / dot(point.gradient, point.gradient)
        return new if found > 0 or left < TUNED.nearer else None

    def best(self) -> FloatArray:
        """Return the masses of the best bound."""
        return self.alpha

    def agreements(self, w: FloatArray) -> None:
        """They are not kept."""


class _ByMasses(Metric):
    """The Hessian by Woodbury's formula, where few masses bend.

    That of an example is its weight times QQᵀ ⊗ xxᵀ, with the columns of Q an orthonormal basis of what leaves the sum
    of the masses on its classes as it is: one less than these. Z holds √weight qᵀ ⊗ xᵀ for each of them, and
    H = l2·I + ZᵀZ. The intercepts, which have no l2, are eliminated last; all of them moved alike bend nothing.
    """

    exact = True

    @classmethod
    def of(cls, bend: _Bend, count: FloatArray) -> tuple[float, Callable[[], Metric]]:
        """Return what it costs, in products with the Hessian, and how to make it."""
        problem, R = bend.problem, float((count - 1).sum())
        work = problem.n * problem.rows.stored / 2 + R**2 * problem.classes / 2 + R**3 / 6
        return work / product_work(problem), lambda: cls(bend)

    def __init__(self, bend: _Bend) -> None:
        problem = bend.problem
        self.rows, self.l2, self.fit_intercept = problem.rows, problem.penalty.l2, problem.fit_intercept
        self.owner, self.E = _tangents(bend.p > 0)
        # The curvature of a softmax with equal probabilities on so many classes is QQᵀ over their number.
        counted = np.count_nonzero(bend.p, axis=1)
        self.E *= np.sqrt(problem.weight_of_loss * problem.s / counted)[self.owner, None]
        X = self.rows.X
        products = (X @ X.T).toarray() if self.rows.is_sparse else X @ X.T
        self.gram = (self.E @ self.E.T) * products[np.ix_(self.owner, self.owner)]
        np.einsum("rr->r", self.gram)[:] += self.l2
        self.factor = ScaledFactor(self.gram, nudge=1e-16)
        if self.fit_intercept:
            self.column = np.column_stack([self.factor.solve(each) for each in self.E.T])
            self.rest = self.l2 * self.E.T @ self.column
            self.rest += np.trace(self.rest) / len(self.rest) ** 2
            self.own = ScaledFactor(self.rest)

    def _spread(self, t: FloatArray) -> FloatArray:
        """Zᵀt."""
        of_rows = np.zeros((self.rows.n, self.E.shape[1]))
        np.add.at(of_rows, self.owner, t[:, None] * self.E)
        return self.rows.rmatmat(of_rows)

    def solve(self, g: FloatArray) -> FloatArray:
        w = np.ascontiguousarray(g[:-1] if self.fit_intercept else g)
        gathered = np.einsum("rk,rk->r", self.E, self.rows.matmat(w)[self.owner])
        t = self.factor.solve(gathered) / self.l2
        if not self.fit_intercept:
            return w / self.l2 - self._spread(t)
        b = self.own.solve(g[-1] - self.l2 * (self.E.T @ t))
        return np.vstack([w / self.l2 - self._spread(t + self.column @ b), b])


def _tangents(has: BoolArray) -> tuple[IntArray, FloatArray]:
    """Return an orthonormal basis of the vectors that sum to zero on the marked classes of each row, and their rows.

    Examples
    --------
    >>> owner, basis = _tangents(np.array([[True, True, True], [False, True, True]]))
    >>> owner, basis.round(2) + 0.0
    (array([0, 0, 1]), array([[ 0.71, -0.71,  0.  ],
           [ 0.41,  0.41, -0.82],
           [ 0.  ,  0.71, -0.71]]))
    """
    rank = np.cumsum(has, axis=1) * has  # which of its marked classes each one is, from one on
    owner, last = np.nonzero(rank > 1)
    r = rank[owner, last] - 1.0
    basis = np.where(has[owner] & (rank[owner] <= r[:, None]), 1.0, 0.0)
    basis[np.arange(len(owner)), last] = -r
    basis /= np.sqrt(r * (r + 1.0))[:, None]
    return owner, basis


def line_search(slope_at: Any, first: float) -> float:
    """Return t where a convex function's slope is all but zero, from that at 0 (which is below); 0 if none is found."""
    if not first < 0:
        return 0.0
    low, high, below, above, t = 0.0, np.inf, first, np.inf, 1.0
    for _ in range(TUNED.trials):
        slope = slope_at(t)
        if abs(slope) <= -TUNED.slope * first:
            return t
        if slope < 0:
            low, below = t, slope
        else:
            high, above = t, slope
        if high == np.inf:
            t = 2.0 * low
        else:  # where the line through both ends is zero, but not next to either
            share = below / (below - above)
            t = low + min(max(share, 0.1), 0.9) * (high - low)
    return low
