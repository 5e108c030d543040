"""What a fit complains of: warnings of some kinds as text, all others as they are."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def complaints(*kinds: type[Warning], repeated: bool = False) -> Iterator[list[str]]:
    """Yield a list that has, in the end, what warnings of these kinds said; others (or all, `repeated`) are passed on.

    Examples
    --------
    >>> with complaints(UserWarning) as said:
    ...     warnings.warn("too few steps", UserWarning)
    >>> said
    ['too few steps']
    """
    said: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield said
    for one in caught:
        if issubclass(one.category, kinds):
            said.append(str(one.message))
        if repeated or not issubclass(one.category, kinds):
            warnings.warn_explicit(one.message, one.category, one.filename, one.lineno)
