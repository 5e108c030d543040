"""The history's old address; it lives in `linsep.history`, which loads no solver."""

from ..history import COLUMNS, History, Record

__all__ = ["COLUMNS", "History", "Record"]
