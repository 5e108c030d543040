"""`Perceptron`: one mistake a step, with the proof that it ends, or that no plane separates the classes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from .. import losses
from .._common.checks import check_choice, check_count
from .._common.types import FloatArray, IntArray
from .._core import Rows, is_sparse, length
from ..certificates.kinds.separability import Verdicts
from ..certificates.proof import ProofAttribute
from ..geometry import augment
from ..losses import Loss
from ..objective.objective import Objective
from ..penalties import Penalty
from ..separation.nearest import nearest_points
from ..separation.verdict import NotSeparableError, Separability, of_plane
from . import _scaling as scaling
from ._exact import ExactEstimator, intercept_helps
from ._scikit_learn import ScikitLearnNames
from ._specification import penalty_of

if TYPE_CHECKING:
    from ..solvers import Result, Solver, Votes

#: Which plane a perceptron is that ended with mistakes left, by what it was told to keep.
REPORTED = {
    "best": "The plane reported is the one with the fewest mistakes of those on the way",
    "last": "The plane reported is the last",
    "average": "The plane reported is the average over all steps",
    "vote": "All planes vote, each as often as it was right",
}

#: Of the longest row: a margin that scaling may have made by rounding, and (R/γ)² more mistakes than anybody waits for.
ROUNDING = 2.0**-40


class Perceptron(ExactEstimator, ScikitLearnNames):
    """Rosenblatt's perceptron: on a mistake (z ≤ 0) add y x to w and y to b, until there are none.

    On separable data it ends with no mistakes. On others it never would: so after 1, 2, 4, 8, … passes it also works
    towards a proof that no plane separates, about as long as these passes took, and stops with the proof (unless it
    keeps the last plane, once the fewest mistakes have stood for 50 passes). Otherwise it stops after `max_iter`.

    Parameters
    ----------
    order : {"random", "cyclic", "worst"}, default="random"
        Draw examples at random, take them as they come, or take the worst violator each time. In cyclic order a row of
        weight two takes one step of double length; in the others it is the same as two rows.
    keep : {"best", "last", "average", "vote"} or None
        Report the plane with the fewest mistakes (z ≤ 0) after any update, of as many that with the lowest risk (the
        pocket algorithm; it looks at the same planes however many are recorded, on large data at the ends of passes and
        at those that stood for longest), the last one, the mean of all (the averaged perceptron), or let all of them
        vote, each as often as it survived. None for the first, or with scikit-learn's names for the last.
    max_iter : int, default=1000
        Passes over the data at the most (for ``order="worst"``, updates).
    fit_intercept : bool, default=True
    class_weight : dict, "balanced" or None
    record : {"pass", "update"}, default="pass"
        What ``history_`` holds: the end of every pass, or every update with its iterate and example. Its column
        ``best`` is the best of what it holds; the plane reported may be one between two passes, with fewer mistakes
        than any of these.
    prove : bool, default=True
        Whether to look for the proof; without it a run on data that overlap takes all `max_iter` passes, and
        ``separability_`` is None. A proof is exact: numbers that are no 64-bit floats are refused, without it rounded.
    random_state : int, RandomState or None, default=0
    warm_start : bool, default=False
    n_jobs : int or None
        Threads over the classes, where there are more than two; None for all.
    penalty : {"l2", "l1", "elasticnet"} or None, default=None
    l1_ratio : float, default=0.15
        The share of L1 in ``penalty="elasticnet"``.
    eta0 : float, optional
        What multiplies every step; without a penalty it changes nothing but the length of w.
    alpha, tol, early_stopping, validation_fraction, n_iter_no_change, shuffle
        As in scikit-learn: if one of them is given, or `penalty` or `eta0`, those that are not have scikit-learn's
        defaults, each example is visited once a pass, and the last plane is reported. ``tol=None`` takes all passes,
        ``"auto"`` stops without mistakes or with a proof.
    verbose : int, default=0
        Whether to print how the fit ended.

    Attributes
    ----------
    coef_, intercept_, classes_, n_iter_, n_features_in_, feature_names_in_
        As in scikit-learn. With ``keep="vote"``, ``coef_`` is the averaged plane, the voters' linear summary.
    mistakes_ : int
        Updates made (by the class with the most).
    update_counts_ : array of shape (n,) or (classes, n)
        How often each example caused an update: the dual variables, since ``w = Σ countᵢ yᵢ xᵢ`` of the last plane
        (of a fit without weights that began at w = 0; of 32-bit examples, rounded to that).
    radius_, margin_, mistake_bound_ : float or array
        R, the largest ‖[x, 1]‖; γ, the margin of the reported plane in that augmented space; and Novikoff's bound
        (R/γ)² on the mistakes of any order that begins at w = 0 (infinite where the plane does not separate). With a
        penalty, which shrinks w between the mistakes, there is no such bound, and no such attribute. NaN where nothing
        is measured: after a few passes over large data with ``tol=None``.
    best_margin_, best_mistake_bound_ : float or array
        The same γ and (R/γ)² of the plane through the origin of that space with the largest margin, to one percent: the
        best that the bound can say (without a penalty). NaN where nothing separates, and on large data, where it would
        take too long.
    separability_ : Separability, None, or a list with one for each class
        The proof that the classes are separable or not (on large data without saying whether a plane separates them
        weakly); None where it was not looked for or not found.
    converged_, history_, objective_, t_
        As for `SGDClassifier`.

    Examples
    --------
    >>> from linsep import Perceptron
    >>> X, y = [[0.0, 0.0], [0.0, 1.0], [3.0, 2.0], [4.0, 3.0]], [0, 0, 1, 1]
    >>> model = Perceptron(order="cyclic").fit(X, y)
    >>> model.predict(X), model.mistakes_, model.converged_
    (array([0, 0, 1, 1]), 4, True)
    """

    _of_a_whole_fit = (
        "update_counts_",
        "radius_",
        "margin_",
        "mistake_bound_",
        "best_margin_",
        "best_mistake_bound_",
        "_ballots",
    )

    _own_rule = True
    _single_of_single = True
    _defaults: ClassVar[Mapping[str, Any]] = {"learning_rate": "constant", "eta0": 1.0}
    separability_ = ProofAttribute(Verdicts)

    def __init__(
        self,
        *,
        order: str = "random",
        keep: str | None = None,
        max_iter: int = 1000,
        fit_intercept: bool = True,
        class_weight: Mapping[Any, float] | str | None = None,
        record: str = "pass",
        prove: bool = True,
        random_state: Any = 0,
        warm_start: bool = False,
        n_jobs: int | None = None,
        penalty: str | Penalty | None = None,
        alpha: float | None = None,
        l1_ratio: float | None = 0.15,
        tol: float | str | None = "auto",
        shuffle: bool | None = None,
        eta0: float | None = None,
        early_stopping: bool | None = None,
        validation_fraction: float | None = None,
        n_iter_no_change: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.order = order
        self.keep = keep
        self.max_iter = max_iter
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
        self.record = record
        self.prove = prove
        self.random_state = random_state
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.penalty = penalty
        self.alpha = alpha
        self.l1_ratio = l1_ratio
        self.tol = tol
        self.shuffle = shuffle
        self.eta0 = eta0
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.verbose = verbose

    def _check_parameters(self) -> None:
        check_choice("order", self.order, ("random", "cyclic", "worst"))
        check_choice("keep", self.keep, (None, "best", "last", "average", "vote"))
        check_choice("record", self.record, ("pass", "update"))
        check_count("max_iter", self.max_iter)
        self._check_names()
        self._penalty()
        if self.keep == "vote" and self.warm_start:
            raise ValueError("keep='vote' counts planes from w = 0; it cannot go on from a warm start")

    def _loss(self) -> Loss:
        return losses.Perceptron()

    def _penalty(self) -> Penalty:
        return penalty_of(self.penalty, self.l1_ratio)

    def _C(self) -> float:
        return np.inf if self.penalty is None else self._strength(1.0, 1.0)

    def _given(self) -> dict[str, Any]:
        return super()._given() | ({} if self.penalty is None else {"penalty": self.penalty})

    def _kinds_of_proof(self) -> tuple[str, ...]:
        return ("separability",) if self._is_scikit_learns() else ("gap", "separability")

    def _solver(self) -> Solver:
        from ..solvers import PerceptronRule

        if not self._is_scikit_learns():
            settings: Any = dict(order=self.order, keep=self.keep or "best", max_iter=self.max_iter, record=self.record)
            return PerceptronRule(prove=bool(self.prove), **settings)
        return PerceptronRule(**self._walk())

    def _is_exact(self) -> bool:
        return bool(self.prove)

    def _is_linear(self, X: Any) -> bool:
        """Whether a fit multiplies rows and adds them, and no more: where no rule asks of large data."""
        from ..solvers.first_order.walk import LARGE

        return self._is_scikit_learns() and self._terms().endless and (X.nnz if is_sparse(X) else X.size) > LARGE

    def _as_precise(self, objectives: list[Objective], learned: list[tuple[Result, Any]]) -> list[tuple[Result, Any]]:
        """Return planes as precise as the data, unless one without mistakes would make some."""
        rounded = super()._as_precise(objectives, learned)
        each = zip(objectives, learned, rounded, strict=True) if rounded is not learned else ()
        spoiled = any(
            objective.agreements(now.w, now.b).min() <= 0 < objective.agreements(before.w, before.b).min()
            for objective, (before, _), (now, _) in each
        )
        return learned if spoiled else rounded

    def _remedy(self, objective: Objective, has_advice: bool) -> str:
        found = self.separability_ if isinstance(self.separability_, list) else [self.separability_]
        column = scaling.in_the_way(objective, self._feature_names)
        for label, head, proof in zip(self.classes_, self._heads(), found, strict=False):
            if proof is not None and not proof.separable:
                who = None if len(found) == 1 else f"class {label} and the rest"
                helps = intercept_helps(replace(objective, head=head))
                scale = f"; others may make fewer, since {column}: {scaling.REMEDY}" if column else ""
                return f": {NotSeparableError(proof, who, intercept_helps=helps)}. {self._reported()}{scale}"
        scale = f", or scale the columns first: {column}" if column else ""
        proven = [proof for proof in found if proof is not None]
        if len(proven) == len(found):
            margin = min(proof.margin or 0.0 for proof in proven)
            if margin < ROUNDING * self.radius_:
                return (
                    f" with mistakes left: a plane separates these numbers by a margin of {margin:.1e} only, which may "
                    "be but the rounding of columns that were scaled; more passes will hardly find one"
                )
            return f" with mistakes left, although the data are linearly separable: raise max_iter{scale}"
        return (
            f" with mistakes left: the data may not be linearly separable, and then it never ends. {self._reported()}; "
            f"if you know that the data are separable, raise max_iter{scale}"
        )

    def _reported(self) -> str:
        """Say which of the planes that it had on its way is the model."""
        which = REPORTED[self.keep or (self._walk()["keep"] if self._is_scikit_learns() else "best")]
        return (
            which
            if self.classes_.size == 2
            else which.replace("plane reported is the one", "planes reported are those")
        )

    def _after_fit(self, problems: list[Objective], results: list[Result]) -> None:
        super()._after_fit(problems, results)
        counts = np.array([result.update_counts for result in results])
        self.update_counts_ = counts[0] if len(results) == 1 else counts
        measured = not np.isnan(results[0].history.records[-1].objective)
        self.radius_ = _radius(problems[0]) if measured else np.nan
        margins = [_augmented_margin(*each) if measured else np.nan for each in zip(problems, results, strict=True)]
        self.margin_ = margins[0] if len(results) == 1 else np.array(margins)
        self._store_verdicts(problems, results)
        self._store_bounds(penalised=problems[0].penalised)
        self.__dict__.pop("_ballots", None)
        if self.keep == "vote":
            self._ballots = [Ballot.of(p.rows.X, r.votes) for p, r in zip(problems, results, strict=True) if r.votes]

    def _store_verdicts(self, problems: list[Objective], results: list[Result]) -> None:
        """Say which data are separable, and how large a margin those have."""
        found = [self._verdict(problem, r) for problem, r in zip(problems, results, strict=True)]
        best = [
            _largest_margin(problem) if v is not None and v.separable else np.nan
            for problem, v in zip(problems, found, strict=True)
        ]
        self.separability_ = self._in_words(found)
        self.best_margin_ = best[0] if len(results) == 1 else np.array(best)

    def _store_bounds(self, *, penalised: bool) -> None:
        """Keep Novikoff's bounds, which hold where nothing but mistakes moves w."""
        for bound, margin in (("mistake_bound_", self.margin_), ("best_mistake_bound_", self.best_margin_)):
            self.__dict__.pop(bound, None)
            if not penalised:
                each = [_novikoff(self.radius_, one) for one in np.atleast_1d(margin)]
                setattr(self, bound, each[0] if np.ndim(margin) == 0 else np.array(each))

    def _verdict(self, problem: Objective, result: Result) -> Separability | None:
        """Return what the run proved, by its last plane or on its way; on small data, ask for what it left open."""
        from ..solvers.first_order.prover import Prover
        from ..solvers.first_order.walk import LARGE

        if not self.prove:
            return None
        if result.converged and problem.sample_weight is None:
            last = result.last
            proof = of_plane(problem.rows.X, problem.y, last.w, last.b, fit_intercept=problem.fit_intercept)
            if proof is not None:
                return proof
        found = result.separability
        if result.interrupted or problem.rows.stored > LARGE or (found is not None and found.separable):
            return found
        return Prover(problem).ask() or found

    def _in_words(self, found: list[Separability | None]) -> list[Separability | None]:
        """Return the verdicts with the user's labels (of more than two classes, of y == label) and columns."""
        names = getattr(self, "feature_names_in_", None)
        said = None if names is None else [str(name) for name in names]
        classes = tuple(self.classes_.tolist()) if len(found) == 1 else (False, True)
        return [None if v is None else replace(v, classes=classes, feature_names=said) for v in found]

    def decision_function(self, X: Any) -> FloatArray:
        """g(x) = w·x + b; with ``keep="vote"``, the share of votes for minus against, between −1 and 1."""
        scores = super().decision_function(X)
        if not hasattr(self, "_ballots"):
            return scores
        X = self._check_X(X, reset=False)
        votes = np.column_stack([ballot.count(X, self.fit_intercept) for ballot in self._ballots])
        return votes[:, 0] if scores.ndim == 1 else votes

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class of each row: that of the plane, or with ``keep="vote"`` that of most votes."""
        if not hasattr(self, "_ballots") or hasattr(self, "threshold_"):
            return super().predict(X)
        votes = self.decision_function(X)
        return np.asarray(self.classes_.take(votes > 0 if votes.ndim == 1 else votes.argmax(axis=1)))


def _novikoff(R: float, margin: float) -> float:
    """(R/γ)², infinite where no float holds it or the plane does not separate; NaN of a margin that is not known."""
    if margin <= 0:
        return np.inf
    with np.errstate(over="ignore"):
        return float(np.square(np.float64(R) / margin))


def _radius(problem: Objective) -> float:
    """Return the largest ‖[x, 1]‖, or ‖x‖ without intercept."""
    return float(np.sqrt((problem.rows.squared_norms() + problem.fit_intercept).max()))


def _augmented_margin(problem: Objective, result: Result) -> float:
    size = float(np.hypot(length(result.w), result.b))
    if size == 0:
        return 0.0
    least = problem.agreements(result.w, result.b).min() if result.least is None else result.least
    return float(least) / size


def _largest_margin(problem: Objective) -> float:
    """Return γ of the best plane through the origin of the (augmented) space, from below; NaN on large data."""
    from ..solvers.first_order.walk import LARGE

    if problem.rows.stored > LARGE or problem.sample_weight is not None:
        return np.nan
    rows = Rows(augment(problem.rows.X)) if problem.fit_intercept else problem.rows
    found = nearest_points(rows, problem.y, intercept=False, tol=0.02, max_iter=10_000)
    return found.low if found.low > 0 else np.nan


@dataclass(frozen=True, eq=False)
class Ballot:
    """The planes of a voted perceptron: all are partial sums of the same examples, so these are what is stored."""

    X: Any
    places: IntArray
    signs: FloatArray
    counts: FloatArray

    @classmethod
    def of(cls, X: Any, votes: Votes) -> Self:
        """Return the votes of a run on X."""
        examples, places = np.unique(votes.examples, return_inverse=True)
        return cls(X[examples], places, votes.signs, votes.counts / max(1, votes.counts.sum()))

    def check(self, d: int) -> None:
        """Raise unless these are votes on rows of so many columns."""
        votes = [self.places, self.signs, self.counts]
        if not (isinstance(self.X, np.ndarray) or is_sparse(self.X)) or self.X.ndim != 2 or self.X.shape[1] != d:
            raise ValueError(f"votes are made of rows with {d} columns")
        if not all(isinstance(one, np.ndarray) and one.shape == (len(self.signs),) for one in votes):
            raise ValueError("each vote needs a place, a sign and a count")
        numbers = [self.X.data if is_sparse(self.X) else self.X, self.signs, self.counts]
        if any(one.dtype.kind not in "fiub" or not np.isfinite(one).all() for one in numbers):
            raise ValueError("votes are finite numbers")
        if self.places.dtype.kind not in "iu" or not ((self.places >= 0) & (self.places < self.X.shape[0])).all():
            raise ValueError("a vote is of no row")

    def count(self, X: Any, intercept: bool) -> FloatArray:
        """Return the votes for minus the votes against every row."""
        if len(self.signs) == 0:
            return np.ones(X.shape[0])
        total = np.empty(X.shape[0])
        size = max(1, 2**22 // len(self.signs))
        for first in range(0, X.shape[0], size):
            products = X[first : first + size] @ self.X.T
            products = products.toarray() if is_sparse(products) else products
            steps = (products.astype(np.float64) + intercept)[:, self.places] * self.signs
            planes = np.cumsum(steps, axis=1)
            total[first : first + size] = np.where(planes >= 0, 1.0, -1.0) @ self.counts
        return total
