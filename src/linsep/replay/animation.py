"""The film as an animated GIF or MP4 for slides, drawn by matplotlib."""

from __future__ import annotations

import os
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from .._common.atomic_file import write_atomically
from .._common.types import FloatArray
from .._common.words import at_most
from ..palette import LIGHT, MARKERS
from ..solvers import check_count
from .film import Film

NEGATIVE, POSITIVE, PLANE = LIGHT.negative, LIGHT.positive, LIGHT.text
BEST, CAUSE = LIGHT.series[2:4]


def save_animation(film: Film, path: str | os.PathLike[str], *, fps: int = 6, frames: int = 120) -> None:
    """Write a film as an animation.

    Parameters
    ----------
    film : Film
        What `linsep.replay.replay` returns.
    path : str or path
        ``.gif``, or ``.mp4``, for which FFmpeg must be installed.
    fps : int, default=6
        Frames a second.
    frames : int, default=120
        How many at the most; of a longer film some, evenly, and the title says so.

    Examples
    --------
    >>> from linsep import Perceptron
    >>> from linsep.replay import replay
    >>> film = replay(Perceptron(order="cyclic"), [[0.0, 0.0], [0.0, 1.0], [3.0, 2.0], [4.0, 3.0]], [0, 0, 1, 1])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_animation(film, f"{folder}/replay.gif", fps=2)
    ...     Path(f"{folder}/replay.gif").read_bytes()[:6]
    b'GIF89a'
    """
    check_count("fps", fps)
    check_count("frames", frames)
    ending = Path(path).suffix.lower()
    writer = _writer(ending, path, fps)
    figure, draw = _figure(film)
    chosen = _chosen(len(film.records), frames)
    with tempfile.TemporaryDirectory() as folder:
        place = f"{folder}/film{ending}"
        try:
            with writer.saving(figure, place, dpi=100):
                for k in [*chosen, *[chosen[-1]] * fps]:  # the end stands for a second
                    draw(k)
                    writer.grab_frame()
        except (subprocess.CalledProcessError, BrokenPipeError) as error:  # an ffmpeg without H.264, as a rule
            raise ValueError(f"{path}: ffmpeg could not write it ({error}); write a .gif") from error
        write_atomically(path, Path(place).read_bytes())


def _writer(ending: str, path: str | os.PathLike[str], fps: int) -> Any:
    try:
        from matplotlib import animation
    except ModuleNotFoundError as error:
        hint = "matplotlib is not installed, which an animation needs: pip install 'linsep[plot]'"
        raise ModuleNotFoundError(hint, name=error.name) from error
    if ending == ".gif":
        return animation.PillowWriter(fps=fps)
    if ending != ".mp4":
        raise ValueError(f"{path}: an animation is written as .gif or .mp4; choose one of these endings")
    if not animation.FFMpegWriter.isAvailable():
        raise ValueError(f"{path}: MP4 needs the program ffmpeg, which is not installed; install it, or write a .gif")
    return animation.FFMpegWriter(fps=fps)


def _chosen(count: int, frames: int) -> list[int]:
    """Return at most so many frames, evenly spread, the first and the last among them.

    Examples
    --------
    >>> _chosen(11, 6), _chosen(3, 6)
    ([0, 2, 4, 6, 8, 10], [0, 1, 2])
    """
    return sorted({round(k) for k in np.linspace(0, count - 1, min(count, frames))})


def _figure(film: Film) -> tuple[Any, Any]:
    """Return a figure, and the function that draws a frame in it."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9.6, 5.4), layout="constrained")
    picture, objective, updates = figure.subplot_mosaic("AAB;AAC").values()

    def draw(k: int) -> None:
        for axes in (picture, objective, updates):
            axes.clear()
        draw_picture(film, k, picture)
        draw_objective(film, k, objective)
        draw_updates(film, k, updates)
        figure.suptitle(_title(film, k), fontsize=10, parse_math=False)

    return figure, draw


def _title(film: Film, k: int) -> str:
    record = film.records[k]
    words = f"{film.title}: step {record.step:,}"
    if record.example is not None:
        words += f", moved by row {film.numbers[record.example] + 1}"  # as a person counts
    thin = [note for note in film.notes if note.startswith("Thinned")]
    return "\n".join([words, *thin])


def draw_picture(film: Film, k: int, axes: Any) -> None:
    """Draw the examples, the plane of frame k, the best so far, the margin, and what caused the update."""
    scene, shown = film.scene, film.shown
    g = scene.on_grid(film.planes[k])
    for positive, colour, shape in zip((False, True), (NEGATIVE, POSITIVE), MARKERS, strict=False):
        for wrong in (False, True):
            rows = shown[(film.positive[shown] == positive) & (film.wrong[k] == wrong)]
            face = "white" if wrong else colour
            axes.scatter(*scene.points[rows].T, s=22, c=face, edgecolors=colour, marker=shape, linewidths=1.2)
    if (best := film.best_plane(k)) is not None:
        _contour(axes, film, scene.on_grid(best), 0.0, colors=BEST, linewidths=2.5, linestyles="dashed")
    _contour(axes, film, g, 0.0, colors=PLANE, linewidths=2)
    for side in (-1, 1) if film.band[k] > 0 else ():
        _contour(axes, film, g, side * float(film.band[k]), colors=PLANE, linewidths=1, linestyles="dotted")
    if (cause := film.records[k].example) is not None:
        axes.scatter(*scene.points[cause], s=260, facecolors="none", edgecolors=CAUSE, linewidths=3)
    axes.set(xlim=scene.u[[0, -1]], ylim=scene.v[[0, -1]])
    axes.set_xlabel(scene.names[0], parse_math=False)
    axes.set_ylabel(scene.names[1], parse_math=False)


def _contour(axes: Any, film: Film, g: FloatArray, level: float, **style: Any) -> None:
    if g.min() < level < g.max():
        axes.contour(film.scene.u, film.scene.v, g, levels=[level], **style)


def draw_objective(film: Film, k: int, axes: Any) -> None:
    """Draw the objective up to frame k over the whole run, and the best so far."""
    steps = [record.step for record in film.records]
    objective, best = [record.objective for record in film.records], film.best_objective
    axes.plot(steps, objective, color="0.8")
    axes.plot(steps[: k + 1], objective[: k + 1], color=PLANE, label="now")
    axes.plot(steps[: k + 1], best[: k + 1], color=BEST, ls="--", label="best so far")
    axes.set_title("objective", fontsize=9)
    axes.legend(fontsize=8, loc="upper right")


def draw_updates(film: Film, k: int, axes: Any) -> None:
    """Draw the mistakes made so far against their bound; where none are counted, their share among the examples."""
    steps = [record.step for record in film.records]
    counted = not np.isnan(film.records[-1].updates)
    name = ("mistakes so far" if film.counts_mistakes else "updates so far") if counted else "share of mistakes (z ≤ 0)"
    values = [record.updates if counted else record.zero_one for record in film.records]
    axes.plot(steps, values, color="0.8")
    axes.plot(steps[: k + 1], values[: k + 1], color=PLANE)
    axes.set_title(name, fontsize=9)
    axes.set_xlabel("step", fontsize=9)
    if counted and film.bound is not None and np.isfinite(film.bound.value):
        axes.axhline(film.bound.value, color=CAUSE, ls=":")
        axes.set_title(f"{name}; at most {at_most(film.bound.value)} (Novikoff)", fontsize=9)
        if film.bound.value > 20 * max(values):
            axes.set_yscale("symlog")
