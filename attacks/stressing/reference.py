"""Optima in sixty digits and more: Newton's method on the formulas, in `decimal`, with nothing of linsep in it.

Columns are divided by their largest entry, which the penalty makes good, and equal rows of a class are one row with
their weights added. The hinge is approached through (t + √(t² + 4μ²))/2 with μ → 0. Of penalised objectives of one
plane the value is proven by a dual point of its own; of the others it ends where Newton's decrement is a share of
1e-16 of it.
"""

from __future__ import annotations

from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal, DivisionByZero, InvalidOperation, getcontext, setcontext
from time import process_time
from typing import Any

import numpy as np

from .problems import Problem

PROVEN = Decimal("1e-7")  # share of the optimum to which it has to be known
SECONDS = 10.0  # of a processor, for an optimum
ONE, TWO, ZERO = Decimal(1), Decimal(2), Decimal(0)

exact = np.vectorize(Decimal, otypes=[object])


def many_digits(digits: int = 60) -> None:
    """Compute in so many digits from here on, of numbers of any size."""
    # What is too large even for these is infinite, and a step that goes there is halved.
    setcontext(Context(prec=digits, Emax=MAX_EMAX, Emin=MIN_EMIN, traps=[DivisionByZero, InvalidOperation]))


class Unknown(ArithmeticError):  # noqa: N818
    """The reference itself did not arrive."""


def solved(H: np.ndarray, g: np.ndarray) -> np.ndarray:
    """Return H⁻¹ g by LDLᵀ with pivots, leaving out directions in which H is zero."""
    H, g = H.copy(), g.copy()
    p, used, still = len(g), [], list(range(len(g)))
    scale = [H[j, j] for j in range(p)]
    while still:
        share = {j: H[j, j] / scale[j] if scale[j] else ZERO for j in still}
        j = max(still, key=lambda k: share[k])
        if share[j] < Decimal(10) ** (8 - getcontext().prec):
            break
        still.remove(j)
        used.append(j)
        for k in still:
            factor = H[k, j] / H[j, j]
            if factor:
                H[k] = H[k] - factor * H[j]
                g[k] -= factor * g[j]
    x = np.array([ZERO] * p, dtype=object)
    for at in reversed(range(len(used))):
        j = used[at]
        x[j] = (g[j] - sum((H[j, k] * x[k] for k in used[at + 1 :]), ZERO)) / H[j, j]
    return x


def softplus(t: Decimal) -> Decimal:
    """log(1 + eᵗ), of which neither end loses digits."""
    return max(t, ZERO) + log1p((-abs(t)).exp())


def log1p(u: Decimal) -> Decimal:
    """log(1 + u) for 0 ≤ u ≤ 1."""
    return u - u * u / 2 + u * u * u / 3 if u < Decimal("1e-25") else (1 + u).ln()


def sigmoid(t: Decimal) -> Decimal:
    """1 / (1 + e⁻ᵗ)."""
    e = (-abs(t)).exp()
    return (ONE if t >= 0 else e) / (1 + e)


#: Of the agreement z: loss, its slope, its curvature; μ is how round the hinge is.
def logistic(z: Decimal, mu: Decimal) -> tuple[Decimal, Decimal, Decimal]:
    p = sigmoid(-z)
    return softplus(-z), -p, p * sigmoid(z)


def hinge(z: Decimal, mu: Decimal) -> tuple[Decimal, Decimal, Decimal]:
    t = 1 - z
    if not mu:
        return max(t, ZERO), ZERO, ZERO
    root = (t * t + 4 * mu * mu).sqrt()
    value = (t + root) / 2 if t > 0 else 2 * mu * mu / (root - t)
    return value, -value / root, 2 * mu * mu / root**3


def squared_hinge(z: Decimal, mu: Decimal) -> tuple[Decimal, Decimal, Decimal]:
    t = max(ZERO, 1 - z)
    return t * t, -2 * t, TWO if t > 0 else ZERO


def square(z: Decimal, mu: Decimal) -> tuple[Decimal, Decimal, Decimal]:
    return (1 - z) ** 2, -2 * (1 - z), TWO


FORMULAS = {"logistic": logistic, "hinge": hinge, "squared_hinge": squared_hinge, "square": square}


