"""The browser that other tests look through: it must see what is wrong with a page."""

import numpy as np

PAGE = """<!doctype html><title>t</title><body style="margin:0"><p id="p" style="width:500px">hello</p>
<button id="b" onclick="document.title = 'clicked'">b</button>
<script>addEventListener("keydown", e => { document.title = e.key; });</script>"""


def test_a_sound_page_has_no_problems(browser, tmp_path):
    (tmp_path / "page.html").write_text(PAGE)
    with browser.open(tmp_path / "page.html", width=360, height=200, dark=True, reduced_motion=True) as page:
        assert page.text("#p") == "hello"
        assert page.overflow() == 140
        page.click("#b")
        assert page.wait_for("document.title") == "clicked"
        page.press("ArrowLeft")
        assert page.wait_for("document.title") == "ArrowLeft"
        assert page.evaluate("matchMedia('(prefers-color-scheme: dark)').matches")
        assert page.evaluate("matchMedia('(prefers-reduced-motion: reduce)').matches")
        shot = page.screenshot()
        assert shot.shape == (200, 360, 3)
        assert len(np.unique(shot)) > 2
        assert page.problems == []


def test_errors_and_requests_are_noticed(browser, tmp_path):
    (tmp_path / "page.html").write_text(
        "<script>console.error('wrong'); new Image().src = 'https://a.invalid/a.png'; setTimeout(nothing)</script>"
    )
    with browser.open(tmp_path / "page.html") as page:
        told = "\n".join(page.problems)
    assert "wrong" in told
    assert "https://a.invalid/a.png" in told
    assert "nothing is not defined" in told
