"""The panels of the page in a browser: step sizes, the risk over two weights, digits; zooming and pictures."""

import numpy as np
import pytest

from linsep.play.figures import FIGURES
from playing import ANSWERED, choose

pytestmark = pytest.mark.slow
pytest.importorskip("uvicorn")


def shown(page, selector):
    page.evaluate(f"document.querySelector({selector!r}).scrollIntoView({{ block: 'center', behavior: 'instant' }})")
    x, y = page.evaluate(f"(box => [box.x, box.y])(document.querySelector({selector!r}).getBoundingClientRect())")
    return lambda place: (x + place[0], y + place[1])


# --- step sizes


def test_m7_the_lectures_numbers_stand_beside_the_live_ones(browser, address):
    with browser.open(f"{address}#preset=separable", width=1000, height=900) as page:
        page.wait_for(ANSWERED)
        page.click("#steps-box > summary")
        page.wait_for("play.steps.walk !== null")
        table = page.text("#steps-table")
        assert "1\t(.58, .3)\t(0.5858, 0.3000)" in table
        assert "2\t(.63, .52)\t(0.6369, 0.5237)" in table
        page.wait_for("location.hash.includes('steps=bowl,0.5,0,0.05,constant')")
        assert "arrow keys" in page.evaluate("play.steps.canvas.getAttribute('aria-label')").lower()
        assert page.problems == []


def test_m20_start_and_step_size_are_dragged_and_what_is_wrong_is_named(browser, address):
    with browser.open(f"{address}#steps=bowl", width=1000, height=900) as page:
        page.wait_for(f"{ANSWERED} && play.steps.walk !== null")
        at = shown(page, "#steps-picture")
        start = page.evaluate("play.steps.places()[0]")
        end = page.evaluate("play.steps.places()[5]")
        page.drag(at(start), at([(start[0] + end[0]) / 2, start[1]]), at([end[0] + 40, start[1]]))
        page.wait_for("play.steps.chosen.start[0] > 0.6 && !play.link.waiting.size")
        assert page.evaluate("play.steps.walk.path[0]") == page.evaluate("play.steps.chosen.start")
        page.evaluate(
            "(e => { e.value = 0; e.dispatchEvent(new Event('input')); })(document.getElementById('steps-eta'))"
        )
        page.wait_for("document.getElementById('steps-advice').innerText.includes('too large')")
        page.click("#steps-try")
        page.wait_for("document.getElementById('steps-advice').hidden")
        page.evaluate("document.getElementById('steps-picture').focus()")
        before = page.evaluate("play.steps.chosen.start")
        page.press("ArrowUp")
        page.press("ArrowLeft")
        page.wait_for(f"play.steps.chosen.start[1] > {before[1]} && play.steps.chosen.start[0] < {before[0]}")
        assert page.evaluate("play.points.list.length") == 14, "nothing was drawn elsewhere"
        page.click("#steps-again")
        page.wait_for("document.getElementById('steps-table').innerText.includes('(.58, .3)')")
        assert page.problems == []


@pytest.mark.parametrize(("width", "dark"), [(360, True), (768, False), (1280, True)])
def test_the_same_address_gives_the_same_walk_at_any_width(browser, address, width, dark):
    with browser.open(f"{address}#steps=kink,0.5,0.52,0.1,inverse_sqrt", width=width, height=800, dark=dark) as page:
        page.wait_for(f"{ANSWERED} && play.steps.walk !== null")
        assert page.evaluate("play.steps.walk.path[0]") == [0.5, 0.52]
        assert page.evaluate("document.getElementById('steps-schedule').value") == "inverse_sqrt"
        assert page.overflow() == 0
        assert page.problems == []


# --- the objective over two weights


