"""Points of an objective: what one pass over the examples says of one, and how far from the optimum it can be.

Where the rows are in memory a point keeps a number for each example (slopes, curvatures, scores), so that its bound
and the steps from it need no other pass. Where they are not it keeps sums alone.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import entr

from .._common.types import FloatArray
from .._core import SoftmaxSums, Sums, conjugate_sum, mixed_entropy
from .class_margins import bound_of, by_scores, combined
from .duality import Bound, class_scales

if TYPE_CHECKING:
    from .objective import Objective


class Point(ABC):
    """A point (w, b): its value, gradient and bound."""

    problem: Objective
    w: FloatArray
    b: Any  # a float, or one for each class
    value: float  # Σ s ℓ
    mistakes: float  # Σ s over the mistakes

    @cached_property
    def objective(self) -> float:
        """P(w, b)."""
        return self.problem.penalty.value(self.w.reshape(-1)) + self.problem.weight_of_loss * self.value

    @property
    def mean_objective(self) -> float:
        """F(w, b) = P / (C N), whose minimiser is the same."""
        return self.objective / (self.problem.weight_of_loss * self.problem.total_weight)

    @property
    def risk(self) -> float:
        """The mean loss."""
        return self.value / self.problem.total_weight

    @property
    def zero_one(self) -> float:
        """The share of mistakes, z ≤ 0: points on the plane itself count."""
        return self.mistakes / self.problem.total_weight

    @property
    def theta(self) -> FloatArray:
        """Both in one array: the last row is that of b, if b is free."""
        return self.problem.join(self.w, self.b)

    @property
    @abstractmethod
    def smooth_gradient(self) -> FloatArray:
        """∇P for the smooth part of the penalty; its last entry, or row, is that of b, if b is free."""

    @property
    @abstractmethod
    def bound(self) -> Bound:
        """A bound on the optimum without another pass over the examples: the best one, where the rows are in memory."""

    @property
    def rough_bound(self) -> Bound:
        """A bound that takes next to nothing: where there is none that does, the same."""
        return self.bound

    @abstractmethod
    def exact_bound(self) -> Bound:
        """Return the bound that the point's own dual gives, for which every example may be looked at again."""


