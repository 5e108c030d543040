"""Edits of several values that belong together: planes with their claims, settings with theirs, numbers with proofs."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from .edits import Donors, Forgery, UnfitError, edit
from .packing import coefficients, packed

__all__: list[str] = []


# -- planes and classes -----------------------------------------------------------------------------------------------


def _planes(forgery: Forgery) -> tuple[np.ndarray, np.ndarray]:
    W = coefficients(forgery.document)
    b = np.array(forgery.document["intercept"], dtype=float)
    if W.ndim != 2 or b.ndim != 1 or W.dtype != float:
        raise UnfitError("no planes are left")
    return W, b


def _set_planes(forgery: Forgery, W: np.ndarray, b: np.ndarray, margins: bool = True) -> None:
    """Store planes, and in proofs of a margin too."""
    forgery.document["coefficients"], forgery.document["intercept"] = W.tolist(), b.tolist()
    for k, proof in enumerate(forgery.proofs.get("margin", []) if margins else []):
        proof["coef"], proof["intercept"] = W[k].tolist(), float(b[k])


@edit("inverted predictions")
def _inverted(forgery: Forgery, rng: np.random.Generator, donors: Donors) -> None:
    """Negate every plane, and have its proofs speak of the other class as the positive one."""
    W, b = _planes(forgery)
    _set_planes(forgery, -W, -b)
    for claim in forgery.claims():
        if "positive" in claim:
            claim["positive"] = 1 - claim["positive"] if len(W) == 1 else claim["positive"]
        for part in (claim.get("data"), claim.get("dual_point")):
            if isinstance(part, dict) and len(W) == 1:
                part["positive"], part["negative"] = part["negative"], part["positive"]
    for proof in [*forgery.proofs.get("margin", []), *(p for p in forgery.proofs.get("separability", []) if p)]:
        if len(W) == 1:
            proof["classes"] = proof["classes"][::-1]


@edit("planes negated")
def _negated(forgery: Forgery, rng: np.random.Generator, donors: Donors) -> None:
    W, b = _planes(forgery)
    _set_planes(forgery, -W, -b, bool(rng.random() < 0.5))


@edit("classes in another order")
def _classes_permuted(forgery: Forgery, rng: np.random.Generator, donors: Donors) -> None:
    values = forgery.document["classes"]["values"]
    order = rng.permutation(len(values))
    if (order == np.arange(len(values))).all():
        order = order[::-1]
    forgery.document["classes"]["values"] = [values[k] for k in order]
    if rng.random() < 0.8:
        for claim in forgery.claims():
            claim["classes"] = list(forgery.document["classes"]["values"])
            if "squares" in claim and rng.random() < 0.5:
                claim["squares"] = [claim["squares"][k] for k in order]
            if rng.random() < 0.5 and len(values) == 2 and isinstance(claim.get("data"), dict):
                claim["data"]["positive"], claim["data"]["negative"] = (
                    claim["data"]["negative"], claim["data"]["positive"],
                )  # fmt: skip
        for proof in [*forgery.proofs.get("margin", []), *(p for p in forgery.proofs.get("separability", []) if p)]:
            if len(values) == 2:
                proof["classes"] = list(forgery.document["classes"]["values"])


@edit("planes in another order, with their claims")
def _planes_permuted(forgery: Forgery, rng: np.random.Generator, donors: Donors) -> None:
    W, b = _planes(forgery)
    if len(W) < 2:
        raise UnfitError("one plane only")
    order = np.roll(np.arange(len(W)), int(rng.integers(1, len(W))))
    _take(forgery, W, b, order, bool(rng.random() < 0.8))


@edit("one plane for all classes")
def _one_for_all(forgery: Forgery, rng: np.random.Generator, donors: Donors) -> None:
    W, b = _planes(forgery)
    if len(W) < 2:
        raise UnfitError("one plane only")
    _take(forgery, W, b, np.full(len(W), int(rng.integers(len(W)))), True)


def _take(forgery: Forgery, W: np.ndarray, b: np.ndarray, order: np.ndarray, proofs: bool) -> None:
    """Put planes in an order, and all that is said of each."""
    forgery.document["coefficients"], forgery.document["intercept"] = W[order].tolist(), b[order].tolist()
    if not proofs:
        return
    for kind in ("gap", "margin", "seals", "mistakes", "separability"):
        if kind in forgery.proofs:
            forgery.proofs[kind] = [copy.deepcopy(forgery.proofs[kind][k]) for k in order]
    for value in forgery.document["fitted"].values():
        array = value.get("array") if isinstance(value, dict) else None
        if array and array["shape"] == [len(order)]:
            array["values"] = [array["values"][k] for k in order]


@edit("planes scaled")
def _scaled(forgery: Forgery, rng: np.random.Generator, donors: Donors) -> None:
    W, b = _planes(forgery)
    factor = float(rng.choice([2.0, 0.5, 1.01, 1 + 1e-6, 1 + 1e-12, 0.0, 1e3, 1e-3, 1e150, 1e-150]))
    with np.errstate(over="ignore"):
        _set_planes(forgery, factor * W, factor * b, bool(rng.random() < 0.7))
    if rng.random() < 0.5:
        for claim in forgery.claims():
            for name in ("primal", "dual", "rounding"):
                if name in claim:
                    claim[name] *= factor**2


@edit("planes moved a little")
def _moved(forgery: Forgery, rng: np.random.Generator, donors: Donors) -> None:
    W, b = _planes(forgery)
    size = 10.0 ** rng.uniform(-15, 0)
    W = W * (1 + size * rng.normal(size=W.shape))
    _set_planes(forgery, W, b * (1 + size * rng.normal(size=b.shape)), bool(rng.random() < 0.7))


@edit("columns of the planes in another order")
def _columns_permuted(forgery: Forgery, rng: np.random.Generator, donors: Donors) -> None:
    W, b = _planes(forgery)
    if W.shape[1] < 2:
        raise UnfitError("one column only")
    _set_planes(forgery, W[:, ::-1], b)


@edit("the intercept shifted")
def _shifted(forgery: Forgery, rng: np.random.Generator, donors: Donors) -> None:
    W, b = _planes(forgery)
    _set_planes(forgery, W, b + float(rng.choice([1.0, -1.0, 1e-3, 1e3])))


@edit("the planes packed")
def _packed(forgery: Forgery, rng: np.random.Generator, donors: Donors) -> None:
    """As they are, which is no lie, or with a number, a column or an end that is another."""
    W, _ = _planes(forgery)
    said = forgery.document["coefficients"] = packed(W, sparse=bool(rng.integers(2)))
    if rng.random() < 0.3:
        return
    place = rng.choice(list(said))
    if isinstance(said[place], list):
        said[place][int(rng.integers(len(said[place])))] += int(rng.choice([-1, 1]))
    elif said[place]:
        letter = int(rng.integers(len(said[place])))
        said[place] = said[place][:letter] + str(rng.choice(list("AZaz09+/="))) + said[place][letter + 1 :]


# -- parts of other models --------------------------------------------------------------------------------------------

SWAPPED = ("certificate", "coefficients", "intercept", "fitted", "estimator", "classes", "objective", "history")


def _borrow(forgery: Forgery, donor: dict[str, Any], rng: np.random.Generator) -> None:
    """Take some sections of another model."""
    some = [name for name in SWAPPED if rng.random() < 0.4] or ["certificate"]
    for name in some:
        forgery.document[name] = copy.deepcopy(donor[name])
    if "coefficients" in some:
        forgery.document["intercept"] = copy.deepcopy(donor["intercept"])
        forgery.document["features"] = copy.deepcopy(donor["features"])


@edit("sections of another fit of the same data")
def _of_same_data(forgery: Forgery, rng: np.random.Generator, donors: Donors) -> None:
    _borrow(forgery, donors.same_data(), rng)


@edit("sections of the same estimator on other data")
def _of_same_family(forgery: Forgery, rng: np.random.Generator, donors: Donors) -> None:
    _borrow(forgery, donors.same_family(), rng)


@edit("sections of another estimator")
def _of_any(forgery: Forgery, rng: np.random.Generator, donors: Donors) -> None:
    _borrow(forgery, donors.any(), rng)


@edit("a planes' swap with a fit of the same data, with its claims")
def _planes_and_claims(forgery: Forgery, rng: np.random.Generator, donors: Donors) -> None:
    """The other fit's planes and proofs, under this one's parameters; where it is about, its statement is put right."""
    donor, statements = donors.same_data(), [copy.deepcopy(claim.get("statement")) for claim in forgery.claims()]
    for name in ("certificate", "coefficients", "intercept"):
        forgery.document[name] = copy.deepcopy(donor[name])
    for claim, statement in zip(forgery.claims(), statements, strict=False):
        claim["statement"] = statement


@edit("proofs of a kind taken away, or added")
def _kinds(forgery: Forgery, rng: np.random.Generator, donors: Donors) -> None:
    proofs = forgery.proofs
    if len(proofs) > 1 and rng.random() < 0.5:
        del proofs[str(rng.choice(list(proofs)))]
        return
    others = (donors.same_family() if rng.random() < 0.3 else donors.any())["certificate"] or {}
    kind = str(rng.choice([name for name in others if name not in proofs]))
    proofs[kind] = copy.deepcopy(others[kind])


# -- settings ---------------------------------------------------------------------------------------------------------


@edit("tol")
def _tol(forgery: Forgery, rng: np.random.Generator, donors: Donors) -> None:
    tol, where = float(rng.choice([0.5, 1.0, 0.9999, 10.0, 1e-3, 1e-16, 1e300])), rng.integers(3)
    if where != 1:
        for claim in [*forgery.claims(), *forgery.proofs.get("margin", [])]:
            if "tol" in claim:
                claim["tol"] = tol
    if where != 2 and "tol" in forgery.parameters():
        forgery.parameters()["tol"] = tol
    if rng.random() < 0.3:
        forgery.document["fitted"]["converged_"] = True


def _number(value: Any) -> float:
    return float(value["float"]) if isinstance(value, dict) else math.inf if value is None else float(value)


@edit("C, with all that is claimed of it")
def _edit_C(forgery: Forgery, rng: np.random.Generator, donors: Donors) -> None:
    parameters = forgery.parameters()
    if "C" not in parameters:
        raise UnfitError("no C")
    old = _number(parameters["C"])
    factor = float(rng.choice([2.0, 0.5, 10.0, 1 + 1e-6, 1e-5, 1e5, 1e200, 1e-200]))
    new = old * factor if math.isfinite(old) else factor
    parameters["C"] = new
    both = rng.random() < 0.7
    for claim in forgery.claims():
        claim["statement"]["C"] = new
        for name in ("primal", "dual", "rounding") if both else ():
            claim[name] *= factor
    if rng.random() < 0.4:
        words = forgery.document["objective"]
        forgery.document["objective"] = words.replace(f"{old:g}·Σ", f"{new:g}·Σ")


@edit("no penalty")
def _no_penalty(forgery: Forgery, rng: np.random.Generator, donors: Donors) -> None:
    parameters = forgery.parameters()
    if "C" not in parameters:
        raise UnfitError("no C")
    parameters["C"] = {"float": "inf"}
    for claim in forgery.claims():
        claim["statement"]["C"] = None


@edit("class weights")
def _class_weights(forgery: Forgery, rng: np.random.Generator, donors: Donors) -> None:
    parameters, labels = forgery.parameters(), forgery.document["classes"]["values"]
    if "class_weight" not in parameters:
        raise UnfitError("no class weights")
    pairs = [[label, float(rng.choice([0.0, 0.5, 1.0, 2.0, 1e3]))] for label in labels]
    kind = rng.integers(3)
    parameters["class_weight"] = [None, "balanced", {"map": pairs}][kind]
    for claim in forgery.claims():
        claim["statement"]["class_weight"] = [None, "balanced", pairs][kind]


@edit("with or without an intercept")
def _fit_intercept(forgery: Forgery, rng: np.random.Generator, donors: Donors) -> None:
    parameters = forgery.parameters()
    new = not parameters["fit_intercept"]
    parameters["fit_intercept"] = new
    for claim in forgery.claims():
        claim["statement"]["fit_intercept"] = new
    for proof in [*forgery.proofs.get("margin", []), *(p for p in forgery.proofs.get("separability", []) if p)]:
        proof["fit_intercept"] = new
    if not new and rng.random() < 0.5:
        W, b = _planes(forgery)
        _set_planes(forgery, W, 0 * b)


@edit("another loss")
def _loss(forgery: Forgery, rng: np.random.Generator, donors: Donors) -> None:
    loss = str(rng.choice(["hinge", "squared_hinge", "logistic", "square", "perceptron"]))
    if "loss" in forgery.parameters():
        forgery.parameters()["loss"] = loss
    for claim in forgery.claims():
        claim["statement"]["loss"] = loss


@edit("another penalty")
def _other_penalty(forgery: Forgery, rng: np.random.Generator, donors: Donors) -> None:
    parameters = forgery.parameters()
    if "penalty" not in parameters:
        raise UnfitError("no penalty")
    l2, l1 = (float(x) for x in rng.choice([0.0, 1e-300, 1e-100, 0.5, 1.0, 2.0], 2))
    if forgery.document["estimator"]["class"] in ("LinearClassifier", "SGDClassifier"):
        parameters["penalty"] = {"object": {"class": "penalties.Penalty", "settings": {"l2": l2, "l1": l1}}}
        parameters["l1_ratio"] = None
    else:
        parameters["penalty"] = str(rng.choice(["l1", "l2"]))
        l2, l1 = (1.0, 0.0) if parameters["penalty"] == "l2" else (0.0, 1.0)
    for claim in forgery.claims():
        claim["statement"]["l2"], claim["statement"]["l1"] = l2, l1


@edit("another estimator of the same loss")
def _estimator(forgery: Forgery, rng: np.random.Generator, donors: Donors) -> None:
    section, parameters = forgery.document["estimator"], forgery.parameters()
    losses = {"LogisticRegression": "logistic", "LinearSVC": parameters.get("loss"), "LeastSquaresClassifier": "square"}
    loss = losses.get(section["class"], parameters.get("loss"))
    if loss is None:
        raise UnfitError("no loss")
    statement = (forgery.claims() or [{}])[0].get("statement", {})
    section["class"] = "LinearClassifier"
    penalty = {"l2": statement.get("l2", 1.0), "l1": statement.get("l1", 0.0)}
    section["parameters"] = {
        "loss": loss,
        "penalty": {"object": {"class": "penalties.Penalty", "settings": penalty}},
        "C": parameters["C"],
        "fit_intercept": parameters["fit_intercept"],
        "class_weight": parameters["class_weight"],
    }


@edit("one against the rest, or all at once")
def _multi_class(forgery: Forgery, rng: np.random.Generator, donors: Donors) -> None:
    parameters = forgery.parameters()
    at_once = "softmax" if forgery.document["estimator"]["class"] == "LogisticRegression" else "crammer_singer"
    parameters["multi_class"] = "ovr" if parameters["multi_class"] != "ovr" else at_once


@edit("a threshold")
def _threshold(forgery: Forgery, rng: np.random.Generator, donors: Donors) -> None:
    forgery.document["threshold"] = float(rng.choice([0.5, -0.5, 100.0, -1e300, 1e-3]))


@edit("the objective in words")
def _words(forgery: Forgery, rng: np.random.Generator, donors: Donors) -> None:
    forgery.document["objective"] = str(rng.choice(["Σ [z ≤ 0]", "½‖w‖² + 7·Σ max(0, 1 − z)", "nothing", ""]))


@edit("names of the columns")
def _names(forgery: Forgery, rng: np.random.Generator, donors: Donors) -> None:
    d = forgery.document["features"]["count"]
    names = forgery.document["features"]["names"] or [f"column {j}" for j in range(d)]
    new = names[::-1] if rng.random() < 0.5 and d > 1 else [f"other {j}" for j in range(d)]
    forgery.document["features"]["names"] = new
    for proof in forgery.proofs.get("separability", []):
        if proof and rng.random() < 0.5:
            proof["feature_names"] = list(new)


# -- numbers of a fit -------------------------------------------------------------------------------------------------


def _fitted(forgery: Forgery, name: str, change: Callable[[float], float]) -> None:
    """Change a number of the fit, or all of an array."""
    section = forgery.document["fitted"]
    value = section[name]
    if isinstance(value, dict) and "array" in value:
        old = [_number(x) for x in value["array"]["values"]]
        value["array"]["values"] = [_as_json(change(x)) for x in old]
        if value["array"]["dtype"].startswith("int") and any(x % 1 for x in map(change, old)):
            value["array"]["dtype"] = "float64"
        return
    new = change(_number(value))
    section[name] = int(new) if isinstance(value, int) and math.isfinite(new) and new % 1 == 0 else _as_json(new)


def _as_json(x: float) -> Any:
    return x if math.isfinite(x) else {"float": repr(x)}


@edit("converged")
def _converged(forgery: Forgery, rng: np.random.Generator, donors: Donors) -> None:
    section = forgery.document["fitted"]
    section["converged_"] = not section["converged_"]
    if "proven_" in section and rng.random() < 0.5:
        section["proven_"] = section["converged_"]


@edit("a better gap")
def _better_gap(forgery: Forgery, rng: np.random.Generator, donors: Donors) -> None:
    """Raise the bound up to the objective, in the claims and in what the model says."""
    share = float(rng.choice([0.0, 1e-16, 1e-8, 0.5]))
    for claim in forgery.claims():
        if "primal" in claim:
            claim["dual"] = claim["primal"] * (1 - share)
            claim["rounding"] = 0.0 if rng.random() < 0.5 else claim["rounding"]
    forgery.document["fitted"]["dual_gap_"] = share
    if rng.random() < 0.5:
        forgery.document["fitted"]["converged_"] = True


@edit("the objective claimed")
def _claimed_objective(forgery: Forgery, rng: np.random.Generator, donors: Donors) -> None:
    factor = float(rng.choice([2.0, 0.5, 1 + 1e-10, 1 - 1e-10, 0.0, 1e-300]))
    for claim in forgery.claims():
        if "primal" in claim:
            claim["primal"] *= factor
            claim["dual"] = min(claim["dual"], claim["primal"])


@edit("the dual point")
def _dual_point(forgery: Forgery, rng: np.random.Generator, donors: Donors) -> None:
    points = [claim["dual_point"] for claim in forgery.claims() if "dual_point" in claim]
    point = points[int(rng.integers(len(points)))] if points else None
    if point is None:
        raise UnfitError("no dual point")
    kind = rng.integers(5)
    if kind == 0:
        point["rows"], point["values"] = [], []
    elif kind == 1:
        factor = float(rng.choice([2.0, -1.0, 1e300, 1e-300, 0.0]))
        point["values"] = [factor * x for x in point["values"]]
    elif kind == 2:
        point["rows"] = [int(rng.integers(-2, 20)) for _ in point["rows"]]
    elif kind == 3:
        point["positive"], point["negative"] = (float(x) for x in rng.choice([0.0, -1.0, 2.0, 1e308], 2))
    else:
        point["shift"] = float(rng.choice([1.0, -1e300, 1e-8]))


@edit("the margin, with its proof")
def _margin(forgery: Forgery, rng: np.random.Generator, donors: Donors) -> None:
    factor = float(rng.choice([2.0, 0.5, 1.1, 1 + 1e-9, 1 + 1e-13, 0.0, -1.0, 1e137]))
    _fitted(forgery, "margin_", lambda x: factor * x)
    for proof in forgery.proofs.get("margin", []):
        proof["low"] *= factor
        if rng.random() < 0.5:
            proof["high"] *= factor
    for proof in forgery.proofs.get("separability", []):
        if proof and isinstance(proof["margin"], float):
            proof["margin"] *= factor


@edit("points of the hulls")
def _hulls(forgery: Forgery, rng: np.random.Generator, donors: Donors) -> None:
    proofs = forgery.proofs["margin"]
    proof = proofs[int(rng.integers(len(proofs)))]
    factor = float(rng.choice([2.0, 0.5, 0.0, -1.0]))
    proof["weights"] = [factor * x for x in proof["weights"]]
    if rng.random() < 0.5:
        proof["points"] = proof["points"][::-1]


@edit("numbers of mistakes, with their proof")
def _mistakes(forgery: Forgery, rng: np.random.Generator, donors: Donors) -> None:
    kind, section = rng.integers(4), forgery.document["fitted"]
    step = float(rng.choice([1.0, -1.0, 0.5, 1e-5, 1e-12]))
    if kind in (0, 2):
        _fitted(forgery, "n_mistakes_", lambda x: x - step)
    if kind in (1, 2):
        _fitted(forgery, "lower_bound_", lambda x: x + step)
        for proof in forgery.proofs["mistakes"]:
            proof["bound"] += step
            proof["method"] = str(rng.choice([proof["method"], "cells", "none", "conflicts"]))
    if kind == 3:
        section["lower_bound_"] = copy.deepcopy(section["n_mistakes_"])
        said = section["n_mistakes_"]
        values = [_number(x) for x in said["array"]["values"]] if isinstance(said, dict) else [float(said)]
        for proof, value in zip(forgery.proofs["mistakes"], values, strict=False):
            proof["bound"] = value
            proof["method"] = str(rng.choice([proof["method"], "cells", "none", "conflicts"]))
    if rng.random() < 0.7:
        section["proven_"] = section["converged_"] = bool(rng.random() < 0.7)


@edit("conflicts")
def _conflicts(forgery: Forgery, rng: np.random.Generator, donors: Donors) -> None:
    proofs = forgery.proofs["mistakes"]
    proof = proofs[int(rng.integers(len(proofs)))]
    n = len(forgery.data.y)
    if rng.random() < 0.3 and proof["conflicts"]:
        proof["conflicts"] = proof["conflicts"] * 2
    else:
        proof["conflicts"] = [*proof["conflicts"], sorted(int(i) for i in rng.choice(n, min(n, 3), replace=False))]
    proof["method"] = "conflicts"
    if rng.random() < 0.5:
        proof["hopeless"] = [int(rng.integers(n))]
    if rng.random() < 0.5:
        proof["bound"] += 1.0
        _fitted(forgery, "lower_bound_", lambda x: x + 1.0)


NOVIKOFF = ("mistake_bound_", "best_margin_", "best_mistake_bound_", "radius_", "mistakes_", "t_", "n_iter_")


@edit("the perceptron's numbers")
def _novikoff(forgery: Forgery, rng: np.random.Generator, donors: Donors) -> None:
    names = [name for name in NOVIKOFF if name in forgery.document["fitted"]]
    factor = float(rng.choice([2.0, 0.5, 10.0, 0.0]))
    for name in [name for name in names if rng.random() < 0.5] or names[:1]:
        _fitted(forgery, name, lambda x: factor * x if math.isfinite(x) else 7.0 * factor)
    if not names:
        raise UnfitError("no such numbers")


@edit("votes")
def _votes(forgery: Forgery, rng: np.random.Generator, donors: Donors) -> None:
    if "ballots" not in forgery.document["fitted"]:
        raise UnfitError("no ballots")
    if rng.random() < 0.3:
        del forgery.document["fitted"]["ballots"]
        return
    for ballot in forgery.document["fitted"]["ballots"]:
        parts = dict(ballot["map"])
        values = parts["signs"]["array"]
        values["values"] = [-x for x in values["values"]]


# -- separability -----------------------------------------------------------------------------------------------------


def _verdict(forgery: Forgery, rng: np.random.Generator) -> dict[str, Any]:
    proofs = [proof for proof in forgery.proofs["separability"] if proof]
    return proofs[int(rng.integers(len(proofs)))]


@edit("the verdict on separability")
def _other_verdict(forgery: Forgery, rng: np.random.Generator, donors: Donors) -> None:
    proof = _verdict(forgery, rng)
    verdicts = [verdict for verdict in ("separable", "quasi", "overlap", "inseparable") if verdict != proof["verdict"]]
    proof["verdict"] = str(rng.choice(verdicts))
    if proof["verdict"] in ("overlap", "inseparable") and rng.random() < 0.5:
        proof.update(coef=None, intercept=None, plane=None, margin=None, infinite=[], on_plane=0)
    if rng.random() < 0.3:
        W, b = _planes(forgery)
        proof.update(coef=W[0].tolist(), intercept=float(b[0]))


@edit("the plane of the verdict")
def _plane_of_verdict(forgery: Forgery, rng: np.random.Generator, donors: Donors) -> None:
    proof = _verdict(forgery, rng)
    if proof["coef"] is None:
        raise UnfitError("no plane")
    kind = rng.integers(4)
    exact = [_fraction(x) for x in [*proof["coef"], proof["intercept"]]]
    if kind == 0:  # the exact plane is right, what rounds it is not
        proof["plane"] = proof["plane"] or exact
        proof["coef"] = [-x for x in proof["coef"]]
    elif kind == 1:
        proof["coef"], proof["intercept"] = [2 * x for x in proof["coef"]], 2 * proof["intercept"]
    elif kind == 2:
        proof["plane"] = exact
    else:
        proof["margin"] = (proof["margin"] or 1.0) * float(rng.choice([0.5, 1 + 1e-9, 1 + 1e-13, 2.0, 1e137]))


def _fraction(x: float) -> str:
    numerator, denominator = float(x).as_integer_ratio()
    return f"{numerator:x}/{denominator:x}"


@edit("coefficients that are infinite")
def _infinite(forgery: Forgery, rng: np.random.Generator, donors: Donors) -> None:
    proof, d = _verdict(forgery, rng), forgery.document["features"]["count"]
    said = range(d + 1) if proof["infinite"] == "all" else proof["infinite"] or ()
    infinite = sorted(set(said) ^ {int(rng.integers(d))})
    proof["infinite"] = infinite
    if proof["coef"] is not None and rng.random() < 0.5:
        proof["coef"] = [x if j in infinite else 0.0 for j, x in enumerate(proof["coef"])]


@edit("points of the verdict")
def _points(forgery: Forgery, rng: np.random.Generator, donors: Donors) -> None:
    proof, n = _verdict(forgery, rng), len(forgery.data.y)
    if proof["points"] is None:
        proof["points"], proof["weights"] = [0, n - 1], ["1/1", "1/1"]
    elif rng.random() < 0.5:
        proof["points"] = [(i + 1) % n for i in proof["points"]]
    else:
        proof["support"], proof["support_weights"] = proof["points"], proof["weights"]
        proof["dependencies"] = []
    proof["on_plane"] = int(rng.integers(0, 3))
