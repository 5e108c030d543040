"""Tubes and metrics against sixty digits: whatever length, residual or reach is rounded upwards is no less than it is.

What is mixed are the stops' floats with the shares' floats, read as the numbers that they are. The optima are Newton's
in sixty digits; nothing of linsep's arithmetic is used for them.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise

import numpy as np
import pytest
from mpmath import cholesky, exp, findroot, log, log1p, lu_solve, matrix, mpf, sqrt, workdps
from scipy import sparse
from scipy.special import expit

from linsep._core import Rows
from linsep.arithmetic.enclosure import gamma
from linsep.certificates import metrics
from linsep.certificates.enclosed_fold import EnclosedFold
from linsep.certificates.tubes import Tubes
from linsep.losses import Logistic, Square
from linsep.objective.dual_point import DualPoint
from linsep.objective.problem import Problem

DIGITS = 60
LOSSES = {"logistic": Logistic(), "square": Square()}


@dataclass(frozen=True)
class Exact:
    """An objective ½‖w‖² + C Σ s ℓ(y (x·w + b)) in many digits; θ has the intercept last, if there is one."""

    X: np.ndarray
    y: np.ndarray
    s: np.ndarray
    loss: str
    intercept: bool

    @cached_property
    def rows(self):
        """The rows [x, 1] as vectors."""
        return [self.row(x) for x in self.X]

    def row(self, x):
        return matrix([mpf(float(one)) for one in x] + [mpf(1)] * self.intercept)

    def terms(self, C, theta):
        """Return zᵢ, cᵢℓ'(zᵢ) and cᵢℓ''(zᵢ) of each row."""
        z = [mpf(sign) * _dot(row, theta) for sign, row in zip(self.y, self.rows, strict=True)]
        c = [C * mpf(weight) for weight in self.s]
        if self.loss == "square":
            return z, [-2 * one * (1 - at) for one, at in zip(c, z, strict=True)], [2 * one for one in c]
        share = [1 / (1 + exp(at)) for at in z]
        return (
            z,
            [-one * p for one, p in zip(c, share, strict=True)],
            [one * p * (1 - p) for one, p in zip(c, share, strict=True)],
        )

    def slope(self, C, theta):
        _, slopes, _ = self.terms(C, theta)
        return self.penalised(theta) + self.combined(slopes)

    def penalised(self, theta):
        return matrix([one if k < self.X.shape[1] else mpf(0) for k, one in enumerate(theta)])

    def combined(self, alpha):
        """Σ αᵢ yᵢ [xᵢ, 1]."""
        total = matrix(len(self.rows[0]), 1)
        for one, sign, row in zip(alpha, self.y, self.rows, strict=True):
            total += one * mpf(sign) * row
        return total

    def curved(self, D):
        """1 + Σ Dᵢ [xᵢ, 1][xᵢ, 1]ᵀ, where the 1 is for weights only."""
        d = len(self.rows[0])
        H = matrix(d, d)
        for k in range(self.X.shape[1]):
            H[k, k] = mpf(1)
        for one, row in zip(D, self.rows, strict=True):
            H += mpf(one) * row * row.T
        return H

    def optimum(self, C, theta):
        """Newton's method, damped, until nothing is left of the slope."""
        for _ in range(200):
            slope = self.slope(C, theta)
            step = lu_solve(self.curved(self.terms(C, theta)[2]), slope)
            far = max(abs(_dot(row, step)) for row in self.rows)
            if far < mpf(10) ** -45:
                return theta
            # A step along which curvatures fall to e^(−far) at the least.
            theta = theta - step * (log1p(far) / far if self.loss == "logistic" else 1)
        raise AssertionError("the oracle did not converge")


def _dot(a, b):
    return sum(one * other for one, other in zip(a, b, strict=True))


def length(H, x):
    """√(xᵀ H⁻¹ x)."""
    return sqrt(_dot(x, lu_solve(H, x)))


@dataclass(frozen=True)
class Case:
    """Rows and weights, where the stops are, and by which share of itself each solution was moved."""

    exact: Exact
    held_out: np.ndarray
    fold: EnclosedFold


