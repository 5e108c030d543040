"""The server of the page: who is let in, what is bounded, and that one page's trouble is nobody else's."""

import asyncio
import contextlib
import io
import json
import os
import random
import signal
import socket
import struct
import subprocess
import sys
import time
import urllib.error
import urllib.request

import pytest

from linsep.cli.showing import play
from linsep.play import workers
from linsep.play.presets import PRESETS
from linsep.play.protocol import Question
from linsep.play.worker import Listener
from pages import serving

pytestmark = pytest.mark.slow
pytest.importorskip("uvicorn")
client = pytest.importorskip("websockets.sync.client")
from websockets.exceptions import ConnectionClosed, InvalidStatus  # noqa: E402 (an extra that may be missing)

POINTS = PRESETS["separable"].to_dict()["points"]


def fetched(address, *, data=None, **headers):
    request = urllib.request.Request(address, data=data, headers={k.replace("_", "-"): v for k, v in headers.items()})
    try:
        with urllib.request.urlopen(request, timeout=20) as answer:
            return answer.status, dict(answer.headers), answer.read()
    except urllib.error.HTTPError as error:
        return error.code, dict(error.headers), error.read()


def parts(address):
    origin, _, token = address.rstrip("/").rpartition("/")
    return origin, token


@contextlib.contextmanager
def talking(address, origin=None, **more):
    where = address.replace("http", "ws") + "live"
    with client.connect(where, origin=origin or parts(address)[0], open_timeout=20, max_size=None, **more) as page:
        yield page


def ask(page, number, do, **body):
    page.send(json.dumps({"v": 1, "id": number, "do": do, **body}))


def heard(page, number=None):
    while True:
        answer = json.loads(page.recv(timeout=30))
        if number is None or answer["id"] == number:
            return answer


def test_the_page_is_small_strict_and_asks_nobody_else(address):
    status, headers, page = fetched(address)
    assert status == 200
    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "frame-ancestors 'none'" in policy
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"
    assert b"http" not in page.replace(b"http://www.w3.org", b"")
    from linsep.play.server import page_files

    files = page_files()
    assert sum(map(len, files.values())) < 300_000
    for name, data in files.items():
        assert fetched(address + name)[2] == data


@pytest.mark.parametrize("path", ["", "live", "upload", "nothing", "wrong/", "wrong/main.js", "wrong/live"])
def test_without_the_token_there_is_nothing(address, path):
    origin, _ = parts(address)
    assert fetched(f"{origin}/{path}")[0] == 404


@pytest.mark.parametrize("path", ["../server.py", "..%2fserver.py", "nothing.js", "upload/x", "%2e%2e/answers.py"])
def test_only_the_pages_own_files_are_served(address, path):
    assert fetched(address + path)[0] in (404, 405)


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1", "127.0.0.1:1", "localhost.evil.example:80"])
def test_another_host_name_is_refused_which_stops_rebinding(address, host):
    assert fetched(address, Host=host)[0] == 421
    with pytest.raises(InvalidStatus), talking(address, additional_headers={"Host": host}):
        pass


def test_the_machines_own_name_is_let_in(address):
    assert fetched(address.replace("127.0.0.1", "localhost"))[0] == 200


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "http://127.0.0.1:1"])
def test_another_sites_page_can_neither_talk_nor_upload(address, origin):
    with pytest.raises(InvalidStatus), talking(address, origin):
        pass
    assert fetched(address + "upload", data=b"a,b\n1,2\n3,4\n", Origin=origin)[0] == 403
    assert fetched(address + "upload", data=b"a,b\n1,2\n3,4\n")[0] == 403, "nor can one that says nothing"


def test_it_listens_on_this_machine_only(address):
    port = int(parts(address)[0].rpartition(":")[2])
    others = {info[4][0] for info in socket.getaddrinfo(socket.gethostname(), port, socket.AF_INET)}
    for other in others - {"127.0.0.1"}:
        if not other.startswith("127."):
            with pytest.raises(OSError), socket.create_connection((other, port), timeout=2):  # noqa: PT011
                pass
    with socket.create_connection(("127.0.0.1", port), timeout=5):
        pass


def test_uploads_are_read_and_bounded(address):
    origin = parts(address)[0]
    status, _, said = fetched(address + "upload", data=b"a,b\n1,2\n3,4\n", Origin=origin, X_Name="%3Cb%3E.csv")
    assert status == 200
    assert json.loads(said)["name"] == "<b>.csv"
    status, _, said = fetched(address + "upload", data=b"", Origin=origin)
    assert status == 422
    assert json.loads(said)["why"]
    with contextlib.suppress(urllib.error.URLError, ConnectionError):  # it may hang up before all is sent
        assert fetched(address + "upload", data=b"x" * 21_000_000, Origin=origin)[0] == 413


