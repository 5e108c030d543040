"""What a report says, in numbers: computed once, drawn by `page`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..evaluation import Evaluation, codes_of, decide, evaluate
from ..separability import ProofTimeoutError, separability
from ..suspects import Suspect, suspects

FloatArray = NDArray[np.float64]

__all__ = ["Bin", "Content", "Curve", "Histogram", "Journey", "Mistake", "Weights", "compute"]

#: How many weights of a plane, mistakes, and cells of a mistake's row are shown.
WEIGHTS, MISTAKES, CELLS = 20, 10, 12
#: Points of a curve, bars of a histogram, bins of a calibration.
POINTS, BARS, BINS = 200, 30, 10
#: Seconds that the search for a proof of separability may take.
PROOF_SECONDS = 10.0


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
    """The heaviest weights of one plane: by name, on the scale of training, and per unit of the column."""

    towards: str
    away: str
    names: list[str]
    weights: FloatArray
    per_unit: FloatArray
    intercept: float
    left_out: int


@dataclass(frozen=True)
class Histogram:
    """How many rows of each class lie how far on their own side."""

    edges: FloatArray
    counts: dict[str, NDArray[np.int64]]


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
    """How one fit went: the numbers that were recorded, by step."""

    name: str
    solver: str
    reason: str
    step: FloatArray
    series: dict[str, FloatArray]


@dataclass(frozen=True)
class Content:
    """All that a report says.

    Attributes
    ----------
    title, objective, proof, recheck : str
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
    separability : str
    journeys : list of Journey
        Empty where nothing was recorded.
    suspects : list of Suspect
    trained_here : bool
        Whether the numbers are of the rows that the model was fitted on.
    """

    title: str
    objective: str
    proof: str
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
    separability: str
    journeys: list[Journey]
    suspects: list[Suspect]
    trained_here: bool


def compute(
    model: Any,
    X: Any,
    y: ArrayLike,
    *,
    training: tuple[Any, ArrayLike] | None = None,
    names: Sequence[str] | None = None,
    sources: Sequence[str] | None = None,
    per_unit: tuple[FloatArray, FloatArray] | None = None,
    cells: Callable[[int], Mapping[str, Any]] | None = None,
    threshold: float | None = None,
    title: str | None = None,
    recheck: str | None = None,
    seed: int = 0,
) -> Content:
    """Return what a report of a model says.

    Parameters
    ----------
    model : fitted linear estimator
    X, y
        Rows to measure it on.
    training : (X, y), optional
        The rows that it was fitted on, where these are others.
    names, sources : sequence of str, optional
        Of each column of X: what it is called, and the column of the file that it was made of.
    per_unit : (coef, intercept), optional
        The weights per unit of the file's columns; without it the model's own.
    cells : callable, optional
        From the number of a row to its cells by name; without it, what the heaviest features of the row are.
    threshold : float, optional
        Where a score counts as positive.
    title, recheck : str, optional
    seed : int, default=0
        Of the bootstrap.

    Examples
    --------
    >>> from linsep import LogisticRegression
    >>> X, y = np.array([[0.0], [1.0], [3.0], [4.0]]), np.array(["no", "no", "yes", "yes"])
    >>> found = compute(LogisticRegression().fit(X, y), X, y)
    >>> found.n_mistakes, found.separability.split(":")[0]
    (0, 'separable')
    """
    names = _names(model, X) if names is None else list(names)
    labels = np.asarray(y)
    table = X if cells is None and hasattr(X, "columns") else None
    X = _plain(X)
    codes = codes_of(labels, model.classes_)
    distance, said = _distances(model, X, codes, threshold)
    wrong = np.flatnonzero(said != codes)
    wrong = wrong[np.argsort(distance[wrong], kind="stable")]
    fitted_on = (X, labels) if training is None else (_plain(training[0]), np.asarray(training[1]))
    cells = cells or (_columns(table) if table is not None else _heaviest(model, X, names))
    return Content(
        title=title or f"{type(model).__name__}: {', '.join(map(str, model.classes_[:6]))}",
        objective=str(model.objective_),
        proof=_proof(model),
        is_proven=_is_proven(model),
        recheck=recheck or "linsep.verify(model, X_train, y_train)",
        facts=_facts(model, X, labels, training),
        evaluation=evaluate(model, X, labels, threshold=threshold, seed=seed),
        curve=_curve(model, X, codes, threshold),
        calibration=_calibration(model, X, codes),
        weights=_weights(model, names, per_unit),
        margins=_histogram(distance, codes, model.classes_),
        mistakes=[_mistake(int(i), model.classes_, codes, said, distance, cells) for i in wrong[:MISTAKES]],
        n_mistakes=len(wrong),
        separability=_verdict(model, *fitted_on),
        journeys=_journeys(model),
        suspects=suspects(*fitted_on, names=names, sources=sources, coef=model.coef_),
        trained_here=training is None,
    )


def _names(model: Any, X: Any) -> list[str]:
    known = getattr(model, "feature_names_in_", getattr(X, "columns", None))
    return [f"x{j}" for j in range(np.shape(X)[1])] if known is None else [str(name) for name in known]


def _plain(X: Any) -> Any:
    """Return rows as an array or a sparse matrix."""
    return X.tocsr() if hasattr(X, "tocsr") else np.asarray(X, dtype=np.float64)


# -- what was fitted, and what is proven of it ------------------------------------------------------------------------


def _facts(model: Any, X: Any, y: NDArray[Any], training: Any) -> list[tuple[str, str]]:
    labels, counts = np.unique(y, return_counts=True)
    shares = ", ".join(f"{label}: {count:,}" for label, count in list(zip(labels, counts, strict=True))[:8])
    facts = [("model", type(model).__name__), ("features", f"{X.shape[1]:,}")]
    if training is not None:
        facts.append(("trained on", f"{np.shape(training[0])[0]:,} rows"))
    facts += [("measured on", f"{X.shape[0]:,} rows ({shares}{', …' if len(labels) > 8 else ''})")]
    solvers = {f"{history.solver} ({history.reason})" for history in _histories(model) if history.solver}
    facts += [("solver", "; ".join(sorted(solvers)))] if solvers else []
    ended = "yes" if getattr(model, "converged_", True) else "no: read the proof below with care"
    return [*facts, ("converged", ended)]


def _certificate(model: Any) -> Any:
    try:
        return model.certificate_
    except AttributeError:  # this kind of fit proves no gap
        return None


def _proof(model: Any) -> str:
    certificate = _certificate(model)
    if certificate is not None:
        return str(certificate)
    return "Nothing is proven of this fit: its solver computes no bound on the optimum."


def _is_proven(model: Any) -> bool:
    certificate = _certificate(model)
    return certificate is not None and bool(certificate.proven)


def _verdict(model: Any, X: Any, y: NDArray[Any]) -> str:
    """Say whether a plane separates each class from the others, or that this took too long to decide."""
    classes = model.classes_
    if len(classes) == 2:
        return _decided(X, y)
    share = PROOF_SECONDS / len(classes)
    return "\n".join(f"{label} against the rest: {_decided(X, y == label, share)}" for label in classes[:20])


def _decided(X: Any, y: NDArray[Any], seconds: float = PROOF_SECONDS) -> str:
    if len(np.unique(y)) < 2:
        return "these rows have one class only"
    try:
        return str(separability(X, y, time_limit=seconds))
    except ProofTimeoutError:
        return f"not decided within {seconds:.3g} seconds; linsep.separability(X, y, time_limit=…) can take longer"


# -- how good it is ---------------------------------------------------------------------------------------------------


def _distances(
    model: Any, X: Any, codes: NDArray[np.int64], threshold: float | None
) -> tuple[FloatArray, NDArray[np.int64]]:
    """Return how far each row is on its own side, and what is said of it.

    With two classes that is y (g(x) − t)/‖w‖ for the threshold t, the distance from the plane; with more, the score of
    the row's class minus the highest other one.
    """
    said = codes_of(decide(model, X, threshold), model.classes_)
    scores = np.asarray(model.decision_function(X))
    if scores.ndim == 1:
        length = float(np.linalg.norm(model.coef_)) or 1.0
        return np.where(codes == 1, 1.0, -1.0) * (scores - (threshold or 0.0)) / length, said
    own = scores[np.arange(len(codes)), codes]
    others = scores.copy()
    others[np.arange(len(codes)), codes] = -np.inf
    return own - others.max(axis=1), said


def _curve(model: Any, X: Any, codes: NDArray[np.int64], threshold: float | None) -> Curve | None:
    """Return accuracy, precision and recall at the thresholds that change them, thinned to what a picture shows."""
    if len(model.classes_) != 2:
        return None
    score = np.asarray(model.decision_function(X))
    order = np.argsort(score, kind="stable")
    places = np.unique(np.linspace(0, len(order) - 1, POINTS).astype(np.int64))
    thresholds = np.unique(score[order[places]])
    chosen = threshold or 0.0
    measured = _at_thresholds(score[order], codes[order] == 1, np.append(thresholds, chosen))
    shown = {name: values[:-1] for name, values in measured.items()}
    return Curve(thresholds, shown, chosen, {name: float(values[-1]) for name, values in measured.items()})


def _at_thresholds(score: FloatArray, positive: NDArray[np.bool_], thresholds: FloatArray) -> dict[str, FloatArray]:
    """Return the measures of predicting the second class where the score, ascending, is at least each threshold."""
    first = np.searchsorted(score, thresholds, side="left")
    hits_below = np.append(0, np.cumsum(positive))[first]
    hits = positive.sum() - hits_below
    said, n = len(score) - first, len(score)
    with np.errstate(invalid="ignore", divide="ignore"):
        return {
            "accuracy": (hits + first - hits_below) / n,
            "precision": np.where(said > 0, hits / said, np.nan),
            "recall": hits / positive.sum(),
        }


def _calibration(model: Any, X: Any, codes: NDArray[np.int64]) -> list[Bin] | None:
    """Return how often what is said with some probability comes true; with many classes, of the likeliest one."""
    if not hasattr(model, "predict_proba"):
        return None
    shares = np.asarray(model.predict_proba(X))
    if shares.shape[1] == 2:
        said, came = shares[:, 1], codes == 1
    else:
        said, came = shares.max(axis=1), shares.argmax(axis=1) == codes
    place = np.minimum((said * BINS).astype(np.int64), BINS - 1)
    counts = np.bincount(place, minlength=BINS)
    sums, hits = (np.bincount(place, weights=values, minlength=BINS) for values in (said, came.astype(np.float64)))
    return [
        Bin(int(count), float(total / count), float(hit / count))
        for count, total, hit in zip(counts, sums, hits, strict=True)
        if count
    ]


def _histogram(distance: FloatArray, codes: NDArray[np.int64], classes: NDArray[Any]) -> Histogram:
    """Return the distances of each class in bars of equal width, with a border at 0."""
    low, high = min(float(distance.min()), 0.0), max(float(distance.max()), 0.0)
    width = (high - low) / BARS or 1.0
    edges = width * np.arange(np.floor(low / width), np.ceil(high / width) + 1)
    edges = edges if len(edges) > 1 else np.array([0.0, width])
    shown = classes if len(classes) == 2 else ["all classes"]
    of = [codes == k for k in range(2)] if len(classes) == 2 else [np.ones(len(codes), dtype=bool)]
    place = np.clip(np.searchsorted(edges, distance, side="right") - 1, 0, len(edges) - 2)
    counts = {
        str(name): np.bincount(place[mine], minlength=len(edges) - 1) for name, mine in zip(shown, of, strict=True)
    }
    return Histogram(edges, counts)


def _mistake(
    i: int,
    classes: NDArray[Any],
    codes: NDArray[np.int64],
    said: NDArray[np.int64],
    distance: FloatArray,
    cells: Callable[[int], Mapping[str, Any]],
) -> Mistake:
    shown = [(str(name), str(value)) for name, value in cells(i).items()][:CELLS]
    return Mistake(i + 1, str(classes[codes[i]]), str(classes[said[i]]), float(distance[i]), shown)


def _columns(table: Any) -> Callable[[int], Mapping[str, Any]]:
    """Return how to read the cells of a row of a data frame."""
    import narwhals as nw

    frame = nw.from_native(table, eager_only=True)
    return lambda i: dict(zip(frame.columns, frame.row(i), strict=True))


def _heaviest(model: Any, X: Any, names: Sequence[str]) -> Callable[[int], Mapping[str, Any]]:
    """Return how to name the features that speak the loudest in a row: those with the largest |w_j x_j|."""

    def cells(i: int) -> dict[str, str]:
        row = np.asarray(X[[i]].toarray() if hasattr(X, "tocsr") else X[[i]])[0]
        loudness = np.abs(model.coef_ * row).max(axis=0)
        order = np.argsort(-loudness, kind="stable")[:CELLS]
        return {names[j]: f"{row[j]:.6g}" for j in order if row[j] != 0 or len(row) <= CELLS}

    return cells


# -- what it learned, and how -----------------------------------------------------------------------------------------


def _weights(model: Any, names: Sequence[str], per_unit: tuple[FloatArray, FloatArray] | None) -> list[Weights]:
    coef, intercept = (model.coef_, np.ravel(model.intercept_)) if per_unit is None else per_unit
    two = len(model.coef_) == 1
    planes = []
    for k, w in enumerate(model.coef_):
        order = np.argsort(-np.abs(w), kind="stable")[:WEIGHTS]
        towards, away = (model.classes_[1], model.classes_[0]) if two else (model.classes_[k], "the rest")
        heaviest = [names[j] for j in order]
        left = len(w) - len(order)
        planes.append(Weights(str(towards), str(away), heaviest, w[order], coef[k, order], float(intercept[k]), left))
    return planes


def _histories(model: Any) -> list[Any]:
    history = getattr(model, "history_", [])
    return history if isinstance(history, list) else [history]


def _journeys(model: Any) -> list[Journey]:
    """Return the recorded steps of each plane's fit; a model from a file has kept none."""
    found = []
    for k, history in enumerate(_histories(model)):
        step = history["step"]
        series = {name: history[name] for name in ("objective", "best", "zero_one")}
        series = {name: values for name, values in series.items() if np.isfinite(values).sum() > 1}
        if series:
            name = "" if len(_histories(model)) == 1 else str(model.classes_[k])
            found.append(Journey(name, history.solver, history.reason, step, series))
    return found
