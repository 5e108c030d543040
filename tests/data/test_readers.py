"""Readers: real files written by pandas, polars, scikit-learn and NumPy, and files that are damaged."""

import bz2
import gzip
import io
import os
import threading

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import feather, ipc
from scipy import sparse
from sklearn.datasets import dump_svmlight_file, load_svmlight_file

from linsep._core import _kernels, reference
from linsep.data.csv_text import sniff
from linsep.data.libsvm import parse_libsvm, stream_libsvm
from linsep.data.readers import Hints, Matrix, Table, read, stream
from linsep.data.sources import DataError, Source, _format


@pytest.fixture
def frame():
    rng = np.random.default_rng(0)
    n = 300
    return pd.DataFrame(
        {
            "age": np.where(rng.random(n) < 0.1, np.nan, rng.integers(18, 90, n)),
            "town": rng.choice(["Ede", "Ulm, Danube", 'the "city"', "two\nlines"], n),
            "income": rng.normal(1000.0, 300.0, n),
            "day": pd.date_range("2020-01-01", periods=n, freq="D").strftime("%Y-%m-%d"),
            "bought": rng.choice(["yes", "no"], n),
        }
    )


def as_pandas(found):
    assert isinstance(found, Table)
    return found.frame.to_pandas()


def assert_same(found, frame):
    table = as_pandas(found)
    assert list(table.columns) == list(frame.columns)
    for name in ("age", "income"):
        np.testing.assert_array_equal(table[name].to_numpy(float), frame[name].to_numpy(float))
    for name in ("town", "bought"):
        assert table[name].tolist() == frame[name].tolist()


WRITERS = {
    "a.csv": lambda frame, path: frame.to_csv(path, index=False),
    "a.tsv": lambda frame, path: frame.to_csv(path, index=False, sep="\t"),
    "semicolon.csv": lambda frame, path: frame.to_csv(path, index=False, sep=";"),
    "noending": lambda frame, path: frame.to_csv(path, index=False, sep="|"),
    "bom.csv": lambda frame, path: frame.to_csv(path, index=False, encoding="utf-8-sig"),
    "a.csv.gz": lambda frame, path: frame.to_csv(path, index=False),
    "a.csv.bz2": lambda frame, path: frame.to_csv(path, index=False),
    "a.csv.zst": lambda frame, path: (
        path.write_bytes(pa.compress(b"", "zstd", asbytes=True)) if frame.empty else _zstd(frame, path)
    ),
    "polars.csv": lambda frame, path: pl.from_pandas(frame).with_columns(pl.col("age").fill_nan(None)).write_csv(path),
    "a.parquet": lambda frame, path: frame.to_parquet(path),
    "polars.parquet": lambda frame, path: pl.from_pandas(frame).write_parquet(path),
    "a.feather": lambda frame, path: feather.write_feather(frame, path),
    "polars.arrow": lambda frame, path: pl.from_pandas(frame).write_ipc(path, compat_level=pl.CompatLevel.oldest()),
    "stream.arrow": lambda frame, path: _arrow_stream(frame, path),
}


def _zstd(frame, path):
    with pa.CompressedOutputStream(str(path), "zstd") as file:
        file.write(frame.to_csv(index=False).encode())


def _arrow_stream(frame, path):
    table = pa.Table.from_pandas(frame)
    with pa.OSFile(str(path), "wb") as file, ipc.new_stream(file, table.schema) as writer:
        writer.write_table(table)


@pytest.mark.parametrize("name", WRITERS)
def test_what_others_wrote_is_read_as_they_meant_it(frame, tmp_path, name):
    path = tmp_path / name
    WRITERS[name](frame, path)
    assert_same(read(path), frame)
    types = {"age": pa.float64(), "income": pa.float64(), "town": pa.string(), "bought": pa.string()}
    parts = [part.frame.select(list(types)) for part in stream(path, types=types)]
    assert_same(Table("all", pa.concat_tables(parts)), frame[list(types)])


