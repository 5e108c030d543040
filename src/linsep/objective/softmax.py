"""The softmax problem: all classes at once, one plane each, and the bound that proves how near its optimum a point is.

    P(W, b) = penalty(W) + C · Σᵢ sᵢ (log Σₖ e^(gᵢₖ) − gᵢ,yᵢ),      gᵢₖ = wₖ·xᵢ + bₖ

With pᵢₖ = e^(gᵢₖ) / Σⱼ e^(gᵢⱼ) the loss is −log pᵢ,yᵢ. For any rows p of probabilities that, where the intercepts are
free, also give every class its weight, Σᵢ sᵢ pᵢₖ = Nₖ,

    D(p) = −penalty*(Xᵀ A) − C · Σᵢ sᵢ Σₖ pᵢₖ log pᵢₖ  ≤  min P,      Aᵢₖ = C sᵢ ([yᵢ = k] − pᵢₖ).

The weights are kept as a matrix W of shape (d, K), so that the K numbers that an entry of X meets lie side by side.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.special import entr

from .._core import Rows
from ..penalties import L2, NoPenalty, Penalty
from .duality import Bound

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

__all__ = ["SoftmaxPoint", "SoftmaxProblem", "repair", "repaired", "softmax_bound"]


@dataclass(frozen=True, eq=False)
class SoftmaxProblem:
    """One problem with K classes.

    Attributes
    ----------
    rows : Rows
        The examples.
    codes : array of int
        The class of each, 0 … K − 1.
    classes : int
        K.
    penalty : Penalty
        Of all weights together.
    C : float
        How much the losses count against the penalty; inf drops the penalty.
    sample_weight : array or None
        s, all ones if None.
    fit_intercept : bool
        Whether b is free; otherwise it is 0.

    Examples
    --------
    >>> p = SoftmaxProblem(Rows(np.eye(3)), np.arange(3), 3, C=2.0)
    >>> round(p.evaluate(np.zeros((3, 3)), np.zeros(3)).objective / 6, 6)  # log 3 for each of three examples
    1.098612
    >>> p.formula
    '½‖W‖² + 2·Σ −log softmax(g)ᵧ'
    """

    rows: Rows
    codes: IntArray
    classes: int
    penalty: Penalty = field(default_factory=L2)
    C: float = np.inf
    sample_weight: FloatArray | None = None
    fit_intercept: bool = True

    def __post_init__(self) -> None:
        if not self.C > 0:
            raise ValueError(f"C={self.C!r} must be positive; inf means no penalty")
        if np.isinf(self.C):
            object.__setattr__(self, "penalty", NoPenalty())

    @property
    def weight_of_loss(self) -> float:
        """What multiplies the sum of losses in P: C, or 1 where there is no penalty."""
        return 1.0 if np.isinf(self.C) else self.C

    @cached_property
    def s(self) -> FloatArray:
        """The weights of the examples."""
        return np.ones(self.rows.n) if self.sample_weight is None else self.sample_weight

    @cached_property
    def total_weight(self) -> float:
        """N = Σ sᵢ."""
        return float(self.s.sum())

    @cached_property
    def class_weight(self) -> FloatArray:
        """Nₖ: the weight of each class's examples."""
        return np.asarray(np.bincount(self.codes, weights=self.s, minlength=self.classes), dtype=np.float64)

    @cached_property
    def squares(self) -> FloatArray:
        """Σ ‖x‖² over the examples of each class."""
        norms = self.rows.squared_norms()
        return np.asarray(np.bincount(self.codes, weights=norms, minlength=self.classes), dtype=np.float64)

    @property
    def weighted_squares(self) -> float:
        """Σ sᵢ ‖xᵢ‖²."""
        return float(np.einsum("i,i->", self.s, self.rows.squared_norms()))

    @cached_property
    def weighted_sum(self) -> FloatArray:
        """Σ sᵢ xᵢ."""
        return self.rows.rmatvec(self.s)

    @cached_property
    def class_sums(self) -> FloatArray:
        """Σ sᵢ xᵢ over the examples of each class: shape (d, K)."""
        return self.rows.rmatmat(self.targets)

    @property
    def targets(self) -> FloatArray:
        """sᵢ [yᵢ = k]."""
        out = np.zeros((self.rows.n, self.classes))
        out[np.arange(self.rows.n), self.codes] = self.s
        return out

    def planes(self, W: FloatArray, b: FloatArray) -> FloatArray:
        """Return one row [wₖ, bₖ] a class, without bₖ where that is not free."""
        return np.column_stack([W.T, b]) if self.fit_intercept else W.T.copy()

    def evaluate(self, W: FloatArray, b: FloatArray) -> SoftmaxPoint:
        """Return what one pass over the examples says of (W, b)."""
        scores = self.rows.matmat(W)
        scores += b
        return SoftmaxPoint(self, W, b, scores)

    @property
    def formula(self) -> str:
        """The objective that is minimised, in one line."""
        s = "" if self.sample_weight is None else "s·"
        C = "" if self.C == 1 or np.isinf(self.C) else f"{self.C:g}·"
        losses = f"{C}Σ {s}−log softmax(g)ᵧ"
        penalty = self.penalty.formula.replace("w", "W")
        return f"{penalty} + {losses}" if self.penalty.l2 or self.penalty.l1 else losses


