"""Kernels: random shapes, strides, types of numbers and indices, structures that lie, arrays changed meanwhile."""

from __future__ import annotations

import random
import sys
import threading
import warnings
from typing import Any

import numpy as np
from scipy import sparse

REFUSED = (ValueError, TypeError, OverflowError, MemoryError, ArithmeticError)
NASTY = np.array([0.0, -0.0, 1.0, -1.0, 5e-324, 1e-300, 1e300, -1e308, np.nan, np.inf, -np.inf, 3e38, 1e16])


def dense(rng: random.Random) -> np.ndarray:
    """Return a matrix with odd strides, byte order or type."""
    numbers = np.random.default_rng(rng.getrandbits(32))
    n, d = rng.choice([0, 1, 2, 3, 7, 8, 9, 33, 200]), rng.choice([0, 1, 2, 3, 4, 5, 8, 17, 65])
    X = numbers.standard_normal((n, d))
    if rng.random() < 0.3 and X.size:
        X.flat[numbers.integers(0, X.size, 3)] = numbers.choice(NASTY, 3)
    kind = rng.choice(["f8", "f4", ">f8", "i4", "u1", "?", "f2", "i8", "c16", "O"])
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        X = X.astype(kind)
    return _laid_out(X, rng)


def _laid_out(X: np.ndarray, rng: random.Random) -> np.ndarray:
    n, d = X.shape
    way = rng.randrange(7)
    if way == 1:
        return np.asfortranarray(X)
    if way == 2:
        return X[::-1, ::-1]
    if way == 3:
        wide = np.zeros((2 * n, 3 * d), X.dtype)
        wide[::2, ::3] = X
        return wide[::2, ::3]
    if way == 4 and X.dtype.itemsize > 1 and X.dtype.kind != "O":  # not aligned
        raw = np.zeros(X.nbytes + 1, np.uint8)
        other = raw[1:].view(X.dtype)[: X.size].reshape(X.shape) if X.size else X
        other[...] = X
        return other
    if way == 5 and n:
        return np.broadcast_to(X[:1], (n, d))
    if way == 6:
        X = X.copy()
        X.flags.writeable = False
    return X


def hostile(rng: random.Random) -> Any:
    """Return a sparse matrix whose structure may lie."""
    numbers = np.random.default_rng(rng.getrandbits(32))
    n, d = rng.choice([1, 2, 5, 40, 200]), rng.choice([1, 3, 8, 65, 5000])
    form = rng.choice([sparse.csr_matrix, sparse.csr_array, sparse.csc_array])
    X = form(sparse.random(n, d, min(1.0, 8 / d), random_state=numbers, dtype=rng.choice([np.float64, np.float32])))
    kind = rng.choice([np.int32, np.int64])
    X.indices, X.indptr = X.indices.astype(kind), X.indptr.astype(rng.choice([kind, np.int32, np.int64]))
    for _ in range(rng.randrange(3)):
        array = rng.choice([X.indices, X.indptr, X.data])
        if not len(array):
            continue
        at = rng.randrange(len(array))
        if array is X.data:
            with np.errstate(all="ignore"):
                array[at] = rng.choice(NASTY.tolist())
        else:
            array[at] = rng.choice([-1, d, 2**31 - 1, -(2**31), 10**8, len(X.data) + 1, 0])
    cut = rng.randrange(12)
    if cut == 0:
        X.indices = X.indices[: len(X.indices) // 2]
    elif cut == 1:
        X.data = X.data[: len(X.data) // 2]
    elif cut == 2:
        X.indptr = X.indptr[:-1]
    return X


def arrays(rng: random.Random) -> tuple[Any, np.ndarray, Any, int]:
    """Return rows, labels, weights, and which call is to be made."""
    X = hostile(rng) if rng.random() < 0.5 else dense(rng)
    n = X.shape[0] + rng.choice([0, 0, 0, 0, 0, 1, -1])
    y = np.array([rng.randrange(rng.choice([1, 2, 2, 2, 3])) for _ in range(max(0, n))])
    s = (
        None
        if rng.random() < 0.7
        else np.array([rng.choice([0.0, 1.0, 1e-300, 1e300, -1.0]) for _ in range(len(X.shape) and max(0, n))])
    )
    return X, y, s, rng.randrange(8)


def call(case: tuple[Any, np.ndarray, Any, int]) -> None:
    """Make the call: a fit of some kind and what follows from it, separability, or products of the kernels."""
    import linsep

    X, y, s, which = case
    kinds = [
        lambda: linsep.LogisticRegression(max_iter=5),
        lambda: linsep.LinearSVC(max_iter=5),
        lambda: linsep.LinearSVC(loss="squared_hinge", max_iter=5, solver="dual"),
        lambda: linsep.LeastSquaresClassifier(C=1.0),
        lambda: linsep.SGDClassifier(max_iter=2),
        lambda: linsep.LogisticRegression(l1_ratio=1.0, max_iter=5),
    ]
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            if which < len(kinds):
                model = kinds[which]().fit(X, y, sample_weight=s)
                model.decision_function(X)
                model.predict(X)
            elif which == 6:
                linsep.separability(X, y, **({} if X.shape[0] < 100 else {"time_limit": 2.0}))
            else:
                _products(X)
        except REFUSED:
            pass


def _products(X: Any) -> None:
    from linsep._core import Rows, sound

    rows = Rows(sound(X))  # as every way in does
    rows.matvec(np.ones(X.shape[1]))
    rows.rmatvec(np.ones(X.shape[0]))
    rows.squared_norms()


def meanwhile(case: tuple[Any, np.ndarray, Any, int]) -> None:
    """Make the call while another thread writes other numbers into the matrix."""
    X = case[0]
    _beside(case, [X.data] if sparse.issparse(X) else [X])


def structure(case: tuple[Any, np.ndarray, Any, int]) -> None:
    """Make the call while another thread writes other indices into it, too."""
    X = case[0]
    _beside(case, [X.data, X.indices, X.indptr] if sparse.issparse(X) else [X])


def _beside(case: tuple[Any, np.ndarray, Any, int], parts: list[Any]) -> None:
    targets = [part for part in parts if isinstance(part, np.ndarray) and part.size and part.flags.writeable]
    done = threading.Event()
    sys.setswitchinterval(1e-5)  # seconds, not 5 ms: it writes between any two steps of the call, and a case is short

    def write() -> None:
        numbers = np.random.default_rng(0)
        while not done.is_set():
            for part in targets:
                at = tuple(int(numbers.integers(0, length)) for length in part.shape)
                with np.errstate(all="ignore"), warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    try:
                        part[at] = numbers.choice(NASTY if part.dtype.kind in "fc" else [-1, 0, 1, 10**8])
                    except REFUSED:
                        continue

    thread = threading.Thread(target=write)
    thread.start()
    try:
        call(case)
    except IndexError:  # by NumPy or SciPy, of an index that has changed under it
        pass
    finally:
        done.set()
        thread.join()
