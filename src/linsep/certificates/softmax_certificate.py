"""What is proven of a softmax model, and how to check it from the data alone with every rounding bounded.

As in `certificates.certificate`, a dual point is made that is feasible exactly. Here it is the matrix of the masses off
the own class, aᵢₖ = C sᵢ pᵢₖ ≥ 0 for k ≠ yᵢ, in whole multiples of a power of two and what is left
of C sᵢ is the own class's.
Where the intercepts are free, as much must flow out of every class as into it,

    Σ (aᵢₗ : yᵢ = k, l ≠ k) = Σ (aᵢₖ : yᵢ ≠ k),

and a surplus is taken away from the flow of a class that gives too much to one that gets too much.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import entr

from .. import _reading as reading
from ..arithmetic.enclosure import (
    EVERYTHING,
    GRID,
    SLIGHT,
    SMALLEST,
    ULPS,
    Interval,
    U,
    agreements,
    combination,
    exact_sum,
    fits,
    gamma,
    into_box,
    penalty_conjugate,
    penalty_value,
    sharp_agreements,
    sharpened,
    total,
)
from ..objective.curvature import MANY_FEATURES, Look, examine_softmax
from ..objective.dual_point import BLURRED
from ..objective.duality import Bound, penalised, weighed
from ..objective.examples import Block, in_one
from ..objective.scaling import middle_of_range, ordinary, ordinary_in_parts, tightest
from ..objective.softmax import SoftmaxPoint, SoftmaxProblem, repaired
from ..objective.statement import Statement, plain
from .checking import ClaimError, Examples, Verification
from .claim import as_enclosed, hidden, looked_at_closely, widened
from .gap_proof import GapCheck, GapProof

FloatArray = NDArray[np.float64]
Units = NDArray[np.int64]

__all__ = [
    "SoftmaxCertificate",
    "SoftmaxClaim",
    "certify_softmax",
    "enclosed_primal",
    "examined",
    "is_ordinary",
    "scores_of",
    "sharp_softmax_primal",
    "softmax_bound_below",
]


@dataclass(frozen=True)
class SoftmaxClaim:
    """What a fit leaves behind: what it minimised, the bound it proved, digests of its planes and of its data."""

    statement: Statement  # whose loss is that of two classes, the logistic one
    classes: tuple[Any, ...]
    primal: float
    dual: float
    rounding: float
    tol: float
    planes: str
    shape: tuple[int, int]
    squares: tuple[float, ...]  # Σ ‖x‖² of each class
    weight: float

    def to_dict(self) -> dict[str, Any]:
        """Return it in terms of JSON."""
        return {
            "statement": self.statement.to_dict(),
            "classes": [plain(label) for label in self.classes],
            "primal": self.primal,
            "dual": self.dual,
            "rounding": self.rounding,
            "tol": self.tol,
            "planes": self.planes,
            "shape": list(self.shape),
            "squares": list(self.squares),
            "weight": self.weight,
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Read what `to_dict` wrote."""
        n, d = reading.items(data, "shape", reading.whole)
        primal, dual, rounding, tol = (reading.number(data, name) for name in ("primal", "dual", "rounding", "tol"))
        return cls(
            Statement.from_dict(reading.section(data, "statement")),
            tuple(reading.items(data, "classes", reading.label)),
            primal,
            dual,
            rounding,
            tol,
            reading.text(data, "planes"),
            (n, d),
            tuple(reading.items(data, "squares", reading.number)),
            reading.number(data, "weight"),
        )

    def differs(self, problem: SoftmaxProblem) -> str:
        """Return in what the problem's data differ from those of the fit, or nothing."""
        n, d = self.shape
        if (problem.rows.n, problem.rows.d) != self.shape:
            found = f"{problem.rows.n} rows of {problem.rows.d}"
            return f"the data have {found} columns, the fit had {n} of {d}"
        error = 4 * gamma(n + d + 8)
        if len(self.squares) != problem.classes:
            return f"the data have {problem.classes} classes, the fit had {len(self.squares)}"
        if np.any(np.abs(problem.squares - self.squares) > error * sum(self.squares)):
            return "the rows of X (or their labels) are not those of the fit"
        if abs(problem.total_weight - self.weight) > error * self.weight:
            return "the weights of the examples are not those of the fit"
        return ""


