"""Pages of the gallery have the script's name for a title, and `losses.py` in any text leads to the script's page."""

import ast
import re
from pathlib import Path

from docutils import nodes
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util.nodes import make_refnode

GALLERY = "gallery/"


def title(name):
    """Return a script's name in words.

    >>> title("best_so_far")
    'Best so far'
    """
    return name.replace("_", " ").capitalize()


def entitle(app, docname, source):
    """Put the title above what sphinx-gallery makes of a script, whose docstring has none but says what is drawn."""
    name = docname.removeprefix(GALLERY)
    script = Path(app.srcdir).parent / "examples" / f"{name}.py"
    if docname.startswith(GALLERY) and script.exists():
        label = f".. _sphx_glr_gallery_{name}.py:\n"
        above, found, below = source[0].partition(label)
        assert found, f"sphinx-gallery no longer writes {label!r}"
        words = " ".join(ast.get_docstring(ast.parse(script.read_text("utf-8"))).split())
        below = re.sub(f"(?m)(:alt: ){name.replace('_', ' ')}$", lambda alt: alt[1] + words, below)  # it has no other
        source[0] = f"{above}{found}\n{title(name)}\n{'=' * 40}\n{below}"


class ScriptLinks(SphinxPostTransform):
    """Link the names of scripts."""

    default_priority = 5

    def run(self, **_):
        """Wrap every literal that is the name of a script on another page."""
        for node in list(self.document.findall(nodes.literal)):
            found = re.fullmatch(r"(\w+)\.py", node.astext())
            page = GALLERY + found[1] if found else ""
            linked = isinstance(node.parent, nodes.reference) or page == self.env.docname
            if page in self.env.found_docs and not linked:
                link = make_refnode(self.app.builder, self.env.docname, page, None, node.deepcopy())
                node.replace_self(link)


def setup(app):
    """Join the build."""
    app.connect("source-read", entitle)
    app.add_post_transform(ScriptLinks)
    return {"parallel_read_safe": True, "env_version": 1}  # one more, and pages that were read before are read anew
