"""The document that a model file holds: one JSON object, its sections, and what writing and reading both know of them.

A document has the sections of `SECTIONS`, each on a line of its own:

- ``format``, ``version``: what this is;
- ``estimator``: the class and its parameters (see `linsep.persistence.json_values`);
- ``classes``, ``features``: the labels with their type; how many columns, and their names;
- ``coefficients``, ``intercept``: one plane a row; very many of them are packed (see `linsep.persistence.planes`).
  Floats are written in their shortest decimal form, which Python (and every reader that rounds correctly) turns into
  the same 64 bits again;
- ``threshold``: the score from which on the second of two classes is predicted, if not above 0 (``threshold_``);
- ``calibration``: how scores become probabilities (``calibration_``), where those are not the loss's own;
- ``objective``: what was minimised, in words; ``fitted``: the other attributes of the fit;
- ``history``: how each run of a solver went: its name, why it was chosen, and at most `STEPS` of its steps (one in
  ``stride`` of those ``offered``, and the latest), a list for each number that was recorded, null where it was not.
  No seconds are among them, so that the same seed writes the same file;
- ``certificate``: what is proven, for `linsep.verify`;
- ``data``: a hash of the training data, where `save` was given them;
- ``encoding``: how a table becomes the columns of X, for whoever reads tables; any JSON object, kept as it is;
- ``seed``, ``versions``: how to fit again;
- ``digest``: the SHA-256 of all the rest. It tells accidents and edits by hand; whoever makes up a whole file can make
  up a digest too, and `linsep.verify` is what does not believe them.

Files of version 1 have no section ``history``, only the solver and the reason, under ``fitted``, and those of version 2
no packed coefficients, those of version 3 no ``calibration``; they are read too.

What speaks of single training rows stays behind: ``slack_``, ``support_``, ``support_vectors_``, ``dual_coef_``,
``update_counts_``, ``progress_``, and of ``history_`` the iterates and the examples that caused updates. The exceptions
are the voted perceptron, whose planes are sums of training rows, and the row numbers inside proofs.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from .._common.types import FloatArray
from ..history import COLUMNS

FORMAT, VERSION = "linsep model", 5

#: The versions that are read, and the sections that each does without.
LACKS: dict[int, set[str]] = {1: {"history", "calibration"}, 2: {"calibration"}, 3: {"calibration"}, 4: set(), 5: set()}

SECTIONS = (
    "format",
    "version",
    "estimator",
    "classes",
    "features",
    "coefficients",
    "intercept",
    "threshold",
    "calibration",
    "objective",
    "fitted",
    "history",
    "certificate",
    "data",
    "encoding",
    "seed",
    "versions",
    "digest",
)

#: What is kept of a step; the example that caused an update is a training row, and stays behind.
RECORDED = tuple(name for name in COLUMNS if name != "example")

#: Attributes that have a section of their own, or speak of single training rows.
ELSEWHERE = {
    "classes_",
    "coef_",
    "intercept_",
    "n_features_in_",
    "feature_names_in_",
    "objective_",
    "threshold_",
    "calibration_",
    "history_",
    "slack_",
    "support_",
    "support_vectors_",
    "dual_coef_",
    "update_counts_",
    "progress_",
}


class ModelFileError(ValueError):
    """A model file that cannot be written or read; the message says which, why, and what to do."""


def is_fitted_attribute(name: str) -> bool:
    """Whether the name is one of the public attributes that a fit sets, and that no other section has."""
    return name not in ELSEWHERE and re.fullmatch(r"[a-z][a-z0-9_]*_", name) is not None


def check_threshold(threshold: Any, classes: int) -> float | None:
    """Return where a score counts as positive."""
    if threshold is not None and classes > 2:
        raise ValueError(f"threshold={threshold!r} is for two classes; of {classes} the highest score is predicted")
    if threshold is None:
        return None
    if isinstance(threshold, bool) or not isinstance(threshold, int | float | np.number) or not np.isfinite(threshold):
        raise ValueError(f"threshold={threshold!r} must be a finite number")
    return float(threshold)


def check_planes(coef: Any, intercept: Any, classes: int, d: int) -> tuple[FloatArray, FloatArray]:
    """Return the planes, of the shapes that the classes and the columns ask for."""
    planes = 1 if classes == 2 else classes
    w, b = np.asarray(coef, dtype=np.float64), np.asarray(intercept, dtype=np.float64)
    if w.shape != (planes, d) or b.shape != (planes,):
        raise ValueError(
            f"{classes} classes and {d} columns need coefficients of shape ({planes}, {d}) and {planes} intercepts, "
            f"not {w.shape} and {b.shape}"
        )
    for name, values in (("coefficients", w), ("intercept", b)):
        if not np.isfinite(values).all():
            raise ValueError(f"the {name} have a value that is not a finite number: such a plane predicts nothing")
    return w, b


def in_one_line(value: Any) -> bytes:
    """Return a section as it stands in the file."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()


def digest(lines: Mapping[str, bytes | memoryview]) -> str:
    """Return what tells accidents and edits by hand."""
    found, sections = hashlib.sha256(), sorted(name for name in lines if name != "digest")
    for name in sections:
        found.update(f"{name} ".encode() if name == sections[0] else f"\n{name} ".encode())
        found.update(lines[name])
    return f"sha256:{found.hexdigest()}"


def joined(lines: Mapping[str, bytes]) -> bytes:
    """Return a file of these sections."""
    return b"{\n" + b",\n".join(b'"%b": %b' % (name.encode(), line) for name, line in lines.items()) + b"\n}\n"


def parted(content: bytes) -> dict[str, memoryview]:
    """Return the sections of a file as they stand in it, where it is as `joined` has it; nothing where it is not.

    Examples
    --------
    >>> {name: bytes(line) for name, line in parted(joined({"classes": b"[1,2]", "version": b"3"})).items()}
    {'classes': b'[1,2]', 'version': b'3'}
    >>> parted(b'{"version": 3}')
    {}
    """
    found: dict[str, memoryview] = {}
    if not (content.startswith(b"{\n") and content.endswith(b"\n}\n")):
        return found
    whole, start, last = memoryview(content), 2, len(content) - 3  # slices of it are no copies
    while start < last:
        end = content.find(b"\n", start)
        section = re.compile(rb'"([a-z]+)": ').match(content, start)
        name = "" if section is None else section[1].decode()
        if section is None or name in found or (end < last and content[end - 1] != ord(",")):
            return {}
        found[name] = whole[section.end() : end - (end < last)]
        start = end + 1
    return found