#: Scales of columns, a shift of all rows, the spread of weights, the values of C, and how far stops are from solved.
KINDS = {
    "plain": ([1, 1], 0, 1, (0.1, 0.3, 1.0, 3.0), 1e-7),
    "solved to the last digit": ([1, 1], 0, 1, (0.9, 0.99, 1.01, 1.1), 0.0),
    "wide apart": ([1, 1], 0, 1, (0.05, 0.2, 2.0, 6.0), 1e-4),
    "columns of all scales": ([1e5, 1e-5], 0, 1, (0.3, 0.5, 0.8, 1.0), 1e-11),
    "far from the origin": ([1, 1], 1e4, 1, (0.3, 0.5, 0.8, 1.0), 1e-12),
    "weights of all sizes": ([1, 1], 0, 1e12, (0.3, 0.5, 0.8, 1.0), 1e-9),
    "apart by far": ([60, 60], 0, 1, (1e2, 1.5e2, 2e2, 3e2), 1e-9),
}

FORMS = {
    "logistic": {},
    "square": {"loss": "square"},
    "no intercept": {"intercept": False},
    "sparse": {"sparse_rows": True},
    "unfactored": {"factored": 0},
    "unfactored, no intercept": {"factored": 0, "intercept": False},
}


def case(seed, kind, loss="logistic", intercept=True, sparse_rows=False):
    """Return a fold with stops next to the optima, and held-out rows of which some lie all but on their planes."""
    scales, shift, spread, Cs, moved = KINDS[kind]
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(12, 2)) * scales + shift
    X[1] = X[0]
    y = np.where(X @ (1 / np.array(scales)) + rng.normal(size=12) * (kind != "apart by far") > 2 * shift, 1.0, -1.0)
    y[:2] = 1.0, -1.0 if kind != "apart by far" else y[0]
    y[2:4] = (1.0, -1.0) if len(set(y)) < 2 else y[2:4]
    s = spread ** rng.uniform(-1, 0, 12)
    exact = Exact(X, y, s, loss, intercept)
    theta = matrix(2 + intercept, 1)
    planes = []
    for C in Cs:
        theta = exact.optimum(mpf(C), theta)
        planes.append(np.array([float(one) for one in theta] + [0.0] * (not intercept)))
        planes[-1][: 2 + intercept] *= 1.0 + moved * rng.normal(size=2 + intercept)
    held = rng.normal(size=(4, 2)) * scales + shift
    w, b = planes[1][:2], planes[1][2]
    held = np.vstack([held, held[:2] - np.outer(held[:2] @ w + b, w) / (w @ w)])  # which scores about 0
    form = sparse.csr_array if sparse_rows else np.asarray
    problem = Problem(Rows(form(X)), y, LOSSES[loss], C=1.0, sample_weight=s, fit_intercept=intercept)
    fold = EnclosedFold(problem, Rows(form(held)), np.ones(len(held)), np.ones(len(held)))
    for C, plane in zip(Cs, planes, strict=True):
        fold.store(C, plane[:2].copy(), float(plane[2]), DualPoint())
    return Case(exact, held, fold)


class Centre:
    """A mixture of stops in many digits: its plane, and its dual point, which is balanced as those of the stops are."""

    def __init__(self, at, C, stops, shares):
        self.C, self.exact = mpf(C), at.exact
        theta, alpha = matrix(len(at.exact.rows[0]), 1), [mpf(0)] * len(at.exact.y)
        for share, stop in zip(shares, stops, strict=True):
            theta += mpf(float(share)) * matrix([mpf(x) for x in [*stop.w, stop.b][: len(theta)]])
            t = self.C * mpf(float(share)) / mpf(stop.C)
            alpha = [one + t * mpf(float(more)) for one, more in zip(alpha, stop.alpha, strict=True)]
        self.theta, self.alpha = theta, alpha

    def towards(self, other, C):
        """Return where the chord to another centre is at C."""
        found, share = object.__new__(Centre), (mpf(C) - self.C) / (other.C - self.C)
        found.C, found.exact = mpf(C), self.exact
        found.theta = self.theta + share * (other.theta - self.theta)
        pairs = zip(self.alpha, other.alpha, strict=True)
        found.alpha = [one + share * (another - one) for one, another in pairs]
        return found

    @property
    def rho(self):
        _, slopes, _ = self.exact.terms(self.C, self.theta)
        return [abs(one + slope) for one, slope in zip(self.alpha, slopes, strict=True)]

    @property
    def rest(self):
        off = (self.exact.penalised(self.theta) - self.exact.combined(self.alpha))[: self.exact.X.shape[1]]
        return sqrt(_dot(off, off))

    @property
    def decrement(self):
        """The length of the slope in the inverse of the curvature: what Λ is to be no less than."""
        H = self.exact.curved(self.exact.terms(self.C, self.theta)[2])
        return length(H, self.exact.slope(self.C, self.theta))


