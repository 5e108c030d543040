"""What is proven of a softmax model, and how to check it from the data alone with every rounding bounded.

As in `linsep.certificate`, a dual point is made that is feasible exactly. Here it is the matrix of the masses off the
own class, aᵢₖ = C sᵢ pᵢₖ ≥ 0 for k ≠ yᵢ, in whole multiples of a power of two; what is left of C sᵢ is the own class's.
Where the intercepts are free, as much must flow out of every class as into it,

    Σ (aᵢₗ : yᵢ = k, l ≠ k) = Σ (aᵢₖ : yᵢ ≠ k),

and a surplus is taken away from the flow of a class that gives too much to one that gets too much.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import entr

from .blocked import rows_of
from .checking import ClaimError, Verification, codes_of, read_data, verdict_in_words, within
from .duality import Bound, share
from .enclosure import (
    GRID,
    SMALLEST,
    ULPS,
    Interval,
    U,
    agreements,
    combination,
    exact_sum,
    gamma,
    penalty_conjugate,
    penalty_value,
    total,
)
from .softmax import SoftmaxPoint, SoftmaxProblem, repaired
from .statement import Statement, plain

FloatArray = NDArray[np.float64]
Units = NDArray[np.int64]

__all__ = ["SoftmaxCertificate", "SoftmaxClaim", "certify_softmax"]


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
        n, d = data["shape"]
        return cls(
            Statement.from_dict(data["statement"]),
            tuple(data["classes"]),
            float(data["primal"]),
            float(data["dual"]),
            float(data["rounding"]),
            float(data["tol"]),
            str(data["planes"]),
            (int(n), int(d)),
            tuple(float(square) for square in data["squares"]),
            float(data["weight"]),
        )

    def differs(self, problem: SoftmaxProblem) -> str:
        """Return in what the problem's data differ from those of the fit, or nothing."""
        n, d = self.shape
        if (problem.rows.n, problem.rows.d) != self.shape:
            found = f"{problem.rows.n} rows of {problem.rows.d}"
            return f"the data have {found} columns, the fit had {n} of {d}"
        error = 4 * gamma(n + d + 8)
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
    """Return what rounding may have added to P − D, from the sizes of things: see `linsep.claim.rounding`."""
    C, N, K = problem.weight_of_loss, problem.total_weight, problem.classes
    # Σₖ |Aᵢₖ| ≤ 2 C sᵢ; then Cauchy and Schwarz.
    A, a = 2.0 * C * np.sqrt(N * problem.weighted_squares), 2.0 * C * N
    length_W, l2 = float(np.sqrt(np.einsum("jk,jk->", W, W))), problem.penalty.l2
    length_v = l2 * length_W + np.sqrt(2.0 * l2 * max(found.gap, 0.0))
    sizes = abs(found.primal) + 4.0 * A * (length_W + length_v / (l2 or 1.0)) + 4.0 * a * (1.0 + np.abs(b).max())
    return float(gamma(problem.rows.n + problem.rows.d + 40) * sizes + (ULPS + K) * U * C * N)


def certify_softmax(
    problem: SoftmaxProblem,
    W: FloatArray,
    b: FloatArray,
    proof: Bound,
    statement: Statement,
    classes: ArrayLike,
    tol: float,
) -> SoftmaxClaim:
    """Return what a fit with planes W, of shape (d, K), and b may claim."""
    labels = tuple(np.asarray(classes).tolist())
    error = rounding(problem, W, b, proof)
    data = (problem.rows.n, problem.rows.d), tuple(problem.squares.tolist()), problem.total_weight
    # The planes of no weight are a point, too, and the losses are never negative.
    dual = max(proof.dual, 0.0)
    return SoftmaxClaim(statement, labels, proof.primal, dual, error, tol, _digest(W.T, b), *data)


@dataclass(frozen=True, eq=False)
class SoftmaxCertificate:
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
        The labels that the model gives now; None where it has none of its own.

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

    @property
    def primal(self) -> float:
        """P(W, b), the objective at the fitted planes."""
        return self.claim.primal

    @property
    def dual(self) -> float:
        """What no planes' objective lies below."""
        return self.claim.dual

    @property
    def tol(self) -> float:
        """The relative gap that was asked for."""
        return self.claim.tol

    @property
    def rounding(self) -> float:
        """What the fit's own arithmetic may have added to the gap."""
        return self.claim.rounding

    @property
    def gap(self) -> float:
        """How far above the optimum the objective can be."""
        return max(self.primal - self.dual, 0.0)

    @property
    def relative_gap(self) -> float:
        """The gap as a share of the objective."""
        return share(self.gap, self.primal)

    @property
    def proven(self) -> bool:
        """Whether the relative gap is at most `tol`, with rounding allowed for."""
        return share(self.gap + self.rounding, max(abs(self.primal) - self.rounding, 0.0)) <= self.tol

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
        return _Check(self).run(X, y, sample_weight)

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

    def __str__(self) -> str:
        return f"{within(self.primal, self.dual, self.relative_gap)}{verdict_in_words(self.proven, self.tol)}."

    __repr__ = __str__


