"""Separability, against Fourier and Motzkin's elimination in whole numbers, and on data that floats get wrong."""

import dataclasses
import importlib
import itertools
import pickle
from fractions import Fraction
from math import gcd

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.optimize import linprog
from sklearn.exceptions import ConvergenceWarning

import linsep
from clock import stepped_time
from linsep import LinearClassifier, LogisticRegression, NotSeparableError, Separability, SGDClassifier, separability
from linsep.exact import Clock, ProofTimeoutError
from linsep.report.proofs import told
from linsep.separation import search as separation
from linsep.separation.no_optimum import explain_no_optimum, explain_no_softmax_optimum

# -- an independent method --------------------------------------------------------------------------------------------


def primitive(row):
    divisor = gcd(*row)
    return tuple(v // divisor for v in row) if divisor > 1 else tuple(row)


def feasible(system):
    """Whether a·θ > 0 (or ≥ 0) has a solution for all (a, strict), by eliminating one unknown after the other."""
    rows = {}
    for a, strict in system:
        rows[primitive(a)] = rows.get(primitive(a), False) or strict
    for j in range(len(system[0][0])):
        above, below = ([(a, s) for a, s in rows.items() if sign * a[j] > 0] for sign in (1, -1))
        left = {a: s for a, s in rows.items() if a[j] == 0}
        for (a, s), (c, t) in itertools.product(above, below):
            row = primitive([a[j] * v - c[j] * u for u, v in zip(a, c, strict=True)])
            left[row] = left.get(row, False) or s or t
        if any(strict and not any(a) for a, strict in left.items()):
            return False
        rows = {a: s for a, s in left.items() if any(a)}
    return True


def verdict_by_elimination(X, y, intercept=True):
    A = [tuple(int(t) * int(v) for v in ([*x, 1] if intercept else x)) for x, t in zip(X, y, strict=True)]
    if feasible([(a, True) for a in A]):
        return "separable"
    weak = any(feasible([(a, i == k) for k, a in enumerate(A)]) for i in range(len(A)))
    return "quasi" if weak else "overlap"


def near_the_boundary(rng):
    """Few whole points, labelled by a plane through many of them, one label sometimes turned."""
    d, n, size = int(rng.integers(1, 4)), int(rng.integers(2, 10)), int(rng.choice([1, 2, 4]))
    X = rng.integers(-size, size + 1, (n, d))
    g = X @ rng.integers(-2, 3, d) + rng.integers(-2, 3)
    y = np.where(g > 0, 1, np.where(g < 0, -1, rng.choice([-1, 1], n)))
    if rng.random() < 0.2:
        y[rng.integers(n)] *= -1
    return X, y


def check(X, y, **settings):
    found = separability(X, y, **settings)
    assert found.verify(X, y), found.verify(X, y).reason
    d = X.shape[1] if hasattr(X, "shape") else len(X[0])
    if found.points is not None:
        assert len(found.points) <= d + 2
        labels = np.asarray(y)[found.points]
        if settings.get("fit_intercept", True):
            for label in found.classes:
                assert sum(w for w, own in zip(found.weights, labels, strict=True) if own == label) == 1
    return found


@pytest.mark.parametrize("seed", range(10))
def test_m13_the_verdict_is_that_of_exact_elimination(seed):
    rng = np.random.default_rng(seed)
    seen = dict.fromkeys(["separable", "quasi", "overlap"], 0)
    while sum(seen.values()) < 110:
        X, y = near_the_boundary(rng)
        if len(set(y.tolist())) < 2:
            continue
        intercept = bool(rng.random() < 0.75)
        found = check(X, y, fit_intercept=intercept)
        assert found.verdict == verdict_by_elimination(X, y, intercept)
        seen[found.verdict] += 1
    assert min(seen.values()) > 0


@pytest.mark.parametrize("seed", range(3))
def test_m13_exact_pivots_alone_give_the_same_verdicts(seed, monkeypatch):
    blind = lambda A, clock: (0.0, np.zeros(A.shape[1]), np.zeros(A.shape[0]))  # noqa: E731
    monkeypatch.setattr(separation, "program", blind)
    monkeypatch.setattr(separation.Search, "_quick", lambda self, view: None)
    monkeypatch.setattr(separation.Search, "_by_hulls", lambda self, view: None)
    rng = np.random.default_rng(100 + seed)
    for _ in range(100):
        X, y = near_the_boundary(rng)
        if len(set(y.tolist())) == 2:
            assert check(X, y).verdict == verdict_by_elimination(X, y)


@pytest.mark.parametrize("seed", range(3))
def test_m13_linear_programs_alone_give_the_same_verdicts(seed, monkeypatch):
    monkeypatch.setattr(separation.Search, "_quick", lambda self, view: None)
    monkeypatch.setattr(separation.Search, "_by_hulls", lambda self, view: None)
    rng = np.random.default_rng(200 + seed)
    for _ in range(100):
        X, y = near_the_boundary(rng)
        if len(set(y.tolist())) == 2:
            assert check(X, y).verdict == verdict_by_elimination(X, y)


@given(
    seed=st.integers(0, 2**32 - 1), n=st.integers(5, 60), d=st.integers(1, 6), noise=st.sampled_from([0.0, 0.1, 1.0])
)
@settings(max_examples=60, deadline=None)
def test_m13_floats_in_general_position_agree_with_a_linear_program(seed, n, d, noise):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    y = np.where(X @ rng.standard_normal(d) + noise * rng.standard_normal(n) > 0, 1, -1)
    y[:2] = -1, 1
    A = -y[:, None] * np.column_stack([X, np.ones(n)])
    program = linprog(np.zeros(d + 1), A, -np.ones(n), bounds=(None, None), method="highs")
    found = check(X, y)
    assert found.verdict == ("separable" if program.status == 0 else "overlap")
    assert check(sparse.csr_matrix(X), y).verdict == found.verdict


# -- what the data can be like ----------------------------------------------------------------------------------------


def overlap_of(rng, n=60, d=3):
    X = rng.standard_normal((n, d))
    return X, (X[:, 0] + rng.standard_normal(n) > 0).astype(int)


def test_m13_one_point_with_two_labels_is_a_proof_of_two_rows():
    X = np.random.default_rng(0).standard_normal((50, 4))
    X[40] = X[7]
    y = (X[:, 0] > 0).astype(int)
    y[40] = 1 - y[7]
    found = check(X, y)
    assert found.verdict == "overlap"
    assert found.points == [7, 40]
    assert found.weights == [1, 1]
    assert "rows 7 and 40 are the same point with different labels" in str(found)


def test_m13_quasi_separation_names_the_coefficients_that_run_to_infinity():
    X, y = overlap_of(np.random.default_rng(1))
    rare = np.zeros((60, 1))
    rare[np.flatnonzero(y)[:3]] = 1.0  # a column that only one class has
    frame = pd.DataFrame(np.hstack([X, rare]), columns=["age", "height", "weight", "smoker"])
    found = check(frame, y)
    assert found.verdict == "quasi"
    assert found.infinite == [3]
    assert found.on_plane == 57
    assert str(found).endswith("without a finite estimate unless penalised: smoker")
    assert found.plane is not None
    assert found.plane[:3] == (0, 0, 0)


def test_m13_columns_that_depend_on_others_are_no_obstacle():
    rng = np.random.default_rng(2)
    X, y = overlap_of(rng)
    dummies = np.eye(3)[rng.integers(0, 3, 60)]
    wider = np.hstack([X, dummies, np.zeros((60, 1)), X[:, :1] - X[:, 1:2], np.full((60, 1), 0.1)])
    exact = np.hstack([X, dummies, np.zeros((60, 1)), 2 * X[:, :1], np.full((60, 1), 0.1)])
    found = check(exact, y)
    assert found.verdict == "overlap"
    assert sorted(found.dependencies) == [5, 6, 7, 8] or len(found.dependencies) == 4
    assert check(wider, y).verdict == "overlap"  # x0 − x1 rounds: not quite dependent


def test_m13_standardised_columns_that_nearly_depend_are_decided_exactly():
    rng = np.random.default_rng(3)
    X, y = overlap_of(rng, 200)
    wide = np.hstack([X, np.eye(4)[rng.integers(0, 4, 200)]])
    assert check((wide - wide.mean(axis=0)) / wide.std(axis=0), y).verdict == "overlap"


def test_m13_wide_data_are_separable_unless_points_coincide():
    rng = np.random.default_rng(4)
    X, y = rng.standard_normal((20, 60)), np.arange(20) % 2
    assert check(X, y).verdict == "separable"
    assert check(np.vstack([X, X[:1]]), np.append(y, 1 - y[0])).verdict == "quasi"
    assert check(sparse.csr_matrix(X), y).verdict == "separable"


def test_m13_sparse_text_like_data_with_more_columns_than_a_linear_program_likes():
    rng = np.random.default_rng(5)
    X = sparse.random(300, 3000, density=0.01, random_state=0, format="csr")
    y = (X @ rng.standard_normal(3000) > 0).astype(int)
    assert check(X, y).verdict == "separable"
    twin = sparse.vstack([X, X[[5]]], format="csr")
    found = check(twin, np.append(y, 1 - y[5]))
    assert found.verdict == "quasi"
    assert found.points == [5, 300]


def test_m13_scales_do_not_matter():
    rng = np.random.default_rng(6)
    X, y = overlap_of(rng)
    for scale in ([1e300, 1e-300, 1.0], [5e-310, 1.0, 1e100], [2.0**60, 1.0, 2.0**-60]):
        assert check(X * scale, y).verdict == "overlap"
    clear = X @ [1.0, 2.0, 3.0] > 0
    assert check(X * [2.0**300, 2.0**-300, 1.0], clear).verdict == "separable"
    assert check(1e8 + X, clear).separable == (verdict_of_shifted(X, clear) == "separable")


def verdict_of_shifted(X, y):
    return separability((1e8 + X) - 1e8, y).verdict  # the subtraction is exact


@pytest.mark.parametrize(
    ("X", "y", "verdict"),
    [
        ([[5e-324], [1e-323], [2e-323], [4e-323]], [0, 0, 1, 1], "separable"),
        ([[5e-324], [1e-323], [2e-323], [4e-323]], [0, 1, 0, 1], "overlap"),
        ([[1e308], [1.7e308], [-1.7e308], [0.0]], [0, 1, 1, 0], "overlap"),
        ([[1e300, 1.0], [1e300, 2.0], [-1e300, 1.0], [1e308, -5.0]], [0, 1, 0, 1], "separable"),
        ([[1.0, 2.0]] * 4, [0, 1, 0, 1], "overlap"),
        ([[1.0, 2.0]] * 4 + [[2.0, 2.0]], [0, 1, 0, 1, 1], "quasi"),
        ([[0.0, 0.0], [1.0, 0.0], [2.0, 0.0]], [0, 1, 0], "overlap"),
        ([[0.1], [0.2], [0.30000000000000004]], [0, 1, 0], "overlap"),
        ([[0.0], [1.0]], [True, False], "separable"),
        ([[0.0, 0.0], [1.0, 3.0], [0.0, 1.0], [1.0, 2.0]], ["a", "b", "b", "a"], "separable"),
        ([[0.1], [0.1], [1.0]], [0, 1, 1], "quasi"),
    ],
)
def test_m13_special_data(X, y, verdict):
    assert check(X, y).verdict == verdict
    assert check(sparse.csr_matrix(np.array(X)), y).verdict == verdict
    if np.abs(X).max() < 1e30 and (np.asarray(X, dtype=np.float32) == X).all():
        assert check(np.asarray(X, dtype=np.float32), y).verdict == verdict


def test_m13_the_last_bit_decides():
    # three points on a line, the middle one moved by one unit in the last place
    X = np.array([[0.0, 0.0], [0.5, 0.5], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]])
    y = [0, 1, 0, 1, 1]
    assert check(X, y).verdict == "overlap"
    near = np.array([[0.1, 0.1], [0.3, 0.3], [0.7, 0.7]])
    assert check(near, [0, 1, 0]).verdict == "overlap"
    near[1, 1] = np.nextafter(0.3, 1)
    assert check(near, [0, 1, 0]).verdict == "separable"


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        ([[0.0]], [1], "y has 1 class"),
        ([[0.0], [1.0]], [1, 1], "y has 1 class"),
        ([[0.0], [1.0], [2.0]], [0, 1, 2], r"3 classes.*separability\(X, y == label\)"),
        ([[0.0], [np.nan]], [0, 1], "row 1"),
        ([[np.inf], [0.0]], [0, 1], "row 0"),
        (sparse.csr_matrix([[0.0], [np.nan]]), [0, 1], "row 1"),
        ([[0.0], [1.0]], [0, 1, 1], "one label for each of the 2 rows"),
        ([0.0, 1.0], [0, 1], "rows and columns"),
        (np.zeros((2, 0)), [0, 1], "nothing"),
        ([["a"], ["b"]], [0, 1], "which is no number"),
        ([[0.0], [1.0]], [0.0, np.nan], "not a finite number"),
        (np.array([[2**53 + 1], [1]]), [0, 1], "9007199254740993 in row 0, column x0"),
    ],
)
def test_bad_input_is_a_clear_error(X, y, message):
    with pytest.raises(ValueError, match=message):
        separability(X, y)


