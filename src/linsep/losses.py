"""Losses of the agreement z = y g(x): values, slopes, curvatures and conjugates.

Conventions
-----------
``z`` is the agreement, an array of any shape. ``slope`` is ℓ'(z); at a kink it is the left derivative, so that a
point exactly on the edge still pushes (a perceptron that starts at w = 0 moves). ``curvature`` is ℓ''(z), 0 at a kink.
``conjugate`` is ℓ*(a) = sup_z (a z − ℓ(z)), infinite where a is no slope of ℓ; Fenchel and Young say
ℓ(z) + ℓ*(a) ≥ a z, with equality exactly where a is a slope at z.

A loss of your own is a subclass of `Loss` with these four functions in NumPy. `register` makes its name known to all
that knows losses by name, and is how those below are made known: a loss has no other list to be entered into.
"""

from __future__ import annotations

from typing import ClassVar, TypeVar

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit, xlog1py, xlogy

from ._common.types import FloatArray

__all__ = [
    "Hinge",
    "Logistic",
    "Loss",
    "ModifiedHuber",
    "Perceptron",
    "Square",
    "SquaredHinge",
    "ZeroOne",
    "get",
    "register",
]


class Loss:
    """A function ℓ of the agreement z = y g(x).

    Attributes
    ----------
    name : str
        What users call it.
    formula : str
        ℓ(z) in one line, for reports.
    words : str
        What it asks of each row, in words, for reports.
    convex, smooth : bool
        Whether ℓ is convex; whether ℓ' is Lipschitz.
    max_curvature : float
        The Lipschitz constant of ℓ' (infinite if the loss is not smooth).
    is_likelihood : bool
        Whether e^(−ℓ(z)) is a probability of y given x.
    slopes : (float, float)
        Between what its slopes lie: where ℓ* is finite, and what bounds a dual variable.
    self_concordance : float
        The smallest M with ``|ℓ'''| ≤ M ℓ''``: how fast its curvature can change.
    jumps : tuple of float or None
        Where ℓ'' jumps, of a loss that is smooth, and quadratic or straight in between; None for others.
    quadratic : bool
        Whether ℓ'' is constant, so that one linear system gives the minimum.
    margin : bool
        Whether ℓ vanishes from z = 1 on, so that the points up to the margin alone hold the plane.
    edge, power, cut : float, int or None, bool
        ℓ(z) = (edge − z)^power, cut off at zero or not, for computing without rounding; without such a form power
        is None.
    kernel : str or None
        The name of its compiled twin, a struct in ``_core/losses.hpp``. Not inherited: a subclass has other formulas.

    Examples
    --------
    >>> import numpy as np
    >>> class Cubic(Loss):  # max(0, 1 − z)³
    ...     name, formula = "cubic", "max(0, 1 − z)³"
    ...     def value(self, z): return np.maximum(0, 1 - z) ** 3
    ...     def slope(self, z): return -3 * np.maximum(0, 1 - z) ** 2
    >>> Cubic().value(np.array([0.0, 2.0]))
    array([1., 0.])
    """

    name: ClassVar[str] = ""
    formula: ClassVar[str] = ""
    words: ClassVar[str] = "what the loss makes of each row's score"
    convex: ClassVar[bool] = True
    smooth: ClassVar[bool] = False
    max_curvature: ClassVar[float] = np.inf
    quadratic: ClassVar[bool] = False
    is_likelihood: ClassVar[bool] = False
    slopes: ClassVar[tuple[float, float]] = (-np.inf, np.inf)
    self_concordance: ClassVar[float] = np.inf
    jumps: ClassVar[tuple[float, ...] | None] = None
    margin: ClassVar[bool] = False
    edge: ClassVar[float] = 1.0
    power: ClassVar[int | None] = None
    cut: ClassVar[bool] = True
    kernel: ClassVar[str | None] = None

    def dual_step(self, alpha: float, z: float, q: float, c: float) -> float:
        """Return argmin_a ½ q (a − α)² + z (a − α) + c ℓ*(−a/c): the optimum of one dual variable."""
        raise TypeError(f"{type(self).__name__} does not define dual_step, which solver 'dual' needs")

    def value(self, z: FloatArray) -> FloatArray:
        """ℓ(z)."""
        raise TypeError(f"{type(self).__name__} does not define value(z)")

    def slope(self, z: FloatArray) -> FloatArray:
        """ℓ'(z), or one subgradient."""
        raise TypeError(f"{type(self).__name__} does not define slope(z)")

    def curvature(self, z: FloatArray) -> FloatArray:
        """ℓ''(z), almost everywhere."""
        raise TypeError(f"{type(self).__name__} does not define curvature(z), which this solver needs")

    def conjugate(self, a: FloatArray) -> FloatArray:
        """ℓ*(a) = sup_z (a z − ℓ(z))."""
        raise TypeError(f"{type(self).__name__} does not define conjugate(a), which a duality gap needs")

    def defines(self, *functions: str) -> bool:
        """Whether this loss has formulas of its own for these functions."""
        return all(getattr(type(self), name) is not getattr(Loss, name) for name in functions)

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and vars(self) == vars(other)

    def __hash__(self) -> int:
        return hash(type(self))


