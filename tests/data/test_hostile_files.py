"""Files that were made to hurt: offsets that lie, too many columns, contents that are larger than any memory."""

import io
import itertools
import re
import subprocess
import sys
import time
import zipfile

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import feather, ipc, parquet

from linsep._core import one_ahead
from linsep.data.csv_text import COMMA, NUMBER, POINT, THOUSANDS
from linsep.data.readers import Hints, read, stream
from linsep.data.room import SHARE, at_most, free_memory
from linsep.data.sources import DataError

OFFSETS = np.array([0, 1, 3, 6, 10], dtype="<i4")
CODES = np.array([1, 0, 1, 1], dtype="<i4")
TABLE = pa.table(
    {
        "text": pa.array(["a", "bb", "ccc", "dddd"]),
        "kind": pa.DictionaryArray.from_arrays(pa.array(CODES), pa.array(["no", "yes"])),
        "x": [1.0, 2.0, 3.0, 4.0],
    }
)


def written(path, kind):
    if kind == "feather":
        feather.write_feather(TABLE, path, compression="uncompressed")
    else:
        with pa.OSFile(str(path), "wb") as file, getattr(ipc, f"new_{kind}")(file, TABLE.schema) as writer:
            writer.write_table(TABLE)
    return path.read_bytes()


def changed(numbers, at, value):
    numbers = numbers.copy()
    numbers[at] = value
    return numbers.tobytes()


LIES = {
    "an offset past the end": (OFFSETS, changed(OFFSETS, 4, 2**31 - 1)),
    "an offset below zero": (OFFSETS, changed(OFFSETS, 2, -5)),
    "offsets that decrease": (OFFSETS, changed(OFFSETS, 1, 9)),
    "a level that is not there": (CODES, changed(CODES, 2, 10**6)),
    "a level below zero": (CODES, changed(CODES, 2, -1)),
    "bytes that are no text": (np.frombuffer(b"abbcccdddd", dtype=np.uint8), b"abb\xff\xfe\xffdddd"),
}


@pytest.mark.parametrize("kind", ["file", "stream", "feather"])
@pytest.mark.parametrize(("true", "lie"), LIES.values(), ids=LIES)
def test_arrow_files_whose_offsets_or_levels_lie_are_refused_in_one_line(kind, true, lie, tmp_path):
    content = written(tmp_path / "whole", kind)
    assert content.count(true.tobytes()) == 1
    path = tmp_path / "damaged.arrow"
    path.write_bytes(content.replace(true.tobytes(), lie))
    for open_it in (read, lambda path: list(stream(path))):
        with pytest.raises(DataError, match=r"^\S*damaged\.arrow: the file is damaged .*write or fetch it again$"):
            open_it(path)


def test_parquet_with_bytes_that_are_no_text_is_refused(tmp_path):
    path = tmp_path / "damaged.parquet"
    parquet.write_table(TABLE, path, compression="none", use_dictionary=False)
    path.write_bytes(path.read_bytes().replace(b"ccc", b"\xff\xfe\xff"))
    for open_it in (read, lambda path: list(stream(path))):
        with pytest.raises(DataError, match=r"damaged\.parquet: the file is damaged"):
            open_it(path)


@pytest.mark.parametrize("ending", ["parquet", "arrow"])
def test_too_many_columns_are_refused_before_they_are_read(ending, tmp_path, monkeypatch):
    path, table = tmp_path / f"wide.{ending}", pa.table({f"c{j}": [0.5, 1.5] for j in range(30)})
    parquet.write_table(table, path) if ending == "parquet" else feather.write_feather(table, path)
    reading = []
    monkeypatch.setattr("linsep.data.readers._valid", lambda part: reading.append(part) or part)
    for open_it in (read, lambda path, hints: list(stream(path, hints))):
        with pytest.raises(DataError, match=r"30 columns, .* beyond 20; .* say --max-columns 30"):
            open_it(path, Hints(max_columns=20))
    assert not reading
    assert read(path, Hints(max_columns=30)).frame.num_columns == 30


# -- contents that are larger than any memory -------------------------------------------------------------------------

ROOM = 3_000_000  # bytes that a content may take


def packed(path, text, times, compression):
    with pa.CompressedOutputStream(pa.OSFile(str(path), "wb"), compression) as file:
        for _ in range(times):
            file.write(text)
    return path


