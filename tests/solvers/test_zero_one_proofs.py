"""The fewest mistakes: real data, proofs and what changes them, time, interruption, progress, and bad input."""

import itertools
import json
import subprocess
import sys
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_iris, make_blobs
from sklearn.exceptions import ConvergenceWarning

from clock import stepped_time
from exact_oracles import homogeneous, kernel
from linsep import ZeroOneClassifier
from linsep._core import Rows
from linsep.arithmetic.integers import IntegerRows, relations
from linsep.arithmetic.whole_weights import WholeWeights
from linsep.certificates.mistakes.check import MistakeCheck
from linsep.certificates.mistakes.climbing import line_search
from linsep.certificates.mistakes.hitting import lightest_hit
from linsep.certificates.outcome import ClaimError
from linsep.losses import ZeroOne as ZeroOneLoss
from linsep.objective.problem import Problem
from linsep.solvers import ZeroOne
from linsep.solvers.zero_one.cells import CellSearch
from linsep.solvers.zero_one.cover import Cover

pytestmark = pytest.mark.slow

# -- real data and proofs ---------------------------------------------------------------------------------------------


def test_m18_iris_versicolor_against_virginica_is_proven(monkeypatch):
    X, y = load_iris(return_X_y=True)
    X, y = X[y > 0], y[y > 0]
    clock = stepped_time(monkeypatch, 4e-4)
    model = ZeroOneClassifier().fit(X, y)
    assert clock.looks < 5000
    assert (model.n_mistakes_, model.lower_bound_, model.proven_) == (1, 1, True)
    assert model.score(X, y) == 0.99
    assert "no plane makes fewer mistakes than 1" in model.summary()


def test_m18_breast_cancer_is_separable():
    X, y = load_breast_cancer(return_X_y=True)
    model = ZeroOneClassifier().fit(X, y)
    assert model.n_mistakes_ == 0
    assert model.score(X, y) == 1


def is_exact_conflict(rows):
    """Whether 0 = Σ λᵢ aᵢ for a λ > 0, by elimination in fractions: independent of the code under test."""
    basis = kernel([list(column) for column in zip(*rows, strict=True)], len(rows))
    return len(basis) == 1 and len({x > 0 for x in basis[0]}) == 1 and all(basis[0])


def test_m18_the_proof_of_a_bound_holds_in_exact_arithmetic(by_conflicts_only):
    rng = np.random.default_rng(2)
    X = rng.integers(-4, 5, (30, 5)).astype(float)
    y = np.where(X[:, 0] + X[:, 1] + 3 * rng.standard_normal(30) > 0, 1, -1)
    model = ZeroOneClassifier().fit(X, y)
    proof = model.lower_bound_proof_
    assert proof.method == "conflicts"
    assert "lighter set" in proof.trusted
    rows = homogeneous(X, y, True)
    assert all(is_exact_conflict([rows[i] for i in conflict]) for conflict in proof.conflicts)
    assert max(map(len, proof.conflicts)) <= 7
    fewer = itertools.combinations(range(30), int(proof.bound) - 1)
    sets = [set(conflict) for conflict in proof.conflicts]
    assert not any(all(chosen & conflict for conflict in sets) for chosen in map(set, fewer))
    assert lightest_hit(list(proof.conflicts), np.ones(30)) == proof.bound


def as_problem(X, y, intercept=True):
    return Problem(Rows(np.asarray(X, dtype=float)), np.where(y > 0, 1.0, -1.0), ZeroOneLoss(), fit_intercept=intercept)


def refusal(proof, X, y, **changes):
    """What the checker says against a proof, or nothing."""
    proof = replace(proof, **changes)
    try:
        MistakeCheck(as_problem(X, y)).bound(proof, proof.bound)
    except ClaimError as error:
        return str(error)
    return ""


def test_m18_a_changed_proof_is_refused(by_conflicts_only):
    rng = np.random.default_rng(2)
    X = rng.integers(-4, 5, (30, 5)).astype(float)
    y = np.where(X[:, 0] + X[:, 1] + 3 * rng.standard_normal(30) > 0, 1, -1)
    proof = ZeroOneClassifier().fit(X, y).lower_bound_proof_
    assert refusal(proof, X, y) == ""
    assert "prove" in refusal(proof, X, y, bound=proof.bound + 1)
    assert "prove" in refusal(proof, X, y, conflicts=proof.conflicts[:1], bound=2.0)
    assert "no conflict" in refusal(proof, X, y, conflicts=((0, 1), *proof.conflicts))
    assert "do not have" in refusal(proof, X, y, conflicts=((0, 99),))
    moved = X.copy()
    moved[proof.conflicts[0][0]] += 0.5
    assert refusal(proof, moved, y) != ""
    assert refusal(proof, X, -y) == ""  # the other side of every plane
    flipped = y.copy()
    flipped[proof.conflicts[0][0]] *= -1
    assert refusal(proof, X, flipped) != ""


