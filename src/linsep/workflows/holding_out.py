"""Test rows held out of a fit: chosen at random within each class, remembered by the model, and measured on."""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _reading as reading
from .._types import BoolArray
from .._words import phrase
from ..certificates.data_hash import data_hash, differs
from ..certificates.outcome import Verification
from ..data.encoding import MatrixEncoding
from ..data.sources import DataError
from .preparation import Examples
from .weighing import Weighing

#: Where a model file has it, beside the encoding.
SECTION = "test_rows"


@dataclass(frozen=True)
class Split:
    """Which rows of a file are test rows.

    Attributes
    ----------
    share : float
        What was asked for.
    seed : int
    test : array of bool
        One for each row that has a label.

    Examples
    --------
    >>> split = Split.choose(np.array(["no", "no", "no", "no", "yes", "yes"]), 0.5, seed=0)
    >>> int(split.test[:4].sum()), int(split.test[4:].sum())
    (2, 1)
    >>> bool((Split.from_dict(split.to_dict()).test == split.test).all())
    True
    """

    share: float
    seed: int
    test: BoolArray

    @classmethod
    def choose(cls, y: NDArray[Any], share: float, seed: int) -> Split:
        """Return a split with that share of each class as test rows, rounded; each class keeps a row to learn from."""
        if not 0 < share < 1:
            raise DataError(f"--test-share {share:g} is not possible; give a share of the rows, such as 0.2")
        rng, test = np.random.default_rng(seed), np.zeros(len(y), dtype=bool)
        for label in np.unique(y):
            rows = np.flatnonzero(y == label)
            count = min(len(rows) - 1, round(share * len(rows)))
            test[rows[np.argsort(rng.random(len(rows)), kind="stable")[:count]]] = True
        if not test.any():
            raise DataError(
                f"--test-share {share:g} of {len(y):,} rows leaves none to test on; give more rows or a larger share"
            )
        return cls(share, seed, test)

    def is_of(self, found: Any, examples: Examples) -> bool:
        """Whether these are the rows that were split: so many, and those that are no test rows are those of the fit."""
        if found.data is None or len(self.test) != len(examples.y):
            return False
        fitted = some(examples, ~self.test)
        rows = data_hash(fitted.X, fitted.y)
        return all(found.data[name] == rows[name] for name in ("rows", "columns", "X", "y"))

    def sentence(self, name: str) -> str:
        """Say which rows were measured on."""
        rows = f"the {self.test.sum():,} test rows of {name} (--test-share {self.share:g})"
        return f"They are {rows}, which the fit did not see."

    def to_dict(self) -> dict[str, Any]:
        """Return it in terms of JSON, eight rows a byte."""
        packed = b64encode(np.packbits(self.test).tobytes()).decode()
        return {"share": self.share, "seed": self.seed, "rows": len(self.test), "packed": packed}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Split:
        """Read what `to_dict` wrote."""
        try:
            n, packed = reading.count(data, "rows"), b64decode(reading.text(data, "packed"), validate=True)
            bits = np.unpackbits(np.frombuffer(packed, dtype=np.uint8))
            if not n <= len(bits) < n + 8:
                raise ValueError(f"{len(bits)} bits for {n} rows")
            return cls(float(data["share"]), reading.count(data, "seed"), bits[:n].astype(bool))
        except (KeyError, TypeError, ValueError, AttributeError, reading.ClaimError) as error:
            raise DataError(
                f"what the model's file says of its test rows is damaged ({error}); fit it again"
            ) from error


def split_of(found: Any) -> Split | None:
    """Return the split that a model file remembers."""
    said = (found.encoding or {}).get(SECTION)
    return None if said is None else Split.from_dict(said)


def weighing_of(found: Any, target: str | None) -> Weighing:
    """Return how rows to measure a model on are read: as those of the fit, where its test rows may be among them."""
    if split_of(found) is None:
        return Weighing.of_grouped(found.encoding, target)
    return Weighing.of_model(found.encoding)


def rows_of_fit(found: Any, examples: Examples) -> Examples:
    """Return the rows that a model was fitted on, where these are those it was fitted on and its test rows."""
    split = split_of(found)
    if split is None or len(split.test) != len(examples.y):
        return examples
    return some(examples, ~split.test)


def of_rows_of_fit(outcome: Verification, left_out: int) -> Verification:
    """Return the outcome for a file of which so many rows are test rows: what is found is about the others."""
    if not left_out:
        return outcome
    return replace(outcome, reason=f"{outcome.reason}; {left_out:,} test rows, no part of the fit, were left out")


def unseen_rows(found: Any, examples: Examples) -> tuple[Examples, list[str]]:
    """Return the rows to measure a model on, and what is to be said of them: of the file of its fit, the test rows."""
    split = split_of(found)
    if split is not None and split.is_of(found, examples):
        sentence = f"{examples.name} has the rows of the fit; it is measured on the {split.test.sum():,} others"
        return some(examples, split.test), [f"{sentence}, its test rows (--test-share {split.share:g})"]
    if found.data is not None and not are_others(found.data, examples):
        return examples, [
            "the model was fitted on these very rows: expect worse on others (`fit --test-share` keeps some)"
        ]
    return examples, []


def are_others(data: Mapping[str, Any], rows: Examples) -> bool:
    """Whether rows are others than those of a fit, however often each was counted."""
    return bool(differs(dict(data) | {"sample_weight": None}, data_hash(rows.X, rows.y)))


def hold_out(examples: Examples, share: float, seed: int, *, scaled: bool) -> tuple[Examples, Examples, Split]:
    """Return training and test rows, both encoded by what the training rows alone show, and the split."""
    if examples.weight is not None and examples.weighing.sample_weight is None:
        counted = phrase(list(examples.weighing.columns.values()))
        raise DataError(
            f"--test-share splits rows, and by {counted} a row stands for several: write these out, a row each, or "
            "split the file before"
        )
    split = Split.choose(examples.y, share, seed)
    train, test = some(examples, ~split.test), some(examples, split.test)
    if isinstance(examples.encoding, MatrixEncoding):
        return train, test, split
    encoding = examples.encoding.refit(train.frame)
    encoding = encoding if scaled else encoding.unscaled()
    train, test = (replace(one, X=encoding.transform(one.frame, one.name), encoding=encoding) for one in (train, test))
    return train, test, split


def some(examples: Examples, rows: BoolArray) -> Examples:
    """Return some of the examples."""
    frame = None if examples.frame is None else examples.frame.filter(rows)
    weight = None if examples.weight is None else examples.weight[rows]
    numbers = examples.file_numbers()[rows]
    parts: dict[str, Any] = dict(X=examples.X[rows], y=examples.y[rows], weight=weight, numbers=numbers)
    return replace(examples, frame=frame, **parts)
