"""What the demo computes: every model on 3s against 7s, with noise and without, and the threshold that is best."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from .._common.types import FloatArray, IntArray
from ..estimators import HardMarginSVC, LeastSquaresClassifier, LinearSVC, LogisticRegression, Perceptron
from ..selection.thresholds import best_threshold
from ..separation.verdict import NotSeparableError
from .images import NEGATIVE, POSITIVE, Images, draw

#: Examples and their labels.
Sample = tuple[FloatArray, IntArray]

#: What is compared, and how it is made from the seed.
MODELS: dict[str, Callable[[int], Any]] = {
    "perceptron (pocket)": lambda seed: Perceptron(keep="best", random_state=seed),
    "least squares": lambda seed: LeastSquaresClassifier(),
    "logistic": lambda seed: LogisticRegression(random_state=seed),
    "SVM": lambda seed: LinearSVC(random_state=seed),
    "hard margin": lambda seed: HardMarginSVC(),
}
#: How many wrong test images are kept, and at how many thresholds accuracies are.
WORST, THRESHOLDS = 8, 101


@dataclass(frozen=True)
class Mistake:
    """A test image on the wrong side: which of the images it is, and how far from the plane."""

    image: int
    distance: float


@dataclass(frozen=True)
class Curve:
    """The accuracies at each threshold on the score."""

    threshold: FloatArray
    train: FloatArray
    test: FloatArray


@dataclass(frozen=True)
class Fit:
    """One model, what it scored, and its weights as an image.

    `train` and `test` are the accuracies at threshold 0, `train_picked` and `test_picked` those at `threshold`, the one
    that is best on the training images. Training images are seen with their noise, test images without. `gap` is the
    proven relative duality gap, NaN where none is proven to the tolerance asked for; `seconds` what `fit` took;
    `n_wrong` counts the wrong test images, `worst` has the worst of them.
    """

    model: str
    noise: float
    train: float
    test: float
    threshold: float
    train_picked: float
    test_picked: float
    weights: FloatArray
    converged: bool
    gap: float
    seconds: float
    n_wrong: int
    worst: list[Mistake]
    curve: Curve


@dataclass(frozen=True)
class Demo:
    """Everything the demo found out; the notes say what could not be fitted, and why."""

    images: Images
    seed: int
    noise: float
    fits: list[Fit]
    notes: list[str]

    @property
    def drawn(self) -> str:
        """Which images were drawn, in words."""
        images, side = self.images, self.images.side
        count = f"{images.n_train:,} training and {images.n_test:,} test images of {side} × {side} pixels"
        return f"{count} from {images.name}, seed {self.seed}"


def run(images: Images, *, seed: int = 0, noise: float = 0.2) -> Demo:
    """Draw the images, fit every model without noise and with it, and score them.

    Parameters
    ----------
    images : Images
        From `embedded_digits` or `mnist`.
    seed : int
        Decides the draw, the noise and the order in which the perceptron sees the images.
    noise : float
        Standard deviation of the Gaussian noise on the training images, whose pixels go from 0 to 1; zero for none.

    Examples
    --------
    >>> from linsep.demo import embedded_digits
    >>> found = run(embedded_digits(8), seed=0)
    >>> [fit.model for fit in found.fits if fit.noise == 0]
    ['perceptron (pocket)', 'least squares', 'logistic', 'SVM', 'hard margin']
    >>> all(fit.test > 0.95 for fit in found.fits)
    True
    """
    if not 0 <= noise < np.inf:
        raise ValueError(f"noise={noise} must be zero or a positive number; pixels go from 0 to 1")
    if not 0 <= seed < 2**32:
        raise ValueError(f"seed={seed} must be a whole number from 0 to {2**32 - 1}")
    _, test = draw(len(images.y), images.n_train, images.n_test, seed)
    found = [_fit(model, level, images, test, seed) for model in MODELS for level in sorted({0.0, noise})]
    fits, notes = [one for one in found if isinstance(one, Fit)], [one for one in found if isinstance(one, str)]
    return Demo(images, seed, noise, fits, notes)


def samples(images: Images, seed: int, noise: float) -> tuple[Sample, Sample]:
    """Return the training images with their noise, and the test images without."""
    train, test = draw(len(images.y), images.n_train, images.n_test, seed)
    grain = np.random.default_rng([seed, 1]).standard_normal((len(train), images.X.shape[1]))
    return (images.X[train] + noise * grain, images.y[train]), (images.X[test], images.y[test])


def _fit(model: str, noise: float, images: Images, places: IntArray, seed: int) -> Fit | str:
    """Return what came of a model; or why nothing could, in words."""
    (X_train, y_train), (X_test, y_test) = samples(images, seed, noise)
    estimator = MODELS[model](seed)
    began = time.perf_counter()
    with warnings.catch_warnings():
        # A plane with mistakes left is a result here: `converged` says so.
        warnings.simplefilter("ignore", ConvergenceWarning)
        try:
            estimator.fit(X_train, y_train)
        except NotSeparableError:
            with_noise = f" with noise {noise:g}" if noise > 0 else ""
            return f"{model}{with_noise}: none, because no plane separates the training images (proven)"
    seconds = time.perf_counter() - began
    train, test = estimator.decision_function(X_train), estimator.decision_function(X_test)
    threshold, both = best_threshold(train, y_train == POSITIVE), ((train, y_train), (test, y_test))
    cuts = np.linspace(test.min(), test.max(), THRESHOLDS)
    certificate = estimator.certificate_
    distance = np.where(y_test == POSITIVE, 1.0, -1.0) * test / (np.linalg.norm(estimator.coef_) or 1.0)
    wrong = np.flatnonzero((test > 0) != (y_test == POSITIVE))
    wrong = wrong[np.argsort(distance[wrong], kind="stable")]
    return Fit(
        model,
        noise,
        train=float(estimator.score(X_train, y_train)),
        test=float(estimator.score(X_test, y_test)),
        threshold=threshold,
        train_picked=_accuracy(train, y_train, threshold),
        test_picked=_accuracy(test, y_test, threshold),
        weights=estimator.coef_.reshape(images.side, images.side),
        converged=bool(estimator.converged_),
        gap=max(float(certificate.relative_gap), 0.0) if certificate.proven else np.nan,
        seconds=seconds,
        n_wrong=len(wrong),
        worst=[Mistake(int(places[i]), float(-distance[i])) for i in wrong[:WORST]],
        curve=Curve(cuts, *(np.array([_accuracy(*scored, cut) for cut in cuts]) for scored in both)),
    )


def _accuracy(scores: FloatArray, y: IntArray, threshold: float) -> float:
    return float(np.mean((scores >= threshold) == (y == POSITIVE)))


def to_record(demo: Demo) -> dict[str, Any]:
    """Return the numbers of the demo as plain values, for JSON.

    Examples
    --------
    >>> from linsep.demo import embedded_digits
    >>> to_record(run(embedded_digits(8)))["images"]["train"]
    181
    """
    images = demo.images
    sizes = {"source": images.name, "side": images.side, "train": images.n_train, "test": images.n_test}
    keys = ("model", "noise", "train", "test", "threshold", "train_picked", "test_picked", "converged", "seconds")
    return {
        "images": sizes,
        "positive": POSITIVE,
        "negative": NEGATIVE,
        "seed": demo.seed,
        "noise": demo.noise,
        "fits": [
            {key: getattr(fit, key) for key in keys} | {"gap": None if np.isnan(fit.gap) else fit.gap}
            for fit in demo.fits
        ],
        "notes": demo.notes,
    }