class _Check:
    """One verification: a certificate's claims against data."""

    def __init__(self, certificate: SoftmaxCertificate) -> None:
        self.certificate, self.claim = certificate, certificate.claim
        self.checked: list[str] = []
        self.primal: Interval | None = None
        self.dual: Interval | None = None

    def run(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None) -> Verification:
        """Return the outcome."""
        X, labels, s = read_data(X, y, sample_weight)
        try:
            self._planes(X.shape[1])
            problem = self._problem(X, labels, s)
            primal, dual = self._values(problem)
            reason = self._verdict(problem, primal, dual)
        except ClaimError as failure:
            return self._outcome(False, str(failure))
        return self._outcome(True, reason)

    def _outcome(self, ok: bool, reason: str) -> Verification:
        trusted = "IEEE arithmetic", f"exp and log to within {ULPS // 2} units in the last place"
        found = Verification(ok, reason, self.primal, self.dual, False, tuple(self.checked), trusted)
        return replace(found, proven=ok and found.relative_gap <= self.claim.tol)

    def _planes(self, d: int) -> None:
        """The planes and the objective are those that were certified."""
        certificate, claim = self.certificate, self.claim
        if certificate.coef.shape != (len(claim.classes), d):
            raise ClaimError(f"the planes have {certificate.coef.shape[1]} weights, the data have {d} columns")
        if _digest(certificate.coef, certificate.intercept) != claim.planes:
            raise ClaimError("the planes are not those that were certified: coef or intercept was changed")
        if not certificate.statement.same_as(claim.statement):
            raise ClaimError("the model's parameters are not those that were certified: fit it again")
        if certificate.classes not in (None, claim.classes):
            raise ClaimError(f"the model's classes are not those that were certified, {list(claim.classes)}")
        self.checked.append("the planes and the parameters are those that were certified")

    def _problem(self, X: Any, labels: NDArray[Any], s: FloatArray | None) -> SoftmaxProblem:
        """Encode labels and weigh examples anew; the data are those of the fit."""
        claim, statement = self.claim, self.claim.statement
        codes = codes_of(labels, claim.classes)
        if statement.class_weight is not None:
            by_class = statement.class_weights(codes, claim.classes, s)[codes]
            s = by_class if s is None else s * by_class
        K = len(claim.classes)
        problem = SoftmaxProblem(rows_of(X), codes, K, statement.penalty, statement.C, s, statement.fit_intercept)
        if difference := claim.differs(problem):
            raise ClaimError(difference)
        self.checked.append(f"the {problem.rows.n} examples are those of the fit, as far as their lengths tell")
        return problem

    def _values(self, problem: SoftmaxProblem) -> tuple[Interval, Interval]:
        """Enclose P(W, b) and D(p)."""
        W, b = np.ascontiguousarray(self.certificate.coef.T), np.asarray(self.certificate.intercept)
        if b.any() and not problem.fit_intercept:
            raise ClaimError("the planes have intercepts, the objective has none")
        self.primal = enclosed_primal(problem, W, b)
        self.dual = enclosed_dual(problem.evaluate(W, b))
        self.checked.append("the objective at the planes, from every example")
        exact = ", with each class's balance in whole numbers" if problem.fit_intercept else ""
        how = f"a dual point that is exactly feasible{exact}" if self.dual.low > 0 else "losses being at least 0"
        self.checked.append(f"the lower bound, from {how}")
        return self.primal, self.dual

    def _verdict(self, problem: SoftmaxProblem, primal: Interval, dual: Interval) -> str:
        """The numbers claimed are those found; return the verdict in words."""
        claim, W = self.claim, self.certificate.coef.T
        slack = 2 * rounding(problem, W, self.certificate.intercept, Bound(primal.high, dual.low))
        for name, claimed, found in (("objective", claim.primal, primal), ("lower bound", claim.dual, dual)):
            if not found.low - slack <= claimed <= found.high + slack:
                raise ClaimError(f"the {name} claimed is {claimed:.12g}, the data give {found.high:.12g}")
        relative_gap = share(primal.high - dual.low, primal.low)
        if self.certificate.proven and not relative_gap <= claim.tol:
            raise ClaimError(f"tol={claim.tol:g} is claimed, the data prove {relative_gap:.1e}")
        asked = (
            "as was asked for" if relative_gap <= claim.tol else f"not tol={claim.tol:g}, and it does not claim to be"
        )
        return f"the planes are within {relative_gap:.1e} of the optimum, {asked}"


