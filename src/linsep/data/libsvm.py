"""LIBSVM text: "label index:value index:value …", one example a line, as labels and a sparse matrix."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .. import _core
from .._common.types import FloatArray
from .room import check_room
from .sources import DataError, Source, blame

#: What the parser found wrong, by the number that `reference.LibsvmText` gives it.
FAULTS = {
    1: "the line does not begin with a label that is a finite number",
    2: "here an index is expected, as in 3:0.5",
    3: "here index:value is expected, as in 3:0.5",
    4: "the value after the colon is not a finite number",
    5: "the indices of a line must go up, each at most once",
    6: "an index above 2,147,483,645 is not possible",
}
#: How much text a stream parses at a time.
STRETCH = 64 << 20


def parse_libsvm(
    text: Any, name: str = "text", *, base: int | None = None, n_features: int | None = None, line: int = 1
) -> tuple[Any, FloatArray, int]:
    r"""Return the matrix (CSR), the labels, and by what the column numbers were lowered.

    Parameters
    ----------
    text : bytes-like
    name : str
        How errors call the text.
    base : {0, 1}, optional
        What the first column is numbered; without it 0 if that number occurs and else 1, as in scikit-learn.
    n_features : int, optional
        How many columns there are; without it as many as occur.
    line : int, default=1
        The number of the first line.

    Examples
    --------
    >>> X, y, base = parse_libsvm(b"+1 1:0.5 3:2\n-1 2:1\n")
    >>> X.toarray(), y, base
    (array([[0.5, 0. , 2. ],
           [0. , 1. , 0. ]]), array([ 1., -1.]), 1)
    """
    content = np.frombuffer(text, dtype=np.uint8)
    parsed = _core.libsvm_text(content)
    dtype = np.int32 if parsed.colons <= np.iinfo(np.int32).max else np.int64
    labels, values = np.empty(parsed.lines), np.empty(parsed.colons)
    columns, start = np.empty(parsed.colons, dtype=dtype), np.empty(parsed.lines + 1, dtype=dtype)
    parsed.parse(labels, values, columns, start)
    if parsed.fault:
        raise DataError(_complaint(content, name, parsed.fault, parsed.place, line))
    if base is None:
        base = 0 if parsed.stored and parsed.lowest == 0 else 1
    if parsed.stored and parsed.lowest < base:
        raise DataError(f"{name}: column number 0 occurs, but the model's columns are numbered from 1; renumber them")
    width = max(parsed.highest + 1 - base, 0) if n_features is None else n_features
    if parsed.highest - base >= width:
        raise DataError(f"{name}: column number {parsed.highest} occurs, but there are only {width}")
    values, columns = values[: parsed.stored], columns[: parsed.stored]
    columns -= base
    X = sparse.csr_array((values, columns, start[: parsed.n + 1]), shape=(parsed.n, width))
    return X, labels[: parsed.n], base


def _complaint(content: NDArray[np.uint8], name: str, fault: int, place: int, line: int) -> str:
    """Say where the fault is; only now is it worth counting lines."""
    before = content[:place].tobytes()
    number, column = line + before.count(b"\n"), place - (before.rfind(b"\n") + 1) + 1
    shown = content[place : place + 40].tobytes().split(b"\n")[0].decode("utf-8", "replace").strip()
    at_end = b"\n" not in content[place:].tobytes()
    hint = "; the file seems to end in the middle of a line" if at_end and fault in (3, 4) else ""
    return f"{name} line {number}, column {column}: {FAULTS[fault]}, not {shown[:30]!r}{hint}"


def stream_libsvm(
    source: Source, *, base: int | None, n_features: int | None, stretch: int = STRETCH
) -> Iterator[tuple[Any, FloatArray]]:
    """Yield matrix and labels of one stretch of lines after the other."""
    carry, line = b"", 1
    with blame(source.name), source.open(mapped=False) as stream:
        while chunk := stream.read(stretch):
            cut = chunk.rfind(b"\n") + 1
            text, carry = (carry + chunk[:cut], chunk[cut:]) if cut else (b"", carry + chunk)
            check_room(source.name, 4 * len(carry), "a line of it")
            if text:
                X, y, _ = parse_libsvm(text, source.name, base=base, n_features=n_features, line=line)
                line += text.count(b"\n")
                yield X, y
        if carry:
            X, y, _ = parse_libsvm(carry, source.name, base=base, n_features=n_features, line=line)
            yield X, y