@dataclass(frozen=True, eq=False)
class SoftmaxPoint:
    """A point (W, b), and what follows from its scores gᵢₖ."""

    problem: SoftmaxProblem
    W: FloatArray
    b: FloatArray
    scores: FloatArray

    @cached_property
    def _softmax(self) -> tuple[FloatArray, FloatArray]:
        """p, and log Σ e^g of each example."""
        highest = self.scores.max(axis=1, keepdims=True)
        p = self.scores - highest
        np.exp(p, out=p)
        total = p.sum(axis=1, keepdims=True)
        p /= total
        return p, (highest + np.log(total))[:, 0]

    @property
    def p(self) -> FloatArray:
        """pᵢₖ."""
        return self._softmax[0]

    @cached_property
    def loss(self) -> float:
        """Σ sᵢ (−log pᵢ,yᵢ)."""
        problem = self.problem
        own = self.scores[np.arange(problem.rows.n), problem.codes]
        return float(np.einsum("i,i->", problem.s, self._softmax[1] - own))

    @cached_property
    def objective(self) -> float:
        """P(W, b)."""
        return self.problem.penalty.value(self.W.ravel()) + self.problem.weight_of_loss * self.loss

    @property
    def mean_objective(self) -> float:
        """P / (C N), whose minimiser is the same."""
        return self.objective / (self.problem.weight_of_loss * self.problem.total_weight)

    @property
    def risk(self) -> float:
        """The mean loss."""
        return self.loss / self.problem.total_weight

    @property
    def zero_one(self) -> float:
        """The share of examples whose class has not the highest score."""
        wrong = self.scores.argmax(axis=1) != self.problem.codes
        return float(np.einsum("i,i->", self.problem.s, wrong)) / self.problem.total_weight

    @cached_property
    def expected(self) -> tuple[FloatArray, FloatArray]:
        """Σ sᵢ pᵢₖ xᵢ, shape (d, K), and Σ sᵢ pᵢₖ: what the classes' sums would be if p were the truth."""
        share = self.problem.s[:, None] * self.p
        return self.problem.rows.rmatmat(share), share.sum(axis=0)

    @cached_property
    def smooth_gradient(self) -> FloatArray:
        """∇P for the smooth part of the penalty: shape (d, K), and a last row for b if that is free."""
        problem = self.problem
        sums, weight = self.expected
        gradient = problem.weight_of_loss * (sums - problem.class_sums) + problem.penalty.l2 * self.W
        if not problem.fit_intercept:
            return gradient
        return np.vstack([gradient, problem.weight_of_loss * (weight - problem.class_weight)])


def softmax_bound(point: SoftmaxPoint) -> Bound:
    """Return the bound that a point's own probabilities give.

    Where they give class k the weight Nₖ − rₖ instead of Nₖ they are mixed with one row q for all that makes up for it,
    p' = (1 − t) p + t q: qₖ = (t Nₖ + (1 − t) rₖ) / (t N), with the smallest t for which no qₖ is negative.

    Examples
    --------
    >>> problem = SoftmaxProblem(Rows(np.eye(3)), np.arange(3), 3, C=1.0)
    >>> softmax_bound(problem.evaluate(0.7 * np.eye(3) - 0.25, np.zeros(3))).relative_gap < 0.01
    True
    """
    problem, C = point.problem, point.problem.weight_of_loss
    p, sums = repaired(point)
    v = C * (problem.class_sums - sums)
    shrink = 1.0
    if problem.penalty.l2 == 0:  # only a box of v has a finite conjugate: go towards the labels until v fits
        longest = float(np.abs(v).max(initial=0.0))
        shrink = min(1.0, problem.penalty.l1 / longest) if longest > 0 else 1.0
    if shrink < 1:
        p = shrink * p
        p[np.arange(problem.rows.n), problem.codes] += 1 - shrink
    entropy = float(np.einsum("i,ik->", problem.s, entr(p)))
    return Bound(point.objective, C * entropy - problem.penalty.conjugate(shrink * v.ravel()))


def repaired(point: SoftmaxPoint) -> tuple[FloatArray, FloatArray]:
    """Return the point's probabilities, made to give every class its weight where b is free, and their Σ sᵢ pᵢₖ xᵢ."""
    problem, (sums, _) = point.problem, point.expected
    if not problem.fit_intercept:
        return point.p, sums
    t, q = repair(problem.class_weight, point.expected[1])
    if t == 0:
        return point.p, sums
    return (1 - t) * point.p + t * q, (1 - t) * sums + t * np.outer(problem.weighted_sum, q)


def repair(wanted: FloatArray, given: FloatArray) -> tuple[float, FloatArray]:
    """Return t and q of `softmax_bound`, from the weights that the classes have, and what p gives them."""
    missing = wanted - given
    # given > 0 but for underflow, and then nothing is missing that t could not supply
    t = float(np.max(np.where(missing < 0, -missing / np.maximum(given, 1e-300), 0.0)))
    q = np.maximum(t * wanted + (1 - t) * missing, 0.0)
    if t == 0 or not q.any():  # what is missing is less than the rounding of the sums
        return 0.0, np.zeros_like(wanted)
    return t, q / q.sum()
