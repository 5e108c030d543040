"""`verify`: what is proven of a model as it predicts, checked again from the data alone.

Everything that a fit leaves behind is a hint: a dual point, rows of two hulls, a cover of conflicts. Which class is +1,
what is minimised, where scores are cut and what `tol` is, the model says; the rest is computed from it and the data. A
stored value that differs is a refusal, and whatever else is reported without being computed is named as not checked.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..arithmetic.enclosure import SMALLEST, Interval, U, gamma
from ..arithmetic.exact import Check, Clock, plane_margin, sides
from ..estimators import HardMarginSVC, Perceptron, ZeroOneClassifier
from ..objective.problem import Problem
from ..objective.softmax import SoftmaxProblem
from ..objective.statement import Statement
from ..persistence.model_file import ModelFile, read
from ..separation.recession import Estimates
from ..separation.verdict import NotSeparableError, Separability
from . import data_hash
from .certificate import Certificate, Certificates
from .checking import ClaimError, Examples, Verification, planes_in_words, positive_classes
from .claim import Fingerprint, Seal, digest
from .gap_proof import CLOSE
from .margin import MarginCertificate, differs, formula, margin_in_floats
from .mistakes.bound import MistakeBound
from .mistakes.check import MistakeCheck
from .softmax_certificate import SoftmaxCertificate

FloatArray = NDArray[np.float64]

__all__ = ["Verification", "unchecked_of", "verify"]

EXACT = "Python's whole numbers"
ROUNDED = "that predict's scores, which are rounded, have the signs of the exact ones"

#: What every sentence is about.
GIVEN = ("coef_", "intercept_", "classes_", "n_features_in_")
#: The parameters that say what is minimised, and `tol`; all others say how it was fitted.
STATED = ("C", "class_weight", "fit_intercept", "l1_ratio", "loss", "multi_class", "penalty", "tol")
#: What each kind of proof computes anew, besides; single numbers are left out where rounding hides them.
OF_GAPS = ("objective_", "dual_gap_", "converged_")
OF_MARGINS = ("objective_", "dual_gap_", "converged_", "margin_")
OF_MISTAKES = ("objective_", "converged_", "n_mistakes_", "lower_bound_", "lower_bound_proof_", "proven_")
OF_PERCEPTRONS = ("objective_", "dual_gap_", "separability_", "radius_", "margin_", "mistake_bound_")
#: The sections of a file that no attribute of the model holds, and nothing follows from.
FILED = ("encoding", "seed", "versions")


def verify(
    model_or_path: Any,
    X: Any,
    y: ArrayLike,
    sample_weight: ArrayLike | None = None,
    *,
    time_limit: float | None = None,
) -> Verification:
    """Check what is proven of a model as it predicts, from the data alone and without the solver that found it.

    The sentence that is proven, where the model has it: how far its objective on these rows is from the optimum
    (``certificate_``), the margin of `HardMarginSVC` and that none is larger, the separating plane or the overlap of
    `Perceptron` (``separability_``), the mistakes of `ZeroOneClassifier` and that no plane makes fewer. Labels become
    ±1 as in `predict`; where a file has a threshold, margin and mistakes are those of the plane as it is cut there. A
    changed weight, label, row, parameter or bound is refused.

    Parameters
    ----------
    model_or_path : fitted estimator, path of a model file, or proof
        A proof is what `linsep.separability` and `linsep.estimates` return, a `NotSeparableError`, or a
        ``certificate_``.
    X, y, sample_weight
        What the model was fitted on. Where a file has the hash of its data, they must be the same to the last bit.
    time_limit : float, optional
        Seconds for exact arithmetic, after which `linsep.exact.ProofTimeoutError` says that nothing was decided.

    Returns
    -------
    Verification
        True where all is as claimed; ``reason`` is the sentence, or says why not; ``checked`` and ``trusted`` what it
        rests on, ``unchecked`` what else the model reports, and ``proven`` whether the model is optimal within `tol`.

    Examples
    --------
    >>> from linsep import LinearSVC, verify
    >>> X, y = [[0.0], [1.0], [3.0], [4.0]], ["no", "no", "yes", "yes"]
    >>> model = LinearSVC().fit(X, y)
    >>> print(verify(model, X, y))
    Verified: the objective ½‖w‖² + Σ max(0, 1 − z) of this plane on these 4 rows lies within ... of the optimum, ...
    Checked: ...
    Taken on trust: IEEE arithmetic; exp and log to within ... units in the last place.
    Not checked: ...
    >>> print(verify(model, X, ["no", "yes", "yes", "yes"]).reason)
    the rows of X (or their labels) are not those of the fit
    """
    found = _found(model_or_path)
    examples, checked = Examples(X, y, sample_weight, exact=isinstance(found.model, PROVEN_EXACTLY)), []
    if found.data is not None:
        if difference := data_hash.differs(found.data, data_hash.data_hash(examples.X, y, sample_weight)):
            return Verification(False, difference)
        checked.append("the data are those that the model names, bit for bit (SHA-256)")
    try:
        outcome = _together(_outcomes(found, examples, time_limit), found.model)
    except ClaimError as failure:
        return Verification(False, str(failure))
    filed = FILED if isinstance(model_or_path, str | os.PathLike) else ()
    return _with_lists(outcome, found.model, checked, filed) if outcome else outcome


def unchecked_of(model: Any, covered: tuple[str, ...] | None = None) -> tuple[str, ...]:
    """Return the names of all that a model reports besides what is covered: attributes of its fit, then parameters.

    Examples
    --------
    >>> from linsep import LeastSquaresClassifier
    >>> unchecked_of(LeastSquaresClassifier().fit([[0.0], [1.0], [3.0], [4.0]], [0, 0, 1, 1]))
    (...'history_', 'n_iter_',... 'n_jobs')
    """
    if covered is None:  # what a proof of this kind can cover
        covered = (*GIVEN, *STATED, *next(names for kind, names in SAID if isinstance(model, kind)))
    public = [name for name in vars(model) if not name.startswith("_")]
    attributes = sorted(name for name in public if name.endswith("_"))
    parameters = [name for name in public if not name.endswith("_")]  # each is kept as an attribute of its name
    votes = ["ballots"] if hasattr(model, "_ballots") else []
    return tuple(name for name in (*attributes, *votes, *parameters) if name not in covered)


def _with_lists(outcome: Verification, model: Any, checked: list[str], filed: tuple[str, ...]) -> Verification:
    """Return the outcome with all that is reported on one of its lists."""
    rest = unchecked_of(model, outcome.covered) if hasattr(model, "get_params") else ()
    return replace(outcome, checked=(*checked, *outcome.checked), unchecked=(*rest, *outcome.unchecked, *filed))


def _found(model_or_path: Any) -> ModelFile:
    """Return the model, with what a file says of its threshold and data."""
    if isinstance(model_or_path, str | os.PathLike):
        return read(model_or_path)
    known = getattr(model_or_path, "_provenance", {})
    return ModelFile(model_or_path, data=known.get("data"))


def _outcomes(found: ModelFile, examples: Examples, time_limit: float | None) -> Iterator[Verification]:
    """Yield the outcome of every proof."""
    model = found.model
    if isinstance(model, NotSeparableError):
        model = model.proof
    if isinstance(model, Separability | Estimates):
        check = model.verify(examples.X, examples.labels, examples.sample_weight, time_limit=time_limit)
        yield replace(_exact(check, "the proof, on every example it speaks of"), unchecked=("feature_names",))
        return
    if isinstance(model, MarginCertificate):
        check = model.verify(examples.X, examples.labels, time_limit=time_limit)
        yield replace(_exact(check, "the proof, on every example it speaks of"), unchecked=("tol",))
        return
    if isinstance(model, Certificate | Certificates | SoftmaxCertificate):
        yield replace(outcome, unchecked=("tol", *outcome.unchecked)) if (outcome := model.check(examples)) else outcome
        return
    if not hasattr(model, "coef_"):
        raise TypeError(f"{model!r} is neither a fitted model, nor a path of one, nor a proof: nothing to verify")
    case = _Case(model, examples, found.threshold, time_limit)
    case.check_shape()
    for kind, prove in PROOFS:
        if isinstance(model, kind):
            yield from prove(case)


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

    def joined(name: str) -> tuple[str, ...]:
        return tuple(dict.fromkeys(what for outcome in outcomes for what in getattr(outcome, name)))

    reason = "; ".join(dict.fromkeys(outcome.reason for outcome in outcomes if outcome.reason))
    lists: Any = {name: joined(name) for name in ("checked", "trusted", "unchecked", "covered")}
    return replace(outcomes[0], reason=reason, proven=all(outcome.proven for outcome in outcomes), **lists)


def _exact(check: Check, what: str) -> Verification:
    checked = (f"{what}, in exact arithmetic",) if check else ()
    return Verification(check.holds, check.reason, proven=check.holds, checked=checked, trusted=(EXACT,))


# -- the model as it predicts -----------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Case:
    """A model as it predicts, and the examples: everything here is the model's own or follows from it."""

    model: Any
    examples: Examples
    threshold: float | None
    time_limit: float | None

    @cached_property
    def classes(self) -> tuple[Any, ...]:
        """The labels that it predicts."""
        return tuple(np.asarray(self.model.classes_).tolist())

    @cached_property
    def positive(self) -> list[int]:
        """The class that each plane is for."""
        return positive_classes(self.classes)

    @cached_property
    def statement(self) -> Statement:
        """What its parameters say is minimised."""
        found: Statement = self.model._statement()
        return found

    @cached_property
    def coef(self) -> FloatArray:
        """One plane a row."""
        return np.asarray(self.model._planes(), dtype=np.float64)

    @cached_property
    def intercept(self) -> FloatArray:
        """Of each plane."""
        return np.ravel(np.asarray(self.model.intercept_, dtype=np.float64))

    @cached_property
    def weights(self) -> FloatArray | None:
        """What each example counts."""
        return self.examples.weights(self.statement, self.classes)

    def check_shape(self) -> None:
        """Raise unless the classes, the planes and the columns of the data fit each other."""
        d, names = self.examples.X.shape[1], getattr(self.model, "feature_names_in_", None)
        needed = planes_in_words(len(self.positive))
        if self.coef.shape != (len(self.positive), d) or self.intercept.shape != (len(self.positive),):
            raise ClaimError(
                f"{len(self.classes)} classes and {d} columns of the data need {needed} of {d} coefficients, the model "
                f"has {self.coef.shape} and {len(self.intercept)} intercepts: it was changed, or the data are others"
            )
        if not (np.isfinite(self.coef).all() and np.isfinite(self.intercept).all()):
            raise ClaimError("a coefficient or intercept is not a finite number: such a plane predicts nothing")
        if self.model.n_features_in_ != d:
            raise ClaimError(f"the model says that it has {self.model.n_features_in_} columns, the data have {d}")
        if names is not None and self.examples.names is not None and list(names) != self.examples.names:
            raise ClaimError(f"the columns of the data have other names than those of the model, {list(names)}")

    @property
    def covered(self) -> tuple[str, ...]:
        """The attributes and parameters that any sentence is about."""
        stated = [name for name in STATED if hasattr(self.model, name)]
        has_names = self.examples.names is not None and hasattr(self.model, "feature_names_in_")
        return (*GIVEN, *stated, *(["feature_names_in_"] if has_names else []))

    def who(self, k: int) -> str:
        """Return of which plane something is said, where there are several."""
        return "" if len(self.positive) == 1 else f"class {self.classes[self.positive[k]]!r} against the rest: "

    def plane(self, k: int) -> Any:
        """Return θ = [w, b − t] of plane k as it is cut at the threshold t, exactly."""
        w, b, t = self.coef[k], float(self.intercept[k]), self.threshold
        return [*map(Fraction, w.tolist()), Fraction(b) - Fraction(t)] if t else np.append(w, b)

    def problem(self, k: int) -> Problem:
        """Return what plane k minimises: its own class is +1, as in `predict`."""
        y = np.where(self.examples.codes(self.classes) == self.positive[k], 1.0, -1.0)
        return self.statement.problem(self.examples.rows, y, self.weights)

    def number(self, name: str, k: int) -> float:
        """Return what the model says of its plane k."""
        value: Any = getattr(self.model, name, None)
        said = np.ravel(value)
        if said.dtype.kind not in "iuf" or len(said) not in (1, len(self.positive)):
            raise ClaimError(f"{name} is {value!r}, which is not a number for each plane")
        return float(said[min(k, len(said) - 1)])

    def flag(self, name: str) -> bool:
        """Return whether the model says so."""
        said = getattr(self.model, name, None)
        if not isinstance(said, bool | np.bool_):
            raise ClaimError(f"{name} is {said!r}, which is neither True nor False")
        return bool(said)

    def check_objective(self, words: tuple[str, ...]) -> None:
        """Raise unless what was minimised is said in one of these ways."""
        if self.model.objective_ not in words:
            raise ClaimError(f"objective_ is {self.model.objective_!r}, the parameters say {words[0]!r}")

    @property
    def cut(self) -> str:
        """Where scores are cut, in words."""
        return f" where its scores are cut at {self.threshold:g}" if self.threshold else ""

    @property
    def kind(self) -> str:
        """The planes among which it is the best, in words."""
        return "plane" if self.statement.fit_intercept else "plane through the origin"

    @property
    def remark(self) -> str:
        """Return what a sentence on scores has to add, where predictions are not their signs."""
        if hasattr(self.model, "_ballots"):
            return "; this is about the averaged plane, while predictions are by vote of all planes of the run"
        if self.threshold:
            return f"; this is about its scores, while predictions are cut at {self.threshold:g}, not at 0"
        return ""


