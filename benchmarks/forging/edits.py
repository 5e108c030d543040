"""Edits of a model file, or of the data shown with it: of single values, and of several that belong together."""

from __future__ import annotations

import copy
import marshal
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np
from scipy import sparse

from .honest import FAMILIES, Data, Honest, make

__all__ = ["EDITS", "Donors", "Forgery", "forge", "is_unfit", "places_of"]


class UnfitError(Exception):
    """An edit that this file offers no place for."""


def is_unfit(error: Exception) -> bool:
    """Whether an edit failed because an earlier one left nothing of the kind it edits."""
    return isinstance(error, UnfitError | LookupError | TypeError | ValueError | AttributeError | ArithmeticError)


class Donors:
    """Other honest models, whose parts a forgery can borrow; fitted when first asked for."""

    def __init__(self, honest: Honest) -> None:
        self.honest = honest
        self._same_data: Honest | None = None

    def same_data(self) -> dict[str, Any]:
        """Return a fit of the same estimator, with other settings, on the same data."""
        if self._same_data is None:
            self._same_data = _donor(DONORS + self.honest.seed, self.honest.family, self.honest.data)
        return self._same_data.document

    def same_family(self) -> dict[str, Any]:
        """Return a fit of the same estimator on other data."""
        return _shared(DONORS + self.honest.seed % POOL, self.honest.family).document

    def any(self) -> dict[str, Any]:
        """Return a fit of another estimator on other data."""
        others = [family for family in FAMILIES if family != self.honest.family]
        return _shared(DONORS + self.honest.seed % POOL, others[self.honest.seed % len(others)]).document


#: Where the seeds of donors begin, and how many there are of each estimator.
DONORS, POOL = 10**9, 16


def _donor(seed: int, family: str, data: Data | None = None) -> Honest:
    try:
        return make(seed, family, data)
    except (RuntimeError, ArithmeticError, ValueError) as error:  # what a fit does wrong, honest runs report
        raise UnfitError(f"no donor: {error}") from error


@cache
def _shared(seed: int, family: str) -> Honest:
    return _donor(seed, family)


@dataclass
class Forgery:
    """A file and the data shown with it, on the way from honest to forged."""

    document: dict[str, Any]
    data: Data
    kinds: list[str] = field(default_factory=list)
    reseal: bool = True

    @property
    def proofs(self) -> dict[str, Any]:
        """The certificate."""
        found: dict[str, Any] = self.document["certificate"]
        return found

    def claims(self) -> list[dict[str, Any]]:
        """Return whatever is claimed of a plane, or of all."""
        softmax = [self.proofs["softmax"]] if "softmax" in self.proofs else []
        return [*self.proofs.get("gap", []), *softmax, *self.proofs.get("seals", [])]

    def parameters(self) -> dict[str, Any]:
        """Return what the estimator was made with."""
        found: dict[str, Any] = self.document["estimator"]["parameters"]
        return found


Edit = Callable[[Forgery, np.random.Generator, Donors], None]

#: All edits by name; those of a single value are one of them.
EDITS: dict[str, Edit] = {}


def _edit(name: str) -> Callable[[Edit], Edit]:
    def listed(function: Edit) -> Edit:
        EDITS[name] = function
        return function

    return listed


#: Edits for which only some files have a place: they are drawn more often where there is one.
SPECIAL = {
    "margin": ("the margin, with its proof", "points of the hulls"),
    "mistakes": ("numbers of mistakes, with their proof", "conflicts"),
    "separability": (
        "the verdict on separability",
        "the plane of the verdict",
        "coefficients that are infinite",
        "points of the verdict",
        "votes",
    ),
}


def forge(honest: Honest, rng: np.random.Generator, donors: Donors) -> Forgery:
    """Return a forgery of one to four edits; a third of all edits are of single values, in any section."""
    forgery = Forgery(honest.document, honest.data)
    special = (
        [name for kind in forgery.proofs for name in SPECIAL.get(kind, ())] if forgery.document["certificate"] else []
    )
    wanted = int(rng.choice([1, 2, 3, 4], p=[0.5, 0.28, 0.14, 0.08]))
    for _ in range(40):
        before = marshal.dumps(forgery.document), forgery.data
        name = _drawn(rng, special)
        try:
            EDITS[name](forgery, rng, donors)
        except Exception as error:
            if not is_unfit(error):
                raise
            forgery.document, forgery.data = marshal.loads(before[0]), before[1]
            continue
        forgery.kinds.append(name)
        if len(forgery.kinds) == wanted:
            break
    forgery.reseal = bool(rng.random() < 0.95)
    return forgery


