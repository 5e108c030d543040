"""The hot loops: compiled where a compiler was found, in plain Python elsewhere, behind one type, `Rows`."""

from __future__ import annotations

import os
import threading
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from . import reference
from .reference import is_sparse

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

__all__ = [
    "PACK",
    "Ending",
    "Rows",
    "Springs",
    "Sums",
    "conjugate_sum",
    "gram_descent",
    "in_threads",
    "interleaved",
    "is_sparse",
    "kernels_in_use",
    "labels",
    "length",
    "libsvm_text",
    "one_thread",
    "probabilities",
    "scores",
    "sprung_line_search",
    "threads",
    "warn_if_slow",
    "whole_packs",
]


#: Up to this share of entries that are not zero a dense matrix is cheaper to work on as a sparse one.
MOSTLY_ZERO = 0.3
#: How many planes the kernels step at a time.
PACK = 4
#: Up to so many columns a Hessian is as cheap as a few products with it (as in `gram.hpp`).
NARROW = 64
#: Below this many entries a copy does not pay.
WORTH_COMPRESSING = 1_000_000
#: Below this many stored numbers a second thread costs more than it brings (as in `parallel.hpp`).
WORTH_A_THREAD = 400_000
#: Below this many examples sums over them are taken in one piece (as in `multipliers.hpp` and `objective.hpp`).
IN_ONE_PIECE = 20_000


def _load() -> ModuleType | None:
    """Return the compiled kernels that suit this processor, or None: ``LINSEP_KERNELS=reference`` asks for none."""
    wanted = os.environ.get("LINSEP_KERNELS", "")
    if wanted not in ("", "reference", "baseline"):
        known = "use 'reference', 'baseline' or leave it unset"
        warnings.warn(f"LINSEP_KERNELS={wanted!r} is not known and is ignored; {known}", RuntimeWarning, stacklevel=2)
    baseline = None if wanted == "reference" else _import("_kernels")
    if baseline is None or wanted == "baseline" or not baseline.has_avx2():
        return baseline
    return _import("_kernels_avx2") or baseline


def _import(name: str) -> ModuleType | None:
    """Return the compiled module, or None if it was not built. One that was built but does not load is an error."""
    try:
        return import_module(f"{__name__}.{name}")
    except ModuleNotFoundError:
        return None


_compiled = _load()
_warned = False


def length(v: FloatArray) -> float:
    """‖v‖, without a BLAS: its threads would have to wait for ours."""
    return float(np.sqrt(np.einsum("i,i->", v, v)))


def kernels_in_use() -> str:
    """Name of the kernels in use: ``"avx2"``, ``"baseline"`` or ``"reference"`` (plain Python)."""
    if _compiled is None:
        return "reference"
    return "avx2" if _compiled.__name__.endswith("avx2") else "baseline"


class _Alone(threading.local):
    """Whether the kernels that this thread calls shall use no further ones."""

    here = False


_alone = _Alone()


@contextmanager
def one_thread() -> Iterator[None]:
    """Keep the kernels to the calling thread: where fits run side by side, more would be in each other's way."""
    before, _alone.here = _alone.here, True
    try:
        yield
    finally:
        _alone.here = before


def threads() -> int:
    """How many threads the kernels use: ``LINSEP_NUM_THREADS``, or the processors this process may run on."""
    if _alone.here:
        return 1
    wanted = os.environ.get("LINSEP_NUM_THREADS", "")
    if wanted and not (wanted.isdigit() and int(wanted) > 0):
        raise ValueError(f"LINSEP_NUM_THREADS={wanted!r} must be a positive whole number")
    if wanted:
        return int(wanted)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _threads(n: int) -> int:
    """How many threads may share a sum over n examples."""
    return threads() if n >= IN_ONE_PIECE else 1


def in_threads(body: Callable[[int], None], items: Sequence[int]) -> None:
    """Call `body` for each item, in as many threads as the kernels use: for work that NumPy does without the GIL."""
    if threads() == 1 or len(items) == 1:
        for item in items:
            body(item)
        return
    with ThreadPoolExecutor(threads()) as pool:
        for _ in pool.map(body, items):
            pass


