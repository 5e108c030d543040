"""The objective of a model by formulas of our own, in as many digits as it takes, and the least value found for it.

A plane that does better is a witness: whoever says "no plane reaches less" is then wrong, whatever found the witness.
The searches below run in double precision on data brought to the size of one; what they find is evaluated exactly.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import clarabel
import numpy as np
from mpmath.ctx_mp import MPContext
from mpmath.libmp import from_man_exp
from scipy import sparse
from scipy.optimize import minimize
from scipy.special import expit, logsumexp

from .rationals import common, recession, whole_rows

__all__ = ["Numbers", "Objective", "Plane", "largest_margin", "margin_of"]

#: Numbers of 48 digits and any exponent, in a context of our own.
mp = MPContext()
mp.prec = 160
mpf = mp.mpf

Plane = tuple[Sequence[float | Fraction], float | Fraction]

#: Losses that have a slope everywhere.
SMOOTH = ("logistic", "square", "squared_hinge")


class Numbers:
    """The rows of X as whole numbers over one power of two, for exact products with planes."""

    def __init__(self, X: np.ndarray) -> None:
        self.X = X
        flat, self.e = common(X.ravel().tolist())
        d = X.shape[1]
        self.rows = [flat[i * d : (i + 1) * d] for i in range(len(X))]

    def scores(self, plane: Plane) -> list[Any]:
        """Return w·x + b of each row, exactly: 1 − z may be what is left of a sum that is next to one."""
        whole, f = common([*plane[0], plane[1]])
        w, b = whole[:-1], whole[-1] << self.e
        sums = (sum(a * c for a, c in zip(row, w, strict=True)) + b for row in self.rows)
        return [mp.make_mpf(from_man_exp(value, -(self.e + f))) for value in sums]


@dataclass(frozen=True, eq=False)
class Objective:
    """P(w, b) = l2 ½‖w‖² + l1 ‖w‖₁ + C Σ sᵢ ℓ(zᵢ); of several planes together with the softmax's loss.

    `codes` are ±1, or for the softmax the class of each row.
    """

    numbers: Numbers
    codes: tuple[int, ...]
    weights: tuple[Fraction, ...]
    loss: str
    l2: float
    l1: float
    C: float
    intercept: bool
    classes: int = 1

    @cached_property
    def _c(self) -> list[Any]:
        C = mpf(1) if np.inf == self.C else mpf(self.C)
        return [C * mpf(s.numerator) / mpf(s.denominator) for s in self.weights]

    @property
    def penalties(self) -> tuple[float, float]:
        """l2 and l1, which C = ∞ drops."""
        return (0.0, 0.0) if np.inf == self.C else (self.l2, self.l1)

    def value(self, planes: Sequence[Plane]) -> Any:
        """P at these planes."""
        l2, l1 = self.penalties
        w = [_mpf(value) for plane in planes for value in plane[0]]
        found = mpf(l2) / 2 * mp.fsum(x * x for x in w) + mpf(l1) * mp.fsum(abs(x) for x in w)
        scores = [self.numbers.scores(plane) for plane in planes]
        if self.classes > 1:
            loss = _margins if self.loss == "hinge" else _softmax
            each = [loss([column[i] for column in scores], k) for i, k in enumerate(self.codes)]
        else:
            each = [LOSSES[self.loss](mp.fmul(y, g, exact=True)) for y, g in zip(self.codes, scores[0], strict=True)]
        return found + mp.fsum(c * value for c, value in zip(self._c, each, strict=True))

    def best(self, hints: Sequence[Sequence[Plane]] = ()) -> Any:
        """Return the least value known: at the hints, at planes that searches find, or the infimum where that is 0."""
        return min([self._found, *(self.value(planes) for planes in hints)])

    @cached_property
    def _found(self) -> Any:
        if self._vanishes():
            return mpf(0)
        d = self.numbers.X.shape[1]
        zero = [([0.0] * d, 0.0)] * self.classes
        found = [self.value(zero)]
        for planes in _Search(self).candidates():
            value = self.value(planes)
            if mp.isfinite(value):
                found.append(value)
        return min(found)

    def _vanishes(self) -> bool:
        """Whether long planes come as near to 0 as one likes."""
        if self.classes > 1 or self.loss == "square":
            return False
        if any(self.penalties):
            return False
        if self.loss == "perceptron":
            return True  # at w = 0
        counted = [i for i, weight in enumerate(self.weights) if weight > 0]
        rows = whole_rows(self.numbers.X[counted].tolist(), [self.codes[i] for i in counted], self.intercept)
        return recession(rows) == "separable"


def _mpf(value: float | Fraction) -> Any:
    return mpf(value) if isinstance(value, float) else mpf(value.numerator) / mpf(value.denominator)


def _logistic(z: Any) -> Any:
    return mp.log1p(mp.exp(-z)) if z > 0 else mp.log1p(mp.exp(z)) - z


def _softmax(scores: list[Any], k: int) -> Any:
    highest = max(scores)
    others = mp.fsum(mp.exp(g - highest) for j, g in enumerate(scores) if j != k)
    if scores[k] == highest:
        return mp.log1p(others)
    return mp.log(others + mp.exp(scores[k] - highest)) + highest - scores[k]


def _margins(scores: list[Any], k: int) -> Any:
    return max(mpf(0), 1 + max(g for j, g in enumerate(scores) if j != k) - scores[k])


LOSSES: dict[str, Any] = {
    "hinge": lambda z: max(mpf(0), 1 - z),
    "squared_hinge": lambda z: max(mpf(0), 1 - z) ** 2,
    "square": lambda z: (1 - z) ** 2,
    "perceptron": lambda z: max(mpf(0), -z),
    "logistic": _logistic,
}


# -- searches ---------------------------------------------------------------------------------------------------------


class _Search:
    """The same problem with columns of about the size of one, and the largest weight one, in doubles.

    With x = σ x̃ + m and C s = γ s̃ the minimum is that of (l2 / σ²γ) ½‖w̃‖² + (l1 / σγ) ‖w̃‖₁ + Σ s̃ ℓ(y (w̃·x̃ + b̃)).
    """

    def __init__(self, problem: Objective) -> None:
        self.problem = problem
        X = problem.numbers.X
        self.middle = X.mean(axis=0) if problem.intercept else np.zeros(X.shape[1])
        moved = X - self.middle
        largest = float(np.abs(moved).max(initial=0.0)) or 1.0
        self.power = int(np.frexp(largest)[1])
        self.X = np.ldexp(moved, -self.power)
        largest_c = max(problem._c)
        self.s = np.array([float(c / largest_c) for c in problem._c])
        sigma, (l2, l1) = mp.ldexp(mpf(1), self.power), problem.penalties
        self.l2 = _clipped(mpf(l2) / (sigma * sigma * largest_c))
        self.l1 = _clipped(mpf(l1) / (sigma * largest_c))
        self.K = problem.classes
        if self.K > 1:
            self.Y = np.eye(self.K)[list(problem.codes)]
        else:
            self.y = np.array(problem.codes, dtype=float)
        self.A = np.column_stack([self.X, np.ones(len(X))]) if problem.intercept else self.X

    def candidates(self) -> list[list[Plane]]:
        """Return planes that are likely to be good."""
        found: list[np.ndarray] = []
        with np.errstate(all="ignore"):
            if self.K > 1 and self.problem.loss == "hinge":
                found.append(self._quadratic_program_of_classes())
            elif self.problem.loss in SMOOTH or self.K > 1:
                theta = self._smooth()
                found += [theta, self._newton(theta)]
            else:
                theta = self._quadratic_program()
                found += [theta, *self._polished(theta)]
            found.append(self._still())
        return [self._back(theta) for theta in found if np.isfinite(theta).all()]

    def _back(self, theta: np.ndarray) -> list[Plane]:
        """Return planes of the problem itself, exactly those that were found."""
        planes: list[Plane] = []
        scale = Fraction(2) ** -self.power
        for part in theta.reshape(self.K, -1):
            w = [Fraction(float(value)) * scale for value in part[: self.X.shape[1]]]
            b = Fraction(float(part[-1])) if self.problem.intercept else Fraction(0)
            if self.problem.intercept:
                b -= sum((a * Fraction(float(m)) for a, m in zip(w, self.middle, strict=True)), Fraction(0))
            planes.append((w, b))
        return planes

    # smooth losses

    def _losses(self, theta: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
        """Return Σ s̃ ℓ, its gradient and its Hessian."""
        A, s = self.A, self.s
        if self.K > 1:
            scores = A @ theta.reshape(self.K, -1).T
            logs = logsumexp(scores, axis=1)
            p = np.exp(scores - logs[:, None])
            slope = (s[:, None] * (p - self.Y)).T @ A
            bend = np.einsum("i,ik,kl->ikl", s, p, np.eye(self.K)) - np.einsum("i,ik,il->ikl", s, p, p)
            hessian = np.einsum("ikl,ia,ib->kalb", bend, A, A).reshape(theta.size, theta.size)
            return float(s @ (logs - (scores * self.Y).sum(axis=1))), slope.ravel(), hessian
        z = self.y * (A @ theta)
        if self.problem.loss == "logistic":
            value, slope, bend = np.logaddexp(0.0, -z), -expit(-z), expit(z) * expit(-z)
        else:
            gap = 1 - z if self.problem.loss == "square" else np.maximum(0.0, 1 - z)
            value, slope, bend = gap**2, -2 * gap, 2.0 * (np.ones_like(z) if self.problem.loss == "square" else z < 1)
        return float(s @ value), A.T @ (s * self.y * slope), (A.T * (s * bend)) @ A

    def _mask(self) -> np.ndarray:
        """Which entries of θ are weights, not intercepts."""
        return np.tile(np.arange(self.A.shape[1]) < self.X.shape[1], self.K)

    def _smooth(self) -> np.ndarray:
        """Minimise with w = p − q, both at least 0, so that ‖w‖₁ is smooth too."""
        mask, size = self._mask(), self.A.shape[1] * self.K
        if self.l1 == 0:
            return np.zeros(size)

        def split(x: np.ndarray) -> tuple[float, np.ndarray]:
            theta = x[:size] - x[size:]
            value, slope, _ = self._losses(theta)
            value += 0.5 * self.l2 * float(theta[mask] @ theta[mask]) + self.l1 * float(
                (x[:size] + x[size:])[mask].sum()
            )
            slope = slope + self.l2 * theta * mask
            return value, np.concatenate([slope + self.l1 * mask, -slope + self.l1 * mask])

        found = minimize(split, np.zeros(2 * size), jac=True, bounds=[(0, None)] * (2 * size), method="L-BFGS-B",
                         options=dict(maxiter=500, ftol=1e-16, gtol=1e-12))  # fmt: skip
        return np.asarray(found.x[:size] - found.x[size:])

    def _newton(self, theta: np.ndarray) -> np.ndarray:
        """Newton's method on the weights that are not zero, their signs as they are."""
        mask, free = self._mask(), np.ones(theta.size, dtype=bool)
        if self.l1 > 0:
            free = ~mask | (np.abs(theta) > 1e-9 * np.abs(theta).max(initial=0.0))
        signs = np.sign(theta) * mask * self.l1

        def whole(t: np.ndarray) -> float:
            return self._losses(t)[0] + 0.5 * self.l2 * float(t[mask] @ t[mask]) + float(signs @ t)

        now = whole(theta)
        for _ in range(60):
            _, slope, hessian = self._losses(theta)
            slope = slope + self.l2 * theta * mask + signs
            hessian = hessian + np.diag(self.l2 * mask)
            step = np.zeros(theta.size)
            part = hessian[np.ix_(free, free)]
            if not np.isfinite(part).all():
                break
            step[free] = -np.linalg.lstsq(part, slope[free], rcond=1e-15)[0]
            length = 1.0
            while length > 1e-6 and not whole(theta + length * step) < now:
                length *= 0.5
            if length <= 1e-6:
                break
            theta = theta + length * step
            now = whole(theta)
        return theta

    def _still(self) -> np.ndarray:
        """Return the plane w = 0 with the best intercept among a few."""
        theta = np.zeros(self.A.shape[1] * self.K)
        if not self.problem.intercept:
            return theta
        if self.K > 1:
            theta[self.A.shape[1] - 1 :: self.A.shape[1]] = np.log(np.maximum(self.s @ self.Y, 1e-300))
            return theta
        for_, against = float(self.s[self.y > 0].sum()), float(self.s[self.y < 0].sum())
        if self.problem.loss == "logistic":
            theta[-1] = np.log(for_ / against) if for_ > 0 and against > 0 else 0.0
        else:
            theta[-1] = (for_ - against) / (for_ + against) if self.problem.loss != "hinge" else np.sign(for_ - against)
        return theta

    # losses with a kink, which are quadratic programs

    def _quadratic_program(self) -> np.ndarray:
        """Minimise over (θ, ξ, t) with ξ ≥ the loss and t ≥ |w|, by an interior-point method."""
        n, p = self.A.shape
        d = self.X.shape[1]
        edge = 1.0 if self.problem.loss == "hinge" else 0.0
        Z = self.y[:, None] * self.A
        P = sparse.diags(np.r_[np.full(d, self.l2), np.zeros(p - d + n + d)]).tocsc()
        q = np.r_[np.zeros(p), self.s, np.full(d, self.l1)]
        eye, none = np.eye(d, p), np.zeros
        G = np.block(
            [
                [-Z, -np.eye(n), none((n, d))],
                [none((n, p)), -np.eye(n), none((n, d))],
                [eye, none((d, n)), -np.eye(d)],
                [-eye, none((d, n)), -np.eye(d)],
            ]
        )
        h = np.r_[np.full(n, -edge), np.zeros(n + 2 * d)]
        return _solved(P, q, G, h)[:p]

    def _quadratic_program_of_classes(self) -> np.ndarray:
        """Minimise over (θ, ξ) with ξ ≥ 1 + gₖ − gᵧ for every other class k, and ξ ≥ 0."""
        (n, p), K, d = self.A.shape, self.K, self.X.shape[1]
        G = []
        for i, y in enumerate(self.problem.codes):
            for k in range(K):
                row = np.zeros(K * p + n)
                if k != y:
                    row[k * p : (k + 1) * p], row[y * p : (y + 1) * p] = self.A[i], -self.A[i]
                row[K * p + i] = -1.0
                G.append(row)
        h = np.array([0.0 if k == y else -1.0 for y in self.problem.codes for k in range(K)])
        P = sparse.diags(np.r_[np.tile(np.r_[np.full(d, self.l2), np.zeros(p - d)], K), np.zeros(n)]).tocsc()
        return _solved(P, np.r_[np.zeros(K * p), self.s], np.array(G), h)[: K * p]

    def _polished(self, theta: np.ndarray) -> list[np.ndarray]:
        """Return the exact minimum of pieces near θ: rows at the kink stay there, and weights that are zero."""
        edge = 1.0 if self.problem.loss == "hinge" else 0.0
        d, p = self.X.shape[1], self.A.shape[1]
        Z = self.y[:, None] * self.A
        z, largest = Z @ theta, np.abs(theta).max(initial=1e-300)
        found = []
        for near in (1e-8, 1e-6, 1e-4):
            at, below = np.abs(z - edge) < near * (1 + np.abs(z).max(initial=0.0)), z < edge
            zero = (np.abs(theta[:d]) < near * largest) & (self.l1 > 0)
            fixed = np.vstack([Z[at], np.eye(p)[:d][zero]])
            goal = np.r_[np.full(int(at.sum()), edge), np.zeros(int(zero.sum()))]
            H = np.diag(np.r_[np.full(d, self.l2), np.zeros(p - d)])
            pull = Z[below & ~at].T @ self.s[below & ~at] - np.r_[self.l1 * np.sign(theta[:d]), np.zeros(p - d)]
            system = np.block([[H, fixed.T], [fixed, np.zeros((len(fixed), len(fixed)))]])
            found.append(np.linalg.lstsq(system, np.r_[pull, goal], rcond=None)[0][:p])
        return found


