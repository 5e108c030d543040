"""What maximum likelihood says of each coefficient, against linear programs over the cone in fractions."""

import dataclasses
import itertools
import json
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.optimize import minimize

import linsep
from clock import stepped_time
from cone import aliased_of, designs, estimates_of, face_of, in_cone, signed, unit, verdict_of
from linsep import Estimates, estimates, separability
from linsep.exact import ProofTimeoutError
from linsep.separation.no_optimum import explain_no_optimum, explain_no_softmax_optimum

pytestmark = pytest.mark.slow

OPEN = "not determined"
ISSUE = [[0, 2], [1, 2], [2, 3], [2, 2], [1, 3], [0, 0]], [0, 1, 1, 1, 1, 0]


def rare(n=40, seed=0):
    """An overlap, and a column that only one class has: quasi-separable."""
    rng = np.random.default_rng(seed)
    X = rng.integers(-9, 10, (n, 2)).astype(float)
    y = (X[:, 0] + 4 * rng.standard_normal(n) > 0).astype(int)
    return np.column_stack([X, (np.cumsum(y) <= 3) & (y == 1)]), y


# -- against linear programs ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", [0, 1, *(pytest.param(k, marks=pytest.mark.slow) for k in range(2, 6))])
def test_m13_every_verdict_is_that_of_linear_programs_over_the_cone(seed):
    for X, y, weight, intercept, kept in designs(seed, 50):
        found = estimates(X, y, weight, fit_intercept=intercept)
        assert found.verdicts == estimates_of(X[kept], y[kept], intercept)
        assert found.aliased == aliased_of(X[kept], intercept)
        assert found.separability.verdict == verdict_of(X[kept], y[kept], intercept)
        check = found.verify(X, y, weight)
        assert check, check.reason
        unheld = [j for j, kind in enumerate(found.verdicts) if kind != "finite"]
        assert found.separability.infinite == ([] if found.separability.verdict == "overlap" else unheld)


@pytest.mark.slow
def test_the_oracle_agrees_with_all_subsets_of_rows():
    """−e_j is in the cone if and only if it is in that of some independent rows, whose weights are unique."""
    for X, y, _, intercept, _ in itertools.islice(designs(99, 40), 25):
        A = signed(X, y, intercept)
        size = len(A[0])
        for j in range(size):
            target = np.array(unit(j, size, -1), dtype=float)
            subsets = itertools.chain.from_iterable(itertools.combinations(A, k) for k in range(1, size + 1))
            assert in_cone(A, unit(j, size, -1)) == any(_nonnegative(rows, target) for rows in subsets)


def _nonnegative(rows, target):
    M = np.array(rows, dtype=float).T
    if np.linalg.matrix_rank(M) < M.shape[1]:
        return False
    weights, *_ = np.linalg.lstsq(M, target, rcond=None)
    return bool((weights > -1e-9).all() and np.allclose(M @ weights, target, atol=1e-9))


@pytest.mark.parametrize("seed", range(4))
def test_m13_the_limit_and_the_supremum_are_those_of_the_rows_on_every_plane(seed):
    seen = 0
    for X, y, weight, intercept, kept in designs(1000 + seed, 60):
        if verdict_of(X[kept], y[kept], intercept) == "separable":
            continue
        found = estimates(X, y, weight, fit_intercept=intercept)
        face = np.flatnonzero(kept)[face_of(X[kept], y[kept], intercept)]
        best, value = _maximum(X[face], y[face], None if weight is None else weight[face], intercept)
        low, high = found.supremum
        assert found.proven
        assert low - 1e-7 <= value <= high + 1e-12
        assert high - low < 1e-9
        finite = [j for j, kind in enumerate(found.verdicts) if kind == "finite"]
        given = np.append(found.coef, found.intercept) if intercept else found.coef
        assert given[finite] == pytest.approx(best[finite], abs=2e-3)
        seen += 1
    assert seen > 5


def _maximum(X, y, weight, intercept):
    A = np.array(signed(X, y, intercept), dtype=float)
    c = np.ones(len(A)) if weight is None else weight
    found = minimize(
        lambda theta: c @ np.logaddexp(0.0, -A @ theta),
        np.zeros(A.shape[1]),
        jac=lambda theta: -A.T @ (c / (1 + np.exp(A @ theta))),
        method="BFGS",
        options={"gtol": 1e-9},
    )
    return found.x, -float(found.fun)


