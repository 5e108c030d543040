"""Certificates at the ends of the range of floats: what they say is so in exact arithmetic, or they say nothing."""

import math
import warnings
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from exact_oracles import exact_dual, exact_primal, exact_rows, exact_weights, number
from linsep import LinearClassifier, LinearSVC, LogisticRegression
from linsep._core import Rows
from linsep.arithmetic.enclosure import Interval, agreements, gamma, out_of_range, outward, relative_gap, total
from linsep.certificates.gap.certificate import SoftmaxCertificate
from linsep.certificates.gap.certify import certify
from linsep.certificates.seal import digest
from linsep.losses import Hinge, Logistic, Perceptron, Square, SquaredHinge
from linsep.objective.dual_point import DualPoint, feasible_dual
from linsep.objective.duality import Bound, share
from linsep.objective.enclosure import enclosed_bound
from linsep.objective.examples import Block, InBlocks, InMemory
from linsep.objective.problem import Problem
from linsep.objective.scaling import middle_of_range, ordinary
from linsep.objective.statement import Statement
from linsep.penalties import L1, L2, ElasticNet, Penalty
from linsep.persistence import model_file
from objectives import objective_in_blocks, softmax_objective

LOSSES = (Hinge(), SquaredHinge(), Square(), Logistic(), Perceptron())
PENALTIES = (
    L2(),
    L1(),
    ElasticNet(0.3),
    Penalty(1e-100, 0.0),
    Penalty(1e-200, 1e-150),
    Penalty(0.0, 1e-300),
    Penalty(1e250, 1e100),
    Penalty(5e-324, 0.0),
)

# --- problems of any scale


