"""The frames of a replay in numbers: planes, mistakes and bounds by step, for the page and the animation alike."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .._common.types import BoolArray, FloatArray, IntArray
from .._common.words import at_most
from .._core import is_sparse
from ..analysis.plane_view import plane_view
from ..history import Record, least_so_far
from ..losses import Loss
from ..solvers import Result
from ..solvers.contract import in_passes
from ..solvers.result import STOPPED_BY_PROOF
from .recording import Recording

#: How many examples are drawn all the time, and how many bytes all frames may take on the page.
POINTS, FRAME_BYTES = 1500, 3_600_000
#: A feature map is shown on a grid of so many points a side, up to so many features.
GRID, MAPPED_FEATURES = 45, 60
#: Room around the outermost examples, as a share of the picture.
ROOM = 0.08
#: An update of so many weights is written out in numbers, which takes about so many characters for each.
WRITTEN_FEATURES, WRITTEN_BYTES = 3, 40

#: What solvers are called by those who do not choose them by name.
METHODS = {
    "sgd": "stochastic gradient descent",
    "newton": "Newton's method",
    "dual": "dual coordinate descent",
    "multipliers": "method of multipliers",
}

#: Two coordinates of every example, their names, and φ: how features are made of such coordinates.
Original = tuple[FloatArray, Sequence[str], Callable[[FloatArray], Any]]
#: From where to where a picture goes, across and up.
Window = tuple[tuple[float, float], tuple[float, float]]


@dataclass(frozen=True, eq=False)
class Scene:
    """The two coordinates of a picture, and how a plane is drawn in it.

    In the picture the discriminant is g = Σ cⱼ φⱼ(u, v) + c₀, where the frames have the coefficients (c₁, …, c₀).
    `kind` is "features" (two of them as they are), "map" (two coordinates that they are functions of) or "projection".
    """

    kind: str
    points: FloatArray  # where every example is
    names: tuple[str, str]
    sentence: str  # what a reader must know of the picture
    u: FloatArray  # with v, the grid that covers it
    v: FloatArray
    basis: FloatArray | None  # φ on the grid, of shape (features, len(v), len(u)); None for φ = (u, v)
    coefficients: Callable[[FloatArray, float], ArrayLike]  # from (w, b) to c

    def on_grid(self, c: FloatArray) -> FloatArray:
        """Return g at every point of the grid."""
        if self.basis is None:
            return np.asarray(c[0] * self.u[None, :] + c[1] * self.v[:, None] + c[2])
        return np.asarray(np.tensordot(c[:-1], self.basis, axes=1) + c[-1])


@dataclass(frozen=True)
class Bound:
    """Novikoff's bound (R/γ)² on the perceptron's mistakes, or why there is none."""

    value: float
    sentence: str


@dataclass(frozen=True, eq=False)
class Film:
    """A recorded fit, ready to be drawn."""

    title: str
    classes: tuple[str, str]
    scene: Scene
    positive: BoolArray
    shown: IntArray  # rows of the examples that are always drawn
    records: list[Record]  # one a frame
    planes: FloatArray  # of shape (frames, coefficients)
    #: For each frame the one whose plane was the best so far, −1 where none was; numbers from the count of frames on
    #: are rows of `best_planes`, best points that are no frames themselves.
    best: IntArray
    best_planes: FloatArray
    best_by: str  # what makes it the best, which the fit itself goes by: "lowest objective" or "fewest mistakes"
    #: The lowest objective and the smallest share of mistakes up to each frame, whichever plane has them; NaN at a
    #: start from w = 0, which is no plane.
    best_objective: FloatArray
    best_errors: FloatArray
    wrong: BoolArray  # of shape (frames, shown): which examples have z ≤ 0
    on_plane: IntArray  # how many examples have z = 0, which counts as a mistake
    right: IntArray  # how many are predicted rightly, where a score of 0 is the first class, as in `predict`
    band: FloatArray  # the level of |g| at which the margin is drawn; 0 for none
    band_is: tuple[str, str]  # what that level is, in a word and in a sentence
    before: FloatArray  # z of the example that caused the update; NaN where there is none, or where it is not known
    after: FloatArray
    written: list[str]  # the update in numbers, w + y·x; empty where it is not known, or has too many of them
    rule: str  # the same in symbols, where it is the perceptron's
    bound: Bound | None
    facts: list[tuple[str, str]]  # what was fitted and how it ended
    advice: str  # what the fit says of its step size, where that was wrong
    notes: list[str]  # what was left out, and what else went wrong
    total: int  # how many examples there are
    numbers: IntArray  # the row that each is of, from 0: several trials may stand in one
    counts_mistakes: bool  # whether an update is a mistake

    def best_plane(self, k: int) -> FloatArray | None:
        """Return the coefficients of the best plane up to frame k."""
        every = np.concatenate([self.planes, self.best_planes])
        return None if self.best[k] < 0 else every[self.best[k]]

    @property
    def opening(self) -> int:
        """The first frame whose plane is seen in the picture; the last where none is."""
        for k, plane in enumerate(self.planes):
            g = self.scene.on_grid(plane)
            if g.min() < 0 < g.max():
                return k
        return len(self.planes) - 1


# -- the picture ----------------------------------------------------------------------------------------------------


def make_scene(
    recording: Recording, names: Sequence[str], original: Original | None, window: Window | None = None
) -> Scene:
    """Return how the examples are shown; `names` are those of the features."""
    if original is not None and recording.problem.rows.d <= MAPPED_FEATURES:
        return _mapped(*original, window)
    X, result = recording.problem.rows.X, recording.result
    view = plane_view(X, result.w, result.b)
    kind, axes = "features", (names[0], names[-1])
    sentence = "Both features as they are: the line is where g(x) = 0."
    if not view.identity:
        kind, axes = "projection", ("distance from the reported plane", "largest remaining spread")
        exact = "the plane reported is exactly the vertical line at 0; " if result.w.any() else ""
        share = f"{view.shown:.0%}" if view.shown >= 0.01 else "less than 1%"
        sentence = (
            f"{X.shape[1]:,} features on two axes: across, the distance from the plane that the fit reports; up, the "
            f"direction of the largest spread that is left{_mostly(view.along, names)}. The picture shows {share} of "
            f"the examples' variance: {exact}other planes are drawn where they cut through the picture, so an example "
            "may be wrong and yet appear on the right side. Which examples are wrong is computed from all features."
        )
    points = view.project(X)
    return Scene(
        kind,
        points,
        axes,
        sentence,
        *_grid(points, window if view.identity else None),
        None,
        lambda w, b: np.append(*view.planes(w, b)),
    )


def _mostly(direction: FloatArray, names: Sequence[str]) -> str:
    """Name the features that make up most of a direction."""
    heaviest = np.argsort(-np.abs(direction), kind="stable")[:2]
    named = [names[j] for j in heaviest if abs(direction[j]) > 0.3]
    return f" (mostly {' and '.join(named)})" if named else ""


def _mapped(points: FloatArray, names: Sequence[str], phi: Callable[[FloatArray], Any], window: Window | None) -> Scene:
    u, v = _grid(points, window)
    corners = np.column_stack([part.ravel() for part in np.meshgrid(u, v)])
    features = phi(corners)
    features = np.asarray(features.toarray() if is_sparse(features) else features, dtype=np.float64)
    basis = np.ascontiguousarray(features.T).reshape(-1, len(v), len(u))
    sentence = (
        f"Drawn in the plane of {names[0]} and {names[1]}; the fit sees {len(basis)} features φ(x) made of them, in "
        "which the boundary is a plane: here it is where w·φ(x) + b = 0."
        if len(basis) > 2
        else f"Drawn in the plane of {names[0]} and {names[1]}; the fit sees both on other scales."
    )
    return Scene("map", points, (names[0], names[1]), sentence, u, v, basis, lambda w, b: [*w.tolist(), b])


def _grid(points: FloatArray, window: Window | None) -> tuple[FloatArray, FloatArray]:
    """Return the grid of both axes, over the window where one is given, else around the points."""
    if window is None:
        return _axis(points[:, 0]), _axis(points[:, 1])
    return np.linspace(*window[0], GRID), np.linspace(*window[1], GRID)


def _axis(values: FloatArray) -> FloatArray:
    """Return the grid of one axis, with room around the values."""
    low, high = float(values.min()), float(values.max())
    room = ROOM * (high - low) or max(1.0, abs(low)) / 2
    return np.linspace(low - room, high + room, GRID)


# -- the frames -----------------------------------------------------------------------------------------------------


def make_film(
    recording: Recording,
    *,
    names: Sequence[str] | None = None,
    original: Original | None = None,
    title: str | None = None,
    window: Window | None = None,
    points: int = POINTS,
    numbers: IntArray | None = None,
) -> Film:
    """Return the film of a recorded fit.

    Parameters
    ----------
    recording : Recording
    names : list of str, optional
        Of the features.
    original : (points, names, φ), optional
        Two coordinates that the features are made of.
    title : str, optional
    window : ((left, right), (bottom, top)), optional
        What a picture of two coordinates shows, where it shall not follow the examples.
    points : int
        How many examples are drawn at the most.
    numbers : array of int, optional
        The row that each example is of, from 0.
    """
    problem, model = recording.problem, recording.model
    numbers = np.arange(problem.rows.n) if numbers is None else numbers
    names = [f"x{j}" for j in range(problem.rows.d)] if names is None else list(names)
    scene = make_scene(recording, names, original, window)
    everything = recording.history.records
    coefficients = 3 if scene.basis is None else len(scene.basis) + 1
    shown = _shown(problem.rows.n, points)
    writes = problem.rows.d <= WRITTEN_FEATURES
    kept = _kept(len(everything), len(shown), coefficients, WRITTEN_BYTES * problem.rows.d * writes)
    records = [everything[k] for k in kept]
    plane_of = recording.plane
    iterates = [plane_of(record) for record in records]
    few_mistakes_first = recording.history.solver == "perceptron"
    best_records = _best(everything, few_mistakes_first=few_mistakes_first)
    best, beside = _places([best_records[k] for k in kept], kept)
    before, after = _agreements(recording, records, whole=len(kept) == len(everything))
    return Film(
        title=title or f"{type(model).__name__}, step by step",
        classes=recording.classes,
        scene=scene,
        positive=problem.y > 0,
        shown=shown,
        records=records,
        planes=np.array([scene.coefficients(w, b) for w, b in iterates]),
        best=best,
        best_planes=np.reshape([scene.coefficients(*plane_of(everything[k])) for k in beside], (-1, coefficients)),
        best_by="fewest mistakes after any update" if few_mistakes_first else "lowest objective of any step shown",
        best_objective=least_so_far(recording.history, "objective")[kept],
        best_errors=least_so_far(recording.history, "zero_one")[kept],
        **_sides(recording, iterates, shown),
        band_is=_band_in_words(problem.loss),
        before=before,
        after=after,
        written=_written(recording, records, before) if writes else [""] * len(records),
        rule=("w ← w + y·x" + ", b ← b + y" * bool(model.fit_intercept)) if few_mistakes_first else "",
        bound=_bound(recording),
        facts=_facts(recording),
        advice=" ".join(recording.warnings) if recording.result.advice else "",
        notes=_notes(recording, len(records), len(shown), numbers),
        total=problem.rows.n,
        numbers=numbers,
        counts_mistakes=problem.loss.name == "perceptron",
    )


def _band_in_words(loss: Loss) -> tuple[str, str]:
    """Say what the dotted lines are, for this loss."""
    if loss.margin:
        return "margin", "Dotted: the margin, g = ±1."
    if loss.is_likelihood:
        return "g = ±1", "Dotted: g = ±1, where one of the classes has a probability of 1/(1 + 1/e) = 73 %."
    return "margin", "Dotted: the margin, through the nearest example, once all are on their own side."


def _sides(recording: Recording, iterates: Sequence[Any], shown: IntArray) -> dict[str, Any]:
    """Return for each iterate which examples are wrong, how many are on the plane and right, and the margin's band."""
    problem = recording.problem
    wrong, band = np.empty((len(iterates), len(shown)), dtype=bool), np.zeros(len(iterates))
    on_plane, right = np.empty((2, len(iterates)), dtype=np.int64)
    for k, (w, b) in enumerate(iterates):
        z = problem.agreements(w, b)
        wrong[k] = z[shown] <= 0
        on_plane[k], right[k] = (z == 0).sum(), ((z > 0) | ((z == 0) & (problem.y < 0))).sum()
        band[k] = 1.0 if problem.loss.margin or problem.loss.is_likelihood else max(0.0, float(z.min()))
    return dict(wrong=wrong, on_plane=on_plane, right=right, band=band)


