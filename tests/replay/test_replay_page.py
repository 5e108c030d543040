"""The page of a replay in a browser."""

import warnings

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

from films import NASTY, circle, embedded, flat, nasty_film
from linsep import Perceptron, SGDClassifier
from linsep.replay import replay, save

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """Four pages: in the plane, through a feature map, of many features, and with markup in every name."""
    place = tmp_path_factory.mktemp("pages")
    X, y = flat(gap=6)
    replay(Perceptron(order="cyclic"), X, y, place / "plane.html")
    curved = make_pipeline(PolynomialFeatures(2, include_bias=False), Perceptron(random_state=0))
    replay(curved, *circle(), place / "map.html")
    B, t = load_breast_cancer(return_X_y=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        sgd = SGDClassifier("logistic", random_state=0, max_iter=1)
        replay(sgd, StandardScaler().fit_transform(B), t, place / "many.html")
    save(nasty_film(), place / "nasty.html")
    return place


@pytest.mark.parametrize("name", ["plane", "map", "many", "nasty"])
def test_the_page_fits_a_phone_and_complains_of_nothing(browser, pages, name):
    with browser.open(pages / f"{name}.html", width=360, height=740, touch=True) as page:
        assert page.overflow() == 0
        for button in ("forward", "forward", "back", "last", "first", "forward"):
            page.click(f"#{button}")
        assert page.evaluate("state.frame") == 1
        assert page.text("#status").startswith("Frame 2 of")
        assert len(np.unique(page.screenshot().reshape(-1, 3), axis=0)) > 100
        assert page.problems == []


def test_play_pause_keys_and_scrubbing_work(browser, pages):
    with browser.open(pages / "many.html") as page:
        count = page.evaluate("count")
        page.click("#play")
        page.wait_for("state.frame > 3")
        assert page.text("#play") == "Pause"
        page.press(" ")  # on the button itself, which has the focus
        page.wait_for("!state.playing")
        stopped = page.evaluate("state.frame")
        assert page.evaluate("new Promise(done => setTimeout(() => done(state.frame), 100))") == stopped
        page.evaluate("document.activeElement.blur()")
        for key, frame in [("Home", 0), ("ArrowRight", 1), ("ArrowRight", 2), ("ArrowLeft", 1), ("End", count - 1)]:
            page.press(key)
            assert page.evaluate("state.frame") == frame
            assert page.evaluate("Number(document.getElementById('scrub').value)") == frame
        page.press(" ")  # from the end, it begins again
        page.wait_for("state.playing && state.frame < count - 1")
        page.press(" ")
        page.click("#scrub")  # in its middle
        assert abs(page.evaluate("state.frame") - (count - 1) / 2) <= 0.02 * count
        page.click("#errors-chart > canvas")  # its middle is right of the curve's: numbers stand at the left
        box = page.evaluate(
            "chartBox(charts[1].canvas.getContext('2d'), charts[1].canvas.getBoundingClientRect(), charts[1])"
        )
        width = page.evaluate("charts[1].canvas.getBoundingClientRect().width")
        assert abs(page.evaluate("state.frame") - (count - 1) * (width / 2 - box["x"]) / box["width"]) <= 1
        page.evaluate("document.getElementById('speed').value = 1000")
        page.evaluate("document.getElementById('speed').dispatchEvent(new Event('change'))")
        assert page.evaluate("state.speed") == 1000
        page.evaluate("play()")
        page.wait_for("state.frame === count - 1 && !state.playing")
        assert page.problems == []


def colour(page, name):
    text = page.evaluate(f"color({name!r})")
    return np.array([int(text[k : k + 2], 16) for k in (1, 3, 5)])


def is_near(shot, place, wanted, reach=2):
    """Whether a pixel of that colour lies within reach of a place."""
    x, y = (round(part) for part in place)
    part = shot[max(0, y - reach) : y + reach + 1, max(0, x - reach) : x + reach + 1]
    return bool((np.abs(part.astype(int) - wanted).max(axis=2) < 40).any())


def test_m23_what_is_drawn_is_where_the_numbers_are(browser, pages):
    data = embedded((pages / "plane.html").read_text())
    u, v, frames, points = data["picture"]["u"], data["picture"]["v"], data["frames"], data["points"]
    k = max(k for k, cause in enumerate(frames["cause"]) if cause >= 0)
    with browser.open(pages / "plane.html", width=1000, height=900) as page:
        page.evaluate(f"show({k})")
        left, top = page.evaluate("(box => [box.x, box.y])(element('picture').getBoundingClientRect())")
        box = page.evaluate("pictureBox()")
        shot = page.screenshot()
        colours = {name: colour(page, name) for name in ("plane", "cause", "negative", "positive")}

    def at(a, b):
        x = left + box["x"] + (a - u[0]) / (u[-1] - u[0]) * box["width"]
        return x, top + box["y"] + box["height"] * (1 - (b - v[0]) / (v[-1] - v[0]))

    p, q, r = frames["plane"][k]
    line = [(a, -(p * a + r) / q) for a in np.linspace(u[0], u[-1], 40)]
    inside = [at(a, b) for a, b in line if v[2] < b < v[-3] and u[1] < a < u[-2]]
    assert len(inside) > 5
    assert sum(is_near(shot, place, colours["plane"]) for place in inside) >= 0.9 * len(inside)
    x, y = at(points["u"][frames["cause"][k]], points["v"][frames["cause"][k]])
    assert all(is_near(shot, (x + dx, y + dy), colours["cause"]) for dx, dy in [(13, 0), (-13, 0), (0, 13), (0, -13)])
    for a, b, positive in zip(points["u"], points["v"], points["positive"], strict=True):
        assert is_near(shot, at(a, b), colours["positive" if positive else "negative"], reach=6)


def test_names_with_markup_are_shown_as_they_are(browser, pages):
    with browser.open(pages / "nasty.html") as page:
        assert page.text("h1") == NASTY[1]
        assert NASTY[0] in page.text("#legend")
        assert NASTY[0] in page.text("#status") or page.evaluate("show(2)") or NASTY[0] in page.text("#status")
        assert page.evaluate("document.images.length + document.scripts.length") == 2
        assert page.problems == []


def contrast(one, other):
    """WCAG's contrast ratio of two colours."""

    def luminance(rgb):
        linear = np.array([c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in np.array(rgb) / 255])
        return linear @ [0.2126, 0.7152, 0.0722]

    high, low = sorted([luminance(one), luminance(other)], reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("dark", [False, True])
def test_light_and_dark_are_readable(browser, pages, dark):
    with browser.open(pages / "plane.html", dark=dark) as page:
        ground, panel = colour(page, "ground"), colour(page, "panel")
        assert (ground.mean() < 60) == dark
        assert np.abs(page.screenshot()[-5, 5].astype(int) - ground).max() <= 1
        for name in ("ink", "quiet"):
            assert contrast(colour(page, name), ground) >= 4.5
            assert contrast(colour(page, name), panel) >= 4.5
        assert contrast(colour(page, "ink"), colour(page, "warn")) >= 4.5
        for name in ("negative", "positive", "plane", "best", "cause"):
            assert contrast(colour(page, name), panel) >= 3


def test_the_page_speaks_to_readers_of_the_screen_and_moves_little_where_asked(browser, pages):
    with browser.open(pages / "plane.html", reduced_motion=True) as page:
        assert page.evaluate("state.speed") <= 2
        assert not page.evaluate("state.playing")
        unnamed = "[...document.querySelectorAll('button, input, main canvas:not([aria-hidden])')]"
        assert page.evaluate(f"{unnamed}.filter(one => !one.getAttribute('aria-label')).length") == 0
        assert page.evaluate("document.querySelector('label select') !== null")
        assert page.evaluate("element('status').getAttribute('aria-live')") == "polite"
        page.evaluate("play()")
        assert page.evaluate("element('status').getAttribute('aria-live')") == "off"
        assert page.evaluate("element('play').getAttribute('aria-label')") == "Pause"
        page.evaluate("pause()")
        page.press("Tab")
        assert page.evaluate("document.activeElement.id") == "first"


def test_m11_the_page_counts_mistakes_against_the_bound(browser, pages):
    data = embedded((pages / "plane.html").read_text())
    with browser.open(pages / "plane.html") as page:
        page.press("End")
        most = int(data["bound"]["value"])
        assert f"{data['frames']['updates'][-1]} mistakes so far, at most {most:,} by Novikoff" in page.text("#status")
        assert "The end: stopped because no mistakes were left" in page.text("#status")
        assert page.text("#bound") == data["bound"]["sentence"]
        told = page.evaluate("document.querySelector('#updates-chart > canvas').getAttribute('aria-label')")
        assert "Novikoff's bound" in told
