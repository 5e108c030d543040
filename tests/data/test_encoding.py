"""Encoding: against hand-built scikit-learn pipelines, and back to the columns' own scale."""

import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.compose import ColumnTransformer
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, PolynomialFeatures, StandardScaler

from linsep._core import at_most_threads
from linsep.data.encoding import MatrixEncoding, TableEncoding, TableStatistics, from_dict, infer
from linsep.data.encoding.fitting import mean_and_squares, scale_of
from linsep.data.sources import DataError


def people(n=400, seed=0):
    rng = np.random.default_rng(seed)
    words = np.array(["cash", "prize", "free", "call", "now", "home", "dinner", "love", "meeting", "tomorrow"])
    return pd.DataFrame(
        {
            "age": np.where(rng.random(n) < 0.1, np.nan, rng.normal(40.0, 12.0, n)),
            "income": rng.lognormal(8.0, 1.0, n),
            "town": rng.choice(["Ede", "Ulm", "Bath"], n, p=[0.5, 0.3, 0.2]),
            "note": [" ".join(rng.choice(words, rng.integers(3, 9))) for _ in range(n)],
        }
    )


def dense(X):
    return X.toarray() if sparse.issparse(X) else X


def test_numbers_and_categories_are_those_of_a_pipeline_built_by_hand():
    frame = people()[["age", "income", "town"]]
    encoding = TableEncoding.fit(pa.Table.from_pandas(frame))
    by_hand = ColumnTransformer(
        [
            ("numbers", make_pipeline(SimpleImputer(), StandardScaler()), ["income"]),
            ("town", OneHotEncoder(sparse_output=False), ["town"]),
        ]
    ).fit_transform(frame)
    X = encoding.transform(pa.Table.from_pandas(frame))
    assert encoding.names == ["age", "income", "age is missing", "town = Bath", "town = Ede", "town = Ulm"]
    np.testing.assert_allclose(X[:, [1, 3, 4, 5]], by_hand, rtol=1e-12, atol=1e-12)
    np.testing.assert_array_equal(X[:, 2], frame["age"].isna())
    assert (X[frame["age"].isna(), 0] == 0).all()
    present = frame.loc[frame["age"].notna(), ["age"]]
    np.testing.assert_allclose(X[frame["age"].notna(), 0], StandardScaler().fit_transform(present)[:, 0])


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=40), st.sampled_from([1.0, 1e-9, 1e9]), st.integers(1, 500))
def test_means_and_scales_are_those_of_standard_scaler_to_the_last_bit(values, unit, times):
    column = unit * np.array(values * times)
    scaler = StandardScaler().fit(column.reshape(-1, 1))
    mean, squares = mean_and_squares(column)
    assert (mean, scale_of(len(column), mean, squares)) == (scaler.mean_[0], scaler.scale_[0])


@pytest.mark.parametrize("kind", [pa.float64(), pa.float32(), pa.int32(), pa.uint64()])
def test_numbers_in_any_pieces_are_the_same_numbers(kind):
    rng = np.random.default_rng(0)
    values = rng.integers(1000, size=(9000, 2)).astype(np.float64)
    lacking = (rng.random(9000) < 0.1) & pa.types.is_floating(kind)
    whole = [pa.array(column, mask=lacking).cast(kind) for column in values.T]
    pieces = [pa.chunked_array([one[:10], one[10:4100], one[4100:4100], one[4100:]]) for one in whole]
    X = TableEncoding.fit(pa.table(pieces, ["a", "b"])).transform(pa.table(pieces, ["a", "b"]))
    expected = np.where(lacking[:, None], np.nan, values)
    expected = np.nan_to_num((expected - np.nanmean(expected, axis=0)) / np.nanstd(expected, axis=0))
    np.testing.assert_allclose(X[:, :2], expected, atol=1e-12)
    np.testing.assert_array_equal(X[:, 2:].any(axis=1), lacking)


@pytest.mark.parametrize("bad", [np.inf, -np.inf])
def test_a_model_takes_no_infinite_number(bad):
    fitted = TableEncoding.fit(pa.table({"a": [1.0, 2.0]}))
    with pytest.raises(DataError, match="finite"):
        fitted.transform(pa.table({"a": pa.chunked_array([[1.0], [None, np.nan, bad]])}))


def test_text_is_scikit_learns_tf_idf():
    frame = people()
    encoding = TableEncoding.fit(pa.Table.from_pandas(frame), kinds={"age": "ignored", "income": "ignored"})
    X = encoding.transform(pa.Table.from_pandas(frame))
    assert sparse.issparse(X)
    expected = TfidfVectorizer(sublinear_tf=True, min_df=2).fit_transform(frame["note"])
    np.testing.assert_allclose(dense(X)[:, 3:], expected.toarray(), rtol=1e-12)


