"""What the published examples of scikit-learn do with these classes, with the import line changed.

Each test takes the steps of one example of the gallery, on data of its kind, with scikit-learn's public names alone.
"""

import numpy as np
import pytest
from scipy import sparse
from sklearn.calibration import CalibratedClassifierCV, CalibrationDisplay
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, make_blobs, make_classification
from sklearn.decomposition import PCA
from sklearn.ensemble import StackingClassifier, VotingClassifier
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer, TfidfTransformer
from sklearn.feature_selection import RFE, RFECV, SelectFromModel, SelectPercentile, f_classif
from sklearn.inspection import DecisionBoundaryDisplay, permutation_importance
from sklearn.metrics import RocCurveDisplay, accuracy_score, log_loss
from sklearn.model_selection import (
    GridSearchCV,
    StratifiedKFold,
    ValidationCurveDisplay,
    cross_val_predict,
    cross_val_score,
    train_test_split,
)
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import ClassifierChain
from sklearn.neural_network import BernoulliRBM
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.svm import l1_min_c

from linsep import LinearSVC, LogisticRegression, Perceptron, SGDClassifier


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    return X[:600] / 16.0, y[:600]


@pytest.fixture(scope="module")
def cancer():
    X, y = load_breast_cancer(return_X_y=True)
    return StandardScaler().fit_transform(X), y


def test_l1_penalty_and_sparsity_in_logistic_regression(digits):
    X, y = StandardScaler().fit_transform(digits[0]), (digits[1] > 4).astype(int)
    zeros = []
    for C in (1, 0.1, 0.01):
        models = [
            LogisticRegression(C=C, l1_ratio=1, tol=0.01, solver="saga"),
            LogisticRegression(C=C, l1_ratio=0, tol=0.01, solver="saga"),
            LogisticRegression(C=C, l1_ratio=0.5, tol=0.01, solver="saga"),
        ]
        shares = [np.mean(model.fit(X, y).coef_.ravel() == 0) for model in models]
        assert shares[0] >= shares[2] >= shares[1]
        assert all(np.abs(model.coef_.reshape(8, 8)).max() > 0 for model in models)
        zeros.append(shares[0])
    assert zeros == sorted(zeros)


def test_regularization_path_of_l1_logistic_regression():
    X, y = load_iris(return_X_y=True)
    X, y = X[y != 2] / X.max(), y[y != 2]
    clf = make_pipeline(StandardScaler(), LogisticRegression(l1_ratio=1, solver="liblinear", tol=1e-6, warm_start=True))
    coefs = []
    for c in l1_min_c(clf[0].fit_transform(X), y, loss="log") * np.logspace(0, 3, 8):
        clf.set_params(logisticregression__C=c)
        coefs.append(clf.fit(X, y)["logisticregression"].coef_.ravel().copy())
    assert not np.any(coefs[0])
    assert np.abs(coefs[-1]).sum() > np.abs(coefs[1]).sum() > 0


def test_decision_boundaries_of_multinomial_and_one_vs_rest_logistic_regression():
    X, y = make_blobs(n_samples=300, centers=[[-5, 0], [0, 1.5], [5, -1]], random_state=40)
    X = X @ [[0.4, 0.2], [-0.4, 1.2]]
    multinomial = LogisticRegression().fit(X, y)
    one_vs_rest = OneVsRestClassifier(LogisticRegression()).fit(X, y)
    scores = [accuracy_score(y, model.predict(X)) for model in (multinomial, one_vs_rest)]
    assert scores[0] >= scores[1] > 0.9
    display = DecisionBoundaryDisplay.from_estimator(multinomial, X, response_method="predict", grid_resolution=20)
    assert set(np.unique(display.response)) == {0, 1, 2}
    assert multinomial.coef_.shape == (3, 2)
    assert [plane.coef_.shape for plane in one_vs_rest.estimators_] == [(1, 2)] * 3
    np.testing.assert_allclose(multinomial.predict_proba(X).sum(axis=1), 1.0)


