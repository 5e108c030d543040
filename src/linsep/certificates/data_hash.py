"""A hash of training data: the same for the same numbers, however they are stored."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from .._common.labels import coded
from .._common.types import FloatArray, IntArray
from .._common.words import many
from .._core import helpers, is_sparse, threads
from ..arithmetic.blocked import BlockedMatrix
from ..objective.statement import plain
from .training_data import read_data

#: How many numbers of X are hashed in one go.
CHUNK = 2**17


def data_hash(
    X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None, like: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Return the sizes and the SHA-256 of X, of y and of the weights.

    Dense or sparse, float32 or float64, with or without stored zeros: the same numbers have the same hash. Weights that
    are all one are the same as none. Rows that were hashed part by part, on several machines, are hashed in the parts
    that the hash to compare with names, `like`.

    Examples
    --------
    >>> one, other = data_hash([[0.0, 1.0]], ["a"]), data_hash(sparse.csr_matrix([[0.0, 1.0]]), ["a"])
    >>> one == other, differs(one, data_hash([[0.0, 2.0]], ["a"]))
    (True, 'the rows are not those of the fit: their hash differs')
    """
    X, labels, s = read_data(X, y, sample_weight)
    rows, (different, codes) = RowsHash(), coded(labels)
    if like is not None and sum(parts := like.get("parts") or ()) == len(codes) > 0:
        return _in_parts(X, different, codes, s, parts)
    for block in (block for _, block in X.blocks(CHUNK)) if isinstance(X, BlockedMatrix) else [X]:
        rows.add(block)
    return {
        "rows": int(X.shape[0]),
        "columns": int(X.shape[1]),
        "X": rows.digest(),
        "y": hash_of_codes(different, [codes]),
        "sample_weight": None if s is None else hash_of_weights([s]),
    }


def _in_parts(
    X: Any, classes: NDArray[Any], codes: IntArray, s: FloatArray | None, parts: Sequence[int]
) -> dict[str, Any]:
    """Return the hash of rows that are hashed so many at a time."""
    blocks, each, first = X.blocks(CHUNK) if isinstance(X, BlockedMatrix) else iter([(slice(0, len(codes)), X)]), [], 0
    here, block = next(blocks)
    for size in parts:
        rows, at, end = RowsHash(), first, first + size
        while at < end:
            if at == here.stop:
                here, block = next(blocks)
            until = min(end, here.stop)
            rows.add(block[at - here.start : until - here.start])
            at = until
        each.append(PartHash.of(rows, classes, codes[first:end], None if s is None else s[first:end]))
        first = end
    return joined(each, int(X.shape[1]))


@dataclass(frozen=True)
class PartHash:
    """The hash of some rows that follow each other, their labels and weights."""

    n: int
    X: str
    y: str
    weight: str | None

    @classmethod
    def of(cls, rows: RowsHash, classes: ArrayLike, codes: IntArray, weight: FloatArray | None) -> Self:
        """Return that of rows with these codes among the classes of all."""
        of_weights = None if weight is None else hash_of_weights([weight])
        return cls(len(codes), rows.digest(), hash_of_codes(classes, [codes]), of_weights)


def joined(parts: Sequence[PartHash], columns: int) -> dict[str, Any]:
    """Return the hash of all rows, as `data_hash` has it, from those of their parts; parts without rows go unsaid.

    Examples
    --------
    >>> X, rows = np.eye(2), [RowsHash(), RowsHash()]
    >>> for one, x in zip(rows, X, strict=True):
    ...     one.add(x[None, :])
    >>> parts = [PartHash.of(one, ["a", "b"], np.array([k]), None) for k, one in enumerate(rows)]
    >>> data_hash(X, ["a", "b"], like=joined(parts, 2)) == joined(parts, 2)
    True
    """
    filled = [part for part in parts if part.n]

    def together(hashes: list[str | None]) -> str:
        return hashlib.sha256(json.dumps(hashes).encode()).hexdigest()

    weights = [part.weight for part in filled]
    return {
        "rows": sum(part.n for part in filled),
        "columns": columns,
        "X": together([part.X for part in filled]),
        "y": together([part.y for part in filled]),
        "sample_weight": together(weights) if any(weights) else None,
        "parts": [part.n for part in filled],
    }