def test_malformed_messages_end_their_question_and_nothing_else(address):
    with talking(address) as page:
        for bad in ("", "{", "[]", '{"v": 1, "id": 1, "do": "fit", "steps": NaN}', '{"v": 9, "id": 4, "do": "hello"}'):
            page.send(bad)
            assert heard(page)["kind"] == "error"
        ask(page, 2, "fit", points={"x": [1e300], "y": [0], "positive": [1]}, method={"name": "logistic"})
        assert heard(page, 2)["kind"] == "error"
        ask(page, 3, "hello")
        assert heard(page, 3)["kind"] == "hello"


def test_a_message_that_is_too_large_ends_that_connection_only(address):
    with talking(address) as other, talking(address) as page:
        with contextlib.suppress(ConnectionClosed):
            page.send("x" * 4_100_000)
        with pytest.raises(ConnectionClosed):
            page.recv(timeout=20)
        ask(other, 1, "hello")
        assert heard(other)["kind"] == "hello"


def test_binary_messages_end_that_connection_only(address):
    with talking(address) as other, talking(address) as page:
        page.send(b"\x00\x01")
        with pytest.raises(ConnectionClosed):
            page.recv(timeout=20)
        ask(other, 1, "hello")
        assert heard(other)["kind"] == "hello"


def many(n):
    import numpy as np

    rng = np.random.default_rng(0)
    positive = np.arange(n) % 2
    X = np.round(rng.standard_normal((n, 2)) + 0.4 * (2 * positive[:, None] - 1), 3)
    return {"x": X[:, 0].tolist(), "y": X[:, 1].tolist(), "positive": positive.tolist()}


def test_a_page_that_goes_in_the_middle_of_a_run_ends_that_run(address):
    long = dict(points=many(2000), method={"name": "perceptron", "max_iter": 10_000}, steps=5000)
    with talking(address) as page:
        ask(page, 1, "fit", **long)
        time.sleep(0.3)
    start = time.monotonic()
    with talking(address) as other:
        ask(other, 1, "fit", points=POINTS, method={"name": "perceptron"})
        assert heard(other)["kind"] == "film"
    assert time.monotonic() - start < 10


def test_a_newer_question_overtakes_an_older_one(address):
    with talking(address) as page:
        for number in range(1, 9):
            ask(page, number, "fit", points=many(1000), method={"name": "perceptron"}, steps=1000)
        ask(page, 9, "fit", points=POINTS, method={"name": "logistic"})
        answers = [heard(page)]
        while answers[-1]["id"] != 9:
            answers.append(heard(page))
        assert len(answers) < 4, "most of the older ones were given up"
        assert answers[-1]["model"]["estimator"] == "LogisticRegression"


def handshake(address):
    """Return what a page sends first to be talked to."""
    origin, token = parts(address)
    lines = [f"GET /{token}/live HTTP/1.1", f"Host: {origin.removeprefix('http://')}", f"Origin: {origin}"]
    lines += ["Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=="]
    return "\r\n".join([*lines, "Sec-WebSocket-Version: 13", "", ""]).encode()


def framed(message):
    """Return a long message as it goes through the connection."""
    return b"\x81\xff" + len(message).to_bytes(8, "big") + bytes(4) + message.encode()


def test_a_slow_reader_holds_up_nobody_else(address):
    origin, _ = parts(address)
    with socket.create_connection(("127.0.0.1", int(origin.rpartition(":")[2])), timeout=20) as slow:
        slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        slow.sendall(handshake(address))
        assert b"101" in slow.recv(2000)
        frame = framed(json.dumps({"v": 1, "id": 1, "do": "fit", "points": many(2000), "method": {"name": "logistic"}}))
        for _ in range(12):  # it asks, and never reads
            slow.sendall(frame)
        start = time.monotonic()
        with talking(address) as other:
            ask(other, 1, "fit", points=POINTS, method={"name": "perceptron"})
            assert heard(other)["kind"] == "film"
        assert time.monotonic() - start < 10


def test_ten_pages_at_once_are_all_answered(address):
    with contextlib.ExitStack() as stack:
        pages = [stack.enter_context(talking(address)) for _ in range(10)]
        start = time.monotonic()
        for page in pages:
            ask(page, 1, "fit", points=POINTS, method={"name": "perceptron"})
        kinds = [heard(page)["kind"] for page in pages]
        assert kinds == ["film"] * 10
        assert time.monotonic() - start < 10


