"""Bounds are bounds: the dual value never exceeds the optimum, whatever point it comes from."""

import copy
import json
import pickle
import warnings
from dataclasses import replace
from fractions import Fraction
from functools import cache
from types import SimpleNamespace

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.optimize import minimize
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning, NotFittedError

from exact_oracles import exact_conjugate, exact_dual, exact_primal, exact_rows, exact_weights, least_squares_exactly
from linsep import LinearClassifier, LinearSVC, LogisticRegression, SGDClassifier
from linsep._core import Rows
from linsep.arithmetic.enclosure import agreements, feasible, total
from linsep.arithmetic.enclosure import conjugate_sum as conjugate_interval
from linsep.certificates.gap.certificate import Certificate, Certificates
from linsep.certificates.gap.certify import certify
from linsep.losses import Hinge, Logistic, Loss, Perceptron, Square, SquaredHinge
from linsep.objective.dual_point import DualPoint, feasible_dual
from linsep.objective.duality import Bound, balanced, dual_bound, weights
from linsep.objective.enclosure import enclosed_bound
from linsep.objective.examples import InMemory
from linsep.objective.problem import Problem
from linsep.objective.statement import Statement
from linsep.penalties import L1, L2, ElasticNet, Penalty
from linsep.solvers import DualDescent
from oracles import optimum, written_out

LOSSES = [Logistic(), SquaredHinge(), Square(), Hinge()]


def random_problem(seed, loss, penalty=None, intercept=True, weighted=False):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((25, 3)) + 0.5
    y = np.where(X @ [1.0, -1.0, 0.5] + rng.standard_normal(25) > 0.3, 1.0, -1.0)
    y[:2] = 1.0, -1.0
    weight = rng.uniform(0.0, 2.0, 25) if weighted else None
    return Problem(Rows(X), y, loss, penalty or L2(), C=0.7, sample_weight=weight, fit_intercept=intercept)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("loss", LOSSES, ids=repr)
@pytest.mark.parametrize("penalty", [L2(), L1(), ElasticNet(0.4)], ids=lambda penalty: penalty.formula)
@pytest.mark.parametrize("intercept", [True, False])
def test_the_dual_value_of_any_point_is_below_the_optimum(loss, penalty, intercept):
    problem = random_problem(1, loss, penalty, intercept, weighted=True)
    best = optimum(problem)
    rng = np.random.default_rng(2)
    for scale in (0.0, 0.3, 1.0, 3.0):
        w, b = scale * rng.standard_normal(3), scale * rng.standard_normal() * intercept
        found = problem.evaluate(w, b, split=True).bound
        assert found.dual <= best + 1e-7 * abs(best)
        assert found.primal == pytest.approx(written_out(problem).value(w, b))


@given(seed=st.integers(0, 10_000), loss=st.sampled_from([Logistic(), SquaredHinge(), Hinge()]), weighted=st.booleans())
@settings(max_examples=40, deadline=None)
def test_any_dual_point_bounds_any_primal_point(seed, loss, weighted):
    problem = random_problem(seed, loss, weighted=weighted)
    rng = np.random.default_rng(seed)
    s = np.ones(25) if problem.sample_weight is None else problem.sample_weight
    alpha = rng.uniform(0.0, problem.C, 25) * s
    w, b = rng.standard_normal(3), rng.standard_normal()
    assert dual_bound(problem, balanced(problem, alpha)) <= problem.objective(w, b) + 1e-9


@given(seed=st.integers(0, 10_000), loss=st.sampled_from([Logistic(), SquaredHinge(), Hinge()]), weighted=st.booleans())
@settings(max_examples=40, deadline=None)
def test_the_bound_of_a_point_is_that_of_its_own_dual_variables(seed, loss, weighted):
    problem = random_problem(seed, loss, intercept=False, weighted=weighted)
    s = np.ones(25) if problem.sample_weight is None else problem.sample_weight
    w = 2.0 * np.random.default_rng(seed).standard_normal(3)
    alpha = -problem.C * s * loss.slope(problem.agreements(w, 0.0))
    assert problem.evaluate(w, 0.0).bound.dual == pytest.approx(dual_bound(problem, alpha), rel=1e-11, abs=1e-11)


