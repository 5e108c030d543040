"""The examples as a search for the fewest mistakes sees them, and the vectors that have some of them right."""

from __future__ import annotations

import numpy as np

from ..._common.types import BoolArray, FloatArray
from ..._core import Rows
from ...arithmetic.whole_weights import WholeWeights
from ...certificates.mistakes.climbing import centre
from ...losses import Logistic, Square
from ...objective.objective import Objective
from ...objective.problem import Problem
from ...penalties import L2
from ..newton.least_squares import LeastSquares
from ..newton.newton import Newton
from .local import elastic, roomy

EPS = float(np.finfo(np.float64).eps)
SMALLEST = float(np.finfo(np.float64).smallest_subnormal)
#: Numbers that the search is ready to hold; it works on dense rows.
LARGEST = 2**27
#: Up to this many rows the hinge loss is minimised too, as a linear program.
LP_ROWS = 1500
#: A box for v in the linear programs that look for any plane at all, however steep.
STEEP = 1e7
#: The share of the room of the heaviest point that the lightest gets.
LEAST_ROOM = 1e-3
#: A point that is nearer to the plane than this, in standardised columns, is as good as on it where a centre is sought.
NEAR = 1e-100


class Points:
    """The examples as the search sees them: equal ones as one, in an order of their own, those of no weight left out.

    So the answer does not depend on the order of the rows, and a weight of two is the same as two rows.

    Attributes
    ----------
    A : array of shape (n, D)
        yᵢ [xᵢ, 1], or yᵢ xᵢ without intercept.
    B : array of shape (n, D)
        The same of the standardised columns: better for linear programs and line searches.
    weights, s : WholeWeights, array
        What they weigh: exactly, and in floats up to a common factor, for hints.
    each, total : WholeWeights, int
        What each row of X weighs, in the same unit, and the sum of that.
    first, place : array, array
        The first row of X that each stands for; and of every row of X, which of these it is, −1 for none.
    hopeless, hopeless_weight : array, int
        Rows of X on which every plane errs, x = 0 without intercept, and their weight.
    """

    def __init__(self, problem: Objective) -> None:
        rows, self.intercept = problem.rows, problem.fit_intercept
        if rows.n * rows.d > LARGEST:
            raise ValueError(
                f"X has {rows.n} × {rows.d} entries, more than the {LARGEST} that a search for the fewest mistakes "
                "can hold as dense rows; take a sample of the rows or fewer features, or use a convex loss"
            )
        X = np.asarray(rows.X.toarray() if rows.is_sparse else rows.X, dtype=np.float64) + 0.0
        s = np.ones(rows.n) if problem.sample_weight is None else problem.sample_weight
        live = s > 0
        void = np.zeros(rows.n, dtype=bool) if self.intercept else ~X.any(axis=1)
        self.each = WholeWeights.of(s)
        self.total = self.each.total
        self.hopeless = np.flatnonzero(live & void)
        self.hopeless_weight = self.each.where(self.hopeless)
        used = np.flatnonzero(live & ~void)
        table = np.column_stack([problem.y[used], X[used]])
        table, first, inverse = np.unique(table, axis=0, return_index=True, return_inverse=True)
        self.first = used[first]
        self.place = np.full(rows.n, -1)
        self.place[used] = inverse.ravel()
        self.weights = WholeWeights(self.each.numbers[used], self.each.unit).grouped(inverse.ravel(), len(table))
        self.s = self.weights.about()
        self.y, self.X = np.ascontiguousarray(table[:, 0]), np.ascontiguousarray(table[:, 1:])
        self._scale()
        self.A, self.B = self._signed(self.X), self._signed((self.X - self.mean) / self.size)
        self.D = self.A.shape[1]

    def _scale(self) -> None:
        d = self.X.shape[1]
        self.mean = self.X.mean(axis=0) if self.intercept and len(self.X) else np.zeros(d)
        apart = np.abs(self.X - self.mean)
        largest = apart.max(axis=0, initial=0.0)
        divisor = np.where(largest > 0, largest, 1.0)  # the squares of tiny numbers would vanish
        size = largest * np.sqrt(((apart / divisor) ** 2).mean(axis=0)) if len(self.X) else np.zeros(d)
        size = np.where(largest > 0, np.maximum(size, SMALLEST), 0.0)
        constant = size <= 16 * EPS * np.abs(self.mean)
        self.size = np.where(constant, np.inf, size)
        # any multiple is the same plane: this one keeps the weights of tiny columns finite
        self.unit = float(np.ldexp(1.0, min(0, int(np.frexp(size.min(initial=1.0, where=~constant))[1]) + 900)))

    def _signed(self, X: FloatArray) -> FloatArray:
        rows = np.column_stack([X, np.ones(len(X))]) if self.intercept else X
        return np.ascontiguousarray(rows * self.y[:, None])

    def surrogates(self) -> list[tuple[Objective, LeastSquares | Newton]]:
        """Return problems whose solutions are good planes to begin with, and what solves them."""
        rows = Rows((self.X - self.mean) / self.size)
        shared = dict(sample_weight=self.s, fit_intercept=self.intercept)
        weak, strong = 1.0 / self.s.mean(), 100.0 / self.s.mean()
        return [
            (Problem(rows, self.y, Logistic(), L2(), C=weak, **shared), Newton(max_iter=30)),  # type: ignore[arg-type]
            (Problem(rows, self.y, Logistic(), L2(), C=strong, **shared), Newton(max_iter=30)),  # type: ignore[arg-type]
            (Problem(rows, self.y, Square(), L2(), C=weak, **shared), LeastSquares()),  # type: ignore[arg-type]
        ]

    def box(self, limit: float = 1.0) -> FloatArray:
        """How long v may be in each coordinate: the intercept has to reach every plane that cuts the points."""
        box = np.full(self.D, limit)
        if self.intercept:
            box[-1] = limit * (1.0 + float(np.abs(self.B[:, :-1]).sum(axis=1).max(initial=0.0)))
        return box

    def middle(self, right: BoolArray, seconds: float) -> FloatArray | None:
        """Return a vector that has these points right, with as much room as there is; heavier points get more."""
        v = roomy(self.B[right], self.shares(right), self.box(), seconds)
        if v is None and len(self.s) <= LP_ROWS:  # so little room that the linear program sees none
            v = elastic(self.B[right], self.s[right], self.box(STEEP), seconds)
        return v

    def centre(self, right: BoolArray, v: FloatArray | None, seconds: float) -> tuple[FloatArray | None, float]:
        """Return the vector in the middle of those that have these points right, as v has, and how much room it has."""
        if v is None or not self._inside(right, v):
            v = self.middle(right, seconds)
        if v is None or not self._inside(right, v):
            return v, -np.finfo(np.float64).max
        return centre(self.B[right], self.shares(right), v)

    def _inside(self, right: BoolArray, v: FloatArray) -> bool:
        """Whether v has these points right by so much that the squares of their distances' inverses are floats."""
        return bool((self.B[right] @ v).min() > NEAR * np.abs(v).max())

    def shares(self, right: BoolArray) -> FloatArray:
        """Return the weights of points, relative to the largest of all; the lightest get some room too."""
        shares: FloatArray = np.clip(self.s[right] / self.s.max(), LEAST_ROOM, 1.0)
        return shares

    def plane(self, v: FloatArray) -> tuple[FloatArray, float]:
        """Return w and b of a vector of the standardised rows."""
        w = (v[:-1] if self.intercept else v) * self.unit / self.size
        return w, float(v[-1] * self.unit - self.mean @ w) if self.intercept else 0.0

    def vector(self, w: FloatArray, b: float) -> FloatArray:
        """Return the vector of the standardised rows of a plane."""
        v = np.where(np.isfinite(self.size), w * np.where(np.isfinite(self.size), self.size, 0.0), 0.0)
        return np.append(v, b + self.mean @ w) if self.intercept else v

    def agreements(self, w: FloatArray, b: float) -> FloatArray:
        """Return z of every point, zero where rounding might make it positive."""
        z = self.y * (self.X @ w + b)
        z[z <= 2 * (len(w) + 2) * EPS * (np.abs(self.X) @ np.abs(w) + abs(b))] *= 0.0
        return z

    def cost(self, w: FloatArray, b: float) -> int:
        """Σ sᵢ [zᵢ ≤ 0] in units, the hopeless ones included; of no plane, more than all of them."""
        if not (np.isfinite(w).all() and np.isfinite(b)):
            return self.total + 1
        return self.hopeless_weight + self.weights.where(self.agreements(w, b) <= 0)

    def off_the_plane(self, w: FloatArray, b: float) -> tuple[FloatArray, float]:
        """Move the plane off points that lie on it, where it has an intercept and that can be done."""
        z = self.y * (self.X @ w + b)
        doubtful = np.abs(z) <= 2 * (len(w) + 2) * EPS * (np.abs(self.X) @ np.abs(w) + abs(b))
        clear = np.abs(z[~doubtful])
        if not doubtful.any() or not self.intercept:
            return w, b
        step = 0.5 * float(clear.min(initial=1.0))
        return w, min((b + step, b - step), key=lambda moved: self.cost(w, moved))
