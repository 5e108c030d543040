"""Forgeries: one to four edits, drawn from all of them."""

from __future__ import annotations

import marshal

import numpy as np

from . import consistent, shown_data, single_values  # noqa: F401 (each adds its edits to the list)
from .choices import CHOICE_EDITS
from .edits import EDITS, Donors, Forgery, is_unfit
from .honest import Honest

__all__ = ["forge"]

#: Edits for which only some files have a place: they are drawn more often where there is one.
SPECIAL = {
    "margin": ("the margin, with its proof", "points of the hulls"),
    "mistakes": ("numbers of mistakes, with their proof", "conflicts"),
    "separability": (
        "the verdict on separability",
        "the plane of the verdict",
        "coefficients that are infinite",
        "points of the verdict",
        "votes",
    ),
    "choice": tuple(CHOICE_EDITS),
}


def forge(honest: Honest, rng: np.random.Generator, donors: Donors) -> Forgery:
    """Return a forgery of one to four edits; a third of all edits are of single values, in any section."""
    forgery = Forgery(honest.document, honest.data)
    special = (
        [name for kind in forgery.proofs for name in SPECIAL.get(kind, ())] if forgery.document["certificate"] else []
    )
    wanted = int(rng.choice([1, 2, 3, 4], p=[0.5, 0.28, 0.14, 0.08]))
    for _ in range(40):
        before = marshal.dumps(forgery.document), forgery.data
        name = _drawn(rng, special)
        try:
            EDITS[name](forgery, rng, donors)
        except Exception as error:
            if not is_unfit(error):
                raise
            forgery.document, forgery.data = marshal.loads(before[0]), before[1]
            continue
        forgery.kinds.append(name)
        if len(forgery.kinds) == wanted:
            break
    forgery.reseal = bool(rng.random() < 0.95)
    return forgery


def _drawn(rng: np.random.Generator, special: list[str]) -> str:
    """Draw an edit by name."""
    kind = rng.random()
    if kind < 0.33:
        return "one value"
    return str(rng.choice(special if special and kind < 0.6 else list(EDITS)))