def _formulas(case: _Case) -> tuple[str, ...]:
    """Return the objective in words; weights that are all one may go unsaid."""
    s, statement, codes = case.weights, case.statement, case.examples.codes(case.classes)
    rows, ones = case.examples.rows, np.ones(len(codes))
    weights = [None, ones] if s is None or (s == 1.0).all() else [s]
    if not _at_once(case.model):
        return tuple(statement.problem(rows, ones, each).formula for each in weights)
    K, penalty, C = len(case.classes), statement.penalty, statement.C
    return tuple(SoftmaxProblem(rows, codes, K, penalty, C, each).formula for each in weights)


def _at_once(model: Any) -> bool:
    """Whether the parameters ask for one problem of all classes, softmax."""
    return bool(hasattr(model, "_at_once") and model._at_once())


# -- distances from the optimum ---------------------------------------------------------------------------------------


def _gap(case: _Case) -> Iterator[Verification]:
    """Check how far the model's objective is from the optimum, and what it says of that."""
    model = case.model
    if not (hasattr(model, "_claims") or hasattr(model, "_claim")):
        return
    try:
        if (hasattr(model, "_claims"), hasattr(model, "_claim")) != (not _at_once(model), _at_once(model)):
            raise ClaimError("the proof is of another kind of objective than the one that the parameters name")
        certificate = model.certificate_
        outcome = certificate.check(case.examples)
        if outcome:
            covered = _said_of_the_gap(case, outcome, certificate.relative_gap)
            outcome = replace(outcome, covered=covered, reason=outcome.reason + case.remark)
    except ClaimError as failure:
        outcome = Verification(False, str(failure))
    decided = isinstance(model, Perceptron) and any(proof is not None for proof in _verdicts_of(model))
    # A perceptron asks for no mistakes, not for the least loss: its gap only ties the plane to the data.
    yield replace(outcome, reason="", proven=True) if decided and outcome else outcome


