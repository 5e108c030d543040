"""Pieces of HTML: what comes from data goes in as text and comes out escaped."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from importlib.resources import files
from unicodedata import category

from ..palette import Theme, custom_properties

#: Longer cells are cut: a report is no place for a novel.
LONGEST = 300
#: About so many rows of a curve's numbers are written out, under this title.
WRITTEN = 12
NUMBERS = "the numbers"


def document(title: str, parts: Iterable[str], *, scripts: bool = False) -> str:
    """Return a whole page of its parts, which are HTML; the title is text.

    `scripts` says whether something on it is drawn by a script of its own. Nothing is ever loaded from anywhere.
    """
    shown = text(title)
    allowed = "style-src 'unsafe-inline'" + ("; script-src 'unsafe-inline'" if scripts else "")
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; {allowed}">\n'
        '<meta name="generator" content="linsep report">\n'
        f"<title>{shown}</title>\n<style>\n{style()}</style>\n</head>\n<body>\n<main>\n<h1>{shown}</h1>\n"
        + "\n".join(part for part in parts if part)
        + "\n</main>\n</body>\n</html>\n"
    )


def style() -> str:
    """Return the style sheet: the colours of the palette, then what is drawn with them."""
    return f"{custom_properties(_roles)}\n{files(__package__).joinpath('page.css').read_text('utf-8')}"


def _roles(theme: Theme) -> dict[str, str]:
    named = ("background", "surface", "text", "muted", "grid", "negative", "positive", "negative_text", "positive_text")
    colours = {name.replace("_", "-"): getattr(theme, name) for name in named}
    return colours | {f"s{k}": colour for k, colour in enumerate(theme.series)}


def text(value: object) -> str:
    """Return any value as HTML that shows it, cut where it is very long.

    Examples
    --------
    >>> text("</style>")
    '&lt;/style&gt;'
    >>> text("a" * 10_000)[-24:]
    'aaa… (10,000 characters)'
    """
    shown = str(value)
    shown = shown if len(shown) <= LONGEST else f"{shown[:LONGEST]}… ({len(shown):,} characters)"
    # A lone surrogate has no bytes, and a control character no place on a page.
    return escape("".join("\ufffd" if category(c) in ("Cc", "Cs") and c not in "\n\t" else c for c in shown))


def section(title: str, *body: str, kind: str = "") -> str:
    """Return a section with a heading; title and body are HTML."""
    opening = f'<section class="{kind}">' if kind else "<section>"
    return f"{opening}\n<h2>{title}</h2>\n" + "\n".join(body) + "\n</section>"


def paragraph(words: str, kind: str = "") -> str:
    """Return text as a paragraph; sentences may be long."""
    opening = f'<p class="{kind}">' if kind else "<p>"
    return f"{opening}{' '.join(text(word) for word in words.split(' '))}</p>"


def definitions(pairs: Iterable[tuple[str, str]]) -> str:
    """Return names and what they stand for."""
    return "<dl>" + "".join(f"<dt>{text(name)}</dt><dd>{text(value)}</dd>" for name, value in pairs) + "</dl>"


def table(heads: Sequence[str], rows: Iterable[Sequence[object]], *, named: bool = True) -> str:
    """Return a table of numbers, which scrolls sideways where it is too wide; `named` rows begin with their name."""
    number = [""] * named + [' class="number"'] * (len(heads) - named)
    top = "".join(f'<th scope="col"{kind}>{text(head)}</th>' for head, kind in zip(heads, number, strict=True))
    body = "".join(f"<tr>{''.join(map(_cell, row, number))}</tr>" for row in rows)
    whole = f"<table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>"
    return f'<div class="wide" tabindex="0" role="region" aria-label="table">{whole}</div>'


def _cell(cell: object, number: str) -> str:
    return f"<td{number}>{text(cell)}</td>" if number else f'<th scope="row">{text(cell)}</th>'


def folded(title: str, body: str, *, is_open: bool = False) -> str:
    """Return HTML that is shown when asked for."""
    return f"<details{' open' if is_open else ''}><summary>{text(title)}</summary>{body}</details>"


def some(count: int) -> list[int]:
    """Return evenly spread positions among so many, the first and the last among them.

    Examples
    --------
    >>> some(3), some(100)[:3], some(100)[-1]
    ([0, 1, 2], [0, 9, 18], 99)
    """
    if count <= WRITTEN:
        return list(range(count))
    return [round((count - 1) * k / (WRITTEN - 1)) for k in range(WRITTEN)]
