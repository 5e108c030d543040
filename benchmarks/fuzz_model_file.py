"""Fuzzing of model files: whatever the bytes, `linsep.verify` answers, or says that the file cannot be used.

    python benchmarks/fuzz_model_file.py [-runs=100000] [-max_total_time=60]    # options of libFuzzer

Coverage-guided by atheris, where that is installed (``pip install atheris``); without it, hypothesis draws the bytes.
The bytes choose an honest file, places in it and what is put there (other values, pieces of JSON, parts of the file
itself), so that coverage leads from one check to the next; all digests are made to fit again. One input in eight is
taken as the file itself. Only `ModelFileError` and a `Verification` are allowed.
"""

from __future__ import annotations

import os

for name in ("LINSEP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(name, "1")

import atexit  # noqa: E402
import json  # noqa: E402
import sys  # noqa: E402
import warnings  # noqa: E402
from contextlib import nullcontext  # noqa: E402
from functools import cache  # noqa: E402
from pathlib import Path  # noqa: E402
from typing import Any  # noqa: E402

import numpy as np  # noqa: E402

try:
    import atheris
except ImportError:
    atheris = None

# Coverage is told only of modules that are imported under its eyes.
with atheris.instrument_imports(["linsep"]) if atheris and __name__ == "__main__" else nullcontext():
    import linsep
    from linsep.certificates.outcome import Verification
    from linsep.exact import ProofTimeoutError
    from linsep.persistence.model_file import ModelFileError

from forging.honest import FAMILIES, Honest, folder, make  # noqa: E402
from forging.sealing import resealed, written  # noqa: E402
from forging.single_values import places_of  # noqa: E402

ROOM = folder()
atexit.register(ROOM.cleanup)

#: Values that readers stumble over.
VALUES: list[Any] = [
    None, True, False, 0, 1, -1, 2**63, 10**400, 0.0, -0.0, 1e308, 5e-324, 1e-300, "", "x", "balanced", "0/1", "1/0",
    "ff/1", [], {}, [[]], {"float": "nan"}, {"float": "inf"}, {"map": [[[], 1]]}, {"tuple": []},
    {"array": {"dtype": "float64", "shape": [0], "values": []}},
    {"array": {"dtype": "str", "shape": [1], "values": ["x"]}},
    {"object": {"class": "losses.Hinge", "settings": {}}}, {"object": {"class": "solvers.Newton", "settings": {}}},
]  # fmt: skip


@cache
def originals() -> list[Honest]:
    """Return honest models, some of each estimator."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = []
        for k, family in enumerate(list(FAMILIES) * 3):
            try:
                found.append(make(5000 + k, family, room=ROOM.name))
            except ArithmeticError:  # what a fit does wrong is the forger's to report
                continue
        return found


class Bytes:
    """Choices, made by bytes from the front; zeros when they have run out."""

    def __init__(self, content: bytes) -> None:
        self.content, self.at = content, 0

    def below(self, count: int) -> int:
        """Return a whole number from 0 to count − 1."""
        width = 1 if count <= 256 else 2
        part = self.content[self.at : self.at + width]
        self.at += width
        return int.from_bytes(part, "big") % max(1, count)

    def text(self) -> str:
        """Return some characters."""
        length = self.below(24)
        part = self.content[self.at : self.at + length]
        self.at += length
        return part.decode("utf-8", "replace")

    @property
    def left(self) -> bool:
        """Whether there are more."""
        return self.at < len(self.content)


def forged(content: bytes) -> tuple[bytes, Honest]:
    """Return the file that some bytes stand for, and the model that its data are of."""
    choose = Bytes(content)
    honest = originals()[choose.below(len(originals()))]
    if choose.below(8) == 0:
        return content[choose.at :], honest
    document = honest.document
    edits = 0
    while choose.left and edits < 4:
        _put(document, choose)
        edits += 1
    resealed(document)
    return written(document), honest


def _put(document: dict[str, Any], choose: Bytes) -> None:
    """Put something at a place."""
    names = [name for name in document if name != "digest"]
    if not names:
        return
    section = names[choose.below(len(names))]
    places = places_of(document[section], document, section)
    holder, key = places[choose.below(len(places))]
    kind = choose.below(6)
    if kind == 0:
        del holder[key]
    elif kind == 1:
        holder[key] = json.loads(json.dumps(VALUES[choose.below(len(VALUES))]))
    elif kind == 2:
        holder[key] = _parsed(choose.text())
    elif kind == 3:  # another part of the same file
        other, name = places[choose.below(len(places))]
        if name in other if isinstance(other, dict) else name < len(other):
            holder[key] = json.loads(json.dumps(other[name]))
    elif kind == 4 and isinstance(holder[key], int | float):
        holder[key] = holder[key] * [2, -1, 0.5, 1e300, 1e-300, 0][choose.below(6)]
    elif isinstance(holder, dict):
        holder[choose.text()] = holder[key]
    else:
        holder.append(holder[key])


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def target(content: bytes) -> None:
    """Raise where a file is answered by anything but an outcome, or an error that says the file cannot be used."""
    try:
        file, honest = forged(content)
    except (ValueError, OverflowError, RecursionError):
        return  # no file
    path = Path(ROOM.name) / "fuzzed.json"
    path.write_bytes(file)
    data = honest.data
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            outcome = linsep.verify(path, data.X, data.y, data.s, time_limit=5.0)
        except (ModelFileError, ProofTimeoutError):
            return
    assert isinstance(outcome, Verification)


def main() -> None:
    if atheris:
        originals()
        # Short inputs say much: few bytes are an edit.
        atheris.Setup([sys.argv[0], "-len_control=0", "-max_len=64", *sys.argv[1:]], target)
        atheris.Fuzz()
        return
    from hypothesis import given, settings
    from hypothesis import strategies as st

    print("atheris is not installed: hypothesis draws the bytes, without looking at coverage")
    settings(max_examples=20_000, deadline=None)(given(st.binary(max_size=200))(target))()


if __name__ == "__main__":
    main()