# -- cases ------------------------------------------------------------------------------------------------------------


def test_m13_a_separable_design_leaves_no_coefficient_out():
    X, y = ISSUE
    assert separability(X, y).infinite == [0, 1, 2]
    found = estimates(X, y)
    assert found.verdicts == estimates_of(X, np.where(np.array(y) == 1, 1, -1))
    assert found.verify(X, y)


def test_m13_a_reference_level_that_is_all_events_sends_the_intercept_up_and_the_dummies_down():
    levels = np.repeat([0, 1, 2], 6)
    frame = pd.DataFrame({"b": (levels == 1).astype(float), "c": (levels == 2).astype(float)})
    y = np.array([1] * 6 + [0, 1, 1, 0, 1, 1] + [0, 0, 1, 0, 0, 1])
    assert separability(frame, y).infinite == [0, 1, 2]
    found = estimates(frame, y)
    assert found.verdicts == ["-inf", "-inf", "+inf"]
    assert found.intercept == np.inf
    assert str(found).startswith(
        "Quasi-complete separation: the estimate of the intercept is +∞; the estimates of b and c are −∞; supremum of "
        "the log-likelihood −7.638"
    )
    # each of the two levels that are left fits its own share
    assert found.supremum[0] == pytest.approx(2 * (4 * np.log(4 / 6) + 2 * np.log(2 / 6)), rel=1e-12)


def test_m13_words_that_can_stand_in_a_paper():
    X, y = rare()
    text = str(estimates(pd.DataFrame(X, columns=["age", "dose", "NV"]), y))
    assert text.startswith(
        "Quasi-complete separation: the estimate of NV is +∞; the others are finite; supremum of the"
    )
    assert "proven to" in text
    overlap = str(estimates(X[:, :2], y))
    assert overlap.startswith("Overlap: all estimates are finite; maximum of the log-likelihood −")
    copied = estimates(np.column_stack([X[:, :2], X[:, 0], np.zeros(len(y))]), y, feature_names=["a", "b", "c", "d"])
    assert "the estimates of a, c and d are not determined (aliased: a = c, d = 0)" in str(copied) or (
        "(aliased: c = a, d = 0)" in str(copied)
    )
    assert copied.aliased == [0, 2, 3]
    assert np.isnan(copied.coef[[0, 2, 3]]).all()
    assert copied.verify(np.column_stack([X[:, :2], X[:, 0], np.zeros(len(y))]), y)
    levels = np.eye(2)[np.arange(len(y)) % 2]
    assert "aliased: x0 = 1 − x1" in str(estimates(levels, y))
    twice = str(estimates(np.column_stack([X, 2 * X[:, 2]]), y, feature_names=["a", "b", "NV", "twice"]))
    assert "(aliased: NV = (1/2)·twice), and some combination of these runs to infinity; the others are finite" in twice


def test_m13_a_row_without_weight_counts_for_nothing():
    X, y = np.array([[0.0], [1.0], [2.0], [3.0], [2.5]]), np.array([0, 0, 1, 1, 0])
    weight = np.array([1.0, 2.0, 1.0, 1.0, 0.0])
    assert separability(X, y).verdict == "overlap"
    found = separability(X, y, sample_weight=weight)
    assert found.separable
    assert found.verify(X, y, weight)
    assert not found.verify(X, y)
    told = estimates(X, y, weight)
    assert told.verdicts == ["+inf", "-inf"]
    assert told.verify(X, y, weight)
    assert not told.verify(X, y)


def test_m13_proofs_name_rows_as_they_were_given_and_none_without_weight():
    X, y = rare()
    weight = np.ones(len(y))
    weight[::4] = 0.0
    found = estimates(X, y, weight)
    named = [*found.separability.points, *found.separability.support, *found.spanning]
    assert all(weight[i] for i in [*named, *(i for rows in found.proofs.values() for i in rows)])
    assert found.verify(X, y, weight)
    weight[found.spanning[0]] = 0.0
    assert not found.verify(X, y, weight)


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        ([1.0, 1.0], "one weight for each of the 3 rows"),
        ([1.0, -1.0, 1.0], "negative"),
        ([1.0, np.nan, 1.0], "not a finite number"),
        ([0.0, 1.0, 0.0], "1 class among the rows with weight"),
    ],
)
def test_weights_that_are_none_are_a_clear_error(weight, message):
    with pytest.raises(ValueError, match=message):
        separability([[0.0], [1.0], [2.0]], [0, 1, 0], sample_weight=weight)
    with pytest.raises(ValueError, match=message):
        estimates([[0.0], [1.0], [2.0]], [0, 1, 0], weight)


