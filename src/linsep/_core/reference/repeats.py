"""What occurs more than once: rows with the same label, and columns within a row."""

from __future__ import annotations

from typing import Any

from ..._types import IntArray
from ..formats import is_sparse


def group_rows(X: Any, codes: IntArray, group: IntArray, first: IntArray, threads: int) -> int:
    """Number the different pairs of row and code in the order in which they come; return how many there are.

    ``group[i]`` is the number of row i's pair, ``first[g]`` where pair g comes first. 0 where `first` has no room.
    """
    numbers: dict[tuple[Any, ...], int] = {}
    for i, code in enumerate(codes.tolist()):
        x = X[[i]]
        parts = (x.indices.tobytes(), x.data.tobytes()) if is_sparse(X) else (x.tobytes(),)
        pair = (code, *parts)
        if pair not in numbers:
            if len(numbers) == len(first):
                return 0
            numbers[pair] = len(numbers)
            first[numbers[pair]] = i
        group[i] = numbers[pair]
    return len(numbers)


def has_repeated_entries(X: Any, threads: int) -> bool:
    """Whether some row of a CSR array names a column twice."""
    tidy = X.copy()
    tidy.sum_duplicates()
    return bool(tidy.nnz < X.nnz)
