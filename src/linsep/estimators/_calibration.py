"""Probabilities from scores: the increasing maps that a calibration keeps, and the links that make shares of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit, log_softmax, logit, logsumexp

from .. import losses
from .._common import reading
from .._common.types import FloatArray

#: By a sigmoid (Platt), by isotonic regression, or in closed form for the weights of classes.
METHODS = ("sigmoid", "isotonic", "prior")
#: Of fewer scores isotonic regression takes chance for a bend: scikit-learn's rule of thumb.
ISOTONIC = 1_000
#: What is to be known of the class with the highest score where probabilities are not the fit's own.
LIKELIEST = "need not be the one with the highest probability"


def log_probabilities(scores: FloatArray) -> FloatArray:
    """Return log σ(−g) and log σ(g), or for more than two classes the logarithm of each one's share of the sum of σ."""
    if scores.ndim == 1:
        return -losses.Logistic().value(np.column_stack([-scores, scores]))
    logs = -losses.Logistic().value(scores)
    return np.asarray(logs - logsumexp(logs, axis=1, keepdims=True))


def log_odds_of_softmax(scores: FloatArray) -> FloatArray:
    """Return log P(k|x)/(1 − P(k|x)) of a softmax: each score minus the logarithm of Σ e^g over the other classes."""
    K = scores.shape[1]
    others = [logsumexp(np.delete(scores, k, axis=1), axis=1) for k in range(K)]
    return np.asarray(scores - np.column_stack(others))


def shares_of(positive: FloatArray) -> FloatArray:
    """Return the probabilities of two classes from those of the second, or of more as shares of their sum."""
    if positive.ndim == 1:
        return np.column_stack([1.0 - positive, positive])
    sums = positive.sum(axis=1, keepdims=True)
    return np.where(sums > 0, positive / np.where(sums > 0, sums, 1.0), 1.0 / positive.shape[1])


@dataclass(frozen=True)
class Sigmoid:
    """P = σ(slope·g + offset); a slope of 0 where scores say nothing.

    Examples
    --------
    >>> Sigmoid(2.0, 1.0).probability([-0.5]), Sigmoid(2.0, 1.0).score(0.5)
    (array([0.5]), -0.5)
    """

    slope: float
    offset: float

    def log_odds(self, scores: ArrayLike) -> FloatArray:
        """Return log P/(1 − P)."""
        return self.slope * np.asarray(scores, dtype=np.float64) + self.offset

    def probability(self, scores: ArrayLike) -> FloatArray:
        """Return P."""
        return np.asarray(expit(self.log_odds(scores)))

    def score(self, probability: float) -> float:
        """Return the score from which on P reaches a probability; raise `ValueError` where none does."""
        if self.slope <= 0:
            raise ValueError(f"every row has the probability {expit(self.offset):.4f}: its score says nothing")
        return float((logit(probability) - self.offset) / self.slope)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Sigmoid:
        """Read what `vars` wrote."""
        slope, offset = (_number(data[name]) for name in ("slope", "offset"))
        if slope < 0:
            raise ValueError(f"a slope of {slope!r} would turn the order of scores round")
        return cls(slope, offset)


@dataclass(frozen=True)
class Isotonic:
    """P by straight lines between points of isotonic regression, constant beyond the ends.

    Examples
    --------
    >>> Isotonic((0.0, 1.0), (0.25, 0.75)).probability([-1.0, 0.5]), Isotonic((0.0, 1.0), (0.25, 0.75)).score(0.5)
    (array([0.25, 0.5 ]), 0.5)
    """

    scores: tuple[float, ...]
    shares: tuple[float, ...]

    def probability(self, scores: ArrayLike) -> FloatArray:
        """Return P."""
        return np.asarray(np.interp(np.asarray(scores, dtype=np.float64), self.scores, self.shares))

    def score(self, probability: float) -> float:
        """Return the score from which on P reaches a probability; raise `ValueError` where all or none does."""
        low, high = self.shares[0], self.shares[-1]
        if not low < probability <= high:
            raise ValueError(f"{probability:g} parts no rows: probabilities go from {low:.4g} to {high:.4g} only")
        k = int(np.searchsorted(self.shares, probability))  # the first point that reaches it, after one that does not
        (x0, x1), (p0, p1) = self.scores[k - 1 : k + 1], self.shares[k - 1 : k + 1]
        return float(min(x1, x0 + (x1 - x0) * (probability - p0) / (p1 - p0)))

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Isotonic:
        """Read what `vars` wrote."""
        scores, shares = (tuple(map(_number, data[name])) for name in ("scores", "shares"))
        if not scores or len(scores) != len(shares):
            raise ValueError("points need as many shares as scores")
        if any(b <= a for a, b in pairwise(scores)) or list(shares) != sorted(shares):
            raise ValueError("points have to ascend")
        if not (shares[0] >= 0 and shares[-1] <= 1):
            raise ValueError("shares lie between 0 and 1")
        return cls(scores, shares)


def _number(value: Any) -> float:
    if type(value) not in (int, float) or not np.isfinite(value):
        raise ValueError(f"{value!r} is no finite number")
    return float(value)


