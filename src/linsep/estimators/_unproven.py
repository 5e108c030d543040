"""What a fit warns of: that there is no optimum, that it did not converge, or why no more is proven."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from .._common.complaints import warn
from .._common.words import many
from ..certificates.outcome import beside
from ..objective.curvature import MANY_FEATURES
from ._certificate import Certified

if TYPE_CHECKING:
    from ..objective.objective import Objective
    from ..solvers import Result

#: Squares that are no more than this share of those of no plane at all are as good as zero.
EXACT = 1e-16
#: The message of a run that its observer ended.
STOPPED_BY_OBSERVER = "stopped by a callback"
#: What to say of a loss that is zero at z = 0.
NOTHING_IS_BEST = (
    "w = 0 minimises this risk, since the loss is 0 at z = 0, and tells no class from another; the plane reported is "
    "the best that was met on the way. Use linsep.Perceptron, or a loss with a margin such as 'hinge'"
)


class Warnings(Certified):
    """The words for a fit that has not reached its goal."""

    def _warn_of_ignored(self) -> None:
        """Say which parameters have no effect beside others."""

    def _warn(self, objective: Objective, results: list[Result]) -> None:
        """Say what went wrong and what to do; that there is nothing to be found, or a step size, comes first."""
        if self._no_optimum is not None:
            has_limit = "quasi" in self._no_optimum and len(self.classes_) == 2
            limit = " linsep.estimates has the limit, and the supremum of the likelihood." if has_limit else ""
            warn(f"{type(self).__name__}: {self._no_optimum}.{limit}", ConvergenceWarning)
            return
        if self.converged_ or results[0].message == STOPPED_BY_OBSERVER:
            return
        failed = [result for result in results if not result.converged]
        advice = next((result.advice for result in failed if result.advice), "")
        if failed:
            apart = self._gap() is not None and self._tol() < self._certain_gap() and not self._own_rule
            how_far = f". {self._how_far()}" if apart else ""
            from ..solvers.run import AS_EXACT_AS_CAN_BE

            ended = advice or failed[0].message
            remedy = "; raise tol" if AS_EXACT_AS_CAN_BE in ended else self._remedy(objective, bool(advice))
            message = f"did not converge: {ended}{remedy}{how_far}"
        else:
            message = f"has not reached its goal. {self._how_far()}: {self._why_unproven(objective, results)}"
        warn(f"{type(self).__name__} {message}.", ConvergenceWarning)

    def _say(self, results: list[Result]) -> None:
        """Print how the fit ended, if asked to."""
        if getattr(self, "verbose", 0):
            ended = "; ".join(dict.fromkeys(result.message for result in results))
            solver = results[0].history.solver
            print(f"{type(self).__name__}: {solver}, {many(self._iterations(), 'iteration')}: {ended}", file=sys.stderr)

    def _how_far(self) -> str:
        gap, tol = self._certain_gap(), self._tol()
        if not np.isfinite(gap):
            return f"It is not proven how far from the optimum it is, hence not tol={tol:g}"
        return f"It is proven to be within {beside(gap, tol)} of the optimum only, not tol={tol:g}"

    def _why_unproven(self, objective: Objective, results: list[Result]) -> str:
        """Say why no more is proven, and what to do about it."""
        from ..solvers import helped_by

        if self._nothing_is_best():
            return NOTHING_IS_BEST
        if self._statement().penalised:
            return self._why_unproven_with_penalty(results)
        redundancy = self._redundancy
        if self._fits_exactly():
            return "the scores are the labels but for rounding, and of an objective that small no share can be proven"
        if not np.isfinite(objective.head.self_concordance):
            return f"without a penalty nothing more can be proven of {self.objective_}; use a finite C"
        if objective.free > MANY_FEATURES:
            return f"without a penalty nothing is proven of more than {MANY_FEATURES:,} coefficients; use a finite C"
        if redundancy is not None and not redundancy.looked:
            return "with fewer rows than columns and no penalty many planes do the same; use a finite C"
        if redundancy is not None and redundancy.nearly:
            near = min(redundancy.nearly, key=lambda one: one.left).in_words(self._feature_names())
            return f"{near}; leave that column out, give more digits, or use a finite C"
        if self._loss().jumps:
            return "the rows with a loss do not hold the plane in every direction, or lie at z = 1; use a finite C"
        if "polishing" not in helped_by(results[0].history.solver):
            return self._why_unproven_with_penalty(results)
        return "these numbers leave too few digits for it; scale the columns, or use a finite C"

    def _why_unproven_with_penalty(self, results: list[Result]) -> str:
        solver = results[0].history.solver
        if self._solver() is not None:
            return f"solver {solver!r} stopped by its own rule; leave it more iterations, or use solver='auto'"
        if results[0].proof is None:
            smooth = "a smooth loss such as squared_hinge instead of hinge, or penalty='l2', is solved to the end"
            return f"no solver proves more of {self.objective_}; {smooth}"
        return "these numbers leave too few digits for it; scale the columns, or raise tol"

    def _nothing_is_best(self) -> bool:
        """Whether no plane at all has no loss, as with the perceptron's: then there is nothing to come near to."""
        return float(self._loss().value(np.zeros(1))[0]) == 0.0

    def _fits_exactly(self) -> bool:
        """Whether a quadratic without a penalty is all but zero, of which no share can be shown to be small."""
        gap = self._gap()
        if not (self._loss().quadratic and not self._statement().penalised and gap is not None):
            return False
        return all(claim.primal <= EXACT * claim.data.weight for claim in gap.each)

    def _remedy(self, objective: Objective, has_advice: bool) -> str:
        if self._nothing_is_best():
            return f"; {NOTHING_IS_BEST}"
        if has_advice:
            return ""
        has_rules = hasattr(self._solver(), "stopping")
        more = ", scale the features, or choose another stopping rule" if has_rules else ", or scale the features"
        return f"; raise max_iter{more}"
