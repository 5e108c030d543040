"""The checker: it accepts what is true, to the last bit, and refuses every proof that was tampered with."""

import ast
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import sparse

import linsep
from linsep import separability
from linsep._common import structure
from linsep.arithmetic import exact, exact_input
from linsep.exact import (
    Clock,
    ProofTimeoutError,
    check_overlap,
    check_plane,
    check_support,
    depends,
    mantissas,
    margin_bounds,
    sides,
)

HALF, ONE = Fraction(1, 2), Fraction(1)
finite = st.floats(allow_nan=False, allow_infinity=False)
moderate = st.floats(-100, 100)


BELOW = [Path(structure.__file__), Path(exact_input.__file__)]
CHECKER = [*BELOW, *sorted(Path(exact.__file__).parent.glob("*.py"))]


@pytest.mark.parametrize("file", CHECKER, ids=lambda file: file.name)
def test_the_checker_imports_nothing_of_linsep_but_the_refusal_of_inexact_numbers(file):
    own = {path.stem for path in CHECKER[2:]}
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.ImportFrom):
            assert (
                node.level == 0
                or (node.level == 1 and file in CHECKER[2:] and node.module in own)
                or (
                    node.level == 2
                    and file != BELOW[0]
                    and node.module == ("_common.structure" if file in BELOW else "exact_input")
                )
            )
            assert not (node.module or "").startswith("linsep")
        if isinstance(node, ast.Import):
            assert all(not name.name.startswith("linsep") for name in node.names)


@given(value=finite)
def test_a_float_is_a_whole_number_times_a_power_of_two(value):
    m, e = (int(part[0]) for part in mantissas(np.array([value])))
    assert Fraction(m) * Fraction(2) ** e == Fraction(value)
    assert m == 0 or m % 2 == 1


def by_hand(X, y, theta, intercept):
    rows = [[*row, 1.0] if intercept else list(row) for row in X.tolist()]
    sums = [sum((Fraction(a) * Fraction(t) for a, t in zip(row, theta, strict=True)), Fraction(0)) for row in rows]
    return [int(label) * ((s > 0) - (s < 0)) for s, label in zip(sums, y, strict=True)]


@pytest.mark.slow
@given(
    data=st.data(),
    n=st.integers(1, 5),
    d=st.integers(1, 4),
    intercept=st.booleans(),
    numbers=st.sampled_from([finite, moderate]),
)
@settings(max_examples=150, deadline=None)
def test_sides_are_exact_for_any_floats(data, n, d, intercept, numbers):
    X = np.array(data.draw(st.lists(st.lists(numbers, min_size=d, max_size=d), min_size=n, max_size=n)))
    y = np.array(data.draw(st.lists(st.sampled_from([-1, 1]), min_size=n, max_size=n)))
    theta = data.draw(st.lists(numbers, min_size=d + intercept, max_size=d + intercept))
    expected = by_hand(X, y, theta, intercept)
    assert sides(X, y, theta, intercept=intercept).tolist() == expected
    assert sides(X, y, np.array(theta), intercept=intercept).tolist() == expected
    assert sides(sparse.csr_matrix(X), y, theta, intercept=intercept).tolist() == expected
    exactly = [Fraction(value) / 3 for value in theta]
    assert sides(X, y, exactly, intercept=intercept).tolist() == expected


def test_sides_tell_what_rounding_hides():
    X, y = np.array([[0.1, 0.2, 0.3]]), [1]
    assert 0.1 + 0.2 - 0.3 != 0  # in floats; the decimals would cancel
    assert sides(X, y, [1.0, 1.0, -1.0], intercept=False).tolist() == by_hand(X, y, [1.0, 1.0, -1.0], False)
    third = [Fraction(1, 3), Fraction(-1)]
    assert sides([[3.0], [np.nextafter(3.0, 4.0)]], [1, 1], third).tolist() == [0, 1]


def test_huge_and_tiny_numbers_do_not_overflow_into_a_wrong_verdict():
    X = np.array([[1.7e308, 1.7e308, -1.7e308], [5e-324, 5e-324, -5e-324]])
    assert sides(X, [1, 1], [1.0, 1.0, 1.9], intercept=False).tolist() == [1, 1]
    assert sides(X, [1, 1], [1.0, 1.0, 2.1], intercept=False).tolist() == [-1, -1]
    assert sides(X, [1, 1], [1.0, 1.0, 2.0], intercept=False).tolist() == [0, 0]


def test_a_plane_is_refused_with_the_row_that_it_gets_wrong():
    X, y = [[0.0], [1.0], [2.0]], [-1, 1, 1]
    assert check_plane(X, y, [1.0], -0.5)
    assert check_plane(X, y, [1.0], -1.0).reason == "row 1 is on the plane"
    assert check_plane(X, y, [1.0], -1.0, strict=False)
    assert check_plane(X, y, [1.0], -3.0, strict=False).reason == "row 1 is on the wrong side"
    assert not check_plane(X, y, [0.0], 0.0, strict=False)
    assert not check_plane(X, y, [1.0, 1.0], 0.0)
    assert not check_plane(X, y, [np.nan], 0.0)


