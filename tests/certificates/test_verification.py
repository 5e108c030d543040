"""`verify`: what was proven holds; a changed weight, label, row, parameter or bound is refused."""

import copy
import json
import warnings
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning

from linsep import (
    HardMarginSVC,
    LeastSquaresClassifier,
    LinearClassifier,
    LinearSVC,
    LogisticRegression,
    NotSeparableError,
    Perceptron,
    SGDClassifier,
    ZeroOneClassifier,
    load,
    save,
    separability,
    verify,
)
from linsep._core import Rows
from linsep.certificates.mistakes.check import MistakeCheck
from linsep.certificates.outcome import ClaimError, Verification
from linsep.certificates.proof import proof_of
from linsep.certificates.seal import digest
from linsep.exact import ProofTimeoutError
from linsep.losses import ZeroOne
from linsep.objective.problem import Problem
from linsep.persistence.document import digest as _digest
from linsep.persistence.document import in_one_line as _line
from linsep.persistence.model_file import ModelFileError
from linsep.solvers import MistakeBound

rng = np.random.default_rng(1)
X = rng.normal(size=(50, 3))
two = np.where(X[:, 0] + 0.3 * rng.normal(size=50) > 0, "yes", "no")
three = np.digitize(X[:, 1] + 0.3 * rng.normal(size=50), [-0.5, 0.5])
apart = np.where(X[:, 0] > 0, "yes", "no")
weights = rng.integers(1, 4, 50).astype(float)

CASES = {
    "gap": (LinearSVC(), two),
    "gap, smooth": (LogisticRegression(class_weight="balanced"), two),
    "gap, one against the rest": (LinearSVC(), three),
    "gap, no penalty": (LeastSquaresClassifier(), two),
    "softmax": (LogisticRegression(), three),
    "separable": (Perceptron(random_state=0), apart),
    "overlap": (Perceptron(random_state=0), two),
    "overlap, one against the rest": (Perceptron(random_state=0, keep="vote"), three),
    "margin": (HardMarginSVC(), apart),
    "margin, through the origin": (HardMarginSVC(fit_intercept=False), apart),
    "mistakes": (ZeroOneClassifier(), two),
    "through the origin": (ZeroOneClassifier(fit_intercept=False), two),
    "mistakes, one against the rest": (ZeroOneClassifier(), three),
}


def fitted(model, y, X=X, sample_weight=None):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return type(model)(**model.get_params()).fit(X, y, sample_weight=sample_weight)


MODELS = {name: fitted(*case) for name, case in CASES.items()}


@pytest.fixture(params=CASES)
def case(request):
    """A model of its own, and its labels."""
    return copy.deepcopy(MODELS[request.param]), CASES[request.param][1]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.json"


def refused(outcome):
    assert not outcome
    assert not outcome.proven
    assert str(outcome).startswith("NOT verified: ")
    assert len(outcome.reason) > 10
    return outcome.reason


# --- what holds


def test_m13_m18_everything_that_is_proven_is_verified(case, path):
    model, y = case
    outcome = verify(model, X, y)
    assert outcome
    # Some plane separates the first of the voted classes; whether the vote does is not looked at.
    assert outcome.proven == ("by vote" not in outcome.reason)
    assert outcome.checked
    assert outcome.trusted
    assert outcome.unchecked
    assert str(outcome).startswith("Verified: ")
    save(model, path)
    assert verify(path, X, y).reason == outcome.reason
    save(model, path, data=(X, y))
    assert "bit for bit" in verify(str(path), X, y).checked[0]


@pytest.mark.parametrize("kind", [sparse.csr_matrix, np.asfortranarray, np.ndarray.tolist])
def test_storage_of_the_data_does_not_matter(case, path, kind):
    model, y = case
    save(model, path, data=(X, y))
    assert verify(path, kind(X), y.tolist())


@pytest.mark.parametrize("name", ["gap", "softmax", "overlap", "margin", "mistakes", "through the origin"])
def test_weights_of_the_examples_belong_to_the_data(name):
    model, y = CASES[name]
    model = fitted(model, y, sample_weight=weights)
    assert verify(model, X, y, weights)
    refused(verify(model, X, y))
    refused(verify(model, X, y, 2 * weights + 1))


@pytest.mark.parametrize("name", ["overlap", "separable", "margin", "mistakes"])
def test_examples_without_weight_are_left_out(name):
    model, y = CASES[name]
    s = (np.arange(50) % 5 > 0).astype(float)
    more = np.vstack([X, X[:5]])
    labels, s = np.append(y, np.where(y[:5] == "yes", "no", "yes")), np.append(s, np.zeros(5))  # would overlap
    model = fitted(model, labels, more, s)
    assert verify(model, more, labels, s)


