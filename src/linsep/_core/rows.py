"""`Rows`: the examples, with every pass over them that a solver asks for.

A pass is the loop of its name in the kernels that know the loss; arguments that are handed on by their names are those
of its plain twin in `reference`, which says what they mean.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from .._common.types import FloatArray, IntArray
from . import reference
from .loading import compiled, compiled_name, kernels, kernels_for
from .softmax import SoftmaxRows
from .workers import IN_ONE_PIECE, threads, threads_for

if TYPE_CHECKING:
    from .columns import Columns

#: How many planes the kernels step at a time.
PACK: int = kernels.PACK
#: What stochastic steps note nowhere unless a place is given.
_NOT_NOTED = {"sum_b": None, "owed": None, "patience": 0, "stood": None, "counted": None, "kept": None}


@dataclass(frozen=True)
class Sums:
    """What one pass over the examples gives: see `Rows.evaluate`."""

    positive_total: float  # Σ u over the positive class (over all, if not split)
    negative_total: float
    value: float  # Σ s ℓ(z)
    mistakes: float  # Σ s over the examples with z ≤ 0
    positive: FloatArray  # Σ u x over the positive class (over all, if not split)
    negative: FloatArray  # over the negative class; empty if not split
    u: FloatArray  # s ℓ'(z) y of each example
    h: FloatArray  # s ℓ''(z); empty if not asked for

    @property
    def gradient(self) -> FloatArray:
        """Σ u x over all examples."""
        return self.positive + self.negative if len(self.negative) else self.positive


@dataclass(frozen=True)
class Springs:
    """What a run of the method of multipliers changes: see `springs.hpp`."""

    point: FloatArray  # [w, b]
    z: FloatArray  # its agreements
    a: FloatArray  # dual variables
    h: FloatArray  # how they bend
    centre: FloatArray  # where their springs pull them
    width: FloatArray  # one number: how slack the springs are
    best_point: FloatArray
    best_alpha: FloatArray
    proof: FloatArray  # P of the best point, D of the best dual point


@dataclass(frozen=True)
class Ending:
    """How a run of the method of multipliers ended."""

    why: str  # "proven", "tired" (of steps), "stuck" (no step leads anywhere) or "full" (no room to take notes)
    steps: int
    log: FloatArray  # for each point: the steps so far, P, Σ c ℓ(z), Σ c over the mistakes, the least P so far
    settled: bool  # whether z are the agreements of the best point, computed afresh


class Rows(SoftmaxRows):
    """The examples as rows, dense or sparse, float32 or float64: the only type that knows which.

    Examples
    --------
    >>> rows = Rows(np.array([[1.0, 2.0], [3.0, 4.0]]))
    >>> rows.matvec(np.array([1.0, -1.0]))
    array([-1., -1.])
    >>> rows.rmatvec(np.array([1.0, 1.0]))
    array([4., 6.])
    """

    def evaluate(
        self,
        y: FloatArray,
        weight: FloatArray | None,
        loss: Any,
        w: FloatArray,
        b: float,
        *,
        split: bool = False,
        curvature: bool = False,
        gradient: bool = True,
    ) -> Sums:
        """Return the sum of losses at (w, b) with its gradient, by class if `split`, and each example's share in it."""
        sums, u = np.empty(4 + gradient * (2 if split else 1) * self.d), np.empty(self.n)
        h = np.empty(self.n if curvature else 0)
        loops, rows, chosen = self._loop(loss)
        loops.evaluate(rows, y, weight, chosen, w, b, split, u, h if curvature else None, sums, self._threads())
        positive_total, negative_total, value, mistakes = sums[:4].tolist()
        totals = positive_total, negative_total, value, mistakes
        return Sums(*totals, sums[4 : 4 + self.d], sums[4 + self.d :], u, h)

    def hessian_product(self, h: FloatArray, v: FloatArray, c: float) -> FloatArray:
        """Σ h (x·v + c) [x, 1]: the Hessian of the sum of losses times (v, c)."""
        out = np.empty(self.d + 1)
        kernels.hessian_product(self._handle, h, v, c, out, self._threads())
        return out

    def gram(self, h: FloatArray, which: IntArray) -> FloatArray:
        """Σ h [x, 1][x, 1]ᵀ over the rows `which`, (d + 1) × (d + 1): its lower triangle, and zeros above."""
        out = np.zeros((self.d + 1, self.d + 1))
        if compiled is not None and (self.is_sparse or self.narrow):
            compiled.gram(self._handle, h, which, out, threads())
        else:
            reference.gram(self.X, h, which, out)
        return out

    @cached_property
    def turned(self) -> Columns:
        """The same examples by their columns, made once."""
        from .columns import Columns

        return Columns.of(self)

    def stochastic_steps(
        self, y: FloatArray, weight: FloatArray | None, order: IntArray, eta: FloatArray, loss: Any, **state: Any
    ) -> int:
        """Take one stochastic step for each entry of `order`, changing `w` and `b`, and what is noted, in place.

        `w` and `y` are vectors, or have one column for each of several planes (as many as `whole_packs` says); what
        shall be noted (`sum_w` with `sum_b`, `counts`, `moved`, of an L1 penalty `owed` with `paid`, and of a pocket
        `patience`, `stood`, `counted`, `kept` and `kept_w`) is given. Returns how often planes were moved.
        """
        loops, rows, chosen = self._loop(loss)
        if state["l1"] > 0 and state.get("owed") is None:  # nothing was paid before
            state |= {"owed": np.zeros(1), "paid": np.zeros_like(state["w"])}
        given = {name: state.pop(name.lower(), None) for name in ("W", "sum_W", "counts", "moved", "paid", "kept_W")}
        tables = {name: None if table is None else table.reshape(len(table), -1) for name, table in given.items()}
        steps = y.reshape(len(y), -1), weight, order, eta, chosen
        return int(loops.stochastic_steps(rows, *steps, **tables, **(_NOT_NOTED | state)))

    def measure(
        self, y: FloatArray, weight: FloatArray | None, loss: Any, W: FloatArray, b: FloatArray, **how: Any
    ) -> FloatArray:
        """Return eight numbers for each of the planes in the columns of W; `room` is as large as W."""
        out, room = np.empty((8, W.shape[1])), how.pop("room", None)
        loops, rows, chosen = self._loop(loss)
        loops.measure(rows, y, weight, chosen, W, b, **how, G=np.empty_like(W) if room is None else room, out=out)
        return out

    def dual_pass(self, y: FloatArray, c: FloatArray, loss: Any, **state: Any) -> int:
        """One pass of dual coordinate descent, which changes its state; return how many examples are still active."""
        loops, rows, chosen = self._loop(loss)
        return int(loops.dual_pass(rows, y, c, chosen, self.squared_norms(), **state))

    def dual_halves(self, y: FloatArray, c: FloatArray, loss: Any, **state: Any) -> float:
        """One pass of dual descent by two halves of the examples at once; return an estimate of the duality gap."""
        loops, rows, chosen = self._loop(loss)
        return float(loops.dual_halves(rows, y, c, chosen, self.squared_norms(), **state, threads=threads()))

    def sprung_duals(self, y: FloatArray, c: FloatArray, loss: Any, *, split: bool, **springs: Any) -> FloatArray:
        """Replace `a` and `h` by each example's dual variable on a spring, and how it bends; return sums."""
        sums = np.empty(6 + (2 if split else 1) * self.d)
        loops, rows, chosen = self._loop(loss)
        loops.sprung_duals(rows, y, c, chosen, split=split, **springs, sums=sums, threads=self._threads())
        return sums

    def runs_at_once(self, loss: Any) -> bool:
        """Whether there is a `sprung_newton` for these rows and this loss: few columns, and compiled."""
        return self.narrow and compiled_name(loss) is not None

    def steps_roughly(self, loss: Any) -> bool:
        """Whether there is a `Columns.newton` that is fast: sparse rows, and compiled."""
        return self.is_sparse and compiled_name(loss) is not None

    def sprung_newton(self, y: FloatArray, c: FloatArray, loss: Any, at: Springs, *, most: int, **how: Any) -> Ending:
        """Run the method of multipliers from `at`, which it changes, with up to `most` steps; see `springs.hpp`.

        It has no plain twin: `solvers.newton.augmented_lagrangian` takes the same steps one by one.
        """
        log, ended = np.empty((4 * most + 64, 5)), np.zeros(4, dtype=np.int64)
        loops, rows, chosen = self._loop(loss)
        into = dict(log=log, ended=ended, threads=self._threads())
        loops.sprung_newton(rows, y, c, chosen, most=most, **how, **vars(at), **into)
        why, steps, notes, settled = ended.tolist()
        return Ending(loops.ENDS[why], steps, log[:notes], bool(settled))


