"""`linsep.play(X, y)`: a frame in a notebook's cell, which a browser shows, and a server that ends with its process."""

import http.server
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request

import numpy as np
import pytest

import linsep
from linsep.play.notebook import _table

pytest.importorskip("uvicorn")
X = np.array([[0.0, 1.0], [1.0, 3.0], [4.0, 0.0], [5.0, 2.0]])
Y = ["a", "a", "b", "b"]


@pytest.mark.parametrize(
    ("arguments", "error", "why"),
    [
        ((X,), TypeError, "both X and y"),
        ((X, Y[:3]), ValueError, "4 rows and y has shape"),
        ((X[0], Y), ValueError, "needs rows and columns"),
    ],
)
def test_what_cannot_be_shown_is_said(arguments, error, why):
    with pytest.raises(error, match=why):
        linsep.play(*arguments)
    with pytest.raises(ValueError, match="height=50"):
        linsep.play(X, Y, height=50)


@pytest.mark.parametrize(
    ("y", "wanted"), [([0.0, 1.0, 0.0, 1.0], [0, 1, 0, 1]), ([True, False] * 2, [1, 0, 1, 0]), (Y, Y)]
)
def test_a_table_of_columns_and_classes(y, wanted):
    import io

    from pyarrow import parquet

    class Frame:
        columns = ("class", "v")

        def __getitem__(self, name):
            return X[:, self.columns.index(name)]

    for given, names in ((X, ["x0", "x1", "class"]), (Frame(), ["class", "v", "class_"])):
        written, target = _table(given, np.asarray(y))
        table = parquet.read_table(io.BytesIO(written))
        assert table.column_names == names
        assert target == names[-1]
        assert table[target].to_pylist() == wanted
        np.testing.assert_array_equal(np.column_stack([table[name] for name in names[:2]]), X)


CELL = """
import sys
import numpy as np, linsep
page = linsep.play(np.array({X}), {y}, height=700)
print(page._repr_html_(), flush=True)
sys.stdin.read()
"""


@pytest.fixture
def cell():
    """The HTML of a cell that was run in another process, and that process."""
    words = CELL.format(X=X.tolist(), y=Y)
    pipes = dict(stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    with subprocess.Popen([sys.executable, "-c", words], **pipes) as kernel:
        yield kernel.stdout.readline(), kernel
        kernel.kill()


@pytest.fixture
def notebook(cell):
    """The address of a page on this machine that has the cell in it."""

    class Page(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.send_header("content-type", "text/html; charset=utf-8")
            self.end_headers()
            self.wfile.write(f"<!doctype html><title>cell</title><link rel=icon href=data:,>{cell[0]}".encode())

        def log_message(self, *words):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Page)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    server.server_close()


def in_frame(page, script):
    """Return the value of an expression of the frame's document, None where it shows none of ours."""
    frames = page.call("Page.getFrameTree")["frameTree"].get("childFrames", [])
    if not frames:
        return None
    world = page.call("Page.createIsolatedWorld", frameId=frames[0]["frame"]["id"])["executionContextId"]
    done = page.call("Runtime.evaluate", expression=script, contextId=world, returnByValue=True)
    return done["result"].get("value")


def until(found, seconds=20):
    end = time.monotonic() + seconds
    while not (value := found()):
        assert time.monotonic() < end, "it did not come"
        time.sleep(0.05)
    return value


@pytest.mark.slow
def test_a_cell_shows_the_page_with_its_points(browser, notebook):
    with browser.open(notebook, width=1000, height=800) as page:
        until(lambda: in_frame(page, "document.documentElement.dataset.ready === 'yes'"))
        until(lambda: in_frame(page, "document.getElementById('file-says').innerText.includes('X and y: 4 rows')"))
        until(
            lambda: "0 of 4 on the wrong side" in (in_frame(page, "document.getElementById('status').innerText") or "")
        )
        assert in_frame(page, "document.getElementById('intro').innerText") == "b is drawn as ●, a as ■."
        assert in_frame(page, "document.getElementById('target').value") == "class"
        assert in_frame(page, "innerHeight") == 700


@pytest.mark.slow
def test_a_page_from_elsewhere_cannot_show_it(browser, cell, tmp_path):
    (tmp_path / "elsewhere.html").write_text(f"<!doctype html><title>no</title>{cell[0]}")
    with browser.open(tmp_path / "elsewhere.html", width=800, height=800) as page:
        until(lambda: any("frame-ancestors" in words for words in page.problems))
        assert not in_frame(page, "document.getElementById('picture') !== null")


@pytest.mark.slow
def test_it_ends_with_its_process(cell):
    html, kernel = cell
    address = html.split('"')[1]
    assert address.startswith("http://127.0.0.1:")
    assert b"linsep play" in urllib.request.urlopen(address, timeout=10).read()
    kernel.stdin.close()
    assert kernel.wait(10) == 0
    assert kernel.stderr.read() == ""
    with pytest.raises(urllib.error.URLError):
        urllib.request.urlopen(address, timeout=10)


@pytest.mark.slow
def test_it_is_closed_by_hand():
    page = linsep.play()
    assert f'src="{page.address}"' in page._repr_html_()
    assert repr(page) == f"<linsep.play at {page.address}>"
    assert urllib.request.urlopen(page.address, timeout=10).status == 200
    page.close()
    with pytest.raises(urllib.error.URLError):
        urllib.request.urlopen(page.address, timeout=10)
