"""`verify` proves one sentence about the model as it predicts: its classes, its signs, its threshold."""

import copy
import json
import pickle
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import ConvergenceWarning

from linsep import (
    HardMarginSVC,
    LinearSVC,
    LogisticRegression,
    Perceptron,
    SGDClassifier,
    load,
    save,
    verify,
)
from linsep.certificates.gap.certificate import Certificate, Certificates, SoftmaxCertificate
from linsep.certificates.proof import proof_of
from linsep.certificates.seal import digest
from linsep.persistence.model_file import ModelFileError, read
from proven_models import CASES, MODELS, X, apart, corners, fitted, forged, thirds, three, two

TWO = [name for name in CASES if CASES[name][2].dtype.kind == "U"]
MORE = [name for name in CASES if "rest" in name]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.json"


def refused(outcome):
    assert not outcome, str(outcome)
    assert not outcome.proven
    assert len(outcome.reason) > 10
    return outcome.reason


def outcome_of(path, X, y):
    """Verify a file; one that cannot be read is refused too."""
    try:
        return verify(path, X, y)
    except ModelFileError as error:
        return replace(verify(SGDClassifier(random_state=0).partial_fit(X, y, np.unique(y)), X, y), reason=str(error))


# --- signs and classes


def _mirrored(record):
    """Swap what a record says of the two classes."""
    record["positive"] = 0
    parts = [record["data"], record.get("dual_point", {})]
    for part in parts:
        if part:
            part["positive"], part["negative"] = part["negative"], part["positive"]
    if "shift" in record.get("dual_point", {}):
        record["dual_point"]["shift"] *= -1


def inverted(document):
    """Make the model predict the opposite, and its proofs speak of the other class."""
    document["coefficients"] = (-np.array(document["coefficients"])).tolist()
    document["intercept"] = (-np.array(document["intercept"])).tolist()
    certificate = document["certificate"]
    for kind in ("gap", "seals"):
        for record in certificate.get(kind, []):
            _mirrored(record)
    for proof in certificate.get("margin", []):
        proof["coef"], proof["intercept"] = [-w for w in proof["coef"]], -proof["intercept"]


def inverted_with_classes(document):
    """The same, and what the proofs say of classes is in the other order too."""
    inverted(document)
    certificate = document["certificate"]
    for kind in ("margin", "separability", "gap", "seals"):
        for proof in certificate.get(kind, []):
            proof["classes"] = proof["classes"][::-1]
            if kind in ("gap", "seals"):
                proof["positive"] = 1
            if kind == "separability" and proof["coef"] is not None:
                proof["coef"], proof["intercept"] = [-w for w in proof["coef"]], -proof["intercept"]


@pytest.mark.parametrize("forgery", [inverted, inverted_with_classes])
@pytest.mark.parametrize("name", TWO)
def test_m13_m14_m18_inverted_predictions_are_refused(name, forgery, path):
    _, X, y = CASES[name]
    save(MODELS[name], path)
    honest = (load(path).predict(X) == y).mean()
    forged(path, forgery)
    if name != "voted":  # whose votes are kept apart from the plane
        assert (load(path).predict(X) == y).mean() < honest
    refused(verify(path, X, y))
    if not proof_of(MODELS[name], "seals"):
        refused(load(path).certificate_.verify(X, y))


@pytest.mark.parametrize("order", [[2, 0, 1], [1, 0, 2], [0, 0, 0]])
@pytest.mark.parametrize("name", [*MORE, "softmax"])
def test_permuted_planes_are_refused_with_their_proofs(name, order, path):
    _, X, y = CASES[name]
    save(MODELS[name], path)

    def permuted(document):
        document["coefficients"] = [document["coefficients"][k] for k in order]
        document["intercept"] = [document["intercept"][k] for k in order]
        for kind, proofs in document["certificate"].items():
            if kind != "softmax":
                document["certificate"][kind] = [proofs[k] for k in order]
        for key in ("n_mistakes_", "lower_bound_", "margin_", "mistake_bound_", "best_margin_", "best_mistake_bound_"):
            if key in document["fitted"]:
                values = document["fitted"][key]["array"]["values"]
                document["fitted"][key]["array"]["values"] = [values[k] for k in order]

    forged(path, permuted)
    refused(verify(path, X, y))


