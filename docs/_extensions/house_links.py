"""Links to files of the repository that are pages here: who reads the sources follows the same links."""

from pathlib import Path

from sphinx.addnodes import pending_xref

#: Which page has which file.
PAGES = {"README": "index", "CONTRIBUTING": "design", "CHANGELOG": "changelog", "examples/README": "figures"}


def lead(app, doctree):
    """Lead links to a file outside of this folder to the page that includes it."""
    root = Path(app.srcdir).parent
    pages = {str(root / name): page for name, page in PAGES.items()}
    for node in doctree.findall(pending_xref):
        node["reftarget"] = pages.get(node["reftarget"], node["reftarget"])


def setup(app):
    """Join the build."""
    app.connect("doctree-read", lead)
    return {"parallel_read_safe": True}
