"""Files that were made to hurt: offsets that lie, too many columns, contents that are larger than any memory."""

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import feather, ipc, parquet

from linsep.data.readers import Hints, read, stream
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