def _drawn(rng: np.random.Generator, special: list[str]) -> str:
    """Draw an edit by name."""
    kind = rng.random()
    if kind < 0.33:
        return "one value"
    return str(rng.choice(special if special and kind < 0.6 else list(EDITS)))


# -- one value --------------------------------------------------------------------------------------------------------


@_edit("one value")
def _one_value(forgery: Forgery, rng: np.random.Generator, donors: Donors) -> None:
    """Change one value, anywhere: sections are drawn alike, so that long ones do not take all."""
    document = forgery.document
    section = str(rng.choice([name for name in document if name != "digest"]))
    places = places_of(document[section], document, section)
    # Numbers in long lists are many; the names above them are what differs in meaning.
    holder, key = places[int(rng.integers(len(places)))] if rng.random() < 0.5 else _spread(places, rng)
    change = _changes(holder, key)
    change[int(rng.integers(len(change)))](holder, key, rng)


def places_of(value: Any, holder: Any, key: Any) -> list[tuple[Any, Any]]:
    """Return all places, (holder, key), under a value and its own."""
    found = [(holder, key)]
    if isinstance(value, dict):
        for name in value:
            found += places_of(value[name], value, name)
    elif isinstance(value, list):
        for k, item in enumerate(value):
            found += places_of(item, value, k)
    return found


def _spread(places: list[tuple[Any, Any]], rng: np.random.Generator) -> tuple[Any, Any]:
    """Draw a place such that every holder is as likely as any other."""
    holders = list({id(holder): holder for holder, _ in places}.values())
    holder = holders[int(rng.integers(len(holders)))]
    inside = [place for place in places if place[0] is holder]
    return inside[int(rng.integers(len(inside)))]


Change = Callable[[Any, Any, np.random.Generator], None]


def _set(make_value: Callable[[Any], Any]) -> Change:
    def change(holder: Any, key: Any, rng: np.random.Generator) -> None:
        before = holder[key]
        holder[key] = make_value(before)
        if holder[key] == before and type(holder[key]) is type(before) and str(holder[key]) == str(before):
            raise UnfitError("nothing changed")

    return change


def _ulp(up: bool) -> Change:
    return _set(lambda x: math.nextafter(float(x), math.inf if up else -math.inf))


NUMBER: list[Change] = [
    _set(lambda x: -x),
    _set(lambda x: 0 * x),
    _set(lambda x: 2 * x),
    _set(lambda x: x / 2),
    _set(lambda x: 10 * x),
    _set(lambda x: x + 1),
    _set(lambda x: x - 1),
    _set(lambda x: float(x) * 1e300),
    _set(lambda x: float(x) * 1e-300),
    _ulp(True),
    _ulp(False),
]
#: Half as often: what is no number, or none of that size.
NUMBER = NUMBER * 2 + [
    _set(lambda x: math.inf),
    _set(lambda x: -1e308),
    _set(lambda x: 10**400),
    _set(lambda x: 5e-324),
    _set(str),
    _set(lambda x: None),
    _set(lambda x: True),
    _set(lambda x: [x]),
    _set(lambda x: {"float": "nan"}),
    _set(lambda x: {"float": "inf"}),
]

WORD: list[Change] = [
    _set(lambda x: x + "x"),
    _set(lambda x: ""),
    _set(lambda x: x[::-1]),
    _set(lambda x: 0),
    _set(lambda x: None),
    _set(lambda x: [x]),
    _set(lambda x: "balanced"),
    _set(lambda x: x[:-1]),
    _set(lambda x: x.replace("/", "/-")),
    _set(lambda x: "0/1"),
    _set(lambda x: "1/0"),
]

TRUTH: list[Change] = [_set(lambda x: not x), _set(int), _set(lambda x: None), _set(str)]

NOTHING: list[Change] = [
    _set(lambda x: 0.0),
    _set(lambda x: 1.0),
    _set(lambda x: {}),
    _set(lambda x: []),
    _set(lambda x: "x"),
]


