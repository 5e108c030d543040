"""What `linsep doctor` says of a file: what may make a fit to it slow or suspicious."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from .._common.words import phrase
from ..analysis.diagnosis import Diagnosis, diagnose
from ..analysis.suspects import NAMED, Suspect
from ..data.encoding import MatrixEncoding
from ..data.encoding.column_types import ONE_VALUE
from ..data.sources import DataError
from .preparation import Encoding, Examples


def diagnosis(examples: Examples, time_limit: float, odd: Iterable[DataError] = ()) -> Diagnosis:
    """Return the diagnosis of examples in the file's own numbers; one of `prepare(…, keep_frame=True, odd=odd)`."""
    encoding = examples.encoding
    known = None if examples.frame is None or isinstance(encoding, MatrixEncoding) else examples.file_rows
    told: dict[str, Any] = dict(feature_names=encoding.names, sources=encoding.origins, file_rows=known)
    found = diagnose(examples.own_numbers(), examples.y, **told, numbers=examples.numbers, time_limit=time_limit)
    unread = [Suspect("not understood", f"{one}; set aside here", (str(one.column),)) for one in odd]
    of_rows = (one for one in found if not _is_a_dates_own(one, encoding))
    return replace(found, findings=[*unread, *_constant(encoding), *of_rows])


def _is_a_dates_own(found: Suspect, encoding: Encoding) -> bool:
    """Whether it is that days are counted from 1970: every date is far off, and every fit of a table centres it."""
    if isinstance(encoding, MatrixEncoding) or found.kind != "far off":
        return False
    dates = {column.name for column in encoding.columns if column.kind == "date"}
    origins = dict(zip(encoding.names, encoding.origins, strict=True))
    return all(origins[name] in dates for name in found.columns)


def _constant(encoding: Encoding) -> Iterator[Suspect]:
    """Yield columns of a table that have one value: an encoding has set them aside already."""
    columns = () if isinstance(encoding, MatrixEncoding) else encoding.columns
    if names := [column.name for column in columns if column.note == ONE_VALUE]:
        have, they = ("has", "it is") if len(names) == 1 else ("have", "they are")
        some = phrase([repr(name) for name in names], NAMED)
        yield Suspect("constant", f"{some} {have} the same value in every row: {they} set aside", tuple(names))