LOSSES: dict[str, type[Loss]] = {}

L = TypeVar("L", bound=type[Loss])


def register(loss: L) -> L:
    """Make a loss known by its name, to everything in linsep that knows losses by name; a decorator of its class.

    That is: estimators and solvers, ``linsep fit --loss``, `linsep.compare`, displays, reports, and model files, which
    can be loaded wherever the loss has been registered before.

    Examples
    --------
    >>> import numpy as np
    >>> @register
    ... class Cubic(Loss):
    ...     name, formula = "cubic", "max(0, 1 − z)³"
    ...     def value(self, z): return np.maximum(0, 1 - z) ** 3
    ...     def slope(self, z): return -3 * np.maximum(0, 1 - z) ** 2
    >>> get("cubic")
    Cubic()
    >>> del LOSSES["cubic"]
    """
    if not (isinstance(loss, type) and issubclass(loss, Loss) and loss().defines("value", "slope")):
        raise ValueError(f"{loss!r} is no subclass of Loss with a value and a slope, so it cannot be registered")
    if not (loss.name.isidentifier() and loss.formula):
        raise ValueError(
            f"{loss.__name__} needs a name without blanks and a formula; it has {loss.name!r}, {loss.formula!r}"
        )
    for known in LOSSES.values():
        again = (known.__module__, known.__qualname__) == (loss.__module__, loss.__qualname__)  # a cell run twice
        if not again and (known.name == loss.name or known.__name__ == loss.__name__):
            raise ValueError(
                f"{loss.__name__} ({loss.name!r}) would hide {known.__module__}.{known.__name__}; rename it"
            )
    LOSSES[loss.name] = loss
    return loss


def has_a_name(loss: Loss) -> bool:
    """Whether its name alone says what a loss is: it is registered, and has no settings."""
    return LOSSES.get(loss.name) is type(loss) and not vars(loss)


def is_ours(loss: Loss) -> bool:
    """Whether a loss is one of this file, whose formulas nobody has to take on trust."""
    return type(loss).__module__ == __name__


def scores_are_log_odds(model: object) -> bool:
    """Whether a fitted model's score is the logarithm of odds: it gives probabilities, and its loss is a likelihood."""
    if hasattr(model, "_loss"):  # one of ours, which may be given probabilities by a calibration
        return bool(model._loss().is_likelihood)
    loss = getattr(model, "loss", Logistic.name)
    return hasattr(model, "predict_proba") and loss != ModifiedHuber.name and not isinstance(loss, ModifiedHuber)


def _within(a: ArrayLike, low: float, high: float, value: FloatArray) -> FloatArray:
    """Return the value where low ≤ a ≤ high, infinity elsewhere."""
    a = np.asarray(a, dtype=np.float64)
    return np.where((a >= low) & (a <= high), value, np.inf)


class Straight(Loss):
    """A loss made of straight pieces, which bends nowhere."""

    def curvature(self, z: FloatArray) -> FloatArray:
        """0."""
        return np.zeros_like(z, dtype=np.float64)


@register
class ZeroOne(Straight):
    """1 if z ≤ 0, else 0: its mean is the error rate. Flat almost everywhere, so no slope leads downhill."""

    name, formula, convex = "zero_one", "[z ≤ 0]", False
    words = "one for each row that is not on its own side"
    slopes = (0.0, 0.0)

    def value(self, z: FloatArray) -> FloatArray:
        """1 where z ≤ 0."""
        z = np.asarray(z, dtype=np.float64)
        return np.where(np.isnan(z), np.nan, z <= 0)

    def slope(self, z: FloatArray) -> FloatArray:
        """0: the loss is flat wherever it has a derivative."""
        return np.zeros_like(z, dtype=np.float64)

    def conjugate(self, a: FloatArray) -> FloatArray:
        """0 at a = 0, else infinite."""
        return _within(a, 0.0, 0.0, np.zeros_like(a, dtype=np.float64))


