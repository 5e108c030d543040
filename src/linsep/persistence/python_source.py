"""A model as one Python file that needs nothing but Python."""

from __future__ import annotations

import json
import re
from dataclasses import asdict
from typing import Any

from ..data.encoding import MONTHS, moment_pattern, number_pattern
from .terms import Model, model_terms

HEAD = '''"""A linear classifier, exported by linsep. It needs nothing but Python.

predict(row) takes a dictionary from column to value (None, "", NA and the like, or absent where it is missing; text as
in the file that the model was fitted on) and returns the class; probabilities(row), where the model has them, a
dictionary from each class to its probability; scores(row) a list, one score a plane. Run with the name of a CSV file
to predict its rows.
"""

import bisect
import csv
import itertools
import json
import math
import os
import re
import sys
from datetime import datetime, timedelta, timezone

MODEL = json.loads(r\'\'\'
'''

TAIL = """''')


def _missing(value, levels=()):
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return True
    text = str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
    return text in MODEL["words"] and text not in levels


def _parts(name, value, form):
    found = re.fullmatch(MODEL["patterns"][form], value)
    if found is None:
        raise ValueError("column %r: %r is not written as in the file that the model was fitted on" % (name, value))
    return found.groupdict("")


def _number(name, value, form):
    if not form or not isinstance(value, str):
        try:
            return float(value)
        except ValueError:
            raise ValueError("column %r: %r is not a number, as the model takes one" % (name, value)) from None
    parts = _parts(name, value, form)
    digits = "".join(c for c in parts["digits"] if c.isdigit() or c == form[0]).replace(form[0], ".")
    minus = "-" if re.search("[\\u2212-]", parts["sign"] + parts["minus"]) else ""
    return float(minus + digits + parts["power"])


def _moment(name, value, form):
    if hasattr(value, "hour"):
        return value
    if not form or not isinstance(value, str):
        return datetime.fromisoformat(str(value))
    parts = _parts(name, value, form)
    year, month, day, hour, minute, second = (
        int(parts[key]) if parts.get(key, "").isdecimal() else 0 for key in "ymdHMS"
    )
    if parts.get("s"):
        year = int(parts["s"]) + (2000 if int(parts["s"]) < 69 else 1900)
    if form == "named":
        named = (parts["m"] or parts["n"]).lower()
        month = 1 + next(k for k, one in enumerate(MODEL["months"]) if re.match(one, named))
        day = int(parts["d"] or parts["e"])
    if parts["P"]:
        hour = hour % 12 + 12 * (parts["P"][0] in "pP")
    zone = parts["Z"].replace(":", "").replace("Z", "") or "+0000"
    ahead = timedelta(hours=int(zone[:3]), minutes=int(zone[0] + zone[3:]))
    moment = datetime(year, month, day, hour, minute, second, 1000 * int(parts["F"].ljust(3, "0")[:3]))
    return moment - ahead


def _with_dates(row):
    row = dict(row)
    for name, form in MODEL["dates"].items():
        value = row.get(name)
        if _missing(value):
            continue
        moment = _moment(name, value, form)
        if moment.tzinfo is not None:
            moment = moment.astimezone(timezone.utc)
        seconds = moment.hour * 3600 + moment.minute * 60 + moment.second + moment.microsecond // 1000 / 1000
        row[name + " in days"] = moment.toordinal() - 719163 + seconds / 86400
        row["month of " + name] = str(moment.month)
        row["weekday of " + name] = str(moment.weekday())
    return row


def _add(scores, weights, factor=1.0):
    for k, weight in enumerate(weights):
        scores[k] += weight * factor


def _add_text(scores, text, words):
    counts = {}
    for word in re.findall(r"(?u)\\b\\w\\w+\\b", ("" if _missing(text) else str(text)).lower()):
        if word in words:
            counts[word] = counts.get(word, 0) + 1
    values = {word: (1 + math.log(count)) * words[word][0] for word, count in counts.items()}
    length = math.sqrt(sum(value * value for value in values.values())) or 1.0
    for word, value in values.items():
        _add(scores, words[word][1], value / length)


def scores(row):
    \"\"\"Return g(x) = w.x + b, one a plane.\"\"\"
    row, found = _with_dates(row), list(MODEL["intercept"])
    standardised = []
    for number in MODEL["numbers"]:
        value = row.get(number["name"])
        if _missing(value):
            standardised.append(number["fill"])
            _add(found, number["missing"] or [])
        else:
            standardised.append((_number(number["name"], value, number["form"]) - number["mean"]) / number["scale"])
    for powers, weights in MODEL["products"]:
        _add(found, weights, math.prod(standardised[int(j)] ** power for j, power in powers.items()))
    for category in MODEL["categories"]:
        value, levels = row.get(category["name"]), category["levels"]
        missing = _missing(value, levels)
        _add(found, category["missing"] if missing else levels.get(str(value), category["other"]))
    for text in MODEL["texts"]:
        _add_text(found, row.get(text["name"]), text["words"])
    return found


def predict(row):
    \"\"\"Return the class.\"\"\"
    found = scores(row)
    if len(found) == 1:
        threshold = MODEL["threshold"]
        return MODEL["classes"][int(found[0] > 0 if threshold is None else found[0] >= threshold)]
    return MODEL["classes"][found.index(max(found))]


def _sigmoid(g):
    return 1 / (1 + math.exp(-g)) if g >= 0 else math.exp(g) / (1 + math.exp(g))


def _log_odds(found):
    others = [[g - found[k] for j, g in enumerate(found) if j != k] for k in range(len(found))]
    return [-max(rest) - math.log(sum(math.exp(g - max(rest)) for g in rest)) for rest in others]


def _looked_up(g, points):
    scores, shares = points["scores"], points["shares"]
    k = bisect.bisect_right(scores, g)
    if k == 0 or k == len(scores):
        return shares[max(k - 1, 0)]
    return shares[k - 1] + (shares[k] - shares[k - 1]) * (g - scores[k - 1]) / (scores[k] - scores[k - 1])


def probabilities(row):
    \"\"\"Return a dictionary from each class to its probability.\"\"\"
    found, link, maps = scores(row), MODEL["link"], MODEL["maps"]
    if link is None:
        raise ValueError("this model has no probabilities: fit it with the logistic loss, or --calibrate it")
    if MODEL["odds"]:
        found = _log_odds(found)
    looked_up = maps is not None and "shares" in maps[0]
    if maps is not None and not looked_up:
        found = [one["slope"] * g + one["offset"] for g, one in zip(found, maps)]
    if looked_up:
        shares = [_looked_up(g, one) for g, one in zip(found, maps)]
        shares = [1 - shares[0], shares[0]] if link == "sigmoid" else shares
    elif link == "sigmoid":
        shares = [_sigmoid(-found[0]), _sigmoid(found[0])]
    elif link == "softmax":
        shares = [math.exp(g - max(found)) for g in found]
    else:
        shares = [_sigmoid(g) for g in found]
    total = sum(shares)
    return {label: share / total if total else 1 / len(shares) for label, share in zip(MODEL["classes"], shares)}


def _quoting(lines, mark):
    # Text between tabs often begins with a quote that nothing closes: then quotes are letters.
    fields = [line.split(mark) for line in lines]
    opened = [field for one in fields for field in one if field.startswith('"')]
    closed = all(len(field) > 1 and field.endswith('"') for field in opened)
    even = len({len(one) for one in fields}) == 1
    return csv.QUOTE_NONE if mark == "\\t" and even and not closed else csv.QUOTE_MINIMAL


def _agreement(head, mark):
    reader = csv.reader(head.splitlines(True), delimiter=mark, quoting=_quoting(head.splitlines(), mark))
    widths = [len(cells) for cells, _ in zip(filter(None, reader), range(200))]
    usual = max(set(widths), key=widths.count, default=0)
    return (widths.count(usual) / len(widths), usual) if usual > 1 else (0, 0)


def _check_columns(names):
    dates = MODEL["dates"]
    made = {form % date for date in dates for form in ("%s in days", "month of %s", "weekday of %s")}
    known = [one["name"] for kind in ("numbers", "categories", "texts") for one in MODEL[kind]]
    lacking = [name for name in [*dates, *known] if name not in made and name not in names]
    if lacking:
        raise ValueError("the file has no column %r (is it CSV, with the columns of the fit?)" % lacking[0])


def rows(file):
    \"\"\"Yield the rows of a CSV file as dictionaries.\"\"\"
    head = file.read(1 << 20)
    head = head[: head.rfind("\\n") + 1] or head
    file.seek(0)
    mark = max(",\\t;|", key=lambda one: _agreement(head, one))
    quoting = _quoting(head.splitlines(), mark)
    lines = csv.reader(file, delimiter=mark, quoting=quoting, skipinitialspace=quoting != csv.QUOTE_NONE)
    lines = filter(None, lines)
    first = next(lines, [])
    names = first if MODEL["header"] else ["column_%d" % (j + 1) for j in range(len(first))]
    _check_columns(names)
    for cells in lines if MODEL["header"] else itertools.chain([first], lines):
        yield dict(zip(names, [None if cell in MODEL["words"] else cell for cell in cells]))


def main(words):
    \"\"\"Print the class of every row of a CSV file; return 0, or what was wrong.\"\"\"
    if len(words) != 1:
        return "give the name of one CSV file with the columns of the fit"
    try:
        with open(words[0], newline="", encoding="utf-8-sig") as file:
            for row in rows(file):
                print(predict(row))
        sys.stdout.flush()
    except BrokenPipeError:  # whoever reads has had enough, as `head` has
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except UnicodeDecodeError:
        return "%s is not UTF-8 text: convert it" % words[0]
    except (OSError, ValueError) as error:
        return str(error)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
"""


def to_python(found: Any) -> str:
    """Return the text of a Python module with `predict`, `probabilities` and `scores` of one row.

    Parameters
    ----------
    found : ModelFile
    """
    terms = model_terms(found)
    forms = {"patterns": _patterns(terms)} | ({"months": MONTHS} if "named" in terms.dates.values() else {})
    model = json.dumps(asdict(terms) | forms, ensure_ascii=True, allow_nan=False, indent=1)
    # Inside r'''…''' a quote of Python must not end the text; JSON may escape any character.
    return HEAD + model.replace("'", "\\u0027") + "\n" + TAIL


def _patterns(model: Model) -> dict[str, str]:
    """Return what matches text in the form that it stands for."""
    numbers = {number.form for number in model.numbers if number.form}
    dates = {form for form in model.dates.values() if form}
    return {
        **{form: number_pattern(form[0], f"(?:{re.escape(form[1:])})") for form in sorted(numbers)},
        **{form: moment_pattern(form) for form in sorted(dates)},
    }