def test_proofs_alone_are_verified():
    with pytest.raises(NotSeparableError) as caught:
        HardMarginSVC().fit(X, two)
    assert verify(caught.value, X, two)
    refused(verify(caught.value, X, apart))
    for y in (two, apart):
        assert verify(separability(X, y), X, y)
    for model, y in (("gap", two), ("softmax", three), ("gap, one against the rest", three), ("margin", apart)):
        assert verify(MODELS[model].certificate_, X, y)


def test_a_result_that_falls_short_is_verified_but_not_proven():
    with pytest.warns(ConvergenceWarning):
        model = LinearSVC(max_iter=2, tol=1e-10, solver="dual").fit(X, two)
    outcome = verify(model, X, two)
    assert outcome
    assert not outcome.proven


def test_what_claims_nothing_is_not_verified():
    stream = SGDClassifier(random_state=0).partial_fit(X, two, ["no", "yes"])
    assert "claims nothing" in refused(verify(stream, X, two))
    with pytest.warns(ConvergenceWarning):
        soft = HardMarginSVC(on_overlap="soft").fit(X, two)
    assert "100·Σ max(0, 1 − z)" in verify(soft, X, two).reason  # of a soft margin it is a gap that is proven
    assert not verify(soft, X + 0.1, two)
    with pytest.raises(TypeError, match="nothing to verify"):
        verify(LinearSVC(), X, two)


def test_time_is_bounded():
    with pytest.raises(ProofTimeoutError, match="undecided within time_limit=0 s"):
        verify(MODELS["mistakes"], X, two, time_limit=0.0)


# --- what was changed


def test_a_changed_coefficient_is_refused(case):
    model, y = case
    model.coef_ = model.coef_.copy()
    model.coef_[0, 1] = np.nextafter(model.coef_[0, 1], np.inf)
    assert "changed" in refused(verify(model, X, y))


def test_a_changed_intercept_is_refused(case):
    model, y = case
    model.intercept_ = model.intercept_ + 1e-12
    refused(verify(model, X, y))


def test_a_scaled_plane_is_refused_although_it_predicts_the_same(case):
    model, y = case
    model.coef_, model.intercept_ = 2 * model.coef_, 2 * model.intercept_
    refused(verify(model, X, y))


def test_a_changed_label_is_refused(case):
    model, y = case
    for i in range(0, 50, 7):
        labels = y.copy()
        labels[i] = next(label for label in np.unique(y) if label != y[i])
        assert "labels" in refused(verify(model, X, labels)) or "row" in verify(model, X, labels).reason


def test_a_label_that_was_not_there_is_refused(case):
    model, y = case
    labels = y.astype(object)
    labels[3] = 77
    assert "77" in refused(verify(model, X, labels if y is three else labels.astype(str)))


def test_a_changed_row_is_refused(case):
    model, y = case
    for i in range(0, 50, 7):
        rows = X.copy()
        rows[i, 2] += 1e-3
        refused(verify(model, rows, y))


def test_a_missing_or_additional_row_or_column_is_refused(case):
    model, y = case
    assert "49 rows" in refused(verify(model, X[1:], y[1:]))
    assert "51 rows" in refused(verify(model, np.vstack([X, X[:1]]), np.append(y, y[:1])))
    refused(verify(model, X[:, :2], y))


def test_one_bit_of_the_data_is_refused_where_the_file_has_their_hash(case, path):
    model, y = case
    save(model, path, data=(X, y))
    rows = X.copy()
    rows[7, 1] = np.nextafter(rows[7, 1], 0.0)
    assert "the rows are not those of the fit" in refused(verify(path, rows, y))
    assert "the rows are not those of the fit" in refused(verify(load(path), rows, y))
    assert "the rows are not" in refused(verify(path, X[::-1], y[::-1]))
    assert "weights" in refused(verify(path, X, y, np.arange(50) + 1.0))


def test_changed_parameters_are_refused(case):
    model, y = case
    model.set_params(fit_intercept=not model.fit_intercept)
    refused(verify(model, X, y))


def test_changed_classes_are_refused(case):
    model, y = case
    model.classes_ = model.classes_[::-1]
    refused(verify(model, X, y))


