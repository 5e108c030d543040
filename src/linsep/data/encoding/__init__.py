"""From the columns of a file to features and back: column types, encodings, and readable names."""

from collections.abc import Mapping
from typing import Any

from ..sources import DataError
from .column_types import Column
from .fitting import MISSING, OTHER, level_called, spellings
from .matrix import MatrixEncoding, Scaled
from .notation import MONTHS, WORD, group_marks, moment_pattern, number_pattern
from .statistics import TableStatistics
from .table import TableEncoding
from .tallies import Circumstances, infer
from .values import EXAMPLES, is_number

__all__ = [
    "EXAMPLES",
    "MISSING",
    "MONTHS",
    "OTHER",
    "WORD",
    "Circumstances",
    "Column",
    "MatrixEncoding",
    "Scaled",
    "TableEncoding",
    "TableStatistics",
    "from_dict",
    "group_marks",
    "infer",
    "is_number",
    "level_called",
    "moment_pattern",
    "number_pattern",
    "spellings",
]


def from_dict(data: Mapping[str, Any] | None, features: int | None = None) -> TableEncoding | MatrixEncoding:
    """Return the encoding that a model file holds, of a model of so many features.

    Raises
    ------
    DataError
        Where there is none, or one that this version does not know, or one of another number of features.
    """
    if data is None:
        raise DataError("the model was not fitted on a file: use linsep.load and its predict in Python")
    kinds: dict[Any, Any] = {"table": TableEncoding, "matrix": MatrixEncoding}
    kind = data.get("kind")
    if not isinstance(kind, str) or kind not in kinds:
        raise DataError(f"the model's encoding is of the kind {kind!r}, which this linsep does not know; upgrade it")
    found: TableEncoding | MatrixEncoding = kinds[kind].from_dict(data)
    if features is not None and found.n_features != features:
        many = f"{found.n_features:,} features, its planes {features:,}"
        raise DataError(f"the model's encoding is damaged: it has {many}; fit the model again")
    return found