def test_an_overlap_proof_is_refused_with_the_reason():
    X, y = [[0.0], [1.0], [2.0]], [-1, 1, -1]
    assert check_overlap(X, y, [0, 1, 2], [HALF, ONE, HALF])
    refused = {
        "differ in column 0": ([0, 1, 2], [Fraction(1, 3), ONE, Fraction(2, 3)]),
        "sum to 3/2": ([0, 1, 2], [HALF, ONE, ONE]),
        "different rows": ([0, 0, 1], [HALF, HALF, ONE]),
        "rows, from 0 to 2": ([0, 1, 3], [HALF, ONE, HALF]),
        "not a positive rational": ([0, 1, 2], [HALF, ONE, Fraction(0)]),
        "positive rational": ([0, 1, 2], [0.5, 1.0, 0.5]),
        "no proof": ([0, 1], [ONE]),
    }
    for reason, (points, weights) in refused.items():
        assert reason in check_overlap(X, y, points, weights).reason
    assert not check_overlap(X, [-1, 1, 1], [0, 1, 2], [HALF, ONE, HALF])


def random_overlap(seed, n, d):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    y = rng.choice([-1, 1], n)
    y[:2] = -1, 1
    return X, y


@given(seed=st.integers(0, 2**32 - 1), d=st.integers(1, 4), data=st.data())
@settings(max_examples=60, deadline=None)
def test_m13_a_proof_that_is_changed_anywhere_is_refused(seed, d, data):
    X, y = random_overlap(seed, 8 * d + 8, d)
    proof = separability(X, y)
    assume(proof.verdict == "overlap")
    points, weights = list(proof.points), list(proof.weights)
    assert check_overlap(X, y, points, weights)
    k = data.draw(st.integers(0, len(points) - 1))
    change = data.draw(st.sampled_from(["weight", "last bit of a value", "label", "point", "two weights"]))
    other = X.copy()
    if change == "weight":
        weights[k] += Fraction(1, 10**40)
    elif change == "two weights":  # the sums still agree, the points no longer do
        mates = [j for j in range(len(points)) if j != k and y[points[j]] == y[points[k]]]
        assume(mates)
        weights[k] *= 1 - Fraction(1, 10**30)
        weights[mates[0]] += proof.weights[k] - weights[k]
    elif change == "last bit of a value":
        other[points[k], 0] = np.nextafter(other[points[k], 0], np.inf)
    elif change == "label":
        y = y.copy()
        y[points[k]] *= -1
    else:
        points[k] = next(i for i in range(len(y)) if i not in points)
    assert not check_overlap(other, y, points, weights)
    assert not check_support(other, y, points, weights)


def test_points_that_do_not_span_the_data_exclude_no_weak_plane():
    X, y = [[0.0, 0.0], [1.0, 0.0], [2.0, 0.0], [0.0, 1.0]], [-1, 1, -1, 1]
    proof = [0, 1, 2], [HALF, ONE, HALF]
    assert check_overlap(X, y, *proof)
    assert "span 2 of 3 dimensions" in check_support(X, y, *proof).reason
    assert "column 1 is not the combination" in check_support(X, y, *proof, {1: {}}).reason
    assert check_support(X[:3], y[:3], *proof, {1: {}})
    circular = {0: {1: ONE}, 1: {0: ONE}}
    assert "depend on others" in check_support(X[:3], y[:3], *proof, circular).reason


def test_columns_depend_exactly_or_not_at_all():
    X = np.array([[1.0, 0.1], [3.0, 0.3], [10.0, 1.0]])
    assert not depends(X, 1, {0: Fraction(1, 10)})  # 0.1 is not a tenth
    assert depends(X[:, [0, 0]] * [1.0, 2.0**-900], 1, {0: Fraction(1, 2**900)})
    assert depends(np.array([[2.0, 3.0], [4.0, 5.0]]), 1, {0: ONE, 2: ONE})  # column 2 is the constant
    assert depends(sparse.csr_matrix(X[:, [0, 0]]), 1, {0: ONE})


@given(seed=st.integers(0, 1000), d=st.integers(1, 4))
@settings(max_examples=30, deadline=None)
def test_margin_bounds_enclose_what_fractions_give(seed, d):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((8, d))
    y, w, b = rng.permutation([1.0] * 4 + [-1.0] * 4), rng.standard_normal(d), rng.standard_normal()
    beta = rng.uniform(0.1, 1.0, 8)
    low, high = margin_bounds(X, y, w, b, range(8), beta)
    z = [
        int(t) * (sum(Fraction(a) * Fraction(c) for a, c in zip(x, w, strict=True)) + Fraction(b))
        for x, t in zip(X.tolist(), y, strict=True)
    ]
    length = sum(Fraction(c) ** 2 for c in w)
    assert low == pytest.approx(float(min(z)) / float(length) ** 0.5, rel=1e-12)
    assert (Fraction(low) ** 2 * length - min(z) ** 2) * (1 if min(z) > 0 else -1) <= 0
    p, q = (X[y == t].T @ (beta[y == t] / beta[y == t].sum()) for t in (1, -1))
    assert high == pytest.approx(np.linalg.norm(p - q) / 2, rel=1e-9)


