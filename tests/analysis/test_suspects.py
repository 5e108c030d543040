"""What to watch out for: planted in data, found and named; and not seen where there is none."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.tree import DecisionTreeClassifier

from linsep.analysis.suspects import (
    GLANCE,
    MEASURED,
    _balanced_errors,
    _mistakes,
    _SparseColumns,
    evenly,
    suspects,
)


def noise(n=300, d=4, seed=0):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, d)), rng.choice(["no", "yes"], n)


def kinds(*arguments, **more):
    return [suspect.kind for suspect in suspects(*arguments, **more)]


def test_real_data_without_faults_raise_no_doubt_about_the_answer():
    X, y = load_digits(return_X_y=True)
    assert "leak" not in kinds(X, y)
    X, y = load_breast_cancer(return_X_y=True)
    assert "leak" not in kinds(X, y)
    assert kinds(*noise()) == []


@pytest.mark.parametrize("n", [300, 3 * GLANCE])
@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
def test_a_column_that_is_the_answer_is_named(n, container):
    X, y = noise(n)
    X = np.abs(X)
    X[:, 2] = np.where(y == "yes", 3.0, 0.0)
    (found,) = suspects(container(X), y, names=list("abcd"))
    assert (found.kind, found.columns) == ("leak", ("c",))
    assert f"{n:,} of {n:,} rows right" in found.message


def test_a_rare_class_is_not_given_away_by_a_constant():
    X, y = noise(4000)
    y = np.where(np.arange(4000) % 500 == 0, "yes", "no")
    assert kinds(X, y) == ["imbalance"]


def test_a_class_of_one_row_is_not_given_away_by_the_word_that_only_it_has():
    X, y = noise(400)
    X = sparse.csr_array(np.where(np.eye(400, 60) > 0, 1.0, 0.0))
    y = np.where(np.arange(400) == 7, "one", np.where(np.arange(400) % 2, "two", "three"))
    found = [suspect for suspect in suspects(X, y) if suspect.kind == "leak"]
    assert found == []


def test_one_of_many_classes_given_away():
    X, _ = noise(900)
    y = np.arange(900) % 3
    X[:, 1] = (y == 2) + 0.1 * np.random.default_rng(1).random(900)
    (found,) = suspects(X, y)
    assert found.columns == ("x1",)
    assert "tells 2 from the rest" in found.message


@given(st.lists(st.tuples(st.integers(0, 4), st.booleans()), min_size=2, max_size=20))
def test_the_fewest_mistakes_of_a_threshold_are_a_stumps(points):
    x, is_k = np.array([[float(value)] for value, _ in points]), np.array([mine for _, mine in points])
    brute = min(int((((x[:, 0] <= t) == side) != is_k).sum()) for t in [-1.0, *np.unique(x)] for side in (True, False))
    assert _mistakes(x, is_k) == brute
    stump = DecisionTreeClassifier(max_depth=1).fit(x, is_k)
    assert _mistakes(x, is_k) <= (stump.predict(x) != is_k).sum()


def test_levels_of_one_category_are_not_called_collinear_but_copies_are():
    X, y = noise(200, 3)
    X[:, 0] = X[:, 1] > 0
    X[:, 1] = 1.0 - X[:, 0]
    names = ["sex = f", "sex = m", "age"]
    assert kinds(X, y, names=names, sources=["sex", "sex", "age"]) == []
    X = np.c_[X, 2.54 * X[:, 2]]
    (found,) = suspects(X, y, names=[*names, "age in cm"], sources=["sex", "sex", "age", "age in cm"])
    assert (found.kind, found.columns) == ("collinear", ("age", "age in cm"))


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
def test_a_column_that_says_the_opposite_has_a_negative_correlation(container):
    (X, y), flag = noise(d=2), np.arange(300.0) % 3 == 0
    X = container(np.column_stack([X, flag, ~flag]))
    (found,) = suspects(X, y, names=["a", "b", "who = man", "adult_male = False"])
    assert found.message.startswith("'who = man' and 'adult_male = False' say the same (correlation -1.0000)")


def test_two_categories_that_say_the_same_are_told_with_how_many_levels_do():
    town, y = np.arange(300) % 4, noise()[1]
    levels = (town[:, None] == np.arange(4)).astype(float)
    names = [f"{column} = {level}" for column in ("town", "zip") for level in range(4)]
    found = suspects(np.hstack([levels, levels]), y, names=names, sources=["town"] * 4 + ["zip"] * 4)
    (message,) = [one.message for one in found if one.kind == "collinear"]
    assert message == (
        "'town = 0' and 'zip = 0' say the same (correlation 1.0000), as do 3 more pairs of features of 'town' and "
        "'zip': their weights mean little apart"
    )


def test_constant_and_huge_columns_are_no_copies_of_each_other():
    X, y = noise()
    X[:, 0], X[:, 1] = 1e200, 0.1
    assert kinds(X, y) == []
    X[5] = X[6]
    y[5], y[6] = "no", "yes"
    assert kinds(X, y) == ["contradiction"]


def test_rows_that_differ_by_a_bit_are_not_equal():
    X, y = noise(2)
    X[1] = X[0]
    y[:] = "no", "yes"
    assert "contradiction" in kinds(X, y)
    X[1, 3] = np.nextafter(X[0, 3], 9.0)
    assert "contradiction" not in kinds(X, y)


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
def test_equal_rows_with_different_labels(container):
    X, y = noise()
    X[17] = X[250]
    y[17], y[250] = "no", "yes"
    (found,) = suspects(container(X), y)
    assert found.kind == "contradiction"
    assert found.message.startswith("2 rows are equal to one with another label (rows 18 and 251,")


def test_a_column_that_carries_the_weight():
    X, y = noise()
    (found,) = suspects(X, y, coef=[0.1, -20.0, 0.1, 0.1])
    assert (found.kind, found.columns) == ("dominates", ("x1",))
    assert kinds(X, y, coef=[1.0, -2.0, 1.0, 1.0]) == []


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
def test_of_many_rows_some_tell_the_scale_and_all_are_looked_through_for_contradictions(container):
    n = 2 * MEASURED
    X, y = noise(n, 3)
    X[:, 2] = 0.0
    assert not np.isin([7, n - 7], evenly(n, MEASURED)).any()
    X[[7, n - 7], 2] = 1e12
    X[n - 7], y[[7, n - 7]] = X[7], ["no", "yes"]
    found = suspects(container(X), y, names=list("abc"), coef=[9.0, 1.0, 0.0])
    assert [suspect.kind for suspect in found] == ["dominates", "contradiction"]
    assert "'a' carries 90%" in found[0].message
    assert f"rows 8 and {n - 6:,}," in found[1].message


# -- rows and columns of a file ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [300, 3 * GLANCE])
def test_a_threshold_that_gives_the_answer_away_is_found_in_a_sparse_matrix(n):
    """A date beside a text column: standardised, so that zero or not says nothing."""
    rng = np.random.default_rng(3)
    day, words = rng.standard_normal(n), sparse.random_array((n, 50), density=0.05, random_state=rng)
    X = sparse.csr_array(sparse.hstack([words, sparse.csr_array(day[:, None])]))
    names = [*(f"text: {k}" for k in range(50)), "closed in days"]
    (found,) = suspects(X, np.where(day > 0.3, "yes", "no"), names=names)
    assert (found.kind, found.columns) == ("leak", ("closed in days",))


@given(st.lists(st.tuples(st.sampled_from([-2.0, -1.0, 0.0, 0.5, 3.0]), st.booleans()), min_size=2, max_size=20))
def test_thresholds_on_sparse_columns_are_those_on_dense_ones(points):
    x, is_k = np.array([[value, -value, 0.0] for value, _ in points]), np.array([mine for _, mine in points])
    if not is_k.any() or is_k.all():
        return
    dense, thin = _balanced_errors(x, is_k), _balanced_errors(_SparseColumns(sparse.csr_array(x)), is_k)
    np.testing.assert_allclose(thin, dense, atol=1e-12)


def test_rows_that_only_the_encoding_makes_equal_are_not_called_equal():
    X, y = noise(60)
    X[[3, 9]], X[[20, 40, 50]] = X[5], X[21]
    y[[3, 5, 9]], y[[20, 21, 40, 50]] = ["no", "yes", "no"], ["no", "yes", "yes", "yes"]
    names = np.arange(60)
    names[5] = names[3]  # rows 4 and 6 are equal in the file, row 10 is called otherwise
    found = suspects(X, y, file_rows=lambda rows: {"age": 0 * rows, "name": names[rows]})
    assert [suspect.kind for suspect in found] == ["contradiction", "encoded alike"]
    assert found[0].message.startswith("2 rows are equal to one with another label (rows 4 and 6,")
    assert found[1].message.startswith("5 rows differ from one with another label only in what the encoding leaves out")
    assert "(rows 10 and 6, counted from 1, in 'name')" in found[1].message


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
def test_a_column_gives_the_answer_away_though_some_rows_are_there_with_the_other_label_too(container):
    X, y = noise(300, 3)
    X[:, 1] = y == "yes"
    X, y = np.r_[X, X[:6]], np.r_[y, np.where(y[:6] == "yes", "no", "yes")]
    assert _balanced_errors(X[:, [1]], y == "yes")[0] > 0.005
    found = suspects(container(X), y, names=["a", "called back", "b"])
    assert [one.kind for one in found] == ["leak", "contradiction"]
    assert "'called back' alone tells yes from the rest (300 of 306 rows right)" in found[0].message


def test_rows_with_both_labels_do_not_make_a_leak_of_a_column_that_is_often_wrong():
    X = np.array([[0.0], [1.0]] * 30 + [[2.0]] * 5)
    y = np.r_[np.repeat([0, 1], 30), np.ones(5, dtype=int)]
    assert "leak" not in kinds(X, y)


def test_two_rows_alike_are_no_collinear_columns():
    X, y = noise(200, 4)
    X[:, 2:] = 0.0
    X[:2, 2:] = 1.0
    assert kinds(X, y) == []
    X[:9, 2:] = 1.0
    assert kinds(X, y) == ["collinear"]


def test_class_weights_are_advised_only_where_there_are_none():
    X, y = noise(4000)
    y = np.where(np.arange(4000) % 500 == 0, "yes", "no")
    (plain,), (weighted,) = suspects(X, y), suspects(X, y, weighted=True)
    assert plain.message.endswith("look at balanced accuracy, and consider balanced class weights (--balanced)")
    assert weighted.message.endswith("look at balanced accuracy")
