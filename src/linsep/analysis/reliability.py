"""Whether probabilities mean what they say: how often what is said with some probability comes true."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from .._common.types import BoolArray, FloatArray
from .intervals import wilson

#: Probabilities are put together by tenths.
BINS = 10
#: Probabilities that are off by less than this, in the mean over the rows, are not worth another fit.
WORTH = 0.01
#: What makes better probabilities, by how those were learned that are off.
BETTER = {
    "": "linsep fit --calibrate sigmoid (or isotonic) learns better ones from rows such as these",
    "sigmoid": "they are by --calibrate sigmoid; isotonic follows scores more closely, given rows such as these",
    "isotonic": (
        "they are by --calibrate isotonic: it followed the rows of the fit too closely, which sigmoid does less, or "
        "these rows are unlike those; then fit with such as these"
    ),
    "base rates": "they are for the base rates that --base-rates said, which these rows may not have",
}


@dataclass(frozen=True)
class Bin:
    """Rows whose probability lies in the same tenth: how many, what was said on average, and how often it came true.

    The intervals of all bins hold together with 95 %.
    """

    count: int
    said: float
    came_true: float
    low: float
    high: float

    @property
    def is_off(self) -> bool:
        """Whether what was said is outside the interval of what came true."""
        return not self.low <= self.said <= self.high

    @property
    def digits(self) -> int:
        """How many decimals to print, so that what is off is seen to be."""
        enough = (d for d in range(4, 17) if not round(self.low, d) <= round(self.said, d) <= round(self.high, d))
        return next(enough, 16) if self.is_off else 4


@dataclass(frozen=True)
class Reliability:
    """How often what was said came true.

    Attributes
    ----------
    of : label or None
        The class whose probability it is; None for the likeliest one of each row, with more than two classes.
    bins : list of Bin
        Those that have rows.
    mean_gap : float
        The mean over the rows of the distance between what is said and what came true, bin by bin.
    method : str
        How the model's probabilities were learned, if they were: see `Calibration.method`; "base rates" where they are
        for other rows than those of the fit.
    """

    of: object
    bins: list[Bin]
    mean_gap: float
    method: str = ""

    @property
    def is_off(self) -> bool:
        """Whether probabilities are off, by more than chance and by enough to matter."""
        return self.mean_gap > WORTH and any(one.is_off for one in self.bins)

    @property
    def advice(self) -> str:
        """Say what is off and what to do about it; nothing where nothing is."""
        if not self.is_off:
            return ""
        worst = max((one for one in self.bins if one.is_off), key=lambda one: one.count * abs(one.said - one.came_true))
        what = "the likeliest class" if self.of is None else str(self.of)
        said, true, low, high = (
            f"{number:.{worst.digits}f}" for number in (worst.said, worst.came_true, worst.low, worst.high)
        )
        return (
            f"probabilities are off by {self.mean_gap:.3f} on average: where {what} is said with {said}, it is true "
            f"of {true} [{low}, {high}] of {worst.count:,} rows; {BETTER.get(self.method, BETTER[''])}"
        )


def reliability(
    said: FloatArray, came: BoolArray, weight: FloatArray, of: object = None, method: str = ""
) -> Reliability:
    """Compare probabilities with what came true.

    Parameters
    ----------
    said : array of shape (n,)
        With which probability something was said of each row.
    came : array of bool
        Whether it was true.
    weight : array
        How much each row counts.
    of : label, optional
        What was said, where that is always the same.
    method : str, default=""
        How the probabilities were learned, if they were.

    Examples
    --------
    >>> found = reliability(np.full(100, 0.9), np.arange(100) < 50, np.ones(100))
    >>> found.is_off, round(found.mean_gap, 3)
    (True, 0.4)
    """
    place = np.minimum((said * BINS).astype(np.int64), BINS - 1)
    counts = np.bincount(place, minlength=BINS)
    each = weight, weight**2, weight * said, weight * came
    total, squares, sums, hits = (np.bincount(place, weights=values, minlength=BINS) for values in each)
    some = total > 0
    mean, share = sums[some] / total[some], hits[some] / total[some]
    # All intervals at once (Bonferroni); within a bin probabilities differ, which only makes shares vary less.
    z = float(ndtri(1 - 0.025 / max(1, some.sum())))
    low, high = wilson(share, total[some] ** 2 / squares[some], z)
    bins = [Bin(int(n), *map(float, four)) for n, *four in zip(counts[some], mean, share, low, high, strict=True)]
    return Reliability(of, bins, float(total[some] @ np.abs(mean - share) / total.sum()), method)
