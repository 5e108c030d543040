"""Objectives written out in NumPy, and their optima by SciPy and CVXPY: nothing here is linsep's.

Each formula is P(w, b) = l2 ½‖w‖² + l1 ‖w‖₁ + C Σ sᵢ ℓᵢ(w, b), without its penalty where C is infinite. `written_out`
takes the numbers, and only those, from one of linsep's objectives.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize
from scipy.special import log_softmax, softmax

#: ℓ(z) of the agreements z.
LOSSES = {
    "perceptron": lambda z: np.maximum(0.0, -z),
    "hinge": lambda z: np.maximum(0.0, 1 - z),
    "squared_hinge": lambda z: np.maximum(0.0, 1 - z) ** 2,
    "logistic": lambda z: np.logaddexp(0.0, -z),
    "square": lambda z: (1 - z) ** 2,
}
#: ℓ′(z), where there is one.
SLOPES = {
    "squared_hinge": lambda z: -2 * np.maximum(0.0, 1 - z),
    "logistic": lambda z: -np.exp(-np.logaddexp(0.0, z)),
    "square": lambda z: -2 * (1 - z),
}


class Optimum(NamedTuple):
    """A point that nothing is much below, and the objective there."""

    value: float
    w: np.ndarray
    b: np.ndarray | float


@dataclass(frozen=True, eq=False)
class Formula:
    """What the objectives of one plane and of several have in common."""

    X: np.ndarray
    labels: np.ndarray
    C: float = 1.0
    l2: float = 1.0
    l1: float = 0.0
    s: np.ndarray | float = 1.0
    intercept: bool = True

    @cached_property
    def weights(self):
        """What each loss counts."""
        return (1.0 if np.isinf(self.C) else self.C) * np.broadcast_to(np.asarray(self.s, dtype=float), len(self.X))

    @cached_property
    def penalties(self):
        """What ½‖w‖² and ‖w‖₁ count."""
        return (0.0, 0.0) if np.isinf(self.C) else (self.l2, self.l1)

    def value(self, w, b=0.0):
        """P(w, b)."""
        l2, l1 = self.penalties
        return float(l2 * np.sum(w**2) / 2 + l1 * np.sum(np.abs(w)) + self.weights @ self.losses(self.X @ w + b))

    def optimum(self):
        """The optimum, by whichever of the two finds it best; at w = 0 exactly, where a search only comes near it."""
        found, zeros = self.smooth_optimum() if self.smooth else self.conic_optimum(), np.zeros(self.shape)
        return found if found.value <= self.value(zeros) else Optimum(self.value(zeros), zeros, 0.0 * found.b)

    def smooth_optimum(self):
        """The optimum by L-BFGS-B over w = p − q with p, q ≥ 0, where every objective with a smooth loss is smooth."""
        l2, l1 = self.penalties
        size = int(np.prod(self.shape))

        def point(theta):
            p, q = theta[: 2 * size].reshape(2, *self.shape)
            return p, q, theta[2 * size :].reshape(self.shape[1:]) * self.intercept

        def value(theta):
            p, q, b = point(theta)
            w = p - q
            scores = self.X @ w + b
            slope = (self.slopes(scores).T * self.weights).T
            G = self.X.T @ slope + l2 * w
            gradient = [(l1 + G).ravel(), (l1 - G).ravel(), np.ravel(slope.sum(axis=0)) * self.intercept]
            return l1 * (p + q).sum() + l2 * (w**2).sum() / 2 + self.weights @ self.losses(scores), np.hstack(gradient)

        start = np.zeros(2 * size + int(np.prod(self.shape[1:])))
        bounds = [(0, None)] * (2 * size) + [(None, None)] * (len(start) - 2 * size)
        options = {"maxiter": 20_000, "maxfun": 10**6, "ftol": 1e-16, "gtol": 1e-11, "maxcor": 40}
        found = minimize(value, start, jac=True, method="L-BFGS-B", bounds=bounds, options=options)
        p, q, b = point(found.x)
        return Optimum(self.value(p - q, b), p - q, b)

    def conic_optimum(self):
        """The optimum as a conic program, by CVXPY and Clarabel: any loss, any penalty."""
        import cvxpy as cp

        l2, l1 = self.penalties
        w, b = cp.Variable(self.shape), cp.Variable(self.shape[1:])
        scores = self.X @ w + (np.ones((len(self.X), 1)) @ cp.reshape(b, (1, -1), order="C") if self.shape[1:] else b)
        value = l2 / 2 * cp.sum_squares(w) + l1 * cp.sum(cp.abs(w)) + self.weights @ self.conic_losses(cp, scores)
        cp.Problem(cp.Minimize(value), [] if self.intercept else [b == 0]).solve(solver=cp.CLARABEL)
        plane = np.asarray(w.value), np.asarray(b.value) * self.intercept
        return Optimum(self.value(*plane), *plane)


@dataclass(frozen=True, eq=False)
class MarginFormula(Formula):
    """One plane; the labels are ±1."""

    loss: str = "logistic"

    @property
    def smooth(self):
        """Whether the loss has a slope everywhere."""
        return self.loss in SLOPES

    @property
    def shape(self):
        """That of w."""
        return self.X.shape[1:]

    def losses(self, scores):
        """ℓ of each example."""
        return LOSSES[self.loss](self.labels * scores)

    def slopes(self, scores):
        """How each example's ℓ changes with its score."""
        return self.labels * SLOPES[self.loss](self.labels * scores)

    def conic_losses(self, cp, scores):
        """ℓ of each example, for CVXPY."""
        z = cp.multiply(self.labels, scores)
        return {
            "perceptron": lambda: cp.pos(-z),
            "hinge": lambda: cp.pos(1 - z),
            "squared_hinge": lambda: cp.square(cp.pos(1 - z)),
            "logistic": lambda: cp.logistic(-z),
            "square": lambda: cp.square(1 - z),
        }[self.loss]()


