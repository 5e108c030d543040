"""Margins between classes: kernels against plain twins, planes against CVXPY and scikit-learn, masses, the proof."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.optimize import minimize
from sklearn.datasets import load_digits, load_iris, load_wine
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC as ScikitLearn

from kernel_cases import COMPILED, handle
from linsep import LinearSVC, leave_one_out, load, regularization_path, save, verify
from linsep._core import Rows, one_thread, reference
from linsep._core.softmax import side_by_side
from linsep.objective.class_margins import MassPoint, balanced, by_scores, dual_value, flow_of
from linsep.objective.enclosure import enclosed_bound
from linsep.objective.examples import InMemory
from linsep.objective.flows import balanced_flow, is_balanced
from linsep.objective.heads import CrammerSinger
from linsep.objective.objective import Objective
from linsep.solvers import Multipliers
from linsep.solvers.newton.class_springs import line_search
from oracles import ClassMarginFormula

both_kernels = pytest.mark.parametrize(
    "kernels", [*COMPILED, reference], ids=lambda module: module.__name__.rsplit(".", 1)[-1]
)


def overlapping(n=80, d=3, K=4, seed=0, spread=1.0):
    rng = np.random.default_rng(seed)
    codes = np.arange(n) % K
    return rng.normal(size=(n, d)) + spread * rng.normal(size=(K, d))[codes], codes


def objective(X, codes, C=1.0, weight=None, **more):
    return Objective(InMemory(Rows(X), codes, weight), CrammerSinger(int(codes.max()) + 1), C=C, **more)


# -- the kernels ------------------------------------------------------------------------------------------------------


@both_kernels
@given(st.integers(0, 2**32 - 1), st.integers(2, 12), st.sampled_from([1e-3, 1.0, 50.0]))
@settings(max_examples=30, deadline=None)
def test_masses_are_the_nearest_ones_of_a_simplex(kernels, seed, K, width):
    rng = np.random.default_rng(seed)
    n, t = 7, 0.3
    G, change, codes = rng.normal(size=(n, K)), rng.normal(size=(n, K)), rng.integers(K, size=n)
    c = rng.uniform(0.1, 2.0, n)
    centre = rng.dirichlet(np.ones(K), n) * c[:, None]
    masses, count = np.empty((n, K)), np.empty(n)
    slope = kernels.simplex_masses(G, change, t, codes, c, centre, width, masses, count, 2)
    wanted = centre + (c / width)[:, None] * (G + t * change + (np.arange(K) != codes[:, None]))
    np.testing.assert_allclose(masses.sum(axis=1), c, rtol=1e-9)
    assert (masses >= 0).all()
    np.testing.assert_array_equal(count, (masses > 0).sum(axis=1))
    # nearest: on the classes that have a mass it is what was wanted less one number, elsewhere that would be negative
    for u, mass in zip(wanted, masses, strict=True):
        level = (u - mass)[mass > 0]
        np.testing.assert_allclose(level, level[0], rtol=1e-9, atol=1e-9 * np.abs(u).max())
        assert (u[mass == 0] <= level[0] + 1e-9 * np.abs(u).max()).all()
    assert slope == pytest.approx(float((masses * change).sum()), rel=1e-9, abs=1e-12)


@given(st.integers(0, 2**32 - 1), st.integers(2, 9), st.sampled_from([0.01, 1.0, 100.0]), st.booleans())
@settings(max_examples=25, deadline=None)
def test_a_pass_is_that_of_the_plain_twin(seed, K, C, dense):
    rng = np.random.default_rng(seed)
    n, d = 12, 6
    X = rng.standard_normal((n, d)) * (rng.random((n, d)) < 0.6)
    X = X if dense else sparse.csr_array(X)
    rows, codes, order = Rows(X), rng.integers(K, size=n), rng.permutation(n)
    states = []
    for kernels in (*COMPILED, reference):
        W, masses = side_by_side(np.zeros((d, K)), np.zeros(K), np.float64), np.zeros((n, K))
        masses[np.arange(n), codes] = C
        moved, still, sums = np.zeros(K), np.zeros(n, dtype=np.int64), np.empty(2)
        for _ in range(3):
            kernels.margin_dual_pass(
                handle(kernels, X),
                order,
                codes,
                np.full(n, C),
                rows.squared_norms(),
                0.1,
                masses,
                W,
                moved,
                still,
                sums,
            )
        np.testing.assert_allclose(masses.sum(axis=1), C, rtol=1e-9)
        states.append((sums, W, masses, moved))
    for state in states[:-1]:
        for one, other in zip(state, states[-1], strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-7, atol=1e-9 * C)


def test_a_pass_never_lowers_the_dual():
    X, codes = overlapping()
    problem = objective(X, codes, fit_intercept=False)
    masses, W = np.zeros((80, 4)), side_by_side(np.zeros((3, 4)), np.zeros(4), np.float64)
    masses[np.arange(80), codes] = 1.0
    state = dict(masses=masses, W=W, moved=np.zeros(4), still=np.zeros(80, dtype=np.int64))
    before = 0.0
    for _ in range(10):
        problem.rows.margin_dual_pass(codes, np.ones(80), np.arange(80), constant=0.0, **state)
        off = masses.copy()
        off[np.arange(80), codes] = 0.0
        value = dual_value(problem, off)
        assert value >= before
        before = value


# -- the optimum ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("C", [1e-3, 1.0, 1e3])
@pytest.mark.parametrize("kind", ["plain", "weighted", "apart", "sparse", "wide"])
def test_the_optimum_is_that_of_a_conic_program(kind, C, intercept):
    n, d = (40, 60) if kind == "wide" else (80, 3)
    X, codes = overlapping(n, d, spread=8.0 if kind == "apart" else 1.0)
    weight = np.random.default_rng(1).integers(0, 4, n).astype(float) if kind == "weighted" else None
    formula = ClassMarginFormula(X, codes, C=C, s=1.0 if weight is None else weight, intercept=intercept, classes=4)
    best = formula.optimum().value
    given_X = sparse.csr_array(X) if kind == "sparse" else X
    model = LinearSVC(multi_class="crammer_singer", C=C, fit_intercept=intercept, tol=1e-6).fit(given_X, codes, weight)
    value = formula.value(model.coef_.T, model.intercept_)
    assert model.converged_
    assert best * (1 - 1e-6) <= value <= best * (1 + 2e-6)
    certificate = model.certificate_
    assert certificate.dual <= best * (1 + 1e-6)
    assert value * (1 - 1e-12) <= certificate.primal <= value * (1 + 1e-7)  # every rounding is counted against it
    outcome = certificate.verify(given_X, codes, weight)
    assert outcome, outcome.reason
    assert outcome.proven


@pytest.mark.parametrize("load", [load_iris, load_wine, pytest.param(load_digits, marks=pytest.mark.slow)])
@pytest.mark.parametrize("C", [0.01, 1.0])
def test_without_an_intercept_the_planes_are_those_of_scikit_learn(load, C):
    X, y = load(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    common = dict(multi_class="crammer_singer", C=C, fit_intercept=False, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        theirs = ScikitLearn(**common, tol=1e-6, max_iter=20_000).fit(X, y)
    ours = LinearSVC(**common, tol=1e-9).fit(X, y)
    formula = ClassMarginFormula(X, y, C=C, intercept=False, classes=len(ours.classes_))
    assert ours.converged_
    assert formula.value(ours.coef_.T) <= formula.value(theirs.coef_.T) * (1 + 1e-9)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=2e-3 * np.abs(theirs.coef_).max())
    highest = np.sort(ours.decision_function(X), axis=1)
    told = highest[:, -1] - highest[:, -2] > 0.05  # other classes that have masses tie at the optimum
    np.testing.assert_array_equal(ours.predict(X)[told], theirs.predict(X)[told])
    assert told.mean() > 0.9
    assert ours.decision_function(X).shape == theirs.decision_function(X).shape


@pytest.mark.parametrize("C", [1.0, 1e4])
def test_columns_of_very_different_scales_are_no_matter(C):
    X, y = load_wine(return_X_y=True)  # of which LIBLINEAR says that it did not converge
    model = LinearSVC(multi_class="crammer_singer", C=C, tol=1e-6).fit(X, y)
    assert model.converged_
    assert model.certificate_.verify(X, y).proven


def test_two_classes_are_one_plane_the_difference_of_both_as_in_scikit_learn():
    X, y = load_iris(return_X_y=True)
    X, y = X[y != 0], y[y != 0]
    common = dict(multi_class="crammer_singer", C=0.7, fit_intercept=False)
    ours = LinearSVC(**common, tol=1e-8).fit(X, y)
    theirs = ScikitLearn(**common, tol=1e-8, max_iter=10**6).fit(X, y)
    assert ours.coef_.shape == theirs.coef_.shape == (1, 4)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-4)
    assert ours.certificate_.verify(X, y).proven
    both = ClassMarginFormula(X, y - 1, C=0.7, intercept=False, classes=2)
    assert both.value(np.vstack([-ours.coef_ / 2, ours.coef_ / 2]).T) == pytest.approx(both.optimum().value, rel=1e-6)


def test_weights_are_rows_and_classes_have_weights():
    X, codes = overlapping()
    times = np.random.default_rng(2).integers(1, 4, len(X))
    fit = dict(multi_class="crammer_singer", tol=1e-9)
    weighted = LinearSVC(**fit).fit(X, codes, times)
    repeated = LinearSVC(**fit).fit(np.repeat(X, times, axis=0), np.repeat(codes, times))
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, atol=1e-4)
    by_class = LinearSVC(**fit, class_weight={0: 3.0}).fit(X, codes)
    by_row = LinearSVC(**fit).fit(X, codes, np.where(codes == 0, 3.0, 1.0))
    np.testing.assert_allclose(by_class.coef_, by_row.coef_, atol=1e-6)


@pytest.mark.slow
def test_repeated_rows_are_merged_and_the_proof_is_of_all_of_them():
    X, codes = overlapping(60, 5)
    X, codes = np.tile(X, (4000, 1)), np.tile(codes, 4000)
    model = LinearSVC(multi_class="crammer_singer", C=1e-3).fit(X, codes)
    assert "merged into 60" in model.history_.reason
    assert model.certificate_.verify(X, codes).proven


def test_float32_dense_and_sparse_are_the_same_up_to_tol():
    X, codes = overlapping(200, 5)
    X = X.astype(np.float32)
    models = [
        LinearSVC(multi_class="crammer_singer", tol=1e-8).fit(kind(X), codes)
        for kind in (np.asarray, sparse.csr_array, lambda X: X.astype(np.float64))
    ]
    for model in models[1:]:
        np.testing.assert_allclose(model.coef_, models[0].coef_, atol=1e-4)


def test_a_warm_start_and_a_limit_on_steps():
    X, codes = overlapping(400, 6)
    model = LinearSVC(multi_class="crammer_singer", warm_start=True, tol=1e-6).fit(X, codes)
    first = model.coef_
    assert model.fit(X, codes).converged_
    np.testing.assert_allclose(model.coef_, first, atol=1e-2)
    with pytest.warns(ConvergenceWarning, match="max_iter=0"):
        still = LinearSVC(multi_class="crammer_singer", max_iter=0).fit(X, codes)
    assert not still.converged_
    assert not still.coef_.any()
    assert still.certificate_.verify(X, codes)


def test_converged_is_never_said_where_the_gap_is_not_below_tol():
    X, codes = overlapping(300, 20, 6)
    with pytest.warns(ConvergenceWarning):
        model = LinearSVC(multi_class="crammer_singer", C=100.0, tol=1e-14, max_iter=2).fit(X, codes)
    assert not model.converged_
    assert model.dual_gap_ > 1e-14
    assert not model.certificate_.proven
    assert model.certificate_.verify(X, codes)


def test_support_slack_and_dual_coefficients():
    X, codes = overlapping()
    model = LinearSVC(multi_class="crammer_singer", tol=1e-10).fit(X, codes)
    scores = model.decision_function(X)
    own = scores[np.arange(len(X)), codes]
    others = np.where(np.arange(4) == codes[:, None], -np.inf, scores)
    np.testing.assert_allclose(model.slack_, np.maximum(0, 1 + others.max(axis=1) - own), atol=1e-12)
    np.testing.assert_allclose(model.dual_coef_ @ model.support_vectors_, model.coef_, atol=1e-4)
    np.testing.assert_allclose(model.dual_coef_.sum(axis=0), 0, atol=1e-9)
    np.testing.assert_allclose(model.dual_coef_.sum(axis=1), 0, atol=1e-6)  # intercepts are free
    assert set(np.flatnonzero(model.slack_ > 1e-3)) <= set(model.support_)
    assert model.n_support_.sum() == len(model.support_)


@pytest.mark.parametrize("scale", [1e-60, 1e60])
def test_numbers_far_from_one(scale):
    X, codes = overlapping()
    model = LinearSVC(multi_class="crammer_singer", C=1.0 / scale**2).fit(X * scale, codes)
    assert model.converged_
    assert model.certificate_.verify(X * scale, codes).proven


def test_planes_do_not_depend_on_the_number_of_threads():
    X, codes = overlapping(3000, 8, 9)
    model = LinearSVC(multi_class="crammer_singer", random_state=0)
    together = model.fit(X, codes).coef_
    with one_thread():
        np.testing.assert_array_equal(model.fit(X, codes).coef_, together)


def test_rows_on_disk_are_refused_by_name():
    from linsep.objective.examples import Changed

    X, codes = overlapping()
    elsewhere = objective(X, codes).examples
    blocks = Changed(elsewhere, lambda rows: rows, 3)
    with pytest.raises(ValueError, match="one plane, or its rows in memory, not 4 at once and rows on disk"):
        Multipliers().solve(Objective(blocks, CrammerSinger(4), C=1.0))


# -- what a proof is made of ------------------------------------------------------------------------------------------


@given(st.integers(0, 2**32 - 1), st.integers(2, 6))
@settings(max_examples=50, deadline=None)
def test_flows_are_balanced_by_taking_away(seed, K):
    rng = np.random.default_rng(seed)
    flow = (rng.integers(0, 10**15, (K, K)) * (rng.random((K, K)) < 0.6)).tolist()
    left = balanced_flow(flow)
    assert all(0 <= left[k][m] <= flow[k][m] for k in range(K) for m in range(K))
    surplus = [sum(left[k]) - sum(row[k] for row in left) for k in range(K)]
    assert is_balanced(left) == (not any(surplus))


@given(st.integers(0, 2**32 - 1), st.booleans())
@settings(max_examples=15, deadline=None)
def test_no_masses_prove_more_than_the_optimum(seed, intercept):
    """Whatever masses somebody writes into a file, what is enclosed lies below the objective of any planes."""
    rng = np.random.default_rng(seed)
    X, codes = overlapping(20, 2, 3, seed % 1000)
    problem = objective(X, codes, C=float(10 ** rng.uniform(-2, 2)), fit_intercept=intercept)
    rows = rng.integers(20, size=15)
    values = rng.normal(size=15) * 10.0 ** rng.uniform(-3, 3) * np.where(rng.random(15) < 0.1, np.inf, 1.0)
    point = MassPoint(rows, rng.integers(3, size=15), values)
    w, b = rng.normal(size=(2, 3)), rng.normal(size=3) * intercept
    primal, dual = enclosed_bound(problem, w, b, point)
    formula = ClassMarginFormula(X, codes, C=problem.C, intercept=intercept, classes=3)
    assert primal.low <= formula.value(w, b) <= primal.high
    planes = [formula.value(rng.normal(size=(2, 3)) * t, rng.normal(size=3) * intercept) for t in (0.0, 0.1, 1.0)]

    def value(theta):
        return formula.value(theta[:6].reshape(2, 3), theta[6:] * intercept)

    planes.append(minimize(value, np.append(w.ravel(), b), method="Powell", options={"maxiter": 3}).fun)
    assert dual.low <= min(planes)


def test_a_point_gives_back_its_masses():
    X, codes = overlapping()
    problem, rng = objective(X, codes, C=2.0), np.random.default_rng(3)
    w, b = rng.normal(size=(3, 4)), rng.normal(size=4)
    scores = X @ w + b
    masses = by_scores(problem, scores)
    assert len(MassPoint.of(problem, masses, w, b, scores).rows) == 0
    masses[[3, 7]] = 0.0
    masses[7, (codes[7] + 1) % 4] = 0.5
    point = MassPoint.of(problem, masses, w, b, scores)
    assert set(point.rows) <= {3, 7}
    np.testing.assert_array_equal(MassPoint.from_dict(point.to_dict()).expand(problem, scores), masses)
    np.testing.assert_array_equal(point.times(3).values, 8 * point.values)
    flow = flow_of(problem, balanced(problem, masses))
    np.testing.assert_allclose(flow.sum(axis=0), flow.sum(axis=1), atol=1e-9)


def test_a_dual_point_that_names_what_is_not_there_is_refused():
    X, codes = overlapping()
    model = LinearSVC(multi_class="crammer_singer").fit(X, codes)
    claim = model._proofs[0].each[0]
    for name, value, words in (("rows", 80, "names a row"), ("classes", 4, "names a class")):
        parts = {"rows": np.array([0]), "classes": np.array([0]), "values": np.array([0.0])} | {name: np.array([value])}
        object.__setattr__(claim, "dual_point", MassPoint(**parts))
        outcome = model.certificate_.verify(X, codes)
        assert not outcome
        assert words in outcome.reason
    with pytest.raises(ValueError, match="as many values and classes as rows"):
        MassPoint.from_dict({"rows": [1], "classes": [], "values": [1.0]})


def test_the_line_search_finds_where_the_slope_vanishes():
    for root in (1e-4, 0.3, 1.0, 700.0):
        t = line_search(lambda t, root=root: t - root, -root)
        assert abs(t - root) <= 0.1 * root
    assert line_search(lambda t: t, 0.0) == 0.0


def test_what_is_not_there_for_it_is_refused_by_name():
    X, codes = overlapping()
    model = LinearSVC(multi_class="crammer_singer")
    with pytest.raises(ValueError, match="multi_class='crammer_singer' has no path"):
        regularization_path(X, codes, model)
    with pytest.raises(ValueError, match="not left out of a model with multi_class='crammer_singer'"):
        leave_one_out(model.fit(X, codes), X, codes)


def test_a_file_gives_it_back_and_verify_says_what_is_proven(tmp_path):
    X, codes = overlapping()
    model = LinearSVC(multi_class="crammer_singer", C=0.5).fit(X, codes)
    save(model, tmp_path / "model.json")
    again = load(tmp_path / "model.json")
    np.testing.assert_array_equal(again.coef_, model.coef_)
    np.testing.assert_array_equal(again.decision_function(X), model.decision_function(X))
    outcome = verify(again, X, codes)
    assert outcome.proven
    assert "½‖W‖² + 0.5·Σ (max(gₖ + [k≠y]) − gᵧ) of these planes on these 80 rows lies within" in outcome.reason
    assert "each class's balance in whole numbers" in "; ".join(outcome.checked)
    assert not verify(again, X, codes[::-1])
    assert not verify(again, X[::-1], codes)
    again.C = 0.6
    assert "parameters are not those" in verify(again, X, codes).reason
    again.C, again.multi_class = 0.5, "ovr"
    assert not verify(again, X, codes)
