"""The same objective in a better form, and the way back: one chain that every fit goes through.

Equal rows merged into weights, far-off columns centred, numbers at the ends of the range of floats scaled, dense rows
of zeros made sparse; after a method that did not arrive, another.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...objective.objective import Objective
from ..contract import helped_by, serves
from ..result import Observer, Result, Start
from .centring import Centre
from .in_range import MiddleOfRange
from .reduction import Inner, Reduction
from .repeats import Repeats
from .sparse_form import SparseForm

__all__ = ["REDUCTIONS", "Reduction", "reductions", "through"]

#: In the order in which they are looked for: first what leaves fewer rows, last what only stores them otherwise.
REDUCTIONS: tuple[Any, ...] = (Repeats, Centre, MiddleOfRange, SparseForm)


def reductions(objectives: Sequence[Objective], solver: Any) -> list[Reduction]:
    """Return the reductions that there are for objectives on the same examples, and that help this solver."""
    found: list[Reduction] = []
    for kind in REDUCTIONS:
        suits = kind.help in helped_by(solver) and serves(kind, objectives[0])
        one = kind.find(objectives) if suits else None
        if one is not None:
            found.append(one)
            objectives = [one.apply(objective) for objective in objectives]
    return found


def through(
    chain: list[Reduction], objective: Objective, inner: Inner, start: Start | None, observer: Observer | None
) -> Result:
    """Minimise at the end of the chain, by `inner`, and come back all the way."""
    if not chain:
        return inner(objective, start, observer)
    first, *rest = chain
    return first.solve(objective, lambda *there: through(rest, there[0], inner, *there[1:]), start, observer)
