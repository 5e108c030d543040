"""`LogisticRegression` and `LinearSVC`: scikit-learn's answers, proven; its parameters; its published examples."""

import numpy as np
import pytest
from scipy import sparse
from scipy.special import expit
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_breast_cancer, load_iris, load_wine, make_blobs, make_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.feature_selection import SelectFromModel
from sklearn.linear_model import LogisticRegression as ScikitLogistic
from sklearn.metrics import brier_score_loss
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler, scale
from sklearn.svm import SVC, l1_min_c
from sklearn.svm import LinearSVC as ScikitSVC
from sklearn.utils.class_weight import compute_class_weight

from linsep import LinearClassifier, LinearSVC, LogisticRegression, load, save
from linsep.solvers import DualDescent, GradientDescent, Newton, PerceptronRule, StochasticDescent


@pytest.fixture(scope="module")
def wine():
    X, y = load_wine(return_X_y=True)
    return scale(X).astype(np.float32).astype(np.float64), np.array(["barolo", "grignolino", "barbera"])[y]


@pytest.fixture(scope="module")
def cancer():
    X, y = load_breast_cancer(return_X_y=True)
    return scale(X).astype(np.float32).astype(np.float64), np.array(["malignant", "benign"])[y]


# -- against scikit-learn ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("C", [0.01, 1.0])
@pytest.mark.parametrize("intercept", [True, False])
def test_m16_two_classes_as_scikit_learn_fits_them(cancer, C, intercept):
    X, y = cancer
    ours = LogisticRegression(C=C, fit_intercept=intercept, tol=1e-11).fit(X, y)
    theirs = ScikitLogistic(C=C, fit_intercept=intercept, tol=1e-10, max_iter=5000).fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=2e-4)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-5)
    np.testing.assert_allclose(np.exp(ours.predict_log_proba(X)), theirs.predict_proba(X), atol=1e-5)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    assert ours.dual_gap_ <= 1e-11


@pytest.mark.parametrize("C", [0.01, 1.0])
@pytest.mark.parametrize("weight", [None, "balanced", {"barolo": 3.0}])
def test_m24_m16_three_classes_are_one_softmax_as_in_scikit_learn(wine, C, weight):
    X, y = wine
    ours = LogisticRegression(C=C, class_weight=weight, tol=1e-12).fit(X, y)
    theirs = ScikitLogistic(C=C, class_weight=weight, tol=1e-10, max_iter=5000).fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-5)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-5)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-6)
    assert ours.history_.solver == "newton"
    assert ours.history_.reason
    assert ours.dual_gap_ <= 1e-12
    assert ours.coef_.shape == (3, 13)


def test_m16_probabilities_are_the_sigmoid_of_the_score_and_a_threshold_is_ours_to_choose(cancer):
    X, y = cancer
    model = LogisticRegression().fit(X, y)
    p = model.predict_proba(X)[:, 1]
    np.testing.assert_allclose(p, expit(model.decision_function(X)), rtol=1e-12)
    log_odds = np.diff(model.predict_log_proba(X), axis=1)[:, 0]
    np.testing.assert_allclose(log_odds, model.decision_function(X), atol=1e-9)
    cautious = np.where(p >= 0.1, model.classes_[1], model.classes_[0])
    positive = y == model.classes_[1]
    assert (cautious == y)[positive].mean() >= (model.predict(X) == y)[positive].mean()


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_m16_gradient_descent_and_sgd_come_to_the_same_plane_as_the_fast_solver(overlapping):
    X, y = overlapping
    best = LogisticRegression(C=0.1, tol=1e-10).fit(X, y)
    for solver, near in (
        (GradientDescent(stopping=None, max_iter=3000), 1e-5),
        (StochasticDescent(stopping=None, keep="average", max_iter=3000), 0.05),
    ):
        model = LogisticRegression(C=0.1, solver=solver, random_state=0).fit(X, y)
        np.testing.assert_allclose(model.coef_, best.coef_, atol=near)


def test_one_against_the_rest_on_request(wine):
    X, y = wine
    model = LogisticRegression(multi_class="ovr").fit(X, y)
    for k, label in enumerate(model.classes_):
        alone = LogisticRegression().fit(X, y == label)
        np.testing.assert_allclose(model.coef_[k], alone.coef_[0], rtol=1e-9)
    shares = expit(model.decision_function(X))
    np.testing.assert_allclose(model.predict_proba(X), shares / shares.sum(axis=1, keepdims=True), rtol=1e-9)
    assert len(model.history_) == 3