def test_mnist_classification_using_multinomial_logistic_and_l1(digits):
    X_train, X_test, y_train, y_test = train_test_split(*digits, train_size=400, random_state=0)
    scaler = StandardScaler()
    clf = LogisticRegression(C=50.0 / 400, l1_ratio=1, solver="saga", tol=0.1)
    clf.fit(scaler.fit_transform(X_train), y_train)
    assert 0 < np.mean(clf.coef_ == 0) * 100 < 100
    assert clf.score(scaler.transform(X_test), y_test) > 0.85
    assert clf.coef_[9].reshape(8, 8).shape == (8, 8)
    assert np.all(np.asarray(clf.n_iter_) >= 1)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # the classes need not be separable
def test_comparing_classifiers_that_learn_online(digits):
    X_train, X_test, y_train, y_test = train_test_split(*digits, test_size=0.3, random_state=0)
    for clf in (SGDClassifier(max_iter=20, random_state=0), Perceptron(max_iter=110, random_state=0)):
        clf.fit(X_train, y_train)
        assert np.mean(clf.predict(X_test) == y_test) > 0.8
    stream = SGDClassifier(random_state=0)
    for part in np.array_split(np.arange(len(y_train)), 4):
        stream.partial_fit(X_train[part], y_train[part], classes=np.arange(10))
    assert stream.score(X_test, y_test) > 0.6


def test_the_separating_hyperplane_and_support_vectors_of_a_linear_svc():
    X, y = make_blobs(n_samples=40, centers=2, random_state=6)
    clf = LinearSVC(C=1000).fit(X, y)
    w, b = clf.coef_[0], clf.intercept_[0]
    on_the_line = np.column_stack([np.linspace(0, 10, 5), -(w[0] * np.linspace(0, 10, 5) + b) / w[1]])
    np.testing.assert_allclose(clf.decision_function(on_the_line), 0, atol=1e-9)
    assert 2 <= len(clf.support_vectors_) < 10
    np.testing.assert_allclose(np.abs(clf.decision_function(clf.support_vectors_)).min(), 1, atol=0.01)


def test_weighted_samples_move_the_plane():
    X, y = make_blobs(n_samples=60, centers=2, cluster_std=3.0, random_state=0)
    weight = np.where((y == 1) & (X[:, 0] > 2), 10.0, 1.0)
    for clf in (SGDClassifier(random_state=0), LogisticRegression(), LinearSVC()):
        plain, moved = clf.fit(X, y).coef_.copy(), clf.fit(X, y, sample_weight=weight).coef_
        assert not np.allclose(plain, moved)


def test_classification_of_text_documents_with_sparse_features_and_its_pipeline():
    texts = [
        "the ship sails",
        "a boat at sea",
        "sea and sail",
        "bread and butter",
        "bake the bread",
        "a butter cake",
    ] * 4
    target = (["sea"] * 3 + ["food"] * 3) * 4
    X = HashingVectorizer(n_features=2**16, alternate_sign=False).transform(texts)
    for clf in (LogisticRegression(C=5), LinearSVC(C=0.1, dual=False), SGDClassifier(max_iter=50, random_state=0)):
        assert clf.fit(X, target).score(X, target) == 1.0
        if hasattr(clf, "coef_"):
            assert clf.coef_.shape == (1, 2**16)
    l1 = LogisticRegression(C=50, l1_ratio=1).fit(X, target)
    density = np.mean(l1.coef_ != 0)
    assert sparse.issparse(l1.sparsify().coef_)
    assert l1.coef_.nnz == density * 2**16
    assert l1.predict(X[:2]).tolist() == ["sea", "sea"]
    pipeline = Pipeline([("vect", CountVectorizer()), ("tfidf", TfidfTransformer()), ("clf", LinearSVC())])
    search = GridSearchCV(pipeline, {"vect__ngram_range": [(1, 1), (1, 2)], "clf__C": (0.1, 1)}, cv=2).fit(
        texts, target
    )
    assert search.best_estimator_.get_params()["clf__C"] in (0.1, 1)