@pytest.mark.parametrize("copies", [True, False])
def test_processes_are_copied_where_that_is_known_to_work_and_started_elsewhere(copies, monkeypatch, tmp_path):
    monkeypatch.setattr(workers, "COPIES", copies)

    async def answered():
        pool = workers.Workers(tmp_path)
        try:
            body = dict(points=POINTS, method={"name": "perceptron"})
            return await pool.ask(workers.Turn(), "answer", Question(7, "fit", body))
        finally:
            await pool.close()

    assert json.loads(asyncio.run(answered()))["kind"] == "film"


LONG = {
    # an exact search that takes all the time it is given, and never asks whether somebody waits
    "search": dict(method={"name": "zero_one"}, features="cubes"),
    # and a film of as many steps as there may be
    "film": dict(method={"name": "perceptron", "max_iter": 10_000}, steps=5000),
}


def trips(pages, *, number):
    """Return the seconds from a question of each page to its answer, all of them asking at once."""
    begun = time.monotonic()
    for page in pages:
        ask(page, number, "fit", points=POINTS, method={"name": "perceptron"}, steps=200, draft=True)
    taken = []
    for page in pages:
        assert heard(page, number)["kind"] == "film"
        taken.append(time.monotonic() - begun)
    return taken


@pytest.mark.parametrize("busy", [1, 3])
def test_ten_pages_stay_responsive_while_some_of_them_run_something_long(address, busy):
    with contextlib.ExitStack() as stack:
        pages = [stack.enter_context(talking(address)) for _ in range(10)]
        trips(pages, number=1)
        for page, long in zip(pages[:busy], ["search", "film", "search"], strict=False):
            ask(page, 2, "fit", points=many(400), **LONG[long])
        begun, taken = time.monotonic(), []
        while time.monotonic() - begun < 2.0:
            taken += trips(pages[busy:], number=10 + len(taken))
        print(
            f"{busy} of 10 pages run something long: median {1e3 * sorted(taken)[len(taken) // 2]:.0f} ms, "
            f"worst {1e3 * max(taken):.0f} ms of {len(taken)} round trips"
        )
        assert sorted(taken)[len(taken) // 2] < 1.0
        assert max(taken) < 8.0, "until more processes have started, at the most"
        assert heard(pages[0], 2)["kind"] in ("film", "refused"), "and what is long is answered in its own time"


def test_a_newer_question_does_not_wait_for_a_run_that_does_not_listen(address):
    with talking(address) as page:
        ask(page, 1, "hello")
        heard(page)
        ask(page, 2, "fit", points=many(400), **LONG["search"])
        time.sleep(0.5)
        begun = time.monotonic()
        ask(page, 3, "fit", points=POINTS, method={"name": "perceptron"})
        assert heard(page)["id"] == 3
        assert time.monotonic() - begun < 3.5, "the search alone takes five seconds, twice"


def test_questions_that_newer_ones_have_overtaken_do_not_count_as_waiting(address):
    with talking(address) as page:
        ask(page, 1, "fit", points=many(400), **LONG["search"])
        for number in range(2, 202):  # as a slider does that is dragged meanwhile
            ask(page, number, "descend", function="bowl", start=[0.5, 0.0], eta=0.05, schedule="constant")
        assert heard(page, 201)["kind"] == "descent"


def test_a_process_that_dies_ends_its_question_and_nothing_else():
    others = computing()
    with serving() as here, talking(here) as page:
        ask(page, 0, "hello")
        heard(page)
        ask(page, 1, "fit", points=many(400), **LONG["search"])
        time.sleep(0.5)
        killed = computing() - others
        for process in killed:
            os.kill(process, signal.SIGKILL)
        answer = heard(page, 1)
        assert (answer["kind"], "ended unexpectedly" in answer["why"]) == ("refused", True)
        ask(page, 2, "fit", points=POINTS, method={"name": "perceptron"})
        assert heard(page, 2)["kind"] == "film"
        assert computing() - others
    end = time.monotonic() + 10
    while computing() - others:
        assert time.monotonic() < end, "processes end with their server"
        time.sleep(0.05)


def test_a_process_that_died_while_idle_costs_no_answer(tmp_path):
    async def answered():
        pool, others = workers.Workers(tmp_path), computing()
        body = dict(points=POINTS, method={"name": "perceptron"})
        try:
            await pool.ask(workers.Turn(), "answer", Question(7, "hello", {}))
            for process in (killed := computing() - others):
                os.kill(process, signal.SIGKILL)
            while computing() & killed:  # the server does not hear of it: it is not asked to, before its next question
                time.sleep(0.05)
            assert killed
            return await pool.ask(workers.Turn(), "answer", Question(8, "fit", body))
        finally:
            await pool.close()

    assert json.loads(asyncio.run(answered()))["kind"] == "film"


@pytest.mark.parametrize("ends", ["at the end of a task", "in the middle of one", "with a result unread"])
def test_a_process_ends_when_its_server_does(ends, monkeypatch):
    class GoneError(Exception):
        """Instead of the end of this process."""

    class Reset(io.BytesIO):
        def read(self, size=-1):
            if found := super().read(size):
                return found
            raise ConnectionResetError

    def gone(code):
        raise GoneError

    task = workers.packed((1, "answer", ()))
    sent = {"in the middle of one": task[:-3]}.get(ends, task)
    monkeypatch.setattr("linsep.play.worker.os._exit", gone)
    with pytest.raises(GoneError):
        Listener((Reset if "unread" in ends else io.BytesIO)(sent)).run()


def test_connections_that_are_cut_are_no_errors_and_leave_nothing_behind(tmp_path):
    draw = random.Random(0)
    asked = [json.dumps({"v": 1, "id": 1, "do": "fit", "points": many(400), **long}) for long in LONG.values()]
    command = [sys.executable, "-c", "from linsep.cli import run; run()", "play", "--no-browser"]
    said, place = tmp_path / "said", os.environ | {"TMPDIR": str(tmp_path)}  # processes are known by their folder
    with said.open("w") as file:
        running = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=file, text=True, env=place)
    try:
        address = running.stdout.readline().strip()
        with talking(address) as page:  # who computes has started
            ask(page, 1, "hello")
            heard(page)
        shake = handshake(address)
        for _ in range(40):
            sent = shake + framed(draw.choice(asked))
            with socket.create_connection(("127.0.0.1", int(parts(address)[0].rpartition(":")[2])), timeout=20) as cut:
                if draw.random() < 0.5:  # the server hears of it by a reset
                    cut.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                cut.sendall(sent[: draw.choice([draw.randrange(len(shake)), draw.randrange(len(sent)), len(sent)])])
                time.sleep(0.1 * draw.random())
        begun = time.monotonic()
        with talking(address) as page:
            ask(page, 1, "fit", points=POINTS, method={"name": "perceptron"})
            assert heard(page)["kind"] == "film"
        assert time.monotonic() - begun < 10
    finally:
        running.terminate()
        running.communicate(timeout=20)
    end = time.monotonic() + 10
    while str(tmp_path) in subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True).stdout:
        assert time.monotonic() < end, "processes that have lost their server go on"
        time.sleep(0.05)
    assert "Traceback" not in said.read_text()


