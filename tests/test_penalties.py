"""The penalties against loops, finite differences, numeric minima and numeric suprema."""

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

from linsep import penalties
from linsep.penalties import L1, L2, ElasticNet, NoPenalty, Penalty

SETTINGS = settings(max_examples=25, deadline=None)

ALL = [L2(), L1(), ElasticNet(0.3), NoPenalty(), Penalty(l2=2.5, l1=0.7), Penalty(l2=0.0, l1=3.0)]
each_penalty = pytest.mark.parametrize("penalty", ALL, ids=repr)

numbers = st.floats(-20, 20)
vectors = st.lists(numbers, min_size=1, max_size=5).map(np.array)


def by_hand(l2, l1, w):
    total = 0.0
    for x in w:
        total += l2 * x * x / 2 + l1 * abs(x)
    return total


@each_penalty
@SETTINGS
@given(w=vectors)
def test_value_is_half_the_squares_and_the_absolute_values(penalty, w):
    assert penalty.value(w) == pytest.approx(by_hand(penalty.l2, penalty.l1, w), rel=1e-12, abs=1e-12)


def test_values_of_the_named_ones_on_a_right_triangle():
    w = np.array([3.0, -4.0])
    assert L2().value(w) == 12.5
    assert L1().value(w) == 7.0
    assert ElasticNet(0.25).value(w) == 0.75 * 12.5 + 0.25 * 7.0
    assert NoPenalty().value(w) == 0.0


@each_penalty
@SETTINGS
@given(w=st.lists(numbers.filter(lambda x: abs(x) > 1e-3), min_size=1, max_size=4).map(np.array))
def test_slope_is_the_central_difference_where_there_is_one(penalty, w):
    h = 1e-5
    for j, step in enumerate(h * np.eye(len(w))):
        difference = (penalty.value(w + step) - penalty.value(w - step)) / (2 * h)
        assert penalty.slope(w)[j] == pytest.approx(difference, rel=1e-6, abs=1e-6)


@each_penalty
@SETTINGS
@given(w=numbers | st.just(0.0), u=numbers)
def test_slope_is_a_subgradient_at_zero_too(penalty, w, u):
    w, u = np.array([w]), np.array([u])
    tangent = penalty.value(w) + float(penalty.slope(w) @ (u - w))
    assert penalty.value(u) >= tangent - 1e-10 * (1 + abs(tangent))


@each_penalty
@SETTINGS
@given(w=numbers, step=st.floats(1e-3, 10))
def test_prox_is_the_numeric_argmin(penalty, w, step):
    def f(u):
        return (u - w) ** 2 / 2 + step * penalty.value(np.array([u]))

    found = minimize_scalar(f, bounds=(-abs(w) - 1, abs(w) + 1), method="bounded", options={"xatol": 1e-9})
    assert penalty.prox(np.array([w]), step)[0] == pytest.approx(found.x, abs=1e-5)


@each_penalty
@SETTINGS
@given(w=vectors, step=st.floats(1e-3, 10), seed=st.integers(0, 1000))
def test_prox_beats_every_other_point_by_half_its_squared_distance(penalty, w, step, seed):
    # ½‖u − w‖² + step · penalty(u) is strongly convex, which pins its minimiser down without any tolerance in u
    def f(u):
        return ((u - w) ** 2).sum() / 2 + step * penalty.value(u)

    p = penalty.prox(w, step)
    others = p + np.random.default_rng(seed).normal(size=(20, len(w))) * 10.0 ** np.linspace(-4, 1, 20)[:, None]
    for u in others:
        assert f(u) >= f(p) + ((u - p) ** 2).sum() / 2 - 1e-9 * (1 + f(p))


def test_prox_sets_small_weights_to_exactly_zero():
    np.testing.assert_array_equal(L1().prox(np.array([-0.5, 0.2, 0.5, 2.0]), 0.5), [0, 0, 0, 1.5])


def test_prox_without_a_penalty_changes_nothing():
    w = np.array([-1.5, 0.0, 1e-9, 7.0])
    np.testing.assert_array_equal(NoPenalty().prox(w, 3.0), w)


@each_penalty
@SETTINGS
@given(u=st.floats(-6, 6).map(lambda u: round(u, 3)))
def test_conjugate_is_the_numeric_supremum(penalty, u):
    def reach(far):
        def lost(x):
            return penalty.value(np.array([x])) - u * x

        found = minimize_scalar(lost, bounds=(-far, far), method="bounded", options={"xatol": 1e-10})
        return max(-found.fun, -lost(far), -lost(-far), -lost(0.0))

    claimed = penalty.conjugate(np.array([u]))
    if np.isinf(claimed):
        assert claimed > 0
        assert reach(1e8) > 100 * max(reach(1e4), 1e-300)  # it keeps growing
    else:
        assert reach(50.0) == pytest.approx(claimed, rel=1e-6, abs=1e-7)


