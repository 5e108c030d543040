"""What fitted models carry: certificates that verify on their own data and model, and on no others."""

import copy
import json
import pickle
import warnings
from fractions import Fraction
from functools import cache

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning, NotFittedError

from exact_oracles import exact_primal
from linsep import LinearClassifier, LinearSVC, LogisticRegression, SGDClassifier
from linsep._core import Rows
from linsep.certificates.gap.certificate import Certificate, Certificates
from linsep.losses import Loss
from linsep.objective.examples import InMemory

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


def test_columns_that_say_nothing_do_not_spoil_the_proof_without_a_penalty(overlapping):
    X, y = overlapping
    X = np.hstack([X, np.zeros((60, 1)), np.full((60, 1), 7.0)])
    for loss, options in (("logistic", {"C": None, "solver": "newton"}), ("square", {"C": None})):
        certificate = fit(loss, options, (X, y, None)).certificate_
        assert certificate.proven
        assert certificate.verify(X, y).proven