def test_one_class_without_weight_leaves_the_trivial_bound():
    problem = random_problem(3, Hinge())
    assert dual_bound(problem, balanced(problem, np.where(problem.y > 0, 0.5, 0.0))) == 0.0


def test_a_bound_with_an_intercept_needs_sums_by_class():
    problem = random_problem(4, Logistic())
    with pytest.raises(ValueError, match="split=True"):
        problem.evaluate(np.zeros(3), 0.0).exact_bound()


def test_the_relative_gap_is_a_share_of_the_primal_value():
    assert Bound(primal=4.0, dual=3.0).relative_gap == 0.25
    assert Bound(primal=0.0, dual=0.0).relative_gap == 0.0


# --- rounding: the exact values lie in the intervals

ALL = (*LOSSES, Perceptron())
PENALTIES = (L2(), L1(), ElasticNet(0.3), Penalty(3.0, 0.1))


@st.composite
def problems_with_planes(draw, losses=ALL):
    """Small problems of any scale, and a plane that need not be near the optimum."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    n, d = draw(st.integers(2, 12)), draw(st.integers(1, 4))
    X = rng.standard_normal((n, d)) * 10.0 ** draw(st.integers(-4, 4)) + draw(st.sampled_from([0.0, 1.0, 1e3]))
    X = X.astype(draw(st.sampled_from([np.float64, np.float32])))
    if draw(st.booleans()):
        X[rng.random((n, d)) < 0.4] = 0.0
        X = sparse.csr_array(X)
    y = np.where(rng.random(n) < 0.5, -1.0, 1.0)
    y[:2] = 1.0, -1.0
    s = rng.choice([0.0, 0.1, 1.0, 7.3], n) if draw(st.booleans()) else None
    C, intercept = 10.0 ** draw(st.floats(-4, 4)), draw(st.booleans())
    loss, penalty = draw(st.sampled_from(losses)), draw(st.sampled_from(PENALTIES))
    problem = Problem(Rows(X), y, loss, penalty, C, s, intercept)
    w = rng.standard_normal(d) * 10.0 ** draw(st.integers(-6, 2))
    return problem, w, float(rng.standard_normal()) * 10.0 ** draw(st.integers(-3, 2)) * intercept


@pytest.mark.slow
@given(problems_with_planes())
@settings(max_examples=150, deadline=None)
def test_the_exact_values_lie_in_the_intervals(given_problem):
    problem, w, b = given_problem
    z, _ = agreements(problem.rows.X, problem.y, w, b)
    primal, dual = enclosed_bound(problem, w, b, DualPoint())
    alpha, interval = feasible_dual(problem, DualPoint().expand(problem, z))
    assert interval == dual
    assert primal.low <= exact_primal(problem, w, b) <= primal.high
    assert dual.low <= exact_dual(problem, alpha) <= dual.high
    assert dual.low <= primal.high
    assert np.isfinite(dual.low)


@given(problems_with_planes(), st.integers(0, 2**32), st.floats(1e-3, 1.5))
@settings(max_examples=100, deadline=None)
def test_any_dual_point_becomes_exactly_feasible(given_problem, seed, size):
    problem, _, _ = given_problem
    rng, c = np.random.default_rng(seed), weights(problem)
    alpha = size * c * rng.random(problem.rows.n)
    alpha = feasible(problem.loss, balanced(problem, alpha), problem.y, c, balance=problem.fit_intercept)
    exact = [Fraction(float(a)) for a in alpha]
    if problem.fit_intercept:
        assert sum(a * int(y) for a, y in zip(exact, problem.y, strict=True)) == 0
    low, high = problem.loss.slopes
    for a, limit in zip(exact, exact_weights(problem), strict=True):
        assert high != 0 or a >= 0
        assert low != -1 or a <= limit


@pytest.mark.parametrize("p", [0.0, 5e-324, 1e-300, 1e-17, 0.5, 1 - 1e-16, 1.0])
@pytest.mark.parametrize("C", [1.0, 0.1, 1e-7, 3e5])
def test_the_ends_of_the_logistic_conjugate(p, C):
    c, alpha = np.array([C]), np.array([p * C])
    found = conjugate_interval(Logistic(), alpha, c)
    exact = Fraction(C) * exact_conjugate(Logistic(), -Fraction(float(alpha[0])) / Fraction(C))
    assert found.low <= exact <= found.high
    assert found.width <= 1e-13 * C


def test_long_sums_lie_in_their_intervals():
    rng = np.random.default_rng(0)
    values = rng.standard_normal(10_000) * 10.0 ** rng.integers(-10, 10, 10_000)
    found = total(values, np.zeros(10_000))
    assert found.low <= sum(Fraction(float(v)) for v in values) <= found.high


# --- without a penalty: curvature


def exact_least_squares(problem):
    """The least sum of squares by the normal equations in rationals (Gauss), for columns of full rank."""
    rows = [[*row, Fraction(1)] if problem.fit_intercept else row for row in exact_rows(problem)]
    size, c = len(rows[0]), exact_weights(problem)
    weighed = list(zip(c, rows, problem.y, strict=True))
    system = [
        [
            *[sum(t * r[i] * r[j] for t, r, _ in weighed) for j in range(size)],
            sum(t * r[i] * int(y) for t, r, y in weighed),
        ]
        for i in range(size)
    ]
    for k in range(size):
        pivot = next((i for i in range(k, size) if system[i][k] != 0), None)
        if pivot is None:
            return None
        system[k], system[pivot] = system[pivot], system[k]
        for i in range(size):
            if i != k:
                factor = system[i][k] / system[k][k]
                system[i] = [s - factor * t for s, t in zip(system[i], system[k], strict=True)]
    theta = [row[-1] / row[k] for k, row in enumerate(system)]
    return sum(t * (int(y) - sum(p * q for p, q in zip(theta, r, strict=True))) ** 2 for t, r, y in weighed)


@given(problems_with_planes(losses=[Square()]))
@settings(max_examples=60, deadline=None)
def test_a_quadratic_falls_no_further_than_its_curvature_says(given_problem):
    given_problem, w, b = given_problem
    problem = replace(given_problem, C=np.inf)
    primal, dual = enclosed_bound(problem, w, b, DualPoint())
    assert primal.low <= exact_primal(problem, w, b) <= primal.high
    best = exact_least_squares(problem)
    assert best is None or dual.low <= best


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("away", [0.0, 1e-4, 1e-2, 0.1, 1.0])
def test_the_logistic_loss_falls_no_further_than_its_curvature_says(seed, away):
    problem = replace(random_problem(seed, Logistic(), weighted=bool(seed % 2)), C=np.inf)
    s = np.ones(25) if problem.sample_weight is None else problem.sample_weight

    def value(theta):
        z = problem.y * (problem.rows.X @ theta[:-1] + theta[-1])
        slope = s * Logistic().slope(z) * problem.y
        return s @ Logistic().value(z), np.append(problem.rows.X.T @ slope, slope.sum())

    found = minimize(value, np.zeros(4), jac=True, method="BFGS", options={"gtol": 1e-10})
    theta = found.x + away * np.random.default_rng(seed).standard_normal(4)
    primal, dual = enclosed_bound(problem, theta[:-1], float(theta[-1]), DualPoint())
    assert 0.0 <= dual.low <= found.fun * (1 + 1e-12)
    if away <= 1e-2 and np.linalg.norm(found.x) < 20:
        assert primal.high - dual.low <= 2 * (value(theta)[0] - found.fun) + 1e-9  # and hardly less far


def test_columns_that_say_nothing_do_not_spoil_the_proof_without_a_penalty(overlapping):
    X, y = overlapping
    X = np.hstack([X, np.zeros((60, 1)), np.full((60, 1), 7.0)])
    for loss, options in (("logistic", {"C": None, "solver": "newton"}), ("square", {"C": None})):
        certificate = fit(loss, options, (X, y, None)).certificate_
        assert certificate.proven
        assert certificate.verify(X, y).proven


def test_a_large_quadratic_is_proven_at_the_fit_by_its_factor():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((5000, 70)) * 10.0 ** rng.uniform(-2, 2, 70)
    y = X[:, 0] / np.abs(X[:, 0]).mean() + rng.standard_normal(5000) > 0.3
    certificate = LinearClassifier("square", C=None).fit(X, y).certificate_
    assert certificate.relative_gap < 1e-12
    assert certificate.proven
    assert certificate.verify(X, y).proven


def test_no_optimum_is_claimed_of_columns_that_rounding_tells_apart_but_a_true_bound(overlapping):
    X, y = overlapping
    X = np.hstack([X, X[:, :1] / 3 + X[:, 1:2]])
    with pytest.warns(ConvergenceWarning, match="column x3 is nearly a combination of x0 and x1"):
        certificate = LinearClassifier("square", C=None).fit(X, y).certificate_
    assert not certificate.proven
    # Rounding is as good as a fifth column, with coefficients of 1e15: the optimum lies below what the others reach.
    optimum = least_squares_exactly(X, y)
    assert 0.0 < certificate.dual <= optimum < 0.95 * certificate.primal
    assert certificate.verify(X, y)


@pytest.mark.parametrize("seed", range(1, 31))
def test_a_bound_from_columns_that_rounding_tells_apart_does_not_hang_on_how_they_are_rounded(seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((60, 3))
    y = np.where(X @ [1.0, -2.0, 0.5] + 0.8 * rng.standard_normal(60) > 0.2, 1, -1)
    X = np.hstack([X, X[:, :1] / 3 + X[:, 1:2]])
    with pytest.warns(ConvergenceWarning, match="column x3 is nearly a combination of x0 and x1"):
        certificate = LinearClassifier("square", C=None).fit(X, y).certificate_
    optimum = least_squares_exactly(X, y)
    assert certificate.primal - 2.001 * (certificate.primal - optimum) < certificate.dual <= optimum


@pytest.mark.parametrize("loss", [Perceptron(), Hinge(), SquaredHinge()], ids=repr)
def test_without_a_penalty_zero_is_reached_on_separable_data(loss, separable):
    X, y = separable
    problem, statement = Problem(Rows(X), y.astype(float), loss), Statement(loss, L2(), np.inf, True)
    plane = SimpleNamespace(w=np.array([2.0, -3.0, 1.0]), b=4.0, proof=None, alpha=None, enclosed=None, z=None)
    claim = certify(problem, plane, statement, [-1, 1], 1e-4)
    assert claim.primal == claim.dual == claim.rounding == 0.0
    certificate = Certificate(claim, plane.w, plane.b, statement)
    assert certificate.proven
    assert certificate.verify(X, y).proven


@pytest.mark.parametrize("loss", [Perceptron(), Hinge(), SquaredHinge()], ids=repr)
def test_without_a_penalty_and_without_curvature_zero_is_all_that_is_known(loss):
    problem, statement = replace(random_problem(1, loss), C=np.inf), Statement(loss, L2(), np.inf, True)
    plane = SimpleNamespace(w=np.ones(3), b=0.5, proof=None, alpha=None, enclosed=None, z=None)
    certificate = Certificate(certify(problem, plane, statement, [-1, 1], 1e-4), plane.w, plane.b, statement)
    assert (certificate.dual, certificate.relative_gap, certificate.proven) == (0.0, 1.0, False)
    outcome = certificate.verify(problem.rows.X, problem.y)
    assert outcome
    assert not outcome.proven


def test_one_class_without_weight_costs_nothing_and_is_proven(overlapping):
    X, y = overlapping
    certificate = LinearClassifier("hinge").fit(X, y, sample_weight=(y > 0).astype(float)).certificate_
    assert certificate.primal == certificate.dual == 0.0
    assert certificate.proven
    assert certificate.verify(X, y, (y > 0).astype(float)).proven


# --- what fitted models carry

FITS = [
    ("logistic", {}),
    ("logistic", {"solver": "dual", "tol": 1e-8}),
    ("logistic", {"class_weight": "balanced"}),
    ("logistic", {"C": None, "solver": "newton"}),
    ("logistic", {"solver": "sgd", "penalty": "elasticnet", "l1_ratio": 0.5, "C": 0.1}),
    ("logistic", {"solver": "sgd", "penalty": "l1", "C": 0.2}),
    ("squared_hinge", {"C": 100.0}),
    ("squared_hinge", {"fit_intercept": False}),
    ("square", {"class_weight": {"b": 2.5}}),
    ("square", {"C": None}),
    ("square", {"C": 0.01, "fit_intercept": False}),
    ("hinge", {}),
    ("hinge", {"solver": "dual"}),
    ("hinge", {"solver": "dual", "fit_intercept": False, "class_weight": "balanced"}),
    ("hinge", {"solver": "sgd"}),
    ("perceptron", {"solver": "sgd"}),
]
FIT_IDS = [f"{loss}-{'-'.join(f'{k}={v}' for k, v in options.items())}" for loss, options in FITS]
each_fit = pytest.mark.parametrize(("loss", "options"), FITS, ids=FIT_IDS)


@pytest.fixture(scope="module")
def labelled(overlapping):
    X, y = overlapping
    return X, np.where(y > 0, "b", "a"), np.random.default_rng(1).uniform(0.5, 2.0, 60)


def fit(loss, options, data, weighted=True):
    X, y, s = data
    model = LinearClassifier(
        loss, random_state=0, max_iter=3000 if options.get("solver") == "dual" else None, **options
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(X, y, sample_weight=s)


@each_fit
@pytest.mark.parametrize(
    "form", [np.asarray, sparse.csr_array, lambda X: X.astype(np.float32), pd.DataFrame, pl.DataFrame]
)
def test_a_certificate_verifies_on_its_own_data(loss, options, form, labelled):
    X, y, s = labelled
    X = form(X)
    certificate = fit(loss, options, (X, y, s)).certificate_
    outcome = certificate.verify(X, y, s)
    assert outcome, outcome.reason
    assert certificate.dual <= certificate.primal
    assert outcome.proven == certificate.proven == (certificate.relative_gap <= certificate.tol)
    assert outcome.relative_gap <= certificate.relative_gap + 1e-9
    if np.isfinite(options.get("C", 1.0) or np.inf):  # without a penalty a claim may be weaker than what is proven
        assert outcome.relative_gap == pytest.approx(certificate.relative_gap, abs=1e-9)
    assert "within" in str(certificate)
    assert "Verified" in str(outcome)
    assert outcome.trusted
    if options.get("solver") != "sgd":
        assert certificate.proven


@cache
def fitted_once(k):
    X = np.random.default_rng(0).standard_normal((60, 3))
    noise = np.random.default_rng(1).standard_normal(60)
    data = (
        X,
        np.where(X @ [1.0, -2.0, 0.5] + 0.8 * noise > 0.2, "b", "a"),
        np.random.default_rng(1).uniform(0.5, 2.0, 60),
    )
    return fit(*FITS[k], data), data


@pytest.fixture
def fitted(request):
    """A model of its own for every test, and its data; each is fitted once."""
    return copy.deepcopy(fitted_once(request.param))


each_model = pytest.mark.parametrize("fitted", range(len(FITS)), ids=FIT_IDS, indirect=True)


@each_model
def test_the_rounding_allowed_for_at_the_fit_is_enough(fitted):
    model, (X, y, s) = fitted
    claim = model.certificate_.claim
    s = s * claim.statement.class_weights((y == "b").astype(int), claim.classes, s)[(y == "b").astype(int)]
    problem = claim.statement.on(InMemory(Rows(X), (y == "b").astype(int), s))
    assert (
        abs(exact_primal(problem, model.coef_[0], float(model.intercept_[0])) - Fraction(claim.primal))
        <= claim.rounding
    )


TAMPERINGS = {
    "coef in place": lambda m: m.coef_.__setitem__((0, 1), np.nextafter(m.coef_[0, 1], 9)),
    "coef replaced": lambda m: setattr(m, "coef_", 1.001 * m.coef_),
    "coef of another type": lambda m: setattr(m, "coef_", m.coef_.astype(np.float32)),
    "coef of another length": lambda m: setattr(m, "coef_", m.coef_[:, :2]),
    "coef without planes": lambda m: setattr(m, "coef_", m.coef_[0]),
    "two planes": lambda m: setattr(m, "coef_", np.vstack([m.coef_, m.coef_])),
    "intercept": lambda m: setattr(m, "intercept_", m.intercept_ + 1e-9),
    "classes": lambda m: setattr(m, "classes_", m.classes_[::-1]),
    "C": lambda m: setattr(m, "C", 2.5),
    "loss": lambda m: setattr(m, "loss", "perceptron" if m.loss != "perceptron" else "hinge"),
    "class weight": lambda m: setattr(m, "class_weight", {"a": 3.0}),
}


@each_model
@pytest.mark.parametrize("tampering", TAMPERINGS)
def test_a_changed_model_does_not_verify(fitted, tampering):
    model, data = fitted
    assert model.certificate_.verify(*data)
    TAMPERINGS[tampering](model)
    outcome = model.certificate_.verify(*data)
    assert not outcome
    assert outcome.ok is outcome.proven is False
    assert "NOT verified" in str(outcome)


def row_changed(X, y, s):
    X = X.copy()
    X[17] *= 1.01
    return X, y, s


def label_flipped(X, y, s):
    y = y.copy()
    y[5] = "a" if y[5] == "b" else "b"
    return X, y, s


OTHER_DATA = {
    "another row": row_changed,
    "a flipped label": label_flipped,
    "swapped labels": lambda X, y, s: (X, np.where(y == "a", "b", "a"), s),
    "an unknown label": lambda X, y, s: (X, np.where(np.arange(60) == 3, "c", y), s),
    "other weights": lambda X, y, s: (X, y, 1.01 * s),
    "no weights": lambda X, y, s: (X, y, None),
    "a row less": lambda X, y, s: (X[1:], y[1:], s[1:]),
    "a column less": lambda X, y, s: (X[:, 1:], y, s),
    "another scale": lambda X, y, s: (2 * X, y, s),
}


@each_model
@pytest.mark.parametrize("other", OTHER_DATA)
def test_other_data_do_not_verify(fitted, other):
    model, data = fitted
    outcome = model.certificate_.verify(*OTHER_DATA[other](*data))
    assert not outcome
    assert outcome.reason


CHANGED_CLAIMS = {
    "primal": lambda d: d.update(primal=d["primal"] * (1 - 1e-6)),
    "dual": lambda d: d.update(dual=d["dual"] + 1e-6 * (d["primal"] or 1.0)),
    "both": lambda d: d.update(primal=d["primal"] * 0.9, dual=d["primal"] * 0.9),
    "C": lambda d: d["statement"].update(C=17.0),
    "l2": lambda d: d["statement"].update(C=1.0, l2=0.5),
    "positive": lambda d: d.update(positive=0),
    "classes": lambda d: d.update(classes=["b", "a"]),
    "coef": lambda d: d.update(coef=[2 * w for w in d["coef"]]),
    "no intercept": lambda d: d["statement"].update(fit_intercept=not d["statement"]["fit_intercept"]),
    "data": lambda d: d["data"].update(positive=d["data"]["positive"] * 1.01),
}


@each_model
@pytest.mark.parametrize("change", CHANGED_CLAIMS)
def test_changed_claims_do_not_verify(fitted, change):
    model, data = fitted
    written = json.loads(json.dumps(model.certificate_.to_dict()))
    assert Certificate.from_dict(written).verify(*data)
    CHANGED_CLAIMS[change](written)
    assert not Certificate.from_dict(written).verify(*data)


def test_a_wish_is_no_proof(labelled):
    data = fit("hinge", {"solver": "sgd"}, labelled).certificate_.to_dict()
    data.update(rounding=0.0, tol=data["primal"] * 1e-9)
    assert not Certificate.from_dict(data).proven
    data.update(dual=data["primal"])
    assert Certificate.from_dict(data).proven
    assert not Certificate.from_dict(data).verify(*labelled)


@each_model
def test_a_certificate_survives_files_copies_and_clones(fitted):
    model, data = fitted
    certificate = model.certificate_
    written = json.loads(json.dumps(certificate.to_dict(plane=False), allow_nan=False))
    assert "coef" not in written
    read = Certificate.from_dict(written, coef=model.coef_[0], intercept=model.intercept_[0])
    for other in (read, pickle.loads(pickle.dumps(model)).certificate_, copy.deepcopy(model).certificate_):
        assert str(other) == str(certificate)
        assert other.verify(*data)
    with pytest.raises(NotFittedError):
        _ = clone(model).certificate_
    assert not hasattr(clone(model), "certificate_")


def test_of_the_hinge_only_points_on_the_margin_are_kept():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((2000, 5))
    y = np.where(X[:, 0] + 0.3 * rng.standard_normal(2000) > 0, 1, 0)
    model = LinearClassifier("hinge", solver="dual", max_iter=5000).fit(X, y)
    assert len(model.certificate_.claim.dual_point.rows) < 60
    assert model.certificate_.proven
    assert model.certificate_.verify(X, y).proven


def test_an_interior_point_is_settled_at_the_ends():
    problem = random_problem(3, Hinge())
    result = DualDescent(tol=1e-7, max_iter=100_000).solve(problem)
    inside = balanced(problem, np.clip(result.alpha, 1e-9, problem.C - 1e-9))
    proof = Bound(result.proof.primal, dual_bound(problem, inside))
    statement = Statement(problem.loss, problem.penalty, problem.C, True)
    claim = certify(problem, replace(result, alpha=inside, proof=proof), statement, [-1, 1], 1e-4)
    assert len(claim.dual_point.rows) <= 8
    certificate = Certificate(claim, result.w, result.b, statement)
    assert certificate.verify(problem.rows.X, problem.y).proven


@pytest.mark.parametrize("class_weight", [None, "balanced", {"ant": 2.0, "cow": 0.5}])
def test_m24_one_certificate_for_each_class(class_weight):
    X, y = load_iris(return_X_y=True)
    y = np.array(["ant", "bee", "cow"])[y]
    model = LinearClassifier("logistic", class_weight=class_weight).fit(X, y)
    certificates = model.certificate_
    assert len(certificates) == 3
    assert isinstance(certificates[:2], Certificates)
    assert certificates.proven
    assert certificates.gap == sum(one.gap for one in certificates)
    assert certificates.primal - certificates.dual == pytest.approx(certificates.gap)
    assert model.dual_gap_ == certificates.relative_gap == max(one.relative_gap for one in certificates)
    assert certificates.verify(X, y).proven
    assert "3 classes" in repr(certificates)
    written = json.loads(json.dumps(certificates.to_dict(plane=False)))
    assert Certificates.from_dict(written, model.coef_, model.intercept_).verify(X, y)
    model.coef_[1] *= 1.01
    outcome = model.certificate_.verify(X, y)
    assert not outcome
    assert "'bee' against the rest" in outcome.reason


@pytest.mark.parametrize("labels", [[0, 1], [False, True], [-1.0, 2.0], ["no", "yes"]])
def test_labels_of_any_type(labels, overlapping):
    X, y = overlapping
    y = np.array(labels)[(y > 0).astype(int)]
    certificate = LinearClassifier("logistic").fit(X, y).certificate_
    assert Certificate.from_dict(json.loads(json.dumps(certificate.to_dict()))).verify(X, y)
    assert certificate.verify(X, pd.Series(y))


def test_a_stream_has_no_certificate(overlapping):
    X, y = overlapping
    model = SGDClassifier("logistic", random_state=0).fit(X, y)
    assert model.dual_gap_ == model.certificate_.relative_gap < 1
    model.partial_fit(X[:5], y[:5])
    assert model.dual_gap_ == np.inf
    with pytest.raises(AttributeError, match="all data at once"):
        _ = model.certificate_


class Huber(Loss):
    """A loss of the user's own: the hinge, with a parabola at its corner; without and with a conjugate."""

    name, formula, smooth, max_curvature = "huber", "huber(1 − z)", True, 1.0

    def value(self, z):
        return np.where(z >= 1, 0.0, np.where(z >= 0, (1 - z) ** 2 / 2, 0.5 - z))

    def slope(self, z):
        return -np.clip(1 - z, 0.0, 1.0)

    def curvature(self, z):
        return ((z >= 0) & (z < 1)).astype(float)


