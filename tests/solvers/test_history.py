"""The history: what is kept, how thin it gets, how much memory it takes, and its tables."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from linsep import history as module
from linsep.history import COLUMNS, History, Record

SETTINGS = settings(max_examples=60, deadline=None)


def filled(n, capacity=module.CAPACITY, **columns):
    history = History(capacity)
    for k in range(n):
        history.add(Record(step=k, passes=k / 2, objective=1 / (k + 1), **columns))
    return history


# --- thinning


@SETTINGS
@given(n=st.integers(1, 300), capacity=st.integers(3, 40))
def test_first_and_latest_are_kept_with_pairs_at_even_distances_between(n, capacity):
    history = filled(n, capacity)
    steps = history["step"].astype(int).tolist()
    assert len(steps) == len(history) <= capacity
    assert steps[0] == 0
    assert steps[-1] == n - 1
    assert steps == sorted({k for k in range(n) if k // 2 % history.stride == 0} | {n - 1})
    assert history.stride & (history.stride - 1) == 0  # 1, 2, 4, 8, …


@SETTINGS
@given(n=st.integers(2, 300), capacity=st.integers(4, 40))
def test_history_is_no_thinner_than_it_must_be(n, capacity):
    assert len(filled(n, capacity)) >= min(n, (capacity + 1) // 2)


@SETTINGS
@given(capacity=st.integers(3, 50))
def test_as_many_records_as_fit_are_all_kept(capacity):
    history = filled(capacity, capacity)
    assert history["step"].tolist() == list(range(capacity))
    assert history.stride == 1


def test_bounds_hold_after_every_single_record():
    history = History(capacity=7)
    for k in range(500):
        history.add(Record(step=k, passes=k, objective=0.0))
        assert len(history) <= 7
        assert history["step"][[0, -1]].tolist() == [0, k]


@pytest.mark.parametrize("capacity", [-5, 0, 1, 2, 3])
def test_smallest_history_keeps_the_first_two_and_the_latest(capacity):
    assert filled(100, capacity)["step"].tolist() == [0, 1, 99]


@pytest.mark.slow
def test_million_records_stay_bounded():
    history = History(capacity=1000)
    for k in range(10**6):
        history.add(Record(k, k, 0.0))
    assert 500 <= len(history) <= 1000
    assert len(pickle.dumps(history)) < 300 * 1000  # and nothing is hidden
    assert history["step"][[0, -1]].tolist() == [0, 10**6 - 1]
    assert history.stride == 1024


def test_short_runs_are_kept_whole():
    assert len(filled(10_001)) == 10_001, "as many as minimize takes by itself, and the start"
    assert 10_000 <= len(filled(50_000)) <= 20_000


def test_a_swing_stays_visible_however_thin_the_history_gets():
    history = History(capacity=50)
    for k in range(10_000):
        history.add(Record(k, k, objective=float((-1) ** k)))
    swings = np.abs(np.diff(history["objective"]))
    assert history.stride > 100
    assert (swings[::2] == 2).all()


@SETTINGS
@given(n=st.integers(0, 300), first=st.integers(2, 60), second=st.integers(2, 60))
def test_a_thinner_copy_is_what_a_smaller_history_would_have_kept(n, first, second):
    history = filled(n, first)
    few, small = history.thinned(second), filled(n, min(first, second))
    assert few["step"].tolist() == small["step"].tolist()
    assert (few.stride, few.offered) == (small.stride, n)
    assert len(history) == len(filled(n, first)), "the original stays as it is"
    for one in (few, small):
        one.add(Record(step=n, passes=0.0, objective=0.0))  # and both go on alike
    assert few["step"].tolist() == small["step"].tolist()


def test_a_thinner_copy_says_nothing_of_single_examples():
    history = filled(9, example=4, iterate=np.ones(3), risk=0.5)
    history.solver, history.reason = "sgd", "asked for"
    few = history.thinned(4)
    assert few.iterates.size == 0
    assert np.isnan(few["example"]).all()
    assert few["risk"].tolist() == [0.5] * len(few)
    assert (few.solver, few.reason) == ("sgd", "asked for")
    assert history.iterates.shape == (9, 3)


@SETTINGS
@given(n=st.integers(0, 200), capacity=st.integers(2, 40))
def test_a_history_is_made_of_its_records(n, capacity):
    history = filled(n, capacity)
    again = History.of(history.records, history.stride, history.offered)
    assert again.records == history.records
    again.add(Record(step=n, passes=0.0, objective=0.0))
    history.add(Record(step=n, passes=0.0, objective=0.0))
    assert set(history["step"]) <= set(again["step"])


@pytest.mark.parametrize(("stride", "offered"), [(0, 3), (1, 4), (2, 6), (-1, 3), (1, -3), (1, 0)])
def test_records_that_cannot_be_of_one_history_are_refused(stride, offered):
    with pytest.raises(ValueError, match="3 records cannot be one in"):
        History.of(filled(3).records, stride, offered)


# --- iterates


def test_iterates_are_rows():
    history = History()
    for k in range(3):
        history.add(Record(k, k, 0.0, iterate=np.array([k, -k, 0.5])))
    np.testing.assert_array_equal(history.iterates, [[0, 0, 0.5], [1, -1, 0.5], [2, -2, 0.5]])


def test_iterates_are_empty_unless_asked_for():
    assert filled(3).iterates.shape == (0, 0)
    assert History().iterates.size == 0


def test_iterates_are_thinned_with_their_records():
    history = History(capacity=5)
    for k in range(50):
        history.add(Record(k, k, 0.0, iterate=np.array([float(k)])))
    np.testing.assert_array_equal(history.iterates[:, 0], history["step"])


@pytest.mark.parametrize("doubles", [1, 10, 100, 333])
def test_iterates_stay_within_their_bytes(monkeypatch, doubles):
    monkeypatch.setattr(module, "ITERATE_BYTES", 8000)
    history = History()
    for k in range(300):
        history.add(Record(k, k, 0.0, iterate=np.full(doubles, float(k))))
        assert history.iterates.nbytes <= 8000
    assert len(pickle.dumps(history)) < 8000 + 300 * len(history) + 1000  # and nothing is hidden
    assert history["step"][[0, -1]].tolist() == [0, 299]


@pytest.mark.parametrize("d", [10**5, 10**6, 10**7])
def test_large_iterates_stay_below_64_megabytes_or_three_records(d):
    history = History()
    for k in range(200):
        history.add(Record(k, k, 0.0, iterate=np.broadcast_to(0.0, d)))  # claims 8 d bytes, takes 8
    assert len(history) <= max(3, 64 * 2**20 // (8 * d))
    assert len(history) >= 3
    assert history["step"][[0, -1]].tolist() == [0, 199]


def test_small_records_that_came_first_are_thinned_when_iterates_come(monkeypatch):
    monkeypatch.setattr(module, "ITERATE_BYTES", 800)
    history = filled(100)
    history.add(Record(100, 50, 0.0, iterate=np.zeros(10)))  # room for ten of these
    assert len(history) <= 10
    assert history["step"][[0, -1]].tolist() == [0, 100]


def test_empty_iterates_are_no_division_by_zero():
    history = History()
    history.add(Record(0, 0, 0.0, iterate=np.empty(0)))
    assert history.iterates.shape == (1, 0)


# --- columns and tables


def test_columns_hold_what_was_recorded():
    history = History()
    history.add(Record(0, 0.0, 3.0))
    history.add(Record(1, 0.5, 2.0, 1.5, 0.25, 0.125, 0.1, 2.0, example=7, updates=3))
    expected = {
        "step": [0, 1],
        "passes": [0, 0.5],
        "objective": [3, 2],
        "risk": [np.nan, 1.5],
        "zero_one": [np.nan, 0.25],
        "gradient_norm": [np.nan, 0.125],
        "step_size": [np.nan, 0.1],
        "best": [np.nan, 2],
        "example": [np.nan, 7],
        "updates": [np.nan, 3],
        "error": [np.nan, np.nan],
    }
    assert tuple(expected) == COLUMNS
    for column, values in expected.items():
        np.testing.assert_array_equal(history[column], values)


@pytest.mark.parametrize("column", ["loss", "iterate", "", "Step"])
def test_unknown_column_is_refused_with_the_list_of_known_ones(column):
    with pytest.raises(KeyError, match=r"has no column .*; it has step, passes, objective, .*example"):
        filled(3)[column]


FRAMES = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.Table}
each_backend = pytest.mark.parametrize("backend", FRAMES)


def columns_of(frame):
    return frame.column_names if isinstance(frame, pa.Table) else list(frame.columns)


@each_backend
@pytest.mark.parametrize("n", [1, 30])
def test_frame_has_every_record_and_every_column_that_was_measured(backend, n):
    history = filled(n, capacity=8, example=4, zero_one=0.5)
    frame = history.to_frame(backend)
    assert type(frame) is FRAMES[backend]
    assert columns_of(frame) == ["step", "passes", "objective", "zero_one", "example"]
    for column in columns_of(frame):
        values = frame[column].to_numpy()
        np.testing.assert_array_equal(values, history[column])
        assert values.dtype.kind == ("i" if column in ("step", "example") else "f")


@each_backend
def test_frame_of_an_empty_history_has_all_columns(backend):
    assert columns_of(History().to_frame(backend)) == list(COLUMNS)


@each_backend
def test_a_row_that_caused_nothing_is_missing_in_the_frame(backend):
    history = filled(2, example=3)
    history.add(Record(2, 1.0, 0.0))
    example = history.to_frame(backend)["example"]
    values = example.to_pylist() if backend == "pyarrow" else example.to_list()
    assert values[:2] == [3, 3]
    assert values[2] is (pd.NA if backend == "pandas" else None)


@each_backend
def test_frame_has_the_iterates_on_request(backend):
    history = History()
    history.coordinates = ("w0", "b")
    for k in range(3):
        history.add(Record(k, k, 0.0, iterate=np.array([k, -k], dtype=float)))
    assert columns_of(history.to_frame(backend)) == ["step", "passes", "objective"]
    frame = history.to_frame(backend, iterates=True)
    assert columns_of(frame)[3:] == ["w0", "b"]
    np.testing.assert_array_equal(np.column_stack([frame["w0"], frame["b"]]), history.iterates)


def test_frame_is_pandas_unless_asked_otherwise():
    pd.testing.assert_frame_equal(filled(4).to_frame(), filled(4).to_frame("pandas"))


@pytest.mark.parametrize("backend", ["excel", "dask"])
def test_frame_of_an_unknown_library_is_refused(backend):
    with pytest.raises(ValueError, match=r"(?s)backend.*pandas|backend.*pyarrow"):
        filled(4).to_frame(backend)


# --- the object


def test_empty_history_is_empty():
    history = History()
    assert len(history) == 0
    assert history.records == []
    assert history["objective"].shape == (0,)


def test_records_are_a_copy_of_the_list():
    history = filled(3)
    history.records.clear()
    assert len(history) == 3


def test_numbers_not_measured_are_nan():
    record = Record(step=0, passes=0.0, objective=1.0)
    unmeasured = (record.risk, record.zero_one, record.gradient_norm, record.step_size, record.best)
    assert np.isnan(unmeasured).all()
    assert record.example is None
    assert record.iterate is None


def test_repr_says_the_solver_and_how_thin_it_is():
    history = filled(3)
    assert repr(history) == "<History of a run: 3 records>"
    assert repr(filled(1)) == "<History of a run: 1 record>"
    history.solver = "sgd"
    assert repr(history) == "<History of sgd: 3 records>"
    thin = filled(100, 10)
    assert repr(thin) == f"<History of a run: {len(thin)} records, one pair of steps in {thin.stride} kept>"


def test_history_survives_pickling():
    history = filled(100, 10)
    history.solver, history.reason = "sgd", "asked for"
    copy = pickle.loads(pickle.dumps(history))
    assert repr(copy) == repr(history)
    pd.testing.assert_frame_equal(copy.to_frame(), history.to_frame())
    copy.add(Record(100, 50.0, 0.0))  # and goes on
    assert copy["step"][-1] == 100
