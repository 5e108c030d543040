"""The directive `commands`: every command with its options, as the command's own parser knows them."""

import re
import sys
from unittest.mock import patch

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

from linsep.cli import _app

#: `* `--seed INT`: Of everything random. *[default: 0]*` in what the parser writes of itself.
OPTION = re.compile(r"^\* `(?P<names>[^`]+)`: (?P<text>.*?)(?P<remark> \*{1,2}\[.*\]\*{1,2})?$")


class Commands(SphinxDirective):
    """One section a command."""

    def run(self):
        """Return the sections."""
        return [self.section(*part) for part in described()]

    def section(self, name, usage, text, options):
        """Return a command's section: how it is called, what it does, its options."""
        section = nodes.section("", nodes.title("", "", nodes.literal(text=name)), ids=[anchor(name)])
        section["names"] = [anchor(name)]
        self.state.document.note_explicit_target(section, section)
        section += nodes.literal_block(usage, usage, language="text")
        section += [nodes.paragraph(text=paragraph) for paragraph in text.split("\n\n")]
        if options:
            entries = nodes.definition_list(classes=["options"])
            for names, meaning, remark in options:
                words = [nodes.Text(meaning + " " * bool(remark)), nodes.emphasis(text=remark)]
                entries += nodes.definition_list_item(
                    "",
                    nodes.term("", "", nodes.literal(text=names)),
                    nodes.definition("", nodes.paragraph("", "", *words[: 1 + bool(remark)])),
                )
            section += entries
        return section


def anchor(name):
    """Return where a command's section begins: `linsep-fit`."""
    return re.sub(r"\W+", "-", name)


def described():
    """Return of each command its name, its usage, what it does, and its options as (names, meaning, remark)."""
    with patch.object(sys, "argv", ["linsep"]):  # the name that usage begins with
        written = _app().generate_docs(output_format="markdown")
    parts = re.split(r"^## (?=linsep )", written, flags=re.MULTILINE)
    return [command(part) for part in parts[1:]]


def command(part):
    """Read one section of what the parser writes of itself."""
    name, _, rest = part.partition("\n")
    _, usage, rest = rest.split("```", 2)
    text, _, listed = rest.partition("**Parameters**:")
    lines = re.sub(r"\n +", " ", listed).strip().splitlines()
    return name.strip(), usage.removeprefix("console").strip(), plain(text), [option(line) for line in lines if line]


def option(line):
    """Return names, meaning and remark of one option; fail where the parser has begun to write in another way."""
    found = OPTION.match(line)
    if found is None:
        raise ValueError(f"an option of the command line is written in a way that is not known here: {line!r}")
    remark = (found["remark"] or "").strip(" *[]")
    nothing = remark in ("default: False", "default: ()")
    return found["names"], plain(found["text"]), "" if nothing else remark


def plain(text):
    """Return text without the marks of literals."""
    return re.sub(r"`([^`]+)`", r"\1", text).strip()


def setup(app):
    """Offer the directive."""
    app.add_directive("commands", Commands)
    return {"parallel_read_safe": True}
