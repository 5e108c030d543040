"""The solvers of the race: one adapter each, all for ½‖w‖² + C Σ ℓ(y(w·x + b)), ‖w‖₁ + …, ½‖W‖² + C Σ −log p.

A solver that minimises the mean of the losses gets its penalty divided by C times the number of rows.
Packages are imported when a solver is built, so that one that is not installed is only missing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

FOREVER = 1_000_000  # iterations: the tolerance decides when a solver stops, not this
FACTORISABLE = 2_000  # columns up to which a d × d Hessian is worth forming


@dataclass(frozen=True)
class Case:
    """One problem of the race: a data set, a loss, and whether there is an (unpenalised) intercept."""

    problem: str
    loss: str
    intercept: bool
    rows: int
    columns: int
    sparse: bool
    classes: int = 2
    C: float = 1.0

    @property
    def title(self) -> str:
        """Data set and loss, for people."""
        return f"{self.problem} {self.loss}"

    @property
    def strength(self) -> float:
        """What the penalty counts beside the mean of the losses."""
        return 1.0 / (self.C * self.rows)


def as_given(X: Any, y: np.ndarray) -> tuple[Any, ...]:
    return X, y


def zero_one(X: Any, y: np.ndarray) -> tuple[Any, ...]:
    return X, (y > 0).astype(float)


@dataclass(frozen=True)
class Peer:
    """A solver: `build(case, tol)` gives an estimator, whose `fit(*prepare(X, y))` is what the race times."""

    name: str
    applies: Callable[[Case], bool]
    build: Callable[[Case, float], Any]
    prepare: Callable[[Any, np.ndarray], tuple[Any, ...]] = as_given
    rungs: int = 9  # tolerances 1e-1, 1e-2, …, one for each


def plane(estimator: Any) -> tuple[np.ndarray, Any]:
    """Return the weights and the intercept in float64, whatever shape and type the estimator keeps them in."""
    if np.ndim(estimator.coef_) == 2 and len(estimator.coef_) > 1:  # of several classes
        return np.asarray(estimator.coef_, dtype=float), np.asarray(estimator.intercept_, dtype=float)
    w = np.asarray(estimator.coef_, dtype=float).ravel()
    b = np.asarray(getattr(estimator, "intercept_", 0.0), dtype=float).ravel()
    return w, float(b[0]) if b.size else 0.0


# linsep


def linsep(case: Case, tol: float) -> Any:
    import linsep

    if case.loss == "l1":
        return linsep.LogisticRegression(penalty="l1", C=case.C, tol=tol, fit_intercept=case.intercept)
    if case.loss != "hinge":
        return linsep.LogisticRegression(C=case.C, tol=tol, fit_intercept=case.intercept)
    return linsep.LinearSVC(loss="hinge", C=case.C, tol=tol, fit_intercept=case.intercept)


# scikit-learn


def sklearn_logistic(solver: str, **options: Any) -> Callable[[Case, float], Any]:
    def build(case: Case, tol: float) -> Any:
        from sklearn.linear_model import LogisticRegression

        return LogisticRegression(
            C=case.C, solver=solver, tol=tol, fit_intercept=case.intercept, max_iter=FOREVER, random_state=0, **options
        )

    return build


def sklearn_hinge(case: Case, tol: float) -> Any:
    from sklearn.svm import LinearSVC

    return LinearSVC(loss="hinge", C=case.C, tol=tol, fit_intercept=case.intercept, max_iter=FOREVER, random_state=0)


# LIBLINEAR's own Python interface


def liblinear_problem(X: Any, y: np.ndarray) -> tuple[Any, ...]:
    """Copy the data into LIBLINEAR's linked rows: timed apart from `train`, and reported apart."""
    from liblinear.liblinearutil import problem
    from scipy.sparse import csr_matrix

    return problem(y, csr_matrix(X)), X.shape[1]


class Liblinear:
    """`train` of liblinear-official as an estimator on a prepared `problem`."""

    def __init__(self, options: str, C: float, intercept: bool) -> None:
        from liblinear.liblinearutil import parameter

        # -R leaves the bias unpenalised; LIBLINEAR has that for its primal solvers only.
        self.parameter = parameter(f"{options} -c {C!r} -q " + ("-B 1 -R" if intercept else "-B -1"))
        self.intercept = intercept

    def fit(self, prepared: Any, columns: int) -> Liblinear:
        """Train on what `liblinear_problem` gave."""
        from liblinear.liblinearutil import train

        self.model, self.columns = train(prepared, self.parameter), columns
        return self

    @property
    def weights(self) -> np.ndarray:
        """Coefficients, then the bias; LIBLINEAR's point to the label it met first, which need not be +1."""
        w = np.ctypeslib.as_array(self.model.w, (self.columns + self.intercept,))
        return w * self.model.get_labels()[0]

    @property
    def coef_(self) -> np.ndarray:
        """The weights."""
        return self.weights[: self.columns]

    @property
    def intercept_(self) -> np.ndarray:
        """The bias, empty where there is none."""
        return self.weights[self.columns :]