def _said_of_the_gap(case: _Case, outcome: Verification, claimed: float) -> tuple[str, ...]:
    """Return which attributes are confirmed; raise for those that are not so."""
    model, covered = case.model, [*case.covered, "objective_"]
    case.check_objective(_formulas(case))
    gap = case.number("dual_gap_", 0)
    if not (gap == claimed or np.isnan([gap, claimed]).all()):
        raise ClaimError(f"dual_gap_ is {gap:.3g}, the proof says {claimed:.3g}")
    if outcome.relative_gap * (1 - CLOSE) <= gap < np.inf:  # as far as it says at the most
        covered.append("dual_gap_")
    # Some estimators end by a rule of their own, which cannot be looked at again.
    if not model._own_rule:
        covered += _converged(case, outcome.proven)
    return tuple(covered)


def _converged(case: _Case, proven: bool) -> list[str]:
    """Return whether `converged_` is confirmed: true has to be proven, but a proof may come after the fit gave up."""
    converged = case.flag("converged_")
    if converged and not proven:
        raise ClaimError("converged_ is True, but the data do not prove a gap of at most tol")
    return ["converged_"] if converged == proven else []


# -- planes that are sealed -------------------------------------------------------------------------------------------


def _sealed(case: _Case, k: int) -> tuple[Problem, tuple[str, ...]]:
    """Return the problem of a plane, and what was checked; raise where plane or data are not those of the fit."""
    model = case.model
    if len(model._seals) != len(case.positive):
        raise ClaimError(f"the model has {planes_in_words(len(case.positive))}, the fit left {len(model._seals)}")
    seal: Seal = model._seals[k]
    if digest(case.coef[k], float(case.intercept[k])) != seal.plane:
        raise ClaimError("the plane is not the one of the fit: coef or intercept was changed")
    if not case.statement.same_as(seal.statement):
        raise ClaimError("the model's parameters are not those of the fit: fit it again")
    if case.classes != seal.classes:
        raise ClaimError(f"the model's classes are not those of the fit, {list(seal.classes)}")
    if seal.positive != case.positive[k]:
        raise ClaimError("the proof is about another class than the one this plane predicts")
    problem = case.problem(k)
    if case.intercept[k] != 0 and not problem.fit_intercept:
        raise ClaimError(f"the plane has the intercept {case.intercept[k]:g}, the objective has none")
    if difference := seal.data.differs(Fingerprint.of(problem)):
        raise ClaimError(difference)
    checked = (
        "the plane and the parameters are those of the fit",
        f"the {problem.rows.n} examples are those of the fit, as far as their lengths tell",
    )
    return problem, checked


