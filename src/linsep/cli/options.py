"""Options that several commands share."""

from __future__ import annotations

import os
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import Parameter, validators

from .._common.atomic_file import check_target

#: A file to read; - is standard input.
Source = Annotated[str, Parameter(allow_leading_hyphen=True)]
#: A file to write.
Output = Annotated[Path, Parameter(alias="-o")]
#: What many commands take, with the same words of help.
Training = Annotated[str, Parameter(allow_leading_hyphen=True, help="A file, as for `linsep fit`.")]
Target = Annotated[
    str | None, Parameter(alias="-t", help="The column to predict, by name or by number (1 the first, -1 the last).")
]
Labels = Annotated[
    str | None,
    Parameter(alias="-t", help="The column with the labels; without it the one that the model was trained on."),
]
#: Several words after one option, up to the next.
Several = Annotated[tuple[str, ...], Parameter(consume_multiple=True)]
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
        Further words that stand for a missing value, one or several.
    decimal
        What sets decimals apart: a point or a comma.
    sheet
        Of a workbook, by name or by number; without it the first.
    max_columns
        How many columns a table may have.
    """

    delimiter: str | None = None
    header: Annotated[bool | None, Parameter(negative="--no-header")] = None
    encoding: str = "utf-8"
    missing: Several = ()
    decimal: Literal[".", ","] | None = None
    sheet: str | None = None
    max_columns: Annotated[int, Parameter(validator=validators.Number(gte=1))] = 50_000

    def hints(self) -> Any:
        """Return what a reader is told of the file."""
        from ..data.readers import Hints

        delimiter = {"tab": "\t", "\\t": "\t", "space": " "}.get(self.delimiter or "", self.delimiter)
        said = (self.header, self.encoding, self.missing, self.decimal, self.sheet, self.max_columns)
        return Hints(delimiter, *said)


@Parameter(name="*")
@dataclass(frozen=True)
class Columns:
    """What columns are, where that shall not be inferred, and what becomes of them.

    Parameters
    ----------
    numeric
        Columns that are numbers, one or several: --numeric age income.
    category
        Columns that are categories, also where they are written as numbers.
    date
        Columns that are dates.
    day_first
        Columns of dates such as 03/04/2021 that begin with the day.
    month_first
        Columns of dates such as 03/04/2021 that begin with the month.
    text
        Columns that are text.
    ignore
        Columns to leave out.
    degree
        2 adds squares and products of the numbers, 3 cubes, and so on.
    """

    numeric: Several = ()
    category: Several = ()
    date: Several = ()
    day_first: Several = ()
    month_first: Several = ()
    text: Several = ()
    ignore: Several = ()
    degree: int = 1

    def kinds(self) -> dict[str, str]:
        """Return what the user says that columns are, by the words that name them."""
        said: dict[str, str] = {}
        asked = dict(number=self.numeric, category=self.category, date=self.date, text=self.text, ignored=self.ignore)
        for kind, words in (asked | {"date dmy": self.day_first, "date mdy": self.month_first}).items():
            for word in words:
                if said.setdefault(word, kind) != kind:
                    raise ValueError(f"column {word!r} cannot be {said[word]} and {kind} at once")
        return said

    def asked(self, reading: Reading) -> dict[str, Any]:
        """Return how a file is to be read and encoded, as `prepare` takes it."""
        return dict(hints=reading.hints(), kinds=self.kinds(), degree=self.degree)


@Parameter(name="*")
@dataclass(frozen=True)
class Grouped:
    """Rows that stand for several trials each.

    Parameters
    ----------
    successes
        Instead of a target: the column with the number of successes among the trials that a row stands for.
    trials
        The column with the number of these trials.
    """

    successes: str | None = None
    trials: str | None = None

    def weighing(self) -> Any:
        """Return how much rows count."""
        from ..workflows.weighing import Weighing

        return Weighing(successes=self.successes, trials=self.trials)


READING, COLUMNS, GROUPED = Reading(), Columns(), Grouped()


def ready(output: Path | None, *read: str | Path | None) -> None:
    """Raise where a result could not be written, or in the place of what is read: before the work, not after it."""
    if output is not None:
        check_target(output, *read)


def placed(output: Path | None, usual: str, *read: str | Path | None) -> Path:
    """Return where a page goes: as `ready` where that was asked for, else a name that replaces no file.

    Examples
    --------
    >>> str(placed(None, "a page that nobody has.html"))
    'a page that nobody has.html'
    """
    if output is None:
        stem, ending = os.path.splitext(usual)
        names = (usual if number == 1 else f"{stem}-{number}{ending}" for number in count(1))
        output = next(path for path in map(Path, names) if not os.path.lexists(path))
    ready(output, *read)
    return output


@Parameter(name="*")
@dataclass(frozen=True)
class Cluster:
    """Where workers read the data, a partition a file.

    Parameters
    ----------
    dask
        Work on a cluster of Dask: the address of its scheduler, tcp://host:8786, or local for processes of this
        machine. DATA are Parquet or Arrow files that its workers can read: a file, a folder, or a pattern such as
        'data/*.parquet'.
    spark
        Work on Spark: its master, spark://host:7077, yarn, or 'local[*]' for this machine; DATA as with --dask.
    """

    dask: str | None = None
    spark: str | None = None

    def __bool__(self) -> bool:
        return self.dask is not None or self.spark is not None

    def check(self, refused: dict[str, Any], checkpoint: Path | None = None) -> None:
        """Raise for what a cluster cannot serve: options, and what makes each of them more than its default."""
        if checkpoint is not None and not self:
            raise ValueError("--checkpoint would be ignored: it belongs to --dask and --spark")
        if self.dask is not None and self.spark is not None:
            raise ValueError("give one of --dask and --spark")
        for option, given in refused.items():
            if self and given not in (None, False):
                raise ValueError(f"{option} is not served on a cluster: leave it out, or leave out --dask and --spark")

    def session(self) -> Any:
        """Return the cluster, to be entered."""
        from ..cluster import sessions

        return sessions.on_dask(self.dask) if self.dask is not None else sessions.on_spark(self.spark or "")


CLUSTER = Cluster()
