"""The colours of every picture: plots, reports and replays. Safe for the colour-blind, readable on light and dark.

They are Okabe and Ito's, darkened on light paper where they would be too pale. Text has a contrast of at least 4.5
against its background and its surface, a mark at least 3 against the background (WCAG 2.2, levels AA 1.4.3 and 1.4.11).
Colour is never the only sign: classes have markers of their own, lines their own dashes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

__all__ = [
    "DARK",
    "DASHES",
    "LIGHT",
    "LOSSES",
    "MARKERS",
    "Theme",
    "contrast",
    "custom_properties",
    "full_strength",
    "loss_places",
    "luminance",
    "picture_roles",
    "theme_on",
]


@dataclass(frozen=True)
class Theme:
    """The colours of one kind of paper, each as ``#RRGGBB``."""

    name: str
    background: str  # the paper
    surface: str  # a box on it
    text: str  # what is read
    muted: str  # what is read second
    grid: str  # lines that should not be noticed
    negative: str  # marks of ``classes_[0]``, or a negative weight
    positive: str  # marks of ``classes_[1]``, or a positive one
    negative_text: str  # the same two where they colour letters
    positive_text: str
    series: tuple[str, ...]  # lines or classes, in this order; the first two are `positive` and `negative`
    diverging: tuple[str, ...]  # from the most negative number through zero to the most positive
    sequential: tuple[str, ...]  # from the lowest number to the highest


LIGHT = Theme(
    name="light",
    background="#FFFFFF",
    surface="#F5F6F8",
    text="#1A1A1A",
    muted="#595F69",
    grid="#D9DCE1",
    negative="#D55E00",
    positive="#0072B2",
    negative_text="#A84A00",
    positive_text="#00649C",
    series=("#0072B2", "#D55E00", "#008A65", "#B5548A", "#1A1A1A", "#3A8FC7", "#A87000", "#7A7300"),
    diverging=("#9A3F00", "#D55E00", "#F3B68A", "#F7F7F7", "#8CC4E6", "#0072B2", "#004A75"),
    sequential=("#F2F8FC", "#BFDDF0", "#7FBBE0", "#3A8FC7", "#0072B2", "#004A75"),
)

DARK = Theme(
    name="dark",
    background="#14161A",
    surface="#1E2126",
    text="#F1F2F4",
    muted="#A9B0BA",
    grid="#3A3F47",
    negative="#FF8A3D",
    positive="#56B4E9",
    negative_text="#FF9D5C",
    positive_text="#7CC5F0",
    series=("#56B4E9", "#FF8A3D", "#2DB98F", "#DD92BA", "#F1F2F4", "#F0E442", "#E69F00", "#9DB4FF"),
    diverging=("#FFC299", "#FF8A3D", "#8F4414", "#1E2126", "#175A80", "#56B4E9", "#BFE3F7"),
    sequential=("#1B2733", "#174A69", "#1F6E9C", "#3D9BD6", "#7CC5F0", "#D5ECF9"),
)

#: matplotlib's names of the markers of the classes, in the order of ``Theme.series``.
MARKERS = ("s", "o", "^", "D", "v", "P", "X", "*")

#: Dashes of lines, as lengths drawn and left out in points, in the order of ``Theme.series``; empty for a whole line.
DASHES: tuple[tuple[float, ...], ...] = (
    (),
    (6, 2),
    (2, 1.5),
    (7, 2, 1.5, 2),
    (10, 3),
    (4, 1.5),
    (1, 1),
    (7, 2, 1.5, 2, 1.5, 2),
)


#: Which of ``Theme.series`` and `DASHES` a loss has, in every picture.
LOSSES = {
    "logistic": 2,
    "square": 3,
    "zero_one": 4,
    "hinge": 5,
    "perceptron": 6,
    "squared_hinge": 0,
    "modified_huber": 1,
}