class HuberWithConjugate(Huber):
    slopes = (-1.0, 0.0)

    def conjugate(self, a):
        return np.where((a >= -1) & (a <= 0), a + a**2 / 2, np.inf)


def test_a_loss_of_ones_own(overlapping):
    X, y = overlapping
    plain = LinearClassifier(Huber(), solver="sgd", random_state=0).fit(X, y)
    assert plain.dual_gap_ == np.inf
    assert not hasattr(plain, "certificate_")
    certificate = LinearClassifier(HuberWithConjugate()).fit(X, y).certificate_
    assert certificate.proven
    outcome = certificate.verify(X, y)
    assert outcome.proven
    assert "HuberWithConjugate" in outcome.trusted[-1]
    with pytest.raises(ValueError, match="file cannot say"):
        certificate.to_dict()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda X, y: (X, y[:-1], None), "60 rows and y 59"),
        (lambda X, y: (X, y, -np.ones(60)), "sample_weight"),
        (lambda X, y: (np.full((60, 3), np.nan), y, None), "NaN"),
    ],
)
def test_data_that_are_none_are_an_error(change, words, overlapping):
    X, y = overlapping
    certificate = LinearClassifier("logistic").fit(X, y).certificate_
    with pytest.raises(ValueError, match=words):
        certificate.verify(*change(X, y))


