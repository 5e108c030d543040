"""The page in a browser: drawing, training, scrubbing, sharing, files; with mouse, finger and keys."""

import io

import numpy as np
import pytest

from browser import CONTROL, SHIFT
from linsep import Perceptron
from linsep.play.presets import PRESETS
from pages import serving
from playing import READY, SETTLED, choose, colour_of, drawn, drop_text, place, ready

pytestmark = pytest.mark.slow
pytest.importorskip("uvicorn")


def opened(browser, address, hash="", **size):
    return browser.open(f"{address}{hash}", **size)


def test_the_first_ten_seconds_show_a_line_that_learns(browser, address):
    with opened(browser, address, width=1280, height=800) as page:
        page.wait_for("play.player.state.playing && play.player.state.frame > 0")
        assert page.text("#update").startswith("w ← w + y·x, b ← b + y: w = (0, 0) − ")
        page.wait_for("play.shown.proof")
        assert "Separable" in page.text("#verdict")
        page.wait_for("!play.player.state.playing && play.shown.film", seconds=20)
        assert "0 of 14 on the wrong side" in page.text("#status")
        assert page.problems == []


def test_m10_m23_points_are_drawn_moved_erased_and_the_plane_follows(browser, address):
    with opened(browser, address, "#points=", width=1000, height=900) as page:
        page.wait_for("document.documentElement.dataset.ready === 'yes'")
        assert "no points yet" in page.text("#advice")
        page.drag(place(page, 1, 1))
        page.wait_for(
            "play.points.list.length === 1 && document.getElementById('advice').innerText.includes('one class')"
        )
        page.press("2")
        page.drag(place(page, -1, -1))
        page.wait_for(SETTLED)
        assert [side for _, _, side in drawn(page)] == [1, 0]
        np.testing.assert_allclose([one[:2] for one in drawn(page)], [(1, 1), (-1, -1)], atol=0.02)
        before = page.evaluate("play.shown.model.coef")
        page.drag(place(page, 1, 1), place(page, 1.5, 0), place(page, 2, -1))
        page.wait_for(f"{SETTLED} && String(play.shown.model.coef) !== '{','.join(map(repr, before))}'")
        np.testing.assert_allclose(drawn(page)[0][:2], (2, -1), atol=0.02)
        X, y = np.array([one[:2] for one in drawn(page)]), [1, 0]
        page.wait_for("!play.link.waiting.size")
        model = Perceptron(order="cyclic", keep="best", max_iter=100).fit(X, y)
        assert page.evaluate("play.shown.model.coef") == model.coef_[0].tolist()
        page.press("3")
        page.drag(place(page, -1, -1))
        page.wait_for("play.points.list.length === 1")
        page.press("z", CONTROL)
        assert len(drawn(page)) == 2
        page.press("z", CONTROL | SHIFT)
        assert len(drawn(page)) == 1
        for _ in range(3):
            page.press("z", CONTROL)
        assert [round(one[0]) for one in drawn(page)] == [1]
        assert page.problems == []


def test_a_stroke_draws_several_points_and_is_undone_at_once(browser, address):
    with opened(browser, address, "#points=", width=1000, height=900) as page:
        page.wait_for("document.documentElement.dataset.ready === 'yes'")
        page.drag(*[place(page, x, 2) for x in np.linspace(-3, 3, 20)])
        assert len(drawn(page)) > 8
        page.click("#undo")
        assert drawn(page) == []


def test_scrubbing_and_stepping_show_the_frames(browser, address):
    with opened(browser, address, "#preset=margin", width=1000, height=900) as page:
        ready(page)
        count = page.evaluate("play.shown.film.frames.step.length")
        assert count > 20
        page.click("#scrub")
        assert abs(page.evaluate("play.player.state.frame") - (count - 1) / 2) <= 1
        page.click("#first")
        page.click("#forward")
        assert page.text("#status").startswith("Frame 2 of")
        page.click("#last")
        assert "The end" in page.text("#status")
        page.click("#updates-chart > canvas")
        assert 0 < page.evaluate("play.player.state.frame") < count - 1
        assert page.problems == []


