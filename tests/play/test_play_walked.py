"""What a walk through the page has found: curves of a second film, files dropped by hand, phones, tours."""

import numpy as np
import pytest

from browser import SHIFT
from linsep.play.files import MOST_BYTES
from playing import ANSWERED, READY, SETTLED, choose, colour_of, drawn, drop_text, place, ready

pytestmark = pytest.mark.slow
pytest.importorskip("uvicorn")
SEEN = """(id => (box => box.width > 0 && box.top >= 0 && box.bottom <= innerHeight)(
    document.getElementById(id).getBoundingClientRect()))(%r)"""


def test_curves_follow_the_film_of_an_edit(browser, address):
    with browser.open(f"{address}#preset=separable", width=1400, height=1000) as page:
        ready(page)
        before = page.evaluate("document.querySelector('#updates-chart > canvas').toDataURL()")
        x, y, _ = drawn(page)[0]
        page.drag(place(page, x, y), place(page, 0, 0), place(page, 2.2, 0.2))
        page.wait_for(f"{SETTLED} && {ANSWERED} && play.shown.film.frames.step.length > 100")
        assert page.evaluate("play.shown.charts.every(({ canvas }) => canvas.parentElement.tagName === 'FIGURE')")
        assert page.evaluate("document.querySelector('#updates-chart > canvas').toDataURL()") != before
        assert page.evaluate("document.querySelectorAll('#presets [aria-pressed=true]').length") == 0
        assert page.problems == []


def test_the_point_that_was_moved_is_told_in_the_numbers_of_its_new_fit(browser, address):
    with browser.open(f"{address}#preset=separable&method=soft_margin", width=1000, height=900) as page:
        ready(page)
        x, y, _ = drawn(page)[0]
        page.drag(place(page, x, y), place(page, x, y + 0.5))
        page.wait_for(f"{SETTLED} && {ANSWERED}")
        page.hover(place(page, *drawn(page)[0][:2]))
        page.wait_for("document.getElementById('point').innerText.includes('dual variable')")
        said = page.evaluate("play.shown.each.z[0]")
        page.press("z", 2 | SHIFT)  # nothing to redo: the words stay
        assert f"z = {page.evaluate(f'short({said})')}" in page.text("#point")


def test_a_file_that_a_hand_drops_is_taken_at_the_first_touch(browser, address, tmp_path):
    rng = np.random.default_rng(0)
    rows = [
        f"{a:.2f},{b:.2f},{'left' if a < 0 else 'right'},{'yes' if a + b > 0.2 else 'no'}"
        for a, b in rng.normal(size=(60, 2))
    ]
    (tmp_path / "cells.csv").write_text("\n".join(["width,height,side,sick", *rows]))
    with browser.open(address, width=1000, height=900) as page:
        ready(page)
        page.drop_file(tmp_path / "cells.csv", (300, 300))
        page.wait_for(f"play.points.list.length === 60 && {SETTLED} && {ANSWERED}")
        assert page.evaluate("document.getElementById('drop').hidden")
        assert page.evaluate("play.state.features") == "standardised"
        assert "Other columns" in page.text("#intro")
        choose(page, "column-x", "")
        page.click("#columns button")
        page.wait_for(f"play.state.file !== null && {READY} && {ANSWERED}")
        said = page.text("#file-notes")
        assert "2 columns ('width', 'height') are taken as numbers, each with mean 0 and spread 1" in said
        assert "'side' is taken as a category: a feature, 0 or 1, for each of 'left', 'right'" in said
        assert page.evaluate("[...document.querySelectorAll('.tool')].every(tool => tool.disabled)")
        assert page.problems == []


def test_a_proof_is_drawn_among_scaled_columns_too(browser, address):
    points = "10,200n12,400p14,200p13,330n11,100n13,500p"
    with browser.open(f"{address}#points={points}&features=standardised", width=1000, height=900) as page:
        ready(page)
        page.wait_for("play.shown.proof && !play.shown.proof.separable")
        x, y = page.evaluate("play.shown.proof.common")
        assert 10 <= x <= 14
        assert 100 <= y <= 500
        assert "no line has every point" in page.text("#verdict")