def _doubled(holder: Any, key: Any, rng: np.random.Generator) -> None:
    inside = holder[key]
    inside.insert(int(rng.integers(len(inside))), copy.deepcopy(inside[int(rng.integers(len(inside)))]))


def _one_less(holder: Any, key: Any, rng: np.random.Generator) -> None:
    del holder[key][int(rng.integers(len(holder[key])))]


def _swapped(holder: Any, key: Any, rng: np.random.Generator) -> None:
    inside = holder[key]
    i, j = rng.choice(len(inside), 2, replace=False)
    if inside[i] == inside[j]:
        raise UnfitError("both are the same")
    inside[i], inside[j] = inside[j], inside[i]


def _keys_swapped(holder: Any, key: Any, rng: np.random.Generator) -> None:
    inside = holder[key]
    names = list(inside)
    i, j = (names[k] for k in rng.choice(len(names), 2, replace=False))
    inside[i], inside[j] = inside[j], inside[i]


def _key_gone(holder: Any, key: Any, rng: np.random.Generator) -> None:
    names = list(holder[key])
    del holder[key][names[int(rng.integers(len(names)))]]


def _gone(holder: Any, key: Any, rng: np.random.Generator) -> None:
    del holder[key]


def _key_added(holder: Any, key: Any, rng: np.random.Generator) -> None:
    name = str(rng.choice(["margin_", "proven_", "n_mistakes_", "separability_", "x", "coef_", "float", "array"]))
    holder[key][name] = 0.0


MANY: list[Change] = [
    _doubled, _one_less, _swapped, _swapped, _gone,
    _set(lambda x: x[::-1]), _set(lambda x: []), _set(lambda x: None), _set(lambda x: {}), _set(lambda x: 0),
]  # fmt: skip

NAMED: list[Change] = [
    _keys_swapped, _key_gone, _key_added, _gone, _set(lambda x: {}), _set(lambda x: None), _set(list), _set(lambda x: 0)
]  # fmt: skip


def _changes(holder: Any, key: Any) -> list[Change]:
    value = holder[key]
    if isinstance(value, bool):
        return TRUTH
    if isinstance(value, int | float):
        return NUMBER
    if isinstance(value, str):
        return WORD
    if isinstance(value, list):
        return MANY
    return NAMED if isinstance(value, dict) else NOTHING


# -- planes and classes -----------------------------------------------------------------------------------------------


def _planes(forgery: Forgery) -> tuple[np.ndarray, np.ndarray]:
    W = np.array(forgery.document["coefficients"], dtype=float)
    b = np.array(forgery.document["intercept"], dtype=float)
    if W.ndim != 2 or b.ndim != 1 or W.dtype != float:
        raise UnfitError("no planes are left")
    return W, b


def _set_planes(forgery: Forgery, W: np.ndarray, b: np.ndarray, margins: bool = True) -> None:
    """Store planes, and in proofs of a margin too."""
    forgery.document["coefficients"], forgery.document["intercept"] = W.tolist(), b.tolist()
    for k, proof in enumerate(forgery.proofs.get("margin", []) if margins else []):
        proof["coef"], proof["intercept"] = W[k].tolist(), float(b[k])


@_edit("inverted predictions")
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


@_edit("planes negated")
def _negated(forgery: Forgery, rng: np.random.Generator, donors: Donors) -> None:
    W, b = _planes(forgery)
    _set_planes(forgery, -W, -b, bool(rng.random() < 0.5))


@_edit("classes in another order")
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


@_edit("planes in another order, with their claims")
def _planes_permuted(forgery: Forgery, rng: np.random.Generator, donors: Donors) -> None:
    W, b = _planes(forgery)
    if len(W) < 2:
        raise UnfitError("one plane only")
    order = np.roll(np.arange(len(W)), int(rng.integers(1, len(W))))
    _take(forgery, W, b, order, bool(rng.random() < 0.8))


@_edit("one plane for all classes")
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


@_edit("planes scaled")
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


@_edit("planes moved a little")
def _moved(forgery: Forgery, rng: np.random.Generator, donors: Donors) -> None:
    W, b = _planes(forgery)
    size = 10.0 ** rng.uniform(-15, 0)
    W = W * (1 + size * rng.normal(size=W.shape))
    _set_planes(forgery, W, b * (1 + size * rng.normal(size=b.shape)), bool(rng.random() < 0.7))


