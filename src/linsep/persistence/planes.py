"""Planes in a model file: rows of numbers that a person can read, or packed where they are very many.

Up to `READABLE` coefficients stand as one list a plane. More of them would take twenty bytes and a call of a parser
each; they are an object instead, whose bytes a program reads as they are:

    {"shape": [K, d], "values": "…"}                                every number, plane by plane
    {"shape": [K, d], "ends": […], "columns": "…", "values": "…"}   those that are not zero, and the column of each;
                                                                    plane k ends before number ends[k]

The texts are base64 (RFC 4648) of little-endian numbers: 64-bit floats, and 32-bit unsigned columns, which grow within
a plane.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .._common import reading
from .._common.types import FloatArray

#: Coefficients up to which they are written as numbers.
READABLE = 10_000


def written(W: FloatArray) -> Any:
    """Return coefficients in terms of JSON, bit for bit.

    Examples
    --------
    >>> written(np.array([[0.1, 0.0]]))
    [[0.1, 0.0]]
    >>> written(np.eye(2, 9000))
    {'shape': [2, 9000], 'ends': [1, 2], 'columns': 'AAAAAAEAAAA=', 'values': 'AAAAAAAA8D8AAAAAAADwPw=='}
    """
    if W.size <= READABLE:
        return W.tolist()
    W = np.ascontiguousarray(W, dtype="<f8")
    planes, columns = np.nonzero(W.view("<u8"))  # by their bits: −0.0 is not left out
    if 3 * len(columns) > 2 * W.size:
        return {"shape": list(W.shape), "values": reading.packed(W, "<f8")}
    ends = np.cumsum(np.bincount(planes, minlength=len(W)))
    indices = reading.packed(columns, "<u4")
    return {
        "shape": list(W.shape),
        "ends": ends.tolist(),
        "columns": indices,
        "values": reading.packed(W[planes, columns], "<f8"),
    }


def read(section: Any, d: int) -> FloatArray:
    """Return coefficients of so many columns from what `written` gives; raise `ValueError` for anything else."""
    if isinstance(section, list):
        return np.array([numbers(row) for row in section], dtype=np.float64)
    if not isinstance(section, dict) or set(section) not in (
        {"shape", "values"},
        {"shape", "ends", "columns", "values"},
    ):
        raise ValueError("a list of numbers, or shape, values and perhaps ends and columns, was expected")
    shape, values = tuple(reading.items(section, "shape", reading.count)), reading.unpacked(section, "values", "<f8")
    if len(shape) != 2 or shape[1] != d:  # before room is made for what a file makes up
        raise ValueError(f"{d} columns need coefficients of shape (…, {d}), not {shape}")
    if "ends" not in section:
        return values.reshape(shape).astype(np.float64)
    ends, columns = (
        reading.items(section, "ends", reading.count),
        reading.unpacked(section, "columns", "<u4").astype(np.int64),
    )
    bounds = [0, *ends]
    if len(ends) != shape[0] or bounds != sorted(bounds) or not len(columns) == len(values) == bounds[-1]:
        raise ValueError("the planes of its coefficients do not end where its numbers do")
    place = columns + d * np.repeat(np.arange(shape[0]), np.diff(bounds))
    if (columns >= d).any() or (np.diff(place) <= 0).any():
        raise ValueError(f"the columns of a plane must grow, below {d}")
    W = np.zeros(shape)
    W.ravel()[place] = values
    return W


def numbers(values: Any) -> list[float]:
    """Return a list of numbers; raise for anything else among them."""
    if not isinstance(values, list):
        raise ValueError("a list of numbers was expected")
    for value in values:
        if type(value) not in (int, float):
            raise ValueError(f"{value!r} is no number")
    return values