def test_planes_of_renamed_classes_are_another_model_and_may_be_as_true(path):
    """Classes in another order with the opposite plane predict the same: a true sentence, and verified."""
    save(MODELS["logistic"], path)

    def renamed(document):
        inverted_with_classes(document)
        document["classes"]["values"] = document["classes"]["values"][::-1]

    forged(path, renamed)
    assert (load(path).predict(X) == MODELS["logistic"].predict(X)).all()
    assert verify(path, X, two)


def test_certificates_alone_keep_the_rule():
    """A certificate that left its model behind: with two classes the second is +1, else the k-th is of class k."""
    one = MODELS["logistic"].certificate_
    assert Certificate.from_dict(one.to_dict()).verify(X, two)
    flipped = one.to_dict()
    _mirrored(flipped)
    flipped |= {"coef": (-one.coef).tolist(), "intercept": -one.intercept}
    flipped["plane"] = digest(-one.coef, -one.intercept)
    assert "another class" in refused(Certificate.from_dict(flipped).verify(X, two))
    assert "another class" in refused(pickle.loads(pickle.dumps(Certificate.from_dict(flipped))).verify(X, two))

    several = MODELS["hinge, one against the rest"].certificate_
    again = Certificates.from_dict(several.to_dict())
    assert again.verify(X, three)
    assert again[2].verify(X, three)
    for order in ([1, 0, 2], [0, 0, 0], [0, 1]):
        refused(Certificates([again[k] for k in order]).verify(X, three))
    other = Certificates.from_dict(LinearSVC(C=7.0).fit(X, three).certificate_.to_dict())
    assert "same" in refused(Certificates([again[0], again[1], other[2]]).verify(X, three))
    assert SoftmaxCertificate.from_dict(MODELS["softmax"].certificate_.to_dict()).verify(X, three)


def test_the_margin_certificate_of_a_model_is_of_its_plane():
    for name in ("margin", "margin, one against the rest"):
        model, (_, rows, y) = copy.deepcopy(MODELS[name]), CASES[name]
        model.coef_, model.intercept_ = -model.coef_, -model.intercept_
        proofs = model.certificate_ if isinstance(model.certificate_, list) else [model.certificate_]
        for k, proof in enumerate(proofs):
            assert not proof.verify(rows, y if len(proofs) == 1 else y == k)


def test_proofs_of_another_kind_are_refused(path):
    """The parameters say what is minimised, and so what there is to prove."""
    kinds = {"softmax": "logistic, one against the rest", "logistic, one against the rest": "softmax"}
    for name, other in kinds.items():
        model = copy.deepcopy(MODELS[name])
        model.multi_class = MODELS[other].multi_class
        assert "kind" in refused(verify(model, X, three))
    for kind, donor in (("seals", "mistakes"), ("margin", "margin"), ("separability", "overlap")):
        save(MODELS[donor], path)
        borrowed = json.loads(path.read_text())["certificate"][kind]
        save(MODELS["logistic"], path)
        forged(path, lambda document, kind=kind, it=borrowed: document["certificate"].update({kind: it}))
        with pytest.raises(ModelFileError, match="certificate"):
            verify(path, X, two)


def test_columns_by_other_names_are_refused():
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    model = LogisticRegression().fit(frame, two)
    assert "feature_names_in_" not in verify(model, frame, two).unchecked
    assert "feature_names_in_" in verify(model, X, two).unchecked
    assert "names" in refused(verify(model, frame.set_axis(["a", "c", "b"], axis=1), two))


# --- what is said besides


@pytest.mark.parametrize(
    ("model", "listed"),
    [(SGDClassifier("logistic", random_state=0), True), (Perceptron(), True), (LogisticRegression(), False)],
    ids=lambda one: type(one).__name__,
)
def test_a_tol_that_is_no_gap_is_said_not_to_be_checked(model, listed, tmp_path):
    X = np.random.default_rng(0).normal(size=(60, 3))
    save(model.fit(X, X[:, 0] > 0), tmp_path / "model.json")
    outcome = verify(tmp_path / "model.json", X, X[:, 0] > 0)
    assert outcome
    assert ("tol" in outcome.unchecked) == listed == ("tol" not in outcome.covered)