def test_a_question_too_large_for_its_time_says_that_it_is_undecided(monkeypatch):
    rng = np.random.default_rng(7)
    X, y = rng.standard_normal((900, 300)), rng.integers(0, 2, 900)
    stepped_time(monkeypatch, 0.01)
    with pytest.raises(ProofTimeoutError, match=r"undecided within time_limit=0.3 s, while working on"):
        separability(X, y, time_limit=0.3)


# -- the result -------------------------------------------------------------------------------------------------------


@given(seed=st.integers(0, 2**32 - 1), data=st.data())
@settings(max_examples=60, deadline=None)
def test_m13_results_that_are_tampered_with_are_refused(seed, data):
    rng = np.random.default_rng(seed)
    X, y = near_the_boundary(rng)
    y[:2] = -1, 1
    found = separability(X, y)
    if found.separable:
        worst = int(np.argmin(y * (X @ found.coef + found.intercept)))
        shifted = found.intercept - 2 * y[worst] * (found.coef @ X[worst] + found.intercept) * y[worst]
        plane = dataclasses.replace(found, intercept=float(shifted), plane=None)
        assert not plane.verify(X, y)
        assert not dataclasses.replace(found, verdict="overlap").verify(X, y)
        return
    wrong = [w + Fraction(1, 7) for w in found.weights]
    assert not dataclasses.replace(found, weights=wrong).verify(X, y)
    assert not dataclasses.replace(found, points=None).verify(X, y)
    if found.verdict == "quasi":
        assert not dataclasses.replace(found, verdict="separable").verify(X, y)
        lie = dict(verdict="overlap", support=found.points, support_weights=found.weights)
        assert not dataclasses.replace(found, **lie).verify(X, y)
        i = data.draw(st.integers(0, len(found.plane) - 2))
        nudged = list(found.plane)
        nudged[i] += Fraction(1, 2**200)
        on = dataclasses.replace(found, plane=tuple(nudged))
        assert not on.verify(X, y) or all(X[p][i] == 0 for p in found.points)
    else:
        assert not dataclasses.replace(found, support=found.support[:-1]).verify(X, y)
        lie = dict(verdict="quasi", coef=np.ones(X.shape[1]), intercept=0.0)
        assert not dataclasses.replace(found, **lie).verify(X, y)