def test_the_same_address_gives_the_same_plane_to_the_last_digit(browser, address):
    with opened(browser, address, "#preset=overlap", width=1000, height=900) as page:
        ready(page)
        page.drag(place(page, 3.3, -2.7))
        page.wait_for(SETTLED)
        choose(page, "method", "soft_margin")
        page.wait_for(f"{SETTLED} && play.shown.model.estimator === 'LinearSVC'")
        page.evaluate("document.getElementById('settings-box').open = true")
        page.evaluate(
            "(e => { e.value = '0.37'; e.dispatchEvent(new Event('change')); })(document.getElementById('setting-C'))"
        )
        page.wait_for("!play.link.waiting.size")
        shared, model, points = page.evaluate("[play.saved(), play.shown.model, play.points.list]")
    assert "C=0.37" in shared
    with browser.open(shared, width=500, height=700) as page:
        ready(page)
        assert page.evaluate("play.points.list") == points
        assert page.evaluate("play.shown.model") == model


@pytest.mark.parametrize("name", PRESETS)
def test_every_preset_is_one_click(browser, address, name):
    with opened(browser, address, width=1000, height=900) as page:
        ready(page)
        page.click(f"[data-preset={name}]")
        page.wait_for(f"play.state.preset === {name!r} && {SETTLED}")
        assert len(drawn(page)) == len(PRESETS[name].to_dict()["points"]["x"])
        assert page.text("#intro") == PRESETS[name].says
        assert page.problems == []


def test_m12_m13_the_proof_lights_up_when_separability_is_spoilt(browser, address):
    with opened(browser, address, width=1000, height=900) as page:
        ready(page)
        page.wait_for("play.shown.proof && !play.link.waiting.size")
        assert page.text("#verdict").startswith("Separable")
        page.press("2")
        page.drag(place(page, 2.6, 0.3))
        page.wait_for("play.shown.proof && !play.shown.proof.separable")
        assert "a point lies in both convex hulls" in page.text("#verdict")
        page.wait_for("!play.link.waiting.size")
        x, y = (round(part) for part in place(page, *page.evaluate("play.shown.proof.common")))
        wanted = colour_of(page, "cause")
        near = page.screenshot()[y - 3 : y + 4, x - 3 : x + 4].astype(int)
        assert (np.abs(near - wanted).max(axis=2) < 40).any(), "a star is where the hulls meet"


def test_a_senseless_choice_is_explained_and_a_setting_without_use_says_why(browser, address):
    with opened(browser, address, width=1000, height=900) as page:
        ready(page)
        page.evaluate("document.getElementById('settings-box').open = true")
        assert "every step has length 1" in page.text("#settings")
        assert page.evaluate("document.getElementById('setting-C').disabled")
        choose(page, "method", "gradient_descent")
        page.wait_for(f"{SETTLED} && play.shown.model.estimator === 'LinearClassifier'")
        choose(page, "setting-loss", "zero_one")
        page.wait_for("!document.getElementById('advice').hidden")
        assert "flat almost everywhere" in page.text("#advice")
        choose(page, "setting-loss", "hinge")
        page.wait_for(f"document.getElementById('advice').hidden && {SETTLED}")


def test_methods_are_compared_on_the_same_points(browser, address):
    with opened(browser, address, "#preset=outlier", width=1000, height=900) as page:
        ready(page)
        for name in ("least_squares", "hard_margin"):
            page.click(f"[data-compare={name}]")
        page.wait_for("play.compare.found.length === 2")
        table = page.text("#compare-table")
        assert "Least squares\t4 of 35" in table
        assert "Hard margin (SVM)\t0 of 35" in table
        page.wait_for("location.hash.includes('compare=least_squares,hard_margin')")