def test_a_file_changed_by_hand_is_refused(case, path):
    model, y = case
    save(model, path)
    path.write_text(path.read_text().replace("0.", "1.", 1))
    with pytest.raises(ModelFileError):
        verify(path, X, y)


def forged(path, edit):
    document = json.loads(path.read_text())
    edit(document)
    document["digest"] = _digest({name: _line(value) for name, value in document.items()})
    path.write_text(json.dumps(document))


@pytest.mark.parametrize("factor", [1.0 - 1e-6, 1.0 + 1e-6, 0.0])
@pytest.mark.parametrize("number", ["primal", "dual"])
@pytest.mark.parametrize("name", ["gap", "gap, smooth", "gap, one against the rest", "softmax"])
def test_a_changed_bound_is_refused_even_with_a_digest_that_fits(name, number, factor, path):
    save(MODELS[name], path)

    def edit(document):
        proof = document["certificate"].get("softmax") or document["certificate"]["gap"][0]
        proof[number] *= factor

    forged(path, edit)
    # a weaker bound is true by itself, but then the gap that the model reports is another
    assert any(word in refused(verify(path, X, CASES[name][1])) for word in ("claimed", "dual_gap_"))


def test_a_plane_with_a_digest_of_its_own_is_refused(path):
    """Even one who rewrites the whole file, digests included, cannot make another plane optimal."""
    for name in ("gap", "gap, smooth"):
        save(MODELS[name], path)

        def edit(document):
            document["coefficients"][0][1] += 0.01
            w, b = np.array(document["coefficients"][0]), document["intercept"][0]
            document["certificate"]["gap"][0]["plane"] = digest(w, b)

        forged(path, edit)
        refused(verify(path, X, two))


def _item(document, places):
    for place in places[:-1]:
        document = document[place]
    return document, places[-1]


MARGIN, SEAL = ("certificate", "margin", 0), ("certificate", "seals", 0)
VERDICT, MISTAKES = ("certificate", "separability", 0), ("certificate", "mistakes", 0)
FORGERIES = [
    ("margin", (*MARGIN, "classes"), ["yes", "no"]),
    ("margin", (*MARGIN, "classes", 0), None),
    ("margin", (*MARGIN, "low"), None),
    ("margin", (*MARGIN, "high"), 0.0),
    ("margin", (*MARGIN, "points", 0), 19.5),
    ("margin", (*MARGIN, "weights"), None),
    ("margin", (*MARGIN, "tol"), 0.0),
    ("margin", MARGIN[:2], []),
    ("margin", SEAL[:2], []),
    ("margin", (*SEAL, "positive"), 0),
    ("margin", (*SEAL, "positive"), 1.5),
    ("margin", (*SEAL, "data", "positive"), "x"),
    ("margin", (*SEAL, "data", "weight"), None),
    ("margin", ("fitted", "margin_"), None),
    ("margin", ("fitted", "dual_gap_"), 0.0),
    ("gap", ("fitted", "dual_gap_"), 0.0),
    ("softmax", ("fitted", "dual_gap_"), 0.0),
    ("mistakes", ("fitted", "n_mistakes_"), "2"),
    ("mistakes", ("fitted", "lower_bound_"), None),
    ("mistakes", MISTAKES[:2], []),
    ("mistakes", (*MISTAKES, "bound"), 1.0),
    ("separable", (*VERDICT, "verdict"), "certain"),
    ("separable", (*VERDICT, "verdict"), "quasi"),
    ("separable", (*VERDICT, "verdict"), "inseparable"),
    ("separable", (*VERDICT, "margin"), 0.5),
    ("separable", (*VERDICT, "margin"), None),
    ("separable", (*VERDICT, "infinite"), [0]),
    ("separable", (*VERDICT, "plane"), []),
    ("separable", (*VERDICT, "on_plane"), 1),
    ("separable", ("fitted", "margin_"), 0.5),
    ("separable", ("fitted", "radius_"), 1.0),
    ("separable", ("fitted", "mistake_bound_"), 1.0),
    ("overlap", (*VERDICT, "verdict"), "quasi"),
    ("overlap", (*VERDICT, "verdict"), "separable"),
    ("overlap", (*VERDICT, "margin"), 1.0),
    ("overlap", (*VERDICT, "points", 0), 9.5),
    ("overlap", (*VERDICT, "weights", 0), "1/0"),
    ("overlap", (*VERDICT, "weights", 0), "-1/2"),
    ("overlap", (*VERDICT, "support_weights"), None),
    ("overlap", (*VERDICT, "fit_intercept"), False),
    ("overlap", VERDICT[:2], []),
    ("overlap", ("fitted", "converged_"), True),
]


