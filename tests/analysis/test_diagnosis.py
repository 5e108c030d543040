"""What may make a fit slow or suspicious: planted in data, named with what to do; and not seen where there is none."""

import json

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.preprocessing import StandardScaler

import linsep
from linsep.analysis.diagnosis import diagnose


def noise(n=400, d=4, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    return X, np.where(X @ np.linspace(1.0, 2.0, d) + 3.0 * rng.standard_normal(n) > 0, "yes", "no")


def planted(**changes):
    X, y = noise()
    table = pd.DataFrame(X, columns=list("abcd"))
    for name, change in changes.items():
        table[name] = change(table, y)
    return diagnose(table, y)


def test_nothing_is_said_of_data_without_faults():
    X, y = noise()
    assert list(diagnose(X, y)) == []
    assert str(diagnose(X, y)) == "nothing stands out in 400 rows, 4 columns"


def test_rows_of_a_small_sample_are_no_slips_by_chance():
    X = np.random.default_rng(1).normal(size=(12, 60))
    y = np.arange(12) % 2
    assert "one row" not in {one.kind for one in diagnose(X, y)}
    X[5, 3] = 40.0
    assert [one.columns for one in diagnose(X, y) if one.kind == "one row"] == [("x3",)]


@pytest.mark.parametrize(
    ("kind", "column", "change"),
    [
        ("constant", "b", lambda t, y: 7.0),
        ("scale", "b", lambda t, y: 1e5 * t["b"]),
        ("far off", "b", lambda t, y: 2000.0 + t["b"]),
        ("redundant", "d", lambda t, y: 2.0 * t["a"]),
        ("nearly redundant", "d", lambda t, y: t["a"] - t["b"] + 1e-9 * t["c"]),
        ("collinear", "d", lambda t, y: t["a"] + 1e-3 * np.sin(99 * t["c"])),
        ("one row", "c", lambda t, y: np.where(np.arange(len(t)) == 16, 500.0, t["c"])),
        ("range", "a", lambda t, y: 1e150 * t["a"]),
        ("leak", "a", lambda t, y: t["a"] + 100.0 * (y == "yes")),
        ("separable", None, lambda t, y: t["a"] + 100.0 * (y == "yes")),
    ],
)
def test_a_planted_fault_is_named_with_its_column(kind, column, change):
    found = planted(**{column or "a": change})
    named = [one for one in found if one.kind == kind]
    assert len(named) == 1, str(found)
    assert column is None or column in named[0].columns
    allowed = {kind, "leak", "separable", "dominates"} if kind in ("leak", "separable") else {kind, "scale", "range"}
    assert {one.kind for one in found} <= allowed | ({"one row"} if kind == "one row" else set())


def test_the_row_that_decides_a_column_is_counted_from_one():
    (found,) = planted(c=lambda t, y: np.where(np.arange(len(t)) == 16, 500.0, t["c"]))
    assert "row 17, counted from 1, has 'c' = 500" in found.message


def test_equal_rows_with_other_labels_and_rare_classes_and_few_rows_are_named():
    X, y = noise(400)
    X[1], y[:2] = X[0], ["no", "yes"]
    assert "contradiction" in {one.kind for one in diagnose(X, y)}
    rare = np.where(np.arange(400) < 12, "yes", "no")
    found = {one.kind: one.message for one in diagnose(X, rare)}
    assert "imbalance" in found
    assert found["few rows"].startswith(f"12 rows of yes for {X.shape[1]} features:")  # as a fit counts them


def test_a_column_that_alone_decides_a_fit_is_named():
    rng = np.random.default_rng(3)
    X = rng.standard_normal((2000, 3))
    y = X[:, 1] + 0.3 * rng.standard_normal(2000) > 0
    (found,) = [one for one in diagnose(X, y, feature_names=["a", "b", "c"]) if one.kind == "dominates"]
    assert found.columns == ("b",)


def test_quasi_separation_names_the_column_whose_weight_is_infinite():
    rng = np.random.default_rng(1)
    X = np.column_stack([rng.standard_normal(300), np.arange(300) < 40])
    y = (X[:, 0] + rng.standard_normal(300) > 0) | (X[:, 1] == 1)
    (found,) = [one for one in diagnose(X, y) if one.kind == "quasi-separable"]
    assert found.columns == ("x1",)


def test_each_class_that_a_plane_tells_from_the_rest_is_named_in_one_sentence():
    X, y = load_iris(return_X_y=True, as_frame=True)
    (found,) = [one for one in diagnose(X, y) if one.kind == "separable"]
    assert "a plane tells 0 from the rest without a mistake" in found.message


def test_real_data_are_told_of_their_scale_and_standardised_ones_are_not():
    X, y = load_breast_cancer(return_X_y=True)
    assert "scale" in {one.kind for one in diagnose(X, y)}
    kinds = {one.kind for one in diagnose(StandardScaler().fit_transform(X), y)}
    assert not kinds & {"scale", "far off", "constant", "redundant", "range"}


def test_sparse_rows_are_diagnosed_as_dense_ones_are_where_that_can_be():
    X, y = noise()
    X = np.where(np.abs(X) > 1, X, 0.0)
    X[:, 2], X[:, 3] = 0.0, 2.0 * X[:, 1]
    dense, thin = diagnose(X, y), diagnose(sparse.csr_array(X), y)
    assert [one.kind for one in dense] == [one.kind for one in thin] == ["constant", "redundant", "contradiction"]


def test_what_was_not_looked_at_is_said():
    X, y = noise(20, 30)
    assert any("combinations of others (more columns than rows)" in why for why in diagnose(X, y).open)
    hard, labels = noise(3000, 12)
    assert any("whether a plane" in why for why in diagnose(hard, labels, time_limit=0.0).open)


@pytest.mark.parametrize(
    ("X", "y", "words"),
    [
        ([[1.0], [2.0]], [0, 0], "all rows are of one class"),
        ([[1.0], [2.0]], [0, 1, 1], "a label for each row"),
        ([[1.0], [np.nan]], [0, 1], "not finite|not a finite|NaN|nan"),
        (np.zeros((2, 0)), [0, 1], "give rows, columns"),
    ],
)
def test_what_is_no_training_data_is_refused(X, y, words):
    with pytest.raises(ValueError, match=words):
        linsep.diagnose(X, y)


def test_it_is_plain_data_too():
    found = planted(b=lambda t, y: 7.0).to_dict()
    assert json.loads(json.dumps(found)) == found
    assert (found["rows"], found["columns"], found["findings"][0]["kind"]) == (400, 4, "constant")


def test_classes_that_a_plane_tells_but_for_rows_on_it_are_named_together():
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 2, (60, 6)).astype(float), np.arange(60) % 5
    X[:5], X[:, 0] = 0.0, np.where(y < 3, 0.0, X[:, 0])
    kinds = [one.kind for one in diagnose(X, y)]
    assert kinds.count("quasi-separable") == 1


def test_each_finding_says_what_to_do():
    near = planted(d=lambda t, y: t["a"] - t["b"] + 1e-9 * t["c"])
    assert [one.message.rpartition("; ")[2] for one in near if one.kind == "nearly redundant"] == ["leave one out"]
    off = planted(d=lambda t, y: 5e6 + t["d"])
    assert [one.message.rpartition("; ")[2] for one in off if one.kind == "nearly redundant"] == ["subtract its mean"]
    X, y = noise()
    (twice,) = diagnose(np.vstack([X, X[:9]]), [*y, *np.where(y[:9] == "no", "yes", "no")])
    assert (twice.kind, "correct the labels" in twice.message) == ("contradiction", True)
