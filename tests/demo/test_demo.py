"""The demo's computation, its text and its page."""

import dataclasses
import os
import re
import time
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from rich.text import Text

from linsep import HardMarginSVC, LinearSVC, LogisticRegression, demo
from linsep.demo import images as demo_images

pytestmark = pytest.mark.slow

FOLDER = os.environ.get("LINSEP_DATA", "")
needs_mnist = pytest.mark.skipif(not FOLDER, reason="LINSEP_DATA does not name a folder with the MNIST files")


MODELS = ["perceptron (pocket)", "least squares", "logistic", "SVM", "hard margin"]


@pytest.fixture(scope="module")
def found():
    return demo.run(demo.embedded_digits(8))


def test_m21_the_embedded_digits_are_told_apart(found):
    assert [fit.noise for fit in found.fits] == [0.0, 0.2] * 5
    assert found.notes == []
    for fit in found.fits:
        assert fit.seconds > 0
        assert fit.train > 0.98
        assert fit.test > 0.95
        assert fit.train_picked >= fit.train
        assert fit.weights.shape == (8, 8)


def test_m21_offline_too_the_images_are_28_pixels_wide_and_least_squares_is_marginally_worse():
    images, small = demo.embedded_digits(), demo.embedded_digits(8)
    assert images.side == 28
    assert "enlarged from 8 × 8" in images.name
    assert 0 <= images.X.min() < images.X.max() <= 1
    # The same digits: the mean of the pixels that one of the small ones became is that one, nearly.
    middle = images.X.reshape(-1, 28, 28)[:, 4:24, 4:24].reshape(-1, 4, 5, 4, 5).mean(axis=(2, 4))
    pairs = small.X.reshape(-1, 4, 2, 4, 2).mean(axis=(2, 4))
    assert np.abs(middle - pairs).max() < 0.15
    assert not images.X.reshape(-1, 28, 28)[:, :4].any()
    quiet = demo.run(images, noise=0.0)
    scored = {fit.model: fit.test for fit in quiet.fits}
    assert 0.96 < scored["least squares"] < scored["perceptron (pocket)"]
    assert len(demo.page(quiet).encode()) < 3_000_000


def test_other_sizes_of_the_embedded_digits_are_refused():
    with pytest.raises(ValueError, match="side=16 is not possible; use 28, or 8"):
        demo.embedded_digits(16)


def test_a_positive_weight_speaks_for_seven(found):
    images = found.images
    sevens = images.X[images.y == 7].mean(axis=0) - images.X[images.y == 3].mean(axis=0)
    for fit in found.fits:
        assert fit.weights.ravel() @ sevens > 0


def test_the_seed_decides_everything(found):
    again = demo.run(demo.embedded_digits(8))
    other = demo.run(demo.embedded_digits(8), seed=1)
    for one, same, another in zip(found.fits, again.fits, other.fits, strict=True):
        np.testing.assert_array_equal(one.weights, same.weights)
        assert not np.array_equal(one.weights, another.weights)


def test_without_noise_each_model_is_fitted_once():
    quiet = demo.run(demo.embedded_digits(8), noise=0.0)
    assert [(fit.model, fit.noise) for fit in quiet.fits] == [(model, 0.0) for model in MODELS]
    assert "noise" not in demo.render(quiet)
    assert "with noise" not in demo.page(quiet)


