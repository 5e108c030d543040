"""Sums in a fixed order: a balanced binary tree over the partitions, whoever adds up which part of it.

A node (level, i) is the sum of the partitions from i·2ˡ up to, not including, (i + 1)·2ˡ. Whoever holds both halves of
a node may add them; so the bits of the root depend on the partitions alone, not on workers, how many and how fast.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..objective.examples import Several

#: Sums of subtrees, by (level, i).
Nodes = dict[tuple[int, int], Any]


def added(a: Any, b: Any) -> Any:
    """Return a + b, neither of them changed; None is the sum of nothing.

    Examples
    --------
    >>> added(Several((1.0, 2.0)), Several((3.0, 4.0))), added(None, 5)
    ((4.0, 6.0), 5)
    """
    if a is None or b is None:
        return b if a is None else a
    if isinstance(a, Several):
        return type(a)(added(x, y) for x, y in zip(a, b, strict=True))
    return a + b


def merged(*some: Mapping[tuple[int, int], Any], leaves: int) -> Nodes:
    """Return the nodes of a tree over so many leaves, every two halves of a node that are there added up.

    Examples
    --------
    >>> left, right = merged({(0, 0): "a"}, {(0, 1): "b"}, leaves=3), {(0, 2): "c"}
    >>> left, merged(right, left, leaves=3)
    ({(1, 0): 'ab'}, {(2, 0): 'abc'})
    """
    found: Nodes = {}
    for nodes in some:
        for (level, i), value in nodes.items():
            while 1 << level < leaves:
                if (i ^ 1) << level >= leaves:  # the other half has no leaf
                    level, i = level + 1, i >> 1
                    continue
                if (level, i ^ 1) not in found:
                    break
                other = found.pop((level, i ^ 1))
                value = added(other, value) if i & 1 else added(value, other)
                level, i = level + 1, i >> 1
            found[level, i] = value
    return found


def root(nodes: Nodes) -> Any:
    """Return the sum of all leaves, once every one of them is in it."""
    ((_, value),) = nodes.items()
    return value
