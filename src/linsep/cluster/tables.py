"""Tables in partitions: their columns encoded as on one machine, by statistics that are merged across the partitions.

Three rounds tell how columns become features: what types they have, what the first values of text look like, and what
is counted of all rows. Then each partition is encoded where it is. An engine gives `Tables`.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from .._common.types import FloatArray
from ..data.encoding import Circumstances, Column, TableEncoding, TableStatistics
from ..data.encoding.tallies import SAMPLE, decoded
from ..data.naming import roles
from ..data.readers import Table
from ..data.sources import BadValueError, DataError, of_file
from ..objective.examples import Pieces
from .examples import Engine
from .fitting import PartitionError, as_part
from .parts import Part, Summary

#: Bytes that the different values of a column may take at the client.
ROOM = 256 * 2**20


@dataclass(frozen=True)
class Piece:
    """A partition of a table: what it is called, the columns that are features, the labels, and weights or None.

    Statistics may be counted over other rows than those that are fitted: `counted` are each row once, and each as often
    as it counts. `rows` are how many lack a label, and how many of a file are used.
    """

    name: str
    frame: pa.Table
    y: NDArray[Any]
    weight: FloatArray | None = None
    counted: tuple[pa.Table, pa.Table | None] | None = None
    rows: tuple[int, int] = (0, 0)

    @property
    def seen(self) -> tuple[pa.Table, pa.Table | None]:
        """The rows that tell how columns are encoded: each once, and as often as it counts where that is not once."""
        return (self.frame, None) if self.counted is None else self.counted


class Tables(Protocol):
    """Partitions of a table where they are."""

    @property
    def name(self) -> str:
        """What users call the engine."""
        ...

    def ask(self, task: Callable[[int, Piece], Any]) -> Any:
        """Return the sum of what a task gives of every partition, in the order of the tree."""
        ...

    def parts(self, make: Recipe) -> tuple[Engine, list[Summary]]:
        """Let the workers make examples of every partition; return them, and what is to be said of each."""
        ...


@dataclass(frozen=True)
class Recipe:
    """How partitions become examples: the encoding, and the types of all partitions' columns."""

    encoding: TableEncoding
    schema: pa.Schema

    def unscaled(self) -> Recipe:
        """Return the same with numbers as they are."""
        return replace(self, encoding=self.encoding.unscaled())

    def __call__(self, k: int, piece: Piece) -> Part:
        """Return partition k as a fit takes it."""
        table = _table(k, piece, piece.frame, self.schema)
        try:
            with table.blaming():
                X = transformed(self.encoding, table.frame, piece.name)
        except DataError as error:
            raise PartitionError(str(error)) from None
        return as_part(k, X, piece.y, piece.weight)


def transformed(encoding: TableEncoding, frame: pa.Table, name: str) -> Any:
    """Return a table's rows as features; a partition may have none."""
    return encoding.transform(frame, name) if frame.num_rows else np.empty((0, len(encoding.names)))


def encode(
    tables: Tables, *, kinds: Mapping[str, str] | None = None, around: Circumstances | None = None, **kept: Any
) -> Recipe:
    """Return the encoding that all partitions together ask for.

    Parameters
    ----------
    tables : Tables
    kinds : mapping, optional
        What the user says that columns are, as for `TableEncoding.fit`.
    around : Circumstances, optional
    kept
        What `TableEncoding.of` takes.
    """
    around = around or Circumstances("the table", ROOM)
    schema = schema_of(tables)
    said = {name: Column.said(name, role) for name, role in roles(kinds or {}, schema.names, around.file).items()}
    statistics = TableStatistics(schema, said, around)
    if texts := statistics.texts():
        first = tables.ask(_First(schema, tuple(texts)))
        statistics.begin({name: pa.chunked_array([list(some)], pa.string()) for name, some in first.items()})
    counted = tables.ask(_Count(schema, statistics))
    try:
        with of_file(around.file):
            return Recipe(TableEncoding.of(counted, **kept), schema)
    except BadValueError as error:
        tables.ask(_Blame(schema, error.column, error.advice, error.fits))
        raise


def recipe_of(model: Any, tables: Tables) -> Recipe:
    """Return how a model's own encoding makes examples of the partitions of a table."""
    encoding = getattr(model, "encoding_", None)
    if encoding is None:
        raise ValueError(
            "the model was not fitted on such a table: it knows no encoding of columns that are no numbers"
        )
    return Recipe(encoding, schema_of(tables))


def schema_of(tables: Tables) -> pa.Schema:
    """Return the columns of all partitions, as wide as they need to be."""
    return one_schema(tables.ask(_look) or ())