def test_a_result_is_refused_on_other_labels_and_other_rows():
    X, y = overlap_of(np.random.default_rng(8))
    found = separability(X, y)
    assert not found.verify(X, np.where(y == 1, 7, 0))
    assert not found.verify(X[:-5], y)
    turned = y.copy()
    turned[found.points[0]] = 1 - turned[found.points[0]]
    assert not found.verify(X, turned)


def quasi_of(rng, n=40):
    """Whole numbers that overlap, and a column that only one class has."""
    X, y = rng.integers(-9, 10, (n, 2)).astype(float), rng.integers(0, 2, n)
    return np.column_stack([X, (np.cumsum(y) <= 2) & (y == 1)]), y


def lies_about(found, X):
    """Yield fields with one thing changed that is then false, or has no business there."""
    d = X.shape[1]
    yield dict(feature_names=[f"x{j}" for j in range(d + 1)])
    yield dict(feature_names=["x0"])
    yield dict(dependencies={0: {1: Fraction(3)}})
    yield dict(infinite=[0])
    if found.infinite != []:
        yield dict(infinite=[])
    yield dict(on_plane=found.on_plane + 1)
    if found.coef is None:
        yield dict(coef=np.ones(d), intercept=0.0)
        yield dict(margin=1.0)
        yield dict(plane=(Fraction(1),) * (d + 1))
        return
    yield dict(coef=-found.coef)
    yield dict(coef=found.coef[:-1])
    yield dict(coef=found.coef * [2.0, *[1.0] * (d - 1)] + [0.0, 1.0, *[0.0] * (d - 2)])
    yield dict(intercept=found.intercept + 1.0 if found.plane else np.nan)
    yield dict(margin=np.nextafter(found.margin, np.inf) * 1.001)
    yield dict(margin=np.inf)
    yield dict(margin=np.nan)
    yield dict(margin=-1.0)
    yield dict(margin=None)
    yield dict(coef=None)