def conjugate_sum(
    y: FloatArray, weight: FloatArray | None, loss: Any, u: FloatArray, positive: float, negative: float
) -> float:
    """Σ s ℓ*(a) with a = u y / s, scaled by `positive` or `negative` according to the class."""
    loops, chosen = kernels_for(loss)
    return float(loops.conjugate_sum(y, weight, chosen, u, positive, negative, threads_for(len(y), IN_ONE_PIECE)))


def fold_losses(
    Z: FloatArray, y: FloatArray, weight: FloatArray | None, loss: Any, held_out_of: IntArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return ℓ'(z), s y ℓ'(z) turned, and Σ s ℓ(z), of folds' planes on the rows that each does not hold out."""
    slope, U, values = np.empty(Z.shape), np.empty(Z.shape[::-1]), np.empty(len(Z))
    loops, chosen = kernels_for(loss)
    loops.fold_losses(Z, y, weight, chosen, held_out_of, slope, U, values, threads_for(Z.size, IN_ONE_PIECE))
    return slope, U, values


def mixed_values(Z: FloatArray, weight: FloatArray | None, loss: Any, shares: FloatArray) -> FloatArray:
    """Σ s ℓ(z) of mixtures z of agreements, the rows of Z; `shares` has a row for each mixture."""
    out = np.empty(len(shares))
    loops, chosen = kernels_for(loss)
    loops.mixed_values(Z, weight, chosen, shares, out, threads_for(Z.shape[1], IN_ONE_PIECE))
    return out


def mixed_conjugates(
    U: FloatArray, weight: FloatArray | None, loss: Any, shares: FloatArray, safe: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Σ s ℓ*(−u) of mixtures u of dual shares, the rows of U, and how much of the safe ones made them feasible."""
    out, needs = np.empty(len(shares)), np.empty(len(shares))
    loops, chosen = kernels_for(loss)
    low, high = (-end for end in reversed(loss.slopes))
    workers = threads_for(U.shape[1], IN_ONE_PIECE)
    loops.mixed_conjugates(U, weight, chosen, shares, safe, low, high, needs, out, workers)
    return out, needs


def sprung_line_search(c: FloatArray, loss: Any, **line: Any) -> float:
    """Return the t that minimises t·linear + ½t²·quadratic + Σ (inner loss at z + t dz); see its twin."""
    loops, chosen = kernels_for(loss)
    return float(loops.sprung_line_search(c, chosen, **line, threads=threads_for(len(c), IN_ONE_PIECE)))


def simplex_masses(
    scores: FloatArray, codes: IntArray, change: FloatArray | None = None, t: float = 0.0, **springs: Any
) -> tuple[FloatArray, FloatArray, float]:
    """Return masses on springs at scores + t·change, of each example how many are not zero, and Σ masses · change."""
    masses, count = np.empty_like(scores), np.empty(len(scores))
    change = np.zeros_like(scores) if change is None else change
    into: dict[str, Any] = dict(masses=masses, count=count, threads=threads_for(scores.size, IN_ONE_PIECE))
    slope = kernels.simplex_masses(scores, change, t, codes, **springs, **into)
    return masses, count, float(slope)


def sprung_slopes(c: FloatArray, loss: Any, t: FloatArray, **line: Any) -> FloatArray:
    """−Σ a dz at z + t dz for each length t: how steeply the inner losses fall or rise there; see its twin."""
    slopes = np.empty(len(t))
    loops, chosen = kernels_for(loss)
    loops.sprung_slopes(c, chosen, **line, t=t, slopes=slopes, threads=threads_for(len(c), IN_ONE_PIECE))
    return slopes


def gram_descent(H: FloatArray, l1: float, accuracy: float, passes: int, q: FloatArray, w: FloatArray) -> float:
    """Minimise q·δ + ½ δᵀHδ + l1 ‖w + δ‖₁ by coordinate, changing `w` and `q`."""
    return float(kernels.gram_descent(H, l1, accuracy, passes, q, w))


def whole_packs(planes: int) -> int:
    """Return how many planes the kernels step side by side where so many are wanted: the next multiple of four.

    >>> whole_packs(10)
    12
    """
    return -(-planes // PACK) * PACK


def interleaved(length: int, planes: int) -> FloatArray:
    """Return room for so many planes, one in each column, so that no pack lies across two lines of the cache.

    >>> interleaved(3, 4).shape
    (3, 4)
    """
    line = 64
    room = np.empty(length * planes + line // 8)
    first = -room.ctypes.data % line // 8
    return room[first : first + length * planes].reshape(length, planes)
