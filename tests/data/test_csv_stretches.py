"""Separated values read a stretch at a time: what pyarrow reads from the whole file, or nothing."""

import csv as text_csv
import io

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import csv

from linsep.data import csv_stretches
from linsep.data.csv_stretches import read_stretches
from linsep.data.readers import read

cells = st.one_of(
    st.integers(-200, 200),
    st.integers(-(2**40), 2**40),
    st.floats(-1e6, 1e6),
    st.just(""),
    st.sampled_from(["Ede", "Ulm", "NA", "2024-01-31"]),
)


@pytest.fixture
def short(monkeypatch):
    monkeypatch.setattr(csv_stretches, "STRETCH", 64)
    monkeypatch.setattr(csv_stretches, "LINE", 8)


def text_of(rows, end="\n"):
    file = io.StringIO(newline="")
    text_csv.writer(file, lineterminator=end).writerows(rows)
    return file.getvalue().encode()


def same(found, whole):
    return found.column_names == whole.column_names and found.cast(whole.schema).equals(whole)


@given(
    columns=st.lists(st.sampled_from([0, 1, 2, 3, 4]), min_size=1, max_size=4),
    data=st.data(),
    end=st.sampled_from(["\n", "\r\n"]),
)
def test_what_is_read_is_what_pyarrow_reads_from_the_whole_file(columns, data, end):
    kinds = (st.integers(-9, 9), st.integers(-(2**40), 2**40), st.floats(-1e6, 1e6), st.sampled_from("abc"), cells)
    rows = data.draw(st.lists(st.tuples(st.integers(), *(kinds[kind] for kind in columns)), min_size=1, max_size=60))
    text = text_of([[f"x{j}" for j in range(len(columns) + 1)], *[(row[0] % 7, *row[1:]) for row in rows]], end)
    whole = csv.read_csv(pa.py_buffer(text))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(csv_stretches, "STRETCH", 64)
        found = read_stretches(pa.py_buffer(text), {}, quoted=True)
    assert found is None or same(found, whole)
    if found is not None:
        assert not any(pa.types.is_int64(kind) for kind in found.schema.types[:1])


@pytest.mark.parametrize("late", ["-129", "32768", "2147483648", "0.5", "", "-7"])
def test_numbers_that_grow_or_have_fractions_later_on(short, late):
    text = text_of([["a", "b"], *[[1, k % 3] for k in range(100)], [late, 1], *[[3, k % 3] for k in range(100)]])
    found = read_stretches(pa.py_buffer(text), {}, quoted=True)
    assert found is not None
    assert same(found, csv.read_csv(pa.py_buffer(text)))
    assert found.schema.field("b").type == pa.int8()


def test_a_column_that_is_empty_at_first(short):
    text = text_of([["a", "b"], *[["", 1]] * 50, *[[7, 2]] * 50])
    assert same(read_stretches(pa.py_buffer(text), {}, quoted=True), csv.read_csv(pa.py_buffer(text)))


@pytest.mark.parametrize(
    ("rows", "why"),
    [
        ([["a", "b"], *[[1, 2]] * 80, ["x", 2], *[[1, 2]] * 9], "text among numbers"),
        ([["a", "b"], *[[1, 2]] * 80, ["x\ny", 2], *[[1, 2]] * 9], "a line that ends within quotes"),
        ([["a", "b"], *[["", 2]] * 80, ["x", 2], *[["", 2]] * 80], "text, or missing?"),
        ([["a", "a"], *[[1, 2]] * 80], "two columns of one name"),
        ([["a", "b"], *[[1, 2]] * 80, [1, 2, 3], *[[1, 2]] * 9], "a ragged row"),
        ([["a", "b"], [1, 2], [3, 4]], "a short file"),
    ],
)
def test_what_takes_a_look_at_the_whole_file_is_left_to_others(short, rows, why):
    assert read_stretches(pa.py_buffer(text_of(rows)), {}, quoted=True) is None, why


def test_types_that_were_said_hold_for_every_stretch(short):
    text = text_of([["a", "b"], *[[k % 5, 2] for k in range(100)]])
    options = dict(convert_options=csv.ConvertOptions(column_types={"a": pa.string()}))
    assert read_stretches(pa.py_buffer(text), options, quoted=True).schema.field("a").type == pa.string()


def test_lines_longer_than_where_their_end_is_looked_for(short):
    text = text_of([["a", "b"], *[["x" * 300, k % 3] for k in range(40)]])
    assert same(read_stretches(pa.py_buffer(text), {}, quoted=True), csv.read_csv(pa.py_buffer(text)))


def test_a_file_without_header_keeps_its_first_line(short, tmp_path):
    (tmp_path / "numbers.csv").write_bytes(text_of([[k % 7, k % 3] for k in range(100)]))
    frame = read(tmp_path / "numbers.csv").frame
    assert frame.num_rows == 100
    assert frame.column("column_1").to_pylist() == [k % 7 for k in range(100)]
    assert frame.schema.field("column_1").type == pa.int8()
