"""From columns to features and back: what each column is, scikit-learn's transformers for it, and readable names."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from scipy import sparse

from .._core import in_threads, is_sparse
from .sources import BadValueError, DataError

# scikit-learn is loaded where it is used: a matrix needs no encoding, and a file can be read while it is loading.
if TYPE_CHECKING:
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.preprocessing import PolynomialFeatures

FloatArray = NDArray[np.float64]
#: Numbers as they come: those with missing values as floats.
Numbers = NDArray[Any]
#: The values of numbers, categories and texts, by name.
Parts = tuple[dict[str, Numbers], dict[str, pa.ChunkedArray], dict[str, list[str]]]

__all__ = ["Column", "MatrixEncoding", "Scaled", "TableEncoding", "from_dict", "infer", "spellings"]

KINDS = ("number", "category", "date", "text", "ignored")
#: Levels that stand for a missing value, and for those too rare to have a weight of their own.
MISSING, OTHER = "(missing)", "(other)"
#: A column of text has at least so many words a row, on average.
WORDS = 3
#: Rows that are turned from columns into rows at a time.
STRIP = 1 << 12
#: What is said of a column of whole numbers that floats cannot tell apart.
ROUNDED = "its whole numbers above 2^53 are rounded; if it identifies something, say --category or --ignore"
#: Below this many rows, values that are all different do not make a column an identifier.
FEW = 20


@dataclass(frozen=True)
class Column:
    """What a column is taken for, and why it is set aside if it is.

    Examples
    --------
    >>> infer("town", pa.chunked_array([["Ede", "Ulm", "Ede"]]))
    Column(name='town', kind='category', note='')
    >>> infer("planet", pa.chunked_array([["Earth", "Earth", None]]))
    Column(name='planet', kind='ignored', note='it has one value only')
    """

    name: str
    kind: str
    note: str = ""


def infer(name: str, column: pa.ChunkedArray) -> Column:
    """Return what a column seems to be: numbers, categories, dates, text, or of no use."""
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    given = len(column) - column.null_count
    if pa.types.is_floating(column.type) and given and pc.all(pc.is_nan(column)).as_py():
        return Column(name, "ignored", "it has no values")
    if is_number(column.type) and given and not _is_constant(column):
        return _infer_number(name, column, given)
    different = _count_distinct(column)
    if different <= 1 and (given == len(column) or not is_number(column.type)):
        return Column(name, "ignored", "it has one value only" if given else "it has no values")
    if given == 0:
        return Column(name, "ignored", "it has no values")
    kind = column.type
    if pa.types.is_temporal(kind) and not pa.types.is_time(kind) and not pa.types.is_duration(kind):
        return Column(name, "date")
    if pa.types.is_boolean(kind):
        return Column(name, "category")
    if is_number(kind):
        return _infer_number(name, column, given)
    if is_text(kind):
        return _infer_text(name, column, given, different)
    return Column(name, "ignored", f"its type, {kind}, has no encoding")


def _count_distinct(column: pa.ChunkedArray) -> int:
    if pa.types.is_null(column.type):
        return 0
    if pa.types.is_nested(column.type):
        return len(column)
    return int(pc.count_distinct(column, mode="only_valid").as_py())


def _is_constant(column: pa.ChunkedArray) -> bool:
    ends = pc.min_max(column)
    return bool(ends["min"].as_py() == ends["max"].as_py())


def is_number(kind: Any) -> bool:
    """Whether a type is of numbers."""
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind))


def is_text(kind: Any) -> bool:
    """Whether a type is of text."""
    return bool(
        pa.types.is_string(kind)
        or pa.types.is_large_string(kind)
        or pa.types.is_string_view(kind)
        or pa.types.is_dictionary(kind)
    )


def _infer_number(name: str, column: pa.ChunkedArray, given: int) -> Column:
    if not pa.types.is_integer(column.type):
        return Column(name, "number")
    ends = pc.min_max(column)
    if max(ends["max"].as_py(), -ends["min"].as_py()) > 2**53:
        number = Column(name, "number", ROUNDED)
    else:
        number = Column(name, "number")
    if not given == len(column) >= FEW:
        return number
    consecutive = ends["max"].as_py() - ends["min"].as_py() == given - 1
    called_so = names_rows(name)
    if (consecutive or called_so) and _count_distinct(column) == given:
        return Column(name, "ignored", "it numbers the rows" if consecutive else "it identifies the rows")
    return number


def names_rows(name: str) -> bool:
    """Whether a column is called as identifiers are."""
    return name.lower().split("_")[-1] in ("id", "key", "index", "number", "no")


def _infer_text(name: str, column: pa.ChunkedArray, given: int, different: int) -> Column:
    sample = strings(column).drop_null()[:10_000]
    words = pc.mean(pc.add(pc.count_substring_regex(sample, r"\s+"), 1)).as_py()
    if words >= WORDS and different > 0.3 * given:
        return Column(name, "text")
    if different == given >= FEW:
        return Column(name, "ignored", "it identifies the rows")
    return Column(name, "category")


def strings(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return values as text."""
    if pa.types.is_boolean(column.type):
        return pc.if_else(column, "True", "False")  # as pandas writes them to a file
    return column if column.type == pa.string() else column.cast(pa.string())