@pytest.mark.parametrize("whole", [0, 1 << 20])
def test_a_stream_of_many_blocks_is_the_file(tmp_path, monkeypatch, whole):
    monkeypatch.setattr("linsep.data.csv_text.BLOCK", 1 << 12)
    monkeypatch.setattr("linsep.data.csv_text.WHOLE", whole)
    monkeypatch.setattr("linsep.data.csv_text.ROWS", 700)
    frame = pd.DataFrame({"a": np.arange(5000), "b": np.arange(5000) / 7})
    frame.to_csv(tmp_path / "long.csv", index=False)
    parts = list(stream(tmp_path / "long.csv", types={"a": pa.float64(), "b": pa.float64()}))
    assert len(parts) > 5
    assert pa.concat_tables(part.frame for part in parts)["b"].to_pylist() == frame["b"].tolist()


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32"])
@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_a_byte_order_mark_says_the_encoding(tmp_path, encoding, newline):
    text = newline.join(['"größe, m",ort', "1.5,Köln", '2.5,"Bad ""Ems"""', ""])
    (tmp_path / "a.csv").write_bytes(text.encode(encoding))
    assert read(tmp_path / "a.csv").frame.to_pydict() == {"größe, m": [1.5, 2.5], "ort": ["Köln", 'Bad "Ems"']}


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no named pipes")
@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_a_pipe_is_read_once_and_whole(tmp_path, pack):
    os.mkfifo(tmp_path / "pipe")
    text = "a,b\n" + "1,x\n2,y\n" * 400_000
    writer = threading.Thread(target=(tmp_path / "pipe").write_bytes, args=(pack(text.encode()),))
    writer.start()
    assert read(tmp_path / "pipe").frame.num_rows == 800_000
    writer.join()


def test_types_of_few_programs(tmp_path):
    table = pa.table({"half": np.array([1.5, 2.5], dtype=np.float16), "b": pa.array(["x", "y"], pa.string_view())})
    with ipc.new_file(tmp_path / "a.arrow", table.schema) as file:
        file.write_table(table)
    assert read(tmp_path / "a.arrow").frame.schema.types == [pa.float32(), pa.string()]
    twice = pa.schema([("a", pa.int8()), ("a", pa.int8())])
    with ipc.new_file(tmp_path / "twice.arrow", twice) as file:
        file.write_table(pa.table([[1], [2]], schema=twice))
    with pytest.raises(DataError, match="two columns are called 'a'"):
        read(tmp_path / "twice.arrow")


@pytest.mark.parametrize("name", ["late.csv", "late.csv.gz"])
def test_lines_that_end_within_quotes_far_down(tmp_path, name):
    text = "a,b\n" + "1,x\n" * 1_900_000 + '2,"y\n""z"", y"\n' * 200_000  # blocks of 8 MB end among these
    (tmp_path / name).write_bytes(gzip.compress(text.encode(), 1) if name.endswith("gz") else text.encode())
    for frames in ([read(tmp_path / name).frame], [part.frame for part in stream(tmp_path / name)]):
        counts = pa.concat_tables(frames)["b"].value_counts().to_pylist()
        assert counts == [{"values": "x", "counts": 1_900_000}, {"values": 'y\n"z", y', "counts": 200_000}]


def test_missing_values_and_spaces(tmp_path):
    path = tmp_path / "adult.data"
    path.write_text("39, State-gov, 1, <=50K\n50, ?, 2, >50K\n, Private, ?, <=50K\n")
    table = read(path).frame
    assert table.column_names == ["column_1", "column_2", "column_3", "column_4"]
    assert table.to_pydict() == {
        "column_1": [39, 50, None],
        "column_2": ["State-gov", None, "Private"],
        "column_3": [1, 2, None],
        "column_4": ["<=50K", ">50K", "<=50K"],
    }
    assert (read(path).column("-1"), read(path).column("2"), read(path).header) == ("column_4", "column_2", False)


def test_text_with_loose_quotes(tmp_path):
    path = tmp_path / "sms"
    path.write_text('ham\t"Hi there, it is me\nspam\tFREE "entry"\nham\tok\nham\tno way\n')
    assert read(path).frame.to_pydict() == {
        "column_1": ["ham", "spam", "ham", "ham"],
        "column_2": ['"Hi there, it is me', 'FREE "entry"', "ok", "no way"],
    }


