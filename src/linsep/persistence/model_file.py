"""Models in files: one JSON document, written whole or not at all, read bit for bit and without running anything.

A document has the sections of `SECTIONS`, each on a line of its own:

- ``format``, ``version``: what this is;
- ``estimator``: the class and its parameters (see `linsep.persistence.json_values`);
- ``classes``, ``features``: the labels with their type; how many columns, and their names;
- ``coefficients``, ``intercept``: one plane a row. Floats are written in their shortest decimal form, which Python
  (and every reader that rounds correctly) turns into the same 64 bits again;
- ``threshold``: where a score counts as positive, if not at 0;
- ``objective``: what was minimised, in words; ``fitted``: the other attributes of the fit;
- ``history``: how each run of a solver went: its name, why it was chosen, and at most `STEPS` of its steps (one in
  ``stride`` of those ``offered``, and the latest), a list for each number that was recorded, null where it was not.
  No seconds are among them, so that the same seed writes the same file;
- ``certificate``: what is proven, for `linsep.verify`;
- ``data``: a hash of the training data, where `save` was given them;
- ``encoding``: how a table becomes the columns of X, for whoever reads tables; any JSON object, kept as it is;
- ``seed``, ``versions``: how to fit again;
- ``digest``: the SHA-256 of all the rest. It tells accidents and edits by hand; whoever makes up a whole file can make
  up a digest too, and `linsep.verify` is what does not believe them.

Files of version 1 have no section ``history``, only the solver and the reason, under ``fitted``; they are read too.

What speaks of single training rows stays behind: ``slack_``, ``support_``, ``support_vectors_``, ``dual_coef_``,
``update_counts_``, ``progress_``, and of ``history_`` the iterates and the examples that caused updates. The exceptions
are the voted perceptron, whose planes are sums of training rows, and the row numbers inside proofs.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import platform
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _reading as reading
from .. import estimators
from .._atomic_file import write_atomically
from ..certificates.claim import Claim, Seal
from ..certificates.data_hash import data_hash
from ..certificates.margin import MarginCertificate
from ..certificates.mistakes.bound import MistakeBound
from ..certificates.softmax_certificate import SoftmaxClaim
from ..estimators._base import LinearEstimator
from ..estimators._stochastic import Ballot
from ..history import COLUMNS, History, Record
from ..separation.verdict import Separability
from .json_values import from_json, to_json

__all__ = ["ModelFile", "ModelFileError", "load", "read", "save"]

FORMAT, VERSION = "linsep model", 2

#: The versions that are read, and the sections that each does without.
LACKS: dict[int, set[str]] = {1: {"history"}, 2: set()}

#: How many recorded steps of a run are kept, and of all runs of a model together (two of each are always kept).
STEPS, STEPS_IN_ALL = 200, 2000

SECTIONS = (
    "format",
    "version",
    "estimator",
    "classes",
    "features",
    "coefficients",
    "intercept",
    "threshold",
    "objective",
    "fitted",
    "history",
    "certificate",
    "data",
    "encoding",
    "seed",
    "versions",
    "digest",
)

#: Attributes that have a section of their own, or speak of single training rows.
ELSEWHERE = {
    "classes_",
    "coef_",
    "intercept_",
    "n_features_in_",
    "feature_names_in_",
    "objective_",
    "history_",
    "slack_",
    "support_",
    "support_vectors_",
    "dual_coef_",
    "update_counts_",
    "progress_",
    "separability_",
    "lower_bound_proof_",
}

#: What is kept of a step; the example that caused an update is a training row, and stays behind.
RECORDED = tuple(name for name in COLUMNS if name != "example")

#: What can be proven of an estimator, under ``certificate``: all of it or nothing; of the others, one of GAPS.
PROOFS = {
    "HardMarginSVC": {"margin", "seals"},
    "ZeroOneClassifier": {"mistakes", "seals"},
    "Perceptron": {"gap", "separability"},
}
GAPS = {"gap", "softmax"}

#: Attributes that every fit has.
ALWAYS = ("n_iter_", "converged_", "dual_gap_")
#: What some attributes have to be.
NUMBERS = (int, float, np.ndarray)
KINDS: dict[str, tuple[type, ...]] = {
    **dict.fromkeys(("n_iter_", "mistakes_", "t_"), (int,)),
    **dict.fromkeys(("converged_", "proven_"), (bool,)),
    **dict.fromkeys(("dual_gap_", "radius_"), (int, float)),
    **dict.fromkeys(("margin_", "mistake_bound_", "best_margin_", "best_mistake_bound_"), NUMBERS),
    **dict.fromkeys(("n_mistakes_", "lower_bound_"), NUMBERS),
}
#: What the hash of the data has, as `linsep.certificates.data_hash` writes it.
HASHED = {"rows": int, "columns": int, "X": str, "y": str, "sample_weight": str | None}
#: More digits than any number in a model file has.
DIGITS = 40


class ModelFileError(ValueError):
    """A model file that cannot be written or read; the message says which, why, and what to do."""


@dataclass(frozen=True)
class ModelFile:
    """What a model file holds.

    Attributes
    ----------
    model : estimator
        Fitted, and predicting the same bits as the one that was saved.
    threshold : float or None
        Where a score counts as positive; None for 0.
    encoding : dict or None
        How a table becomes the columns of X.
    data : dict or None
        The hash of the training data, see `linsep.certificates.data_hash`.
    versions : dict
        Of linsep and what it builds on, when the file was written.
    """

    model: Any
    threshold: float | None = None
    encoding: dict[str, Any] | None = None
    data: dict[str, Any] | None = None
    versions: dict[str, str] = field(default_factory=dict)


def save(
    model: Any,
    path: str | os.PathLike[str],
    *,
    data: tuple[Any, ...] | Mapping[str, Any] | None = None,
    threshold: float | None = None,
    encoding: Mapping[str, Any] | None = None,
) -> None:
    """Write a fitted model, with its certificate, to a JSON file.

    The file is written whole or not at all: if the process is killed or the disk is full, what was there before is
    still there.

    Parameters
    ----------
    model : estimator of linsep
        Fitted. A loss, solver or rule of your own cannot be written down, and raises `ModelFileError`.
    path : str or path
    data : tuple (X, y) or (X, y, sample_weight), or the `data_hash` of these, optional
        What the model was fitted on: its hash is stored, so that `linsep.verify` recognises every changed bit. Without
        it, the certificate's own fingerprint (sizes and lengths) is what there is.
    threshold : float, optional
        Where a score counts as positive, for programs that apply it; `load` refuses such a file, `read` gives both.
    encoding : dict, optional
        How a table becomes the columns of X: any JSON object, stored as it is and returned by `read`.

    Examples
    --------
    >>> import tempfile
    >>> from linsep import LinearSVC, load, save
    >>> model = LinearSVC().fit([[0.0], [1.0], [3.0], [4.0]], ["no", "no", "yes", "yes"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(model, f"{folder}/model.json")
    ...     again = load(f"{folder}/model.json")
    >>> bool((again.coef_ == model.coef_).all()), again.predict([[2.5]]), again.certificate_.proven
    (True, array(['yes'], dtype='<U3'), True)
    """
    try:
        document = _document(model, data, threshold, encoding)
        content = _written(document)
    except (ValueError, TypeError, AttributeError) as error:
        raise ModelFileError(f"this {type(model).__name__} cannot be saved to {os.fspath(path)}: {error}") from error
    try:
        write_atomically(path, content)
    except OSError as error:
        what = f"{error.strerror or error}: the model was not saved, and what was there is untouched"
        raise type(error)(error.errno, what, os.fspath(path)) from error


def load(path: str | os.PathLike[str]) -> Any:
    """Return the model of a file that `save` wrote.

    Nothing in the file is run. What this version does not understand raises `ModelFileError` with the reason.

    Parameters
    ----------
    path : str or path

    Returns
    -------
    estimator
        Fitted, with the same bits in ``coef_`` and ``intercept_``, hence the same predictions.
    """
    found = read(path)
    if found.threshold is not None:
        raise ModelFileError(
            f"{os.fspath(path)} has the threshold {found.threshold!r}, which a bare model would not apply; "
            "use linsep.persistence.model_file.read(path), which gives the model and the threshold"
        )
    return found.model


def read(path: str | os.PathLike[str]) -> ModelFile:
    """Return everything in a file that `save` wrote: the model, its threshold, encoding and data hash.

    Parameters
    ----------
    path : str or path

    Returns
    -------
    ModelFile
    """
    with _reading(path, "the document"):
        document = _parsed(Path(path).read_bytes())
    return _Reader(path, document).run()


# -- writing ----------------------------------------------------------------------------------------------------------


def _document(
    model: Any,
    data: tuple[Any, ...] | Mapping[str, Any] | None,
    threshold: float | None,
    encoding: Mapping[str, Any] | None,
) -> dict[str, Any]:
    name = type(model).__name__
    if getattr(estimators, name, None) is not type(model):
        raise ValueError(f"{name} is no estimator of linsep; a file can name {', '.join(estimators.__all__)}")
    if not hasattr(model, "coef_"):
        raise ValueError("it is not fitted: call fit first")
    known = getattr(model, "_provenance", {})
    names = getattr(model, "feature_names_in_", None)
    coef, intercept = _planes(model._planes(), model.intercept_, len(model.classes_), model.n_features_in_)
    parameters = {key: to_json(value) for key, value in model.get_params(deep=False).items()}
    seed = getattr(model, "random_state", None)
    return {
        "format": FORMAT,
        "version": VERSION,
        "estimator": {"class": name, "parameters": parameters},
        "classes": to_json(np.asarray(model.classes_))["array"],
        "features": {"count": int(model.n_features_in_), "names": None if names is None else [str(n) for n in names]},
        "coefficients": coef.tolist(),
        "intercept": intercept.tolist(),
        "threshold": _cut(threshold, len(model.classes_)),
        "objective": str(model.objective_),
        "fitted": _fitted(model),
        "history": _histories(model),
        "certificate": _certificate(model),
        "data": known.get("data") if data is None else dict(data) if isinstance(data, Mapping) else data_hash(*data),
        "encoding": known.get("encoding") if encoding is None else _json_object(encoding),
        "seed": int(seed) if isinstance(seed, int | np.integer) and not isinstance(seed, bool) else None,
        "versions": _versions(),
    }


def _fitted(model: Any) -> dict[str, Any]:
    """Return the other attributes of the fit, and the private ones that predictions or further batches need."""
    state = {
        name: to_json(value)
        for name, value in sorted(vars(model).items())
        if _is_fitted_attribute(name) and name not in ELSEWHERE
    }
    if hasattr(model, "_ballots"):
        state["ballots"] = [to_json(vars(ballot)) for ballot in model._ballots]
    if hasattr(model, "_stream"):
        state["stream"] = {"starts": to_json(model._stream), "mistakes": to_json(model._mistakes)}
    if hasattr(model, "_is_soft"):
        state["is_soft"] = bool(model._is_soft)
    return state


def _histories(model: Any) -> list[dict[str, Any]]:
    """Return how each run went, in few enough steps."""
    histories = model.history_ if isinstance(model.history_, list) else [model.history_]
    return [_history(history.thinned(min(STEPS, STEPS_IN_ALL // len(histories)))) for history in histories]


def _history(history: History) -> dict[str, Any]:
    columns: dict[str, list[Any]] = {"step": [record.step for record in history.records]}
    columns |= {name: [_recorded(value) for value in history[name].tolist()] for name in RECORDED[1:]}
    return {
        "solver": history.solver,
        "reason": history.reason,
        "offered": history.offered,
        "stride": history.stride,
        "steps": {name: values for name, values in columns.items() if any(value is not None for value in values)},
    }


def _recorded(value: float) -> Any:
    """Return a number of a record in terms of JSON: null where it was not measured."""
    return None if np.isnan(value) else to_json(value)


def _is_fitted_attribute(name: str) -> bool:
    return re.fullmatch(r"[a-z][a-z0-9_]*_", name) is not None


def _certificate(model: Any) -> dict[str, Any] | None:
    """Return all that is proven of the model."""
    proofs: dict[str, Any] = {}
    for kind, name in (("gap", "_claims"), ("margin", "_proofs"), ("seals", "_seals")):
        if hasattr(model, name):
            proofs[kind] = [proof.to_dict() for proof in getattr(model, name)]
    if hasattr(model, "_claim"):
        proofs["softmax"] = model._claim.to_dict()
    for kind, name in (("mistakes", "lower_bound_proof_"), ("separability", "separability_")):
        if hasattr(model, name):
            found = getattr(model, name)
            all_found = found if isinstance(found, list) else [found]
            proofs[kind] = [None if proof is None else proof.to_dict() for proof in all_found]
    return proofs or None


def _json_object(encoding: Mapping[str, Any]) -> dict[str, Any]:
    """Return the encoding as it will be read back; raise for what JSON would change."""
    if not isinstance(encoding, Mapping):
        raise ValueError(f"encoding must be a dictionary in terms of JSON, not {type(encoding).__name__}")
    given = dict(encoding)
    try:
        again = json.loads(json.dumps(given, allow_nan=False))
    except (TypeError, ValueError) as error:
        raise ValueError(f"encoding is not in terms of JSON: {error}") from error
    if again != given:
        raise ValueError("encoding would not read back the same: use text as keys, and lists instead of tuples")
    return given


def _finite(value: Any, name: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float | np.number) or not np.isfinite(value):
        raise ValueError(f"{name}={value!r} must be a finite number")
    return float(value)


def _cut(threshold: Any, classes: int) -> float | None:
    """Return where a score counts as positive."""
    if threshold is not None and classes > 2:
        raise ValueError(f"threshold={threshold!r} is for two classes; of {classes} the highest score is predicted")
    return None if threshold is None else _finite(threshold, "threshold")


def _planes(coef: Any, intercept: Any, classes: int, d: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the planes, of the shapes that the classes and the columns ask for."""
    planes = 1 if classes == 2 else classes
    w, b = np.asarray(coef, dtype=np.float64), np.asarray(intercept, dtype=np.float64)
    if w.shape != (planes, d) or b.shape != (planes,):
        raise ValueError(
            f"{classes} classes and {d} columns need coefficients of shape ({planes}, {d}) and {planes} intercepts, "
            f"not {w.shape} and {b.shape}"
        )
    for name, values in (("coefficients", w), ("intercept", b)):
        if not np.isfinite(values).all():
            raise ValueError(f"the {name} have a value that is not a finite number: such a plane predicts nothing")
    return w, b


def _versions() -> dict[str, str]:
    packages = ("linsep", "numpy", "scipy", "scikit-learn")
    return {package: version(package) for package in packages} | {"python": platform.python_version()}


def _written(document: dict[str, Any]) -> bytes:
    """Return the document as text, a section a line, with the digest of these lines at the end."""
    lines = {name: _line(value) for name, value in document.items()}
    lines["digest"] = _line(_digest(lines))
    return ("{\n" + ",\n".join(f'"{name}": {line}' for name, line in lines.items()) + "\n}\n").encode()


def _line(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def _digest(lines: Mapping[str, str]) -> str:
    content = "\n".join(f"{name} {line}" for name, line in sorted(lines.items()) if name != "digest")
    return f"sha256:{hashlib.sha256(content.encode('utf-8', 'surrogatepass')).hexdigest()}"


# -- reading ----------------------------------------------------------------------------------------------------------


@contextmanager
def _reading(path: str | os.PathLike[str], what: str) -> Iterator[None]:
    """Turn whatever a wrong value provokes into an error that names the file and the section."""
    try:
        yield
    except ModelFileError:
        raise
    except KeyError as error:
        raise ModelFileError(f"{os.fspath(path)}: {what} lacks {error}: not a file that linsep wrote") from error
    except (ValueError, TypeError, AttributeError, ArithmeticError, RecursionError) as error:
        reason = str(error) or type(error).__name__
        raise ModelFileError(f"{os.fspath(path)}: {what} cannot be used: {reason}") from error


def _parsed(content: bytes) -> dict[str, Any]:
    try:
        document = json.loads(
            content, object_pairs_hook=_no_twins, parse_constant=_no_constant, parse_int=_short, parse_float=_fitting
        )
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        why = f"{error.msg} in line {error.lineno}" if isinstance(error, json.JSONDecodeError) else error.reason
        raise ValueError(f"it is no JSON: {why}; it may be truncated, or no model file; save it again") from error
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise ValueError(f'it has no "format": "{FORMAT}"; it is not a model that linsep saved')
    version = document.get("version")
    if type(version) is not int or version not in LACKS:
        raise ValueError(
            f"it is of version {version!r}, this linsep reads the versions {', '.join(map(str, LACKS))}; "
            "use the linsep that wrote it, or save the model again"
        )
    sections = set(SECTIONS) - LACKS[version]
    for word, names in (("unknown", set(document) - sections), ("missing", sections - set(document))):
        if names:
            raise ValueError(f"sections are {word}: {', '.join(sorted(names))}")
    if _digest({name: _line(value) for name, value in document.items()}) != document["digest"]:
        raise ValueError("its digest does not fit: it was changed after it was saved, or damaged; save the model again")
    return document


def _no_twins(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key stands twice in one object, so it is not clear what it means")
    return found


def _no_constant(name: str) -> float:
    raise ValueError(f"{name} is no number of JSON")


def _short(digits: str) -> int:
    if len(digits) > DIGITS:
        raise ValueError(f"a whole number of {len(digits)} digits is too large")
    return int(digits)


def _fitting(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise ValueError(f"{digits[:DIGITS]} does not fit into a float")
    return number


class _Reader:
    """Turns a document into a model, section by section."""

    def __init__(self, path: str | os.PathLike[str], document: dict[str, Any]) -> None:
        self.path, self.document = path, document

    def run(self) -> ModelFile:
        """Return what the file holds."""
        model = self.estimator()
        self.planes(model)
        for section, read_section in (
            ("history", self.history),
            ("fitted", self.fitted),
            ("certificate", self.certificate),
        ):
            with _reading(self.path, f'section "{section}"'):
                read_section(model, self.document.get(section))
        with _reading(self.path, 'sections "threshold", "data", "encoding" and "versions"'):
            threshold = _cut(self.document["threshold"], len(model.classes_))
            data = _hash_or_none(self.document["data"])
            encoding = _object_or_none(self.document["encoding"], "encoding")
            versions = _object_or_none(self.document["versions"], "versions") or {}
            versions = {name: reading.text(versions, name) for name in versions}
        model._provenance = {"data": data, "encoding": encoding}
        return ModelFile(model, threshold, encoding, data, versions)

    def estimator(self) -> LinearEstimator:
        """Return a new estimator with the parameters of the file."""
        with _reading(self.path, 'section "estimator"'):
            name, parameters = self.document["estimator"]["class"], self.document["estimator"]["parameters"]
            if name not in estimators.__all__:
                raise ValueError(f"the class {name!r} is not known; this linsep has {', '.join(estimators.__all__)}")
            made = getattr(estimators, name)(**{key: from_json(value) for key, value in parameters.items()})
            made._check_parameters()
            if getattr(made, "fit_intercept", True) not in (True, False):
                raise ValueError(f"fit_intercept={made.fit_intercept!r} is neither true nor false")
            made._statement()  # which says what is minimised, and knows a class_weight that makes no sense
            assert isinstance(made, LinearEstimator)
            return made

    def planes(self, model: Any) -> None:
        """Set classes, features and planes."""
        document = self.document
        with _reading(self.path, 'section "classes"'):
            classes = from_json({"array": document["classes"]})
            if classes.ndim != 1 or len(classes) < 2 or len(set(classes.tolist())) < len(classes):
                raise ValueError("there must be two classes or more, all different")
            model.classes_ = classes
        with _reading(self.path, 'section "features"'):
            count, names = document["features"]["count"], document["features"]["names"]
            if type(count) is not int or count < 1:
                raise ValueError(f"{count!r} is no number of columns")
            if names is not None:
                if not isinstance(names, list) or len(names) != count or not all(isinstance(n, str) for n in names):
                    raise ValueError(f"{count} columns need as many names")
                model.feature_names_in_ = np.array(names, dtype=object)
            model.n_features_in_ = count
        with _reading(self.path, 'sections "coefficients" and "intercept"'):
            w = _numbers(document["coefficients"], 2)
            model.coef_, model.intercept_ = _planes(w, _numbers(document["intercept"], 1), len(classes), count)
        with _reading(self.path, 'section "objective"'):
            if not isinstance(document["objective"], str):
                raise ValueError("it must be text")
            model.objective_ = document["objective"]

    def history(self, model: Any, section: Any) -> None:
        """Set how the runs went; of version 1 that is the solver and the reason, under another section."""
        if section is None:
            kept = self.document["fitted"].pop("history_")
            section = [dict(solver=who, reason=why, offered=0, stride=1, steps={}) for who, why in kept]
        if not isinstance(section, list) or not section:
            raise ValueError("a list with one run or more was expected")
        histories = [_history_from(run) for run in section]
        model.history_ = histories[0] if len(histories) == 1 else histories

    def fitted(self, model: Any, section: Any) -> None:
        """Set the other attributes of the fit."""
        if not isinstance(section, dict):
            raise ValueError("an object was expected")
        state = dict(section)
        if "ballots" in state:
            model._ballots = [Ballot(**from_json(ballot)) for ballot in state.pop("ballots")]
        if "stream" in state:
            stream = state.pop("stream")
            model._stream, model._mistakes = from_json(stream["starts"]), from_json(stream["mistakes"])
        if "is_soft" in state:
            model._is_soft = reading.flag(state, "is_soft")
            del state["is_soft"]
        for name, value in state.items():
            if not _is_fitted_attribute(name) or name in ELSEWHERE or hasattr(type(model), name):
                raise ValueError(f"{name!r} is no attribute of a fit")
            decoded = from_json(value)
            if name in KINDS and type(decoded) not in KINDS[name]:
                raise ValueError(f"{name} is {decoded!r}, which it cannot be")
            setattr(model, name, decoded)
        needed = (*ALWAYS, *(["_is_soft"] if isinstance(model, estimators.HardMarginSVC) else []))
        for name in needed:
            if not hasattr(model, name):
                raise ValueError(f"{name.lstrip('_')} is missing")

    def certificate(self, model: Any, section: Mapping[str, Any] | None) -> None:
        """Set what is proven."""
        if section is not None and not isinstance(section, dict):
            raise ValueError("an object or null was expected")
        proofs, name = dict(section or {}), type(model).__name__
        if unknown := set(proofs) - PROOFS.get(name, GAPS):
            raise ValueError(f"proofs of the kind {', '.join(sorted(map(repr, unknown)))} are not known of a {name}")
        if proofs and len(proofs) != len(PROOFS.get(name, {"one"})):
            raise ValueError(f"a {name} has other proofs than {', '.join(sorted(map(repr, proofs)))} alone")
        for kind, name, record in (
            ("gap", "_claims", Claim),
            ("margin", "_proofs", MarginCertificate),
            ("seals", "_seals", Seal),
        ):
            if kind in proofs:
                setattr(model, name, [record.from_dict(proof) for proof in _for_each_plane(proofs, kind, model)])
        if "softmax" in proofs:
            model._claim = SoftmaxClaim.from_dict(proofs.pop("softmax"))
        for kind, name, other in (
            ("mistakes", "lower_bound_proof_", MistakeBound),
            ("separability", "separability_", Separability),
        ):
            if kind in proofs:
                parts = _for_each_plane(proofs, kind, model)
                found = [None if proof is None else other.from_dict(proof) for proof in parts]
                setattr(model, name, found[0] if len(found) == 1 else found)


def _for_each_plane(proofs: dict[str, Any], kind: str, model: Any) -> list[Any]:
    """Take the proofs of a kind, of which there has to be one for each plane."""
    found = proofs.pop(kind)
    if not isinstance(found, list) or len(found) != len(model.coef_):
        raise ValueError(f"there must be as many proofs of the kind {kind!r} as planes, {len(model.coef_)}")
    return found


def _history_from(run: Any) -> History:
    """Return the history that `_history` wrote."""
    steps = {name: [_measured(value) for value in values] for name, values in run["steps"].items()}
    if unknown := set(steps) - set(RECORDED):
        raise ValueError(f"{', '.join(sorted(map(repr, unknown)))} is not recorded of a step")
    for name in ("offered", "stride"):
        if type(run[name]) is not int:
            raise ValueError(f"{name} is {run[name]!r}, which is no whole number")
    if any(step != step or step % 1 for step in steps.get("step", [])):
        raise ValueError("a step has no whole number")
    if len({len(values) for values in steps.values()}) > 1:
        raise ValueError("the lists of its steps are of different lengths")
    rows = zip(*steps.values(), strict=True)
    records = [_record(dict(zip(steps, row, strict=True))) for row in rows]
    history = History.of(records, run["stride"], run["offered"])
    history.solver, history.reason = str(run["solver"]), str(run["reason"])
    return history


def _record(numbers: dict[str, float]) -> Record:
    """Return one step; its objective may not have been measured, like anything else."""
    rest = {"passes": np.nan, "objective": np.nan} | numbers
    return Record(int(rest.pop("step")), rest.pop("passes"), rest.pop("objective"), **rest)  # type: ignore[arg-type]


def _measured(value: Any) -> float:
    number = np.nan if value is None else from_json(value)
    if type(number) not in (int, float):
        raise ValueError(f"{value!r} is no number of a step")
    return float(number)


def _numbers(values: Any, depth: int) -> ArrayLike:
    """Return nested lists of numbers; raise for anything else among them."""
    if not isinstance(values, list):
        raise ValueError("a list of numbers was expected")
    for value in values:
        if depth > 1:
            _numbers(value, depth - 1)
        elif type(value) not in (int, float):
            raise ValueError(f"{value!r} is no number")
    return values


def _hash_or_none(value: Any) -> dict[str, Any] | None:
    """Return the hash of the data."""
    said = _object_or_none(value, "data")
    if said is not None and not (
        set(said) == set(HASHED) and all(isinstance(said[name], kind) for name, kind in HASHED.items())
    ):
        raise ValueError(f"data must have {', '.join(HASHED)}: sizes, and hashes as text")
    return said


def _object_or_none(value: Any, name: str) -> dict[str, Any] | None:
    if value is not None and not isinstance(value, dict):
        raise ValueError(f"{name} must be an object or null")
    return value
