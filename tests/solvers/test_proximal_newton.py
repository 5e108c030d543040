"""Proximal Newton: L1 and elastic net within the gap it proves, by SciPy on split variables and by scikit-learn."""

import functools
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.datasets import load_breast_cancer, make_classification
from sklearn.linear_model import LogisticRegression as ScikitLogistic
from sklearn.preprocessing import scale
from sklearn.svm import LinearSVC as ScikitSVC

import oracles
from hard_data import hard_sides
from linsep import LinearClassifier, LinearSVC, LogisticRegression, losses
from linsep._core import Rows
from linsep.losses import Loss
from linsep.objective.problem import Problem
from linsep.penalties import L1, L2, ElasticNet
from linsep.solvers import ProximalNewton, Start, automatic
from linsep.solvers.newton import proximal as proximal_newton
from linsep.solvers.newton import proximal_models
from oracles import optimum

LOSSES = ["logistic", "squared_hinge", "square"]
every_loss = pytest.mark.parametrize("loss", LOSSES)


def problem(loss="logistic", seed=0, n=60, d=5, C=0.5, penalty=None, form=np.asarray, **options):
    X, y = make_classification(n, d, n_informative=3, n_redundant=0, flip_y=0.2, random_state=seed)
    penalty = L1() if penalty is None else penalty
    return Problem(Rows(form(X)), np.where(y > 0, 1.0, -1.0), losses.get(loss), penalty, C, **options)


def text(n=300, d=3000, seed=0):
    """Sparse counts, most of them telling nothing."""
    rng = np.random.default_rng(seed)
    X = sparse.random_array((n, d), density=0.02, random_state=rng, format="csr")
    truth = np.zeros(d)
    truth[:40] = rng.standard_normal(40)
    score = X @ truth + 0.1 * rng.standard_normal(n)
    return X, np.where(score > np.median(score), 1.0, -1.0)


# -- the optimum ------------------------------------------------------------------------------------------------------


@every_loss
@pytest.mark.parametrize("penalty", [L1(), ElasticNet(0.5)], ids=["l1", "elastic net"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array, lambda X: X.astype(np.float32)])
def test_the_optimum_lies_within_the_proven_gap(loss, penalty, weighted, form):
    weight = np.random.default_rng(1).uniform(0, 3, 60) if weighted else None
    it = problem(loss, penalty=penalty, form=form, sample_weight=weight)
    result, best = ProximalNewton(tol=1e-6).solve(it), optimum(it)
    assert result.converged
    assert result.proof.relative_gap <= 1e-6
    assert result.proof.dual <= best * (1 + 1e-9)
    assert best * (1 - 1e-9) <= it.objective(result.w, result.b) <= best * (1 + 2e-6)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_many_examples_begin_at_what_a_sample_says_and_end_at_the_optimum_of_all(form, monkeypatch):
    """40 examples for each feature, four times over: a sample's run comes first, and leaves few steps to do."""
    sizes, solve = [], proximal_newton._Run._begin
    monkeypatch.setattr(proximal_newton._Run, "_begin", lambda run, at: (sizes.append(run.problem.n), solve(run, at)))
    it = problem(n=17_000, d=5, C=0.01, form=form)
    result = ProximalNewton(tol=1e-6).solve(it, seed=0)
    assert max(sizes) == 17_000
    assert any(2_000 < size < 6_000 for size in sizes)
    assert result.converged
    assert optimum(it) >= result.proof.dual * (1 - 1e-9)
    assert result.proof.primal <= optimum(it) * (1 + 2e-6)


@pytest.mark.parametrize(("rare", "sampled"), [(0.0005, False), (0.4, True)])
def test_a_sample_with_few_of_the_rarer_class_is_not_where_sparse_rows_begin(rare, sampled, monkeypatch):
    sizes, begin = [], proximal_newton._Run._begin
    monkeypatch.setattr(proximal_newton._Run, "_begin", lambda run, at: (sizes.append(run.problem.n), begin(run, at)))
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(17_000, 5)), np.where(rng.random(17_000) < rare, 1.0, -1.0)
    it = Problem(Rows(sparse.csr_array(X)), y, losses.Logistic(), L1(), 0.01)
    assert ProximalNewton(tol=1e-6).solve(it, seed=0).converged
    assert (len(sizes) > 1) == sampled