@pytest.mark.parametrize(
    ("text", "delimiter", "header"),
    [
        (b"a,b\n1,2\n3,4\n", ",", True),
        (b"1,2\n3,4\n", ",", False),
        (b"name;note\nAnn;likes a, b\nBob;and c, d\n", ";", True),
        (b"yes,red\nno,blue\nyes,blue\nno,red\n", ",", False),
        (b"answer,colour\nno,blue\nyes,blue\nno,red\n", ",", True),
        (b"x\n1\n2\n", ",", True),
    ],
)
def test_dialects_are_told_by_looking(text, delimiter, header):
    dialect = sniff(text)
    assert (dialect.delimiter, dialect.header) == (delimiter, header)


def test_what_is_said_is_not_guessed(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes("naïve;x\n1;–\n".encode("cp1252"))
    hints = Hints(delimiter=";", header=False, encoding="cp1252", missing=("–",))
    assert read(path, hints).frame.to_pydict() == {"column_1": ["naïve", "1"], "column_2": ["x", None]}


# -- LIBSVM -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("zero_based", [True, False])
@pytest.mark.parametrize("pack", [bytes, gzip.compress, bz2.compress])
def test_libsvm_text_of_scikit_learn(tmp_path, zero_based, pack):
    rng = np.random.default_rng(1)
    dense = np.where(rng.random((80, 30)) < 0.2, rng.standard_normal((80, 30)), 0.0)
    dense[0, 0] = 1 / 3
    X = sparse.csr_array(dense)
    y = rng.choice([-1.0, 1.0], 80)
    text = io.BytesIO()
    dump_svmlight_file(X, y, text, zero_based=zero_based, comment="made up: by a test")
    path = tmp_path / "data.svm"
    path.write_bytes(pack(text.getvalue()))
    found = read(path)
    assert isinstance(found, Matrix)
    expected, labels = load_svmlight_file(io.BytesIO(text.getvalue()), zero_based=zero_based)
    assert found.base == (0 if zero_based else 1)
    assert (abs(found.X - expected)).nnz == 0
    np.testing.assert_array_equal(found.y, labels)
    parts = list(stream_libsvm(Source.of(path), base=found.base, n_features=found.X.shape[1], stretch=500))
    assert len(parts) > 3
    assert abs(sparse.vstack([X for X, _ in parts]) - expected).nnz == 0


numbers = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.decimals(allow_nan=False, allow_infinity=False, places=4).map(str),
    st.sampled_from(["+1", "-0", ".5", "5.", "1e-320", "123456789012345678901234567890", "0.1e+2", "1e400", "x", ""]),
)
tokens = st.one_of(
    st.tuples(st.integers(0, 2**31 + 2), numbers).map(lambda pair: f"{pair[0]}:{pair[1]}"),
    st.sampled_from(["qid:3", "# end 3:4", "3", ":4", "7:1:2", "a:1", "2:nan", "2:0x10", "99999999999999999999:1"]),
)
lines = st.tuples(numbers, st.lists(tokens, max_size=6)).map(lambda pair: " ".join([pair[0], *pair[1]]))


def parsed_by(kernels, text, threads=1):
    """What a parser finds, and the arrays that it fills."""
    parsed = kernels.LibsvmText(text, threads)
    labels, values = np.full(parsed.lines, np.nan), np.full(parsed.colons, np.nan)
    columns, start = np.full(parsed.colons, -7, np.int32), np.full(parsed.lines + 1, -7, np.int32)
    parsed.parse(labels, values, columns, start)
    filled = labels[: parsed.n], values[: parsed.stored], columns[: parsed.stored], start[: parsed.n + 1]
    return parsed, () if parsed.fault else filled