def liblinear(kind: int) -> Callable[[Case, float], Any]:
    return lambda case, tol: Liblinear(f"-s {kind} -e {tol!r}", case.C, case.intercept)


# snapML, on two threads


def snapml_logistic(dual: bool) -> Callable[[Case, float], Any]:
    def build(case: Case, tol: float) -> Any:
        from snapml import LogisticRegression

        return LogisticRegression(
            regularizer=1.0 / case.C, dual=dual, tol=tol, max_iter=FOREVER, n_jobs=2, use_gpu=False, random_state=0
        )

    return build


def snapml_hinge(case: Case, tol: float) -> Any:
    from snapml import SupportVectorMachine

    return SupportVectorMachine(
        loss="hinge", regularizer=1.0 / case.C, tol=tol, max_iter=FOREVER, n_jobs=2, use_gpu=False, random_state=0
    )


# glum


def glum(solver: str) -> Callable[[Case, float], Any]:
    def build(case: Case, tol: float) -> Any:
        from glum import GeneralizedLinearRegressor

        return GeneralizedLinearRegressor(
            family="binomial",
            alpha=case.strength,
            l1_ratio=0,
            solver=solver,
            gradient_tol=tol,
            fit_intercept=case.intercept,
            max_iter=FOREVER,
        )

    return build


# skglm


class SkglmSmooth:
    """skglm's L-BFGS, which its estimators cannot be given: they ask it for a `fit_intercept` it does not have."""

    def __init__(self, alpha: float, tol: float) -> None:
        self.alpha, self.tol = alpha, tol

    def fit(self, X: Any, y: np.ndarray) -> SkglmSmooth:
        """Minimise over w; there is no intercept."""
        from skglm.datafits import Logistic
        from skglm.penalties import L2
        from skglm.solvers import LBFGS

        X = X.tocsc() if hasattr(X, "tocsc") else np.asfortranarray(X)
        solver = LBFGS(max_iter=FOREVER, tol=self.tol)
        self.coef_ = solver.solve(X, y, Logistic(), L2(self.alpha))[0]
        return self


def skglm_lbfgs(case: Case, tol: float) -> Any:
    return SkglmSmooth(case.strength, tol)


def skglm_newton(case: Case, tol: float) -> Any:
    from skglm import GeneralizedLinearEstimator
    from skglm.datafits import Logistic
    from skglm.penalties import L1_plus_L2
    from skglm.solvers import ProxNewton

    # Its L2 lacks what ProxNewton asks of a penalty; the elastic net without its L1 part is the same.
    solver = ProxNewton(tol=tol, max_iter=1_000, fit_intercept=case.intercept)
    return GeneralizedLinearEstimator(Logistic(), L1_plus_L2(case.strength, 0.0), solver)


def skglm_hinge(case: Case, tol: float) -> Any:
    from skglm import LinearSVC

    return LinearSVC(C=case.C, tol=tol, max_iter=10_000, fit_intercept=False)


# L1


def sklearn_l1(solver: str) -> Callable[[Case, float], Any]:
    def build(case: Case, tol: float) -> Any:
        from sklearn.linear_model import LogisticRegression

        common = dict(C=case.C, solver=solver, tol=tol, fit_intercept=case.intercept, max_iter=FOREVER, random_state=0)
        return LogisticRegression(l1_ratio=1, **common)

    return build


class SkglmL1:
    """skglm's proximal Newton with working sets, compiled before it is timed."""

    def __init__(self, alpha: float, tol: float, intercept: bool) -> None:
        self.alpha, self.tol, self.intercept = alpha, tol, intercept

    def fit(self, X: Any, y: np.ndarray) -> SkglmL1:
        """Minimise the mean of the losses and α‖w‖₁."""
        from skglm.datafits import Logistic
        from skglm.penalties import L1
        from skglm.solvers import ProxNewton

        solver = ProxNewton(tol=self.tol, max_iter=1_000, fit_intercept=self.intercept)
        w = solver.solve(X, y, Logistic(), L1(self.alpha))[0]
        self.coef_, self.intercept_ = w[: X.shape[1]], w[X.shape[1] :]
        return self


