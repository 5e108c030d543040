"""What `to_json` writes, `from_json` reads back to the bit; nothing else is read."""

import json
import struct
from contextlib import suppress

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from scipy import sparse

from linsep import losses, penalties, schedules, solvers, stopping
from linsep.persistence.json_values import from_json, to_json


def through_text(value):
    return from_json(json.loads(json.dumps(to_json(value), allow_nan=False)))


def bits(value):
    return struct.pack("<d", value)


@given(st.floats())
def test_floats_keep_their_bits(value):
    again = through_text(value)
    assert type(again) is float
    assert bits(again) == bits(value) or (np.isnan(again) and np.isnan(value))


keys = st.text() | st.integers() | st.booleans()
plain = st.none() | keys | st.floats(allow_nan=False)
nested = st.recursive(
    plain, lambda inner: st.lists(inner) | st.tuples(inner, inner) | st.dictionaries(keys, inner), max_leaves=20
)


@given(nested)
def test_nested_settings_come_back_with_their_types(value):
    again = through_text(value)
    assert again == value
    assert repr(again) == repr(value)  # 1, 1.0 and True are equal


DTYPES = st.sampled_from([np.float64, np.float32, np.int64, np.int32, np.uint8, np.bool_])


@given(DTYPES.flatmap(lambda dtype: arrays.arrays(dtype, arrays.array_shapes(min_dims=1, max_dims=3, min_side=0))))
def test_arrays_come_back_bit_for_bit(array):
    again = through_text(array)
    assert again.dtype == array.dtype
    assert again.shape == array.shape
    np.testing.assert_array_equal(again, array)
    assert again.tobytes() == array.tobytes() or np.isnan(array).any()


def test_text_arrays_and_arrays_of_objects_keep_their_type():
    text = through_text(np.array(["no", "yes"]))
    assert text.dtype == "<U3"
    mixed = through_text(np.array(["a", 1, 2.5, True], dtype=object))
    assert [type(item) for item in mixed] == [str, int, float, bool]


def test_sparse_matrices_come_back():
    matrix = sparse.random(7, 5, density=0.3, format="csr", random_state=0, dtype=np.float32)
    again = through_text(matrix)
    assert again.dtype == matrix.dtype
    assert (again != matrix).nnz == 0


OBJECTS = [
    *(loss() for loss in losses.LOSSES.values()),
    penalties.L1(),
    penalties.L2(),
    penalties.NoPenalty(),
    penalties.ElasticNet(0.3),
    penalties.Penalty(0.25, 2.0),
    *(schedule() for schedule in schedules.SCHEDULES.values()),
    *(rule() for rule in stopping.RULES.values()),
    *(solver() for solver in solvers.SOLVERS.values()),
    solvers.GradientDescent(
        schedule=schedules.InverseSqrt(0.3), stopping=[stopping.ParameterChange(1e-7), "no_progress"]
    ),
]


@pytest.mark.parametrize("value", OBJECTS, ids=repr)
def test_objects_of_linsep_come_back(value):
    again = through_text(value)
    assert type(again) is type(value)
    assert again == value


def test_a_random_state_goes_on_where_it_was():
    state = np.random.RandomState(3)
    state.standard_normal(5)
    again = through_text(state)
    np.testing.assert_array_equal(again.randint(1000, size=20), state.randint(1000, size=20))


class OwnLoss(losses.Hinge):
    pass


@pytest.mark.parametrize(
    "value",
    [
        OwnLoss(),
        object(),
        print,
        np.array([1j]),
        np.array(["2020-01-01"], dtype="M8[D]"),
        np.array([None]),
        {1, 2},
        b"x",
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_has_no_name_cannot_be_written(value):
    with pytest.raises(ValueError, match=r"cannot say|is not of numbers|neither text"):
        to_json(value)


@pytest.mark.parametrize(
    "data",
    [
        {},
        {"a": 1, "b": 2},
        {"import": "os"},
        {"float": "1.0"},
        {"float": 3},
        {"tuple": 3},
        {"map": [1]},
        {"map": {"a": 1}},
        {"array": [1]},
        {"array": {"dtype": "float64", "shape": [3], "values": [1.0]}},
        {"array": {"dtype": "float64", "shape": [-1], "values": [1.0]}},
        {"array": {"dtype": "O", "shape": [1], "values": [1.0]}},
        {"array": {"dtype": "float64", "shape": [1], "values": ["1.0"]}},
        {"array": {"dtype": "int64", "shape": [1], "values": [1.5]}},
        {"object": {"class": "os.system", "settings": {}}},
        {"object": {"class": "losses.Hinge", "settings": []}},
        {"object": {"class": "schedules.Constant", "settings": {"eta": -1.0}}},
        {"csr": {"shape": [1, 1], "indptr": 1, "indices": 1, "data": 1}},
    ],
    ids=json.dumps,
)
def test_what_is_never_written_is_not_read(data):
    with pytest.raises((ValueError, TypeError)):
        from_json(data)


@settings(max_examples=200)
@given(st.recursive(plain, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=10))
def test_reading_anything_gives_a_value_or_an_error_of_values(data):
    with suppress(ValueError, TypeError):
        from_json(data)
