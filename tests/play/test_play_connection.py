"""The page's connection and its address in a browser: what is lost is asked again, what is shown is in the link."""

import pytest

from playing import READY, SETTLED, ready

pytestmark = pytest.mark.slow
pytest.importorskip("uvicorn")


def test_a_page_whose_connection_was_cut_connects_again_and_asks_again(browser, address):
    with browser.open(f"{address}#preset=overlap", width=1000, height=900) as page:
        ready(page)
        page.evaluate("play.link.socket.close()")
        page.click("[data-preset=xor]")  # asked while there is no connection
        page.wait_for(f"play.state.preset === 'xor' && {SETTLED} && !play.link.waiting.size")
        assert page.evaluate("document.getElementById('advice').hidden")
        assert page.problems == []


def test_a_question_over_which_the_server_hangs_up_is_not_asked_for_ever(browser, address):
    with browser.open(f"{address}#preset=separable", width=1000, height=900) as page:
        ready(page)
        answer = page.evaluate("play.link.ask('judge', { plane: [1, 0, 0], points: 'x'.repeat(4_100_000) })")
        assert (answer["kind"], "twice" in answer["why"]) == ("refused", True)
        assert page.evaluate("play.link.ask('hello')")["kind"] == "hello"


def test_the_address_has_the_step_shown_the_line_drawn_by_hand_and_the_digit(browser, address):
    with browser.open(f"{address}#preset=margin", width=1000, height=900) as page:
        ready(page)
        page.evaluate("play.player.go(7)")
        page.click("#hand-on")
        page.wait_for("play.hand.on")
        page.evaluate("play.hand.set({ turn: 30, shift: 0.5, steep: 2 })")
        page.click("#digit-box > summary")
        page.click("#digit-7")
        page.wait_for("play.digits.found !== null && !play.link.waiting.size && !play.hand.asking")
        shared = page.evaluate("play.saved()")
        found, counts = page.evaluate("play.digits.found.votes"), page.text("#hand-counts")
        assert page.text("#digit-says") == "A 7."
    with browser.open(shared, width=1000, height=900) as page:
        page.wait_for(f"{READY} && play.digits.found !== null && !play.link.waiting.size")
        assert page.evaluate("[play.player.state.frame, play.player.state.playing]") == [7, False]
        assert page.evaluate("[play.hand.on, play.hand.turn, play.hand.shift, play.hand.steep]") == [True, 30, 0.5, 2]
        assert page.text("#hand-counts") == counts
        assert page.evaluate("play.digits.found.votes") == found
        assert page.evaluate("play.saved()") == shared
        assert page.problems == []


#: The first question leaves a page half a second late.
SLOW_HELLO = """{ const send = WebSocket.prototype.send; WebSocket.prototype.send = function (text) {
    if (text.includes('"hello"')) setTimeout(() => send.call(this, text), 500); else send.call(this, text); }; }"""


def test_whoever_is_quicker_than_the_server_breaks_nothing(browser, address):
    opens = "['steps', 'surface', 'digit'].forEach(name => { document.getElementById(`${name}-box`).open = true; });"
    with browser.open(f"{address}#preset=xor", width=1000, height=900) as page:
        ready(page)
        page.call("Page.addScriptToEvaluateOnNewDocument", source=SLOW_HELLO)
        page.evaluate("location.reload()")
        page.wait_for("globalThis.play?.link?.waiting.size === 1")
        page.evaluate(opens)
        page.wait_for(f"{READY} && play.state.preset === 'xor'")
        assert page.problems == []