def test_m18_a_bound_by_cells_is_checked_by_other_means():
    X = np.array([[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]])
    y = np.array([-1, -1, 1, 1])
    proof = ZeroOneClassifier().fit(X, y).lower_bound_proof_
    assert (proof.method, refusal(proof, X, y)) == ("cells", "")
    assert "does not hold" in refusal(proof, X, y, bound=2.0)
    separable = ZeroOneClassifier().fit(X, [-1, -1, -1, 1]).lower_bound_proof_
    assert (separable.method, separable.trusted, refusal(separable, X, y)) == ("none", "nothing", "")


@pytest.mark.parametrize("whole", [True, False])
def test_m18_branch_and_cut_finds_the_optimum_from_nothing(whole):
    rng = np.random.default_rng(5)
    X = rng.standard_normal((30, 5))
    y = np.where(X[:, 0] + 0.7 * rng.standard_normal(30) > 0.5, 1, -1)
    s = rng.integers(1, 4, 30).astype(float) if whole else rng.uniform(0.5, 2.0, 30)
    A = y[:, None] * np.c_[X, np.ones(30)]
    weights = WholeWeights.of(s)
    cover, upper = Cover(A, A, weights, rng, lambda call: call(np.inf)), weights.total
    while cover.open:
        rest = cover.step(upper)
        if rest is not None:  # the other points are a hitting set of all conflicts there are
            upper = min(upper, weights.where(~rest))
    cover.conclude(upper)
    least = CellSearch(A, weights.numbers, lambda: None, lambda right, cost: None).run(A.mean(axis=0))
    assert upper == least
    assert cover.bound == least


@given(seed=st.integers(0, 10**6), D=st.integers(1, 5))
@settings(max_examples=60, deadline=None)
def test_conflicts_are_recognised_exactly(seed, D):
    rng = np.random.default_rng(seed)
    A = rng.integers(-2, 3, (int(rng.integers(1, D + 2)), D))
    rows = A.tolist()
    basis = relations(rows)
    found = len(basis) == 1 and (all(x > 0 for x in basis[0]) or all(x < 0 for x in basis[0]))
    assert found == is_exact_conflict([[Fraction(x) for x in row] for row in rows])


@given(st.lists(st.lists(st.floats(-1e100, 1e100), min_size=2, max_size=2), min_size=1, max_size=5))
def test_rows_as_whole_numbers_are_the_floats_scaled_by_columns(values):
    A = np.array(values)
    rows = IntegerRows(A)
    factors = [{Fraction(rows.row(k)[j]) / Fraction(A[k, j]) for k in range(len(A)) if A[k, j]} for j in range(2)]
    assert all(len(factor) <= 1 and all(f > 0 for f in factor) for factor in factors)
    assert all((rows.row(k)[j] == 0) == (A[k, j] == 0) for k in range(len(A)) for j in range(2))


@given(st.lists(st.tuples(st.integers(-4, 4), st.integers(-4, 4), st.integers(1, 3)), min_size=1, max_size=8))
def test_line_search_finds_the_best_point_of_the_line(rows):
    g, h, s = (np.array(column, dtype=float) for column in zip(*rows, strict=True))
    t, cost = line_search(g, h, s)
    assert cost == s[g + t * h <= 0].sum()
    candidates = np.unique([-a / b for a, b in zip(g, h, strict=True) if b])
    between = np.concatenate([candidates[:1] - 1, (candidates[:-1] + candidates[1:]) / 2, candidates[-1:] + 1, [0.0]])
    assert cost <= min(s[g + u * h <= 0].sum() for u in between[:-1]) if len(candidates) else True


# -- time, interruption, progress -------------------------------------------------------------------------------------


def hard_problem():
    rng = np.random.default_rng(0)
    return rng.standard_normal((300, 15)), rng.integers(0, 2, 300)


def test_m18_the_time_limit_is_kept_and_the_interval_is_honest(monkeypatch):
    X, y = hard_problem()
    clock = stepped_time(monkeypatch, 4e-4)
    with pytest.warns(ConvergenceWarning, match="raise time_limit"):
        model = ZeroOneClassifier(time_limit=1.5).fit(X, y)
    assert clock.looks < 1.5 / clock.step + 30  # with the limit behind it, the search does not go on
    assert 0 < model.lower_bound_ < model.n_mistakes_ == np.count_nonzero(model.predict(X) != y)
    assert not model.proven_
    assert model.lower_bound_proof_.bound == model.lower_bound_
    seconds, found, lower = model.progress_.T
    assert (np.diff(seconds) >= 0).all()
    assert (np.diff(found) <= 0).all()
    assert (np.diff(lower) >= 0).all()
    assert f"no plane makes fewer than {model.lower_bound_}" in model.summary()


