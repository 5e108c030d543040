"""How scores become losses: one plane with a loss of the agreements, or one plane a class with the softmax.

`Margin`: ℓ(zᵢ), zᵢ = yᵢ (w·xᵢ + b), of w with shape (d,) and a number b. `Softmax`: −log pᵢ,yᵢ with
pᵢₖ = e^(gᵢₖ) / Σⱼ e^(gᵢⱼ), gᵢₖ = wₖ·xᵢ + bₖ, of w with shape (d, K), so that the K numbers that an entry of X meets lie
side by side, and b with shape (K,).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from .._core import Sums
from ..losses import Loss
from .examples import Several
from .points import MarginPoint, Point, SoftmaxPoint, SummedSoftmaxPoint

if TYPE_CHECKING:
    from .objective import Objective

FloatArray = NDArray[np.float64]

__all__ = ["Head", "Margin", "Softmax"]


class Head(Protocol):
    """What an objective asks of how scores become losses."""

    planes: int | None  # how many columns w has; None for a vector
    smooth: bool
    formula: str
    letter: str
    self_concordance: float

    def zeros(self, d: int) -> tuple[FloatArray, Any]:
        """Return w and b of all zeros."""
        ...

    def evaluate(self, problem: Objective, w: FloatArray, b: Any, **want: bool) -> Point:
        """Return what one pass says of a point of examples in memory."""
        ...

    def summed(self, problem: Objective, w: FloatArray, b: Any, **want: bool) -> Point:
        """Return what one pass says of a point of examples that come in blocks."""
        ...

    def bending(self, point: Any) -> Callable[[FloatArray], tuple[FloatArray, FloatArray | None]]:
        """Return the product of a point's ∇²(Σ s ℓ) with a vector, and the change of the scores where that is known.

        Of examples in memory; for a vector without an entry for b where that is not free.
        """
        ...

    def moved(self, w: FloatArray, b: Any, step: FloatArray, t: float, *, intercept: bool) -> tuple[FloatArray, Any]:
        """Return the point that lies t times a step away."""
        ...


@dataclass(frozen=True)
class Margin:
    """One plane, and a loss of the agreements; class `positive` is +1."""

    loss: Loss
    positive: int = 1
    planes = None
    letter = "w"

    @property
    def smooth(self) -> bool:
        """Whether the loss has a derivative everywhere."""
        return self.loss.smooth

    @property
    def formula(self) -> str:
        """The loss of one example."""
        return self.loss.formula

    @property
    def self_concordance(self) -> float:
        """M for which |ℓ'''| ≤ M ℓ''."""
        return self.loss.self_concordance

    def zeros(self, d: int) -> tuple[FloatArray, float]:
        """Return w and b of all zeros."""
        return np.zeros(d), 0.0

    def evaluate(
        self,
        problem: Objective,
        w: FloatArray,
        b: float,
        *,
        split: bool = False,
        curvature: bool = False,
        gradient: bool = True,
        gram: bool = False,
    ) -> MarginPoint:
        """Return value and gradient (by class if `split`), with `curvature` or `gram` if wanted."""
        w, want = np.ascontiguousarray(w), dict(split=split, curvature=curvature or gram, gradient=gradient)
        sums = problem.rows.evaluate(problem.y, problem.sample_weight, self.loss, w, b, **want)
        found = problem.rows.gram(sums.h, np.flatnonzero(sums.h)) if gram else None
        return MarginPoint(problem, w, b, sums, split, found)

    def summed(self, problem: Objective, w: FloatArray, b: float, **want: bool) -> MarginPoint:
        """Return the same of examples in blocks."""
        want = {**want, "split": problem.fit_intercept}

        def task(part: Objective) -> Several:
            point = self.evaluate(part, w, b, **want)
            sums = point.sums
            totals = np.array([sums.positive_total, sums.negative_total, sums.value, sums.mistakes])
            arrays = totals, sums.positive, sums.negative
            return Several(arrays if point.gram is None else (*arrays, point.gram))

        totals, positive, negative, *gram = problem.sum(task)
        nothing = np.empty(0)
        sums = Sums(*map(float, totals), positive, negative, nothing, nothing)
        return MarginPoint(problem, w, b, sums, problem.fit_intercept, *gram)

    def bending(self, point: MarginPoint) -> Callable[[FloatArray], tuple[FloatArray, None]]:
        """Return the product with Σ hᵢ [xᵢ, 1][xᵢ, 1]ᵀ."""
        problem, h, d = point.problem, point.sums.h, point.problem.d

        def product(v: FloatArray) -> tuple[FloatArray, None]:
            c = float(v[d]) if problem.fit_intercept else 0.0
            out = problem.rows.hessian_product(h, np.ascontiguousarray(v[:d]), c)
            return out if problem.fit_intercept else out[:d], None

        return product

    def moved(
        self, w: FloatArray, b: float, step: FloatArray, t: float, *, intercept: bool
    ) -> tuple[FloatArray, float]:
        """Return the point that lies t times a step away."""
        d = len(w)
        return w + t * step[:d], b + t * float(step[d]) if intercept else 0.0


@dataclass(frozen=True)
class Softmax:
    """One plane a class, and the cross-entropy of their softmax."""

    classes: int
    letter = "W"
    smooth = True
    formula = "−log softmax(g)ᵧ"
    self_concordance = 2.0

    @property
    def planes(self) -> int:
        """K."""
        return self.classes

    def zeros(self, d: int) -> tuple[FloatArray, FloatArray]:
        """Return w and b of all zeros."""
        return np.zeros((d, self.classes)), np.zeros(self.classes)

    def evaluate(self, problem: Objective, w: FloatArray, b: FloatArray, **want: bool) -> SoftmaxPoint:
        """Return the point with its scores; all else follows once it is asked for."""
        scores = problem.rows.matmat(w)
        scores += b
        return SoftmaxPoint(problem, w, b, scores)

    def summed(self, problem: Objective, w: FloatArray, b: FloatArray, **want: bool) -> SummedSoftmaxPoint:
        """Return the same of examples in blocks."""

        def task(part: Objective) -> Several:
            point = self.evaluate(part, w, b)
            return Several((point.value, point.mistakes, point.entropy, *point.expected))

        return SummedSoftmaxPoint(problem, w, b, problem.sum(task))

    def bending(self, point: SoftmaxPoint) -> Callable[[FloatArray], tuple[FloatArray, FloatArray]]:
        """Return the product V ↦ Σ sᵢ (pᵢ ∘ uᵢ − pᵢ (pᵢ·uᵢ)) x̃ᵢᵀ, where uᵢ = x̃ᵢ V is the change of the scores."""
        problem, p, d = point.problem, point.p, point.problem.d
        weight = None if problem.sample_weight is None else problem.sample_weight[:, None]

        def product(V: FloatArray) -> tuple[FloatArray, FloatArray]:
            U = problem.rows.matmat(V[:d])
            if problem.fit_intercept:
                U += V[d]
            T = p * U
            T -= p * T.sum(axis=1, keepdims=True)
            if weight is not None:
                T *= weight
            out = np.empty_like(V)
            problem.rows.rmatmat(T, out[:d])
            if problem.fit_intercept:
                out[d] = T.sum(axis=0)
            return out, U

        return product

    def moved(
        self, w: FloatArray, b: FloatArray, step: FloatArray, t: float, *, intercept: bool
    ) -> tuple[FloatArray, FloatArray]:
        """Return the point that lies t times a step away, less its mean over the classes."""
        d = len(w)
        return centred(w + t * step[:d], b + t * step[d] if intercept else b)


def centred(w: FloatArray, b: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return w and b less their mean over the classes: the same probabilities, and no larger penalty."""
    return w - w.mean(axis=1, keepdims=True), b - b.mean()