@pytest.mark.parametrize("C", [np.inf, None])
def test_no_penalty_for_two_and_for_more_classes(C):
    X, y = load_iris(return_X_y=True)
    for labels in (y == 1, np.where(np.arange(150) % 7 == 0, (y + 1) % 3, y)):  # neither can be separated
        ours = LogisticRegression(C=C).fit(X, labels)
        theirs = ScikitLogistic(C=np.inf, tol=1e-10, max_iter=50_000).fit(X, labels)
        np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=2e-4)
        assert ours.converged_
    same = LogisticRegression(penalty=None).fit(X, y == 1)
    np.testing.assert_array_equal(same.coef_, LogisticRegression(C=C).fit(X, y == 1).coef_)
    assert same.objective_ == "Σ log(1 + e^(−z))"


def test_no_penalty_on_separable_data_is_said_not_to_converge(separable):
    with pytest.warns(ConvergenceWarning):
        LogisticRegression(C=np.inf, max_iter=20).fit(*separable)


@pytest.mark.parametrize("C", [0.01, 1.0])
def test_m15_the_soft_margin_plane_is_the_one_of_SVC(overlapping, C):
    X, y = overlapping
    ours = LinearSVC(C=C, tol=1e-9).fit(X, y)
    theirs = SVC(kernel="linear", C=C, tol=1e-10).fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-4)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-3)
    z = y * ours.decision_function(X)
    np.testing.assert_allclose(ours.slack_, np.maximum(0, 1 - z), atol=1e-12)
    value = ours.coef_[0] @ ours.coef_[0] / 2 + C * ours.slack_.sum()
    best = theirs.coef_[0] @ theirs.coef_[0] / 2 + C * np.maximum(0, 1 - y * theirs.decision_function(X)).sum()
    assert value <= best * (1 + 1e-8)


def test_m15_support_vectors_are_the_points_up_to_the_margin(overlapping):
    X, y = overlapping
    ours = LinearSVC(C=0.1, tol=1e-10).fit(X, y)
    theirs = SVC(kernel="linear", C=0.1, tol=1e-10).fit(X, y)
    np.testing.assert_array_equal(ours.support_, np.sort(theirs.support_))
    np.testing.assert_array_equal(ours.support_vectors_, X[ours.support_])
    np.testing.assert_array_equal(ours.n_support_, theirs.n_support_)
    assert ours.dual_coef_.shape == (1, len(ours.support_))
    expected = dict(zip(theirs.support_, theirs.dual_coef_[0], strict=True))
    np.testing.assert_allclose(ours.dual_coef_[0], [expected[i] for i in ours.support_], atol=2e-3)
    np.testing.assert_allclose(ours.dual_coef_ @ ours.support_vectors_, ours.coef_, atol=1e-3)
    beyond = np.setdiff1d(np.arange(len(y)), ours.support_)
    assert (y[beyond] * ours.decision_function(X[beyond]) > 1 - 1e-3).all()
    assert (ours.slack_[beyond] < 1e-3).all()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_m15_subgradient_descent_of_the_slides_comes_near_the_exact_solver(overlapping):
    X, y = overlapping
    exact = LinearSVC(C=0.1, tol=1e-8).fit(X, y)
    slides = LinearSVC(C=0.1, solver=GradientDescent(stopping=None, max_iter=20_000)).fit(X, y)

    def objective(model):
        return model.coef_[0] @ model.coef_[0] / 2 + 0.1 * model.slack_.sum()  # ½(‖w‖² + c Σξ) with c = 2C

    assert objective(exact) <= objective(slides) <= 1.02 * objective(exact)
    assert not hasattr(slides, "dual_coef_")  # descent knows no dual point