class MarginPoint(Point):
    """A point of one plane."""

    def __init__(
        self, problem: Objective, w: FloatArray, b: float, sums: Sums, split: bool, gram: FloatArray | None = None
    ) -> None:
        self.problem, self.w, self.b, self.sums = problem, w, b, sums
        self.split = split  # whether the sums are by class
        self.gram = gram  # Σ s ℓ''(z) [x, 1][x, 1]ᵀ, its lower triangle, where asked for
        self.value, self.mistakes = sums.value, sums.mistakes

    @cached_property
    def smooth_gradient(self) -> FloatArray:
        """∇P for the smooth part of the penalty; its last entry is that of b, if b is free."""
        problem, sums = self.problem, self.sums
        g = problem.weight_of_loss * sums.gradient + problem.penalty.l2 * self.w
        if not problem.fit_intercept:
            return g
        return np.append(g, problem.weight_of_loss * (sums.positive_total + sums.negative_total))

    @property
    def mean_gradient(self) -> FloatArray:
        """A (sub)gradient of F; its last entry is that of b, if b is free."""
        problem, sums = self.problem, self.sums
        grad = sums.gradient / problem.total_weight
        grad += problem.strength * problem.penalty.slope(self.w)
        if not problem.fit_intercept:
            return grad
        return np.append(grad, (sums.positive_total + sums.negative_total) / problem.total_weight)

    @cached_property
    def dual(self) -> tuple[FloatArray, float, float]:
        """−Σ αᵢ yᵢ xᵢ of the feasible α that the point gives, and the scales of the two classes that made it so."""
        problem, sums = self.problem, self.sums
        if problem.fit_intercept and not self.split:
            raise ValueError("a bound with a free intercept needs the sums by class: evaluate(w, b, split=True)")
        positive, negative = (
            class_scales(-sums.positive_total, sums.negative_total) if problem.fit_intercept else (1.0, 1.0)
        )
        C = problem.weight_of_loss
        v = C * positive * sums.positive
        if self.split:
            v += C * negative * sums.negative
        shrink = problem.into_box(v)
        return shrink * v, shrink * positive, shrink * negative

    @cached_property
    def bound(self) -> Bound:
        """A bound without another pass.

        A class that is scaled by p ≤ 1 adds no more than p times its own conjugates, because ℓ* is convex and
        ℓ*(0) = 0; what the class has of Σ s ℓ(z) is at most all of it.
        """
        if self.problem.examples.resident is not None:
            return self.exact_bound()
        _, positive, negative = self.dual
        if positive == negative == 1.0:
            return self.exact_bound()
        sums = self.sums
        gradients = (sums.positive, sums.negative) if self.split else (sums.positive,)
        totals = (sums.positive_total, sums.negative_total) if self.split else (0.0,)
        products = [float(g @ self.w) + self.b * t for g, t in zip(gradients, totals, strict=True)]
        short = [1.0 - positive, 1.0 - negative]
        lost = sum(less * (product - self.value) for less, product in zip(short, products, strict=False))
        return Bound(self.objective, max(0.0, self._dual_value(sum(products) - self.value - lost)))

    def exact_bound(self) -> Bound:
        """Return the bound that α gives itself: another pass, where the rows are elsewhere and a class is scaled."""
        _, positive, negative = self.dual
        if positive == negative == 1.0:
            # Fenchel and Young: ℓ*(a) = a z − ℓ(z) where a is the slope at z; and Σ s a z = w·(Σ u x) + b Σ u.
            totals = self.sums.positive_total + self.sums.negative_total
            products = float(np.einsum("j,j->", self.w, self.sums.gradient)) + self.b * totals
            return Bound(self.objective, self._dual_value(products - self.value))

        w, b, known = self.w, self.b, None if self.problem.examples.resident is None else self

        def conjugates(part: Objective) -> float:
            point = known or part.evaluate(w, b, gradient=False)
            return conjugate_sum(part.y, part.sample_weight, part.loss, point.sums.u, positive, negative)

        return Bound(self.objective, self._dual_value(self.problem.sum(conjugates)))

    def _dual_value(self, conjugates: float) -> float:
        return -self.problem.penalty.conjugate(self.dual[0]) - self.problem.weight_of_loss * conjugates


