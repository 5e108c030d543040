"""`HardMarginSVC` with several classes, and where no plane separates."""

import numpy as np
import pytest
from sklearn.datasets import load_iris, make_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC

from linsep import HardMarginSVC, LinearSVC, load, save, verify
from linsep.certificates.gap.certificate import Certificates

CENTRES = np.array([[0.0, 0.0], [20.0, 20.0], [40.0, 0.0]])
APART = np.repeat(CENTRES, 20, axis=0) + np.random.default_rng(0).normal(size=(60, 2))
NAMES = np.repeat(["a", "b", "c"], 20)
X, y = make_classification(300, 6, flip_y=0.2, random_state=0)


@pytest.fixture(scope="module")
def soft():
    with pytest.warns(ConvergenceWarning, match="soft margin"):
        return HardMarginSVC(on_overlap="soft").fit(X, y)


def test_several_classes_have_certificates_that_verify_the_model():
    model = HardMarginSVC().fit(APART, NAMES)
    certificates = model.certificate_
    assert isinstance(certificates, Certificates)
    assert certificates.proven
    assert certificates.verify(APART, NAMES)
    assert verify(certificates, APART, NAMES)
    assert not certificates.verify(APART, np.roll(NAMES, 1))
    assert not certificates.verify(APART, np.where(NAMES == "a", "z", NAMES))


def test_several_certificates_know_which_rows_have_no_weight():
    weight = np.ones(60)
    weight[[0, 25]] = 0
    there = APART.copy()
    there[0] = CENTRES[1]  # among another class, if it counted
    model = HardMarginSVC().fit(there, NAMES, sample_weight=weight)
    assert model.certificate_.verify(there, NAMES, sample_weight=weight)
    assert not model.certificate_.verify(there, NAMES)


def test_the_soft_margin_reaches_its_optimum_and_proves_it(soft):
    def P(w, b):
        return 0.5 * w @ w + 100 * np.maximum(0, 1 - (2 * y - 1) * (X @ w + b)).sum()

    theirs = SVC(kernel="linear", C=100, tol=1e-5).fit(X, y)
    assert P(soft.coef_[0], soft.intercept_[0]) <= P(theirs.coef_[0], theirs.intercept_[0]) * (1 + 1e-4)
    assert soft.converged_
    assert soft.certificate_.proven
    assert soft.certificate_.verify(X, y)
    assert verify(soft, X, y).proven
    np.testing.assert_allclose(soft.coef_, LinearSVC(C=100, tol=1e-8).fit(X, y).coef_, rtol=1e-3)


def test_the_soft_margin_says_what_it_minimised(soft):
    assert soft.objective_ == LinearSVC(C=100).fit(X, y).objective_
    assert "100·Σ max(0, 1 − z)" in repr(soft)
    assert soft.margin_ < 0
    np.testing.assert_allclose(soft.dual_coef_ @ soft.support_vectors_, soft.coef_, rtol=1e-4)


def test_the_soft_margin_is_the_same_from_a_file(soft, tmp_path):
    save(soft, tmp_path / "model.json")
    again = load(tmp_path / "model.json")
    assert again.objective_ == soft.objective_
    assert verify(again, X, y).proven


def test_the_soft_margin_names_the_labels():
    flowers, kind = load_iris(return_X_y=True)
    with pytest.warns(ConvergenceWarning, match="class ve and the rest are not linearly separable"):
        model = HardMarginSVC(on_overlap="soft").fit(flowers, np.array(["se", "ve", "vi"])[kind])
    assert model.converged_
    assert len(model.support_) == 3
    with pytest.warns(ConvergenceWarning, match="the classes no and yes are not linearly separable"):
        HardMarginSVC(on_overlap="soft").fit([[0.0], [1.0], [2.0]], ["no", "yes", "no"])


def test_the_soft_margin_obeys_the_limit_of_iterations():
    with pytest.warns(ConvergenceWarning) as said:
        model = HardMarginSVC(on_overlap="soft", max_iter=2).fit(X, y)
    assert "max_iter=2" in str(said[0].message)
    assert model.n_iter_ == 2
    assert not model.converged_


def test_a_fit_on_other_data_is_hard_again(soft):
    with pytest.warns(ConvergenceWarning, match="soft margin"):
        model = HardMarginSVC(on_overlap="soft").fit(X, y)
    model.fit(APART[:40], NAMES[:40])
    assert model.objective_.startswith("½‖w‖² subject to")
    assert model.margin_ > 0
    assert verify(model, APART[:40], NAMES[:40]).proven
