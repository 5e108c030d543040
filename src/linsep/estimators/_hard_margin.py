"""`HardMarginSVC`: the plane of maximum margin, for data that a plane separates."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from .. import losses, penalties
from .._common.checks import check_choice, check_count
from .._common.complaints import warn
from .._common.types import FloatArray
from ..arithmetic.exact import check_overlap, margin_bounds
from ..certificates.kinds.margin import Margin, MarginCertificate, formula
from ..certificates.kinds.seals import Seals
from ..losses import Loss
from ..objective.objective import Objective
from ..penalties import Penalty
from ..separation.verdict import NotSeparableError, Separability
from ._certified import check_tol
from ._exact import ExactEstimator, intercept_helps

if TYPE_CHECKING:
    from ..solvers import Result, Solver, Start

#: C of the soft margin that stands in where no plane separates.
SOFT = 100.0


class HardMarginSVC(ExactEstimator):
    """The plane that separates two classes with the largest margin: min ½‖w‖² subject to y(w·x + b) ≥ 1.

    Data that no plane separates raise `NotSeparableError`, which carries the proof. With more than two classes there is
    one plane for each class against the rest, and each of these splits has to be separable. Of sample weights only
    those of zero matter: such examples are left out. Numbers that are no 64-bit floats are refused, not rounded.

    Parameters
    ----------
    on_overlap : {"raise", "soft"}, default="raise"
        What to do where no plane separates: raise the error, or warn and fit the soft margin ½‖w‖² + C Σ max(0, 1 − z)
        with C = 100 instead, of all classes (for searches and pipelines that have to go on); ``objective_`` says so.
    tol : float, default=1e-4
        The relative duality gap at which a fit stops.
    max_iter : int, default=100000
        How many examples may enter the active set; of the soft margin, iterations of its solver.
    fit_intercept : bool, default=True
    n_jobs : int or None
        Threads over the classes, where there are more than two; None for all.

    Attributes
    ----------
    coef_, intercept_, classes_, n_iter_, n_features_in_, feature_names_in_
        As in scikit-learn; the nearest points have z = y(w·x + b) = 1.
    margin_ : float, or array with one for each class
        The distance of the nearest points from the plane, 1/‖w‖: in exact arithmetic, rounded down. Negative
        of a soft margin: how far the worst point lies on the wrong side.
    support_ : array of int, or a list with one for each class
        The rows that hold the plane in place.
    support_vectors_ : array or sparse matrix, or a list
        These rows.
    dual_coef_ : array of shape (1, support), or a list
        Their yᵢ αᵢ: w = Σ yᵢ αᵢ xᵢ.
    certificate_ : MarginCertificate, or Certificates with one for each class
        The proof of optimality; ``certificate_.verify(X, y)`` checks it from the data alone. Of a soft margin, the one
        that `LinearSVC` has.
    dual_gap_, converged_, history_, objective_
        As for `LinearClassifier`.

    Examples
    --------
    >>> from linsep import HardMarginSVC
    >>> model = HardMarginSVC().fit([[0.0, 0.0], [0.0, 1.0], [4.0, 3.0]], [0, 0, 1])
    >>> round(model.margin_, 6), model.support_.tolist()
    (2.236068, [1, 2])
    >>> HardMarginSVC().fit([[0.0], [1.0], [2.0]], ["a", "b", "a"])
    Traceback (most recent call last):
    ...
    linsep.separation.verdict.NotSeparableError: the classes a and b are not linearly separable: a point lies in ...
    """

    #: Whether the last fit found no plane that separates, and took the soft margin.
    _is_soft = False

    def __init__(
        self,
        *,
        on_overlap: str = "raise",
        tol: float = 1e-4,
        max_iter: int = 100_000,
        fit_intercept: bool = True,
        n_jobs: int | None = None,
    ) -> None:
        self.on_overlap = on_overlap
        self.tol = tol
        self.max_iter = max_iter
        self.fit_intercept = fit_intercept
        self.n_jobs = n_jobs

    def _check_parameters(self) -> None:
        check_choice("on_overlap", self.on_overlap, ("raise", "soft"))
        check_count("max_iter", self.max_iter)
        check_tol(self.tol)

    # What is minimised: that of the hard margin, or where no plane separates that of the soft one.

    def _loss(self) -> Loss:
        return losses.Hinge()

    def _penalty(self) -> Penalty:
        return penalties.L2() if self._is_soft else super()._penalty()

    def _C(self) -> float:
        return SOFT if self._is_soft else super()._C()

    def _kinds_of_proof(self) -> tuple[str, ...]:
        return super()._kinds_of_proof() if self._is_soft else ("seals", "margin")

    def _solver(self) -> Solver | None:
        from ..solvers.dual.hard_margin import HardMargin

        return None if self._is_soft else HardMargin(self.tol, self.max_iter)

    def _remedy(self, objective: Objective, has_advice: bool) -> str:
        if self._is_soft:
            return super()._remedy(objective, has_advice)
        return ": the plane separates, but may not be the widest; raise max_iter, or scale the columns"

    def _learn(self, *examples: Any) -> Self:
        """Learn the hard margin; where there is none, and that is not to be an error, the soft one, and say so."""
        self._is_soft = False
        try:
            return super()._learn(*examples)
        except NotSeparableError as error:
            if self.on_overlap == "raise":
                raise
            self._is_soft, why = True, str(error)
        super()._learn(*examples)
        text = f"{type(self).__name__}: {why}. The plane reported is of soft margin: it minimises {self.objective_}."
        warn(text, ConvergenceWarning)
        return self

    def _solve(self, problems: list[Objective], starts: list[Start] | None) -> list[Result]:
        try:
            return super()._solve(problems, starts)
        except NotSeparableError as error:
            raise self._in_words(problems, error.proof) from None

    def _in_words(self, problems: list[Objective], proof: Separability) -> NotSeparableError:
        """Return the error with the user's labels: of more than two classes, the one that the proof speaks of."""
        names = getattr(self, "feature_names_in_", None)
        proof = replace(proof, feature_names=None if names is None else [str(name) for name in names])
        if len(problems) == 1:
            negative, positive = self.classes_.tolist()
            helps = intercept_helps(problems[0])
            return NotSeparableError(replace(proof, classes=(negative, positive)), intercept_helps=helps)
        for label, problem in zip(self.classes_.tolist(), problems, strict=True):
            points = proof.points, proof.weights
            if check_overlap(problem.rows.X, problem.y, *points, intercept=self.fit_intercept):  # type: ignore[arg-type]
                who, helps = f"class {label} and the rest", intercept_helps(problem)
                return NotSeparableError(replace(proof, classes=(False, True)), who, intercept_helps=helps)
        return NotSeparableError(proof)

    def _keep_proofs(self, problems: list[Objective], results: list[Result], proofs: list[Any]) -> None:
        if self._is_soft:
            super()._keep_proofs(problems, results, proofs)
            margins = [_reach(*each) for each in zip(problems, results, strict=True)]
        else:
            self.objective_ = formula(self.fit_intercept)
            self._proofs = [Seals.of(problems, results, self._statement(), self.classes_), Margin(proofs)]
            self.dual_gap_ = max(proof.relative_gap for proof in proofs)
            self.converged_ = self.converged_ and all(proof.proven for proof in proofs)
            margins = [proof.low for proof in proofs]
        self._store_support(problems, results, margins)

    def _store_support(self, problems: list[Objective], results: list[Result], margins: list[float]) -> None:
        alphas: list[FloatArray] = [np.zeros(problems[0].rows.n) if r.alpha is None else r.alpha for r in results]
        supports = [np.flatnonzero(alpha) for alpha in alphas]
        each = list(zip(problems, alphas, supports, strict=True))
        vectors = [problem.rows.X[support] for problem, _, support in each]
        weights = [(alpha[support] * problem.y[support])[None] for problem, alpha, support in each]
        one = len(problems) == 1
        self.margin_ = margins[0] if one else np.array(margins)
        self.support_ = supports[0] if one else supports
        self.support_vectors_ = vectors[0] if one else vectors
        self.dual_coef_ = weights[0] if one else weights

    def _claim(self, problem: Objective, result: Result) -> Any:
        """Return what is proven of a plane, with rounding accounted for, on the examples that count."""
        if self._is_soft:
            return super()._claim(problem, result)
        assert result.alpha is not None
        points = np.flatnonzero(result.alpha)
        weight = problem.sample_weight
        counts = np.ones(problem.rows.n, dtype=bool) if weight is None else weight > 0
        place = np.cumsum(counts) - 1
        X = problem.rows.X if counts.all() else problem.rows.X[counts]
        b = result.b if self.fit_intercept else None
        if result.w.any():
            low, high = margin_bounds(X, problem.y[counts], result.w, b, place[points], result.alpha[points].tolist())
        else:
            low, high = 0.0, np.inf
        labels = tuple(self.classes_.tolist()) if len(self.classes_) == 2 else (False, True)
        return MarginCertificate(
            result.w, result.b, points, result.alpha[points], low, high, self.tol, labels, self.fit_intercept
        )


def _reach(problem: Objective, result: Result) -> float:
    """Return min z/‖w‖ over the examples that count."""
    z, weight = problem.agreements(result.w, result.b), problem.sample_weight
    return float((z if weight is None else z[weight > 0]).min() / max(np.linalg.norm(result.w), np.finfo(float).tiny))
