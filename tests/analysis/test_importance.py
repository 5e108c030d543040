"""Importance: the spread of what features and columns add to the score, from rows however they are stored or read."""

import numpy as np
import pytest
from scipy import sparse

from command import run, run_json
from customers import customers
from linsep.analysis.importance import Importance, ImportanceSums, importance
from linsep.arithmetic.moments import ROWS, deviations
from linsep.persistence.model_file import read, save

ORIGINS = ["age", "town", "town", "town", "text", "text"]


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    town = np.eye(3)[rng.choice(3, 2 * ROWS, p=[0.7, 0.2, 0.1])]
    words = np.where(rng.random((2 * ROWS, 2)) < 0.1, rng.random((2 * ROWS, 2)), 0.0)
    return np.hstack([rng.normal(18_000.0, 3.0, (2 * ROWS, 1)), town, words]), rng.standard_normal((3, 6))


def test_it_is_the_standard_deviation_of_what_is_added(rows):
    X, coef = rows
    found = importance(X, coef, ORIGINS)
    np.testing.assert_allclose(found.of_features(coef), np.abs(coef) * X.std(axis=0), rtol=1e-6)
    columns = found.of_columns(coef, ORIGINS)
    for name in ("age", "town", "text"):
        own = [origin == name for origin in ORIGINS]
        np.testing.assert_allclose(columns[name], (X[:, own] @ coef[:, own].T).std(axis=0), rtol=1e-6)


def test_storage_and_blocks_change_nothing(rows):
    X, coef = rows
    whole = importance(X, coef, ORIGINS)
    X = np.hstack([X[:, :1] - 18_000, X[:, 1:]])  # a sparse matrix is not centred
    sums = ImportanceSums(coef, ORIGINS)
    for part in np.array_split(X, 7):
        sums.add(part)
    for other in (sums.result(), importance(sparse.csr_array(X), coef, ORIGINS)):
        np.testing.assert_allclose(other.spread, whole.spread, rtol=1e-6)
        np.testing.assert_allclose(other.columns["town"], whole.columns["town"], rtol=1e-6)


def test_a_file_keeps_it_in_few_digits_and_refuses_what_it_cannot_be(rows):
    X, coef = rows
    found = importance(X, coef, ORIGINS)
    again = Importance.from_dict(found.to_dict(), coef.shape)
    np.testing.assert_allclose(again.spread, found.spread, rtol=1e-3)
    for wrong in ({"features": [1.0]}, {"features": [-1.0] * 6}, {"columns": {"town": [1.0]}}, {"features": ["x"] * 6}):
        with pytest.raises(ValueError):  # noqa: PT011 (several reasons)
            Importance.from_dict({**found.to_dict(), **wrong}, coef.shape)


def test_a_fit_larger_than_memory_says_the_same_and_a_damaged_file_is_named(tmp_path):
    customers().to_csv(tmp_path / "t.csv", index=False)
    words = tmp_path / "t.csv", "--target", "bought", "--ignore", "kind", "-o"
    run("fit", *words, tmp_path / "whole.json")
    run("fit", *words, tmp_path / "parts.json", "--max-memory", "9GB")
    whole, parts = (run_json("explain", tmp_path / name)["planes"][0] for name in ("whole.json", "parts.json"))
    expected = {row["column"]: row["importance"] for row in whole["columns"]}
    assert {row["column"]: row["importance"] for row in parts["columns"]} == pytest.approx(expected, rel=0.01)
    found = read(tmp_path / "whole.json")
    save(found.model, tmp_path / "bad.json", encoding={**found.encoding, "importance": {"features": 3}})
    assert "says of importance is damaged" in run("explain", tmp_path / "bad.json", code=2)
    plain = {key: value for key, value in found.encoding.items() if key != "importance"}
    save(found.model, tmp_path / "old.json", encoding=plain)
    assert "the size of the weight that was trained" in run("explain", tmp_path / "old.json")


def test_entries_that_are_said_twice_are_their_sum():
    twice = sparse.csr_array((np.array([1.0, 2.0, 5.0]), np.array([0, 0, 1]), np.array([0, 2, 3])), shape=(2, 2))
    np.testing.assert_allclose(deviations(twice), twice.toarray().std(axis=0))
