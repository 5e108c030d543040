"""What certificates of a duality gap share, of one plane or of several: their numbers, and the steps of a check."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .checking import ClaimError, Verification, codes_of, read_data, verdict_in_words, within
from .duality import share
from .enclosure import ULPS, Interval, out_of_range, relative_gap
from .statement import Statement

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

P = TypeVar("P")

__all__ = ["GapCheck", "GapClaim", "GapProof"]


class GapClaim(Protocol):
    """What a fit leaves behind, whatever else that is."""

    @property
    def statement(self) -> Statement:
        """What was minimised."""
        ...

    @property
    def classes(self) -> tuple[Any, ...]:
        """All labels."""
        ...

    @property
    def primal(self) -> float:
        """The objective at the fitted planes."""
        ...

    @property
    def dual(self) -> float:
        """What no planes' objective lies below."""
        ...

    @property
    def rounding(self) -> float:
        """What the fit's own arithmetic may have added to the gap."""
        ...

    @property
    def tol(self) -> float:
        """The relative gap that was asked for."""
        ...


class GapProof:
    """What a claim says of the gap; `proven` allows for rounding."""

    @property
    def _claimed(self) -> GapClaim:
        raise TypeError(f"{type(self).__name__} does not say its claim")

    @property
    def primal(self) -> float:
        """P, the objective at the fitted plane or planes."""
        return self._claimed.primal

    @property
    def dual(self) -> float:
        """What no plane's objective lies below."""
        return self._claimed.dual

    @property
    def tol(self) -> float:
        """The relative gap that was asked for."""
        return self._claimed.tol

    @property
    def rounding(self) -> float:
        """What the fit's own arithmetic may have added to the gap."""
        return self._claimed.rounding

    @property
    def gap(self) -> float:
        """How far above the optimum the objective can be."""
        return max(self.primal - self.dual, 0.0)

    @property
    def relative_gap(self) -> float:
        """The gap as a share of the objective."""
        return share(self.gap, self.primal)

    @property
    def proven(self) -> bool:
        """Whether the relative gap is at most `tol`, with rounding allowed for."""
        if self.gap == self.rounding == 0.0:
            return True
        return share(self.gap + self.rounding, max(abs(self.primal) - self.rounding, 0.0)) <= self.tol

    def __str__(self) -> str:
        return f"{within(self.primal, self.dual, self.relative_gap)}{verdict_in_words(self.proven, self.tol)}."

    __repr__ = __str__


class GapCheck(ABC, Generic[P]):
    """One verification: a certificate's claims against data. Subclasses say what their planes and problems are.

    Parameters
    ----------
    claim
        What the fit left behind.
    proven : bool
        Whether the certificate says that it proves its `tol`.
    statement, classes
        What the model says now that it minimises, and its labels (None where it has none of its own).
    """

    planes = "plane"
    are = "is"

    def __init__(
        self, claim: GapClaim, proven: bool, statement: Statement, classes: tuple[Any, ...] | None = None
    ) -> None:
        self._claimed, self._proven, self._statement, self._classes = claim, proven, statement, classes
        self.checked: list[str] = []
        self.primal: Interval | None = None
        self.dual: Interval | None = None

    # -- what a subclass says -----------------------------------------------------------------------------------------

    @abstractmethod
    def same_planes(self, d: int) -> None:
        """Raise unless the planes are those that were certified, and fit data with d columns."""

    @abstractmethod
    def problem(self, X: Any, codes: IntArray, s: FloatArray | None) -> P:
        """Return what was minimised; raise where the data are not those of the fit."""

    @abstractmethod
    def enclose(self, problem: P) -> tuple[Interval, Interval, str]:
        """Return between what P and the best bound on it lie, and where the bound is from."""

    @abstractmethod
    def slack(self, problem: P, primal: Interval, dual: Interval) -> float:
        """Return by how much a fit's own numbers may be off."""

    @abstractmethod
    def may_prove_more(self, problem: P) -> bool:
        """Whether the data may prove more than the fit took the time for."""

    def trusted(self) -> tuple[str, ...]:
        """Return what is taken on trust."""
        return "IEEE arithmetic", f"exp and log to within {ULPS // 2} units in the last place"

    # -- the steps ----------------------------------------------------------------------------------------------------

    def run(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None) -> Verification:
        """Return the outcome."""
        X, labels, s = read_data(X, y, sample_weight)
        try:
            self._same_model(X.shape[1])
            problem = self._weighed(X, labels, s)
            reason = self._numbers(problem)
        except ClaimError as failure:
            return self._outcome(False, str(failure))
        return self._outcome(True, reason)

    def _outcome(self, ok: bool, reason: str) -> Verification:
        found = Verification(ok, reason, self.primal, self.dual, False, tuple(self.checked), self.trusted())
        return replace(found, proven=ok and found.relative_gap <= self._claimed.tol)

    def _same_model(self, d: int) -> None:
        """The planes and the objective are those that were certified."""
        self.same_planes(d)
        if not self._statement.same_as(self._claimed.statement):
            raise ClaimError("the model's parameters are not those that were certified: fit it again")
        if self._classes not in (None, self._claimed.classes):
            raise ClaimError(f"the model's classes are not those that were certified, {list(self._claimed.classes)}")
        self.checked.append(f"the {self.planes} and the parameters are those that were certified")

    def _weighed(self, X: Any, labels: NDArray[Any], s: FloatArray | None) -> P:
        """Encode labels and weigh examples anew; the data are those of the fit."""
        statement, classes = self._claimed.statement, self._claimed.classes
        codes = codes_of(labels, classes)
        if statement.class_weight is not None:
            by_class = _class_weights(statement, codes, classes, s)
            s = by_class if s is None else s * by_class
        problem = self.problem(X, codes, s)
        self.checked.append(f"the {X.shape[0]} examples are those of the fit, as far as their lengths tell")
        return problem

    def _numbers(self, problem: P) -> str:
        """The numbers claimed are those found; return the verdict in words."""
        primal, dual, how = self.enclose(problem)
        self.primal, self.dual = primal, dual
        self.checked.append(f"the objective at the {self.planes}, from every example")
        self.checked.append(f"the lower bound, from {how}")
        slack = self.slack(problem, primal, dual)
        least = -np.inf if self.may_prove_more(problem) else dual.low
        for name, claimed, low, high in (
            ("objective", self._claimed.primal, primal.low, primal.high),
            ("lower bound", self._claimed.dual, least, dual.high),
        ):
            if not low - slack <= claimed <= high + slack:
                raise ClaimError(f"the {name} claimed is {claimed:.12g}, the data give {high:.12g}")
        tol, gap = self._claimed.tol, relative_gap(primal, dual)
        if self._proven and not gap <= tol:
            raise ClaimError(f"tol={tol:g} is claimed, the data prove {gap:.1e}")
        if unknown := out_of_range(primal, dual):
            return f"it is not proven how near the optimum the {self.planes} {self.are}: {unknown}"
        asked = "as was asked for" if gap <= tol else f"not tol={tol:g}, and it does not claim to be"
        return f"the {self.planes} {self.are} within {gap:.1e} of the optimum, {asked}"


def _class_weights(statement: Statement, codes: IntArray, classes: Sequence[Any], s: FloatArray | None) -> FloatArray:
    """Return the weight that each example has by its class."""
    return np.asarray(statement.class_weights(codes, list(classes), s)[codes])
