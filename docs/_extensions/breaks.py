"""Where names in pages may go on in the next line: in tables and titles, at dots and capitals; options nowhere.

What is copied from the page has no trace of either.
"""

import re

CELL = re.compile(r"<t[dh][ >].*?</t[dh]>", re.DOTALL)
NAME = re.compile(r'(?<=<span class="pre">)[^<]+')
TITLE = re.compile(r"(?<=<h1>)[\w.]{10,}")
OPTION = re.compile(r"(?<=>)--\w[\w-]*(?=[<=])")
PLACE = re.compile(r"(?<=[\w\])])[._(=\[,/](?=[\w(\[&\"'])|[a-z](?=[A-Z][a-z])")


def with_breaks(body):
    """Return a page in which long names in tables and titles break where a reader would, and options stay whole."""

    def cell(found):
        return NAME.sub(lambda name: broken(name) if len(name[0]) > 9 else name[0], found[0])

    return OPTION.sub(r'<span class="option">\g<0></span>', TITLE.sub(broken, CELL.sub(cell, body)))


def broken(name):
    """Return a name that was found, with a mark at each place where it may go on in the next line."""
    return PLACE.sub(r"\g<0><wbr>", name[0])


def mark(app, pagename, templatename, context, doctree):
    """Mark the places of a page that is written."""
    if "body" in context:
        context["body"] = with_breaks(context["body"])


def setup(app):
    """Join the build."""
    app.connect("html-page-context", mark)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
