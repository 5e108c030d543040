"""Newton's method for all folds of a cross-validation at once: one pass over the rows serves every fold's plane.

Rows are held out of one fold each, so that of K planes a row's scores, and its share in the K gradients, cost little
more than those of one. The Hessian of a fold is that of all rows but for those held out; with every row's curvature at
the mean of its K scores, one pass gives all K of them. Such steps leave a fold what its curvature differs from the mean
one's: little, until C is so large that rare features count. Then each fold has a Hessian of its own.

From one C to the next a Newton step with the Hessian at hand leads, which takes no pass at all: of a quadratic loss
that is the solution.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .._common.types import FloatArray, IntArray
from .._core import Rows, fold_losses, one_blas_thread
from ..certificates.held_out import Fold
from ..objective.duality import class_scales
from ..solvers import Start
from ..solvers.newton.line_search import ARMIJO
from ..solvers.newton.preconditioner import ScaledFactor, scaled_factor
from .curves import OWN, solve
from .path import null_intercept

#: Hessians are worth their passes where adding one up takes no more multiplications than two passes for K planes do,
#: twelve for each of a row's numbers and each plane: rows no longer than so many numbers for each plane.
LONGEST = 24
#: And where the factors take no more than that: d³/3 of each against 12 for each number that is stored.
FACTORS = 36
#: A Hessian of the mean scores is given up for those of each fold where a step with it leaves more of the slope.
POOR = 0.3
#: How often a step is halved, and steps for a C.
HALVED, STEPS = 8, 12


def suits(folds: Sequence[Fold], parts: Sequence[tuple[IntArray, IntArray]], rows: Rows) -> bool:
    """Whether folds can go in step: few columns, each row held out once, all of the same weight everywhere."""
    if len(folds) < 2 or rows.stored > LONGEST * len(folds) * rows.n or rows.d**3 > FACTORS * rows.stored:
        return False
    held_out = np.concatenate([test for _, test in parts])
    return (
        len(held_out) == rows.n
        and len(np.unique(held_out)) == rows.n
        and all(len(train) == rows.n - len(test) == fold.objective.n for fold, (train, test) in _pairs(folds, parts))
        and all(fold.objective.class_weight is None for fold in folds)
    )


def _pairs(folds: Sequence[Fold], parts: Sequence[Any]) -> Any:
    return zip(folds, parts, strict=True)


@dataclass(frozen=True)
class Planes:
    """A plane of every fold, a row each, and what a pass says of them: on rows that a fold holds out too."""

    theta: FloatArray
    z: FloatArray  # agreements
    slope: FloatArray  # ℓ'(z), zero on rows that are held out
    u: FloatArray  # s y ℓ'(z), a column for each plane
    value: FloatArray  # Σ s ℓ(z) over the rows of each fold
    gradient: FloatArray  # of that, the last entry that of b


class InStep:
    """All folds, on their way along C.

    Parameters
    ----------
    folds : sequence of Fold
    parts : sequence of pairs of arrays
        Which rows each fold is fitted on, and which it holds out; see `suits`.
    rows, y, weight
        All rows, their labels ±1 and weights, if they have some.
    """

    def __init__(
        self, folds: Sequence[Fold], parts: Sequence[Any], rows: Rows, y: FloatArray, weight: FloatArray | None
    ) -> None:
        self.folds, self.parts, self.rows, self.y, self.weight = folds, parts, rows, y, weight
        objective = folds[0].objective
        self.loss, self.l2, self.intercept = objective.loss, objective.penalty.l2, objective.fit_intercept
        self.s = np.ones(rows.n) if weight is None else weight
        self.positive = (y > 0).astype(np.float64)
        self.held_out_of = np.empty(rows.n, dtype=np.int64)
        for k, (_, test) in enumerate(parts):
            self.held_out_of[test] = k
        self.shared = True
        self.grams: list[FloatArray] = []  # of the folds' losses at C = 1, once there was a step
        self.last: Planes | None = None

    def along(self, Cs: Sequence[float], tol: float, seed: int = 0) -> None:
        """Solve all folds for each C, ascending, to a relative gap of `OWN` tol; the solutions become stops."""
        with one_blas_thread():
            for C in Cs:
                self._solve(C, OWN * tol, seed)

    def _solve(self, C: float, tol: float, seed: int) -> None:
        planes = self._evaluate(self._predicted(C))
        slopes = self._slopes(planes, C)
        for step in range(STEPS + 1):
            gaps = (slopes[:, :-1] ** 2).sum(axis=1) / (2.0 * self.l2)
            gaps += np.abs(slopes[:, -1]) * (1.0 + np.abs(planes.theta[:, -1]))
            objective = C * planes.value + 0.5 * self.l2 * (planes.theta[:, :-1] ** 2).sum(axis=1)
            if (gaps <= tol * objective).all() or step == STEPS:
                break
            made = self._stepped(planes, slopes, objective, C, anew=step < 2 or not self.shared)
            if made is None:
                break
            before, planes = np.linalg.norm(slopes, axis=1), made
            slopes = self._slopes(planes, C)
            if (np.linalg.norm(slopes, axis=1) > POOR * before).any():
                self.shared = False
        self._keep(planes, C, tol, seed, step + 1)

    # -- points -------------------------------------------------------------------------------------------------------

    def _evaluate(self, theta: FloatArray) -> Planes:
        """Return what one pass says of planes."""
        z = self._agreements(theta)
        return self._with_gradient(theta, z, *self._losses(z))

    def _agreements(self, theta: FloatArray) -> FloatArray:
        return np.ascontiguousarray((self.rows.matvec(theta[:, :-1]) + theta[:, -1]).T) * self.y

    def _losses(self, z: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        return fold_losses(z, self.y, self.weight, self.loss, self.held_out_of)

    def _with_gradient(
        self, theta: FloatArray, z: FloatArray, slope: FloatArray, u: FloatArray, value: FloatArray
    ) -> Planes:
        gradient = np.zeros_like(theta)
        gradient[:, :-1] = self.rows.rmatmat(u).T
        if self.intercept:
            gradient[:, -1] = u.sum(axis=0)
        return Planes(theta, z, slope, u, value, gradient)

    def _slopes(self, planes: Planes, C: float) -> FloatArray:
        """∇P of each fold at C."""
        slopes = C * planes.gradient
        slopes[:, :-1] += self.l2 * planes.theta[:, :-1]
        return slopes

    # -- steps --------------------------------------------------------------------------------------------------------

    def _predicted(self, C: float) -> FloatArray:
        """Return where the last planes lead: at first the model without weights, then a step by the last Hessians."""
        if self.last is not None:
            return self.last.theta + (self._direction(self._slopes(self.last, C), C) if self.grams else 0.0)
        theta = np.zeros((len(self.folds), self.rows.d + 1))
        theta[:, -1] = [float(null_intercept(replace(fold.objective, C=C))[0]) for fold in self.folds]
        return theta

    def _direction(self, slopes: FloatArray, C: float) -> FloatArray:
        found = np.zeros_like(slopes)
        used = self.rows.d + self.intercept
        for fold, gram, slope, out in zip(self.folds, self.grams, slopes, found, strict=True):
            factor: ScaledFactor = scaled_factor(replace(fold.objective, C=C), C * gram)
            out[:used] = -factor.solve(slope[:used])
        return found

    def _stepped(
        self, planes: Planes, slopes: FloatArray, objective: FloatArray, C: float, *, anew: bool
    ) -> Planes | None:
        """Return the planes one step further, each as far as lowers its objective; None where one cannot."""
        if anew:
            self._add_up(planes)
        step = self._direction(slopes, C)
        dz, t = self._agreements(step), np.ones(len(step))
        decrement = -np.einsum("kj,kj->k", slopes, step)
        for _ in range(HALVED):
            theta, z = planes.theta + t[:, None] * step, planes.z + t[:, None] * dz
            penalty = 0.5 * self.l2 * (theta[:, :-1] ** 2).sum(axis=1)
            slope, u, value = self._losses(z)
            poor = ~(C * value + penalty <= objective - ARMIJO * t * decrement + 1e-12 * np.abs(objective))
            if not poor.any():
                return self._with_gradient(theta, z, slope, u, value)
            t[poor] *= 0.5
        return None

    def _add_up(self, planes: Planes) -> None:
        """Add up the Hessians: of the mean scores for all folds, or of each fold's own."""
        if not self.shared:
            h = self.s * self.loss.curvature(planes.z.ravel()).reshape(planes.z.shape)
            self.grams = [self.rows.gram(one, train) for one, (train, _) in zip(h, self.parts, strict=True)]
            return
        h = self.s * self.loss.curvature(planes.z.mean(axis=0))
        held_out = [self.rows.gram(h, test) for _, test in self.parts]
        everything = sum(held_out)
        self.grams = [np.asarray(everything - one) for one in held_out]

    # -- what is found ------------------------------------------------------------------------------------------------

    def _keep(self, planes: Planes, C: float, tol: float, seed: int, steps: int) -> None:
        """Take the planes up as stops; what is not near enough is solved for alone."""
        scale = np.ones((2, len(self.folds)))
        if self.intercept:
            ours = -np.einsum("ik,i->k", planes.u, self.positive)
            theirs = planes.u.sum(axis=0) + ours
            scale = np.array([class_scales(float(a), float(b)) for a, b in zip(ours, theirs, strict=True)]).T
        by_row = np.where(self.positive[:, None] > 0, scale[0], scale[1])
        u, v = -planes.slope * by_row.T, self.rows.rmatmat(-planes.u * by_row).T
        theta = planes.theta.copy()
        again = False
        for k, (fold, (train, test)) in enumerate(_pairs(self.folds, self.parts)):
            g = planes.z[k, test] * self.y[test]
            w, b = planes.theta[k, :-1].copy(), float(planes.theta[k, -1])
            fold.take(C, w, b, u=u[k, train], z=planes.z[k, train], g=g, v=v[k].copy())
            fold.iterations[C] = steps
            if not fold.point(C).within(tol):
                solve(fold, C, tol, seed, Start(w, b))
                again, stop = True, fold.point(C).stops[0]
                theta[k] = np.append(stop.w, stop.b)
        self.last = self._evaluate(theta) if again else planes
