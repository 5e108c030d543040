"""The Python program that repeats a fit of the page, to the last digit."""

from __future__ import annotations

import inspect
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from .._common.types import BoolArray, FloatArray
from .features import FEATURES
from .files import MOST_DRAWN

READ = 'data = np.loadtxt("points.csv", delimiter=",", skiprows=1, encoding="utf-8")'


def program(estimator: Any, X: FloatArray, positive: BoolArray, features: str) -> str:
    """Return it.

    Examples
    --------
    >>> from linsep import LinearSVC
    >>> X, positive = np.array([[0.0, 0.5], [2.0, 1.0]]), np.array([False, True])
    >>> print(program(LinearSVC(C=10.0), X, positive, "plain"))
    import numpy as np
    from linsep import LinearSVC
    <BLANKLINE>
    X = np.array([
        [0.0, 0.5],
        [2.0, 1.0],
    ])
    y = np.array([0, 1])
    <BLANKLINE>
    model = LinearSVC(C=10.0)
    model.fit(X, y)
    <BLANKLINE>
    print(model.coef_, model.intercept_)
    print(model.summary())
    <BLANKLINE>
    """
    call, classes = call_of(estimator)
    step, mapped = FEATURES[features].code, "X"
    lines = ["import numpy as np", *_imports(classes)]
    if step:
        lines.append(f"from sklearn.preprocessing import {step.partition('(')[0]}")
    if X.shape[1] == 2 and len(X) <= MOST_DRAWN:
        rows = [f"    [{u!r}, {v!r}]," for u, v in X.tolist()]
        lines += ["", "X = np.array([", *rows, "])", f"y = np.array({positive.astype(int).tolist()})", ""]
    else:  # more than somebody would read
        lines += ["", "# Points (CSV) of the same page", READ, "X, y = data[:, :-1], data[:, -1].astype(int)", ""]
    if step:
        lines += [f"phi = {step}", "features = phi.fit_transform(X)"]
        mapped = "features"
    lines += [f"model = {call}", f"model.fit({mapped}, y)", "", "print(model.coef_, model.intercept_)"]
    return "\n".join([*lines, "print(model.summary())", ""])


def call_of(thing: Any) -> tuple[str, set[type]]:
    """Return how an object is made, by what differs from its defaults, and the classes that this takes.

    Examples
    --------
    >>> from linsep import LinearClassifier
    >>> from linsep.solvers import GradientDescent
    >>> call_of(LinearClassifier("logistic", C=np.inf, solver=GradientDescent(0.5)))[0]
    'LinearClassifier(loss="logistic", C=np.inf, solver=GradientDescent(schedule=0.5))'
    """
    if hasattr(thing, "get_params"):
        defaults = {name: one.default for name, one in inspect.signature(type(thing)).parameters.items()}
        given = [(name, getattr(thing, name), default) for name, default in defaults.items()]
    elif is_dataclass(thing):
        given = [(one.name, getattr(thing, one.name), one.default) for one in fields(thing)]
    else:
        return _literal(thing), set()
    said, classes = [], {type(thing)}
    for name, value, default in given:
        if type(value) is type(default) and value == default:
            continue
        call, more = call_of(value)
        said.append(f"{name}={call}")
        classes |= more
    return f"{type(thing).__name__}({', '.join(said)})", classes


def _literal(value: Any) -> str:
    if isinstance(value, float) and np.isinf(value):
        return "np.inf"
    return f'"{value}"' if isinstance(value, str) else repr(value)


def _imports(classes: set[type]) -> list[str]:
    """Return the lines that import classes from where users find them."""
    homes: dict[str, list[str]] = {}
    for one in sorted(classes, key=lambda one: one.__name__):
        room = one.__module__.split(".")[1]
        home = f"linsep.{room}" if room in ("solvers", "schedules", "stopping") else "linsep"
        homes.setdefault(home, []).append(one.__name__)
    return [f"from {home} import {', '.join(names)}" for home, names in sorted(homes.items())]