def _for_each_plane(case: _Case, check: Callable[[_Case, int], Verification]) -> Iterator[Verification]:
    """Yield the outcome of a check for every plane, in words that say which; covered is what all of them cover."""
    if not hasattr(case.model, "_seals"):
        return
    outcomes = []
    for k in range(len(case.positive)):
        try:
            outcome = check(case, k)
        except ClaimError as failure:
            yield Verification(False, f"{case.who(k)}{failure}")
            return
        outcomes.append(replace(outcome, reason=f"{case.who(k)}{outcome.reason}"))
    common = tuple(name for name in outcomes[0].covered if all(name in outcome.covered for outcome in outcomes))
    yield from (replace(outcome, covered=common) for outcome in outcomes)


def _mistakes(case: _Case, k: int) -> Verification:
    """Check the number of mistakes and the bound below it."""
    model = case.model
    problem, done = _sealed(case, k)
    checked, trusted = list(done), [EXACT]
    claimed, lower = case.number("n_mistakes_", k), case.number("lower_bound_", k)
    proofs = model.lower_bound_proof_ if isinstance(model.lower_bound_proof_, list) else [model.lower_bound_proof_]
    if len(proofs) != len(case.positive):
        raise ClaimError(f"there are {len(proofs)} proofs of a bound for {planes_in_words(len(case.positive))}")
    if not isinstance(proofs[k], MistakeBound):
        raise ClaimError(f"{proofs[k]!r} is no proof of a bound on mistakes")
    check = MistakeCheck(problem, case.time_limit, checked, trusted)
    made = check.mistakes(case.coef[k], float(case.intercept[k]), claimed)
    check.bound(proofs[k], lower)
    case.check_objective(_formulas(case))
    optimal = [case.number("n_mistakes_", j) <= case.number("lower_bound_", j) for j in range(len(case.positive))]
    for name in ("proven_", "converged_"):
        if case.flag(name) != all(optimal):
            raise ClaimError(f"{name} is {not all(optimal)}, but {claimed:g} mistakes are made and {lower:g} proven")
    lists: Any = dict(checked=tuple(checked), trusted=tuple(trusted), covered=(*case.covered, *OF_MISTAKES))
    if case.threshold:
        made = check.weights.value(check.weights.where(_wrong(case, k, problem)))
    among_these = case.statement.fit_intercept or not case.threshold  # cut elsewhere, it is no plane through the origin
    proven = not check.by_highs and among_these and made <= check.lower
    return Verification(True, check.sentence(made, case.cut), proven=proven, **lists)