def computing():
    """Return the numbers of the processes that compute for servers of this test."""
    listed = subprocess.run(["ps", "-eo", "pid,ppid,args"], capture_output=True, text=True, check=True).stdout
    rows = [line.split(None, 2) for line in listed.splitlines()[1:]]
    ours = {str(os.getpid())}
    for _ in range(3):  # servers, what they copy, and its copies
        ours |= {pid for pid, parent, _ in rows if parent in ours}
    return {int(pid) for pid, parent, words in rows if pid in ours and "linsep.play.worker" in words}


def test_a_port_that_is_taken_is_said(address):
    port = parts(address)[0].rpartition(":")[2]
    command = [sys.executable, "-c", "from linsep.cli import run; run()", "play", "--port", port, "--no-browser"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 2
    assert f"port {port} is taken" in done.stderr


@pytest.mark.parametrize(("words", "fragment"), [(None, ""), ("http://127.0.0.1:1/t/#preset=xor", "#preset=xor")])
def test_the_browser_is_opened_at_the_address_that_is_said(words, fragment, monkeypatch, capsys):
    opened: list[str] = []

    class Serving:
        address = "http://127.0.0.1:8421/token/"

        def __init__(self, files, port):
            self.files = files

        def serve(self):
            end = time.monotonic() + 20
            while not opened and time.monotonic() < end:
                time.sleep(0.02)
            self.files.close()

    monkeypatch.setattr("webbrowser.open", opened.append)
    monkeypatch.setattr("linsep.play.server.Running", Serving)
    assert play(words) == 0
    assert opened == [f"http://127.0.0.1:8421/token/{fragment}"]
    assert capsys.readouterr().out == f"{opened[0]}\n"
