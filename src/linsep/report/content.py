"""The numbers and sentences of a report, computed once, and the page of them: its sections, in the order one asks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._common.types import FloatArray, IntArray
from .._common.words import listed, many, told_apart
from ..analysis.evaluation import Evaluation, codes_of, evaluate
from ..analysis.importance import Importance, importance
from ..analysis.suspects import FileRows, Suspect, suspects
from ..history import histories_of
from ..losses import LOSSES, Logistic, ZeroOne
from . import learned, mistakes, proofs, quality, thresholds
from .learned import Journey, Weights
from .markup import definitions, document, paragraph, section
from .mistakes import Cells, Mistake
from .quality import Histogram
from .thresholds import Curve

__all__ = ["About", "Content", "compute", "in_words", "render"]

#: Seconds that the search for a proof of separability may take.
PROOF_SECONDS = 10.0


@dataclass(frozen=True)
class Content:
    """All that a report says."""

    title: str
    objective: str
    objective_in_words: str
    proof: list[str]
    is_proven: bool
    recheck: str
    facts: list[tuple[str, str]]  # what was fitted, in a few words each
    evaluation: Evaluation
    curve: Curve | None  # with two classes only
    probabilities: str  # where they come from, if not from the loss
    weights: list[Weights]
    margins: Histogram
    mistakes: list[Mistake]  # the worst first
    n_mistakes: int
    separability: list[str]  # one sentence for two classes, one a class for more
    is_decided: bool  # whether all of them are verdicts
    journeys: list[Journey]  # empty where nothing was recorded
    suspects: list[Suspect]
    unseen: bool | None  # whether the rows are others than those of the fit; None where that is not known
    knows_fit: bool  # whether separability and what to watch out for are told of the rows of the fit
    said_of_rows: str  # where the rows come from, where more is to be said of that
    notes: list[str]  # what else a reader should know of the data


@dataclass(frozen=True)
class About:
    """What `compute` may be told of a model and its rows."""

    #: The rows that it was fitted on, where these are others: separability and what to watch out for are about these.
    training: tuple[Any, ArrayLike] | None = None
    #: Whether the model was not fitted on the rows of X; by default that is so where `training` are given.
    unseen: bool | None = None
    #: Of each column of X: what it is called, what it was made of, and the column of the file that this is part of.
    names: Sequence[str] | None = None
    sources: Sequence[str] | None = None
    origins: Sequence[str] | None = None
    #: How important what is in the rows of the fit, where that is known; else it is measured.
    known: Importance | None = None
    #: Weights and intercepts per unit of the file's columns, where X has them rescaled.
    per_unit: tuple[FloatArray, FloatArray] | None = None
    #: What a unit is of features that are no column of the file.
    unit_notes: Sequence[str] = ()
    #: The weights relative to reference levels, of the features as they are in X.
    relative: FloatArray | None = None
    #: From the number of a row to its cells by name; without it the row of a DataFrame, else its features.
    cells: Cells | None = None
    #: The number in the file, from 0, of each row of X and of the training rows, where these are some of them.
    numbers: IntArray | None = None
    training_numbers: IntArray | None = None
    #: A sentence on where the rows come from.
    said_of_rows: str = ""
    #: What the columns of the file say in some rows of the fit: see `linsep.analysis.suspects`.
    file_rows: FileRows | None = None
    #: Where a score counts as positive.
    threshold: float | None = None
    #: The heading; the command that checks the proof again.
    title: str | None = None
    recheck: str = "linsep.verify(model, X_train, y_train)"
    #: What else a reader should know of the data.
    notes: Sequence[str] = ()
    #: Seconds for the search for a proof of separability.
    time_limit: float = PROOF_SECONDS


def compute(model: Any, X: Any, y: ArrayLike, **told: Any) -> Content:
    """Return what a report of a model says.

    Parameters
    ----------
    model : fitted linear estimator
    X, y
        Rows to measure it on.
    **told
        More of them: see `About`.

    Examples
    --------
    >>> from linsep import LogisticRegression
    >>> X, y = np.array([[0.0], [1.0], [3.0], [4.0]]), np.array(["no", "no", "yes", "yes"])
    >>> found = compute(LogisticRegression().fit(X, y), X, y)
    >>> found.n_mistakes, found.separability[0].split(":")[0]
    (0, 'separable')
    """
    about, labels, plain = About(**told), np.asarray(y), _plain(X)
    if labels.shape != (plain.shape[0],) or not len(labels):
        raise ValueError(
            f"y has shape {labels.shape}; a report needs one label for each of the {plain.shape[0]} rows of X"
        )
    X = X if hasattr(X, "columns") else plain
    names = _names(model, X) if about.names is None else list(about.names)
    origins = names if about.origins is None else about.origins
    codes, training = codes_of(labels, model.classes_), about.training
    threshold = getattr(model, "threshold_", None) if about.threshold is None else about.threshold
    distance, said = quality.distances(model, X, codes, threshold)
    fitted_on = (plain, labels) if training is None else (_plain(training[0]), np.asarray(training[1]))
    counted = about.numbers if training is None else about.training_numbers
    known = importance(fitted_on[0], model.coef_, origins) if about.known is None else about.known
    verdicts, is_decided = proofs.verdicts(model.classes_, *fitted_on, names, about.time_limit, counted)
    cells = mistakes.frame_cells(X) if about.cells is None and hasattr(X, "columns") else about.cells
    average = np.asarray(fitted_on[0].mean(axis=0), dtype=np.float64).ravel()
    reasons = mistakes.Reasons(model.coef_, plain, average, names, origins, cells)
    look: Any = dict(names=names, sources=about.sources, file_rows=about.file_rows, numbers=counted)
    look |= dict(weighted=getattr(model, "class_weight", None) is not None)
    return Content(
        title=about.title or f"{type(model).__name__}: {listed(model.classes_, 6)}",
        objective=str(model.objective_),
        objective_in_words=in_words(str(model.objective_)),
        proof=proofs.sentences(model),
        is_proven=proofs.is_proven(model),
        recheck=about.recheck,
        facts=_facts(model, labels, training),
        evaluation=evaluate(model, X, labels, threshold=threshold),
        curve=thresholds.curve(model, X, codes, threshold),
        probabilities=model.calibration_.in_words if hasattr(model, "calibration_") else "",
        weights=learned.planes(model, names, origins, known, about.per_unit, about.relative, about.unit_notes),
        margins=quality.histogram(distance, codes, model.classes_),
        mistakes=mistakes.worst(model, codes, said, distance, reasons, about.numbers),
        n_mistakes=int((said != codes).sum()),
        separability=verdicts,
        is_decided=is_decided,
        journeys=learned.journeys(model),
        suspects=suspects(*fitted_on, coef=model.coef_, **look),
        unseen=True if about.unseen is None and training is not None else about.unseen,
        knows_fit=training is not None or about.unseen is False,
        said_of_rows=about.said_of_rows,
        notes=list(about.notes),
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
    counted = ", each as much as it counts (s)" if "Σ s·" in objective else ""
    return f"In words: {loss}, summed over all rows{counted}, is to be small{also}."


def _loss_in_words(objective: str) -> str:
    """Say what the loss in an objective asks of each row; it is the one with the longest formula that occurs there."""
    if "softmax" in objective:
        return f"{Logistic.words} (log loss)"
    if "[k≠y]" in objective:
        return "what each row's own score lacks to be 1 above the highest of the others (hinge loss)"
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
    names = told_apart(labels.tolist()[:8])
    shares = ", ".join(f"{label}: {count:,}" for label, count in zip(names, counts, strict=False))
    shares += ", …" if len(labels) > 8 else ""
    facts = [("model", type(model).__name__), ("features", f"{model.n_features_in_:,}")]
    if training is not None:
        facts.append(("trained on", many(len(np.asarray(training[1])), "row")))
    facts.append(("measured on", f"{many(len(y), 'row')} ({shares})"))
    solvers = sorted({f"{history.solver} ({history.reason})" for history in histories_of(model) if history.solver})
    facts += [("solver", solver) for solver in solvers[:3]]
    count = int(np.max(model.n_iter_))
    iterations = f"after {count:,} iteration{'s' * (count != 1)}"
    return [
        *facts,
        ("ended", iterations if model.converged_ or proofs.is_proven(model) else f"{iterations}, not converged"),
    ]


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
        quality.calibration_section(measured.reliability, measured.classes, content.probabilities),
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