def _shown(n: int, most: int) -> IntArray:
    """Return which examples are drawn: all, or as many drawn at random as fit, the same every time."""
    if n <= most:
        return np.arange(n)
    return np.sort(np.random.default_rng(0).choice(n, most, replace=False))


def _kept(count: int, shown: int, coefficients: int, words: int = 0) -> list[int]:
    """Return which records become frames: all, or every second (third, …) so that the page stays small, and the last.

    A frame takes a bit for each example, about nine characters for each number, and its words.
    """
    frame = shown / 6 + 9 * (coefficients + 16) + words
    stride = max(1, int(np.ceil(count * frame / FRAME_BYTES)))
    kept = list(range(0, count, stride))
    return kept if kept[-1] == count - 1 else [*kept, count - 1]


def _best(everything: list[Record], *, few_mistakes_first: bool) -> list[int]:
    """Return for every record which one was the best up to it, −1 where none was.

    What is best is what the fit itself would report: the lowest objective, for the perceptron the fewest mistakes. The
    start is not an answer, as w = 0 minimises the perceptron risk; the history has no best there.
    """
    found, best, least = list[int](), -1, (np.inf, np.inf)
    for k, record in enumerate(everything):
        rank = (record.zero_one if few_mistakes_first else 0.0, record.objective)
        if not np.isnan(record.best) and rank < least:
            best, least = k, rank
        found.append(best)
    return found


