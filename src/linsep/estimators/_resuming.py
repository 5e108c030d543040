"""What a long fit keeps of the planes that it has finished, so that it can go on another day."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from ..certificates.gap.certificate import Claim
from ..history import History

if TYPE_CHECKING:
    from ..solvers import Result
    from ..solvers.workspace import Workspace


class Run(Protocol):
    """Where a fit keeps what must outlast it."""

    @property
    def results(self) -> Sequence[Mapping[str, Any]]:
        """What was kept of the objectives that are finished, in their order."""
        ...

    def finish(self, result: dict[str, Any]) -> None:
        """Keep what was found of the next objective, in terms of JSON, and forget how it was found."""
        ...

    def place(self, k: int, count: int) -> Workspace:
        """Return the workspace of objective k, of so many."""
        ...


def written(result: Result, claim: Claim) -> dict[str, Any]:
    """Return a result and what is claimed of it, in terms of JSON."""
    planes = dict(w=result.w.tolist(), b=np.asarray(result.b).tolist(), n_iter=result.n_iter)
    ended = dict(converged=result.converged, message=result.message, no_optimum=result.no_optimum)
    history = dict(solver=result.history.solver, reason=result.history.reason)
    return {**planes, **ended, **history, "claim": claim.to_dict()}


def read(kept: Mapping[str, Any]) -> tuple[Result, Claim]:
    """Read what `written` wrote."""
    from ..solvers import Result, Start

    w, b, history = np.array(kept["w"]), kept["b"], History()
    b = np.array(b) if isinstance(b, list) else float(b)
    history.solver, history.reason = kept["solver"], kept["reason"]
    ended = int(kept["n_iter"]), bool(kept["converged"]), str(kept["message"]), history
    result = Result(w, b, *ended, last=Start(w, b), no_optimum=str(kept.get("no_optimum", "")))
    return result, Claim.from_dict(kept["claim"], at_once=w.ndim > 1)
