"""The film as one HTML file that needs nothing else: numbers in JSON, drawn by plain JavaScript."""

from __future__ import annotations

import base64
import html
import json
import re
from importlib.resources import files
from typing import Any

import numpy as np

from .._common.types import BoolArray, IntArray
from .._common.words import most_mistakes
from ..palette import custom_properties, picture_roles
from .film import Film

#: Digits that a picture can show; more would only make the file larger.
DIGITS = 6


def render(film: Film) -> str:
    """Return the page. The same film gives the same bytes."""
    folder = files(__package__)
    parts = {
        "title": html.escape(film.title),
        "controls": folder.joinpath("controls.html").read_text("utf-8"),
        "style": custom_properties(picture_roles) + "\n" + folder.joinpath("page.css").read_text("utf-8"),
        "script": "\n".join(folder.joinpath(name).read_text("utf-8") for name in ("drawing.js", "stage.js", "page.js")),
        "film": embedded(payload(film)),
    }
    page = folder.joinpath("page.html").read_text("utf-8")
    return re.sub(r"{{(\w+)}}", lambda name: parts[name[1]], page)


def embedded(record: dict[str, Any]) -> str:
    r"""Return JSON that is safe inside a script element: nothing in it can end the element or begin a comment.

    Examples
    --------
    >>> embedded({"name": "</script><!--"})
    '{"name":"\\u003c/script>\\u003c!--"}'
    """
    text = json.dumps(record, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def payload(film: Film) -> dict[str, Any]:
    """Return all that the page knows."""
    causes, cause = _causes(film)
    places = np.concatenate([film.shown, causes])
    scene, bound = film.scene, film.bound
    return {
        **{name: getattr(film, name) for name in AS_IT_IS},
        "mistakes": film.counts_mistakes,
        "start_is_least": bool((film.records[0].objective < film.best_objective).any()),
        "picture": {
            "kind": scene.kind,
            "names": list(scene.names),
            "sentence": f"{scene.sentence} {film.band_is[1]}",
            "dotted": film.band_is[0],
            "u": rounded(scene.u),
            "v": rounded(scene.v),
            "basis": None if scene.basis is None else [rounded(part.ravel()) for part in scene.basis],
        },
        "points": {
            "u": rounded(scene.points[places, 0]),
            "v": rounded(scene.points[places, 1]),
            "positive": film.positive[places].astype(int).tolist(),
            "row": film.numbers[places].tolist(),
            "drawn": len(film.shown),
        },
        "bound": bound
        and {
            "value": bound.value if np.isfinite(bound.value) else None,
            "most": most_mistakes(bound.value) if np.isfinite(bound.value) else None,
            "sentence": bound.sentence,
        },
        "frames": {
            **{name: rounded([getattr(r, name) for r in film.records]) for name in COLUMNS},
            "cause": cause,
            **{name: rounded(getattr(film, name)) for name in ("before", "after", "band")},
            "plane": rounded_rows(film.planes),
            "written": film.written,
            "best": rounded(film.best_objective),
            "best_errors": rounded(film.best_errors),
            "on_plane": film.on_plane.tolist(),
            "right": film.right.tolist(),
            "best_frame": film.best.tolist(),
            "wrong": [_bits(row) for row in film.wrong],
        },
        "best_planes": rounded_rows(film.best_planes),
    }


COLUMNS = ("step", "passes", "objective", "zero_one", "step_size", "updates")
AS_IT_IS = ("title", "classes", "facts", "advice", "notes", "total", "opening", "best_by", "rule")


def _causes(film: Film) -> tuple[IntArray, list[int]]:
    """Return the examples that cause updates but are not among those always drawn, and each frame's place in both."""
    examples = np.array([-1 if record.example is None else record.example for record in film.records], dtype=np.int64)
    beside = np.setdiff1d(examples[examples >= 0], film.shown)
    place = {int(row): k for k, row in enumerate([*film.shown, *beside])}
    return beside, [place.get(int(example), -1) for example in examples]


def rounded(values: Any, digits: int = DIGITS) -> list[float | int | None]:
    """Return numbers with as many digits as a picture shows, whole ones as such; None for what is no number.

    Examples
    --------
    >>> rounded([1 / 3, 2.0, np.nan])
    [0.333333, 2, None]
    """
    given = np.asarray(values, dtype=np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        after = digits - 1 - np.floor(np.log10(np.abs(given)))  # digits after the point
        easy = (after >= 0) & (after <= 22)  # powers of ten up to there are exact: a quotient is as short as can be
        scale = 10.0 ** np.where(easy, after, 0.0)
        found = np.where(easy, np.rint(given * scale) / scale, given)
    for k in np.flatnonzero(~easy):
        found[k] = float(f"{given[k]:.{digits}g}")
    short: list[float | int | None] = found.tolist()
    finite = np.isfinite(found)
    for k in np.flatnonzero(~finite):
        short[k] = None
    for k in np.flatnonzero(finite & (np.abs(found) < 1e15) & (found == np.trunc(found))):
        short[k] = int(found[k])
    return short


def rounded_rows(values: Any) -> list[list[float | int | None]]:
    """Return the same of every row of a matrix.

    Examples
    --------
    >>> rounded_rows([[1 / 3, 2.0], [np.nan, 4.0]])
    [[0.333333, 2], [None, 4]]
    """
    rows = np.asarray(values, dtype=np.float64)
    numbers = rounded(rows.ravel())
    return [numbers[first : first + rows.shape[1]] for first in range(0, rows.size, rows.shape[1])]


def _bits(row: BoolArray) -> str:
    """Return which are true, the first example in the lowest bit of the first byte, in base 64."""
    return base64.b64encode(np.packbits(row, bitorder="little").tobytes()).decode()
