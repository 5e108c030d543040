"""The step-size playground: the lecture's two functions, walked down by `linsep.solvers.minimize` from any start."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import schedules
from .._common.types import FloatArray
from ..replay.page import rounded, rounded_rows
from ..solvers import StepSizeWarning, minimize
from . import protocol
from .advice import in_words, to_try
from .surfaces import GRID, heights

#: Steps of a walk at the most.
MOST_STEPS = 500
#: How step sizes may go on, and what the page calls it.
SCHEDULES = {"constant": "the same η at every step", "inverse_sqrt": "falling, η/√(k + 1)"}
Window = tuple[tuple[float, float], tuple[float, float]]


@dataclass(frozen=True)
class Function:
    """A function of two numbers, what the lecture does with it, and what it prints."""

    label: str
    says: str
    value: Callable[[Any], Any]  # of x with x[0] and x[1], numbers or grids
    gradient: Callable[[FloatArray], FloatArray]
    window: Window
    start: tuple[float, float]
    eta: float
    printed: Mapping[int, str]  # by step
    remark: str  # where the numbers differ

    def to_dict(self) -> dict[str, Any]:
        """Return what the page must know to offer it."""
        return {"label": self.label, "says": self.says, "start": list(self.start), "eta": self.eta}


FUNCTIONS = {
    "bowl": Function(
        "e^(x² + y²) + (x − 2)² + (y − 3)²",
        "Its gradient has no zero that can be written down, so one walks: from (½, 0) with η = 0.05.",
        lambda x: np.exp(x[0] ** 2 + x[1] ** 2) + (x[0] - 2) ** 2 + (x[1] - 3) ** 2,
        lambda x: 2 * x * np.exp(x @ x) + 2 * (x - [2, 3]),
        ((-0.6, 1.6), (-0.4, 1.25)),
        (0.5, 0.0),
        0.05,
        {0: "(1/2, 0)", 1: "(.58, .3)", 2: "(.63, .52)"},
        "The slide cuts digits off, and takes its second step from the cut numbers.",
    ),
    "kink": Function(
        "x² + |y|",
        "It has a kink along y = 0, and no gradient there: a subgradient takes its place. From (½, ½) with η = 0.1.",
        lambda x: x[0] ** 2 + abs(x[1]),
        lambda x: np.array([2 * x[0], np.sign(x[1])]),
        ((-0.7, 0.9), (-0.5, 0.7)),
        (0.5, 0.5),
        0.1,
        {0: "(1/2, 1/2)"},
        "The slide says that this does not converge: y jumps over 0. Exact numbers would land on y = 0 after five "
        "steps, and stay; floats miss it by a rounding. Steps that fall like 1/√k arrive from any start.",
    ),
}


def landscape(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return a function over its window as a grid, and the levels that lines are drawn at."""
    function = FUNCTIONS[protocol.word(body.get("function"), "function", FUNCTIONS)]
    u, v = (np.linspace(*limits, GRID) for limits in function.window)
    return heights(u, v, np.asarray(function.value(np.array(np.meshgrid(u, v)))))


def descent(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return a walk downhill, step by step, and what is wrong with its step size where something is.

    Examples
    --------
    >>> walk = descent({"function": "bowl", "start": [0.5, 0.0], "eta": 0.05})
    >>> walk["path"][1], walk["printed"]["1"], walk["advice"]
    ([0.585799, 0.3], '(.58, .3)', '')
    >>> descent({"function": "bowl", "start": [0.5, 0.0], "eta": 0.3})["advice"]
    'The step size η = 0.3 is too large: the objective grew without bound. Try η = 0.1.'
    """
    function = FUNCTIONS[protocol.word(body.get("function"), "function", FUNCTIONS)]
    start = protocol.pair(body.get("start"), "start", -10.0, 10.0)
    eta = protocol.number(body.get("eta"), "eta", 1e-6, 1e3)
    name = protocol.word(body.get("schedule", "constant"), "schedule", SCHEDULES)
    steps = int(protocol.number(body.get("steps", 60), "steps", 1, MOST_STEPS))
    schedule = schedules.get(name).with_first(eta)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", StepSizeWarning)  # its advice is told below
        run = minimize(function.value, function.gradient, start, schedule=schedule, max_iter=steps)
    path, values = run.history.iterates, run.history["objective"]
    gradients = np.array([function.gradient(place) for place in path])
    with np.errstate(over="ignore"):
        thrown = path[-1] - schedule(len(path) - 1) * gradients[-1]  # where a walk that got lost was going
    lost = run.message == "diverged" and bool(np.isfinite(thrown).all())
    like_the_lecture = (start, eta, name) == (function.start, function.eta, "constant")
    return {
        "path": rounded_rows(path),
        "values": rounded(values),
        "gradients": rounded_rows(gradients),
        "thrown": rounded(thrown) if lost else None,
        "converged": run.converged,
        "advice": in_words(run.advice),
        "try": to_try(run.advice),
        "printed": {str(k): words for k, words in function.printed.items()} if like_the_lecture else {},
        "remark": function.remark if like_the_lecture else "",
    }