@pytest.mark.parametrize(("n", "d", "C"), [(5_000, 50, 0.1), (150, 400, 1.0)], ids=["few features", "working sets"])
def test_sparse_rows_begin_by_rough_steps_that_leave_few_good_ones_to_take(n, d, C, monkeypatch):
    began, roughly = [], proximal_newton._Run._roughly
    monkeypatch.setattr(proximal_newton._Run, "_roughly", lambda run: (roughly(run), began.append((run.w, run.b))))
    it = problem(n=n, d=d, C=C, form=sparse.csr_array)
    result = ProximalNewton(tol=1e-6).solve(it, seed=0)
    ((w, b),) = began
    assert it.objective(w, b) <= 1.1 * result.proof.primal
    assert result.n_iter <= 6
    assert result.converged
    assert optimum(it) >= result.proof.dual * (1 - 1e-9)
    assert result.proof.primal <= optimum(it) * (1 + 2e-6)


def test_no_rough_steps_for_a_loss_of_the_users_own(monkeypatch):
    class Own(losses.Logistic):
        """The compiled loops do not know it."""

    monkeypatch.setattr(proximal_newton._Run, "_roughly", None)
    assert ProximalNewton(tol=1e-6).solve(problem(Own(), n=5_000, d=50, form=sparse.csr_array)).converged


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_a_hessian_over_some_examples_bends_nearly_as_that_over_all(form):
    rng = np.random.default_rng(0)
    X, h = rng.standard_normal((40_000, 60)) + 3.0, rng.uniform(0, 0.25, 40_000)
    rows, centre = Rows(form(X)), h @ X / h.sum()
    whole = (X - centre).T @ (h[:, None] * (X - centre))
    np.testing.assert_allclose(proximal_models._centred_gram(rows, h, centre, np.inf)[0], whole, rtol=1e-8, atol=1e-6)
    enough = proximal_models._enough(rows, 1.0)
    some = proximal_models._centred_gram(rows, h, centre, 3_000 / enough)[0]
    assert not np.allclose(some, whole, rtol=1e-4)
    bends = np.linalg.eigvals(np.linalg.solve(whole, some)).real
    assert 0.5 < bends.min() < bends.max() < 2.0


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(2, 40),
    d=st.integers(1, 30),
    C=st.sampled_from([1e-3, 0.1, 1.0, 30.0]),
    loss=st.sampled_from(LOSSES),
    r=st.sampled_from([1.0, 0.5, 0.01]),
    intercept=st.booleans(),
    weighted=st.booleans(),
    csr=st.booleans(),
)
def test_any_small_problem_is_solved(seed, n, d, C, loss, r, intercept, weighted, csr):
    rng = np.random.default_rng(seed)
    X, y = rng.integers(-2, 3, (n, d)).astype(float), rng.choice([-1.0, 1.0], n)
    y[:2] = 1.0, -1.0
    weight = rng.integers(1, 3, n).astype(float) if weighted else None
    rows = Rows(sparse.csr_array(X) if csr else X)
    it = Problem(rows, y, losses.get(loss), ElasticNet(r), C, weight, intercept)
    result = ProximalNewton(tol=1e-7).solve(it)
    best = optimum(it)
    assert result.converged
    assert result.proof.dual <= best + 1e-9 * (1 + best)
    assert it.objective(result.w, result.b) <= best + 1e-6 * (1 + best)
    assert result.b == 0 or intercept


@pytest.mark.parametrize("C", [0.01, 0.1])
@pytest.mark.parametrize("r", [1.0, 0.5])
def test_m16_logistic_regression_agrees_with_scikit_learn(C, r):
    pytest.importorskip("sklearn", "1.8", "of old it takes another word for this objective")
    X, y = load_breast_cancer(return_X_y=True)
    X = scale(X)
    ours = LogisticRegression(C=C, l1_ratio=r, tol=1e-8).fit(X, y)
    theirs = ScikitLogistic(C=C, l1_ratio=r, solver="saga", tol=1e-6, max_iter=50_000).fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=2e-3)
    np.testing.assert_array_equal(ours.coef_ == 0, np.abs(theirs.coef_) < 1e-4)
    assert ours.history_.solver == "proximal_newton"
    assert ours.certificate_.proven
    assert ours.certificate_.verify(X, y)


