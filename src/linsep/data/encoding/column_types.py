"""Column types: whether a column holds numbers, categories, dates or text, or is of no use, by what is counted."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

KINDS = ("number", "category", "date", "text", "ignored")
#: A column of text has at least so many words a row, on average.
WORDS = 3
#: From so many words a row on it may be: a name or a code has one.
PHRASE = 2
#: Below this many rows, values that are all different do not make a column an identifier.
FEW = 20
#: Text of which this share of all values is different tells nothing of other rows.
NEARLY_ALL = 0.95
#: Whole numbers with so many different values may be codes; two are as good a number as a category.
CODES = range(3, 13)
#: Of so many rows and more.
ENOUGH = 100
#: A column of text of which more than this share are numbers is a column of numbers with something wrong in it.
MOSTLY = 0.98
#: Where chance would make so many pairs of whole numbers equal, and none is, they seem to name the rows.
PAIRS = 5
#: Below this many rows a share says little.
ENOUGH_ROWS = 50
#: So many different words among numbers, half of the rows at the most, stand for missing values.
ODD = 5

#: So many different values that begin with a digit may be amounts that are written in some other way.
MANY = 100

#: What is said of columns.
ROUNDED = "its whole numbers above 2^53 are rounded; if it identifies something, say --category or --ignore"
FEW_CODES = "whole numbers, few of them different"
NAMES = "whole numbers that differ in nearly every row"
NO_KIND = "its values are neither numbers, dates nor text"
CLOCK = "times of day; write them behind their date in one column, or as hours (14.5), or say --category"
NO_VALUES, ONE_VALUE = "it has no values", "it has one value only"
NUMBERS_ROWS, IDENTIFIES = "it numbers the rows", "it identifies the rows"
DIFFERS = "text that differs in nearly every row; if it is a number or a date, say --numeric or --date"
AMOUNTS = "is taken for a category; where these are amounts, write them as numbers and say --numeric, else --category"
SELDOM = "is taken for a category, of which a level says little that few rows have; for its words say --text"
BY_WORDS = "is taken for its words; where a text as a whole is one of few, say --category"
RARE = "rows have values that too few others have: these share one weight, (other)"
ASKED_FOR = "asked for"


@dataclass(frozen=True)
class Column:
    """What a column is taken for, and why it is set aside if it is.

    Attributes
    ----------
    name : str
    kind : {"number", "category", "date", "text", "ignored"}
    note : str
        What a user should know of it.
    form : str
        How it is written, where it is text: of numbers what sets decimals apart and the unit, ",€"; of dates the
        order, "dmy".
    """

    name: str
    kind: str
    note: str = ""
    form: str = ""

    @property
    def unit(self) -> str:
        """What its numbers are written with, "" for nothing."""
        return self.form[1:] if self.kind == "number" else ""

    @classmethod
    def said(cls, name: str, role: str) -> Column:
        """Return what a user says: a kind and, of dates, the order of their parts.

        Examples
        --------
        >>> Column.said("born", "date dmy")
        Column(name='born', kind='date', note='', form='dmy')
        """
        kind, _, form = role.partition(" ")
        return cls(name, kind, ASKED_FOR if kind == "ignored" else "", form)


def is_date(kind: Any) -> bool:
    """Whether a type is of dates, or of dates with times."""
    return bool(pa.types.is_temporal(kind) and not pa.types.is_time(kind) and not pa.types.is_duration(kind))


def is_text(kind: Any) -> bool:
    """Whether a type is of text."""
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def names_rows(name: str) -> bool:
    """Whether a column is called as identifiers are.

    Examples
    --------
    >>> [name for name in ("PassengerId", "order no", "id", "body_mass_index", "paid") if names_rows(name)]
    ['PassengerId', 'order no', 'id']
    """
    words = re.split(r"[\W_]+", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name.strip()).lower())
    return words[-1] in ("id", "key", "uuid", "number", "no", "nr") or words == ["index"]


def text_type(name: str, words: float, different: float, given: int, digits: float = 0.0) -> Column:
    """Return what a column of text is, by its words a row, its different values, and the share that begin with a digit.

    Examples
    --------
    >>> text_type("pressure", 1.0, 700.0, 3_000, 1.0).note[:63]
    'text of 700 different values, most of which begin with a digit,'
    """
    text = f"text of {different:,.0f} different values"
    if words >= WORDS and different > 0.3 * given:
        return Column(name, "text", f"{text} in {given:,} rows {BY_WORDS}" if MANY < different <= 0.5 * given else "")
    if given >= FEW and different >= NEARLY_ALL * given:
        return Column(name, "ignored", IDENTIFIES if names_rows(name) else DIFFERS)
    if different > MANY and 2 * digits >= 1:
        return Column(name, "category", f"{text}, most of which begin with a digit, {AMOUNTS}")
    seldom = different > MANY and (words >= WORDS or (words >= PHRASE and different > given / 2))
    return Column(name, "category", f"{text} in {given:,} rows {SELDOM}" if seldom else "")


def seem_numbers(numbers: int, given: int, different: int, odd: int) -> bool:
    """Whether numbers among the values of a column mean that the others are mistakes, or stand for missing values.

    Parameters
    ----------
    numbers, given : int
        How many values are numbers, and how many there are.
    different, odd : int
        How many different numbers there are, and how many different other values.
    """
    if given >= ENOUGH_ROWS and numbers >= MOSTLY * given:
        return True
    return given >= ENOUGH_ROWS and odd <= ODD and 2 * numbers >= given and different > FEW