class SoftmaxPoint(Point):
    """A point with one plane a class."""

    def __init__(
        self, problem: Objective, w: FloatArray, b: FloatArray, sums: SoftmaxSums, gram: FloatArray | None = None
    ) -> None:
        self.problem, self.w, self.b = problem, w, b
        self.value, self.mistakes, self.entropy = sums.value, sums.mistakes, sums.entropy
        self.expected = sums.expected
        self.p, self.doubt = sums.p, sums.doubt  # empty where the examples have come by in blocks
        self.gram = gram  # the Hessian of the losses, where asked for

    @cached_property
    def smooth_gradient(self) -> FloatArray:
        """∇P for the smooth part of the penalty: shape (d, K), and a last row for b if that is free."""
        problem = self.problem
        sums, weight = self.expected
        gradient = problem.weight_of_loss * (sums - problem.class_sums) + problem.penalty.l2 * self.w
        if not problem.fit_intercept:
            return gradient
        return np.vstack([gradient, problem.weight_of_loss * (weight - problem.class_totals)])

    @cached_property
    def mixture(self) -> tuple[float, FloatArray]:
        """T and q of the probabilities p' = (1 − t) p + t q, which give every class its weight where b is free.

        Where p gives class k the weight Nₖ − rₖ instead of Nₖ, one row q for all makes up for it:
        qₖ = (t Nₖ + (1 − t) rₖ) / (t N), with the smallest t for which no qₖ is negative.
        """
        problem, wanted, given = self.problem, self.problem.class_totals, self.expected[1]
        missing = wanted - given
        # given > 0 but for underflow, and then nothing is missing that t could not supply
        t = float(np.max(np.where(missing < 0, -missing / np.maximum(given, 1e-300), 0.0)))
        q = np.maximum(t * wanted + (1 - t) * missing, 0.0)
        if not problem.fit_intercept or t == 0 or not q.any():  # or what is missing is less than the sums' rounding
            return 0.0, np.zeros(len(self.b))
        return t, q / q.sum()

    @cached_property
    def dual(self) -> tuple[FloatArray, float]:
        """Xᵀ A of the feasible probabilities, and the share of p' in them: the rest is the labels, where a box asks."""
        problem, (t, q), sums = self.problem, self.mixture, self.expected[0]
        if t > 0:
            sums = (1 - t) * sums + t * np.outer(problem.class_sums.sum(axis=1), q)
        v = problem.weight_of_loss * (problem.class_sums - sums)
        shrink = problem.into_box(v)
        return shrink * v, shrink

    @property
    def balanced(self) -> FloatArray:
        """The point's probabilities, made to give every class its weight where b is free."""
        t, q = self.mixture
        return self.p if t == 0 else (1 - t) * self.p + t * q

    @cached_property
    def bound(self) -> Bound:
        """A bound without another pass."""
        return self.rough_bound if self.problem.examples.resident is None else self.exact_bound()

    @cached_property
    def rough_bound(self) -> Bound:
        """The entropy is concave, so that of a mixture is at least the mixture's."""
        (t, q), shrink = self.mixture, self.dual[1]
        entropy = (1 - t) * self.entropy + t * self.problem.total_weight * float(entr(q).sum())
        return Bound(self.objective, max(0.0, self._dual_value(shrink * entropy)))

    def exact_bound(self) -> Bound:
        """Return the bound that the point's own probabilities give once they are feasible."""
        (t, q), shrink = self.mixture, self.dual[1]
        if t == 0 and shrink == 1:
            return Bound(self.objective, self._dual_value(self.entropy))

        w, b, known = self.w, self.b, None if self.problem.examples.resident is None else self

        def entropy(part: Objective) -> float:
            point = known or part.evaluate(w, b)
            return mixed_entropy(point.p, part.codes, part.s, shrink, t, q)

        return Bound(self.objective, self._dual_value(self.problem.sum(entropy)))

    def _dual_value(self, entropy: float) -> float:
        problem = self.problem
        return problem.weight_of_loss * entropy - problem.penalty.conjugate(self.dual[0].reshape(-1))


class ClassMarginPoint(Point):
    """A point with one plane a class, and the margins between them."""

    def __init__(
        self,
        problem: Objective,
        w: FloatArray,
        b: FloatArray,
        value: float,
        mistakes: float,
        scores: FloatArray | None = None,
    ) -> None:
        self.problem, self.w, self.b, self.value, self.mistakes = problem, w, b, value, mistakes
        self.scores = scores  # of each example, where they are in memory

    @property
    def smooth_gradient(self) -> FloatArray:
        """A subgradient of P: shape (d, K), and a last row for b if that is free."""
        problem, masses = self.problem, self._masses()
        gradient = problem.penalty.l2 * self.w - combined(problem, masses)
        if not problem.fit_intercept:
            return gradient
        own = np.bincount(problem.codes, weights=masses.sum(axis=1), minlength=problem.classes)
        return np.vstack([gradient, masses.sum(axis=0) - own])

    @cached_property
    def bound(self) -> Bound:
        """The bound of the masses that follow from the scores; of examples in blocks, that losses are not negative."""
        return Bound(self.objective, 0.0) if self.scores is None else self.exact_bound()

    def exact_bound(self) -> Bound:
        """Return the bound that the scores' own masses give once they are balanced."""
        found = bound_of(self.problem, self.objective, self._masses())[0]
        return found if found.dual > 0 else Bound(self.objective, 0.0)

    def _masses(self) -> FloatArray:
        assert self.scores is not None, "the masses of examples in blocks are with them"
        return by_scores(self.problem, self.scores)
