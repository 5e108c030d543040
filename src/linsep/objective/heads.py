"""How scores become losses: one plane with a loss of the agreements, or one plane a class, by softmax or by margins.

`Margin`: ℓ(zᵢ), zᵢ = yᵢ (w·xᵢ + b), of w with shape (d,) and a number b. `Softmax`: −log pᵢ,yᵢ with
pᵢₖ = e^(gᵢₖ) / Σⱼ e^(gᵢⱼ), gᵢₖ = wₖ·xᵢ + bₖ, of w with shape (d, K), so that the K numbers that an entry of X meets lie
side by side, and b with shape (K,). `CrammerSinger`: max(0, 1 − zᵢ) with zᵢ = gᵢ,yᵢ − max gᵢₖ over k ≠ yᵢ, of the same
w and b.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from .._common.types import FloatArray, IntArray
from .._core import Rows, SoftmaxSums, Sums
from ..losses import Hinge, Logistic, Loss
from .class_margins import rivals
from .examples import Several
from .points import ClassMarginPoint, MarginPoint, SoftmaxPoint

if TYPE_CHECKING:
    from .objective import Objective


def _columns(problem: Objective, which: bool | IntArray) -> Rows:
    """Return the rows, with some of their columns alone if they are named."""
    return problem.rows if isinstance(which, bool) else problem.rows.columns(which)


@dataclass(frozen=True)
class Margin:
    """One plane, and a loss of the agreements; class `positive` is +1."""

    loss: Loss
    positive: int = 1
    planes = None
    letter = "w"

    @property
    def formula(self) -> str:
        """The loss of one example."""
        return self.loss.formula

    @property
    def max_curvature(self) -> float:
        """L ≥ ℓ''."""
        return self.loss.max_curvature

    @property
    def self_concordance(self) -> float:
        """M for which |ℓ'''| ≤ M ℓ'', wherever ℓ'' does not jump."""
        return self.loss.self_concordance if self.loss.jumps is None else 0.0

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
        gram: bool | IntArray = False,
    ) -> MarginPoint:
        """Return value and gradient (by class if `split`), with `curvature` or `gram`, of some columns, if wanted."""
        curvature = curvature or gram is not False
        w, want = np.ascontiguousarray(w), dict(split=split, curvature=curvature, gradient=gradient)
        sums = problem.rows.evaluate(problem.y, problem.sample_weight, self.loss, w, b, **want)
        found = None if gram is False else _columns(problem, gram).gram(sums.h, np.flatnonzero(sums.h))
        return MarginPoint(problem, w, b, sums, split, found)

    def summed(self, problem: Objective, w: FloatArray, b: float, **want: Any) -> MarginPoint:
        """Return the same of examples in blocks."""
        task = _SumsAt(self, w, b, {**want, "split": problem.fit_intercept})
        totals, positive, negative, *gram = problem.sum(task)
        nothing, (p, n, value, mistakes) = np.empty(0), map(float, totals)
        sums = Sums(p, n, value, mistakes, positive, negative, nothing, nothing)
        return MarginPoint(problem, w, b, sums, problem.fit_intercept, *gram)

    def bends(self, point: MarginPoint) -> tuple[FloatArray, ...]:
        """Return the curvature of each example, of a point that was asked for it."""
        return (point.sums.h,)

    def bending(self, problem: Objective, h: FloatArray, *, exact: bool = True) -> Callable[[FloatArray], FloatArray]:
        """Return the product with Σ hᵢ [xᵢ, 1][xᵢ, 1]ᵀ, which is exact in any case."""
        d = problem.d

        def product(v: FloatArray) -> FloatArray:
            c = float(v[d]) if problem.fit_intercept else 0.0
            out: FloatArray = problem.rows.hessian_product(h, np.ascontiguousarray(v[:d]), c)
            return out if problem.fit_intercept else out[:d]

        return product

    def canonical(self, w: FloatArray, b: float) -> tuple[FloatArray, float]:
        """Return the same plane in the form that a run keeps it in."""
        return w, b

    def balanced(self, point: MarginPoint) -> MarginPoint:
        """Return the point: its two classes are scaled alike without more ado."""
        return point

    def moved(
        self, w: FloatArray, b: float, step: FloatArray, t: float, *, intercept: bool
    ) -> tuple[FloatArray, float]:
        """Return the point that lies t times a step away."""
        d = len(w)
        return w + t * step[:d], b + t * float(step[d]) if intercept else b


@dataclass(frozen=True, eq=False)
class _SumsAt:
    """What the point (w, b) of one plane adds up over a block."""

    head: Margin
    w: FloatArray
    b: float
    want: dict[str, Any]

    def __call__(self, part: Objective) -> Several:
        point = self.head.evaluate(part, self.w, self.b, **self.want)
        sums = point.sums
        totals = np.array([sums.positive_total, sums.negative_total, sums.value, sums.mistakes])
        arrays = totals, sums.positive, sums.negative
        return Several(arrays if point.gram is None else (*arrays, point.gram))


@dataclass(frozen=True)
class Softmax:
    """One plane a class, and the cross-entropy of their softmax."""

    classes: int
    loss = Logistic()  # which it is for two classes
    words = "softmax"
    letter = "W"
    max_curvature = 0.5  # diag(p) − ppᵀ is never more than ½·I
    formula = "−log softmax(g)ᵧ"
    self_concordance = 2.0

    @property
    def planes(self) -> int:
        """K."""
        return self.classes

    def zeros(self, d: int) -> tuple[FloatArray, FloatArray]:
        """Return w and b of all zeros."""
        return np.zeros((d, self.classes)), np.zeros(self.classes)

    def evaluate(self, problem: Objective, w: FloatArray, b: FloatArray, **want: Any) -> SoftmaxPoint:
        """Return the point with all that a pass says of it."""
        return SoftmaxPoint(problem, w, b, problem.rows.softmax(problem.codes, problem.sample_weight, w, b))

    def summed(self, problem: Objective, w: FloatArray, b: FloatArray, **want: Any) -> SoftmaxPoint:
        """Return the same of examples in blocks."""
        gram_of = want.get("gram", False)

        def task(part: Objective) -> Several:
            point = self.evaluate(part, w, b)
            sums = point.value, point.mistakes, point.entropy, *point.expected
            return Several(sums if gram_of is False else (*sums, self.gram(point, _columns(part, gram_of))))

        value, mistakes, entropy, sums, weight, *gram = problem.sum(task)
        nothing = np.empty(0)
        found = SoftmaxSums(value, mistakes, entropy, nothing, nothing, (sums, weight))
        return SoftmaxPoint(problem, w, b, found, *gram)

    def gram(self, point: SoftmaxPoint, rows: Rows) -> FloatArray:
        """Return Σ sᵢ (diag(pᵢ) − pᵢpᵢᵀ) ⊗ x̃ᵢx̃ᵢᵀ in the order of θ: the classes of a feature side by side."""
        problem, p, K, size = point.problem, point.p, self.classes, rows.d + 1
        out = np.empty((size, K, size, K))
        for k in range(K):
            for m in range(k + 1):
                h = problem.s * p[:, k] * ((1.0 - p[:, k]) if k == m else p[:, m])
                gram = rows.gram(h, np.flatnonzero(h))
                gram = np.tril(gram) + np.tril(gram, -1).T
                out[:, k, :, m] = out[:, m, :, k] = gram if k == m else -gram
        return out.reshape(size * K, -1)

    def bends(self, point: SoftmaxPoint) -> tuple[FloatArray, ...]:
        """Return the probabilities of each example, and how far it is from certain."""
        return point.p, point.doubt

    def bending(
        self, problem: Objective, p: FloatArray, doubt: FloatArray, *, exact: bool = False
    ) -> Callable[[FloatArray], FloatArray]:
        """Return the product V ↦ Σ sᵢ (pᵢ ∘ uᵢ − pᵢ (pᵢ·uᵢ)) x̃ᵢᵀ, where uᵢ = x̃ᵢ V is the change of the scores."""
        product = problem.rows.softmax_products(p, doubt, problem.s, exact=exact)
        if problem.fit_intercept:
            return product
        nothing = np.zeros((1, self.classes))
        return lambda V: product(np.vstack([V, nothing]))[:-1]

    def canonical(self, w: FloatArray, b: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return w and b less their mean over the classes: the same probabilities, and no larger penalty."""
        return w - w.sum(axis=1, keepdims=True) / len(b), b - b.sum() / len(b)  # `mean` takes twice as long

    def balanced(self, point: SoftmaxPoint) -> SoftmaxPoint:
        """Return the point with intercepts that give every class its weight, as far as two Newton steps on them do.

        Otherwise probabilities would have to be mixed until they do, and those of huge rows with the others.
        """
        problem = point.problem
        if not problem.fit_intercept or problem.examples.resident is None:
            return point
        for _ in range(2):
            weighted = problem.s[:, None] * point.p
            given = weighted.sum(axis=0)
            hessian = np.diag(given) - weighted.T @ point.p
            shift = np.linalg.lstsq(hessian, problem.class_totals - given, rcond=None)[0]
            shift -= shift.mean()
            point = self.evaluate(problem, point.w, point.b + shift)
        return point

    def moved(
        self, w: FloatArray, b: FloatArray, step: FloatArray, t: float, *, intercept: bool
    ) -> tuple[FloatArray, FloatArray]:
        """Return the point that lies t times a step away, less its mean over the classes."""
        d = len(w)
        return self.canonical(w + t * step[:d], b + t * step[d] if intercept else b)


@dataclass(frozen=True)
class CrammerSinger:
    """One plane a class, and the hinge of the margin between the own class and the highest of the others."""

    classes: int
    loss = Hinge()
    words = "margins between classes"
    letter = "W"
    max_curvature = self_concordance = np.inf
    formula = "(max(gₖ + [k≠y]) − gᵧ)"

    @property
    def planes(self) -> int:
        """K."""
        return self.classes

    def zeros(self, d: int) -> tuple[FloatArray, FloatArray]:
        """Return w and b of all zeros."""
        return np.zeros((d, self.classes)), np.zeros(self.classes)

    def evaluate(self, problem: Objective, w: FloatArray, b: FloatArray, **want: Any) -> ClassMarginPoint:
        """Return the point with all that a pass says of it."""
        scores = problem.rows.matmat(w) + b
        z = rivals(scores, problem.codes)[0]
        value, mistakes = (float(problem.s @ each) for each in (self.loss.value(z), (z <= 0).astype(np.float64)))
        return ClassMarginPoint(problem, w, b, value, mistakes, scores)

    def summed(self, problem: Objective, w: FloatArray, b: FloatArray, **want: Any) -> ClassMarginPoint:
        """Return the same of examples in blocks: without scores."""

        def task(part: Objective) -> FloatArray:
            point = self.evaluate(part, w, b)
            return np.array([point.value, point.mistakes])

        value, mistakes = problem.sum(task).tolist()
        return ClassMarginPoint(problem, w, b, value, mistakes)

    def canonical(self, w: FloatArray, b: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return w and b less their mean over the classes: the same margins, and no larger penalty."""
        return w - w.sum(axis=1, keepdims=True) / len(b), b - b.sum() / len(b)  # `mean` takes twice as long


#: How scores become losses: what an objective and its solvers ask of any.
Head: TypeAlias = Margin | Softmax | CrammerSinger


def of_all_classes(loss: Loss, classes: int) -> Softmax | CrammerSinger:
    """Return the head of all classes at once that is this loss, up to the penalty, where there are two."""
    return CrammerSinger(classes) if isinstance(loss, Hinge) else Softmax(classes)
