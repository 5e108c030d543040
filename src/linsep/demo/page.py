"""The demo as one HTML page: table, weights, mistakes, thresholds and the perceptron at work."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from html import escape

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from ..estimators import Perceptron
from ..palette import full_strength
from ..replay import Film, replay
from ..replay import render as render_film
from ..report.markup import document, folded, paragraph, section, table, text
from ..report.svg import Axis, image, lines
from .computation import Demo, Fit, samples
from .images import NEGATIVE, POSITIVE
from .text import strength

#: Steps of the perceptron that are played; numbers that these may take up keep the page below three megabytes.
STEPS = 1000


def page(demo: Demo) -> str:
    """Return the page.

    Examples
    --------
    >>> from linsep.demo import embedded_digits, run
    >>> shown = page(run(embedded_digits(8)))
    >>> "misclassified" in shown, len(shown) < 3_000_000
    (True, True)
    """
    title = f"Handwritten {NEGATIVE}s against {POSITIVE}s"
    parts = [_images(demo), _scores(demo), _weights(demo), _mistakes(demo), _thresholds(demo), _replay(demo)]
    return document(title, parts, scripts=True)


def film(demo: Demo) -> Film:
    """Return the perceptron's fit to the images without noise, step by step."""
    (X, y), _ = samples(demo.images, demo.seed, 0.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # it is among the film's notes
        return replay(
            Perceptron(random_state=demo.seed),
            X,
            y,
            steps=STEPS,
            title="The perceptron, step by step",
            feature_names=[f"pixel {k // demo.images.side + 1}, {k % demo.images.side + 1}" for k in range(X.shape[1])],
        )


def _images(demo: Demo) -> str:
    noise = (
        f"Each model is fitted twice: to the images as they are, and with Gaussian noise of standard deviation "
        f"{demo.noise:g} on every pixel of the training images. Test images have no noise."
        if demo.noise
        else "All models see the images as they are; --noise 0.2 would add noise to the training images."
    )
    return section("The images", paragraph(f"{demo.drawn}."), paragraph(noise, "quiet"))


def _scores(demo: Demo) -> str:
    heads = ["model", "noise", "train", "test", "picked threshold", "train", "test", "proven gap", "seconds"]
    rows = [
        [
            fit.model,
            f"{fit.noise:g}",
            *(f"{100 * share:.1f} %" for share in (fit.train, fit.test)),
            f"{fit.threshold:z.3f}",
            *(f"{100 * share:.1f} %" for share in (fit.train_picked, fit.test_picked)),
            "none" if np.isnan(fit.gap) else f"{fit.gap:.1e}",
            f"{fit.seconds:.3f}",
        ]
        for fit in demo.fits
    ]
    explained = (
        "Accuracies at threshold 0, then at the threshold that is best on the training images. The gap is how far the "
        "fit can be from the optimum of its own objective, as a share of it: proven, not estimated. None where "
        "an objective is 0 but for rounding, as that of a plane through the labels of all training images."
    )
    return section(
        "What each model reaches",
        table(heads, rows),
        *map(paragraph, demo.notes),
        paragraph(explained, "quiet"),
    )


def _weights(demo: Demo) -> str:
    key = f"Ink on a blue pixel speaks for {POSITIVE}, on an orange one for {NEGATIVE}: the stronger, the more."
    if cut := [_named(fit) for fit in demo.fits if np.abs(fit.weights).max() > full_strength(fit.weights)]:
        key += f" The few weights that tower above the others have the same strength ({', '.join(cut)})."
    return section("What they learned", paragraph(key), *(_row(demo, level, _weight_image) for level in _levels(demo)))


def _mistakes(demo: Demo) -> str:
    many = "Test images that a model takes for the other digit (misclassified), the farthest on the wrong side first."
    return section("What they get wrong", paragraph(many), *(_row(demo, level, _gallery) for level in _levels(demo)))


def _levels(demo: Demo) -> list[float]:
    return sorted({fit.noise for fit in demo.fits})


def _row(demo: Demo, level: float, draw: Callable[[Demo, Fit], str]) -> str:
    """Return what all models with the same noise look like, side by side."""
    name = "without noise" if level == 0 else f"with noise {level:g}"
    shown = "".join(draw(demo, fit) for fit in demo.fits if fit.noise == level)
    return f'<h3>{text(name)}</h3><div class="pictures">{shown}</div>'


def _weight_image(demo: Demo, fit: Fit) -> str:
    drawn = image(strength(fit.weights), title=f"Weights of {fit.model}")
    return f"<figure>{drawn}<figcaption>{text(fit.model)}</figcaption></figure>"


def _gallery(demo: Demo, fit: Fit) -> str:
    images, side = demo.images, demo.images.side
    shown = []
    for mistake in fit.worst:
        truth = int(images.y[mistake.image])
        said = NEGATIVE if truth == POSITIVE else POSITIVE
        drawn = image(images.X[mistake.image].reshape(side, side), title=f"A {truth} taken for a {said}", kind="ink")
        label = f"{truth}, said {said}<br>by {mistake.distance:.1g}"
        shown.append(f'<figure class="small">{drawn}<figcaption>{label}</figcaption></figure>')
    count = f"{fit.model}: {fit.n_wrong} of {images.n_test:,} wrong"
    drawn = f'<div class="pictures">{"".join(shown)}</div>' if shown else ""
    return f'<div class="gallery">{paragraph(count)}{drawn}</div>'


def _thresholds(demo: Demo) -> str:
    charts = (
        folded(_named(fit), _threshold_chart(fit), is_open=fit.model in ("perceptron (pocket)", "least squares"))
        for fit in demo.fits
        if fit.noise == demo.noise
    )
    why = (
        "A plane that tells the digits apart need not cut at 0: the dotted line is where accuracy is best on the "
        "training images, midway between two of their scores; of those that are equally good, the nearest to 0."
    )
    return section("Picking the threshold", paragraph(why), *charts)


def _named(fit: Fit) -> str:
    return fit.model if fit.noise == 0 else f"{fit.model}, with noise {fit.noise:g}"


def _threshold_chart(fit: Fit) -> str:
    curve = fit.curve
    return lines(
        Axis.over("threshold on the score", [*curve.threshold, fit.threshold]),
        Axis("accuracy", 0.4, 1.0),
        {"training images": (curve.threshold, curve.train), "test images": (curve.threshold, curve.test)},
        title=f"Accuracy of {_named(fit)} at each threshold",
        mark=(fit.threshold, f"picked: {fit.threshold:z.3f}"),
        dots=[(fit.threshold, fit.train_picked), (fit.threshold, fit.test_picked)],
    )


def _replay(demo: Demo) -> str:
    shown = escape(render_film(film(demo)), quote=True)
    frame = f'<iframe title="The perceptron, step by step" sandbox="allow-scripts" srcdoc="{shown}"></iframe>'
    words = paragraph("Press play, or step through its mistakes.")
    return section("How the perceptron got there", words, frame, kind="screen")
