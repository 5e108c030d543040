"""The directive `benchmarks`: tables of a TOML file, each with its machine, date and command, and a picture of it."""

import re
import tomllib
from datetime import date
from pathlib import Path

import matplotlib
from docutils import nodes
from docutils.statemachine import StringList
from matplotlib import pyplot
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter
from sphinx.util.docutils import SphinxDirective

from linsep.palette import LIGHT, MARKERS


class Benchmarks(SphinxDirective):
    """One section a table."""

    required_arguments = 1

    def run(self):
        """Return the sections; the page is made again when the file changes, or a page that a table stands on."""
        with open(self.depend(self.arguments[0]), "rb") as file:
            return [self.section(table) for table in tomllib.load(file)["table"]]

    def depend(self, name):
        """Return the path of a file that the page is made of."""
        relative, path = self.env.relfn2path(name)
        self.env.note_dependency(relative)
        return path

    def section(self, table):
        """Return what was measured, how, and the numbers; or that there are none yet."""
        if "page" in table:
            table["columns"], table["rows"] = table_of(Path(self.depend(table["page"])), table["heading"])
        check(table)
        name = re.sub(r"\W+", "-", table["title"].lower())
        section = nodes.section("", nodes.title(text=table["title"]), ids=[name], names=[name])
        self.state.document.note_explicit_target(section, section)
        self.parse(table["about"], section)
        section += nodes.literal_block(table["command"], table["command"], language="text")
        if not table["rows"]:
            section += nodes.paragraph(text="No figures yet: the command makes them.")
            return section
        section += nodes.paragraph(text=f"{table['machine']}, {table['date']}.")
        if "picture" in table:
            section += self.picture(table, name)
        lines = [table["columns"], marks(table), *table["rows"]]
        self.parse("\n".join(f"| {' | '.join(map(str, line))} |" for line in lines), section)
        self.parse(table.get("said", ""), section)
        return section

    def parse(self, text, section):
        """Add Markdown."""
        self.state.nested_parse(StringList(text.splitlines()), self.content_offset, section)

    def picture(self, table, name):
        """Draw the numbers of a table, and return the image."""
        folder = Path(self.env.srcdir) / "_figures"
        folder.mkdir(exist_ok=True)
        style = {"svg.fonttype": "none", "svg.hashsalt": name, "font.size": 12, "font.family": "sans-serif"}
        with matplotlib.rc_context(style):
            figure = DRAWN[table["picture"]](table)
            figure.savefig(folder / f"{name}.svg", metadata={"Date": None}, facecolor="white")
            pyplot.close(figure)
        uri = f"_figures/{name}.svg"
        self.env.note_dependency(uri)
        image = nodes.image(uri=f"/{uri}", alt=table["alt"])
        return nodes.container("", image, classes=["picture"])  # which scrolls by itself where a page is narrow


def table_of(path, heading):
    """Return the columns and rows of the first table below a heading of a page in Markdown."""
    below = path.read_text("utf-8").split(f"\n{heading}\n", 1)[1]
    lines = re.search(r"(?:^\|.*\n)+", below, re.M)[0].splitlines()
    cells = [[cell.strip() for cell in line.strip().strip("|").split("|")] for line in lines]
    return cells[0], cells[2:]


def check(table):
    """Raise for rows that do not say where and when they were measured, or have another number of columns."""
    if table["rows"] and not table["machine"]:
        raise ValueError(f"benchmarks: {table['title']} has rows, and does not say on which machine they were measured")
    if table["rows"]:
        date.fromisoformat(table["date"])
    if any(len(row) != len(table["columns"]) for row in table["rows"]):
        raise ValueError(f"benchmarks: a row of {table['title']} has not {len(table['columns'])} entries")


def marks(table):
    """Return how Markdown sets each column: numbers to the right, one below the other."""
    columns = zip(*table["rows"], strict=True)
    return [
        "---:" if all(re.fullmatch(r"[<>]? ?[\d.,e-]+|—", str(cell)) for cell in each) else "---" for each in columns
    ]


def number(cell):
    """Return the number that a cell begins with, None where there is none."""
    found = re.search(r"\d[\d,]*(\.\d+)?(e-?\d+)?|\.\d+", str(cell))
    return float(found[0].replace(",", "")) if found else None


def labels_of(table):
    """Return what each row is about: the cells of the columns that are not drawn."""
    places = [table["columns"].index(name) for name in table["labels"]]
    return [", ".join(str(row[place]) for place in places if str(row[place])) for row in table["rows"]]


def values_of(table, name):
    """Return the numbers of a column."""
    return [number(row[table["columns"].index(name)]) for row in table["rows"]]