@register
class Perceptron(Straight):
    """max(0, −z): zero for every correct answer."""

    name, formula, kernel = "perceptron", "max(0, −z)", "perceptron"
    words = "how far each row's score is on the wrong side"
    slopes, edge, power = (-1.0, 0.0), 0.0, 1

    def value(self, z: FloatArray) -> FloatArray:
        """max(0, −z)."""
        return np.maximum(0.0, -np.asarray(z, dtype=np.float64))

    def slope(self, z: FloatArray) -> FloatArray:
        """−1 where z ≤ 0."""
        return -(np.asarray(z) <= 0).astype(np.float64)

    def conjugate(self, a: FloatArray) -> FloatArray:
        """0 for −1 ≤ a ≤ 0."""
        return _within(a, -1.0, 0.0, np.zeros_like(a, dtype=np.float64))


@register
class Hinge(Straight):
    """max(0, 1 − z): zero for answers that are correct with a margin. The support vector machine's."""

    name, formula, kernel = "hinge", "max(0, 1 − z)", "hinge"
    words = "what each row lacks to be on its own side with a score of 1"
    slopes, margin, power = (-1.0, 0.0), True, 1

    def value(self, z: FloatArray) -> FloatArray:
        """max(0, 1 − z)."""
        return np.maximum(0.0, 1.0 - np.asarray(z, dtype=np.float64))

    def slope(self, z: FloatArray) -> FloatArray:
        """−1 where z ≤ 1."""
        return -(np.asarray(z) <= 1).astype(np.float64)

    def conjugate(self, a: FloatArray) -> FloatArray:
        """ℓ*(a) = a for −1 ≤ a ≤ 0."""
        return _within(a, -1.0, 0.0, np.asarray(a, dtype=np.float64))

    def dual_step(self, alpha: float, z: float, q: float, c: float) -> float:
        """α − (z − 1)/q, cut off at 0 and c."""
        return min(c, max(0.0, alpha - (z - 1.0) / q))


@register
class SquaredHinge(Loss):
    """max(0, 1 − z)²: the hinge made smooth."""

    name, formula, kernel = "squared_hinge", "max(0, 1 − z)²", "squared_hinge"
    words = "the square of what each row lacks to be on its own side with a score of 1"
    smooth, max_curvature, slopes, margin, power, jumps = True, 2.0, (-np.inf, 0.0), True, 2, (1.0,)

    def value(self, z: FloatArray) -> FloatArray:
        """max(0, 1 − z)²."""
        return Hinge().value(z) ** 2

    def slope(self, z: FloatArray) -> FloatArray:
        """−2 max(0, 1 − z)."""
        return -2.0 * np.maximum(0.0, 1.0 - np.asarray(z, dtype=np.float64))

    def curvature(self, z: FloatArray) -> FloatArray:
        """2 where z < 1."""
        return 2.0 * (np.asarray(z) < 1).astype(np.float64)

    def conjugate(self, a: FloatArray) -> FloatArray:
        """ℓ*(a) = a + a²/4 for a ≤ 0."""
        return _within(a, -np.inf, 0.0, Square().conjugate(a))

    def dual_step(self, alpha: float, z: float, q: float, c: float) -> float:
        """(qα + 1 − z)/(q + 1/2c), cut off at 0."""
        return max(0.0, Square().dual_step(alpha, z, q, c))


@register
class ModifiedHuber(Loss):
    """max(0, 1 − z)², from z = −1 down −4z: the squared hinge, made so that no outlier pulls harder than 4.

    Its score clipped to [−1, 1] estimates 2 P(y = 1|x) − 1 (Zhang 2004).
    """

    name, formula, kernel = "modified_huber", "max(0, 1 − z)², or −4z where z < −1", "modified_huber"
    words = "the square of what each row lacks to be on its own side with a score of 1, far off its distance"
    smooth, max_curvature, slopes, margin, jumps = True, 2.0, (-4.0, 0.0), True, (-1.0, 1.0)

    def value(self, z: FloatArray) -> FloatArray:
        """max(0, 1 − z)², or −4z where z < −1."""
        z = np.asarray(z, dtype=np.float64)
        return np.where(z < -1, -4.0 * z, np.square(Hinge().value(np.maximum(z, -1.0))))

    def slope(self, z: FloatArray) -> FloatArray:
        """−2 max(0, 1 − z), and not below −4."""
        return np.maximum(-4.0, SquaredHinge().slope(z))

    def curvature(self, z: FloatArray) -> FloatArray:
        """2 where −1 ≤ z < 1."""
        z = np.asarray(z)
        return 2.0 * ((z >= -1) & (z < 1)).astype(np.float64)

    def conjugate(self, a: FloatArray) -> FloatArray:
        """ℓ*(a) = a + a²/4 for −4 ≤ a ≤ 0."""
        return _within(a, -4.0, 0.0, Square().conjugate(a))

    def dual_step(self, alpha: float, z: float, q: float, c: float) -> float:
        """(qα + 1 − z)/(q + 1/2c), cut off at 0 and 4c."""
        return min(4.0 * c, SquaredHinge().dual_step(alpha, z, q, c))

    def probability(self, g: FloatArray) -> FloatArray:
        """P(y = 1|x) that a score g stands for: (1 + g)/2, between 0 and 1."""
        return (1.0 + np.clip(g, -1.0, 1.0)) / 2.0


