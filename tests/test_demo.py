"""The demo's computation and its text."""

import dataclasses
import os
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from rich.text import Text

from linsep import demo

FOLDER = os.environ.get("LINSEP_DATA", "")
needs_mnist = pytest.mark.skipif(not FOLDER, reason="LINSEP_DATA does not name a folder with the MNIST files")


@pytest.fixture(scope="module")
def found():
    return demo.run(demo.embedded_digits())


def test_the_embedded_digits_are_told_apart(found):
    assert [fit.noise for fit in found.fits] == [0.0, 0.2, 0.0, 0.2]
    for fit in found.fits:
        assert fit.train > 0.98
        assert fit.test > 0.95
        assert fit.train_picked >= fit.train
        assert fit.weights.shape == (8, 8)


def test_a_positive_weight_speaks_for_seven(found):
    images = found.images
    sevens = images.X[images.y == 7].mean(axis=0) - images.X[images.y == 3].mean(axis=0)
    for fit in found.fits:
        assert fit.weights.ravel() @ sevens > 0


def test_the_seed_decides_everything(found):
    again = demo.run(demo.embedded_digits())
    other = demo.run(demo.embedded_digits(), seed=1)
    for one, same, another in zip(found.fits, again.fits, other.fits, strict=True):
        np.testing.assert_array_equal(one.weights, same.weights)
        assert not np.array_equal(one.weights, another.weights)


def test_without_noise_each_model_is_fitted_once():
    quiet = demo.run(demo.embedded_digits(), noise=0.0)
    assert [(fit.model, fit.noise) for fit in quiet.fits] == [("perceptron (pocket)", 0.0), ("least squares", 0.0)]
    assert "noise" not in demo.render(quiet)


@pytest.mark.parametrize(
    "wrong", [{"noise": -0.1}, {"noise": np.nan}, {"noise": np.inf}, {"seed": -1}, {"seed": 2**32}]
)
def test_impossible_settings_are_named(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        demo.run(demo.embedded_digits(), **wrong)


def test_a_plane_with_mistakes_left_is_a_result_not_a_warning():
    images = demo.embedded_digits()
    mislabelled = np.where(np.arange(len(images.y)) % 3 == 0, 10 - images.y, images.y)
    hopeless = demo.run(dataclasses.replace(images, y=mislabelled), noise=0.0)
    assert not hopeless.fits[0].converged
    assert hopeless.fits[0].train < 1


scores = hnp.arrays(np.float64, st.integers(1, 12), elements=st.floats(-1e3, 1e3) | st.sampled_from([-1.0, 0.0, 1.0]))


@given(scores.flatmap(lambda s: st.tuples(st.just(s), hnp.arrays(bool, len(s)))))
def test_m21_no_threshold_beats_the_picked_one(example):
    values, positive = example
    picked = demo.best_threshold(values, positive)
    others = [*values, np.nextafter(values.max(), np.inf)]
    best = max(np.mean((values >= t) == positive) for t in others)
    assert np.mean((values >= picked) == positive) == best


def test_m21_the_threshold_lies_midway_and_near_zero():
    assert demo.best_threshold([-3.0, 1.0, 2.0, 4.0], [False, False, True, True]) == 1.5
    # One mistake either way: between −5 and −3, or between 1 and 2.
    assert demo.best_threshold([-5.0, -3.0, 1.0, 2.0], [False, True, False, True]) == 1.5


def test_plain_text_has_a_table_and_pictures_side_by_side(found):
    text = demo.render(found)
    assert "[" not in text, "markup belongs to colour"
    assert max(map(len, text.splitlines())) <= 100
    rows = re.findall(r"^(perceptron|least squares|  with noise).*?([\d.]+) %\s+([\d.]+) %", text, re.MULTILINE)
    assert [(float(train), float(test)) for _, train, test in rows] == [
        (round(100 * fit.train, 1), round(100 * fit.test, 1)) for fit in found.fits
    ]
    assert text.endswith("reads MNIST's own files.")


def test_colour_shows_the_same_text_but_for_the_pictures(found):
    plain, coloured = demo.table(found), Text.from_markup(demo.table(found, color=True)).plain
    assert coloured == plain
    lines = Text.from_markup(demo.pictures(found, color=True)).plain.splitlines()
    assert lines[1].split("   ") == ["perceptron (pocket)", "least squares"]
    assert lines[2:] == ["▀" * 16 + " " * 6 + "▀" * 16] * 8


def test_the_picture_shows_sign_and_strength():
    row = [1.0, 0.5, 0.1, *[0.0] * 10, -0.1, -0.5, -1.0]
    assert demo.picture(np.tile(row, (16, 1))).splitlines() == ["█▒" + " " * 12 + ":#"] * 8


def test_half_blocks_hold_two_rows_of_pixels():
    weights = np.ones((16, 16))
    weights[1::2] = -1.0
    line = Text.from_markup(demo.picture(weights, color=True).splitlines()[0])
    assert line.plain == "▀" * 16
    assert str(line.spans[0].style) == "#56b4ff on #ff9f1c"


def test_a_picture_of_nothing_is_blank():
    assert demo.picture(np.zeros((28, 28))).strip() == ""
    assert len(demo.picture(np.zeros((5, 5))).splitlines()) == 10


def test_too_few_images_are_named(monkeypatch):
    few = np.zeros((3, 28, 28), dtype=np.uint8), np.array([3, 7, 3], dtype=np.uint8)
    monkeypatch.setattr(demo, "load_mnist", lambda folder: few)
    with pytest.raises(ValueError, match="has 3 images of 3s and 7s; the demo draws 4,812"):
        demo.mnist("folder")


@needs_mnist
def test_m21_mnist_reaches_the_accuracy_of_the_lecture():
    images = demo.mnist(FOLDER)
    assert (images.n_train, images.n_test, images.side) == (4132, 680, 28)
    fits = [fit for seed in range(3) for fit in demo.run(images, seed=seed).fits]
    for model, lecture in (("perceptron (pocket)", 0.973), ("least squares", 0.967)):
        scored = [fit for fit in fits if fit.model == model]
        assert np.mean([fit.test for fit in scored]) >= lecture
        assert np.mean([fit.test_picked for fit in scored if fit.noise > 0]) >= lecture
