"""A model as a list of SQL expressions: the prediction, and the probability of each class."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

from ..data.encoding import EXAMPLES, MONTHS, WORD, group_marks
from ..data.sources import DataError
from .terms import Category, Model, Number, Text, model_terms


def to_sql(found: Any, dialect: str | None = None) -> str:
    """Return what stands between SELECT and FROM: ``… AS prediction`` and, where there are some, probabilities.

    It is standard SQL that SQLite and DuckDB read alike; columns are named as in the file the model was fitted on.
    Numbers are columns of numbers, or text as that file writes them, such as 1.234,56 €. What is missing is NULL, or
    what stands for it in that file, such as text that is empty, which is how SQLite imports it. Dates are columns of
    dates, of timestamps without a time zone, or text such as 2024-01-31 or 2024-01-31 12:30:00. Text is taken apart
    into words, and dates such as 31.01.2024 are read, by functions of DuckDB, which no other dialect has. Shares by
    isotonic regression are looked up in a query of their own, which DuckDB joins to the rows, and their order is then
    not the table's: in its dialect there is a list instead, and the order stays.

    Parameters
    ----------
    found : ModelFile
    dialect : {"duckdb", "sqlite"}, optional
        Whose functions may be used; only those of both, if it is not said.
    """
    model = model_terms(found)
    if model.texts and dialect != "duckdb":
        who = "SQLite has no function that takes it" if dialect == "sqlite" else "standard SQL does not take"
        raise DataError(
            f"column {model.texts[0].name!r} is text, and {who} apart into words; use --dialect duckdb, or --to python "
            "or onnx"
        )
    if dialect != "duckdb" and (date := next((name for name, form in model.dates.items() if form in STRPTIME), None)):
        who = "SQLite has no function that reads them" if dialect == "sqlite" else "standard SQL does not read them"
        raise DataError(
            f"column {date!r} has dates such as {EXAMPLES[model.dates[date]]}, and {who}; use --dialect duckdb, or "
            f"--to python or onnx; or write them as {EXAMPLES['']} and fit again"
        )
    scores = [f"({_score(model, k)})" for k in range(len(model.intercept))]
    lines = [f"{_prediction(model, scores)} AS prediction"]
    for label, share in zip(model.classes, _probabilities(model, scores, dialect), strict=False):
        lines.append(f"{share} AS {_name(f'probability_{label}')}")
    return ",\n".join(lines)


def _name(column: str) -> str:
    return '"' + column.replace('"', '""') + '"'


def _value(model: Model, name: str) -> str:
    """Return the column of that name, or the part of a date that it stands for."""
    column, part = model.date_parts.get(name, (name, None))
    if part is None:
        return _name(column)
    if model.dates[column] in STRPTIME:
        return _by_duckdb(_name(column), model.dates[column], part)
    text = f"CAST({_name(column)} AS VARCHAR)"
    month = f"CAST(SUBSTR({text}, 6, 2) AS INTEGER)"
    day = _day(text, month)
    weekday = f"CAST({day} + 3 - 7 * FLOOR(({day} + 3) / 7e0) AS INTEGER)"
    found = {"month": month, "weekday": weekday, "days": _days(text, day)}[part]
    return f"CASE WHEN SUBSTR({text}, 5, 1) = '-' THEN {found} END"  # other text stands for a missing one


#: How DuckDB reads dates whose day or month comes first, dots between them; and times of day. It takes 21 for a year of
#: four digits, too, so those of two come first.
STRPTIME = {"dmy": ("%d.%m.%y", "%d.%m.%Y"), "mdy": ("%m.%d.%y", "%m.%d.%Y")}
STRPTIME["named"] = STRPTIME["dmy"]  # once the name is a number
TIMES = ("", " %H:%M", " %H:%M:%S", " %H:%M:%S.%g", " %I:%M %p", " %I:%M:%S %p")


def _by_duckdb(column: str, order: str, part: str) -> str:
    """Return the part of a date that is a date or text in that order."""
    text = f"NULLIF(REGEXP_EXTRACT(CAST({column} AS VARCHAR), '.*[0-9].*'), '')"  # other text stands for a missing one
    text = _numbered(text) if order == "named" else text
    dots = f"TRANSLATE(TRIM(REGEXP_REPLACE({text}, '[T ,]+', ' ', 'g')), '/-', '..')"
    forms = ", ".join(_literal(day + time) for day in STRPTIME[order] for time in TIMES)
    moment = f"CASE WHEN {_is_text(column)} THEN STRPTIME({dots}, [{forms}]) ELSE CAST({column} AS TIMESTAMP) END"
    parts = {"days": "EPOCH_MS({}) / 86400e3", "month": "MONTH({})", "weekday": "(ISODOW({}) - 1)"}
    return parts[part].format(moment)


def _numbered(text: str) -> str:
    """Return a date with the name of its month, Jan 31st, 2021, as one in numbers: 31.01.2021."""
    steps = [
        (rf"^\s*(?:{WORD}[.,]*\s+)?({WORD})[.]?\s*([0-9]{{1,2}})(?:st|nd|rd|th)?[\s,-]+", r"\2.\1."),
        (rf"^\s*(?:{WORD}[.,]*\s+)?([0-9]{{1,2}})(?:[.]|st|nd|rd|th)?[\s-]*({WORD})[\s.,-]+", r"\1.\2."),
        *((rf"[.](?:{name})[.]", f".{k + 1:02}.") for k, name in enumerate(MONTHS)),
    ]
    for pattern, instead in steps:
        text = f"REGEXP_REPLACE({text}, {_literal(pattern)}, {_literal(instead)}, 'i')"
    return text


def _is_text(column: str) -> str:
    return f"LOWER(TYPEOF({column})) IN ('varchar', 'text')"


def _digits(column: str, form: str) -> str:
    """Return the text of a number without unit and marks of thousands, and with a decimal point."""
    text = f"CAST({column} AS VARCHAR)"
    if not form:
        return text
    for mark in filter(None, [form[1:], *group_marks(form[0]), "+"]):
        text = f"REPLACE({text}, {_literal(mark)}, '')"
    for mark, instead in ((form[0], "."), ("−", "-")):
        text = f"REPLACE({text}, {_literal(mark)}, '{instead}')" if mark != instead else text
    return text


#: Days from the first of March to the first of each month, January the first.
BEFORE_MONTH = (306, 337, 0, 31, 61, 92, 122, 153, 184, 214, 245, 275)


def _day(text: str, month: str) -> str:
    """Return the number of a day, 0 on 1970-01-01; years begin in March, so that a leap day comes last."""
    year = f"(CAST(SUBSTR({text}, 1, 4) AS INTEGER) - CASE WHEN {month} <= 2 THEN 1 ELSE 0 END)"
    leaps = f"FLOOR({year} / 4e0) - FLOOR({year} / 100e0) + FLOOR({year} / 400e0)"
    before = " ".join(f"WHEN {k} THEN {days}" for k, days in enumerate(BEFORE_MONTH, start=1))
    return f"(365 * {year} + {leaps} + CASE {month} {before} END + CAST(SUBSTR({text}, 9, 2) AS INTEGER) - 719469)"


def _days(text: str, day: str) -> str:
    """Return days since 1970 with the time of day, to the millisecond."""
    clock = [f"COALESCE(CAST(NULLIF(SUBSTR({text}, {at}, 2), '') AS INTEGER), 0)" for at in (12, 15, 18)]
    rest = f"CASE WHEN SUBSTR({text}, 20, 1) = '.' THEN CAST('0' || SUBSTR({text}, 20, 4) AS DOUBLE) ELSE 0e0 END"
    return f"({day} + (3600 * {clock[0]} + 60 * {clock[1]} + {clock[2]} + {rest}) / 86400e0)"


def _given(model: Model, number: Number) -> str:
    """Return a number, or NULL where it is missing.

    That is where it is NaN, which DuckDB takes for the largest of all and SQLite does not know, and where it is a word,
    which SQLite takes for 0; and where the file says that a number, such as -999, stands for that.
    """
    if number.name in model.date_parts:
        return _value(model, number.name)
    column = _name(number.name)
    text, value = _digits(column, number.form), f"CAST({column} AS DOUBLE)"
    if number.form:
        value = f"CASE WHEN {_is_text(column)} THEN CAST({text} AS DOUBLE) ELSE {value} END"
    is_word = f"{_is_text(column)} AND NOT SUBSTR(LTRIM({text}, ' +-.'), 1, 1) BETWEEN '0' AND '9'"
    codes = "".join(f" AND {value} <> {_number(code)}" for code in _codes(model.words, number.form))
    return f"CASE WHEN {is_word} THEN NULL WHEN {value} - {value} = 0{codes} THEN {value} END"


def _codes(words: Sequence[str], form: str) -> list[float]:
    """Return the numbers among the words for a missing value."""
    found = []
    for word in words:
        try:
            found.append(float(word.replace(form[:1] or ".", ".")))
        except ValueError:
            continue
    return [code for code in found if math.isfinite(code)]


def _literal(value: Any) -> str:
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    return repr(value) if isinstance(value, int | float) else "'" + str(value).replace("'", "''") + "'"


def _number(value: float) -> str:
    """A literal that is floating point everywhere: DuckDB takes 0.1 for a decimal."""
    return f"{value:.17e}" if value else "0e0"


def _score(model: Model, k: int) -> str:
    terms = [_number(model.intercept[k])]
    for powers, weights in model.products:
        if weights[k]:
            factors = [_standardised(model, j) for j, power in powers.items() for _ in range(power)]
            terms.append(" * ".join([_number(weights[k]), *factors]))
    terms += [
        f"CASE WHEN {_given(model, number)} IS NULL THEN {_number(number.missing[k])} ELSE 0e0 END"
        for number in model.numbers
        if number.missing and number.missing[k]
    ]
    terms += [_case(model, category, k) for category in model.categories]
    terms += [_words(model, text, k) for text in model.texts]
    return "\n  + ".join(terms)


def _standardised(model: Model, j: int) -> str:
    number = model.numbers[j]
    value = _given(model, number)
    if (number.mean, number.scale) == (0.0, 1.0):
        return f"COALESCE({value}, {_number(number.fill)})"
    return f"COALESCE((({value}) - {_number(number.mean)}) / {_number(number.scale)}, {_number(number.fill)})"


def _case(model: Model, category: Category, k: int) -> str:
    """A level is compared as text, because a category may be written in digits."""
    value = _value(model, category.name)
    levels = " ".join(f"WHEN {_literal(level)} THEN {_number(w[k])}" for level, w in category.levels.items())
    known = (
        f"CASE CAST({value} AS VARCHAR) {levels} ELSE {_number(category.other[k])} END"
        if levels
        else _number(category.other[k])
    )
    is_missing = f"{value} IS NULL"
    if category.name not in model.date_parts:
        words = ", ".join(_literal(word) for word in model.words if word not in category.levels)
        is_missing += f" OR CAST({value} AS VARCHAR) IN ({words})"
    return f"CASE WHEN {is_missing} THEN {_number(category.missing[k])} ELSE {known} END"


def _words(model: Model, text: Text, k: int) -> str:
    """TF-IDF of the words, (1 + ln count) · idf, made one long, times their weights; in the dialect of DuckDB."""
    column, missing = f"CAST({_name(text.name)} AS VARCHAR)", ", ".join(map(_literal, model.words))
    given = f"CASE WHEN {column} IS NULL OR {column} IN ({missing}) THEN '' ELSE {column} END"
    found = f"regexp_extract_all(LOWER({given}), '[\\p{{L}}\\p{{N}}_]{{2,}}')"
    known = f"[{', '.join(map(_literal, text.words))}]"
    damped = f"(1e0 + LN(LEN([v FOR v IN {found} IF v = u])))"

    def total(numbers: Iterable[float], power: int) -> str:
        each = f"({damped} * [{', '.join(map(_number, numbers))}][list_position({known}, u)])"
        every = f"{each} * {each}" if power == 2 else each
        return f"list_sum([{every} FOR u IN list_distinct({found}) IF list_contains({known}, u)])"

    idf = [one for one, _ in text.words.values()]
    weighed = [one * weights[k] for one, weights in text.words.values()]
    return f"COALESCE({total(weighed, 1)} / SQRT({total(idf, 2)}), 0e0)"


def _log_odds(scores: Sequence[str], k: int) -> str:
    """Minus the logarithm of Σ e^g over the other classes, all relative to the score of this one."""
    others = " + ".join(f"EXP({other} - {scores[k]})" for m, other in enumerate(scores) if m != k)
    return f"(-LN({others}))"


def _looked_up(dialect: str | None, score: str, scores: Sequence[float], shares: Sequence[float]) -> str:
    """Straight lines between points; the score is computed once, in a table or a list of its own."""
    cases, x, p = [f"WHEN linsep_g <= {_number(scores[0])} THEN {_number(shares[0])}"], scores, shares
    for k in range(1, len(x)):
        rise = _number((p[k] - p[k - 1]) / (x[k] - x[k - 1]))
        line = f"{_number(p[k - 1])} + {rise} * (linsep_g - {_number(x[k - 1])})"
        cases.append(f"WHEN linsep_g <= {_number(x[k])} THEN {line}")
    found = f"CASE {' '.join(cases)} ELSE {_number(p[-1])} END"
    if dialect == "duckdb":
        return f"[{found} FOR linsep_g IN [{score}]][1]"
    return f"(SELECT {found} FROM (SELECT {score} AS linsep_g) AS linsep_scores)"


def _prediction(model: Model, scores: Sequence[str]) -> str:
    if len(scores) == 1:
        no, yes = map(_literal, model.classes)
        wins = "> 0" if model.threshold is None else f">= {_number(model.threshold)}"
        return f"CASE WHEN {scores[0]} {wins} THEN {yes} ELSE {no} END"
    cases = []
    for k, label in enumerate(model.classes[:-1]):
        wins = " AND ".join(f"{scores[k]} >= {score}" for m, score in enumerate(scores) if m != k)
        cases.append(f"WHEN {wins} THEN {_literal(label)}")
    return f"CASE {' '.join(cases)} ELSE {_literal(model.classes[-1])} END"


def _probabilities(model: Model, scores: Sequence[str], dialect: str | None) -> list[str]:
    if model.link is None:
        return []
    if model.odds:
        scores = [_log_odds(scores, k) for k in range(len(scores))]
    if model.maps is not None and "shares" in model.maps[0]:
        found = [_looked_up(dialect, score, **points) for score, points in zip(scores, model.maps, strict=True)]
        if model.link == "sigmoid":
            return [f"1e0 - {found[0]}", found[0]]
        return [f"({share}) / ({' + '.join(found)})" for share in found]
    if model.maps is not None:
        scores = [
            f"({_number(one['slope'])} * {score} + {_number(one['offset'])})"
            for score, one in zip(scores, model.maps, strict=True)
        ]
    if model.link == "sigmoid":
        return [f"1e0 / (1e0 + EXP({scores[0]}))", f"1e0 / (1e0 + EXP(-{scores[0]}))"]
    if model.link == "softmax":
        return [f"1e0 / ({' + '.join(f'EXP({other} - {one})' for other in scores)})" for one in scores]
    shares = [f"1e0 / (1e0 + EXP(-{score}))" for score in scores]
    return [f"({share}) / ({' + '.join(shares)})" for share in shares]
