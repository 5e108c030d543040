"""Formulas as MathML, which browsers set themselves: no script, no font and no network is needed to read them."""

from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml


def inline(translator, node):
    """Set a formula within a line."""
    translator.body.append(tex2mathml(node.astext()))
    raise nodes.SkipNode


def block(translator, node):
    """Set a formula on lines of its own, which scroll by themselves where a page is narrow."""
    translator.body.append(f'<div class="formula">{tex2mathml(node.astext(), as_block=True)}</div>\n')
    raise nodes.SkipNode


def setup(app):
    """Offer it as a renderer."""
    app.add_html_math_renderer("mathml", (inline, None), (block, None))
    return {"parallel_read_safe": True}