def differs(said: Mapping[str, Any], found: Mapping[str, Any]) -> str:
    """Return in what the data found are not those that were hashed, or nothing."""
    if (said["rows"], said["columns"]) != (found["rows"], found["columns"]):
        had = f"the fit had {said['rows']:,} of {said['columns']:,}"
        return f"the data have {many(found['rows'], 'row')} of {many(found['columns'], 'column')}, {had}"
    for name, words in (("X", "rows"), ("y", "labels"), ("sample_weight", "weights of the examples")):
        if said[name] != found[name]:
            return f"the {words} are not those of the fit: their hash differs"
    return ""


def hash_of_weights(weights: Iterable[FloatArray]) -> str | None:
    """Return the hash of weights, some at a time; None where all are one."""
    found, plain_ones = hashlib.sha256(), True
    for part in weights:
        found.update(np.ascontiguousarray(part, dtype="<f8").data)
        plain_ones = plain_ones and bool((part == 1.0).all())
    return None if plain_ones else found.hexdigest()


class RowsHash:
    """The hash of X, from its rows some at a time.

    It is one of the lengths of the rows, their columns and their values, the zeros left out. The columns of a row
    without zeros go without saying.

    Examples
    --------
    >>> X, rows = np.array([[0.0, 1.0], [2.0, 3.0]]), RowsHash()
    >>> for row in X:
    ...     rows.add(row[None, :])
    >>> rows.digest() == data_hash(X, [0, 1])["X"]
    True
    """

    def __init__(self) -> None:
        self._lengths, self._columns, self._values = hashlib.sha256(), hashlib.sha256(), hashlib.sha256()

    def add(self, X: Any) -> None:
        """Go on with the next rows."""
        if X.shape[0] * X.shape[1] <= CHUNK:  # not worth a thread, for which there may be no memory
            for counts, j, x in _parts(X):
                _update(self._lengths, counts, "<i8")
                _update(self._columns, j, "<i8")
                _update(self._values, x, "<f8")
            return
        # Two threads, because hashing lets go of the interpreter; each takes the parts in their order.
        with helpers(1) as one, helpers(1) as two:
            other = two if threads() > 1 else one
            before: list[Future[None]] = []
            for counts, j, x in _parts(X):
                _update(self._lengths, counts, "<i8")
                for task in before:  # no more than one part waits
                    task.result()
                before = [one.submit(_update, self._columns, j, "<i8"), other.submit(_update, self._values, x, "<f8")]
            for task in before:
                task.result()

    def digest(self) -> str:
        """Return the hash of all rows so far."""
        parts = self._lengths.digest() + self._columns.digest() + self._values.digest()
        return hashlib.sha256(parts).hexdigest()


def _update(digest: Any, numbers: NDArray[Any], dtype: str) -> None:
    for first in range(0, len(numbers), CHUNK):
        digest.update(np.ascontiguousarray(numbers[first : first + CHUNK], dtype=dtype))


def _parts(X: Any) -> Iterator[tuple[NDArray[Any], NDArray[Any], NDArray[Any]]]:
    """Yield how many entries each row has that are not zero, their columns and their values, some rows at a time."""
    if is_sparse(X):
        if not (X.has_canonical_format and X.data.all()):
            X = sparse.csr_matrix(X, dtype=np.float64, copy=True)
            X.sum_duplicates()
            X.eliminate_zeros()
        counts = np.diff(X.indptr)
        full = counts == X.shape[1]
        yield counts, X.indices[np.repeat(~full, counts)] if full.any() else X.indices, X.data
        return
    n, d = X.shape
    size = max(1, CHUNK // max(1, d))
    for first in range(0, n, size):
        rows = X[first : first + size]
        filled = rows != 0
        counts = filled.sum(axis=1)
        if (counts == d).all():
            yield counts, np.empty(0), rows.reshape(-1)
        else:
            yield counts, np.nonzero(filled[counts < d])[1], rows[filled]


def hash_of_codes(classes: ArrayLike, codes: Iterable[IntArray]) -> str:
    """Return the hash of labels, given as places among the classes, which are in order; some at a time."""
    # 1, 1.0 and True are the same label.
    names = [name if isinstance(name, str) else float(name) for name in map(plain, np.asarray(classes).tolist())]
    found = hashlib.sha256(json.dumps(names).encode())
    for part in codes:
        found.update(np.ascontiguousarray(part, dtype="<i8").data)
    return found.hexdigest()