# -- where the numbers are hard ---------------------------------------------------------------------------------------

HARD = {
    "huge and tiny columns": lambda X: X * 10.0 ** np.linspace(-12, 12, X.shape[1]),
    "a constant of a million": lambda X: np.column_stack([X, np.full(len(X), 1e6)]),
    "heavy tails": lambda X: X**9,
}


@pytest.mark.parametrize("spoil", HARD.values(), ids=HARD)
@pytest.mark.parametrize(
    "model",
    [
        LinearSVC(),
        LinearSVC(loss="squared_hinge"),
        LinearSVC(penalty="l1", loss="squared_hinge"),
        LogisticRegression(),
        LogisticRegression(l1_ratio=1.0),
        LogisticRegression(l1_ratio=0.5),
    ],
    ids=repr,
)
def test_a_fit_of_hard_numbers_is_proven_and_never_refused(model, spoil):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 5))
    y = X @ rng.standard_normal(5) + 1.5 * rng.logistic(size=200) > 0
    X = spoil(X)
    certificate = clone(model).fit(X, y).certificate_
    assert certificate.proven
    assert certificate.verify(X, y).proven


@pytest.mark.parametrize("model", [LogisticRegression(), LogisticRegression(l1_ratio=1.0)], ids=repr)
@pytest.mark.parametrize(("C", "tol"), [(1.0, 1e-12), (1e8, 1e-4)])
@pytest.mark.parametrize("classes", [2, 3])
def test_a_small_tol_and_a_large_C_are_proven(model, C, tol, classes):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 3))
    y = (X @ rng.standard_normal((3, classes)) + rng.gumbel(size=(300, classes))).argmax(axis=1)
    certificate = clone(model).set_params(C=C, tol=tol).fit(X, y).certificate_
    assert certificate.proven
    assert certificate.verify(X, y).proven
