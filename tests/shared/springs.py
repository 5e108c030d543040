"""The augmented Lagrangian method from beginning to end in plain Python: the oracle of the compiled run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from linsep._common.types import FloatArray, IntArray
from linsep._core.reference import gram, matvec, sprung_duals, sprung_line_search

#: Why a run ends: the gap is proven, that was enough steps, no step leads anywhere, the log is full.
ENDS = PROVEN, TIRED, STUCK, FULL = "proven", "tired", "stuck", "full"


def sprung_newton(
    X: Any,
    y: FloatArray,
    c: FloatArray,
    loss: Any,
    l2: float,
    intercept: bool,
    tol: float,
    target: float,
    narrower: float,
    narrowest: float,
    more: int,
    most: int,
    point: FloatArray,
    z: FloatArray,
    a: FloatArray,
    h: FloatArray,
    centre: FloatArray,
    width: FloatArray,
    best_point: FloatArray,
    best_alpha: FloatArray,
    proof: FloatArray,
    log: FloatArray,
    ended: IntArray,
    threads: int = 1,
) -> None:
    """Run the method of multipliers until the relative gap is `target`; see `solvers.newton.augmented_lagrangian`.

    It ends no more than `more` steps after a gap of `tol`, and after `most` steps at the latest. In `ended` go why (its
    place in `ENDS`), the steps, the rows of the log, and whether z are the agreements of the best point, taken afresh.
    """
    arrays = point, z, a, h, centre, width, best_point, best_alpha, proof
    run = _Sprung(X, y, c, loss, l2, intercept, *arrays, log)
    ended[0] = ENDS.index(run.run(tol, target, narrower, narrowest, more, most))
    ended[1:] = run.steps, run.notes, run.fresh and run.best_is_here


@dataclass
class _Sprung:
    """One run of `sprung_newton`."""

    X: Any
    y: FloatArray
    c: FloatArray
    loss: Any
    l2: float
    intercept: bool
    point: FloatArray
    z: FloatArray
    a: FloatArray
    h: FloatArray
    centre: FloatArray
    width: FloatArray
    best_point: FloatArray
    best_alpha: FloatArray
    proof: FloatArray
    log: FloatArray
    steps: int = 0
    notes: int = 0

    def run(self, tol: float, target: float, narrower: float, narrowest: float, more: int, most: int) -> str:
        """Take Newton steps; return why it ended."""
        self.refresh()
        enough = most
        while True:
            if not self.measure(target, narrower, narrowest):
                return FULL
            if self.gap() <= target:
                return PROVEN
            if self.gap() <= tol and enough == most:
                enough = min(most, self.steps + more)
            if self.steps >= enough:
                return TIRED
            if not self.step():
                return STUCK

    def gap(self) -> float:
        """Return the relative gap."""
        return float((self.proof[0] - self.proof[1]) / max(abs(self.proof[0]), np.finfo(float).tiny))

    def refresh(self) -> None:
        """Compute afresh what is otherwise kept up to date by adding to it, and drop what rested on that."""
        self.z[:] = self.agreements(self.point)
        self.a[:] = 0.0
        self.v = np.zeros((1 + self.intercept, self.X.shape[1]))
        self.proof[:] = np.inf, -np.inf
        self.fresh, self.best_is_here = True, False

    def agreements(self, point: FloatArray) -> FloatArray:
        """Y (w·x + b)."""
        g = np.empty((self.X.shape[0], 1))
        matvec(self.X, point[None, :-1], g)
        return np.asarray(self.y * (g[:, 0] + point[-1]))

    def measure(self, target: float, narrower: float, narrowest: float) -> bool:
        """Note the point; springs that hold more than all else give way. False where the log is full."""
        while self.notes < len(self.log):
            inner, outer = self.note()
            if self.gap() <= target:
                if self.fresh:
                    return True
                self.refresh()
            elif inner <= outer and self.width[0] > narrowest:
                self.centre[:] = self.a
                self.width *= narrower
            else:
                return True
        return False

    def note(self) -> tuple[float, float]:
        """Set the dual variables at z; return how much of the gap is the inner problem's, and how much the springs'."""
        sums = np.empty(6 + self.v.size)
        settings = self.centre, self.z, float(self.width[0]), self.intercept, self.a, self.h
        sprung_duals(self.X, self.y, self.c, self.loss, *settings, sums)
        self.v += sums[6:].reshape(self.v.shape)
        self.totals = sums[4:6]
        scales = np.ones(2)
        if self.intercept:
            scales = self.totals.min() / self.totals if self.totals.min() > 0 else np.zeros(2)
        w, v, scale = self.point[:-1], scales[: len(self.v)] @ self.v, np.where(self.y > 0, *scales)
        used = self.c > 0
        conjugate = self.c[used] @ self.loss.conjugate(-(self.a * scale)[used] / self.c[used])
        primal, dual = 0.5 * self.l2 * w @ w + sums[0], -v @ v / (2.0 * self.l2) - conjugate
        if primal < self.proof[0]:
            self.proof[0], self.best_point[:], self.best_is_here = primal, self.point, True
        if dual > self.proof[1]:
            self.proof[1], self.best_alpha[:] = dual, self.a * scale
        self.log[self.notes] = self.steps, primal, sums[0], sums[3], self.proof[0]
        self.notes += 1
        outer = float(sums[:3].sum())
        return float(primal - dual) - outer, outer

    def step(self) -> bool:
        """Take one Newton step on the inner problem; return whether it led anywhere."""
        d, size = self.X.shape[1], self.X.shape[1] + self.intercept
        gradient = np.append(self.l2 * self.point[:d] - self.v.sum(axis=0), self.totals[1] - self.totals[0])[:size]
        H = np.zeros((d + 1, d + 1))
        gram(self.X, self.h, np.flatnonzero(self.h), H)
        H = (np.tril(H) + np.tril(H, -1).T + self.l2 * np.diag(np.append(np.ones(d), 0.0)))[:size, :size]
        bends = np.diag(H) > 0
        scale = 1.0 / np.sqrt(np.where(bends, np.diag(H), 1.0))
        H = H * scale[:, None] * scale
        np.fill_diagonal(H, 1.0 + 1e-10)
        way = np.zeros(d + 1)
        way[:size] = -scale * np.linalg.solve(H, scale * gradient)
        dz, w, dw = self.agreements(way), self.point[:d], way[:d]
        line = float(gradient @ way[:size]), self.l2 * float(w @ dw), self.l2 * float(dw @ dw)
        t = sprung_line_search(self.c, self.loss, self.centre, self.z, dz, float(self.width[0]), *line, 0.1)
        self.steps += 1
        self.point += t * way
        self.z += t * dz
        if t:
            self.fresh = self.best_is_here = False
        return t != 0
