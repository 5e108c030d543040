"""`verify`: what is proven of a model, checked again from the data alone."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import data_hash
from ._core import Rows
from .certificate import Certificate, Certificates
from .checking import ClaimError, Verification, codes_of, read_data
from .claim import Fingerprint, Seal, digest
from .exact import Check, Clock
from .margin_certificate import MarginCertificate
from .mistake_check import MistakeCheck
from .model_file import read
from .problem import Problem
from .separability import NotSeparableError, Separability
from .softmax_certificate import SoftmaxCertificate
from .statement import Statement

FloatArray = NDArray[np.float64]

__all__ = ["Verification", "verify"]

EXACT = "Python's whole numbers"


def verify(
    model_or_path: Any,
    X: Any,
    y: ArrayLike,
    sample_weight: ArrayLike | None = None,
    *,
    time_limit: float | None = None,
) -> Verification:
    """Check all that is proven of a model, from the data alone and without the solver that found it.

    What is checked, where the model has it: the distance from the optimum (``certificate_``), the margin of
    `HardMarginSVC`, the separating plane or the overlap of `Perceptron` (``separability_``), the mistakes of
    `ZeroOneClassifier` and the bound below them. A changed weight, label, row, parameter or bound is refused.

    Parameters
    ----------
    model_or_path : fitted estimator, path of a model file, or proof
        A proof is what `linsep.separability` returns, a `NotSeparableError`, or a ``certificate_``.
    X, y, sample_weight
        What the model was fitted on. Where a file has the hash of its data, they must be the same to the last bit.
    time_limit : float, optional
        Seconds for exact arithmetic, after which `linsep.exact.ProofTimeoutError` says that nothing was decided.

    Returns
    -------
    Verification
        True where all is as claimed; ``reason`` says why or why not, ``checked`` and ``trusted`` what it rests on, and
        ``proven`` whether the model is as good as was asked for.

    Examples
    --------
    >>> from linsep import LinearSVC, verify
    >>> X, y = [[0.0], [1.0], [3.0], [4.0]], ["no", "no", "yes", "yes"]
    >>> model = LinearSVC().fit(X, y)
    >>> print(verify(model, X, y))
    Verified: the plane is within ... of the optimum, as was asked for.
    Checked: ...
    Taken on trust: IEEE arithmetic; exp and log to within ... units in the last place.
    >>> print(verify(model, X, ["no", "yes", "yes", "yes"]).reason)
    the rows of X (or their labels) are not those of the fit
    """
    model, known = model_or_path, None
    if isinstance(model_or_path, str | os.PathLike):
        model, known = _from_file(model_or_path)
    elif hasattr(model, "_provenance"):
        known = model._provenance.get("data")
    checked = []
    if known is not None:
        difference = data_hash.differs(known, data_hash.data_hash(X, y, sample_weight))
        if difference:
            return Verification(False, difference)
        checked.append("the data are those of the fit, bit for bit (SHA-256)")
    outcome = _together(_outcomes(model, X, y, sample_weight, time_limit), model)
    return replace(outcome, checked=(*checked, *outcome.checked))


def _from_file(path: str | os.PathLike[str]) -> tuple[Any, dict[str, Any] | None]:
    found = read(path)
    return found.model, found.data


def _outcomes(
    model: Any, X: Any, y: ArrayLike, sample_weight: ArrayLike | None, time_limit: float | None
) -> Iterator[Verification]:
    """Yield the outcome for everything that is proven."""
    if isinstance(model, NotSeparableError):
        model = model.proof
    if isinstance(model, Separability | MarginCertificate):
        yield _exact(model.verify(X, y, time_limit=time_limit), "the proof, on every example it speaks of")
        return
    if isinstance(model, Certificate | Certificates | SoftmaxCertificate):
        yield model.verify(X, y, sample_weight)
        return
    if not hasattr(model, "coef_"):
        raise TypeError(f"{model!r} is neither a fitted model, nor a path of one, nor a proof: nothing to verify")
    decided = getattr(model, "separability_", None) is not None
    if hasattr(model, "_claims") or hasattr(model, "_claim"):
        outcome = _with_its_gap(model, model.certificate_.verify(X, y, sample_weight), model.certificate_.relative_gap)
        # A perceptron asks for no mistakes, not for the least loss: its gap only ties the plane to the data.
        yield replace(outcome, reason="", proven=True) if decided and outcome else outcome
    if decided:
        yield from _separability(model, X, y, sample_weight, time_limit)
    if hasattr(model, "mistake_bound_"):
        yield from _novikoff(model, X, y, sample_weight)
    if hasattr(model, "_seals"):
        check = _margin if hasattr(model, "_proofs") else _mistakes
        yield from (check(model, k, X, y, sample_weight, time_limit) for k in range(len(model._seals)))


def _with_its_gap(model: Any, outcome: Verification, gap: float) -> Verification:
    """Return the outcome, unless the model says another gap than its proof."""
    if not outcome or float(model.dual_gap_) == gap or np.isnan([model.dual_gap_, gap]).all():
        return outcome
    return Verification(False, f"dual_gap_ is {model.dual_gap_:.3g}, the proof says {gap:.3g}")


def _number(model: Any, name: str, k: int) -> float:
    """Return what the model says of its plane k."""
    said = np.ravel(getattr(model, name))
    if said.dtype.kind not in "iuf" or len(said) not in (1, len(model.coef_)):
        raise ClaimError(f"{name} is {getattr(model, name)!r}, which is not a number for each plane")
    return float(said[min(k, len(said) - 1)])


def _together(checks: Iterator[Verification], model: Any) -> Verification:
    """Return all outcomes as one: the first that fails, which is the last to be looked at, else the sum of them."""
    outcomes = []
    for outcome in checks:
        if not outcome:
            return outcome
        outcomes.append(outcome)
    if not outcomes:
        why = "a stream, a fit that was cut short, or a loss without a conjugate proves nothing"
        return Verification(False, f"this {type(model).__name__} claims nothing that could be checked: {why}")
    first = outcomes[0]
    return replace(
        first,
        reason="; ".join(dict.fromkeys(outcome.reason for outcome in outcomes if outcome.reason)),
        proven=all(outcome.proven for outcome in outcomes),
        checked=tuple(dict.fromkeys(what for outcome in outcomes for what in outcome.checked)),
        trusted=tuple(dict.fromkeys(what for outcome in outcomes for what in outcome.trusted)),
    )


def _exact(check: Check, what: str) -> Verification:
    checked = (f"{what}, in exact arithmetic",) if check else ()
    return Verification(check.holds, check.reason, proven=check.holds, checked=checked, trusted=(EXACT,))


# -- planes that are sealed -------------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class _Sealed:
    """The plane of one class and its data, known to be those of the fit."""

    w: FloatArray
    b: float
    problem: Problem
    who: str
    checked: tuple[str, ...]
    classes: tuple[Any, ...]


def _open(model: Any, k: int, X: Any, y: ArrayLike, sample_weight: ArrayLike | None) -> _Sealed:
    """Return the plane and the data; raise `ClaimError` where they are not those of the fit."""
    seal: Seal = model._seals[k]
    if np.shape(model.coef_)[0] != len(model._seals):
        raise ClaimError(f"the model has {len(model.coef_)} planes, the fit left {len(model._seals)}")
    w, b = np.asarray(model.coef_[k], dtype=np.float64), float(np.ravel(model.intercept_)[k])
    if digest(w, b) != seal.plane:
        raise ClaimError("the plane is not the one of the fit: coef or intercept was changed")
    if not model._statement().same_as(seal.statement):
        raise ClaimError("the model's parameters are not those of the fit: fit it again")
    if tuple(np.asarray(model.classes_).tolist()) != seal.classes:
        raise ClaimError(f"the model's classes are not those of the fit, {list(seal.classes)}")
    problem = _problem(seal.statement, seal.classes, seal.positive, X, y, sample_weight)
    if difference := seal.data.differs(Fingerprint.of(problem)):
        raise ClaimError(difference)
    who = "" if len(model._seals) == 1 else f"class {seal.classes[seal.positive]!r} against the rest: "
    checked = (
        "the plane and the parameters are those of the fit",
        f"the {problem.rows.n} examples are those of the fit, as far as their lengths tell",
    )
    return _Sealed(w, b, problem, who, checked, seal.classes)


def _problem(
    statement: Statement,
    classes: tuple[Any, ...],
    positive: int,
    X: Any,
    y: ArrayLike,
    sample_weight: ArrayLike | None,
    *,
    exact: bool = True,
) -> Problem:
    """Encode labels and weigh examples anew; what is proven exactly is not proven of numbers that are no doubles."""
    X, labels, s = read_data(X, y, sample_weight, exact=exact)
    codes = codes_of(labels, classes)
    if statement.class_weight is not None:
        by_class = statement.class_weights(codes, classes, s)[codes]
        s = by_class if s is None else s * by_class
    return statement.problem(Rows(X), np.where(codes == positive, 1.0, -1.0), s)


def _mistakes(
    model: Any, k: int, X: Any, y: ArrayLike, sample_weight: ArrayLike | None, time_limit: float | None
) -> Verification:
    """Check the number of mistakes and the bound below it."""
    who, checked, trusted = "", list[str](), [EXACT]
    try:
        sealed = _open(model, k, X, y, sample_weight)
        who, checked = sealed.who, list(sealed.checked)
        claimed, lower = _number(model, "n_mistakes_", k), _number(model, "lower_bound_", k)
        proofs = model.lower_bound_proof_
        proof = proofs[k] if isinstance(proofs, list) else proofs
        check = MistakeCheck(sealed.problem, time_limit, checked, trusted)
        check.mistakes(sealed.w, sealed.b, claimed)
        check.bound(proof, lower)
        if bool(model.proven_) != check.optimal and (len(model._seals) == 1 or model.proven_):
            raise ClaimError(f"proven_ is {model.proven_}, but {claimed!r} mistakes are made and {lower!r} proven")
    except ClaimError as failure:
        return Verification(False, f"{who}{failure}", checked=tuple(checked), trusted=tuple(trusted))
    reason = f"{who}{check.sentence()}"
    return Verification(True, reason, proven=check.proven, checked=tuple(checked), trusted=tuple(trusted))


def _margin(
    model: Any, k: int, X: Any, y: ArrayLike, sample_weight: ArrayLike | None, time_limit: float | None
) -> Verification:
    """Check that a plane separates with the margin claimed, and that no plane has a larger one."""
    proof: MarginCertificate = model._proofs[k]
    try:
        sealed = _open(model, k, X, y, sample_weight)
        if not (np.array_equal(proof.coef, sealed.w) and proof.intercept == sealed.b):
            raise ClaimError("the plane is not the one that was certified")
        margin = _number(model, "margin_", k)
        if margin != proof.low:
            raise ClaimError(f"margin_ is {margin:.12g}, the proof says {proof.low:.12g}")
        if tuple(proof.classes) != (sealed.classes if len(model._seals) == 1 else (False, True)):
            raise ClaimError("the proof of the margin is about other classes")
        if model.converged_ and not proof.proven:
            raise ClaimError("the model says that it converged, but its proof does not reach tol")
        if model._is_soft:
            raise ClaimError("the data are not separable and the plane is of soft margin: it claims no margin")
        counted, place = _counted(sealed.problem)
        points = _moved(proof.points.tolist(), counted, place)
        moved = replace(proof, points=np.array(points, dtype=np.int64), classes=(-1.0, 1.0))
        found = moved.verify(sealed.problem.rows.X[counted], sealed.problem.y[counted], time_limit=time_limit)
    except ClaimError as failure:
        return Verification(False, str(failure))
    if not found:
        return Verification(False, f"{sealed.who}{found.reason}", checked=sealed.checked)
    checked = (
        *sealed.checked,
        "the margin that the plane keeps, in exact arithmetic",
        "the distance of two points of the classes' hulls, in exact arithmetic, which no margin exceeds",
    )
    trusted = ("IEEE arithmetic", EXACT)
    outcome = Verification(True, sealed.who + found.reason, None, None, proof.proven, checked, trusted)
    return _with_its_gap(model, outcome, max(proof.relative_gap for proof in model._proofs))


def _separability(
    model: Any, X: Any, y: ArrayLike, sample_weight: ArrayLike | None, time_limit: float | None
) -> Iterator[Verification]:
    """Check the verdicts of a perceptron, of each class against the rest where there are more than two."""
    found = model.separability_ if isinstance(model.separability_, list) else [model.separability_]
    classes, statement = tuple(np.asarray(model.classes_).tolist()), model._statement()
    for k, proof in enumerate(found):
        if proof is None:
            continue
        Clock(time_limit).check("separability")
        who = "" if len(found) == 1 else f"class {classes[k]!r} against the rest: "
        try:
            problem = _problem(statement, classes, 1 if len(found) == 1 else k, X, y, sample_weight)
            expected = classes if len(found) == 1 else (False, True)
            if tuple(proof.classes) != expected or proof.fit_intercept != statement.fit_intercept:
                raise ClaimError("the verdict on separability is about other classes or other planes")
            counted, place = _counted(problem)
            _moved([*(proof.points or []), *(proof.support or [])], counted, place)
            moved = replace(proof, classes=(-1.0, 1.0)).in_rows(place)
            check = moved.verify(problem.rows.X[counted], problem.y[counted], time_limit=time_limit)
        except ClaimError as failure:
            yield Verification(False, f"{who}{failure}")
            continue
        outcome = _exact(check, f"{who}the classes are {_verdict(proof)}")
        yield replace(outcome, reason=f"{who}{_verdict(proof)}: {check.reason}" if check else f"{who}{check.reason}")


def _novikoff(model: Any, X: Any, y: ArrayLike, sample_weight: ArrayLike | None) -> Iterator[Verification]:
    """Check R, γ and (R/γ)² of a perceptron's planes, up to rounding; and that one without mistakes has none proven."""
    classes, statement, planes = tuple(np.asarray(model.classes_).tolist()), model._statement(), len(model.coef_)
    proofs = model.separability_ if isinstance(model.separability_, list) else [model.separability_]
    try:
        for k, (w, b) in enumerate(zip(model.coef_, np.ravel(model.intercept_), strict=True)):
            problem = _problem(statement, classes, 1 if planes == 1 else k, X, y, sample_weight, exact=False)
            if problem.rows.d != len(w):
                raise ClaimError(f"the data have {problem.rows.d} columns, the planes {len(w)} coefficients")
            R = float(np.sqrt((problem.rows.squared_norms() + problem.fit_intercept).max()))
            length = float(np.sqrt(w @ w + b**2))
            gamma = float(problem.agreements(w, float(b)).min()) / length if length > 0 else 0.0
            _near("radius_", _number(model, "radius_", k), R, R)
            _near("margin_", _number(model, "margin_", k), gamma, R)
            bound = _number(model, "mistake_bound_", k)
            expected = (model.radius_ / _number(model, "margin_", k)) ** 2 if gamma > 0 else np.inf
            _near("mistake_bound_", bound, expected, expected)
        if model.converged_ and any(proof is not None and not proof.separable for proof in proofs):
            raise ClaimError("the model says that it converged, on data that are proven not to be separable")
    except ClaimError as failure:
        yield Verification(False, str(failure))


def _near(name: str, said: float, found: float, size: float) -> None:
    """Raise unless a number is the one found, up to the rounding of numbers of that size."""
    if said != found and not abs(said - found) <= 1e-6 * size:
        raise ClaimError(f"{name} is {said:.12g}; the data and the plane give {found:.12g}")


def _verdict(proof: Separability) -> str:
    words = {"separable": "separable", "quasi": "separable only weakly"}
    return words.get(proof.verdict, "not separable")


def _counted(problem: Problem) -> tuple[NDArray[np.bool_], list[int]]:
    """Return which examples have weight, and the place of each row among them."""
    s = problem.sample_weight
    counted = np.ones(problem.rows.n, dtype=bool) if s is None else s > 0
    return counted, (np.cumsum(counted) - 1).tolist()


def _moved(points: list[int], counted: NDArray[np.bool_], place: list[int]) -> list[int]:
    if not all(0 <= i < len(place) and counted[i] for i in points):
        raise ClaimError("the proof names a row that the data do not have, or that has no weight")
    return [place[i] for i in points]
