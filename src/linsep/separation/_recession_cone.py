"""The recession cone of a likelihood: planes with no point on the wrong side, and the signs of their coefficients."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from scipy import sparse

from .._core import is_sparse
from ..arithmetic.exact import ProofTimeoutError
from ..arithmetic.rational import WIDEST
from ._aliases import aliases
from ._counted_rows import CountedRows
from ._estimates_words import MINUS, OPEN, PLUS
from ._question import Question
from .proof import Separability
from .search import Search

Plane = tuple[Fraction, ...]


class RecessionCone:
    """The planes without a point on their wrong side; what is known of the signs of their coefficients so far."""

    def __init__(self, rows: CountedRows, found: Separability) -> None:
        self.rows = rows
        self.face = rows.held(found)
        theta = tuple(Fraction(value) for value in found.theta)
        self.off = np.flatnonzero(rows.sides(theta) != 0)
        self.directions = [self._moving_all(theta)]
        self.proofs: dict[int, dict[int, Fraction]] = {}
        support = zip(found.support or [], found.support_weights or [], strict=True)
        self.relation = {rows.place[i]: weight for i, weight in support}

    def _moving_all(self, theta: Plane) -> Plane:
        """Return a plane near this one that has weights on all coefficients that the face does not hold."""
        v = self.face.direction()
        size = 1
        while True:
            self.rows.clock.check("a direction that moves all coefficients")
            step = Fraction(1, size)
            near = tuple(a + step * b for a, b in zip(theta, v, strict=True))
            moved = all(near[j] for j, value in enumerate(v) if value)
            if moved and (self.rows.only(self.off).sides(near) > 0).all():
                return near
            size <<= 12

    def decide(self, columns: Iterable[int]) -> None:
        """Find for each of these coefficients a second direction, or weights that exclude one."""
        for j in columns:
            signs = {sign(plane[j]) for plane in self.directions}
            if not {1, -1} <= signs:
                self._ask(j, -1 if 1 in signs else 1)

    def _ask(self, j: int, sign: int) -> None:
        """Look for a plane of the cone with sign·θ_j > 0: one that is strict on all rows and on sign·e_j."""
        self.rows.clock.check("the direction of an estimate")
        rows = [*self.face.basis, *self.off.tolist()]
        A = self.rows.rows(rows)
        unit: Any = np.zeros((1, self.rows.size))
        unit[0, j] = sign
        both: Any = sparse.vstack([A, sparse.csr_matrix(unit)], format="csr") if is_sparse(A) else np.vstack([A, unit])
        search = Search(Question(both, np.ones(len(rows) + 1), False, self.rows.clock))
        answer = search.beyond(range(len(self.face.basis)))
        if isinstance(answer, dict):
            self.proofs[j] = self._weights(answer, rows)
        else:
            self.directions.append(tuple(Fraction(value) for value in answer))

    def _weights(self, relation: dict[int, Fraction], rows: list[int]) -> dict[int, Fraction]:
        """Return λ ≥ 0 on rows from a relation with the row that was added, last, any on the basis of the face."""
        own = relation.pop(len(rows))
        weights = {rows[k]: weight / own for k, weight in relation.items()}
        enough = max((-weight / self.relation[i] for i, weight in weights.items() if weight < 0), default=Fraction(0))
        for i, weight in self.relation.items():
            weights[i] = weights.get(i, Fraction(0)) + enough * weight
        return {self.rows.number(i): weight for i, weight in sorted(weights.items()) if weight}

    def verdict(self, j: int) -> str | None:
        """Return what is proven of a coefficient that is not finite; None for nothing more than that."""
        signs = {sign(plane[j]) for plane in self.directions}
        if {1, -1} <= signs:
            return OPEN
        if j not in self.proofs:
            return None
        return PLUS if 1 in signs else MINUS


def relations(rows: CountedRows, start: Sequence[int]) -> tuple[dict[int, dict[int, Fraction]], list[int]]:
    """Return the columns that are combinations of others on all rows, and rows that span all of them."""
    if rows.size > WIDEST:
        raise ProofTimeoutError(f"undecided: relations between more than {WIDEST} columns are not looked for")
    some = np.unique(np.linspace(0, rows.n - 1, min(rows.n, 2 * rows.size)).astype(np.int64)).tolist()
    dependencies, spanning = aliases(rows, [*start, *(i for i in some if i not in set(start))])
    return dependencies, rows.face(spanning).basis


def sign(value: Fraction) -> int:
    return (value > 0) - (value < 0)
