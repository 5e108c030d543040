"""One step of the interior point method: the linearised equations at a point, and how everything changes along it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..._common.types import FloatArray
from .conjugate_gradients import conjugate_gradients
from .preconditioner import Metric, factored, scaled_factor

if TYPE_CHECKING:
    from .interior_point import _Run

#: How many products a step may take at the most, and which share its equations may miss.
REFINEMENTS, ENOUGH = 30, 1e-11


class Step(NamedTuple):
    """How everything changes along a step."""

    w: FloatArray
    b: float
    z: FloatArray
    alpha: FloatArray
    s: FloatArray
    t: FloatArray
    q: FloatArray
    e: FloatArray
    f: FloatArray


class System:
    """The linearised equations at a point: H = D + Σ hᵢ [xᵢ, 1][xᵢ, 1]ᵀ, its factor, and corrections to it.

    D is l2, and with L1 what the box of each weight adds to it.
    """

    def __init__(self, at: _Run) -> None:
        self.at, self.problem = at, at.problem
        self.room = at.top - at.alpha if at.bounded else np.ones_like(at.alpha)
        self.divisor = at.s / at.alpha + at.t / self.room + at.bend
        self.h, self.give = 1.0 / self.divisor, np.zeros(self.problem.d)
        self.diagonal = np.full(self.problem.d, self.problem.penalty.l2)
        if at.l1 > 0:
            self.give = at.e / (at.l1 - at.q) + at.f / (at.l1 + at.q)  # how far a weight goes as q does
            self.diagonal = self.diagonal + 1.0 / self.give
        if self.problem.penalty.l2 > 0 and at.l1 == 0:
            self.factor: Metric = factored(self.problem, self.h)
        else:
            everything = np.arange(self.problem.n)
            self.factor = scaled_factor(self.problem, self.problem.rows.gram(self.h, everything), self.diagonal)

    def direction(self, aims: list[FloatArray]) -> Step:
        """Solve the equations for given products of the pairs."""
        at, problem, y, l1 = self.at, self.problem, self.at.y, self.at.l1
        at_zero, *others = aims
        missing = at.s - at.t - (at.z - 1.0 + at.bend * at.alpha)
        r = missing + (at_zero / at.alpha - at.s)
        if at.bounded:
            at_top = others.pop(0)
            r -= at_top / self.room - at.t
        u = (at.alpha + r / self.divisor) * y
        right = problem.rows.rmatvec(u) - problem.penalty.l2 * at.w
        if l1 > 0:
            up, down = others[0] / (l1 - at.q), others[1] / (l1 + at.q)
            drift = up - down - (at.e - at.f)
            right += drift / self.give - at.q
        d_w, d_b = self._solve(np.append(right, u.sum()) if problem.fit_intercept else right)
        d_z = problem.agreements(d_w, d_b)
        d_alpha = (r - d_z) / self.divisor
        d_s = (at_zero - at.s * d_alpha) / at.alpha - at.s
        d_t = (at_top + at.t * d_alpha) / self.room - at.t if at.bounded else np.zeros_like(d_s)
        d_q = d_e = d_f = np.zeros_like(d_w)
        if l1 > 0:
            d_q = (d_w - drift) / self.give
            d_e, d_f = up + at.e * d_q / (l1 - at.q) - at.e, down - at.f * d_q / (l1 + at.q) - at.f
        return Step(d_w, d_b, d_z, d_alpha, d_s, d_t, d_q, d_e, d_f)

    def _solve(self, right: FloatArray) -> tuple[FloatArray, float]:
        """Solve by conjugate gradients: near the end the factor is that of a matrix that had to be nudged."""
        w, b = self.problem.split(conjugate_gradients(self._times, right, self.factor, ENOUGH, REFINEMENTS)[0])
        return np.ascontiguousarray(w), b

    def _times(self, v: FloatArray) -> FloatArray:
        w, b = self.problem.split(v)
        out = self.problem.rows.hessian_product(self.h, np.ascontiguousarray(w), b)
        out[: len(w)] += self.diagonal * w
        return out[: len(v)]
