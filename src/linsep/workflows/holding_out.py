"""Test rows held out of a fit: drawn at random within each class, remembered by the model, and measured on."""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._common import reading
from .._common.types import BoolArray, IntArray
from .._common.words import many, phrase
from ..certificates.data_hash import data_hash, differs
from ..certificates.outcome import Verification
from ..data.encoding.counting import mixed
from ..data.sources import DataError
from .preparation import Examples
from .weighing import Weighing

#: Where a model file has it, beside the encoding.
SECTION = "test_rows"
#: How the rows were drawn, for whoever reads the file.
DRAWN = "by the seed, one in each 1/share rows of a class that follow each other; its first is a training row"


@dataclass(frozen=True)
class Split:
    """Which rows of a file are test rows.

    Examples
    --------
    >>> split = Split.choose(np.array(["no", "no", "no", "no", "yes", "yes"]), 0.5, seed=0)
    >>> int(split.test[:4].sum()), int(split.test[4:].sum())
    (2, 1)
    >>> Split.from_dict(split.to_dict()) == split
    True
    """

    share: float  # what was asked for
    seed: int
    rows: int  # how many have a label
    packed: bytes  # a bit for each of them, set for test rows

    @classmethod
    def choose(cls, y: NDArray[Any], share: float, seed: int) -> Split:
        """Return the split of rows with these labels: see `Drawing`."""
        drawing = Drawing(share, seed)
        drawing.take(np.unique(y, return_inverse=True)[1].reshape(-1))
        return drawing.split()

    @cached_property
    def test(self) -> BoolArray:
        """Whether each row is a test row."""
        return np.unpackbits(np.frombuffer(self.packed, dtype=np.uint8), count=self.rows).astype(bool)

    @cached_property
    def count(self) -> int:
        """How many test rows there are."""
        return int.from_bytes(self.packed, "little").bit_count()

    def is_of(self, found: Any, examples: Examples) -> bool:
        """Whether these are the rows that were split: so many, and those that are no test rows are those of the fit."""
        if found.data is None or self.rows != len(examples.y):
            return False
        fitted = some(examples, ~self.test)
        rows = data_hash(fitted.X, fitted.y)
        return all(found.data[name] == rows[name] for name in ("rows", "columns", "X", "y"))

    def sentence(self, name: str) -> str:
        """Say which rows were measured on."""
        rows = f"the {many(self.count, 'test row')} of {name} (--test-share {self.share:g})"
        return f"{'This is' if self.count == 1 else 'They are'} {rows}, which the fit did not see."

    def to_dict(self) -> dict[str, Any]:
        """Return it in terms of JSON, eight rows a byte."""
        packed = b64encode(self.packed).decode()
        return {"share": self.share, "seed": self.seed, "drawn": DRAWN, "rows": self.rows, "packed": packed}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Split:
        """Read what `to_dict` wrote."""
        try:
            n, packed = reading.count(data, "rows"), b64decode(reading.text(data, "packed"), validate=True)
            if not n <= 8 * len(packed) < n + 8:
                raise ValueError(f"{8 * len(packed)} bits for {n} rows")
            if n % 8 and packed[-1] & (0xFF >> n % 8):
                raise ValueError(f"more test rows than {n} rows")
            return cls(float(data["share"]), reading.count(data, "seed"), n, packed)
        except (KeyError, TypeError, ValueError, AttributeError, reading.ClaimError) as error:
            raise DataError(
                f"what the model's file says of its test rows is damaged ({error}); fit it again"
            ) from error