def test_a_method_that_is_chosen_plays(browser, address):
    with browser.open(f"{address}#preset=overlap", width=1000, height=900) as page:
        ready(page)
        choose(page, "method", "soft_margin")
        page.wait_for("play.player.state.playing && play.shown.model.estimator === 'LinearSVC'")
        choose(page, "method", "gradient_descent")
        choose(page, "setting-loss", "zero_one")
        page.wait_for("!document.getElementById('advice').hidden")
        page.wait_for("[...document.querySelectorAll('.stage figure')].every(figure => figure.hidden)")
        assert page.problems == []


@pytest.mark.parametrize(("hash", "width", "height"), [("", 360, 740), ("#stop=bound", 1400, 900)])
def test_picture_and_play_are_seen_without_scrolling(browser, address, hash, width, height):
    with browser.open(f"{address}{hash}", width=width, height=height, touch=width == 360) as page:
        ready(page)
        assert page.evaluate(SEEN % "picture")
        assert page.evaluate(SEEN % "play")


def test_lines_that_are_compared_have_their_names_below_the_picture(browser, address):
    with browser.open(f"{address}#stop=outliers", width=800, height=900) as page:
        page.wait_for(f"{ANSWERED} && play.compare.found.length === 4")
        below = "document.getElementById('compare-legend').getBoundingClientRect().top"
        assert page.evaluate(f"{below} >= document.getElementById('picture').getBoundingClientRect().bottom")


def test_what_was_out_of_sight_while_it_played_is_drawn_when_it_stops(browser, address):
    with browser.open(f"{address}#preset=overlap&method=perceptron", width=1000, height=500) as page:
        ready(page)
        page.evaluate("scrollTo(0, 0)")
        page.click("#first")
        before = page.evaluate("play.lossPlot.canvas.toDataURL()")
        page.evaluate("play.player.state.speed = 60; play.player.play()")
        page.wait_for("play.player.state.frame > 20")
        page.evaluate("play.player.pause()")
        page.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
        assert page.evaluate("play.lossPlot.canvas.toDataURL()") != before


def test_a_method_that_a_proof_forbids_has_the_proof_drawn(browser, address):
    with browser.open(f"{address}#preset=xor&method=hard_margin", width=1000, height=900) as page:
        page.wait_for(f"{ANSWERED} && play.shown.proof")
        assert "allows no exception" in page.text("#advice")
        x, y = (round(part) for part in place(page, *page.evaluate("play.shown.proof.common")))
        near = page.screenshot()[y - 3 : y + 4, x - 3 : x + 4].astype(int)
        assert (np.abs(near - colour_of(page, "cause")).max(axis=2) < 40).any(), "a star is where the hulls meet"
        assert page.problems == []


def test_columns_and_classes_keep_their_names_in_the_address(browser, address):
    rows = "".join(f"{k},{k * 7 % 11},{'yes' if k > 9 else 'no'}\n" for k in range(20))
    with browser.open(address, width=1000, height=900) as page:
        ready(page)
        drop_text(page, f"age & so,<b>income,ill\n{rows}", "people.csv")
        page.wait_for(f"play.points.list.length === 20 && {ANSWERED}")
        shared = page.evaluate("play.saved()")
    with browser.open(shared, width=1000, height=900) as page:
        ready(page)
        assert (page.text("#across"), page.text("#up")) == ("→ age & so", "↑ <b>income")
        assert page.text("#intro") == "yes is drawn as ●, no as ■."
        assert "no, y = −1" in page.evaluate("document.getElementById('legend').textContent")
        page.click("[data-preset=xor]")
        page.wait_for(f"{ANSWERED} && play.shown.film")
        assert page.text("#across") == "→ x₁"
        page.wait_for("!location.hash.includes('axis=')")
        assert page.problems == []