def loss_places(names: Iterable[str]) -> list[int]:
    """Return each loss's place in ``Theme.series`` and `DASHES`; others, and one that comes again, take spare ones.

    Examples
    --------
    >>> loss_places(["hinge", "logistic", "my_own", "hinge"])
    [5, 2, 7, 1]
    """
    names = list(names)
    taken = {LOSSES[name] for name in names if name in LOSSES}
    # First what no loss has, then what those have that are drawn least often.
    spare = [place for place in range(len(DASHES)) if place not in LOSSES.values()]
    free = (place for place in [*spare, *reversed(LOSSES.values())] if place not in taken)
    return [LOSSES[name] if name in LOSSES and name not in names[:k] else next(free, 0) for k, name in enumerate(names)]


def luminance(colour: str) -> float:
    """Return how much light a colour ``#RRGGBB`` gives, from 0 (black) to 1 (white), as WCAG 2 defines it.

    Examples
    --------
    >>> luminance("#FFFFFF"), luminance("#000000")
    (1.0, 0.0)
    """
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    red, green, blue = (v / 12.92 if v <= 0.04045 else ((v + 0.055) / 1.055) ** 2.4 for v in parts)
    return round(0.2126 * red + 0.7152 * green + 0.0722 * blue, 12)


def contrast(one: str, other: str) -> float:
    """Return the contrast ratio of two colours, from 1 (the same) to 21 (black on white).

    Examples
    --------
    >>> contrast("#000000", "#FFFFFF")
    21.0
    """
    dark, light = sorted((luminance(one), luminance(other)))
    return round((light + 0.05) / (dark + 0.05), 6)


def theme_on(background: str) -> Theme:
    """Return the theme whose text is the easier to read on that background.

    Examples
    --------
    >>> theme_on("#222222").name
    'dark'
    """
    return max((LIGHT, DARK), key=lambda theme: contrast(theme.text, background))


def full_strength(weights: ArrayLike) -> float:
    """Return the size from which on weights have the strongest colour of an image: that of the largest, as a rule.

    Pixels that are almost never inked may have weights a thousand times as large as all others, which would leave the
    rest of the image blank: where the largest is more than ten times the upper quartile, twice that quartile is it.

    Examples
    --------
    >>> full_strength([0.0, -1.0, 2.0, 3.0]), full_strength([0.0, 1.0, -1.0, 1.0, 1.0, 500.0]), full_strength([0.0])
    (3.0, 2.0, 1.0)
    """
    sizes = np.abs(np.asarray(weights, dtype=np.float64)).ravel()
    if not sizes.any():
        return 1.0
    quartile, largest = float(np.quantile(sizes[sizes > 0], 0.75)), float(sizes.max())
    return largest if largest <= 10 * quartile else 2 * quartile


def picture_roles(theme: Theme) -> dict[str, str]:
    """Return what each colour is for on a page that shows planes and points.

    Examples
    --------
    >>> picture_roles(LIGHT)["ink"] == LIGHT.text
    True
    """
    paper = dict(ground=theme.background, panel=theme.surface, ink=theme.text, quiet=theme.muted, rule=theme.grid)
    best, cause = theme.series[2:4]
    return paper | dict(negative=theme.negative, positive=theme.positive, plane=theme.text, best=best, cause=cause)


def custom_properties(roles: Callable[[Theme], Mapping[str, str]]) -> str:
    """Return the rules of a style sheet that name a page's colours, for light and dark screens; paper is light.

    Parameters
    ----------
    roles : callable
        From a theme to colours by the name of the property.

    Examples
    --------
    >>> print(custom_properties(lambda theme: {"ink": theme.text}))
    :root { color-scheme: light dark; --ink: #1A1A1A; }
    @media screen and (prefers-color-scheme: dark) { :root { --ink: #F1F2F4; } }
    """
    light, dark = (" ".join(f"--{name}: {colour};" for name, colour in roles(theme).items()) for theme in (LIGHT, DARK))
    screen = f"@media screen and (prefers-color-scheme: dark) {{ :root {{ {dark} }} }}"
    return f":root {{ color-scheme: light dark; {light} }}\n{screen}"
