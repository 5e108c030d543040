"""Answers to a page's questions: fits and proofs by the library, as records that JSON can hold."""

from __future__ import annotations

import csv
import io
import tempfile
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from .. import losses
from .._common.complaints import complaints
from .._common.types import BoolArray, FloatArray
from .._common.words import many
from ..estimators import LeastSquaresClassifier, LogisticRegression, Perceptron
from ..persistence.model_file import save
from ..replay import Film, make_film, record_fit, render
from ..replay.film import POINTS
from ..replay.page import payload, rounded
from ..replay.recording import Recording
from ..separation.verdict import NotSeparableError, separability
from . import advice, protocol
from .beside import beside
from .code import program
from .descents import FUNCTIONS, SCHEDULES, descent, landscape
from .digits import READERS, read_digit
from .errors import RefusedError
from .features import FEATURES
from .figures import DOCUMENTS, FIGURES
from .files import MOST_BYTES, MOST_DRAWN, Files
from .methods import ALGORITHMS, described, estimator_of
from .presets import PRESETS
from .protocol import MalformedError, Question
from .surfaces import HEIGHTS, risk_surface

#: Steps of a fit that are recorded where the page does not say how many, and at the most.
STEPS, MOST_STEPS = 1000, 5000
#: Methods that are drawn beside each other, at the most.
MOST_PLANES = 8
#: Weights at the most by which a gradient is written out.
WRITTEN = 5
#: Numbers of a table that is downloaded, at the most.
MOST_WRITTEN = 2_000_000
#: The digits of x₁ and x₂ as every program reads them.
PLAIN = str.maketrans("₁₂", "12")
#: Losses whose mean a hand-drawn plane is judged by.
JUDGES = ("zero_one", "hinge", "logistic")

GivenUp = Callable[[], bool]


@dataclass(frozen=True, eq=False)
class Examples:
    """The examples of a question: what is drawn, and what a method sees of it."""

    points: FloatArray  # two coordinates, or all features of a file
    positive: BoolArray
    names: list[str]
    features: str

    def mapped(self) -> tuple[FloatArray, Any]:
        """Return the features, and the function that makes them; None where they are the points themselves."""
        make = FEATURES[self.features].make
        if make is None:
            return self.points, None
        phi = make()
        return phi.fit_transform(self.points), phi

    def seen(self, *, intercept: bool) -> FloatArray:
        """Return what a proof is to speak of: where a scaled feature has the lines of the picture, the points in it."""
        drawn = self.features == "standardised" and self.points.shape[1] == 2 and intercept
        return self.points if drawn else self.mapped()[0]

    def feature_names(self, phi: Any = None) -> list[str]:
        """Return what the features are called."""
        phi = self.mapped()[1] if phi is None else phi
        return self.names if phi is None else [str(name) for name in phi.get_feature_names_out(self.names)]

    @property
    def columns(self) -> list[str]:
        """Return what their columns are called in a file."""
        return [" ".join(name.translate(PLAIN).split()) for name in self.names]

    @property
    def labels(self) -> Any:
        """Labels 0 and 1; refused where there is one class only."""
        if self.positive.all() or not self.positive.any():
            lacking = "squares (■)" if self.positive.all() else "circles (●)"
            raise RefusedError(f"There is one class only. Draw some {lacking}, too: a line needs two sides.")
        return self.positive.astype(np.int64)