#: Screens that show a frame every sixtieth of a second, give or take: which frames of the film they show.
SHOWN = """(() => {
  const asked = [], shown = [], usual = globalThis.requestAnimationFrame;
  globalThis.requestAnimationFrame = go => asked.push(go);
  const film = makePlayer({ count: () => 400, speed: 60, show: frame => shown.push(frame), tell: () => {} });
  film.play();
  for (let k = 0; k < 300; k++) asked.shift()(1000 + k * 1000 / 60 + [0, 3, -3, 1][k %% 4] * %s);
  globalThis.requestAnimationFrame = usual;
  return shown;
})()"""


@pytest.mark.parametrize("shiver", [0, 0.1, 1])
def test_sixty_frames_a_second_are_each_shown_once(browser, address, shiver):
    with browser.open(address) as page:
        shown = page.evaluate(SHOWN % shiver)
    assert shown == list(range(1, 300))


def test_a_stop_that_speaks_of_settings_shows_them(browser, address):
    with browser.open(f"{address}#stop=soft", width=1000, height=900) as page:
        page.wait_for(ANSWERED)
        assert page.evaluate("document.getElementById('settings-box').open")


def test_whole_numbers_of_a_file_fill_the_picture(browser, address):
    rows = "".join(f"{k % 2},{k % 3 + 1},{'ab'[k % 5 > 2]}\n" for k in range(30))
    with browser.open(address, width=360, height=740) as page:
        ready(page)
        drop_text(page, f"survived,deck,fare\n{rows}", "ship.csv")
        page.wait_for(f"play.points.list.length === 30 && {ANSWERED}")
        (left, right), (low, high) = page.evaluate("play.view().window")
        assert -0.5 < left < 0 < 1 < right < 1.5
        assert 0.5 < low < 1 < 3 < high < 3.5, "none is cut at an edge"


FALL = """(() => { const data = new DataTransfer();
    data.items.add(new File([new Uint8Array(%d)], "large.csv"));
    document.body.dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true })); })()"""


def test_a_file_that_is_not_taken_is_said(browser, address):
    with browser.open(address, width=1000, height=900) as page:
        ready(page)
        page.evaluate(FALL % (MOST_BYTES + 1))
        page.wait_for("document.getElementById('file-notes').innerText.includes('has 20,000,001 bytes')")
        page.evaluate("globalThis.fetch = async () => { throw new TypeError('Failed to fetch'); }; 0")
        page.evaluate(FALL % 10)
        page.wait_for("document.getElementById('file-notes').innerText.includes('did not take the file')")
        assert page.problems == []


def test_what_rounding_leaves_of_no_loss_at_all_is_called_nought(browser, address):
    with browser.open(f"{address}#points=-2,1p-1,1.5p-1.5,2p2,-1n1,-1.5n1.5,0n", width=360, height=740) as page:
        page.wait_for(f"{ANSWERED} && play.shown.film")
        page.click("#hand-on")
        page.click("#hand-reveal")
        page.wait_for("document.getElementById('hand-best').innerText.includes('0 of 6 wrong')")
        assert "mean hinge 0, logistic" in page.text("#hand-best")


WRITTEN = """(() => { const written = [], pen = CanvasRenderingContext2D.prototype, usual = pen.fillText;
    pen.fillText = function (words, x, y) {
      const wide = this.measureText(words).width, left = this.textAlign === "right" ? x - wide : x;
      written.push([words, left, left + wide]);
      return usual.call(this, words, x, y);
    };
    play.player.go(5);
    pen.fillText = usual;
    const { at, window } = play.view();
    const names = written.filter(([words]) => /^(w|w before|y·x)$/.test(words));
    return [names, at.x(window[0][0]), at.x(window[0][1])]; })()"""


def test_names_of_vectors_stay_within_the_picture(browser, address):
    with browser.open(address, width=360, height=740) as page:
        ready(page)
        page.evaluate("play.player.go(0)")
        seen = []
        for frame in range(1, page.evaluate("play.shown.film.frames.step.length")):
            written, left, right = page.evaluate(WRITTEN.replace("go(5)", f"go({frame})"))
            seen += [words for words, *_ in written]
            assert all(left < begins and ends < right for _, begins, ends in written), written
        assert set(seen) == {"w", "w before", "y·x"}
