"""The encoding of a table: standardised numbers, levels, parts of dates and words as features."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from scipy import sparse

from ..._common import reading
from ..._common.types import FloatArray
from ..._core import in_threads, is_sparse
from ..naming import roles
from ..sources import DataError
from .column_types import KINDS, Column
from .fitting import MISSING, OTHER, Standard, level_called, spellings
from .matrix import Scaled
from .notation import DECIMALS, ORDERS
from .statistics import TableStatistics
from .tallies import Circumstances, State
from .values import as_seen, column_of, floats, is_plain, moments_in_time, strings

# scikit-learn is loaded where it is used: a matrix needs no encoding, and a file can be read while it is loading.
if TYPE_CHECKING:
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.preprocessing import PolynomialFeatures

#: Numbers as they come: whole ones and floats as they are, others as floats.
Numbers: TypeAlias = "NDArray[Any] | pa.ChunkedArray"
#: The values of numbers, categories and texts, by name.
Parts = tuple[dict[str, Numbers], dict[str, pa.ChunkedArray], dict[str, list[str]]]

#: What a unit is of features that are no column of the file.
WORDS = "a word's unit is its TF-IDF in a text: from 0, not in it, to 1, the only word in it that the model knows"
PRODUCTS = "squares and products are those of differences from the means of the rows of the fit"

#: Rows that are turned from columns into rows at a time.
STRIP = 1 << 12


@dataclass(frozen=True)
class TableEncoding:
    """How a table becomes numbers.

    Numbers are standardised, or taken as they are (`unscaled`); where one is missing it counts as the mean and, if the
    training rows lacked some, a feature says so. Categories have one feature a level, levels that are too rare
    share one. Dates become a number of days, the month and the weekday. Text becomes TF-IDF. All is fitted on the
    training rows only.

    Attributes
    ----------
    columns : tuple of Column
    numbers : dict
        name → mean, scale, whether the training rows lacked some, and what a missing one counts as.
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
    decimal : str or None
        What sets decimals apart in the file, where it is text.

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
    numbers: dict[str, Standard]
    levels: dict[str, list[str]]
    words: dict[str, tuple[list[str], list[float]]]
    degree: int = 1
    target: str | None = None
    header: bool = True
    missing: tuple[str, ...] = ()
    decimal: str | None = None

    # -- fitting --------------------------------------------------------------------------------------------------

    @classmethod
    def of(
        cls,
        statistics: TableStatistics,
        *,
        degree: int = 1,
        target: str | None = None,
        header: bool = True,
        missing: tuple[str, ...] = (),
        decimal: str | None = None,
    ) -> TableEncoding:
        """Return the encoding that training rows ask for, by what was counted of them.

        Parameters
        ----------
        statistics : TableStatistics
            Of all columns but the target.
        degree : int, default=1
        target, header, missing, decimal
            Kept for those who read the encoding.
        """
        if degree < 1:
            raise DataError(f"--degree {degree} is not possible: 1 is the columns alone, 2 adds squares and products")
        unfitted = cls(statistics.columns, {}, {}, {}, degree, target, header, missing, decimal)
        return unfitted._with(statistics.state())

    @classmethod
    def fit(
        cls,
        table: pa.Table,
        *,
        kinds: Mapping[str, str] | None = None,
        around: Circumstances | None = None,
        counted: pa.Table | None = None,
        **kept: Any,
    ) -> TableEncoding:
        """Look at training rows and decide.

        Parameters
        ----------
        table : pyarrow.Table
            Without the target.
        kinds : mapping of str to {"number", "category", "date", "date dmy", "date mdy", "text", "ignored"}, optional
            What the user says that columns are.
        around : Circumstances, optional
        counted : pyarrow.Table, optional
            The rows as often as they count, where that is not once.
        kept
            What `of` takes.
        """
        around = around or Circumstances()
        said = {
            name: Column.said(name, role) for name, role in roles(kinds or {}, table.column_names, around.file).items()
        }
        statistics = TableStatistics(table.schema, said, around)
        statistics.add(table, counted)
        return cls.of(statistics, **kept)

    def refit(self, table: pa.Table) -> TableEncoding:
        """Return the same columns, encoded by what other training rows show."""
        table = table.select([column.name for column in self.columns])
        statistics = TableStatistics(table.schema, {column.name: column for column in self.columns})
        statistics.add(table)
        return self._with(statistics.state())

    @property
    def is_scaled(self) -> bool:
        """Whether features are in other units than the columns of numbers that they are made of."""
        return any((one.mean, one.scale) != (0, 1) for one in self.numbers.values())

    def unscaled(self) -> TableEncoding:
        """Return the same with numbers as they are in the file: what is proven of them is then said of the file.

        What is missing still counts as the mean: as 0, far from the others, it would be what the column says most.

        Examples
        --------
        >>> TableEncoding.fit(pa.table({"age": [20.0, 40.0]})).unscaled().transform(pa.table({"age": [30.0, None]}))
        array([[30.],
               [30.]])
        """
        return replace(self, numbers={name: one._replace(mean=0.0, scale=1.0) for name, one in self.numbers.items()})

    def _with(self, state: State) -> TableEncoding:
        """Return the same columns with what training rows say of them; one with nothing to tell is set aside."""
        empty = {name for kept in (state.levels, state.words) for name, found in kept.items() if not found}
        aside = "no value occurs twice"
        columns = [Column(one.name, "ignored", aside) if one.name in empty else one for one in self.columns]
        words = {name: found for name, found in state.words.items() if found}
        levels = {name: kept for name, kept in state.levels.items() if kept}
        if not (state.numbers or levels or words):
            raise DataError("no column is left to learn from: all are constant, identifiers or set aside")
        return replace(self, columns=tuple(columns), numbers=state.numbers, levels=levels, words=words)

    def _parts(self, table: pa.Table, name: str = "data") -> Parts:
        """Return the values of numbers, categories and texts; a date gives some of each."""
        numbers = self._plain_numbers(table, name)
        categories: dict[str, pa.ChunkedArray] = {}
        texts: dict[str, list[str]] = {}
        for column in self.columns:
            if column.kind in ("ignored", "number"):
                continue
            values = column_of(table, column.name, name)
            if column.kind == "category":
                categories[column.name] = strings(values)
            elif column.kind == "text":
                texts[column.name] = ["" if text is None else text for text in strings(values).to_pylist()]
            else:
                moment = moments_in_time(values, column.name, name, column.form)
                numbers[f"{column.name} in days"] = floats(moment.cast(pa.int64()), column.name, name) / 86_400e3
                categories[f"month of {column.name}"] = strings(pc.month(moment))
                categories[f"weekday of {column.name}"] = strings(pc.day_of_week(moment))
        return numbers, categories, texts

    def _plain_numbers(self, table: pa.Table, name: str) -> dict[str, Numbers]:
        numbers = [column for column in self.columns if column.kind == "number"]
        columns = [column_of(table, column.name, name) for column in numbers]
        found: list[Numbers] = [np.empty(0)] * len(numbers)

        def convert(j: int) -> None:
            one, values = numbers[j], columns[j]
            form = one.form or self.decimal or ""
            # What is a number as it is becomes an array strip by strip: at once it would take as much memory again.
            found[j] = as_seen(values) if is_plain(values) else floats(values, one.name, name, form)

        in_threads(convert, range(len(numbers)), each=table.num_rows)
        return {column.name: values for column, values in zip(numbers, found, strict=True)}

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
        written = {column.name: pa.string() for column in self.columns if column.form}
        return {column.name: of_kind[column.kind] for column in self.columns if column.kind in of_kind} | written

    def written(self, decimal: str | None) -> TableEncoding:
        """Return the same for files that write their decimals with another mark."""
        if decimal is None:
            return self
        columns = [
            replace(one, form=decimal + one.form[1:]) if one.kind == "number" and one.form else one
            for one in self.columns
        ]
        return replace(self, columns=tuple(columns), decimal=decimal)

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
        mean, scale, *_ = (np.array(part).reshape(-1, 1) for part in zip(*self.numbers.values(), strict=True))
        instead = np.array([[one.filled] for one in self.numbers.values()])
        scaled = np.empty((n, len(columns)))

        def fill(first: int) -> None:
            strip = np.empty((len(columns), min(STRIP, n - first)))
            for j, column in enumerate(columns):
                strip[j] = column[first : first + STRIP]
            strip -= mean  # as scikit-learn's StandardScaler does, to the last bit
            strip /= scale
            if (missing := np.isnan(strip)).any():
                np.copyto(strip, instead, where=missing)
            scaled[first : first + STRIP] = strip.T

        # Columns become rows strip by strip, each of which stays in the cache.
        in_threads(fill, range(0, n, STRIP), each=STRIP * len(columns))
        yield scaled if self.degree == 1 else self.polynomial().transform(scaled)
        lacking = [column for column, one in zip(columns, self.numbers.values(), strict=True) if one.lacking]
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

    @property
    def n_features(self) -> int:
        """How many features there are."""
        products = math.comb(len(self.numbers) + self.degree, self.degree) - 1
        lacking = sum(one.lacking for one in self.numbers.values())
        words = sum(len(kept) for kept, _ in self.words.values())
        return products + lacking + sum(map(len, self.levels.values())) + words

    def _check_parts(self) -> None:
        """Raise unless the numbers, levels and words are those of the columns."""
        if len({column.name for column in self.columns}) < len(self.columns):
            raise ValueError("a column stands there twice")
        if self.degree < 1:
            raise ValueError(f"the degree is {self.degree}")
        kinds = {kind: [column.name for column in self.columns if column.kind == kind] for kind in KINDS}
        days = [f"{name} in days" for name in kinds["date"]]
        parts = [f"{part} of {name}" for name in kinds["date"] for part in ("month", "weekday")]
        for what, known in (("numbers", kinds["number"] + days), ("levels", kinds["category"] + parts)):
            if unknown := set(getattr(self, what)) - set(known):
                raise ValueError(f"{unknown.pop()!r} is no column with {what}")
        if unknown := set(self.words) - set(kinds["text"]):
            raise ValueError(f"{unknown.pop()!r} is no column of text")

    # -- reading back ---------------------------------------------------------------------------------------------

    def _number_names(self) -> list[str]:
        names = list(self.numbers)
        if self.degree == 1 or not names:
            return names
        powers = self.polynomial().powers_
        return [" × ".join(f"{names[j]}^{k}" if k > 1 else names[j] for j, k in enumerate(row) if k) for row in powers]

    @property
    def names(self) -> list[str]:
        """One a feature."""
        lacking = [f"{name} is missing" for name, one in self.numbers.items() if one.lacking]
        levels = [f"{name} = {level_called(name, level)}" for name, kept in self.levels.items() for level in kept]
        words = [f"{name}: {word}" for name, (kept, _) in self.words.items() for word in kept]
        return [*self._number_names(), *lacking, *levels, *words]

    @property
    def sources(self) -> list[str]:
        """The column that each feature is made of; a product is its own."""
        lacking = [name for name, one in self.numbers.items() if one.lacking]
        levels = [name for name, kept in self.levels.items() for _ in kept]
        words = [name for name, (kept, _) in self.words.items() for _ in kept]
        return [*self._number_names(), *lacking, *levels, *words]

    @property
    def origins(self) -> list[str]:
        """The column of the file that each feature is made of: as `sources`, but one for all parts of a date."""
        dates = [column.name for column in self.columns if column.kind == "date"]
        parts = {part: name for name in dates for part in (f"{name} in days", f"month of {name}", f"weekday of {name}")}
        return [parts.get(source, source) for source in self.sources]

    @property
    def units(self) -> dict[str, str]:
        """What the values of each column are written with, such as kg; "" where it is nothing."""
        return {column.name: column.unit for column in self.columns}

    def original_scale(self, coef: FloatArray, intercept: FloatArray) -> Scaled:
        """Return the coefficients per unit of each column, and the intercept where all numbers are 0.

        ``w (x − m)/s = (w/s) x − w m/s``. Products stay products of deviations from the means: ``w/(s t)`` times
        ``(x − m)(y − n)``.
        """
        coef, intercept = coef.copy(), intercept.copy()
        if not self.numbers:
            return Scaled(self.names, coef, intercept, self._notes())
        mean, scale, *_ = (np.array(part) for part in zip(*self.numbers.values(), strict=True))
        powers = np.eye(len(mean), dtype=int) if self.degree == 1 else self.polynomial().powers_
        count = len(powers)
        coef[:, :count] /= np.prod(scale[None, :] ** powers, axis=1)
        single = np.flatnonzero(powers.sum(axis=1) == 1)
        intercept -= coef[:, single] @ mean[powers[single].argmax(axis=1)]
        return Scaled(self.names, coef, intercept, self._notes())

    def _notes(self) -> tuple[str, ...]:
        """Say what a unit is of words, and of products that are not those of the file's numbers."""
        products = self.degree > 1 and any(one.mean for one in self.numbers.values())
        return (PRODUCTS,) * products + (WORDS,) * bool(self.words)

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
            "decimal": self.decimal,
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> TableEncoding:
        """Read what `to_dict` wrote."""
        try:
            columns = tuple(Column(**column) for column in data["columns"])
            parts = [part for column in columns for part in (column.name, column.kind, column.note, column.form)]
            reading.items({"columns": parts}, "columns", reading.text)
            if unknown := {column.kind for column in columns} - set(KINDS):
                raise ValueError(f"no column is {unknown.pop()!r}")
            for column in columns:
                _check_form(column)
            found = cls(
                columns,
                {name: _scale_read(*state) for name, state in data["numbers"].items()},
                {name: _levels_read(data["levels"], name) for name in reading.section(data, "levels")},
                {name: _words_read(*state) for name, state in data["words"].items()},
                reading.count(data, "degree"),
                None if data["target"] is None else reading.text(data, "target"),
                bool(data["header"]),
                tuple(reading.items(data, "missing", reading.text)),
                None if data.get("decimal") is None else _mark(reading.text(data, "decimal")),
            )
            found._check_parts()
            return found
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise DataError(f"the model's encoding is damaged ({error!r}); fit the model again") from error


