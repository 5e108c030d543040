"""Heights over a grid, for level lines: any function's, and the objective of a fit over two of its parameters."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._common.types import FloatArray
from ..analysis.risk_surface import around, risks_over
from ..replay.film import Film
from ..replay.page import rounded, rounded_rows
from ..replay.recording import Recording
from . import protocol

#: Points a side of the grid, and how many level lines.
GRID, LEVELS = 61, 14
#: Every point of the grid looks at every example: at no more than these, drawn at random.
SAMPLE = 2000
HEIGHTS = {"objective": "what is minimised", "mistakes": "share of mistakes: flat almost everywhere"}


def heights(u: FloatArray, v: FloatArray, values: FloatArray) -> dict[str, Any]:
    """Return a grid of heights and its levels, which lie closer where more of the picture is nearly flat."""
    levels = np.unique(np.quantile(values, np.linspace(0.01, 0.95, LEVELS)))
    return {"u": rounded(u), "v": rounded(v), "values": rounded(values.ravel(), 5), "levels": rounded(levels)}


def risk_surface(recording: Recording, film: Film, names: list[str], asked: Any) -> dict[str, Any]:
    """Return the mean objective (or the share of mistakes) over two parameters, and where every frame is on it.

    The other parameters are those of the last frame. `asked` has two `parameters`, numbers of features or, for the
    offset, how many features there are; and the `height`.
    """
    asked = protocol.mapping(asked, "surface")
    problem, named = recording.problem, [*names, *(["b"] if recording.model.fit_intercept else [])]
    i, j = _two(asked.get("parameters"), len(named))
    height = protocol.word(asked.get("height", "objective"), "height", HEIGHTS)
    iterates = np.array([problem.join(*recording.plane(record)) for record in film.records])
    theta, X, y = np.append(*recording.plane(film.records[-1])), problem.rows.X, problem.y
    if len(y) > SAMPLE:
        rows = np.sort(np.random.default_rng(0).choice(len(y), SAMPLE, replace=False))
        X, y = X[rows], y[rows]
    met = np.vstack([np.zeros((1, 2)), iterates[:, [i, j]]])
    u, v = (np.linspace(*around(met[:, k]), GRID) for k in (0, 1))
    risk, mistakes = risks_over(X, y, theta, (i, j), [u, v], problem.loss)
    penalised = height == "objective" and problem.penalised
    values = mistakes if height == "mistakes" else risk + _penalty(recording, theta, (i, j), u, v) * penalised
    return {
        **heights(u, v, values),
        "path": rounded_rows(iterates[:, [i, j]]),
        "names": [name if name == "b" else f"weight of {name}" for name in named],
        "parameters": [i, j],
        "height": height,
        "label": f"mean of {problem.loss.formula}{' with the penalty' * penalised}"
        if height == "objective"
        else HEIGHTS[height],
        "sampled": len(y) if len(y) < problem.n else None,
    }


def _two(value: Any, count: int) -> tuple[int, int]:
    """Return which two parameters are meant: the first two where nothing is said."""
    if value is None:
        return 0, 1
    i, j = (int(part) for part in protocol.pair(value, "parameters", 0, count - 1))
    if i == j:
        raise protocol.MalformedError("parameters are two different ones")
    return i, j


def _penalty(recording: Recording, theta: FloatArray, where: tuple[int, int], u: FloatArray, v: FloatArray) -> Any:
    """Return what the penalty adds to the mean objective at every point of the grid; b is not penalised."""
    problem, point = recording.problem, theta.copy()
    found = np.empty((len(v), len(u)))
    for row, second in enumerate(v):
        for column, first in enumerate(u):
            point[list(where)] = first, second
            found[row, column] = problem.penalty.value(point[: problem.d])
    return problem.strength * found