def test_a_point_is_asked_by_hovering(browser, address):
    with opened(browser, address, "#preset=separable&method=soft_margin", width=1000, height=900) as page:
        ready(page)
        x, y, _ = drawn(page)[0]
        page.hover(place(page, x, y))
        page.wait_for("play.shown.hover === 0")
        said = page.text("#point")
        for words in ("Point 1 ■", "z = ", "on its own side", "loss max(0, 1 − z) = ", "gradient (", "dual variable"):
            assert words in said


CSV = "height,weight,kind\n" + "\n".join(
    f"{150 + 3 * k},{50 + 2 * k + 5 * (k % 3)},{'b' if k > 9 else 'a'}" for k in range(20)
)


def test_a_file_is_dropped_and_its_columns_become_points(browser, address):
    with opened(browser, address, width=1000, height=900) as page:
        ready(page)
        drop_text(page, CSV, "<img src=x>.csv")
        page.wait_for("play.points.list.length === 20")
        page.wait_for(SETTLED)
        assert drawn(page)[0] == (150, 50, 0)
        assert "<img src=x>.csv: 20 rows, 3 columns" in page.text("#file-says")
        assert page.text("#across") == "→ height"
        assert page.evaluate("document.images.length") == 0
        assert page.evaluate("play.shown.film.frames.step.length") > 1
        choose(page, "column-x", "")
        page.click("#columns button")
        page.wait_for(f"play.state.file !== null && {SETTLED}")
        assert page.problems == []


def test_names_cells_and_files_are_shown_as_text(browser, address):
    names, classes = ["<script>document.title='x'</script>", "<b>up"], ["<img src=x>", "b&amp;"]
    rows = [f"{k},{k * 7 % 11},{classes[k % 2]},<u>{k % 3}" for k in range(20)]
    with opened(browser, address, width=1000, height=900) as page:
        ready(page)
        before = page.evaluate("document.querySelectorAll('script, b, u, img').length")
        drop_text(page, "\n".join([",".join([*names, "kind", "<u>level"]), *rows]), "<h1>.csv")
        page.wait_for("!document.getElementById('columns').hidden")
        choose(page, "target", "kind")
        choose(page, "column-x", "")
        page.click("#columns button")
        page.wait_for(f"play.state.file !== null && {SETTLED}")
        assert "<h1>.csv: 20 rows" in page.text("#file-says")
        assert "<img src=x> as ■" in page.text("#intro") or "<img src=x> is drawn" in page.text("#intro")
        assert "'<u>level' is taken as a category" in page.text("#file-notes")
        assert page.evaluate("document.querySelectorAll('script, b, u, img').length") == before
        assert page.problems == []


def test_a_file_that_is_none_is_refused_in_words(browser, address):
    with opened(browser, address, width=1000, height=900) as page:
        ready(page)
        drop_text(page, "nothing", "a.csv")
        page.wait_for("document.getElementById('file-notes').innerText.length > 20")
        assert page.evaluate("play.points.list.length") == 14, "what was there stays"


def test_it_opens_with_the_file_of_the_command_line(browser, tmp_path):
    (tmp_path / "people.csv").write_text(CSV)
    with serving(tmp_path / "people.csv") as address, opened(browser, address, width=1000, height=900) as page:
        page.wait_for("play.points.list.length === 20")
        assert "people.csv: 20 rows" in page.text("#file-says")


def test_everything_is_done_by_keys_alone(browser, address):
    with opened(browser, address, "#points=", width=1000, height=900) as page:
        page.wait_for("document.documentElement.dataset.ready === 'yes'")
        for _ in range(40):
            page.press("Tab")
            if page.evaluate("document.activeElement.id") == "picture":
                break
        assert page.evaluate("document.activeElement.id") == "picture"
        page.press("ArrowRight")
        page.press("Enter")
        page.press("2")
        for _ in range(15):
            page.press("ArrowLeft")
        page.press("Enter")
        page.wait_for(SETTLED)
        assert [side for _, _, side in drawn(page)] == [1, 0]
        assert drawn(page)[0][0] > drawn(page)[1][0]
        page.press("m")
        page.press("ArrowUp", SHIFT)
        page.press("m")
        assert drawn(page)[1][1] == 0.5
        page.press("Delete")
        assert len(drawn(page)) == 1
        page.press("z", CONTROL)
        page.wait_for(SETTLED)
        page.press("Tab")
        assert page.evaluate("document.activeElement.id") == "first"
        page.press("Home")
        assert page.evaluate("play.player.state.frame") == 0
        page.press("ArrowRight")
        assert page.evaluate("play.player.state.frame") == 1
        page.press("End")
        assert "The end" in page.text("#status")