def _clipped(x: Any) -> float:
    """Return a number that a search in doubles can work with."""
    return 0.0 if x == 0 else float(min(max(x, mpf(10) ** -25), mpf(10) ** 25))


def _solved(P: Any, q: np.ndarray, G: np.ndarray, h: np.ndarray) -> np.ndarray:
    """Return argmin ½xᵀPx + q·x subject to Gx ≤ h."""
    return np.array(_solution(P, q, G, h).x)


def _solution(P: Any, q: np.ndarray, G: np.ndarray, h: np.ndarray) -> Any:
    """Return x, and the multipliers z of the constraints."""
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-12
    cones = [clarabel.NonnegativeConeT(len(h))]
    return clarabel.DefaultSolver(P, q, sparse.csc_matrix(G), h, cones, settings).solve()


# -- margins ----------------------------------------------------------------------------------------------------------


def margin_of(numbers: Numbers, y: Sequence[int], plane: Plane) -> Any:
    """Min y (w·x + b) / ‖w‖; 0 where w is."""
    length = mp.sqrt(mp.fsum(_mpf(value) ** 2 for value in plane[0]))
    if length == 0:
        return mpf(0)
    return min(sign * g for sign, g in zip(y, numbers.scores(plane), strict=True)) / length


def largest_margin(numbers: Numbers, y: Sequence[int], intercept: bool) -> tuple[Any, Any]:
    """Return a margin that some plane keeps, and one that none exceeds: half the distance of two points of the hulls.

    Without an intercept it is the length of one point of the hull of the yᵢ xᵢ. Both are exact for what the search
    found; how near they are to each other is up to that.
    """
    X = numbers.X
    middle = X.mean(axis=0) if intercept else np.zeros(X.shape[1])
    moved = X - middle
    power = int(np.frexp(float(np.abs(moved).max(initial=0.0)) or 1.0)[1])
    A = np.ldexp(moved, -power)
    A = np.column_stack([A, np.ones(len(A))]) if intercept else A
    d = X.shape[1]
    Z = np.array(y, dtype=float)[:, None] * A
    P = sparse.diags(np.r_[np.ones(d), np.zeros(A.shape[1] - d)]).tocsc()
    with np.errstate(all="ignore"):
        found = _solution(P, np.zeros(A.shape[1]), -Z, -np.ones(len(A)))
    theta = np.array(found.x)
    kept = mpf(0)
    if np.isfinite(theta).all():
        w = [Fraction(float(value)) * Fraction(2) ** -power for value in theta[:d]]
        kept = max(kept, margin_of(numbers, y, (w, _between(numbers, y, w) if intercept else Fraction(0))))
    return kept, _hull_distance(X, y, np.array(found.z), intercept)


