"""How quick the page is at 2,000 points and more: from an edit to its film, frames while it plays, its first seconds.

Every test prints what it has measured (`pytest -s`); the bounds are those that a busy machine of a test run can meet.
"""

import base64
import io
import json
import time

import numpy as np
import pytest

from linsep.play.methods import ALGORITHMS
from playing import READY, SETTLED

pytestmark = pytest.mark.slow
pytest.importorskip("uvicorn")
client = pytest.importorskip("websockets.sync.client")
FRAME = 1000 / 60


def cloud(n, apart=3.0):
    rng = np.random.default_rng(0)
    positive = np.arange(n) % 2
    return np.round(rng.standard_normal((n, 2)) + apart * (2 * positive[:, None] - 1), 3), positive


def shared(n, apart=3.0):
    """Return the end of an address that has so many points."""
    X, positive = cloud(n, apart)
    return "#points=" + "".join(f"{x},{y}{'np'[side]}" for (x, y), side in zip(X, positive, strict=True))


@pytest.mark.parametrize("method", ALGORITHMS)
def test_a_film_of_2000_points_comes_back_at_once(address, method):
    X, positive = cloud(2000)
    points = dict(x=X[:, 0].tolist(), y=X[:, 1].tolist(), positive=positive.tolist())
    body = dict(points=points, method={"name": method}, window=[[-8, 8], [-8, 8]], steps=50, draft=True)
    taken = []
    with client.connect(
        address.replace("http", "ws") + "live", origin=address.rpartition("/")[0].rpartition("/")[0], max_size=None
    ) as page:
        for number in range(24):
            message = json.dumps({"v": 1, "id": number, "do": "fit", **body})
            begun = time.perf_counter()
            page.send(message)
            answer = page.recv(timeout=30)
            taken.append(time.perf_counter() - begun)
            assert json.loads(answer)["kind"] == "film"
    print(f"{method}: a film of 2,000 points after {1e3 * np.median(taken):.1f} ms, {len(answer):,} bytes")
    assert np.median(taken) < 0.2


EDIT = """(async () => {
  const taken = [], { editor, points, link } = play;
  for (let k = 0; k < 40; k++) {
    const begun = performance.now(), film = play.shown.film;
    editor.drag(7, { x: 2 + k / 50, y: 1 });
    const soon = go => { const pipe = new MessageChannel(); pipe.port1.onmessage = go; pipe.port2.postMessage(0); };
    while (play.shown.film === film || play.shown.stale) await new Promise(soon);
    taken.push(performance.now() - begun);
    while (link.waiting.size) await new Promise(go => setTimeout(go, 5));
  }
  return taken;
})()"""


def test_an_edit_among_2000_points_is_seen_at_once(browser, address):
    with browser.open(address + shared(2000), width=1280, height=900) as page:
        page.wait_for(f"{READY} && {SETTLED}")
        taken = page.evaluate(EDIT)
        assert page.problems == []
    print(
        f"from an edit among 2,000 points to its film on the screen: {np.median(taken):.1f} ms, worst {max(taken):.0f}"
    )
    assert np.median(taken) < 300


PLAY = """new Promise(done => {
  const { player } = play, times = [], begun = performance.now();
  player.go(0); player.state.speed = 60; player.play();
  const tick = time => {
    times.push(time);
    if (performance.now() - begun < 4000) requestAnimationFrame(tick);
    else { player.pause(); done(times); }
  };
  requestAnimationFrame(tick);
})"""


def test_playing_2000_points_drops_no_frames(browser, address):
    with browser.open(address + shared(2000, apart=0.5), width=1280, height=900) as page:
        page.wait_for(f"{READY} && {SETTLED}")
        assert page.evaluate("play.shown.film.frames.step.length") > 300
        page.evaluate(PLAY)  # once to warm up
        with browser.traced("disabled-by-default-devtools.timeline.frame", "devtools.timeline.frame") as events:
            times = np.diff(page.evaluate(PLAY))
        assert page.problems == []
    dropped = sum(event["name"] == "DroppedFrame" for event in events)
    drawn = sum(event["name"] == "DrawFrame" for event in events)
    late = float((times > 1.5 * FRAME).mean())
    print(
        f"playing 2,000 points: {dropped} of {drawn + dropped} frames dropped by Chromium's trace; "
        f"{1000 / times.mean():.1f} callbacks a second, {late:.1%} late, worst {times.max():.0f} ms"
    )
    assert drawn > 0
    assert 1000 / times.mean() > 15


def test_the_first_paint_and_the_first_answer_come_soon(browser, address):
    taken = []
    for _ in range(3):
        with browser.open(address, width=1280, height=900) as page:
            page.wait_for(f"{READY} && {SETTLED}")
            paint = page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime")
            taken.append((paint, page.evaluate("play.ready")))
    paint, ready = np.median(taken, axis=0)
    print(f"first paint after {paint:.0f} ms, interactive (its film is there, and plays) after {ready:.0f} ms")
    assert paint < 3000
    assert ready < 6000


def parquet(n):
    """Return the bytes of a Parquet file with so many rows, in base 64."""
    import pyarrow
    from pyarrow import parquet

    X, positive = cloud(n, apart=0.7)
    table = pyarrow.table({"across": X[:, 0], "up": X[:, 1], "kind": np.array(["no", "yes"])[positive]})
    parquet.write_table(table, kept := io.BytesIO())
    return base64.b64encode(kept.getvalue()).decode()


DROP = """(async () => {
  const data = new DataTransfer(), bytes = Uint8Array.from(atob(kept), one => one.charCodeAt(0));
  data.items.add(new File([bytes], "many.parquet"));
  document.body.dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }));
})()"""
DRAWN = """(async () => {
  const taken = [], { player, zoom, shown } = play, frame = () => new Promise(go => requestAnimationFrame(go));
  for (let k = 0; k < 30; k++) {
    const begun = performance.now();
    %s
    await frame();
    await frame();
    taken.push((performance.now() - begun) / 2);
  }
  return taken;
})()"""


def test_50_000_points_of_a_dropped_file_pan_play_and_scrub(browser, address):
    with browser.open(address, width=1280, height=900) as page:
        page.wait_for(f"{READY} && {SETTLED}")
        page.evaluate(f"globalThis.kept = {json.dumps(parquet(50_000))}; 0")
        begun = time.monotonic()
        page.evaluate(DROP)
        page.wait_for("play.state.file !== null && !play.shown.stale && play.shown.film.total === 50000", seconds=60)
        shown = time.monotonic() - begun
        page.evaluate("play.player.pause()")
        assert "many.parquet: 50,000 rows" in page.text("#file-says")
        assert "5,000 of 50,000 examples are drawn" in page.text("#notes")
        pan = page.evaluate(DRAWN % "zoom.pan([0.01 * (k % 2 ? 1 : -1), 0]);")
        count = page.evaluate("play.shown.film.frames.step.length")
        scrub = page.evaluate(DRAWN % f"player.go(Math.floor(k / 30 * {count}));")
        times = np.diff(page.evaluate(PLAY))
        assert page.evaluate("play.player.state.frame") > 0
        assert page.problems == []
    print(
        f"50,000 points: {shown:.1f} s from the drop to the film, {np.median(pan):.0f} ms a frame of panning, "
        f"{np.median(scrub):.0f} ms of scrubbing, {1000 / times.mean():.0f} frames a second while it plays"
    )
    assert max(np.median(pan), np.median(scrub)) < 300
    assert 1000 / times.mean() > 5
