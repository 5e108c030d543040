"""Sums as plain data: a text of JSON and the bytes of their arrays, from which nothing is run when they are read.

Truth values, whole numbers, text and None stand for themselves. Everything else is a list that begins with what it is:

    ["float", "0x1.8p+1"]                              a float, to the bit
    ["array", "<f8", [2, 3]]                           the next array of the bytes; "scalar" one number of NumPy's
    ["csr", [2, 3], …]                                 a sparse matrix: its data, indices and indptr follow as arrays
    ["tuple", …] ["list", …] ["Several", …] …          the things that follow, as that kind of sequence
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .._core import is_sparse
from ..arithmetic.enclosure import Interval
from ..objective.examples import Pieces, Several

#: What the items of a sequence are given to.
SEQUENCES: dict[str, Callable[[list[Any]], Any]] = {
    "tuple": tuple,
    "list": list,
    "Several": Several,
    "Pieces": Pieces,
    "Interval": lambda ends: Interval(*ends),
}


def written(value: Any) -> tuple[Any, list[bytes]]:
    """Return a value in terms of JSON, and the bytes of its arrays; raise `TypeError` for what has none.

    Examples
    --------
    >>> told, arrays = written(Several((1.5, np.arange(2.0), None)))
    >>> told
    ['Several', ['float', '0x1.8000000000000p+0'], ['array', '<f8', [2]], None]
    >>> read(told, b"".join(arrays))
    (1.5, array([0., 1.]), None)
    """
    arrays: list[bytes] = []

    def told(value: Any) -> Any:
        if value is None or isinstance(value, bool | str | int):
            return value
        if isinstance(value, float) and not isinstance(value, np.generic):
            return ["float", value.hex()]
        if isinstance(value, np.ndarray | np.generic):
            return _array(value, arrays)
        if is_sparse(value):
            return ["csr", list(value.shape), *map(told, (value.data, value.indices, value.indptr))]
        name = type(value).__name__
        if name not in SEQUENCES:
            raise TypeError(f"a sum of the kind {name} cannot be written to a checkpoint")
        return [name, *map(told, (value.low, value.high) if isinstance(value, Interval) else value)]

    return told(value), arrays


def _array(value: Any, arrays: list[bytes]) -> list[Any]:
    """Put an array's bytes behind the others, and return what it is."""
    found: NDArray[Any] = np.asarray(value)
    if found.dtype.kind not in "biufU":
        raise TypeError(f"an array of {found.dtype} cannot be written to a checkpoint")
    plain = found.astype(found.dtype.newbyteorder("<"), order="C", copy=False)
    arrays.append(plain.tobytes())
    return ["scalar" if isinstance(value, np.generic) else "array", plain.dtype.str, list(found.shape)]


def read(told: Any, content: bytes) -> Any:
    """Read what `written` wrote; raise `ValueError` for what it never writes."""
    left = memoryview(content)

    def value(told: Any) -> Any:
        nonlocal left
        if told is None or isinstance(told, bool | str | int):
            return told
        if not (isinstance(told, list) and told and isinstance(told[0], str)):
            raise ValueError(f"{str(told)[:40]!r} is nothing that is written")
        kind, *rest = told
        if kind in SEQUENCES:
            return SEQUENCES[kind]([value(one) for one in rest])
        if kind == "float" and len(rest) == 1:
            return float.fromhex(rest[0])
        if kind == "csr" and len(rest) == 4:
            return _matrix(rest[0], *(value(one) for one in rest[1:]))
        if kind not in ("array", "scalar") or len(rest) != 2:
            raise ValueError(f"{kind!r} is no kind of value")
        dtype, shape = _kind(rest[0]), tuple(_sizes(rest[1]))
        size = dtype.itemsize * math.prod(shape)
        if size > len(left):
            raise ValueError("an array is longer than what is written")
        found, left = np.frombuffer(left[:size], dtype).reshape(shape), left[size:]
        native = found.astype(dtype.newbyteorder("="))  # a copy, which may be changed
        return native[()] if kind == "scalar" else native

    found = value(told)
    if len(left):
        raise ValueError("more is written than its arrays take")
    return found


def _matrix(shape: Any, data: Any, indices: Any, indptr: Any) -> Any:
    n, d = _sizes(shape)
    matrix = sparse.csr_matrix((data, indices, indptr), shape=(n, d))
    matrix.check_format(full_check=True)
    return matrix


def _kind(name: Any) -> np.dtype[Any]:
    dtype = np.dtype(str(name))
    if dtype.kind not in "biufU" or dtype.itemsize == 0:
        raise ValueError(f"{name!r} is no kind of number")
    return dtype


def _sizes(shape: Any) -> Iterator[int]:
    for one in shape if isinstance(shape, list) else [shape]:
        if type(one) is not int or one < 0:
            raise ValueError(f"{one!r} is no size")
        yield one