def test_squared_hinge_is_the_optimum_that_liblinear_approaches(cancer):
    X, y = cancer
    ours = LinearSVC(loss="squared_hinge", C=0.1, tol=1e-10).fit(X, y)
    # liblinear penalises the intercept, the less the larger it is scaled
    theirs = ScikitSVC(C=0.1, dual=False, tol=1e-10, intercept_scaling=1e3, max_iter=100_000).fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-4)
    np.testing.assert_allclose(ours.dual_coef_ @ ours.support_vectors_, ours.coef_, atol=1e-5)
    np.testing.assert_array_equal(ours.support_, np.flatnonzero(ours.slack_ > 0))


def test_support_of_more_classes_has_one_row_a_plane(wine):
    X, y = wine
    model = LinearSVC(loss="squared_hinge", tol=1e-10).fit(X, y)
    assert model.slack_.shape == (len(y), 3)
    assert model.dual_coef_.shape == (3, len(model.support_))
    assert (np.diff(model.support_) > 0).all()
    np.testing.assert_allclose(model.dual_coef_ @ model.support_vectors_, model.coef_, atol=1e-4)
    counts = [np.sum(y[model.support_] == label) for label in model.classes_]
    np.testing.assert_array_equal(model.n_support_, counts)
    for k, label in enumerate(model.classes_):
        alone = LinearSVC(loss="squared_hinge", tol=1e-10).fit(X, y == label)
        np.testing.assert_allclose(model.slack_[:, k], alone.slack_, atol=1e-9)


def test_the_general_classifier_has_the_same_support(overlapping):
    X, y = overlapping
    settings = dict(C=0.1, tol=1e-8, max_iter=100_000)
    special, general = LinearSVC(solver="dual", **settings), LinearClassifier("hinge", solver="dual", **settings)
    for model in (special, general):
        model.set_params(random_state=0).fit(X, y)
    for name in ("support_", "support_vectors_", "n_support_", "dual_coef_", "slack_"):
        np.testing.assert_array_equal(getattr(special, name), getattr(general, name))
    assert not hasattr(general.set_params(loss="logistic").fit(X, y), "slack_")


def test_sparse_support_vectors_stay_sparse(overlapping):
    X, y = overlapping
    model = LinearSVC(loss="squared_hinge").fit(sparse.csr_array(X), y)
    assert sparse.issparse(model.support_vectors_)
    np.testing.assert_array_equal(model.support_vectors_.toarray(), X[model.support_])


# -- inputs, weights, warm starts -------------------------------------------------------------------------------------

MODELS = {
    "softmax": LogisticRegression(tol=1e-10),
    "ovr": LogisticRegression(multi_class="ovr"),
    "squared hinge": LinearSVC(loss="squared_hinge"),
}
every_model = pytest.mark.parametrize("model", [pytest.param(clone(m), id=name) for name, m in MODELS.items()])


@every_model
def test_dense_equals_sparse_equals_single_precision(model, wine):
    X, y = wine
    dense = clone(model).fit(X, y)
    for other in (sparse.csr_array(X), X.astype(np.float32), sparse.csr_matrix(X.astype(np.float32))):
        fitted = clone(model).fit(other, y)
        np.testing.assert_allclose(fitted.coef_, dense.coef_, rtol=1e-6, atol=1e-8)
        np.testing.assert_array_equal(fitted.predict(other), dense.predict(X))


@every_model
def test_a_weight_of_two_is_two_rows_and_of_zero_none(model, wine):
    X, y = wine
    weight = np.random.default_rng(0).integers(0, 4, len(y))
    weighted = clone(model).fit(X, y, sample_weight=weight)
    repeated = clone(model).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, rtol=1e-6, atol=1e-8)


@every_model
@pytest.mark.parametrize("weighted", [False, True])
def test_balanced_classes_count_the_weights_of_their_examples(model, weighted, wine):
    X, y = wine
    weight = np.random.default_rng(0).integers(0, 4, len(y)) if weighted else np.ones(len(y), dtype=int)
    balanced = clone(model).set_params(class_weight="balanced").fit(X, y, sample_weight=weight)
    by_hand = compute_class_weight("balanced", classes=balanced.classes_, y=np.repeat(y, weight))
    explicit = weight * by_hand[np.searchsorted(balanced.classes_, y)]
    np.testing.assert_allclose(balanced.coef_, clone(model).fit(X, y, sample_weight=explicit).coef_, atol=1e-9)
    assert balanced.certificate_.verify(X, y, sample_weight=weight)


