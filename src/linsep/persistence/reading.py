"""Reading models from files, bit for bit and without running anything that they name."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from .. import estimators
from .._common import reading
from ..certificates.kinds import known
from ..certificates.proof import check_kinds
from ..estimators._base import LinearEstimator
from ..estimators._calibration import Calibration
from ..estimators._restoring import Memory, unfitted
from ..history import History, Record
from . import document as layout
from . import planes
from .document import ModelFileError
from .json_values import from_json

#: Attributes that every fit has.
ALWAYS = ("n_iter_", "converged_", "dual_gap_")
#: What some attributes have to be.
NUMBERS = (int, float, np.ndarray)
KINDS: dict[str, tuple[type, ...]] = {
    **dict.fromkeys(("mistakes_", "t_"), (int,)),
    "n_iter_": (int, np.ndarray),
    **dict.fromkeys(("converged_", "proven_"), (bool,)),
    **dict.fromkeys(("dual_gap_", "radius_"), (int, float)),
    **dict.fromkeys(("margin_", "mistake_bound_", "best_margin_", "best_mistake_bound_"), NUMBERS),
    **dict.fromkeys(("n_mistakes_", "lower_bound_"), NUMBERS),
}
#: What the hash of the data has, as `linsep.certificates.data_hash` writes it.
HASHED = {"rows": int, "columns": int, "X": str, "y": str, "sample_weight": str | None}
#: More digits than any number in a model file has.
DIGITS = 40


@dataclass(frozen=True)
class ModelFile:
    """What a model file holds.

    Attributes
    ----------
    model : estimator
        Fitted, and predicting the same bits as the one that was saved.
    threshold : float or None
        The model's ``threshold_``: the score from which on the second of two classes is predicted; None for above 0.
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


def load(path: str | os.PathLike[str]) -> Any:
    """Return the model of a file that `save` wrote.

    Nothing in the file is run. What this version does not understand raises `ModelFileError` with the reason.

    Parameters
    ----------
    path : str or path

    Returns
    -------
    estimator
        Fitted, with the same bits in ``coef_`` and ``intercept_``, and with the file's threshold (``threshold_``),
        hence the same predictions.
    """
    return read(path).model


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


@contextmanager
def _reading(path: str | os.PathLike[str], what: str) -> Iterator[None]:
    """Turn whatever a wrong value provokes into an error that names the file and the section."""
    try:
        yield
    except ModelFileError:
        raise
    except KeyError as error:
        raise ModelFileError(
            f"{os.fspath(path)}: {what} lacks {error.args[0]!r}: not a file that linsep wrote"
        ) from error
    except (ValueError, TypeError, AttributeError, ArithmeticError, RecursionError, reading.ClaimError) as error:
        reason = str(error) or type(error).__name__
        raise ModelFileError(f"{os.fspath(path)}: {what} cannot be used: {reason}") from error


def _parsed(content: bytes) -> dict[str, Any]:
    try:
        document, lines = _sections(content)
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        why = f"{error.msg} in line {error.lineno}" if isinstance(error, json.JSONDecodeError) else error.reason
        raise ValueError(f"it is no JSON: {why}; it may be truncated, or no model file; save it again") from error
    if not isinstance(document, dict) or document.get("format") != layout.FORMAT:
        raise ValueError(f'it has no "format": "{layout.FORMAT}"; it is not a model that linsep saved')
    version = document.get("version")
    if type(version) is not int or version not in layout.LACKS:
        raise ValueError(
            f"it is of version {version!r}, this linsep reads the versions {', '.join(map(str, layout.LACKS))}; "
            "use the linsep that wrote it, or save the model again"
        )
    sections = set(layout.SECTIONS) - layout.LACKS[version]
    for word, names in (("unknown", set(document) - sections), ("missing", sections - set(document))):
        if names:
            raise ValueError(f"sections are {word}: {', '.join(sorted(names))}")
    if (
        layout.digest(lines or {name: layout.in_one_line(value) for name, value in document.items()})
        != document["digest"]
    ):
        raise ValueError("its digest does not fit: it was changed after it was saved, or damaged; save the model again")
    return document


def _sections(content: bytes) -> tuple[Any, dict[str, memoryview]]:
    """Return the document and, of a file as it was saved, its lines.

    That is parsed line by line: the long one has ASCII alone, which is fast, and none has to be written again for the
    digest. What somebody has formatted in another way means the same.
    """
    lines = layout.parted(content)
    try:
        document = {name: _json(str(line, "utf-8")) for name, line in lines.items()} or _json(content)
        return document, lines
    except json.JSONDecodeError:
        return _json(content), {}  # which says where


