"""`HardMarginSVC`: the plane of maximum margin, for data that a plane separates."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .. import losses, penalties
from .._checks import check_choice, check_count
from ..arithmetic.exact import check_overlap, margin_bounds
from ..certificates.kinds.margin import Margin, MarginCertificate, formula
from ..certificates.kinds.seals import Seals
from ..losses import Loss
from ..objective.objective import Objective
from ..separation.verdict import NotSeparableError, Separability
from ._exact import ExactEstimator

if TYPE_CHECKING:
    from ..solvers import Result, Solver, Start
    from ..solvers.dual.hard_margin import HardMargin

FloatArray = NDArray[np.float64]

#: C of the soft margin that stands in where no plane separates.
SOFT = 100.0


@dataclass(frozen=True)
class _HardElseSoft:
    """The hard margin, or where there is none the soft one, with the reason as its message."""

    hard: HardMargin
    name = "hard_margin"

    def solve(self, problem: Objective, **run: Any) -> Result:
        """Solve one or the other."""
        from ..solvers import DualDescent

        try:
            return self.hard.solve(problem, **run)
        except NotSeparableError as error:
            soft = replace(problem, C=SOFT, penalty=penalties.L2())
            result = DualDescent(tol=1e-3).solve(soft, **run | {"seed": 0})  # the same fit every time
            return replace(result, converged=False, message=str(error), proof=None)


class HardMarginSVC(ExactEstimator):
    """The plane that separates two classes with the largest margin: min ½‖w‖² subject to y(w·x + b) ≥ 1.

    Data that no plane separates raise `NotSeparableError`, which carries the proof. With more than two classes there is
    one plane for each class against the rest, and each of these splits has to be separable. Of sample weights only
    those of zero matter: such examples are left out. Numbers that are no 64-bit floats are refused, not rounded.

    Parameters
    ----------
    on_overlap : {"raise", "soft"}, default="raise"
        What to do where no plane separates: raise the error, or warn and fit the soft margin ½‖w‖² + C Σ max(0, 1 − z)
        with C = 100 instead (for searches and pipelines that have to go on).
    tol : float, default=1e-4
        The relative duality gap at which a fit stops.
    max_iter : int, default=100000
        How many examples may enter the active set.
    fit_intercept : bool, default=True
    n_jobs : int or None
        Threads over the classes, where there are more than two; None for all.

    Attributes
    ----------
    coef_, intercept_, classes_, n_iter_, n_features_in_, feature_names_in_
        As in scikit-learn; the nearest points have z = y(w·x + b) = 1.
    margin_ : float, or array with one for each class
        The distance of the nearest points from the plane, 1/‖w‖: in exact arithmetic, rounded down.
    support_ : array of int, or a list with one for each class
        The rows that hold the plane in place.
    support_vectors_ : array or sparse matrix, or a list
        These rows.
    dual_coef_ : array of shape (1, support), or a list
        Their yᵢ αᵢ: w = Σ yᵢ αᵢ xᵢ.
    certificate_ : MarginCertificate, or a list
        The proof of optimality; ``certificate_.verify(X, y)`` checks it from the data alone.
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
        if not self.tol > 0:
            raise ValueError(f"tol={self.tol!r} must be positive: it is the relative duality gap at which to stop")

    def _loss(self) -> Loss:
        return losses.Hinge()

    def _kinds_of_proof(self) -> tuple[str, ...]:
        return "seals", "margin"

    def _solver(self) -> Solver:
        from ..solvers.dual.hard_margin import HardMargin

        hard = HardMargin(self.tol, self.max_iter)
        return hard if self.on_overlap == "raise" else _HardElseSoft(hard)

    def _remedy(self, has_advice: bool) -> str:
        if self._is_soft:
            return ". The plane reported is of soft margin, with mistakes or points inside the margin"
        return ": the plane separates, but may not be the widest; raise max_iter, or scale the columns"

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
            return NotSeparableError(replace(proof, classes=(negative, positive)))
        for label, problem in zip(self.classes_.tolist(), problems, strict=True):
            points = proof.points, proof.weights
            if check_overlap(problem.rows.X, problem.y, *points, intercept=self.fit_intercept):  # type: ignore[arg-type]
                return NotSeparableError(replace(proof, classes=(False, True)), f"class {label} and the rest")
        return NotSeparableError(proof)

    def _keep_proofs(self, problems: list[Objective], results: list[Result], proofs: list[MarginCertificate]) -> None:
        self.objective_ = formula(self.fit_intercept)
        self._is_soft = any(result.proof is None for result in results)
        self._proofs = [Seals.of(problems, results, self._statement(), self.classes_), Margin(proofs)]
        self.dual_gap_ = max(proof.relative_gap for proof in proofs)
        self.converged_ = self.converged_ and all(proof.proven for proof in proofs)
        margins, supports = [proof.low for proof in proofs], [proof.points for proof in proofs]
        vectors = [problem.rows.X[support] for problem, support in zip(problems, supports, strict=True)]
        weights = [(p.weights * problem.y[p.points])[None] for p, problem in zip(proofs, problems, strict=True)]
        one = len(problems) == 1
        self.margin_ = margins[0] if one else np.array(margins)
        self.support_ = supports[0] if one else supports
        self.support_vectors_ = vectors[0] if one else vectors
        self.dual_coef_ = weights[0] if one else weights

    def _claim(self, problem: Objective, result: Result) -> MarginCertificate:
        """Return what is proven of a plane, with rounding accounted for, on the examples that count."""
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
