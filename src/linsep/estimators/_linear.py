"""`LinearClassifier`, for any loss and any solver, and `LeastSquaresClassifier`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.metaestimators import available_if

from .. import losses, penalties
from ..losses import Loss
from ..objective.objective import Objective
from ..penalties import Penalty
from ._base import LinearEstimator
from ._certified import SolverEstimator
from ._margin import SUPPORT, store_support
from ._specification import check_C
from ._streaming import PenalisedEstimator, StreamingEstimator

if TYPE_CHECKING:
    from ..solvers import Result, Solver

FloatArray = NDArray[np.float64]


def _is_stochastic(estimator: Any) -> bool:
    from ..solvers import StochasticDescent

    if isinstance(estimator._solver(), StochasticDescent):
        return True
    raise AttributeError(f"partial_fit needs a stochastic solver such as solver='sgd', not {estimator.solver!r}")


class LinearClassifier(SolverEstimator, PenalisedEstimator):
    """The general linear classifier: any loss, any penalty, any solver.

    It minimises ``penalty(w) + C Σ sᵢ ℓ(zᵢ)``.

    Parameters
    ----------
    loss : str or Loss, default="hinge"
        A name, or an object of `linsep.losses` or of your own subclass of `linsep.losses.Loss`. The risk of
        ``"perceptron"`` is least at w = 0, which tells nothing apart: what is reported is the best plane met on the
        way there, with a warning, and not proven.
    penalty : {"l2", "l1", "elasticnet", None} or Penalty, default="l2"
    C : float, default=1.0
        How much the losses count against the penalty; inf or None for no penalty.
    l1_ratio : float, default=0.15
        The share of L1 in ``penalty="elasticnet"``.
    solver : "auto", str or solver, default="auto"
        A name (``"newton"``, ``"dual"``, ``"interior_point"``, ``"least_squares"``, ``"gradient_descent"``, ``"sgd"``,
        ``"perceptron"``, …) or an object of `linsep.solvers` with settings of its own. ``history_.reason`` says why
        ``"auto"`` picked it.
    tol : float, default=1e-4
        The relative duality gap at which a fit stops, for solvers that prove one (``"newton"``, ``"dual"``).
    max_iter : int, optional
        Iterations at the most, for a solver given by name; None for what that solver is used to. 0 leaves the plane
        where a fit begins.
    fit_intercept : bool, default=True
    class_weight : dict, "balanced" or None
    random_state : int, RandomState or None
    warm_start : bool, default=False
    n_jobs : int or None
        Threads over the classes, where there are more than two; None for all.

    Attributes
    ----------
    coef_, intercept_, classes_, n_iter_, n_features_in_, feature_names_in_
        As in scikit-learn.
    converged_ : bool
        Whether the gap is proven to be no more than `tol`, whatever the solver; otherwise a warning says what was
        reached, and why. Of a loss of your own without a conjugate nothing can be proven: whether its solver came to
        its end.
    redundant_ : dict of {name: relation}
        As for `LogisticRegression`.
    history_, objective_
        As for `SGDClassifier`.
    certificate_ : Certificate or Certificates
        What is proven of the plane, and ``certificate_.verify(X, y)``, which proves it again from the data alone.
    dual_gap_ : float
        How far from the optimum the fit can be, as a share of the objective; infinite where nothing is proven.
    slack_, support_, support_vectors_, n_support_, dual_coef_
        Of the losses with a margin (hinge, squared hinge), as for `LinearSVC`; for hinge all but ``slack_`` need a
        solver that works in the dual.

    Examples
    --------
    >>> from linsep import LinearClassifier
    >>> model = LinearClassifier("logistic").fit([[0.0], [1.0], [3.0], [4.0]], [0, 0, 1, 1])
    >>> model.dual_gap_ <= 1e-4
    True
    >>> X, y = [[0.0], [1.0], [3.0], [4.0]], [0, 0, 1, 1]
    >>> LinearClassifier("square", C=None).fit(X, y)
    LinearClassifier(C=None, loss='square')  # minimised Σ (1 − z)²
    """

    _of_a_whole_fit = SUPPORT

    def __init__(
        self,
        loss: str | Loss = "hinge",
        *,
        penalty: str | Penalty | None = "l2",
        C: float | None = 1.0,
        l1_ratio: float | None = 0.15,
        solver: str | Solver = "auto",
        tol: float = 1e-4,
        max_iter: int | None = None,
        fit_intercept: bool = True,
        class_weight: Mapping[Any, float] | str | None = None,
        random_state: Any = None,
        warm_start: bool = False,
        n_jobs: int | None = None,
    ) -> None:
        self.loss = loss
        self.penalty = penalty
        self.C = C
        self.l1_ratio = l1_ratio
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
        self.random_state = random_state
        self.warm_start = warm_start
        self.n_jobs = n_jobs

    def _after_fit(self, problems: list[Objective], results: list[Result]) -> None:
        super()._after_fit(problems, results)
        store_support(self, problems, results)

    partial_fit = available_if(_is_stochastic)(StreamingEstimator.partial_fit)


class LeastSquaresClassifier(LinearEstimator):
    """Least squares on the labels ±1, thresholded: the normal equations, or the solution of least norm.

    It minimises ``½‖w‖² + C Σ sᵢ (1 − zᵢ)²``; by default without the penalty.

    Parameters
    ----------
    C : float or None, default=inf
        How much the losses count against the penalty; inf or None for no penalty.
    fit_intercept : bool, default=True
    class_weight : dict, "balanced" or None
    n_jobs : int or None
        Threads over the classes, where there are more than two; None for all.

    Attributes
    ----------
    coef_, intercept_, classes_, n_iter_, n_features_in_, feature_names_in_
        As in scikit-learn.
    converged_ : bool
        Whether the gap is proven to be no more than 1e-4; otherwise a warning says what was reached, and why. Where a
        plane can meet all labels (no more examples than columns) the objective is zero but for rounding, and nothing
        is.
    redundant_ : dict of {name: relation}
        As for `LogisticRegression`.
    history_, objective_
        As for `SGDClassifier`; ``history_.reason`` says which way the equations were solved.
    certificate_, dual_gap_
        As for `LinearClassifier`.

    Examples
    --------
    >>> from linsep import LeastSquaresClassifier
    >>> model = LeastSquaresClassifier().fit([[0.0], [1.0], [3.0], [4.0]], [0, 0, 1, 1])
    >>> model.coef_.round(3).tolist(), model.intercept_.round(3).tolist()
    ([[0.6]], [-1.2])
    """

    def __init__(
        self,
        *,
        C: float | None = np.inf,
        fit_intercept: bool = True,
        class_weight: Mapping[Any, float] | str | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.C = C
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
        self.n_jobs = n_jobs

    def _loss(self) -> Loss:
        return losses.Square()

    def _penalty(self) -> Penalty:
        return penalties.L2()

    def _C(self) -> float:
        return check_C(self.C)
