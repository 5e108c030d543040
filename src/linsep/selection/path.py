"""The regularisation path: a model for every C, each within a proven distance of the optimum there.

It is refined where the models at two values of C do not prove `tol` of all that lie between (`certificates.path` says
why so few are enough): a model serves from where it is better than the one before to where the next one is.
"""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import minimize_scalar
from sklearn.exceptions import ConvergenceWarning

from .._common.checks import check_count
from .._common.frames import frame_of
from .._common.html import card
from .._common.types import BoolArray, FloatArray
from .._common.words import shown
from ..arithmetic.enclosure import Interval
from ..certificates.gap.certificate import Certificates
from ..certificates.outcome import Verification
from ..certificates.path import NOTHING, Knot, PathCertificate, crossing, gaps_between
from ..estimators import LogisticRegression
from ..estimators._fitting import posed
from ..objective.examples import InMemory
from ..objective.heads import CrammerSinger
from ..objective.objective import Objective

#: Of `tol`, what a model itself may be off at its own C; the rest is for the values of C between models.
OWN = 0.1
#: Steps between models aim at this share of `tol`, so that few have to be halved.
AIM = 0.7
#: No step is longer than this factor, whatever the last ones say.
LONGEST = 1e3


@dataclass(frozen=True)
class Entering:
    """When a feature gets weight along a path.

    Attributes
    ----------
    feature : str
    C : float
        The first value of C that was solved for at which it has weight in any plane.
    after : float
        The last one before, at which it had none; 0 where there is none.
    leaves : tuple of float
        Where it has none again, later on.
    sign : int
        Of its weight in the last model, +1 or −1, of one plane; 0 where it has none, or there are several planes.
    """

    feature: str
    C: float
    after: float
    leaves: tuple[float, ...]
    sign: int


