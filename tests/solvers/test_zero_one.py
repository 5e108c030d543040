"""The fewest mistakes, against brute force over all planes through d points; weights of any span, special positions."""

import copy
import itertools
import warnings
from dataclasses import replace
from fractions import Fraction
from operator import mul

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning

from clock import stepped_time
from exact_oracles import homogeneous, kernel, product
from linsep import ZeroOneClassifier, verify
from linsep._core import Rows
from linsep.certificates.mistakes.bound import MistakeBound
from linsep.certificates.mistakes.check import MistakeCheck
from linsep.certificates.outcome import ClaimError
from linsep.losses import ZeroOne as ZeroOneLoss
from linsep.objective.problem import Problem
from linsep.solvers.zero_one.cells import CellSearch

pytestmark = pytest.mark.slow

# -- brute force ------------------------------------------------------------------------------------------------------


def fewest_mistakes(rows, s):
    """Σ s of the mistakes of the best plane: of all planes through as many points as fit, moved off them in all ways.

    Each plane is moved by v₁, then infinitely less by v₂, …, each of which leaves one point fewer on it. The
    coordinate planes stand in for points where there are too few.
    """
    D = len(rows[0])
    helpers = [[Fraction(int(i == j)) for i in range(D)] for j in range(D)]
    best = sum(s)
    for through in itertools.permutations([*rows, *helpers], D - 1):
        flag = kernel(through, D)
        if len(flag) != 1:
            continue
        for m in range(D - 2, -1, -1):
            flag.append(next(v for v in kernel(through[:m], D) if product(through[m], v)))
        products = [[product(a, v) for v in flag] for a in rows]
        for signs in itertools.product((1, -1), repeat=D):
            leading = [next((x * sign for x, sign in zip(z, signs, strict=True) if x), 0) for z in products]
            best = min(best, sum(weight for weight, z in zip(s, leading, strict=True) if z <= 0))
    return best


def fewest_in_the_plane(X, y):
    """The same for two features in general position, vectorised: all lines through two points, moved off them."""
    best = len(y)
    for i, j in itertools.combinations(range(len(X)), 2):
        normal = np.array([X[j, 1] - X[i, 1], X[i, 0] - X[j, 0]])
        side = np.sign(X @ normal - X[i] @ normal)
        side[[i, j]] = 0
        wrong = np.count_nonzero(side * y == -1)  # i and j can go to any side
        best = min(best, wrong, len(y) - 2 - wrong)
    return best


@st.composite
def small_problems(draw, most):
    d = draw(st.integers(1, 3))
    intercept = draw(st.booleans()) if d < 3 else False
    n = draw(st.integers(2, most[d + intercept]))
    numbers = st.integers(-2, 2)
    X = draw(st.lists(st.lists(numbers, min_size=d, max_size=d), min_size=n, max_size=n))
    y = draw(st.lists(st.sampled_from([-1, 1]), min_size=n, max_size=n).filter(lambda labels: len(set(labels)) == 2))
    s = draw(st.none() | st.lists(st.sampled_from([0.0, 1.0, 2.0, 5.0]), min_size=n, max_size=n).filter(any))
    return np.array(X, dtype=float), np.array(y), None if s is None else np.array(s), intercept


@given(small_problems({1: 9, 2: 9, 3: 7}))
@settings(max_examples=60, deadline=None)
def test_m18_the_fewest_mistakes_by_brute_force_over_all_planes_through_d_points(problem):
    X, y, s, intercept = problem
    model = ZeroOneClassifier(fit_intercept=intercept).fit(X, y, sample_weight=s)
    weight = np.ones(len(y)) if s is None else s
    assert model.n_mistakes_ == fewest_mistakes(homogeneous(X, y, intercept), weight.tolist())
    assert model.lower_bound_ == model.n_mistakes_
    assert model.proven_
    assert isinstance(model.n_mistakes_, int)
    z = y * model.decision_function(X)
    assert weight[z <= 0].sum() == model.n_mistakes_
    hopeless = ~X.any(axis=1) if not intercept else np.zeros(len(y), dtype=bool)
    wrong = model.predict(X) != y
    assert weight[wrong | hopeless].sum() == model.n_mistakes_


