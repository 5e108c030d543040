"""Fits without a penalty against 50-digit Newton: right and proven, or warned about, never silent."""

import warnings
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from linsep import HardMarginSVC, LeastSquaresClassifier, LinearClassifier, LinearSVC, LogisticRegression
from linsep._core import Rows
from linsep.arithmetic.compensated import split_product
from linsep.arithmetic.redundancy import find_redundancy
from linsep.losses import Logistic
from linsep.objective import curvature
from linsep.objective.problem import Problem
from linsep.solvers.newton.polishing import _Landscape

mpmath = pytest.importorskip("mpmath")


def labels(rng, odds):
    return (rng.random(len(odds)) < 1 / (1 + np.exp(-odds))).astype(int)


def collinear(noise, n=150):
    rng = np.random.default_rng(1)
    z = rng.normal(size=n)
    return np.c_[z, z + noise * rng.normal(size=n)], labels(rng, z)


def polynomial(n=200):
    rng = np.random.default_rng(2)
    t = rng.uniform(0, 10, n)
    return np.vander(t, 11)[:, :-1], labels(rng, np.sin(t))


def time_stamps(n=150):
    rng = np.random.default_rng(3)
    t = np.floor(1.6e9 + rng.uniform(0, 3e7, n))
    z = rng.normal(size=n)
    return np.c_[t, z], labels(rng, z + (t - 1.615e9) / 1e7)


def far_from_zero(n=150):
    rng = np.random.default_rng(4)
    z = rng.normal(size=(n, 3))
    return 1e8 + z, labels(rng, z[:, 0])


def scales(n=150):
    rng = np.random.default_rng(5)
    z = rng.normal(size=(n, 5))
    return z * 10.0 ** np.array([-8, -4, 0, 4, 8]), labels(rng, z[:, 0] - z[:, 4])


def imbalance(n=20_002):
    rng = np.random.default_rng(6)
    z = np.round(2 * rng.normal(size=(n, 2))) / 2  # on a grid: few different rows, for the sake of the oracle
    y = np.zeros(n, dtype=int)
    y[:2] = 1  # 1 : 10,000
    return z, y


def overlap_by(width):
    x = np.concatenate([np.linspace(-1, 0, 50), np.linspace(width, 1, 50)])
    y = np.repeat([0, 1], 50)
    y[49], y[50] = 1, 0
    return x[:, None], y


HARD = {
    "collinear 1e-8": collinear(1e-8),
    "collinear 1e-11": collinear(1e-11),
    "polynomial of degree 10": polynomial(),
    "time stamps": time_stamps(),
    "means of 1e8": far_from_zero(),
    "scales 1e-8 to 1e8": scales(),
    "1 : 10,000": imbalance(),
    "overlap by 1e-9": overlap_by(1e-9),
}


def fifty_digits(X, y, start):
    """Newton's method on the likelihood in 50 digits: θ and the objective at the optimum."""
    mp = mpmath.mp.clone()
    mp.dps = 50
    groups, counts = np.unique(np.c_[X, y], axis=0, return_counts=True)
    rows = [[mp.mpf(float(v)) for v in row[:-1]] + [mp.mpf(1)] for row in groups]
    sign = [1 if row[-1] else -1 for row in groups]
    d = len(rows[0])

    def value(theta):
        return mp.fsum(
            int(n) * mp.log1p(mp.exp(-s * mp.fdot(row, theta))) for n, s, row in zip(counts, sign, rows, strict=True)
        )

    theta = [mp.mpf(float(v)) for v in start]
    for _ in range(100):
        g, H = mp.matrix(d, 1), mp.matrix(d, d)
        for n, s, row in zip(counts, sign, rows, strict=True):
            p = 1 / (1 + mp.exp(s * mp.fdot(row, theta)))
            for i in range(d):
                g[i] -= int(n) * s * p * row[i]
                for j in range(i + 1):
                    H[i, j] += int(n) * p * (1 - p) * row[i] * row[j]
        for i in range(d):
            for j in range(i):
                H[j, i] = H[i, j]
        step = mp.lu_solve(H, -g)
        t, now = mp.mpf(1), value(theta)
        while value([a + t * b for a, b in zip(theta, step, strict=True)]) > now and t > mp.mpf(10) ** -20:
            t /= 2
        theta = [a + t * b for a, b in zip(theta, step, strict=True)]
        if -mp.fdot(list(g), list(step)) < mp.mpf(10) ** -32 * now:
            break
    return theta, value(theta), value


