"""Options that several commands share."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter, validators

from .._atomic_file import check_target

#: A file to read; - is standard input.
Source = Annotated[str, Parameter(allow_leading_hyphen=True)]
#: A file to write.
Output = Annotated[Path, Parameter(alias="-o")]
#: What many commands take, with the same words of help.
Training = Annotated[str, Parameter(allow_leading_hyphen=True, help="A file, as for `linsep fit`.")]
Target = Annotated[
    str | None, Parameter(help="The column to predict, by name or by number (1 the first, -1 the last).")
]
Labels = Annotated[
    str | None, Parameter(help="The column with the labels; without it the one that the model was trained on.")
]
Model = Annotated[Path, Parameter(help="A model that `linsep fit` wrote.")]
Tolerance = Annotated[float, Parameter(help="The relative duality gap to reach.")]
Seed = Annotated[int, Parameter(help="Of everything random.", validator=validators.Number(gte=0, lt=2**32))]
Scaling = Annotated[
    bool,
    Parameter(negative="--no-scaling", help="Whether numbers are standardised; --no-scaling takes the file's own."),
]
Intercept = Annotated[
    bool,
    Parameter(negative="--no-intercept", help="Whether the plane has an offset; else it goes through the origin."),
]
Json = Annotated[bool, Parameter(help="Print the outcome for a program instead.")]


@Parameter(name="*")
@dataclass(frozen=True)
class Reading:
    """How a file of separated values is written, where that shall not be guessed.

    Parameters
    ----------
    delimiter
        What separates the values; tab for a tab.
    header
        Whether the first line names the columns.
    encoding
        Of the text: utf-8, latin-1, cp1252, …
    missing
        Further words that stand for a missing value.
    """

    delimiter: str | None = None
    header: Annotated[bool | None, Parameter(negative="--no-header")] = None
    encoding: str = "utf-8"
    missing: tuple[str, ...] = ()

    def hints(self, as_text: frozenset[str] = frozenset()) -> Any:
        """Return what a reader is told of the file; the columns `as_text` are no numbers, whatever they look like."""
        from ..data.readers import Hints

        delimiter = {"tab": "\t", "\\t": "\t", "space": " "}.get(self.delimiter or "", self.delimiter)
        return Hints(delimiter, self.header, self.encoding, self.missing, as_text)


@Parameter(name="*")
@dataclass(frozen=True)
class Columns:
    """What columns are, where that shall not be inferred, and what becomes of them.

    Parameters
    ----------
    numeric
        Columns that are numbers.
    category
        Columns that are categories.
    date
        Columns that are dates.
    text
        Columns that are text.
    ignore
        Columns to leave out.
    degree
        2 adds squares and products of the numbers, 3 cubes, and so on.
    """

    numeric: tuple[str, ...] = ()
    category: tuple[str, ...] = ()
    date: tuple[str, ...] = ()
    text: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    degree: int = 1

    def kinds(self) -> dict[str, str]:
        """Return what the user says that columns are; lists may be separated by commas too."""
        said: dict[str, str] = {}
        asked = dict(number=self.numeric, category=self.category, date=self.date, text=self.text, ignored=self.ignore)
        for kind, names in asked.items():
            for name in (part.strip() for word in names for part in word.split(",")):
                if said.setdefault(name, kind) != kind:
                    raise ValueError(f"column {name!r} cannot be {said[name]} and {kind} at once")
        return said

    def asked(self, reading: Reading) -> dict[str, Any]:
        """Return how a file is to be read and encoded, as `prepare` takes it."""
        kinds = self.kinds()
        as_text = frozenset(name for name, kind in kinds.items() if kind != "number")
        return dict(hints=reading.hints(as_text), kinds=kinds, degree=self.degree)


READING, COLUMNS = Reading(), Columns()


def ready(output: Path | None, *read: str | Path | None) -> None:
    """Raise where a result could not be written, or in the place of what is read: before the work, not after it."""
    if output is not None:
        check_target(output, *read)
