"""Certificates at the ends of the range of floats: what they say is so in exact arithmetic, or they say nothing."""

import math
import warnings
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy import sparse

from linsep._core import Rows
from linsep.certificate import DualPoint, enclosed_bound, feasible_dual
from linsep.enclosure import Interval, relative_gap
from linsep.losses import Hinge, Logistic, Perceptron, Square, SquaredHinge
from linsep.penalties import L1, L2, ElasticNet, Penalty
from linsep.problem import Problem

mpmath = pytest.importorskip("mpmath")
mpmath.mp.prec = 400

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

# --- the oracle: rationals, and 400 bits with unbounded exponents where there are exponentials


def fraction(value):
    """An mpmath number as a rational."""
    sign, mantissa, exponent, _ = value._mpf_
    return Fraction((-1) ** sign * int(mantissa)) * Fraction(2) ** int(exponent)


def number(value):
    return mpmath.mpf(value.numerator) / mpmath.mpf(value.denominator)


def exact_loss(loss, z):
    if isinstance(loss, Logistic):
        if abs(z) > 10**4:  # e^(−z) is below any float, whatever its weight
            return max(-z, Fraction(0))
        return fraction(mpmath.log1p(mpmath.exp(-number(abs(z)))) + max(-number(z), 0))
    if isinstance(loss, Perceptron):
        return max(Fraction(0), -z)
    short = 1 - z if isinstance(loss, Square) else max(Fraction(0), 1 - z)
    return short if isinstance(loss, Hinge) else short**2


def exact_conjugate(loss, a):
    if isinstance(loss, Logistic):
        p = -a
        return sum(fraction(number(q) * mpmath.log(number(q))) for q in (p, 1 - p) if q > 0)
    if isinstance(loss, Perceptron):
        return Fraction(0)
    return a if isinstance(loss, Hinge) else a + a * a / 4


def exact_rows(problem):
    dense = problem.rows.X.toarray() if problem.rows.is_sparse else problem.rows.X
    return [[Fraction(float(x)) for x in row] for row in dense]


def exact_weights(problem):
    s = np.ones(problem.rows.n) if problem.sample_weight is None else problem.sample_weight
    return [Fraction(problem.weight_of_loss) * Fraction(float(t)) for t in s]


def exact_primal(problem, w, b):
    """P(w, b) of rationals w and b."""
    penalty = Fraction(problem.penalty.l2) * sum(t * t for t in w) / 2 + Fraction(problem.penalty.l1) * sum(map(abs, w))
    for row, y, c in zip(exact_rows(problem), problem.y.tolist(), exact_weights(problem), strict=True):
        z = int(y) * (sum(x * t for x, t in zip(row, w, strict=True)) + b)
        penalty += c * exact_loss(problem.loss, z)
    return penalty


def exact_dual(problem, alpha):
    """D(α); None where it is −∞."""
    alpha, c = [Fraction(float(a)) for a in alpha], exact_weights(problem)
    low, high = problem.loss.slopes
    for a, limit in zip(alpha, c, strict=True):
        assert a >= 0 or high > 0
        assert low != -1 or a <= limit
    if problem.fit_intercept:
        assert sum(a * int(y) for a, y in zip(alpha, problem.y, strict=True)) == 0
    l1, l2, rows = Fraction(problem.penalty.l1), Fraction(problem.penalty.l2), exact_rows(problem)
    v = [
        sum(a * int(y) * row[j] for a, y, row in zip(alpha, problem.y, rows, strict=True))
        for j in range(problem.rows.d)
    ]
    excess = sum(max(Fraction(0), abs(t) - l1) ** 2 for t in v)
    if excess and not l2:
        return None
    conjugates = sum(t * exact_conjugate(problem.loss, -a / t) for a, t in zip(alpha, c, strict=True) if a)
    return -(excess / (2 * l2) if excess else 0) - conjugates


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


@given(wild_problems())
@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_m13_the_exact_objective_lies_in_its_interval_at_any_scale(given_problem):
    problem, w, b = given_problem
    primal, dual = enclosed_bound(problem, w, b, DualPoint())
    exact = exact_primal(problem, [Fraction(float(t)) for t in w], Fraction(b))
    assert inside(exact, primal)
    assert dual.low <= primal.high
    best = min(exact, exact_primal(problem, [Fraction(0)] * len(w), Fraction(0)))
    assert dual.low <= best
    gap = relative_gap(primal, dual)
    assert math.isinf(gap) or exact == 0 or (exact - Fraction(dual.low)) / exact <= Fraction(gap)


@given(wild_problems(), st.integers(0, 2**32))
@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_m13_the_exact_bound_lies_in_its_interval_at_any_scale(given_problem, seed):
    problem, _, _ = given_problem
    rng = np.random.default_rng(seed)
    with np.errstate(all="ignore"):
        c = np.array([float(t) if t < Fraction(10) ** 308 else 1e308 for t in exact_weights(problem)])
        alpha = c * rng.uniform(0.0, 1.2, problem.rows.n)
        alpha, interval = feasible_dual(problem, alpha)
    exact = exact_dual(problem, alpha)
    assert inside(exact, interval) if exact is not None else interval.low == -math.inf
