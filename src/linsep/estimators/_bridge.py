"""For the time being: what the solvers' rooms will do themselves."""

from __future__ import annotations

from typing import Any

from ..certificates.gap.rounding import rounding
from ..objective.duality import share
from ..objective.objective import Objective


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


def minimise_in_blocks(objective: Objective, solver: Any, seed: int, workspace: Any) -> Any:
    from ..solvers.contract import check_needs

    method, reason = solver.choose(objective)
    check_needs(method, objective)
    result = method.solve(objective, seed=seed, workspace=workspace)
    result.history.solver, result.history.reason = method.name, reason
    return result
