"""Small charts as SVG: text in, text out, coloured by the style sheet so that they suit light, dark and print.

A chart is as wide as its place and keeps its height and the size of its letters: what lies along x is a share of the
width, what is drawn as a path is stretched, its pen is not. Room for what stands beside the axes is left around it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from .._common.types import BoolArray, FloatArray
from .._common.words import cut
from .markup import text

#: What a path is wide before it is stretched, and what a chart is high, in pixels.
WIDE, HIGH = 1000, 190
#: More points than this along a line are thinned to what can be seen of them.
SEEN = 600
#: Where an axis of powers ends at the latest: half and twice these are floats.
FARTHEST = 1e300
#: Probabilities that an axis of log odds names, and those between them where few of these are on it.
ODDS = 1e-4, 1e-3, 0.01, 0.1, 0.5, 0.9, 0.99, 0.999, 0.9999
BETWEEN = 2e-4, 5e-4, 2e-3, 5e-3, 0.02, 0.05, 0.2, 0.35, 0.65, 0.8, 0.95, 0.98, 0.995, 0.998
#: How strong a pixel of an image can be.
SHADES = 16


def ticks(low: float, high: float, count: int = 5) -> list[float]:
    """Return round numbers that cover an interval.

    Examples
    --------
    >>> ticks(0.0, 1.0)
    [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]
    >>> ticks(-13.0, 42.0)
    [0.0, 20.0, 40.0]
    """
    if not high > low:
        return [low]
    raw = high / count - low / count  # the difference may be no float
    power = 10.0 ** np.floor(np.log10(raw))
    step = power * next(factor for factor in (1, 2, 5, 10) if factor * power >= raw * (1 - 1e-9))
    first = np.ceil(low / step - 1e-9)
    whole = np.arange(first, np.floor(high / step + 1e-9) + 1).tolist()
    return [round(k * float(step), 12) + 0.0 for k in whole]


@dataclass(frozen=True)
class Axis:
    """From numbers to places along one side of a chart; logarithmic where numbers span many scales.

    Probabilities that crowd near 0 or 1 are placed by their `odds`, log p/(1 − p), which tells them apart; what lies
    beyond the ends of such an axis is drawn there.
    """

    label: str
    low: float
    high: float
    logarithmic: bool = False
    odds: bool = False

    @classmethod
    def shares(cls, label: str, values: ArrayLike) -> Axis:
        """Return the axis of probabilities: from 0 to 1, or by their odds where half of them are in an outer tenth.

        Examples
        --------
        >>> Axis.shares("p", [0.2, 0.4, 0.8])
        Axis(label='p', low=0.0, high=1.0, logarithmic=False, odds=False)
        >>> Axis.shares("p", [0.002, 0.01, 0.2]).ticks()
        [0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2]
        """
        found = np.ravel(np.asarray(values, dtype=np.float64))
        if 0.1 <= np.median(found) <= 0.9:
            return cls(label, 0.0, 1.0)
        low, high = (float(end) for end in np.clip([found.min(), found.max()], ODDS[0], ODDS[-1]))
        return cls(label, low, high, odds=True) if low < high else cls(label, 0.0, 1.0)

    @classmethod
    def over(cls, label: str, values: ArrayLike, *, logarithmic: bool = False) -> Axis:
        """Return the axis that shows all finite values."""
        found = np.asarray(values, dtype=np.float64).ravel()
        found = found[np.isfinite(found) & ((found > 0) | (not logarithmic))]
        found = found.clip(1 / FARTHEST, FARTHEST) if logarithmic else found
        low, high = (float(found.min()), float(found.max())) if len(found) else (0.0, 1.0)
        if low == high:
            low, high = (low / 2, high * 2) if logarithmic else (low - 0.5, high + 0.5)
        return cls(label, low, high, logarithmic)

    def place(self, values: ArrayLike) -> FloatArray:
        """Return where values lie between 0 and 1."""
        v = np.asarray(values, dtype=np.float64)
        if self.odds:
            low, high, v = (np.log(p) - np.log1p(-p) for p in (self.low, self.high, np.clip(v, self.low, self.high)))
            return np.asarray((v - low) / (high - low))
        if not self.logarithmic:
            return np.asarray((v / 2 - self.low / 2) / (self.high / 2 - self.low / 2))
        v = np.log(np.maximum(v, self.low) / self.low)
        return np.asarray(v / np.log(self.high / self.low))

    def ticks(self) -> list[float]:
        """Return the numbers to write beside it."""
        if self.odds:
            shown = [p for p in ODDS if self.low <= p <= self.high]
            return shown if len(shown) > 3 else [p for p in sorted(ODDS + BETWEEN) if self.low <= p <= self.high]
        if not self.logarithmic:
            return ticks(self.low, self.high)
        powers = ticks(np.log10(self.low), np.log10(self.high), 4)
        whole = [power for power in powers if power == round(power)]
        return [10.0**power for power in whole] or [self.low, self.high]


def lines(
    x: Axis,
    y: Axis,
    series: Mapping[str, tuple[ArrayLike, ArrayLike]],
    *,
    title: str,
    mark: tuple[float, str] | None = None,
    diagonal: bool = False,
    points: bool = False,
    dots: Sequence[tuple[float, float]] = (),
) -> str:
    """Return a chart of lines (x, y), each by its name; the title says what it shows to those who cannot see it.

    `mark` points out a place on the x axis, `diagonal` draws x = y, `points` marks the points of the lines, and `dots`
    one on each, such as the one in use.
    """
    paths = [_path(x, y, [x.low, x.high], [x.low, x.high], "guide")] if diagonal else []
    paths += [_path(x, y, u, v, f"line s{k}") for k, (u, v) in enumerate(series.values())]
    size = f'width="100%" height="{HIGH}" viewBox="0 0 {WIDE} {HIGH}" preserveAspectRatio="none"'
    parts = [_frame(x, y), f'<svg class="plot" {size}>{"".join(paths)}</svg>']
    for k, (u, v) in enumerate(series.values() if points else ()):
        pairs = zip(np.ravel(u), np.ravel(v), strict=True)
        parts += [_circle(x, y, a, b, k) for a, b in pairs if np.isfinite(a) and np.isfinite(b)]
    if mark is not None:
        parts.append(_mark(x, *mark))
    parts += [_circle(x, y, a, b, k) for k, (a, b) in enumerate(dots) if np.isfinite(b)]
    return _chart(parts, title, x=x, y=y) + _legend(series, "line")


def stepped(x: ArrayLike, y: ArrayLike) -> tuple[FloatArray, FloatArray]:
    """Return the corners of a staircase that has the value y_i from just above x_{i−1} up to x_i.

    Examples
    --------
    >>> u, v = stepped([0.0, 1.0, 2.0], [5.0, 6.0, 7.0])
    >>> print(u, v)
    [0. 0. 1. 1. 2.] [5. 6. 6. 7. 7.]
    """
    return np.repeat(np.asarray(x), 2)[:-1], np.repeat(np.asarray(y), 2)[1:]


def histogram(x: Axis, edges: FloatArray, counts: Mapping[str, ArrayLike], *, title: str, mark: str) -> str:
    """Return bars of counts, those of each name on top of those before, with a line at 0."""
    total = np.sum([np.asarray(count) for count in counts.values()], axis=0)
    y = Axis("rows", 0.0, float(max(total.max(initial=0), 1)))
    parts, below = [_frame(x, y)], np.zeros(len(edges) - 1)
    for k, count in enumerate(counts.values(), start=int(len(counts) == 1)):
        above = below + np.asarray(count)
        left, right = 100 * x.place(edges[:-1]), 100 * x.place(edges[1:])
        for a, b, low, high in zip(left, right, _down(y, below), _down(y, above), strict=True):
            if low > high:
                size = f'width="{max(b - a - 0.2, 0.2):.2f}%" height="{low - high:.1f}"'
                parts.append(f'<rect class="bar s{k}" x="{a + 0.1:.2f}%" y="{high:.1f}" {size}/>')
        below = above
    if x.low <= 0 <= x.high:
        parts.append(_mark(x, 0.0, mark))
    return _chart(parts, title, x=x, y=y) + _legend(counts, "bar")


def bars(names: Sequence[str], values: Sequence[float], *, title: str, signed: bool = True, row: float = 18.0) -> str:
    """Return one bar a name, the longest filling its side: to either side of a line; from the left if not `signed`."""
    largest = max((abs(value) for value in values if math.isfinite(value)), default=1.0) or 1.0
    middle, room = (50.0, 49.5) if signed else (0.0, 99.5)
    height = len(names) * 2 * row
    line = f'<line class="axis" x1="{middle}%" x2="{middle}%" y1="0" y2="{height:.1f}"/>'
    parts = [line] if signed else []  # below long names
    for k, (name, value) in enumerate(zip(names, values, strict=True)):
        length, top = room * min(abs(value) / largest, 1.0), k * 2 * row
        side, x = ("positive", middle) if value >= 0 else ("negative", middle - length)
        above, size = f"{top + 0.72 * row:.1f}", f'width="{length:.2f}%" height="{0.6 * row:.1f}"'
        shown = f"{value:{'+' * signed}.3g}".replace("inf", "∞")
        parts += [
            f'<text class="name" x="0" y="{above}">{text(cut(name))}</text>',
            f'<rect class="{side}" x="{x:.2f}%" y="{top + row:.1f}" {size}/>',
            f'<text class="value" x="100%" y="{above}" text-anchor="end">{shown}</text>',
        ]
    return _chart(parts, title, height, kind="bars")


def image(pixels: FloatArray, *, title: str, kind: str = "signed") -> str:
    """Return an image of values from −1 to 1, whose sign is the colour and whose size the strength.

    Of the kind "ink" they are ink on paper, from 0 to 1. The title is for those who cannot see it.
    """
    levels = np.rint(SHADES * np.asarray(pixels)).astype(int)
    shades = [level for level in np.unique(levels) if level != 0]
    parts = [_shade(levels == level, level, kind) for level in shades]
    rows, columns = levels.shape
    size = f'viewBox="0 0 {columns} {rows}" shape-rendering="crispEdges"'
    shown = text(title)
    return f'<svg class="image" role="img" aria-label="{shown}" {size}><title>{shown}</title>{"".join(parts)}</svg>'


def _shade(where: BoolArray, level: int, kind: str) -> str:
    """Return all pixels of the same value as one shape, a rectangle for each run of neighbours in a row."""
    edges = np.diff(np.pad(where.astype(int), ((0, 0), (1, 1))), axis=1)
    starts, ends = np.argwhere(edges == 1), np.argwhere(edges == -1)
    runs = [f"M{x} {y}h{end - x}v1h{x - end}z" for (y, x), (_, end) in zip(starts, ends, strict=True)]
    name = "ink" if kind == "ink" else "positive" if level > 0 else "negative"
    return f'<path class="{name}" opacity="{abs(level) / SHADES:.2f}" d="{"".join(runs)}"/>'


# -- parts of a chart -------------------------------------------------------------------------------------------------


def _down(y: Axis, values: ArrayLike) -> FloatArray:
    return np.asarray(HIGH * (1 - y.place(values)))


def _chart(parts: Sequence[str], title: str, height: float = HIGH, kind: str = "chart", **axes: Axis) -> str:
    """Return a chart; the names of its axes are paragraphs, which a narrow screen breaks into lines."""
    shown = text(title)
    size = f'width="100%" height="{height:.0f}"'
    drawn = f'<svg role="img" aria-label="{shown}" {size}><title>{shown}</title>{"".join(parts)}</svg>'
    named = {name: f'<p class="label {name}">{text(axis.label)}</p>' for name, axis in axes.items()}
    return f'<div class="{kind}">{named.get("y", "")}{drawn}{named.get("x", "")}</div>'


def _frame(x: Axis, y: Axis) -> str:
    """Return grid and numbers; the name of y stands above them, so that no number is in its way."""
    parts = [
        f'<line class="grid" x1="{place:.2f}%" x2="{place:.2f}%" y1="0" y2="{HIGH}"/>'
        f'<text class="tick" x="{place:.2f}%" y="{HIGH + 16}" text-anchor="middle">{_written(value)}</text>'
        for value, place in zip(x.ticks(), 100 * x.place(x.ticks()), strict=True)
    ]
    parts += [
        f'<line class="grid" x1="0" x2="100%" y1="{place:.1f}" y2="{place:.1f}"/>'
        f'<text class="tick" x="-6" y="{place + 4:.1f}" text-anchor="end">{_written(value)}</text>'
        for value, place in zip(y.ticks(), _down(y, y.ticks()), strict=True)
    ]
    return "".join(parts)


def _written(value: float) -> str:
    """Return a number as short as an axis needs it.

    Examples
    --------
    >>> _written(0.25), _written(1e-10), _written(20000.0)
    ('0.25', '10⁻¹⁰', '20000')
    """
    power = np.log10(value) if value > 0 else 0.5
    if abs(power) > 3 and abs(power - round(power)) < 1e-9:
        return "10" + str(round(power)).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
    return f"{value:g}"


def _path(x: Axis, y: Axis, u: ArrayLike, v: ArrayLike, kind: str) -> str:
    """Return a line, with a gap wherever a value is missing."""
    across, down = _seen(np.ravel(WIDE * x.place(u)), np.ravel(_down(y, v)))
    words, pen = [], "M"
    for a, b in zip(across, down, strict=True):
        if np.isfinite(a) and np.isfinite(b):
            words.append(f"{pen}{a:.1f} {b:.1f}")
            pen = "L"
        else:
            pen = "M"
    return f'<path class="{kind}" d="{" ".join(words)}"/>'


def _seen(across: FloatArray, down: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the points of a long line that can be seen: in each narrow strip its ends, the highest and the lowest."""
    if len(across) <= 4 * SEEN:
        return across, down
    strip = np.floor(across * (SEEN / WIDE))
    begins = np.flatnonzero(np.diff(strip, prepend=np.nan) != 0)
    number = np.repeat(np.arange(len(begins)), np.diff(begins, append=len(strip)))
    extremes = [np.lexsort((sign * down, number))[begins] for sign in (1.0, -1.0)]
    some = np.unique(np.concatenate([begins, np.append(begins[1:], len(strip)) - 1, *extremes]))
    return across[some], down[some]


