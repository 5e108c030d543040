"""Damaged sparse matrices and arrays that lie badly in memory, at every public way in: an error, or the same answer."""

import sys
from contextlib import suppress
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import sparse

from linsep import (
    HardMarginSVC,
    LinearSVC,
    LinearSVCCV,
    LogisticRegression,
    LogisticRegressionCV,
    Perceptron,
    SGDClassifier,
    ZeroOneClassifier,
    _core,
    calibrate,
    choose_threshold,
    compare,
    display,
    estimates,
    exact,
    geometry,
    leave_one_out,
    regularization_path,
    separability,
    stability_selection,
    verify,
)
from linsep._core import loading, reading
from linsep._core.formats import csr_parts
from linsep.arithmetic.exact_input import exact_matrix
from linsep.cluster.fitting import as_part

rng = np.random.default_rng(0)
X = np.ascontiguousarray(rng.normal(size=(30, 3)))
y = (X[:, 0] + rng.normal(size=30) > 0).astype(int)
signs = 2.0 * y - 1
w = np.array([1.0, -0.5, 0.25])
fitted, machine = LogisticRegression().fit(X, y), LinearSVC().fit(X, y)
path, proof = regularization_path(X, y, tol=0.5), separability(X, y)

ENTRIES = {
    "separability": lambda D: separability(D, y),
    "separability.verify": lambda D: proof.verify(D, y),
    "estimates": lambda D: estimates(D, y),
    "logistic": lambda D: LogisticRegression().fit(D, y),
    "svc": lambda D: LinearSVC().fit(D, y),
    "hard margin": lambda D: HardMarginSVC().fit(D, y),
    "zero-one": lambda D: ZeroOneClassifier().fit(D, y),
    "perceptron": lambda D: Perceptron().fit(D, y),
    "partial_fit": lambda D: SGDClassifier().partial_fit(D, y, classes=[0, 1]),
    "predict": fitted.predict,
    "predict_proba": fitted.predict_proba,
    "decision_function": fitted.decision_function,
    "score": lambda D: fitted.score(D, y),
    "explain": lambda D: fitted.explain(X=D),
    "certificate.verify": lambda D: fitted.certificate_.verify(D, y),
    "verify": lambda D: verify(fitted, D, y),
    "path": lambda D: regularization_path(D, y, tol=0.5),
    "path.verify": lambda D: path.verify(D, y),
    "logistic CV": lambda D: LogisticRegressionCV(Cs=2, cv=2).fit(D, y),
    "svc CV": lambda D: LinearSVCCV(Cs=2, cv=2).fit(D, y),
    "compare": lambda D: compare(D, y),
    "calibrate": lambda D: calibrate(machine, D, y, cv=2),
    "choose_threshold": lambda D: choose_threshold(machine, D, y, cv=2),
    "leave_one_out": lambda D: leave_one_out(fitted, D, y),
    "stability_selection": lambda D: stability_selection(D, y, pairs=2),
    "exact.check_plane": lambda D: exact.check_plane(D, signs, w),
    "exact.check_rank": lambda D: exact.check_rank(D, [0, 1, 2, 3]),
    "exact.sides": lambda D: exact.sides(D, signs, np.append(w, 0.0)),
    "exact.unsettled": lambda D: exact.unsettled(D, signs, np.append(w, 0.0)),
    "geometry.augment": geometry.augment,
    "geometry.margin": lambda D: geometry.margin(D, signs, w),
    "a partition": lambda D: as_part(0, D, y),
    "Rows": _core.Rows,
    "margins": lambda D: display.MarginHistogramDisplay.from_estimator(fitted, D, y),
    "mistakes": lambda D: display.MistakesDisplay.from_estimator(fitted, D, y, shape=(1, 3)),
    "risk": lambda D: display.RiskSurfaceDisplay.from_estimator(fitted, D, y),
    "boundary": lambda D: display.BoundaryDisplay.from_estimator(fitted, D, y),
    "outliers": lambda D: display.OutlierDisplay.from_data(D, y, X[:2], [0, 1]),
}
FORMATS = {
    "csr": ("indices", "indptr"),
    "csc": ("indices", "indptr"),
    "bsr": ("indices", "indptr"),
    "coo": ("col", "row"),
}
DAMAGE = {
    "negative index": (0, 5, -1),
    "index past the last": (0, 5, 30),
    "overflowed index": (0, 5, -(2**31)),
    "index of 10⁸": (0, 5, 10**8),
    "decreasing bounds": (1, 2, 100),
    "bounds past the end": (1, -1, 2**30),
    "overflowed bounds": (1, -1, -(2**31)),
}