@_edit("columns of the planes in another order")
def _columns_permuted(forgery: Forgery, rng: np.random.Generator, donors: Donors) -> None:
    W, b = _planes(forgery)
    if W.shape[1] < 2:
        raise UnfitError("one column only")
    _set_planes(forgery, W[:, ::-1], b)


@_edit("the intercept shifted")
def _shifted(forgery: Forgery, rng: np.random.Generator, donors: Donors) -> None:
    W, b = _planes(forgery)
    _set_planes(forgery, W, b + float(rng.choice([1.0, -1.0, 1e-3, 1e3])))


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


@_edit("sections of another fit of the same data")
def _of_same_data(forgery: Forgery, rng: np.random.Generator, donors: Donors) -> None:
    _borrow(forgery, donors.same_data(), rng)


@_edit("sections of the same estimator on other data")
def _of_same_family(forgery: Forgery, rng: np.random.Generator, donors: Donors) -> None:
    _borrow(forgery, donors.same_family(), rng)


@_edit("sections of another estimator")
def _of_any(forgery: Forgery, rng: np.random.Generator, donors: Donors) -> None:
    _borrow(forgery, donors.any(), rng)


@_edit("a planes' swap with a fit of the same data, with its claims")
def _planes_and_claims(forgery: Forgery, rng: np.random.Generator, donors: Donors) -> None:
    """The other fit's planes and proofs, under this one's parameters; where it is about, its statement is put right."""
    donor, statements = donors.same_data(), [copy.deepcopy(claim.get("statement")) for claim in forgery.claims()]
    for name in ("certificate", "coefficients", "intercept"):
        forgery.document[name] = copy.deepcopy(donor[name])
    for claim, statement in zip(forgery.claims(), statements, strict=False):
        claim["statement"] = statement


@_edit("proofs of a kind taken away, or added")
def _kinds(forgery: Forgery, rng: np.random.Generator, donors: Donors) -> None:
    proofs = forgery.proofs
    if len(proofs) > 1 and rng.random() < 0.5:
        del proofs[str(rng.choice(list(proofs)))]
        return
    others = (donors.same_family() if rng.random() < 0.3 else donors.any())["certificate"] or {}
    kind = str(rng.choice([name for name in others if name not in proofs]))
    proofs[kind] = copy.deepcopy(others[kind])


# -- settings ---------------------------------------------------------------------------------------------------------


@_edit("tol")
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


@_edit("C, with all that is claimed of it")
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


@_edit("no penalty")
def _no_penalty(forgery: Forgery, rng: np.random.Generator, donors: Donors) -> None:
    parameters = forgery.parameters()
    if "C" not in parameters:
        raise UnfitError("no C")
    parameters["C"] = {"float": "inf"}
    for claim in forgery.claims():
        claim["statement"]["C"] = None


@_edit("class weights")
def _class_weights(forgery: Forgery, rng: np.random.Generator, donors: Donors) -> None:
    parameters, labels = forgery.parameters(), forgery.document["classes"]["values"]
    if "class_weight" not in parameters:
        raise UnfitError("no class weights")
    pairs = [[label, float(rng.choice([0.0, 0.5, 1.0, 2.0, 1e3]))] for label in labels]
    kind = rng.integers(3)
    parameters["class_weight"] = [None, "balanced", {"map": pairs}][kind]
    for claim in forgery.claims():
        claim["statement"]["class_weight"] = [None, "balanced", pairs][kind]


@_edit("with or without an intercept")
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


@_edit("another loss")
def _loss(forgery: Forgery, rng: np.random.Generator, donors: Donors) -> None:
    loss = str(rng.choice(["hinge", "squared_hinge", "logistic", "square", "perceptron"]))
    if "loss" in forgery.parameters():
        forgery.parameters()["loss"] = loss
    for claim in forgery.claims():
        claim["statement"]["loss"] = loss


@_edit("another penalty")
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


@_edit("another estimator of the same loss")
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


@_edit("one against the rest, or softmax")
def _multi_class(forgery: Forgery, rng: np.random.Generator, donors: Donors) -> None:
    parameters = forgery.parameters()
    parameters["multi_class"] = "ovr" if parameters["multi_class"] == "softmax" else "softmax"


@_edit("a threshold")
def _threshold(forgery: Forgery, rng: np.random.Generator, donors: Donors) -> None:
    forgery.document["threshold"] = float(rng.choice([0.5, -0.5, 100.0, -1e300, 1e-3]))