def conjugate(loss: str, a: Decimal) -> Decimal:
    """ℓ*(−a)."""
    if loss == "logistic":
        return sum((p * p.ln() for p in (a, 1 - a) if p > 0), ZERO)
    return -a if loss == "hinge" else -a + a * a / 4


class Formula:
    """An objective in many digits."""

    def __init__(self, problem: Problem) -> None:
        many_digits()
        self.until = process_time() + SECONDS
        X, y, s, _ = problem.data
        self.loss, self.K = problem.loss, (len(np.unique(y)) if problem.loss == "softmax" else 1)
        self.penalty = ZERO if np.isinf(problem.C) else ONE
        C = ONE if np.isinf(problem.C) else Decimal(problem.C)
        merged: dict[tuple[Any, ...], Decimal] = {}
        for row, label, weight in zip(X.tolist(), y.tolist(), np.ones(len(y)) if s is None else s, strict=True):
            key = (*row, label)
            merged[key] = merged.get(key, ZERO) + C * Decimal(float(weight))
        rows = exact(np.array([key[:-1] for key in merged]))
        self.label = np.array([key[-1] for key in merged])
        self.c = np.array([*merged.values()], dtype=object)
        self.size = np.array([max(abs(column)) or ONE for column in rows.T], dtype=object)
        self.lam = np.array([self.penalty / size**2 for size in self.size] + [ZERO] * problem.intercept, dtype=object)
        # A dual point is as near as its slopes are to λ w: relative to the largest weight, that takes so many digits.
        penalised = [lam for lam in self.lam if lam]
        self.least_share = min([ONE, *(lam / max(self.c) for lam in penalised)])
        many_digits(70 - self.least_share.adjusted() // 2)
        ones = np.array([[ONE]] * len(rows), dtype=object)
        self.rows = np.hstack([rows / self.size, *[ones] * problem.intercept])
        self.intercept = problem.intercept
        if self.K == 1:
            self.rows = self.rows * exact(np.where(self.label == 1, 1, -1))[:, None]

    def planes(self, coef: np.ndarray, intercept: np.ndarray) -> np.ndarray:
        """Return coefficients and intercepts as they are here: a plane a row, in units of the columns' sizes."""
        W = exact(np.asarray(coef, dtype=float).reshape(self.K, -1)) * self.size
        b = exact(np.broadcast_to(np.asarray(intercept, dtype=float).ravel(), (self.K,)))[:, None]
        return np.hstack([W, *[b] * self.intercept])

    def value(self, theta: np.ndarray, mu: Decimal = ZERO) -> Decimal:
        """P(θ)."""
        return self.at(theta, mu, only_value=True)[0]

    def at(self, theta: np.ndarray, mu: Decimal = ZERO, only_value: bool = False) -> tuple[Any, Any, Any]:
        """P, its gradient and its Hessian, with θ as one vector."""
        penalty = sum((self.lam * theta * theta).ravel(), ZERO) / 2
        return (self._planes_at if self.K > 1 else self._plane_at)(theta, mu, penalty, only_value)

    def _plane_at(self, theta: np.ndarray, mu: Decimal, penalty: Decimal, only_value: bool) -> tuple[Any, Any, Any]:
        terms = [FORMULAS[self.loss](z, mu) for z in self.rows @ theta[0]]
        value = penalty + sum((c * term[0] for c, term in zip(self.c, terms, strict=True)), ZERO)
        if only_value:
            return value, None, None
        slopes = self.c * np.array([term[1] for term in terms], dtype=object)
        bends = self.c * np.array([term[2] for term in terms], dtype=object)
        self.slopes = slopes
        return (
            value,
            self.lam * theta[0] + self.rows.T @ slopes,
            self.rows.T @ (bends[:, None] * self.rows) + self._diagonal(),
        )

    def _planes_at(self, theta: np.ndarray, mu: Decimal, penalty: Decimal, only_value: bool) -> tuple[Any, Any, Any]:
        scores, value, P = self.rows @ theta.T, penalty, []
        for c, own, score in zip(self.c, self.label, scores, strict=True):
            others = [(k, (s - score[own]).exp()) for k, s in enumerate(score) if k != own]
            rest = sum((e for _, e in others), ZERO)
            value += c * (log1p(rest) if rest <= 1 else (1 + rest).ln())
            if only_value:
                continue
            probability = {k: e / (1 + rest) for k, e in others} | {own: -rest / (1 + rest)}  # p − 1 of its own
            P.append([probability[k] for k in range(self.K)])
        if only_value:
            return value, None, None
        slopes = np.array(P, dtype=object)
        gradient = (self.lam * theta + (self.c[:, None] * slopes).T @ self.rows).ravel()
        shares = slopes + exact(np.eye(self.K)[self.label])
        blocks = []
        for k in range(self.K):
            for l in range(self.K):  # noqa: E741
                # 1 − p of the own class is what the slope says, without what the difference loses.
                rest = np.where(self.label == k, -slopes[:, k], 1 - shares[:, k])
                bends = shares[:, k] * (rest if k == l else -shares[:, l])
                block = self.rows.T @ ((self.c * bends)[:, None] * self.rows)
                blocks.append(block + self._diagonal() if k == l else block)
        return value, gradient, np.block([blocks[k * self.K : (k + 1) * self.K] for k in range(self.K)])

    def _diagonal(self) -> np.ndarray:
        D = np.full((len(self.lam),) * 2, ZERO, dtype=object)
        D[np.diag_indices(len(self.lam))] = self.lam
        return D

    def bound(self) -> Decimal:
        """Return what no plane goes below, by the dual point of the slopes where `at` was last."""
        a = -self.slopes
        if self.intercept:
            signs = self.rows[:, -1]
            if self.loss == "square":
                a = a - (a @ signs) * signs * self.c / sum(self.c, ZERO)
            else:
                sides = [sum((v for v, s in zip(a, signs, strict=True) if s == side), ZERO) for side in (1, -1)]
                least = min(sides)
                a = a * np.array([least / sides[0] if s == 1 else least / sides[1] for s in signs], dtype=object)
        conjugates = sum((c * conjugate(self.loss, v / c) for c, v in zip(self.c, a, strict=True) if c), ZERO)
        pull = self.rows.T @ a
        return -conjugates - sum((p * p / (2 * lam) for p, lam in zip(pull, self.lam, strict=True) if lam), ZERO)


def newton(formula: Formula, theta: np.ndarray, mu: Decimal, accuracy: Decimal) -> tuple[np.ndarray, Decimal]:
    """Minimise by damped Newton steps until the decrement is such a share of the objective."""
    while process_time() < formula.until:
        value, gradient, hessian = formula.at(theta, mu)
        step = -solved(hessian, gradient)
        decrement = -(gradient @ step)
        if decrement <= accuracy * abs(value):
            return theta, value
        length = ONE
        step = step.reshape(theta.shape)
        # So near that the digits of the objective do not show what is gained, whole steps are right.
        near = decrement <= Decimal("1e-30") * (mu or ONE) * abs(value)
        while not near and formula.value(theta + length * step, mu) > value - length * decrement / 4:
            length /= 2
            if length < Decimal("1e-40"):
                return theta, value
        theta = theta + length * step
    raise Unknown(f"Newton's method did not arrive within {SECONDS:.0f} s")


def optimum(problem: Problem) -> Decimal:
    """Return the least objective, or raise `Unknown` where the reference cannot vouch for it."""
    formula = Formula(problem)
    accuracy = Decimal("1e-16") * formula.least_share
    theta = np.full((formula.K, formula.rows.shape[1]), ZERO, dtype=object)
    if problem.loss != "hinge":
        theta, value = newton(formula, theta, ZERO, accuracy)
        if problem.loss == "softmax" or np.isinf(problem.C):
            return value
        formula.at(theta)
        if value - formula.bound() > PROVEN * value:
            raise Unknown("the dual point is too far below")
        return value
    mu = ONE
    for _ in range(400):
        theta, _ = newton(formula, theta, mu, accuracy * mu)  # curvatures of 1 / μ hide slopes
        value = formula.value(theta)
        formula.at(theta, mu)
        if value - formula.bound() <= PROVEN * value:
            return value
        mu /= 50
    raise Unknown("the round hinge did not become sharp")