@pytest.mark.parametrize("kind", ["separable", "quasi", "overlap"])
@pytest.mark.parametrize("intercept", [True, False])
def test_m13_numbers_that_are_not_those_of_the_plane_are_refused(kind, intercept):
    rng = np.random.default_rng(9)
    X, y = quasi_of(rng)
    if kind == "separable":
        y = X @ [1.0, 2.0, 3.0] > 0.5
    if kind == "overlap":
        X = X[:, :2]
    found = separability(X, y, fit_intercept=intercept)
    assert found.verdict == kind
    assert found.verify(X, y)
    for lie in lies_about(found, X):
        assert not dataclasses.replace(found, **lie).verify(X, y), lie
    if not intercept and kind != "overlap":
        assert not dataclasses.replace(found, intercept=1.0).verify(X, y)
    if found.separable:
        assert not dataclasses.replace(found, points=[0], weights=[Fraction(1)]).verify(X, y)


def test_m13_a_margin_is_no_more_than_the_plane_keeps_at_any_scale():
    for scale in (1.0, 1e140, 1e300, 1e-300, 5e-324):
        X, y = np.array([[0.0], [1.0], [2.0], [4.0]]) * scale, [0, 0, 1, 1]
        found = separability(X, y)
        exact = min(abs(Fraction(x) * Fraction(found.coef[0]) + Fraction(found.intercept)) for x in X[:, 0])
        assert found.verify(X, y)
        assert Fraction(found.margin) <= exact / abs(Fraction(found.coef[0]))
        assert found.margin >= scale * 1e-3 or scale == 5e-324
        for more in (1e137, np.nextafter(found.margin, np.inf) * 1.01):
            if Fraction(more) > exact / abs(Fraction(found.coef[0])):
                assert not dataclasses.replace(found, margin=more).verify(X, y)