class Answers:
    """What a server can say, and the files that were given to it."""

    def __init__(self, files: Files | None = None) -> None:
        self.files = Files() if files is None else files
        self._by_name: dict[str, Callable[[Mapping[str, Any], GivenUp], tuple[str, dict[str, Any]]]] = {
            "hello": self._hello,
            "fit": self._fit,
            "separability": self._separability,
            "planes": self._planes,
            "judge": self._judge,
            "download": self._download,
            "columns": self._columns,
            "digit": lambda body, given_up: ("digit", read_digit(body)),
            "landscape": lambda body, given_up: ("landscape", landscape(body)),
            "descend": lambda body, given_up: ("descent", descent(body)),
        }

    def answer(self, question: Question, given_up: GivenUp = lambda: False) -> str:
        """Return the message that answers a question; whatever goes wrong is said in it."""
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # what a fit complains of is among the film's notes
                kind, entries = self._by_name[question.do](question.body, given_up)
            return protocol.write(question.id, kind, **entries)
        except MalformedError as error:
            return protocol.write(question.id, "error", why=str(error))
        except NotSeparableError as error:
            plain = question.body.get("features", "plain") in ("plain", "standardised") and "file" not in question.body
            why = advice.not_separable(error, "line" if plain else "plane of these features")
            return protocol.write(question.id, "refused", why=why, overlap=True)
        except TimeoutError:
            why = "It could not be proven in time whether these classes are separable. Fewer digits or columns help."
            return protocol.write(question.id, "refused", why=why)
        except (ValueError, ArithmeticError, MemoryError, np.linalg.LinAlgError) as error:
            return protocol.write(question.id, "refused", why=_sentence(str(error) or type(error).__name__))

    def take(self, name: str, data: bytes, given_up: GivenUp = lambda: False) -> dict[str, Any]:
        """Keep a file that was dropped, and return what it is, or why it is refused."""
        try:
            return self.files.add(name, data)
        except RefusedError as error:
            return {"why": str(error)}

    def _hello(self, body: Mapping[str, Any], given_up: GivenUp) -> tuple[str, dict[str, Any]]:
        return "hello", {
            **described(),
            "features": {name: one.label for name, one in FEATURES.items()},
            "presets": {name: preset.to_dict() for name, preset in PRESETS.items()},
            "figures": {name: figure.to_dict() for name, figure in FIGURES.items()},
            "documents": DOCUMENTS,
            "functions": {name: function.to_dict() for name, function in FUNCTIONS.items()},
            "schedules": SCHEDULES,
            "heights": HEIGHTS,
            "readers": READERS,
            "most_bytes": MOST_BYTES,
            "file": self.files.first,
        }

    def _examples(self, body: Mapping[str, Any]) -> Examples:
        features = protocol.word(body.get("features", "plain"), "features", FEATURES)
        if "file" in body:
            held = self.files.held(body["file"])
            if features not in ("plain", "standardised"):
                raise RefusedError("Squares and cubes are made of two columns; choose two of the file.")
            return Examples(held.X, held.positive, held.names, features)
        X, positive = protocol.points(body.get("points"))
        return Examples(X, positive, protocol.names(body.get("names")), features)

    def _recorded(self, body: Mapping[str, Any], given_up: GivenUp) -> tuple[Recording, Film, Examples]:
        examples = self._examples(body)
        method = protocol.mapping(body.get("method"), "method")
        steps = int(protocol.number(body.get("steps", STEPS), "steps", 1, MOST_STEPS))
        estimator, labels = estimator_of(method), examples.labels
        X, phi = examples.mapped()
        draft = body.get("draft") is True
        recording = record_fit(estimator, X, labels, steps=steps, given_up=given_up, draft=draft)
        two = examples.points.shape[1] == 2
        original = None if phi is None or not two else (examples.points, examples.names, phi.transform)
        names = examples.feature_names(phi)
        window = protocol.window(body.get("window"))
        title = f"{ALGORITHMS[str(method['name'])].label}, step by step"
        drawn = MOST_DRAWN if two else POINTS
        film = make_film(recording, names=names, original=original, title=title, window=window, points=drawn)
        return recording, film, examples

    def _fit(self, body: Mapping[str, Any], given_up: GivenUp) -> tuple[str, dict[str, Any]]:
        recording, film, examples = self._recorded(body, given_up)
        # While a point is being dragged the next question is on its way: the model of the film will do.
        draft = body.get("draft") is True or given_up()
        with complaints(ConvergenceWarning) as said:
            model = recording.model if draft else _fitted(recording, examples)
        more = beside(recording, film, draft=draft)
        if "surface" in body:
            more["surface"] = risk_surface(recording, film, examples.feature_names(), body["surface"])
        record = payload(film)
        steps = next(
            filter(None, map(advice.on_steps, [*recording.warnings, *said])), ""
        )  # a film may have been cut short
        record["advice"], record["try"] = advice.in_words(steps) or record["advice"], advice.to_try(steps)
        names = examples.feature_names()
        record["notes"] = [advice.with_names(advice.without_parameters(note), names) for note in record["notes"]]
        if draft and film.scene.kind != "projection" and len(film.shown) == film.total:
            record["points"] = None  # the page has sent all of them
        return "film", {
            "film": record,
            "beside": more,
            "model": _model(model),
            "each": _each(recording, model, draft=draft),
        }

    def _separability(self, body: Mapping[str, Any], given_up: GivenUp) -> tuple[str, dict[str, Any]]:
        examples = self._examples(body)
        intercept = body.get("intercept", True)
        if not isinstance(intercept, bool):
            raise MalformedError("intercept is yes or no")
        X = examples.seen(intercept=intercept)
        proof = separability(X, examples.labels, fit_intercept=intercept, time_limit=5.0)
        record: dict[str, Any] = {"verdict": proof.verdict, "separable": proof.separable, "margin": proof.margin}
        record["verified"] = bool(proof.verify(X, examples.labels))
        if proof.coef is not None:
            record["plane"] = [*proof.coef.tolist(), float(proof.intercept or 0.0)]
        if proof.points is not None:
            from_one = proof.in_rows(range(1, len(examples.positive) + 1))
            record |= {
                "points": [int(row) for row in proof.points],
                "weights": [float(weight) for weight in proof.weights or ()],
                "words": from_one.common_point_in_words(),
                "common": None if proof.common is None else [float(part) for part in proof.common],
            }
        return "separability", record

    def _planes(self, body: Mapping[str, Any], given_up: GivenUp) -> tuple[str, dict[str, Any]]:
        examples, asked = self._examples(body), body.get("methods")
        if not isinstance(asked, list) or not 1 <= len(asked) <= MOST_PLANES:
            raise MalformedError(f"methods is a list of 1 to {MOST_PLANES}")
        X, labels, found = examples.mapped()[0], examples.labels, []
        for method in asked:
            method = protocol.mapping(method, "method")
            try:
                model = estimator_of(method).fit(X, labels)
            except NotSeparableError:
                found.append({"name": method["name"], "why": "no line separates the classes"})
                continue
            except ValueError as error:
                found.append({"name": str(method.get("name"))[:40], "why": _sentence(str(error))})
                continue
            g = X @ model.coef_[0] + model.intercept_[0]
            plane = [*model.coef_[0].tolist(), float(model.intercept_[0])]
            found.append({"name": method["name"], "plane": plane, **_risks(np.where(labels > 0, g, -g))})
            if hasattr(model, "lower_bound_"):
                found[-1]["least"] = int(model.lower_bound_)  # no plane makes fewer mistakes
            if given_up():
                break
        return "planes", {"planes": found}

    def _judge(self, body: Mapping[str, Any], given_up: GivenUp) -> tuple[str, dict[str, Any]]:
        X, positive = protocol.points(body.get("points"))
        value = body.get("plane")
        if not isinstance(value, list) or len(value) != 3:
            raise MalformedError("plane is [w1, w2, b]")
        plane = protocol.numbers(value, "plane")
        g = X @ plane[:2] + plane[2]
        return "judged", _risks(np.where(positive, g, -g))

    def _download(self, body: Mapping[str, Any], given_up: GivenUp) -> tuple[str, dict[str, Any]]:
        what = protocol.word(body.get("what"), "what", dict.fromkeys(("code", "model", "replay", "data")))
        examples = self._examples(body)
        if what == "data":
            return "download", {"name": "points.csv", "text": _table(examples)}
        if what == "code":
            estimator = estimator_of(protocol.mapping(body.get("method"), "method"))
            text = program(estimator, examples.points, examples.positive, examples.features)
            return "download", {"name": "fit.py", "text": text}
        recording, film, examples = self._recorded(body, given_up)
        if what == "replay":
            return "download", {"name": "replay.html", "text": render(film)}
        return "download", {"name": "model.json", "text": _saved(_fitted(recording, examples), examples)}

    def _columns(self, body: Mapping[str, Any], given_up: GivenUp) -> tuple[str, dict[str, Any]]:
        return "columns", self.files.choose(body.get("file"), body.get("target"), body.get("columns"))