def centres(at, Cs):
    """Yield each end of chords as the fold has it, and in many digits."""
    for C, stops, shares in at.fold.tubes.mixtures(Cs):
        for one, some in zip(C, shares, strict=True):
            yield Centre(at, float(one), stops, some)


def check_ends(at, Cs):
    """Scores, residuals and slopes at the ends of chords are no further off than is said."""
    for stop in at.fold.stops if at.exact.intercept else ():
        assert sum(Fraction(a) * int(sign) for a, sign in zip(stop.alpha, at.exact.y, strict=True)) == 0
    for node, centre in zip(at.fold.tubes.nodes(Cs), centres(at, Cs), strict=True):
        assert node.C == centre.C
        for z, exact in zip(node.z, at.exact.terms(centre.C, centre.theta)[0], strict=True):
            assert abs(mpf(z) - exact) <= node.z_off
        for g, off, x in zip(node.g, node.off, at.held_out, strict=True):
            assert abs(mpf(g) - _dot(at.exact.row(x), centre.theta)) <= off
        assert centre.rest <= node.rest
        assert all(
            exact <= mpf(said) * (1 + mpf(metrics.WIDER)) for said, exact in zip(node.rho, centre.rho, strict=True)
        )


def check_chord(at, low, high, places):
    """Return whether anything is known between two ends; optima are no further from the chord than is said."""
    a, b = at.fold.tubes.nodes([low, high])
    first, last = centres(at, [low, high])
    reach = at.fold.tubes.reach(a, b)
    for share in places:
        C = low + share * (high - low)
        centre = first.towards(last, C)
        assert centre.decrement <= reach.whole
        if not np.isfinite(reach.scores).all():
            continue
        best = at.exact.optimum(centre.C, centre.theta)
        for x, far in zip(at.held_out, np.broadcast_to(reach.scores, len(at.held_out)), strict=True):
            assert abs(_dot(at.exact.row(x), best - centre.theta)) <= far
    return bool(np.isfinite(reach.scores).all())


def check_metrics(at):
    """Lengths in a metric are no shorter than they are, and no more of it is left than is said."""
    rng = np.random.default_rng(0)
    for stop in at.fold.stops:
        metric = at.fold.metrics._metric(stop, stop)
        weaker = metric.D * rng.choice([1.0, 0.97, 0.6, 0.25, 1e-9], len(metric.D), p=[0.4, 0.3, 0.1, 0.1, 0.1])
        for D in (metric.D, 0.5 * metric.D, weaker):
            share, H = metric.share(D), at.exact.curved(D)
            if not share > 0:
                continue
            for rows, lengths in ((at.held_out, metric.held_out), (at.exact.X, metric.rows)):
                for x, said in zip(rows, metric.lengths(lengths, share), strict=True):
                    assert length(H, at.exact.row(x)) <= said
            if metric.lift is None:
                cholesky(H - mpf(share) * at.exact.curved(metric.D))  # which raises unless it is positive definite


def check(*args, **asked):
    """Check all that is said of a fold; return between how many of its ends something is known."""
    with workdps(DIGITS):
        at = case(*args, **asked)
        Cs = [stop.C for stop in at.fold.stops]
        ends = [*Cs[:2], float(np.sqrt(Cs[1] * Cs[2])), *Cs[2:]]
        check_ends(at, ends)
        check_metrics(at)
        chords = [*pairwise(ends[1:4]), (Cs[1], Cs[1] * (1 + 1e-9)), (Cs[1], Cs[1] * (1 + 1e-13))]
        return sum(check_chord(at, *chord, (0.0, 0.37, 1.0)) for chord in chords)


