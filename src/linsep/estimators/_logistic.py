"""`LogisticRegression`: probabilities from a linear model, for two classes or more."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import log_softmax

from .. import _core, losses
from .._common.checks import check_choice
from .._common.complaints import warn
from .._common.types import FloatArray, IntArray
from ..losses import Loss
from ..objective.heads import Head, Softmax
from ..penalties import Penalty
from ._calibration import log_probabilities
from ._certified import CertifiedEstimator
from ._specification import check_C, penalty_of

if TYPE_CHECKING:
    from ..solvers import Result, Solver


class LogisticRegression(CertifiedEstimator):
    """Logistic regression, within a proven distance of the optimum.

    Two classes: it minimises ``penalty(w) + C Σ sᵢ log(1 + e^(−zᵢ))``. More, by default: the softmax
    ``P(k|x) = e^(gₖ(x)) / Σⱼ e^(gⱼ(x))`` with one plane a class, ``penalty(W) + C Σ sᵢ (−log P(yᵢ|xᵢ))``. The
    intercepts are not penalised. Both are scikit-learn's.

    Parameters
    ----------
    penalty : {"l2", "l1", "elasticnet", None}, optional
        scikit-learn's older way to say `l1_ratio` and `C`: 0, 1, what `l1_ratio` says, and ``C=inf``. Its default,
        ``"deprecated"``, leaves it to them. An `l1_ratio` or a `C` that has no effect beside it is warned of.
    C : float, default=1.0
        How much the losses count against the penalty; inf or None for no penalty.
    l1_ratio : float, default=0.0
        r in ``(1 − r)·½‖w‖² + r·‖w‖₁``, also of ``penalty="elasticnet"``: as in scikit-learn, it is L2 alone until a
        share of L1 is given.
    fit_intercept : bool, default=True
    class_weight : dict, "balanced" or None
    tol : float, default=1e-4
        The relative duality gap at which a fit stops; 0 goes on until nothing improves, and says what is proven then.
    max_iter : int, optional
        Iterations of the solver at the most; None for what it is used to. 0 leaves the plane where a fit begins.
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
    coef_, intercept_, classes_, n_features_in_, feature_names_in_
        As in scikit-learn; of 32-bit data 32-bit floats, unless these cannot prove `tol`.
    n_iter_ : array of int
        Iterations, as `max_iter` counts them and callbacks hear of them: one entry, or for ``"ovr"`` one a class.
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

    _tol_may_be_zero = True
    _single_of_single = True

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
        """Return the penalty of scikit-learn's older `penalty`, if that is given, and else of `l1_ratio`."""
        check_choice("penalty", self.penalty, ("deprecated", "l2", "l1", "elasticnet", None))
        if self.penalty == "deprecated":
            return penalty_of("elasticnet", 0.0 if self.l1_ratio is None else self.l1_ratio)
        return penalty_of(self.penalty, self.l1_ratio)

    def _C(self) -> float:
        C = check_C(self.C)
        return np.inf if self.penalty is None else C

    def _warn_of_ignored(self) -> None:
        """Say what has no effect beside `penalty`, where scikit-learn does: a grid may hold both."""
        said, r = self.penalty, self.l1_ratio or 0.0
        if said is None and (self.C not in (1.0, None, np.inf) or r):
            self._ignored("Setting penalty=None will ignore the C and l1_ratio parameters")
        elif said in ("l1", "l2") and 0 < r < 1:
            self._ignored(f"l1_ratio parameter is only used when penalty is 'elasticnet'. Got (penalty={said})")
        elif said == "l2" and r:
            self._ignored(f"Inconsistent values: penalty=l2 with l1_ratio={r}; l1_ratio is ignored")

    def _ignored(self, what: str) -> None:
        warn(f"{what}.", UserWarning)

    def _counted(self, results: list[Result]) -> IntArray:
        """Return an array, as scikit-learn does of this class: one entry for each objective."""
        return np.array([result.n_iter for result in results], dtype=np.int32)

    def _at_once(self) -> bool:
        """Whether all classes are one objective, by softmax; for two that would be the same up to the penalty."""
        return len(self.classes_) > 2 and self.multi_class != "ovr"

    def _heads(self) -> list[Head]:
        return [Softmax(len(self.classes_))] if self._at_once() else super()._heads()

    def _kinds_of_proof(self) -> tuple[str, ...]:
        return ("softmax",) if self._at_once() else super()._kinds_of_proof()

    def predict_proba(self, X: Any) -> FloatArray:
        """P(k|x), one column a class: σ(±g(x)) for two, the softmax for more, or each one's share of σ for "ovr".

        Weights of classes are part of what is fitted, as in scikit-learn; `linsep.calibrate(model, X, y, "prior")`
        takes them out.
        """
        if hasattr(self, "calibration_"):
            return self.calibration_.probabilities(self.decision_function(X))
        if self.multi_class == "ovr" and len(getattr(self, "classes_", ())) > 2:
            return np.asarray(np.exp(self.predict_log_proba(X)))
        return self._as_precise_as(X, self._read(X, _core.probabilities))

    def predict_log_proba(self, X: Any) -> FloatArray:
        """Return log P(k|x), also where P itself is too small for a float."""
        if hasattr(self, "calibration_"):
            return self.calibration_.log_probabilities(self.decision_function(X))
        scores = self.decision_function(X)
        if scores.ndim == 1 or self.multi_class == "ovr":
            return self._as_precise_as(X, log_probabilities(scores))
        return self._as_precise_as(X, np.asarray(log_softmax(scores, axis=1)))
