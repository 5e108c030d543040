"""The losses against finite differences, numeric suprema and the formulas of the lectures written by hand."""

import math
from decimal import Decimal, localcontext

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar
from sklearn.metrics import hinge_loss, log_loss

from linsep import losses
from linsep.losses import Hinge, Logistic, Loss, Perceptron, Square, SquaredHinge, ZeroOne

SETTINGS = settings(max_examples=25, deadline=None)

BY_HAND = {
    "zero_one": lambda z: 1.0 if z <= 0 else 0.0,
    "perceptron": lambda z: -z if z < 0 else 0.0,
    "hinge": lambda z: 1 - z if z < 1 else 0.0,
    "squared_hinge": lambda z: (1 - z) ** 2 if z < 1 else 0.0,
    "modified_huber": lambda z: -4 * z if z < -1 else (1 - z) ** 2 if z < 1 else 0.0,
    "logistic": lambda z: math.log(1 + math.exp(-z)),
    "square": lambda z: (1 - z) ** 2,
}
KINK = {"zero_one": 0.0, "perceptron": 0.0, "hinge": 1.0}
# Where the value or the slope has no derivative.
BENDS = {name: (kink,) for name, kink in KINK.items()} | {"squared_hinge": (1.0,), "modified_huber": (-1.0, 1.0)}
ALL = [pytest.param(losses.get(name), id=name) for name in BY_HAND]
CONVEX = [param for param in ALL if param.id != "zero_one"]
SMOOTH = [param for param in ALL if param.id in ("squared_hinge", "modified_huber", "logistic", "square")]

each_loss = pytest.mark.parametrize("loss", ALL)
each_convex_loss = pytest.mark.parametrize("loss", CONVEX)
each_smooth_loss = pytest.mark.parametrize("loss", SMOOTH)

agreements = st.floats(-30, 30)
duals = (st.floats(-5, 2) | st.floats(-1, 0)).map(lambda a: round(a, 3))


def at(function, x):
    """Value of a vectorised function at one number."""
    return float(function(np.array([x]))[0])


def supremum(f, low, high):
    """Maximum of a concave function by a grid and a refinement around its best point."""
    grid = np.unique(np.concatenate([np.linspace(low, high, 4001), np.linspace(-40, 40, 4001)]))
    values = f(grid)
    best = int(np.argmax(values))
    around = grid[max(best - 1, 0)], grid[min(best + 1, len(grid) - 1)]
    refined = minimize_scalar(lambda z: -at(f, z), bounds=around, method="bounded", options={"xatol": 1e-10})
    return max(values[best], -refined.fun)


# --- values


@each_loss
@SETTINGS
@given(z=agreements)
def test_m4_value_is_the_formula_of_the_lectures(loss, z):
    assert at(loss.value, z) == pytest.approx(BY_HAND[loss.name](z), rel=1e-12, abs=1e-12)


def test_m4_square_loss_punishes_the_very_correct_answer_of_the_lecture():
    # 001: H(x) = 11 and H(x) = −9 with y = 1 both cost 100
    np.testing.assert_array_equal(Square().value(np.array([11.0, -9.0])), [100.0, 100.0])


def test_m4_logistic_loss_has_a_plus_where_004_prints_a_minus():
    assert at(Logistic().value, 0.0) == pytest.approx(math.log(2))  # with a minus: log 0
    assert at(Logistic().value, -1.0) == pytest.approx(math.log(1 + math.e))  # with a minus: log of a negative number
    assert (Logistic().value(np.linspace(-5, 5, 11)) > 0).all()


@SETTINGS
@given(z=agreements)
def test_m4_logistic_loss_is_minus_the_log_of_a_probability(z):
    right, wrong = math.exp(-at(Logistic().value, z)), math.exp(-at(Logistic().value, -z))
    assert right == pytest.approx(1 / (1 + math.exp(-z)))
    assert right + wrong == pytest.approx(1)  # 004: σ(z) + σ(−z) = 1
    assert at(Logistic().value, -z) - at(Logistic().value, z) == pytest.approx(z, abs=1e-12)  # 003: the log odds


def test_m4_mean_hinge_and_logistic_agree_with_scikit_learn():
    z = np.linspace(-10, 10, 41)
    y = np.where(np.arange(41) % 2, 1, -1)
    assert Hinge().value(z).mean() == pytest.approx(hinge_loss(y, y * z))
    p = [1 / (1 + math.exp(-g)) for g in y * z]
    assert Logistic().value(z).mean() == pytest.approx(log_loss(y, p))


