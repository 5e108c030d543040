"""From a file to the replay of a fit: which method, in which picture."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from sklearn.exceptions import ConvergenceWarning

from .. import losses, schedules, solvers
from .._common.types import FloatArray
from .._common.words import most_mistakes
from ..data.encoding import TableEncoding
from ..data.sources import DataError
from ..estimators import LinearClassifier, Perceptron, SGDClassifier
from ..estimators._specification import columns_named
from ..replay import Film, replay
from .labels import check_positive
from .preparation import Examples
from .summaries import finite


@dataclass(frozen=True)
class Method:
    """What to replay; None where the method's own default shall hold.

    Examples
    --------
    >>> Method(order="cyclic").estimator(seed=0)
    Perceptron(order='cyclic')
    >>> Method("logistic", "gradient_descent", eta=0.5).estimator(seed=0).solver.schedule
    Constant(eta=0.5)
    """

    loss: str = "perceptron"
    solver: str = "auto"
    order: str | None = None
    C: float | None = None
    schedule: str | None = None
    eta: float | None = None
    max_iter: int | None = None
    intercept: bool = True

    def estimator(self, seed: int) -> Any:
        """Return the estimator; a setting that it has no use for is an error."""
        losses.get(self.loss)
        limit: dict[str, Any] = {} if self.max_iter is None else dict(max_iter=self.max_iter)
        common: dict[str, Any] = dict(fit_intercept=self.intercept, random_state=seed)
        if self.loss == "perceptron" and self.solver in ("auto", "perceptron"):
            self._refuse("the perceptron has no penalty and steps of length one", "C", "schedule", "eta")
            order = {} if self.order is None else dict(order=self.order)
            return Perceptron(**order, **limit, **common)  # type: ignore[arg-type]
        C = (np.inf if self.loss == "perceptron" else 1.0) if self.C is None else self.C
        if self.solver in ("auto", "sgd") and self.order is None:
            return SGDClassifier(self.loss, C=C, schedule=self._schedule(), **limit, **common)
        name = "sgd" if self.solver == "auto" else self.solver
        settings = dict(schedule=self._schedule(), order=self.order, **limit)
        given = {key: value for key, value in settings.items() if value is not None}
        try:
            return LinearClassifier(self.loss, C=C, solver=solvers.get(name, **given), **common)
        except ValueError as error:
            raise DataError(str(error)) from error

    def _schedule(self) -> schedules.Schedule | None:
        if self.schedule is None:
            return None if self.eta is None else schedules.get(self.eta)
        named = schedules.get(self.schedule)
        return named if self.eta is None else named.with_first(self.eta)

    def _refuse(self, why: str, *names: str) -> None:
        for name in names:
            if getattr(self, name) is not None:
                raise DataError(f"--{name} would be ignored: {why}; leave it out, or choose another --solver")


def replay_examples(
    examples: Examples, method: Method, *, steps: int | None = None, positive: str | None = None, seed: int = 0
) -> Film:
    """Return the film of a fit on the examples of a file."""
    estimator = method.estimator(seed)
    check_positive(examples, positive)
    with warnings.catch_warnings(), columns_named(examples.encoding.names):
        warnings.simplefilter("ignore", ConvergenceWarning)  # it is among the film's notes
        film = replay(
            estimator,
            examples.X,
            examples.y,
            steps=steps,
            positive=positive,
            feature_names=examples.encoding.names,
            original=_original(examples),
            numbers=examples.file_numbers(),
        )
    units = _units(examples)
    facts = [*film.facts, *([("columns", units)] if units else [])]
    method_used = dict(film.facts)["by"].partition(",")[0]
    title = f"{method_used[0].upper()}{method_used[1:]} on {Path(examples.name).name}, step by step"
    return replace(film, title=title, facts=facts, notes=[*film.notes, *examples.notes])


def _units(examples: Examples) -> str:
    """Say where the numbers are not the file's own: w, b, R and γ are then in other units than its columns."""
    if not isinstance(examples.encoding, TableEncoding) or not examples.encoding.is_scaled:
        return ""
    units = "w, b, R, γ and distances are in these units"
    if _original(examples) is not None:
        units = "w, b, R and γ are in these units, while the picture has the file's"
    return f"numbers are standardised (mean 0, standard deviation 1): {units}; --no-scaling takes the file's own"


def _original(examples: Examples) -> tuple[FloatArray, Sequence[str], Callable[[FloatArray], Any]] | None:
    """Return the plane of a table's two columns, where these are numbers and all that it has, but not as they are."""
    encoding = examples.encoding
    if not isinstance(encoding, TableEncoding) or encoding.levels or encoding.words or len(encoding.numbers) != 2:
        return None
    if encoding.degree == 1 and not encoding.is_scaled:
        return None
    names, state = list(encoding.numbers), list(encoding.numbers.values())
    if encoding.needed != names or any(one.lacking for one in state):  # dates, and numbers that may be missing
        return None
    mean, scale = np.array([one.mean for one in state]), np.array([one.scale for one in state])
    points = examples.X[:, :2] * scale + mean  # the encoding's first features are the standardised numbers
    return points, names, lambda grid: encoding.transform(pa.table(dict(zip(names, grid.T, strict=True))))


def replay_record(film: Film, output: Path) -> dict[str, Any]:
    """Return what a replay shows and where it is."""
    last = film.records[-1]
    return finite(  # type: ignore[no-any-return]
        {
            "output": str(output),
            "bytes": output.stat().st_size,
            "frames": len(film.records),
            "steps": last.step,
            "updates": last.updates,
            "objective": last.objective,
            "best_objective": last.best,
            "zero_one": last.zero_one,
            "mistake_bound": most_mistakes(film.bound.value) if film.bound and np.isfinite(film.bound.value) else None,
            "picture": film.scene.kind,
            "facts": dict(film.facts),
            "advice": film.advice or None,
            "notes": film.notes,
        }
    )


def in_words_of(film: Film, words: Callable[[str], str]) -> Film:
    """Return the same film with what is said of it in other words."""
    facts = [(name, words(fact)) for name, fact in film.facts]
    return replace(film, facts=facts, notes=[words(note) for note in film.notes], advice=words(film.advice))


def replay_text(film: Film, output: Path) -> str:
    """Return the same for people."""
    lines = [f"{name:11} {fact}" for name, fact in film.facts]
    last = film.records[-1]
    if not np.isnan(last.updates):
        count = f"{last.updates:,.0f}"
        made = f"mistakes    {count} on the way, an update each" if film.counts_mistakes else f"updates     {count}"
        lines.append(made)
    if film.bound is not None:
        lines.append(film.bound.sentence)
    lines += [*filter(None, [film.advice]), *film.notes]
    return "\n".join([*lines, f"{len(film.records):,} frames in {output}, {output.stat().st_size:,} bytes"])