@pytest.mark.parametrize("seed", range(6))
def test_m18_three_features_by_brute_force(seed):
    rng = np.random.default_rng(seed)
    X, y = rng.integers(-1, 2, (5, 3)).astype(float), np.array([-1, 1, 1, -1, 1])
    rows = homogeneous(X, y, True)
    expected = fewest_mistakes(rows, [1] * 5)
    assert ZeroOneClassifier().fit(X, y).n_mistakes_ == expected
    cells = CellSearch(np.array(rows, dtype=float), np.ones(5), lambda: None, lambda right, cost: None)
    assert cells.run(rng.standard_normal(4)) == expected


@pytest.mark.parametrize("seed", range(3))
def test_m18_two_features_by_all_lines_through_two_points(seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((120, 2))
    y = np.where(X[:, 0] + 0.8 * rng.standard_normal(120) > 0, 1, -1)
    model = ZeroOneClassifier().fit(X, y)
    assert model.n_mistakes_ == model.lower_bound_ == fewest_in_the_plane(X, y)
    assert model.lower_bound_proof_.method == "cells"


@given(seed=st.integers(0, 10**6), D=st.integers(2, 5))
@settings(max_examples=25, deadline=None)
def test_the_cell_search_does_not_depend_on_where_it_begins(seed, D):
    rng = np.random.default_rng(seed)
    A = rng.integers(-2, 3, (14, D)).astype(float)
    A = A[A.any(axis=1)]
    found = []
    for _ in range(3):
        masks = []
        cost = CellSearch(A, np.ones(len(A)), lambda: None, lambda right, cost, kept=masks: kept.append(right)).run(
            rng.standard_normal(D)
        )
        assert np.count_nonzero(~masks[-1]) == cost
        found.append(cost)
    assert len(set(found)) == 1


@pytest.mark.parametrize("d", [4, 5])
def test_m18_conflicts_and_cells_prove_the_same(d, by_conflicts_only):
    rng = np.random.default_rng(d)
    X = rng.standard_normal((30, d))
    y = np.where(X[:, 0] + 0.7 * rng.standard_normal(30) > 0, 1, -1)
    by_conflicts = ZeroOneClassifier().fit(X, y)
    cells = CellSearch(y[:, None] * np.c_[X, np.ones(30)], np.ones(30), lambda: None, lambda right, cost: None)
    assert by_conflicts.lower_bound_proof_.method == "conflicts"
    assert by_conflicts.n_mistakes_ == cells.run(np.append(by_conflicts.coef_, by_conflicts.intercept_))


# -- weights of any span ----------------------------------------------------------------------------------------------

#: Sizes and mantissas that no sum of floats adds up rightly: far apart, dyadic or not, and thirds of a unit.
WEIGHTS = {
    "span 1e16": st.floats(-16, 0).map(lambda e: 10.0**e),
    "span 1e600": st.floats(-300, 300).map(lambda e: 10.0**e),
    "dyadic": st.integers(-60, 60).map(lambda e: 2.0**e),
    "few": st.sampled_from([1e16, 1.0, 0.1, 0.3, 1e-16]),
    "subnormal": st.integers(1, 9).map(lambda k: k * 2.0**-1074),
}


@st.composite
def weighted_problems(draw):
    X, y, _, intercept = draw(small_problems({1: 8, 2: 7, 3: 6}))
    kind = draw(st.sampled_from(sorted(WEIGHTS)))
    s = np.array(draw(st.lists(WEIGHTS[kind], min_size=len(y), max_size=len(y))))
    by_class = draw(st.none() | st.sampled_from([{-1: 0.3, 1: 7e-9}, "balanced"])) if kind != "subnormal" else None
    return X, y, s, intercept, by_class


def of_class(class_weight, y, s):
    """By what each example's weight is multiplied for the sake of its class."""
    if class_weight == "balanced":
        totals = np.bincount(y > 0, weights=s)  # added up in this order, for the last bit counts
        class_weight = dict(zip((-1, 1), totals.sum() / (2 * totals), strict=True))
    return np.array([class_weight[int(label)] for label in y]) if class_weight else np.ones(len(y))


@given(weighted_problems())
@settings(max_examples=60, deadline=None)
def test_m18_weights_of_any_span_by_brute_force_in_fractions(problem):
    X, y, s, intercept, by_class = problem
    model = ZeroOneClassifier(fit_intercept=intercept, class_weight=by_class).fit(X, y, sample_weight=s)
    product = s * of_class(by_class, y, s)  # in floats
    rows, exact = homogeneous(X, y, intercept), [Fraction(weight) for weight in product.tolist()]
    least = fewest_mistakes(rows, exact)
    assert model.n_mistakes_ == model.lower_bound_ == model.lower_bound_proof_.bound == float(least)
    assert model.proven_
    theta = [Fraction(c) for c in [*model.coef_[0], *model.intercept_[:intercept]]]
    made = sum(weight for weight, a in zip(exact, rows, strict=True) if sum(map(mul, a, theta)) <= 0)
    assert made == least
    outcome = verify(model, X, y, s)
    assert outcome, str(outcome)
    assert outcome.proven


def overlapping_weights(light):
    """Two classes with one point of each on the wrong side, which weigh little; the others weigh 1e16."""
    X = np.array([[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]])
    return X, np.array([0, 0, 1, 0, 1, 1]), np.array([1e16, 1e16, light, light / 2, 1e16, 1e16])


def test_m18_light_mistakes_beside_heavy_points_are_counted():
    X, y, s = overlapping_weights(1.0)
    model = ZeroOneClassifier().fit(X, y, sample_weight=s)
    assert (model.n_mistakes_, model.lower_bound_, model.proven_) == (0.5, 0.5, True)
    outcome = verify(model, X, y, s)
    assert outcome.proven
    assert "of weight 0.5, and no plane makes them of less weight" in outcome.reason
    for said in (0.0, np.nextafter(0.5, 0), np.nextafter(0.5, 1), 1.0, 30.0):
        for names in (("n_mistakes_",), ("lower_bound_",), ("n_mistakes_", "lower_bound_")):
            forged = copy.deepcopy(model)
            for name in names:
                setattr(forged, name, said)
            if "lower_bound_" in names:
                forged.lower_bound_proof_ = replace(forged.lower_bound_proof_, bound=said)
            assert not verify(forged, X, y, s), (said, names)


def test_m18_a_plane_that_is_worse_by_the_lightest_point_is_not_optimal():
    X, y, s = overlapping_weights(1.0)
    problem = Problem(Rows(X), np.where(y > 0, 1.0, -1.0), ZeroOneLoss(), sample_weight=s)
    check = MistakeCheck(problem)
    check.mistakes(np.array([1.0]), -1.5, 0.5)
    check.bound(MistakeBound(0.5, "cells"), 0.5)
    assert check.made == check.lower
    assert not check.by_highs
    check = MistakeCheck(problem)
    check.mistakes(np.array([1.0]), -3.5, 1.0)
    with pytest.raises(ClaimError, match=r"the lower bound of 1 does not hold: some plane errs on 0\.5 only"):
        check.bound(MistakeBound(1.0, "cells"), 1.0)


def test_m18_an_unproven_bound_is_never_told_as_the_count(by_conflicts_only, monkeypatch):
    stepped_time(monkeypatch, 0.001)
    rng = np.random.default_rng(0)
    X, y, s = rng.standard_normal((60, 8)), rng.integers(0, 2, 60), 10.0 ** rng.uniform(-16, 0, 60)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = ZeroOneClassifier(time_limit=1.0).fit(X, y, sample_weight=s)
    assert model.proven_ == (model.n_mistakes_ == model.lower_bound_)
    assert model.lower_bound_ <= model.n_mistakes_
    assert verify(model, X, y, s)


def test_m18_conflicts_prove_weights_that_are_not_whole_to_the_last_bit(by_conflicts_only):
    rng = np.random.default_rng(3)
    X = rng.standard_normal((40, 5))
    y = np.where(X[:, 0] + 0.8 * rng.standard_normal(40) > 0, 1, -1)
    s = rng.uniform(0.5, 2.0, 40) * 10.0 ** rng.choice([-9, 0], 40)
    model = ZeroOneClassifier().fit(X, y, sample_weight=s)
    assert model.proven_
    assert model.lower_bound_proof_.method == "conflicts"
    outcome = verify(model, X, y, s)
    assert outcome.proven
    assert not any("within" in what for what in outcome.checked)


def test_m18_weights_beyond_all_floats_are_refused():
    with pytest.raises(ValueError, match="scale the weights"):
        ZeroOneClassifier().fit([[0.0], [1.0]], [0, 1], sample_weight=[1e308, 1.7e308])
    with pytest.raises(ValueError, match="scale the weights"):
        ZeroOneClassifier(class_weight={0: 1e300, 1: 1.0}).fit([[0.0], [1.0]], [0, 1], sample_weight=[1e300, 1.0])


def test_m18_what_rests_on_highs_is_said_and_not_proven(by_conflicts_only, monkeypatch):
    rng = np.random.default_rng(2)
    X = rng.integers(-4, 5, (30, 5)).astype(float)
    y = np.where(X[:, 0] + X[:, 1] + 3 * rng.standard_normal(30) > 0, 1, -1)
    model = ZeroOneClassifier().fit(X, y)
    assert verify(model, X, y).proven
    monkeypatch.setattr("linsep.certificates.mistakes.check.hits_weigh_at_least", lambda *args, **kwargs: None)
    outcome = verify(model, X, y)
    assert outcome
    assert not outcome.proven
    assert "that no plane makes fewer is what HiGHS finds in floats, which proves nothing" in outcome.reason
    assert any("HiGHS" in what for what in outcome.trusted)
    model.lower_bound_proof_ = replace(model.lower_bound_proof_, conflicts=model.lower_bound_proof_.conflicts[:1])
    assert "not enough" in verify(model, X, y).reason


def test_m18_points_on_the_plane_are_mistakes_and_the_sentence_says_so():
    X, y = np.array([[1.0], [-1.0], [2.0], [0.0]]), np.array([1, 1, 1, 1])
    problem = Problem(Rows(X), y.astype(float), ZeroOneLoss(), fit_intercept=False)
    check = MistakeCheck(problem)
    check.mistakes(np.array([0.0]), 0.0, 4.0)  # predict takes all of them for positive, and is right
    check.bound(MistakeBound(2.0, "cells", (), (3,)), 2.0)
    assert check.sentence() == (
        "the plane makes 4 mistakes (examples not strictly on their own side); 4 lie within rounding of the plane, "
        "where predict may say otherwise, and no plane through the origin makes fewer than 2"
    )


# -- special positions ------------------------------------------------------------------------------------------------


def mistakes(X, y, **settings):
    model = ZeroOneClassifier(**settings).fit(X, y)
    assert model.proven_
    assert np.count_nonzero(model.predict(X) != np.asarray(y)) == model.n_mistakes_
    return model.n_mistakes_


def test_m18_special_positions():
    line = np.array([[i, 2.0 * i] for i in range(6)])
    assert mistakes(line, [0, 0, 0, 1, 1, 1]) == 0
    assert mistakes(line, [0, 1, 0, 1, 0, 1]) == 2
    same = np.ones((7, 2))
    assert mistakes(same, [0, 0, 0, 1, 1, 1, 1]) == 3
    square = np.array([[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]])
    assert mistakes(square, [0, 0, 1, 1]) == 1
    assert mistakes(np.repeat(square, 3, axis=0), np.repeat([0, 0, 1, 1], 3)) == 3
    assert mistakes(np.vstack([square, square]), [0, 0, 1, 1, 1, 1, 0, 0]) == 4
    grid = np.array(list(itertools.product(range(5), range(5))), dtype=float)
    assert mistakes(grid, (grid.sum(axis=1) >= 4).astype(int)) == 0
    assert mistakes(np.c_[grid, np.zeros(25), np.ones(25)], (grid.sum(axis=1) >= 4).astype(int)) == 0


@pytest.mark.parametrize("bend", [0.0, 1.0, -1.0])
def test_m18_points_as_good_as_on_a_line_are_told_from_points_on_one(bend):
    # The middle point is on the segment between two of the other class, or one unit in the last place beside it.
    X = np.array([[0.0, 0.0], [1.0, 1.0], [0.5, 0.5 + bend * 2.0**-53]])
    rows = homogeneous(X, [1, 1, -1], True)
    assert fewest_mistakes(rows, [1, 1, 1]) == (1 if bend == 0 else 0)
    search = CellSearch(np.array(rows, dtype=float), np.ones(3), lambda: None, lambda right, cost: None)
    assert search.run(np.array([1.0, 0.3, 0.1])) == (1 if bend == 0 else 0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = ZeroOneClassifier(time_limit=60).fit(X, [1, 1, -1])
    assert model.lower_bound_ <= model.n_mistakes_
    assert np.count_nonzero([1, 1, -1] * model.decision_function(X) <= 0) == model.n_mistakes_


@pytest.mark.parametrize("scale", [2.0**-400, 2.0**400])
def test_columns_of_any_size(scale):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((50, 2))
    y = (X[:, 0] + X[:, 1] + rng.standard_normal(50) > 0).astype(int)
    assert mistakes(X * [1.0, scale], y) == mistakes(X, y)


def test_one_feature_is_a_threshold():
    X = np.array([[3.0], [1.0], [2.0], [5.0], [4.0], [4.0]])
    y = np.array([0, 0, 1, 1, 1, 0])
    costs = [min(np.sum((X[:, 0] > t) != y), np.sum((X[:, 0] <= t) != y)) for t in (0.5, 1.5, 2.5, 3.5, 4.5, 5.5)]
    assert mistakes(X, y) == min(costs)


def test_planes_through_the_origin_err_on_the_origin():
    X = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 0.0], [-1.0, 0.0]])
    model = ZeroOneClassifier(fit_intercept=False).fit(X, [1, 1, 0, 0])
    assert (model.n_mistakes_, model.lower_bound_, model.lower_bound_proof_.hopeless) == (2, 2, (0, 2))
    assert model.intercept_ == 0
    model = ZeroOneClassifier(fit_intercept=False).fit(np.zeros((3, 2)), [0, 1, 1])
    assert model.n_mistakes_ == model.lower_bound_ == 3


