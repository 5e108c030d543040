"""For the time being: one way to solve, polish and certify for each kind of objective, until each room has one."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ..certificates.gap.rounding import rounding
from ..certificates.kinds.gap import Gap
from ..objective.duality import share
from ..objective.objective import Objective

if TYPE_CHECKING:
    from ..solvers import Result


@dataclass(frozen=True)
class AllAtOnce:
    """A solver of all classes at once, with the result of any."""

    method: Any
    helped_by = frozenset({"centring", "scaling", "polishing"})

    @property
    def name(self) -> str:
        return str(self.method.name)

    def solve(self, problem: Any, *, start: Any = None, seed: int = 0, observer: Any = None) -> Result:
        from ..solvers import Result, Start

        begin = None if start is None else (start.w, start.b)
        found = self.method.solve(problem, start=begin, observer=observer)
        ended = found.n_iter, found.converged, found.message, found.history
        proven = dict(proof=found.proof, redundancy=found.redundancy, enclosed=found.enclosed)
        last = Start(found.W, found.b)
        return Result(found.W, found.b, *ended, last=last, interrupted=found.interrupted, **proven)


def polish(result: Any, objective: Objective, tol: float) -> Any:
    from ..solvers import helped_by
    from ..solvers.newton.polishing import can_be_proven, polished, polished_softmax
    from ..solvers.newton.softmax import SoftmaxResult

    if objective.head.planes:
        ended = result.n_iter, result.converged, result.message, result.history
        found = SoftmaxResult(result.w, result.b, *ended, result.proof, result.interrupted)
        found = polished_softmax(found, objective, tol)
        proven = dict(proof=found.proof, enclosed=found.enclosed, redundancy=found.redundancy)
        return replace(result, w=found.W, b=found.b, n_iter=found.n_iter, **proven)
    arrives = "polishing" in helped_by(result.history.solver)
    if not arrives or not can_be_proven(objective):
        return result
    proof = result.proof
    if objective.loss.quadratic and proof is not None and proof.dual > 0:
        error = rounding(objective, result.w, result.b, proof)
        if share(max(proof.gap, 0.0) + error, proof.primal - error) <= tol:
            return result  # its own solver's proof will do
    return polished(result, objective, tol)


def prove(model: Any, objectives: list[Objective], results: list[Any]) -> None:
    statement, at_once = model._statement(), objectives[0].head.planes
    if at_once or (statement.loss.convex and statement.loss.defines("conjugate")):
        model._proofs = [Gap.of(objectives, results, statement, model.classes_, float(model._tol()))]
        model.dual_gap_ = model.certificate_.relative_gap