@_edit("the objective in words")
def _words(forgery: Forgery, rng: np.random.Generator, donors: Donors) -> None:
    forgery.document["objective"] = str(rng.choice(["Σ [z ≤ 0]", "½‖w‖² + 7·Σ max(0, 1 − z)", "nothing", ""]))


@_edit("names of the columns")
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


@_edit("converged")
def _converged(forgery: Forgery, rng: np.random.Generator, donors: Donors) -> None:
    section = forgery.document["fitted"]
    section["converged_"] = not section["converged_"]
    if "proven_" in section and rng.random() < 0.5:
        section["proven_"] = section["converged_"]


@_edit("a better gap")
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


@_edit("the objective claimed")
def _claimed_objective(forgery: Forgery, rng: np.random.Generator, donors: Donors) -> None:
    factor = float(rng.choice([2.0, 0.5, 1 + 1e-10, 1 - 1e-10, 0.0, 1e-300]))
    for claim in forgery.claims():
        if "primal" in claim:
            claim["primal"] *= factor
            claim["dual"] = min(claim["dual"], claim["primal"])


@_edit("the dual point")
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


@_edit("the margin, with its proof")
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


@_edit("points of the hulls")
def _hulls(forgery: Forgery, rng: np.random.Generator, donors: Donors) -> None:
    proofs = forgery.proofs["margin"]
    proof = proofs[int(rng.integers(len(proofs)))]
    factor = float(rng.choice([2.0, 0.5, 0.0, -1.0]))
    proof["weights"] = [factor * x for x in proof["weights"]]
    if rng.random() < 0.5:
        proof["points"] = proof["points"][::-1]


@_edit("numbers of mistakes, with their proof")
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


@_edit("conflicts")
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


@_edit("the perceptron's numbers")
def _novikoff(forgery: Forgery, rng: np.random.Generator, donors: Donors) -> None:
    names = [name for name in NOVIKOFF if name in forgery.document["fitted"]]
    factor = float(rng.choice([2.0, 0.5, 10.0, 0.0]))
    for name in [name for name in names if rng.random() < 0.5] or names[:1]:
        _fitted(forgery, name, lambda x: factor * x if math.isfinite(x) else 7.0 * factor)
    if not names:
        raise UnfitError("no such numbers")


@_edit("votes")
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


@_edit("the verdict on separability")
def _other_verdict(forgery: Forgery, rng: np.random.Generator, donors: Donors) -> None:
    proof = _verdict(forgery, rng)
    verdicts = [verdict for verdict in ("separable", "quasi", "overlap", "inseparable") if verdict != proof["verdict"]]
    proof["verdict"] = str(rng.choice(verdicts))
    if proof["verdict"] in ("overlap", "inseparable") and rng.random() < 0.5:
        proof.update(coef=None, intercept=None, plane=None, margin=None, infinite=[], on_plane=0)
    if rng.random() < 0.3:
        W, b = _planes(forgery)
        proof.update(coef=W[0].tolist(), intercept=float(b[0]))


@_edit("the plane of the verdict")
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


@_edit("coefficients that are infinite")
def _infinite(forgery: Forgery, rng: np.random.Generator, donors: Donors) -> None:
    proof, d = _verdict(forgery, rng), forgery.document["features"]["count"]
    infinite = sorted(set(proof["infinite"]) ^ {int(rng.integers(d))})
    proof["infinite"] = infinite
    if proof["coef"] is not None and rng.random() < 0.5:
        proof["coef"] = [x if j in infinite else 0.0 for j, x in enumerate(proof["coef"])]


@_edit("points of the verdict")
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


# -- data that the fingerprint cannot tell apart ----------------------------------------------------------------------


def _arrays(forgery: Forgery) -> tuple[np.ndarray, np.ndarray, Any]:
    return forgery.data.rows().copy(), np.array(forgery.data.y), forgery.data.s


def _show(forgery: Forgery, X: np.ndarray, y: np.ndarray, s: Any) -> None:
    """Verify with other data; a file that has a hash of its own data loses it."""
    kept: Any = sparse.csr_matrix(X) if sparse.issparse(forgery.data.X) else X
    forgery.data = Data(kept, y, s)
    forgery.document["data"] = None