@pytest.mark.parametrize(
    "wrong", [{"noise": -0.1}, {"noise": np.nan}, {"noise": np.inf}, {"seed": -1}, {"seed": 2**32}]
)
def test_impossible_settings_are_named(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        demo.run(demo.embedded_digits(8), **wrong)


def test_a_plane_with_mistakes_left_is_a_result_not_a_warning():
    images = demo.embedded_digits(8)
    mislabelled = np.where(np.arange(len(images.y)) % 3 == 0, 10 - images.y, images.y)
    hopeless = demo.run(dataclasses.replace(images, y=mislabelled), noise=0.0)
    assert not hopeless.fits[0].converged
    assert hopeless.fits[0].train < 1
    assert np.isnan(hopeless.fits[0].gap)
    assert [fit.model for fit in hopeless.fits] == MODELS[:-1]
    assert hopeless.notes == ["hard margin: none, because no plane separates the training images (proven)"]
    assert hopeless.notes[0] in demo.render(hopeless)
    assert hopeless.notes[0] in demo.page(hopeless)


def test_m17_least_squares_solves_the_normal_equations(found):
    (X, y), _ = demo.samples(found.images, 0, 0.2)
    w, *_ = np.linalg.lstsq(np.column_stack([X, np.ones(len(X))]), np.where(y == 7, 1.0, -1.0), rcond=None)
    (fit,) = [fit for fit in found.fits if (fit.model, fit.noise) == ("least squares", 0.2)]
    np.testing.assert_allclose(fit.weights.ravel(), w[:-1], rtol=1e-6, atol=1e-9)


def test_m21_scores_gaps_and_mistakes_are_those_of_the_models(found):
    (X, y), (X_test, y_test) = demo.samples(found.images, 0, 0.2)
    noisy = {fit.model: fit for fit in found.fits if fit.noise == 0.2}
    for name, model in (("logistic", LogisticRegression()), ("SVM", LinearSVC()), ("hard margin", HardMarginSVC())):
        model.fit(X, y)
        fit = noisy[name]
        assert (fit.train, fit.test) == pytest.approx((model.score(X, y), model.score(X_test, y_test)))
        assert fit.gap <= 1e-4
        wrong = X_test[model.predict(X_test) != y_test]
        assert fit.n_wrong == len(wrong)
        assert {tuple(found.images.X[one.image]) for one in fit.worst} == set(map(tuple, wrong))
        assert [one.distance for one in fit.worst] == sorted((one.distance for one in fit.worst), reverse=True)


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
    rows = re.findall(
        r"^(perceptron|least squares|logistic|SVM|hard margin|  with noise).*?([\d.]+) %\s+([\d.]+) %",
        text,
        re.MULTILINE,
    )
    assert [(float(train), float(test)) for _, train, test in rows] == [
        (round(100 * fit.train, 1), round(100 * fit.test, 1)) for fit in found.fits
    ]
    assert text.endswith("reads MNIST's own files.")


def test_colour_shows_the_same_text_but_for_the_pictures(found):
    plain, coloured = demo.table(found), Text.from_markup(demo.table(found, color=True)).plain
    assert coloured == plain
    lines = Text.from_markup(demo.pictures(found, color=True)).plain.splitlines()
    assert re.split(" {3,}", lines[1]) == MODELS
    assert lines[2:] == ["▀" * 16 + " " * 6 + (" " * 3).join(["▀" * 16] * 4)] * 8


def test_wide_pictures_go_on_below(found):
    large = [dataclasses.replace(fit, weights=np.kron(fit.weights, np.ones((4, 4)))) for fit in found.fits]
    lines = demo.pictures(dataclasses.replace(found, fits=large)).splitlines()
    assert max(map(len, lines)) <= 100
    named = [line for line in lines if re.match("perceptron|logistic|hard margin", line)]
    assert [re.split(" {3,}", line) for line in named] == [MODELS[:2], MODELS[2:4], MODELS[4:]]


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
    monkeypatch.setattr(demo_images, "load_mnist", lambda folder: few)
    with pytest.raises(ValueError, match="has 3 images of 3s and 7s; the demo draws 4,812"):
        demo.mnist("folder")


def test_m21_the_page_shows_table_weights_mistakes_thresholds_and_replay(found):
    page = demo.page(found)
    assert len(page.encode()) < 3_000_000
    rows = re.findall(r'<th scope="row">(.*?)</th>((?:<td class="number">.*?</td>)+)', page)
    cells = [[name, *re.findall(r'"number">(.*?)</td>', rest)] for name, rest in rows]
    assert [row[:4] for row in cells] == [
        [fit.model, f"{fit.noise:g}", f"{100 * fit.train:.1f} %", f"{100 * fit.test:.1f} %"] for fit in found.fits
    ]
    assert page.count('aria-label="Weights of') == len(found.fits)
    assert page.count("taken for a") == 2 * sum(len(fit.worst) for fit in found.fits)
    assert all(f"picked: {fit.threshold:z.3f}" in page for fit in found.fits if fit.noise > 0)
    assert page.count("<iframe ") == 1


def test_a_threshold_that_is_zero_but_for_rounding_has_no_sign(found):
    nearly = replace(found, fits=[replace(fit, threshold=-4e-17) for fit in found.fits])
    assert "0.000" in demo.page(nearly)
    for told in (demo.page(nearly), demo.render(nearly, report="r.html", color=False)):
        assert not re.search("[-−]0\\.000", told)
    assert "midway between two of their scores" in demo.page(found)


def test_where_the_page_is_comes_last_but_one(found):
    lines = demo.render(found, report="a[b].html").splitlines()
    assert lines[-2].endswith(": a[b].html")
    assert Text.from_markup(demo.render(found, report="a[b].html", color=True)).plain.splitlines()[-2] == lines[-2]


@pytest.mark.parametrize("width", [360, 1000])
def test_m21_the_page_plays_the_perceptron(browser, found, tmp_path, width):
    (tmp_path / "report.html").write_text(demo.page(found), "utf-8")
    with browser.open(tmp_path / "report.html", width=width) as page:
        assert page.overflow() <= 0
        shot = page.screenshot()
        assert len(np.unique(shot.reshape(-1, 3), axis=0)) > 20, "not blank"
        # The frame is a world of its own: look at what it is made of, in its own page.
        (tmp_path / "replay.html").write_text(page.evaluate("document.querySelector('iframe').srcdoc"), "utf-8")
        top = page.evaluate(
            "(() => { const frame = document.querySelector('iframe');"
            "frame.scrollIntoView({behavior: 'instant'}); return frame.getBoundingClientRect().top })()"
        )
        for _ in range(400):  # the frame is drawn when the browser finds the time
            if len(np.unique(page.screenshot()[int(top) + 20 :, 60:-60].reshape(-1, 3), axis=0)) >= 40:
                break
            time.sleep(0.1)
        else:
            pytest.fail("the replay stays blank")
        assert page.problems == []
    with browser.open(tmp_path / "replay.html", width=width) as page:
        page.click("#last")
        page.wait_for("document.querySelector('#status').innerText.includes('0 of 181 on the wrong side')")
        assert page.problems == []


@needs_mnist
def test_m21_mnist_reaches_the_accuracy_of_the_lecture():
    images = demo.mnist(FOLDER)
    assert (images.n_train, images.n_test, images.side) == (4132, 680, 28)
    fits = [fit for seed in range(3) for fit in demo.run(images, seed=seed).fits]
    for model, lecture in (("perceptron (pocket)", 0.973), ("least squares", 0.967)):
        scored = [fit for fit in fits if fit.model == model]
        assert np.mean([fit.test for fit in scored]) >= lecture
        assert np.mean([fit.test_picked for fit in scored if fit.noise > 0]) >= lecture
