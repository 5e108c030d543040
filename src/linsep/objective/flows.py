"""Flows between classes: what is taken away so that as much leaves every class as comes into it."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

#: What flows from each class to each: floats, or whole numbers without rounding.
Flow = list[list[Any]]


def balanced_flow(flow: Flow) -> Flow:
    """Return flows no larger than these, with as much out of every class as into it; of whole numbers exactly.

    What a class gives too much is taken from the flows on the way to one that gets too much. Where there is no such
    way, something is left over.

    Examples
    --------
    >>> balanced_flow([[0, 5, 0], [0, 0, 4], [3, 0, 0]])
    [[0, 3, 0], [0, 0, 3], [3, 0, 0]]
    """
    K, left = len(flow), [list(row) for row in flow]
    surplus = [sum(left[k]) - sum(row[k] for row in left) for k in range(K)]
    for k in range(K):
        while surplus[k] > 0 and (path := _way_out(left, surplus, k)):
            steps = list(pairwise(path))
            taken = min(surplus[k], -surplus[path[-1]], *(left[i][j] for i, j in steps))
            for i, j in steps:
                left[i][j] -= taken
            surplus[k] -= taken
            surplus[path[-1]] += taken
    return left


def is_balanced(flow: Flow) -> bool:
    """Whether as much leaves every class as comes into it."""
    return all(sum(flow[k]) == sum(row[k] for row in flow) for k in range(len(flow)))


def _way_out(flow: Flow, surplus: list[Any], first: int) -> list[int]:
    """Return the shortest way along flows from a class that gives too much to one that gets too much; or nothing.

    Classes in a row, as those of a digitised number, have flows between neighbours only.
    """
    ways: list[list[int]] = [[first]]
    seen = {first}
    for way in ways:  # which grows
        for m, amount in enumerate(flow[way[-1]]):
            if amount > 0 and m not in seen:
                if surplus[m] < 0:
                    return [*way, m]
                seen.add(m)
                ways.append([*way, m])
    return []