def test_bad_data_are_an_error():
    with pytest.raises(ValueError, match="finite"):
        sides([[np.nan]], [1], [1.0], intercept=False)
    with pytest.raises(ValueError, match="label −1 or \\+1"):
        sides([[1.0]], [2], [1.0], intercept=False)
    with pytest.raises(ValueError, match="9007199254740993 in row 0, column x0"):
        sides(np.array([[2**53 + 1]]), [1], [1.0], intercept=False)
    with pytest.raises(ValueError, match="rows and columns"):
        sides([1.0], [1], [1.0])
    with pytest.raises(ValueError, match="which is no number"):
        sides(np.array([["a"]]), [1], [1.0])
    with pytest.raises(ValueError, match="time_limit=-1"):
        Clock(-1)


def test_time_is_bounded_and_the_message_says_so():
    X, y = random_overlap(0, 40, 3)
    proof = linsep.separability(X, y)
    with pytest.raises(ProofTimeoutError, match="undecided within time_limit=0 s"):
        proof.verify(X, y, time_limit=0.0)
    with pytest.raises(ProofTimeoutError, match="undecided within time_limit=0 s"):
        separability(X, y, time_limit=0.0)


# -- margins at any scale ---------------------------------------------------------------------------------------------

scales = st.sampled_from([2.0**-1074, 1e-300, 1e-160, 1e-8, 1.0, 1e8, 1e150, 1e300])


def exact_squares(X, y, w, b, beta):
    """The least yᵢ(w·xᵢ + b), ‖w‖² and ‖p − q‖², in fractions."""
    rows = [[Fraction(x) for x in row] for row in X.tolist()]
    w, b = [Fraction(c) for c in w.tolist()], Fraction(b)
    z = [int(t) * (sum(a * c for a, c in zip(x, w, strict=True)) + b) for x, t in zip(rows, y, strict=True)]
    total = {t: sum(Fraction(c) for c, label in zip(beta, y, strict=True) if label == t) for t in (1.0, -1.0)}
    shares = [Fraction(c) * int(t) / total[t] for c, t in zip(beta, y, strict=True)]
    apart = [sum(share * row[j] for share, row in zip(shares, rows, strict=True)) for j in range(X.shape[1])]
    return min(z), sum(c**2 for c in w), sum(c**2 for c in apart)


@given(seed=st.integers(0, 1000), d=st.integers(1, 3), of_X=scales, of_w=scales, of_b=scales)
@settings(max_examples=80, deadline=None)
def test_m14_margin_bounds_hold_at_any_scale_and_are_the_nearest_floats(seed, d, of_X, of_w, of_b):
    rng = np.random.default_rng(seed)
    X, w = np.round(rng.standard_normal((6, d)), 2) * of_X, (1 + rng.random(d)) * of_w
    y, b, beta = rng.permutation([1.0] * 3 + [-1.0] * 3), rng.standard_normal() * of_b, rng.uniform(0.1, 1.0, 6)
    z, length, apart = exact_squares(X, y, w, b, beta)
    low, high = margin_bounds(X, y, w, b, range(6), beta)

    def above(value, square):  # whether value > ±√square
        return value > 0 and Fraction(value) ** 2 > square

    if z >= 0:
        assert not above(low, z**2 / length)
        assert low == np.finfo(float).max or above(float(np.nextafter(low, np.inf)), z**2 / length)
    else:
        assert low == -np.inf or Fraction(low) ** 2 * length >= z**2
    assert high == np.inf or Fraction(high) ** 2 * 4 >= apart
    assert high == 0 or Fraction(float(np.nextafter(high, 0.0))) ** 2 * 4 < apart


def test_m14_the_length_of_a_tiny_plane_does_not_round_its_margin_up():
    tiny = 2.0**-1074  # times √2 it rounds to itself
    X, w = np.array([[-1.0, -1.0], [1.0, 1.0]]), np.array([tiny, tiny])
    low, high = margin_bounds(X, [-1, 1], w, 0.0, [0, 1], [1.0, 1.0])
    assert low <= np.sqrt(2.0) <= high
    assert high - low <= 2.0**-51


def test_m14_planes_and_weights_that_are_no_numbers_bound_nothing():
    X, y, w = [[0.0], [2.0]], [-1, 1], np.array([1.0])
    with pytest.raises(ValueError, match="finite"):
        margin_bounds(X, y, w, np.inf, [0, 1], [1.0, 1.0])
    with pytest.raises(ValueError, match="finite"):
        margin_bounds(X, y, w, -1.0, [0, 1], [1.0, np.nan])