@dataclass(frozen=True, eq=False)
class SoftmaxFormula(Formula):
    """K planes, W of shape (d, K); the labels are 0 … K − 1."""

    classes: int = 2
    smooth = True

    @property
    def shape(self):
        """That of W."""
        return self.X.shape[1], self.classes

    def losses(self, scores):
        """−log p of each example's own class."""
        return -log_softmax(scores, axis=1)[np.arange(len(self.X)), self.labels]

    def slopes(self, scores):
        """How each example's loss changes with its scores."""
        return softmax(scores, axis=1) - np.eye(self.classes)[self.labels]

    def conic_losses(self, cp, scores):
        """−log p of each example's own class, for CVXPY."""
        return cp.log_sum_exp(scores, axis=1) - cp.sum(cp.multiply(np.eye(self.classes)[self.labels], scores), axis=1)


@dataclass(frozen=True, eq=False)
class ClassMarginFormula(SoftmaxFormula):
    """K planes, and what the own class's score lacks to be one above all others."""

    smooth = False

    def losses(self, scores):
        """max(0, 1 + gₖ − gᵧ) over k ≠ y."""
        own = scores[np.arange(len(self.X)), self.labels][:, None]
        return (scores - own + 1 - np.eye(self.classes)[self.labels]).max(axis=1)

    def conic_losses(self, cp, scores):
        """The same, for CVXPY."""
        own = np.eye(self.classes)[self.labels]
        return cp.max(scores + (1 - own), axis=1) - cp.sum(cp.multiply(own, scores), axis=1)


def written_out(problem):
    """Return the formula of one of linsep's objectives in memory, by the numbers in it."""
    X = np.asarray(problem.rows.X.toarray() if problem.rows.is_sparse else problem.rows.X, dtype=float)
    s = 1.0 if problem.sample_weight is None else problem.sample_weight
    numbers = dict(C=problem.C, l2=problem.penalty.l2, l1=problem.penalty.l1, s=s, intercept=problem.fit_intercept)
    if problem.head.planes is None:
        return MarginFormula(X, problem.y, loss=problem.loss.name, **numbers)
    formula = ClassMarginFormula if problem.loss.name == "hinge" else SoftmaxFormula
    return formula(X, problem.codes, classes=problem.classes, **numbers)


def optimum(problem):
    """Return the least value of one of linsep's objectives in memory."""
    return written_out(problem).optimum().value