@_edit("data: columns in another order")
def _data_columns(forgery: Forgery, rng: np.random.Generator, donors: Donors) -> None:
    X, y, s = _arrays(forgery)
    if X.shape[1] < 2:
        raise UnfitError("one column only")
    _show(forgery, X[:, ::-1].copy(), y, s)


@_edit("data: signs of a column")
def _data_signs(forgery: Forgery, rng: np.random.Generator, donors: Donors) -> None:
    X, y, s = _arrays(forgery)
    X[:, int(rng.integers(X.shape[1]))] *= -1
    _show(forgery, X, y, s)


@_edit("data: another point of the same length")
def _data_row(forgery: Forgery, rng: np.random.Generator, donors: Donors) -> None:
    X, y, s = _arrays(forgery)
    i = int(rng.integers(len(X)))
    X[i] = X[i, ::-1].copy() if rng.random() < 0.5 else -X[i]
    _show(forgery, X, y, s)


@_edit("data: labels of two rows exchanged")
def _data_labels(forgery: Forgery, rng: np.random.Generator, donors: Donors) -> None:
    X, y, s = _arrays(forgery)
    lengths = np.einsum("ij,ij->i", X, X)
    pairs = [(i, j) for i in range(len(y)) for j in range(i) if y[i] != y[j] and lengths[i] == lengths[j]]
    i, j = pairs[int(rng.integers(len(pairs)))] if pairs else rng.choice(len(y), 2, replace=False)
    if y[i] == y[j]:
        raise UnfitError("the labels are the same")
    y[[i, j]] = y[[j, i]]
    _show(forgery, X, y, s)


@_edit("data: labels of the classes exchanged")
def _data_classes(forgery: Forgery, rng: np.random.Generator, donors: Donors) -> None:
    X, y, s = _arrays(forgery)
    labels = np.unique(y)
    y = labels[len(labels) - 1 - np.searchsorted(labels, y)]
    _show(forgery, X, y, s)
    if rng.random() < 0.7:
        for claim in forgery.claims():
            if isinstance(claim.get("data"), dict) and len(labels) == 2:
                data = claim["data"]
                data["positive"], data["negative"] = data["negative"], data["positive"]
            if "squares" in claim:
                claim["squares"] = claim["squares"][::-1]


@_edit("data: rows in another order, the labels as they were")
def _data_rows(forgery: Forgery, rng: np.random.Generator, donors: Donors) -> None:
    X, y, s = _arrays(forgery)
    _show(forgery, X[rng.permutation(len(X))], y, s)


@_edit("data: rows in another order")
def _data_order(forgery: Forgery, rng: np.random.Generator, donors: Donors) -> None:
    X, y, s = _arrays(forgery)
    order = rng.permutation(len(X))
    _show(forgery, X[order], y[order], None if s is None else np.asarray(s)[order])


@_edit("data: weights exchanged")
def _data_weights(forgery: Forgery, rng: np.random.Generator, donors: Donors) -> None:
    X, y, s = _arrays(forgery)
    s = np.ones(len(y)) if s is None else np.array(s, dtype=float)
    if rng.random() < 0.5:
        s = rng.permutation(s)
    else:
        i, j = rng.choice(len(s), 2, replace=False)
        s[i], s[j] = s[i] + s[j], 0.0
    _show(forgery, X, y, s)


@_edit("data: a last digit")
def _data_ulp(forgery: Forgery, rng: np.random.Generator, donors: Donors) -> None:
    X, y, s = _arrays(forgery)
    i, j = int(rng.integers(len(X))), int(rng.integers(X.shape[1]))
    X[i, j] = np.nextafter(X[i, j], np.inf)
    _show(forgery, X, y, s)


@_edit("data: turned by a right angle")
def _data_turned(forgery: Forgery, rng: np.random.Generator, donors: Donors) -> None:
    X, y, s = _arrays(forgery)
    if X.shape[1] < 2:
        raise UnfitError("one column only")
    X[:, [0, 1]] = np.column_stack([-X[:, 1], X[:, 0]])
    _show(forgery, X, y, s)


@_edit("the hash of the data taken away")
def _hash_gone(forgery: Forgery, rng: np.random.Generator, donors: Donors) -> None:
    if forgery.document["data"] is None:
        raise UnfitError("no hash")
    forgery.document["data"] = None
