"""The forger of `benchmarks/forge.py`: a few thousand forgeries, a few hundred honest models, and its own oracles."""

import doctest
import json
import re
import subprocess
import sys
import warnings
from dataclasses import replace
from fractions import Fraction
from itertools import product
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog
from sklearn.exceptions import ConvergenceWarning

pytestmark = pytest.mark.slow

cp = pytest.importorskip("cvxpy")
pytest.importorskip("mpmath")

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
sys.path.append(str(BENCHMARKS))  # at the end: nothing there hides what others import

import fuzz_model_file  # noqa: E402
from forging import choices, rationals, running  # noqa: E402
from forging.edits import EDITS, Donors, Forgery, is_unfit  # noqa: E402
from forging.honest import FAMILIES, Data, folder, make  # noqa: E402
from forging.judging import Judge  # noqa: E402
from forging.objectives import Numbers, Objective, largest_margin, margin_of  # noqa: E402
from forging.rationals import common, least_mistakes, moves, recession, whole_rows  # noqa: E402
from forging.reading import Raw, plain  # noqa: E402
from forging.running import Tally, lot, table  # noqa: E402
from forging.sealing import resealed, written  # noqa: E402

import linsep  # noqa: E402
from linsep.arithmetic.enclosure import Interval  # noqa: E402
from linsep.penalties import Penalty  # noqa: E402
from linsep.persistence.model_file import ModelFileError, load  # noqa: E402
from oracles import MarginFormula, SoftmaxFormula  # noqa: E402

rng = np.random.default_rng(13)


# --- what must hold


def tried(seeds, count):
    whole = Tally()
    for seed in seeds:
        whole.add(lot(seed, count))
    return whole


@pytest.mark.parametrize("part", [0, 1, 2, *(pytest.param(k, marks=pytest.mark.slow) for k in range(3, 8))])
def test_m13_nothing_false_is_accepted_and_nothing_honest_refused(part):
    whole = tried(range(28 * part, 28 * (part + 1)), 9)
    assert whole.forgeries["tried"] > 200
    assert whole.clean, "\n" + table(whole)


@pytest.mark.parametrize("part", range(2))
def test_nothing_false_is_said_of_a_choice_of_C(part):
    whole = Tally()
    for seed in range(12 * part, 12 * (part + 1)):
        whole.add(lot(seed, 9, family="a proven choice of C"))
    assert whole.forgeries["tried"] > 90
    assert whole.clean, "\n" + table(whole)


def test_every_edit_finds_a_place():
    left = set(EDITS)
    for seed in range(120):
        if not left:
            break
        honest = a_model(list(FAMILIES)[seed % len(FAMILIES)], seed)
        donors = Donors(honest)
        left -= {name for name in left if edited(honest, name, seed, donors) is not None}
    assert not left


def a_model(family, first=0):
    """Return a model of that estimator; what a fit does wrong at the edge of floats is tested above."""
    for seed in range(first, first + 20):
        try:
            return make(seed, family)
        except ArithmeticError:
            continue
    raise AssertionError(family)


def edited(honest, name, seed, donors):
    """Return the forgery of one edit, or None where there is no place for it."""
    forgery = Forgery(honest.document, honest.data)
    try:
        EDITS[name](forgery, np.random.default_rng(seed), donors)
    except Exception as error:
        if is_unfit(error):
            return None
        raise
    return forgery


def test_the_same_seed_is_the_same_lot():
    one, other = lot(3, 4), lot(3, 4)
    assert (one.forgeries, one.kinds, one.honest) == (other.forgeries, other.kinds, other.honest)
    assert one.faults == other.faults
    index = next((fault.index for fault in one.faults if fault.index is not None), 1)
    assert lot(3, 4, index).forgeries["tried"] == 1


def test_the_command_counts_and_writes_all_numbers(tmp_path):
    out = tmp_path / "out.json"
    call = [sys.executable, BENCHMARKS / "forge.py", "--honest=2", "--forgeries=4", "--jobs=1", f"--json={out}"]
    done = subprocess.run(call, capture_output=True, text=True, check=False)
    found = json.loads(out.read_text())
    assert done.returncode == bool(found["faults"]), done.stderr
    assert "honest models and 4 forgeries" in done.stdout
    assert found["forgeries"]["tried"] == 4


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=40))
def test_m13_whatever_the_bytes_there_is_an_answer(content):
    fuzz_model_file.target(content)


# --- digests that fit again