def _json(content: bytes | str) -> Any:
    return json.loads(
        content, object_pairs_hook=_no_twins, parse_constant=_no_constant, parse_int=_short, parse_float=_fitting
    )


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
        """Return what the file holds; what is refused and is of an earlier format says how to go on."""
        try:
            return self._run()
        except ModelFileError as error:
            if (version := self.document["version"]) == layout.VERSION:
                raise
            advice = f"an earlier linsep wrote it (format version {version}): fit the model again, and save that"
            raise ModelFileError(f"{error}; {advice}") from error

    def _run(self) -> ModelFile:
        model = self.estimator()
        with _reading(self.path, 'sections "data" and "encoding"'):
            data = _hash_or_none(self.document["data"])
            encoding = _object_or_none(self.document["encoding"], "encoding")
        self.memory = Memory(provenance={"data": data, "encoding": encoding})
        self.planes(model)
        for section, read_section in (
            ("history", self.history),
            ("fitted", self.fitted),
            ("certificate", self.certificate),
        ):
            with _reading(self.path, f'section "{section}"'):
                read_section(model, self.document.get(section))
        with _reading(self.path, 'sections "threshold" and "calibration"'):
            threshold = layout.check_threshold(self.document["threshold"], len(model.classes_))
            if threshold is not None:
                model.threshold_ = threshold
            calibration = _object_or_none(self.document.get("calibration"), "calibration")
            if calibration is not None:
                model.calibration_ = Calibration.from_dict(calibration, len(model.classes_))
        with _reading(self.path, 'section "versions"'):
            versions = _object_or_none(self.document["versions"], "versions") or {}
            versions = {name: reading.text(versions, name) for name in versions}
        return ModelFile(model, threshold, encoding, data, versions)

    def estimator(self) -> LinearEstimator:
        """Return a new estimator with the parameters of the file."""
        with _reading(self.path, 'section "estimator"'):
            name, parameters = self.document["estimator"]["class"], self.document["estimator"]["parameters"]
            if name not in estimators.__all__:
                raise ValueError(f"the class {name!r} is not known; this linsep has {', '.join(estimators.__all__)}")
            kind = getattr(estimators, name)
            return unfitted(kind, {key: from_json(value) for key, value in parameters.items()})

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
            w, b = planes.read(document["coefficients"], count), planes.numbers(document["intercept"])
            model.coef_, model.intercept_ = layout.check_planes(w, b, len(classes), count)
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
        kept: dict[str, Any] = {}
        if "ballots" in state:
            kept["ballots"] = from_json(state.pop("ballots"))
        if "stream" in state:
            stream = state.pop("stream")
            kept["stream"] = from_json(stream["starts"]), from_json(stream["mistakes"])
        if "is_soft" in state:
            kept["is_soft"] = reading.flag(state, "is_soft")
            del state["is_soft"]
        self.memory = replace(self.memory, **kept)
        self.memory.restore(model)
        for name, value in state.items():
            if not layout.is_fitted_attribute(name) or hasattr(type(model), name):
                raise ValueError(f"{name!r} is no attribute of a fit")
            decoded = from_json(value)
            if name in KINDS and type(decoded) not in KINDS[name]:
                raise ValueError(f"{name} is {decoded!r}, which it cannot be")
            if name == "n_iter_" and isinstance(model, estimators.LogisticRegression):
                decoded = np.atleast_1d(decoded)  # one number in earlier files
            if name == "threshold_choice_":
                from ..selection.thresholds import check_told  # few models have it

                check_told(decoded, model.classes_)
            setattr(model, name, decoded)
        for name in (*ALWAYS, *(("mistakes_",) if isinstance(model, estimators.Perceptron) else ())):
            if not hasattr(model, name):
                raise ValueError(f"{name} is missing")

    def certificate(self, model: Any, section: Mapping[str, Any] | None) -> None:
        """Set what is proven: all that such a model has, or nothing."""
        if section is not None and not isinstance(section, dict):
            raise ValueError("an object or null was expected")
        found = section or {}
        if unknown := set(found) - set(known()):
            raise ValueError(f"proofs of the kind {', '.join(sorted(map(repr, unknown)))} are not known")
        proofs = [known()[kind].from_dict(data, len(model.coef_)) for kind, data in found.items()]
        replace(self.memory, proofs=proofs).restore(model)
        check_kinds(model)


def _history_from(run: Any) -> History:
    """Return the history that `_history` wrote."""
    steps = {name: [_measured(value) for value in values] for name, values in run["steps"].items()}
    if unknown := set(steps) - set(layout.RECORDED):
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


def _hash_or_none(value: Any) -> dict[str, Any] | None:
    """Return the hash of the data."""
    said = _object_or_none(value, "data")
    if said is not None and not (
        set(said) - {"parts"} == set(HASHED) and all(isinstance(said[name], kind) for name, kind in HASHED.items())
    ):
        raise ValueError(f"data must have {', '.join(HASHED)}: sizes, and hashes as text")
    if said is not None and "parts" in said:  # of rows that were hashed part by part
        sizes = reading.items(said, "parts", reading.count)
        if not all(sizes) or sum(sizes) != said["rows"]:
            raise ValueError("the parts of its data are no numbers of rows that sum up to all of them")
    return said


def _object_or_none(value: Any, name: str) -> dict[str, Any] | None:
    if value is not None and not isinstance(value, dict):
        raise ValueError(f"{name} must be an object or null")
    return value
