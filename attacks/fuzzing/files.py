"""Readers, column types and the page's protocol: any bytes are read, or refused with an error for users."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import os
import random
import tempfile
import warnings
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from .mutations import WORDS, damaged

#: What commands turn into one line for users.
REFUSED = (ValueError, OSError, MemoryError)


@cache
def room() -> Path:
    """Return a folder of this process, in memory where there is such a place."""
    place = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    folder = tempfile.TemporaryDirectory(prefix="linsep-fuzz-", dir=place)
    _KEPT.append(folder)
    return Path(folder.name)


_KEPT: list[Any] = []


@cache
def originals() -> list[tuple[str, bytes]]:
    """Return small files of every format: the ending of their name, and what is in them."""
    import pyarrow as pa
    import pyarrow.feather
    import pyarrow.parquet

    table = (
        b"age,town,when,y\n31,Ede,2024-01-02,yes\n,Ulm,2024-02-03,no\n45,Ede,2023-12-31,no\n28,Bonn,2024-05-05,yes\n"
    )
    frame = pa.table(
        {"age": [31.0, None, 45.0], "town": ["Ede", "Ulm", None], "y": [1, 0, 1], "ok": [True, None, False]}
    )
    coded = frame.append_column("level", pa.array(["a", "b", "a"]).dictionary_encode())
    matrix = b"+1 1:0.5 3:2\n-1 2:1e3 # a comment\n+1 1:3 2:0.25 4:7\n"
    X, y = np.arange(6.0).reshape(3, 2), np.array([0, 1, 0])
    npz, packed = io.BytesIO(), io.BytesIO()
    np.savez(npz, X=X, y=y)
    np.savez_compressed(packed, data=X.ravel(), indices=[0, 1, 0, 1, 0, 1], indptr=[0, 2, 4, 6], shape=[3, 2], y=y)
    files = [(".csv", table), (".tsv", table.replace(b",", b"\t")), (".libsvm", matrix), (".npz", npz.getvalue())]
    files += [(".npz", packed.getvalue()), (".csv.gz", gzip.compress(table)), (".csv.bz2", bz2.compress(table))]
    for write, ending in ((pyarrow.parquet.write_table, ".parquet"), (pyarrow.feather.write_feather, ".feather")):
        for one in (frame, coded):
            sink = io.BytesIO()
            write(one, sink)
            files.append((ending, sink.getvalue()))
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, coded.schema) as stream:
        stream.write_table(coded)
    files.append((".arrow", sink.getvalue()))
    files.append((".csv.zst", pa.compress(table, codec="zstd", asbytes=True)))
    images = bytes([0, 0, 8, 3, 0, 0, 0, 2, 0, 0, 0, 2, 0, 0, 0, 2]) + bytes(range(8))
    files.append(("-images-idx3-ubyte", images))
    if excel := _workbook():
        files.append((".xlsx", excel))
    return files


def _workbook() -> bytes | None:
    try:
        import openpyxl
    except ImportError:
        return None
    book = openpyxl.Workbook()
    for row in (["age", "town", "y"], [31, "Ede", 1], [None, "Ulm", 0]):
        book.active.append(row)
    sink = io.BytesIO()
    book.save(sink)
    return sink.getvalue()


def readers(rng: random.Random) -> tuple[str, bytes]:
    """Return a damaged file of some format; one in ten under the ending of another."""
    ending, content = rng.choice(originals())
    if rng.random() < 0.1:
        ending = rng.choice(originals())[0]
    return ending, damaged(content, rng)


def read(case: tuple[str, bytes]) -> None:
    """Read it whole."""
    from linsep.data.readers import read as read_file

    path = room() / f"case{case[0]}"
    path.write_bytes(case[1])
    with warnings.catch_warnings(), suppress(*REFUSED):
        warnings.simplefilter("ignore")
        read_file(path)


def columns(rng: random.Random) -> tuple[str, bytes]:
    """Return a table of odd cells: numbers, dates, units, words, in every notation and in none."""
    cells = [word.decode("utf-8", "replace").replace(",", "").replace("\n", "").replace("\r", "") for word in WORDS]
    cells += [
        "1",
        "2.5",
        "-3",
        "1e5",
        "1.234,5",
        "5 bar",
        "€ 5",
        "12%",
        "2024-01-02",
        "02/03/24",
        "12:30",
        "yes",
        "no",
        "a b c",
    ]
    n, d = rng.randint(1, 12), rng.randint(1, 3)
    columns = [[rng.choice(rng.sample(cells, 3) if rng.random() < 0.7 else cells) for _ in range(n)] for _ in range(d)]
    rows = [";".join(f'"{cell}"' if '"' not in cell else "" for cell in row) for row in zip(*columns, strict=True)]
    rows = [f"{row};{rng.choice('ab')}" for row in rows]
    return ".csv", "\n".join([";".join([*(f"c{j}" for j in range(d)), "y"]), *rows]).encode() + b"\n"


def prepare(case: tuple[str, bytes]) -> None:
    """Decide what the columns are, and encode them."""
    from linsep.workflows.preparation import prepare as prepared

    path = room() / f"case{case[0]}"
    path.write_bytes(case[1])
    with warnings.catch_warnings(), suppress(*REFUSED):
        warnings.simplefilter("ignore")
        prepared(path, "y")


POINTS = {"x": [0, 0.5, 2, 3], "y": [0, 1, 1, 2], "positive": [0, 0, 1, 1]}
MESSAGES: list[dict[str, Any]] = [
    {"do": "hello"},
    {"do": "fit", "points": POINTS, "method": {"name": "logistic"}, "steps": 3, "window": [[0, 1], [0, 1]]},
    {"do": "fit", "points": POINTS, "method": {"name": "perceptron"}, "features": "plain", "draft": True},
    {"do": "separability", "points": POINTS, "intercept": True},
    {"do": "planes", "points": POINTS, "methods": [{"name": "logistic"}, {"name": "hinge"}]},
    {"do": "judge", "points": POINTS, "plane": [1, 0.5, -1]},
    {"do": "download", "points": POINTS, "method": {"name": "logistic"}, "what": "model"},
    {"do": "landscape", "function": "bowl"},
    {"do": "descend", "function": "bowl", "start": [1, 1], "eta": 0.1, "schedule": "constant", "steps": 5},
    {"do": "columns", "file": "x", "target": "y", "columns": []},
]
VALUES: list[Any] = [
    *(None, True, 0, -1, 2**53, 10**400, 0.5, 1e308, -1e9, 5e-324, "", "x", "logistic", "\ud800", [], {}, [[]], [0]),
    *([0] * 300, {"name": "hinge"}, {"name": "hinge", "C": 0}, {"x": [0], "y": [0], "positive": [1]}, [[1, 0], [0, 1]]),
]  # fmt: skip


def messages(rng: random.Random) -> tuple[str, bytes]:
    """Return a question with entries changed; one in four with bytes damaged."""
    record = json.loads(json.dumps({"v": 1, "id": 7, **rng.choice(MESSAGES)}))
    for _ in range(rng.randint(1, 4)):
        holder: Any = record
        while True:
            keys = list(holder) if isinstance(holder, dict) else list(range(len(holder)))
            key = rng.choice(keys) if keys else "x"
            if keys and isinstance(holder[key], dict | list) and rng.random() < 0.7:
                holder = holder[key]
                continue
            break
        value = json.loads(json.dumps(rng.choice(VALUES)))
        if keys:
            holder[key] = value
        elif isinstance(holder, list):
            holder.append(value)
        else:
            holder["name"] = value
    content = json.dumps(record).encode()
    return ".json", damaged(content, rng, 2) if rng.random() < 0.25 else content


def ask(case: tuple[str, bytes]) -> None:
    """Read a message as the server does, and answer it."""
    from linsep.play import protocol

    try:
        question = protocol.read(case[1].decode("utf-8"))
    except (protocol.MalformedError, UnicodeDecodeError):
        return
    answer = json.loads(_answers().answer(question))
    assert answer["id"] == question.id


@cache
def _answers() -> Any:
    from linsep.play.answers import Answers

    return Answers()
