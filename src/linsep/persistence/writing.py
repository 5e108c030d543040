"""Writing models to files, whole or not at all."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Mapping
from importlib.metadata import version
from typing import Any

import numpy as np

from .. import estimators
from .._common.atomic_file import write_atomically
from ..certificates.data_hash import data_hash
from ..estimators._restoring import Memory
from ..history import History
from . import document as layout
from . import planes
from .document import ModelFileError
from .json_values import to_json

#: How many recorded steps of a run are kept, and of all runs of a model together (two of each are always kept).
STEPS, STEPS_IN_ALL = 200, 2000
#: Whose versions a file names.
PACKAGES = ("linsep", "numpy", "scipy", "scikit-learn")


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
        Fitted; of `LogisticRegressionCV` and `LinearSVCCV`, the plain model at the choice is written (`at_choice`),
        with the scores of all C in ``choice_``. A loss, solver or rule of your own cannot be written down, and raises
        `ModelFileError`.
    path : str or path
    data : tuple (X, y) or (X, y, sample_weight), or the `data_hash` of these, optional
        What the model was fitted on: its hash is stored, so that `linsep.verify` recognises every changed bit. Without
        it, the certificate's own fingerprint (sizes and lengths) is what there is.
    threshold : float, optional
        The score from which on the second of two classes is predicted; without it the model's own ``threshold_``, if
        `linsep.choose_threshold` gave it one.
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


def _document(
    model: Any,
    data: tuple[Any, ...] | Mapping[str, Any] | None,
    threshold: float | None,
    encoding: Mapping[str, Any] | None,
) -> dict[str, Any]:
    if hasattr(model, "at_choice"):  # cross-validated: the file has the model that was chosen, and how
        model = model.at_choice()
    name = type(model).__name__
    if getattr(estimators, name, None) is not type(model):
        classes = ", ".join(one for one in estimators.__all__ if one[0].isupper())
        raise ValueError(f"{name} is no estimator of linsep; a file can name {classes}")
    if not hasattr(model, "coef_"):
        raise ValueError("it is not fitted: call fit first")
    memory = Memory.of(model)
    known = memory.provenance
    names = getattr(model, "feature_names_in_", None)
    coef, intercept = layout.check_planes(model._planes(), model.intercept_, len(model.classes_), model.n_features_in_)
    parameters = {key: to_json(value) for key, value in model.get_params(deep=False).items()}
    seed = getattr(model, "random_state", None)
    return {
        "format": layout.FORMAT,
        "version": layout.VERSION,
        "estimator": {"class": name, "parameters": parameters},
        "classes": to_json(np.asarray(model.classes_))["array"],
        "features": {"count": int(model.n_features_in_), "names": None if names is None else [str(n) for n in names]},
        "coefficients": planes.written(coef),
        "intercept": intercept.tolist(),
        "threshold": layout.check_threshold(
            getattr(model, "threshold_", None) if threshold is None else threshold, len(model.classes_)
        ),
        "calibration": model.calibration_.to_dict() if hasattr(model, "calibration_") else None,
        "objective": str(model.objective_),
        "fitted": _fitted(model, memory),
        "history": _histories(model),
        "certificate": {proof.kind: proof.to_dict() for proof in memory.proofs} or None,
        "data": known.get("data") if data is None else dict(data) if isinstance(data, Mapping) else data_hash(*data),
        "encoding": known.get("encoding") if encoding is None else _json_object(encoding),
        "seed": int(seed) if isinstance(seed, int | np.integer) and not isinstance(seed, bool) else None,
        "versions": {one: version(one) for one in PACKAGES} | {"python": platform.python_version()},
    }


def _fitted(model: Any, memory: Memory) -> dict[str, Any]:
    """Return the other attributes of the fit, and the private ones that predictions or further batches need."""
    state = {name: to_json(value) for name, value in sorted(vars(model).items()) if layout.is_fitted_attribute(name)}
    if memory.ballots is not None:
        state["ballots"] = to_json(memory.ballots)
    if memory.stream is not None:
        state["stream"] = {"starts": to_json(memory.stream[0]), "mistakes": to_json(memory.stream[1])}
    if memory.is_soft is not None:
        state["is_soft"] = memory.is_soft
    return state


def _histories(model: Any) -> list[dict[str, Any]]:
    """Return how each run went, in few enough steps."""
    histories = model.history_ if isinstance(model.history_, list) else [model.history_]
    return [_history(history.thinned(min(STEPS, STEPS_IN_ALL // len(histories)))) for history in histories]


def _history(history: History) -> dict[str, Any]:
    columns: dict[str, list[Any]] = {"step": [record.step for record in history.records]}
    for name in layout.RECORDED[1:]:  # null where it was not measured
        columns[name] = [None if np.isnan(value) else to_json(value) for value in history[name].tolist()]
    return {
        "solver": history.solver,
        "reason": history.reason,
        "offered": history.offered,
        "stride": history.stride,
        "steps": {name: values for name, values in columns.items() if any(value is not None for value in values)},
    }


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


def _written(document: dict[str, Any]) -> bytes:
    """Return the document as text, a section a line, with the digest of these lines at the end."""
    lines = {name: layout.in_one_line(value) for name, value in document.items()}
    lines["digest"] = layout.in_one_line(layout.digest(lines))
    return layout.joined(lines)