@pytest.mark.parametrize(
    ("compression", "text"),
    [
        *itertools.product(["gzip", "zstd"], [b"1,2,no\n1,3,yes\n", b"+1 1:2 2:3\n-1 1:1\n", bytes(16)]),
        ("bz2", bytes(16)),  # of which only zeros are packed quickly
    ],
)
def test_what_unpacks_to_more_than_the_memory_is_refused_on_the_way(compression, text, tmp_path, monkeypatch):
    bomb = packed(tmp_path / "bomb", text * 4096, 400, compression)
    monkeypatch.setattr("linsep.data.sources.UNPACKED", 1 << 16)
    assert bomb.stat().st_size < 100_000
    with (
        at_most(ROOM / SHARE),
        pytest.raises(DataError, match=r"bomb: .* takes [0-9.]+ MB of memory or more, .* 3\.0 MB"),
    ):
        read(bomb)


LONG = 1 << 17  # the longest cell that the csv module reads


@pytest.mark.parametrize("pattern", [*NUMBER.values(), *(of.pattern for of in (COMMA, POINT, THOUSANDS))])
@pytest.mark.parametrize("piece", ["1", " ", "1,", "1.", ",111", ".111", "$ "])
@pytest.mark.parametrize("begin", ["", "1", "1.", "1e"])
def test_a_long_cell_is_no_number_in_time_that_grows_as_its_length(begin, piece, pattern):
    began = time.process_time()
    assert re.fullmatch(pattern, begin + piece * (LONG // len(piece)) + "x") is None
    assert time.process_time() - began < 1.0  # that of its square was minutes


def test_a_line_without_an_end_is_refused_where_parts_are_read(tmp_path):
    bomb = packed(tmp_path / "bomb.svm", b"1 1:0.5 ", 2**20, "gzip")
    with at_most(ROOM / SHARE), pytest.raises(DataError, match="a line of it takes"):
        list(stream(bomb, base=1, n_features=1, size=1 << 18))


def test_parquet_that_promises_more_rows_than_there_is_memory_is_refused_before_they_are_made(tmp_path):
    path = tmp_path / "bomb.parquet"
    parquet.write_table(pa.table({"x": np.zeros(10**6), "y": np.ones(10**6, dtype=np.int32)}), path)
    assert path.stat().st_size < 50_000
    with at_most(ROOM / SHARE), pytest.raises(DataError, match=r"bomb\.parquet: its table takes 12\.0 MB"):
        read(path)


@pytest.mark.parametrize("ending", ["npz", "xlsx"])
def test_archives_that_unpack_to_more_than_the_memory_are_refused(ending, tmp_path):
    path = tmp_path / f"bomb.{ending}"
    if ending == "npz":
        np.savez_compressed(path, X=np.zeros((10**6, 1)), y=np.zeros(10**6, dtype=np.int8))
    else:
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("[Content_Types].xml", bytes(10**7))
    with at_most(ROOM / SHARE), pytest.raises(DataError, match=r"bomb\.\w+: what it unpacks to takes"):
        read(path)


def npz(path, header):
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("X.npy", header)
    return path


def test_an_npz_header_that_promises_terabytes_is_one_clear_line(tmp_path):
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(header, {"descr": "<f8", "fortran_order": False, "shape": (10**9, 10**6)})
    with pytest.raises(DataError, match=r"bomb\.npz: not a readable NPZ file"):
        read(npz(tmp_path / "bomb.npz", header.getvalue()))


@pytest.mark.parametrize("at", ["method", "content"])
def test_compressed_npz_that_is_damaged_is_one_clear_line(at, tmp_path):
    path = tmp_path / "damaged.npz"
    np.savez_compressed(path, X=np.random.default_rng(0).normal(size=(50, 4)), y=np.arange(50) % 2)
    content = bytearray(path.read_bytes())
    if at == "method":
        content[8:10] = b"\x63\x00"
        central = content.find(b"PK\x01\x02")
        content[central + 10 : central + 12] = b"\x63\x00"
    else:
        content[60:90] = bytes(30)
    path.write_bytes(content)
    with pytest.raises(DataError, match=r"damaged\.npz: not a readable NPZ file"):
        read(path)


@pytest.mark.slow
def test_the_limits_of_the_machine_and_of_the_process_bound_the_memory():
    assert 0 < free_memory() < 2**60
    code = """
import resource
resource.setrlimit(resource.RLIMIT_AS, (2**31, 2**31))
from linsep.data.room import free_memory
print(free_memory() < 2**31)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout == "True\n", done.stderr


def test_what_is_made_ahead_in_another_thread_has_no_more_room_than_what_is_made_here():
    with at_most(1000):
        assert list(one_ahead(free_memory() for _ in range(2))) == [1000.0, 1000.0]
