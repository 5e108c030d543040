"""Edits of the data that a file is verified with, in ways that lengths and sums cannot tell."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from .edits import Donors, Forgery, UnfitError, edit
from .honest import Data

__all__: list[str] = []


def _arrays(forgery: Forgery) -> tuple[np.ndarray, np.ndarray, Any]:
    return forgery.data.rows().copy(), np.array(forgery.data.y), forgery.data.s


def _show(forgery: Forgery, X: np.ndarray, y: np.ndarray, s: Any) -> None:
    """Verify with other data; a file that has a hash of its own data loses it."""
    kept: Any = sparse.csr_matrix(X) if sparse.issparse(forgery.data.X) else X
    forgery.data = Data(kept, y, s)
    forgery.document["data"] = None


@edit("data: columns in another order")
def _data_columns(forgery: Forgery, rng: np.random.Generator, donors: Donors) -> None:
    X, y, s = _arrays(forgery)
    if X.shape[1] < 2:
        raise UnfitError("one column only")
    _show(forgery, X[:, ::-1].copy(), y, s)


@edit("data: signs of a column")
def _data_signs(forgery: Forgery, rng: np.random.Generator, donors: Donors) -> None:
    X, y, s = _arrays(forgery)
    X[:, int(rng.integers(X.shape[1]))] *= -1
    _show(forgery, X, y, s)


@edit("data: another point of the same length")
def _data_row(forgery: Forgery, rng: np.random.Generator, donors: Donors) -> None:
    X, y, s = _arrays(forgery)
    i = int(rng.integers(len(X)))
    X[i] = X[i, ::-1].copy() if rng.random() < 0.5 else -X[i]
    _show(forgery, X, y, s)


@edit("data: labels of two rows exchanged")
def _data_labels(forgery: Forgery, rng: np.random.Generator, donors: Donors) -> None:
    X, y, s = _arrays(forgery)
    lengths = np.einsum("ij,ij->i", X, X)
    pairs = [(i, j) for i in range(len(y)) for j in range(i) if y[i] != y[j] and lengths[i] == lengths[j]]
    i, j = pairs[int(rng.integers(len(pairs)))] if pairs else rng.choice(len(y), 2, replace=False)
    if y[i] == y[j]:
        raise UnfitError("the labels are the same")
    y[[i, j]] = y[[j, i]]
    _show(forgery, X, y, s)


@edit("data: labels of the classes exchanged")
def _data_classes(forgery: Forgery, rng: np.random.Generator, donors: Donors) -> None:
    X, y, s = _arrays(forgery)
    labels = np.unique(y)
    y = labels[len(labels) - 1 - np.searchsorted(labels, y)]
    _show(forgery, X, y, s)
    if rng.random() < 0.7:
        for claim in forgery.claims():
            if isinstance(claim.get("data"), dict) and len(labels) == 2:
                data = claim["data"]
                data["positive"], data["negative"] = data["negative"], data["positive"]
            if "squares" in claim:
                claim["squares"] = claim["squares"][::-1]


@edit("data: rows in another order, the labels as they were")
def _data_rows(forgery: Forgery, rng: np.random.Generator, donors: Donors) -> None:
    X, y, s = _arrays(forgery)
    _show(forgery, X[rng.permutation(len(X))], y, s)


@edit("data: rows in another order")
def _data_order(forgery: Forgery, rng: np.random.Generator, donors: Donors) -> None:
    X, y, s = _arrays(forgery)
    order = rng.permutation(len(X))
    _show(forgery, X[order], y[order], None if s is None else np.asarray(s)[order])


@edit("data: weights exchanged")
def _data_weights(forgery: Forgery, rng: np.random.Generator, donors: Donors) -> None:
    X, y, s = _arrays(forgery)
    s = np.ones(len(y)) if s is None else np.array(s, dtype=float)
    if rng.random() < 0.5:
        s = rng.permutation(s)
    else:
        i, j = rng.choice(len(s), 2, replace=False)
        s[i], s[j] = s[i] + s[j], 0.0
    _show(forgery, X, y, s)


@edit("data: a last digit")
def _data_ulp(forgery: Forgery, rng: np.random.Generator, donors: Donors) -> None:
    X, y, s = _arrays(forgery)
    i, j = int(rng.integers(len(X))), int(rng.integers(X.shape[1]))
    X[i, j] = np.nextafter(X[i, j], np.inf)
    _show(forgery, X, y, s)


@edit("data: turned by a right angle")
def _data_turned(forgery: Forgery, rng: np.random.Generator, donors: Donors) -> None:
    X, y, s = _arrays(forgery)
    if X.shape[1] < 2:
        raise UnfitError("one column only")
    X[:, [0, 1]] = np.column_stack([-X[:, 1], X[:, 0]])
    _show(forgery, X, y, s)


@edit("the hash of the data taken away")
def _hash_gone(forgery: Forgery, rng: np.random.Generator, donors: Donors) -> None:
    if forgery.document["data"] is None:
        raise UnfitError("no hash")
    forgery.document["data"] = None