REPORTED = {
    "n_iter_": 7,
    "mistakes_": 1,
    "t_": 1,
    "best_margin_": 7.0,
    "best_mistake_bound_": 1.0,
    "invented_": 3.0,
}


@pytest.mark.parametrize("name", CASES)
def test_whatever_is_reported_is_covered_or_said_not_to_be(name):
    _, X, y = CASES[name]
    model = copy.deepcopy(MODELS[name])
    model.invented_ = 3.0  # an attribute that is new tomorrow
    outcome = verify(model, X, y)
    assert outcome
    assert "Not checked: " in str(outcome)
    given = {"coef_", "intercept_", "classes_", "n_features_in_"}
    attributes = {key for key in vars(model) if key.endswith("_") and not key.startswith("_")}
    said = set(outcome.unchecked) | set(outcome.covered) | given
    assert attributes <= said
    assert set(model.get_params()) <= said
    assert not set(outcome.unchecked) & set(outcome.covered)
    for key, value in REPORTED.items():
        if hasattr(model, key):
            assert key in outcome.unchecked
            setattr(model, key, value)
    assert verify(model, X, y)


def _others(value):
    """Return values of the same kind that are something else."""
    if isinstance(value, str):
        return [value + "!"]
    if isinstance(value, bool | np.bool_):
        return [not value]
    if isinstance(value, int | float | np.number) or getattr(value, "dtype", np.dtype(object)).kind in "if":
        changed = [value * 1.01, value * 1e-9, value + 1, -value - 1, value * np.nan]
        return [other for other in changed if not np.array_equal(other, value)]
    return []  # proofs and labels have tests of their own


@pytest.mark.parametrize("name", CASES)
def test_what_is_covered_cannot_be_anything_else(name):
    """Every number that is said to be covered is refused where it is another."""
    _, X, y = CASES[name]
    for key in set(verify(MODELS[name], X, y).covered) - set(MODELS[name].get_params()):
        for other in _others(getattr(MODELS[name], key)):
            model = copy.deepcopy(MODELS[name])
            setattr(model, key, other)
            outcome = verify(model, X, y)
            if key == "converged_" and outcome and not other:  # a proof may come after a fit that gave up
                assert key in outcome.unchecked
                continue
            refused(outcome)


@pytest.mark.parametrize("name", ["logistic", "softmax", "hinge, one against the rest", "margin"])
def test_tol_is_the_models_own(name, path):
    """An edited tol of the proof proves nothing more."""
    _, X, y = CASES[name]
    save(MODELS[name], path)

    def edit(document):
        certificate = document["certificate"]
        proofs = certificate.get("gap") or certificate.get("margin") or [certificate["softmax"]]
        for proof in proofs:
            proof["tol"] = 0.5

    forged(path, edit)
    assert "tol" in refused(verify(path, X, y))
    model = copy.deepcopy(MODELS[name])
    assert "as was asked for" not in verify(model, X, y).reason


def test_the_sentence_says_what_was_minimised():
    outcome = verify(MODELS["logistic"], X, two)
    objective = "the objective ½‖w‖² + Σ log(1 + e^(−z)) of this plane on these 60 rows"
    assert outcome.reason.startswith(f"{objective} lies within")
    assert "which is within tol=0.0001 that the model names" in outcome.reason
    rough = verify(MODELS["sgd"], X, two)
    assert "more than the usual tol=0.0001" in rough.reason
    assert rough
    assert not rough.proven
    weighted = LogisticRegression(class_weight="balanced").fit(X, two)
    assert "Σ s·log" in verify(weighted, X, two).reason


@pytest.mark.parametrize("name", ["logistic", "margin", "mistakes", "softmax", "overlap"])
def test_the_objective_in_words_is_that_of_the_parameters(name):
    _, X, y = CASES[name]
    model = copy.deepcopy(MODELS[name])
    model.objective_ = "Σ [z ≤ 0]" if name != "mistakes" else "½‖w‖² + Σ max(0, 1 − z)"
    assert "objective_" in refused(verify(model, X, y))