def test_an_svm_with_an_l1_penalty_is_the_one_that_liblinear_approaches():
    X, y = load_breast_cancer(return_X_y=True)
    X = scale(X)
    ours = LinearSVC(penalty="l1", loss="squared_hinge", C=0.05, tol=1e-8).fit(X, y)
    # liblinear penalises the intercept, the less the larger it is scaled
    settings = dict(penalty="l1", dual=False, tol=1e-5, intercept_scaling=1e3, max_iter=100_000, random_state=0)
    theirs = ScikitSVC(C=0.05, **settings).fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=2e-3)
    assert ours.certificate_.proven
    assert ours.certificate_.verify(X, y)


def test_where_the_penalty_outweighs_everything_no_weight_is_used_and_no_step_taken():
    result = ProximalNewton(tol=1e-9).solve(problem(C=1e-4))
    assert not result.w.any()
    assert result.n_iter == 0
    assert result.converged


# -- working sets -----------------------------------------------------------------------------------------------------


def tune(patch, module, **constants):
    patch.setattr(module, "TUNED", replace(module.TUNED, **constants))


@every_loss
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("penalty", [L1(), ElasticNet(0.5)], ids=["l1", "elastic net"])
def test_sparse_columns_worked_on_by_themselves_lead_to_the_optimum_of_a_cone_program(loss, penalty, intercept):
    X, y = text(80, 400, seed=3)
    weight = np.random.default_rng(2).uniform(0.5, 2.0, 80)
    it = Problem(Rows(X), y, losses.get(loss), penalty, 20.0, weight, fit_intercept=intercept)
    result = ProximalNewton(tol=1e-7).solve(it)
    best = oracles.written_out(it).conic_optimum().value
    assert result.converged
    assert result.proof.dual <= best * (1 + 1e-6)
    assert result.proof.primal == pytest.approx(best, rel=1e-6)


@every_loss
@pytest.mark.parametrize("size", [0.1, 10.0, 1000.0])
def test_from_anywhere_the_cautious_model_needs_no_shorter_step(loss, size):
    # Far-off examples bend the objective by next to nothing where they are, and by much on the way to where they go.
    X, y = text(n=100, d=400, seed=1)
    it = Problem(Rows(X).turned, y, losses.get(loss), L1(), 30.0)
    rng = np.random.default_rng(0)
    for _ in range(5):
        point = it.evaluate(size * rng.standard_normal(400), size, split=True, curvature=True)
        cautious = proximal_models.models_at(point, caution=1.0)[0][0]
        w, b = it.split(cautious(1e-6, 1000))
        gain = point.objective - it.evaluate(point.w + w, point.b + b, gradient=False).objective
        grown = np.abs(point.w + w).sum() - np.abs(point.w).sum()
        promised = -(point.smooth_gradient @ np.append(w, b) + grown)
        assert gain >= 0.499 * promised > 0


@functools.cache
def without_working_set(C, r):
    """The answer for `text()` with all features at once."""
    X, y = text()
    with pytest.MonkeyPatch.context() as patch:
        tune(patch, proximal_newton, few=10**6)
        tune(patch, proximal_models, gram=10**6)
        return ProximalNewton(tol=1e-7).solve(Problem(Rows(X), y, losses.Logistic(), ElasticNet(r), C))


@pytest.mark.slow
@pytest.mark.parametrize("C", [1.0, 30.0])
@pytest.mark.parametrize("gram", [0, 10_000], ids=["columns", "gram"])
@pytest.mark.parametrize("r", [1.0, 0.7])
def test_more_features_than_a_working_set_give_the_same_answer(C, gram, r, monkeypatch):
    X, y = text()
    tune(monkeypatch, proximal_models, gram=gram)
    it = Problem(Rows(X), y, losses.Logistic(), ElasticNet(r), C)
    found, whole = ProximalNewton(tol=1e-7).solve(it), without_working_set(C, r)
    assert found.converged
    assert whole.converged
    assert found.proof.dual <= whole.proof.primal
    assert whole.proof.dual <= found.proof.primal <= whole.proof.primal * (1 + 2e-7)
    assert 0 < np.count_nonzero(found.w) < 1000