def _circle(x: Axis, y: Axis, a: float, b: float, k: int) -> str:
    return f'<circle class="dot s{k}" cx="{100 * float(x.place(a)):.2f}%" cy="{_down(y, b):.1f}" r="3.6"/>'


def _mark(x: Axis, value: float, label: str) -> str:
    place = 100 * float(x.place(min(max(value, x.low), x.high)))
    where = f'x="{place:.2f}%" y="-6" text-anchor="{"end" if place > 60 else "start" if place < 40 else "middle"}"'
    line = f'<line class="mark" x1="{place:.2f}%" x2="{place:.2f}%" y1="0" y2="{HIGH}"/>'
    return f'{line}<text class="label" {where}>{text(label)}</text>'


def _legend(names: Mapping[str, object], kind: str) -> str:
    if len(names) < 2 and kind == "line":
        return ""
    shapes = {
        "line": '<path class="line s{}" d="M1 5 L25 5"/>',
        "bar": '<rect class="bar s{}" x="6" y="0" width="14" height="10"/>',
    }
    items = "".join(
        f'<li><svg viewBox="0 0 26 10" aria-hidden="true">{shapes[kind].format(k)}</svg>{text(cut(name))}</li>'
        for k, name in enumerate(names, start=int(len(names) == 1))
    )
    return f'<ul class="legend">{items}</ul>'
