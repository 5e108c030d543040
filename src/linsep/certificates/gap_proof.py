"""What certificates of a duality gap share, of one plane or of several: their numbers, and the steps of a check."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace
from typing import Any, Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..arithmetic.enclosure import ULPS, Interval, out_of_range, relative_gap
from ..objective.duality import share
from ..objective.statement import Statement
from .outcome import ClaimError, Verification, verdict_in_words, within
from .training_data import TrainingData

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


class HasFormula(Protocol):
    """A problem of any kind."""

    @property
    def formula(self) -> str:
        """The objective in one line."""
        ...


P = TypeVar("P", bound=HasFormula)

__all__ = ["CLOSE", "USUAL_TOL", "GapCheck", "GapClaim", "GapProof"]

#: The relative gap that counts as proof where a model has no `tol` of its own.
USUAL_TOL = 1e-4
#: Two numbers are the same to a reader where they differ by less than this share.
CLOSE = 1e-6
#: Rounding of more than this share of an objective is more than an estimate of it is good for.
BLURRED = 1e-8
#: How many times what a fit thinks its numbers are off by they may be off.
GENEROUS = 16.0


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
        """The relative gap that counts as proof."""
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
        """The relative gap that counts as proof."""
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
    """One verification: a certificate against data. Subclasses say what their planes and problems are.

    The model says what is minimised, its classes and `tol`; the claim has to agree, and is a hint for the rest.

    Parameters
    ----------
    claim
        What the fit left behind.
    proven : bool
        Whether the certificate says that it proves its `tol`.
    statement, classes, tol
        What the model says now; `classes` is None for a certificate that left its model behind, whose own classes and
        `tol` count then, and `tol` is None for a model that has none.
    """

    planes = "plane"
    are = "this plane"

    def __init__(
        self,
        claim: GapClaim,
        proven: bool,
        statement: Statement,
        classes: tuple[Any, ...] | None = None,
        tol: float | None = None,
    ) -> None:
        self._claimed, self._proven, self.statement = claim, proven, statement
        self._of_a_model, self._model_tol = classes is not None, tol
        self.classes = claim.classes if classes is None else classes
        self.tol = tol if tol is not None else USUAL_TOL if self._of_a_model else claim.tol
        self.checked: list[str] = []
        self.unchecked = ["certificate_.rounding"]
        self.primal: Interval | None = None
        self.dual: Interval | None = None

    # -- what a subclass says -----------------------------------------------------------------------------------------

    @abstractmethod
    def same_planes(self, d: int) -> None:
        """Raise unless the planes are those that were certified, for these classes, and fit data with d columns."""

    @abstractmethod
    def problem(self, examples: TrainingData, s: FloatArray | None) -> P:
        """Return what is minimised; raise where the data are not those of the fit."""

    @abstractmethod
    def enclose(self, problem: P) -> tuple[Interval, Interval, str]:
        """Return between what P and the best bound on it lie, and where the bound is from."""

    @abstractmethod
    def slack(self, problem: P, primal: Interval, dual: Interval) -> float:
        """Return by how much a fit's own numbers may be off."""

    def trusted(self) -> tuple[str, ...]:
        """Return what is taken on trust."""
        return "IEEE arithmetic", f"exp and log to within {ULPS // 2} units in the last place"

    # -- the steps ----------------------------------------------------------------------------------------------------

    def run(self, examples: TrainingData) -> Verification:
        """Return the outcome."""
        n, d = examples.X.shape
        try:
            self._same_model(d)
            problem = self.problem(examples, examples.weights(self.statement, self.classes))
            self.checked.append(f"the {n} examples are those of the fit, as far as their lengths tell")
            reason = self._numbers(problem, n)
        except ClaimError as failure:
            return self._outcome(False, str(failure))
        return self._outcome(True, reason)

    def _outcome(self, ok: bool, reason: str) -> Verification:
        found = Verification(ok, reason, self.primal, self.dual, False, tuple(self.checked), self.trusted())
        if not ok:
            return found
        return replace(found, proven=found.relative_gap <= self.tol, unchecked=tuple(self.unchecked))

    def _same_model(self, d: int) -> None:
        """The planes, the classes, the objective and `tol` are those that were certified."""
        claim = self._claimed
        if self.classes != claim.classes:
            raise ClaimError(f"the model's classes are not those that were certified, {list(claim.classes)}")
        self.same_planes(d)
        if not self.statement.same_as(claim.statement):
            raise ClaimError("the model's parameters are not those that were certified: fit it again")
        if not self.tol == claim.tol:
            raise ClaimError(f"the proof is of tol={claim.tol:g}, the model's tol is {self.tol:g}: fit it again")
        self.checked.append(f"the {self.planes} and the parameters are those that were certified")

    def _numbers(self, problem: P, n: int) -> str:
        """The numbers claimed are those found; return the verdict in words."""
        primal, dual, how = self.enclose(problem)
        self.primal, self.dual = primal, dual
        self.checked.append(f"the objective at the {self.planes}, from every example")
        self.checked.append(f"the lower bound, from {how}")
        # What a fit expects of its own rounding is an estimate, and nothing that is proven here rests on it.
        slack = GENEROUS * self.slack(problem, primal, dual)
        if not np.isfinite(slack):  # a loss of the user's own may not say how steep or bent it is
            slack = 2 * primal.width + 1e-9 * abs(primal.high)
        for name, claimed, found, low in (
            ("primal", self._claimed.primal, primal, primal.low),
            ("dual", self._claimed.dual, dual, -np.inf),  # a bound that is weaker than it has to be is true
        ):
            # Where a fit says that rounding may have made much of its numbers, and proves nothing, it claims nothing.
            claims_it = self._proven or self._claimed.rounding <= BLURRED * abs(primal.low)
            if claims_it and not low - slack <= claimed <= found.high + slack:
                called = "objective" if name == "primal" else "lower bound"
                raise ClaimError(f"the {called} claimed is {claimed:.12g}, the data give {found.high:.12g}")
            if not abs(claimed - found.high) <= CLOSE * abs(found.high) < np.inf:
                self.unchecked.append(f"certificate_.{name}")
        gap = relative_gap(primal, dual)
        if self._proven and not gap <= self.tol:
            raise ClaimError(f"tol={self.tol:g} is claimed, the data prove {gap:.1e}")
        objective = f"the objective {problem.formula} of {self.are} on these {n} rows"
        if unknown := out_of_range(primal, dual):
            return f"it is not proven how near the optimum {objective} lies: {unknown}"
        return f"{objective} lies within {gap:.1e} of the optimum, {self._beside_tol(gap)}"

    def _beside_tol(self, relative_gap: float) -> str:
        """Return whether that is as near as `tol`, and who says what that is."""
        tol = f"tol={self.tol:g}"
        if not self._of_a_model:
            named = f"{tol} that the certificate names"
        elif self._model_tol is None:
            named = f"the usual {tol}"
        else:
            named = f"{tol} that the model names"
        return f"which is within {named}" if relative_gap <= self.tol else f"more than {named}"
