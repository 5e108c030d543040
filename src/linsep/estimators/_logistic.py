"""`LogisticRegression`: probabilities from a linear model, for two classes or more."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_softmax

from .. import _core, losses, penalties
from .._checks import check_choice
from .._core import Rows
from ..certificates.certificate import Certificate, Certificates
from ..certificates.softmax_certificate import SoftmaxCertificate, SoftmaxClaim, certify_softmax
from ..losses import Loss
from ..objective.duality import Bound
from ..objective.softmax import SoftmaxProblem
from ..penalties import Penalty
from ..separation.no_optimum import explain_no_softmax_optimum
from ..separation.verdict import ProofTimeoutError
from ._callbacks import report_progress
from ._certified import CertifiedEstimator, check_number
from ._specification import check_C
from ._streaming import log_probabilities

if TYPE_CHECKING:
    from ..solvers import Result, Solver, Start
    from ..solvers.newton.softmax import SoftmaxNewton, SoftmaxResult
    from ..solvers.newton.softmax_proximal import SoftmaxProximalNewton
    from ..solvers.result import Observer

FloatArray = NDArray[np.float64]

__all__ = ["LogisticRegression"]


class LogisticRegression(CertifiedEstimator):
    """Logistic regression, within a proven distance of the optimum.

    Two classes: it minimises ``penalty(w) + C Σ sᵢ log(1 + e^(−zᵢ))``. More, by default: the softmax
    ``P(k|x) = e^(gₖ(x)) / Σⱼ e^(gⱼ(x))`` with one plane a class, ``penalty(W) + C Σ sᵢ (−log P(yᵢ|xᵢ))``. The
    intercepts are not penalised. Both are scikit-learn's.

    Parameters
    ----------
    penalty : {"l2", "l1", "elasticnet", None}, optional
        scikit-learn's older way to say `l1_ratio` and `C`: 0, 1, what `l1_ratio` says, and ``C=inf``. Its default,
        ``"deprecated"``, leaves it to them.
    C : float, default=1.0
        How much the losses count against the penalty; inf or None for no penalty.
    l1_ratio : float, default=0.0
        r in ``(1 − r)·½‖w‖² + r·‖w‖₁``.
    fit_intercept : bool, default=True
    class_weight : dict, "balanced" or None
    tol : float, default=1e-4
        The relative duality gap at which a fit stops.
    max_iter : int, optional
        Iterations of the solver at the most; None for what it is used to.
    solver : "auto", str or solver, default="auto"
        A name of `linsep.solvers` or an object with settings of its own; scikit-learn's names mean ``"auto"``.
        ``history_.reason`` says why that picked it.
    multi_class : {"softmax", "ovr"}, default="softmax"
        More than two classes at once, or one against the rest; ``"multinomial"`` and ``"auto"``, scikit-learn's older
        names, mean softmax.
    warm_start : bool, default=False
        Begin where the last fit ended.
    random_state : int, RandomState or None
    n_jobs : int or None
        Threads over the classes of ``"ovr"``; None for all.
    dual : bool, default=False
        Accepted since scikit-learn has it: primal and dual have the same optimum, and `solver` says how to get there.
    intercept_scaling : float, default=1
        Accepted since scikit-learn has it: it weakens the penalty on the intercept, and here there is none.
    verbose : int, default=0
        1 prints to standard error how the fit ended.

    Attributes
    ----------
    coef_, intercept_, classes_, n_iter_, n_features_in_, feature_names_in_
        As in scikit-learn.
    dual_gap_ : float
        How far from the optimum the fit can be, as a share of the objective.
    converged_ : bool
        Whether the gap is proven to be no more than `tol`; otherwise a warning says what was reached, and why.
    redundant_ : dict of {name: relation}
        Without a penalty: columns that are exact combinations of others, such as all levels of a category beside an
        intercept. The coefficients are then those of least norm, the intercept not counted.
    history_, objective_
        As for `SGDClassifier`.

    Examples
    --------
    >>> from linsep import LogisticRegression
    >>> model = LogisticRegression().fit([[0.0], [1.0], [3.0], [4.0]], ["no", "no", "yes", "yes"])
    >>> model.predict_proba([[2.0], [4.0]]).round(2)
    array([[0.5 , 0.5 ],
           [0.12, 0.88]])
    >>> model.dual_gap_ <= 1e-4
    True
    """

    _claim: SoftmaxClaim

    def __init__(
        self,
        penalty: str | None = "deprecated",
        *,
        C: float | None = 1.0,
        l1_ratio: float | None = 0.0,
        fit_intercept: bool = True,
        class_weight: Mapping[Any, float] | str | None = None,
        tol: float = 1e-4,
        max_iter: int | None = None,
        solver: str | Solver = "auto",
        multi_class: str = "softmax",
        warm_start: bool = False,
        random_state: Any = None,
        n_jobs: int | None = None,
        dual: bool = False,
        intercept_scaling: float = 1.0,
        verbose: int = 0,
    ) -> None:
        self.penalty = penalty
        self.C = C
        self.l1_ratio = l1_ratio
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
        self.tol = tol
        self.max_iter = max_iter
        self.solver = solver
        self.multi_class = multi_class
        self.warm_start = warm_start
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.dual = dual
        self.intercept_scaling = intercept_scaling
        self.verbose = verbose

    def _check_parameters(self) -> None:
        check_choice("multi_class", self.multi_class, ("softmax", "ovr", "multinomial", "auto"))
        super()._check_parameters()

    def _loss(self) -> Loss:
        return losses.Logistic()

    def _penalty(self) -> Penalty:
        """Return the penalty that `l1_ratio` and scikit-learn's older `penalty` agree on."""
        r = 0.0 if self.l1_ratio is None else check_number("l1_ratio", self.l1_ratio, 0.0, 1.0)
        check_choice("penalty", self.penalty, ("deprecated", "l2", "l1", "elasticnet", None))
        if self.penalty in ("deprecated", "elasticnet"):
            return penalties.ElasticNet(r)
        if r not in ((0.0, 1.0) if self.penalty == "l1" else (0.0,)):
            raise ValueError(
                f"l1_ratio={r:g} would be ignored: penalty={self.penalty!r} says otherwise; give one of them"
            )
        return penalties.get(self.penalty)

    def _C(self) -> float:
        C = check_C(self.C)
        if self.penalty is None and C not in (1.0, np.inf):
            raise ValueError(f"C={C:g} would be ignored: penalty=None means no penalty; leave one of them out")
        return np.inf if self.penalty is None else C

    def _at_once(self) -> bool:
        """Whether all classes are one problem, by softmax; for two that would be the same up to the penalty."""
        return len(self.classes_) > 2 and self.multi_class != "ovr"

    def _learn(
        self,
        rows: Rows,
        codes: NDArray[np.int64],
        weight: FloatArray | None,
        starts: list[Start | None] | None,
        seed: int,
        X: Any,
        y: Any,
    ) -> list[Result]:
        from ..solvers.newton.polishing import polished_softmax

        self.__dict__.pop("_claim", None)
        if not self._at_once():
            return super()._learn(rows, codes, weight, starts, seed, X, y)
        shared = dict(penalty=self._penalty(), C=self._C(), sample_weight=weight, fit_intercept=self.fit_intercept)
        problem = SoftmaxProblem(rows, codes, len(self.classes_), **shared)  # type: ignore[arg-type]
        solver, reason = self._softmax_solver(problem.penalty)
        with report_progress(self, X, y, 1, problem.classes) as observer:
            found = self._solve_softmax(solver, problem, self._softmax_start(starts), observer(0))
        if self._no_optimum is None and not found.interrupted:
            try:
                found = polished_softmax(found, problem, self._tol())
            except KeyboardInterrupt:  # the planes that were found are kept
                found = replace(found, interrupted=True)
        found.history.solver = solver.name
        found.history.reason = "; ".join(filter(None, [reason, found.history.reason]))
        results = self._store_softmax(problem, found)
        self._say(results)
        return results

    def _solve_softmax(
        self,
        solver: SoftmaxNewton | SoftmaxProximalNewton,
        problem: SoftmaxProblem,
        start: tuple[FloatArray, FloatArray] | None,
        observer: Observer | None,
    ) -> SoftmaxResult:
        """Solve the problem of all classes, in the middle of the range of floats."""
        from ..solvers.reductions.in_range import MiddleOfRange
        from ..solvers.reductions.reduction import noted

        middle = MiddleOfRange.find([problem])
        if middle is None:
            return self._solve_centred(solver, problem, start, observer)
        start = None if start is None else (np.ldexp(start[0], -middle.scaled.k), start[1])
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):  # its proof will tell how near it came
            found = self._solve_centred(solver, middle.scaled.problem, start, middle.observer(observer))
        noted(found, "numbers at the ends of the range of floats are scaled inside")
        return replace(found, W=middle._weights(found.W), proof=middle._proof(found.proof))

    def _solve_centred(
        self,
        solver: SoftmaxNewton | SoftmaxProximalNewton,
        problem: SoftmaxProblem,
        start: tuple[FloatArray, FloatArray] | None,
        observer: Observer | None,
    ) -> SoftmaxResult:
        """Solve the problem of all classes, with columns that are far from zero centred."""
        from ..solvers.reductions.centring import Centre

        centre = Centre.find([problem])
        if centre is None:
            return solver.solve(problem, start=start, observer=observer)
        if start is not None:
            start = start[0], start[1] + centre.shift(start[0])
        moved = problem.with_rows(centre.rows)
        found = solver.solve(moved, start=start, observer=centre.observer(observer))
        b = found.b - centre.shift(found.W)
        found.history.reason = f"{np.count_nonzero(centre.middle)} columns far from zero are centred inside"
        proof = Bound(problem.evaluate(found.W, b).objective, found.proof.dual)
        return replace(found, b=b, proof=proof)

    def _softmax_solver(self, penalty: Penalty) -> tuple[SoftmaxNewton | SoftmaxProximalNewton, str]:
        """Return the solver of all classes at once, and why it is that one."""
        from ..solvers import ASKED_FOR, Newton, ProximalNewton
        from ..solvers.newton.softmax import SoftmaxNewton
        from ..solvers.newton.softmax_proximal import SoftmaxProximalNewton

        method, wanted = (SoftmaxProximalNewton, ProximalNewton) if penalty.l1 > 0 else (SoftmaxNewton, Newton)
        solver = self._solver()
        if solver is None:
            chosen = method(self.tol) if self.max_iter is None else method(self.tol, self.max_iter)
            return chosen, "all classes at once"
        if isinstance(solver, wanted):
            return method(solver.tol, solver.max_iter), ASKED_FOR
        raise ValueError(
            f"solver={self.solver!r} cannot fit all classes at once with the penalty {penalty.formula!r}; "
            f"use 'auto' or {wanted.name!r}, or multi_class='ovr'"
        )

    def _why_no_optimum(self, X: Any, codes: NDArray[np.int64], weight: FloatArray | None) -> str | None:
        from ..solvers.first_order.prover import MOST_WORK

        why = super()._why_no_optimum(X, codes, weight)
        if why is not None or not (np.isinf(self._C()) and self._at_once()):
            return why
        # No class lies apart from all the others together; they may still lie apart from each other.
        counted = slice(None) if weight is None else weight > 0
        try:
            return explain_no_softmax_optimum(
                X[counted],
                codes[counted],
                self.classes_.tolist(),
                fit_intercept=self.fit_intercept,
                feature_names=self._feature_names(),
                budget=MOST_WORK,
            )
        except ProofTimeoutError:
            return None  # nothing is known: the fit's own report stands

    def _of_class(self, k: int, why: str) -> str:
        if not self._at_once():
            return super()._of_class(k, why)
        # Which coefficients of one class against the rest run away does not say which of the softmax do.
        return f"a plane separates class {self.classes_[k]} from the rest, so no finite optimum exists; use a finite C"

    def _coefficients(self) -> int:
        if not self._at_once():
            return super()._coefficients()
        return int((len(self.classes_) - 1) * (self.n_features_in_ + bool(self.fit_intercept)))

    def _softmax_start(self, starts: list[Start | None] | None) -> tuple[FloatArray, FloatArray] | None:
        """Return the planes to begin from, one column each."""
        planes = [start for start in starts or [] if start is not None]
        if not planes:
            return None
        return np.column_stack([start.w for start in planes]), np.array([start.b for start in planes])

    def _store_softmax(self, problem: SoftmaxProblem, found: SoftmaxResult) -> list[Result]:
        """Store the planes; return the result as one for each."""
        self.coef_, self.intercept_ = np.ascontiguousarray(found.W.T), found.b
        self.n_iter_ = max(1, found.n_iter)
        self.converged_, self.history_ = found.converged, found.history
        self.objective_ = problem.formula
        self.__dict__.pop("_claims", None)
        self.__dict__.pop("_provenance", None)
        self._store_redundancy(found.redundancy)
        known = found.proof, self._statement(), self.classes_, float(self.tol), found.enclosed
        self._claim = certify_softmax(problem, found.W, found.b, *known)
        self.dual_gap_ = self.certificate_.relative_gap
        return [_result(w, b, found) for w, b in zip(self.coef_, found.b.tolist(), strict=True)]

    @property
    def certificate_(self) -> Certificate | Certificates | SoftmaxCertificate:  # type: ignore[override]
        """What is proven of the planes as they are now, and how to check it."""
        if not hasattr(self, "_claim"):
            return super().certificate_
        classes = tuple(np.asarray(self.classes_).tolist())
        now = self._statement(), classes, float(self.tol)
        return SoftmaxCertificate(self._claim, self._planes(), self.intercept_, *now)

    def predict_proba(self, X: Any) -> FloatArray:
        """P(k|x), one column a class: σ(±g(x)) for two, the softmax for more, or each one's share of σ for "ovr"."""
        if self.multi_class == "ovr" and len(getattr(self, "classes_", ())) > 2:
            return np.asarray(np.exp(self.predict_log_proba(X)))
        return self._read(X, _core.probabilities)

    def predict_log_proba(self, X: Any) -> FloatArray:
        """Return log P(k|x), also where P itself is too small for a float."""
        scores = self.decision_function(X)
        if scores.ndim == 1 or self.multi_class == "ovr":
            return log_probabilities(scores)
        return np.asarray(log_softmax(scores, axis=1))


def _result(w: FloatArray, b: float, found: SoftmaxResult) -> Result:
    """Return one plane of a softmax model as a solver's result."""
    from ..solvers import Result, Start

    ended = found.n_iter, found.converged, found.message, found.history
    proven = dict(proof=found.proof, redundancy=found.redundancy)
    return Result(w, b, *ended, last=Start(w, b), interrupted=found.interrupted, **proven)  # type: ignore[arg-type]