def test_the_plane_keeps_its_distance_from_the_points():
    model = ZeroOneClassifier().fit([[0.0], [1.0], [3.0], [4.0]], [0, 0, 1, 1])
    assert -model.intercept_[0] / model.coef_[0, 0] == pytest.approx(2.0)


# -- weights, rows, kinds of data -------------------------------------------------------------------------------------


def test_m18_weights_decide_which_mistakes_are_made():
    X, y = [[0.0], [1.0], [2.0]], [0, 1, 0]
    light = ZeroOneClassifier().fit(X, y, sample_weight=[1.0, 0.25, 1.0])
    assert light.n_mistakes_ == light.lower_bound_ == 0.25
    assert light.predict(X).tolist() == [0, 0, 0]
    heavy = ZeroOneClassifier(class_weight={0: 0.3, 1: 2.0}).fit(X, y)
    assert heavy.n_mistakes_ == pytest.approx(0.3)
    assert heavy.predict([[1.0]]).tolist() == [1]


def test_weights_count_like_rows_in_any_order(overlapping):
    X, y = overlapping
    rng = np.random.default_rng(0)
    s = rng.integers(0, 3, len(y))
    order = rng.permutation(s.sum())
    weighted = ZeroOneClassifier().fit(X, y, sample_weight=s)
    repeated = ZeroOneClassifier().fit(np.repeat(X, s, axis=0)[order], np.repeat(y, s)[order])
    assert weighted.n_mistakes_ == repeated.n_mistakes_ == repeated.lower_bound_
    np.testing.assert_allclose(weighted.coef_, repeated.coef_)


def test_sparse_and_single_precision(overlapping):
    X, y = overlapping
    single = X.astype(np.float32)
    dense = ZeroOneClassifier().fit(single.astype(float), y)
    for given_as in (single, sparse.csr_array(single), sparse.csr_matrix(single.astype(float))):
        model = ZeroOneClassifier().fit(given_as, y)
        assert model.n_mistakes_ == dense.n_mistakes_
        np.testing.assert_allclose(model.coef_, dense.coef_)


def test_more_than_two_classes_are_one_against_the_rest():
    X, y = load_iris(return_X_y=True)
    model = ZeroOneClassifier().fit(X[:, 2:], y)
    wrong = (model.decision_function(X[:, 2:]) > 0) != (y[:, None] == model.classes_)
    assert wrong.sum(axis=0).tolist() == model.n_mistakes_.tolist() == model.lower_bound_.tolist()
    assert len(model.lower_bound_proof_) == len(model.progress_) == 3
    assert model.score(X[:, 2:], y) > 0.9
