"""What `linsep doctor` says of a file: what may make a fit to it slow or suspicious."""

from __future__ import annotations

from typing import Any

from ..analysis.diagnosis import Diagnosis, diagnose
from ..data.encoding import MatrixEncoding
from .preparation import Examples


def diagnosis(examples: Examples, time_limit: float) -> Diagnosis:
    """Return the diagnosis of examples in the file's own numbers; one of `prepare(…, keep_frame=True)`."""
    encoding = examples.encoding
    known = None if examples.frame is None or isinstance(encoding, MatrixEncoding) else examples.file_rows
    told: dict[str, Any] = dict(feature_names=encoding.names, sources=encoding.origins, file_rows=known)
    return diagnose(examples.own_numbers(), examples.y, **told, numbers=examples.numbers, time_limit=time_limit)