@pytest.mark.parametrize("dark", [False, True])
def test_a_finger_draws_on_a_phone(browser, address, dark):
    with opened(browser, address, "#points=", width=360, height=740, touch=True, dark=dark) as page:
        page.wait_for("document.documentElement.dataset.ready === 'yes'")
        assert page.overflow() == 0
        page.touch(place(page, 1, 1))
        page.click("[data-tool=negative]")
        page.touch(place(page, -2, -1))
        page.wait_for(SETTLED)
        page.touch(place(page, 1, 1), place(page, 1, 0), place(page, 1, -1))
        np.testing.assert_allclose([one[:2] for one in drawn(page)], [(1, -1), (-2, -1)], atol=0.06)
        page.wait_for(SETTLED)
        page.click("[data-preset=margin]")
        page.wait_for(f"play.state.preset === 'margin' && {SETTLED}")
        page.evaluate("play.player.pause()")
        page.click("[data-tool=erase]")
        count = len(drawn(page))
        page.touch(place(page, *drawn(page)[0][:2]))
        page.wait_for(f"play.points.list.length === {count - 1} && {SETTLED}")
        page.evaluate("document.getElementById('scrub').scrollIntoView({ block: 'center' })")
        left, middle, width = page.evaluate(
            "(({ x, y, width, height }) => [x, y + height / 2, width])"
            "(document.getElementById('scrub').getBoundingClientRect())"
        )
        page.touch((left + 4, middle), (left + width / 2, middle), (left + width - 4, middle))
        page.wait_for("play.player.state.frame === play.shown.film.frames.step.length - 1")
        assert page.overflow() == 0
        assert len(np.unique(page.screenshot().reshape(-1, 3), axis=0)) > 100
        assert page.problems == []


@pytest.mark.parametrize(("width", "dark"), [(360, True), (768, False), (768, True), (1280, False), (1280, True)])
def test_nothing_sticks_out_at_any_width(browser, address, width, dark):
    with opened(browser, address, "#preset=xor", width=width, height=800, dark=dark) as page:
        ready(page)
        page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true; })")
        assert page.overflow() == 0
        assert page.problems == []


def test_a_picture_is_downloaded_as_svg(browser, address):
    from xml.etree import ElementTree

    with opened(browser, address, "#preset=separable&method=hard_margin", width=1000, height=900) as page:
        ready(page)
        page.evaluate("globalThis.kept = []; URL.createObjectURL = blob => { kept.push(blob); return 'blob:none'; }; 0")
        page.evaluate("HTMLAnchorElement.prototype.click = () => {}; 0")
        page.click("#svg")
        text = page.evaluate("kept[0].text()")
        page.click("[data-download=code]")
        page.wait_for("kept.length === 2")
        program = page.evaluate("kept[1].text()")
    svg = ElementTree.fromstring(text)
    assert len(svg.findall(".//{http://www.w3.org/2000/svg}path")) > 20
    assert "model = HardMarginSVC()" in program