@pytest.mark.parametrize("kind", ["columns of all scales", "far from the origin"])
def test_ends_of_chords_are_no_further_off_than_is_said(kind):
    with workdps(DIGITS):
        at = case(0, kind)
        check_ends(at, [stop.C for stop in at.fold.stops[:1]])


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("kind", KINDS)
def test_whatever_is_rounded_upwards_is_no_less_than_it_is_in_sixty_digits(kind, form, monkeypatch):
    asked = dict(FORMS[form])
    monkeypatch.setattr(metrics, "FACTORED", asked.pop("factored", metrics.FACTORED))
    assert min(check(seed, kind, **asked) for seed in range(3)) >= 2  # something is known of short chords at the least


@pytest.mark.slow
def test_long_rows_may_lose_their_curvature(monkeypatch):
    """The rows one by one: where the longest one's curvature may fall by much, and a reach is still found."""
    found, own = [], Tubes._row_by_row
    monkeypatch.setattr(Tubes, "_row_by_row", lambda *args: found.append(own(*args)) or found[-1])
    for seed in range(6):
        check(seed, "plain")
    assert sum(np.isfinite(one.scores).all() for one in found) >= 3


# -- one row in one dimension, where there is no slack --------------------------------------------------------------


def lonely(C, places, alphas, x=1.0):
    """Return a fold of one row, and its optimum's slope, with planes and dual points as they are given."""
    problem = Problem(Rows(np.array([[x]])), np.ones(1), Logistic(), C=1.0, fit_intercept=False)
    fold = EnclosedFold(problem, Rows(np.ones((1, 1))), np.ones(1), np.ones(1))
    for at, place, alpha in zip(C, places, alphas, strict=True):
        fold.store(at, np.array([place]), 0.0, DualPoint(rows=np.zeros(1, dtype=np.int64), values=np.array([alpha])))
    return fold


def lonely_optimum(C):
    """Return where w = C σ(−w)."""
    return findroot(lambda w: log(w) + log1p(exp(w)) - log(mpf(C)), log(mpf(C)))


def parallel(C, w):
    """Return the α by which the plane's residual and the row's point the same way in the curvature: Λ has no slack."""
    slope, bend = -C * expit(-w), C * expit(w) * expit(-w)
    return (bend * w - slope) / (1.0 + bend)


@pytest.mark.parametrize(("far", "slack"), [(0.18, 1.12), (0.6, 1.16)])
def test_a_reach_is_tight_where_one_row_is_all_there_is(far, slack):
    """Its curvature falls like e^(−z) on the way to the optimum: by so much that the second goes row by row.

    There x = 1 − e^(−0.6) = 0.45, the optimum is −log(1 − x)/x = 1.33 Λ away, and a reach that forgot what is left
    would say 1.2 Λ.
    """
    with workdps(DIGITS):
        C = 1e40
        best = lonely_optimum(C)
        w = float(best) - far
        node = next((fold := lonely([C], [w], [parallel(C, w)])).tubes.nodes([C]))
        reach = fold.tubes.reach(node, node)
        assert best - mpf(w) <= reach.scores[0] <= slack * far


def test_curvature_is_the_least_along_a_chord():
    with workdps(DIGITS):
        C = 1e40, 1e40 * (1 + 1e-6)
        best = float(lonely_optimum(C[1]))
        w = best - 0.06, best - 0.01
        alphas = [parallel(*one) for one in zip(C, w, strict=True)]
        reach = (fold := lonely(C, w, alphas)).tubes.reach(*fold.tubes.nodes(C))
        assert reach.whole >= _lambda(C[0], w[0], alphas[0], bend_at=w[1])


def _lambda(C, w, alpha, bend_at):
    """√((w − v)² + ρ²/D), with the curvature of another place."""
    p, other = 1 / (1 + exp(mpf(w))), 1 / (1 + exp(mpf(bend_at)))
    rho = mpf(alpha) - mpf(C) * p
    return sqrt((mpf(w) - mpf(alpha)) ** 2 + rho**2 / (mpf(C) * other * (1 - other)))