class Drawing:
    """Test rows drawn within each class while its rows go by, a block at a time or all at once: the same come out.

    Stratified sampling: of each 1/share rows of a class that follow each other one is a test row (of a share above one
    half, one of each 1/(1 − share) is none). Which one follows from the seed, the class and the place, so that nobody
    needs to know how many rows there are, and a class of n rows has its share · n, rounded down or up. Its first row is
    a training row, and so no class is without one.

    Examples
    --------
    >>> y = np.arange(60) % 3
    >>> whole, parts = Drawing(0.2, seed=7), Drawing(0.2, seed=7)
    >>> together = np.concatenate([parts.take(y[:31]), parts.take(y[31:])])
    >>> bool((whole.take(y) == together).all()), int(together.sum())
    (True, 12)
    """

    def __init__(self, share: float, seed: int) -> None:
        if not 0 < share < 1:
            raise DataError(f"--test-share {share:g} is not possible; give a share of the rows, such as 0.2")
        self.share, self.seed, self.rows = share, seed, 0
        self._seen: dict[int, int] = {}  # rows of each class so far, in the order in which the classes came
        self._packed, self._rest = bytearray(), np.zeros(0, dtype=bool)

    def take(self, codes: IntArray) -> BoolArray:
        """Return which of the next rows, of these classes, are test rows."""
        classes, firsts, which, counts = np.unique(codes, return_index=True, return_inverse=True, return_counts=True)
        for code in classes[np.argsort(firsts)].tolist():
            self._seen.setdefault(code, 0)
        before = np.array([self._seen[code] for code in classes.tolist()], dtype=np.int64)
        numbers = {code: k for k, code in enumerate(self._seen)}
        number = np.array([numbers[code] for code in classes.tolist()], dtype=np.uint64)
        place = np.empty(len(codes), dtype=np.int64)  # of each row among those of its class
        place[np.argsort(which, kind="stable")] = np.arange(len(codes)) - np.repeat(np.cumsum(counts) - counts, counts)
        test = self._drawn(number[which], place + before[which])
        self._seen |= dict(zip(classes.tolist(), (before + counts).tolist(), strict=True))
        self._keep(test)
        return test

    def _drawn(self, number: NDArray[np.uint64], place: IntArray) -> BoolArray:
        """Return whether rows are test rows, by their class and their place among its rows."""
        rare = min(self.share, 1 - self.share)

        def start(group: IntArray) -> IntArray:
            return np.ceil(group / rare).astype(np.int64)

        group = (place * rare).astype(np.int64)
        group += (place >= start(group + 1)).astype(np.int64) - (place < start(group))  # where the product was rounded
        first, size = start(group), start(group + 1) - start(group)
        seed = np.full(1, self.seed % 2**64, dtype=np.uint64)
        chance = mixed(mixed(mixed(seed) + number) + group.astype(np.uint64))
        if self.share <= 0.5:
            kept = (group == 0).astype(np.int64)  # the first row of a class is no test row
            return np.asarray(place == first + kept + (chance % (size - kept).astype(np.uint64)).astype(np.int64))
        drawn = np.where(group == 0, 0, (chance % size.astype(np.uint64)).astype(np.int64))
        return np.asarray(place != first + drawn)

    def _keep(self, test: BoolArray) -> None:
        bits = np.concatenate([self._rest, test])
        whole = len(bits) - len(bits) % 8
        self._packed += np.packbits(bits[:whole]).tobytes()
        self._rest, self.rows = bits[whole:], self.rows + len(test)

    def split(self) -> Split:
        """Return which of all rows so far are test rows; raise where none is."""
        found = Split(self.share, self.seed, self.rows, bytes(self._packed) + np.packbits(self._rest).tobytes())
        if not found.count:
            raise DataError(
                f"--test-share {self.share:g} of {self.rows:,} rows leaves none to test on; give more rows or a larger "
                "share"
            )
        return found


def split_of(found: Any) -> Split | None:
    """Return the split that a model file remembers."""
    said = (found.encoding or {}).get(SECTION)
    return None if said is None else Split.from_dict(said)


def weighing_of(found: Any, target: str | None) -> Weighing:
    """Return how rows to measure a model on are read: as those of the fit, where its test rows may be among them."""
    if split_of(found) is None:
        return Weighing.of_others(found.encoding, target)
    return Weighing.of_model(found.encoding)


def rows_of_fit(found: Any, examples: Examples) -> Examples:
    """Return the rows that a model was fitted on, where these are those it was fitted on and its test rows."""
    split = split_of(found)
    if split is None or split.rows != len(examples.y):
        return examples
    return some(examples, ~split.test)


def of_rows_of_fit(outcome: Verification, left_out: int) -> Verification:
    """Return the outcome for a file of which so many rows are test rows: what is found is about the others."""
    if not left_out:
        return outcome
    rows = f"{many(left_out, 'test row')}, no part of the fit, {'was' if left_out == 1 else 'were'} left out"
    return replace(outcome, reason=f"{outcome.reason}; {rows}")


def unseen_rows(found: Any, examples: Examples) -> tuple[Examples, list[str]]:
    """Return the rows to measure a model on, and what is to be said of them: of the file of its fit, the test rows."""
    split = split_of(found)
    if split is not None and split.is_of(found, examples):
        sentence = f"{examples.name} has the rows of the fit; it is measured on the {split.count:,} others"
        return some(examples, split.test), [f"{sentence}, its test rows (--test-share {split.share:g})"]
    if found.data is not None and not are_others(found.data, examples):
        return examples, [
            "the model was fitted on these very rows: expect worse on others (`fit --test-share` keeps some)"
        ]
    return examples, []


def are_others(data: Mapping[str, Any], rows: Examples) -> bool:
    """Whether rows are others than those of a fit, however often each was counted."""
    return bool(differs(dict(data) | {"sample_weight": None}, data_hash(rows.X, rows.y, like=data)))


def check_weighing(weighing: Weighing) -> None:
    """Raise where a row of the file stands for several, which a split of rows would not part."""
    if weighing and weighing.sample_weight is None:
        counted = phrase(list(weighing.columns.values()))
        raise DataError(
            f"--test-share splits rows, and by {counted} a row stands for several: write these out, a row each, or "
            "split the file before"
        )


def training_rows(share: float, seed: int) -> Callable[[NDArray[Any]], BoolArray]:
    """Return what tells by their labels which rows are to be learned from."""
    return lambda y: ~Split.choose(y, share, seed).test


def hold_out(examples: Examples, share: float, seed: int) -> tuple[Examples, Examples, Split]:
    """Return training and test rows, and the split; `prepare` has encoded them as the `training_rows` ask for."""
    check_weighing(examples.weighing)
    split = Split.choose(examples.y, share, seed)
    return some(examples, ~split.test), some(examples, split.test), split


def some(examples: Examples, rows: BoolArray) -> Examples:
    """Return some of the examples."""
    frame = None if examples.frame is None else examples.frame.filter(rows)
    weight = None if examples.weight is None else examples.weight[rows]
    numbers = examples.file_numbers()[rows]
    parts: dict[str, Any] = dict(X=examples.X[rows], y=examples.y[rows], weight=weight, numbers=numbers)
    return replace(examples, frame=frame, **parts)
