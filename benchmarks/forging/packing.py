"""The coefficients of a model file as numbers, whether they stand there as numbers or packed, and packed ones."""

from __future__ import annotations

import base64
from typing import Any

import numpy as np

__all__ = ["coefficients", "packed"]


def coefficients(document: dict[str, Any]) -> np.ndarray:
    """Return one plane a row."""
    said = document["coefficients"]
    if not isinstance(said, dict):
        return np.array(said, dtype=float)
    values = np.frombuffer(base64.b64decode(said["values"]), dtype="<f8").astype(float)
    if "columns" not in said:
        return values.reshape(said["shape"])
    W, columns, start = np.zeros(said["shape"]), np.frombuffer(base64.b64decode(said["columns"]), dtype="<u4"), 0
    if len(said["ends"]) != len(W) or (columns >= W.shape[1]).any():
        raise ValueError("planes that end elsewhere")
    for w, end in zip(W, said["ends"], strict=True):
        w[columns[start:end]], start = values[start:end], end
    return W


def packed(W: np.ndarray, *, sparse: bool) -> dict[str, Any]:
    """Return the planes as a file has very many of them."""
    said: dict[str, Any] = {"shape": list(W.shape)}
    if not sparse:
        return said | {"values": _text(W.astype("<f8"))}
    there = W != 0
    columns = [np.flatnonzero(row) for row in there]
    ends = np.cumsum([len(row) for row in columns]).tolist()
    return said | {
        "ends": ends,
        "columns": _text(np.concatenate(columns).astype("<u4")),
        "values": _text(W[there].astype("<f8")),
    }


def _text(values: np.ndarray) -> str:
    return base64.b64encode(values.tobytes()).decode("ascii")