def test_weights_that_are_all_one_are_as_good_as_none():
    ones = np.ones(60)
    assert verify(MODELS["logistic"], X, two, ones)
    assert verify(LogisticRegression().fit(X, two, ones), X, two)


def test_converged_has_to_be_proven():
    with pytest.warns(ConvergenceWarning):
        model = LinearSVC(max_iter=2, tol=1e-10, solver="dual").fit(X, two)
    assert verify(model, X, two)
    model.converged_ = True
    assert "converged_" in refused(verify(model, X, two))


@pytest.mark.parametrize("scale", [1.0, 1e-150, 1e150, 1e-8])
@pytest.mark.parametrize("y", [two, apart])
def test_a_perceptrons_bound_is_that_of_its_plane(y, scale):
    model = fitted(Perceptron(random_state=0, fit_intercept=scale == 1.0, max_iter=50), X * scale, y)
    assert verify(model, X * scale, y)
    for key in ("mistake_bound_", "margin_", "radius_"):
        for value in (0.0, -1.0, 5.0, 1e300, np.inf, np.nan, getattr(model, key) * (1 + 1e-5)):
            other = copy.deepcopy(model)
            setattr(other, key, value)
            if not np.array_equal(value, getattr(model, key)):
                assert key in refused(verify(other, X * scale, y))


def test_the_verdict_of_a_perceptron_names_the_models_columns():
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    model = Perceptron(random_state=0).fit(frame, apart)
    assert verify(model, frame, apart)
    model.separability_ = replace(model.separability_, feature_names=["b", "a", "c"])
    assert "names" in refused(verify(model, frame, apart))


@pytest.mark.parametrize("name", ["mistakes", "mistakes, one against the rest"])
def test_m18_proven_is_what_the_numbers_say(name):
    _, X, y = CASES[name]
    for key in ("proven_", "converged_"):
        model = copy.deepcopy(MODELS[name])
        setattr(model, key, not getattr(model, key))
        assert key in refused(verify(model, X, y))


def test_m14_an_understated_margin_is_refused():
    model = copy.deepcopy(MODELS["margin"])
    margin = proof_of(model, "margin")
    margin.each = [replace(margin.each[0], low=model.margin_ / 2)]
    model.margin_ /= 2
    model.dual_gap_ = margin.each[0].relative_gap
    model.converged_ = False
    assert "margin" in refused(verify(model, X, apart))


# --- thresholds and votes


def test_m18_mistakes_are_counted_as_the_threshold_cuts(path):
    model = MODELS["mistakes"]
    scores = model.decision_function(X)
    for threshold in (0.0, 1e-30, float(np.median(scores)), 1e9):
        save(model, path, threshold=threshold)
        outcome = verify(path, X, two)
        made = int(((scores >= threshold) != (two == "yes")).sum())
        assert outcome
        assert f"{made} mistakes" in outcome.reason
        assert outcome.proven == (made == model.n_mistakes_)


def test_m14_the_margin_is_that_of_the_plane_as_it_is_cut(path):
    model = MODELS["margin"]
    save(model, path, threshold=0.5)
    outcome = verify(path, X, apart)
    assert outcome
    assert not outcome.proven
    kept = (np.where(apart == "yes", 1, -1) * (model.decision_function(X) - 0.5)).min() / np.linalg.norm(model.coef_)
    assert f"{kept:.6g}" in outcome.reason
    save(model, path, threshold=50.0)
    outcome = verify(path, X, apart)
    assert not outcome.proven
    assert "does not separate" in outcome.reason
    save(model, path, threshold=1e-300)  # which is nothing beside the intercept, but not zero
    assert verify(path, X, apart).proven


def test_a_gap_is_about_scores_and_says_so_where_these_are_cut_elsewhere(path):
    save(MODELS["logistic"], path, threshold=0.7)
    outcome = verify(path, X, two)
    assert outcome.proven
    assert "scores" in outcome.reason
    assert "0.7" in outcome.reason