def skglm_l1(case: Case, tol: float) -> Any:
    return SkglmL1(case.strength, tol, case.intercept)


def by_columns(X: Any, y: np.ndarray) -> tuple[Any, ...]:
    """Copy the data into the order that solvers by coordinates need: timed apart, and reported apart."""
    return X.tocsc() if hasattr(X, "tocsc") else np.asfortranarray(X), y


def celer_l1(case: Case, tol: float) -> Any:
    from celer import LogisticRegression

    return LogisticRegression(C=case.C, tol=tol, max_iter=1_000)


def glum_l1(case: Case, tol: float) -> Any:
    from glum import GeneralizedLinearRegressor

    options = dict(solver="irls-cd", gradient_tol=tol, fit_intercept=case.intercept, max_iter=FOREVER)
    return GeneralizedLinearRegressor(family="binomial", alpha=case.strength, l1_ratio=1, **options)


# who runs where


def logistic(case: Case) -> bool:
    return case.loss == "logistic"


def softmax_too(case: Case) -> bool:
    return case.loss in {"logistic", "softmax"}


def softmax_too_narrow(case: Case) -> bool:
    """Say whether a Hessian of all weights is worth forming: of several classes, those of all of them."""
    return softmax_too(case) and case.columns * (case.classes if case.classes > 2 else 1) <= FACTORISABLE


def logistic_narrow(case: Case) -> bool:
    return logistic(case) and case.columns <= FACTORISABLE


def logistic_plain(case: Case) -> bool:
    """Say whether a solver that cannot leave an intercept unpenalised may take part."""
    return logistic(case) and not case.intercept


def hinge_plain(case: Case) -> bool:
    return case.loss == "hinge" and not case.intercept


def l1(case: Case) -> bool:
    return case.loss == "l1"


def l1_plain(case: Case) -> bool:
    return l1(case) and not case.intercept


def l1_narrow(case: Case) -> bool:
    return l1(case) and case.columns <= FACTORISABLE


LINSEP = Peer("linsep", lambda case: True, linsep)

PEERS = [
    Peer("sklearn lbfgs", softmax_too, sklearn_logistic("lbfgs")),
    Peer("sklearn newton-cg", softmax_too, sklearn_logistic("newton-cg")),
    Peer("sklearn newton-cholesky", softmax_too_narrow, sklearn_logistic("newton-cholesky")),
    Peer("sklearn sag", softmax_too, sklearn_logistic("sag")),
    Peer("sklearn saga", softmax_too, sklearn_logistic("saga")),
    Peer("sklearn liblinear", logistic_plain, sklearn_logistic("liblinear")),
    Peer("sklearn liblinear dual", logistic_plain, sklearn_logistic("liblinear", dual=True)),
    Peer("sklearn LinearSVC", hinge_plain, sklearn_hinge),
    Peer("liblinear -s 0", logistic, liblinear(0), liblinear_problem),
    Peer("liblinear -s 7", logistic_plain, liblinear(7), liblinear_problem),
    Peer("liblinear -s 3", hinge_plain, liblinear(3), liblinear_problem),
    Peer("snapml", logistic_plain, snapml_logistic(dual=True)),
    Peer("snapml primal", logistic_plain, snapml_logistic(dual=False)),
    Peer("snapml svm", hinge_plain, snapml_hinge, rungs=13),
    Peer("glum irls", logistic_narrow, glum("irls-ls"), zero_one),
    Peer("glum lbfgs", logistic, glum("lbfgs"), zero_one),
    Peer("skglm lbfgs", logistic_plain, skglm_lbfgs),
    Peer("skglm newton", logistic, skglm_newton),
    Peer("skglm LinearSVC", hinge_plain, skglm_hinge),
    Peer("liblinear -s 6", l1, liblinear(6), liblinear_problem),
    Peer("sklearn liblinear l1", l1_plain, sklearn_l1("liblinear")),
    Peer("sklearn saga l1", l1, sklearn_l1("saga")),
    Peer("skglm l1", l1, skglm_l1, by_columns),
    Peer("celer l1", l1_plain, celer_l1, by_columns),
    Peer("glum l1", l1_narrow, glum_l1, zero_one),
]


def solvers(case: Case) -> list[Peer]:
    """Return who takes part: linsep first, since its tightest run fixes the optimum the others are held to."""
    return [LINSEP, *(peer for peer in PEERS if peer.applies(case))]


def find(name: str) -> Peer:
    return next(peer for peer in [LINSEP, *PEERS] if peer.name == name)
