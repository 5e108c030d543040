"""A choice of C: what the chosen one costs on held-out rows, and that no C of a range costs less.

The proof is the rows that each fold holds out, and for each fold planes and dual points at some values of C. What lies
between these follows (see `linsep.certificates.held_out`), and is worked out from the data each time.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Self

import numpy as np

from ... import losses
from ..._common import reading
from ..._common.types import FloatArray, IntArray
from ..._common.words import many
from ..._core import Rows
from ...arithmetic.enclosure import ULPS
from ...arithmetic.exact import Clock, sides
from ...objective.dual_point import DualPoint
from ...objective.examples import InMemory
from ..case import EXACT, Case
from ..counted_mistakes import costs, counts_mistakes, in_words
from ..enclosed_fold import EnclosedFold, fewest
from ..outcome import ClaimError, Verification
from ..proof import Proof

#: A proof of more numbers than this is not kept: 8 MB.
MOST_NUMBERS = 2**20
#: Cells that a check looks at before it gives up; a fit that finds what a check will prove gives up at half of them.
MOST_CELLS = 100_000
#: Costs that are no whole numbers are compared to within this share of all.
ROUNDED = 1e-12


@dataclass(frozen=True)
class Claimed:
    """What is claimed of a choice.

    Attributes
    ----------
    C, mistakes : float
        The choice, and what the planes of all folds at it cost on held-out rows.
    bound : float
        No C from the first to the last of `grid` costs less.
    grid : tuple of float
        Ascending.
    score : {"accuracy", "balanced_accuracy", "costs=1:5"}
        By which mistakes cost their weight, or those of both classes the same together, or as is said of each kind.
    encoded : bool
        Whether the columns of each fold were made by its own rows, so that they are not those of the model.
    """

    C: float
    mistakes: float
    bound: float
    grid: tuple[float, ...]
    score: str = "accuracy"
    encoded: bool = False

    def to_dict(self) -> dict[str, Any]:
        """Return it in terms of JSON."""
        return {**vars(self), "grid": list(self.grid)}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Read what `to_dict` wrote."""
        C, mistakes, bound = (reading.number(data, name) for name in ("C", "mistakes", "bound"))
        grid = tuple(reading.items(data, "grid", reading.number))
        found = cls(C, mistakes, bound, grid, reading.text(data, "score"), reading.flag(data, "encoded"))
        if not counts_mistakes(found.score) or len(grid) < 2 or list(grid) != sorted({*grid}) or not grid[0] > 0:
            raise ValueError("a choice of C is by a score of mistakes, from an ascending grid of positive C")
        if not grid[0] <= found.C <= grid[-1] or not 0 <= found.bound <= found.mistakes:
            raise ValueError("a choice of C lies on its grid, and costs no less than its bound")
        return found

    @property
    def summary(self) -> dict[str, float]:
        """The numbers, as a model says them."""
        return {"mistakes": self.mistakes, "bound": self.bound, "C_min": self.grid[0], "C_max": self.grid[-1]}