def warn_if_slow() -> None:
    """Say once per process that the compiled kernels are missing and how to get them."""
    global _warned
    if _compiled is None and not _warned and os.environ.get("LINSEP_KERNELS") != "reference":
        _warned = True
        warnings.warn(
            "linsep runs on its plain-Python kernels, which are correct but slow: it was installed without a C++ "
            "compiler. Install one (Debian: apt-get install g++) and reinstall with 'pip install --force-reinstall "
            "--no-deps linsep'; 'linsep doctor' shows what is in use.",
            RuntimeWarning,
            stacklevel=4,  # past fit and the wrapper that serves its callbacks
        )


def native(X: Any) -> Any:
    """X as the kernels read it: C-contiguous float32 or float64 (or CSR of these). Copies only what is not."""
    dtype = X.dtype if X.dtype in (np.float32, np.float64) else np.dtype(np.float64)
    if not is_sparse(X):
        return np.ascontiguousarray(X, dtype=dtype.newbyteorder("="))
    return X.tocsr().astype(dtype, copy=False)


def compiled_name(loss: Any) -> str | None:
    """Name of the compiled twin of a loss, or None.

    Only of its own class: a subclass that overrides its parent's formula must not run its parent's loop.
    """
    kernel = vars(type(loss)).get("kernel")
    return kernel if isinstance(kernel, str) else None