@pytest.mark.parametrize("entry", ENTRIES.values(), ids=ENTRIES)
def test_a_damaged_sparse_matrix_is_refused_before_anything_reads_it(entry):
    for name, parts in FORMATS.items():
        for part, at, value in DAMAGE.values():
            damaged = sparse.bsr_array(X, blocksize=(1, 1)) if name == "bsr" else sparse.coo_array(X).asformat(name)
            getattr(damaged, parts[part])[at] = value
            with pytest.raises(ValueError, match=r"damaged or its indices overflowed|^CSR ind"):
                entry(damaged)


def broken(matrix, **parts):
    for name, values in parts.items():
        setattr(matrix, name, values)
    return matrix


@pytest.mark.parametrize(
    "damaged",
    [
        broken(sparse.csr_array(X), indptr=sparse.csr_array(X).indptr[:-2]),
        broken(sparse.csr_array(X), indices=sparse.csr_array(X).indices[:-2]),
        broken(sparse.csr_array(X), indices=sparse.csr_array(X).indices.astype(float)),
        broken(sparse.csr_array(X), data=np.ones(3)),
        broken(sparse.csc_array(X), indptr=sparse.csc_array(X).indptr.reshape(2, 2)),
        broken(sparse.bsr_array(X, blocksize=(1, 1)), data=np.ones((90, 2, 2))),
        broken(sparse.coo_array(X), data=np.ones(3)),
        broken(sparse.lil_array(X), rows=sparse.lil_array(np.hstack([X, X])).rows),
    ],
    ids=["short indptr", "short indices", "float indices", "short data", "2-D indptr", "blocks", "coo data", "lists"],
)
def test_parts_that_do_not_fit_together_are_refused(damaged):
    for entry in ("separability", "logistic", "predict", "verify", "geometry.augment"):
        with pytest.raises(ValueError, match=r"damaged|mismatch|must have|length"):
            ENTRIES[entry](damaged)


def unaligned(part):
    """Return the same numbers one byte beside where they should be."""
    room = np.empty(part.nbytes + 1, dtype=np.uint8)
    moved = room[1:].view(part.dtype).reshape(part.shape)
    moved[...] = part
    assert not moved.flags.aligned or part.itemsize == 1
    return moved


def strided(part):
    return np.repeat(part, 2, axis=-1)[..., ::2]


def read_only(part):
    part = part.copy()
    part.flags.writeable = False
    return part


LAYOUTS = {
    "unaligned": unaligned,
    "other byte order": lambda part: part.astype(part.dtype.newbyteorder()),
    "strided": strided,
    "backwards": lambda part: part[..., ::-1].copy()[..., ::-1],
    "read-only": read_only,
}


def laid_out(matrix, layout):
    """Return a matrix of which every part lies in memory like that."""
    if not sparse.issparse(matrix):
        return layout(matrix)
    other = matrix.copy()
    places = ("row", "col") if matrix.format == "coo" else ("indices", "indptr")
    return broken(other, **{part: layout(getattr(matrix, part)) for part in ("data", *places)})


