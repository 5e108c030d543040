"""The demo, as in the lecture: handwritten 3s against 7s, a perceptron beside least squares. It prints nothing."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning

from .data.idx import load_mnist
from .estimators import LeastSquaresClassifier, Perceptron

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
#: Examples and their labels.
Sample = tuple[FloatArray, IntArray]

__all__ = [
    "Demo",
    "Fit",
    "Images",
    "best_threshold",
    "draw",
    "embedded_digits",
    "mnist",
    "picture",
    "pictures",
    "render",
    "run",
    "table",
    "to_record",
]

NEGATIVE, POSITIVE = 3, 7

#: What is compared, and how it is made from the seed.
MODELS: dict[str, Callable[[int], Any]] = {
    "perceptron (pocket)": lambda seed: Perceptron(keep="best", random_state=seed),
    "least squares": lambda seed: LeastSquaresClassifier(),
}


# -- the images ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Images:
    """Square images of 3s and 7s, and how the demo uses them.

    Attributes
    ----------
    name : str
    X : array of shape (n, side²)
        Pixels from 0 to 1.
    y : array of shape (n,)
        3 or 7.
    n_train, n_test : int
        How many are drawn.
    suggestion : str
        What to try after these.
    """

    name: str
    X: FloatArray
    y: IntArray
    n_train: int
    n_test: int
    suggestion: str

    @property
    def side(self) -> int:
        """Pixels in a row."""
        return math.isqrt(self.X.shape[1])


def embedded_digits() -> Images:
    """Return the 8 × 8 digits that come with scikit-learn.

    Examples
    --------
    >>> images = embedded_digits()
    >>> images.X.shape, images.n_train, images.n_test
    ((362, 64), 181, 181)
    """
    digits = load_digits()
    X, y = _threes_and_sevens(digits.data / 16, digits.target)
    half = len(y) // 2
    return Images("scikit-learn's digits", X, y, half, len(y) - half, "--data FOLDER reads MNIST's own files")


def mnist(folder: str | Path) -> Images:
    """Return the 3s and 7s among the MNIST training images in a folder, drawn from as in the lecture: 4,132 and 680."""
    images, labels = load_mnist(folder)
    X, y = _threes_and_sevens(images.reshape(len(images), -1), labels)
    n_train, n_test = 4132, 680
    if len(y) < n_train + n_test:
        raise ValueError(f"{folder}: has {len(y):,} images of 3s and 7s; the demo draws {n_train + n_test:,} of them")
    return Images("MNIST", X / 255, y, n_train, n_test, "--noise 0.5 shows what noise does to the weights")


def _threes_and_sevens(X: NDArray[Any], y: NDArray[Any]) -> tuple[NDArray[Any], IntArray]:
    chosen = np.isin(y, (NEGATIVE, POSITIVE))
    return X[chosen], y[chosen].astype(np.int64)


# -- the computation ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Fit:
    """One model, what it scored, and its weights as an image.

    `train` and `test` are the accuracies at threshold 0, `train_picked` and `test_picked` those at `threshold`, the one
    that is best on the training images. Training images are seen with their noise, test images without.
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