def from_dict(data: Mapping[str, Any] | None) -> TableEncoding | MatrixEncoding:
    """Return the encoding that a model file holds.

    Raises
    ------
    DataError
        Where there is none, or one that this version does not know.
    """
    kind = None if data is None else data.get("kind")
    if kind == "table":
        return TableEncoding.from_dict(data)  # type: ignore[arg-type]
    if kind == "matrix":
        return MatrixEncoding.from_dict(data or {})
    if data is None:
        raise DataError("the model was not fitted on a file: use linsep.load and its predict in Python")
    raise DataError(f"the model's encoding is of the kind {kind!r}, which this linsep does not know; upgrade it")


@dataclass(frozen=True)
class Scaled:
    """Coefficients by readable name, on the scale of the file's own columns; one row a plane."""

    names: list[str]
    coef: FloatArray
    intercept: FloatArray


@dataclass(frozen=True)
class MatrixEncoding:
    """Numbers that are used as they are.

    Attributes
    ----------
    n_features : int
    base : int
        What the first column is numbered in the file.
    columns : list of str or None
        Their names.
    target : str or None
        The array that holds the labels.
    """

    n_features: int
    base: int = 0
    columns: list[str] | None = None
    target: str | None = None

    @property
    def names(self) -> list[str]:
        """One a feature."""
        return self.columns or [f"feature {j + self.base}" for j in range(self.n_features)]

    @property
    def sources(self) -> list[str]:
        """The column of the file that each feature is made of: its own."""
        return self.names

    def transform(self, X: Any, name: str = "data") -> Any:
        """Return X with as many columns as the model has; a sparse matrix may lack the last ones."""
        if X.shape[1] > self.n_features or (X.shape[1] < self.n_features and not sparse.issparse(X)):
            raise DataError(f"{name}: {X.shape[1]} columns, but the model was fitted on {self.n_features}")
        if X.shape[1] < self.n_features:
            X = sparse.csr_array((X.data, X.indices, X.indptr), shape=(X.shape[0], self.n_features))
        return X

    def original_scale(self, coef: FloatArray, intercept: FloatArray) -> Scaled:
        """Return the coefficients as they are."""
        return Scaled(self.names, coef, intercept)

    def to_dict(self) -> dict[str, Any]:
        """Return it in terms of JSON."""
        return {"kind": "matrix", **asdict(self)}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> MatrixEncoding:
        """Read what `to_dict` wrote."""
        try:
            columns = data["columns"]
            names = None if columns is None else _texts(columns)
            found = cls(_whole(data["n_features"]), _whole(data["base"]), names, _text_or_none(data["target"]))
            if names is not None and len(names) != found.n_features:
                raise ValueError("each column needs a name")
        except (KeyError, TypeError, ValueError) as error:
            raise DataError(f"the model's encoding is damaged ({error!r}); fit the model again") from error
        return found