def _scale_read(mean: Any, scale: Any, lacking: Any, fill: Any = None) -> Standard:
    """Read how a number is scaled; where a file of version 4 or earlier has no `fill`, a missing one is a feature 0."""
    state = {"mean": mean, "scale": scale, "lacking": lacking, "fill": mean if fill is None else fill}
    if not reading.number(state, "scale") > 0:
        raise ValueError(f"{scale!r} is no standard deviation")
    mean, scale, fill = (reading.number(state, name) for name in ("mean", "scale", "fill"))
    return Standard(mean, scale, reading.flag(state, "lacking"), fill)


def _levels_read(levels: Mapping[str, Any], name: str) -> list[str]:
    found = reading.items(levels, name, reading.text)
    if not found or len(set(found)) < len(found):
        raise ValueError(f"{name!r} has no levels, or one twice")
    return found


def _words_read(words: Any, idf: Any) -> tuple[list[str], list[float]]:
    if not isinstance(words, list) or set(map(type, words)) != {str}:  # one by one only to say which
        words = reading.items({"words": words}, "words", reading.text)
    if not isinstance(idf, list) or not set(map(type, idf)) <= {int, float}:
        idf = reading.items({"idf": idf}, "idf", reading.number)
    if not words or len(set(words)) < len(words) or len(idf) != len(words):
        raise ValueError("a text needs words, all different, and one number for each")
    return words, [float(value) for value in idf]


def _mark(decimal: str) -> str:
    if decimal not in DECIMALS:
        raise ValueError(f"{decimal!r} sets no decimals apart")
    return decimal


def _check_form(column: Column) -> None:
    """Raise for a way of writing that is none of the column's kind."""
    if column.kind == "number" and column.form:
        _mark(column.form[:1])
    elif column.form and not (column.kind == "date" and column.form in ORDERS):
        raise ValueError(f"no {column.kind} is written as {column.form!r}")