def piece_of(k: int, X: Any, y: Any, weight: Any = None) -> Piece:
    """Return partition k of a table that pandas or Arrow holds."""
    try:
        frame = X if isinstance(X, pa.Table) else pa.Table.from_pandas(X, preserve_index=False)
    except pa.ArrowException as error:
        raise PartitionError(f"partition {k}: {error}") from None
    return Piece(f"partition {k}", frame, np.asarray(y), weight)


# -- schemas ----------------------------------------------------------------------------------------------------------


def one_schema(looked: Sequence[tuple[int, pa.Schema]]) -> pa.Schema:
    """Return the columns of all partitions, as wide as they need to be; raise where one has others."""
    found: pa.Schema | None = None
    first, names = -1, list[str]()
    for k, schema in looked:
        if found is None:  # which was made by `_look`, without what pandas says of it
            found, first, names = schema, k, schema.names
            continue
        if set(schema.names) != set(names):
            odd = sorted(set(schema.names) ^ set(names))
            raise PartitionError(f"partition {k} has other columns than partition {first}: {odd[0]!r} is in one only")
        try:
            found = pa.unify_schemas([found, schema], promote_options="permissive")
        except pa.ArrowException as error:
            odd = [n for n in names if not _go_together(found.field(n), schema.field(n))]
            types = f"{schema.field(odd[0]).type} here, {found.field(odd[0]).type} before" if odd else str(error)
            raise PartitionError(f"partition {k}: column {odd[0] if odd else ''!r} is {types}") from error
    if found is None:
        raise ValueError("there are no partitions: nothing to learn from")
    return found


def _go_together(one: pa.Field, other: pa.Field) -> bool:
    try:
        pa.unify_schemas([pa.schema([one]), pa.schema([other])], promote_options="permissive")
    except pa.ArrowException:
        return False
    return True


# -- on the workers ---------------------------------------------------------------------------------------------------


def _table(k: int, piece: Piece, rows: pa.Table, schema: pa.Schema) -> Table:
    """Return rows of partition k with the types of all partitions, which say where they are."""
    try:
        return Table(piece.name, rows.select(schema.names).cast(schema))
    except pa.ArrowException as error:
        raise PartitionError(f"partition {k}: {error}") from error


def _look(k: int, piece: Piece) -> Pieces:
    frame = piece.frame
    plain = [pa.field(one.name, _plain_type(one.type)) for one in frame.schema]
    return Pieces([(k, pa.schema(plain))])


def _plain_type(kind: pa.DataType) -> pa.DataType:
    """Return what the values themselves are, however they are kept."""
    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    return {pa.large_string(): pa.string(), pa.string_view(): pa.string(), pa.float16(): pa.float32()}.get(kind, kind)


class _Values(dict[str, list[str]]):
    """The first values of columns, of which no more are kept than tell."""

    def __add__(self, other: Mapping[str, list[str]]) -> _Values:
        return _Values({name: [*some, *other[name][: SAMPLE - len(some)]] for name, some in self.items()})


@dataclass(frozen=True)
class _First:
    """The first values of columns of text."""

    schema: pa.Schema
    names: tuple[str, ...]

    def __call__(self, k: int, piece: Piece) -> _Values:
        frame = _table(k, piece, piece.seen[0], self.schema).frame
        some = {name: decoded(frame[name]).drop_null()[:SAMPLE] for name in self.names}
        return _Values({name: values.cast(pa.string()).to_pylist() for name, values in some.items()})


@dataclass(frozen=True)
class _Count:
    """What is counted of a partition."""

    schema: pa.Schema
    begun: TableStatistics

    def __call__(self, k: int, piece: Piece) -> TableStatistics:
        once, often = piece.seen
        table, found = _table(k, piece, once, self.schema), copy.deepcopy(self.begun)
        try:
            with table.blaming():
                found.add(table.frame, None if often is None else _table(k, piece, often, self.schema).frame)
        except DataError as error:
            raise PartitionError(str(error)) from None  # whose cause may hold what does not travel
        return found


@dataclass(frozen=True)
class _Blame:
    """Finds the value that was found wrong once all partitions had been counted."""

    schema: pa.Schema
    column: str
    advice: str
    fits: Callable[[Any], bool]

    def __call__(self, k: int, piece: Piece) -> None:
        table = _table(k, piece, piece.frame, self.schema)
        try:
            with table.blaming():
                if not self.fits(table.frame[self.column]):
                    raise BadValueError(piece.name, self.column, self.advice, self.fits)
        except DataError as error:
            raise PartitionError(str(error)) from None
