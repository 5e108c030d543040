"""Certificates of softmax models: true ones verify, false ones do not, and the numbers enclose the truth."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.datasets import load_iris, load_wine

from linsep import LogisticRegression
from linsep._core import Rows
from linsep.objective.curvature import examine, softmax_slopes
from linsep.objective.enclosure import sharp_primal
from linsep.objective.softmax_dual import _balance, enclosed_dual
from linsep.penalties import L1, L2, ElasticNet
from linsep.solvers import Newton
from objectives import softmax_objective


@pytest.fixture(scope="module")
def iris():
    return load_iris(return_X_y=True)


@pytest.mark.slow
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array, lambda X: X.astype(np.float32)])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"fit_intercept": False},
        {"class_weight": "balanced"},
        {"C": 100.0},
        {"l1_ratio": 1.0},
        {"l1_ratio": 0.3},
        {"l1_ratio": 1.0, "C": 50.0, "fit_intercept": False},
    ],
    ids=str,
)
def test_a_fit_proves_its_gap_and_the_data_confirm_it(form, options):
    X, y = load_wine(return_X_y=True)
    X = form(X)
    weight = np.random.default_rng(0).uniform(0.5, 2.0, len(y))
    certificate = LogisticRegression(**options).fit(X, y, sample_weight=weight).certificate_
    assert certificate.proven
    assert certificate.relative_gap <= certificate.tol == 1e-4
    assert certificate.gap == pytest.approx(certificate.primal - certificate.dual)
    outcome = certificate.verify(X, y, weight)
    assert outcome, outcome.reason
    assert outcome.proven
    assert outcome.primal.low <= certificate.primal + certificate.rounding
    assert outcome.relative_gap == pytest.approx(certificate.relative_gap, abs=1e-7)
    assert "within" in str(certificate)
    assert "exactly feasible" in str(outcome)


@pytest.fixture(scope="module")
def overlapping():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 3)) * [1.0, 100.0, 1e-3] + [0.0, 1e3, 0.0]
    return X, (rng.standard_normal((300, 3)) * 2 + (X - [0.0, 1e3, 0.0]) / [1.0, 100.0, 1e-3]).argmax(axis=1)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array, lambda X: X.astype(np.float32)])
def test_without_a_penalty_the_curvature_proves_the_gap(overlapping, intercept, form):
    X, y = overlapping
    X = form(X if intercept else X - [0.0, 1e3, 0.0])
    weight = np.random.default_rng(1).uniform(0.5, 2.0, len(y))
    model = LogisticRegression(C=np.inf, fit_intercept=intercept).fit(X, y, sample_weight=weight)
    assert model.converged_
    assert model.certificate_.proven
    assert model.dual_gap_ <= 1e-4
    outcome = model.certificate_.verify(X, y, weight)
    assert outcome, outcome.reason
    assert outcome.proven
    assert "the curvature at the planes" in str(outcome)
    model.coef_[0, 0] *= 1.001
    assert not model.certificate_.verify(X, y, weight)


def test_a_fit_without_a_penalty_that_ended_early_claims_no_more_than_it_knows(overlapping):
    X, y = overlapping
    with pytest.warns(match="did not converge"):
        certificate = LogisticRegression(C=np.inf, max_iter=1).fit(X, y).certificate_
    assert not certificate.proven
    outcome = certificate.verify(X, y)
    assert outcome
    assert not outcome.proven


@given(
    seed=st.integers(0, 10_000), K=st.integers(2, 4), intercept=st.booleans(), away=st.sampled_from([1e-4, 0.03, 2.0])
)
@settings(max_examples=30, deadline=None)
def test_no_optimum_lies_further_below_than_the_curvature_says(seed, K, intercept, away):
    rng = np.random.default_rng(seed)
    X, c = rng.standard_normal((60, 2)), rng.uniform(0.5, 2.0, 60)
    codes = np.append(np.arange(K), rng.integers(0, K, 60 - K))
    problem = softmax_objective(Rows(X), codes, K, sample_weight=c, fit_intercept=intercept)
    best = Newton(tol=1e-10).solve(problem)
    W = best.w + away * rng.standard_normal((2, K))
    b = best.b + away * rng.standard_normal(K) * intercept
    point = problem.evaluate(W, b)
    slopes = softmax_slopes(codes, c, X @ W + b, np.full(60, 1e-14))
    below = examine(2.0, X, lambda part, _: slopes.part(part), intercept=intercept, counted=c > 0, K=K).gap
    truth = point.objective - best.proof.primal
    assert below >= truth * (1 - 1e-6) - 1e-12
    if away == 1e-4:
        assert below <= 1.1 * truth + 1e-12


def test_what_was_tampered_with_does_not_verify(iris):
    X, y = iris
    model = LogisticRegression().fit(X, y)
    assert model.certificate_.verify(X, y)
    assert "labels" in model.certificate_.verify(X, y[::-1]).reason
    assert "rows" in model.certificate_.verify(X[:-1], y[:-1]).reason
    assert "weights" in model.certificate_.verify(X, y, np.full(150, 2.0)).reason
    assert "columns" in model.certificate_.verify(X[:, :3], y).reason
    assert "did not know" in model.certificate_.verify(X, y + 1).reason
    model.coef_[0, 0] += 1e-9
    assert "changed" in model.certificate_.verify(X, y).reason
    model.fit(X, y).set_params(C=2.0)
    assert "parameters" in model.certificate_.verify(X, y).reason


def test_a_fit_that_ended_early_claims_no_more_than_it_knows(iris):
    X, y = iris
    with pytest.warns(match="did not converge"):
        certificate = LogisticRegression(max_iter=2).fit(X, y).certificate_
    assert not certificate.proven
    outcome = certificate.verify(X, y)
    assert outcome
    assert not outcome.proven
    assert certificate.dual <= LogisticRegression(tol=1e-10).fit(X, y).certificate_.primal


def test_a_later_fit_of_another_kind_has_its_own_certificate(iris):
    X, y = iris
    model = LogisticRegression().fit(X, y)
    assert model.certificate_.verify(X, y)
    model.set_params(multi_class="ovr").fit(X, y)
    assert len(model.certificate_) == 3
    assert model.certificate_.verify(X, y)
    model.fit(X, y == 1)
    assert model.certificate_.verify(X, y == 1)


@given(
    seed=st.integers(0, 10_000),
    K=st.integers(2, 5),
    intercept=st.booleans(),
    size=st.sampled_from([0.1, 1.0, 30.0]),
    penalty=st.sampled_from([L2(), L1(), ElasticNet(0.4)]),
)
@settings(max_examples=40, deadline=None)
def test_the_enclosures_hold_every_value_and_never_cross(seed, K, intercept, size, penalty):
    rng = np.random.default_rng(seed)
    codes = np.append(np.arange(K), rng.integers(0, K, 15))
    problem = softmax_objective(Rows(rng.standard_normal((15 + K, 3))), codes, K, penalty, 0.7, fit_intercept=intercept)
    W, b = size * rng.standard_normal((3, K)), size * rng.standard_normal(K) * intercept
    primal, *_ = sharp_primal(problem, W, b, share=np.inf)  # in plain floats
    assert primal.low <= exact_objective(problem, W, b) <= primal.high
    assert primal.width <= 1e-11 * primal.high
    dual = enclosed_dual(problem.evaluate(W, b))
    for _ in range(3):
        other = rng.standard_normal((3, K)), rng.standard_normal(K) * intercept
        assert dual.low <= problem.evaluate(*other).objective * (1 + 1e-12)


def exact_objective(problem, W, b):
    """P in extended precision."""
    X = problem.rows.X.astype(np.longdouble)
    scores = X @ W.astype(np.longdouble) + b
    highest = scores.max(axis=1, keepdims=True)
    logs = scores - highest - np.log(np.exp(scores - highest).sum(axis=1, keepdims=True))
    own = logs[np.arange(len(X)), problem.codes]
    W, penalty = W.astype(np.longdouble), problem.penalty
    return float(penalty.l2 * (W**2).sum() / 2 + penalty.l1 * np.abs(W).sum() - np.longdouble(problem.C) * own.sum())


@given(seed=st.integers(0, 10_000), K=st.integers(2, 6), scale=st.integers(1, 45))
@settings(max_examples=60, deadline=None)
def test_balanced_flows_balance_exactly(seed, K, scale):
    rng = np.random.default_rng(seed)
    codes = np.append(np.arange(K), rng.integers(0, K, 20))
    units = rng.integers(0, 2**scale, (20 + K, K))
    units[np.arange(20 + K), codes] = 0
    before = units.copy()
    _balance(units, codes, K)
    assert (units >= 0).all()
    assert (units <= before).all()
    for k in range(K):
        out = sum(Fraction(int(u)) for u in units[codes == k].ravel())
        into = sum(Fraction(int(u)) for u in units[codes != k, k])
        assert out == into


@pytest.mark.parametrize("seed", range(1, 16))
def test_classes_in_a_row_are_proven_again(seed):
    """Flows are between neighbours only: what is left over has to go by them, one after the other."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(6, 20)), int(rng.integers(1, 5))
    X = rng.normal(size=(n, d)) * 1000.0
    y = np.digitize(X[:, 0], np.quantile(X[:, 0], [1 / 3, 2 / 3]))
    outcome = LogisticRegression().fit(X, y).certificate_.verify(X, y)
    assert outcome, outcome.reason
    assert outcome.proven