@dataclass(frozen=True, eq=False)
class RegularizationPath:
    """Models for every C of an interval; what `regularization_path` returns.

    Attributes
    ----------
    models : list of fitted estimators
        Ascending in C.
    null : array
        The intercepts of the model without weights: below the first border no other is needed.
    borders : array of shape (len(models) + 1,)
        Model k serves between borders k and k + 1.
    tol : float
        How far from the optimum the model that serves is at the most, as a share of the objective, at any C.
    worst : float
        How far it is, where it is farthest.

    Examples
    --------
    >>> from linsep import regularization_path
    >>> X, y = [[0.0], [1.0], [3.0], [4.0], [2.0], [2.1]], [0, 0, 1, 1, 1, 0]
    >>> path = regularization_path(X, y, C_max=10.0)
    >>> path.model(3.3).predict([[4.0]]), bool(path.verify(X, y))
    (array([1]), True)
    """

    models: list[Any]
    null: FloatArray
    borders: FloatArray
    tol: float
    worst: float

    @cached_property
    def Cs(self) -> FloatArray:
        """The values of C that were solved for, ascending."""
        return np.array([model._statement().C for model in self.models])

    @cached_property
    def coefs(self) -> FloatArray:
        """The weights of each model: shape (models, planes, d)."""
        return np.array([model._planes() for model in self.models])

    @cached_property
    def intercepts(self) -> FloatArray:
        """The intercepts of each model: shape (models, planes)."""
        return np.array([np.ravel(model.intercept_) for model in self.models])

    @cached_property
    def active(self) -> BoolArray:
        """Which features have weight in any plane of each model: shape (models, d)."""
        return np.asarray(self.coefs.any(axis=1))

    def entering(self, names: Sequence[str] | None = None) -> list[Entering]:
        """Return which feature enters at which C, with L1 or elastic net: in the order in which they get weight.

        That is of the models, each within its gap of the optimum: close to where it enters, a feature of little weight
        may be in one and not in the other.
        """
        if not self.models[0]._penalty().l1:
            raise ValueError("without an L1 penalty all features have weight at every C: none enters")
        names = self.models[0]._feature_names() if names is None else names
        found, before = [], np.append(0.0, self.Cs[:-1])
        for j in np.flatnonzero(self.active.any(axis=0)).tolist():
            inside, k = self.active[:, j], int(self.active[:, j].argmax())
            leaves = self.Cs[1:][inside[:-1] & ~inside[1:]]
            sign = int(np.sign(self.coefs[-1, 0, j])) if self.coefs.shape[1] == 1 else 0
            found.append((k, j, Entering(names[j], float(self.Cs[k]), float(before[k]), tuple(leaves.tolist()), sign)))
        heaviest = np.abs(self.coefs).max(axis=(0, 1))  # of those that come together, first
        return [one for *_, one in sorted(found, key=lambda one: (one[0], -heaviest[one[1]]))]

    @property
    def C_min(self) -> float:
        """The smallest C that matters: below it w = 0 is as good as optimal."""
        return float(self.borders[0])

    @property
    def C_max(self) -> float:
        """Where the path ends."""
        return float(self.borders[-1])

    @property
    def certificate(self) -> PathCertificate:
        """What is proven, and can be checked without trusting the path."""
        return PathCertificate(self.null, [model.certificate_ for model in self.models], self.borders, self.tol)

    def model(self, C: float) -> Any:
        """Return the model that serves at this C: fitted at another one, and proven to be within `tol` at this one.

        Below `C_min` that is the first model; the one without weights is `null`.
        """
        if not 0 < C <= self.C_max:
            raise ValueError(f"C={shown(C)} is not on the path, which goes up to C={self.C_max:g}")
        return self.models[max(int(np.searchsorted(self.borders, C)) - 1, 0)]

    def verify(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Verification:
        """Check from the data alone that every C of the interval has a model within `tol`."""
        return self.certificate.verify(X, y, sample_weight)

    def to_frame(self, backend: Any = "pandas") -> Any:
        """Return a table with a row for each model: C, where it serves, objective, gap, non-zero weights."""
        table = {
            "C": self.Cs,
            "from": self.borders[:-1],
            "to": self.borders[1:],
            "objective": [model.certificate_.primal for model in self.models],
            "relative_gap": [model.dual_gap_ for model in self.models],
            "nonzero": np.count_nonzero(self.active, axis=1),
        }
        return frame_of(table, backend).to_native()

    def __repr__(self) -> str:
        return f"RegularizationPath of {len(self.models)} models: {self.certificate}"

    def _repr_html_(self) -> str:
        title, _, said = repr(self).partition(": ")
        return card(
            title, said, "Nobody has to believe it: linsep.verify(path, X, y) checks it on the data.", tone="good"
        )


def regularization_path(
    X: Any,
    y: ArrayLike,
    estimator: Any = None,
    *,
    C_max: float = 1e4,
    tol: float = 1e-2,
    sample_weight: ArrayLike | None = None,
    max_models: int = 1000,
    progress: Callable[[float, int], None] | None = None,
) -> RegularizationPath:
    """Return models for every C from 0 to `C_max`, certified between the values that are solved for.

    It begins at the smallest C that matters, which is found, and goes up, each fit from where the last one ended. For
    every C of the interval one of the models is within `tol` of the optimum at that C.

    Parameters
    ----------
    X, y, sample_weight
        As for `fit`.
    estimator : estimator, optional
        What to fit; its own C does not count. By default `LogisticRegression`. Any loss that is convex, L2, L1 or
        elastic net, two classes or more.
    C_max : float, default=1e4
        Where the path ends.
    tol : float, default=1e-2
        The relative gap that is promised at every C; the number of models grows as 1/√tol.
    max_models : int, default=1000
        An error tells where the path has come to, if more would be needed.
    progress : callable, optional
        Hears C and the number of models after each fit.

    Returns
    -------
    RegularizationPath

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> from linsep import LinearSVC, regularization_path
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> path = regularization_path(scale(X), y, LinearSVC(), C_max=10.0, tol=0.05)
    >>> bool(path.verify(scale(X), y)), path.worst <= 0.05
    (True, True)
    """
    estimator = LogisticRegression() if estimator is None else estimator
    _check(estimator, C_max, tol, max_models)
    walk = _Walk(*posed(estimator, X, y, sample_weight), tol, max_models, progress)
    return walk.path(float(C_max))


def _check(estimator: Any, C_max: float, tol: float, max_models: int) -> None:
    if "C" not in estimator.get_params() or not estimator._statement().loss.convex:
        raise ValueError(f"{type(estimator).__name__} has no path: it needs a parameter C and a convex loss")
    penalty = estimator._penalty()
    if not (penalty.l1 or penalty.l2):
        raise ValueError("without a penalty there is no path: every C has the same optimum")
    if not (isinstance(C_max, int | float) and 0 < C_max < np.inf):
        raise ValueError(f"C_max={shown(C_max)} must be a positive number: the path ends there")
    if not (isinstance(tol, float) and 0 < tol < 1):
        raise ValueError(f"tol={shown(tol)} must be a share of the objective, between 0 and 1")
    check_count("max_models", max_models)


@dataclass(frozen=True, eq=False)
class _Step:
    """A model on the way, or none where w = 0, and what is known of each plane."""

    model: Any
    knots: list[Knot]

    @property
    def C(self) -> float:
        return self.knots[0].C


class _Walk:
    """A path on the way up."""

    def __init__(self, estimator: Any, examples: InMemory, classes: Any, tol: float, most: int, progress: Any) -> None:
        self.estimator, self.examples, self.classes = estimator, examples, classes
        self.tol, self.most, self.progress, self.fits = tol, most, progress, 0
        self.warm = {"warm_start": True} if "warm_start" in estimator.get_params() else {}
        self.own = {"tol": OWN * tol} if "tol" in estimator.get_params() else {}  # a solution in closed form has none
        estimator.classes_, self.names = classes, estimator._feature_names()
        self.objectives = estimator._objectives(examples, estimator._class_weights(examples, classes))
        if isinstance(self.objectives[0].head, CrammerSinger):
            raise ValueError("multi_class='crammer_singer' has no path; use 'ovr'")

    def path(self, C_max: float) -> RegularizationPath:
        """Fit, and go back to the middle wherever two models do not prove what lies between them."""
        intercepts = [null_intercept(objective) for objective in self.objectives]
        null = _Step(None, [_null_knot(*each) for each in zip(self.objectives, intercepts, strict=True)])
        done, above = [null], [self._fitted(null, min(self._first(null), C_max))]
        borders: list[float] = []
        gaps: list[float] = []
        while above or C_max > done[-1].C:
            if self.fits >= self.most:
                raise RuntimeError(
                    f"up to C={done[-1].C:.6g} tol={self.tol:g} is proven, by {len(done) - 1} models; beyond more than "
                    f"max_models={self.most} are needed: ask for a larger tol, or a smaller C_max"
                )
            if not above:
                above.append(self._fitted(done[-1], self._next(done, gaps, C_max)))
            border, gap = _between(done[-1], above[-1])
            if gap <= self.tol:
                done.append(above.pop())
                borders.append(border)
                gaps.append(gap)
            else:
                above.append(self._fitted(done[-1], self._middle(done, above[-1].C)))
        models = [step.model.set_params(**dict.fromkeys(self.warm, False)) for step in done[1:]]
        return RegularizationPath(models, np.concatenate(intercepts), np.array([*borders, C_max]), self.tol, max(gaps))

    def _first(self, null: _Step) -> float:
        """Return the C up to which w = 0 is about as good as `tol` asks for, by the dual point that it gives itself."""
        reach = []
        for objective, knot in zip(self.objectives, null.knots, strict=True):
            w, b = objective.zeros()
            v = np.ravel(objective.evaluate(w, b, split=True).dual[0]) / objective.weight_of_loss
            conjugate, allowed = objective.penalty.conjugate, self.tol * knot.loss.high
            # penalty*(C v)/C grows with C, from 0 where only small v count
            low, high = -50.0, 50.0
            for _ in range(60):
                middle = 0.5 * (low + high)
                low, high = (
                    (middle, high) if conjugate(np.exp(middle) * v) <= allowed * np.exp(middle) else (low, middle)
                )
            reach.append(np.exp(low))
        return float(min(reach))

    def _next(self, done: list[_Step], gaps: list[float], C_max: float) -> float:
        """Return the next C: gaps grow with the square of a step's logarithm."""
        last = np.log(done[-1].C / done[-2].C) if len(done) > 2 else np.log(2.0)
        step = last * np.clip(np.sqrt(AIM * self.tol / max(gaps[-1], 1e-300)), 0.25, 3.0)
        return float(min(done[-1].C * np.exp(min(step, np.log(LONGEST))), C_max))

    def _middle(self, done: list[_Step], C: float) -> float:
        low = done[-1].C
        middle = float(np.sqrt(low * C)) if low else 0.25 * C
        if not low < middle < C:
            raise RuntimeError(f"tol={self.tol:g} cannot be proven beyond C={low:.6g}: ask for a larger one")
        return middle

    def _fitted(self, start: _Step, C: float) -> _Step:
        model = copy.copy(start.model or self.estimator).set_params(C=C, **self.own, **self.warm)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # what is not proven is looked at by whoever asks
            model.fit_examples(self.examples, self.classes, names=self.names)
        self.fits += 1
        certificate, penalty = getattr(model, "certificate_", None), model._penalty()
        if certificate is None:
            raise ValueError(f"{type(model).__name__} proves nothing of its fits, so that no path of it is certified")
        if self.progress is not None:
            self.progress(C, self.fits)
        each = certificate if isinstance(certificate, Certificates) else [certificate]
        knots = []
        for one in each:
            value = Interval(*[penalty.value(np.ravel(one.coef))] * 2)
            knots.append(Knot.of(C, value, Interval(one.primal, one.primal), one.dual - one.rounding))
        return _Step(model, knots)


def _between(low: _Step, high: _Step) -> tuple[float, float]:
    """Return the C where the next model takes over, and the largest gap that is left between the two.

    Of several planes it is where one of them crosses over, or in the middle of those places: one that all but stays
    where it is has no say in what the others need.
    """
    pairs = list(zip(low.knots, high.knots, strict=True))
    places = [max(crossing(*pair), 1e-300) for pair in pairs]
    borders = [min(max(C, low.C), high.C) for C in dict.fromkeys([float(np.exp(np.mean(np.log(places)))), *places])]
    gaps = [max(max(gaps_between(*pair, border)) for pair in pairs) for border in borders]
    best = int(np.argmin(gaps))
    return borders[best], gaps[best]


def null_intercept(objective: Objective) -> FloatArray:
    """Return the best intercept of a plane without weights, or that of each class."""
    totals = objective.class_totals
    if not objective.fit_intercept:
        return np.zeros(objective.head.planes or 1)
    if objective.head.planes is not None:
        return np.asarray(np.log(np.maximum(totals, 1e-300) / totals.sum()))
    own, rest = totals[objective.positive], totals.sum() - totals[objective.positive]
    value = objective.loss.value
    found = minimize_scalar(
        lambda b: float(own * value(np.array(b)) + rest * value(np.array(-b))), bounds=(-40.0, 40.0)
    )
    return np.array([float(found.x)])


def _null_knot(objective: Objective, b: FloatArray) -> Knot:
    """Return the line of the model without weights: at C = 0 it is optimal."""
    w, _ = objective.zeros()
    loss = objective.evaluate(w, b if objective.head.planes else float(b[0]), gradient=False).value
    return Knot(0.0, NOTHING, Interval(loss, loss), 0.0)