def test_m13_storage_and_scale_do_not_matter():
    X, y = rare()
    expected = estimates(X, y)
    assert estimates(sparse.csr_matrix(X), y).verdicts == expected.verdicts
    assert estimates(X.astype(np.float32), y).verdicts == expected.verdicts
    for scale in ([2.0**300, 2.0**-300, 1.0], [2.0**-900, 1.0, 2.0**900]):
        found = estimates(X * scale, y)
        assert found.verdicts == expected.verdicts
        assert found.verify(X * scale, y)
        assert found.supremum[0] == pytest.approx(expected.supremum[0], rel=1e-9)


@pytest.mark.parametrize("scale", [5e-324, 1e-300, 1e-160, 1e160, 1e300])
@pytest.mark.parametrize("heavy", [1e-200, 1.0, 1e200])
def test_m13_any_scale_of_columns_and_weights_is_told_truly(scale, heavy):
    X, y = rare()
    X = X * [scale, 1.0, scale]
    weight = np.where(np.arange(len(y)) % 3, heavy, heavy * 1e-16)
    found = estimates(X, y, weight)
    assert found.verdicts == ["finite", "finite", "+inf", "finite"]
    assert found.verify(X, y, weight)


def test_m13_rows_that_floats_do_not_tell_from_the_plane_are_told_exactly():
    """The last row is off the plane by one unit in the last place: it moves a coefficient that the others hold."""
    X = np.array([[0.0, 0.0], [1.0, 1.0], [2.0, 2.0], [1.0, 1.0], [3.0, np.nextafter(3.0, 4.0)]])
    y = np.array([0, 1, 0, 0, 1])
    found = estimates(X, y)
    assert found.verdicts == ["-inf", "+inf", "finite"]
    assert found.verify(X, y)


def test_a_question_too_large_for_its_time_says_that_it_is_undecided(monkeypatch):
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((400, 100)), rng.integers(0, 2, 400)
    with pytest.raises(ProofTimeoutError, match="undecided within"):
        estimates(X, y, budget=1e8)
    stepped_time(monkeypatch, 0.001)
    with pytest.raises(ProofTimeoutError, match=r"undecided within time_limit=0\.01 s"):
        estimates(X, y, time_limit=0.01)


def test_time_may_suffice_for_the_verdict_but_not_for_the_columns(monkeypatch):
    def slow(*_, **__):
        raise ProofTimeoutError("undecided")

    X, y = rare()
    monkeypatch.setattr("linsep.separation._outcome.unbounded", slow)
    found = separability(X, y)
    assert found.verdict == "quasi"
    assert found.infinite is None
    assert "was not determined in time" in str(found)
    assert found.verify(X, y)
    assert "which ones was not determined in time" in explain_no_optimum(X, y)
    with pytest.raises(ProofTimeoutError, match="undecided in time"):
        estimates(X, y)


# -- lies -------------------------------------------------------------------------------------------------------------


def lies(found):
    """Yield what was said, with one thing changed that makes it false or unproven."""
    for j, kind in enumerate(found.verdicts):
        for other in {"finite", "+inf", "-inf", OPEN, "large"} - {kind}:
            verdicts = [other if k == j else own for k, own in enumerate(found.verdicts)]
            yield dict(verdicts=verdicts)
    yield dict(verdicts=found.verdicts[:-1])
    low, high = found.supremum
    yield dict(supremum=(low + 1e-3, high + 1e-3))
    yield dict(supremum=(low - 1.0, high - 1e-3))
    yield dict(supremum=(low, 1.0))
    if found.limit is None:
        yield dict(limit=np.zeros(len(found.verdicts)))
    else:
        yield dict(limit=None)
        yield dict(limit=found.limit + 0.5)
        yield dict(limit=found.limit * np.nan)
    if found.directions:
        first = found.directions[0]
        if set(found.verdicts) - {"finite"} and len(found.aliased) < found.verdicts.count(OPEN) + len(found.proofs):
            yield dict(directions=[])
        yield dict(directions=[tuple(-value for value in first), *found.directions[1:]])
        yield dict(directions=[first[:-1]])
    for j, weights in found.proofs.items():
        i = next(iter(weights))
        yield dict(proofs={k: v for k, v in found.proofs.items() if k != j})
        yield dict(proofs=found.proofs | {j: weights | {i: weights[i] + Fraction(1, 10**9)}})
        yield dict(proofs=found.proofs | {j: weights | {i: -weights[i]}})
        yield dict(proofs=found.proofs | {j: weights | {10**6: Fraction(1)}})
        yield dict(proofs=found.proofs | {j: {}})
    yield dict(proofs=found.proofs | {len(found.verdicts): {0: Fraction(1)}})
    yield dict(dependencies={**found.dependencies, 0: {1: Fraction(7)}})
    if found.dependencies:
        yield dict(dependencies={})
    yield dict(spanning=found.spanning[:1])
    yield dict(spanning=[*found.spanning, -1])