@pytest.mark.parametrize("family", list(FAMILIES))
def test_a_file_written_again_is_read_again(family, tmp_path):
    honest = a_model(family)
    document = honest.document
    before = json.dumps(document)
    resealed(document)
    assert json.dumps(document) == before  # the digests of planes are the library's
    (tmp_path / "model.json").write_bytes(written(document))
    load(tmp_path / "model.json")
    document["digest"] = "sha256:0"
    document["intercept"][0] += 1.0
    resealed(document)
    (tmp_path / "model.json").write_bytes(written(document))
    assert load(tmp_path / "model.json").intercept_[0] == document["intercept"][0]


def test_numbers_that_json_does_not_know_are_refused(tmp_path):
    document = a_model("LinearSVC").document
    document["intercept"] = [np.inf]
    (tmp_path / "model.json").write_bytes(written(document))
    with pytest.raises(ModelFileError):
        load(tmp_path / "model.json")


# --- the oracles see what is false


def test_a_verifier_that_accepts_all_is_found_out(monkeypatch):
    real, said = linsep.verify, {}

    def accepts(path, X, y, s, **limits):
        """Say of whatever can be read what is to be said of the honest model."""
        linsep.persistence.model_file.read(path)
        if "honest" not in said:
            said["honest"] = replace(real(path, X, y, s, **limits), ok=True)
        return said["honest"]

    monkeypatch.setattr(running.linsep, "verify", accepts)
    whole = Tally()
    for seed in range(12):
        said.clear()
        whole.add(lot(seed, 12))
    counts = whole.forgeries
    assert counts["refused"] < 0.6 * counts["tried"]  # a file that cannot be read
    assert counts["false"] > 0.2 * counts["tried"]
    assert not whole.clean
    assert "FALSE" in table(whole)


LIES = {
    "inverted predictions": ("LogisticRegression, two classes", "LinearSVC", "HardMarginSVC", "ZeroOneClassifier"),
    "planes negated": ("LogisticRegression, softmax", "LeastSquaresClassifier"),
    "one plane for all classes": ("LogisticRegression, one against the rest",),
    "planes in another order, with their claims": ("LogisticRegression, one against the rest",),
    "the verdict on separability": ("Perceptron",),
    "data: labels of the classes exchanged": ("LinearSVC", "LogisticRegression, softmax"),
    "numbers of mistakes, with their proof": ("ZeroOneClassifier",),
    "the margin, with its proof": ("HardMarginSVC",),
    "choice: mistakes": ("a proven choice of C",),
    "choice: the range": ("a proven choice of C",),
}


@pytest.mark.parametrize(("name", "family"), [(name, family) for name, families in LIES.items() for family in families])
def test_the_judge_calls_a_planted_lie_one(name, family, tmp_path):
    """The honest outcome, said of a forged file: in most cases that is false."""
    verdicts = []
    for seed in range(100, 116):
        honest = a_model(family, 7 * seed)
        path = tmp_path / "model.json"
        path.write_text(honest.text, "utf-8")
        outcome = linsep.verify(path, honest.data.X, honest.data.y, honest.data.s)
        judge, forgery = Judge(honest.document), edited(honest, name, seed, Donors(honest))
        if outcome.proven and forgery is not None and judge.honest_outcome(honest.data, outcome).verdict == "same":
            verdicts.append(judge.judge(forgery.document, forgery.data, outcome).verdict)
    assert len(verdicts) >= 4
    lies = sum(verdict in ("false", "untrue") for verdict in verdicts)
    assert lies >= 0.4 * len(
        verdicts
    )  # some planes are zero, some labels without consequence, some numbers lower bounds


def test_the_judge_finds_a_C_with_fewer_mistakes_than_a_bound_says(tmp_path):
    verdicts = []
    for seed in range(8):
        honest = a_model("a proven choice of C", 7 * seed)
        path = tmp_path / "model.json"
        path.write_text(honest.text, "utf-8")
        outcome = linsep.verify(path, honest.data.X, honest.data.y, honest.data.s)
        claimed = honest.document["certificate"]["choice"]
        more = f"makes fewer than {claimed['mistakes'] + 1:g}"
        lie = replace(outcome, reason=re.sub(r"makes fewer than [\d.e+-]+", more, outcome.reason))
        found = Judge(honest.document).judge(honest.document, honest.data, lie)
        verdicts.append((found.verdict, any(", fewer than" in text for text in found.complaints)))
    assert verdicts.count(("false", True)) >= 6  # the oracle leaves open on which side rows on the plane are


