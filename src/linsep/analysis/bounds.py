"""Bounds on the error on new rows: what support vectors, margins and dimensions say, and what each assumes for that.

They hold for any distribution, and mostly say little: beside a measured error they show what is certain without
measuring. None of them is an estimate.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import gammaln, logsumexp

from .._common.types import FloatArray
from ..certificates.case import Case
from ..objective.duality import weights
from ..objective.objective import Objective

#: With what probability bounds on new rows hold.
CONFIDENCE = 0.95
#: Every bound on new rows assumes this.
DRAWN = "rows are drawn independently from one distribution, the columns encoded without looking at them"


@dataclass(frozen=True)
class Bound:
    """One bound on a share of mistakes.

    Attributes
    ----------
    name : str
    of : str
        What is bounded.
    value : float
        The share is no larger.
    assumes : str
    confidence : float or None
        The probability with which it holds; None where there is no chance about it.
    """

    name: str
    of: str
    value: float
    assumes: str
    confidence: float | None = None

    @property
    def says_something(self) -> bool:
        """Whether it is below one."""
        return self.value < 1.0

    @property
    def sentence(self) -> str:
        """What it says, without what it assumes."""
        sure = "" if self.confidence is None else f", with probability {100 * self.confidence:g} %"
        told = self.says_something
        value = f"{self.of} ≤ {100 * self.value:.2f} %" if told else f"says nothing of {self.of} here"
        return f"{self.name}: {value}{sure}"

    def __str__(self) -> str:
        return f"{self.sentence}; assumes: {self.assumes}"


def support_bounds(problem: Objective, z: FloatArray, alpha: FloatArray, training: int) -> list[Bound]:
    """Return what the support vectors of a margin model say of leave-one-out.

    Without any other row the plane is the same, so only these can be mistakes then: rows with z ≤ 1, and of them by
    Joachims (2000) those with ρ αᵢ Rᵢ² + ξᵢ ≥ 1. Without an intercept ρ Rᵢ² is ‖xᵢ‖². With one ρ = 2 and Rᵢ² bounds
    xᵢ·(xᵢ − x) for all rows x, measured from their mean, where the dual does not notice.
    """
    n, rows, c = problem.n, problem.rows, weights(problem)
    held = (z <= 1.0 + 1e-6) & (c > 0)
    error = "the leave-one-out error"
    found = [Bound("support vectors", error, float(held.sum()) / n, "a plane at the optimum")]
    if problem.loss.smooth:  # Joachims' is about hinge
        return found
    squares = rows.squared_norms()
    if problem.fit_intercept:
        middle = rows.rmatvec(np.full(n, 1.0 / n))
        squares = np.maximum(squares - 2.0 * rows.matvec(middle) + float(middle @ middle), 0.0)
        lengths = np.sqrt(squares)
        squares = 2.0 * (squares + lengths * float(lengths.max(initial=0.0)))
    short = np.maximum(0.0, 1.0 - z)
    wrong = held & (alpha * squares / problem.penalty.l2 + short >= 1.0)
    stays = "; without any of its rows a row on the margin is left" if problem.fit_intercept else ""
    share = float(np.maximum(wrong.sum(), training)) / n
    # A row that is wrong in the fit is wrong without it.
    return [*found, Bound("ξα (Joachims)", error, share, f"a plane at the optimum{stays}")]


def bounds_of(case: Case, training: int) -> list[Bound]:
    """Return what margin and dimension say of the error on new rows; of two classes, where all rows count alike."""
    s = case.examples.sample_weight
    if len(case.positive) > 1 or not (s is None or (s == s[0]).all()):
        return []
    problem = case.problem(0)
    b = float(case.intercept[0]) - (case.threshold or 0.0)
    return [*_margins(problem, case.coef[0], b), _dimension(problem, training)]


def growth(points: int, dimension: int) -> float:
    """Return the logarithm of how many ways planes through the origin of R^dimension part points (Cover 1965).

    Examples
    --------
    >>> round(math.exp(growth(4, 3)))  # lines in the plane: all 16 ways but the two of XOR
    14
    """
    k = np.arange(min(dimension, points))
    logs = gammaln(points) - gammaln(k + 1) - gammaln(points - k)
    return math.log(2.0) + float(logsumexp(logs))


def _dimension(problem: Objective, training: int) -> Bound:
    """R ≤ R̂ + 2 √(2 (log S(2n) + log(2/δ))/n) for all planes at once, with S the growth function (Vapnik)."""
    n, d = problem.n, problem.d + problem.fit_intercept
    room = 2.0 * math.sqrt(2.0 * (growth(2 * n, d) + math.log(2.0 / (1.0 - CONFIDENCE))) / n)
    return Bound(f"VC dimension {d:,}", "the error on new rows", training / n + room, DRAWN, CONFIDENCE)


def _margins(problem: Objective, w: FloatArray, b: float) -> list[Bound]:
    """Return the bounds by margin, of the direction [w, b/r] on rows [x, r], where r is the longest row.

    R ≤ Σ min(1, max(0, 1 − mᵢ/γ))/n + 2 r'/(γ √n) + √(log(1/δ)/2n) with margins m and rows no longer than r' (Bartlett
    and Mendelson 2002); at γ = r' 2^−k with δ 2^−(k+1), so that the best of them may be taken.
    """
    rows, n = problem.rows, problem.n
    r = math.sqrt(float(rows.squared_norms().max(initial=0.0))) or 1.0
    free = problem.fit_intercept
    longest = math.sqrt(2.0) * r if free else r
    length = math.hypot(float(np.linalg.norm(w)), b / r if free else 0.0)
    if length == 0:
        return []
    m = problem.agreements(w, b) / length
    best = math.inf
    for k in range(40):
        gamma = longest * 2.0**-k
        ramp = float(np.clip(1.0 - m / gamma, 0.0, 1.0).mean())
        chance = math.sqrt((math.log(1.0 / (1.0 - CONFIDENCE)) + (k + 1) * math.log(2.0)) / (2.0 * n))
        best = min(best, ramp + 2.0 * longest / (gamma * math.sqrt(n)) + chance)
    within = f"{DRAWN}, none longer than the longest here"
    found = [Bound("margins", "the error on new rows", best, within, CONFIDENCE)]
    narrowest = float(m.min(initial=math.inf))
    if narrowest > 0:
        name, of = "radius over margin, squared (Novikoff)", "the leave-one-out error of a perceptron"
        passes = "it goes through the rows in a fixed order until none is wrong"
        found.append(Bound(name, of, (longest / narrowest) ** 2 / n, f"{passes}, as this plane shows that it will"))
    return found
