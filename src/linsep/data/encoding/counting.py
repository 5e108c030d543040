"""Sums over blocks of rows: different values, means and deviations, words; in room that does not grow with the rows."""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import NDArray

from ..._common.types import FloatArray
from ..sources import DataError
from .column_types import FEW
from .fitting import Standard, mean_and_squares, scale_of

#: A sketch of different values has so many bits; beyond as many values it would be full.
BITS = 1 << 25
#: What a value and its count take in memory, about, beside the value's own characters.
ENTRY = 160
#: What counts as a word: as scikit-learn's vectorizers have it.
WORD = re.compile(r"\b\w\w+\b")


class Sketch:
    """About how many different values there were: bits set at their hashes (linear counting, Whang et al. 1990)."""

    def __init__(self) -> None:
        self._bits = np.zeros(BITS // 8, dtype=np.uint8)

    def add(self, hashes: NDArray[np.uint64]) -> None:
        """Look at the next values, by hashes of them."""
        places = mixed(hashes) % np.uint64(BITS)
        np.bitwise_or.at(self._bits, (places >> np.uint64(3)).astype(np.int64), _BIT[(places & np.uint64(7))])

    def merge(self, other: Sketch) -> None:
        """Look at the values that another one has seen, too."""
        self._bits |= other._bits

    def count(self) -> float:
        """Return the estimate: −m log(share of bits that are not set)."""
        empty = BITS - int.from_bytes(self._bits.tobytes(), "little").bit_count()
        return float(-BITS * np.log(max(empty, 1) / BITS))


_BIT = (1 << np.arange(8)).astype(np.uint8)


def mixed(values: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return numbers that look random but follow from the values (SplitMix64's finish)."""
    x = values + np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(x ^ (x >> np.uint64(31)))


class Different:
    """About how many different values there were: exactly while they are few, which takes no room to speak of."""

    def __init__(self) -> None:
        self._few: list[NDArray[np.uint64]] | None = []
        self._sketch: Sketch | None = None

    def add(self, hashes: NDArray[np.uint64]) -> None:
        """Look at the next values, by hashes of them."""
        if self._few is not None:
            self._few.append(hashes)
            if sum(map(len, self._few)) < 100_000:
                return
            self._sketch, hashes, self._few = Sketch(), np.concatenate(self._few), None
        assert self._sketch is not None
        self._sketch.add(hashes)

    def merge(self, other: Different) -> None:
        """Look at the values that another one has seen, too."""
        for hashes in other._few or ():
            self.add(hashes)
        if other._sketch is not None:
            if self._sketch is None:
                self._sketch, few, self._few = Sketch(), self._few or [], None
                for hashes in few:
                    self._sketch.add(hashes)
            self._sketch.merge(other._sketch)

    def count(self) -> float:
        """Return about how many different values there were."""
        if self._sketch is not None:
            return self._sketch.count()
        return float(len(np.unique(np.concatenate(self._few)))) if self._few else 0.0


class Moments:
    """Mean and deviation of numbers, those that are missing left out.

    As scikit-learn's `StandardScaler.partial_fit` has them: the squared deviations of two parts from their own means
    and those of the means from the common one add up (Chan, Golub and LeVeque 1983).
    """

    def __init__(self) -> None:
        self.rows, self.n, self.mean, self._squares = 0, 0, 0.0, 0.0

    def add(self, values: FloatArray) -> None:
        """Look at the next numbers."""
        self.rows += len(values)
        with np.errstate(over="ignore"):
            given = values[~np.isnan(values)] if np.isnan(values.sum()) else values
        if len(given):
            self._join(len(given), *mean_and_squares(given))

    def merge(self, other: Moments) -> None:
        """Go on with the numbers that another one has seen."""
        self.rows += other.rows
        if other.n:
            self._join(other.n, other.mean, other._squares)

    def _join(self, n: int, mean: float, squares: float) -> None:
        before, total = self.n, self.n + n
        if before:
            apart = self.mean - mean
            squares += self._squares + before * n / total * (apart * apart)
            mean = (before * self.mean + n * mean) / total
        self.n, self.mean, self._squares = total, mean, squares

    def state(self, name: str) -> Standard:
        """Return the mean, the deviation (1 where it is no more than rounding), and whether some are missing."""
        if not self.n:
            raise DataError(f"column {name!r} has no numbers; leave it out with --ignore {name!r}", name)
        if not np.isfinite(self._squares):
            raise DataError(
                f"column {name!r} has numbers that are too large to be squared; divide them, or say --missing with the "
                "number if it stands for a missing value",
                name,
            )
        return Standard(self.mean, scale_of(self.n, self.mean, self._squares), self.n < self.rows, self.mean)


class Words:
    """In how many rows each word of a column of text occurs."""

    def __init__(self, name: str, room: int) -> None:
        self.name, self.room, self.rows, self.taken = name, room, 0, 0
        self.counts: dict[str, int] = {}

    def add(self, texts: list[str]) -> None:
        """Look at the next rows."""
        self.rows += len(texts)
        counts = self.counts
        for text in texts:
            for word in set(WORD.findall(text.lower())):
                counts[word] = counts.get(word, 0) + 1
        self.taken = ENTRY * len(counts)

    def merge(self, other: Words) -> None:
        """Go on with the rows that another one has seen."""
        self.rows += other.rows
        for word, count in other.counts.items():
            self.counts[word] = self.counts.get(word, 0) + count
        self.taken = ENTRY * len(self.counts)

    def vocabulary(self) -> tuple[list[str], list[float]] | None:
        """Return the words and their idf, log((1 + n)/(1 + rows with it)) + 1; None where no word occurs twice."""
        if self.taken > self.room:
            raise DataError(
                f"column {self.name!r} has {len(self.counts):,} different words, too many for {self.room / 1e6:,.0f} "
                f"MB; say --ignore {self.name!r}, or raise --max-memory"
            )
        least = 2 if self.rows > FEW else 1
        words = sorted(word for word, count in self.counts.items() if count >= least)
        if not words:
            return None
        rows = np.array([self.counts[word] for word in words], dtype=np.float64)
        idf = np.log((1.0 + self.rows) / (1.0 + rows)) + 1.0
        return words, idf.tolist()
