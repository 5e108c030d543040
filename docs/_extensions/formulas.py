"""Formulas as MathML, which browsers set themselves: no script, no font and no network is needed to read them."""

import re
from html import escape, unescape
from xml.etree import ElementTree

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.util import logging

logger = logging.getLogger(__name__)

MATHML = "http://www.w3.org/1998/Math/MathML"
ElementTree.register_namespace("", MATHML)
#: What stands on top of a letter and leaves its index beside it.
ACCENTS = {"~", "^", "¯", "ˆ", "˜"}
#: The sign that is not seen between a function's name and what it is of; and the space around such a name.
APPLIED, THIN = "\u2061", "0.17em"


def markup(node, **how):
    """Return a formula's markup; one that cannot be read is a warning, and left as it is written."""
    try:
        return as_set(tex2mathml(node.astext(), **how))
    except MathError as error:
        logger.warning("a formula cannot be read: %s in %s", error, node.astext(), location=node)
        return f"<code>{escape(node.astext())}</code>"


def as_set(text):
    """Return MathML with bars and braces of one height, room around log, and indices beside a letter with an accent."""
    named = r"&(?!(?:lt|gt|amp|quot|apos);)\w+;"  # HTML's names of signs, which XML does not know
    formula = ElementTree.fromstring(re.sub(named, lambda found: unescape(found[0]), text))
    for bar in formula.iter(f"{{{MATHML}}}mo"):
        if bar.text in {"‖", "{", "}"}:
            bar.set("stretchy", "false")
    for element in formula.iter(f"{{{MATHML}}}munderover"):
        letter, index, accent = element
        if accent.text in ACCENTS:
            element[:] = [ElementTree.Element(f"{{{MATHML}}}mover"), index]
            element[0].extend([letter, accent])
            element.tag = f"{{{MATHML}}}msub"
    for row in formula.iter():
        give_room(row)
    return ElementTree.tostring(formula, encoding="unicode")


def give_room(row):
    """Set names of functions apart from letters, numbers and closing brackets before them, and letters after them."""
    parts = list(row)
    for k, sign in enumerate(parts):
        if k == 0 or sign.text != APPLIED:
            continue
        if k + 1 < len(parts) and parts[k + 1].text != "(":
            sign.set("rspace", THIN)
        if k > 1 and (not parts[k - 2].tag.endswith("}mo") or parts[k - 2].text == ")"):
            row.insert(list(row).index(parts[k - 1]), ElementTree.Element(f"{{{MATHML}}}mspace", width=THIN))


def inline(translator, node):
    """Set a formula within a line."""
    translator.body.append(markup(node))
    raise nodes.SkipNode


def block(translator, node):
    """Set a formula on lines of its own, which scroll by themselves where a page is narrow."""
    translator.body.append(f'<div class="formula">{markup(node, as_block=True)}</div>\n')
    raise nodes.SkipNode


def setup(app):
    """Offer it as a renderer."""
    app.add_html_math_renderer("mathml", (inline, None), (block, None))
    return {"parallel_read_safe": True}