def test_balanced_classes_with_weights_are_those_of_scikit_learn(cancer):
    pytest.importorskip("sklearn", "1.7", "of old it counts rows for that, whatever they weigh")
    X, y = cancer
    weight = np.random.default_rng(0).uniform(0, 3, len(y))
    ours = LogisticRegression(C=0.01, class_weight="balanced", tol=1e-9).fit(X, y, sample_weight=weight)
    theirs = ScikitLogistic(C=0.01, class_weight="balanced", tol=1e-10, max_iter=5000)
    np.testing.assert_allclose(ours.coef_, theirs.fit(X, y, sample_weight=weight).coef_, atol=1e-5)


@every_model
def test_a_warm_start_begins_where_the_last_fit_ended(model, wine):
    X, y = wine
    model = clone(model).set_params(warm_start=True).fit(X, y)
    again = model.fit(X, y)
    assert np.max(again.n_iter_) == 0
    with pytest.raises(ValueError, match="warm_start"):
        model.fit(X, np.char.upper(y))


def test_a_warm_start_of_a_margin_model_goes_on_from_its_dual_variables(overlapping):
    X, y = overlapping
    model = LinearSVC(warm_start=True).fit(X, y)
    cold = model.n_iter_
    assert model.fit(X, y).n_iter_ == 0
    assert model.set_params(C=1.05).fit(X, y).n_iter_ < cold
    assert model.fit(X[:-1], y[:-1]).certificate_.proven  # other rows: their dual variables are not known
    assert model.fit(X, y, sample_weight=np.full(len(y), 2.0)).certificate_.proven


def test_a_class_without_weight_is_named(wine):
    X, y = wine
    for model in (LogisticRegression(), LogisticRegression(multi_class="ovr")):
        with pytest.warns(ConvergenceWarning, match="class grignolino have no weight"):
            assert not model.fit(X, y, sample_weight=y != "grignolino").converged_


def test_weights_may_be_kept_sparse(cancer, tmp_path):
    X, y = cancer
    model = LogisticRegression(l1_ratio=1.0, C=0.05, warm_start=True).fit(X, y)
    coef, scores, certificate = model.coef_.copy(), model.decision_function(X), str(model.certificate_)
    assert model.sparsify() is model
    assert sparse.issparse(model.coef_)
    np.testing.assert_array_equal(model.decision_function(X), scores)
    assert str(model.certificate_) == certificate
    save(model, tmp_path / "model.json")
    np.testing.assert_array_equal(load(tmp_path / "model.json").coef_, coef)
    np.testing.assert_array_equal(model.densify().coef_, coef)
    assert model.sparsify().fit(X, y).n_iter_ == 0
    assert isinstance(model.coef_, np.ndarray)


def test_labels_may_be_anything_and_predictions_are_labels(wine):
    X, y = wine
    by_name = LogisticRegression().fit(X, y)
    by_number = LogisticRegression().fit(X, np.searchsorted(by_name.classes_, y))
    np.testing.assert_array_equal(by_name.classes_[by_number.predict(X)], by_name.predict(X))
    assert by_name.score(X, y) > 0.99


class Stop:
    """A callback that stops a fit after its second iteration."""

    def __init__(self):
        self.tasks, self.shapes = [], []

    def setup(self, estimator, context):
        pass

    teardown = on_fit_task_begin = setup

    def on_fit_task_end(self, estimator, context, *, X=None, y=None, fitted_estimator=None):
        self.tasks.append(context.task_name)
        if context.task_name == "iteration":
            self.shapes.append(fitted_estimator.predict_proba(X).shape)
        return self.tasks.count("iteration") >= 2


def test_a_callback_hears_of_a_softmax_fit_and_can_stop_it(wine, callbacks):
    X, y = wine
    watcher = Stop()
    model = LogisticRegression().set_callbacks(watcher).fit(X, y)
    assert watcher.tasks == ["iteration", "iteration", "problem 0", "fit"]
    assert watcher.shapes == [(len(y), 3)] * 2
    assert model.n_iter_ == 2


def test_max_iter_is_a_limit_and_a_warning_says_so(wine):
    with pytest.warns(ConvergenceWarning, match="max_iter=1"):
        model = LogisticRegression(max_iter=1).fit(*wine)
    assert not model.converged_
    assert "NOT converged" in model.summary()


