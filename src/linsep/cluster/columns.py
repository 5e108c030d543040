"""Columns of a Spark DataFrame as a fit takes them: which are meant, and their Arrow batches as matrices and labels."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow
import pyarrow.compute as compute
from numpy.typing import NDArray
from pyspark.sql import DataFrame, functions, types
from scipy import sparse

from .._common.types import IntArray
from .._core import is_sparse

#: The parts of a vector as Spark stores it; `type` is 0 where it is sparse.
VECTOR = {
    "type": pyarrow.int8(),
    "size": pyarrow.int32(),
    "indices": pyarrow.list_(pyarrow.int32()),
    "values": pyarrow.list_(pyarrow.float64()),
}
FEATURES = "features"
#: What is a number as it is, and what is encoded where it is among the columns.
NUMBERS = (types.NumericType, types.BooleanType)
ENCODED = (types.StringType, types.DateType, types.TimestampType, types.TimestampNTZType)


@dataclass(frozen=True)
class Features:
    """The columns that a model looks at: one of vectors or arrays, or one a feature.

    Attributes
    ----------
    names : tuple of str
    kind : {"vector", "array", "columns", "table"}
        Columns are of numbers; of a table some are text, dates or truth values, and are to be encoded.
    """

    names: tuple[str, ...]
    kind: str

    @classmethod
    def of(cls, df: DataFrame, asked: str | Sequence[str] | None, others: Sequence[str] = ()) -> Features:
        """Return the columns that are asked for; if none are, "features", or all but the others."""
        if asked is None:
            asked = FEATURES if FEATURES in df.columns else [name for name in df.columns if name not in others]
        names = (asked,) if isinstance(asked, str) else tuple(asked)
        for name in names:
            _there(df, name)
        kinds = [df.schema[name].dataType for name in names]
        if len(names) == 1 and isinstance(kinds[0], types.UserDefinedType):
            return cls(names, "vector")
        if len(names) == 1 and isinstance(kinds[0], types.ArrayType):
            return cls(names, "array")
        for name, kind in zip(names, kinds, strict=True):
            if not isinstance(kind, (*NUMBERS, *ENCODED)):
                raise TypeError(
                    f"column {name!r} is {kind.simpleString()}, neither a number nor text nor a date: name the columns "
                    "to learn from, features=[...]"
                )
        if not names:
            raise ValueError("no columns are left as features: name them, features=[...]")
        return cls(names, "columns" if all(isinstance(kind, NUMBERS) for kind in kinds) else "table")

    def column(self, df: DataFrame) -> Any:
        """Return them as one column of a query: numbers, all of them."""
        if self.kind == "vector":
            return functions.unwrap_udt(col(self.names[0])).alias(FEATURES)
        if self.kind == "array":
            return col(self.names[0]).cast("array<double>").alias(FEATURES)
        if self.kind == "table":
            return functions.struct(*(self._plain(df, name) for name in self.names)).alias(FEATURES)
        kind = (
            "float" if all(isinstance(df.schema[name].dataType, types.FloatType) for name in self.names) else "double"
        )
        return functions.struct(*(col(name).cast(kind).alias(name) for name in self.names)).alias(FEATURES)

    def _plain(self, df: DataFrame, name: str) -> Any:
        """Return a column of a table; decimal fractions as floats, which the encoding makes of them."""
        decimal = isinstance(df.schema[name].dataType, types.DecimalType)
        return (col(name).cast("double") if decimal else col(name)).alias(name)

    def table(self, batches: Sequence[Any]) -> pyarrow.Table:
        """Return Arrow arrays of that column as the table that it is."""
        array = pyarrow.chunked_array(batches).combine_chunks()
        return pyarrow.Table.from_arrays(array.flatten(), names=list(self.names))

    def rows(self, batches: Sequence[Any], *, dense: bool | None = None) -> Any:
        """Return Arrow arrays of that column as a matrix; raise where a number is missing, and say where."""
        array = pyarrow.chunked_array(batches).combine_chunks()
        _not_null(array, f"column {self.names[0]!r}" if self.kind != "columns" else "the row")
        X = {"vector": _of_vectors, "array": _of_arrays, "columns": _of_columns}[self.kind](array)
        if dense is not None and dense == is_sparse(X):
            X = X.toarray() if dense else sparse.csr_matrix(X)
        values = X.data if is_sparse(X) else X
        if not np.isfinite(values.sum()) and not np.isfinite(values).all():
            raise ValueError(self._complaint(X))
        return X

    def of_pandas(self, table: Any) -> Any:
        """Return that column, as pandas gives it, as a matrix; of columns as a table, which has their names."""
        if self.kind in ("columns", "table"):
            return table
        if self.kind == "array":
            return self.rows([pyarrow.Array.from_pandas(table)]) if len(table) else np.empty((0, 1))
        fields = [pyarrow.array(table[name], type=kind) for name, kind in VECTOR.items()]
        return self.rows([pyarrow.StructArray.from_arrays(fields, list(VECTOR))])

    def _complaint(self, X: Any) -> str:
        at = sparse.coo_matrix(X)
        where = int(np.argmin(np.isfinite(at.data)))
        i, j, value = int(at.row[where]), int(at.col[where]), at.data[where]
        name = f"column {self.names[j]!r}" if self.kind == "columns" else f"number {j} of column {self.names[0]!r}"
        what = "missing (null or NaN)" if np.isnan(value) else "infinite"
        return f"{name} is {what} in its row {i}: fill in or drop such rows first (df.na)"


def col(name: str) -> Any:
    """Return a column by its whole name, dots and all."""
    return functions.col("`" + name.replace("`", "``") + "`")


def _there(df: DataFrame, name: Any) -> None:
    if name not in df.columns:
        some = ", ".join(df.columns[:20]) + (", …" if len(df.columns) > 20 else "")
        raise ValueError(f"the DataFrame has no column {name!r}; it has {some}")


def label_column(df: DataFrame, name: str) -> Any:
    """Return the labels as a column of a query."""
    _there(df, name)
    kind = df.schema[name].dataType
    if not isinstance(kind, types.NumericType | types.BooleanType | types.StringType):
        raise TypeError(f"column {name!r} is {kind.simpleString()}: labels are numbers, text, or true and false")
    return (col(name).cast("double") if isinstance(kind, types.DecimalType) else col(name)).alias("label")


def weight_column(df: DataFrame, name: str) -> Any:
    """Return the weights as a column of a query."""
    _there(df, name)
    return col(name).cast("double").alias("weight")


def values_of(batches: Sequence[Any], what: str) -> NDArray[Any]:
    """Return Arrow arrays of labels or weights as one."""
    array = pyarrow.chunked_array(batches).combine_chunks()
    _not_null(array, what)
    if pyarrow.types.is_string(array.type) or pyarrow.types.is_large_string(array.type):
        coded = array.dictionary_encode()
        return np.asarray(np.array(coded.dictionary.to_pylist(), dtype=str)[coded.indices.to_numpy()])
    return np.asarray(array.to_numpy(zero_copy_only=False))


def _not_null(array: Any, what: str) -> None:
    if array.null_count:
        where = int(np.argmin(compute.is_valid(array).to_numpy(zero_copy_only=False)))
        raise ValueError(f"{what} is missing (null) in its row {where}: fill in or drop such rows first (df.na)")


def _of_columns(array: Any) -> Any:
    """Return a matrix of a struct with a field a column; a number that is null is NaN."""
    fields = [array.field(j) for j in range(array.type.num_fields)]
    X = np.empty((len(array), len(fields)), dtype=fields[0].type.to_pandas_dtype())
    for j, one in enumerate(fields):
        X[:, j] = one.to_numpy(zero_copy_only=False)
    return X


def _of_arrays(array: Any) -> Any:
    d = _width(compute.list_value_length(array).to_numpy(zero_copy_only=False))
    return array.flatten().to_numpy(zero_copy_only=False).reshape(len(array), d)


def _of_vectors(array: Any) -> Any:
    """Return a matrix of vectors: dense, if all of them are."""
    kind, size, indices, values = (array.field(name) for name in VECTOR)
    is_dense = kind.to_numpy(zero_copy_only=False) == 1
    lengths = compute.list_value_length(values).to_numpy(zero_copy_only=False).astype(np.int64)
    widths = np.where(is_dense, lengths, compute.fill_null(size, 0).to_numpy(zero_copy_only=False))
    d, numbers = _width(widths), values.flatten().to_numpy(zero_copy_only=False)
    if is_dense.all():
        return numbers.reshape(len(array), d)
    at = np.tile(np.arange(d, dtype=np.int32), int(is_dense.sum())) if is_dense.any() else np.empty(0, np.int32)
    whole, columns = np.repeat(is_dense, lengths), np.empty(len(numbers), dtype=np.int32)
    columns[whole], columns[~whole] = at, indices.flatten().to_numpy(zero_copy_only=False)
    return sparse.csr_matrix((numbers, columns, np.concatenate([[0], np.cumsum(lengths)])), shape=(len(array), d))


def _width(widths: IntArray) -> int:
    """Return how many numbers each row has, which must be one number for all."""
    if not len(widths):
        return 0
    if (widths != widths[0]).any():
        other = int(np.argmax(widths != widths[0]))
        raise ValueError(f"its row {other} has {int(widths[other])} numbers, its row 0 has {int(widths[0])}")
    return int(widths[0])


def batches_of(batches: Iterable[Any]) -> dict[str, list[Any]]:
    """Return the columns of batches that come by, each as a list of arrays."""
    found: dict[str, list[Any]] = {}
    for batch in batches:
        for name, array in zip(batch.schema.names, batch.columns, strict=True):
            found.setdefault(name, []).append(array)
    return found