def fitted(model, X, y, **more):
    """The fitted model, and what it warned of."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(X, y, **more)
    return model, [str(one.message) for one in caught if issubclass(one.category, ConvergenceWarning)]


@pytest.mark.parametrize("name", HARD)
def test_hard_data_are_solved_and_proven_or_it_is_said(name):
    X, y = HARD[name]
    model, warned = fitted(LogisticRegression(C=np.inf), X, y)
    assert model.converged_ == model.certificate_.proven
    assert model.converged_ or warned
    theta = np.append(model.coef_[0], model.intercept_)
    exact, least, value = fifty_digits(X, y, theta)
    reached = value([mpmath.mpf(float(v)) for v in theta])
    assert model.converged_
    assert not warned
    assert (reached - least) / least <= model.dual_gap_ <= 1e-10
    outcome = model.certificate_.verify(X, y)
    assert outcome
    assert outcome.proven
    np.testing.assert_allclose(theta, [float(v) for v in exact], rtol=1e-4)


# -- redundant columns ------------------------------------------------------------------------------------------------


def one_hot(seed, n=120, levels=4):
    rng = np.random.default_rng(seed)
    level, z = rng.integers(0, levels, n), rng.normal(size=n)
    return np.c_[np.eye(levels)[level], z], labels(rng, z + 0.5 * level - 0.7)


@pytest.mark.parametrize("seed", range(24))
def test_all_levels_beside_an_intercept_are_proven_and_told(seed):
    X, y = one_hot(seed)
    model, warned = fitted(LogisticRegression(C=np.inf), X, y)
    assert model.converged_
    assert not warned
    assert model.dual_gap_ <= 1e-10
    assert model.redundant_ == {"x3": "1 − x0 − x1 − x2"}
    assert "redundant   x3 = 1 − x0 − x1 − x2" in model.summary()
    assert model.certificate_.verify(X, y).proven


def dropped(X):
    """The columns without those that are redundant, by NumPy's rank."""
    kept = []
    for j in range(X.shape[1]):
        A = np.c_[np.ones(len(X)), X[:, [*kept, j]]]
        if np.linalg.matrix_rank(A) == A.shape[1]:
            kept.append(j)
    return kept


def shortest(X, w, b):
    """The coefficients of least length with the same scores, by NumPy: the intercept is free."""
    scores = X @ w + b
    centred = X - X.mean(axis=0)
    found = np.linalg.lstsq(centred, scores - scores.mean(), rcond=1e-10)[0]
    return found, scores.mean() - X.mean(axis=0) @ found


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_matrix], ids=["dense", "sparse"])
@pytest.mark.parametrize("model", [LogisticRegression(C=np.inf), LeastSquaresClassifier()], ids=["logistic", "square"])
def test_coefficients_of_redundant_columns_are_those_of_least_norm(model, kind):
    rng = np.random.default_rng(8)
    X, y = one_hot(8)
    z = X[:, 4]
    X = np.c_[X, z, 2 * z, np.full(len(y), 3.0), np.zeros(len(y)), (X[:, 0] + 2 * X[:, 1]) / 4, rng.normal(size=len(y))]
    found, warned = fitted(model, kind(X), y)
    assert found.converged_, warned
    assert found.redundant_ == {
        "x3": "1 − x0 − x1 − x2",
        "x5": "x4",
        "x6": "2·x4",
        "x7": "3",
        "x8": "0",
        "x9": "(1/4)·x0 + (1/2)·x1",
    }
    w, b = shortest(X, found.coef_[0], found.intercept_[0])
    np.testing.assert_allclose(found.coef_[0], w, atol=1e-7)
    np.testing.assert_allclose(found.intercept_[0], b, atol=1e-7)
    kept = dropped(X)
    smaller, _ = fitted(type(model)(**model.get_params()), X[:, kept], y)
    np.testing.assert_allclose(found.decision_function(X), smaller.decision_function(X[:, kept]), atol=1e-5)
    assert found.certificate_.verify(kind(X), y).proven


def test_redundant_columns_have_their_names():
    pandas = pytest.importorskip("pandas")
    X, y = one_hot(3, levels=3)
    frame = pandas.DataFrame(X, columns=["red", "green", "blue", "size in m"])
    model, _ = fitted(LogisticRegression(C=np.inf), frame, y)
    assert model.redundant_ == {"blue": "1 − red − green"}