@dataclass(frozen=True)
class Demo:
    """Everything the demo found out."""

    images: Images
    seed: int
    noise: float
    fits: list[Fit]


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
    >>> found = run(embedded_digits(), seed=0)
    >>> [(fit.model, fit.noise) for fit in found.fits]
    [('perceptron (pocket)', 0.0), ('perceptron (pocket)', 0.2), ('least squares', 0.0), ('least squares', 0.2)]
    >>> all(fit.test > 0.95 for fit in found.fits)
    True
    """
    if not 0 <= noise < np.inf:
        raise ValueError(f"noise={noise} must be zero or a positive number; pixels go from 0 to 1")
    if not 0 <= seed < 2**32:
        raise ValueError(f"seed={seed} must be a whole number from 0 to {2**32 - 1}")
    train, test = draw(len(images.y), images.n_train, images.n_test, seed)
    grain = np.random.default_rng([seed, 1]).standard_normal((len(train), images.X.shape[1]))
    held_out = images.X[test], images.y[test]
    fits = [
        _fit(model, level, (images.X[train] + level * grain, images.y[train]), held_out, seed)
        for model in MODELS
        for level in sorted({0.0, noise})
    ]
    return Demo(images, seed, noise, fits)


def draw(n: int, n_train: int, n_test: int, seed: int) -> tuple[IntArray, IntArray]:
    """Return the row numbers of a random training set and of a random test set that has none of them.

    Examples
    --------
    >>> train, test = draw(10, 4, 2, seed=0)
    >>> len(train), len(test), set(train) & set(test)
    (4, 2, set())
    """
    shuffled = np.random.default_rng(seed).permutation(n)
    return shuffled[:n_train], shuffled[n_train : n_train + n_test]


def _fit(model: str, noise: float, seen: Sample, held_out: Sample, seed: int) -> Fit:
    estimator = MODELS[model](seed)
    with warnings.catch_warnings():
        # A plane with mistakes left is a result here: `converged` says so.
        warnings.simplefilter("ignore", ConvergenceWarning)
        estimator.fit(*seen)
    (X_train, y_train), (X_test, y_test) = seen, held_out
    train, test = estimator.decision_function(X_train), estimator.decision_function(X_test)
    threshold = best_threshold(train, y_train == POSITIVE)
    side = math.isqrt(X_train.shape[1])
    return Fit(
        model,
        noise,
        train=_accuracy(train, y_train, 0.0),
        test=_accuracy(test, y_test, 0.0),
        threshold=threshold,
        train_picked=_accuracy(train, y_train, threshold),
        test_picked=_accuracy(test, y_test, threshold),
        weights=estimator.coef_.reshape(side, side),
        converged=bool(estimator.converged_),
    )


def _accuracy(scores: FloatArray, y: IntArray, threshold: float) -> float:
    return float(np.mean((scores >= threshold) == (y == POSITIVE)))


def best_threshold(scores: ArrayLike, positive: ArrayLike) -> float:
    """Return the threshold t for which ``score >= t`` agrees with most of the labels.

    It lies midway between two neighbouring scores; of several that are equally good it is the one closest to zero.

    Parameters
    ----------
    scores : array of shape (n,)
    positive : array of bool, of shape (n,)
        Whether each example is of the positive class.

    Examples
    --------
    >>> best_threshold([-2.0, -1.0, 0.5, 3.0], [False, False, False, True])
    1.75
    """
    scores, positive = np.asarray(scores, dtype=np.float64), np.asarray(positive, dtype=bool)
    order = np.argsort(scores, kind="stable")
    s, sign = scores[order], np.where(positive[order], 1, -1)
    # Cut k calls the first k negative: each of these that is positive turns from right to wrong.
    correct = positive.sum() - np.concatenate([[0], np.cumsum(sign)])
    midway = s[:-1] / 2 + s[1:] / 2
    cuts = np.concatenate([s[:1], np.where(midway > s[:-1], midway, s[1:]), np.nextafter(s[-1:], np.inf)])
    possible = np.concatenate([[True], s[:-1] < s[1:], [True]])
    good = cuts[possible & (correct == correct[possible].max())]
    return float(good[np.argmin(np.abs(good))])


# -- the text -----------------------------------------------------------------------------------------------------

#: Colours of a weight that speaks for 7, for 3 and for neither; told apart by the colour-blind too.
BLUE, ORANGE, DARK = (86, 180, 255), (255, 159, 28), (24, 24, 28)
#: The same without colour: from faint to strong.
FOR_POSITIVE, FOR_NEGATIVE = "░▒▓█", "·:=#"
#: Pictures are enlarged until they are about this many columns wide.
WIDTH = 16


def render(demo: Demo, *, color: bool = False) -> str:
    """Return the whole demo as text: title, table, weights, and what to try next.

    Parameters
    ----------
    demo : Demo
    color : bool
        Whether to use rich's markup for colours. Without, the sign of a weight is shown by the kind of character.

    Examples
    --------
    >>> print(render(run(embedded_digits())))
    linsep demo: handwritten 3s against 7s...
    """
    return "\n\n".join([_title(demo, color), table(demo, color=color), pictures(demo, color=color), _next(demo, color)])


def table(demo: Demo, *, color: bool = False) -> str:
    """Return one line for each model: its accuracies at threshold 0, then at the threshold picked.

    Examples
    --------
    >>> print(table(run(embedded_digits())))
                             at threshold 0            threshold picked
                             train     test     value    train     test
    perceptron (pocket)    100.0 %   98.9 %   ...
    """
    header = [
        f"{'':22} {'at threshold 0':>16}   {'threshold picked':>25}",
        f"{'':22} {'train':>7}  {'test':>7}   {'value':>7}  {'train':>7}  {'test':>7}",
    ]
    return "\n".join(
        [*(_styled(line, "dim", color) for line in header), *(_table_line(fit, color) for fit in demo.fits)]
    )


def _table_line(fit: Fit, color: bool) -> str:
    label = f"  with noise {fit.noise:g}" if fit.noise > 0 else fit.model
    cells = [
        _percent(fit.train),
        _styled(_percent(fit.test), "bold", color) + " ",
        f"{fit.threshold:7.3f}".replace("-", "−"),
        _percent(fit.train_picked),
        _styled(_percent(fit.test_picked), "bold", color),
    ]
    return f"{label:22} {'  '.join(cells)}"


def pictures(demo: Demo, *, color: bool = False) -> str:
    """Return the key to the pictures, and the weights of each model side by side, those with noise if there was some.

    Examples
    --------
    >>> print(pictures(run(embedded_digits())))
    weights with noise 0.2: ink here speaks for ░▒▓█ 7, for ·:=# 3
    perceptron (pocket)   least squares
    ...
    """
    shown = [fit for fit in demo.fits if fit.noise == demo.noise]
    columns = _enlarged(shown[0].weights).shape[1]
    width = max(columns, *(len(fit.model) for fit in shown)) + 3
    drawn = [picture(fit.weights, color=color).split("\n") for fit in shown]
    padding = " " * (width - columns)
    lines = ["".join(f"{fit.model:{width}}" for fit in shown)]
    lines += [padding.join(row) for row in zip(*drawn, strict=True)]
    return "\n".join([_key(demo, color), *(line.rstrip() for line in lines)])


def picture(weights: FloatArray, *, color: bool = False) -> str:
    """Return an image as text, two rows of pixels a line.

    Parameters
    ----------
    weights : array of shape (rows, columns)
        Its sign is shown by the colour or the kind of character, its size by the strength.
    color : bool
        Half blocks in rich's markup, or characters of different darkness, each for the mean of two pixels.

    Examples
    --------
    >>> print(picture(np.kron([[1.0, 0.0], [0.3, -1.0]], np.ones((8, 8)))))
    ████████
    ████████
    ████████
    ████████
    ░░░░░░░░########
    ░░░░░░░░########
    ░░░░░░░░########
    ░░░░░░░░########
    """
    image = _enlarged(weights)
    # A few pixels that are almost never inked may have huge weights: the strongest fiftieth are drawn alike.
    image = np.clip(image / (np.quantile(np.abs(image), 0.98) or 1.0), -1.0, 1.0)
    if color:
        return "\n".join(_half_blocks(upper, lower) for upper, lower in zip(image[::2], image[1::2], strict=True))
    return "\n".join("".join(map(_shade, row)) for row in (image[::2] + image[1::2]) / 2)


def _enlarged(image: FloatArray) -> FloatArray:
    """Repeat pixels until the picture is wide enough, and rows come in pairs."""
    times = -(-WIDTH // image.shape[1])
    large = image.repeat(times, axis=0).repeat(times, axis=1)
    return large if len(large) % 2 == 0 else np.vstack([large, np.zeros(large.shape[1])])


def _half_blocks(upper: FloatArray, lower: FloatArray) -> str:
    """Return a line with the upper pixels as foreground, the lower ones as background; equal neighbours share a tag."""
    tags = [f"{_colour(above)} on {_colour(below)}" for above, below in zip(upper, lower, strict=True)]
    return "".join(f"[{tag}]{'▀' * length}[/]" for tag, length in _runs(tags))


def _runs(values: list[str]) -> Iterator[tuple[str, int]]:
    first = 0
    for k in range(1, len(values) + 1):
        if k == len(values) or values[k] != values[first]:
            yield values[first], k - first
            first = k


def _colour(value: float) -> str:
    full = BLUE if value > 0 else ORANGE
    strength = abs(value)
    red, green, blue = (round(dark + strength * (c - dark)) for dark, c in zip(DARK, full, strict=True))
    return f"#{red:02x}{green:02x}{blue:02x}"


def _shade(value: float) -> str:
    shades = FOR_POSITIVE if value > 0 else FOR_NEGATIVE
    level = round(len(shades) * abs(value))
    return shades[level - 1] if level else " "


def _title(demo: Demo, color: bool) -> str:
    images = demo.images
    title = _styled(f"linsep demo: handwritten {NEGATIVE}s against {POSITIVE}s", "bold", color)
    facts = f"{images.n_train:,} training and {images.n_test:,} test images of {images.side} × {images.side} pixels"
    return f"{title}\n{facts} from {images.name}, seed {demo.seed}"


def _key(demo: Demo, color: bool) -> str:
    seven = f"[{_colour(1)}]██[/]" if color else FOR_POSITIVE
    three = f"[{_colour(-1)}]██[/]" if color else FOR_NEGATIVE
    noise = f" with noise {demo.noise:g}" if demo.noise > 0 else ""
    return f"weights{noise}: ink here speaks for {seven} {POSITIVE}, for {three} {NEGATIVE}"


def _next(demo: Demo, color: bool) -> str:
    command = _styled(f"linsep demo --seed {demo.seed + 1}", "bold", color)
    return f"Next: {command} draws other images; {demo.images.suggestion}."


def _percent(share: float) -> str:
    return f"{100 * share:5.1f} %"


def _styled(text: str, style: str, color: bool) -> str:
    return f"[{style}]{text}[/]" if color else text


def to_record(demo: Demo) -> dict[str, Any]:
    """Return the numbers of the demo as plain values, for JSON.

    Examples
    --------
    >>> to_record(run(embedded_digits()))["images"]["train"]
    181
    """
    images = demo.images
    sizes = {"source": images.name, "side": images.side, "train": images.n_train, "test": images.n_test}
    keys = ("model", "noise", "train", "test", "threshold", "train_picked", "test_picked", "converged")
    return {
        "images": sizes,
        "positive": POSITIVE,
        "negative": NEGATIVE,
        "seed": demo.seed,
        "noise": demo.noise,
        "fits": [{key: getattr(fit, key) for key in keys} for fit in demo.fits],
    }