def test_a_picture_is_downloaded_as_png_with_twice_the_dots(browser, address):
    from PIL import Image

    with opened(browser, address, "#preset=separable&method=hard_margin", width=1000, height=900) as page:
        ready(page)
        page.evaluate("globalThis.kept = []; URL.createObjectURL = blob => { kept.push(blob); return 'blob:none'; }; 0")
        page.evaluate("HTMLAnchorElement.prototype.click = () => {}; 0")
        page.click("#png")
        page.wait_for("kept.length === 1 && kept[0].type === 'image/png'")
        data = page.evaluate("kept[0].arrayBuffer().then(data => Array.from(new Uint8Array(data)))")
        size = page.evaluate(
            "(box => [box.width, box.height])(document.getElementById('picture').getBoundingClientRect())"
        )
        wanted = [colour_of(page, role) for role in ("positive", "negative", "plane")]
    picture = Image.open(io.BytesIO(bytes(data))).convert("RGB")
    np.testing.assert_allclose(picture.size, 2 * np.array(size), atol=1)
    dots = np.asarray(picture).astype(int)
    for colour in wanted:
        assert (np.abs(dots - colour).max(axis=2) < 8).sum() > 50


def test_reduced_motion_shows_the_end_and_does_not_play(browser, address):
    with opened(browser, address, width=1000, height=900, reduced_motion=True) as page:
        page.wait_for(READY)
        assert not page.evaluate("play.player.state.playing")
        assert "The end" in page.text("#status")


def test_a_server_that_is_gone_is_said(browser):
    with serving() as address:
        page_of = opened(browser, address, width=1000, height=900)
        page = page_of.__enter__()
        page.wait_for(READY)
    page.wait_for("!document.getElementById('advice').hidden")
    assert "Start linsep play again" in page.text("#advice")
    page_of.__exit__(None, None, None)


STOPS = ["perceptron", "bound", "endless", "loss", "descent", "steps", "best"]
STOPS += ["outliers", "margin", "soft", "logistic", "fewest", "features"]


def test_every_stop_of_the_tour_is_reached_by_next(browser, address):
    with opened(browser, address, width=1000, height=900) as page:
        ready(page)
        page.click("#tour")
        for k, name in enumerate(STOPS):
            page.wait_for(f"play.state.stop === {name!r} && !play.link.waiting.size")
            page.wait_for(f"location.hash.startsWith('#stop={name}&preset=')")
            assert page.text("#stop-title").startswith(f"{k + 1}. ")
            assert page.text("#stop-try").startswith("Try: ")
            said = page.text("#advice") if name in ("loss", "steps") else ""
            assert said or page.evaluate("play.shown.film !== null"), name
            page.click("#stop-next")
        page.wait_for("play.state.stop === null")
        assert page.evaluate("document.getElementById('stop').hidden")
        assert page.evaluate("play.stops") == STOPS
        assert page.problems == []


WHAT_STOPS_SHOW = {
    "bound": "play.shown.film.bound.most > 1000",
    "endless": "play.shown.proof?.separable === false",
    "loss": "document.getElementById('advice').innerText.includes('flat')",
    "steps": "document.getElementById('advice').innerText.includes('too large')",
    "best": "play.shown.film.frames.best_frame.at(-1) >= 0",
    "outliers": "play.compare.found.length === 4",
    "margin": "play.shown.each.support.length >= 2 && play.shown.each.support.length < 14",
    "logistic": "play.shown.film.frames.band.at(-1) === 1 && play.shown.film.picture.sentence.includes('73 %')",
    "fewest": "play.shown.model.proven",
    "features": "play.shown.film.picture.kind === 'map'",
}


@pytest.mark.parametrize("name", WHAT_STOPS_SHOW)
def test_a_teacher_links_to_a_stop(browser, address, name):
    with opened(browser, address, f"#stop={name}", width=1000, height=900) as page:
        page.wait_for(f"document.documentElement.dataset.ready === 'yes' && {WHAT_STOPS_SHOW[name]}")
        assert not page.evaluate("document.getElementById('stop').hidden")
        assert page.problems == []