def enclosed_primal(problem: SoftmaxProblem, W: FloatArray, b: FloatArray) -> Interval:
    """Enclose P(W, b): scores that are off by r move log Σ e^g − g_y by no more than 2r."""
    ones = np.ones(problem.rows.n)
    each = [agreements(problem.rows.X, ones, np.ascontiguousarray(w), float(c)) for w, c in zip(W.T, b, strict=True)]
    scores, radius = (np.column_stack(part) for part in zip(*each, strict=True))
    highest = scores.max(axis=1)
    own = scores[np.arange(problem.rows.n), problem.codes]
    loss = highest - own + np.log(np.exp(scores - highest[:, None]).sum(axis=1))
    arithmetic = (ULPS + problem.classes) * U * (1.0 + np.abs(highest) + np.abs(own) + np.abs(loss))
    c = problem.weight_of_loss * problem.s
    error = c * (2.0 * radius.max(axis=1) + arithmetic) * (1.0 + 8 * U) + SMALLEST
    return penalty_value(problem.penalty, W.ravel()) + total(c * loss, error)


def enclosed_dual(point: SoftmaxPoint) -> Interval:
    """Enclose D of an exactly feasible point near the point's own probabilities; 0 where that is the better bound."""
    problem = point.problem
    if problem.penalty.l2 == 0:
        return Interval(0.0, 0.0)
    c = problem.weight_of_loss * problem.s
    p, _ = repaired(point)
    units, step = _off_class_units(problem, p, c)
    if problem.fit_intercept:
        _balance(units, problem.codes, problem.classes)
    mass = np.asarray(units * step, dtype=np.float64)
    entropy = _entropy(problem, mass, c)
    flows = -mass
    flows[np.arange(problem.rows.n), problem.codes] = units.sum(axis=1) * step
    each = [combination(problem.rows.X, np.ascontiguousarray(column)) for column in flows.T]
    v, radius = (np.concatenate(part) for part in zip(*each, strict=True))
    found = entropy - penalty_conjugate(problem.penalty, v, radius)
    return found if found.low > 0 else Interval(0.0, max(found.high, 0.0))


def _off_class_units(problem: SoftmaxProblem, p: FloatArray, c: FloatArray) -> tuple[Units, float]:
    """Return aᵢₖ = cᵢ pᵢₖ for k ≠ yᵢ, cut down to whole multiples of a power of two, and that power."""
    mass = c[:, None] * p
    mass[np.arange(problem.rows.n), problem.codes] = 0.0
    # c = C s was rounded, perhaps up, and so were the products: stay a little below what each row has to give.
    mass *= 1.0 - 16 * U * problem.classes
    largest = float(mass.max(initial=0.0))
    if not largest > 1e-280:
        return np.zeros(mass.shape, dtype=np.int64), 1.0
    # Units so coarse that those of a whole row add up to a float without rounding.
    step = math.ldexp(1.0, math.frexp(largest)[1] - GRID + problem.classes.bit_length())
    return np.trunc(mass / step).astype(np.int64), step


def _balance(units: Units, codes: Units, K: int) -> None:
    """Make as much flow out of every class as into it, in place, by taking away; if that is not enough, everything."""
    members = [np.flatnonzero(codes == k) for k in range(K)]
    flow = [[exact_sum(units[members[k], m]) if len(members[k]) else 0 for m in range(K)] for k in range(K)]
    surplus = [sum(flow[k]) - sum(row[k] for row in flow) for k in range(K)]
    for k in range(K):
        for m in range(K):
            taken = min(surplus[k], -surplus[m], flow[k][m])
            if taken > 0:
                _take(units, members[k], m, taken)
                surplus[k] -= taken
                surplus[m] += taken
    if any(surplus):
        units[:] = 0


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
    used = c > 0
    mass, c = mass[used], c[used]
    pi = mass / c[:, None]
    rest = np.clip(1.0 - pi.sum(axis=1), 0.0, 1.0)
    terms = entr(pi)
    # Off the class π is off by a few u of itself. What is left of 1 is off by a few u, and −x log x moves by no more
    # than −e log e + e where x moves by e.
    off = ULPS * U * (terms + pi).sum(axis=1)
    e = (problem.classes + 8) * U
    own = float(entr(e)) + e + ULPS * U
    return total(c * (terms.sum(axis=1) + entr(rest)), c * (off + own) * (1.0 + 8 * U) + SMALLEST)