def test_no_feature_that_counts_is_screened_out(monkeypatch):
    X, y = text()
    it = Problem(Rows(X), y, losses.Logistic(), L1(), 3.0)
    kept = []
    screen = proximal_newton._Run._screen

    def watched(run, point, proof):
        screen(run, point, proof)
        kept.append(run.alive.copy())

    monkeypatch.setattr(proximal_newton._Run, "_screen", watched)
    result = ProximalNewton(tol=1e-10).solve(it)
    assert result.converged
    assert not kept[-1].all()
    for alive in kept:
        assert alive[result.w != 0].all()


def test_dense_data_with_more_features_than_a_working_set(monkeypatch):
    X, y = text(d=600)
    dense, csr = (Problem(Rows(form), y, losses.SquaredHinge(), L1(), 0.5) for form in (X.toarray(), X))
    answers = [ProximalNewton(tol=1e-9).solve(it) for it in (dense, csr)]
    tune(monkeypatch, proximal_models, gram=0)
    answers.append(ProximalNewton(tol=1e-9).solve(dense))
    for answer in answers:
        assert answer.converged
        np.testing.assert_allclose(answer.w, answers[0].w, atol=1e-5)


# -- data that are hard -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("spoil", ["scales", "collinear", "constant", "twice", "offset", "imbalance", "wide"])
@every_loss
@pytest.mark.parametrize("r", [1.0, 0.5])
def test_hard_columns_and_rows_converge_at_default_settings(spoil, loss, r):
    X, y = hard_sides(spoil, wide=500)
    for form in (np.asarray, sparse.csr_array):
        model = LinearClassifier(loss, penalty="elasticnet", l1_ratio=r).fit(form(X), y)
        assert model.dual_gap_ <= 1e-4
        assert model.certificate_.verify(X, y)
    if spoil == "constant" and r == 1:
        assert model.coef_[0, 2] == 0


def test_a_column_of_zeros_and_data_of_zeros():
    X = np.zeros((6, 3))
    y = np.array([0, 0, 1, 1, 1, 1])
    assert not LogisticRegression(l1_ratio=1.0).fit(X, y).coef_.any()
    X[:, 0] = y
    model = LogisticRegression(l1_ratio=1.0, C=10.0).fit(X, y)
    assert model.coef_[0, 0] > 0
    assert not model.coef_[0, 1:].any()


@every_loss
@pytest.mark.parametrize("penalty", ["l1", "elasticnet"])
def test_weights_are_repeated_rows(loss, penalty):
    X, y = make_classification(80, 5, random_state=0)
    weight = np.random.default_rng(0).integers(0, 4, 80)
    settings = dict(penalty=penalty, l1_ratio=0.5, tol=1e-10, C=0.2)
    weighted = LinearClassifier(loss, **settings).fit(X, y, sample_weight=weight)
    repeated = LinearClassifier(loss, **settings).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, atol=1e-6)
    assert weighted.certificate_.verify(X, y, sample_weight=weight)


@every_loss
def test_dense_equals_sparse_equals_single_precision(loss):
    X, y = make_classification(80, 8, random_state=0)
    X = X.astype(np.float32).astype(np.float64)
    settings = dict(penalty="l1", tol=1e-9, C=0.3)
    dense = LinearClassifier(loss, **settings).fit(X, y)
    for other in (sparse.csr_array(X), X.astype(np.float32), sparse.csr_matrix(X.astype(np.float32))):
        fitted = LinearClassifier(loss, **settings).fit(other, y)
        np.testing.assert_allclose(fitted.coef_, dense.coef_, atol=1e-6)
        assert fitted.certificate_.verify(other, y)


class SmoothedHinge(Loss):
    """A user's own: the hinge with a parabola for a kink."""

    name, formula, convex, smooth, max_curvature = "smoothed", "huberised hinge", True, True, 1.0
    slopes = (-1.0, 0.0)

    def value(self, z):
        return np.where(z >= 1, 0.0, np.where(z <= 0, 0.5 - z, 0.5 * (1 - z) ** 2))

    def slope(self, z):
        return -np.clip(1.0 - z, 0.0, 1.0)

    def curvature(self, z):
        return ((z > 0) & (z < 1)).astype(float)

    def conjugate(self, a):
        return np.where((a >= -1) & (a <= 0), a + 0.5 * a**2, np.inf)


