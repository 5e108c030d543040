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
from typing import Any

from numpy.typing import ArrayLike

from ..arithmetic.exact import Clock, ProofTimeoutError
from ._aliases import involved
from ._counted_rows import CountedRows
from ._estimates_words import FINITE, OPEN
from ._limit import enclosed_supremum, fitted, wider
from ._recession_cone import RecessionCone, relations
from .estimates import Estimates
from .verdict import TIME_LIMIT, judged

__all__ = ["Estimates", "estimates"]


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
    dependencies, basis = relations(rows, cone.face.basis)
    aliased = set(involved(dependencies))
    cone.decide(j for j in found.infinite if j not in aliased)
    spanning = [rows.number(i) for i in basis]
    return _completed(
        rows, Estimates(found, [], (0.0, 0.0), cone.directions, cone.proofs, dependencies, spanning), cone
    )


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
