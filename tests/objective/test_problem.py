"""The objective, the risk and the mean objective against loops, finite differences and scikit-learn."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.metrics import accuracy_score, log_loss

from linsep import geometry, losses
from linsep._core import Rows
from linsep.losses import Hinge, Logistic, Perceptron, Square, SquaredHinge, ZeroOne
from linsep.objective.problem import MeanObjective, Problem, measure
from linsep.objective.statement import Statement
from linsep.penalties import L1, L2, ElasticNet, NoPenalty

SETTINGS = settings(max_examples=30, deadline=None)

LOSS_BY_HAND = {
    "zero_one": lambda z: 1.0 if z <= 0 else 0.0,
    "perceptron": lambda z: max(0.0, -z),
    "hinge": lambda z: max(0.0, 1 - z),
    "squared_hinge": lambda z: max(0.0, 1 - z) ** 2,
    "logistic": lambda z: math.log(1 + math.exp(-z)),
    "square": lambda z: (1 - z) ** 2,
}
PENALTIES = [L2(), L1(), ElasticNet(0.3), NoPenalty()]
ALL_LOSSES = [losses.get(name) for name in LOSS_BY_HAND]
CONVEX = [loss for loss in ALL_LOSSES if loss.convex]
SMOOTH = [SquaredHinge(), Logistic(), Square()]

each_loss = pytest.mark.parametrize("loss", ALL_LOSSES, ids=repr)
each_penalty = pytest.mark.parametrize("penalty", PENALTIES, ids=repr)
weighted_or_not = pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
with_and_without_intercept = pytest.mark.parametrize("intercept", [False, True], ids=["origin", "intercept"])


def data(seed, n=9, d=3, weighted=False):
    """X, y, s, w, b drawn at random; s is None unless weights are asked for."""
    rng = np.random.default_rng(seed)
    X, w, b = rng.normal(size=(n, d)), rng.normal(size=d), float(rng.normal())
    y = np.where(rng.random(n) < 0.5, -1.0, 1.0)
    return X, y, rng.uniform(0.1, 3, n) if weighted else None, w, b


def losses_by_hand(loss, X, y, w, b):
    """ℓ(z) of every example, in a loop."""
    answer = []
    for x, label in zip(X, y, strict=True):
        g = b
        for xj, wj in zip(x, w, strict=True):
            g += xj * wj
        answer.append(LOSS_BY_HAND[loss.name](label * g))
    return answer


def penalty_by_hand(penalty, w):
    return sum(penalty.l2 * x * x / 2 + penalty.l1 * abs(x) for x in w)


# --- the objective


@each_loss
@each_penalty
@weighted_or_not
def test_objective_is_the_penalty_and_the_weighted_sum_of_losses(loss, penalty, weighted):
    X, y, s, w, b = data(1, weighted=weighted)
    parts = losses_by_hand(loss, X, y, w, b)
    total = sum(parts) if s is None else sum(a * v for a, v in zip(s, parts, strict=True))
    problem = Problem(Rows(X), y, loss, penalty, C=2.5, sample_weight=s)
    assert problem.objective(w, b) == pytest.approx(penalty_by_hand(penalty, w) + 2.5 * total)


@each_penalty
@weighted_or_not
def test_infinite_c_drops_the_penalty(penalty, weighted):
    X, y, s, w, b = data(2, weighted=weighted)
    problem = Problem(Rows(X), y, Hinge(), penalty, C=np.inf, sample_weight=s)
    assert problem.penalty == NoPenalty()
    assert problem.strength == 0
    parts = losses_by_hand(Hinge(), X, y, w, b)
    expected = sum(parts) if s is None else sum(a * v for a, v in zip(s, parts, strict=True))
    assert problem.objective(w, b) == pytest.approx(expected)
    assert problem.formula == ("Σ max(0, 1 − z)" if s is None else "Σ s·max(0, 1 − z)")


def test_no_penalty_is_the_default():
    X, y, _, w, b = data(3)
    assert Problem(Rows(X), y, Hinge()).objective(w, b) == pytest.approx(sum(losses_by_hand(Hinge(), X, y, w, b)))


def test_intercept_is_never_penalised():
    X, y, _, w, _ = data(4)
    far = Problem(Rows(X), y, ZeroOne(), L2(), C=1.0)
    assert far.objective(w, 1e9) - far.objective(w, 1e6) == 0  # the same mistakes, and b costs nothing


@SETTINGS
@given(seed=st.integers(0, 10_000))
def test_m2_augmentation_gives_the_same_risk_and_differs_by_the_penalty_on_b(seed):
    X, y, s, w, b = data(seed, weighted=True)
    apart = Problem(Rows(X), y, Logistic(), C=3.0, sample_weight=s)
    joined = Problem(Rows(geometry.augment(X)), y, Logistic(), C=3.0, sample_weight=s, fit_intercept=False)
    theta = np.append(w, b)
    np.testing.assert_allclose(joined.agreements(theta, 0.0), apart.agreements(w, b), atol=1e-12)
    assert joined.evaluate(theta, 0.0).risk == pytest.approx(apart.evaluate(w, b).risk)
    assert joined.objective(theta, 0.0) - apart.objective(w, b) == pytest.approx(b * b / 2)


def test_m2_gradient_of_the_separate_bias_is_that_of_the_column_of_ones():
    X, y, s, w, b = data(5, weighted=True)
    theta = np.append(w, b)
    apart = MeanObjective(Problem(Rows(X), y, Logistic(), sample_weight=s))
    joined = MeanObjective(Problem(Rows(geometry.augment(X)), y, Logistic(), sample_weight=s, fit_intercept=False))
    np.testing.assert_allclose(apart.gradient(theta), joined.gradient(theta), rtol=1e-12)


def test_c_is_half_the_c_of_the_slides():
    # 002 minimises ‖w‖² + c Σ ξ; ours is half of it with C = c/2
    X, y, _, w, b = data(6)
    c = 7.0
    slides = sum(x * x for x in w) + c * sum(losses_by_hand(Hinge(), X, y, w, b))
    assert 2 * Problem(Rows(X), y, Hinge(), C=c / 2).objective(w, b) == pytest.approx(slides)


def test_gradient_is_the_subgradient_of_the_slides():
    # 002: Σ [z ≤ 1] (−y x) + (2/c) w for w and Σ [z ≤ 1] (−y) for b
    X, y, _, w, b = data(7)
    c, n = 7.0, len(y)
    inside = [label * (x @ w + b) <= 1 for x, label in zip(X, y, strict=True)]
    expected_w = sum(-label * x for x, label, hit in zip(X, y, inside, strict=True) if hit) + 2 / c * w
    expected_b = sum(-label for label, hit in zip(y, inside, strict=True) if hit)
    F = MeanObjective(Problem(Rows(X), y, Hinge(), C=c / 2))
    np.testing.assert_allclose(n * F.gradient(np.append(w, b)), np.append(expected_w, expected_b), rtol=1e-12)


@pytest.mark.parametrize(
    ("options", "formula"),
    [
        ({}, "Σ max(0, 1 − z)"),
        ({"C": 1.0}, "½‖w‖² + Σ max(0, 1 − z)"),
        ({"C": 10.0}, "½‖w‖² + 10·Σ max(0, 1 − z)"),
        ({"C": 0.25, "penalty": L1()}, "‖w‖₁ + 0.25·Σ max(0, 1 − z)"),
        ({"C": 2.0, "penalty": ElasticNet(0.5)}, "0.5·½‖w‖² + 0.5·‖w‖₁ + 2·Σ max(0, 1 − z)"),
        ({"C": 2.0, "sample_weight": np.ones(2)}, "½‖w‖² + 2·Σ s·max(0, 1 − z)"),
        ({"penalty": L1(), "sample_weight": np.ones(2)}, "Σ s·max(0, 1 − z)"),
    ],
)
def test_formula_says_what_is_minimised(options, formula):
    assert Problem(Rows(np.eye(2)), np.array([1.0, -1.0]), Hinge(), **options).formula == formula


@each_loss
def test_formula_ends_with_the_formula_of_the_loss(loss):
    problem = Problem(Rows(np.eye(2)), np.array([1.0, -1.0]), loss, C=1.0)
    assert problem.formula == f"½‖w‖² + Σ {loss.formula}"


# --- M5: risks


@each_loss
@SETTINGS
@given(seed=st.integers(0, 10_000))
def test_m5_risk_is_the_mean_loss(loss, seed):
    X, y, _, w, b = data(seed)
    parts = losses_by_hand(loss, X, y, w, b)
    problem = Problem(Rows(X), y, loss, C=4.0)
    assert problem.evaluate(w, b).risk == pytest.approx(sum(parts) / len(parts))
    assert MeanObjective(problem).risk(np.append(w, b)) == pytest.approx(problem.evaluate(w, b).risk)


@SETTINGS
@given(seed=st.integers(0, 10_000))
def test_m5_zero_one_risk_is_one_minus_the_accuracy(seed):
    X, y, s, w, b = data(seed, weighted=seed % 2 == 0)
    accuracy = accuracy_score(y, geometry.side(X, w, b), sample_weight=s)
    problem = Problem(Rows(X), y, ZeroOne(), sample_weight=s)
    assert problem.evaluate(w, b).risk == pytest.approx(1 - accuracy, abs=1e-12)
    assert problem.evaluate(w, b).zero_one == pytest.approx(problem.evaluate(w, b).risk)
    assert MeanObjective(problem).zero_one(np.append(w, b)) == pytest.approx(problem.evaluate(w, b).risk)


def test_m5_zero_one_is_known_whatever_the_loss():
    X, y, _, w, b = data(8)
    expected = sum(losses_by_hand(ZeroOne(), X, y, w, b)) / len(y)
    for loss in ALL_LOSSES:
        assert Problem(Rows(X), y, loss).evaluate(w, b).zero_one == pytest.approx(expected)


def test_m5_training_point_on_the_plane_counts_as_a_mistake():
    # predicted +1 (M1), yet an error in training (000, eq. 2)
    on_the_plane = Problem(Rows(np.array([[1.0, 1.0]])), np.array([1.0]), ZeroOne())
    assert on_the_plane.evaluate(np.array([1.0, -1.0]), 0.0).zero_one == 1
    assert on_the_plane.evaluate(np.zeros(2), 0.0).zero_one == 1


@SETTINGS
@given(seed=st.integers(0, 10_000))
def test_m5_logistic_risk_is_the_log_loss_of_scikit_learn(seed):
    X, y, s, w, b = data(seed, weighted=True)
    p = [1 / (1 + math.exp(-(x @ w + b))) for x in X]
    expected = log_loss(y, p, sample_weight=s, labels=[-1, 1])
    assert Problem(Rows(X), y, Logistic(), sample_weight=s).evaluate(w, b).risk == pytest.approx(expected, rel=1e-7)


@each_loss
def test_m5_whole_weights_are_repeated_examples(loss):
    X, y, _, w, b = data(9)
    s = np.array([1, 2, 0, 3, 1, 0, 2, 5, 1])
    weighted = Problem(Rows(X), y, loss, C=2.0, sample_weight=s.astype(float))
    repeated = Problem(Rows(np.repeat(X, s, axis=0)), np.repeat(y, s), loss, C=2.0)
    assert weighted.total_weight == repeated.total_weight == 15
    assert weighted.evaluate(w, b).risk == pytest.approx(repeated.evaluate(w, b).risk)
    assert weighted.evaluate(w, b).zero_one == pytest.approx(repeated.evaluate(w, b).zero_one)
    assert weighted.objective(w, b) == pytest.approx(repeated.objective(w, b))
    F, G, theta = MeanObjective(weighted), MeanObjective(repeated), np.append(w, b)
    assert F.value(theta) == pytest.approx(G.value(theta))
    np.testing.assert_allclose(F.gradient(theta), G.gradient(theta), atol=1e-12)


def test_perceptron_risk_has_its_trivial_minimum_at_zero_but_a_slope_there():
    # errata of 001 and 003: R(0) = 0, and the z ≤ 0 rule moves a perceptron that starts there
    X, y, _, _, _ = data(10)
    F = MeanObjective(Problem(Rows(X), y, Perceptron(), fit_intercept=False))
    assert F.value(np.zeros(3)) == 0
    expected = -sum(label * x for x, label in zip(X, y, strict=True)) / len(y)
    np.testing.assert_allclose(F.gradient(np.zeros(3)), expected)


# --- the mean objective


@each_loss
@each_penalty
@weighted_or_not
def test_mean_objective_is_the_objective_over_c_and_the_weights(loss, penalty, weighted):
    X, y, s, w, b = data(11, weighted=weighted)
    problem = Problem(Rows(X), y, loss, penalty, C=0.7, sample_weight=s)
    weight = len(y) if s is None else sum(s)
    assert problem.total_weight == pytest.approx(weight)
    assert MeanObjective(problem).value(np.append(w, b)) * 0.7 * weight == pytest.approx(problem.objective(w, b))


@pytest.mark.parametrize("loss", SMOOTH, ids=repr)
@each_penalty
@weighted_or_not
@with_and_without_intercept
@pytest.mark.parametrize("C", [0.3, np.inf])
def test_gradient_is_the_central_difference(loss, penalty, weighted, intercept, C):
    X, y, s, w, b = data(12, weighted=weighted)
    F = MeanObjective(Problem(Rows(X), y, loss, penalty, C=C, sample_weight=s, fit_intercept=intercept))
    theta, h = F.problem.join(w, b), 1e-6
    differences = [(F.value(theta + e) - F.value(theta - e)) / (2 * h) for e in h * np.eye(len(theta))]
    np.testing.assert_allclose(F.gradient(theta), differences, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("loss", CONVEX, ids=repr)
@pytest.mark.parametrize("penalty", PENALTIES, ids=repr)
@SETTINGS
@given(seed=st.integers(0, 10_000))
def test_gradient_is_a_subgradient(loss, penalty, seed):
    X, y, s, w, b = data(seed, weighted=True)
    F = MeanObjective(Problem(Rows(X), y, loss, penalty, C=0.5, sample_weight=s))
    theta = np.append(w, b) * (seed % 3 > 0)  # a third of them at 0, among the kinks
    other = theta + np.random.default_rng(seed).normal(size=4)
    assert F.value(other) >= F.value(theta) + F.gradient(theta) @ (other - theta) - 1e-10


@with_and_without_intercept
def test_split_and_join_are_inverse(intercept):
    X, y, _, w, b = data(13)
    F = MeanObjective(Problem(Rows(X), y, Hinge(), fit_intercept=intercept))
    theta = F.problem.join(w, b)
    assert theta.shape == (3 + intercept,)
    back, bias = F.problem.split(theta)
    np.testing.assert_array_equal(back, w)
    assert bias == (b if intercept else 0.0)
    theta[0] = 99.0
    assert w[0] != 99.0  # θ is a copy


def test_remembered_agreements_follow_a_point_changed_in_place():
    X, y, _, w, b = data(14)
    problem = Problem(Rows(X), y, Logistic(), C=1.0)
    F, theta = MeanObjective(problem), np.append(w, b)
    F.value(theta)
    theta *= -2
    assert F.value(theta) == MeanObjective(problem).value(theta)
    np.testing.assert_array_equal(F.gradient(theta), MeanObjective(problem).gradient(theta))


def test_a_point_is_looked_at_once():
    class CountingRows(Rows):
        looks = 0

        def evaluate(self, *args, **options):
            self.looks += 1
            return super().evaluate(*args, **options)

    X, y, _, w, b = data(15)
    rows, theta = CountingRows(X), np.append(w, b)
    F = MeanObjective(Problem(rows, y, Logistic(), C=1.0))
    F.value(theta), F.gradient(theta), F.risk(theta), F.zero_one(theta)
    assert rows.looks == 1


def test_asking_twice_gives_the_same_answer():
    X, y, s, w, b = data(16, weighted=True)
    F, theta = MeanObjective(Problem(Rows(X), y, Hinge(), C=1.0, sample_weight=s)), np.append(w, b)
    first, again = ((F.value(theta), *F.gradient(theta), F.zero_one(theta)) for _ in range(2))
    assert first == again
    np.testing.assert_array_equal(data(16, weighted=True)[2], s)  # and the data are left alone


# --- kinds of matrix


@each_loss
@pytest.mark.parametrize(
    "kind",
    [
        sparse.csr_array,
        sparse.csr_matrix,
        sparse.csc_array,
        np.asfortranarray,
        np.float32,
        lambda X: sparse.csr_array(X.astype(np.float32)),
        lambda X: X.astype(">f8"),
    ],
    ids=["csr_array", "csr_matrix", "csc_array", "fortran", "float32", "csr float32", "big-endian"],
)
def test_every_kind_of_matrix_gives_the_same_problem(loss, kind):
    X, y, s, w, b = data(17, n=20, d=5, weighted=True)
    X = np.round(X * 4) / 4 * (np.abs(X) > 0.5)  # exact in float32, with zeros
    theta = np.append(w, b)
    dense, other = (Problem(Rows(A), y, loss, C=1.5, sample_weight=s) for A in (X, kind(X)))
    np.testing.assert_allclose(other.agreements(w, b), dense.agreements(w, b), rtol=1e-12, atol=1e-12)
    assert other.objective(w, b) == pytest.approx(dense.objective(w, b), rel=1e-12)
    assert other.evaluate(w, b).zero_one == dense.evaluate(w, b).zero_one
    F, G = MeanObjective(dense), MeanObjective(other)
    np.testing.assert_allclose(G.gradient(theta), F.gradient(theta), rtol=1e-11, atol=1e-12)


def test_agreements_at_zero_weights_are_the_labelled_bias():
    X, y, _, _, _ = data(18)
    np.testing.assert_array_equal(Problem(Rows(X), y, Hinge()).agreements(np.zeros(3), 2.0), 2 * y)


def test_huge_weights_do_not_warn():
    X, y, _, w, b = data(19)
    problem = Problem(Rows(X), y, Logistic(), C=1.0)
    assert np.isfinite(problem.objective(1e100 * w, b))
    assert np.isfinite(MeanObjective(problem).gradient(np.append(1e100 * w, b))).all()


@each_penalty
@weighted_or_not
@with_and_without_intercept
@pytest.mark.parametrize("loss", CONVEX, ids=repr)
def test_planes_measured_together_are_those_measured_one_by_one(loss, penalty, weighted, intercept):
    rng = np.random.default_rng(0)
    X, Y, W = rng.standard_normal((9, 3)), rng.choice([-1.0, 1.0], (9, 4)), rng.standard_normal((3, 4))
    b, weight = rng.standard_normal(4) * intercept, rng.uniform(0.5, 2.0, 9) if weighted else None
    shared = dict(loss=loss, penalty=penalty, C=0.7, sample_weight=weight, fit_intercept=intercept)
    problems = [Problem(Rows(X), Y[:, k].copy(), **shared) for k in range(4)]
    together = measure(problems[0], Y, W, b)
    for k, problem in enumerate(problems):
        f = MeanObjective(problem)
        theta = f.problem.join(W[:, k], b[k])
        alone = f.value(theta), f.risk(theta), f.zero_one(theta), np.linalg.norm(f.gradient(theta))
        seen = [part[k] for part in (together.objective, together.risk, together.zero_one, together.gradient_norm)]
        np.testing.assert_allclose(seen, alone, rtol=1e-12)
    assert together.finite.all()
    W[1, 2] = np.nan
    with np.errstate(invalid="ignore"):
        assert measure(problems[0], Y, W, b).finite.tolist() == [True, True, False, True]


@pytest.mark.parametrize(
    ("penalty", "C", "said"), [(L2(), 2.0, True), (L2(), math.inf, False), (NoPenalty(), 2.0, False)]
)
def test_a_statement_and_its_objective_agree_on_what_counts(penalty, C, said):
    statement = Statement(Logistic(), penalty, C, True)
    objective = Problem(Rows(np.eye(2)), np.array([1.0, -1.0]), Logistic(), penalty, C)
    assert statement.penalised == objective.penalised == said
    assert statement.in_force == (objective.penalty, objective.weight_of_loss)