@register
class Logistic(Loss):
    """log(1 + e^(−z)): the negative log-likelihood of P(y|x) = σ(z)."""

    name, formula, kernel = "logistic", "log(1 + e^(−z))", "logistic"
    words = "how unlikely each row's own class is to the model"
    smooth, max_curvature, is_likelihood = True, 0.25, True
    slopes, self_concordance = (-1.0, 0.0), 1.0

    def value(self, z: FloatArray) -> FloatArray:
        """log(1 + e^(−z)), without overflow."""
        return np.logaddexp(0.0, -np.asarray(z, dtype=np.float64))

    def slope(self, z: FloatArray) -> FloatArray:
        """−σ(−z)."""
        return -np.asarray(expit(-np.asarray(z, dtype=np.float64)), dtype=np.float64)

    def curvature(self, z: FloatArray) -> FloatArray:
        """σ(z) σ(−z)."""
        z = np.asarray(z, dtype=np.float64)
        return np.asarray(expit(z) * expit(-z), dtype=np.float64)

    def conjugate(self, a: FloatArray) -> FloatArray:
        """ℓ*(a) = p log p + (1 − p) log(1 − p) with p = −a, for 0 ≤ p ≤ 1."""
        p = np.clip(-np.asarray(a, dtype=np.float64), 0.0, 1.0)
        return _within(a, -1.0, 0.0, np.asarray(xlogy(p, p) + xlog1py(1.0 - p, -p), dtype=np.float64))

    def dual_step(self, alpha: float, z: float, q: float, c: float) -> float:
        """C σ(t), where t + z + q (c σ(t) − α) = 0."""
        from scipy.optimize import brentq  # only the plain-Python kernels come here

        t = brentq(lambda t: t + z + q * (c * expit(t) - alpha), -z - q * (c - alpha) - 1.0, -z + q * alpha + 1.0)
        return float(c * expit(t))


@register
class Square(Loss):
    """(1 − z)² = (y − g(x))²: least squares on the labels. It punishes answers that are too correct as well."""

    name, formula, kernel = "square", "(1 − z)²", "square"
    words = "the squared difference of each row's score from its label, −1 or +1"
    smooth, max_curvature, quadratic, self_concordance, power, cut = True, 2.0, True, 0.0, 2, False

    def value(self, z: FloatArray) -> FloatArray:
        """(1 − z)²."""
        return np.square(1.0 - np.asarray(z, dtype=np.float64))

    def slope(self, z: FloatArray) -> FloatArray:
        """−2 (1 − z)."""
        return -2.0 * (1.0 - np.asarray(z, dtype=np.float64))

    def curvature(self, z: FloatArray) -> FloatArray:
        """2."""
        return np.full_like(z, 2.0, dtype=np.float64)

    def conjugate(self, a: FloatArray) -> FloatArray:
        """ℓ*(a) = a + a²/4."""
        a = np.asarray(a, dtype=np.float64)
        return a + np.square(a) / 4.0

    def dual_step(self, alpha: float, z: float, q: float, c: float) -> float:
        """(qα + 1 − z)/(q + 1/2c)."""
        return (q * alpha + 1.0 - z) / (q + 0.5 / c)


def get(loss: str | Loss) -> Loss:
    """Return the loss of that name, or the loss itself.

    Examples
    --------
    >>> get("hinge")
    Hinge()
    """
    if isinstance(loss, Loss):
        return loss
    if isinstance(loss, str) and loss in LOSSES:
        return LOSSES[loss]()
    known = f"use one of {', '.join(LOSSES)}, or an object of a subclass of Loss"
    raise ValueError(f"loss={loss!r} is not known; {known} (linsep.losses.register gives such a class a name)")