def test_the_judge_sees_through_underflow(tmp_path):
    """At twice the optimum, where the squares of the dual underflow: said to be within 1.9e-14."""
    data = Data(np.array([[1e65], [-1e65]]), np.array([1, 0]))
    model = linsep.LinearClassifier("hinge", penalty=Penalty(1e-100, 0.0), C=1e-230)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        linsep.save(model.fit(data.X, data.y), tmp_path / "model.json")
    document = json.loads((tmp_path / "model.json").read_text())
    document["coefficients"], document["intercept"] = [[0.0]], [0.0]
    said = SimpleNamespace(
        reason="the plane is within 1.9e-14 of the optimum, as was asked for",
        primal=Interval(2e-230, 2e-230),
        dual=Interval(2e-230, 2e-230),
        relative_gap=1.9e-14,
        proven=True,
        checked=(),
    )
    found = Judge(document).judge(document, data, said)
    assert found.verdict == "false"
    assert any("above the optimum" in complaint for complaint in found.complaints)


# --- the oracles against others


@pytest.mark.parametrize("intercept", [True, False])
def test_separability_is_that_of_linear_programs(intercept):
    verdicts = set()
    for _ in range(60):
        n, d = int(rng.integers(2, 9)), int(rng.integers(1, 4))
        X, y = rng.integers(-2, 3, (n, d)).astype(float), rng.choice([-1, 1], n)
        A = np.column_stack([X, np.ones(n)]) if intercept else X
        A = y[:, None] * A
        # u = the rows that some plane has right with none wrong
        goal, size = np.r_[np.zeros(A.shape[1]), -np.ones(n)], A.shape[1]
        found = linprog(
            goal, np.column_stack([-A, np.eye(n)]), np.zeros(n), bounds=[(None, None)] * size + [(0, 1)] * n
        )
        expected = "separable" if -found.fun > n - 0.5 else "overlap" if -found.fun < 0.5 else "quasi"
        rows = whole_rows(X.tolist(), y.tolist(), intercept)
        assert recession(rows) == expected
        verdicts.add(expected)
        for j in range(size):
            ends = [linprog(sign * np.eye(size)[j], -A, np.zeros(n), bounds=(-1, 1)).fun < -0.01 for sign in (-1, 1)]
            assert list(moves(rows, j)) == ends
    assert verdicts == {"separable", "quasi", "overlap"}


