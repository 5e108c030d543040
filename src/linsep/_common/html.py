"""Cards for notebooks: what an object says, as HTML that can be read on light and on dark paper."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

#: The stripe beside a card: at least 3 : 1 on white and on black. Letters have the notebook's own colour.
STRIPES = {"good": "#2E9467", "bad": "#C8621F", "plain": "#7A828E"}
#: Lines of a table are as faint as half a letter's colour.
RULE = "border-bottom:1px solid color-mix(in srgb, currentColor 30%, transparent)"
CELL = f"padding:.2em .7em;text-align:left;color:inherit;background:transparent;{RULE}"


def card(title: str, *lines: str, tone: str = "plain", table: str = "") -> str:
    """Return a card with a title, paragraphs, which are text, and a table, which is HTML.

    Examples
    --------
    >>> "<b>a &lt; b</b>" in card("a < b", "so it is", tone="good")
    True
    """
    stripe = f"border-left:4px solid {STRIPES[tone]};padding:.3em .9em;margin:.4em 0;color:inherit"
    paragraphs = "".join(f'<p style="margin:.3em 0;max-width:70em">{escape(line)}</p>' for line in lines)
    wide = f'<div style="overflow-x:auto">{table}</div>' if table else ""  # in a narrow window it scrolls by itself
    return f'<div style="{stripe}"><b>{escape(title)}</b>{paragraphs}{wide}</div>'


def rows(heads: Sequence[str], lines: Iterable[Sequence[object]]) -> str:
    """Return a table, whose cells are text.

    Examples
    --------
    >>> rows(["loss"], [["<b>"]]).count("&lt;b&gt;")
    1
    """
    head = "".join(f'<th scope="col" style="{CELL}">{escape(cell)}</th>' for cell in heads)
    body = "".join(
        "<tr>" + "".join(f'<td style="{CELL}">{escape(str(cell))}</td>' for cell in line) + "</tr>" for line in lines
    )
    return f'<table style="border-collapse:collapse"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'
