"""What is minimised: examples, how scores become losses, a penalty, and how they are weighed.

    P(w, b) = penalty(w) + C · Σᵢ sᵢ ℓᵢ(w, b)

The intercept b is never penalised, and C = inf means no penalty: P is then Σᵢ sᵢ ℓᵢ. Methods whose step size ought not
to depend on how many examples there are (the lecture's) work on the *mean objective* instead, which has the same
minimiser:

    F(w, b) = Σ sᵢ ℓᵢ / Σ sᵢ  +  λ · penalty(w),      λ = 1 / (C Σ sᵢ)
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property, reduce
from operator import add
from typing import Any, Self, TypeVar

import numpy as np

from .._common.types import FloatArray, IntArray
from .._common.words import shown
from .._core import Rows
from ..losses import Loss
from ..penalties import L2, NoPenalty, Penalty
from .examples import Block, Changed, Examples, InMemory
from .heads import Head
from .points import Point

S = TypeVar("S")


def in_force(penalty: Penalty, C: float) -> tuple[Penalty, float]:
    """Return the penalty that counts, and what multiplies the sum of losses: C = inf leaves the losses alone."""
    return (NoPenalty(), 1.0) if math.isinf(C) else (penalty, C)


def formula(head: Head, penalty: Penalty, C: float, *, weighted: bool) -> str:
    """Return the objective in one line; `weighted`: whether examples have weights."""
    s = "s·" if weighted else ""
    penalty, C = in_force(penalty, C)
    losses = f"{'' if C == 1 else f'{C:g}·'}Σ {s}{head.formula}"
    return f"{penalty.formula.replace('w', head.letter)} + {losses}" if penalty.l2 or penalty.l1 else losses


@dataclass(frozen=True, eq=False)
class Objective:
    """One objective.

    Attributes
    ----------
    examples : Examples
        Where the examples are.
    head : Head
        How scores become losses.
    penalty : Penalty
        Of all weights together.
    C : float
        How much the losses count against the penalty; inf drops the penalty.
    class_weight : array or None
        s of the examples of each class, all ones if None; examples may have weights of their own besides.
    fit_intercept : bool
        Whether b is free; otherwise it is 0.

    Examples
    --------
    >>> from linsep.losses import Hinge
    >>> from linsep.objective.heads import Margin
    >>> rows = Rows(np.array([[1.0], [-2.0]]))
    >>> p = Objective(InMemory(rows, np.array([1, 0])), Margin(Hinge()), C=10.0)
    >>> p.evaluate(np.array([0.5]), 0.0).objective  # ½·0.25 + 10·(0.5 + 0)
    5.125
    >>> p.formula
    '½‖w‖² + 10·Σ max(0, 1 − z)'
    """

    examples: Examples
    head: Any
    penalty: Penalty = field(default_factory=L2)
    C: float = np.inf
    class_weight: FloatArray | None = None
    fit_intercept: bool = True

    #: What multiplies the sum of losses in P: C, or 1 where there is no penalty.
    weight_of_loss: float = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if not self.C > 0:
            raise ValueError(f"C={shown(self.C)} must be positive; inf means no penalty")
        penalty, weight = in_force(self.penalty, self.C)
        object.__setattr__(self, "penalty", penalty)
        object.__setattr__(self, "weight_of_loss", weight)

    # -- what is weighed, and how ------------------------------------------------------------------------------------

    @property
    def n(self) -> int:
        """How many examples there are."""
        return self.examples.n

    @property
    def d(self) -> int:
        """How many columns they have."""
        return self.examples.d

    @property
    def penalised(self) -> bool:
        """Whether there is a penalty at all."""
        return any(self.penalty.numbers)

    @property
    def strength(self) -> float:
        """λ: what the penalty counts in the mean objective."""
        return min(1.0 / self.C / self.total_weight, 1e300)  # the product may fall below the range of floats

    @property
    def by_class(self) -> FloatArray:
        """S of the examples of each class."""
        return np.ones(len(self.examples.counts)) if self.class_weight is None else self.class_weight

    @cached_property
    def total_weight(self) -> float:
        """N = Σ sᵢ."""
        if self.examples.resident is None:
            return float(self.by_class @ self.examples.totals)
        return float(self.n if self.sample_weight is None else self.sample_weight.sum())

    @cached_property
    def weighted_squares(self) -> float:
        """Σ sᵢ ‖xᵢ‖²."""
        if self.examples.resident is None:
            return float(self.by_class @ self.examples.weighted_squares)
        return self.mean(self.rows.squared_norms()) * self.total_weight

    @property
    def squares(self) -> FloatArray:
        """Σ ‖x‖² over the examples of each class."""
        squares = self.examples.squares
        return np.append(squares, np.zeros(self.classes - len(squares))) if len(squares) < self.classes else squares

    @cached_property
    def class_totals(self) -> FloatArray:
        """Nₖ: the weight of each class's examples."""
        if self.examples.resident is None:
            return self.by_class * self.examples.totals
        return np.asarray(np.bincount(self.codes, weights=self.s, minlength=self.classes), dtype=np.float64)

    @cached_property
    def class_sums(self) -> FloatArray:
        """Σ sᵢ xᵢ over the examples of each class: shape (d, K)."""
        return self.sum(lambda part: part.rows.class_sums(part.codes, part.s, self.classes))

    @property
    def formula(self) -> str:
        """The objective that is minimised, in one line."""
        weighted = self.class_weight is not None or self.examples.weighted
        return formula(self.head, self.penalty, self.C, weighted=weighted)

    def into_box(self, v: FloatArray) -> float:
        """Return by what a dual point is to be scaled: an L1 penalty alone has a finite conjugate in a box only."""
        if self.penalty.l2 > 0:
            return 1.0
        longest = float(np.abs(v).max(initial=0.0))
        return min(1.0, self.penalty.l1 / longest) if longest > 0 else 1.0

    # -- points ------------------------------------------------------------------------------------------------------

    @property
    def coordinates(self) -> tuple[str, ...]:
        """What the numbers of θ are called, of one plane."""
        weights = [f"w{j}" for j in range(self.d)] if self.d > 1 else ["w"]
        return (*weights, "b") if self.fit_intercept else tuple(weights)

    def zeros(self) -> tuple[FloatArray, Any]:
        """Return w and b of all zeros."""
        found: tuple[FloatArray, Any] = self.head.zeros(self.d)
        return found

    def split(self, theta: FloatArray) -> tuple[FloatArray, Any]:
        """Return w and b of θ."""
        if not self.fit_intercept:
            return theta, self.zeros()[1]
        return theta[:-1], float(theta[-1]) if theta.ndim == 1 else theta[-1]

    def join(self, w: FloatArray, b: Any) -> FloatArray:
        """θ of w and b: b is the last entry, or the last row, if it is free."""
        if not self.fit_intercept:
            return np.array(w)
        return np.append(w, b) if w.ndim == 1 else np.vstack([w, b])

    def planes(self, w: FloatArray, b: Any) -> FloatArray:
        """Return what an observer sees: [w, b], or one row [wₖ, bₖ] a class, without bₖ where that is not free."""
        if w.ndim == 1:
            return np.append(w, b)
        return np.column_stack([w.T, b]) if self.fit_intercept else w.T.copy()

    def evaluate(self, w: FloatArray, b: Any, **want: Any) -> Any:
        """Return what one pass over the examples says of (w, b).

        Of one plane: with the gradient by class if `split`, with the curvature of each example if `curvature`, with
        the Hessian of the losses if `gram`, or that of some columns; without `gradient` where that is false.
        """
        ask = self.head.summed if self.examples.resident is None else self.head.evaluate
        return ask(self, w, b, **want)

    def at(self, theta: FloatArray, **want: bool) -> Any:
        """Return what one pass over the examples says of θ."""
        w, b = self.split(theta)
        return self.evaluate(w, b, **want)

    def bending(self, point: Point, *, exact: bool = False) -> Callable[[FloatArray], FloatArray]:
        """Return what multiplies a vector with ∇²P at a point, a pass each; its last row is for b if that is free.

        It shapes a step, and is no more precise than that takes unless it is to be exact.
        """
        in_memory = self.examples.resident is not None
        product = (
            self.head.bending(self, *self.head.bends(point), exact=exact) if in_memory else self._bent(point, exact)
        )
        return lambda V: self._with_penalty(product(V), V)

    def _bent(self, point: Point, exact: bool) -> Callable[[FloatArray], FloatArray]:
        """Return the product of blocks; how their examples bend is kept where there is room, and else found anew."""
        w, b = point.w, point.b  # a task may be sent to where its block is: with no more than it needs

        def bends(part: Objective) -> tuple[FloatArray, ...]:
            found: tuple[FloatArray, ...] = part.head.bends(part.evaluate(w, b, curvature=True, gradient=False))
            return found

        if not self.examples.in_turn or self.examples.holds <= (self.head.planes or 1):
            return lambda V: self.sum(lambda part: part.head.bending(part, *bends(part), exact=exact)(V))
        kept: list[tuple[FloatArray, ...]] = []

        def product(V: FloatArray) -> FloatArray:
            total = np.zeros(V.shape)
            for k, (_, part) in enumerate(self):
                if k == len(kept):
                    kept.append(bends(part))
                total += part.head.bending(part, *kept[k], exact=exact)(V)
            return total

        return product

    def _with_penalty(self, bent: FloatArray, V: FloatArray) -> FloatArray:
        bent *= self.weight_of_loss
        bent[: self.d] += self.penalty.l2 * V[: self.d]
        return bent

    # -- block by block ----------------------------------------------------------------------------------------------

    def on(self, block: Block, C: float | None = None) -> Self:
        """Return the same objective on these examples alone."""
        examples = InMemory(block.rows, block.codes, block.weight)
        return replace(self, examples=examples, C=C or self.C)

    def sum(self, task: Callable[[Objective], S]) -> S:
        """Return the sum of a task over the blocks, each an objective in memory: one pass."""
        if self.examples.resident is not None:
            return task(self)
        total: S = self.examples.sum(_OnBlocks(self, task))
        return total

    def __iter__(self) -> Iterator[tuple[slice, Self]]:
        """Yield which examples a block has, and the objective on that alone."""
        for block in self.examples:
            yield block.which, self.on(block)

    @property
    def free(self) -> int:
        """How many coefficients there are to find; those of the last class of a softmax follow from the others."""
        planes = self.head.planes
        return self.d if planes is None else (planes - 1) * (self.d + self.fit_intercept)

    # -- what is in memory -------------------------------------------------------------------------------------------

    @property
    def rows(self) -> Rows:
        """The rows in memory; of examples elsewhere these themselves, which also know n and d."""
        resident = self.examples.resident
        return self.examples if resident is None else resident  # type: ignore[return-value]

    @property
    def loss(self) -> Loss:
        """The loss of one plane; of several, the one that theirs is for two classes."""
        loss: Loss = self.head.loss
        return loss

    @property
    def positive(self) -> int:
        """The class that is +1, of one plane."""
        return int(self.head.positive)

    @property
    def classes(self) -> int:
        """How many there are, at the least."""
        return self.head.planes or 2

    @property
    def codes(self) -> IntArray:
        """The class of each example."""
        return self.examples.codes  # type: ignore[union-attr]

    @cached_property
    def y(self) -> FloatArray:
        """The labels ±1.0, of one plane."""
        signs: FloatArray | None = self.examples.signs  # type: ignore[union-attr]
        return np.where(self.codes == self.head.positive, 1.0, -1.0) if signs is None else signs

    @cached_property
    def sample_weight(self) -> FloatArray | None:
        """S of each example; None for all ones."""
        own: FloatArray | None = self.examples.weight  # type: ignore[union-attr]
        if self.class_weight is None:
            return own
        return self.class_weight[self.codes] if own is None else self.class_weight[self.codes] * own

    @cached_property
    def s(self) -> FloatArray:
        """The weights of the examples."""
        return np.ones(self.n) if self.sample_weight is None else self.sample_weight

    @cached_property
    def mean_square_length(self) -> float:
        """R²: the mean of ‖x‖², with the intercept's 1; one where all examples are (as good as) zero."""
        square = self.mean(self.rows.squared_norms() + self.fit_intercept)
        return square if square > 1e-300 else 1.0

    def mean(self, values: FloatArray) -> float:
        """Σ sᵢ vᵢ / Σ sᵢ."""
        if self.sample_weight is None:
            return float(values.sum()) / self.total_weight
        with np.errstate(over="ignore"):
            total = float(self.sample_weight @ values)
        if np.isfinite(total):
            return total / self.total_weight
        return float(self.sample_weight / self.total_weight @ values)  # the sum exceeds the largest float, not the mean

    def agreements(self, w: FloatArray, b: float) -> FloatArray:
        """zᵢ = yᵢ (w·xᵢ + b)."""
        z = self.rows.matvec(w) if w.any() else np.zeros(self.rows.n)
        z += b
        z *= self.y
        return z

    def objective(self, w: FloatArray, b: Any) -> float:
        """P(w, b)."""
        return float(self.evaluate(w, b, gradient=False).objective)

    def error(self, w: FloatArray, b: float) -> float:
        """Return the share of labels that are predicted wrongly: of another sign than a score that is not zero."""
        g = self.rows.matvec(w) + b
        return self.mean(((g > 0) != (self.y > 0)).astype(np.float64))

    def with_rows(self, rows: Rows) -> Self:
        """Return the same objective on other columns of the same examples."""
        return replace(self, examples=self.examples.with_rows(rows))  # type: ignore[union-attr]

    def columns(self, which: IntArray) -> Self:
        """Return the same objective on these columns alone."""
        resident = self.examples.resident
        if resident is not None:
            return self.with_rows(resident.columns(which))
        return replace(self, examples=Changed(self.examples, lambda rows: rows.columns(which), len(which)))

    def weighed(self, rows: Rows, weight: FloatArray | None) -> Self:
        """Return the same objective with other rows and weights s."""
        examples = replace(self.examples, rows=rows, weight=weight)  # type: ignore[type-var]
        return replace(self, examples=examples, class_weight=None)

    def chosen(self, which: IntArray | slice, weight: FloatArray | None, rows: Rows | None = None) -> Self:
        """Return the objective on some of its examples, with these weights s, and rows that may be known."""
        examples = self.examples.chosen(which, weight, rows)  # type: ignore[union-attr]
        return replace(self, examples=examples, class_weight=None)

    def lean(self) -> Self:
        """Return the same objective on sparse rows, if these are dense and mostly zeros; else itself."""
        rows = self.rows.lean()
        return self if rows is self.rows else self.with_rows(rows)


class _OnBlocks:
    """A task on the objective of a block alone; it travels to blocks elsewhere faster than a closure does."""

    def __init__(self, objective: Objective, task: Callable[[Objective], Any]) -> None:
        self.objective, self.task = objective, task
        self.__qualname__ = getattr(task, "__qualname__", type(task).__qualname__)

    def __call__(self, block: Block) -> Any:
        return reduce(add, (self.task(self.objective.on(piece)) for piece in block.pieces()))