def level(table, labels):
    """Return a figure for bars that lie, one below the other, and its axes."""
    figure, axes = pyplot.subplots(figsize=(9, 1.2 + 0.32 * len(labels)), layout="constrained")
    axes.set_yticks(range(len(labels)), labels)
    axes.set_ylim(len(labels) - 0.4, -0.6)
    axes.spines[["top", "right"]].set_visible(False)
    axes.set_xlabel(table["axis"])
    return figure, axes


def ratios(table):
    """Draw bars from 1, where both are level, to each ratio; rows without one are left out."""
    shown = table["values"]
    table = table | {
        "rows": [row for row in table["rows"] if number(row[table["columns"].index(shown[0])]) is not None]
    }
    labels = labels_of(table)
    figure, axes = level(table, labels)
    axes.set_xscale("log")
    height = 0.8 / len(shown)
    for k, name in enumerate(shown):
        places = [place - 0.4 + height * (k + 0.5) for place in range(len(labels))]
        lengths = [value - 1.0 for value in values_of(table, name)]
        axes.barh(
            places,
            lengths,
            height,
            left=1.0,
            color=LIGHT.series[k],
            label=name,
            hatch=["", "///"][k % 2],
            edgecolor="white",
        )
    axes.axvline(1.0, color="black", linewidth=1)
    plain(axes.xaxis)
    if len(shown) > 1:
        axes.legend(loc="best", frameon=False)
    return figure


def plain(axis):
    """Write numbers of a logarithmic axis as they are, at 1, 2, 5, 10 and so on."""
    axis.set_major_locator(LogLocator(10, [1, 2, 5]))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.12g}"))
    axis.set_minor_formatter(NullFormatter())


def counts(table):
    """Draw counts that add up, each as long as it is, with what they are counts of beside the last."""
    labels, shown = labels_of(table), table["values"]
    figure, axes = level(table, labels)
    left = [0.0] * len(labels)
    for k, name in enumerate(shown):
        column = values_of(table, name)
        how = dict(color=LIGHT.series[k], hatch=["", "///", "xxx"][k], edgecolor="white")
        axes.barh(range(len(labels)), column, 0.7, left=left, label=name, **how)
        left = [a + b for a, b in zip(left, column, strict=True)]
    for place, whole in enumerate(left):
        axes.annotate(f"{whole:,.0f}", (whole, place), (4, 0), textcoords="offset points", va="center")
    axes.legend(loc="lower center", bbox_to_anchor=(0.4, 1.0), ncols=len(shown), frameon=False)
    return figure


def shares(table):
    """Draw counts that add up, as shares of their sum."""
    labels, shown = labels_of(table), table["values"]
    figure, axes = level(table, labels)
    counts = [values_of(table, name) for name in shown]
    sums = [sum(column) for column in zip(*counts, strict=True)]
    left = [0.0] * len(labels)
    for k, (name, column) in enumerate(zip(shown, counts, strict=True)):
        widths = [value / whole for value, whole in zip(column, sums, strict=True)]
        hatch = ["", "///", "xxx", "..."][k]
        axes.barh(
            range(len(labels)),
            widths,
            0.7,
            left=left,
            color=LIGHT.series[k],
            label=name,
            hatch=hatch,
            edgecolor="white",
        )
        left = [a + b for a, b in zip(left, widths, strict=True)]
    axes.legend(loc="lower center", bbox_to_anchor=(0.4, 1.0), ncols=len(shown), frameon=False)
    return figure


def growth(table):
    """Draw a line for each label, on two logarithmic axes; dotted, in proportion to the first point."""
    figure, axes = pyplot.subplots(figsize=(9, 5.5), layout="constrained")
    labels, (across, up) = labels_of(table), table["values"]
    points = list(zip(labels, values_of(table, across), values_of(table, up), strict=True))
    for k, label in enumerate(dict.fromkeys(labels)):
        x, y = zip(*((a, b) for name, a, b in points if name == label and b is not None), strict=True)
        line = axes.loglog(x, y, MARKERS[k] + "-", color=LIGHT.series[k], label=label)[0]
        axes.loglog(x, [y[0] * each / x[0] for each in x], ":", color=line.get_color(), linewidth=1)
    axes.set(xlabel=across, ylabel=table["axis"])
    plain(axes.xaxis)
    plain(axes.yaxis)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False)
    return figure


DRAWN = {"ratios": ratios, "counts": counts, "shares": shares, "growth": growth}


def setup(app):
    """Offer the directive."""
    app.add_directive("benchmarks", Benchmarks)
    return {"parallel_read_safe": True}