def _sentence(words: str) -> str:
    return words[:1].upper() + words[1:2000]


def _fitted(recording: Recording, examples: Examples) -> Any:
    """Return the model as `fit` gives it, which no limit on steps ends and no recording changes the last digit of."""
    return clone(recording.model).fit(examples.mapped()[0], examples.labels)


def _model(model: Any) -> dict[str, Any]:
    """Return the plane with all digits, and what is proven of it."""
    proven = getattr(model, "proven_", None)
    if proven is None:
        gap = float(model.dual_gap_)
        proven, said = bool(np.isfinite(gap) and model.converged_), model._proven()
    else:
        said = f"{many(model.n_mistakes_, 'mistake')}; no line makes fewer than {model.lower_bound_}"
    if isinstance(model, Perceptron):  # its answer is not that its risk is least, which w = 0 has as well
        proven = bool((model.dual_gap_ <= 0) and model.converged_)
        few = "Mistakes are left in the end; the line reported has the fewest met"
        said = "In the end no mistake is left" if model.converged_ else few
    elif hasattr(model, "certificate_"):
        said = advice.without_parameters(_of_certificate(model.certificate_))
    return {
        "estimator": type(model).__name__,
        "coef": model.coef_[0].tolist(),
        "intercept": float(model.intercept_[0]),
        "converged": bool(model.converged_),
        "proven": bool(proven),
        "objective": str(model.objective_),
        "words": _sentence(said),
    }