@pytest.mark.parametrize(("name", "places", "value"), FORGERIES)
def test_m13_m14_m18_forged_files_are_refused(name, places, value, path):
    """Each with a digest that fits: nobody notices but who checks."""
    save(MODELS[name], path)

    def edit(document):
        section, place = _item(document, places)
        assert section[place] != value
        section[place] = value

    forged(path, edit)
    try:
        outcome = verify(path, X, CASES[name][1])
    except ModelFileError as error:
        outcome = Verification(False, str(error))
    refused(outcome)


@given(st.data())
@settings(max_examples=200)
def test_m13_a_proof_with_any_number_changed_is_refused_or_still_true(data):
    """Perturbed proofs of both kinds, against a check by another route: fractions, row by row."""
    name = data.draw(st.sampled_from(["separable", "overlap"]))
    labels = np.where(CASES[name][1] == "yes", 1, -1)
    proof = replace(MODELS[name].separability_, classes=(-1, 1))
    if name == "separable":
        j, factor = data.draw(st.integers(0, 2)), data.draw(st.floats(-3, 3))
        coef = proof.coef.copy()
        coef[j] *= factor
        b = proof.intercept + data.draw(st.sampled_from([0.0, 1e-9, 0.3, -2.0]))
        changed = replace(proof, coef=coef, intercept=b, margin=0.0)
        exact = [sum(Fraction(a) * Fraction(w) for a, w in zip(x, coef, strict=True)) + Fraction(b) for x in X]
        assert bool(changed.verify(X, labels)) == all(
            g * int(label) > 0 for g, label in zip(exact, labels, strict=True)
        )
        return
    k = data.draw(st.integers(0, len(proof.points) - 1))
    points, weights = list(proof.points), list(proof.weights)
    if data.draw(st.booleans()):
        points[k] = data.draw(st.integers(-1, len(X)))
    else:
        weights[k] += data.draw(st.fractions(-1, 1, max_denominator=10**6))
    changed = replace(proof, points=points, weights=weights, support=points, support_weights=weights)
    assert bool(changed.verify(X, labels)) == (points == proof.points and weights == proof.weights)


@pytest.mark.parametrize("bound", ["low", "high"])
@pytest.mark.parametrize("name", ["margin", "margin, through the origin"])
def test_a_changed_margin_is_refused(name, bound):
    model = copy.deepcopy(MODELS[name])
    factor = 1.001 if bound == "low" else 0.999
    margin = proof_of(model, "margin")
    margin.each = [replace(margin.each[0], **{bound: getattr(margin.each[0], bound) * factor})]
    model.margin_ = margin.each[0].low
    refused(verify(model, X, apart))
    model = copy.deepcopy(MODELS[name])
    model.margin_ *= 1.001
    assert "margin_" in refused(verify(model, X, apart))


@pytest.mark.parametrize("name", ["mistakes", "through the origin"])
def test_m18_a_changed_number_of_mistakes_or_bound_is_refused(name):
    for attribute, by in (("n_mistakes_", -1), ("n_mistakes_", 1), ("lower_bound_", 1), ("lower_bound_", -1)):
        model = copy.deepcopy(MODELS[name])
        setattr(model, attribute, getattr(model, attribute) + by)
        refused(verify(model, X, two))
    model = copy.deepcopy(MODELS[name])
    model.lower_bound_proof_ = replace(model.lower_bound_proof_, bound=model.lower_bound_ + 1.0)
    model.lower_bound_ += 1
    refused(verify(model, X, two))
    model.n_mistakes_ += 1
    refused(verify(model, X, two))


def test_m18_a_conflict_that_is_none_is_refused(monkeypatch):
    monkeypatch.setattr("linsep.solvers.zero_one.search._Search.seconds_for_cells", lambda search: np.inf)
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(60, 3))
    labels = (rows[:, 0] + 0.3 * rng.normal(size=60) > 0).astype(int)
    model = ZeroOneClassifier().fit(rows, labels)
    proof = model.lower_bound_proof_
    assert proof.method == "conflicts"
    assert "in rational numbers" in verify(model, rows, labels).checked[-1]
    for other in ((0, 1, 2), (0, 999), (-1, 0), ()):
        model.lower_bound_proof_ = replace(proof, conflicts=(other, *proof.conflicts))
        assert "conflict" in refused(verify(model, rows, labels))
    model.lower_bound_proof_ = replace(proof, conflicts=proof.conflicts[:1])
    assert "lighter set" in refused(verify(model, rows, labels))
    model.lower_bound_proof_ = replace(proof, conflicts=(), method="none")
    assert "lighter set" in refused(verify(model, rows, labels))