def _between(numbers: Numbers, y: Sequence[int], w: list[Fraction]) -> Fraction:
    """Return the intercept half way between the classes."""
    scores = [sum((a * Fraction(x) for a, x in zip(w, row, strict=True)), Fraction(0)) for row in numbers.X.tolist()]
    ahead = min((g for g, sign in zip(scores, y, strict=True) if sign > 0), default=Fraction(0))
    behind = max((g for g, sign in zip(scores, y, strict=True) if sign < 0), default=Fraction(0))
    return -(ahead + behind) / 2


def _hull_distance(X: np.ndarray, y: Sequence[int], alpha: np.ndarray, intercept: bool) -> Any:
    """Return what no margin exceeds, by the points of the hulls that these weights stand for; infinite if by none."""
    weights = [Fraction(float(x)) if np.isfinite(x) and x > 0 else Fraction(0) for x in alpha]
    sides = (
        [[i for i, sign in enumerate(y) if sign == side] for side in (1, -1)] if intercept else [list(range(len(y)))]
    )
    u = [Fraction(0)] * X.shape[1]
    for rows in sides:
        total = sum((weights[i] for i in rows), Fraction(0))
        if total == 0:
            return mp.inf
        for i in rows:
            u = [a + y[i] * weights[i] / total * Fraction(x) for a, x in zip(u, X[i].tolist(), strict=True)]
    return mp.sqrt(mp.fsum(_mpf(value) ** 2 for value in u)) / len(sides)