def _digest(W: FloatArray, b: FloatArray) -> str:
    """Return a short text that changes with any bit of the planes; W has one row a class."""
    numbers = np.column_stack([W, b]).astype("<f8")
    return hashlib.sha256(np.ascontiguousarray(numbers).tobytes()).hexdigest()[:32]


def rounding(problem: SoftmaxProblem, W: FloatArray, b: FloatArray, found: Bound) -> float:
    """Return what rounding may have added to P − D, from the sizes of things: see `claim.rounding`."""
    if _usual(problem, W, b):
        return _rounding(problem, W, b, found)
    if problem.examples.resident is None:
        return np.inf
    scaled = middle_of_range(problem, W)
    if not scaled.exact:
        return np.inf
    ends = Interval(found.dual, found.primal).shifted(scaled.m)
    with np.errstate(over="ignore", invalid="ignore"):
        off = _rounding(scaled.problem, scaled.W, b, Bound(ends.high, ends.low))
    return np.inf if np.isnan(off) else Interval(0.0, off).shifted(-scaled.m).high + SMALLEST


def _usual(problem: SoftmaxProblem, W: FloatArray, b: FloatArray) -> bool:
    """Whether sizes are ordinary, of a problem in memory or in parts."""
    if problem.examples.resident is not None:
        return ordinary(problem, W, b)
    return ordinary_in_parts(problem, problem.by_class, W, b)


def _rounding(problem: SoftmaxProblem, W: FloatArray, b: FloatArray, found: Bound) -> float:
    C, N, K = problem.weight_of_loss, problem.total_weight, problem.classes
    # Σₖ |Aᵢₖ| = 2 C sᵢ (1 − p) with p that of the own class, and (1 − p)² ≤ 1 − p ≤ −log p; then Cauchy and Schwarz.
    most = 2.0 * np.sqrt(C * min(C * N, max(found.primal, 0.0)))
    A, a = most * np.sqrt(problem.weighted_squares), most * np.sqrt(N)
    length_W, l2 = float(np.sqrt(np.einsum("jk,jk->", W, W))), problem.penalty.l2
    length_v = l2 * length_W + np.sqrt(2.0 * l2 * max(found.gap, 0.0))
    sizes = abs(found.primal) + 4.0 * A * (length_W + length_v / (l2 or 1.0)) + 4.0 * a * (1.0 + np.abs(b).max())
    if l2 == 0 and problem.penalty.l1 > 0:
        # p went towards the labels until v fitted into its box, by a share that is off by A/l1; going all the way costs
        # no more than the losses and the entropy.
        sizes += 8.0 * A / problem.penalty.l1 * abs(found.primal)
    off = gamma(problem.rows.n + problem.rows.d + 40)
    # Another reader's scores are others in the last digits, and so are p and v; Σₖ |δpₖ| ≤ 2 maxₖ |δgₖ|.
    scale = length_W * problem.weighted_squares + np.abs(b).max() * np.sqrt(N * problem.weighted_squares)
    moved = float(4.0 * gamma(problem.rows.d + 8) * C * scale)
    if l2 > 0:
        reach = float(4.0 * off * A) + moved  # its square may be too large for a float: then nothing is known
        again = reach * reach / (2.0 * l2) + moved * np.sqrt(2.0 * max(found.gap, 0.0) / l2)
    else:
        again = 2.0 * moved / (problem.penalty.l1 or np.inf) * abs(found.primal)
    return float(off * sizes + again + (ULPS + K) * U * C * N)


def certify_softmax(
    problem: SoftmaxProblem,
    W: FloatArray,
    b: FloatArray,
    proof: Bound,
    statement: Statement,
    classes: ArrayLike,
    tol: float,
    enclosed: tuple[Interval, Interval] | None = None,
) -> SoftmaxClaim:
    """Return what a fit with planes W, of shape (d, K), and b may claim; `enclosed`: its bound, where that is known."""
    labels = tuple(np.asarray(classes).tolist())
    if not _usual(problem, W, b):
        proof, error = as_enclosed(*enclosed_bound(problem, W, b))
    elif penalised(problem):
        proof, error = _penalised(problem, W, b, proof, tol)
    else:
        primal, low = enclosed or enclosed_bound(problem, W, b)
        proof, error = Bound(primal.high, widened(primal, low)), primal.width
    data = (problem.rows.n, problem.rows.d), tuple(problem.squares.tolist()), problem.total_weight
    # The planes of no weight are a point, too, and the losses are never negative.
    dual = min(max(proof.dual, 0.0), proof.primal)
    return SoftmaxClaim(statement, labels, proof.primal, dual, error, tol, _digest(W.T, b), *data)


