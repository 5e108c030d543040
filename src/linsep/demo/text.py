"""The demo as text for a terminal: the table, and the weights as pictures side by side."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

import numpy as np

from .._common.types import FloatArray
from ..palette import full_strength
from .computation import Demo, Fit
from .images import NEGATIVE, POSITIVE

#: Colours of a weight that speaks for 7, for 3 and for neither; told apart by the colour-blind too.
BLUE, ORANGE, DARK = (86, 180, 255), (255, 159, 28), (24, 24, 28)
#: The same without colour: from faint to strong.
FOR_POSITIVE, FOR_NEGATIVE = "░▒▓█", "·:=#"
#: Pictures are enlarged until they are about this many columns wide.
WIDTH = 16
#: Columns between two pictures, and columns of a line at the most.
GAP, LINE = 3, 100


def render(demo: Demo, *, report: str | None = None, color: bool = False) -> str:
    """Return the whole demo as text: title, table, weights, and what to try next.

    Parameters
    ----------
    demo : Demo
    report : str, optional
        Where the page is that shows the same and more.
    color : bool
        Whether to use rich's markup for colours. Without, the sign of a weight is shown by the kind of character.

    Examples
    --------
    >>> from linsep.demo import embedded_digits, run
    >>> print(render(run(embedded_digits(8))))
    linsep demo: handwritten 3s against 7s...
    """
    return "\n\n".join(
        [_title(demo, color), table(demo, color=color), pictures(demo, color=color), _next(demo, report, color)]
    )


def table(demo: Demo, *, color: bool = False) -> str:
    """Return one line a model: accuracies at threshold 0 and at the threshold picked, the proven gap, the time.

    Examples
    --------
    >>> from linsep.demo import embedded_digits, run
    >>> print(table(run(embedded_digits(8))))
                             at threshold 0            threshold picked
                             train     test     value    train     test      gap   seconds
    perceptron (pocket)    100.0 %   99.4 %   ...
    """
    header = [
        f"{'':22} {'at threshold 0':>16}   {'threshold picked':>25}",
        f"{'':22} {'train':>7}  {'test':>7}   {'value':>7}  {'train':>7}  {'test':>7}  {'gap':>7}  {'seconds':>8}",
    ]
    lines = [*(_styled(line, "dim", color) for line in header), *(_table_line(fit, color) for fit in demo.fits)]
    return "\n".join([*lines, *demo.notes])


def _table_line(fit: Fit, color: bool) -> str:
    label = f"  with noise {fit.noise:g}" if fit.noise > 0 else fit.model
    cells = [
        _percent(fit.train),
        _styled(_percent(fit.test), "bold", color) + " ",
        f"{fit.threshold:z7.3f}".replace("-", "−"),
        _percent(fit.train_picked),
        _styled(_percent(fit.test_picked), "bold", color),
        f"{'none' if np.isnan(fit.gap) else f'{fit.gap:.0e}':>7}",
        f"{fit.seconds:8.3f}",
    ]
    return f"{label:22} {'  '.join(cells)}"


def pictures(demo: Demo, *, color: bool = False) -> str:
    """Return the key to the pictures, and the weights of each model side by side, those with noise if there was some.

    Examples
    --------
    >>> from linsep.demo import embedded_digits, run
    >>> print(pictures(run(embedded_digits(8))))
    weights with noise 0.2: ink here speaks for ░▒▓█ 7, for ·:=# 3
    perceptron (pocket)   least squares   ...
    """
    shown = [fit for fit in demo.fits if fit.noise == demo.noise]
    columns = _enlarged(shown[0].weights).shape[1]
    all_fit = sum(max(columns, len(fit.model)) + GAP for fit in shown) <= LINE + GAP
    each = len(shown) if all_fit else LINE // (columns + GAP)
    rows = [_side_by_side(shown[k : k + each], columns, color) for k in range(0, len(shown), each)]
    return "\n".join([_key(demo, color), *rows])


def _side_by_side(fits: Sequence[Fit], columns: int, color: bool) -> str:
    """Return pictures beside each other, their names above."""
    widths = [max(columns, len(fit.model)) + GAP for fit in fits]
    drawn = [picture(fit.weights, color=color).split("\n") for fit in fits]
    lines = ["".join(f"{fit.model:{width}}" for fit, width in zip(fits, widths, strict=True))]
    pads = [" " * (width - columns) for width in widths]
    lines += ["".join(part + pad for part, pad in zip(row, pads, strict=True)) for row in zip(*drawn, strict=True)]
    return "\n".join(line.rstrip() for line in lines)


def picture(weights: FloatArray, *, color: bool = False) -> str:
    """Return an image as text, two rows of pixels a line.

    Parameters
    ----------
    weights : array of shape (rows, columns)
        Its sign is shown by the colour or the kind of character, its size by the strength.
    color : bool
        Half blocks in rich's markup, or characters of different darkness, each for the mean of two pixels.

    Examples
    --------
    >>> print(picture(np.kron([[1.0, 0.0], [0.3, -1.0]], np.ones((8, 8)))))
    ████████
    ████████
    ████████
    ████████
    ░░░░░░░░########
    ░░░░░░░░########
    ░░░░░░░░########
    ░░░░░░░░########
    """
    image = strength(_enlarged(weights))
    if color:
        return "\n".join(_half_blocks(upper, lower) for upper, lower in zip(image[::2], image[1::2], strict=True))
    return "\n".join("".join(map(_shade, row)) for row in (image[::2] + image[1::2]) / 2)


def strength(weights: FloatArray) -> FloatArray:
    """Return weights between −1 and 1, for a picture; those that tower above all others are drawn alike."""
    return np.clip(weights / full_strength(weights), -1.0, 1.0)


def _enlarged(image: FloatArray) -> FloatArray:
    """Repeat pixels until the picture is wide enough, and rows come in pairs."""
    times = -(-WIDTH // image.shape[1])
    large = image.repeat(times, axis=0).repeat(times, axis=1)
    return large if len(large) % 2 == 0 else np.vstack([large, np.zeros(large.shape[1])])


def _half_blocks(upper: FloatArray, lower: FloatArray) -> str:
    """Return a line with the upper pixels as foreground, the lower ones as background; equal neighbours share a tag."""
    tags = [f"{_colour(above)} on {_colour(below)}" for above, below in zip(upper, lower, strict=True)]
    return "".join(f"[{tag}]{'▀' * len(list(run))}[/]" for tag, run in groupby(tags))


def _colour(value: float) -> str:
    full = BLUE if value > 0 else ORANGE
    red, green, blue = (round(dark + abs(value) * (c - dark)) for dark, c in zip(DARK, full, strict=True))
    return f"#{red:02x}{green:02x}{blue:02x}"


def _shade(value: float) -> str:
    shades = FOR_POSITIVE if value > 0 else FOR_NEGATIVE
    level = round(len(shades) * abs(value))
    return shades[level - 1] if level else " "


def _title(demo: Demo, color: bool) -> str:
    return f"{_styled(f'linsep demo: handwritten {NEGATIVE}s against {POSITIVE}s', 'bold', color)}\n{demo.drawn}"


def _key(demo: Demo, color: bool) -> str:
    seven = f"[{_colour(1)}]██[/]" if color else FOR_POSITIVE
    three = f"[{_colour(-1)}]██[/]" if color else FOR_NEGATIVE
    noise = f" with noise {demo.noise:g}" if demo.noise > 0 else ""
    return f"weights{noise}: ink here speaks for {seven} {POSITIVE}, for {three} {NEGATIVE}"


def _next(demo: Demo, report: str | None, color: bool) -> str:
    command = _styled(f"linsep demo --seed {demo.seed + 1}", "bold", color)
    # What a user calls a file is text, in markup too.
    shown = (report or "").replace("[", "\\[") if color else report
    where = [] if report is None else [f"Report with the replay, the mistakes and the thresholds: {shown}"]
    return "\n".join([*where, f"Next: {command} draws other images; {demo.images.suggestion}."])


def _percent(share: float) -> str:
    return f"{100 * share:5.1f} %"


def _styled(text: str, style: str, color: bool) -> str:
    return f"[{style}]{text}[/]" if color else text