@given(st.lists(lines, max_size=5), st.sampled_from(["\n", "\r\n", "\n\n"]), st.sampled_from(["", "\n"]))
def test_the_compiled_parser_is_the_plain_one(rows, newline, end):
    text = np.frombuffer((newline.join(rows) + end).encode(), dtype=np.uint8)
    (fast, arrays), (plain, expected) = parsed_by(_kernels, text, 2), parsed_by(reference, text)
    assert (fast.fault, fast.place, fast.lines, fast.colons) == (plain.fault, plain.place, plain.lines, plain.colons)
    if plain.fault:
        return
    assert (fast.n, fast.stored, fast.lowest, fast.highest) == (plain.n, plain.stored, plain.lowest, plain.highest)
    for one, other in zip(arrays, expected, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("line", [b"%d 1:%d 5:.25\n", b"\n%d qid:4 1:%d 5:.25 # a:b:c\n"])
def test_parsing_does_not_depend_on_threads(line):
    text = np.frombuffer(b"".join(line % (i % 2, i) for i in range(200_000)), dtype=np.uint8)
    results = [parsed_by(_kernels, text, threads)[1] for threads in (1, 2, 3)]
    for other in results[1:]:
        assert all(np.array_equal(a, b) for a, b in zip(results[0], other, strict=True))
    labels, values, columns, start = results[0]
    np.testing.assert_array_equal(labels, np.arange(200_000) % 2)
    np.testing.assert_array_equal(values.reshape(-1, 2), np.column_stack([np.arange(200_000), np.full(200_000, 0.25)]))
    np.testing.assert_array_equal(columns, np.tile([1, 5], 200_000))
    np.testing.assert_array_equal(start, np.arange(0, 400_001, 2))


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("+1 1:2\nyes 1:2\n", "line 2, column 1: the line does not begin with a label"),
        ("+1 1:2\n-1 2:1 1:3\n", "line 2, column 8: the indices of a line must go up"),
        (
            "+1 1:2\n-1 2:",
            "line 2, column 4: the value after the colon is not a finite number, not '2:'; the file seems",
        ),
        ("+1 1:nan\n", "not a finite number"),
        ("+1 1:1 b\n", "line 1, column 8: here an index is expected"),
        ("+1 1:1 7\n", "here index:value is expected"),
        ("+1 2147483647:1\n", "is not possible"),
    ],
)
def test_bad_libsvm_text_is_located(text, complaint):
    with pytest.raises(DataError, match=r"^made\.svm ") as error:
        parse_libsvm(text.encode(), "made.svm")
    assert complaint in str(error.value)


def test_columns_that_the_model_does_not_know():
    with pytest.raises(DataError, match="column number 9 occurs, but there are only 3"):
        parse_libsvm(b"1 9:1\n", base=1, n_features=3)
    with pytest.raises(DataError, match="numbered from 1"):
        parse_libsvm(b"1 0:1\n", base=1, n_features=3)


# -- NPZ ----------------------------------------------------------------------------------------------------------


def test_npz_dense_and_sparse(tmp_path):
    X, y = np.eye(3), np.array(["a", "b", "a"])
    np.savez(tmp_path / "dense.npz", X=X, y=y, names=["p", "q", "r"])
    found = read(tmp_path / "dense.npz")
    np.testing.assert_array_equal(found.X, X)
    assert (found.y.tolist(), found.names) == (["a", "b", "a"], ["p", "q", "r"])
    sparse.save_npz(tmp_path / "sparse.npz", sparse.csr_array(X))
    assert (read(tmp_path / "sparse.npz").X.toarray() == X).all()
    np.savez(tmp_path / "other.npz", X=X, label=y)
    assert read(tmp_path / "other.npz", target="label").y.tolist() == ["a", "b", "a"]


BAD_ARRAYS = [
    (dict(X=np.array([[1.0, np.nan]])), "row 1, column 2 is not a finite number; fill in"),
    (
        dict(data=[1.0, np.inf], indices=[0, 2], indptr=[0, 1, 2], shape=[2, 3]),
        "row 2, column 3 is not a finite",
    ),
    (dict(data=[1.0, 1.0], indices=[0, 7], indptr=[0, 1, 2], shape=[2, 3]), "the sparse matrix is damaged"),
    (dict(data=[1.0, 1.0], indices=[0, 1], indptr=[0, 9, 2], shape=[2, 3]), "the sparse matrix is damaged"),
    (dict(X=np.array([[2**53 + 1]])), "whole numbers above 2\\^53"),
    (dict(X=np.empty((3, 0))), "no columns"),
    (dict(X=np.ones((2, 2)), names=["a"]), "1 names for 2 columns"),
    (dict(X=np.ones((2, 2)), names=["a", "a"]), "two columns are called 'a'"),
    (dict(X=np.array([["a"]])), "must be numbers"),
    (dict(Z=np.ones((2, 2))), "no array X in it, only Z"),
]