def test_verbose_says_how_the_fit_ended(wine, capsys):
    LogisticRegression(verbose=1).fit(*wine)
    captured = capsys.readouterr()
    assert "LogisticRegression: newton" in captured.err
    assert "gap" in captured.err
    assert not captured.out


# -- scikit-learn's parameters ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("solver", ["lbfgs", "liblinear", "newton-cg", "newton-cholesky", "sag", "saga", "newton"])
def test_scikit_learns_solvers_mean_the_same_optimum(solver, wine):
    X, y = wine
    expected = LogisticRegression().fit(X, y)
    np.testing.assert_allclose(LogisticRegression(solver=solver).fit(X, y).coef_, expected.coef_, rtol=1e-6, atol=1e-9)


def test_every_parameter_of_scikit_learn_is_a_parameter_here():
    for ours, theirs in ((LogisticRegression(), ScikitLogistic()), (LinearSVC(), ScikitSVC())):
        assert set(theirs.get_params()) <= set(ours.get_params())


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        (dict(penalty="l2"), dict()),
        (dict(penalty="l2", dual=True, intercept_scaling=10.0), dict()),
        (dict(penalty="elasticnet", l1_ratio=0.0), dict()),
        (dict(penalty=None), dict(C=np.inf)),
        (dict(multi_class="multinomial"), dict(multi_class="softmax")),
        (dict(multi_class="auto"), dict()),
    ],
    ids=str,
)
def test_older_parameters_have_a_meaning(older, newer):
    X, y = load_iris(return_X_y=True)
    y = np.where(np.arange(150) % 7 == 0, (y + 1) % 3, y)
    old, new = LogisticRegression(**older).fit(X, y), LogisticRegression(**newer).fit(X, y)
    np.testing.assert_array_equal(old.coef_, new.coef_)


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (LogisticRegression(penalty="l3"), "penalty='l3'"),
        (LogisticRegression(l1_ratio=1.5), "l1_ratio=1.5"),
        (LogisticRegression(C=-1.0), "C=-1.0"),
        (LogisticRegression(tol=-1e-9), "tol=-1e-09"),
        (LinearSVC(tol=0.0), "tol=0.0"),
        (LogisticRegression(tol="tight"), "tol='tight'"),
        (LogisticRegression(tol=True), "tol=True"),
        (LogisticRegression(fit_intercept="no"), "fit_intercept='no'"),
        (LinearSVC(warm_start=3), "warm_start=3"),
        (LogisticRegression(max_iter=-1), "max_iter=-1"),
        (LogisticRegression(solver="cg"), "solver='cg'"),
        (LogisticRegression(solver="dual"), "at once, by softmax; use 'newton'"),
        (LogisticRegression(solver=DualDescent()), "at once, by softmax; use 'newton'"),
        (LogisticRegression(solver=PerceptronRule(keep="vote")), "vote"),
        (LogisticRegression(multi_class="crammer_singer"), "multi_class"),
        (LogisticRegression(dual="yes"), "dual='yes'"),
        (LogisticRegression(intercept_scaling=0.0), "intercept_scaling"),
        (LogisticRegression(verbose=-1), "verbose"),
        (LogisticRegression(class_weight="heavy"), "class_weight"),
        (LinearSVC(loss="logistic"), "loss='logistic'"),
        (LinearSVC(penalty="elasticnet"), "penalty='elasticnet'"),
        (LinearSVC(multi_class="crammer-singer"), "multi_class"),
        (
            LinearSVC("l1", multi_class="crammer_singer"),
            "penalty='l1' is not possible with multi_class='crammer_singer'",
        ),
        (LinearSVC(C=None, multi_class="crammer_singer"), "multi_class='crammer_singer', which needs a penalty"),
        (LinearSVC(solver="dual", multi_class="crammer_singer"), "by margins between classes; use 'multipliers'"),
        (LinearSVC(solver=Newton()), "smooth loss"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_parameter_that_makes_no_sense_is_an_error_that_names_it(model, words, wine):
    with pytest.raises(ValueError, match=words):
        model.fit(*wine)


# -- scikit-learn's published examples, with the import line changed ------------------------------------------------


def test_example_logistic_regression_three_class_classifier():
    X, Y = load_iris(return_X_y=True)
    logreg = LogisticRegression(C=1e5)
    logreg.fit(X[:, :2], Y)
    xx, yy = np.meshgrid(np.linspace(4, 8, 40), np.linspace(2, 4.5, 30))
    Z = logreg.predict(np.column_stack([xx.ravel(), yy.ravel()])).reshape(xx.shape)
    assert set(np.unique(Z)) == {0, 1, 2}
    assert logreg.score(X[:, :2], Y) > 0.8


def test_example_regularization_path_of_l1_logistic_regression():
    X, y = load_iris(return_X_y=True)
    X, y = X[y != 2], y[y != 2]
    X /= X.max()
    cs = l1_min_c(X, y, loss="log") * np.logspace(0, 10, 16)
    clf = LogisticRegression(
        l1_ratio=1,
        solver="liblinear",
        tol=1e-6,
        max_iter=int(1e6),
        warm_start=True,
        intercept_scaling=10000.0,
    )
    coefs_ = []
    for c in cs:
        clf.set_params(C=c)
        clf.fit(X, y)
        coefs_.append(clf.coef_.ravel().copy())
        assert clf.dual_gap_ <= 1e-6
    nonzero = np.count_nonzero(np.array(coefs_), axis=1)
    assert nonzero[0] == 0
    assert nonzero[0] < nonzero[-1]


def test_example_probability_calibration():
    X, y = make_classification(3000, 20, n_informative=2, n_redundant=10, random_state=42)
    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.5, random_state=42)
    svc = LinearSVC(loss="squared_hinge", max_iter=10_000, dual="auto")
    calibrated = CalibratedClassifierCV(svc, cv=2, method="sigmoid").fit(X_train, y_train)
    logistic = LogisticRegression(C=1.0).fit(X_train, y_train)
    scores = [brier_score_loss(y_test, model.predict_proba(X_test)[:, 1]) for model in (calibrated, logistic)]
    assert max(scores) < 0.15


