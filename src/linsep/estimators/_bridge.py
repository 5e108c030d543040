"""For the time being: what the solvers' rooms will do themselves."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from ..certificates.gap.rounding import rounding
from ..objective.duality import share
from ..objective.objective import Objective


def polish(result: Any, objective: Any, tol: float) -> Any:
    from ..solvers import helped_by
    from ..solvers.newton.polishing import can_be_proven, polished, polished_softmax
    from ..solvers.newton.softmax import SoftmaxResult

    if objective.examples.resident is None:
        return result
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


@dataclass(frozen=True)
class InTurn:
    """The streamed solvers of kinked losses, by today's names."""

    tol: float
    most_features: int

    def solve(self, objective: Objective, seed: int, workspace: Any) -> Any:
        from ..solvers.dual.streamed_dual import StreamedDual
        from ..solvers.newton.newton import Newton
        from ..solvers.newton.preconditioner import FACTORED
        from ..solvers.newton.proximal import ProximalNewton
        from ..solvers.newton.streamed_multipliers import StreamedMultipliers

        few = objective.d <= min(FACTORED, self.most_features)
        if objective.head.smooth and (few or objective.head.planes):
            method = (Newton if objective.penalty.l1 == 0 else ProximalNewton)(self.tol)
            result = method.solve(objective, seed=seed, workspace=workspace)
            result.history.solver = result.history.solver or method.name
            return result
        if not (objective.loss.defines("dual_step") and objective.penalty.l2 > 0 and objective.penalty.l1 == 0):
            raise ValueError(f"no solver minimises {objective.formula}")
        streamed = (StreamedMultipliers if few else StreamedDual)(self.tol)
        result, duals = streamed.solve(
            objective, workspace, sample=objective.examples.sample(seed, weighted=True), told=workspace.passed
        )
        result.history.solver = streamed.name
        return replace(result, alpha=duals)
