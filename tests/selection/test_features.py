"""Features that an L1 penalty takes up: along a path, and again and again over halves of the rows."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.linear_model import lars_path
from sklearn.preprocessing import scale

from command import call, run, run_json
from linsep import LinearClassifier, LinearSVC, LogisticRegression, regularization_path, stability_selection
from linsep.estimators._fitting import posed
from linsep.selection.features import STEP, _Halves, first_C

LASSO = LinearClassifier("square", penalty="l1", fit_intercept=False)


def test_features_enter_where_the_closed_form_says():
    """Of orthogonal columns w_j is the soft threshold of x_j·y, which is above zero from C = 1/(2|x_j·y|) on."""
    rng = np.random.default_rng(0)
    X = np.linalg.qr(rng.standard_normal((80, 6)))[0]
    y = X @ np.array([5.0, -4.0, 3.0, -2.0, 1.0, 0.5]) + 0.1 * rng.standard_normal(80) > 0
    exact = 0.5 / np.abs(X.T @ np.where(y, 1.0, -1.0))
    path = regularization_path(X, y, LASSO, C_max=1.01 * exact.max(), tol=1e-4)
    entering = path.entering()
    order = np.argsort(exact)
    assert [one.feature for one in entering] == [f"x{j}" for j in order]
    for one, C in zip(entering, exact[order], strict=True):
        assert one.after * (1 - 1e-3) <= C <= one.C * (1 + 1e-3)
        assert one.C < 1.3 * C  # the path says how closely
        assert one.leaves == ()
    signs = np.sign(X.T @ np.where(y, 1.0, -1.0))[order]
    assert [one.sign for one in entering] == signs.tolist()
    assert path.active.sum(axis=1).tolist() == path.to_frame()["nonzero"].tolist()


def test_a_feature_that_leaves_is_told_and_names_are_those_of_the_table():
    data = load_breast_cancer(as_frame=True)
    X = data.data.apply(scale)
    path = regularization_path(X, data.target, LogisticRegression(l1_ratio=1.0), C_max=10.0)
    entering = path.entering()
    weights = dict(zip(X.columns, path.coefs[:, 0].T, strict=True))
    assert {one.feature for one in entering} == {name for name, w in weights.items() if w.any()}
    assert any(one.leaves for one in entering)
    for one in entering:
        w = weights[one.feature]
        assert path.Cs[np.flatnonzero(w)[0]] == one.C
        assert (w[path.Cs <= one.after] == 0).all()
        assert all(w[path.Cs == C] == 0 for C in one.leaves)
    assert [one.C for one in entering] == sorted(one.C for one in entering)


def test_without_l1_nothing_enters():
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match="none enters"):
        regularization_path(X[:100], y[:100], C_max=0.1, tol=0.1).entering()
    with pytest.raises(ValueError, match="needs an L1 penalty"):
        stability_selection(X, y, LinearSVC())


def test_the_first_features_of_a_half_are_those_of_the_lasso_path():
    rng, compared = np.random.default_rng(1), 0
    for _ in range(20):
        X, w = rng.standard_normal((60, 12)), rng.standard_normal(12) * (rng.random(12) < 0.4)
        y = np.where(X @ w + rng.standard_normal(60) > 0, 1.0, -1.0)
        alphas, order, _ = lars_path(X, y, method="lasso")
        q = 4
        if len(set(order[: q + 1])) <= q or alphas[q - 1] < STEP**2 * alphas[q]:
            continue  # which of two comes first is not for a grid of C to say
        model, examples, classes = posed(LASSO, X, y)
        found = _Halves(model, examples, classes, q).first(np.arange(60))
        assert set(found) == set(order[:q])
        # Both minimise ‖w‖₁ + C Σ (…)²; α of the other is 1/(2nC).
        assert first_C(model, examples) == pytest.approx(1.0 / (2 * 60 * alphas[0]), rel=1e-6)
        compared += 1
    assert compared >= 3


def test_features_chosen_by_chance_are_as_few_as_the_bound_says():
    """Of noise every feature has the same chance, and all that is selected is an error."""
    rng, found = np.random.default_rng(2), []
    for _ in range(12):
        X, y = rng.standard_normal((60, 15)), rng.random(60) < 0.5
        found.append(stability_selection(X, y, q=3, threshold=0.6, pairs=6, random_state=rng.integers(1000)))
    assert found[0].bound() == pytest.approx(9 / (0.2 * 15))
    assert np.mean([len(one.selected) for one in found]) <= found[0].bound()
    assert np.mean([one.frequency.sum() for one in found]) <= 3 + 1e-9


def test_strong_features_are_found_whatever_the_rest_and_the_seed_repeats_it():
    rng = np.random.default_rng(3)
    X = rng.standard_normal((300, 50))
    y = np.where(2.0 * X[:, 4] - 2.0 * X[:, 30] + 0.5 * rng.standard_normal(300) > 0, "b", "a")
    table = pd.DataFrame(X, columns=[f"gene {j}" for j in range(50)])
    found = stability_selection(table, y, pairs=6)
    assert found.q == 6  # ⌊√(0.8·50)⌋
    assert found.bound() <= 1.0
    assert found.selected.tolist() == [4, 30]
    assert "gene 4 and gene 30" in str(found)
    frame = found.to_frame()
    assert frame["feature"][:2].tolist() == ["gene 4", "gene 30"]
    assert frame["selected"].sum() == 2
    np.testing.assert_array_equal(found.frequency, stability_selection(table, y, pairs=6).frequency)
    assert found.bound(1.0) < found.bound() < found.bound(0.6)


def test_several_classes_weights_and_other_losses():
    X, y = load_iris(return_X_y=True)
    X = scale(X)
    for model in (None, LinearSVC(penalty="l1"), LogisticRegression(penalty="elasticnet", l1_ratio=0.7)):
        found = stability_selection(X, y, model, pairs=3)
        assert found.selected.tolist() in ([2], [3])
    doubled = stability_selection(X, y, pairs=3, sample_weight=np.full(150, 2.0))
    np.testing.assert_array_equal(doubled.frequency, stability_selection(X, y, pairs=3).frequency)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"threshold": 0.5}, "threshold=0.5"),
        ({"q": 5}, "q=5"),
        ({"q": 0}, "q=0"),
        ({"pairs": 0}, "pairs=0"),
    ],
)
def test_what_cannot_be_is_refused(settings, words):
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match=words):
        stability_selection(X, y, **settings)


def test_a_class_that_a_half_lacks_is_named():
    X = np.random.default_rng(0).standard_normal((20, 3))
    with pytest.raises(ValueError, match="none of class"):
        stability_selection(X, np.arange(20) == 7, pairs=2)


def test_the_command_follows_the_path_of_a_file(tmp_path):
    data = load_breast_cancer(as_frame=True)
    table = data.data.iloc[:, :6].assign(kind=np.where(data.target == 1, "benign", "malignant"))
    table.to_csv(tmp_path / "t.csv", index=False)
    table.iloc[1:].to_csv(tmp_path / "other.csv", index=False)
    model = tmp_path / "m.json"
    run("fit", tmp_path / "t.csv", "--target", "kind", "--l1-ratio", "1", "--C", "0.5", "-o", model)
    found = run_json("explain", model, "--path", tmp_path / "t.csv")
    assert found["C"] == 0.5
    features = [one["feature"] for one in found["entering"]]
    assert features
    assert set(features) <= set(table.columns[:6])
    y = np.where(data.target == 1, -1.0, 1.0)
    steepest = np.abs(scale(table.iloc[:, :6]).T @ (y - y.mean())).argmax()
    assert features[0] == table.columns[steepest]
    text = run("explain", model, "--path", tmp_path / "t.csv", "--top", "1")
    assert features[0] in text
    assert "more (--top 0 for all)" in text
    assert b"has not the rows of the fit" in call("explain", model, "--path", tmp_path / "other.csv").err
    run("fit", tmp_path / "t.csv", "--target", "kind", "-o", model)
    refused = call("explain", model, "--path", tmp_path / "t.csv")
    assert refused.code == 2
    assert b"--l1-ratio 1" in refused.err