@pytest.mark.parametrize("C", [0.1, 2.0])
def test_a_loss_of_the_users_own_is_proven_too(C, monkeypatch):
    monkeypatch.setitem(oracles.LOSSES, "smoothed", SmoothedHinge().value)
    monkeypatch.setitem(oracles.SLOPES, "smoothed", SmoothedHinge().slope)
    X, y = make_classification(150, 8, flip_y=0.2, random_state=1)
    model = LinearClassifier(SmoothedHinge(), penalty="l1", C=C).fit(X, y)
    assert model.history_.solver == "proximal_newton"
    assert model.dual_gap_ <= 1e-4
    it = Problem(Rows(X), np.where(y > 0, 1.0, -1.0), SmoothedHinge(), L1(), C)
    assert it.objective(model.coef_[0], float(model.intercept_[0])) <= optimum(it) * (1 + 2e-4)


# -- running ----------------------------------------------------------------------------------------------------------


def test_a_path_goes_on_from_the_last_point():
    X, y = text()
    cold = warm = 0
    last = None
    for C in np.geomspace(0.5, 20.0, 10):
        it = Problem(Rows(X), y, losses.Logistic(), L1(), C)
        alone, along = (ProximalNewton(tol=1e-6).solve(it, start=start) for start in (None, last))
        assert alone.converged
        assert along.converged
        assert along.proof.primal == pytest.approx(alone.proof.primal, rel=2e-6)
        cold, warm, last = cold + alone.n_iter, warm + along.n_iter, along.last
    assert warm < cold
    again = ProximalNewton(tol=1e-6).solve(it, start=last)
    assert again.n_iter == 0


def test_solving_has_no_side_effects_and_gives_the_same_bits():
    it = problem()
    X, start = it.rows.X.copy(), Start(np.full(5, 0.5), 0.25)
    one, two = (ProximalNewton().solve(it, start=start, seed=seed) for seed in (0, 1))
    np.testing.assert_array_equal(it.rows.X, X)
    assert (start.w == 0.5).all()
    np.testing.assert_array_equal(one.w, two.w)
    assert one.b == two.b


def test_the_objective_falls_and_an_observer_can_stop_the_run():
    heard = []

    def observer(k, theta, objective):
        heard.append((k, theta.shape, objective))
        return k == 2

    it = problem(C=100.0, n=200)
    result = ProximalNewton(tol=1e-12).solve(it, observer=observer)
    assert [k for k, *_ in heard] == [1, 2]
    assert heard[0][1] == (6,)
    assert result.message == "stopped by a callback"
    assert result.n_iter == 2
    assert not result.converged
    objective = ProximalNewton(tol=1e-9).solve(it).history["objective"]
    assert (np.diff(objective) <= 1e-12 * objective[0]).all()


def test_max_iter_is_a_limit_and_the_gap_is_honest():
    it = problem(C=100.0, n=200)
    result = ProximalNewton(tol=1e-9, max_iter=1).solve(it)
    assert not result.converged
    assert "max_iter=1" in result.message
    assert result.proof.dual <= optimum(it) <= result.proof.primal


def test_ctrl_c_leaves_the_best_point(monkeypatch):
    def interrupt(k, theta, objective):
        raise KeyboardInterrupt

    result = ProximalNewton(tol=1e-12).solve(problem(C=100.0, n=200), observer=interrupt)
    assert result.interrupted
    assert np.isfinite(result.proof.gap)


def test_an_accuracy_beyond_the_arithmetic_ends_by_itself():
    result = ProximalNewton(tol=1e-30).solve(problem(C=10.0, n=200))
    assert abs(result.proof.relative_gap) < 1e-9
    assert result.n_iter < 100
    assert result.converged or "arithmetic" in result.message  # by chance the two bounds may round to the same


@pytest.mark.parametrize(
    ("loss", "penalty", "words"), [("hinge", L1(), "smooth"), ("logistic", L2(), "L1"), ("perceptron", L1(), "smooth")]
)
def test_what_it_cannot_do_it_says(loss, penalty, words):
    with pytest.raises(ValueError, match=words):
        ProximalNewton().solve(problem(loss, penalty=penalty))


@every_loss
def test_it_is_the_automatic_choice_for_smooth_losses_with_l1(loss):
    assert automatic(problem(loss))[0] == "proximal_newton"
    assert automatic(problem(loss, penalty=ElasticNet(0.1)))[0] == "proximal_newton"
    assert automatic(problem("hinge"))[0] == "interior_point"