@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=60, deadline=None)
def test_m13_the_margin_is_a_lower_bound_in_fractions(seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((12, 3)) * 10.0 ** rng.integers(-3, 4, 3)
    y = X @ rng.standard_normal(3) > 0
    y[:2] = False, True
    found = separability(X, y)
    if found.separable:
        w = [Fraction(v) for v in (found.coef if found.plane is None else found.plane[:3])]
        b = Fraction(found.intercept) if found.plane is None else found.plane[3]
        z = [
            (1 if t else -1) * (sum(Fraction(a) * v for a, v in zip(x, w, strict=True)) + b)
            for x, t in zip(X, y, strict=True)
        ]
        square = min(z) ** 2 / sum(v * v for v in w)
        assert Fraction(found.margin) ** 2 <= square <= (Fraction(found.margin) * (1 + Fraction(1, 10**8))) ** 2


def test_m13_the_intercept_is_named_among_those_without_a_finite_estimate():
    found = separability([[0.0], [1.0], [1.0], [2.0]], [0, 0, 1, 1])
    assert found.infinite == [0, 1]
    assert found.name(1) == "the intercept"
    assert separability([[1.0], [2.0]], [0, 1], fit_intercept=False).infinite == []


def test_m13_a_proof_of_finite_estimates_that_spans_too_little_is_refused():
    X, y = quasi_of(np.random.default_rng(10))
    found = separability(X, y)
    assert found.infinite == [2]
    few = dict(support=found.points, support_weights=found.weights, infinite=[0, 1, 2, 3])
    if len(found.points) < 4:
        assert not dataclasses.replace(found, **few).verify(X, y)
    assert not dataclasses.replace(found, support=None, support_weights=None).verify(X, y)
    assert dataclasses.replace(found, support=None, support_weights=None, infinite=None).verify(X, y)


def test_files_of_before_are_read_and_say_no_more_than_they_prove():
    X, y = quasi_of(np.random.default_rng(11))
    old = separability(X, y).to_dict() | {"support": None, "support_weights": None, "infinite": [2], "dependencies": []}
    read = Separability.from_dict(old)
    assert read.infinite is None
    assert read.verify(X, y)
    clear = X @ [1.0, 2.0, 3.0] > 0.5
    found = separability(X, clear)
    old = found.to_dict() | {"infinite": np.flatnonzero(found.coef).tolist(), "margin": found.margin * (1 + 1e-10)}
    assert Separability.from_dict(old).infinite == [0, 1, 2, 3]
    assert Separability.from_dict(old).verify(X, clear)
    assert not Separability.from_dict(old | {"infinite": [0]}).verify(X, clear)


def test_m13_the_weights_of_a_common_point_are_grouped_by_class():
    X, y = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]), [0, 1, 1, 0]
    said = "½ of row 0 + ½ of row 3 = ½ of row 1 + ½ of row 2 = (0.5, 0.5)"
    for rows in (X, sparse.csr_array(X)):
        assert str(separability(rows, y)).endswith(said)
    read = Separability.from_dict(separability(X, y).to_dict())
    assert str(read).endswith("a combination of 4 rows: ½ of row 0 + ½ of row 1 + ½ of row 2 + ½ of row 3")
    names = np.array(["no", "yes"])[y]
    told_of = told(separability(X, names), ["a", "b"], 4)
    assert "½ of row 1 + ½ of row 4 = ½ of row 2 + ½ of row 3 = (0.5, 0.5) (rows are counted from 1)" in told_of