def test_redundant_columns_of_several_classes():
    X, y = one_hot(5, n=300)
    y = np.where(np.arange(300) % 3 == 0, 2, y)
    for model in (LogisticRegression(C=np.inf), LogisticRegression(C=np.inf, multi_class="ovr")):
        found, warned = fitted(model, X, y)
        assert found.converged_, warned
        assert found.redundant_ == {"x3": "1 − x0 − x1 − x2"}
        assert found.certificate_.verify(X, y).proven
        np.testing.assert_allclose(found.coef_[:, :4].sum(axis=1), 0.0, atol=1e-8)  # of least norm


def test_rows_without_weight_do_not_keep_columns_apart():
    X, y = one_hot(6)
    weight = np.ones(len(y))
    X, y, weight = np.vstack([X, [1, 1, 1, 1, 0]]), np.append(y, 1), np.append(weight, 0.0)
    found, warned = fitted(LogisticRegression(C=np.inf), X, y, sample_weight=weight)
    assert found.converged_, warned
    assert found.redundant_ == {"x3": "1 − x0 − x1 − x2"}


def test_with_a_penalty_nobody_looks_for_redundant_columns():
    assert LogisticRegression().fit(*one_hot(1)).redundant_ == {}


def fractions(A):
    return [[Fraction(float(v)) for v in row] for row in A]


def exact_rank(A):
    """The rank by elimination in fractions."""
    rows, rank = fractions(A), 0
    for j in range(len(rows[0]) if rows else 0):
        pivot = next((i for i in range(rank, len(rows)) if rows[i][j]), None)
        if pivot is None:
            continue
        rows[rank], rows[pivot] = rows[pivot], rows[rank]
        for i in range(rank + 1, len(rows)):
            factor = rows[i][j] / rows[rank][j]
            rows[i] = [a - factor * b for a, b in zip(rows[i], rows[rank], strict=True)]
        rank += 1
    return rank


def test_a_column_that_is_another_times_more_than_a_float_holds_is_kept():
    a = np.array([1.0, 2.0, -3.0])
    X = np.column_stack([np.ldexp(a, -700), np.ldexp(a, 700)])  # 2^1400 times, exactly
    found = find_redundancy(X, intercept=False)
    assert not found.combinations
    assert [near.column for near in found.nearly] == [1]


@given(
    seed=st.integers(0, 2**32 - 1),
    rank=st.integers(1, 4),
    d=st.integers(1, 7),
    intercept=st.booleans(),
    scale=st.sampled_from([1.0, 0.5, 3.0, 1e6]),
)
@settings(max_examples=60, deadline=None)
def test_redundancy_is_what_elimination_in_fractions_finds(seed, rank, d, intercept, scale):
    rng = np.random.default_rng(seed)
    X = rng.integers(-9, 10, (30, rank)) @ rng.integers(-3, 4, (rank, d)) * scale
    found = find_redundancy(X, intercept=intercept)
    A = np.c_[X, np.ones(30)] if intercept else X
    assert A.shape[1] - len(found.combinations) == exact_rank(A)
    assert not found.nearly
    exact = fractions(np.c_[X, np.ones(30)])
    for j, others in found.combinations.items():
        assert not set(others) & set(found.combinations)
        assert all(row[j] == sum(c * row[k] for k, c in others.items()) for row in exact)


def test_a_sum_that_was_rounded_is_nearly_redundant_and_not_more():
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 100))
    found = find_redundancy(np.c_[a, b, a / 3 + b], intercept=True)
    assert not found.combinations
    (near,) = found.nearly
    assert near.in_words(["a", "b", "c"]) == (
        "column c is nearly a combination of a and b: about 15 of their 16 digits agree"
    )


@given(seed=st.integers(0, 2**32 - 1), k=st.integers(1, 40), spread=st.integers(0, 40))
@settings(max_examples=40, deadline=None)
def test_split_products_are_as_exact_as_they_say(seed, k, spread):
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(4, k)) * 2.0 ** rng.integers(-spread, spread + 1, (4, k))
    B = rng.normal(size=(k, 3)) * 2.0 ** rng.integers(-spread, spread + 1, (k, 3))
    high, low, error = split_product(A, B)
    a, b = fractions(A), fractions(B)
    for i in range(4):
        for j in range(3):
            exact = sum(a[i][m] * b[m][j] for m in range(k))
            assert abs(Fraction(high[i, j]) + Fraction(low[i, j]) - exact) <= Fraction(error[i, j])
    assert (error <= 1e-22 * k * np.outer(np.abs(A).max(axis=1), np.abs(B).max(axis=0))).all()


