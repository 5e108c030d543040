"""What a fit complains of: warnings that point at whoever called it, and warnings of some kinds as text."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

#: Whose frames lie between a fit and the line that called it: ours, and scikit-learn's, which serves its callbacks.
BETWEEN = ("linsep", "sklearn")


def warn(text: str, kind: type[Warning]) -> None:
    """Warn, and point at the line that called linsep, however deep within it this is said.

    Examples
    --------
    >>> with complaints(UserWarning) as said:
    ...     warn("too few steps", UserWarning)
    >>> said
    ['too few steps']
    """
    level, frame = 2, sys._getframe(1)
    while frame.f_back and frame.f_globals.get("__name__", "").partition(".")[0] in BETWEEN:
        level, frame = level + 1, frame.f_back
    warnings.warn(text, kind, stacklevel=level)


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
