"""For the time being: one way to solve, polish and certify for each kind of objective, until each room has one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..certificates.gap.rounding import rounding
from ..certificates.kinds.gap import Gap
from ..objective.duality import share
from ..objective.objective import Objective

if TYPE_CHECKING:
    pass


def polish(result: Any, objective: Objective, tol: float) -> Any:
    from ..solvers import helped_by
    from ..solvers.newton.polishing import can_be_proven, polished

    arrives = "polishing" in helped_by(result.history.solver)
    if not arrives or not can_be_proven(objective):
        return result
    proof = result.proof
    if objective.head.planes is None and objective.loss.quadratic and proof is not None and proof.dual > 0:
        error = rounding(objective, result.w, result.b, proof)
        if share(max(proof.gap, 0.0) + error, proof.primal - error) <= tol:
            return result  # its own solver's proof will do
    return polished(result, objective, tol)


def prove(model: Any, objectives: list[Objective], results: list[Any]) -> None:
    statement, at_once = model._statement(), objectives[0].head.planes
    if at_once or (statement.loss.convex and statement.loss.defines("conjugate")):
        model._proofs = [Gap.of(objectives, results, statement, model.classes_, float(model._tol()))]
        model.dual_gap_ = model.certificate_.relative_gap
