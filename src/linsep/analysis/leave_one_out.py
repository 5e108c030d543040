"""Leave-one-out: what a fit on all other rows says of each row, without as many fits.

With θ = (w, b) the optimum of P, c = C s, α = −c ℓ'(z) and H the Hessian, a Newton step from θ towards the optimum of
P without row i, whose Hessian is H less the rank one h x̃x̃ᵀ (x̃ = [x, 1], h = c ℓ''(z), q = x̃ᵀH⁻¹x̃), gives the agreement

    z₋ᵢ ≈ zᵢ − αᵢ qᵢ / (1 − hᵢ qᵢ),        exactly so for least squares.

How far from there the optimum without the row is at the most follows from how fast the curvature changes,
|ℓ'''| ≤ M ℓ'': with the step's length σ, ρ = M L σ and L the longest other row, all in the metric of H less row i,

    ‖∇P₋ᵢ‖ ≤ σ (e^ρ − 1 − ρ)/ρ  =: λ,      and from a gradient of length λ the optimum is ≤ −log(1 − M L λ)/(M L) away.

Whatever the loss and the penalty, leaving a row out never raises its own agreement: gradients of convex functions are
monotone, so αᵢ (z₋ᵢ − zᵢ) ≤ −l2‖w₋ᵢ − w‖² ≤ 0. A row that is wrong stays wrong, and a row with α = 0, no support
vector, changes nothing. For hinge the step is the span of Vapnik and Chapelle (2000), zᵢ − αᵢ Sᵢ², exact where the rows
on the margin stay there. Rows that all this leaves open are left out in earnest, some of them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import linalg
from sklearn.utils.validation import check_is_fitted

from .._common.checks import check_count
from .._common.html import card
from .._common.types import BoolArray, FloatArray
from .._common.words import many
from .._core import Rows
from ..certificates.case import Case
from ..certificates.held_out import Fold, lengths_in
from ..certificates.metrics import WIDER
from ..certificates.training_data import TrainingData
from ..objective.duality import weights
from ..objective.heads import CrammerSinger
from ..objective.objective import Objective
from ..solvers import Result, Start
from .bounds import Bound, bounds_of, support_bounds
from .leave_one_out_softmax import SINGULAR, SoftmaxPlanes, optimum
from .reach import ALONG, after_a_step, inverted, largest_of_others, radius

#: The relative gap of the optima that intervals are about.
SHARP = 1e-10
#: Up to so many columns, or rows where these are fewer, the curvature is factored.
FACTORED = 2000


@dataclass(frozen=True, eq=False, repr=False)
class LeaveOneOut:
    """What is known of each row by a fit on all the others; what `leave_one_out` returns.

    Attributes
    ----------
    scores : array of shape (n,) or (n, classes)
        What the fit without the row makes of it, at a Newton step from the fit of all rows; of rows that were left out
        in earnest (`refitted`), at the optimum. Of a softmax they are less their mean over the classes.
    low, high : arrays
        Between what the score of that optimum lies, proven up to the rounding of sums; infinite where nothing is.
    wrong : array of bool
        Whether the row is predicted wrongly by those scores.
    fewest, most : int
        How many leave-one-out mistakes there are at the least and at the most, proven.
    training : int
        How many mistakes the fit of all rows makes.
    refitted : int
        How many rows were left out in earnest.
    bounds : list of Bound
        What theory says of the error on new rows, and what it assumes for that.

    Examples
    --------
    >>> from linsep import LogisticRegression, leave_one_out
    >>> X, y = [[0.0], [1.0], [3.0], [4.0], [2.0], [2.1]], [0, 0, 1, 1, 1, 0]
    >>> found = leave_one_out(LogisticRegression().fit(X, y), X, y)
    >>> found.mistakes, found.fewest, found.most
    (2, 2, 2)
    """

    scores: FloatArray
    low: FloatArray
    high: FloatArray
    wrong: BoolArray
    fewest: int
    most: int
    training: int
    refitted: int
    bounds: list[Bound]

    @property
    def mistakes(self) -> int:
        """How many there are by the scores."""
        return int(self.wrong.sum())

    @property
    def error(self) -> float:
        """The share of the rows that are mistakes, an estimate of the error on new rows that is hardly biased."""
        return self.mistakes / max(len(self.wrong), 1)

    @property
    def proven(self) -> str:
        """What is proven of the number of mistakes, in words."""
        if self.fewest == 0 and self.most == len(self.wrong):
            return "nothing: the penalty and the loss say of no row how far its score can move"
        said = f"{self.fewest:,}" if self.fewest == self.most else f"{self.fewest:,} to {self.most:,}"
        return said + (f", {many(self.refitted, 'row')} left out in earnest" if self.refitted else "")

    def __str__(self) -> str:
        rows = many(len(self.wrong), "row")
        said = f"leave-one-out: {many(self.mistakes, 'mistake')} in {rows} ({100 * self.error:.2f} %)"
        lines = [f"{said}; {self.training:,} on the rows of the fit", f"proven: {self.proven}"]
        return "\n".join([*lines, *map(str, self.bounds)])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return card(*str(self).splitlines())


def leave_one_out(
    model: Any, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None, *, refits: int = 100
) -> LeaveOneOut:
    """Return what a fit on all other rows says of each row, between which numbers of mistakes, and bounds on the error.

    Exact for least squares; a Newton step with a proven interval for smooth losses; for hinge, from which rows hold the
    plane. It is about the optimum of the objective with a row missing: C, the weights of classes, the threshold and
    whatever made numbers of the columns stay as they are. A row goes with all of its weight.

    Parameters
    ----------
    model : fitted estimator
        With a convex loss; of several classes one against the rest, or all at once by softmax.
    X, y, sample_weight
        What it was fitted on.
    refits : int, default=100
        So many rows, of those whose side is not certain without, are left out in earnest: a fit each, from where the
        fit of all rows ended.

    Returns
    -------
    LeaveOneOut

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> from linsep import LinearSVC, leave_one_out
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> found = leave_one_out(LinearSVC(C=0.01).fit(scale(X), y), scale(X), y)
    >>> found.fewest <= found.mistakes <= found.most
    True
    """
    check_count("refits", refits, least=0)
    case = _case(model, X, y, sample_weight)
    planes = _planes(case)
    table = _Table(case, planes)
    refitted = table.refit(refits)
    low, high, scores = (array[:, 0] if table.is_one else array for array in (table.low, table.high, table.scores))
    right, wrong = table.certain()
    counted = case.counted
    training = int((counted & (np.asarray(model.predict(X)) != np.asarray(y))).sum())  # of the model, not the optimum
    bounds = [*_support(planes, int((counted & table.mistaken(table.fitted)).sum())), *bounds_of(case, training)]
    fewest, most = int((wrong & counted).sum()), int((~right & counted).sum())
    estimate = table.mistaken(table.scores)[counted]
    return LeaveOneOut(scores, low, high, estimate, fewest, most, training, refitted, bounds)


def _case(model: Any, X: Any, y: ArrayLike, sample_weight: ArrayLike | None) -> Case:
    """Return the model and its data; raise for models that minimise nothing of which leaving out can be told."""
    check_is_fitted(model, "coef_")
    loss = model._statement().loss
    if model._own_rule or not (loss.convex and loss.slopes != (0.0, 0.0)) or hasattr(model, "_ballots"):
        raise ValueError(f"{type(model).__name__} does not end at the optimum of a convex loss, which this is about")
    if isinstance(model._heads()[0], CrammerSinger):
        raise ValueError("rows are not left out of a model with multi_class='crammer_singer'; use 'ovr'")
    case = Case(model, TrainingData(X, y, sample_weight), getattr(model, "threshold_", None), None)
    case.check_shape()
    return case


def _planes(case: Case) -> list[Any]:
    """Return the planes at their optimum, each by itself or all by softmax."""
    if not case.model._heads()[0].planes:
        return [_Plane(case.problem(k), case.coef[k], float(case.intercept[k])) for k in range(len(case.positive))]
    examples = case.examples.weighed(case.classes, case.weights)
    problem = case.statement.on(examples, positive=None, classes=len(case.classes))
    return [SoftmaxPlanes(problem, case.coef.T.copy(), case.intercept, tol=SHARP, factored=FACTORED)]


def _support(planes: list[Any], training: int) -> list[Bound]:
    """Return what the support vectors say, of one plane with a margin loss."""
    problem = planes[0].problem
    if len(planes) > 1 or problem.head.planes:
        return []
    if not (problem.loss.margin and problem.penalty.l2 > 0 and problem.penalty.l1 == 0):
        return []
    return support_bounds(problem, planes[0].z, planes[0].alpha, training)


class _Table:
    """Scores of all planes, estimated and enclosed, and which predictions follow."""

    def __init__(self, case: Case, planes: list[Any]) -> None:
        self.case, self.planes, self.cut = case, planes, case.threshold or 0.0
        self.codes = case.examples.codes(case.classes)
        self.fitted = np.column_stack([plane.fitted for plane in planes])
        self.is_one = self.fitted.shape[1] == 1
        parts = [plane.left_out() for plane in planes]
        self.scores, self.low, self.high = (np.column_stack([part[k] for part in parts]) for k in range(3))

    def certain(self) -> tuple[BoolArray, BoolArray]:
        """Return which rows are right for sure, and which are wrong."""
        own_low, own_high, other_low, other_high = self._sides(self.low, self.high)
        return own_low > other_high, own_high < other_low

    def mistaken(self, scores: FloatArray) -> BoolArray:
        """Return which rows are predicted wrongly by these scores, as `predict` does."""
        said = scores.argmax(axis=1) if not self.is_one else (scores[:, 0] > self.cut).astype(np.int64)
        return np.asarray(said != self.codes)

    def _sides(self, low: FloatArray, high: FloatArray) -> tuple[FloatArray, ...]:
        """Return the least and the greatest score of a row's own class, and of the highest of the others."""
        n, own = len(low), self.codes
        if self.is_one:
            low, high = (np.column_stack([np.full(n, self.cut), array[:, 0]]) for array in (low, high))
        at = np.arange(n), own
        own_low, own_high, rest_low, rest_high = low[at], high[at], low.copy(), high.copy()
        rest_low[at] = rest_high[at] = -np.inf
        return own_low, own_high, rest_low.max(axis=1), rest_high.max(axis=1)

    def refit(self, most: int) -> int:
        """Leave out in earnest the rows whose side is open, the nearest to the border first; return how many."""
        right, wrong = self.certain()
        open_rows = np.flatnonzero(~right & ~wrong & self.case.counted)
        own, _, other, _ = self._sides(self.scores, self.scores)
        chosen = open_rows[np.argsort(np.abs(own - other)[open_rows], kind="stable")][:most]
        for i in chosen.tolist():
            scores, low, high = (np.hstack(part) for part in zip(*(one.without(i) for one in self.planes), strict=True))
            self.scores[i] = scores
            self.low[i], self.high[i] = np.maximum(low, self.low[i]), np.minimum(high, self.high[i])
        return len(chosen)