def test_m18_claimed_optimality_has_to_follow():
    model = copy.deepcopy(MODELS["mistakes"])
    model.proven_ = False
    assert "proven_" in refused(verify(model, X, two))


def test_m13_a_changed_proof_of_overlap_is_refused():
    proof = separability(X, two)
    assert proof.verdict == "overlap"
    other = [weight + (1 if k == 0 else 0) * Fraction(1, 10**30) for k, weight in enumerate(proof.weights)]
    refused(verify(replace(proof, weights=other), X, two))
    refused(verify(replace(proof, points=[*proof.points[:-1], 49]), X, two))
    refused(verify(replace(proof, verdict="separable"), X, two))
    model = copy.deepcopy(MODELS["overlap"])
    model.separability_ = replace(model.separability_, points=[0, 999, *model.separability_.points[2:]])
    assert "names a row" in refused(verify(model, X, two))
    model.separability_ = MODELS["separable"].separability_
    refused(verify(model, X, two))


def test_m13_a_changed_separating_plane_is_refused():
    proof = separability(X, apart)
    assert verify(proof, X, apart)
    refused(verify(replace(proof, coef=-proof.coef), X, apart))
    refused(verify(replace(proof, coef=proof.coef * np.nan), X, apart))


# --- the zero-one checker itself


def test_m18_iris_is_proven_again():
    iris = load_iris()
    rows, labels = iris.data[50:], iris.target[50:]
    model = ZeroOneClassifier().fit(rows, labels)
    outcome = verify(model, rows, labels)
    assert outcome.proven
    assert "no plane makes fewer" in outcome.reason


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.booleans(), st.sampled_from([1.0, 0.5, 0.3]))
def test_m18_random_zero_one_models_are_verified(seed, intercept, unit):
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(4, 14)), int(rng.integers(1, 5))
    rows = rng.integers(-2, 3, size=(n, d)).astype(float)  # duplicates, points on planes, zeros
    labels = np.append([0, 1], rng.integers(0, 2, n - 2))
    s = unit * rng.integers(1, 4, n)
    model = ZeroOneClassifier(fit_intercept=intercept).fit(rows, labels, s)
    assert model.proven_
    outcome = verify(model, rows, labels, s)
    assert outcome, str(outcome)


def test_m18_a_bound_from_conflicts_is_proven_without_trust_in_a_solver():
    rows = np.array([[0.0], [1.0], [2.0], [3.0]])
    problem = Problem(Rows(rows), np.array([1.0, -1.0, 1.0, -1.0]), ZeroOne())
    check = MistakeCheck(problem)
    check.bound(MistakeBound(1.0, "conflicts", ((0, 1, 2),)), 1.0)
    assert check.trusted == []
    with pytest.raises(ClaimError, match="lighter set"):
        MistakeCheck(problem).bound(MistakeBound(2.0, "conflicts", ((0, 1, 2), (1, 2, 3))), 2.0)
    with pytest.raises(ClaimError, match="no conflict"):
        MistakeCheck(problem).bound(MistakeBound(1.0, "conflicts", ((0, 1),)), 1.0)
    with pytest.raises(ClaimError, match=r"the plane errs on 1, not on 0"):
        MistakeCheck(problem).mistakes(np.array([-1.0]), 0.5, 0.0)


def test_general_classifiers_travel_too(path):
    model = fitted(LinearClassifier("logistic", penalty="elasticnet", l1_ratio=0.3, solver="sgd", random_state=0), two)
    save(model, path, data=(X, two))
    assert verify(path, X, two)


def test_m14_the_certificate_of_a_margin_leaves_out_rows_without_weight():
    X, y, weight = np.array([[0.0], [1.0], [3.0], [4.0], [10.0]]), np.array([0, 0, 1, 1, 0]), [1.0, 1.0, 1.0, 1.0, 0.0]
    certificate = HardMarginSVC().fit(X, y, sample_weight=weight).certificate_
    assert verify(certificate, X, y, weight)
    assert certificate.verify(X.tolist(), y.tolist(), weight)
    assert "margin of -8.0" in verify(certificate, X, y).reason
    named = replace(certificate, points=np.array([4, 2]))
    assert "no weight" in named.verify(X, y, weight).reason
