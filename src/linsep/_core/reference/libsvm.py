"""LIBSVM text, parsed into the three arrays of a CSR matrix."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from numpy.typing import NDArray


class LibsvmText:
    """LIBSVM text, "label index:value …" a line, parsed into the three arrays of a CSR matrix.

    Attributes
    ----------
    lines, colons : int
        How much room to make: there are no more rows and entries than these.
    n, stored : int
        Rows and entries, once it is parsed; so are the following.
    lowest, highest : int
        Column numbers as written; `highest` is −1 where there are none.
    fault, place : int
        What is wrong, 0 for nothing (1 label, 2 index, 3 colon, 4 value, 5 order, 6 range), and at which byte.

    Examples
    --------
    >>> text = LibsvmText(np.frombuffer(b"+1 1:0.5 3:2 # a comment", dtype=np.uint8), 1)
    >>> labels, values = np.empty(text.lines), np.empty(text.colons)
    >>> columns, start = np.empty(text.colons, np.int32), np.empty(text.lines + 1, np.int32)
    >>> text.parse(labels, values, columns, start)
    >>> text.n, text.stored, text.lowest, text.highest, text.fault
    (1, 2, 1, 3, 0)
    >>> values, columns, start
    (array([0.5, 2. ]), array([1, 3], dtype=int32), array([0, 2], dtype=int32))
    """

    LABEL, INDEX, COLON, VALUE, ORDER, RANGE = range(1, 7)

    def __init__(self, text: NDArray[np.uint8], threads: int) -> None:
        self._text = text.tobytes()
        self.lines = self._text.count(b"\n") + bool(self._text and self._text[-1:] != b"\n")
        self.colons = self._text.count(b":")
        self.n, self.stored = 0, 0
        self.lowest, self.highest, self.fault, self.place = 2**63 - 1, -1, 0, 0
        self._labels: list[float] = []
        self._values: list[float] = []
        self._columns: list[int] = []
        self._start = [0]

    def parse(self, labels: Any, values: Any, columns: Any, start: Any) -> None:
        """Fill the arrays from their beginning: columns as they are numbered in the text, `start` of every row."""
        begin = 0
        for line in self._text.split(b"\n"):
            self._read_line(line, begin)
            begin += len(line) + 1
            if self.fault:
                return
        self.n, self.stored = len(self._labels), len(self._values)
        labels[: self.n], values[: self.stored] = self._labels, self._values
        columns[: self.stored], start[: self.n + 1] = self._columns, self._start

    def _read_line(self, line: bytes, begin: int) -> None:
        tokens = [(found.group(), begin + found.start()) for found in re.finditer(rb"\S+", line.partition(b"#")[0])]
        if not tokens:
            return
        label = _finite(tokens[0][0])
        if label is None:
            self.fault, self.place = self.LABEL, tokens[0][1]
            return
        before = -1
        for token, place in tokens[1:]:
            if token.startswith(b"qid:") and len(token) > 4:
                continue
            index, colon, value = re.fullmatch(rb"([0-9]*)(:?)(.*)", token, re.DOTALL).groups()  # type: ignore[union-attr]
            number = _finite(value)
            self.fault = self._fault(index, colon, number, before)
            if self.fault:
                self.place = place
                return
            if before < 0:
                self.lowest = min(self.lowest, int(index))
            before = int(index)
            self._columns.append(before)
            self._values.append(number)  # type: ignore[arg-type]
        self.highest = max(self.highest, before)
        self._labels.append(label)
        self._start.append(len(self._columns))

    def _fault(self, index: bytes, colon: bytes, number: float | None, before: int) -> int:
        if not index:
            return self.INDEX
        if not colon or len(index) > 12:
            return self.COLON
        if int(index) >= 2**31 - 1:
            return self.RANGE
        if int(index) <= before:
            return self.ORDER
        return self.VALUE if number is None else 0


def _finite(token: bytes) -> float | None:
    """Return the number in plain decimal or scientific notation, or None if it is none or not finite."""
    if not re.fullmatch(rb"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?", token):
        return None
    value = float(token)
    return value if np.isfinite(value) else None