def test_m23_a_feature_map_of_products():
    frame = people()[["age", "income"]].fillna(40.0)
    encoding = TableEncoding.fit(pa.Table.from_pandas(frame), degree=2)
    expected = make_pipeline(StandardScaler(), PolynomialFeatures(2, include_bias=False)).fit_transform(frame)
    np.testing.assert_allclose(encoding.transform(pa.Table.from_pandas(frame)), expected, rtol=1e-10, atol=1e-12)
    assert encoding.names == ["age", "income", "age^2", "age × income", "income^2"]


@pytest.mark.parametrize("degree", [1, 2, 3])
def test_coefficients_on_the_original_scale_give_the_same_scores(degree):
    frame = people()[["age", "income", "town"]].fillna({"age": 40.0})
    table = pa.Table.from_pandas(frame)
    encoding = TableEncoding.fit(table, degree=degree)
    rng = np.random.default_rng(1)
    coef, intercept = rng.standard_normal((2, len(encoding.names))), rng.standard_normal(2)
    scaled = encoding.original_scale(coef, intercept)
    raw = frame[["age", "income"]].to_numpy()
    away = raw - raw.mean(axis=0)
    powers = PolynomialFeatures(degree, include_bias=False).fit(raw).powers_
    # First powers are of the columns themselves, products of their deviations from the means.
    terms = [np.prod((raw if row.sum() == 1 else away) ** row, axis=1) for row in powers]
    town = np.column_stack([frame["town"] == level for level in ("Bath", "Ede", "Ulm")])
    scores = np.column_stack([*terms, town]) @ scaled.coef.T + scaled.intercept
    np.testing.assert_allclose(scores, dense(encoding.transform(table)) @ coef.T + intercept, rtol=1e-8, atol=1e-8)


def test_json_and_back_is_bit_exact():
    table = pa.Table.from_pandas(people())
    encoding = TableEncoding.fit(table, degree=2, target="y", missing=("-",))
    again = from_dict(json.loads(json.dumps(encoding.to_dict())))
    assert again == encoding
    assert (again.transform(table) != encoding.transform(table)).nnz == 0
    matrix = MatrixEncoding(3, 1, ["a", "b", "c"], "y")
    assert from_dict(json.loads(json.dumps(matrix.to_dict()))) == matrix


def test_new_rows_change_nothing_and_unknown_values_do_no_harm():
    table = pa.Table.from_pandas(people())
    encoding = TableEncoding.fit(table)
    new = pa.table({"age": [None, 40.0], "income": [1.0, None], "town": ["Atlantis", None], "note": [None, "zzz qqq"]})
    X = dense(encoding.transform(new))
    assert np.isfinite(X).all()
    towns = [j for j, name in enumerate(encoding.names) if name.startswith("town")]
    assert not X[:, towns].any()
    part = table.slice(0, 10)
    assert (dense(encoding.transform(part)) == dense(encoding.transform(table))[:10]).all()


def test_rare_levels_share_a_feature_which_new_levels_join():
    town = ["Ede"] * 150 + ["Ulm"] * 100 + [f"hamlet {k}" for k in range(20)] + [None] * 10
    encoding = TableEncoding.fit(pa.table({"town": town, "x": np.arange(280) % 7 * 1.0}))
    assert encoding.names == ["x", "town = Ede", "town = Ulm", "town = (other)", "town = (missing)"]
    X = encoding.transform(pa.table({"town": ["Atlantis", None, "Ulm"], "x": [0.0, 0.0, 0.0]}))
    np.testing.assert_array_equal(X[:, 1:], [[0, 0, 1, 0], [0, 0, 0, 1], [0, 1, 0, 0]])


def test_dates_become_days_months_and_weekdays():
    days = pd.date_range("2023-01-01", periods=300, freq="D")
    encoding = TableEncoding.fit(pa.table({"day": days}))
    X = dense(encoding.transform(pa.table({"day": days})))
    names = encoding.names
    assert names[0] == "day in days"
    assert encoding.original_scale(np.eye(1, len(names)), np.zeros(1)).coef[0, 0] == pytest.approx(
        1 / days.day_of_year.to_numpy().std()
    )
    march = names.index("month of day = 3")
    np.testing.assert_array_equal(X[:, march], days.month == 3)
    for k, day in enumerate(["0 (Monday)", "1 (Tuesday)", "2 (Wednesday)"]):
        found = names.index(f"weekday of day = {day}")
        np.testing.assert_array_equal(X[:, found], days.day_name() == day[3:-1])
        np.testing.assert_array_equal(X[:, found], days.day_of_week == k)


