"""Labels of a file's rows: the column that has them, what can be a class, and whether a model's classes are theirs."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from .._common.labels import positions
from .._common.words import listed, phrase
from ..data.encoding import MatrixEncoding, spellings
from ..data.encoding.notation import DECIMALS, as_numbers
from ..data.readers import Matrix, Table
from ..data.sources import DataError, blame

if TYPE_CHECKING:
    from .preparation import Encoding, Examples

#: A target with more different values than this is a measurement or an identifier.
CLASSES = 1000
#: With more different whole numbers than this it may be one.
AMOUNTS = 20
#: What to do about words that are spelt alike.
SAME = "if they mean the same, write them alike in the file"


def _ends(names: list[str]) -> str:
    """Return the first names and the last one, where labels often are.

    Examples
    --------
    >>> _ends([f"column_{k}" for k in range(1, 59)])[-23:]
    'column_12, …, column_58'
    """
    return f"{listed(names, 12)}, {listed(names[-1:], 1)}" if len(names) > 13 else listed(names, 13)


def target_column(data: Table, target: str | None) -> str:
    """Return the column with the labels."""
    if target is None:
        raise DataError(
            f"{data.name}: say which column to predict with --target; it has {_ends(data.frame.column_names)}"
        )
    return data.column(target)


def with_label(frame: pa.Table, target: str) -> pa.Table:
    """Return the rows that have a label; a number that is none, which polars writes, is no label."""
    column = frame[target]
    if not column.null_count and not pa.types.is_floating(column.type):
        return frame
    return frame.filter(pc.invert(pc.is_null(column, nan_is_null=True)))


def labels(column: pa.ChunkedArray, name: str, file: str) -> NDArray[Any]:
    """Return labels as an array: text, whole numbers, or booleans."""
    if pa.types.is_floating(column.type) or pa.types.is_decimal(column.type):
        return _whole(np.asarray(column.cast(pa.float64()).to_numpy()), f"{file}, column {name!r}")
    if pa.types.is_integer(column.type) and column.type != pa.uint64():
        return np.asarray(column.cast(pa.int64()).to_numpy())
    if pa.types.is_boolean(column.type):
        return np.asarray(column.to_numpy(), dtype=bool)
    if pa.types.is_nested(column.type):
        raise DataError(f"{file}, column {name!r}: values of the type {column.type} are no classes")
    with blame(f"{file}, column {name!r}"):
        return np.asarray(column.cast(pa.string()).to_pylist(), dtype=str)


def matrix_labels(data: Matrix) -> NDArray[Any]:
    """Return the labels that come with a matrix: text, whole numbers, or booleans."""
    if data.y is None:
        raise DataError(
            f"{data.name}: no labels in it; write numpy.savez(path, X=…, y=…), or name their array: --target"
        )
    if data.y.dtype.kind not in "fiub":
        return np.char.decode(data.y) if data.y.dtype.kind == "S" else data.y.astype(str)
    return _whole(data.y, data.name) if data.y.dtype.kind == "f" else data.y


def _whole(values: NDArray[Any], where: str) -> NDArray[Any]:
    """Return labels that are written as floats but are whole numbers as such."""
    is_class = (values == np.round(values)) & (np.abs(values) < 2**53)
    if not is_class.all():
        value = values[np.argmin(is_class)]
        if np.isnan(value):
            raise DataError(f"{where}: row {int(np.argmin(is_class)) + 1} has no label; leave such rows out")
        raise DataError(f"{where}: these are measurements, {value:g} for one, not classes; make classes of them first")
    return np.asarray(values.astype(np.int64))


def several_classes(y: NDArray[Any], file: str, column: str | None = None) -> NDArray[Any]:
    """Return labels; raise where they are of one class only, or of so many that they are none."""
    where = file if column is None else f"{file}, column {column!r}"
    classes = np.unique(y)
    if len(classes) < 2:
        found = f"all of its {len(y):,} rows are {classes[0]!s}" if len(classes) else "no row has a label"
        raise DataError(f"{where}: {found}; a classifier needs examples of at least two classes")
    check_few(len(classes), len(y), where)
    question(classes, where)
    return y


def check_few(classes: int, rows: int, where: str) -> None:
    """Raise where there are so many classes that they are none: very many, or one for every other row."""
    if classes > CLASSES or (classes > AMOUNTS and 2 * classes > rows):
        raise DataError(
            f"{where}: {classes:,} different values in {rows:,} rows are no classes; is this the right --target?"
        )


def question(classes: NDArray[Any], where: str) -> None:
    """Warn of labels that look like amounts, many different numbers or 1.234,56 €, or like one label spelt twice."""
    if said := spelt_alike(map(str, classes) if classes.dtype.kind in "UO" else ()):
        warnings.warn(f"{where}: {said}, and each is a class of its own; {SAME}", stacklevel=3)
    if len(classes) <= AMOUNTS:
        return
    if classes.dtype.kind in "iu":
        what = f"whole numbers, from {classes.min()} to {classes.max()}"
    elif classes.dtype.kind == "U" and _are_numbers(classes):
        what = f"numbers, {str(classes[0])!r} for one"
    else:
        return
    warnings.warn(
        f"{where}: {len(classes)} different {what}, each a class of its own; if they are amounts, make classes of "
        "them first, as above and below a limit",
        stacklevel=3,
    )


def spelt_alike(words: Iterable[str]) -> str:
    """Say which words differ only in case or in spaces; "" where none do.

    Examples
    --------
    >>> spelt_alike(["Yes", "no", "yes"])
    "'Yes' and 'yes' differ only in case or spaces"
    """
    found: dict[str, list[str]] = {}
    for word in words:
        found.setdefault(" ".join(word.casefold().split()), []).append(word)
    alike = [phrase([repr(word) for word in some]) for some in found.values() if len(some) > 1]
    more = f" (and {len(alike) - 1} more)" if len(alike) > 1 else ""
    return f"{alike[0]} differ only in case or spaces{more}" if alike else ""


def _are_numbers(classes: NDArray[Any]) -> bool:
    """Whether all of some words are numbers, their decimals written one way; codes such as 0815 are none."""
    words = pa.chunked_array([classes.tolist()], type=pa.string())
    if pc.any(pc.match_substring_regex(words, r"^\s*0[0-9]")).as_py():
        return False
    return any(not as_numbers(words, decimal)[0].null_count for decimal in DECIMALS)


def check_labels(encoding: Encoding, classes: Iterable[Any], lacking: int) -> None:
    """Raise where a model's words for a missing value hide the rows of one of its classes.

    A fit never has both. A class in another spelling, 1.0 for 1, is a word like others unless rows were left out.

    Examples
    --------
    >>> from linsep.data.encoding import TableEncoding
    >>> spoilt = TableEncoding((), {}, {}, {}, target="state", missing=("bad",))
    >>> check_labels(spoilt, ["bad", "good"], 0)  # doctest: +IGNORE_EXCEPTION_DETAIL
    Traceback (most recent call last):
    linsep.data.sources.DataError: the model's file takes the label 'bad' for a missing value, and so leaves out rows…
    """
    if isinstance(encoding, MatrixEncoding):
        return
    known = [str(label) for label in classes]
    possible = spellings(known) if lacking else known
    for word in encoding.missing:
        if word.strip() in possible:
            raise DataError(
                f"the model's file takes the label {word.strip()!r} for a missing value, and so leaves out rows of a "
                "class that it predicts: nothing that is found on the others is true of the file; fit the model again"
            )


def check_known(examples: Any, classes: NDArray[Any]) -> None:
    """Raise where a row has a label that a model does not know."""
    labels = examples.y.astype(str) if classes.dtype.kind in "OU" and examples.y.dtype.kind not in "OU" else examples.y
    strange = positions(labels, classes.tolist()) < 0
    if strange.any():
        row = int(np.argmax(strange))
        number = row if examples.numbers is None else int(examples.numbers[row])
        target = getattr(examples.encoding, "target", None)
        where = examples.name if target is None else f"{examples.name}, column {target!r}"
        others = f" ({strange.sum():,} rows have such a label)" if strange.sum() > 1 else ""
        raise DataError(
            f"{where}: row {number + 1:,} has the label {str(labels[row])!r}{others}, which the model does not know; "
            f"it knows {listed(classes, 10)}: correct such labels, or leave these rows out"
        )


def some_labels(y: NDArray[Any], where: str) -> NDArray[Any]:
    """Return labels; raise where there are none."""
    if not len(y):
        raise DataError(f"{where}: no row has a label, and so there is nothing to compare with; give rows that have")
    return y


def check_positive(examples: Examples, positive: str | None) -> list[Any]:
    """Return the classes; raise where there are more than two and none is named to be told from the rest."""
    classes: list[Any] = np.unique(examples.y).tolist()
    named = [str(label) for label in classes]
    if positive is None and len(classes) > 2:
        said = f"{len(classes)} classes ({listed(named, 10)}); say which to tell from the rest: --positive"
        raise DataError(f"{examples.name}: {said}")
    if positive is not None and positive not in named:
        raise DataError(f"--positive {positive} is not among the classes: {listed(named, 10)}")
    return classes


def two_classes(examples: Examples, positive: str | None = None) -> NDArray[Any]:
    """Return labels of two classes: those of the file, or whether a row is of the one that is named."""
    classes = check_positive(examples, positive)
    if positive is None or len(classes) == 2:
        return examples.y
    return np.where(examples.y.astype(str) == positive, positive, f"not {positive}")