def _wrong(case: _Case, k: int, problem: Problem) -> NDArray[np.bool_]:
    """Return which examples are not strictly on their own side of the plane (w, b − t), by exact signs."""
    return np.asarray(sides(problem.rows.X, problem.y, case.plane(k), clock=Clock(case.time_limit)) <= 0)


def _margin(case: _Case, k: int) -> Verification:
    """Check that a plane separates with the margin claimed, and that no plane has a larger one."""
    model, tol = case.model, float(case.model.tol)
    if len(model._proofs) != len(case.positive):
        raise ClaimError(f"there are {len(model._proofs)} proofs for {planes_in_words(len(case.positive))}")
    proof: MarginCertificate = model._proofs[k]
    problem, checked = _sealed(case, k)
    _same_margin_proof(case, k, proof)
    if model._is_soft:
        raise ClaimError("the data are not separable and the plane is of soft margin: it claims no margin")
    counted, place = _counted(problem)
    X, y = problem.rows.X[counted], problem.y[counted]
    moved = replace(proof, points=np.array(_moved(proof.points.tolist(), counted, place), dtype=np.int64))
    try:
        found = moved.bounds(X, y, time_limit=case.time_limit)
    except (ValueError, OverflowError) as error:
        raise ClaimError(f"the proof of the margin cannot be used: {error}") from error
    low, high = found
    proven = _margin_gap(low, high) <= tol
    covered = [*case.covered, "objective_", *_said_of_the_margin(case, k, found), *_converged(case, proven)]
    reason = f"the largest margin of any {case.kind} lies between {low!r} and {high!r}, and this one keeps the smaller"
    if case.threshold:
        kept, _ = plane_margin(X, y, case.plane(k), clock=Clock(case.time_limit))
        reason, proven = _margin_when_cut(case, kept, high)
    lists: Any = dict(
        checked=(
            *checked,
            "the margin that the plane keeps, in exact arithmetic",
            "the distance of two points of the classes' hulls, in exact arithmetic, which no margin exceeds",
        ),
        trusted=("IEEE arithmetic", EXACT, ROUNDED),
        covered=tuple(covered),
    )
    return Verification(True, reason, proven=proven, **lists)


