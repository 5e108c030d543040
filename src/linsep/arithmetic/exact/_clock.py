"""Limits of time and work (`Clock`), and what a check within them found (`Check`)."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import ClassVar


class ProofTimeoutError(TimeoutError):
    """The exact arithmetic was not done in the time, or with the work, allowed: nothing is proven either way."""


class Clock:
    """Time, or work, that is left; raises once there is none.

    Parameters
    ----------
    limit : float or None
        Seconds; None for no limit.
    budget : float or None
        Elementary operations, of which some 10⁹ take a second: the same on all machines, so that what is decided
        within them does not depend on how fast one is.

    Examples
    --------
    >>> Clock(None).check("the weights")
    >>> Clock(0.0).check("the weights")
    Traceback (most recent call last):
    ...
    linsep.arithmetic.exact._clock.ProofTimeoutError: undecided within time_limit=0 s, while ...
    """

    #: What any step costs at least, in elementary operations: about twenty microseconds' worth.
    STEP: ClassVar[float] = 2e4

    def __init__(self, limit: float | None, budget: float | None = None) -> None:
        if limit is not None and not limit >= 0:
            raise ValueError(f"time_limit={limit!r} must be a number of seconds, zero or more, or None for no limit")
        self.limit, self.end = limit, None if limit is None else time.monotonic() + limit
        self.budget, self.spent = budget, 0.0

    def left(self) -> float | None:
        """Return how many seconds are left, or None where there is no limit."""
        return None if self.end is None else max(0.0, self.end - time.monotonic())

    def check(self, what: str, work: float = 0.0) -> None:
        """Count some work; raise `ProofTimeoutError`, naming it, if that is too much or the time is up."""
        self.spent += self.STEP + work
        if self.budget is not None and self.spent > self.budget:
            raise ProofTimeoutError(f"undecided within {self.budget:.1g} operations, while working on {what}")
        if self.end is not None and time.monotonic() >= self.end:
            raise ProofTimeoutError(
                f"undecided within time_limit={self.limit:g} s, while working on {what}; raise time_limit, "
                "or use fewer columns: exact numbers grow with their count"
            )


@dataclass(frozen=True)
class Check:
    """What a check found: true or false, and why."""

    holds: bool
    reason: str

    def __bool__(self) -> bool:
        return self.holds
