"""The encoding counted block by block: the same as of all rows at once."""

import pickle

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from linsep.data.encoding import Circumstances, Column, TableEncoding, TableStatistics
from linsep.data.encoding.tallies import SAMPLE
from linsep.data.sources import DataError


def counted(table, size, kinds=None, room=10**7, **settings):
    said = {name: Column.said(name, role) for name, role in (kinds or {}).items()}
    statistics = TableStatistics(table.schema, said, Circumstances("file", room, **settings))
    for first in range(0, table.num_rows, size):
        statistics.add(table[first : first + size])
    return TableEncoding.of(statistics)


def merged(table, size, kinds=None, room=10**7, **settings):
    """Count each block by itself, from what the first values of all of them say, and merge the counts pair by pair."""
    said = {name: Column.said(name, role) for name, role in (kinds or {}).items()}
    begun = TableStatistics(table.schema, said, Circumstances("file", room, **settings))
    begun.begin({name: table[name].drop_null()[:SAMPLE] for name in begun.texts()})
    each = []
    for first in range(0, table.num_rows, size):
        each.append(pickle.loads(pickle.dumps(begun)))
        each[-1].add(table[first : first + size])
    while len(each) > 1:
        each = [one + two for one, two in zip(each[::2], each[1::2], strict=False)] + each[len(each) // 2 * 2 :]
    return TableEncoding.of(each[0])


def assert_same(found, expected):
    assert found.columns == expected.columns
    assert list(found.numbers) == list(expected.numbers)
    for name, one in expected.numbers.items():
        assert found.numbers[name] == pytest.approx(one, rel=1e-9, abs=1e-9)
    assert found.levels == expected.levels
    assert {name: words for name, (words, _) in found.words.items()} == {
        name: words for name, (words, _) in expected.words.items()
    }
    for name, (_, idf) in expected.words.items():
        assert found.words[name][1] == pytest.approx(idf)


COLUMNS = st.one_of(
    st.lists(st.one_of(st.none(), st.floats(-100, 100)), min_size=40, max_size=40),
    st.lists(st.one_of(st.none(), st.integers(0, 5)), min_size=40, max_size=40),
    st.lists(st.one_of(st.none(), st.sampled_from(["a", "b", "c"])), min_size=40, max_size=40),
    st.lists(st.booleans(), min_size=40, max_size=40),
    st.permutations(list(range(40))),
    st.permutations([f"u{k}" for k in range(40)]),
    st.lists(st.lists(st.sampled_from(["red", "old", "big", "new"]), min_size=3, max_size=6).map(" ".join),
             min_size=40, max_size=40),
    st.just([None] * 40),
    st.just([7.0] * 40),
    st.just([7, None] * 20),
)  # fmt: skip


@pytest.mark.parametrize("counted", [counted, pytest.param(merged, marks=pytest.mark.slow)])
@settings(max_examples=60)
@given(columns=st.lists(COLUMNS, min_size=1, max_size=4), size=st.integers(1, 45))
def test_in_blocks_as_at_once(counted, columns, size):
    names = ["x", "row_id", "town", "other"]
    table = pa.table({name: pa.array(values) for name, values in zip(names, columns, strict=False)})
    try:
        expected = TableEncoding.fit(table)
    except DataError:
        with pytest.raises(DataError, match="left to learn"):
            counted(table, size)
        return
    assert_same(counted(table, size), expected)


@pytest.mark.parametrize("counted", [counted, merged])
def test_dates_and_what_the_user_says(counted):
    frame = pd.DataFrame({"when": pd.date_range("2021-01-01", periods=90, freq="17h"), "code": np.arange(90) % 3})
    table = pa.Table.from_pandas(frame.assign(note=["one two three"] * 45 + ["four"] * 45), preserve_index=False)
    for kinds in ({}, {"code": "category", "note": "text"}, {"when": "ignored", "note": "category"}):
        assert_same(counted(table, 13, kinds), TableEncoding.fit(table, kinds=kinds))


@pytest.mark.parametrize("counted", [counted, merged])
def test_identifiers_are_set_aside_even_where_they_are_too_many_to_hold(counted):
    rng = np.random.default_rng(0)
    names = [f"customer {k}" for k in rng.permutation(3000)]
    table = pa.table({"name": names, "order_id": rng.permutation(3000) * 7, "x": rng.standard_normal(3000)})
    found = counted(table, 500, room=50_000)
    assert [column.kind for column in found.columns] == ["ignored", "ignored", "number"]
    assert "differs in nearly every row" in found.columns[0].note
    assert found.columns[1].note == "it identifies the rows"


@pytest.mark.parametrize("counted", [counted, merged])
def test_too_many_values_or_words_are_refused_with_what_to_do(counted):
    rng = np.random.default_rng(0)
    table = pa.table({"town": [f"t{k}" for k in rng.integers(0, 2000, 9000)], "x": rng.standard_normal(9000)})
    with pytest.raises(DataError, match=r"'town' has too many different values.*--max-memory"):
        counted(table, 1000, room=50_000)
    with pytest.raises(DataError, match=r"'town' has [0-9,]+ different words, too many.*--max-memory"):
        counted(table, 1000, {"town": "text"}, room=50_000)


@pytest.mark.parametrize("counted", [counted, merged])
def test_something_else_among_the_numbers_of_a_text_file_is_named(counted):
    values = ["1.5"] * 300
    values[217] = "oops"
    with pytest.raises(
        DataError, match=r"column 'x': a value is not a number, but 299 of 300 values are.*'oops'"
    ) as odd:
        counted(pa.table({"x": values}), 50, untyped=True)
    assert [odd.value.fits(pa.chunked_array([values[:k]])) for k in (217, 218)] == [True, False]


@pytest.mark.parametrize("counted", [counted, merged])
def test_infinity_is_refused_with_its_column(counted):
    with pytest.raises(DataError, match=r"column 'x': a value is not a finite number"):
        counted(pa.table({"x": [1.0] * 11 + [np.inf]}), 5)


@pytest.mark.parametrize("counted", [counted, merged])
@pytest.mark.parametrize("huge", [[1e308] * 4 + [-1e308] * 2, [1e200, 2e200, 3.0, -1e200, 1e199, 0.0]])
def test_numbers_that_cannot_be_squared_are_refused_with_their_column(counted, huge):
    with pytest.raises(DataError, match=r"column 'x' has numbers that are too large to be squared; divide them"):
        counted(pa.table({"x": huge}), 3)
