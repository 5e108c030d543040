"""For the time being: one way to solve, polish and certify for each kind of objective, until each room has one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..certificates.claim import certify, rounding
from ..certificates.kinds.gap import Gap, SoftmaxGap
from ..certificates.softmax_certificate import certify_softmax
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
    statement, tol = model._statement(), model._tol()
    if objectives[0].head.planes:
        known = results[0].proof, statement, model.classes_, float(tol), results[0].enclosed
        model._proofs = [SoftmaxGap([certify_softmax(objectives[0], results[0].w, results[0].b, *known)])]
    elif statement.loss.convex and statement.loss.defines("conjugate"):
        each = zip(objectives, results, strict=True)
        claims = [
            certify(objective, result, statement, model.classes_, objective.positive, tol) for objective, result in each
        ]
        model._proofs = [Gap(claims)]
    else:
        return
    model.dual_gap_ = model.certificate_.relative_gap