def test_m13_both_sides_of_the_sentence_are_the_point_that_it_names():
    rng = np.random.default_rng(3)
    X, y = rng.integers(-5, 6, (40, 3)).astype(float), rng.integers(0, 2, 40)
    found = separability(X, y)
    assert found.sides == [bool(y[i]) for i in found.points]
    for side in (0, 1):
        parts = [(i, w) for i, w in zip(found.points, found.weights, strict=True) if y[i] == side]
        assert sum(w for _, w in parts) == 1
        mixed = [sum(w * Fraction(X[i, j]) for i, w in parts) for j in range(3)]
        assert tuple(mixed) == found.common
    wide = separability(np.column_stack([X, X**2]), y)
    assert wide.common is None, "six coordinates are not read at a glance"


def test_results_read_well_and_travel():
    X, y = [[0.0], [1.0], [2.0]], ["a", "b", "a"]
    found = separability(X, y)
    assert str(found) == repr(found)
    assert str(found).endswith("a point lies in both convex hulls: ½ of row 0 + ½ of row 2 = row 1 = 1")
    assert pickle.loads(pickle.dumps(found)).verify(X, y)
    error = pickle.loads(pickle.dumps(NotSeparableError(found)))
    assert "the classes a and b are not linearly separable" in str(error)
    assert error.proof.points == [0, 1, 2]
    assert isinstance(error, ValueError)
    without = separability([[1.0], [2.0]], [0, 1], fit_intercept=False)
    assert "zero is a convex combination" in str(without)


def test_the_function_and_its_module_live_side_by_side():
    for called in (
        linsep.separability,
        separability,
        importlib.import_module("linsep.separability"),
        linsep.separability,
    ):
        assert isinstance(called([[0.0], [1.0]], [0, 1]), Separability)
    assert Clock(5.0).left() <= 5.0


# -- likelihoods without a maximum ------------------------------------------------------------------------------------


def test_separable_data_have_no_finite_optimum_and_the_columns_are_named():
    X, y = np.array([[0.0, 5.0], [1.0, 5.0], [2.0, 5.0], [3.0, 5.0]]), [0, 0, 1, 1]
    assert "the data are separable, so no finite optimum exists: the estimate of x0 is +∞" in explain_no_optimum(X, y)
    text = explain_no_optimum([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 0.0], [0.0, 0.0]], [0, 0, 1, 1, 1])
    assert text == (
        "the data are quasi-separable, so no finite optimum exists: the estimate of x1 is +∞; the others are finite; "
        "use a finite C"
    )
    assert explain_no_optimum([[0.0], [1.0], [2.0]], [0, 1, 0], feature_names=["dose"]) is None


