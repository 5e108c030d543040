"""What a report says, as small records of numbers and words."""

from __future__ import annotations

from dataclasses import dataclass

from .._types import FloatArray, IntArray
from ..analysis.evaluation import Evaluation
from ..analysis.suspects import Suspect


@dataclass(frozen=True)
class Curve:
    """What each threshold on the score would give, in ascending order, and the one in use."""

    threshold: FloatArray
    measures: dict[str, FloatArray]
    chosen: float
    at_chosen: dict[str, float]


@dataclass(frozen=True)
class Bin:
    """Rows whose probability lies in the same tenth: how many, what was said on average, and how often it came true."""

    count: int
    said: float
    came_true: float


@dataclass(frozen=True)
class Weights:
    """The heaviest weights of one plane, by name; and per unit of the file's columns where these were rescaled."""

    towards: str
    away: str
    names: list[str]
    weights: FloatArray
    intercept: float
    per_unit: FloatArray | None
    intercept_at_zero: float | None
    left_out: int


@dataclass(frozen=True)
class Histogram:
    """How many rows of each class lie how far on their own side."""

    edges: FloatArray
    counts: dict[str, IntArray]


@dataclass(frozen=True)
class Mistake:
    """One row that is on the wrong side; `row` counts from 1."""

    row: int
    truth: str
    said: str
    distance: float
    cells: list[tuple[str, str]]


@dataclass(frozen=True)
class Journey:
    """How one fit went: the numbers that were recorded, by step, thinned to `len(step)` of `recorded` steps.

    `gap` is how far the best plane so far was above the proven bound, as a share of its objective; None where nothing
    is proven.
    """

    name: str
    recorded: int
    step: FloatArray
    series: dict[str, FloatArray]
    gap: FloatArray | None


@dataclass(frozen=True)
class Content:
    """All that a report says.

    Attributes
    ----------
    title, objective, objective_in_words, recheck : str
    proof : list of str
    is_proven : bool
    facts : list of (str, str)
        What was fitted, in a few words each.
    evaluation : Evaluation
    curve : Curve or None
        With two classes only.
    calibration : list of Bin or None
        Where there are probabilities.
    weights : list of Weights
    margins : Histogram
    mistakes : list of Mistake
        The worst first.
    n_mistakes : int
    separability : list of str
        One sentence for two classes, one a class for more.
    is_decided : bool
        Whether all of them are verdicts.
    journeys : list of Journey
        Empty where nothing was recorded.
    suspects : list of Suspect
    unseen : bool or None
        Whether the rows are others than those of the fit; None where that is not known.
    knows_fit : bool
        Whether separability and what to watch out for are told of the rows of the fit, not of the measured ones.
    notes : list of str
        What else a reader should know of the data.
    """

    title: str
    objective: str
    objective_in_words: str
    proof: list[str]
    is_proven: bool
    recheck: str
    facts: list[tuple[str, str]]
    evaluation: Evaluation
    curve: Curve | None
    calibration: list[Bin] | None
    weights: list[Weights]
    margins: Histogram
    mistakes: list[Mistake]
    n_mistakes: int
    separability: list[str]
    is_decided: bool
    journeys: list[Journey]
    suspects: list[Suspect]
    unseen: bool | None
    knows_fit: bool
    notes: list[str]
