"""`LinearSVC`: the linear support vector machine."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .. import losses, penalties
from .._common.checks import check_choice
from ..losses import Loss
from ..objective.heads import CrammerSinger, Head
from ..objective.objective import Objective
from ..penalties import Penalty
from ._certified import CertifiedEstimator
from ._margin import store_support

if TYPE_CHECKING:
    from ..solvers import Result, Solver

FloatArray = NDArray[np.float64]


class LinearSVC(CertifiedEstimator):
    """Linear support vector machine, within a proven distance of the optimum.

    It minimises ``½‖w‖² + C Σ sᵢ ξᵢ`` with the slacks ``ξ = max(0, 1 − z)``, or their squares; more than two classes
    are fitted one against the rest, or by Crammer and Singer's margins between them. The intercept is not penalised,
    unlike in scikit-learn's class of this name, so that the planes are those of its ``SVC(kernel="linear")``.

    Parameters
    ----------
    penalty : {"l2", "l1"}, default="l2"
        ``½‖w‖²`` or ``‖w‖₁``.
    loss : {"hinge", "squared_hinge"}, default="hinge"
        ``ξ``, the support vector machine of the textbooks, or ``ξ²``, scikit-learn's default.
    C : float, default=1.0
        How much the losses count against the penalty; inf or None for no penalty.
    fit_intercept : bool, default=True
    class_weight : dict, "balanced" or None
    tol : float, default=1e-4
        The relative duality gap at which a fit stops.
    max_iter : int, optional
        Iterations of the solver at the most; None for what it is used to. 0 leaves the plane where a fit begins.
    solver : "auto", str or solver, default="auto"
        A name of `linsep.solvers` or an object with settings of its own; scikit-learn's names mean ``"auto"``.
        ``history_.reason`` says why that picked it.
    warm_start : bool, default=False
        Begin where the last fit ended.
    random_state : int, RandomState or None
    n_jobs : int or None
        Threads over the classes, where there are more than two; None for all.
    multi_class : {"ovr", "crammer_singer"}, default="ovr"
        One class against the rest, or all at once: ``½ Σ ‖wₖ‖² + C Σ sᵢ ξᵢ`` with ``ξ = max(0, 1 + gₖ(x) − gᵧ(x))``
        over all other classes k. As in scikit-learn, `loss` plays no part in it then, and of two classes the one plane
        is the difference of both. It needs a penalty of ``"l2"`` and a finite `C`.
    dual : bool or "auto", default="auto"
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
    support_ : array of shape (n_SV,)
        The examples on the margin, inside it or misclassified (those with α > 0), ascending; with more than two
        classes, those that support any of the planes.
    support_vectors_ : array or sparse matrix of shape (n_SV, d)
    n_support_ : array of shape (classes,)
        How many of them each class has.
    dual_coef_ : array of shape (1, n_SV) or (classes, n_SV)
        ``yᵢ αᵢ``, one row for each plane: ``coef_`` is ``dual_coef_ @ support_vectors_``, up to the proven gap.
    slack_ : array of shape (n,) or (n, classes)
        ``ξ = max(0, 1 − z)`` of every example, one column for each plane; of all classes at once one number each.
    converged_ : bool
        Whether the gap is proven to be no more than `tol`; otherwise a warning says what was reached, and why.
    history_, objective_
        As for `SGDClassifier`.

    Examples
    --------
    >>> from linsep import LinearSVC
    >>> model = LinearSVC(C=10.0).fit([[0.0], [1.0], [3.0], [4.0]], ["no", "no", "yes", "yes"])
    >>> model.support_, model.n_support_
    (array([1, 2]), array([1, 1], dtype=int32))
    >>> model.coef_.round(2), model.intercept_.round(2), model.slack_.round(2)
    (array([[1.]]), array([-2.]), array([0., 0., 0., 0.]))
    >>> X, y = [[0.0, 0.0], [0.0, 1.0], [3.0, 0.0], [3.0, 1.0], [0.0, 4.0], [1.0, 4.0]], [1, 1, 2, 2, 3, 3]
    >>> model = LinearSVC(multi_class="crammer_singer").fit(X, y)
    >>> model.coef_.round(2), model.dual_gap_ <= 1e-4
    (array([[-0.36, -0.27],
           [ 0.36, -0.12],
           [ 0.  ,  0.39]]), True)
    """

    def __init__(
        self,
        penalty: str = "l2",
        loss: str = "hinge",
        *,
        C: float | None = 1.0,
        fit_intercept: bool = True,
        class_weight: Mapping[Any, float] | str | None = None,
        tol: float = 1e-4,
        max_iter: int | None = None,
        solver: str | Solver = "auto",
        warm_start: bool = False,
        random_state: Any = None,
        n_jobs: int | None = None,
        multi_class: str = "ovr",
        dual: bool | str = "auto",
        intercept_scaling: float = 1.0,
        verbose: int = 0,
    ) -> None:
        self.penalty = penalty
        self.loss = loss
        self.C = C
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
        self.tol = tol
        self.max_iter = max_iter
        self.solver = solver
        self.warm_start = warm_start
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.multi_class = multi_class
        self.dual = dual
        self.intercept_scaling = intercept_scaling
        self.verbose = verbose

    def _check_parameters(self) -> None:
        check_choice("multi_class", self.multi_class, ("ovr", "crammer_singer"))
        super()._check_parameters()
        if self.multi_class == "crammer_singer" and self.penalty != "l2":
            raise ValueError(
                f"penalty={self.penalty!r} is not possible with multi_class='crammer_singer'; use 'l2', or 'ovr'"
            )
        if self.multi_class == "crammer_singer" and not self._statement().penalised:
            raise ValueError(f"C={self.C} is not possible with multi_class='crammer_singer', which needs a penalty")

    def _loss(self) -> Loss:
        check_choice("loss", self.loss, ("hinge", "squared_hinge"))
        return losses.get("hinge" if self.multi_class == "crammer_singer" else self.loss)

    def _penalty(self) -> Penalty:
        check_choice("penalty", self.penalty, ("l2", "l1"))
        if self.multi_class == "crammer_singer" and len(getattr(self, "classes_", ())) == 2:
            return Penalty(0.5, 0.0)  # the two planes are ±½w, so that ½‖w₁‖² + ½‖w₂‖² is half of ½‖w‖²
        return penalties.get(self.penalty)

    def _at_once(self) -> bool:
        """Whether all classes are one objective; for two the difference of their planes is one plane."""
        return len(self.classes_) > 2 and self.multi_class == "crammer_singer"

    def _heads(self) -> list[Head]:
        return [CrammerSinger(len(self.classes_))] if self._at_once() else super()._heads()

    def _kinds_of_proof(self) -> tuple[str, ...]:
        return ("crammer_singer",) if self._at_once() else super()._kinds_of_proof()

    def _after_fit(self, problems: list[Objective], results: list[Result]) -> None:
        super()._after_fit(problems, results)
        store_support(self, problems, results)