def _places(best: list[int], kept: list[int]) -> tuple[IntArray, list[int]]:
    """Return where the plane of each best record is (see `Film.best`), and the records that are no frames themselves.

    Examples
    --------
    >>> _places([-1, 1, 4], [0, 2, 4])
    (array([-1,  3,  2]), [1])
    """
    place = {-1: -1} | {record: frame for frame, record in enumerate(kept)}
    beside = sorted({record for record in best if record not in place})
    place |= {record: len(kept) + k for k, record in enumerate(beside)}
    return np.array([place[record] for record in best]), beside


def _agreements(recording: Recording, records: list[Record], *, whole: bool) -> tuple[FloatArray, FloatArray]:
    """Return z of the example of each update, before and after it.

    Before is known where the frame before is the point that the update began from: nothing was left out, and no penalty
    moved the point in between.
    """
    problem = recording.problem
    known = whole and recording.history.stride == 1 and problem.strength == 0
    before, after = np.full(len(records), np.nan), np.full(len(records), np.nan)
    for k, record in enumerate(records):
        if record.example is None:
            continue
        x = problem.rows.X[[record.example]]
        for target, j in [(after, k), *([(before, k - 1)] if known and k else [])]:
            w, b = recording.plane(records[j])
            target[k] = problem.y[record.example] * (float(np.ravel(x @ w)[0]) + b)
    return before, after