@dataclass(frozen=True, eq=False)
class StoredFold:
    """The stops of a fold: values of C, a plane for each (the intercept last), and dual points that do not follow."""

    Cs: FloatArray
    planes: FloatArray
    dual_points: Sequence[DualPoint] | None = None

    @property
    def numbers(self) -> int:
        """How many numbers it takes to write down."""
        return self.planes.size + sum(2 * len(one.rows) for one in self.dual_points or ())

    def to_dict(self) -> dict[str, Any]:
        """Return it in terms of JSON."""
        points = None if self.dual_points is None else [one.to_dict() for one in self.dual_points]
        return {"C": self.Cs.tolist(), "planes": reading.packed(self.planes, "<f8"), "dual_points": points}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Read what `to_dict` wrote."""
        Cs, flat = np.array(reading.items(data, "C", reading.number)), reading.unpacked(data, "planes", "<f8")
        points = reading.optional(data, "dual_points", reading.items, reading.section)
        if not len(Cs) or len(flat) % len(Cs) or not ((np.diff(Cs) > 0).all() and Cs[0] > 0):
            raise ValueError("the planes of a fold are as many as its ascending values of C")
        if points is not None and len(points) != len(Cs):
            raise ValueError("a fold has as many dual points as values of C, or none")
        found = None if points is None else [DualPoint.from_dict(one) for one in points]
        return cls(Cs, flat.reshape(len(Cs), -1).astype(np.float64), found)


@dataclass(frozen=True, eq=False)
class Choice(Proof):
    """What is claimed of a choice of C, and what one needs to prove it again; or why that is not there."""

    claimed: Claimed
    held_out: IntArray  # the fold that each row is held out of
    folds: Sequence[StoredFold]
    left_out: str = ""  # why there are neither, if there are not

    kind = "choice"
    of_any_model = True

    def without(self, why: str) -> Choice:
        """Return what is claimed, and why it is not proven."""
        return replace(self, held_out=np.empty(0, dtype=np.int64), folds=(), left_out=why)

    def to_dict(self) -> dict[str, Any]:
        """Return it in terms of JSON."""
        said = self.claimed.to_dict() | {"left_out": self.left_out}
        if self.left_out:
            return said
        return said | {
            "held_out": reading.packed(self.held_out, "<u2"),
            "folds": [one.to_dict() for one in self.folds],
        }

    @classmethod
    def from_dict(cls, data: Any, planes: int) -> Self:
        """Read what `to_dict` wrote."""
        claimed, left_out = Claimed.from_dict(data), reading.text(data, "left_out")
        if left_out:
            return cls(claimed, np.empty(0, dtype=np.int64), (), left_out)
        held_out = reading.unpacked(data, "held_out", "<u2").astype(np.int64)
        folds = [StoredFold.from_dict(one) for one in reading.items(data, "folds", reading.section)]
        return cls(claimed, held_out, folds)

    def sentences(self, model: Any) -> list[str]:
        """Return what is claimed, for a report."""
        said = self._sentence(many(self.claimed.mistakes, "mistake"))
        return [
            f"{said[0].upper()}{said[1:]}." + (f" That cannot be checked: {self.left_out}." if self.left_out else "")
        ]

    def says_optimal(self, model: Any) -> bool | None:
        """Return nothing: it is about the choice, not about the planes."""
        return None

    def _sentence(self, made: str) -> str:
        low, high = self.claimed.grid[0], self.claimed.grid[-1]
        kind = in_words(self.claimed.score)
        encoded = ", each on columns made by its own rows" if self.claimed.encoded else ""
        folds = f" in {len(self.folds)} folds{encoded}" if self.folds else ""
        return (
            f"C={self.claimed.C:g} makes {made}{kind} on held-out rows{folds}; no C between {low:g} and {high:g} makes "
            f"fewer than {_rounded_down(self.claimed.bound)}"
        )

    def check(self, case: Case) -> Iterator[Verification]:
        """Yield whether the choice makes so many mistakes, and no C fewer."""
        self._agrees(case)
        why = self.left_out
        if self.claimed.encoded and case.split is None:
            why = why or "each of its folds has columns made by its own rows: linsep verify reads the file they are in"
        if why:
            yield Verification(True, f"the choice of C was not checked: {why}", proven=True, unchecked=("proof_",))
            return
        folds, clock = self._folds(case), Clock(case.time_limit)
        reason = self._sentence(self._made(folds, case))
        lowest = fewest(folds, list(pairwise(self.claimed.grid)), self.claimed.bound, MOST_CELLS, clock)
        if not lowest >= self.claimed.bound:
            raise ClaimError(f"no C makes fewer than {self.claimed.bound:g} mistakes is claimed, {lowest:g} are proven")
        checked = (f"the mistakes on held-out rows of every C, from the planes of {len(folds)} folds and balls around",)
        loss = case.statement.loss
        own = () if losses.is_ours(loss) else (f"the formulas of {loss!r}, its third derivative among them",)
        trusted = "IEEE arithmetic", f"exp and log to within {ULPS // 2} units in the last place", EXACT, *own
        rest = ("choice_.scores",) if hasattr(case.model, "choice_") else ()
        cut = f"; that is by scores above 0, not above {case.threshold:g}" if case.threshold else ""
        known = dict(checked=checked, trusted=trusted, unchecked=rest, covered=("C_", "choice_", "proof_"))
        yield Verification(True, reason + cut, proven=True, **known)  # type: ignore[arg-type]

    def _agrees(self, case: Case) -> None:
        """Raise unless it is about such a model, and the model says the same of its choice."""
        said, C = self.claimed, case.statement.C
        if len(case.classes) != 2 or not case.statement.in_force[0].l2 > 0:
            raise ClaimError("a choice of C is proven for two classes, and for a penalty with a share of L2")
        if said.C != C:
            raise ClaimError(f"the proof of the choice is of C={said.C:g}, the model's C is {C:g}")
        proof, choice = getattr(case.model, "proof_", None), getattr(case.model, "choice_", None)
        if proof is not None and [getattr(proof, one, None) for one in ("C", *said.summary)] != [
            said.C,
            *said.summary.values(),
        ]:
            raise ClaimError("proof_ is not what the proof of the choice claims")
        if choice is None:
            return
        if not isinstance(choice, Mapping) or choice.get("proof") != said.summary:
            raise ClaimError("choice_ does not say what the proof of the choice claims")
        numbers = said.C, many(said.mistakes, "mistake"), said.grid[0], said.grid[-1], said.bound
        words = "C={:g} makes {} on held-out rows; no C between {:g} and {:g} makes fewer than {:g}".format(*numbers)
        if choice.get("bound", words) != words or (isinstance(choice.get("C"), float) and choice["C"] != said.C):
            raise ClaimError("choice_ says another C, or in words another bound, than the proof of the choice")
        if (choice.get("score") or "accuracy") != said.score or choice.get("rule") != "best":
            raise ClaimError("choice_ names another score or rule than the proof of the choice")

    def _folds(self, case: Case) -> list[EnclosedFold]:
        """Return the folds on these data, with the stops that are stored."""
        n, count = case.examples.X.shape[0], len(self.folds)
        parts = np.bincount(self.held_out, minlength=count)
        if len(self.held_out) != n or count < 2 or len(parts) != count or not parts.all():
            raise ClaimError(f"the folds of the choice are no partition of the {n:,} rows")
        made = []
        for number, stored in enumerate(self.folds):
            try:
                made.append(self._fold(case, number, stored))
            except ClaimError as failure:
                raise ClaimError(f"fold {number + 1} of the choice: {failure}") from failure
        return made

    def _fold(self, case: Case, number: int, stored: StoredFold) -> EnclosedFold:
        held = self.held_out == number
        train, test = np.flatnonzero(~held), np.flatnonzero(held)
        X, codes, s = case.examples.X, case.examples.codes(case.classes), case.examples.sample_weight
        columns = case.split(train, test) if self.claimed.encoded and case.split else (X[train], X[test])
        rows = [Rows(one.astype(np.float64, copy=False)) for one in columns]
        if stored.planes.shape[1] != rows[0].d + 1 or not np.isfinite(stored.planes).all():
            raise ClaimError(f"{rows[0].d} columns need planes of as many finite coefficients and an intercept")
        if (len(stored.Cs) and stored.Cs[0] > self.claimed.grid[0]) or stored.Cs[-1] < self.claimed.grid[-1]:
            raise ClaimError("its planes do not reach from the first to the last C")
        if self.claimed.C not in stored.Cs:
            raise ClaimError(f"it has no plane at C={self.claimed.C:g}")
        if not case.statement.fit_intercept and stored.planes[:, -1].any():
            raise ClaimError("its planes have an intercept, the model has none")
        if len(np.unique(codes[train])) < 2:
            raise ClaimError("it learns from one class only")
        given = None if s is None else s[train]
        weight = given
        if case.statement.class_weight is not None:
            by_class = case.statement.class_weights(codes[train], list(case.classes), given)[codes[train]]
            weight = by_class if given is None else given * by_class
        cost = costs(codes[test], None if s is None else s[test], self.claimed.score)
        objective = case.statement.on(InMemory(rows[0], codes[train], weight))
        fold = EnclosedFold(objective, rows[1], np.where(codes[test] == 1, 1.0, -1.0), cost)
        points = stored.dual_points or [DualPoint()] * len(stored.Cs)
        for C, plane, point in zip(stored.Cs.tolist(), stored.planes, points, strict=True):
            fold.store(C, np.ascontiguousarray(plane[:-1]), float(plane[-1]), point)
        return fold

    def _made(self, folds: list[EnclosedFold], case: Case) -> str:
        """Return in words what the chosen C makes; raise where its planes do not make as many as is claimed."""
        made = sum(_mistakes(fold, self.claimed.C, Clock(case.time_limit)) for fold in folds)
        total = sum(float(fold.weight.sum()) for fold in folds)
        if not abs(made - self.claimed.mistakes) <= ROUNDED * total:
            raise ClaimError(f"{self.claimed.mistakes:g} mistakes are claimed of the choice, its planes make {made:g}")
        counts = [fold.count_at(self.claimed.C) for fold in folds]
        if not any(count.open for count in counts):
            return many(self.claimed.mistakes, "mistake")
        low = sum(count.mistakes for count in counts)
        return f"between {low:g} and {many(low + sum(count.open for count in counts), 'mistake')}"


def prove(
    case: Case, claimed: Claimed, held_out: IntArray, folds: Sequence[StoredFold], cells: int = MOST_CELLS
) -> Choice:
    """Return the proof of a choice, with the bound and the mistakes that can be shown by it in so many cells."""
    proof = Choice(claimed, held_out, folds)
    size = sum(fold.numbers for fold in folds)
    if size > MOST_NUMBERS:
        return proof.without(f"its planes have {size:,} numbers, and no more than {MOST_NUMBERS:,} are kept")
    made, clock = proof._folds(case), Clock(None)
    mistakes = sum(_mistakes(fold, claimed.C, clock) for fold in made)
    shown = fewest(made, list(pairwise(claimed.grid)), claimed.bound, min(cells, MOST_CELLS // 2), clock)
    lowest = min(shown, mistakes, claimed.bound)
    total = sum(float(fold.weight.sum()) for fold in made)
    whole = all((fold.weight == np.rint(fold.weight)).all() for fold in made)
    bound = lowest if whole else max(lowest - ROUNDED * total, 0.0)  # whose sum another machine may round otherwise
    return replace(proof, claimed=replace(claimed, mistakes=mistakes, bound=bound))


def stored_fold(Cs: Sequence[float], planes: FloatArray, dual_points: Sequence[DualPoint] | None) -> StoredFold:
    """Return the stops of a fold; dual points that follow from their planes need not be there."""
    return StoredFold(np.array(Cs, dtype=np.float64), np.array(planes, dtype=np.float64), dual_points)


def partition(folds: Sequence[tuple[Any, Any]], n: int) -> IntArray | None:
    """Return the fold that each row is held out of; None where they are not each held out once, or left out of a fit.

    Examples
    --------
    >>> partition([([2, 3], [0, 1]), ([0, 1], [2, 3])], 4)
    array([0, 0, 1, 1])
    >>> partition([([2], [0, 1]), ([0, 1], [2, 3])], 4) is None
    True
    """
    found = np.full(n, -1, dtype=np.int64)
    for number, (train, test) in enumerate(folds):
        if len(np.union1d(train, test)) != n or len(train) + len(test) != n or (found[test] >= 0).any():
            return None
        found[test] = number
    return None if (found < 0).any() or len(folds) > np.iinfo(np.uint16).max else found


def _mistakes(fold: EnclosedFold, C: float, clock: Clock) -> float:
    """Return the cost of the plane that is stored at C, by the exact signs of its scores."""
    stop = fold.point(C).stops[0]
    side = sides(fold.held_out.X, fold.signs, np.append(stop.w, stop.b), clock=clock)
    return float(fold.weight[np.where(fold.signs > 0, side <= 0, side < 0)].sum())


def _rounded_down(bound: float) -> str:
    text = f"{bound:.6g}"
    return text if float(text) <= bound else repr(bound)