@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
@pytest.mark.parametrize("to", [np.array, sparse.csr_array, sparse.csc_array, sparse.coo_array])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_how_an_array_lies_in_memory_does_not_matter(layout, to, dtype, monkeypatch):
    seen, kernels = [], reading.compiled

    def watched(name):
        def called(*parts):
            seen.extend(part for part in parts if isinstance(part, np.ndarray))
            return getattr(kernels, name)(*parts)

        return called

    names = ("dense", "unread_csr", "scores", "labels")
    monkeypatch.setattr(reading, "compiled", SimpleNamespace(**{name: watched(name) for name in names}))
    plain, moved = to(X.astype(dtype)), laid_out(to(X.astype(dtype)), layout)
    rows = _core.Rows(moved)
    seen += csr_parts(rows.X) if rows.is_sparse else [rows.X]
    np.testing.assert_array_equal(rows.matvec(w), _core.Rows(plain).matvec(w))
    model = LogisticRegression().fit(plain, y)
    np.testing.assert_array_equal(LogisticRegression().fit(moved, y).coef_, model.coef_)
    np.testing.assert_allclose(model.decision_function(moved), model.decision_function(plain), rtol=1e-5)
    np.testing.assert_array_equal(model.predict(moved), model.predict(plain))
    batch = SGDClassifier(random_state=0).partial_fit(moved, y, classes=[0, 1])
    np.testing.assert_array_equal(
        batch.coef_, SGDClassifier(random_state=0).partial_fit(plain, y, classes=[0, 1]).coef_
    )
    assert model.certificate_.verify(moved, y)
    assert separability(moved, y).verify(plain, y)
    np.testing.assert_array_equal(
        exact.sides(moved, signs, np.append(w, 0.0)), exact.sides(plain, signs, np.append(w, 0.0))
    )
    assert all(part.flags.aligned and part.dtype.isnative for part in seen)


def test_entries_stored_twice_are_added_whatever_the_matrix_says_of_itself():
    halves = sparse.csr_array((np.full(4, 0.5), [0, 0, 1, 1], [0, 2, 4]), shape=(2, 2))
    halves.has_canonical_format = True
    np.testing.assert_array_equal(exact_matrix(halves).toarray(), np.eye(2))


class Watched(sparse.csr_array):
    """A matrix that knows who looks at its indices."""

    @property
    def indices(self):
        self.looks.add(sys._getframe(1).f_globals["__name__"])
        return self.given

    @indices.setter
    def indices(self, given):
        self.given, self.looks = given, set()


@pytest.mark.parametrize("name", [name for name in ENTRIES if name != "Rows"])  # whose callers have a copy
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_the_indices_of_the_caller_are_copied_before_scipy_or_a_loop_reads_them(name):
    watched = Watched(X)
    watched.looks = set()
    with suppress(ValueError):  # these rows are not separable, and three columns are no picture
        ENTRIES[name](watched)
    assert watched.looks == {"linsep._common.structure"}


@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("form", ["csr", "csc", "bsr", "coo", "lil", "dia", "dok"])
def test_what_is_written_into_indices_later_changes_nothing(form, index):
    given = sparse.csr_array(X * (X > 0)).asformat(form)
    for part in ("indices", "indptr"):
        if hasattr(given, part):
            setattr(given, part, getattr(given, part).astype(index))
    own = _core.sound(given)
    before = own.toarray()
    for part in ("indices", "indptr", "row", "col", "offsets"):
        if isinstance(array := getattr(given, part, None), np.ndarray):
            array[...] = 10**8
    np.testing.assert_array_equal(own.toarray(), before)


def test_numbers_beyond_those_that_were_counted_are_not_written():
    dense = np.zeros((2, 5))
    dense[0, 1] = 1.0
    start = np.array([0, 1, 1], dtype=np.int32)
    dense[:] = 7.0  # by another thread, after the counting
    room, places = np.full(10, -1.0), np.full(10, -1, dtype=np.int32)
    if loading.compiled is not None:
        loading.compiled.compress(dense, start, room[:1], places[:1], 1)
        assert (room[0], places[0]) == (7.0, 0)
        dense[:] = 0.0
        loading.compiled.compress(dense, start, room[:1], places[:1], 1)
        assert (room[0], places[0]) == (0.0, 0)
        np.testing.assert_array_equal(room[1:], -1.0)