def _written(recording: Recording, records: list[Record], before: FloatArray) -> list[str]:
    """Return each update in numbers: from the plane before, the step along y·x, to the plane after."""
    problem, said = recording.problem, [""] * len(records)
    for k in np.flatnonzero(np.isfinite(before)):
        record, y = records[k], float(problem.y[records[k].example])
        x = problem.rows.X[[record.example]]
        x = np.ravel(x.toarray() if is_sparse(x) else x)
        (w, b), (w_after, b_after) = recording.plane(records[k - 1]), recording.plane(record)
        factor = record.step_size * -float(problem.loss.slope(before[k : k + 1])[0])
        if not np.allclose(w_after, w + factor * y * x, rtol=1e-9, atol=1e-12):
            continue  # it moved by more than this example: weights, or a plane kept in between
        times = "" if factor == 1 else f"{_number(factor)}·"
        sign = "+" if y > 0 else "−"
        said[k] = f"w = {_vector(w)} {sign} {times}{_vector(x)} = {_vector(w_after)}"
        if b or b_after:
            said[k] += f", b = {_number(b)} {sign} {_number(factor)} = {_number(b_after)}"
    return said


def _vector(values: FloatArray) -> str:
    return f"({', '.join(map(_number, values))})"


def _number(value: float) -> str:
    """Return four digits of a number.

    Examples
    --------
    >>> _number(-0.58579), _number(3.0), _number(1e-17)
    ('−0.5858', '3', '1e−17')
    """
    return f"{value:.4g}".replace("-", "−")


# -- what is said ---------------------------------------------------------------------------------------------------


def _bound(recording: Recording) -> Bound | None:
    """Return Novikoff's bound where it holds: updates of length one from w = 0, of an estimator that knows R and γ."""
    model = recording.model
    if not hasattr(model, "margin_") or not hasattr(model, "radius_") or recording.problem.sample_weight is not None:
        return None
    if not hasattr(model, "mistake_bound_"):
        return Bound(np.inf, "Novikoff: no bound, for the penalty moves the plane as well as the mistakes do.")
    radius, space = float(model.radius_), "[x, 1]" if model.fit_intercept else "x"
    value, margin, whose = float(model.best_mistake_bound_), float(model.best_margin_), "of the best plane"
    if not np.isfinite(value):
        value, margin, whose = float(model.mistake_bound_), float(model.margin_), "of the plane reported"
    if np.isfinite(value):
        sentence = (
            f"Novikoff: at most (R/γ)² = {at_most(value)} mistakes in any order, where R = {radius:.4g} is the largest "
            f"‖{space}‖ and γ = {margin:.4g} the margin {whose} through the origin of that space."
        )
        return Bound(value, sentence)
    proof, why = model.separability_, "no bound is known, for no separating plane was found"
    if proof is not None and not proof.separable:
        why = "no bound, for it is proven that no plane separates these examples"
    elif proof is not None:
        why = f"no bound to speak of, for the plane that is known to separate them has a margin of {proof.margin:.1e}"
    return Bound(np.inf, f"Novikoff: {why}.")