def _penalised(problem: SoftmaxProblem, W: FloatArray, b: FloatArray, proof: Bound, tol: float) -> tuple[Bound, float]:
    """Return the bound, and how far its arithmetic may be off: looked at closely where an estimate does not do."""
    if abs(proof.primal) < SLIGHT:  # no share of nothing is small: look closely
        return as_enclosed(*enclosed_bound(problem, W, b))
    error = rounding(problem, W, b, proof)
    if not hidden(proof, error, tol):
        return proof, error
    return looked_at_closely(proof, error, *enclosed_bound(problem, W, b))


@dataclass(frozen=True, eq=False)
class SoftmaxCertificate(GapProof):
    """What is proven of the planes of a softmax model, and how to check it without trusting the fit.

    Attributes
    ----------
    claim : SoftmaxClaim
        What the fit left behind.
    coef, intercept : array
        The planes as they are now, one row a class: those that were changed since the fit do not verify.
    statement : Statement
        What the model says now that it minimises.
    classes : tuple or None
        The labels that the model gives now, the k-th that of plane k; None where no model says so.
    model_tol : float or None
        The model's `tol`, where it has one.

    Examples
    --------
    >>> from linsep import LogisticRegression
    >>> X, y = [[0.0], [1.0], [3.0], [4.0], [6.0], [7.0]], ["a", "a", "b", "b", "c", "c"]
    >>> certificate = LogisticRegression().fit(X, y).certificate_
    >>> certificate.proven, bool(certificate.verify(X, y)), bool(certificate.verify(X, y[::-1]))
    (True, True, False)
    """

    claim: SoftmaxClaim
    coef: FloatArray
    intercept: FloatArray
    statement: Statement
    classes: tuple[Any, ...] | None = None
    model_tol: float | None = None

    @property
    def _claimed(self) -> SoftmaxClaim:
        return self.claim

    def verify(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Verification:
        """Check every claim from the data alone, with each rounding error bounded.

        Parameters
        ----------
        X, y, sample_weight
            What the model was fitted on.

        Returns
        -------
        Verification
            True where all is as claimed; otherwise its `reason` says what is not.
        """
        return self.check(Examples(X, y, sample_weight))

    def check(self, examples: Examples) -> Verification:
        """Check every claim on examples that were read already."""
        return _Check(self).run(examples)

    def to_dict(self, *, plane: bool = True) -> dict[str, Any]:
        """Return the certificate in terms of JSON; without the planes where a model file already holds them."""
        data = self.claim.to_dict()
        if plane:
            data |= {"coef": np.asarray(self.coef).tolist(), "intercept": np.asarray(self.intercept).tolist()}
        return data

    @classmethod
    def from_dict(
        cls, data: Mapping[str, Any], coef: ArrayLike | None = None, intercept: ArrayLike | None = None
    ) -> SoftmaxCertificate:
        """Read what `to_dict` wrote; give the planes, one a row, if they are kept elsewhere."""
        claim = SoftmaxClaim.from_dict(data)
        W = np.asarray(data["coef"] if coef is None else coef, dtype=np.float64)
        b = np.asarray(data["intercept"] if intercept is None else intercept, dtype=np.float64)
        return cls(claim, W, b, claim.statement)


class _Check(GapCheck[SoftmaxProblem]):
    """One verification: a certificate's claims against data."""

    planes, are = "planes", "these planes"

    def __init__(self, certificate: SoftmaxCertificate) -> None:
        now = certificate.statement, certificate.classes, certificate.model_tol
        super().__init__(certificate.claim, certificate.proven, *now)
        self.claim = certificate.claim
        self.W = np.ascontiguousarray(np.asarray(certificate.coef, dtype=np.float64).T)
        self.b = np.asarray(certificate.intercept, dtype=np.float64)

    def same_planes(self, d: int) -> None:
        """Raise unless the planes are those that were certified."""
        if self.W.shape != (d, len(self.classes)) or self.b.shape != (len(self.classes),):
            raise ClaimError(f"the planes have {self.W.shape[0]} weights, the data have {d} columns")
        if _digest(self.W.T, self.b) != self.claim.planes:
            raise ClaimError("the planes are not those that were certified: coef or intercept was changed")

    def problem(self, examples: Examples, s: FloatArray | None) -> SoftmaxProblem:
        """Return the problem of all classes."""
        codes, K, said = examples.codes(self.classes), len(self.classes), self.statement
        problem = SoftmaxProblem(examples.rows, codes, K, said.penalty, said.C, s, said.fit_intercept)
        if difference := self.claim.differs(problem):
            raise ClaimError(difference)
        return problem

    def enclose(self, problem: SoftmaxProblem) -> tuple[Interval, Interval, str]:
        """Enclose P(W, b) and D(p)."""
        if self.b.any() and not problem.fit_intercept:
            raise ClaimError("the planes have intercepts, the objective has none")
        primal, dual = enclosed_bound(problem, self.W, self.b)
        exact = ", with each class's balance in whole numbers" if problem.fit_intercept else ""
        how = f"a dual point that is exactly feasible{exact}" if penalised(problem) else "the curvature at the planes"
        return primal, dual, how if dual.low > 0 else "losses being at least 0"

    def slack(self, problem: SoftmaxProblem, primal: Interval, dual: Interval) -> float:
        """Return by how much a fit's own numbers may be off."""
        return rounding(problem, self.W, self.b, Bound(primal.high, min(dual.low, self.claim.dual)))


def enclosed_bound(problem: SoftmaxProblem, W: FloatArray, b: FloatArray) -> tuple[Interval, Interval]:
    """Enclose P(W, b), and D(p) or, without a penalty, the best bound that can be shown.

    Where sizes are out of the ordinary, the problem is looked at in the middle of the range of floats.
    """
    whole = problem if problem.examples.resident is not None else _in_one(problem)
    return tightest(whole, W, b, lambda scaled, V, _: _enclosed(scaled, V, b))


def _in_one(problem: Any) -> SoftmaxProblem:
    """Return a problem in parts as one whose rows are read block by block."""
    return problem.on(Block(0, *in_one(problem.examples)))  # type: ignore[no-any-return]


def _enclosed(problem: SoftmaxProblem, W: FloatArray, b: FloatArray) -> tuple[Interval, Interval]:
    if penalised(problem):
        with np.errstate(all="ignore"):  # the point's own sums are guesses: what they prove is looked at
            return enclosed_primal(problem, W, b), enclosed_dual(problem.evaluate(W, b))
    primal, look = examined(problem, W, b)
    return primal, softmax_bound_below(primal, look, is_ordinary(problem))


def is_ordinary(problem: SoftmaxProblem) -> bool:
    """Whether no product on the way to a bound by curvature can leave the range of floats."""
    return ordinary(problem, np.zeros(problem.rows.d), 0.0)


def softmax_bound_below(primal: Interval, look: Look, usable: bool) -> Interval:
    """Enclose the best bound on the optimum that can be shown without a penalty: zero, unless the look is usable."""
    if not (usable and np.isfinite(primal.high)):
        return Interval(0.0, 0.0)
    # Σ aᵢₖ xᵢ would have to be exactly zero, which only a = 0 is sure to give.
    low = primal.low - look.gap
    return Interval(low, low) if low > 0 else Interval(0.0, 0.0)


def sharp_softmax_primal(
    problem: SoftmaxProblem, W: FloatArray, b: FloatArray
) -> tuple[Interval, FloatArray, FloatArray]:
    """Enclose P(W, b), with twice the digits where plain ones leave much of it open; also scores and radii."""
    scores, radius = scores_of(problem.rows.X, W, b)
    primal = _primal(problem, W, scores, radius)
    blurred = primal.width > BLURRED * abs(primal.high)
    if blurred and problem.rows.d <= MANY_FEATURES and ordinary(problem, W, b):
        scores, radius = scores_of(problem.rows.X, W, b, sharp_agreements)
        primal = _primal(problem, W, scores, radius)
    return primal, scores, radius


def examined(problem: SoftmaxProblem, W: FloatArray, b: FloatArray) -> tuple[Interval, Look]:
    """Enclose P(W, b) where there is no penalty, and return what the derivatives there say of the optimum."""
    primal, scores, radius = sharp_softmax_primal(problem, W, b)
    X, codes, intercept = problem.rows.X, problem.codes, problem.fit_intercept
    return primal, examine_softmax(X, codes, _weights(problem), scores, radius.max(axis=1), intercept=intercept)


def enclosed_primal(problem: SoftmaxProblem, W: FloatArray, b: FloatArray) -> Interval:
    """Enclose P(W, b)."""
    return _primal(problem, W, *scores_of(problem.rows.X, W, b))


def _weights(problem: SoftmaxProblem) -> FloatArray:
    """cᵢ = C sᵢ."""
    return weighed(problem.weight_of_loss, problem.s)


def scores_of(X: Any, W: FloatArray, b: FloatArray, method: Any = agreements) -> tuple[FloatArray, FloatArray]:
    """Return gᵢₖ, and how far each may be off."""
    ones = np.ones(X.shape[0])
    each = [method(X, ones, np.ascontiguousarray(w), float(c)) for w, c in zip(W.T, b, strict=True)]
    scores, radius = (np.column_stack(part) for part in zip(*each, strict=True))
    return scores, radius


def _primal(problem: SoftmaxProblem, W: FloatArray, scores: FloatArray, radius: FloatArray) -> Interval:
    """Enclose P. The loss is log(1 + Σ e^(gₖ − g_y)) over k ≠ y, which stays exact where it is small.

    Scores that are off by r move it by no more than (1 − p) (e^(2r) − 1) with p the own class's probability, and each
    difference that is rounded by its share of that.
    """
    c = _weights(problem)
    if not (np.isfinite(scores).all() and np.isfinite(radius).all() and np.isfinite(c).all()):
        return EVERYTHING
    with np.errstate(over="ignore", invalid="ignore"):
        return penalty_value(problem.penalty, W.ravel()) + _loss_sum(problem, scores, radius, c)


def _loss_sum(problem: SoftmaxProblem, scores: FloatArray, radius: FloatArray, c: FloatArray) -> Interval:
    each, K = np.arange(problem.rows.n), problem.classes
    difference = scores - scores[each, problem.codes][:, None]
    difference[each, problem.codes] = -np.inf
    highest = np.maximum(difference.max(axis=1), 0.0)
    others = np.exp(difference - highest[:, None])
    one, rest = np.exp(-highest), others.sum(axis=1)
    loss = np.where(highest > 0, highest + np.log(one + rest), np.log1p(rest))
    difference[each, problem.codes] = 0.0
    share = others / (one + rest)[:, None] + ULPS * SMALLEST  # what is below the range of floats is not nothing
    moved = share.sum(axis=1) * np.expm1(2.0 * radius.max(axis=1)) + 4 * U * (share * np.abs(difference)).sum(axis=1)
    arithmetic = (ULPS + K) * U * (loss + np.where(highest > 0, 1.0 + highest, 0.0)) + (ULPS + 4) * K * SMALLEST
    off = 1.01 * moved + arithmetic
    error = np.where(c > 0, c * off * (1.0 + 8 * U) + (4.0 + loss + off) * SMALLEST, 0.0)
    return total(np.where(c > 0, c * loss, 0.0), error)


def enclosed_dual(point: SoftmaxPoint) -> Interval:
    """Enclose D of an exactly feasible point near the point's own probabilities; 0 where that is the better bound."""
    problem, scale = point.problem, 1.0
    if not penalised(problem):
        return Interval(0.0, 0.0)
    c = _weights(problem)
    p, _ = repaired(point)
    for attempt in range(8):
        units, step = _off_class_units(problem, scale * p, c)
        if problem.fit_intercept:
            _balance(units, problem.codes, problem.classes)
        entropy = _entropy(problem, np.asarray(units * step, dtype=np.float64), c)
        v, radius = _combinations(problem, units, step, entropy.high)
        if problem.penalty.l2 > 0 or fits(problem.penalty, v, radius):
            break
        # Only a box of v has a finite conjugate: go towards the labels until v fits, also after it was cut to units.
        scale *= into_box(problem.penalty, v, radius, attempt)
    found = entropy - penalty_conjugate(problem.penalty, v, radius)
    return found if found.low > 0 else Interval(0.0, max(found.high, 0.0))


def _combinations(problem: SoftmaxProblem, units: Units, step: float, size: float) -> tuple[FloatArray, FloatArray]:
    """Return Σ Aᵢₖ xᵢ, class after class, and how far each entry may be off; `size` is that of the bound."""
    flows = -np.asarray(units * step, dtype=np.float64)
    flows[np.arange(problem.rows.n), problem.codes] = units.sum(axis=1) * step
    each = [_combination(problem, np.ascontiguousarray(column), size) for column in flows.T]
    v, radius = (np.concatenate(part) for part in zip(*each, strict=True))
    return v, radius


def _combination(problem: SoftmaxProblem, flow: FloatArray, size: float) -> tuple[FloatArray, FloatArray]:
    X = problem.rows.X
    return sharpened(X, flow, *combination(X, flow), problem.penalty, size)


def _off_class_units(problem: SoftmaxProblem, p: FloatArray, c: FloatArray) -> tuple[Units, float]:
    """Return aᵢₖ = cᵢ pᵢₖ for k ≠ yᵢ, cut down to whole multiples of a power of two, and that power."""
    mass = c[:, None] * p
    mass[np.arange(problem.rows.n), problem.codes] = 0.0
    # c = C s was rounded, perhaps up, and so were the products: stay a little below what each row has to give.
    mass *= 1.0 - 16 * U * problem.classes
    mass[c < SLIGHT] = 0.0
    largest = float(mass.max(initial=0.0))
    if not SLIGHT < largest < np.inf:
        return np.zeros(mass.shape, dtype=np.int64), 1.0
    # Units so coarse that those of a whole row add up to a float without rounding.
    step = math.ldexp(1.0, math.frexp(largest)[1] - GRID + problem.classes.bit_length())
    units = np.trunc(np.maximum(mass, 0.0) / step).astype(np.int64)
    units[units.sum(axis=1) * step > np.nextafter(c, 0.0)] = 0  # no row gives more than it has
    return units, step


def _balance(units: Units, codes: Units, K: int) -> None:
    """Make as much flow out of every class as into it, in place, by taking away; if that is not enough, everything."""
    members = [np.flatnonzero(codes == k) for k in range(K)]
    flow = [[exact_sum(units[members[k], m]) if len(members[k]) else 0 for m in range(K)] for k in range(K)]
    surplus = [sum(flow[k]) - sum(row[k] for row in flow) for k in range(K)]
    for k in range(K):
        while surplus[k] > 0 and (path := _way_out(flow, surplus, k)):
            steps = list(pairwise(path))
            taken = min(surplus[k], -surplus[path[-1]], *(flow[i][j] for i, j in steps))
            for i, j in steps:
                _take(units, members[i], j, taken)
                flow[i][j] -= taken
            surplus[k] -= taken
            surplus[path[-1]] += taken
    if any(surplus):
        units[:] = 0


def _way_out(flow: list[list[int]], surplus: list[int], first: int) -> list[int]:
    """Return the shortest way along flows from a class that gives too much to one that gets too much; or nothing.

    Classes in a row, as those of a digitised number, have flows between neighbours only.
    """
    ways, seen = [[first]], {first}
    for way in ways:  # which grows
        for m, amount in enumerate(flow[way[-1]]):
            if amount > 0 and m not in seen:
                if surplus[m] < 0:
                    return [*way, m]
                seen.add(m)
                ways.append([*way, m])
    return []


def _take(units: Units, rows: Units, column: int, amount: int) -> None:
    """Take that many units from the largest entries of a column."""
    for i in rows[np.argsort(-units[rows, column], kind="stable")]:
        taken = min(amount, int(units[i, column]))
        units[i, column] -= taken
        amount -= taken
        if amount == 0:
            return


def _entropy(problem: SoftmaxProblem, mass: FloatArray, c: FloatArray) -> Interval:
    """Σ cᵢ Σₖ −πᵢₖ log πᵢₖ with π = a/c off the class, and what is left of 1 on it."""
    used = mass.any(axis=1)  # the others have all of their mass on the own class
    mass, c = mass[used], c[used]
    if not np.isfinite(c).all():
        return EVERYTHING
    pi = mass / c[:, None]
    away = np.minimum(pi.sum(axis=1), 1.0)
    terms = entr(pi)
    with np.errstate(divide="ignore", invalid="ignore"):
        own = np.where(away < 1.0, -(1.0 - away) * np.log1p(-away), 0.0)
    # Off the class π is off by a few u of itself, and so is their sum s; −x log x at x = 1 − s moves by no more than
    # e (1 + |log(x − e)|) where x moves by e, and at the end of its range by no more than −e log e + e.
    e = (problem.classes + 8) * U * away
    with np.errstate(divide="ignore", invalid="ignore"):
        moved = np.where(1.0 - away > 4 * e, e * (1.0 + np.abs(np.log(1.0 - away - 2 * e))), entr(8 * e) + 8 * e)
    off = ULPS * U * ((terms + pi).sum(axis=1) + own) + moved + ULPS * problem.classes * SMALLEST
    return total(c * (terms.sum(axis=1) + own), c * off * (1.0 + 8 * U) + 8 * SMALLEST)