@each_penalty
@SETTINGS
@given(w=vectors, seed=st.integers(0, 1000))
def test_fenchel_young(penalty, w, seed):
    u = np.random.default_rng(seed).normal(scale=2.0, size=len(w))
    assert penalty.value(w) + penalty.conjugate(u) >= u @ w - 1e-9 * (1 + abs(u @ w))
    slope = penalty.slope(w)
    assert penalty.value(w) + penalty.conjugate(slope) == pytest.approx(slope @ w, rel=1e-9, abs=1e-9)


def test_conjugate_is_infinite_exactly_where_nothing_holds_u_back():
    assert L1().conjugate(np.array([1.0, -1.0])) == 0.0
    assert L1().conjugate(np.array([0.0, np.nextafter(1.0, 2.0)])) == np.inf
    assert NoPenalty().conjugate(np.zeros(3)) == 0.0
    assert NoPenalty().conjugate(np.array([0.0, 1e-300])) == np.inf
    assert L2().conjugate(np.array([3.0, 4.0])) == 12.5  # ½‖·‖² is its own conjugate


@SETTINGS
@given(w=vectors)
def test_elastic_net_runs_from_l2_to_l1(w):
    assert ElasticNet(0).value(w) == L2().value(w)
    assert ElasticNet(1).value(w) == L1().value(w)
    assert ElasticNet().value(w) == pytest.approx((L2().value(w) + L1().value(w)) / 2)


@pytest.mark.parametrize(
    ("penalty", "formula"),
    [
        (L2(), "½‖w‖²"),
        (L1(), "‖w‖₁"),
        (NoPenalty(), "0"),
        (ElasticNet(0.0), "½‖w‖²"),
        (ElasticNet(1.0), "‖w‖₁"),
        (ElasticNet(0.5), "0.5·½‖w‖² + 0.5·‖w‖₁"),
        (Penalty(l2=2, l1=1), "2·½‖w‖² + ‖w‖₁"),
        (Penalty(l2=0, l1=0.01), "0.01·‖w‖₁"),
    ],
    ids=str,
)
def test_formula_is_one_readable_line(penalty, formula):
    assert penalty.formula == formula


@pytest.mark.parametrize(
    ("name", "l1_ratio", "expected"),
    [
        ("l2", None, L2()),
        ("l1", None, L1()),
        (None, None, NoPenalty()),
        ("elasticnet", 0.2, ElasticNet(0.2)),
        ("elasticnet", 0, ElasticNet(0)),
    ],
)
def test_penalties_are_found_by_name(name, l1_ratio, expected):
    assert penalties.get(name, l1_ratio) == expected


def test_penalty_object_is_itself():
    mine = Penalty(l2=0.1, l1=0.2)
    assert penalties.get(mine) is mine


@pytest.mark.parametrize("unknown", ["L2", "ridge", "", 1, ["l2"]])
def test_unknown_penalty_is_refused_with_the_list_of_known_ones(unknown):
    with pytest.raises(ValueError, match=r"is not known; use 'l2', 'l1', 'elasticnet', None or a Penalty object"):
        penalties.get(unknown)


def test_an_elastic_net_without_its_share_is_refused():
    with pytest.raises(ValueError, match="needs l1_ratio"):
        penalties.get("elasticnet")


@pytest.mark.parametrize("ratio", [-0.1, 1.1, np.nan, np.inf])
def test_l1_ratio_outside_its_range_is_refused(ratio):
    with pytest.raises(ValueError, match=r"l1_ratio=.* must lie between 0 \(L2\) and 1 \(L1\)"):
        penalties.get("elasticnet", ratio)


@pytest.mark.parametrize("penalty", ["l2", "l1", None, L2()])
def test_l1_ratio_that_would_be_ignored_is_an_error(penalty):
    with pytest.raises(ValueError, match=r"l1_ratio=0.5 would be ignored: it goes with penalty='elasticnet'"):
        penalties.get(penalty, 0.5)


@pytest.mark.parametrize(("l2", "l1"), [(-1.0, 0.0), (0.0, -1.0), (np.nan, 0.0), (np.inf, 0.0)])
def test_penalty_that_is_no_penalty_is_refused(l2, l1):
    with pytest.raises(ValueError, match=r"l2|l1"):
        Penalty(l2=l2, l1=l1)


@each_penalty
def test_penalties_are_values(penalty):
    assert penalty == copy.deepcopy(penalty) == pickle.loads(pickle.dumps(penalty))
    assert hash(penalty) == hash(copy.deepcopy(penalty))
    with pytest.raises(AttributeError):
        penalty.l2 = 5.0
