"""The proof of a choice of C: honest ones verify, forged ones do not, and no C of a dense grid beats the bound."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from mpmath import lu_solve, matrix, workdps
from sklearn.model_selection import ShuffleSplit, StratifiedKFold

import linsep
from command import run
from linsep import LinearSVC, LinearSVCCV, LogisticRegression, LogisticRegressionCV
from linsep.certificates.kinds import choice as choice_kind
from linsep.certificates.metrics import inverse_root
from linsep.certificates.proof import proof_of

GRID = [0.1, 1.0, 10.0]
MODELS = {
    "logistic": (LogisticRegressionCV(Cs=GRID, cv=3, prove=True), LogisticRegression()),
    "hinge": (LinearSVCCV(Cs=GRID, cv=3, prove=True), LinearSVC()),
}


def data(seed=0, n=45, d=2, shift=0.0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X + shift, (X[:, 0] + rng.logistic(size=n) > 0.3).astype(int)


@pytest.fixture(scope="module", params=sorted(MODELS))
def fitted(request):
    X, y = data()
    model, plain = MODELS[request.param]
    return model.fit(X, y), plain, X, y


def checked(model, proof, X, y):
    """Return what is found of a model with another proof of its choice."""
    kept = model._proofs
    model._proofs = [one for one in kept if one.kind != "choice"] + [proof]
    try:
        return linsep.verify(model, X, y)
    finally:
        model._proofs = kept


def test_an_honest_choice_verifies_in_memory_and_in_a_file(fitted, tmp_path):
    model, _, X, y = fitted
    linsep.save(model, tmp_path / "model.json")
    for said in (model, tmp_path / "model.json"):
        found = linsep.verify(said, X, y)
        assert found.proven, found.reason
        sentence = f"no C between 0.1 and 10 makes fewer than {model.proof_.bound:g}"
        assert f"C={model.C_:g} makes {model.proof_.mistakes:g} mistakes on held-out rows in 3 folds" in found.reason
        assert sentence in found.reason
        assert not {"choice_", "proof_", "C_"} & {*found.unchecked}


def test_no_c_of_a_dense_grid_beats_the_bound(fitted):
    model, plain, X, y = fitted
    proof, fewest = proof_of(model, "choice"), np.inf
    for C in np.geomspace(GRID[0], GRID[-1], 40):
        made = 0
        for train, test in StratifiedKFold(3).split(X, y):
            g = plain.set_params(C=C, tol=1e-9).fit(X[train], y[train]).decision_function(X[test])
            made += int(np.where(y[test] == 1, g < -1e-5, g > 1e-5).sum())  # leaning against the bound
        fewest = min(fewest, made)
    assert 0 < proof.claimed.bound <= fewest


def forged(proof):
    """Yield proofs that differ in one thing, by name."""
    said, first = proof.claimed, proof.folds[0]
    for name, change in {
        "C": {"C": said.C * 1.01},
        "one mistake less": {"mistakes": said.mistakes - 1},
        "one mistake more": {"mistakes": said.mistakes + 1},
        "the bound": {"bound": said.bound + 1},
        "a wider range": {"grid": (*said.grid, 100.0)},
        "a range from below": {"grid": (1e-3, *said.grid)},
        "another score": {"score": "balanced_accuracy"},
    }.items():
        yield name, replace(proof, claimed=replace(said, **change))
    for name, rows in {
        "a fold for everybody": np.zeros_like(proof.held_out),
        "other folds": np.roll(proof.held_out, 7),
        "rows missing": proof.held_out[:-1],
        "a fold too many": np.where(np.arange(len(proof.held_out)) == 0, 3, proof.held_out),
    }.items():
        yield name, replace(proof, held_out=rows)
    at = int(np.flatnonzero(first.Cs == said.C)[0])
    for name, planes in {
        "planes of nothing": np.zeros_like(first.planes),
        "planes turned": -first.planes,
        "not a number": np.full_like(first.planes, np.nan),
        "columns lost": first.planes[:, 1:],
    }.items():
        yield name, replace(proof, folds=[replace(first, planes=planes), *proof.folds[1:]])
    fewer = [replace(first, Cs=np.delete(first.Cs, at), planes=np.delete(first.planes, at, axis=0), dual_points=None)]
    yield "no plane at the choice", replace(proof, folds=[*fewer, *proof.folds[1:]])
    if first.dual_points is not None:
        none = [replace(one, values=0 * one.values) for one in first.dual_points]
        yield "dual points", replace(proof, folds=[replace(first, dual_points=none), *proof.folds[1:]])


def test_a_forged_proof_is_refused(fitted):
    model, _, X, y = fitted
    proof = proof_of(model, "choice")
    assert checked(model, proof, X, y)
    accepted = [name for name, other in forged(proof) if checked(model, other, X, y)]
    assert accepted == []


@pytest.mark.parametrize("entry", ["choice_", "words", "C", "proof_"])
def test_what_a_model_says_of_its_choice_is_what_is_proven(entry, tmp_path):
    X, y = data()
    model = LogisticRegressionCV(Cs=GRID, cv=3, prove=True).fit(X, y)
    if entry == "proof_":
        model.proof_ = replace(model.proof_, bound=model.proof_.bound + 1)
        assert "proof_ is not" in linsep.verify(model, X, y).reason
        return
    plain = model.at_choice()
    if entry == "choice_":
        plain.choice_["proof"]["bound"] += 1
    elif entry == "words":
        assert linsep.verify(plain, X, y)
        plain.choice_["bound"] += "00"
    else:
        plain.C *= 1.01
    assert not linsep.verify(plain, X, y)


def test_a_proof_that_is_too_large_is_said_not_to_be_checked(monkeypatch, tmp_path):
    X, y = data()
    monkeypatch.setattr(choice_kind, "MOST_NUMBERS", 20)
    model = LogisticRegressionCV(Cs=GRID, cv=3, prove=True).fit(X, y)
    linsep.save(model, tmp_path / "model.json")
    for said in (model, tmp_path / "model.json"):
        found = linsep.verify(said, X, y)
        assert found.proven
        assert "the choice of C was not checked: its planes have" in found.reason
        assert "no C between" not in found.reason


def test_folds_that_hold_rows_out_more_than_once_are_said_not_to_be_checked():
    X, y = data()
    model = LogisticRegressionCV(Cs=GRID, cv=ShuffleSplit(2, random_state=0), prove=True).fit(X, y)
    found = linsep.verify(model, X, y)
    assert found
    assert "the choice of C was not checked: its folds do not hold out each row once" in found.reason


def test_a_choice_without_proof_is_no_part_of_what_is_proven(tmp_path):
    X, y = data()
    model = LogisticRegressionCV(Cs=GRID, cv=3).fit(X, y)
    linsep.save(model, tmp_path / "model.json")
    for said in (model, tmp_path / "model.json"):
        assert "how C was chosen is no part of what is proven" in linsep.verify(said, X, y).reason
    assert "how C was chosen" not in linsep.verify(LogisticRegression().fit(X, y), X, y).reason


def test_rows_far_from_the_origin_do_not_change_the_choice_of_a_kinked_loss():
    near, far = (LinearSVCCV(Cs=GRID, cv=3, prove=True).fit(*data(shift=shift)) for shift in (0.0, 2.0**13))
    assert (near.proof_.mistakes, near.proof_.bound) == (far.proof_.mistakes, far.proof_.bound)


def test_a_file_without_its_gap_claims_nothing(tmp_path):
    X, y = data()
    linsep.save(LogisticRegressionCV(Cs=GRID, cv=3, prove=True).fit(X, y), path := tmp_path / "model.json")
    model = linsep.load(path)
    model._proofs = [one for one in model._proofs if one.kind == "choice"]
    assert not linsep.verify(model, X, y)
    assert set(json.loads(path.read_text())["certificate"]) == {"gap", "choice"}


@pytest.mark.parametrize("spread", [0, 4, 7])
def test_lengths_by_a_root_are_no_shorter_than_those_in_sixty_digits(spread):
    rng = np.random.default_rng(spread)
    A = rng.integers(-9, 10, (12, 4)) * (2.0 ** np.array([0, spread, -spread, 0]))
    A[:, 3] = A[:, 0] + 2.0**-spread * A[:, 3]
    H = A.T @ A + np.eye(4)  # without rounding
    S = inverse_root(H, 12)
    with workdps(60):
        for x in rng.integers(-9, 10, (5, 4)):
            square = (matrix(x.tolist()).T * lu_solve(matrix(H.tolist()), matrix(x.tolist())))[0]
            assert square <= float(np.sum((S @ x) ** 2)) <= square * 1.001


@pytest.mark.slow
def test_the_command_checks_folds_that_were_encoded_by_their_own_rows(tmp_path):
    X, y = data()
    table = tmp_path / "rows.csv"
    lines = [f"{a:.3f},{b:.3f},{'yes' if label else 'no'}" for (a, b), label in zip(X, y, strict=True)]
    table.write_text("\n".join(["u,v,y", *lines]) + "\n")
    path = tmp_path / "model.json"
    run("fit", table, "--target", "y", "--C", "auto", "--prove", "--folds", "3", "--output", path)
    said = run("verify", path, table, "--target", "y")
    assert "in 3 folds, each on columns made by its own rows; no C between 0.0001 and 10000 makes fewer than" in said