# -- what is said where nothing is proven -----------------------------------------------------------------------------


def test_columns_that_rounding_tells_apart_are_named():
    X, y = collinear(1e-8)
    X = np.c_[X, X[:, 0] / 3 + X[:, 1]]
    model, (warning,) = fitted(LogisticRegression(C=np.inf), X, y)
    assert not model.converged_
    assert "column x2 is nearly a combination of x0 and x1" in warning
    assert "not tol=0.0001" in warning
    assert np.abs(model.coef_).max() < 1e9  # not drawn into the digits that rounding made


def test_losses_without_curvature_prove_nothing_without_a_penalty():
    X, y = one_hot(2)
    model, (warning,) = fitted(LinearSVC(loss="hinge", C=np.inf), X[:, 3:], y)
    assert not model.converged_
    assert not model.certificate_.proven
    assert "use a finite C" in warning


def test_planes_that_make_no_mistake_are_proven_without_curvature():
    X, y = [[0.0], [1.0], [3.0], [4.0]], [0, 0, 1, 1]
    model, warned = fitted(LinearSVC(loss="squared_hinge", C=np.inf), X, y)
    assert model.converged_
    assert model.certificate_.proven
    assert not warned


def test_more_columns_than_rows_are_said_to_be_too_many():
    X, y = np.random.default_rng(0).normal(size=(3, 10)), np.repeat([0, 1], 3)
    model, (warning,) = fitted(LogisticRegression(C=np.inf), np.vstack([X, X]), y)
    assert not model.converged_
    assert "fewer rows than columns" in warning


@pytest.mark.parametrize("shape", [(2, 1), (6, 10)])
def test_of_squares_that_are_as_good_as_zero_nothing_is_proven(shape):
    X = np.random.default_rng(0).normal(size=shape)
    model, warned = fitted(LeastSquaresClassifier(), X, np.arange(shape[0]) % 2)
    assert not model.converged_
    assert "of an objective that small no share can be proven" in warned[0]
    np.testing.assert_allclose(model.decision_function(X), 2.0 * (np.arange(shape[0]) % 2) - 1, atol=1e-10)


@pytest.mark.parametrize("solver", ["gradient_descent", "sgd"])
def test_a_solver_that_stops_early_is_not_said_to_have_converged(solver):
    X, y = one_hot(4)
    model, warned = fitted(LinearClassifier("logistic", solver=solver, tol=1e-12, random_state=0), X, y)
    assert not model.converged_
    assert "1e-12" in warned[0]
    assert model.certificate_.relative_gap > 1e-12


def test_a_loss_without_a_conjugate_has_its_solvers_word():
    from linsep.losses import Loss

    class Bent(Loss):
        name, formula, smooth, max_curvature = "bent", "log(1 + e^(−z)) again", True, 0.25

        def value(self, z):
            return np.logaddexp(0.0, -z)

        def slope(self, z):
            return -1.0 / (1.0 + np.exp(z))

        def curvature(self, z):
            return 0.25 / np.cosh(z / 2) ** 2

    X, y = one_hot(4)
    model, warned = fitted(LinearClassifier(Bent(), solver="gradient_descent"), X, y)
    assert model.converged_ == (not warned)
    with pytest.raises(AttributeError, match="conjugate"):
        _ = model.certificate_


def test_hard_margins_converge_where_it_is_proven():
    X, y = [[0.0, 0.0], [0.0, 1.0], [4.0, 3.0]], [0, 0, 1]
    model, warned = fitted(HardMarginSVC(), X, y)
    assert model.converged_
    assert not warned


@pytest.mark.parametrize(
    ("X", "y", "words"),
    [
        ([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1], "are separable"),
        ([[0.0], [1.0], [1.0], [2.0]], [0, 0, 1, 1], "are quasi-separable"),
        ([[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]], [0, 0, 1, 1, 2, 2], "a plane separates class 0 from the rest"),
    ],
)
def test_without_an_optimum_that_is_told(X, y, words):
    model, (warning,) = fitted(LogisticRegression(C=np.inf), X, y)
    assert not model.converged_
    assert words in warning
    # Of quasi-separable classes the infimum is above zero, and can be come near to.
    assert model.certificate_.proven == ("quasi" in words)


