"""Workbooks of Excel and LibreOffice: one sheet, as a table of named columns."""

from __future__ import annotations

import io
import warnings
import zipfile
from collections.abc import Sequence
from contextlib import suppress
from datetime import date, datetime, time
from typing import Any

import pyarrow as pa

from .csv_text import MISSING, has_header
from .room import check_room
from .sources import DataError, Source


def read_excel(
    source: Source, sheet: str | None = None, header: bool | None = None, missing: Sequence[str] = ()
) -> tuple[pa.Table, bool]:
    """Return a sheet, the first unless another is named, and whether its first row names the columns.

    Raises
    ------
    DataError
        Where there is no such sheet, or nothing in it.
    ModuleNotFoundError
        Where `python-calamine` is not installed, which the extra ``excel`` brings.
    """
    from python_calamine import CalamineError, CalamineWorkbook

    try:
        content = io.BytesIO(source.buffer())
        with suppress(zipfile.BadZipFile), zipfile.ZipFile(content) as archive:  # workbooks of old are none
            check_room(source.name, sum(part.file_size for part in archive.infolist()), "what it unpacks to")
        content.seek(0)
        book = CalamineWorkbook.from_filelike(content)
        cells = book.get_sheet_by_name(_sheet(source.name, book.sheet_names, sheet)).to_python()
    except (CalamineError, NotImplementedError) as error:  # the latter of an archive that Python does not know
        raise DataError(f"{source.name}: not a readable workbook ({error}); save it again, or as CSV") from error
    rows = [row for row in cells if any(cell != "" for cell in row)]
    if not rows:
        raise DataError(f"{source.name}: the sheet is empty; name another: --sheet, of {', '.join(book.sheet_names)}")
    if header is None:
        header = has_header([[_text(cell) for cell in row] for row in rows[:1000]])
    names = [_text(cell) if header and cell != "" else f"column_{j + 1}" for j, cell in enumerate(rows[0])]
    rows = rows[header:]
    if not rows:
        raise DataError(f"{source.name}: no rows below the header; if the first row is data, say --no-header")
    words = {*MISSING, *missing}
    return pa.Table.from_arrays([_column(list(cells), words) for cells in zip(*rows, strict=True)], names=names), header


def _sheet(file: str, names: Sequence[str], asked: str | None) -> str:
    if not names:
        raise DataError(f"{file}: the workbook has no sheet; save it again, or as CSV")
    if asked is None:
        if len(names) > 1:
            others = ", ".join(map(repr, names[1:]))
            warnings.warn(
                f"{file}: its first sheet, {names[0]!r}, is read; --sheet names another: {others}", stacklevel=3
            )
        return names[0]
    if asked in names:
        return asked
    if asked.isdecimal() and 1 <= int(asked) <= len(names):
        return names[int(asked) - 1]
    raise DataError(f"{file}: no sheet {asked!r}; it has {', '.join(names)}")


def _column(cells: list[Any], missing: set[str]) -> pa.Array:
    """Return cells of one kind as what they are, of several as text, as a CSV file would have them."""
    cells = [None if isinstance(cell, str) and cell.strip() in missing else cell for cell in cells]
    kinds = {type(cell) for cell in cells if cell is not None}
    if kinds == {bool}:
        return pa.array(cells, pa.bool_())
    if kinds and kinds <= {int, float}:
        if all(cell is None or (float(cell).is_integer() and abs(cell) < 2**53) for cell in cells):
            cells = [None if cell is None else int(cell) for cell in cells]  # a workbook has but floats
            return pa.array(cells, pa.int64())
        return pa.array(cells, pa.float64())
    if kinds and kinds <= {date, datetime}:
        days = [datetime.combine(cell, time()) if type(cell) is date else cell for cell in cells]
        return pa.array(days, pa.timestamp("ms"))
    return pa.array([None if cell is None else _text(cell) for cell in cells], pa.string())


def _text(cell: Any) -> str:
    return str(int(cell)) if isinstance(cell, float) and cell.is_integer() else str(cell)
