"""What is drawn beside the picture of a fit: its loss over z, its duality gap, bounds on mistakes."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._common.types import FloatArray, IntArray
from .._common.words import most_mistakes
from ..estimators import HardMarginSVC, Perceptron
from ..replay.film import Film
from ..replay.page import rounded
from ..replay.recording import Recording

#: Points of the curve of a loss, and frames that say how far it must reach.
CURVE, SAMPLED = 161, 24
#: Where the picture is a projection, z of so many examples goes with every frame.
LISTED = 150
#: Frames at the most that the gap is measured at, and while a point is dragged; between two the earlier one holds.
MEASURED, DRAFTED = 100, 10
#: While a point is being dragged, the widest margin of more points than these would keep the hand waiting.
QUICK = 300


def beside(recording: Recording, film: Film, *, draft: bool = False) -> dict[str, Any]:
    """Return the numbers of all of it, None where a method has none."""
    return {
        "loss": _loss(recording, film),
        "gap": _gap(recording, film, DRAFTED if draft else MEASURED),
        "bounds": _bounds(recording, film),
        "lecture": None if draft and recording.problem.n > QUICK else lecture_bound(recording, film),
    }


def _loss(recording: Recording, film: Film) -> dict[str, Any]:
    """Return the curve of the loss, and what z of the examples is made of in every frame.

    Where the picture has the features, or two coordinates that they are functions of, z = y g is found from a frame's
    own coefficients; of a projection z itself is sent, of some examples.
    """
    loss, problem = recording.problem.loss, recording.problem
    few = film.records[:: max(1, len(film.records) // SAMPLED)] + film.records[-1:]
    met = np.concatenate([problem.agreements(*recording.plane(record)) for record in few])
    low, high = np.quantile(met[np.isfinite(met)], (0.02, 0.98))
    z = np.linspace(min(-2.0, low), max(3.0, high), CURVE)
    z = np.unique([*z, 0.0, 1e-9, 1.0])  # a jump at 0 and a kink at 1 are where they are
    record = {
        "name": loss.name,
        "formula": loss.formula,
        "margin": bool(loss.margin),  # slacks up to z = 1
        "z": rounded(z),
        "values": rounded(loss.value(z)),
        "basis": None,
        "agreements": None,
        "rows": None,
    }
    if film.scene.kind == "map":
        record["basis"] = [rounded(part) for part in np.asarray(problem.rows.X)[film.shown].T]
    elif film.scene.kind == "projection":
        rows = _some(film.shown)
        record["rows"] = np.searchsorted(film.shown, rows).tolist()
        record["agreements"] = [rounded(problem.agreements(*recording.plane(one))[rows], 3) for one in film.records]
    return record


def _some(shown: IntArray) -> IntArray:
    """Return so many of the examples drawn, evenly."""
    return np.take(shown, np.linspace(0, len(shown) - 1, min(LISTED, len(shown))).astype(int))


def _gap(recording: Recording, film: Film, measured: int) -> list[float | int | None] | None:
    """Return for every frame how far the best point so far can be from the optimum, as a share of its objective.

    The lower bound is the best that the points so far prove by their own duals; the one behind the fit's last proof
    comes with the last frame. Without a penalty a point proves nothing before the end.
    """
    problem = recording.problem
    if not problem.penalised or not problem.loss.convex or isinstance(recording.model, Perceptron):
        return None
    stride = max(1, -(-len(film.records) // measured))
    gaps: FloatArray = np.empty(len(film.records))
    least, proven = np.inf, -np.inf
    for k, record in enumerate(film.records):
        if k % stride == 0 or k == len(gaps) - 1:
            bound = problem.evaluate(*recording.plane(record), split=True).bound
            least, proven = min(least, bound.primal), max(proven, bound.dual)
        gaps[k] = max(0.0, (least - proven) / least) if least > 0 else 0.0
    if np.isfinite(last := float(getattr(recording.model, "dual_gap_", np.inf))):
        gaps[-1] = min(gaps[-1], max(0.0, last))
    return rounded(gaps)


def _bounds(recording: Recording, film: Film) -> dict[str, Any] | None:
    """Return for every frame of an exact search the mistakes of its best plane, and how many every plane makes."""
    trace = getattr(recording.result, "trace", None)
    if trace is None:
        return None
    rows = [None if record.step < 1 else trace[min(record.step, len(trace)) - 1] for record in film.records]
    upper, lower = (rounded([np.nan if row is None else row[column] for row in rows]) for column in (1, 2))
    return {"upper": upper, "lower": lower}


def lecture_bound(recording: Recording, film: Film) -> dict[str, Any] | None:
    """Return (2R/γ)², the lecture's bound on mistakes with an offset; None where there is no such.

    R is the largest ‖x‖ and γ the widest margin in the space of x itself. It holds where b moves by y R².
    """
    if film.bound is None or not np.isfinite(film.bound.value) or not recording.model.fit_intercept:
        return None
    X, y = recording.problem.rows.X, recording.problem.y
    margin = float(HardMarginSVC().fit(X, y).margin_)
    radius = float(np.sqrt(max(0.0, recording.model.radius_**2 - 1)))  # its own is that of [x, 1]
    value = (2 * radius / margin) ** 2
    words = (
        f"With the lecture's R = {radius:.4g} and γ = {margin:.4g} of x itself, (2R/γ)² = {most_mistakes(value):,} "
        "bounds the rule that moves b by y·R²; here b moves by y."
    )
    return {"most": most_mistakes(value), "sentence": words}
