"""Zooming and moving the scene: wheel, two fingers, Shift and mouse, keys, buttons; and that lines follow."""

import numpy as np
import pytest

from browser import CONTROL, SHIFT
from playing import ANSWERED, READY, place

pytestmark = pytest.mark.slow
pytest.importorskip("uvicorn")
WINDOW = "play.view().window"


def ready(page):
    page.wait_for(f"{READY} && {ANSWERED}")
    page.evaluate("play.player.pause()")
    page.evaluate("document.getElementById('picture').scrollIntoView({ block: 'center', behavior: 'instant' })")


def test_the_wheel_zooms_about_the_pointer_and_the_line_goes_to_the_edges(browser, address):
    with browser.open(f"{address}#preset=separable&method=hard_margin", width=1000, height=900) as page:
        ready(page)
        home = page.evaluate(WINDOW)
        where = place(page, 2, 1)
        page.wheel(where, 60)
        page.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
        assert page.evaluate(WINDOW) == home, "without focus the page scrolls"
        page.evaluate("scrollTo(0, 0)")
        ready(page)
        where = place(page, 2, 1)
        page.wheel(where, -180, CONTROL)
        page.wait_for("play.zoom.window !== null")
        np.testing.assert_allclose(place(page, 2, 1), where, atol=6)  # the axis' numbers take other room
        window = page.evaluate(WINDOW)
        assert window[0][1] - window[0][0] < 0.6 * 8
        page.click("#zoom-home")
        page.wait_for("play.zoom.window === null && document.getElementById('zoom-home').disabled")
        page.evaluate("document.getElementById('picture').focus({ preventScroll: true })")
        page.wheel(place(page, 0, 0), 60)
        page.wait_for(f"{WINDOW}[0][1] > 4.5")
        (w, v), b = page.evaluate("play.shown.model.coef"), page.evaluate("play.shown.model.intercept")
        page.click("#last")
        (left, right), (low, high) = 0.97 * np.array(page.evaluate(WINDOW))
        ends = [(x, -(w * x + b) / v) for x in (left, right)] + [(-(v * y + b) / w, y) for y in (low, high)]
        x, y = next((x, y) for x, y in ends if left <= x <= right and low <= y <= high)
        assert abs(x) > 4 or abs(y) > 3, "outside of what the server knew of"
        page.evaluate("document.getElementById('picture').scrollIntoView({ block: 'center', behavior: 'instant' })")
        column, row = (round(part) for part in place(page, x, y))
        wanted = page.evaluate("color('plane')")
        dots = page.screenshot()[row - 3 : row + 4, column - 3 : column + 4].astype(int)
        assert (np.abs(dots - [int(wanted[k : k + 2], 16) for k in (1, 3, 5)]).max(axis=2) < 60).any()
        assert page.problems == []


def test_keys_zoom_and_move_and_the_address_keeps_it(browser, address):
    with browser.open(f"{address}#preset=separable", width=1000, height=900) as page:
        ready(page)
        page.evaluate("document.getElementById('picture').focus({ preventScroll: true })")
        for _ in range(3):
            page.press("+")
        page.press("ArrowRight", CONTROL)
        page.press("ArrowUp", CONTROL)
        page.press("-")
        window = page.evaluate(WINDOW)
        assert window[0][1] - window[0][0] == pytest.approx(8 / 1.25**2)
        assert sum(window[0]) > 0
        assert sum(window[1]) > 0
        page.wait_for("location.hash.includes('view=')")
        shared = page.evaluate("location.href")
        page.press("0")
        assert page.evaluate(WINDOW) == [[-4, 4], [-3, 3]]
        page.wait_for("!location.hash.includes('view=')")
        assert page.evaluate("play.points.list.length") == 14
    with browser.open(shared, width=700, height=900) as page:
        ready(page)
        np.testing.assert_allclose(page.evaluate(WINDOW), window, rtol=1e-5)


def test_shift_and_dragging_moves_along_and_draws_nothing(browser, address):
    with browser.open(f"{address}#preset=separable", width=1000, height=900) as page:
        ready(page)
        start, end = place(page, 0, 0), place(page, 1, 0.5)
        page.drag(start, [(start[0] + end[0]) / 2, start[1]], end, modifiers=SHIFT)
        np.testing.assert_allclose(place(page, 0, 0), end, atol=0.5)
        assert page.evaluate("play.points.list.length") == 14
        page.drag(place(page, -3, -2))
        page.wait_for("play.points.list.length === 15")
        np.testing.assert_allclose(
            page.evaluate("[play.points.list[14].x, play.points.list[14].y]"), [-3, -2], atol=0.02
        )
        assert page.problems == []


def test_two_fingers_zoom_and_leave_no_point_behind(browser, address):
    with browser.open(f"{address}#preset=separable", width=360, height=740, touch=True) as page:
        ready(page)
        x, y = middle = place(page, 0, 0)
        page.pinch(*[np.array([[x - apart, y], [x + apart, y]]) for apart in (20, 30, 40)])
        page.wait_for("play.zoom.window !== null")
        window = page.evaluate(WINDOW)
        assert window[0][1] - window[0][0] == pytest.approx(4, rel=0.05)
        np.testing.assert_allclose(place(page, 0, 0), middle, atol=2)
        assert page.evaluate("play.points.list.length") == 14
        page.touch(place(page, 1, 1))
        page.wait_for("play.points.list.length === 15")
        assert page.problems == []


def test_curves_of_a_feature_map_are_computed_for_the_new_window(browser, address):
    with browser.open(f"{address}#preset=rings", width=1000, height=900) as page:
        ready(page)
        page.click("#zoom-out")
        page.wait_for("Math.abs(play.shown.film.picture.u[0] + 5) < 1e-6 && !play.link.waiting.size")
        page.click("#zoom-home")
        page.wait_for("play.shown.film.picture.u[0] === -4 && !play.link.waiting.size")
        assert page.problems == []