class _Plane:
    """One plane at the optimum of its objective, and what becomes of each score without its own row."""

    def __init__(self, problem: Objective, w: FloatArray, b: float) -> None:
        self.problem, w = _narrow(problem, w)
        self.found = optimum(self.problem, Start(w, b), SHARP)
        self.w, self.b = self.found.w, float(self.found.b)
        self.z = self.problem.agreements(self.w, self.b)
        self.alpha = _dual(self.problem, self.found, self.z)

    @property
    def fitted(self) -> FloatArray:
        """The scores by the fit of all rows."""
        return self.z * self.problem.y

    def left_out(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return the scores without each row, and between what they lie."""
        problem, y = self.problem, self.problem.y
        curved, (below, above) = self._curved, enclosed(problem, self.found, problem.rows, self._curved)
        z_low, z_high = np.where(y > 0, below, -above), np.where(y > 0, above, -below)
        if curved is None:
            estimate, low, high = self._span(), np.full(problem.n, -np.inf), np.full(problem.n, np.inf)
        else:
            estimate, low, high = curved.left_out()
        if problem.loss.slopes[1] <= 0:  # no row is ever too right: without it, its agreement is no larger
            high = np.minimum(high, z_high)
        if problem.loss.margin:
            holds_nothing = z_low > 1.0
            estimate = np.where(holds_nothing, self.z, estimate)
            low = np.where(holds_nothing, z_low, np.maximum(low, self._without_intercept(z_low)))
        nothing = problem.s == 0.0
        low, high = np.where(nothing, z_low, low), np.where(nothing, z_high, high)
        return estimate * y, np.where(y > 0, low, -high), np.where(y > 0, high, -low)

    def without(self, i: int) -> tuple[float, float, float]:
        """Return the score of row i by the optimum without it, and between what that lies."""
        problem = self.problem
        which = np.delete(np.arange(problem.n), i)
        s = problem.s[which]
        row, nothing = problem.rows.some(np.array([i])), (-math.inf, math.inf)
        if problem.fit_intercept and not (s @ (problem.y[which] > 0) and s @ (problem.y[which] < 0)):
            return float(self.z[i] * problem.y[i]), *nothing  # one class alone has no optimum
        rest = problem.chosen(which, s)
        alpha = None if self.found.alpha is None else self.alpha[which]
        found = optimum(rest, Start(self.w, self.b, alpha=alpha), SHARP)
        low, high = enclosed(rest, found, row)
        return float(row.matvec(found.w)[0] + found.b), float(low[0]), float(high[0])

    @cached_property
    def _curved(self) -> _Curved | None:
        problem = self.problem
        if not problem.loss.smooth or problem.d > FACTORED:
            return None
        return _Curved(problem, self.w, self.b)

    def _without_intercept(self, z_low: FloatArray) -> FloatArray:
        """z₋ᵢ ≥ zᵢ − αᵢ‖xᵢ‖²/l2: w moves within the ball whose diameter is the gradient that the row leaves behind."""
        problem = self.problem
        if problem.fit_intercept or not problem.penalty.l2 or problem.penalty.l1:
            return np.full(problem.n, -np.inf)
        steepest = weights(problem) * np.maximum(-problem.loss.slope(np.minimum(z_low, 1.0)), 0.0)
        return z_low - steepest * problem.rows.squared_norms() / problem.penalty.l2 * (1.0 + WIDER)

    def _span(self) -> FloatArray:
        """zᵢ − αᵢ Sᵢ², with Sᵢ the distance of xᵢ from the span (affine, with an intercept) of rows on the margin."""
        problem, alpha, c = self.problem, self.alpha, weights(self.problem)
        free = np.flatnonzero((alpha > 1e-6 * c) & (alpha < (1.0 - 1e-6) * c))
        if problem.penalty.l1 or not problem.penalty.l2 or not problem.loss.margin or len(free) > FACTORED:
            return self.z
        held = np.flatnonzero(alpha > 1e-6 * c)
        X, ones = problem.rows.some(held), float(problem.fit_intercept)
        F = problem.rows.some(free).X
        F = F.toarray() if problem.rows.is_sparse else np.asarray(F, dtype=np.float64)
        G = np.block([[F @ F.T, np.full((len(free), 1), ones)], [np.full((1, len(free)), ones), np.zeros((1, 1))]])
        inverse = linalg.pinvh(G)
        K = np.hstack([np.asarray(X.X @ F.T), np.full((len(held), 1), ones)])
        squares = X.squared_norms() - np.einsum("ij,jk,ik->i", K, inverse, K, optimize=True)
        place = {int(i): k for k, i in enumerate(free)}
        for k, i in enumerate(held.tolist()):
            if i in place:
                squares[k] = 1.0 / max(float(inverse[place[i], place[i]]), 1e-300)
        out = self.z.copy()
        out[held] -= alpha[held] * np.maximum(squares, 0.0) / problem.penalty.l2
        return out


class _Curved:
    """The curvature of an objective at a point near its optimum, and what follows from it."""

    def __init__(self, problem: Objective, w: FloatArray, b: float) -> None:
        # Weights that an L1 penalty holds at zero stay there, as far as a step can tell.
        self.active = np.flatnonzero(w) if problem.penalty.l1 else np.arange(problem.d)
        self.problem, self.M = problem, problem.loss.self_concordance
        self.rows = problem.rows if len(self.active) == problem.d else problem.rows.columns(self.active)
        self.z = problem.agreements(w, b)
        slope = problem.loss.slope(self.z)
        c = weights(problem)
        self.alpha, self.h = -c * slope, c * problem.loss.curvature(self.z)
        lower = self.rows.gram(self.h, np.arange(problem.n))
        size = len(self.active) + problem.fit_intercept
        H = (np.tril(lower) + np.tril(lower, -1).T)[:size, :size]
        H[np.arange(len(self.active)), np.arange(len(self.active))] += problem.penalty.l2
        self.inverse, self.flat = inverted(H)
        self.q = np.square(self.lengths(self.rows))
        g = problem.penalty.slope(w)[self.active] - self.rows.rmatvec(self.alpha * problem.y)
        g = np.append(g, -float(self.alpha @ problem.y)) if problem.fit_intercept else g
        self.rest = math.sqrt(max(float(g @ self.inverse @ g), 0.0))  # of the gradient: the optimum is not quite met

    @property
    def proves(self) -> bool:
        """Whether the curvature changes slowly enough, and nothing else bends, for it to say how far the optimum is."""
        return math.isfinite(self.M) and self.problem.penalty.l1 == 0

    def lengths(self, rows: Rows) -> FloatArray:
        """√(x̃ᵀ H⁻¹ x̃) of each row; infinite along directions without curvature."""
        found, X, d = lengths_in(self.inverse, rows, self.problem.fit_intercept), rows.X, rows.d
        along = np.asarray(X @ self.flat[:d]) + (self.flat[d] if self.problem.fit_intercept else 0.0)
        short = np.linalg.norm(along, axis=1) <= ALONG * np.sqrt(rows.squared_norms() + 1.0)
        return np.where(short, found, np.inf)

    def radius(self) -> float:
        """Return how far the optimum is."""
        steep = self.M * math.sqrt(float(self.q.max(initial=0.0))) if self.M else 0.0
        return float(radius(np.array([self.rest]), np.array([steep]))[0]) if self.proves else math.inf

    def left_out(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return the agreement of each row a Newton step towards the optimum without it, and between what it lies."""
        told = np.isfinite(self.q)
        q = np.where(told, self.q, 0.0)
        told &= 1.0 - self.h * q > SINGULAR
        left = np.where(told, 1.0 - self.h * q, 1.0)
        own = np.sqrt(q / left)
        estimate = np.where(told, self.z - self.alpha * q / left, self.z)
        if not self.proves:
            return estimate, np.full_like(own, -np.inf), np.full_like(own, np.inf)
        sigma = np.abs(self.alpha) * own
        steep = self.M * np.sqrt(largest_of_others(self.q) / left) if self.M else np.zeros_like(own)
        away, wider = after_a_step(sigma, steep, self.rest / np.sqrt(left))
        reach = away * own * wider
        reach = np.where(told, reach + WIDER * np.abs(estimate - self.z) + 1e-12 * np.abs(self.z), np.inf)
        return estimate, estimate - reach, estimate + reach


def enclosed(
    problem: Objective, found: Result, rows: Rows, curved: _Curved | None = None
) -> tuple[FloatArray, FloatArray]:
    """Return between what the scores of rows lie at the optimum; infinite where nothing says."""
    w, b, loss, penalty = found.w, float(found.b), problem.loss, problem.penalty
    g = rows.matvec(w) + b
    if loss.smooth and math.isfinite(loss.self_concordance) and penalty.l1 == 0 and problem.d <= FACTORED:
        curved = curved or _Curved(problem, w, b)
        reach = curved.radius() * curved.lengths(rows) * (1.0 + WIDER)
        return g - reach, g + reach
    if penalty.l2 == 0:
        return np.full_like(g, -np.inf), np.full_like(g, np.inf)
    fold = Fold(problem, rows, np.ones(rows.n), np.ones(rows.n))
    fold.add(problem.C, w, b, None if loss.smooth else found.alpha)
    return fold.scores(problem.C)


def _dual(problem: Objective, found: Result, z: FloatArray) -> FloatArray:
    if problem.loss.smooth or found.alpha is None:
        return -weights(problem) * problem.loss.slope(z)
    return np.asarray(found.alpha)


def _narrow(problem: Objective, w: FloatArray) -> tuple[Objective, FloatArray]:
    """Return the objective in coordinates of the rows' span, where these are fewer than columns: L2 is the same there.

    With Xᵀ = QR, w = Qv has the scores Rᵀv and the length of v; what is orthogonal to all rows costs and gives nothing.
    """
    n, d = problem.n, problem.d
    if not (n < d and n <= FACTORED and n * d <= 10_000 * FACTORED) or problem.penalty.l1:
        return problem, w
    X: Any = problem.rows.X
    X = np.asarray(X.toarray() if problem.rows.is_sparse else X, dtype=np.float64)
    Q, R = linalg.qr(X.T, mode="economic", check_finite=False)
    return problem.with_rows(Rows(np.ascontiguousarray(R.T))), Q.T @ w
