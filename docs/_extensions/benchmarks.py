"""The directive `benchmarks`: tables of a TOML file, each with its machine, date and command."""

import re
import tomllib
from datetime import date

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.util.docutils import SphinxDirective


class Benchmarks(SphinxDirective):
    """One section a table."""

    required_arguments = 1

    def run(self):
        """Return the sections; the page is made again when the file changes."""
        relative, path = self.env.relfn2path(self.arguments[0])
        self.env.note_dependency(relative)
        with open(path, "rb") as file:
            return [self.section(table) for table in tomllib.load(file)["table"]]

    def section(self, table):
        """Return what was measured, how, and the numbers; or that there are none yet."""
        check(table)
        name = re.sub(r"\W+", "-", table["title"].lower())
        section = nodes.section("", nodes.title(text=table["title"]), ids=[name], names=[name])
        self.state.document.note_explicit_target(section, section)
        section += nodes.paragraph(text=table["about"])
        section += nodes.literal_block(table["command"], table["command"], language="text")
        if table["rows"]:
            section += nodes.paragraph(text=f"{table['machine']}, {table['date']}.")
            lines = [table["columns"], ["---"] * len(table["columns"]), *table["rows"]]
            text = [f"| {' | '.join(map(str, line))} |" for line in lines]
            self.state.nested_parse(StringList(text), self.content_offset, section)
        else:
            section += nodes.paragraph(text="No figures yet: the command makes them.")
        return section


def check(table):
    """Raise for rows that do not say where and when they were measured, or have another number of columns."""
    if table["rows"] and not table["machine"]:
        raise ValueError(f"benchmarks: {table['title']} has rows, and does not say on which machine they were measured")
    if table["rows"]:
        date.fromisoformat(table["date"])
    if any(len(row) != len(table["columns"]) for row in table["rows"]):
        raise ValueError(f"benchmarks: a row of {table['title']} has not {len(table['columns'])} entries")


def setup(app):
    """Offer the directive."""
    app.add_directive("benchmarks", Benchmarks)
    return {"parallel_read_safe": True}
