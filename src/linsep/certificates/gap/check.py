"""The check of a gap: a certificate against data, with every rounding accounted for."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ... import losses
from ...arithmetic.enclosure import ULPS, Interval, out_of_range, relative_gap
from ...objective.duality import Bound
from ...objective.enclosure import enclosed_bound
from ...objective.objective import Objective
from ..outcome import ClaimError, Verification, beside
from ..training_data import TrainingData
from .rounding import rounding

if TYPE_CHECKING:
    from .certificate import Certificate

#: The relative gap that counts as proof where a model has no `tol` of its own.
USUAL_TOL = 1e-4
#: Two numbers are the same to a reader where they differ by less than this share.
CLOSE = 1e-6
#: Rounding of more than this share of an objective is more than an estimate of it is good for.
BLURRED = 1e-8
#: How many times what a fit thinks its numbers are off by they may be off.
GENEROUS = 16.0


class GapCheck:
    """One verification: a certificate against data.

    The model says what is minimised, its classes and `tol`; the claim has to agree, and is a hint for the rest. A
    certificate that left its model behind has no classes, and its claim's own count, and its `tol`.
    """

    def __init__(self, certificate: Certificate) -> None:
        claim, classes, tol = certificate.claim, certificate.classes, certificate.model_tol
        self._claimed, self._proven, self.statement = claim, certificate.proven, certificate.statement
        self._of_a_model, self._model_tol = classes is not None, tol
        self.classes = claim.classes if classes is None else classes
        self.tol = tol if tol is not None else USUAL_TOL if self._of_a_model else claim.tol
        self.w = np.ascontiguousarray(np.asarray(certificate.coef, dtype=np.float64).T)
        self.b = np.asarray(certificate.intercept, dtype=np.float64) if claim.at_once else float(certificate.intercept)
        # Of two classes it is the second, else as the model says or, alone, the claim; none of all planes at once.
        said = claim.positive if certificate.positive is None else certificate.positive
        self.positive = None if claim.at_once else 1 if len(self.classes) == 2 else said
        self.planes = "planes" if claim.at_once else "plane"
        self.checked: list[str] = []
        self.unchecked = ["certificate_.rounding"]
        self.primal: Interval | None = None
        self.dual: Interval | None = None

    def run(self, examples: TrainingData) -> Verification:
        """Return the outcome."""
        n, d = examples.shape
        try:
            self._same_model(d)
            problem = examples.problem(self.statement, self.classes, self.positive)
            self.checked.append(self._claimed.check_data(problem))
            reason = self._numbers(problem, n)
        except ClaimError as failure:
            return self._outcome(False, str(failure))
        return self._outcome(True, reason)

    def _outcome(self, ok: bool, reason: str) -> Verification:
        found = Verification(ok, reason, self.primal, self.dual, False, tuple(self.checked), self._trusted())
        if not ok:
            return found
        return replace(found, proven=found.relative_gap <= self.tol, unchecked=tuple(self.unchecked))

    def _same_model(self, d: int) -> None:
        """The planes, the classes, the objective and `tol` are those that were certified."""
        claim, K = self._claimed, len(self.classes)
        shapes = ((d, K), (K,)) if claim.at_once else ((d,), ())
        if (self.w.shape, np.shape(self.b)) != shapes:
            have = f"planes have {len(self.w)} weights each" if claim.at_once else f"plane has {self.w.size} weights"
            raise ClaimError(f"the {have}, the data have {d} columns")
        claim.check_model(self.statement, self.classes, self.positive, self.w.T, self.b)
        if not self.tol == claim.tol:
            raise ClaimError(f"the proof is of tol={claim.tol:g}, the model's tol is {self.tol:g}: fit it again")
        self.checked.append(f"the {self.planes} and the parameters are those that were certified")

    def _enclose(self, problem: Objective) -> tuple[Interval, Interval, str]:
        """Return between what P and the best bound on it lie, and where the bound is from."""
        primal, dual = enclosed_bound(problem, self.w, self.b, self._claimed.dual_point, tol=self.tol)
        balance = "each class's balance" if self._claimed.at_once else "Σ αᵢyᵢ = 0"
        exact = f", with {balance} in whole numbers" if problem.fit_intercept else ""
        how = f"a dual point that is exactly feasible{exact}"
        how = how if problem.penalised else f"the curvature at the {self.planes}"
        return primal, dual, how if dual.low else "losses being at least 0"

    def _trusted(self) -> tuple[str, ...]:
        """Return what is taken on trust: also the formulas of a loss of the user's own."""
        loss = self.statement.loss
        own = () if losses.is_ours(loss) else (f"the formulas of {loss!r}, its conjugate among them",)
        return "IEEE arithmetic", f"exp and log to within {ULPS // 2} units in the last place", *own

    def _numbers(self, problem: Objective, n: int) -> str:
        """The numbers claimed are those found; return the verdict in words."""
        primal, dual, how = self._enclose(problem)
        self.primal, self.dual = primal, dual
        self.checked.append(f"the objective at the {self.planes}, from every example")
        self.checked.append(f"the lower bound, from {how}")
        # What a fit expects of its own rounding is an estimate, and nothing that is proven here rests on it.
        bound = Bound(primal.high, min(dual.low, self._claimed.dual))
        slack = GENEROUS * rounding(problem, self.w, self.b, bound)
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
            raise ClaimError(f"tol={self.tol:g} is claimed, the data prove {beside(gap, self.tol)}")
        these = "these planes" if self._claimed.at_once else "this plane"
        objective = f"the objective {problem.formula} of {these} on these {n:,} rows"
        if unknown := out_of_range(primal, dual):
            return f"it is not proven how near the optimum {objective} lies: {unknown}"
        return f"{objective} lies within {beside(gap, self.tol)} of the optimum, {self._beside_tol(gap)}"

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
