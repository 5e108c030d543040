"""Figures, axes and colours: matplotlib where it is installed, and the theme that suits the paper."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import palette
from ..palette import Theme

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import Colormap


def pyplot() -> Any:
    """Return matplotlib.pyplot; where it is missing, say how to get it."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError(
            "linsep.display draws with matplotlib, which is not installed; run: pip install 'linsep[plot]'"
        ) from error
    return plt


class Display:
    """What every display shares: numbers are computed by a classmethod, `plot` draws them and sets `ax_`, `figure_`."""

    ax_: Any
    figure_: Any

    def _axes(
        self, ax: Any, rows: int = 1, columns: int = 1, size: tuple[float, float] = (6.4, 4.8), count: int | None = None
    ) -> list[Axes]:
        """Return the panels to draw on, row by row: those given, or `count` of those of a new figure."""
        wanted = rows * columns if count is None else count
        if ax is None:
            panels = self._new_figure(rows, columns, size, wanted)
        else:
            panels = list(np.ravel(np.asarray(ax, dtype=object)))
            self.ax_ = ax if wanted > 1 else panels[0]
        if len(panels) != wanted:
            raise ValueError(
                f"{type(self).__name__} draws {wanted} panel{'s' * (wanted > 1)}, but ax has {len(panels)}; "
                f"leave ax out, or pass the axes of plt.subplots({rows}, {columns})"
            )
        self.figure_ = panels[0].figure
        for panel in panels:  # a dollar sign in a column's name or a label is no formula
            for words in (panel.title, panel.xaxis.label, panel.yaxis.label):
                words.set_parse_math(False)
        return panels

    def _new_figure(self, rows: int, columns: int, size: tuple[float, float], wanted: int) -> list[Axes]:
        shape: Any = dict(figsize=(size[0] * columns, size[1] * rows), layout="constrained", squeeze=False)
        _, made = pyplot().subplots(rows, columns, subplot_kw=self._kind(), **shape)
        for spare in made.ravel()[wanted:]:
            spare.set_axis_off()
        self.ax_ = made[0, 0] if rows * columns == 1 else made
        return list(made.ravel()[:wanted])

    def _kind(self) -> dict[str, Any]:
        """Return what kind of axes a new figure gets."""
        return {}


def theme_of(ax: Axes) -> Theme:
    """Return the colours that suit the paper of these axes, so that dark styles stay readable."""
    from matplotlib.colors import to_hex, to_rgba

    face = ax.get_facecolor()
    if to_rgba(face)[3] < 0.5:  # see-through: what is behind counts
        face = ax.figure.get_facecolor()
    return palette.theme_on(to_hex(face))


def colour_map(theme: Theme, kind: str) -> Colormap:
    """Return the theme's ``"diverging"`` or ``"sequential"`` colours as a matplotlib colour map."""
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list(f"linsep-{theme.name}-{kind}", list(getattr(theme, kind)))


def dashes(k: int) -> Any:
    """Return the k-th line style."""
    pattern = palette.DASHES[k % len(palette.DASHES)]
    return (0, pattern) if pattern else "-"


def line_look(theme: Theme, k: int, width: float = 1.8) -> Any:
    """Return what the k-th line of a picture looks like: its colour is never the only sign."""
    return dict(color=theme.series[k % len(theme.series)], linestyle=dashes(k), linewidth=thick(width))


def thick(width: float) -> float:
    """Return the width of a line under the style in use, whose lines may be thicker than matplotlib's own."""
    return width * float(pyplot().rcParams["lines.linewidth"]) / 1.5


def large(size: float) -> float:
    """Return the size of a marker under the style in use, whose markers may be larger than matplotlib's own."""
    return size * float(pyplot().rcParams["lines.markersize"]) / 6


def class_colour(theme: Theme, k: int, count: int) -> str:
    """Return the colour of the k-th of so many classes."""
    return (theme.negative, theme.positive)[k] if count == 2 else theme.series[k % len(theme.series)]


def scatter_classes(ax: Any, points: Any, codes: Any, classes: list[Any], size: float, **look: Any) -> None:
    """Draw examples, each class with its colour and its marker."""
    theme = theme_of(ax)
    for k, name in enumerate(classes):
        marker, colour = palette.MARKERS[k % len(palette.MARKERS)], class_colour(theme, k, len(classes))
        own: Any = dict(marker=marker, color=colour, edgecolors=theme.background, label=str(name))
        ax.scatter(*points[codes == k].T, s=size, **own, **look)


def grid_shape(count: int, columns: int) -> tuple[int, int]:
    """Return rows and columns for that many panels, at most so many beside each other."""
    columns = max(1, min(columns, count))
    return math.ceil(count / columns), columns


def signed(value: float) -> str:
    """Return a number in three digits with its sign, a true minus."""
    return f"{value:+.3g}".replace("-", "−")


#: Where a legend goes that is not inside the axes.
PLACES: dict[str, dict[str, Any]] = {
    "inside": {},
    "beside": dict(loc="upper left", bbox_to_anchor=(1.01, 1.0), borderaxespad=0.0),
}


def legend(ax: Axes, place: str = "inside", **settings: Any) -> None:
    """Draw the legend inside the axes or beside them; a dollar sign in a name is no formula."""
    drawn = ax.legend(**{"framealpha": 0.85, "fontsize": "small", **PLACES[place], **settings})
    for words in drawn.get_texts():
        words.set_parse_math(False)