def test_selecting_features_recursively_by_a_model_and_before_it(cancer):
    X, y = cancer
    assert RFE(LogisticRegression(), n_features_to_select=5, step=5).fit(X, y).ranking_.max() > 1
    rfecv = RFECV(LinearSVC(C=0.01), step=10, cv=StratifiedKFold(2), min_features_to_select=5).fit(X, y)
    assert rfecv.cv_results_["mean_test_score"].max() > 0.9
    chosen = SelectFromModel(LinearSVC(C=0.01, penalty="l1", loss="squared_hinge", dual=False)).fit(X, y)
    assert 0 < chosen.get_support().sum() < X.shape[1]
    anova = Pipeline([("anova", SelectPercentile(f_classif)), ("scaler", StandardScaler()), ("svc", LinearSVC())])
    scores = [cross_val_score(anova.set_params(anova__percentile=p), X, y, cv=3).mean() for p in (3, 30, 100)]
    assert min(scores) > 0.85


def test_pca_before_logistic_regression_in_a_search(digits):
    X, y = digits
    pipe = Pipeline([("scaler", StandardScaler()), ("pca", PCA()), ("logistic", LogisticRegression(tol=0.1))])
    search = GridSearchCV(pipe, {"pca__n_components": [5, 30], "logistic__C": [1e-2, 1.0]}, cv=2).fit(X[:300], y[:300])
    assert search.best_params_["pca__n_components"] == 30
    rbm = Pipeline(
        [
            ("rbm", BernoulliRBM(n_components=16, n_iter=2, random_state=0)),
            ("logistic", LogisticRegression(C=6000, tol=1)),
        ]
    )
    assert rbm.fit(MinMaxScaler().fit_transform(X[:200]), y[:200]).predict(X[:5]).shape == (5,)


def test_comparison_of_calibration_and_its_curves():
    X, y = make_classification(1500, 20, n_informative=2, n_redundant=2, random_state=42)
    X_train, X_test, y_train, y_test = train_test_split(X, y, train_size=500, random_state=42)

    class Naively(LinearSVC):
        """Scores between 0 and 1, as in the example."""

        def predict_proba(self, X):
            score = self.decision_function(X)
            p = np.clip((score - self.low) / (self.high - self.low), 0, 1)
            return np.column_stack([1 - p, p])

        def fit(self, X, y):
            super().fit(X, y)
            score = self.decision_function(X)
            self.low, self.high = score.min(), score.max()
            return self

    losses = {}
    for name, clf in {
        "logistic": LogisticRegression(),
        "naive": Naively(C=1.0),
        "sigmoid": CalibratedClassifierCV(Naively(C=1.0), cv=2, method="sigmoid"),
        "isotonic": CalibratedClassifierCV(LinearSVC(), cv=2, method="isotonic"),
    }.items():
        display = CalibrationDisplay.from_estimator(clf.fit(X_train, y_train), X_test, y_test, n_bins=5)
        losses[name] = log_loss(y_test, np.clip(display.y_prob, 1e-6, 1 - 1e-6))
    assert losses["sigmoid"] < losses["naive"]


def test_scaling_the_regularization_parameter(cancer):
    X, y = cancer
    model = LinearSVC(penalty="l2", loss="squared_hinge", dual=False, tol=1e-3)
    display = ValidationCurveDisplay.from_estimator(model, X, y, param_name="C", param_range=[1e-3, 1e-1], cv=2)
    assert display.test_scores.shape == (2, 2)


def test_voting_stacking_chains_and_roc_curves(cancer):
    X, y = cancer
    named = [("lr", LogisticRegression()), ("svc", make_pipeline(StandardScaler(), LinearSVC()))]
    assert VotingClassifier(named).fit(X, y).score(X, y) > 0.95
    assert StackingClassifier(named, final_estimator=LogisticRegression(), cv=2).fit(X, y).score(X, y) > 0.95
    chain = ClassifierChain(LogisticRegression(), order="random", random_state=0).fit(X, np.column_stack([y, 1 - y]))
    assert chain.predict_proba(X).shape == (len(y), 2)
    assert RocCurveDisplay.from_estimator(LinearSVC().fit(X, y), X, y).roc_auc > 0.99
    assert cross_val_predict(LinearSVC(), X, y, cv=2, method="decision_function").shape == y.shape
    importance = permutation_importance(LogisticRegression().fit(X, y), X[:100], y[:100], n_repeats=2, random_state=0)
    assert importance.importances_mean.shape == (X.shape[1],)
