"""Fits on numbers that leave no digits: what misses its `tol` says so with the gap it reached, and nothing else."""

import itertools
import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

import linsep

rng = np.random.default_rng(0)
X = rng.standard_normal((30, 3))
y = np.where(X[:, 0] + rng.standard_normal(30) > 0, "yes", "no")
thirds = np.digitize(X[:, 1] + rng.standard_normal(30), [-0.5, 0.5])
ROWS = {
    **{f"{scale:g}": scale * X for scale in (1e-310, 1e-150, 1e8, 1e150, 1e300)},
    "far from zero": X + 1e12,
    "mixed": X * [1.0, 1e150, 1e-150],
}
MODELS = {
    "logistic": lambda C: linsep.LogisticRegression(C=C),
    "L1": lambda C: linsep.LogisticRegression(C=C, l1_ratio=1.0),
    "hinge": lambda C: linsep.LinearSVC(C=C),
    "squared hinge": lambda C: linsep.LinearSVC(C=C, loss="squared_hinge"),
    "modified Huber": lambda C: linsep.LinearClassifier("modified_huber", C=C),
    "least squares": lambda C: linsep.LeastSquaresClassifier(C=C),
    "margins between classes": lambda C: linsep.LinearSVC(C=C, multi_class="crammer_singer"),
}


def told(model, rows, labels):
    """Fit, and return the model, or None where the rows are refused, and all that is said meanwhile."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        try:
            model.fit(rows, labels)
            model.predict(rows)
            model.decision_function(rows)
            if hasattr(model, "predict_proba"):
                model.predict_proba(rows)
        except ValueError:
            model = None
    return model, said


def check(model, said):
    """Assert that the model has its goal, or says what it missed; and that no library speaks for itself."""
    assert {one.category for one in said} <= {ConvergenceWarning}, [str(one.message) for one in said]
    if model is None:
        return
    gap = model.certificate_.certain_gap
    assert model.converged_ == (gap <= model._tol() and not said)
    if not model.converged_:
        assert len(said) == 1
        assert model._no_optimum or f"tol={model._tol():g}" in str(said[0].message), str(said[0].message)


def test_a_fit_of_which_nothing_is_proven_says_that_beside_why_it_ended():
    model, said = told(linsep.LinearClassifier("modified_huber", C=1e12, max_iter=1), X + 1e12, thirds)
    assert not model.converged_
    assert model.certificate_.certain_gap == np.inf
    assert "did not converge" in str(said[0].message)
    assert "It is not proven how far from the optimum it is, hence not tol=0.0001" in str(said[0].message)


def test_a_newton_step_beyond_all_floats_is_not_spoken_of_by_numpy():
    """Planes of three classes along columns of 1e-310: ∞ of one class less ∞ of another."""
    for part in (12, 24, 30):
        _, said = told(linsep.LogisticRegression(C=np.inf), (X * [1e-310, 1e-310, 1.0])[:part], thirds[:part])
        assert {one.category for one in said} <= {ConvergenceWarning}, [str(one.message) for one in said]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "scale"),
    # Far from zero a fit of the L1 penalty ends as it should, but takes half a minute.
    [both for both in itertools.product(MODELS, ROWS) if both != ("L1", "far from zero")],
)
def test_no_fit_misses_its_goal_in_silence(name, scale):
    labels = [thirds] if name.startswith("margins") else [y, thirds]
    for C, form, own in itertools.product([1.0, 1e6, 1e12], [np.asarray, sparse.csr_array], labels):
        check(*told(MODELS[name](C), form(ROWS[scale]), own))
