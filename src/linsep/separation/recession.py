"""What maximum likelihood says of each coefficient: finite, infinite in one direction, or not determined; with proofs.

The log-likelihood of logistic regression is Σ cᵢ log σ(aᵢ·θ) with rows aᵢ = yᵢ [xᵢ, 1]. It never falls along the
planes of the recession cone K = {θ : aᵢ·θ ≥ 0 for all i}. Rows with aᵢ·θ = 0 for all of K, the *face*, carry a positive
relation Σ λᵢ aᵢ = 0. Along any sequence that approaches the supremum aᵢ·θ runs to infinity for all other rows, and to a
limit for the rows of the face, at which the likelihood of these alone is largest. So a coefficient is

- *finite* if e_j is a combination of rows of the face: the limit of θ_j is the same for all such sequences;
- *+inf* if e_j = Σ λᵢ aᵢ with λ ≥ 0 (Farkas), and some θ in K has θ_j > 0; *-inf* likewise;
- *not determined* if K has one θ with θ_j > 0 and another with θ_j < 0. Columns that are *aliased*, combinations of
  each other on all rows, are the case in which both leave every aᵢ·θ as it is.

Floats search for these, and whole numbers prove every one.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from .._core import is_sparse
from ..arithmetic.exact import Clock, ProofTimeoutError
from ..arithmetic.rational import WIDEST
from ._limit import enclosed_supremum, fitted, wider
from ._question import CountedRows, Question
from ._relations import aliases
from .estimates import FINITE, MINUS, OPEN, PLUS, Estimates, sign
from .proof import Separability, involved
from .search import Search
from .verdict import TIME_LIMIT, judged

__all__ = ["Estimates", "estimates"]

Direction = tuple[Fraction, ...]


def estimates(
    X: Any,
    y: ArrayLike,
    sample_weight: ArrayLike | None = None,
    *,
    fit_intercept: bool = True,
    feature_names: Iterable[Any] | None = None,
    time_limit: float | None = TIME_LIMIT,
    budget: float | None = None,
) -> Estimates:
    """Say which maximum likelihood estimates of a logistic regression are finite, which are infinite, and prove it.

    Parameters
    ----------
    X : array, sparse matrix or DataFrame of shape (n, d)
        Finite numbers. The verdicts are on these floats, exactly.
    y : array of shape (n,)
        Labels of two classes; the second in order is the one whose probability is modelled.
    sample_weight : array of shape (n,), optional
        Weights of the rows in the likelihood; rows of weight zero are left out.
    fit_intercept : bool, default=True
    feature_names : iterable of str, optional
        What to call the columns; a DataFrame's own names otherwise.
    time_limit : float or None, default=60
        Seconds after which `linsep.exact.ProofTimeoutError` says that not all is decided; None for no limit.
    budget : float or None, default=None
        Elementary operations after which the same error is raised, some 10⁹ to a second.

    Returns
    -------
    Estimates

    Examples
    --------
    A drug that nobody survived without:

    >>> import pandas as pd
    >>> data = pd.DataFrame({"drug": [0, 0, 1, 1, 1], "dose": [1, 2, 1, 3, 2]})
    >>> print(estimates(data, [0, 0, 1, 1, 1]))
    Complete separation: the estimate of drug is +∞; the estimates of dose and the intercept are not determined by the
    data; supremum of the log-likelihood 0
    """
    clock = Clock(time_limit, budget)
    found = judged(X, y, sample_weight, fit_intercept=fit_intercept, clock=clock, feature_names=feature_names)
    if found.infinite is None:
        raise ProofTimeoutError("undecided in time: which coefficients have a finite estimate; raise time_limit")
    rows = CountedRows.of(X, y, sample_weight, found, clock)
    if found.verdict == "overlap":
        dependencies, spanning = found.dependencies, list(found.support or [])
        return _completed(rows, Estimates(found, [], (0.0, 0.0), [], {}, dependencies, spanning))
    cone = RecessionCone(rows, found)
    cone.decide(found.infinite)
    proven = cone.directions, cone.proofs, cone.dependencies, rows.numbers[cone.spanning].tolist()
    return _completed(rows, Estimates(found, [], (0.0, 0.0), *proven), cone)


def _completed(rows: CountedRows, found: Estimates, cone: RecessionCone | None = None) -> Estimates:
    """Add the verdicts, the limit and the supremum."""
    aliased, proof = set(found.aliased), found.separability
    unheld = aliased if cone is None else set(proof.infinite or [])
    verdicts = [
        FINITE if j not in unheld else OPEN if j in aliased or cone is None else cone.verdict(j) or OPEN
        for j in range(rows.size)
    ]
    found = replace(found, verdicts=verdicts)
    if proof.separable:
        return found
    columns = rows.held(proof).columns
    part = rows.on_face(proof)
    limit = fitted(part, columns)
    return replace(found, limit=limit, supremum=wider(enclosed_supremum(part, columns, limit)))


class RecessionCone:
    """The planes without a point on their wrong side; what is known of the signs of their coefficients so far."""

    def __init__(self, rows: CountedRows, found: Separability) -> None:
        self.rows = rows
        self.face = rows.held(found)
        theta = tuple(Fraction(value) for value in found.theta)
        self.off = np.flatnonzero(rows.sides(theta) != 0)
        self.directions = [self._moving_all(theta)]
        self.proofs: dict[int, dict[int, Fraction]] = {}
        #: Columns that are combinations of others on all rows, and rows that span all of them.
        self.dependencies: dict[int, dict[int, Fraction]] = {}
        self.spanning: list[int] = []
        support = zip(found.support or [], found.support_weights or [], strict=True)
        self.relation = {rows.place[i]: weight for i, weight in support}

    def _moving_all(self, theta: Direction) -> Direction:
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
        """Find for each of these coefficients a second direction, or weights that exclude one; unless it is aliased."""
        rows, start = self.rows, self.face.basis
        if rows.size > WIDEST:
            raise ProofTimeoutError(f"undecided: relations between more than {WIDEST} columns are not looked for")
        some = np.unique(np.linspace(0, rows.n - 1, min(rows.n, 2 * rows.size)).astype(np.int64)).tolist()
        self.dependencies, spanning = aliases(rows, [*start, *(i for i in some if i not in set(start))])
        self.spanning = rows.face(spanning).basis
        aliased = involved(self.dependencies)
        for j in columns:
            signs = {sign(plane[j]) for plane in self.directions}
            if j not in aliased and not {1, -1} <= signs:
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
        return {int(self.rows.numbers[i]): weight for i, weight in sorted(weights.items()) if weight}

    def verdict(self, j: int) -> str | None:
        """Return what is proven of a coefficient that is not finite; None for nothing more than that."""
        signs = {sign(plane[j]) for plane in self.directions}
        if {1, -1} <= signs:
            return OPEN
        if j not in self.proofs:
            return None
        return PLUS if 1 in signs else MINUS
