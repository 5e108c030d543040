"""Settings and arrays in terms of JSON and back, bit for bit, without running anything that the text names.

Numbers, text, truth values, None and lists stand for themselves; JSON's shortest decimal of a float reads back as the
same float. Everything else is an object with one key that says what it is:

    {"float": "inf"}                                  a float that JSON does not know: inf, -inf or nan
    {"tuple": [...]}  {"map": [[key, value], ...]}    a tuple, a dictionary
    {"array": {"dtype", "shape", "values"}}           a NumPy array of numbers, truth values or text
    {"csr": {"shape", "indptr", "indices", "data"}}   a sparse matrix
    {"object": {"class", "settings"}}                 a loss, penalty, schedule, stopping rule or solver of linsep
    {"random_state": [...]}                           the state of a numpy.random.RandomState
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .. import losses, penalties, schedules, stopping
from ..losses import Loss
from ..penalties import Penalty

NUMBERS = {f"{kind}{size}" for kind in ("int", "uint", "float") for size in (8, 16, 32, 64)} - {"float8"}


def to_json(value: Any) -> Any:
    """Return the value in terms of JSON; raise `ValueError` for what a file cannot hold.

    Examples
    --------
    >>> to_json({"a": np.inf, 2: (True, None)})
    {'map': [['a', {'float': 'inf'}], [2, {'tuple': [True, None]}]]}
    >>> to_json(losses.Hinge())
    {'object': {'class': 'losses.Hinge', 'settings': {}}}
    """
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | str | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else {"float": repr(value)}
    for kind, write in WRITERS:
        if isinstance(value, kind):
            return write(value)
    return _object_to_json(value)


def from_json(data: Any) -> Any:
    """Read what `to_json` wrote; raise `ValueError` for what it never writes.

    Examples
    --------
    >>> from_json({"object": {"class": "schedules.Constant", "settings": {"eta": 0.5}}})
    Constant(eta=0.5)
    """
    if isinstance(data, list):
        return [from_json(item) for item in data]
    if not isinstance(data, dict):
        return data
    if len(data) != 1:
        raise ValueError(f"an object with the keys {', '.join(map(repr, data)) or 'none'} means nothing here")
    ((kind, content),) = data.items()
    if kind not in READERS:
        raise ValueError(f"an object of the kind {kind!r} is not known")
    return READERS[kind](content)


# -- writing ----------------------------------------------------------------------------------------------------------


def _array_to_json(array: NDArray[Any]) -> dict[str, Any]:
    kind = {"U": "str", "O": "object", "b": "bool"}.get(array.dtype.kind, array.dtype.name)
    if kind not in {"str", "object", "bool", *NUMBERS}:
        raise ValueError(f"an array of dtype {array.dtype} is not of numbers, truth values or text")
    values = [to_json(value) for value in array.ravel().tolist()]
    if kind == "object" and not all(isinstance(value, str | int | float | bool) for value in values):
        raise ValueError("an array of objects has some that are neither text nor numbers")
    return {"array": {"dtype": kind, "shape": list(array.shape), "values": values}}


def _sparse_to_json(matrix: Any) -> dict[str, Any]:
    csr = sparse.csr_matrix(matrix)
    parts = {name: to_json(getattr(csr, name)) for name in ("indptr", "indices", "data")}
    return {"csr": {"shape": list(csr.shape), **parts}}


def _object_to_json(value: Any) -> dict[str, Any]:
    name = next((name for room in ROOMS for name, known in _known(room).items() if known is type(value)), None)
    if name is None or (isinstance(value, Loss) and not losses.has_a_name(value)):
        raise ValueError(f"{value!r} is nothing that linsep knows by name, so a file cannot say what it is")
    return {"object": {"class": name, "settings": {key: to_json(part) for key, part in _settings(value).items()}}}


def _settings(value: Any) -> dict[str, Any]:
    """Return what the constructor takes."""
    if isinstance(value, Loss):
        return {}
    if isinstance(value, penalties.ElasticNet):
        return {"l1_ratio": value.l1}
    if isinstance(value, Penalty) and type(value) is not Penalty:
        return {}
    return {part.name: getattr(value, part.name) for part in dataclasses.fields(value) if part.init}


WRITERS: list[tuple[Any, Callable[[Any], Any]]] = [
    (list, lambda value: [to_json(item) for item in value]),
    (tuple, lambda value: {"tuple": [to_json(item) for item in value]}),
    (Mapping, lambda value: {"map": [[to_json(key), to_json(item)] for key, item in value.items()]}),
    (np.ndarray, _array_to_json),
    ((sparse.sparray, sparse.spmatrix), _sparse_to_json),
    (np.random.RandomState, lambda value: {"random_state": to_json(list(value.get_state(legacy=True)))}),
]


# -- reading ----------------------------------------------------------------------------------------------------------


def _solvers() -> list[Any]:
    from .. import solvers

    return [*solvers.SOLVERS.values(), solvers.Start]


#: The classes that a file may name, by the module they are of; nothing else is ever made.
ROOMS: dict[str, Callable[[], list[Any]]] = {
    "losses": lambda: list(losses.LOSSES.values()),
    "penalties": lambda: [getattr(penalties, name) for name in ("Penalty", "ElasticNet", "L1", "L2", "NoPenalty")],
    "schedules": lambda: list(schedules.SCHEDULES.values()),
    "stopping": lambda: list(stopping.RULES.values()),
    "solvers": _solvers,
}


def _known(room: str) -> dict[str, type]:
    return {f"{room}.{known.__name__}": known for known in ROOMS[room]()} if room in ROOMS else {}


def _float_from_json(text: Any) -> float:
    if text not in ("inf", "-inf", "nan"):
        raise ValueError(f"{text!r} is no float that JSON does not know")
    return float(text)


def _array_from_json(data: Any) -> NDArray[Any]:
    _keys(data, "array", ("dtype", "shape", "values"))
    dtype, values = data["dtype"], [from_json(value) for value in _list(data["values"])]
    allowed: Any = {"str": str, "object": str | int | float | bool, "bool": bool}.get(dtype, int | float)
    if dtype not in {"str", "object", "bool", *NUMBERS}:
        raise ValueError(f"an array of dtype {dtype!r} is not known")
    if not all(isinstance(value, allowed) for value in values):
        raise ValueError(f"an array of dtype {dtype!r} has a value of another kind")
    if dtype.startswith(("int", "uint")) and not all(type(value) is int for value in values):
        raise ValueError(f"an array of dtype {dtype!r} has a value that is not whole")
    array: NDArray[Any] = np.array(values, dtype=np.dtype(dtype))
    return array.reshape([_size(size) for size in _list(data["shape"])])


def _sparse_from_json(data: Any) -> Any:
    _keys(data, "csr", ("shape", "indptr", "indices", "data"))
    values, indices, indptr = (from_json(data[name]) for name in ("data", "indices", "indptr"))
    n, d = (_size(size) for size in _list(data["shape"]))
    matrix = sparse.csr_matrix((values, indices, indptr), shape=(n, d))
    matrix.check_format(full_check=True)
    return matrix


def _object_from_json(data: Any) -> Any:
    _keys(data, "object", ("class", "settings"))
    name, settings = data["class"], data["settings"]
    known = _known(str(name).partition(".")[0])
    if name not in known:
        raise ValueError(f"the class {name!r} is not known")
    if not isinstance(settings, dict):
        raise ValueError(f"the settings of {name!r} are no object")
    return known[name](**{key: from_json(value) for key, value in settings.items()})


def _random_state_from_json(data: Any) -> np.random.RandomState:
    state = np.random.RandomState()
    state.set_state(tuple(from_json(_list(data))))
    return state


def _pairs(data: Any) -> dict[Any, Any]:
    return {from_json(key): from_json(value) for key, value in (_list(pair) for pair in _list(data))}


READERS: dict[str, Callable[[Any], Any]] = {
    "float": _float_from_json,
    "tuple": lambda data: tuple(from_json(_list(data))),
    "map": _pairs,
    "array": _array_from_json,
    "csr": _sparse_from_json,
    "object": _object_from_json,
    "random_state": _random_state_from_json,
}


def _keys(data: Any, what: str, keys: tuple[str, ...]) -> None:
    if not isinstance(data, dict) or set(data) != set(keys):
        raise ValueError(f"{what} needs exactly {', '.join(keys)}")


def _list(data: Any) -> list[Any]:
    if not isinstance(data, list):
        raise ValueError(f"a list was expected, not {str(data)[:40]!r}")
    return data


def _size(size: Any) -> int:
    if type(size) is not int or size < 0:
        raise ValueError(f"{size!r} is no size")
    return size