def test_m18_you_against_the_optimum(browser, address):
    with opened(browser, address, "#preset=overlap", width=1000, height=900) as page:
        ready(page)
        page.click("#hand-on")
        page.wait_for("play.hand.counted !== null")
        points = np.array(drawn(page))
        for turn in (0, 137):
            page.evaluate(f"play.hand.set({{ turn: {turn}, shift: 0.4 }})")
            page.wait_for("!play.hand.asking")
            w = np.array([np.cos(np.radians(turn)), np.sin(np.radians(turn))])
            wrong = ((2 * points[:, 2] - 1) * (points[:, :2] @ w - 0.4) <= 0).sum()
            assert f"{wrong} of 40 wrong" in page.text("#hand-counts")
        handle = page.evaluate("play.hand.handles(play.view().at).turn")
        place(page, 0, 0)  # scrolls the picture into sight
        corner = page.evaluate("(box => [box.x, box.y])(document.getElementById('picture').getBoundingClientRect())")
        start = (corner[0] + handle[0], corner[1] + handle[1])
        page.drag(start, (start[0] + 40, start[1] + 60), (start[0] + 80, start[1] + 90))
        assert abs(page.evaluate("play.hand.turn") - 137) > 5
        assert len(drawn(page)) == 40, "no point was drawn by it"
        page.click("#hand-reveal")
        page.wait_for("document.getElementById('hand-best').innerText.length > 0")
        assert "proven: no line makes fewer" in page.text("#hand-best")
        best = page.evaluate("play.hand.best.mistakes")
        assert best <= page.evaluate("play.hand.counted.mistakes")


def test_m5_every_point_is_on_the_curve_of_its_loss(browser, address):
    with opened(browser, address, "#preset=overlap&method=soft_margin", width=1000, height=900) as page:
        ready(page)
        page.click("#last")
        found = page.evaluate("play.agreements()")
        each = page.evaluate("play.shown.each.z")
        np.testing.assert_allclose([one["z"] for one in found], each, rtol=1e-3, atol=1e-4)
        said = page.evaluate("document.querySelector('#loss-plot canvas').getAttribute('aria-label')")
        wrong = sum(z <= 0 for z in each)
        assert f"Loss max(0, 1 − z) at every point's z = y·g(x), g(x) = w·x + b: {wrong} at z ≤ 0" in said
        assert "gap of the best so far" in page.text("#gap-chart")
        assert page.evaluate("document.getElementById('bounds-chart').hidden")
        page.click("#first")
        assert ": 40 at z ≤ 0" in page.evaluate(
            "document.querySelector('#loss-plot canvas').getAttribute('aria-label')"
        )
        assert page.problems == []


def test_m16_slacks_reach_from_a_point_to_its_margin(browser, address):
    hash = "#points=-1,0n1,0p2,1p-2,-1n2,0.4n&method=soft_margin&C=0.5"
    with opened(browser, address, hash, width=1000, height=900) as page:
        ready(page)
        page.click("#last")
        w, b = np.array(page.evaluate("play.shown.model.coef")), page.evaluate("play.shown.model.intercept")
        x = np.array([2, 0.4])
        z = -(x @ w + b)
        assert z < 0
        half = x - w * (1 - z) / (w @ w) / 2  # in the middle of the slack, on neither line
        column, row = (round(part) for part in place(page, *half))
        wanted = colour_of(page, "cause")
        near = page.screenshot()[row - 5 : row + 6, column - 5 : column + 6].astype(int)
        assert (np.abs(near - wanted).max(axis=2) < 60).any()
        assert "slack" in page.evaluate("document.getElementById('legend').textContent")


def test_m18_the_bounds_of_the_exact_search_are_drawn(browser, address):
    with opened(browser, address, "#preset=overlap&method=zero_one", width=1000, height=900) as page:
        ready(page)
        page.click("#last")
        said = page.text("#bounds-chart")
        assert "found so far 1" in said
        assert "every line makes at least 1" in said
        assert page.evaluate("document.getElementById('gap-chart').hidden")


def test_m11_both_bounds_stand_in_the_chart_of_mistakes(browser, address):
    with opened(browser, address, "#preset=margin", width=1000, height=900) as page:
        ready(page)
        page.click("#last")
        said = page.text("#updates-chart")
        assert "(R/γ)²" in said
        assert "(2R/γ)²" in said
        assert "here b moves by y" in page.text("#bound")