@SETTINGS
@given(z=agreements)
def test_every_surrogate_with_a_margin_lies_above_the_zero_one_loss(z):
    mistake = at(ZeroOne().value, z)
    for surrogate in (Hinge(), SquaredHinge(), Square()):
        assert at(surrogate.value, z) >= mistake
    assert at(Logistic().value, z) / math.log(2) >= mistake - 1e-15


# --- slopes and curvatures


@each_loss
@SETTINGS
@given(z=agreements)
def test_m4_slope_is_the_central_difference_of_the_value(loss, z):
    h = 1e-5
    assume(all(abs(z - bend) > 2 * h for bend in BENDS.get(loss.name, ())))
    difference = (at(loss.value, z + h) - at(loss.value, z - h)) / (2 * h)
    assert at(loss.slope, z) == pytest.approx(difference, rel=1e-6, abs=1e-7)


@each_loss
@SETTINGS
@given(z=agreements)
def test_m4_curvature_is_the_central_difference_of_the_slope(loss, z):
    h = 1e-5
    assume(all(abs(z - bend) > 2 * h for bend in BENDS.get(loss.name, ())))
    difference = (at(loss.slope, z + h) - at(loss.slope, z - h)) / (2 * h)
    assert at(loss.curvature, z) == pytest.approx(difference, rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("loss", [Perceptron(), Hinge()], ids=repr)
def test_m4_slope_at_a_kink_is_the_left_derivative(loss):
    kink, h = KINK[loss.name], 2.0**-20
    left = (at(loss.value, kink) - at(loss.value, kink - h)) / h
    assert at(loss.slope, kink) == left == -1
    assert at(loss.slope, np.nextafter(kink, 2)) == 0
    assert at(loss.curvature, kink) == 0


def test_m4_squared_hinge_has_no_curvature_at_its_kink():
    assert at(SquaredHinge().slope, 1.0) == 0
    assert at(SquaredHinge().curvature, 1.0) == 0


def test_m4_zero_one_counts_the_point_on_the_plane_as_a_mistake():
    np.testing.assert_array_equal(ZeroOne().value(np.array([-1e-300, -0.0, 0.0, 1e-300])), [1, 1, 1, 0])


def test_m4_zero_one_is_flat_almost_everywhere():
    z = np.concatenate([np.linspace(-5, -0.01, 100), np.linspace(0.01, 5, 100)])
    assert not ZeroOne().slope(z).any()
    assert not ZeroOne().curvature(z).any()


@each_convex_loss
@SETTINGS
@given(z=agreements, u=agreements)
def test_m4_slope_is_a_subgradient(loss, z, u):
    tangent = at(loss.value, z) + at(loss.slope, z) * (u - z)
    assert at(loss.value, u) >= tangent - 1e-10 * (1 + abs(tangent))


@each_convex_loss
def test_m4_slope_is_a_subgradient_at_the_kinks_too(loss):
    u = np.linspace(-3, 3, 601)
    for z in (0.0, 1.0):
        assert (loss.value(u) >= at(loss.value, z) + at(loss.slope, z) * (u - z) - 1e-12).all()


# --- conjugates


@each_loss
@SETTINGS
@given(a=duals)
def test_m4_conjugate_is_the_numeric_supremum(loss, a):
    near, far = (supremum(lambda z: a * z - loss.value(z), -reach, reach) for reach in (1e3, 1e9))
    claimed = at(loss.conjugate, a)
    if math.isinf(claimed):
        assert claimed > 0
        assert far > 1e3 * max(near, 1e-300)  # it keeps growing: there is no supremum
    else:
        assert far == pytest.approx(claimed, abs=1e-7)


@pytest.mark.parametrize(
    ("loss", "low", "high"),
    [(ZeroOne(), 0, 0), (Perceptron(), -1, 0), (Hinge(), -1, 0), (SquaredHinge(), None, 0), (Logistic(), -1, 0)],
    ids=repr,
)
def test_m4_conjugate_is_infinite_exactly_beyond_the_slopes(loss, low, high):
    assert np.isfinite(at(loss.conjugate, high))
    assert at(loss.conjugate, np.nextafter(high, 1)) == np.inf
    if low is None:
        assert np.isfinite(at(loss.conjugate, -1e6))
    else:
        assert np.isfinite(at(loss.conjugate, low))
        assert at(loss.conjugate, np.nextafter(low, -2)) == np.inf


@each_loss
@SETTINGS
@given(z=agreements)
def test_m4_slopes_lie_between_their_ends_and_the_conjugate_is_infinite_beyond(loss, z):
    low, high = loss.slopes
    assert low <= at(loss.slope, z) <= high
    for end, beyond in ((low, -np.inf), (high, np.inf)):
        if np.isfinite(end):
            assert np.isfinite(at(loss.conjugate, end))
            assert at(loss.conjugate, np.nextafter(end, beyond)) == np.inf


@each_loss
@SETTINGS
@given(z=agreements, step=st.floats(-3.0, 3.0))
def test_m4_curvature_changes_no_faster_than_self_concordance_allows(loss, z, step):
    if math.isfinite(loss.self_concordance):
        allowed = math.exp(loss.self_concordance * abs(step))
        assert at(loss.curvature, z + step) <= allowed * at(loss.curvature, z) * (1 + 1e-9)


def test_m4_square_conjugate_is_finite_everywhere():
    # sup_z (a z − (1 − z)²) is at z = 1 + a/2
    for a in (-10.0, -1.0, 0.0, 3.0):
        assert at(Square().conjugate, a) == a * (1 + a / 2) - (a / 2) ** 2


@each_loss
@SETTINGS
@given(z=agreements, a=duals)
def test_m4_fenchel_young_inequality(loss, z, a):
    left = at(loss.value, z) + at(loss.conjugate, a)
    assert left >= a * z - 1e-10 * (1 + abs(a * z))


@each_convex_loss
@SETTINGS
@given(z=agreements | st.sampled_from([0.0, 1.0]))
def test_m4_fenchel_young_is_an_equality_at_the_slope(loss, z):
    a = at(loss.slope, z)
    assert at(loss.value, z) + at(loss.conjugate, a) == pytest.approx(a * z, rel=1e-9, abs=1e-10)


@pytest.mark.parametrize("loss", [Perceptron(), Hinge()], ids=repr)
@SETTINGS
@given(a=st.floats(-1, 0))
def test_m4_every_slope_between_left_and_right_is_one_at_the_kink(loss, a):
    kink = KINK[loss.name]
    assert at(loss.value, kink) + at(loss.conjugate, a) == pytest.approx(a * kink)


def test_m4_fenchel_young_is_strict_away_from_the_slope():
    z, a = 0.3, -0.2
    for loss in (Square(), SquaredHinge(), Logistic()):
        assert at(loss.value, z) + at(loss.conjugate, a) > a * z + 1e-3


@pytest.mark.parametrize("p", [0.5, 1e-3, 1e-8, 1e-15, 1e-18, 1e-30])
def test_m4_logistic_conjugate_keeps_its_digits_where_p_is_tiny(p):
    with localcontext(prec=80):
        exact = Decimal(p) * Decimal(p).ln() + (1 - Decimal(p)) * (1 - Decimal(p)).ln()
        error = abs(Decimal(at(Logistic().conjugate, -p)) / exact - 1)
    assert error < 1e-13


# --- what a loss says of itself


def test_m4_seven_losses_have_the_names_users_write():
    assert set(losses.LOSSES) == set(BY_HAND)
    for name, kind in losses.LOSSES.items():
        assert losses.get(name) == kind()
        assert losses.get(name).name == name


@each_loss
def test_m4_convex_says_whether_a_chord_lies_below(loss):
    a, b = np.meshgrid(np.linspace(-3, 3, 61), np.linspace(-3, 3, 61))
    above = loss.value((a + b) / 2) > (loss.value(a) + loss.value(b)) / 2 + 1e-12
    assert loss.convex == (not above.any())


@each_loss
def test_m4_smooth_says_whether_the_value_bends_without_a_break(loss):
    h = 1e-4
    z = np.linspace(-3, 3, 601)  # its points meet the kinks
    bend = np.abs(loss.value(z + h) - 2 * loss.value(z) + loss.value(z - h)) / h**2
    assert loss.smooth == (bend.max() < 100)
    if loss.smooth:
        assert bend.max() == pytest.approx(loss.max_curvature, rel=1e-3)
        assert loss.curvature(z).max() == pytest.approx(loss.max_curvature)
    else:
        assert loss.max_curvature == np.inf


@each_loss
def test_quadratic_says_whether_the_curvature_is_one_positive_number(loss):
    curvature = loss.curvature(np.linspace(-5, 5, 101))
    assert loss.quadratic == bool(curvature.min() == curvature.max() > 0)


@each_loss
def test_formula_in_words_is_the_value(loss):
    as_python = {
        "[z ≤ 0]": "float(z <= 0)",
        "max(0, −z)": "max(0, -z)",
        "max(0, 1 − z)": "max(0, 1 - z)",
        "max(0, 1 − z)²": "max(0, 1 - z) ** 2",
        "max(0, 1 − z)², or −4z where z < −1": "-4 * z if z < -1 else max(0, 1 - z) ** 2",
        "log(1 + e^(−z))": "math.log(1 + math.e ** (-z))",
        "(1 − z)²": "(1 - z) ** 2",
    }[loss.formula]
    for z in (-2.5, 0.0, 0.5, 1.0, 3.0):
        assert at(loss.value, z) == pytest.approx(eval(as_python, {"math": math, "z": z, "max": max, "float": float}))


# --- edges


@each_loss
@pytest.mark.parametrize("method", ["value", "slope", "curvature", "conjugate"])
def test_huge_arguments_neither_warn_nor_give_nan(loss, method):
    huge = np.array([1e3, 1e5, 1e10, 1e150])
    answers = getattr(loss, method)(np.concatenate([-huge, huge]))
    assert not np.isnan(answers).any()


def test_m4_logistic_has_its_asymptotes_at_huge_agreements():
    z = np.array([-1e308, -1e4, 1e4, 1e308])
    np.testing.assert_array_equal(Logistic().value(z), [1e308, 1e4, 0, 0])
    np.testing.assert_array_equal(Logistic().slope(z), [-1, -1, 0, 0])
    np.testing.assert_array_equal(Logistic().curvature(z), [0, 0, 0, 0])


def test_m4_logistic_keeps_its_digits_for_very_correct_answers():
    z = np.array([40.0, 300.0, 700.0])
    small = [math.exp(-u) for u in z]  # log(1 + ε), ε/(1 + ε) and ε/(1 + ε)² are all ε here
    np.testing.assert_allclose(Logistic().value(z), small, rtol=1e-13)
    np.testing.assert_allclose(-Logistic().slope(z), small, rtol=1e-13)
    np.testing.assert_allclose(Logistic().curvature(z), small, rtol=1e-13)


@each_loss
@pytest.mark.parametrize("method", ["value", "slope", "curvature", "conjugate"])
@pytest.mark.parametrize("shape", [(), (0,), (5,), (2, 3)])
def test_any_shape_goes_in_and_comes_out(loss, method, shape):
    z = np.full(shape, -0.5)
    answer = getattr(loss, method)(z)
    assert np.shape(answer) == shape
    np.testing.assert_array_equal(z, np.full(shape, -0.5))  # and the argument is left alone


@each_loss
@pytest.mark.parametrize("method", ["value", "slope", "curvature", "conjugate"])
@pytest.mark.parametrize("dtype", [np.float32, np.int64])
def test_every_dtype_is_answered_in_double_precision(loss, method, dtype):
    z = np.array([-1e10, -0.9, 0.0, 0.3, 2.0]).astype(dtype)
    answer = getattr(loss, method)(z)
    assert answer.dtype == np.float64
    np.testing.assert_array_equal(answer, getattr(loss, method)(z.astype(np.float64)))


# --- names, identity, losses of one's own


@pytest.mark.parametrize("unknown", ["hing", "", None, 3, Hinge])
def test_unknown_loss_is_refused_with_the_list_of_known_ones(unknown):
    with pytest.raises(ValueError, match=r"is not known; use one of zero_one.*square.*subclass of Loss"):
        losses.get(unknown)


@each_loss
def test_losses_are_equal_by_kind(loss):
    same = type(loss)()
    assert loss == same
    assert hash(loss) == hash(same)
    assert losses.get(loss) is loss
    assert {loss, same} == {loss}
    assert eval(repr(loss), vars(losses)) == loss
    assert loss != losses.get("hinge" if loss.name != "hinge" else "square")


class Cubic(Loss):
    name, formula = "cubic", "max(0, 1 − z)³"

    def value(self, z):
        return np.maximum(0, 1 - z) ** 3


def test_loss_of_ones_own_says_which_function_it_lacks():
    mine = losses.get(Cubic())
    assert at(mine.value, -1.0) == 8
    for method in ("slope", "curvature", "conjugate"):
        with pytest.raises(TypeError, match=rf"Cubic does not define {method}\("):
            getattr(mine, method)(np.zeros(1))
    with pytest.raises(TypeError, match=r"Loss does not define value\(z\)"):
        Loss().value(np.zeros(1))