@pytest.mark.parametrize("model", [LinearClassifier("logistic", C=None), SGDClassifier("logistic", penalty=None)])
def test_unpenalised_logistic_regression_says_which_coefficients_run_to_infinity(model):
    frame = pd.DataFrame({"dose": [0.0, 1.0, 2.0, 3.0]})
    with pytest.warns(ConvergenceWarning, match=r"no finite optimum exists: the estimate of dose is \+∞") as caught:
        model.set_params(max_iter=20, random_state=0).fit(frame, [0, 0, 1, 1])
    assert not model.converged_
    assert caught[0].filename == __file__
    with pytest.warns(ConvergenceWarning, match="class 0 against the rest: the data are separable"):
        model.fit(frame, [0, 0, 1, 2])


def test_a_penalty_or_overlap_leaves_nothing_to_say(overlapping):
    model = LinearClassifier("logistic").fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1])
    assert model.converged_
    assert LinearClassifier("logistic", C=None, random_state=0).fit(*overlapping)._no_optimum is None


def has_no_softmax_optimum(X, codes, K, intercept):
    """By a linear program: planes with (w_y − w_k)·x in [0, 1] for all, and not always 0."""
    X = np.column_stack([X, np.ones(len(X))]) if intercept else X
    rows = [np.kron(np.eye(K)[y] - np.eye(K)[k], x) for x, y in zip(X, codes, strict=True) for k in range(K) if k != y]
    A = np.array(rows)
    found = linprog(-A.sum(axis=0), np.vstack([A, -A]), np.repeat([1.0, 0.0], len(A)), bounds=(None, None))
    return -found.fun > 0.5


@pytest.mark.slow
@given(
    seed=st.integers(0, 10_000),
    K=st.integers(3, 4),
    n=st.integers(4, 14),
    intercept=st.booleans(),
    spread=st.integers(1, 6),
)
@settings(max_examples=60, deadline=None)
def test_the_softmax_has_no_optimum_where_a_linear_program_says_so(seed, K, n, intercept, spread):
    rng = np.random.default_rng(seed)
    X, codes = (
        rng.integers(-spread, spread + 1, (n, 2)).astype(float),
        np.append(np.arange(K), rng.integers(0, K, n - K)),
    )
    why = explain_no_softmax_optimum(X, codes, "abcd"[:K], fit_intercept=intercept)
    assert (why is not None) == has_no_softmax_optimum(X, codes, K, intercept)


def test_classes_around_a_point_have_no_optimum_though_none_lies_apart_from_the_rest():
    angles = np.linspace(0, 2 * np.pi, 90, endpoint=False)
    X = np.column_stack([np.cos(angles), np.sin(angles)]) * np.tile([1.0, 10.0], 45)[:, None]
    codes = (angles / (2 * np.pi / 3)).astype(int)
    assert all(separability(X, codes == k).verdict == "overlap" for k in range(3))
    why = explain_no_softmax_optimum(X, codes, ["left", "right", "low"], feature_names=["east", "north"])
    assert "east (left against low)" in why
    assert "north (right against low)" in why
    with pytest.warns(ConvergenceWarning, match=r"the data are separable, so no finite optimum exists.*1 against 2"):
        model = LogisticRegression(C=np.inf).fit(X, codes)
    assert not model.converged_


@pytest.mark.parametrize(
    ("x", "said"),
    [
        ([1.0, 2.0], "overlap: no plane through the origin separates, not even weakly; zero is a convex combination"),
        ([-1.0, 2.0], "separable: a plane through the origin has all points strictly on their own side"),
        ([0.0, 2.0], "quasi-separable: a plane through the origin has no point on the wrong side and 1 on it"),
    ],
)
def test_without_an_intercept_it_is_said_which_planes_are_meant(x, said):
    found = separability(np.array(x)[:, None], [0, 1], fit_intercept=False)
    assert str(found).startswith(said)
    assert "origin" not in str(separability(np.array(x)[:, None], [0, 1]))
