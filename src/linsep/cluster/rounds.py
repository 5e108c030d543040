"""What a fit on a cluster took: one record a round, that is a task on every partition and the sum of what it gave."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._core import is_sparse


@dataclass(frozen=True)
class Round:
    """One round.

    Attributes
    ----------
    what : str
        The task.
    seconds : float
        From when it was sent to when the sum was here; 0 of a round that a checkpoint knew.
    sent, received : int
        Bytes from the client, once for every task, and to it.
    """

    what: str
    seconds: float
    sent: int
    received: int


def size_of(value: Any) -> int:
    """Return about how many bytes a sum takes.

    Examples
    --------
    >>> size_of((1.0, np.zeros(3)))
    32
    """
    if isinstance(value, np.ndarray):
        return int(value.nbytes)
    if is_sparse(value):
        return int(value.data.nbytes + value.indices.nbytes + value.indptr.nbytes)
    return sum(map(size_of, value)) if isinstance(value, tuple | list) else 8