def test_m4_the_path_is_drawn_on_the_objective_and_follows_the_film(browser, address):
    hash = "#preset=overlap&method=gradient_descent&C=inf"
    with browser.open(f"{address}{hash}", width=1000, height=900) as page:
        page.wait_for(ANSWERED)
        page.evaluate("play.player.pause()")
        assert page.evaluate("play.surface.ground") is None
        page.click("#surface-box > summary")
        page.wait_for("play.surface.ground !== null && !play.link.waiting.size")
        page.wait_for("location.hash.includes('surface=objective')")
        page.click("#last")
        path, planes = page.evaluate("[play.surface.ground.path, play.shown.film.frames.plane]")
        assert path == [plane[:2] for plane in planes]
        label = "document.getElementById('surface-picture').getAttribute('aria-label')"
        assert f"frame {len(path)}." in page.evaluate(label)
        page.click("#first")
        assert page.evaluate(label).endswith("with the path from (0, 0) to (0, 0), frame 1.")
        page.evaluate(
            "(e => { e.value = 2; e.dispatchEvent(new Event('change')); })(document.getElementById('surface-1'))"
        )
        page.wait_for("String(play.surface.ground.parameters) === '0,2'")
        assert page.evaluate("play.surface.ground.path") == [[plane[0], plane[2]] for plane in planes]
        shared = page.evaluate("play.saved()")
        assert page.problems == []
    with browser.open(shared, width=360, height=800, dark=True) as page:
        page.wait_for(f"{ANSWERED} && String(play.surface.ground?.parameters) === '0,2'")
        assert page.overflow() == 0
        page.evaluate(
            "(e => { e.value = 'mistakes'; e.dispatchEvent(new Event('change')); })"
            "(document.getElementById('surface-height'))"
        )
        page.wait_for("play.surface.ground.height === 'mistakes'")
        assert "flat almost everywhere" in page.text("#surface-words")
        assert page.problems == []


def test_other_features_have_other_weights(browser, address):
    with browser.open(f"{address}#preset=xor&surface=objective,3,4", width=1000, height=900) as page:
        page.wait_for(f"{ANSWERED} && play.surface.ground !== null")
        assert page.evaluate("play.surface.ground.names.length") == 6
        page.evaluate(
            "(e => { e.value = 'plain'; e.dispatchEvent(new Event('change')); })(document.getElementById('features'))"
        )
        page.wait_for("play.surface.ground?.names.length === 3 && !play.link.waiting.size")
        assert page.problems == []


# --- digits