@dataclass(frozen=True)
class Calibration:
    """How the scores of a fitted model become probabilities that mean what they say.

    Attributes
    ----------
    method : {"sigmoid", "isotonic", "prior"}
        Platt's sigmoid or isotonic regression, of out-of-fold scores; or log odds without the weights of the classes.
    maps : tuple of Sigmoid or Isotonic
        One a plane.
    together : bool
        Whether more than two classes are one softmax: in closed form it stays one, else the log odds of each class are
        mapped, and not its score, which means nothing alone.
    folds, rows : int
        How many out-of-fold scores it was made of, in how many folds; 0 in closed form.
    base_rates : tuple of float
        The shares of the classes that it is for; empty for those of the rows.

    Examples
    --------
    >>> Calibration("prior", (Sigmoid(1.0, 0.0),)).probabilities(np.array([0.0]))
    array([[0.5, 0.5]])
    """

    method: str
    maps: tuple[Sigmoid, ...] | tuple[Isotonic, ...]
    together: bool = False
    folds: int = 0
    rows: int = 0
    base_rates: tuple[float, ...] = ()

    def probabilities(self, scores: FloatArray) -> FloatArray:
        """Return one column a class, of scores as `decision_function` gives them."""
        if self.method != "isotonic":
            return np.asarray(np.exp(self.log_probabilities(scores)))
        planes = np.atleast_2d(self._mapped(scores).T)
        found = [self.maps[k].probability(one) for k, one in enumerate(planes)]
        return shares_of(found[0] if scores.ndim == 1 else np.column_stack(found))

    def _mapped(self, scores: FloatArray) -> FloatArray:
        """Return what the maps are of."""
        scores = np.asarray(scores, dtype=np.float64)
        return log_odds_of_softmax(scores) if self.together and self.method != "prior" else scores

    def log_probabilities(self, scores: FloatArray) -> FloatArray:
        """Return their logarithms, also where a probability is too small for a float."""
        if self.method == "isotonic":
            with np.errstate(divide="ignore"):
                return np.asarray(np.log(self.probabilities(scores)))
        slope, offset = (np.array([getattr(one, name) for one in self.maps]) for name in ("slope", "offset"))
        odds = slope * self._mapped(scores).reshape(len(scores), -1) + offset
        if self.together and self.method == "prior":
            return np.asarray(log_softmax(odds, axis=1))
        return log_probabilities(odds[:, 0] if scores.ndim == 1 else odds)

    @property
    def in_words(self) -> str:
        """How scores become probabilities."""
        rates = f"base rates of {', '.join(f'{one:g}' for one in self.base_rates)}"
        at = f", at {rates}" if self.base_rates else ""
        if self.method == "prior":
            by = "by the log odds of the fit"
            return f"{by}, corrected to {rates}" if self.base_rates else f"{by} without the weights of the classes"
        how = {"sigmoid": "Platt's sigmoid", "isotonic": "isotonic regression"}[self.method]
        few = " (fewer than the 1,000 it needs)" if self.method == "isotonic" and self.rows < ISOTONIC else ""
        return f"by {how} of {self.rows:,} out-of-fold scores, {self.folds} folds{few}{at}"

    def to_dict(self) -> dict[str, Any]:
        """Return it in terms of JSON."""
        planes = [{k: list(v) if isinstance(v, tuple) else v for k, v in vars(one).items()} for one in self.maps]
        rest = dict(together=self.together, folds=self.folds, rows=self.rows, base_rates=list(self.base_rates))
        return {"method": self.method, "planes": planes, **rest}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], classes: int) -> Calibration:
        """Read what `to_dict` wrote of a model of so many classes; raise `ValueError` for what it never writes."""
        method, planes = reading.text(data, "method"), data["planes"]
        if method not in METHODS:
            raise ValueError(f"the method {method!r} is not known")
        if not isinstance(planes, list) or len(planes) != (1 if classes == 2 else classes):
            raise ValueError(f"{classes} classes need another number of maps")
        maps: Any = tuple((Isotonic if method == "isotonic" else Sigmoid).from_dict(one) for one in planes)
        together = reading.flag(data, "together")
        if together and classes == 2:
            raise ValueError("a softmax is of more than two classes")
        rates = tuple(map(_number, data["base_rates"]))
        if rates and (len(rates) != classes or min(rates) <= 0):
            raise ValueError(f"{classes} classes need as many base rates, above 0")
        return cls(method, maps, together, reading.count(data, "folds"), reading.count(data, "rows"), rates)


def map_of(model: Any) -> Sigmoid | Isotonic | None:
    """Return how the score of a model of two classes becomes the probability of the second; None where it does not."""
    if len(model.classes_) != 2:
        return None
    if hasattr(model, "calibration_"):
        found: Sigmoid | Isotonic = model.calibration_.maps[0]
        return found
    return Sigmoid(1.0, 0.0) if losses.scores_are_log_odds(model) else None


def slope_of(model: Any) -> float | None:
    """Return by what the log odds that a model of two classes gives rise with its score.

    That is 1 for log odds of the fit, Platt's slope where they were calibrated so, and None where there are no
    probabilities or these follow no line: isotonic regression multiplies no odds.
    """
    found = map_of(model)
    return found.slope if isinstance(found, Sigmoid) else None