def test_a_threshold_needs_two_classes(path):
    with pytest.raises(ModelFileError, match="threshold"):
        save(MODELS["softmax"], path, threshold=0.5)
    save(MODELS["softmax"], path)
    forged(path, lambda document: document.update(threshold=0.5))
    with pytest.raises(ModelFileError, match="threshold"):
        read(path)


def test_m13_a_proof_of_the_averaged_plane_says_that_votes_predict(path):
    outcome = verify(MODELS["voted"], X, apart)
    assert outcome
    assert "separable" in outcome.reason
    assert "by vote of all planes of the run, and of those nothing is proven" in outcome.reason
    assert not outcome.proven
    assert "ballots" in outcome.unchecked
    save(MODELS["voted"], path)
    ballots = json.loads(path.read_text())["fitted"]["ballots"]
    save(MODELS["separable"], path)
    forged(path, lambda document: document["fitted"].update(ballots=ballots))
    assert "by vote" in verify(path, X, apart).reason
    several = fitted(Perceptron(random_state=0, keep="vote", prove=False), X, three)
    assert "averaged plane, while predictions are by vote" in verify(several, X, three).reason


def test_m13_the_mistakes_of_a_perceptrons_own_plane_are_counted(path):
    """Its verdict is about the data, whatever plane the model holds."""
    assert "the model's plane makes 0 mistakes" in verify(MODELS["separable"], X, apart).reason
    save(MODELS["separable"], path, threshold=5.0)
    made = int(((MODELS["separable"].decision_function(X) >= 5.0) != (apart == "yes")).sum())
    outcome = verify(path, X, apart)
    assert f"cut at 5 makes {made} mistakes" in outcome.reason
    assert not outcome.proven
    model = fitted(Perceptron(random_state=0, keep="average", max_iter=3), X, apart)
    made = int((model.predict(X) != apart).sum())
    assert f"the model's plane makes {made} mistakes" in verify(model, X, apart).reason
    assert verify(model, X, apart).proven == (made == 0)


def test_m13_verdicts_that_are_missing_prove_nothing():
    model = copy.deepcopy(MODELS["separable, one against the rest"])
    assert verify(model, corners, thirds).proven
    model.separability_ = [model.separability_[0], None, model.separability_[2]]
    outcome = verify(model, corners, thirds)
    assert outcome
    assert not outcome.proven
    assert "class 1 against the rest: whether" in outcome.reason
    model.separability_ = [None, None, None]
    assert "objective" in verify(model, corners, thirds).reason
    model.separability_ = model.separability_[:2]
    assert verify(model, corners, thirds)
    model.separability_ = [MODELS["separable, one against the rest"].separability_[0]]
    refused(verify(model, corners, thirds))


def test_m14_margin_certificates_of_several_classes_alone_are_of_the_numbers_as_they_are():
    certificates = HardMarginSVC().fit([[0.0, 0.0], [4.0, 0.0], [0.0, 4.0]], ["a", "b", "c"]).certificate_
    with pytest.raises(ValueError, match="9007199254740993 in row 2"):
        verify(certificates, np.array([[0, 0], [4, 0], [0, 2**53 + 1]], dtype=object), ["a", "b", "c"])


def test_m14_a_margin_certificate_alone_is_of_its_own_numbers():
    proof = MODELS["margin"].certificate_
    assert proof.verify(X, apart)
    for change in (dict(low=proof.low / 2), dict(low=proof.low * 1.001), dict(high=proof.high * 2)):
        assert not replace(proof, **change).verify(X, apart)


def test_nothing_of_a_file_is_left_out_of_the_lists(path):
    save(MODELS["logistic"], path, encoding={"any": 1})
    assert {"seed", "versions", "encoding", "history_"} <= set(verify(path, X, two).unchecked)


def test_a_C_that_is_no_number_is_refused_even_without_a_penalty():
    with pytest.raises(ValueError, match="must be a positive number"):
        SGDClassifier(penalty=None, C=[1.0]).fit([[0.0], [1.0]], [0, 1])