def _of_certificate(certificate: Any) -> str:
    """Return what is proven in a sentence; a bound of 0, which every objective has, is none."""
    if certificate.relative_gap < 1:
        return str(certificate)
    return f"The objective is {certificate.primal:.10g}; how near that is to the optimum is not proven"


def _each(recording: Recording, model: Any, *, draft: bool) -> dict[str, Any]:
    """Return numbers of every example at the plane reported: agreement, distance, loss, gradient, dual variable.

    The gradient is that of the example's loss by w and b. Where all are smooth and there is a penalty, the dual
    variable is α = −C ℓ'(z), with which w = Σ α y x; without one it has no scale.

    While a point is being dragged nobody can ask for them.
    """
    problem, support = recording.problem, [int(row) for row in getattr(model, "support_", ())]
    if draft:
        return {"support": support}
    w = model.coef_[0]
    z = problem.agreements(w, float(model.intercept_[0]))
    norm = float(np.linalg.norm(w))
    known: dict[str, Any] = {"z": z, "loss": problem.loss.value(z)}
    if norm > 0:
        known["distance"] = z / norm
    gradient: list[Any] = []
    if problem.loss.name != "zero_one":
        known["slope"] = slope = problem.loss.slope(z)
        if problem.rows.d <= WRITTEN:
            pulls = (slope * problem.y)[:, None] * np.column_stack([np.asarray(problem.rows.X), np.ones(len(z))])
            gradient = [rounded(part) for part in pulls.T[: None if model.fit_intercept else -1]]
        if isinstance(model, LogisticRegression | LeastSquaresClassifier) and problem.penalised:
            known["dual"] = -float(model.C or 0.0) * slope
    if hasattr(model, "dual_coef_"):
        known["dual"] = np.zeros(len(z))
        known["dual"][model.support_] = np.abs(model.dual_coef_[0])
    numbers = {name: rounded(values) for name, values in known.items()}
    return numbers | {"support": support, "gradient": gradient, "formula": problem.loss.formula}


def _risks(z: FloatArray) -> dict[str, Any]:
    """Return the mean of each loss over the examples, and how many are wrong."""
    risks = {name: float(losses.get(name).value(z).mean()) for name in JUDGES}
    return {
        "mistakes": int((z <= 0).sum()),
        "n": len(z),
        "risks": {k: v if np.isfinite(v) else None for k, v in risks.items()},
    }


def _table(examples: Examples) -> str:
    if (size := examples.points.size) > MOST_WRITTEN:
        raise RefusedError(f"The table would have {size:,} numbers; the page writes at most {MOST_WRITTEN:,}.")
    written = csv.writer(table := io.StringIO(), lineterminator="\n")
    written.writerow([*examples.columns, "class"])
    written.writerows(
        [*map(repr, row), int(one)] for row, one in zip(examples.points.tolist(), examples.positive, strict=True)
    )
    return table.getvalue()


def _saved(model: Any, examples: Examples) -> str:
    with tempfile.TemporaryDirectory() as folder:
        place, (X, phi) = Path(folder) / "model.json", examples.mapped()
        encoding = _encoding(examples, X, phi, Path(folder) / "points.csv")
        save(model, place, data=(X, examples.labels), encoding=encoding)
        return place.read_text("utf-8")


def _encoding(examples: Examples, X: FloatArray, phi: Any, table: Path) -> dict[str, Any] | None:
    """Return how commands make these features of the table of the page's points; None where they cannot."""
    from ..data.encoding.fitting import Standard
    from ..workflows.preparation import prepare

    names = examples.columns
    if len({*names, "class"}) <= len(names) or examples.points.size > MOST_WRITTEN:
        return None

    table.write_text(_table(examples), "utf-8")
    kinds, degree = dict.fromkeys(names, "number"), FEATURES[examples.features].degree
    read = prepare(table, "class", kinds=kinds, scaled=False, degree=degree, keep_frame=True)
    encoding: Any = read.encoding  # of a table
    if examples.features == "standardised":  # by the page's own means, which sums in another order round otherwise
        scales = zip(names, phi.mean_.tolist(), phi.scale_.tolist(), strict=True)
        encoding = replace(encoding, numbers={name: Standard(mean, one, False, mean) for name, mean, one in scales})
    return encoding.to_dict() if np.array_equal(encoding.transform(read.frame), X) else None