def _same_margin_proof(case: _Case, k: int, proof: MarginCertificate) -> None:
    """Raise unless what a proof says of plane, classes and `tol` is what the model says."""
    if not (np.array_equal(proof.coef, case.coef[k]) and proof.intercept == case.intercept[k]):
        raise ClaimError("the plane is not the one that was certified")
    if tuple(proof.classes) != (case.classes if len(case.positive) == 1 else (False, True)):
        raise ClaimError("the proof of the margin is about another class than the one this plane predicts")
    if proof.fit_intercept != case.statement.fit_intercept:
        raise ClaimError("the proof of the margin is about other planes: with an intercept, or without")
    if proof.tol != case.model.tol:
        raise ClaimError(f"the proof is of tol={proof.tol:g}, the model's tol is {case.model.tol:g}")
    case.check_objective((formula(case.statement.fit_intercept),))


def _said_of_the_margin(case: _Case, k: int, found: tuple[float, float]) -> list[str]:
    """Return which attributes are confirmed; raise for those that are not so."""
    proofs, margin, gap = case.model._proofs, case.number("margin_", k), case.number("dual_gap_", 0)
    if margin != proofs[k].low:
        raise ClaimError(f"margin_ is {margin:.12g}, the proof says {proofs[k].low:.12g}")
    if difference := differs(found, proofs[k].low, proofs[k].high):
        raise ClaimError(difference)
    worst = max(proof.relative_gap for proof in proofs)
    if not (gap == worst or np.isnan([gap, worst]).all()):
        raise ClaimError(f"dual_gap_ is {gap:.3g}, the proof says {worst:.3g}")
    return ["margin_", "dual_gap_"]


def _margin_gap(low: float, high: float) -> float:
    """Return how far ½‖w‖² of the plane can be from the optimum, as a share of it."""
    return 1.0 - (low / high) ** 2 if low > 0 and 0 < high < np.inf else np.inf


def _margin_when_cut(case: _Case, low: float, high: float) -> tuple[str, bool]:
    """Return what is so of the plane (w, b − t), and whether its margin is the largest within `tol`."""
    cut = f"cut at {case.threshold:g}, not at 0,"
    if low <= 0:
        return f"{cut} the plane does not separate the classes, and no {case.kind} has a margin above {high!r}", False
    reason = f"{cut} the plane keeps a margin of {low!r}, and no {case.kind} has one above {high!r}"
    # Cut elsewhere, a plane through the origin is none any more.
    return reason, bool(case.statement.fit_intercept and _margin_gap(low, high) <= case.model.tol)