#: Ctrl-C as soon as there is something to keep: a bound above zero.
INTERRUPT = """
import dataclasses, json, os, signal
import numpy as np
from linsep import ZeroOneClassifier
from linsep.solvers import ZeroOne

solve, sent = ZeroOne.solve, []

def watched(self, problem, **options):
    def progress(found, lower, seconds):
        if self.progress is not None:
            self.progress(found, lower, seconds)
        if lower > 0 and not sent:
            sent.append(True)
            os.kill(os.getpid(), signal.SIGINT)

    return solve(dataclasses.replace(self, progress=progress), problem, **options)

ZeroOne.solve = watched
rng = np.random.default_rng(0)
X, y = rng.standard_normal((300, 15)), rng.integers(0, {classes}, 300)
model = ZeroOneClassifier(time_limit=None, verbose={verbose})
try:
    model.fit(X, y)
    raised = False
except KeyboardInterrupt:
    raised = True
lower, found = np.sum(model.lower_bound_), np.sum(model.n_mistakes_)
print(json.dumps(dict(raised=raised, lower=int(lower), found=int(found))))
"""


@pytest.mark.parametrize(("classes", "verbose"), [(2, True), (3, None)])
def test_m18_ctrl_c_keeps_the_best(classes, verbose):
    # The search takes longer than anybody waits: that it ends at all, it does because of Ctrl-C.
    script = INTERRUPT.format(classes=classes, verbose=verbose)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    outcome = json.loads(done.stdout)
    assert outcome["raised"]
    assert 0 < outcome["lower"] < outcome["found"] < 300, (
        "no worse than one class for all, of which there are 300 / classes"
    )
    assert ("proven necessary" in done.stderr) == bool(verbose)


def test_progress_goes_to_standard_error_only_if_asked(capsys):
    X, y = load_iris(return_X_y=True)
    ZeroOneClassifier(verbose=True).fit(X[50:, :2], y[50:])
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "found" in shown.err
    ZeroOneClassifier().fit(X[50:, :2], y[50:])
    assert capsys.readouterr().err == ""


def test_m18_progress_of_more_than_two_classes_is_shown_together(capsys):
    X, y = load_iris(return_X_y=True)
    model = ZeroOneClassifier(verbose=True).fit(X[:, :2], y)
    shown = capsys.readouterr().err.splitlines()
    found = " + ".join(str(count) for count in model.n_mistakes_)
    assert f"mistakes: {found} found, {found} proven necessary" in shown[-1]
    assert not hasattr(model, "_meter")


@pytest.mark.parametrize("seed", range(10))
def test_m18_of_tied_planes_the_one_with_the_most_room_whatever_the_seed(seed):
    # Two sets of one mistake each: the lone point on the left, or the one on the right, whose gap is wider.
    X, y = np.array([[0.0], [1.0], [2.0], [3.0], [9.0], [10.0]]), np.array([0, 1, 0, 0, 1, 1])
    model = ZeroOneClassifier(random_state=seed).fit(X, y)
    assert model.n_mistakes_ == 1
    assert 3 < -model.intercept_[0] / model.coef_[0, 0] < 9
    X, y = make_blobs(centers=2, cluster_std=20, random_state=0)
    model, first = (ZeroOneClassifier(random_state=k).fit(X[:50], y[:50]) for k in (seed, 0))
    np.testing.assert_allclose(model.coef_, first.coef_, rtol=1e-4)


def test_an_observer_ends_the_search(overlapping):
    X, y = overlapping
    problem = as_problem(X, y)
    result = ZeroOne().solve(problem, observer=lambda step, theta, objective: step == 2)
    assert not result.converged
    assert "callback" in result.message
    assert result.mistakes == np.count_nonzero(problem.agreements(result.w, result.b) <= 0)
    again = ZeroOne().solve(problem, start=result.last)
    assert again.mistakes <= result.mistakes


# -- bad input --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        (dict(time_limit=0), "time_limit=0 must be a positive number of seconds"),
        (dict(time_limit=-1.0), "time_limit"),
        (dict(time_limit="long"), "time_limit='long'"),
        (dict(time_limit=float("nan")), "time_limit=nan"),
        (dict(verbose="yes"), "verbose='yes' is not possible"),
        (dict(class_weight="heavy"), "class_weight"),
    ],
    ids=str,
)
def test_settings_that_make_no_sense(settings, words):
    with pytest.raises(ValueError, match=words):
        ZeroOneClassifier(**settings).fit([[0.0], [1.0]], [0, 1])


def test_data_that_make_no_sense():
    with pytest.raises(ValueError, match="one class only"):
        ZeroOneClassifier().fit([[0.0], [1.0]], [1, 1])
    with pytest.raises(ValueError, match="NaN"):
        ZeroOneClassifier().fit([[0.0], [np.nan]], [0, 1])
    huge = sparse.csr_array(([1.0], ([0], [0])), shape=(2**14, 2**14))
    with pytest.raises(ValueError, match="take a sample of the rows"):
        ZeroOneClassifier().fit(huge, np.arange(2**14) % 2)