def test_m19_a_seven_is_drawn_with_the_mouse_and_its_pixels_vote(browser, address):
    with browser.open(f"{address}#preset=separable", width=1000, height=900) as page:
        page.wait_for(ANSWERED)
        page.click("#digit-box > summary")
        at = shown(page, "#digit-pad")
        size = page.evaluate("document.getElementById('digit-pad').getBoundingClientRect().width") / 28
        page.drag(*[at((x * size, y * size)) for x, y in [(8, 5), (14, 5), (20, 5), (16, 13), (12.5, 24)]])
        page.wait_for("play.digits.found !== null && !play.digits.asking")
        assert page.text("#digit-says") == "A 7."
        votes = page.evaluate("play.digits.found.votes")
        assert "More than 0 is a 7" in page.evaluate("play.digits.votes.getAttribute('aria-label')")
        strongest = max(range(784), key=lambda k: abs(votes[k]))
        over = shown(page, "#digit-votes")
        page.hover(over(((strongest % 28 + 0.5) * size, (strongest // 28 + 0.5) * size)))
        assert f"Row {strongest // 28 + 1}, column {strongest % 28 + 1}" in page.text("#digit-pixel")
        page.click("#digit-3")
        page.wait_for("document.getElementById('digit-says').innerText === 'A 3.'")
        page.evaluate(
            "(e => { e.value = 'perceptron'; e.dispatchEvent(new Event('change')); })"
            "(document.getElementById('digit-method'))"
        )
        page.wait_for("play.digits.found.says.startsWith('Perceptron') && !play.digits.asking")
        page.click("#digit-clear")
        assert page.text("#digit-says") == ""
        assert page.problems == []


def test_a_digit_is_drawn_by_keys_and_on_a_phone(browser, address):
    with browser.open(f"{address}#preset=separable", width=360, height=740, dark=True) as page:
        page.wait_for(ANSWERED)
        page.click("#digit-box > summary")
        page.evaluate("document.getElementById('digit-pad').focus()")
        slanted = ["ArrowDown", "ArrowDown", "ArrowLeft"] * 8
        for key in ["ArrowLeft"] * 6 + ["ArrowUp"] * 9 + ["Enter"] + ["ArrowRight"] * 12 + slanted:
            page.press(key)
        page.wait_for("document.getElementById('digit-says').innerText === 'A 7.' && !play.digits.asking")
        page.press("Delete")
        assert not page.evaluate("play.digits.pixels.some(dark => dark > 0)")
        assert page.overflow() == 0
        assert page.problems == []


# --- figures of the lectures


@pytest.mark.parametrize("name", FIGURES)
def test_every_figure_of_the_lectures_is_chosen_and_linked_to(browser, address, name):
    figure = FIGURES[name].to_dict()
    with browser.open(f"{address}#preset=separable", width=1000, height=900) as page:
        page.wait_for(ANSWERED)
        choose(page, "figures", name)
        page.wait_for(
            f"play.state.preset === {name!r} && play.shown.film && !play.shown.stale && !play.link.waiting.size",
            seconds=40,  # one of them has a film of 4,000 steps
        )
        assert page.text("#intro") == figure["says"]
        assert page.evaluate("play.state.method") == figure["method"]
        assert page.evaluate("play.compare.found.length") == len(figure["compare"])
        assert page.evaluate("document.getElementById('surface-box').open") == bool(figure["surface"])
        model = page.evaluate("play.shown.model")
        assert page.problems == []
    with browser.open(f"{address}#preset={name}", width=1000, height=900) as page:
        page.wait_for(f"{ANSWERED} && play.shown.film", seconds=40)
        assert page.evaluate("play.shown.model") == model
        assert page.evaluate("document.getElementById('figures').value") == name


def test_figures_without_points_open_their_panel(browser, address):
    with browser.open(f"{address}#preset=separable", width=1000, height=900) as page:
        page.wait_for(ANSWERED)
        choose(page, "figures", "steps:kink")
        page.wait_for("play.steps.walk !== null && play.steps.chosen.function === 'kink'")
        choose(page, "figures", "digits")
        page.wait_for("document.getElementById('digit-box').open")
        assert page.evaluate("play.state.preset") == "separable"
        assert page.problems == []


def test_the_page_says_that_a_file_is_not_in_its_link(browser, address):
    rows = "".join(f"{k},{k % 3},{k * k % 7},{'ab'[k > 9]}\\n" for k in range(20))
    drop = f"""(() => {{ const data = new DataTransfer();
        data.items.add(new File(["p,q,r,kind\\n{rows}"], "a.csv"));
        document.body.dispatchEvent(new DragEvent("drop", {{ dataTransfer: data, bubbles: true }})); }})()"""
    with browser.open(address, width=1000, height=900) as page:
        page.wait_for("document.documentElement.dataset.ready === 'yes'")
        assert "has all of it: the points" in page.text("#share-says")
        page.evaluate(drop)
        page.wait_for("play.points.list.length === 20")
        page.evaluate("document.getElementById('column-x').value = ''")
        page.click("#columns button")
        page.wait_for("play.state.file !== null")
        assert "not the rows of your file" in page.text("#share-says"), "a link alone would show something else"
        page.wait_for("!location.hash.includes('points=')")
        page.click("[data-preset=separable]")
        page.wait_for("play.state.file === null")
        assert "has all of it: the points" in page.text("#share-says")
        assert page.problems == []


def test_m20_a_step_size_that_is_too_large_is_named_and_the_one_advised_is_a_click_away(browser, address):
    hash = "#preset=overlap&method=gradient_descent&loss=logistic&schedule=constant&eta=90&stopping=none&max_iter=60"
    with browser.open(f"{address}{hash}", width=1000, height=900) as page:
        page.wait_for("document.documentElement.dataset.ready === 'yes' && !play.shown.stale")
        assert "The step size η = 90.0 is too large" in page.text("#advice")
        page.click("#advice-try")
        page.wait_for("document.getElementById('advice').hidden && play.shown.film && !play.link.waiting.size")
        assert page.evaluate("play.state.method.eta") < 90


def test_the_vector_of_an_update_is_drawn_and_no_legend_hides_points_on_a_phone(browser, address):
    with browser.open(f"{address}#preset=separable&compare=least_squares,logistic", width=360, height=740) as page:
        page.wait_for("document.documentElement.dataset.ready === 'yes' && play.compare.found.length === 2")
        assert page.evaluate(
            """(() => { const box = id => document.getElementById(id).getBoundingClientRect();
            return box("compare-legend").top >= box("picture").bottom; })()"""
        )
        page.evaluate("play.player.go(1)")
        before, added, now = page.evaluate(
            """(() => { const { frames, points } = play.shown.film, k = frames.cause[1];
            const side = points.positive[k] ? 1 : -1;
            return [frames.plane[0], [side * points.u[k], side * points.v[k], side], frames.plane[1]]; })()"""
        )
        assert np.allclose(np.add(before, added), now)
        spot = page.evaluate(
            f"""(() => {{ const {{ at }} = play.view(), canvas = document.getElementById("picture");
            const [x, y] = [at.x({(before[0] + now[0]) / 2}), at.y({(before[1] + now[1]) / 2})];
            return [...canvas.getContext("2d").getImageData(x - 1, y - 1, 3, 3).data]; }})()"""
        )
        colour = page.evaluate("color('cause')")
        wanted = [int(colour[k : k + 2], 16) for k in (1, 3, 5)]
        assert min(np.abs(np.array(spot).reshape(-1, 4)[:, :3] - wanted).sum(axis=1)) < 60