# -- perceptrons ------------------------------------------------------------------------------------------------------


def _verdicts_of(model: Any) -> list[Separability | None]:
    said = getattr(model, "separability_", None)
    return said if isinstance(said, list) else [said]


def _verdicts(case: _Case) -> Iterator[Verification]:
    """Check the verdicts of a perceptron, of each class against the rest where there are more than two.

    They are about the data; that the plane at hand errs nowhere, where some plane does not, is counted besides.
    """
    found = _verdicts_of(case.model)
    if all(proof is None for proof in found):
        return
    if len(found) != len(case.positive):
        raise ClaimError(f"there are {len(found)} verdicts on separability for {planes_in_words(len(case.positive))}")
    for k, proof in enumerate(found):
        Clock(case.time_limit).check("separability")
        try:
            outcome = _undecided() if proof is None else _verdict_of_plane(case, k, proof)
        except ClaimError as failure:
            outcome = Verification(False, str(failure))
        yield replace(outcome, reason=f"{case.who(k)}{outcome.reason}")


def _undecided() -> Verification:
    return Verification(True, "whether a plane separates the classes was not decided")


def _verdict_of_plane(case: _Case, k: int, proof: Separability) -> Verification:
    """Return whether some plane separates, and on how many examples the one at hand errs."""
    check, problem = _verdict_again(case, k, proof), case.problem(k)
    outcome = _exact(check, f"{case.who(k)}the classes are {_verdict(proof)}")
    if not check:
        return outcome
    origin = "" if case.statement.fit_intercept else " (of planes through the origin)"
    reason = f"{_verdict(proof)}: {check.reason}{origin}"
    lists: Any = dict(covered=(*case.covered, "separability_"))
    if hasattr(case.model, "_ballots"):
        reason = f"{reason}; predictions are by vote of all planes of the run, and of those nothing is proven"
        return replace(outcome, reason=reason, proven=not proof.separable, **lists)
    made = int(np.count_nonzero(_wrong(case, k, problem) & _counted(problem)[0]))
    reason = f"{reason}; the model's plane{case.cut} makes {made} mistakes"
    lists["trusted"] = (*outcome.trusted, ROUNDED)
    among_these = case.statement.fit_intercept or not case.threshold
    return replace(outcome, reason=reason, proven=among_these and (not proof.separable or made == 0), **lists)


def _verdict_again(case: _Case, k: int, proof: Separability) -> Check:
    """Check one verdict, on the examples that have weight."""
    names, problem = getattr(case.model, "feature_names_in_", None), case.problem(k)
    expected = case.classes if len(case.positive) == 1 else (False, True)
    if tuple(proof.classes) != expected or proof.fit_intercept != case.statement.fit_intercept:
        raise ClaimError("the verdict on separability is about other classes or other planes")
    if proof.feature_names != (None if names is None else [str(name) for name in names]):
        raise ClaimError("the verdict on separability has other names of columns than the model")
    counted, place = _counted(problem)
    _moved([*(proof.points or []), *(proof.support or [])], counted, place)
    moved = replace(proof, classes=(-1.0, 1.0)).in_rows(place)
    return moved.verify(problem.rows.X[counted], problem.y[counted], time_limit=case.time_limit)


def _verdict(proof: Separability) -> str:
    words = {"separable": "separable", "quasi": "separable only weakly"}
    return words.get(proof.verdict, "not separable")


def _novikoff(case: _Case) -> Iterator[Verification]:
    """Check R, γ and (R/γ)² of a perceptron's planes; and that one without mistakes has none proven."""
    model = case.model
    if not hasattr(model, "mistake_bound_"):
        return
    proofs = _verdicts_of(model)
    confirmed = {"radius_", "margin_", "mistake_bound_"}
    try:
        for k in range(len(case.positive)):
            confirmed &= _novikoff_numbers(case, k)
        if case.flag("converged_") and any(proof is not None and not proof.separable for proof in proofs):
            raise ClaimError("the model says that it converged, on data that are proven not to be separable")
    except ClaimError as failure:
        yield Verification(False, str(failure))
        return
    # Numbers alone prove nothing of a model: they are looked at where something is proven besides.
    if hasattr(model, "_claims"):
        yield Verification(True, "", proven=True, covered=tuple(sorted(confirmed)))