def test_fewest_mistakes_are_those_of_all_subsets():
    for _ in range(40):
        n, d, intercept = int(rng.integers(2, 7)), int(rng.integers(1, 3)), bool(rng.random() < 0.7)
        X, y = rng.integers(-2, 3, (n, d)).astype(float), rng.choice([-1, 1], n)
        weights = [Fraction(int(w)) for w in rng.integers(0, 4, n)]
        rows = whole_rows(X.tolist(), y.tolist(), intercept)
        best = min(
            sum((w for w, right in zip(weights, chosen, strict=True) if not right), Fraction(0))
            for chosen in product([False, True], repeat=n)
            if not any(chosen) or recession([r for r, right in zip(rows, chosen, strict=True) if right]) == "separable"
        )
        assert least_mistakes(rows, weights) == best


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "logistic", "square", "perceptron"])
@pytest.mark.parametrize(("l2", "l1"), [(1.0, 0.0), (0.0, 1.0), (0.5, 0.3)])
def test_least_objectives_are_those_of_cvxpy(loss, l2, l1):
    X, y = rng.normal(size=(9, 2)), np.array([1, -1, 1, -1, 1, 1, -1, -1, 1])
    s, C = rng.integers(1, 4, 9), 0.7
    least, w, b = MarginFormula(X, y, C, l2, l1, s, loss=loss).conic_optimum()
    problem = Objective(Numbers(X), tuple(y.tolist()), tuple(Fraction(int(x)) for x in s), loss, l2, l1, C, True)
    assert float(problem.best()) == pytest.approx(least, rel=1e-6, abs=1e-7)
    assert float(problem.value([(w.tolist(), float(b))])) == pytest.approx(least, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("loss", ["logistic", "hinge", "squared_hinge"])
def test_optima_of_folds_are_those_of_cvxpy(loss):
    own = np.random.default_rng(3)
    X = own.normal(size=(20, 2))
    y, c = np.where(X[:, 0] + own.normal(size=20) > 0, 1.0, -1.0), own.integers(0, 4, 20) * 0.7
    w, b, tight = cp.Variable(2), cp.Variable(), dict(tol_gap_abs=1e-10, tol_gap_rel=1e-10, tol_feas=1e-10)
    z = cp.multiply(y, X @ w + b)
    each = {"logistic": cp.logistic(-z), "hinge": cp.pos(1 - z), "squared_hinge": cp.square(cp.pos(1 - z))}[loss]
    cp.Problem(cp.Minimize(0.5 * cp.sum_squares(w) + c @ each)).solve(solver=cp.CLARABEL, **tight)
    np.testing.assert_allclose(choices._optimum(loss, X, y, c, True)[:2], w.value, atol=1e-5)
    if loss != "hinge":  # else the intercept may be any of an interval
        np.testing.assert_allclose(choices._optimum(loss, X, y, c, True)[2], b.value, atol=1e-5)


def test_the_least_softmax_objective_is_that_of_cvxpy():
    X, codes = rng.normal(size=(9, 2)), np.arange(9) % 3
    least = SoftmaxFormula(X, codes, 2.0, classes=3).conic_optimum().value
    ones = (Fraction(1),) * 9
    problem = Objective(Numbers(X), tuple(codes.tolist()), ones, "logistic", 1.0, 0.0, 2.0, True, 3)
    assert float(problem.best()) == pytest.approx(least, rel=1e-7)


def test_objectives_do_not_overflow_or_underflow():
    numbers = Numbers(np.array([[1e65], [-1e65]]))
    problem = Objective(numbers, (1, -1), (Fraction(1),) * 2, "hinge", 1e-100, 0.0, 1e-230, True)
    assert 0 < problem.best() <= problem.value([([0.0], 0.0)])
    assert float(problem.value([([0.0], 0.0)]) * 10**230) == pytest.approx(2.0)
    far = Numbers(np.array([[1e300, -1e300], [1e-300, 5e-324]]))
    assert [float(g) for g in far.scores(([1e-300, 1e-300], 0.5))] == [0.5, 0.5]


def test_the_largest_margin_is_that_of_cvxpy():
    for shift in (0.0, 1e6):
        X = rng.normal(size=(8, 2))
        X[:4] += 6.0
        X += shift
        y = [1] * 4 + [-1] * 4
        w, b = cp.Variable(2), cp.Variable()
        X0 = X - X.mean(axis=0)
        cp.Problem(cp.Minimize(cp.sum_squares(w)), [cp.multiply(y, X0 @ w + b) >= 1]).solve(solver="CLARABEL")
        numbers = Numbers(X)
        kept, most = largest_margin(numbers, y, True)
        assert kept <= most
        assert float(kept) == pytest.approx(1 / np.linalg.norm(w.value), rel=1e-6)
        assert float(most) == pytest.approx(1 / np.linalg.norm(w.value), rel=1e-6)
        plane = (w.value.tolist(), float(b.value - w.value @ X.mean(axis=0)))
        assert margin_of(numbers, y, plane) <= most


def test_nothing_is_said_of_margins_where_nothing_separates():
    kept, most = largest_margin(Numbers(np.array([[0.0], [1.0], [2.0]])), [1, -1, 1], True)
    assert kept == 0
    assert most < 1e-3


def test_examples_in_the_docstrings_run():
    found = doctest.testmod(rationals)
    assert found.attempted > 3
    assert found.failed == 0


def test_whole_numbers_are_the_floats():
    values = [0.1, -3.5, 1e-300, 5e-324, 1e300, 0.0]
    m, e = common(values)
    assert [Fraction(x, 2**e) for x in m] == [Fraction(x) for x in values]


def test_a_file_is_read_as_it_means():
    assert plain({"map": [["a", {"float": "inf"}], [2, {"tuple": [1, {"array": {"values": [1.5]}}]}]]}) == {
        "a": np.inf,
        2: [1, [1.5]],
    }
    model = linsep.LinearClassifier("squared_hinge", penalty="elasticnet", l1_ratio=0.25, C=3.0)
    with folder() as room:
        path = Path(room) / "model.json"
        linsep.save(model.fit([[0.0], [1.0]], ["a", "b"]), path, threshold=0.5)
        raw = Raw.of(json.loads(path.read_text()))
    assert raw.loss() == "squared_hinge"
    assert raw.penalty() == (0.75, 0.25, 3.0)
    assert raw.cut(0)[1] == Fraction(float(model.intercept_[0])) - Fraction(1, 2)


def test_data_are_shown_as_doubles():
    assert Data(np.array([[1.5]], dtype=np.float32), [0]).rows().dtype == np.float64