def test_example_classification_of_text_documents_using_sparse_features():
    texts = ["the ship sails", "a boat at sea", "sea and sail", "bread and butter", "bake the bread", "a butter cake"]
    target = ["sea"] * 3 + ["food"] * 3
    for classifier in (LogisticRegression(C=5, max_iter=1000), LinearSVC(C=0.1, dual=False, max_iter=1000)):
        pipeline = make_pipeline(TfidfVectorizer(sublinear_tf=True), classifier).fit(texts, target)
        assert pipeline.predict(["sail the boat", "cake and bread"]).tolist() == ["sea", "food"]
    names = pipeline[0].get_feature_names_out()
    assert names[pipeline[-1].coef_[0].argmax()] in ("sea", "sail", "sails", "boat", "ship", "at")


def test_example_plot_the_support_vectors_in_linear_svc():
    X, y = make_blobs(n_samples=40, centers=2, random_state=0)
    for C, most in ((1, 30), (100, 20)):
        clf = LinearSVC(C=C, loss="hinge", random_state=42).fit(X, y)
        decision_function = clf.decision_function(X)
        support_vector_indices = (np.abs(decision_function) <= 1 + 1e-2).nonzero()[0]
        assert set(clf.support_) <= set(support_vector_indices) | set(np.flatnonzero(clf.slack_ > 0))
        assert len(clf.support_) < most


def test_example_selecting_features_and_searching_for_C(cancer):
    X, y = cancer
    selector = SelectFromModel(LinearSVC(C=0.01, penalty="l1", loss="squared_hinge", dual=False, random_state=0))
    assert 0 < selector.fit(X, y).transform(X).shape[1] < X.shape[1]
    search = GridSearchCV(make_pipeline(StandardScaler(), LogisticRegression()), {"logisticregression__C": [0.01, 1.0]})
    assert search.fit(X, y).best_score_ > 0.95


def test_what_no_solver_can_prove_is_said():
    X, y = load_breast_cancer(return_X_y=True)
    with pytest.warns(ConvergenceWarning, match=r"proven to be within .* only, not tol=0\.0001.*w = 0 minimises"):
        model = LinearClassifier("perceptron", penalty="l1", random_state=0).fit(scale(X), y)
    assert not model.certificate_.proven
    assert not model.converged_