@pytest.mark.parametrize(("arrays", "complaint"), BAD_ARRAYS)
def test_bad_arrays_are_named(tmp_path, arrays, complaint):
    np.savez(tmp_path / "a.npz", **arrays)
    with pytest.raises(DataError, match=rf"a\.npz: .*{complaint}"):
        read(tmp_path / "a.npz")


def test_a_sparse_matrix_by_columns(tmp_path):
    X = sparse.random_array((7, 5), density=0.4, random_state=np.random.default_rng(0), format="csc")
    sparse.save_npz(tmp_path / "a.npz", X)
    np.testing.assert_array_equal(read(tmp_path / "a.npz").X.toarray(), X.toarray())


# -- bad files ----------------------------------------------------------------------------------------------------

LONG = "a,b,c\n" + "1,2,3\n" * 2000


@pytest.mark.parametrize(
    ("name", "content", "complaint"),
    [
        (
            "ragged.csv",
            (LONG + "1,2\n" + "1,2,3\n").encode(),
            "ragged.csv line 2002: 2 fields, but the lines before have 3",
        ),
        ("cut.csv", (LONG + "1,2").encode(), "cut.csv line 2002: 2 fields, .*ends? in the middle of a record"),
        ("wrong.csv", b"a,b\n1,caf\xe9\n2,x\n", "wrong.csv line 2, column 'b'.*not UTF-8.*--encoding latin-1"),
        ("twice.csv", b"a,a\n1,2\n", "line 1: two columns are called 'a'; rename one"),
        ("empty.csv", b"", "empty"),
        ("header.csv", b"a,b\n", "no rows below the header"),
        ("header.csv", b"a,b", "no rows below the header"),
        ("blank.csv", b"\n \n", "it is empty"),
        ("broken.csv.gz", gzip.compress(LONG.encode(), mtime=0)[:-30], "broken.csv.gz: .*damaged or ends too early"),
        ("broken.parquet", b"PAR1 and then nothing", "broken.parquet: .*damaged"),
        ("broken.arrow", b"ARROW1\0\0 and then nothing", "broken.arrow: .*damaged"),
        ("broken.npz", b"PK\x03\x04 and then nothing", "broken.npz: not a readable NPZ"),
    ],
)
def test_bad_files_are_named_with_the_place_and_what_to_do(tmp_path, name, content, complaint):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(DataError, match=f"(?s){complaint}") as error:
        read(tmp_path / name)
    assert len(str(error.value).splitlines()) <= 2


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(DataError, match="no such file"):
        read(tmp_path / "nothing.csv")
    with pytest.raises(DataError, match="directory"):
        read(tmp_path)


def test_a_stream_names_the_line_of_a_wrong_type(tmp_path):
    (tmp_path / "a.csv").write_text("a,b\n1,2\n1,x\n")
    with pytest.raises(DataError, match=r"line 3, column 'b': 'x' is not a number"):
        list(stream(tmp_path / "a.csv", types={"a": pa.float64(), "b": pa.float64()}))


def test_unknown_columns_are_listed(tmp_path):
    (tmp_path / "a.csv").write_text("a,b\n1,2\n")
    with pytest.raises(DataError, match="no column 'c'; it has a, b"):
        read(tmp_path / "a.csv").column("c")


def test_libsvm_text_is_recognised_where_most_examples_are_all_zero():
    """In w8a every other line is a label alone."""
    text = b"-1 4:1 7:1 \n-1 \n-1 \n+1 \n1 2:1 \n-1 \n"
    assert _format("w8a", text) == "libsvm"
    assert _format("", b"-1\n1\n-1\n1\n") == "csv"
    assert _format("", b"x\n1\n2\n3\n") == "csv"
    assert _format("", b"1\n2\n3 4:1,5\na b\nc d\n") == "csv"