@pytest.mark.parametrize("intercept", [True, False])
def test_softmax_on_hard_columns_is_proven(intercept):
    rng = np.random.default_rng(9)
    z = rng.normal(size=300)
    X = np.c_[z, z + 1e-7 * rng.normal(size=300), 1e4 * rng.normal(size=300)]
    y = rng.integers(0, 3, 300)
    model, warned = fitted(LogisticRegression(C=np.inf, fit_intercept=intercept), X, y)
    assert model.converged_, warned
    assert model.dual_gap_ <= 1e-10
    assert model.certificate_.verify(X, y).proven


@pytest.mark.parametrize("name", ["collinear 1e-8", "scales 1e-8 to 1e8", "polynomial of degree 10", "means of 1e8"])
def test_least_squares_on_hard_columns_is_proven(name):
    X, y = HARD[name]
    model, warned = fitted(LeastSquaresClassifier(), X, y)
    assert model.converged_, warned
    mp = mpmath.mp.clone()
    mp.dps = 60
    A, t = mp.matrix(np.c_[X, np.ones(len(y))].tolist()), mp.matrix((2.0 * y - 1).tolist())
    theta = mp.lu_solve(A.T * A, A.T * t)
    least = sum(v**2 for v in A * theta - t)
    found = mp.matrix(np.append(model.coef_[0], model.intercept_).tolist())
    reached = sum(v**2 for v in A * found - t)
    assert (reached - least) / least <= model.dual_gap_ <= 1e-4


# -- data larger than memory ------------------------------------------------------------------------------------------


def streamed(tmp_path, X, y, **settings):
    pytest.importorskip("pyarrow")
    from linsep.workflows.streaming import Request, fit_in_parts

    path = tmp_path / "data.csv"
    lines = [",".join([*(repr(float(v)) for v in row), f"class {label}"]) for row, label in zip(X, y, strict=True)]
    path.write_text("\n".join([",".join([*(f"a{j}" for j in range(X.shape[1])), "y"]), *lines]))
    found = fit_in_parts(Request(str(path), "y", 8 * 10**9, C=np.inf, **settings))
    found.folder.remove()
    return found


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("balanced", [False, True])
def test_streamed_fits_are_proven_by_passes_over_the_rows(tmp_path, classes, balanced):
    rng = np.random.default_rng(classes)
    X, y = rng.normal(size=(500, 3)), rng.integers(0, classes, 500)
    found = streamed(tmp_path, np.c_[X, 4 * X[:, 0]], y, class_weight=("balanced",) if balanced else ())
    assert found.model.converged_
    assert found.model.certificate_.proven
    assert not found.facts.notes


def test_streamed_fits_without_an_optimum_have_not_converged(tmp_path):
    X = np.random.default_rng(0).normal(size=(300, 2))
    found = streamed(tmp_path, X, (X[:, 0] > 0).astype(int))
    assert not found.model.converged_
    assert "no finite optimum exists" in found.facts.notes[-1]
    assert "to infinity run a0 (+∞)" in found.facts.notes[-1]


@pytest.mark.parametrize("seed", range(3))
def test_the_hinge_without_a_penalty_and_through_the_origin_is_least_at_a_kink(seed):
    rng = np.random.default_rng(seed)
    x = 100 + rng.standard_normal(18)
    y = (x + rng.standard_normal(18) > 100).astype(int)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # no α but 0 has Σ α y x = 0 exactly
        model = LinearSVC(C=np.inf, fit_intercept=False).fit(x[:, None], y)

    def risk(w):
        return np.maximum(0, 1 - (2 * y - 1) * x * w).sum()

    assert risk(model.coef_[0, 0]) <= min(map(risk, np.concatenate([1 / x, -1 / x, [0.0]]))) * (1 + 1e-4)


def test_columns_that_are_combinations_of_others_are_looked_for_once_in_all_steps(monkeypatch):
    rng = np.random.default_rng(0)
    level = rng.integers(0, 3, 200)
    X = np.column_stack([np.eye(3)[level], rng.normal(size=(200, 2))])
    problem = Problem(Rows(X), np.where(X[:, 3] + rng.logistic(size=200) > 0, 1.0, -1.0), Logistic())
    calls = []
    monkeypatch.setattr(
        curvature, "find_redundancy", lambda *given, **more: calls.append(1) or find_redundancy(*given, **more)
    )
    found = _Landscape(problem, 1e-6).descend(np.zeros(6), 1e-6, 1e-6)
    assert found.steps > 1
    assert found.look.redundancy.combinations
    assert len(calls) == 1