@pytest.mark.parametrize(
    ("values", "kind", "note"),
    [
        (pa.array(range(30)), "ignored", "numbers the rows"),
        (pa.array([7] * 30), "ignored", "one value only"),
        (pa.array([1, None] * 15), "number", ""),
        (pa.array(["x"] * 30), "ignored", "one value only"),
        (pa.array(["x", None] * 15), "category", ""),
        (pa.array([None] * 30, pa.string()), "ignored", "no values"),
        (
            pa.array([f"k{i}" for i in range(30)]),
            "ignored",
            "differs in nearly every row; if it is a number",
        ),
        (pa.array([1.5, 2.5, None] * 10), "number", ""),
        (pa.array([1, 2, 3] * 10), "number", ""),
        (pa.array([True, False] * 15), "category", ""),
        (pa.array(["a", "b", "c"] * 10).dictionary_encode(), "category", ""),
        (pa.array([f"some words and number {i}" for i in range(30)]), "text", ""),
        (pa.array(pd.date_range("2020-01-01", periods=30)), "date", ""),
        (pa.array([[1], [2]] * 15), "ignored", "neither numbers, dates nor text"),
    ],
)
def test_column_types_are_inferred(values, kind, note):
    column = infer("column", pa.chunked_array([values]))
    assert column.kind == kind
    assert note in column.note


def test_whole_numbers_that_floats_cannot_tell_apart_are_noted_and_a_column_of_nan_is_set_aside():
    table = pa.table({"account": [2**53 + k % 7 for k in range(30)], "nothing": [np.nan] * 30, "x": [1.5, 2.5] * 15})
    encoding = TableEncoding.fit(table)
    assert [column.kind for column in encoding.columns] == ["number", "ignored", "number"]
    assert "above 2^53 are rounded" in encoding.columns[0].note
    statistics = TableStatistics(table.schema, {})
    for first in (0, 11):
        statistics.add(table[first : first + 11 + 8 * (first > 0)])
    assert statistics.columns == encoding.columns


def test_what_is_said_overrides_what_is_seen():
    table = pa.table({"code": ["1", "2", "3"] * 10, "row": list(range(30))})
    encoding = TableEncoding.fit(table, kinds={"code": "number", "row": "number"})
    assert encoding.names == ["code", "row"]


def test_errors_say_what_to_do():
    table = pa.table({"a": [1.0, 2.0], "b": ["x", "y"]})
    encoding = TableEncoding.fit(table)
    with pytest.raises(DataError, match=r"f\.csv: no column 'b', which the model needs; it has a"):
        encoding.transform(table.select(["a"]), "f.csv")
    with pytest.raises(DataError, match=r"column 'a': a value is not a number"):
        encoding.transform(pa.table({"a": ["q", "1"], "b": ["x", "y"]}), "f.csv")
    with pytest.raises(DataError, match="no column 'c'; it has a, b"):
        TableEncoding.fit(table, kinds={"c": "text"})
    with pytest.raises(DataError, match="no column is left"):
        TableEncoding.fit(pa.table({"a": [1, 1]}))
    with pytest.raises(DataError, match="--ignore"):
        TableEncoding.fit(pa.table({"a": pa.array([None, None], pa.float64()), "b": [1.0, 2.0]}), kinds={"a": "number"})
    with pytest.raises(DataError, match="damaged"):
        from_dict({"kind": "table"})
    whole = encoding.to_dict()
    for part, forged in (("degree", 1.5), ("target", 3), ("levels", []), ("columns", [dict(name=True, kind="number")])):
        with pytest.raises(DataError, match="damaged"):
            from_dict(whole | {part: forged})
    with pytest.raises(DataError, match="damaged"):
        from_dict(dict(kind="matrix", n_features=2, base=0, columns=["a"], target=None))
    with pytest.raises(DataError, match=r"'future'.*upgrade"):
        from_dict({"kind": "future"})
    with pytest.raises(DataError, match="not fitted on a file"):
        from_dict(None)
    with pytest.raises(DataError, match="a value is not a finite number"):
        encoding.transform(pa.table({"a": [np.inf, 1.0], "b": ["x", "y"]}))


def test_rows_in_one_piece_in_many_and_shared_by_threads_are_encoded_alike():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(70_000, 2)) * [1.0, 1e6]
    X[rng.random(X.shape) < 0.01] = np.nan
    table = pa.table(
        {"plain": rng.normal(size=len(X)), "whole": rng.integers(9, size=len(X)), "a": X[:, 0], "b": X[:, 1]}
    )
    pieces = pa.concat_tables([table[:1000], table[1000:1001], table[1001:]])
    encoding = TableEncoding.fit(table)
    with at_most_threads(2):
        shared = TableEncoding.fit(pieces)
        of_pieces, of_table = shared.transform(pieces), encoding.transform(table)
    with at_most_threads(1):
        alone = encoding.transform(table)
    assert (of_pieces == alone).all()
    assert (of_table == alone).all()
    assert (alone[:, :1] == StandardScaler().fit_transform(table["plain"].to_numpy()[:, None])).all()