def whole_packs(planes: int) -> int:
    """Return how many planes the kernels step side by side where so many are wanted: the next multiple of four.

    >>> whole_packs(10)
    12
    """
    return -(-planes // PACK) * PACK


def interleaved(length: int, planes: int) -> FloatArray:
    """Return room for so many planes, one in each column, so that no pack lies across two lines of the cache.

    >>> interleaved(3, 4).shape
    (3, 4)
    """
    line = 64
    room = np.empty(length * planes + line // 8)
    first = -room.ctypes.data % line // 8
    return room[first : first + length * planes].reshape(length, planes)


def _parts(X: Any) -> tuple[Any, Any, Any]:
    """Return the three arrays of a CSR matrix, contiguous, with both index arrays of one width; SciPy may mix them."""
    width = np.int32 if X.indices.dtype == X.indptr.dtype == np.int32 else np.int64
    indices, indptr = (np.ascontiguousarray(part, dtype=width) for part in (X.indices, X.indptr))
    return np.ascontiguousarray(X.data), indices, indptr


class Rows:
    """The examples as rows, dense or sparse, float32 or float64: the only type that knows which.

    Examples
    --------
    >>> import numpy as np
    >>> rows = Rows(np.array([[1.0, 2.0], [3.0, 4.0]]))
    >>> rows.matvec(np.array([1.0, -1.0]))
    array([-1., -1.])
    >>> rows.rmatvec(np.array([1.0, 1.0]))
    array([4., 6.])
    """

    def __init__(self, X: Any, *, tidy: bool = False) -> None:
        self.X = native(X)
        self.n, self.d = (int(size) for size in self.X.shape)
        self.is_sparse = is_sparse(self.X)
        self._norms: FloatArray | None = None
        if self.is_sparse:
            kernels = _compiled or reference
            self._handle = kernels.csr(*_parts(self.X), self.d)
            if not tidy and kernels.has_repeated_entries(self._handle, self._threads()):
                self.X = self.X.copy()  # the user's own matrix stays as it is
                self.X.sum_duplicates()
                self._handle = kernels.csr(*_parts(self.X), self.d)
        elif _compiled is not None:
            self._handle = _compiled.dense(self.X)

    @property
    def narrow(self) -> bool:
        """Whether there are so few columns, half of them filled at least, that a Hessian costs as much as a product."""
        return _compiled is not None and self.d <= NARROW and 2 * self.stored >= self.n * self.d

    def _threads(self, times: int = 1) -> int:
        """How many threads may share a pass that uses each number so many times; a short one is one thread's anyway."""
        return threads() if times * self.stored >= WORTH_A_THREAD else 1

    def __reduce__(self) -> tuple[Any, ...]:
        return Rows, (self.X,)

    @property
    def stored(self) -> int:
        """How many numbers the matrix stores."""
        return int(self.X.nnz) if self.is_sparse else self.n * self.d

    def matvec(self, w: FloatArray) -> FloatArray:
        """Xw for a vector, Xwᵀ for a matrix with one vector in each row; always in double precision."""
        w = np.ascontiguousarray(w, dtype=np.float64)
        vectors = w.reshape(-1, self.d)
        out = np.empty((self.n, len(vectors)))
        if _compiled is not None:
            _compiled.matvec(self._handle, vectors, out, self._threads(len(vectors)))
        else:
            reference.matvec(self.X, vectors, out)
        return out if w.ndim == 2 else out[:, 0]

    def rmatvec(self, u: FloatArray) -> FloatArray:
        """Xᵀu, in double precision."""
        u = np.ascontiguousarray(u, dtype=np.float64)
        out = np.empty(self.d)
        if _compiled is not None:
            _compiled.rmatvec(self._handle, u, out, self._threads())
        else:
            reference.rmatvec(self.X, u, out)
        return out

    def square_rmatvec(self, u: FloatArray) -> FloatArray:
        """Σ uᵢ xᵢ², entry by entry."""
        squares = self.X.multiply(self.X) if self.is_sparse else self.X**2
        return np.asarray(squares.T @ u, dtype=np.float64).ravel()

    def filled(self) -> IntArray:
        """How many entries of each column are not zero (or stored as one)."""
        if self.is_sparse:
            return np.bincount(self.X.indices, minlength=self.d)
        return np.asarray(np.count_nonzero(self.X, axis=0))

    def dense(self, which: IntArray) -> FloatArray:
        """Return the rows `which` as a dense matrix in double precision."""
        part = self.X[which]
        return np.asarray(part.toarray() if self.is_sparse else part, dtype=np.float64)

    def columns(self, which: IntArray) -> Rows:
        """Return the same rows with the columns `which` alone."""
        return Rows(self.X[:, which], tidy=True)

    def matmat(self, W: FloatArray) -> FloatArray:
        """XW for a matrix with one vector in each column, in double precision."""
        out = np.empty((self.n, W.shape[1]))
        if _compiled is not None:
            _compiled.matmat(self._handle, np.ascontiguousarray(W), out, self._threads(W.shape[1]))
        else:
            reference.matmat(self.X, W, out)
        return out

    def rmatmat(self, U: FloatArray, out: FloatArray | None = None) -> FloatArray:
        """XᵀU for a matrix with one vector in each column, in double precision; into `out`, if that is given."""
        out = np.empty((self.d, U.shape[1])) if out is None else out
        if _compiled is not None:
            _compiled.rmatmat(self._handle, np.ascontiguousarray(U), out, self._threads(U.shape[1]))
        else:
            reference.rmatmat(self.X, U, out)
        return out

    def squared_norms(self) -> FloatArray:
        """‖xᵢ‖² of every row, computed once."""
        if self._norms is None:
            norms = np.empty(self.n)
            if _compiled is not None:
                _compiled.squared_norms(self._handle, norms, self._threads())
            else:
                reference.squared_norms(self.X, norms)
            self._norms = norms  # now that it is filled: another thread may be asking
        return self._norms

    def groups(self, codes: IntArray, most: int) -> tuple[IntArray, IntArray] | None:
        """Number the different pairs of row and code: the number of each row, and the row where each comes first.

        None where they are more than `most`. See `reference.group_rows`.
        """
        codes = np.ascontiguousarray(codes, dtype=np.int64)
        group, first = np.empty(self.n, dtype=np.int64), np.empty(most, dtype=np.int64)
        if _compiled is not None:
            count = _compiled.group_rows(self._handle, codes, group, first, threads())
        else:
            count = reference.group_rows(self.X, codes, group, first, 1)
        return (group, first[:count]) if count else None

    def stochastic_steps(
        self,
        y: FloatArray,
        weight: FloatArray | None,
        order: IntArray,
        eta: FloatArray,
        loss: Any,
        *,
        l2: float,
        l1: float,
        intercept: bool,
        w: FloatArray,
        b: FloatArray,
        sum_w: FloatArray | None = None,
        sum_b: FloatArray | None = None,
        counts: IntArray | None = None,
        moved: NDArray[np.uint8] | None = None,
    ) -> int:
        """Take one stochastic step for each entry of `order`, changing `w` and `b` (and the notes) in place.

        `w` and `y` are vectors, or have one column for each of several planes (as many as `whole_packs` says). Returns
        how often planes were moved. See `reference.stochastic_steps`.
        """
        kernel = compiled_name(loss)
        if _compiled is not None and kernel is not None:
            loop, rows, chosen = _compiled.stochastic_steps, self._handle, kernel
        else:
            loop, rows, chosen = reference.stochastic_steps, self.X, loss
        columns = [None if part is None else part.reshape(len(part), -1) for part in (y, w, sum_w, counts, moved)]
        y, w, sum_w, counts, moved = columns  # type: ignore[assignment]
        steps = order, eta, chosen, l2, l1, intercept
        return int(loop(rows, y, weight, *steps, w, b, sum_w, sum_b, counts, moved))

    def measure(
        self,
        y: FloatArray,
        weight: FloatArray | None,
        loss: Any,
        W: FloatArray,
        b: FloatArray,
        *,
        total: float,
        l2: float,
        l1: float,
        room: FloatArray | None = None,
    ) -> FloatArray:
        """Return six numbers for each plane, in the columns of W: see `reference.measure`; `room` is as large as W."""
        out, room = np.empty((6, W.shape[1])), np.empty_like(W) if room is None else room
        kernel = compiled_name(loss)
        if _compiled is not None and kernel is not None:
            loop, rows, chosen = _compiled.measure, self._handle, kernel
        else:
            loop, rows, chosen = reference.measure, self.X, loss
        loop(rows, y, weight, chosen, W, b, total, l2, l1, room, out)
        return out

    def evaluate(
        self,
        y: FloatArray,
        weight: FloatArray | None,
        loss: Any,
        w: FloatArray,
        b: float,
        *,
        split: bool = False,
        curvature: bool = False,
        gradient: bool = True,
    ) -> Sums:
        """Return the sum of losses at (w, b) with its gradient, by class if `split`, and each example's share in it."""
        sums, u = np.empty(4 + gradient * (2 if split else 1) * self.d), np.empty(self.n)
        h = np.empty(self.n if curvature else 0)
        kernel = compiled_name(loss)
        if _compiled is not None and kernel is not None:
            into = u, h if curvature else None, sums
            _compiled.evaluate(self._handle, y, weight, kernel, w, b, split, *into, self._threads())
        else:
            reference.evaluate(self.X, y, weight, loss, w, b, split, u, h if curvature else None, sums)
        positive_total, negative_total, value, mistakes = (float(total) for total in sums[:4])
        totals = positive_total, negative_total, value, mistakes
        return Sums(*totals, sums[4 : 4 + self.d], sums[4 + self.d :], u, h)

    def hessian_product(self, h: FloatArray, v: FloatArray, c: float) -> FloatArray:
        """Σ h (x·v + c) [x, 1]: the Hessian of the sum of losses times (v, c)."""
        out = np.empty(self.d + 1)
        if _compiled is not None:
            _compiled.hessian_product(self._handle, h, v, c, out, self._threads())
        else:
            reference.hessian_product(self.X, h, v, c, out)
        return out

    def gram(self, h: FloatArray, which: IntArray) -> FloatArray:
        """Σ h [x, 1][x, 1]ᵀ over the rows `which`, (d + 1) × (d + 1); only the lower triangle is sure to be filled."""
        out = np.zeros((self.d + 1, self.d + 1))
        if _compiled is not None and (self.is_sparse or self.narrow):
            _compiled.gram(self._handle, h, which, out, threads())
        else:
            reference.gram(self.X, h, which, out)
        return out

    def sprung_duals(
        self,
        y: FloatArray,
        c: FloatArray,
        loss: Any,
        *,
        centre: FloatArray,
        z: FloatArray,
        width: float,
        split: bool,
        a: FloatArray,
        h: FloatArray,
    ) -> FloatArray:
        """Replace `a` and `h` by each example's dual variable on a spring, and how it bends; return sums.

        The sums are those that `multipliers.hpp` names.
        """
        sums = np.empty(6 + (2 if split else 1) * self.d)
        kernel = compiled_name(loss)
        if _compiled is not None and kernel is not None:
            _compiled.sprung_duals(self._handle, y, c, kernel, centre, z, width, split, a, h, sums, self._threads())
        else:
            reference.sprung_duals(self.X, y, c, loss, centre, z, width, split, a, h, sums)
        return sums

    def sprung_newton(
        self,
        y: FloatArray,
        c: FloatArray,
        loss: Any,
        springs: Springs,
        *,
        l2: float,
        intercept: bool,
        tol: float,
        target: float,
        narrower: float,
        narrowest: float,
        more: int,
        most: int,
    ) -> Ending:
        """Run the method of multipliers from `springs`, which it changes; see `springs.hpp` and its twin."""
        at = springs
        arrays = at.point, at.z, at.a, at.h, at.centre, at.width, at.best_point, at.best_alpha, at.proof
        log, ended = np.empty((4 * most + 64, 5)), np.zeros(4, dtype=np.int64)
        settings = l2, intercept, tol, target, narrower, narrowest, more, most
        kernel = compiled_name(loss)
        if _compiled is not None and kernel is not None:
            _compiled.sprung_newton(self._handle, y, c, kernel, *settings, *arrays, log, ended, self._threads())
        else:
            reference.sprung_newton(self.X, y, c, loss, *settings, *arrays, log, ended)
        why, steps, notes, settled = ended.tolist()
        return Ending(("proven", "tired", "stuck", "full")[why], steps, log[:notes], bool(settled))

    def lean(self) -> Rows:
        """Return the rows as a sparse matrix, if they are dense and mostly zeros, as images are; else themselves."""
        if self.is_sparse or _compiled is None or self.n * self.d < WORTH_COMPRESSING:
            return self
        sample = self.X[:: max(1, self.n // 256)]
        if np.count_nonzero(sample) > MOSTLY_ZERO * sample.size:
            return self
        start = np.zeros(self.n + 1, dtype=np.int64)
        _compiled.count_entries(self.X, start, self._threads())
        np.cumsum(start, out=start)
        if start[-1] > MOSTLY_ZERO * self.X.size:
            return self
        if start[-1] <= np.iinfo(np.int32).max:
            start = start.astype(np.int32)
        data, indices = np.empty(start[-1], dtype=self.X.dtype), np.empty(start[-1], dtype=start.dtype)
        _compiled.compress(self.X, start, data, indices, self._threads())
        return Rows(sparse.csr_array((data, indices, start), shape=(self.n, self.d)), tidy=True)

    def column_descent(
        self,
        c: FloatArray,
        bend: FloatArray,
        q: FloatArray,
        w: FloatArray,
        *,
        l1: float,
        l2: float,
        accuracy: float,
        passes: int,
        delta: FloatArray,
        t: FloatArray,
        along: FloatArray,
    ) -> float:
        """Descend along one coordinate a row, changing `delta`, `t` and `along`; see `coordinate.hpp`."""
        loop, rows = (
            (reference.column_descent, self.X) if _compiled is None else (_compiled.column_descent, self._handle)
        )
        return float(loop(rows, c, bend, q, w, l1, l2, accuracy, passes, delta, t, along))

    def dual_pass(
        self,
        y: FloatArray,
        c: FloatArray,
        loss: Any,
        *,
        constant: float,
        b: FloatArray,
        order: NDArray[np.int32],
        active: int,
        seed: int,
        alpha: FloatArray,
        w: FloatArray,
        slopes: FloatArray,
    ) -> int:
        """One pass of dual coordinate descent, changing `alpha`, `w`, `b`, `order` and `slopes`; see `dual.hpp`."""
        kernel, q = compiled_name(loss), self.squared_norms()
        if _compiled is not None and kernel is not None:
            loop, rows, chosen = _compiled.dual_pass, self._handle, kernel
        else:
            loop, rows, chosen = reference.dual_pass, self.X, loss
        return int(loop(rows, y, c, chosen, q, constant, b, order, active, seed, alpha, w, slopes))

    def dual_halves(
        self,
        y: FloatArray,
        c: FloatArray,
        loss: Any,
        *,
        constant: float,
        b: FloatArray,
        order: NDArray[np.int32],
        seed: int,
        alpha: FloatArray,
        w: FloatArray,
        other: FloatArray,
    ) -> float:
        """One pass of dual descent by two halves at once, changing `alpha`, `w`, `b` and `order`; see `halves.hpp`.

        Returns an estimate of the duality gap; `other` is room for a second copy of the weights.
        """
        kernel, q = compiled_name(loss), self.squared_norms()
        if _compiled is not None and kernel is not None:
            into = alpha, w, other, threads()
            return float(_compiled.dual_halves(self._handle, y, c, kernel, q, constant, b, order, seed, *into))
        return reference.dual_halves(self.X, y, c, loss, q, constant, b, order, seed, alpha, w)


def scores(X: Any, W: FloatArray, b: FloatArray) -> tuple[FloatArray, bool]:
    """Return g = x·w + b, one row of `W` a column, and whether all are finite: then so is every entry of X.

    >>> scores(np.array([[1.0, 2.0]]), np.array([[3.0, 4.0]]), np.array([0.5]))
    (array([[11.5]]), True)
    """
    out = np.empty((X.shape[0], len(W)))
    return out, _read(X, "scores", W, b, out)


def labels(X: Any, W: FloatArray, b: FloatArray, classes: NDArray[Any]) -> tuple[NDArray[Any], bool]:
    """Return ``classes[1]`` where g ≥ 0, else ``classes[0]``; of several planes the highest one's; and as `scores`.

    >>> labels(np.array([[1.0], [-1.0]]), np.array([[3.0]]), np.array([0.0]), np.array(["no", "yes"]))
    (array(['yes', 'no'], dtype='<U3'), True)
    """
    # Values of eight bytes are written as they are; others are looked up afterwards.
    straight = classes.dtype.kind in "iuf" and classes.itemsize == 8 and classes.dtype.isnative
    table = np.ascontiguousarray(classes).view(np.int64) if straight else np.arange(len(classes))
    out = np.empty(X.shape[0], dtype=np.int64)
    finite = _read(X, "labels", W, b, table, out)
    return out.view(classes.dtype) if straight else classes.take(out), finite


def probabilities(X: Any, W: FloatArray, b: FloatArray) -> tuple[FloatArray, bool]:
    """Return σ(−g) and σ(g) in two columns; of several planes the softmax of g; and as `scores`.

    >>> probabilities(np.array([[1.0]]), np.array([[0.0]]), np.array([0.0]))
    (array([[0.5, 0.5]]), True)
    """
    out = np.empty((X.shape[0], max(2, len(W))))
    return out, _read(X, "probabilities", W, b, out)


def _read(X: Any, loop: str, W: FloatArray, b: FloatArray, *into: NDArray[Any]) -> bool:
    """Let planes read the rows of X: float32 or float64, dense or CSR, checked by nobody yet."""
    W, b = np.ascontiguousarray(W, dtype=np.float64), np.ascontiguousarray(b, dtype=np.float64)
    sparse_rows = is_sparse(X)
    if _compiled is None or not (sparse_rows or X.flags.c_contiguous):  # columns one after the other suit a BLAS
        X = reference.csr(*_parts(X), X.shape[1]) if sparse_rows else X
        return bool(getattr(reference, loop)(X, W, b, *into, 1))
    handle = _compiled.unread_csr(*_parts(X), X.shape[1]) if sparse_rows else _compiled.dense(X)
    work = len(W) * (X.nnz if sparse_rows else X.size)
    return bool(getattr(_compiled, loop)(handle, W, b, *into, threads() if work >= WORTH_A_THREAD else 1))


def sprung_line_search(
    c: FloatArray,
    loss: Any,
    *,
    centre: FloatArray,
    z: FloatArray,
    dz: FloatArray,
    width: float,
    first: float,
    linear: float,
    quadratic: float,
    accuracy: float,
) -> float:
    """Return the t that minimises t·linear + ½t²·quadratic + Σ (inner loss at z + t dz); see `multipliers.hpp`."""
    kernel = compiled_name(loss)
    if _compiled is not None and kernel is not None:
        where = (c, kernel, centre, z, dz, width, first, linear, quadratic, accuracy)
        return float(_compiled.sprung_line_search(*where, _threads(len(c))))
    return reference.sprung_line_search(c, loss, centre, z, dz, width, first, linear, quadratic, accuracy)


def gram_descent(H: FloatArray, l1: float, accuracy: float, passes: int, q: FloatArray, w: FloatArray) -> float:
    """Minimise q·δ + ½ δᵀHδ + l1 ‖w + δ‖₁ by coordinate, changing `w` and `q`; see `coordinate.hpp`."""
    kernels = _compiled or reference
    return float(kernels.gram_descent(H, l1, accuracy, passes, q, w))


def libsvm_text(text: NDArray[np.uint8]) -> Any:
    """Return LIBSVM text ready to be parsed, and how much room that takes; see `reference.LibsvmText`."""
    return _compiled.LibsvmText(text, threads()) if _compiled is not None else reference.LibsvmText(text, 1)


def conjugate_sum(
    y: FloatArray, weight: FloatArray | None, loss: Any, u: FloatArray, positive: float, negative: float
) -> float:
    """Σ s ℓ*(a) with a = u y / s, scaled by `positive` or `negative` according to the class."""
    kernel = compiled_name(loss)
    if _compiled is not None and kernel is not None:
        return float(_compiled.conjugate_sum(y, weight, kernel, u, positive, negative, _threads(len(y))))
    return reference.conjugate_sum(y, weight, loss, u, positive, negative)


@dataclass(frozen=True)
class Springs:
    """What a run of the method of multipliers changes: see `springs.hpp`."""

    point: FloatArray  # [w, b]
    z: FloatArray  # its agreements
    a: FloatArray  # dual variables
    h: FloatArray  # how they bend
    centre: FloatArray  # where their springs pull them
    width: FloatArray  # one number: how slack the springs are
    best_point: FloatArray
    best_alpha: FloatArray
    proof: FloatArray  # P of the best point, D of the best dual point


@dataclass(frozen=True)
class Ending:
    """How a run of the method of multipliers ended."""

    why: str  # "proven", "tired" (of steps), "stuck" (no step leads anywhere) or "full" (no room to take notes)
    steps: int
    log: FloatArray  # for each point: the steps so far, P, Σ c ℓ(z), Σ c over the mistakes, the least P so far
    settled: bool  # whether z are the agreements of the best point, computed afresh


@dataclass(frozen=True)
class Sums:
    """What one pass over the examples gives: see `Rows.evaluate`."""

    positive_total: float  # Σ u over the positive class (over all, if not split)
    negative_total: float
    value: float  # Σ s ℓ(z)
    mistakes: float  # Σ s over the examples with z ≤ 0
    positive: FloatArray  # Σ u x over the positive class (over all, if not split)
    negative: FloatArray  # over the negative class; empty if not split
    u: FloatArray  # s ℓ'(z) y of each example
    h: FloatArray  # s ℓ''(z); empty if not asked for

    @property
    def gradient(self) -> FloatArray:
        """Σ u x over all examples."""
        return self.positive + self.negative if len(self.negative) else self.positive