@dataclass(frozen=True)
class TableEncoding:
    """How a table becomes numbers.

    Numbers are standardised, or taken as they are (`unscaled`); where one is missing it counts as the mean (or 0) and,
    if the training rows lacked some, a feature says so. Categories have one feature a level, levels that are too rare
    share one. Dates become a number of days, the month and the weekday. Text becomes TF-IDF. All is fitted on the
    training rows only.

    Attributes
    ----------
    columns : tuple of Column
    numbers : dict
        name → (mean, scale, whether the training rows lacked some).
    levels : dict
        name → the levels with a feature each.
    words : dict
        name → (words, their idf).
    degree : int
        Products of so many standardised numbers are features too.
    target : str or None
    header : bool
        Whether the names come from the file.
    missing : tuple of str
        Further words that stand for a missing value.

    Examples
    --------
    >>> table = pa.table({"age": [20.0, 40.0, None], "town": ["Ede", "Ulm", "Ede"]})
    >>> encoding = TableEncoding.fit(table)
    >>> encoding.names
    ['age', 'age is missing', 'town = Ede', 'town = Ulm']
    >>> encoding.transform(table)
    array([[-1.,  0.,  1.,  0.],
           [ 1.,  0.,  0.,  1.],
           [ 0.,  1.,  1.,  0.]])
    >>> TableEncoding.from_dict(encoding.to_dict()) == encoding
    True
    """

    columns: tuple[Column, ...]
    numbers: dict[str, tuple[float, float, bool]]
    levels: dict[str, list[str]]
    words: dict[str, tuple[list[str], list[float]]]
    degree: int = 1
    target: str | None = None
    header: bool = True
    missing: tuple[str, ...] = ()

    # -- fitting --------------------------------------------------------------------------------------------------

    @classmethod
    def fit(
        cls,
        table: pa.Table,
        *,
        kinds: Mapping[str, str] | None = None,
        degree: int = 1,
        target: str | None = None,
        header: bool = True,
        missing: tuple[str, ...] = (),
    ) -> TableEncoding:
        """Look at training rows and decide.

        Parameters
        ----------
        table : pyarrow.Table
            Without the target.
        kinds : mapping of str to {"number", "category", "date", "text", "ignored"}, optional
            What the user says that columns are.
        degree : int, default=1
        target, header, missing
            Kept for those who read the encoding.
        """
        said = dict(kinds=kinds, degree=degree, target=target, header=header, missing=missing)
        return cls._decided(table, **said)._fitted(table)[0]  # type: ignore[arg-type]

    @classmethod
    def fit_transform(
        cls, table: pa.Table, name: str = "data", *, scaled: bool = True, **said: Any
    ) -> tuple[TableEncoding, Any]:
        """Return what `fit` does, `unscaled` where that is asked for, and its `transform` of the same rows."""
        encoding, parts = cls._decided(table, **said)._fitted(table, name)
        encoding = encoding if scaled else encoding.unscaled()
        return encoding, encoding._encoded(parts, table.num_rows)

    @classmethod
    def _decided(
        cls,
        table: pa.Table,
        *,
        kinds: Mapping[str, str] | None = None,
        degree: int = 1,
        target: str | None = None,
        header: bool = True,
        missing: tuple[str, ...] = (),
    ) -> TableEncoding:
        """Return what each column is, nothing fitted yet."""
        if degree < 1:
            raise DataError(f"degree={degree} must be 1 or more; 2 adds squares and products")
        kinds = dict(kinds or {})
        unknown = [name for name in kinds if name not in table.column_names]
        if unknown:
            raise DataError(f"no column {unknown[0]!r}; there are {', '.join(table.column_names)}")
        columns = [
            Column(name, kinds[name], "asked for" if kinds[name] == "ignored" else "")
            if name in kinds
            else infer(name, table[name])
            for name in table.column_names
        ]
        return cls(tuple(columns), {}, {}, {}, degree, target, header, missing)

    def refit(self, table: pa.Table) -> TableEncoding:
        """Return the same columns, encoded by what other training rows show."""
        return replace(self, numbers={}, levels={}, words={})._fitted(table)[0]

    def unscaled(self) -> TableEncoding:
        """Return the same with numbers as they are in the file: what is proven of them is then said of the file.

        Examples
        --------
        >>> TableEncoding.fit(pa.table({"age": [20.0, 40.0]})).unscaled().transform(pa.table({"age": [30.0, None]}))
        array([[30.],
               [ 0.]])
        """
        return replace(self, numbers={name: (0.0, 1.0, some) for name, (_, _, some) in self.numbers.items()})

    def _fitted(self, table: pa.Table, name: str = "data") -> tuple[TableEncoding, Parts]:
        """Return what the values of the columns say, and these values."""
        numbers, categories, texts = parts = self._parts(table, name)
        columns = {column.name: column for column in self.columns}
        levels = {name: kept for name, values in categories.items() if (kept := _levels(values))}
        words = {name: found for name, values in texts.items() if (found := _vocabulary(values))}
        for name in [*(categories.keys() - levels.keys()), *(texts.keys() - words.keys())]:
            if name in columns:
                columns[name] = Column(name, "ignored", "no value occurs twice")
        moments = _moments(numbers)
        if not (moments or levels or words):
            raise DataError("no column is left to learn from: all are constant, identifiers or set aside")
        fitted = replace(self, columns=tuple(columns.values()), numbers=moments, levels=levels, words=words)
        return fitted, parts

    def _parts(self, table: pa.Table, name: str = "data") -> Parts:
        """Return the values of numbers, categories and texts; a date gives some of each."""
        numbers = self._plain_numbers(table, name)
        categories: dict[str, pa.ChunkedArray] = {}
        texts: dict[str, list[str]] = {}
        for column in self.columns:
            if column.kind in ("ignored", "number"):
                continue
            values = _column(table, column.name, name)
            if column.kind == "category":
                categories[column.name] = strings(values)
            elif column.kind == "text":
                texts[column.name] = ["" if text is None else text for text in strings(values).to_pylist()]
            else:
                moment = moments_in_time(values, column.name, name)
                numbers[f"{column.name} in days"] = floats(moment.cast(pa.int64()), column.name, name) / 86_400e3
                categories[f"month of {column.name}"] = strings(pc.month(moment))
                categories[f"weekday of {column.name}"] = strings(pc.day_of_week(moment))
        return numbers, categories, texts

    def _plain_numbers(self, table: pa.Table, name: str) -> dict[str, Numbers]:
        names = [column.name for column in self.columns if column.kind == "number"]
        columns = [_column(table, column, name) for column in names]
        found: list[Numbers] = [np.empty(0)] * len(names)

        def convert(j: int) -> None:
            is_whole = pa.types.is_integer(columns[j].type) and not columns[j].null_count
            found[j] = np.asarray(columns[j].to_numpy()) if is_whole else floats(columns[j], names[j], name)

        in_threads(convert, range(len(names)))
        return dict(zip(names, found, strict=True))

    # -- encoding -------------------------------------------------------------------------------------------------

    @property
    def is_sparse(self) -> bool:
        """Whether the features come as a sparse matrix: with text, and with many more levels than numbers."""
        return bool(self.words) or sum(map(len, self.levels.values())) > 30 + 2 * len(self.numbers)

    @property
    def needed(self) -> list[str]:
        """The columns that the model uses."""
        return [column.name for column in self.columns if column.kind != "ignored"]

    def types(self) -> dict[str, pa.DataType]:
        """Return how a CSV file's columns are to be read."""
        of_kind = {"number": pa.float64(), "category": pa.string(), "text": pa.string(), "ignored": pa.string()}
        return {column.name: of_kind[column.kind] for column in self.columns if column.kind in of_kind}

    def transform(self, table: pa.Table, name: str = "data") -> Any:
        """Return one row of features for each row of the table, dense or CSR."""
        return self._encoded(self._parts(table, name), table.num_rows)

    def _encoded(self, parts: Parts, n: int) -> Any:
        numbers, categories, texts = parts
        blocks: list[Any] = [*self._number_blocks(numbers, n)]
        blocks += [self._one_hot(categories[column], levels) for column, levels in self.levels.items()]
        blocks += [self._tf_idf(column).transform(texts[column]) for column in self.words]
        if self.is_sparse:
            return sparse.csr_array(sparse.hstack([sparse.csr_array(block) for block in blocks], format="csr"))
        dense = [block.toarray() if is_sparse(block) else block for block in blocks]
        return dense[0] if len(dense) == 1 else np.hstack(dense)

    def _number_blocks(self, numbers: Mapping[str, Numbers], n: int) -> Iterable[FloatArray]:
        if not self.numbers:
            return
        columns = [numbers[name] for name in self.numbers]
        mean, scale, _ = (np.array(part).reshape(-1, 1) for part in zip(*self.numbers.values(), strict=True))
        scaled = np.empty((n, len(columns)))

        def fill(first: int) -> None:
            strip = np.array([column[first : first + STRIP] for column in columns], dtype=np.float64)
            strip -= mean  # as scikit-learn's StandardScaler does, to the last bit
            strip /= scale
            strip[np.isnan(strip)] = 0.0  # the mean, where numbers are standardised
            scaled[first : first + STRIP] = strip.T

        # Columns become rows strip by strip, each of which stays in the cache.
        in_threads(fill, range(0, n, STRIP))
        yield scaled if self.degree == 1 else self.polynomial().transform(scaled)
        lacking = [column for column, (_, _, some) in zip(columns, self.numbers.values(), strict=True) if some]
        if lacking:
            yield np.isnan(np.column_stack(lacking)).astype(np.float64)

    def polynomial(self) -> PolynomialFeatures:
        """Return which products of numbers are features, where the degree is above 1."""
        from sklearn.preprocessing import PolynomialFeatures

        return PolynomialFeatures(self.degree, include_bias=False).fit(np.zeros((1, len(self.numbers))))

    @staticmethod
    def _one_hot(values: pa.ChunkedArray, levels: Sequence[str]) -> Any:
        """One feature a level; a value that the training rows did not have belongs to the rare ones, if there are."""
        from sklearn.preprocessing import OneHotEncoder

        known = spellings(levels)
        places = pc.index_in(values, value_set=pa.array(list(known), type=pa.string()))
        fallback, lacking = (levels.index(level) if level in levels else -1 for level in (OTHER, MISSING))
        code = np.array([*known.values(), fallback, lacking], dtype=np.int64)
        codes = code[pc.if_else(pc.is_null(values), len(known) + 1, pc.fill_null(places, len(known))).to_numpy()]
        encoder = OneHotEncoder(categories=[np.arange(len(levels))], handle_unknown="ignore")
        return encoder.fit([[0]]).transform(codes.reshape(-1, 1))

    def _tf_idf(self, column: str) -> TfidfVectorizer:
        from sklearn.feature_extraction.text import TfidfVectorizer

        words, idf = self.words[column]
        vectorizer = TfidfVectorizer(vocabulary=words, sublinear_tf=True)
        vectorizer.idf_ = np.array(idf)
        return vectorizer

    # -- reading back ---------------------------------------------------------------------------------------------

    def _number_names(self) -> list[str]:
        names = list(self.numbers)
        if self.degree == 1 or not names:
            return names
        powers = self.polynomial().powers_
        return [" × ".join(_power(names[j], int(k)) for j, k in enumerate(row) if k) for row in powers]

    @property
    def names(self) -> list[str]:
        """One a feature."""
        lacking = [f"{name} is missing" for name, (_, _, some) in self.numbers.items() if some]
        levels = [f"{name} = {level}" for name, kept in self.levels.items() for level in kept]
        words = [f"{name}: {word}" for name, (kept, _) in self.words.items() for word in kept]
        return [*self._number_names(), *lacking, *levels, *words]

    @property
    def sources(self) -> list[str]:
        """The column that each feature is made of; a product is its own."""
        lacking = [name for name, (_, _, some) in self.numbers.items() if some]
        levels = [name for name, kept in self.levels.items() for _ in kept]
        words = [name for name, (kept, _) in self.words.items() for _ in kept]
        return [*self._number_names(), *lacking, *levels, *words]

    def original_scale(self, coef: FloatArray, intercept: FloatArray) -> Scaled:
        """Return the coefficients per unit of each column, and the intercept where all numbers are 0.

        ``w (x − m)/s = (w/s) x − w m/s``. Products stay products of deviations from the means: ``w/(s t)`` times
        ``(x − m)(y − n)``.
        """
        coef, intercept = coef.copy(), intercept.copy()
        if not self.numbers:
            return Scaled(self.names, coef, intercept)
        mean, scale, _ = (np.array(part) for part in zip(*self.numbers.values(), strict=True))
        powers = np.eye(len(mean), dtype=int) if self.degree == 1 else self.polynomial().powers_
        count = len(powers)
        coef[:, :count] /= np.prod(scale[None, :] ** powers, axis=1)
        single = np.flatnonzero(powers.sum(axis=1) == 1)
        intercept -= coef[:, single] @ mean[powers[single].argmax(axis=1)]
        return Scaled(self.names, coef, intercept)

    def to_dict(self) -> dict[str, Any]:
        """Return it in terms of JSON."""
        return {
            "kind": "table",
            "columns": [asdict(column) for column in self.columns],
            "numbers": {name: list(state) for name, state in self.numbers.items()},
            "levels": self.levels,
            "words": {name: list(state) for name, state in self.words.items()},
            "degree": self.degree,
            "target": self.target,
            "header": self.header,
            "missing": list(self.missing),
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> TableEncoding:
        """Read what `to_dict` wrote."""
        try:
            columns = tuple(Column(**column) for column in data["columns"])
            _texts([part for column in columns for part in (column.name, column.kind, column.note)])
            if unknown := {column.kind for column in columns} - set(KINDS):
                raise ValueError(f"no column is {unknown.pop()!r}")
            return cls(
                columns,
                {name: (float(m), float(s), bool(some)) for name, (m, s, some) in data["numbers"].items()},
                {name: _texts(kept) for name, kept in data["levels"].items()},
                {name: (_texts(kept), [float(value) for value in idf]) for name, (kept, idf) in data["words"].items()},
                _whole(data["degree"]),
                _text_or_none(data["target"]),
                bool(data["header"]),
                tuple(_texts(data["missing"])),
            )
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise DataError(f"the model's encoding is damaged ({error!r}); fit the model again") from error


def _texts(values: Any) -> list[str]:
    """Return a list of texts; raise for anything else."""
    if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
        raise TypeError(f"a list of texts was expected, not {str(values)[:40]!r}")
    return list(values)


def _text_or_none(value: Any) -> str | None:
    return None if value is None else _texts([value])[0]


def _whole(value: Any) -> int:
    if type(value) is not int or value < 0:
        raise TypeError(f"a whole number was expected, not {str(value)[:40]!r}")
    return value


def _power(name: str, k: int) -> str:
    return name if k == 1 else f"{name}^{k}"


def _column(table: pa.Table, name: str, file: str) -> pa.ChunkedArray:
    if name not in table.column_names:
        shown = ", ".join(table.column_names[:12])
        raise DataError(f"{file}: no column {name!r}, which the model needs; it has {shown}")
    return table[name]


def floats(values: pa.ChunkedArray, column: str, file: str) -> FloatArray:
    """Return numbers, with NaN where they are missing."""
    try:
        array = _as_floats(values)
    except pa.ArrowInvalid:
        advice = "is not a number, as the column's values must be; correct it"
        raise BadValueError(file, column, advice, lambda some: _is_possible(_as_floats, some)) from None
    if np.isinf(array).any():
        advice = "is not a finite number; correct it, or leave it empty if the value is missing"
        raise BadValueError(file, column, advice, lambda some: not np.isinf(_as_floats(some)).any())
    return array


def _as_floats(values: pa.ChunkedArray) -> FloatArray:
    # Whole numbers above 2^53 are rounded, which `infer` notes.
    numbers = values if values.type == pa.float64() else values.cast(pa.float64(), safe=not is_number(values.type))
    return np.asarray(numbers.to_numpy(), dtype=np.float64)


def moments_in_time(values: pa.ChunkedArray, column: str, file: str) -> pa.ChunkedArray:
    """Return dates and times in milliseconds."""
    try:
        return _as_moments(values)
    except pa.ArrowException:
        advice = "is not a date; write dates as 2024-01-31 or 2024-01-31 12:30:00"
        raise BadValueError(file, column, advice, lambda some: _is_possible(_as_moments, some)) from None


def _as_moments(values: pa.ChunkedArray) -> pa.ChunkedArray:
    values = values.cast(pa.int64()) if pa.types.is_integer(values.type) else values
    return values.cast(pa.timestamp("ms"), safe=False)


def _is_possible(convert: Callable[[pa.ChunkedArray], object], values: pa.ChunkedArray) -> bool:
    try:
        convert(values)
    except pa.ArrowException:
        return False
    return True


def _moments(numbers: Mapping[str, Numbers]) -> dict[str, tuple[float, float, bool]]:
    """Return mean, scale and whether some are missing, of every number."""
    found: list[tuple[float, float, bool]] = [(0.0, 1.0, False)] * len(numbers)
    names, columns = list(numbers), list(numbers.values())

    def measure(j: int) -> None:
        values = columns[j].astype(np.float64, copy=False)
        given = values[~np.isnan(values)] if columns[j].dtype.kind == "f" else values
        if not len(given):
            raise DataError(f"column {names[j]!r} has no numbers; leave it out with --ignore {names[j]!r}")
        mean, squares = mean_and_squares(given)
        found[j] = mean, scale_of(len(given), mean, squares), len(given) < len(values)

    in_threads(measure, range(len(names)))
    return dict(zip(names, found, strict=True))


def mean_and_squares(values: FloatArray) -> tuple[float, float]:
    """Return the mean m and Σ (x − m)², corrected by Σ (x − m), which rounding keeps from being 0.

    With `scale_of` this is scikit-learn's `StandardScaler` to the last bit, as the tests see to. To load that one takes
    longer than all else that is done with a column of numbers.
    """
    mean = values.sum() / len(values)
    deviations = values - mean
    correction = deviations.sum()
    with np.errstate(over="ignore"):
        deviations **= 2
        return float(mean), float(deviations.sum() - correction**2 / len(values))


def scale_of(n: int, mean: float, squares: float) -> float:
    """Return the deviation of n numbers with that mean and sum of squares; 1 where it is no more than rounding."""
    variance, eps = squares / n, float(np.finfo(np.float64).eps)
    rounding = n * eps * variance + min(abs(n * mean * eps), 1e150) ** 2
    return 1.0 if variance <= rounding else float(np.sqrt(variance))


def _levels(values: pa.ChunkedArray) -> list[str]:
    """Return the levels that occur often enough, in alphabetical order, and what stands for the rest."""
    counts = {pair["values"]: pair["counts"] for pair in values.drop_null().value_counts().to_pylist()}
    return levels_of(counts, len(values), lacking=values.null_count > 0)


def levels_of(counts: Mapping[str, int], n: int, *, lacking: bool) -> list[str]:
    """Return the same from how often each value occurs among n rows, and whether some have none."""
    least = 1 if n < 100 else max(2, n // 10_000)
    kept = sorted(value for value, count in counts.items() if count >= least)
    if not kept:
        return []
    rare = len(kept) < len(counts)
    return list(dict.fromkeys([*kept, *([OTHER] if rare else []), *([MISSING] if lacking else [])]))


def spellings(levels: Sequence[str]) -> dict[str, int]:
    """Return the number of the level that a value stands for, also as other programs write the same value.

    A whole number is 1 or, where the column had gaps, 1.0; a truth value True, true, TRUE or 1.

    Examples
    --------
    >>> spellings(["1", "2.0", "Ede"])
    {'1': 0, '2.0': 1, 'Ede': 2, '1.0': 0, '2': 1}
    >>> spellings(["False"])["false"]
    0
    """
    found = {level: k for k, level in enumerate(levels)}
    plain = [level for level in levels if level not in (OTHER, MISSING)]
    truths = {level.lower() for level in plain} <= {"true", "false"}
    for level in plain:
        number = level.removesuffix(".0")
        others = [number, f"{number}.0"] if re.fullmatch(r"-?[0-9]+", number) else []
        if truths:
            word = level.lower()
            others = [word, word.title(), word.upper(), *(("1", "1.0") if word == "true" else ("0", "0.0"))]
        for other in others:
            found.setdefault(other, found[level])
    return found


def _vocabulary(texts: list[str]) -> tuple[list[str], list[float]] | None:
    """Return the words and their idf; None where no word occurs twice."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    try:
        vectorizer = TfidfVectorizer(sublinear_tf=True, min_df=2 if len(texts) > FEW else 1).fit(texts)
    except ValueError:  # an empty vocabulary
        return None
    return [str(word) for word in vectorizer.get_feature_names_out()], [float(value) for value in vectorizer.idf_]
