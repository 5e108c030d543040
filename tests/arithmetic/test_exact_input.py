"""Numbers that do not fit into a double: refused by name wherever a verdict is exact, and only there."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from linsep import HardMarginSVC, LogisticRegression, Perceptron, ZeroOneClassifier, separability, verify
from linsep.arithmetic.exact import check_plane, sides
from linsep.arithmetic.exact_input import refuse_inexact

ODD = 2**53 + 1
THIRD = np.longdouble(1) / 3
wide = pytest.mark.skipif(np.finfo(np.longdouble).nmant <= 52, reason="longdouble is a double on this machine")

#: Data of two rows whose second number of the second row is no double.
MISFITS = {
    "int64": np.array([[1, 2], [3, ODD]]),
    "uint64": np.array([[1, 2], [3, 2**64 - 1]], dtype=np.uint64),
    "most negative": np.array([[1, 2], [3, -(2**63) + 1]]),
    "list": [[1, 2], [3, ODD]],
    "whole numbers among floats": [[0.5, 2], [3, ODD]],
    "larger than any float": [[1, 2], [3, 10**400]],
    "Fraction": [[1, 2], [3, Fraction(1, 3)]],
    "Decimal": [[1, 2], [3, Decimal("0.1")]],
    "tiny Decimal": [[1, 2], [3, Decimal("1e-99999999")]],
    "objects": np.array([[1.0, 2], [3, ODD]], dtype=object),
    "csr_matrix": sparse.csr_matrix(np.array([[1, 2], [3, ODD]])),
    "csc_array": sparse.csc_array(np.array([[1, 2], [3, ODD]])),
    "DataFrame": pd.DataFrame({"x0": [0.5, 1.5], "x1": [1, ODD]}),
    "nullable": pd.DataFrame({"x0": [0.5, 1.5], "x1": pd.array([1, ODD], dtype="Int64")}),
    "Arrow": pa.table({"x0": [0.5, 1.5], "x1": [1, ODD]}),
    "longdouble": pytest.param(np.array([[1, 2], [3, THIRD]]), marks=wide),
    "longdouble in a list": pytest.param([[1, 2], [3, THIRD]], marks=wide),
}
TABLES = [value if hasattr(value, "marks") else pytest.param(value, id=name) for name, value in MISFITS.items()]


@pytest.mark.parametrize("X", TABLES)
def test_m13_a_number_that_is_no_double_is_refused_by_row_column_and_value(X):
    with pytest.raises(ValueError, match=r"^X has (\S+|a number of \d+ bits) in row 1, column x1, which is no 64-bit"):
        refuse_inexact(X)


@pytest.mark.parametrize("X", TABLES)
@pytest.mark.parametrize("model", [HardMarginSVC(), ZeroOneClassifier(), Perceptron()], ids=str)
def test_m13_who_promises_exactness_refuses_it(model, X):
    with pytest.raises(ValueError, match="in row 1, column x1, which is no 64-bit float"):
        model.fit(X, [0, 1])


@pytest.mark.parametrize("X", TABLES)
def test_m13_separability_refuses_it(X):
    with pytest.raises(ValueError, match="in row 1, column x1, which is no 64-bit float"):
        separability(X, [0, 1])
    with pytest.raises(ValueError, match="in row 1, column x1, which is no 64-bit float"):
        separability([[1.0, 2.0], [3.0, 4.0]], [0, 1]).verify(X, [0, 1])


def test_m13_the_checks_refuse_it():
    X = np.array([[1, 2], [3, ODD]])
    for check in (lambda: sides(X, [-1, 1], [1.0, 1.0, 0.0]), lambda: check_plane(X, [-1, 1], [1.0, 1.0])):
        with pytest.raises(ValueError, match="9007199254740993 in row 1, column x1"):
            check()


@pytest.mark.parametrize("model", [HardMarginSVC(), ZeroOneClassifier(), Perceptron()], ids=str)
def test_m13_verify_refuses_it_too(model):
    # 2**53 and 2**53 + 1 are the same double: on the numbers that are given the classes differ, or do not
    X, y = np.array([[-(2.0**53)], [2.0**53]]), [0, 1]
    model.fit(X, y)
    assert verify(model, X, y)
    with pytest.raises(ValueError, match="9007199254740993 in row 1, column x0"):
        verify(model, np.array([[-(2**53)], [ODD]]), y)


@pytest.mark.parametrize("weights", [[1, ODD], [1.0, Fraction(1, 3)], [1, Decimal("0.1")], pd.Series([1, ODD])])
def test_m13_weights_that_are_no_doubles_are_refused(weights):
    X, y = [[0.0], [1.0]], [0, 1]
    with pytest.raises(ValueError, match=r"sample_weight has \S+ in row 1, which is no 64-bit float"):
        ZeroOneClassifier().fit(X, y, sample_weight=weights)
    with pytest.raises(ValueError, match=r"sample_weight has \S+ in row 1, which is no 64-bit float"):
        verify(ZeroOneClassifier().fit(X, y, sample_weight=[1.0, 2.0]), X, y, weights)
    with pytest.raises(ValueError, match="class_weight has 1/3, which is no 64-bit float"):
        ZeroOneClassifier(class_weight={0: Fraction(1, 3), 1: 1}).fit(X, y)


GOOD = [[1, 2**60], [3, 4]]


@pytest.mark.parametrize(
    "X",
    [
        np.array(GOOD),
        np.array(GOOD, dtype=np.uint64),
        np.array(GOOD, dtype=object),
        np.array(GOOD, dtype=np.longdouble),
        [[1.0, Fraction(2**60)], [Decimal(3), np.float32(4)]],
        sparse.csr_array(np.array(GOOD)),
        pd.DataFrame(GOOD, columns=["a", "b"]),
    ],
    ids=["int64", "uint64", "object", "longdouble", "mixed", "sparse", "DataFrame"],
)
def test_m13_what_fits_is_taken_as_it_is(X):
    assert separability(X, [0, 1]).separable
    expected = HardMarginSVC().fit(np.array(GOOD, dtype=float), [0, 1])
    np.testing.assert_array_equal(HardMarginSVC().fit(X, [0, 1]).coef_, expected.coef_)
    assert ZeroOneClassifier().fit(X, [0, 1]).n_mistakes_ == 0


@pytest.mark.parametrize("dtype", [bool, np.float16, np.float32, np.int8, np.uint32])
def test_narrow_numbers_are_all_doubles(dtype):
    refuse_inexact(np.array([[0, 1], [1, 0]]).astype(dtype))


def test_what_is_no_number_is_left_to_others():
    refuse_inexact([[None], [np.nan], [{}]])
    refuse_inexact([[1.0], [2.0, 3.0]])
    refuse_inexact(np.array([[np.nan, np.inf, Decimal("NaN"), Decimal("Infinity")]]))
    refuse_inexact(np.empty((0, 2)))


def test_text_and_dates_are_refused_by_name():
    for value in ("1.5", b"2", np.datetime64("2024-01-01"), np.timedelta64(3, "s")):
        with pytest.raises(ValueError, match="in row 1, column x0, which is no number"):
            refuse_inexact(np.array([[1.0], [value]], dtype=object))


def test_who_promises_a_gap_reads_the_data_as_doubles():
    X, y = [[1, 2], [3, ODD], [Fraction(1, 3), 0], [4, ODD]], [0, 1, 0, 1]
    model, rounded = LogisticRegression().fit(X, y), np.array(X, dtype=float)
    np.testing.assert_array_equal(model.coef_, LogisticRegression().fit(rounded, y).coef_)
    assert verify(model, X, y)


@given(st.integers() | st.fractions() | st.floats(allow_nan=False, allow_infinity=False).map(Fraction))
def test_a_number_is_refused_if_and_only_if_its_double_is_another(value):
    try:
        fits = Fraction(float(value)) == value
    except OverflowError:
        fits = False
    if fits:
        refuse_inexact([value])
    else:
        with pytest.raises(ValueError, match="which is no 64-bit float"):
            refuse_inexact([value])