def test_a_row_with_no_curvature_counts_by_its_length():
    fold = lonely([2.0], [-900.0], [0.0], x=1.0)
    node = next(fold.tubes.nodes([2.0]))
    assert (
        902.0 <= fold.tubes.reach(node, node).whole <= 902.1
    )  # the slope is w − C, since nothing is like a line there


# -- lengths of rows ----------------------------------------------------------------------------------------------


def test_distances_far_from_the_origin_are_rounded_up():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3)) + 3e7
    norms = np.sqrt((X**2).sum(axis=1))
    middle = X.mean(axis=0)
    said = metrics.distances(Rows(X), norms, middle, float(norms.max()), 40)
    exact = [sum(Fraction(a) for a in column) / 40 for column in X.T]
    for row, length_ in zip(X, said, strict=True):
        assert sum((Fraction(a) - b) ** 2 for a, b in zip(row, exact, strict=True)) <= Fraction(length_) ** 2


@pytest.mark.parametrize("shift", [1e2, 1e4, 1e5])
def test_lengths_by_a_root_of_a_sum_that_was_rounded_are_rounded_up(shift):
    """A sum that is off as far as its terms allow, in the worst direction: by which the shortest axis is shorter."""
    rng = np.random.default_rng(0)
    at = Exact(rng.normal(size=(30, 2)) + shift, np.ones(30), np.ones(30), "square", True)
    D = rng.uniform(0.1, 1.0, 30)
    with workdps(DIGITS):
        exact = at.curved(D)
        H = np.array(exact.tolist(), dtype=np.float64)
        scale = np.sqrt(H.diagonal())
        axis = np.linalg.eigh(H / np.outer(scale, scale))[1][:, 0]
        H += 0.9 * gamma(30) * np.outer(scale, scale) * np.sign(np.outer(axis, axis))
        root = metrics.inverse_root(H, 30)
        assert root is not None
        said = metrics.lengths_by(root, Rows(at.X), np.sqrt((at.X**2).sum(axis=1)), True)
        assert all(length(exact, row) <= one for row, one in zip(at.rows, said, strict=True))


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_products_that_all_but_cancel_are_rounded_up(form):
    rng = np.random.default_rng(0)
    X, S = rng.normal(size=(50, 2)), rng.normal(size=(1, 3))
    X[:, 1] = -(X[:, 0] * S[0, 0] + S[0, 2]) / S[0, 1]
    said = metrics.lengths_by(S, Rows(form(X)), np.sqrt((X**2).sum(axis=1)), True)
    for (x, z), one in zip(X, said, strict=True):
        a, b, c = map(Fraction, S[0])
        assert abs(a * Fraction(x) + b * Fraction(z) + c) <= Fraction(one)


@pytest.mark.parametrize("spread", [1.0, 1e4, 1e7])
def test_squares_of_sparse_rows_are_no_further_off_than_is_said(spread):
    """Of long rows in an inverse with a short axis, whose squares are what is left of much larger ones."""
    rng = np.random.default_rng(0)
    X = np.where(rng.random((40, 5)) < 0.6, rng.normal(size=(40, 5)), 0.0)
    S = rng.normal(size=(6, 6)) * [1.0, spread, spread, 1.0, 1.0, 1.0]
    X[:, 2] = -X[:, 1] * S[0, 1] / S[0, 2]
    norms = np.sqrt((X**2).sum(axis=1))
    squares, off = metrics.squares_by(S, rows := Rows(sparse.csr_array(X)), norms, True)
    lengths = metrics.lengths_by(S, rows, norms, True)
    for x, square, far, said in zip(X, squares, off, lengths, strict=True):
        products = [sum(Fraction(a) * Fraction(b) for a, b in zip(line, [*x, 1.0], strict=True)) for line in S]
        exact = sum(one**2 for one in products)
        assert abs(exact - Fraction(square)) <= Fraction(far)
        assert exact <= Fraction(said) ** 2 <= exact * Fraction(1.0001) + Fraction(1e-20)