@st.composite
def wild_numbers(draw, count):
    """Floats of one scale, or of many, or at the very ends; with zeros of both signs."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    kind = draw(st.sampled_from(["scale", "scale", "spread", "ends"]))
    if kind == "scale":
        values = rng.standard_normal(count) * 10.0 ** draw(st.integers(-307, 300))
    elif kind == "spread":
        values = rng.standard_normal(count) * 10.0 ** rng.integers(-307, 300, count).astype(float)
    else:
        values = rng.choice([5e-324, -1e-320, 2.3e-308, 1e-160, 1.0, -1e150, 1e300, 1.7e308, 0.0, -0.0], count)
    return np.where(rng.random(count) < 0.1, -0.0, values)


@st.composite
def wild_problems(draw, losses=LOSSES, columns=3):
    n, d = draw(st.integers(2, 6)), draw(st.integers(1, columns))
    X = draw(wild_numbers(n * d)).reshape(n, d)
    if draw(st.integers(0, 3)) == 0:
        with np.errstate(over="ignore", under="ignore"):
            X = np.clip(X, -1e38, 1e38).astype(np.float32)
    if draw(st.booleans()):
        X = sparse.csr_array(X)
    y = np.where(draw(st.lists(st.booleans(), min_size=n, max_size=n)), 1.0, -1.0)
    y[:2] = 1.0, -1.0
    s = np.abs(draw(wild_numbers(n))) if draw(st.booleans()) else None
    C = draw(st.sampled_from([np.inf])) if draw(st.integers(0, 5)) == 0 else 10.0 ** draw(st.integers(-300, 300))
    loss, penalty, intercept = draw(st.sampled_from(losses)), draw(st.sampled_from(PENALTIES)), draw(st.booleans())
    problem = Problem(Rows(X), y, loss, penalty, C, s, intercept)
    w = draw(wild_numbers(d))
    if draw(st.booleans()):  # a plane with agreements near one
        largest = float(np.abs(X).max())
        w = np.where(w > 0, 1.0, -1.0) * (min(0.7 / largest, 1e300) if largest > 0 else 1.0)
    b = float(draw(wild_numbers(1))[0]) if draw(st.booleans()) else 0.25
    return problem, w, b * intercept


def inside(value, interval):
    return interval.low <= value <= interval.high


def check_objective(given_problem):
    """The exact objective lies in its interval, and its gap is no more than is said."""
    problem, w, b = given_problem
    primal, dual = enclosed_bound(problem, w, b, DualPoint())
    exact = exact_primal(problem, [Fraction(float(t)) for t in w], Fraction(b))
    assert inside(exact, primal)
    assert dual.low <= primal.high
    best = min(exact, exact_primal(problem, [Fraction(0)] * len(w), Fraction(0)))
    assert dual.low <= best
    gap = relative_gap(primal, dual)
    assert math.isinf(gap) or exact == 0 or (exact - Fraction(dual.low)) / exact <= Fraction(gap)


def check_bound(given_problem, seed):
    """The exact value of a feasible dual point lies in its interval."""
    problem, _, _ = given_problem
    rng = np.random.default_rng(seed)
    with np.errstate(all="ignore"):
        c = np.array([float(t) if t < Fraction(10) ** 308 else 1e308 for t in exact_weights(problem)])
        alpha = c * rng.uniform(0.0, 1.2, problem.rows.n)
        alpha, interval = feasible_dual(problem, alpha)
    exact = exact_dual(problem, alpha)
    assert inside(exact, interval) if exact is not None else interval.low == -math.inf


#: As many as the profile says; of the thorough one there are more than of `many`.
some = settings(suppress_health_check=[HealthCheck.too_slow])
many = settings(max_examples=300, suppress_health_check=[HealthCheck.too_slow])


@some
@given(wild_problems())
def test_m13_the_exact_objective_lies_in_its_interval_at_any_scale(given_problem):
    check_objective(given_problem)


@some
@given(wild_problems(), st.integers(0, 2**32))
def test_m13_the_exact_bound_lies_in_its_interval_at_any_scale(given_problem, seed):
    check_bound(given_problem, seed)


@pytest.mark.slow
@many
@given(wild_problems())
def test_m13_the_exact_objective_of_many_problems_lies_in_its_interval(given_problem):
    check_objective(given_problem)


@pytest.mark.slow
@many
@given(wild_problems(), st.integers(0, 2**32))
def test_m13_the_exact_bound_of_many_problems_lies_in_its_interval(given_problem, seed):
    check_bound(given_problem, seed)


# --- fits


def best_of_one_weight(problem):
    """min P over w, of one column without intercept: a convex function of one number, cut into thirds."""
    rows, c = [row[0] for row in exact_rows(problem)], exact_weights(problem)
    l2, l1 = (number(Fraction(t)) for t in (problem.penalty.l2, problem.penalty.l1))
    terms = [(number(x) * int(y), number(t)) for x, y, t in zip(rows, problem.y, c, strict=True) if t]

    def value(w):
        losses = sum(t * number_loss(problem.loss, x * w) for x, t in terms)
        return l2 * w * w / 2 + l1 * abs(w) + losses

    nothing = value(mpmath.mpf(0))
    end = mpmath.sqrt(2 * nothing / l2) if l2 else nothing / l1
    low, high = -end, end
    for _ in range(400):
        left, right = low + (high - low) / 3, high - (high - low) / 3
        if value(left) <= value(right):
            high = right
        else:
            low = left
    return min(nothing, value((low + high) / 2))


def number_loss(loss, z):
    if isinstance(loss, Logistic):
        return mpmath.log1p(mpmath.exp(-abs(z))) + max(-z, 0)
    short = 1 - z if isinstance(loss, Square) else max(1 - z, mpmath.mpf(0))
    return short if isinstance(loss, Hinge) else short**2


@st.composite
def wild_fits(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    n = draw(st.integers(4, 8))
    X = (rng.standard_normal((n, 1)) + 0.3) * 10.0 ** draw(st.integers(-310, 150))
    y = np.arange(n) % 2
    s = 10.0 ** rng.integers(-16, 1, n).astype(float) if draw(st.booleans()) else None
    s = s if s is None else s * 10.0 ** draw(st.integers(-300, 290))
    C = 10.0 ** draw(st.integers(-300, 300)) if draw(st.booleans()) else 1.0
    loss = draw(st.sampled_from(["hinge", "squared_hinge", "square", "logistic"]))
    return LinearClassifier(loss, penalty=draw(st.sampled_from(PENALTIES[:4])), C=C, fit_intercept=False), X, y, s


@pytest.mark.slow
@given(wild_fits())
@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
def test_m13_a_fit_that_says_proven_is_near_the_true_optimum(given_fit):
    model, X, y, s = given_fit
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(X, y, sample_weight=s)
    outcome = model.certificate_.verify(X, y, s)
    assert outcome, outcome.reason
    if not model.certificate_.proven:
        return
    assert outcome.proven
    problem = model._statement().on(InMemory(Rows(X), (y > 0).astype(int), s))
    reached = number(exact_primal(problem, [Fraction(float(model.coef_[0, 0]))], Fraction(0)))
    assert reached <= best_of_one_weight(problem) * (1 + mpmath.mpf(2e-4))


def test_m13_huge_numbers_and_a_tiny_C_are_proven_at_the_true_optimum():
    X, y = [[1e65], [-1e65]], [1, 0]
    model = LinearClassifier("hinge", penalty=Penalty(1e-100, 0.0), C=1e-230).fit(X, y)
    assert model.certificate_.primal == pytest.approx(5e-231, rel=1e-6)  # at w = 1e-65; at w = 0 it is 2e-230
    assert model.certificate_.proven
    assert model.certificate_.verify(X, y).proven


@pytest.mark.parametrize("w", [0.0, 3e-65])
def test_m13_no_other_plane_is_within_a_hair_of_that_optimum(w):
    problem = Problem(Rows(np.array([[1e65], [-1e65]])), np.array([1.0, -1.0]), Hinge(), Penalty(1e-100, 0.0), 1e-230)
    primal, dual = enclosed_bound(problem, np.array([w]), 0.0, DualPoint())
    assert inside(exact_primal(problem, [Fraction(w)], Fraction(0)), primal)
    assert relative_gap(primal, dual) > 0.7


def test_m13_the_mirror_image_in_the_penalty():
    """½‖w‖² falls below the range of floats, though l2 makes it count."""
    problem = Problem(Rows(np.array([[1e100], [-1e100]])), np.array([1.0, -1.0]), Hinge(), Penalty(1e300, 0.0), 1.0)
    w = np.array([1e-165])  # w² = 1e-330, l2 w²/2 = 5e-31
    primal, _ = enclosed_bound(problem, w, 0.0, DualPoint())
    assert inside(exact_primal(problem, [Fraction(1e-165)], Fraction(0)), primal)
    problem = Problem(Rows(np.array([[1e-170]])), np.ones(1), Perceptron(), Penalty(1e300, 0.0), 1e-170)
    primal, _ = enclosed_bound(problem, w, 0.0, DualPoint())
    assert primal.low > 4e-31


@pytest.mark.parametrize("model", [LinearSVC(C=1e-200), LogisticRegression(C=1e-200)], ids=repr)
def test_m13_an_objective_below_the_smallest_float_is_not_proven_and_the_reason_is_told(model):
    X, y, s = [[1.0], [-1.0], [2.0]], [1, 0, 1], np.full(3, 1e-150)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(X, y, sample_weight=s)
    assert not model.certificate_.proven
    outcome = model.certificate_.verify(X, y, s)
    assert outcome
    assert not outcome.proven
    assert outcome.relative_gap == math.inf
    assert "too small for floating-point numbers" in outcome.reason


SCALES = [(-900, 830), (-460, 0), (-460, 900), (480, -950), (480, -20), (0, -1000), (0, 1000)]


@pytest.mark.parametrize(("k", "m"), SCALES)
@pytest.mark.parametrize("loss", ["hinge", "logistic", "squared_hinge", "square"])
def test_m13_fits_on_any_scale_are_the_same_fit_and_proven(loss, k, m, overlapping):
    X, y = overlapping
    usual = LinearClassifier(loss, penalty=Penalty(1.0, 0.0), C=1.0, tol=1e-8).fit(X, y)
    scaled = LinearClassifier(loss, penalty=Penalty(math.ldexp(1.0, m + 2 * k), 0.0), C=math.ldexp(1.0, m), tol=1e-8)
    scaled.fit(np.ldexp(X, k), y)
    assert np.ldexp(scaled.coef_, k) == pytest.approx(usual.coef_, rel=1e-4, abs=1e-6)
    assert scaled.certificate_.proven
    assert scaled.certificate_.verify(np.ldexp(X, k), y).proven


@pytest.mark.parametrize("C", [2.0**-1000, 2.0**-300, 2.0**900])
def test_m13_softmax_fits_on_any_scale_are_proven(C, overlapping):
    X, y = overlapping[0], np.arange(60) % 3
    k = -math.frexp(C)[1] // 2  # X²C is what counts
    model = LogisticRegression(C=C, tol=1e-6).fit(np.ldexp(X, k), y)
    assert model.certificate_.proven
    assert model.certificate_.verify(np.ldexp(X, k), y).proven


def test_the_proof_of_a_fit_counts_the_square_of_what_huge_columns_lose(overlapping):
    """v = Σ αᵢ yᵢ xᵢ is off by 1e15 roundings, and the bound by half the square of that."""
    X, y = overlapping
    X = X[:, :2] * [1e-15, 1e15]
    for seed in range(10):
        some = np.random.default_rng(seed).permutation(len(y))[:30]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            certificate = LinearClassifier("logistic").fit(X[some], y[some]).certificate_
        outcome = certificate.verify(X[some], y[some])
        assert outcome
        assert outcome.proven >= certificate.proven


@pytest.mark.parametrize("s", [1e-280, 1e200])
def test_m13_what_is_not_proven_for_its_size_can_be_saved_and_checked(s, tmp_path):
    X, y, weight = np.array([[1e100, 1.0], [-1e100, 2.0], [1e90, -1.0], [3e100, 1.0]]), [0, 1, 0, 1], np.full(4, s)
    model = LinearClassifier("square", penalty="l1", C=1e300 if s > 1 else 1e-300)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(X, y, sample_weight=weight)
    model_file.save(model, tmp_path / "model.json")
    certificate = model_file.load(tmp_path / "model.json").certificate_
    assert not certificate.proven
    assert certificate.verify(X, y, weight)
    assert not certificate.verify(X, y, weight).proven


# --- the pieces


def test_a_share_of_a_subnormal_objective_is_what_it_is():
    assert Bound(primal=4e-310, dual=3e-310).relative_gap == pytest.approx(0.25)
    assert Bound(primal=0.0, dual=-1e-320).relative_gap == math.inf
    assert share(1e-310, 0.0) == math.inf
    assert share(0.0, 0.0) == 0.0
    assert relative_gap(Interval(1e-310, 2e-310), Interval(0.0, 0.0)) >= 2.0
    assert relative_gap(Interval(1.0, 1.0), Interval(2.0, 2.0)) == 0.0


def test_what_is_not_finite_is_unbounded():
    assert outward(math.nan, math.nan) == Interval(-math.inf, math.inf)
    assert total(np.array([np.inf]), np.zeros(1)) == Interval(-math.inf, math.inf)
    assert total(np.array([np.nan]), np.zeros(1)) == Interval(-math.inf, math.inf)
    assert total(np.array([1.7e308, 1.7e308]), np.zeros(2)) == Interval(-math.inf, math.inf)
    assert gamma(2**53) == math.inf
    _, radius = agreements(np.array([[1e308, 1e308]]), np.ones(1), np.array([10.0, 10.0]), 0.0)
    assert radius[0] == math.inf
    assert "too large" in out_of_range(Interval(-math.inf, math.inf), Interval(0.0, 0.0))
    assert "too large" in out_of_range(Interval(1.0, 2.0), Interval(-math.inf, 0.0))
    assert "told from zero" in out_of_range(Interval(-1.0, 1.0), Interval(0.0, 0.0))


@given(st.floats(allow_nan=False, allow_infinity=False), st.integers(-2500, 2500))
def test_a_shifted_interval_contains_the_shifted_number(value, exponent):
    found = Interval(value, value).shifted(exponent)
    assert found.low <= Fraction(value) * Fraction(2) ** exponent <= found.high


def test_an_exact_scaling_changes_nothing_but_the_scale():
    X, y = np.array([[3e-300, -1e-301], [2e-300, 0.0]]), np.array([1.0, -1.0])
    problem = Problem(Rows(X), y, Logistic(), Penalty(1e-200, 0.0), 1e-50, np.array([1e-100, 3e-90]))
    w = np.array([1e200, -2e200])
    scaled = middle_of_range(problem, w)
    assert scaled.exact
    assert not ordinary(problem, w, 0.0)
    before = exact_primal(problem, [Fraction(t) for t in w], Fraction(1, 2))
    after = exact_primal(scaled.problem, [Fraction(float(t)) for t in scaled.W], Fraction(1, 2))
    assert after == before * Fraction(2) ** scaled.m


def test_a_scaling_that_would_round_says_so():
    problem = Problem(Rows(np.eye(2)), np.array([1.0, -1.0]), Hinge(), C=1.0, sample_weight=np.array([1e300, 5e-324]))
    assert not middle_of_range(problem, np.ones(2)).exact


# --- several classes


def exact_softmax(problem, W, b):
    """P(W, b), with 400 bits."""
    W = [[number(Fraction(float(t))) for t in row] for row in W]
    b = [number(Fraction(float(t))) for t in b]
    value = number(Fraction(problem.penalty.l2)) * sum(t * t for row in W for t in row) / 2
    value += number(Fraction(problem.penalty.l1)) * sum(abs(t) for row in W for t in row)
    for row, k, c in zip(exact_rows(problem), problem.codes, softmax_weights(problem), strict=True):
        if c:
            scores = [sum((number(x) * W[j][m] for j, x in enumerate(row)), b[m]) for m in range(problem.classes)]
            rest = [score - scores[k] for m, score in enumerate(scores) if m != k]
            highest = max(0, *rest)
            terms = [t - highest for t in (*rest, 0) if t - highest > -20_000]
            terms.remove(0)
            value += number(c) * (highest + mpmath.log1p(sum(map(mpmath.exp, terms))))
    return value


def softmax_weights(problem):
    return [Fraction(problem.weight_of_loss) * Fraction(float(t)) for t in problem.s]


@st.composite
def wild_softmax(draw):
    n, d, K = draw(st.integers(3, 6)), draw(st.integers(1, 2)), 3
    X = draw(wild_numbers(n * d)).reshape(n, d)
    codes = np.arange(n) % K
    s = np.abs(draw(wild_numbers(n))) if draw(st.booleans()) else None
    C = np.inf if draw(st.integers(0, 5)) == 0 else 10.0 ** draw(st.integers(-300, 300))
    intercept = draw(st.booleans())
    problem = softmax_objective(Rows(X), codes, K, draw(st.sampled_from(PENALTIES)), C, s, intercept)
    W = draw(wild_numbers(d * K)).reshape(d, K)
    if draw(st.booleans()):
        largest = float(np.abs(X).max())
        W = np.where(W > 0, 1.0, -1.0) * (min(0.7 / largest, 1e300) if largest > 0 else 1.0)
    return problem, W, np.array([0.5, 0.0, -0.25]) * intercept


@given(wild_softmax())
@settings(max_examples=80, deadline=None, suppress_health_check=list(HealthCheck))
def test_m13_softmax_encloses_its_objective_at_any_scale(given_problem):
    problem, W, b = given_problem
    primal, dual = enclosed_bound(problem, W, b)
    exact = exact_softmax(problem, W, b)
    near = exact * mpmath.mpf(2) ** -300
    assert mpmath.mpf(primal.low) <= exact + near
    assert mpmath.mpf(primal.high) >= exact - near
    assert mpmath.mpf(dual.low) <= exact + near
    assert mpmath.mpf(dual.low) <= exact_softmax(problem, 0 * W, 0 * b) * (1 + mpmath.mpf(2) ** -300)


def test_m13_softmax_without_a_penalty_weighs_its_gap_with_C():
    rng = np.random.default_rng(0)
    X, codes = rng.standard_normal((60, 2)), np.arange(60) % 3
    model = LogisticRegression(C=np.inf).fit(X, codes)
    W, b = model.coef_.T * 1.1, model.intercept_
    gaps = []
    for C in (1.0, 8.0):
        problem = softmax_objective(Rows(X), codes, 3, Penalty(0.0, 0.0), C)
        gaps.append(relative_gap(*enclosed_bound(problem, W, b)))
    assert 1e-6 < gaps[0] < 1
    assert gaps[1] == pytest.approx(gaps[0], rel=1e-9)


def test_m13_a_softmax_claim_with_a_small_C_and_no_penalty_is_not_believed():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((60, 2)), np.arange(60) % 3
    model = LogisticRegression(C=np.inf, tol=1e-6).fit(X, y)
    away = model.coef_ * 1.1
    data = model.certificate_.to_dict()
    data["statement"] |= {"l2": 0.0, "l1": 0.0, "C": 1e6}
    data |= {"coef": away.tolist(), "planes": digest(away, model.intercept_)}
    problem = softmax_objective(Rows(X), y, 3, Penalty(0.0, 0.0), 1e6)
    primal = problem.evaluate(away.T, model.intercept_).objective
    data |= {"primal": primal, "dual": primal * (1 - 1e-8), "rounding": 0.0}
    assert not SoftmaxCertificate.from_dict(data).verify(X, y)


# --- parts


class Parts(InBlocks):
    """Examples in two blocks."""

    def __init__(self, X, codes):
        self.X, self.codes, (self.n, self.d) = X, codes, X.shape
        self.counts = np.bincount(codes)
        with np.errstate(over="ignore", under="ignore"):
            self.squares = np.bincount(codes, weights=(X**2).sum(axis=1))

    def __iter__(self):
        middle = self.n // 2
        yield Block(0, Rows(self.X[:middle]), self.codes[:middle])
        yield Block(middle, Rows(self.X[middle:]), self.codes[middle:])


@pytest.mark.parametrize("scale", [1e-200, 1.0, 1e120])
def test_m13_streamed_claims_of_any_scale_hold(scale, overlapping):
    X, y = overlapping
    X, codes = X * scale, (y > 0).astype(np.int64)
    problem = objective_in_blocks(Parts(X, codes), 1, Logistic(), Penalty(1e-50, 0.0), 1e-40)
    w, b = np.zeros(3), 0.0
    statement = Statement(Logistic(), Penalty(1e-50, 0.0), 1e-40, True)

    class Found:
        proof = Bound(1e-40 * 60 * math.log(2), 1e-40 * 60 * math.log(2))  # what a solver in trouble may say
        alpha = enclosed = z = None

    Found.w, Found.b = w, b
    claim = certify(problem, Found, statement, [0, 1], 1e-4)
    whole = Problem(Rows(X), np.where(codes > 0, 1.0, -1.0), Logistic(), Penalty(1e-50, 0.0), 1e-40)
    primal, dual = enclosed_bound(whole, w, b, claim.dual_point)
    if scale != 1.0:
        assert claim.dual <= dual.high
        assert claim.primal == pytest.approx(primal.high, rel=1e-12)