def _novikoff_numbers(case: _Case, k: int) -> set[str]:
    """Return which numbers of a plane are confirmed; raise for those that are not so."""
    problem, w, b = case.problem(k), case.coef[k], float(case.intercept[k])
    clock, theta = Clock(case.time_limit), np.append(w, b)
    kept = Interval(*plane_margin(problem.rows.X, problem.y, theta, augmented=True, clock=clock))
    R, in_floats = _radius(problem), margin_in_floats(problem.rows.X, problem.y, w, b)
    radius, margin, bound = (case.number(name, k) for name in ("radius_", "margin_", "mistake_bound_"))
    confirmed = set()
    if _compared("radius_", radius, R, R):
        confirmed.add("radius_")
    if _compared("margin_", margin, kept, in_floats):
        confirmed.add("margin_")
    with np.errstate(over="ignore"):
        expected = float(np.square(np.float64(radius) / margin)) if margin > 0 else np.inf
    if not (bound == expected or abs(bound - expected) <= 1e-12 * expected < np.inf):
        raise ClaimError(f"mistake_bound_ is {bound:.12g}; radius_ and margin_ give {expected:.12g}")
    # A margin that floats cannot tell from none may be none, and then there is no bound.
    return confirmed | {"mistake_bound_"} if len(confirmed) == 2 and (margin > 0) == (kept.low > 0) else confirmed


def _radius(problem: Problem) -> Interval:
    """Enclose R, the largest ‖[x, 1]‖ or ‖x‖."""
    longest = float((problem.rows.squared_norms() + problem.fit_intercept).max())
    lost = problem.rows.d * SMALLEST  # by squares that fall below the range
    R, off = float(np.sqrt(longest)), gamma(problem.rows.d + 8)
    return Interval(R * (1 - off), float(np.sqrt(longest + lost)) * (1 + off) if lost > U * longest else R * (1 + off))


def _compared(name: str, said: float, found: Interval, in_floats: Interval) -> bool:
    """Whether a number is the one found, to a tiny share of itself; raise where no machine's floats make it that."""
    share = CLOSE * 1e-3 * min(abs(found.low), abs(found.high))
    if found.width <= share and found.low - share <= said <= found.high + share:
        return True
    if not in_floats.low <= said <= in_floats.high:
        raise ClaimError(f"{name} is {said:.12g}; the data and the plane give {found.low:.12g}")
    return said == found.low == found.high


# -- rows that count --------------------------------------------------------------------------------------------------


def _counted(problem: Problem) -> tuple[NDArray[np.bool_], list[int]]:
    """Return which examples have weight, and the place of each row among them."""
    s = problem.sample_weight
    counted = np.ones(problem.rows.n, dtype=bool) if s is None else s > 0
    return counted, (np.cumsum(counted) - 1).tolist()


def _moved(points: list[int], counted: NDArray[np.bool_], place: list[int]) -> list[int]:
    if not all(0 <= i < len(place) and counted[i] for i in points):
        raise ClaimError("the proof names a row that the data do not have, or that has no weight")
    return [place[i] for i in points]


#: Of these a proof is exact, and not about numbers that had to be rounded to be read.
PROVEN_EXACTLY = (
    *(Perceptron, HardMarginSVC, ZeroOneClassifier),
    *(Separability, Estimates, MarginCertificate, NotSeparableError),
)

#: What can be proven of which estimators, in the order in which it is looked at.
PROOFS: list[tuple[type, Callable[[_Case], Iterator[Verification]]]] = [
    (object, _gap),
    (Perceptron, _verdicts),
    (Perceptron, _novikoff),
    (HardMarginSVC, lambda case: _for_each_plane(case, _margin)),
    (ZeroOneClassifier, lambda case: _for_each_plane(case, _mistakes)),
]
SAID: list[tuple[type, tuple[str, ...]]] = [
    (Perceptron, OF_PERCEPTRONS),
    (HardMarginSVC, OF_MARGINS),
    (ZeroOneClassifier, OF_MISTAKES),
    (object, OF_GAPS),
]