def _facts(recording: Recording) -> list[tuple[str, str]]:
    problem, result, model = recording.problem, recording.result, recording.model
    ended = "stopped by the limit on recorded steps" if recording.cut_short else _ended(result)
    gap = getattr(getattr(model, "certificate_", None), "certain_gap", getattr(model, "dual_gap_", np.inf))
    if result.converged and result.proof is not None and np.isfinite(gap):
        ended = f"proven to be within {gap:.1e} of the optimum, relative to the objective"
    order = _order(model)
    solver = recording.history.solver
    method = METHODS.get(solver, solver.replace("_", " ")) or type(model).__name__
    return [
        ("minimised", problem.formula),
        ("by", f"{method}{f', {order} order' if isinstance(order, str) else ''}"),
        ("examples", f"{problem.rows.n:,} with {problem.rows.d:,} feature{'s' * (problem.rows.d != 1)}"),
        ("ended", f"{ended}{'' if result.converged else ' (not converged)'}"),
    ]


def _order(model: Any) -> Any:
    """Return in which order a method takes the examples, where it has one."""
    return getattr(model, "order", None) or getattr(getattr(model, "solver", None), "order", None)


def _ended(result: Result) -> str:
    """Return how a fit ended, without the names of classes and parameters."""
    if result.history.ended:
        return f"stopped because {result.history.ended}"
    if result.message == STOPPED_BY_PROOF:
        return "stopped because it is proven that no plane separates the classes"
    steps = "passes" if in_passes(result.history.solver) else "steps"
    return re.sub(r"max_iter=(\d+)(?: iterations)?", lambda found: f"{int(found[1]):,} {steps}", result.message)


def _draws(recording: Recording) -> int:
    """Return how many examples a pass draws at random; all of them where they are not drawn."""
    last, n = recording.history.records[-1], recording.problem.rows.n
    return min(n, round(last.step / last.passes)) if _order(recording.model) == "random" and last.passes > 0 else n


def _where_cut(recording: Recording) -> str:
    """Return after how many steps a fit was stopped, which are more than were recorded where some change nothing."""
    step, limit = recording.history.records[-1].step, recording.limit
    return f"after {limit:,} steps" if step <= limit else f"at step {step:,}, when {limit:,} steps were recorded"


def _notes(recording: Recording, frames: int, shown: int, numbers: IntArray) -> list[str]:
    """Say what is not there."""
    history, n = recording.history, recording.problem.rows.n
    notes = (
        [] if recording.result.advice else [_rows_from_one(recording, words, numbers) for words in recording.warnings]
    )
    if recording.cut_short:
        notes.append(f"The fit was stopped {_where_cut(recording)}; by itself it would go on.")
    if getattr(recording.model, "keep", "") in ("average", "vote"):
        notes.append("The plane that the fit reports is the mean of all planes, and none of those drawn here.")
    stride = history.stride * (int(np.ceil((len(history) - 1) / max(1, frames - 1))) if frames < len(history) else 1)
    if stride > 1:
        notes.append(f"Thinned: one recorded step in {stride:,} is shown, so a frame sums up {stride:,} steps.")
    if history.stride > 1:
        notes.append("The best plane so far is the best of the steps that were kept.")
    if (draws := _draws(recording)) < n:
        notes.append(f"A pass is {draws:,} random draws, as many as there are different examples among the {n:,}.")
    if shown < n:
        notes.append(f"{shown:,} of {n:,} examples are drawn, chosen at random; all of them count.")
    return notes


def _rows_from_one(recording: Recording, words: str, numbers: IntArray) -> str:
    """Return a warning with the rows of its proof counted as the page counts them."""
    proof = getattr(recording.model, "separability_", None)
    if proof is None or proof.points is None:
        return words
    counted = proof.in_rows((numbers + 1).tolist())
    return words.replace(proof.common_point_in_words(), counted.common_point_in_words())