@pytest.mark.parametrize("case", range(4))
def test_m13_what_is_changed_is_refused(case):
    X, y = rare()
    if case == 1:
        X, y = np.array(ISSUE[0], dtype=float), np.array(ISSUE[1])
    if case == 2:
        X = np.column_stack([X[:, :2], X[:, 0] - 1])
    if case == 3:
        X = np.column_stack([X, X[:, 2]])
    found = estimates(X, y)
    assert found.verify(X, y)
    for lie in lies(found):
        assert not dataclasses.replace(found, **lie).verify(X, y), lie


def test_m13_results_travel_in_json():
    for X, y, weight, intercept, _ in designs(5, 15):
        found = estimates(X, y, weight, fit_intercept=intercept)
        read = Estimates.from_dict(json.loads(json.dumps(found.to_dict())))
        assert read.verify(X, y, weight)
        assert str(read) == str(found)


# -- explanations -----------------------------------------------------------------------------------------------------


def test_m13_an_explanation_names_directions_as_far_as_its_work_goes():
    X, y = rare()
    told = explain_no_optimum(X, y, feature_names=["age", "dose", "NV"])
    assert told == (
        "the data are quasi-separable, so no finite optimum exists: the estimate of NV is +∞; the others are finite; "
        "use a finite C"
    )
    rng = np.random.default_rng(0)
    wide, labels = rng.standard_normal((40, 300)), np.arange(40) % 2
    assert "every coefficient runs to infinity" in explain_no_optimum(wide, labels)
    assert explain_no_optimum(wide, labels, sample_weight=np.ones(40)) == explain_no_optimum(wide, labels)


def test_m13_an_explanation_without_work_left_says_which_coefficients_run_to_infinity(monkeypatch):
    monkeypatch.setattr("linsep.separation.no_optimum.DIRECTIONS", 1.0)
    X, y = rare()
    assert "coefficients x2 run to infinity; use a finite C" in explain_no_optimum(X, y)
    levels = np.repeat([0.0, 1.0], 4)[:, None]
    told = explain_no_optimum(levels, [1, 1, 1, 1, 0, 1, 0, 1])
    assert "every coefficient runs to infinity" in told


@pytest.mark.parametrize("limit", ["DIRECTIONS", "MANY"])
def test_m13_columns_that_repeat_others_are_not_told_to_run_to_infinity(monkeypatch, limit):
    """Their estimates are not determined, which `linsep explain` says of the same fit; that costs no further work."""
    monkeypatch.setattr(f"linsep.separation.no_optimum.{limit}", 1)
    X, y = rare()
    told = explain_no_optimum(np.column_stack([X, X[:, 0]]), y, feature_names=["age", "dose", "NV", "years"])
    before, _, after = told.partition(" run to infinity; ")
    assert before.endswith("exists: coefficients NV")
    assert after.startswith("the estimates of age and years are not determined (aliased: ")
    assert after.endswith("the others are finite; use a finite C")


def test_m13_classes_of_a_softmax_are_told_coefficient_by_coefficient():
    X = np.array([[0.0, 2.0], [1.0, 0.0], [3.0, 1.0], [4.0, 2.0], [6.0, 0.0], [7.0, 1.0]])
    told = explain_no_softmax_optimum(X, np.array([0, 0, 1, 1, 2, 2]), "abc")
    assert "the estimates of x0 (a against c) and x0 (b against c) are −∞" in told
    assert "x1 (a against c)" in told  # some direction moves it


def test_the_names_are_public():
    assert linsep.estimates is estimates
    assert {"estimates", "Estimates"} <= set(dir(linsep))
