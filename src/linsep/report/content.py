"""The numbers and sentences of a report, computed once, and the page of them: its sections, in the order one asks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._types import FloatArray, IntArray
from .._words import listed
from ..analysis.evaluation import Evaluation, codes_of, evaluate
from ..analysis.importance import Importance, importance
from ..analysis.suspects import FileRows, Suspect, suspects
from ..history import histories_of
from ..losses import LOSSES, Logistic, ZeroOne
from . import learned, mistakes, proofs, quality, thresholds
from .learned import Journey, Weights
from .markup import definitions, document, paragraph, section
from .mistakes import Cells, Mistake
from .quality import Bin, Histogram
from .thresholds import Curve

__all__ = ["Content", "compute", "in_words", "render"]

#: Seconds that the search for a proof of separability may take.
PROOF_SECONDS = 10.0


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
    said_of_rows : str
        Where the rows come from, where more is to be said of that.
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
    said_of_rows: str
    notes: list[str]


def compute(
    model: Any,
    X: Any,
    y: ArrayLike,
    *,
    training: tuple[Any, ArrayLike] | None = None,
    unseen: bool | None = None,
    names: Sequence[str] | None = None,
    sources: Sequence[str] | None = None,
    origins: Sequence[str] | None = None,
    known: Importance | None = None,
    per_unit: tuple[FloatArray, FloatArray] | None = None,
    cells: Cells | None = None,
    numbers: IntArray | None = None,
    training_numbers: IntArray | None = None,
    said_of_rows: str = "",
    file_rows: FileRows | None = None,
    threshold: float | None = None,
    title: str | None = None,
    recheck: str | None = None,
    notes: Sequence[str] = (),
    time_limit: float = PROOF_SECONDS,
) -> Content:
    """Return what a report of a model says.

    Parameters
    ----------
    model : fitted linear estimator
    X, y
        Rows to measure it on.
    training : (X, y), optional
        The rows that it was fitted on, where these are others: separability and what to watch out for are about these.
    unseen : bool, optional
        Whether the model was not fitted on the rows of X; by default that is so where `training` are given.
    names, sources, origins : sequence of str, optional
        Of each column of X: what it is called, what it was made of, and the column of the file that this is part of.
    known : Importance, optional
        How important what is in the rows of the fit, where that is known; else it is measured.
    per_unit : (coef, intercept), optional
        The weights per unit of the file's columns, where X has them rescaled.
    cells : callable, optional
        From the number of a row to its cells by name; without it the row of a DataFrame, else its features.
    numbers, training_numbers : array of int, optional
        The number in the file, from 0, of each row of X and of the training rows, where these are some of them.
    said_of_rows : str, optional
        A sentence on where the rows come from.
    file_rows : callable, optional
        What the columns of the file say in some rows of the fit: see `linsep.analysis.suspects`.
    threshold : float, optional
        Where a score counts as positive.
    title, recheck : str, optional
        The heading; the command that checks the proof again.
    notes : sequence of str, optional
        What else a reader should know of the data.
    time_limit : float, default=10
        Seconds for the search for a proof of separability.

    Examples
    --------
    >>> from linsep import LogisticRegression
    >>> X, y = np.array([[0.0], [1.0], [3.0], [4.0]]), np.array(["no", "no", "yes", "yes"])
    >>> found = compute(LogisticRegression().fit(X, y), X, y)
    >>> found.n_mistakes, found.separability[0].split(":")[0]
    (0, 'separable')
    """
    labels, plain = np.asarray(y), _plain(X)
    if labels.shape != (plain.shape[0],) or not len(labels):
        raise ValueError(
            f"y has shape {labels.shape}; a report needs one label for each of the {plain.shape[0]} rows of X"
        )
    X = X if hasattr(X, "columns") else plain
    names = _names(model, X) if names is None else list(names)
    codes = codes_of(labels, model.classes_)
    distance, said = quality.distances(model, X, codes, threshold)
    fitted_on = (plain, labels) if training is None else (_plain(training[0]), np.asarray(training[1]))
    origins = names if origins is None else origins
    if cells is None and hasattr(X, "columns"):
        cells = mistakes.frame_cells(X)
    if known is None:
        known = importance(fitted_on[0], model.coef_, origins)
    counted = numbers if training is None else training_numbers
    average = np.asarray(fitted_on[0].mean(axis=0), dtype=np.float64).ravel()
    reasons = mistakes.Reasons(model.coef_, plain, average, names, origins, cells)
    verdicts, is_decided = proofs.verdicts(model.classes_, *fitted_on, names, time_limit, counted)
    return Content(
        title=title or f"{type(model).__name__}: {listed(model.classes_, 6)}",
        objective=str(model.objective_),
        objective_in_words=in_words(str(model.objective_)),
        proof=proofs.sentences(model),
        is_proven=proofs.is_proven(model),
        recheck=recheck or "linsep.verify(model, X_train, y_train)",
        facts=_facts(model, labels, training),
        evaluation=evaluate(model, X, labels, threshold=threshold),
        curve=thresholds.curve(model, X, codes, threshold),
        calibration=quality.calibration(model, X, codes),
        weights=learned.planes(model, names, origins, known, per_unit),
        margins=quality.histogram(distance, codes, model.classes_),
        mistakes=mistakes.worst(model, codes, said, distance, reasons, numbers),
        n_mistakes=int((said != codes).sum()),
        separability=verdicts,
        is_decided=is_decided,
        journeys=learned.journeys(model),
        suspects=suspects(
            *fitted_on, names=names, sources=sources, coef=model.coef_, file_rows=file_rows, numbers=counted
        ),
        unseen=True if unseen is None and training is not None else unseen,
        knows_fit=training is not None or unseen is False,
        said_of_rows=said_of_rows,
        notes=list(notes),
    )


def in_words(objective: str) -> str:
    """Say what an objective asks for.

    Examples
    --------
    >>> in_words("½‖w‖² + Σ max(0, 1 − z)")  # doctest: +NORMALIZE_WHITESPACE
    'In words: what each row lacks to be on its own side with a score of 1 (hinge loss), summed over all rows, is to be
    small; and so is the squared length of the weights.'
    """
    if "subject to" in objective:
        return "In words: the shortest weights that keep every row on its own side, which is the widest margin."
    loss = _loss_in_words(objective)
    penalties = {"‖²": "the squared length of the weights", "‖₁": "the sum of their absolute values"}
    paid = " and ".join(words for formula, words in penalties.items() if formula in objective)
    also = f"; and so is {paid}" if paid else ""
    return f"In words: {loss}, summed over all rows, is to be small{also}."


def _loss_in_words(objective: str) -> str:
    """Say what the loss in an objective asks of each row; it is the one with the longest formula that occurs there."""
    if "softmax" in objective:
        return f"{Logistic.words} (log loss)"
    found = [loss for loss in LOSSES.values() if loss.formula in objective]
    if not found:
        return "the loss of each row"
    loss = max(found, key=lambda loss: len(loss.formula))
    return f"{loss.words} ({'zero-one' if loss is ZeroOne else loss.name.replace('_', ' ')} loss)"


def _names(model: Any, X: Any) -> list[str]:
    known = getattr(model, "feature_names_in_", getattr(X, "columns", None))
    return [f"x{j}" for j in range(model.n_features_in_)] if known is None else [str(name) for name in known]


def _plain(X: Any) -> Any:
    """Return rows as an array or a sparse matrix."""
    if hasattr(X, "tocsr"):
        return X.tocsr()
    X = np.asarray(X)
    return X if X.dtype in (np.float32, np.float64) else X.astype(np.float64)


def _facts(model: Any, y: NDArray[Any], training: Any) -> list[tuple[str, str]]:
    labels, counts = np.unique(y, return_counts=True)
    shares = listed([f"{label}: {count:,}" for label, count in zip(labels, counts, strict=True)], 8)
    facts = [("model", type(model).__name__), ("features", f"{model.n_features_in_:,}")]
    if training is not None:
        facts.append(("trained on", f"{len(np.asarray(training[1])):,} rows"))
    facts.append(("measured on", f"{len(y):,} rows ({shares})"))
    solvers = sorted({f"{history.solver} ({history.reason})" for history in histories_of(model) if history.solver})
    facts += [("solver", solver) for solver in solvers[:3]]
    count = int(np.max(model.n_iter_))
    iterations = f"after {count:,} iteration{'s' * (count != 1)}"
    return [*facts, ("ended", iterations if model.converged_ else f"{iterations}, not converged")]


# -- the page ---------------------------------------------------------------------------------------------------------


def render(content: Content) -> str:
    """Return the page."""
    measured, n_mistakes = content.evaluation, content.n_mistakes
    sections = [
        _head(content),
        proofs.proof_section(content.proof, content.is_proven, content.recheck),
        quality.metrics_section(measured, content.unseen, content.said_of_rows),
        _watch_out(content.suspects),
        thresholds.threshold_section(content.curve, measured.classes),
        thresholds.ranking_section(content.curve, measured),
        quality.calibration_section(content.calibration, measured.classes),
        learned.weights_section(content.weights),
        quality.margins_section(content.margins, n_mistakes, measured),
        mistakes.mistakes_section(content.mistakes, n_mistakes),
        proofs.separability_section(content.separability, content.is_decided, content.knows_fit),
        learned.journeys_section(content.journeys),
    ]
    return document(content.title, sections)


def _head(content: Content) -> str:
    facts = definitions([*content.facts, ("minimised", content.objective)])
    symbols = " z = y (w·x + b) is positive where a row is on its own side." if "z" in content.objective else ""
    words = paragraph(f"{content.objective_in_words}{symbols}")
    return section("What was fitted", facts, words, *map(paragraph, content.notes))


def _watch_out(found: Sequence[Suspect]) -> str:
    if found:
        items = "".join(f"<li>{paragraph(suspect.message)}</li>" for suspect in found)
        return section("What to watch out for", f"<ul>{items}</ul>", kind="warning")
    nothing = (
        "Nothing stands out: no column that gives the answer away, dominates or repeats another, no equal rows with "
        "different labels, no rare class."
    )
    return section("What to watch out for", paragraph(nothing))
