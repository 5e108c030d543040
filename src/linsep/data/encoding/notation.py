"""Numbers and dates as people write them: 1.234,56 €, 12 %, 5.2 bar, 31.01.2021, 01/31/2021 5:30 PM, 31 Jan 2021."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

#: What sets decimals apart.
DECIMALS = (".", ",")
#: In which order day, month and year are written; a year that comes first leaves no doubt, nor does a month by name.
ORDERS = ("ymd", "dmy", "mdy", "named")
#: The names of months, in English and in German, in small letters.
MONTHS = (
    *("jan(?:uary?)?|jän(?:ner)?", "feb(?:ruary?)?", "mar(?:ch)?|märz?|mrz", "apr(?:il)?", "may|mai", "jun[ei]?"),
    *("jul[yi]?", "aug(?:ust)?", "sept?(?:ember)?", "o[ck]t(?:ober)?", "nov(?:ember)?", "de[cz](?:ember)?"),
)
#: A word in these languages; RE2 and Python do not share one for letters.
WORD = "[A-Za-zÄÖÜäöüß]{2,10}"
UNIT = r"(?:\p{Sc}|EUR|USD|GBP|CHF|JPY|CNY|INR|AUD|CAD|SEK|NOK|DKK|PLN|CZK|HUF|TRY|BRL|Fr\.|kr\.?|zł|%)"
#: What stands behind a measurement only. Single letters are left out: 12 A may be a seat, 3 m three million.
MEASURE = (
    r"(?:°[CF]?|m?bar|psi|[hkM]?Pa|[nµμmck]m|ft|kg|mg|lbs?|oz|m[lL]|[kM]W|[kM]?Wh|k[VAJN]|m[VA]|[kMG]?Hz|rpm|Nm|dB|ppm|ms"
    r"|min|[mck]?m/s²?|km/h|mph|[lL]/min|m[²³]|[kMGT]B)"
)
#: What is a unit where all values have it.
SHARED = r"(?:[VAWΩmshgtlLKNJCFd]|\s[A-Za-zÄÖÜäöüß]{2,12}\.?)"
SPACES = " '’\u00a0\u202f"
MINUS = "−-"
TIME = (
    r"(?:[T ,]+(?P<H>[0-9]{1,2}):(?P<M>[0-9]{2})(?::(?P<S>[0-9]{2})(?:[.,](?P<F>[0-9]{1,9}))?)?"
    r"\s*(?P<P>[AaPp]\.?[Mm]\.?)?(?:Uhr)?\s*(?P<Z>Z|[+-][0-9]{2}:?[0-9]{2})?)?"
)
NAME = rf"(?i:{'|'.join(MONTHS)})"
DATE = {
    "ymd": r"(?P<y>[0-9]{4})[./-](?P<m>[0-9]{1,2})[./-](?P<d>[0-9]{1,2})",
    "dmy": r"(?P<d>[0-9]{1,2})[./-](?P<m>[0-9]{1,2})(?:[./-](?P<y>[0-9]{4})|[./](?P<s>[0-9]{2}))",
    # whoever writes dots writes the day first
    "mdy": r"(?P<m>[0-9]{1,2})[/-](?P<d>[0-9]{1,2})(?:[/-](?P<y>[0-9]{4})|/(?P<s>[0-9]{2}))",
    # Fri, 31 Jan 2021; 31. Januar 2021; 31-Jan-21; January 31st, 2021
    "named": (
        rf"(?:{WORD}\.?,?\s+)?(?:(?P<d>[0-9]{{1,2}})(?:\.|st|nd|rd|th)?[\s-]*(?P<m>{NAME})"
        rf"|(?P<n>{NAME})\.?\s*(?P<e>[0-9]{{1,2}})(?:st|nd|rd|th)?)[\s.,-]+(?:(?P<y>[0-9]{{4}})|(?P<s>[0-9]{{2}}))"
    ),
}
#: A year of two digits below this is of this century.
CENTURY = 69


def as_numbers(
    values: pa.ChunkedArray, decimal: str, unit: str = "", *, shared: bool = False
) -> tuple[pa.ChunkedArray, pa.ChunkedArray]:
    """Return numbers, null where the text is none, and the unit that each is written with, or "".

    Thousands may be set apart, by whichever of point and comma does not set decimals apart, by spaces or apostrophes.
    Units are those that leave no doubt, with `shared` others too (230 V, 36 months); or the one that is given.

    Examples
    --------
    >>> numbers, units = as_numbers(pa.chunked_array([["1.234,56 €", "-7", "1.5", None]]), ",")
    >>> numbers.to_pylist(), units.to_pylist()
    ([1234.56, -7.0, None, None], ['€', '', None, None])
    """
    parts = pc.extract_regex(values, f"^{number_pattern(decimal, f'(?:{re.escape(unit)})' if unit else '', shared)}$")
    if parts.null_count == len(parts):  # as of most columns of text
        return _nulls(parts, pa.float64()), _nulls(parts, pa.string())
    digits = pc.replace_substring_regex(_part(parts, "digits"), f"[{group_marks(decimal)}]", "")
    if decimal != ".":
        digits = pc.replace_substring(digits, decimal, ".")
    signs = pc.binary_join_element_wise(_part(parts, "sign"), _part(parts, "minus"), "")
    minus = pc.if_else(pc.match_substring_regex(signs, f"[{MINUS}]"), "-", "")
    numbers = pc.binary_join_element_wise(minus, digits, _part(parts, "power"), "").cast(pa.float64())
    return numbers, pc.binary_join_element_wise(
        _part(parts, "before"), pc.utf8_trim_whitespace(_part(parts, "after")), ""
    )


def leaves_no_doubt(units: Iterable[str]) -> bool:
    """Whether one of some units is none but a unit.

    Examples
    --------
    >>> leaves_no_doubt(["A", "B"]), leaves_no_doubt(["m", "km"])
    (False, True)
    """
    return bool(pc.any(pc.match_substring_regex(pa.array(units, pa.string()), f"^(?:{UNIT}|{MEASURE})$")).as_py())


def group_marks(decimal: str) -> str:
    """Return what may set thousands apart."""
    return SPACES + ("." if decimal == "," else ",")


def number_pattern(decimal: str, unit: str = "", shared: bool = False) -> str:
    """Return what matches a number with or without a unit, any or that one, in the syntax that RE2 and Python share."""
    before, after = unit or UNIT, unit or f"(?:{UNIT}|{MEASURE}{f'|{SHARED}' if shared else ''})"
    groups = rf"[1-9][0-9]{{0,2}}(?:[{group_marks(decimal)}][0-9]{{3}})+"
    return (
        rf"\s*(?P<sign>[+{MINUS}]?)\s*(?P<before>{before}?)\s*(?P<minus>[+{MINUS}]?)"
        rf"(?P<digits>(?:{groups}|[0-9]+)(?:[{decimal}][0-9]*)?|[{decimal}][0-9]+)(?P<power>(?:[eE][+-]?[0-9]+)?)"
        rf"[\s{SPACES[-2:]}]*(?P<after>{after}?)\s*"
    )


def as_moments(values: pa.ChunkedArray, order: str) -> pa.ChunkedArray:
    """Return moments in milliseconds, null where the text is no date in that order, with or without a time of day.

    Examples
    --------
    >>> [str(moment) for moment in as_moments(pa.chunked_array([["31.01.2021", "1/2/2021 5:30 PM"]]), "dmy")]
    ['2021-01-31 00:00:00', '2021-02-01 17:30:00']
    """
    parts = pc.extract_regex(values, f"^{moment_pattern(order)}$")
    if parts.null_count == len(parts):  # as of most columns of text, in most of these orders
        return _nulls(parts, pa.timestamp("ms"))
    year, (month, day) = _year(parts), _month_and_day(parts)
    # a day beyond the month's last lies in the next one
    months = (year - 1970).astype("M8[Y]").astype("M8[M]") + (month - 1)
    days = months.astype("M8[D]") + (day - 1)
    hour, after = _whole(parts, "H"), pc.fill_null(_part(parts, "P"), "")
    is_pm, is_timed = (np.asarray(pc.match_substring_regex(after, one)) for one in ("^[Pp]", "."))
    minute, second = _whole(parts, "M"), _whole(parts, "S")
    real = (month >= 1) & (month <= 12) & (day >= 1) & (days.astype("M8[M]") == months)
    real &= (hour < 24) & (minute < 60) & (second < 60) & (~is_timed | ((hour >= 1) & (hour <= 12)))
    hour = np.where(is_timed, hour % 12 + 12 * is_pm, hour)
    seconds = 3600 * hour + 60 * (minute - _offset(parts)) + second
    moments = days.astype("M8[ms]").astype(np.int64) + 1000 * seconds + _thousandths(parts)
    lacks = ~real | np.asarray(pc.is_null(parts))
    return pa.chunked_array([pa.array(moments, type=pa.int64(), mask=lacks).cast(pa.timestamp("ms"))])


def moment_pattern(order: str) -> str:
    """Return what matches a date in that order, in the syntax that RE2 and Python share."""
    return rf"\s*{DATE[order]}{TIME}\s*"


def _nulls(parts: Any, kind: pa.DataType) -> pa.ChunkedArray:
    return pa.chunked_array([pa.nulls(len(parts), kind)])


def _part(parts: Any, name: str) -> Any:
    return pc.struct_field(parts, name)


def _whole(parts: Any, name: str) -> NDArray[np.int64]:
    """Return a part as whole numbers, 0 where it is absent."""
    text = pc.fill_null(_part(parts, name), "")
    return np.asarray(pc.if_else(pc.equal(text, ""), "0", text).cast(pa.int64()), dtype=np.int64)


def _month_and_day(parts: Any) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    if "n" not in [field.name for field in parts.type]:
        return _whole(parts, "m"), _whole(parts, "d")
    name = pc.utf8_lower(pc.binary_join_element_wise(_part(parts, "m"), _part(parts, "n"), ""))
    month = np.zeros(len(name), dtype=np.int64)
    for k, beginning in enumerate(MONTHS):
        month[np.asarray(pc.fill_null(pc.match_substring_regex(name, f"^(?:{beginning})"), False))] = k + 1
    return month, _whole(parts, "d") + _whole(parts, "e")


def _year(parts: Any) -> NDArray[np.int64]:
    year = _whole(parts, "y")
    if "s" not in [field.name for field in parts.type]:
        return year
    short = _whole(parts, "s")
    return np.where(year > 0, year, short + np.where(short < CENTURY, 2000, 1900))


def _offset(parts: Any) -> NDArray[np.int64]:
    """Return how many minutes the clocks of the time zone are ahead."""
    zone = pc.replace_substring(pc.fill_null(_part(parts, "Z"), ""), ":", "")
    zone = pc.if_else(pc.match_substring_regex(zone, "^[+-]"), pc.replace_substring(zone, "+", ""), "0")
    clock = np.asarray(zone.cast(pa.int64()), dtype=np.int64)
    return np.asarray(np.sign(clock) * (np.abs(clock) // 100 * 60 + np.abs(clock) % 100))


def _thousandths(parts: Any) -> NDArray[np.int64]:
    digits = pc.fill_null(_part(parts, "F"), "")
    return np.asarray(pc.utf8_slice_codeunits(pc.utf8_rpad(digits, 3, "0"), 0, 3).cast(pa.int64()), dtype=np.int64)
