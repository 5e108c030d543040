"""A real browser for tests of HTML files: headless Chromium over its DevTools pipe, with the standard library alone.

    def test_page(browser, tmp_path):            # the fixture of conftest.py; it skips where there is no Chromium
        with browser.open(tmp_path / "page.html", width=360) as page:
            page.click("#play")
            page.wait_for("document.title === 'done'")
            assert page.problems == []           # errors on the console, exceptions, requests to the network

Every wait is bounded. The browser runs in a process group of its own, which `close` ends.
"""

import base64
import contextlib
import io
import json
import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

#: Seconds that anything may take.
PATIENCE = 120.0
#: And a little more, for a machine that stood still in between.
GRACE = 5.0
FLAGS = (
    "--headless=new",
    "--no-sandbox",  # the files are ours, and root has no sandbox
    "--remote-debugging-pipe",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-extensions",
    "--disable-sync",
    "--no-first-run",
    "--no-default-browser-check",
    "--mute-audio",
    "--force-color-profile=srgb",
)
#: Chromium reads file 3 and writes file 4; a child of a program with threads is safest set up by another program.
LAUNCH = (
    "import os, sys; r, w = map(int, sys.argv[1:3]); os.dup2(r, 3); os.dup2(w, 4); os.execv(sys.argv[3], sys.argv[3:])"
)
KEYS = {" ": ("Space", 32), "ArrowLeft": ("ArrowLeft", 37), "ArrowRight": ("ArrowRight", 39)}
KEYS |= {"Home": ("Home", 36), "End": ("End", 35), "Tab": ("Tab", 9), "Enter": ("Enter", 13)}
KEYS |= {"ArrowUp": ("ArrowUp", 38), "ArrowDown": ("ArrowDown", 40), "Delete": ("Delete", 46)}
KEYS |= {letter: (f"Key{letter.upper()}", ord(letter.upper())) for letter in "mz"}
KEYS |= {digit: (f"Digit{digit}", ord(digit)) for digit in "0123"} | {"+": ("Equal", 187), "-": ("Minus", 189)}
CONTROL, SHIFT = 2, 8


def find():
    """Return the browser's path, or None."""
    if os.name == "nt":  # its pipes have no numbers to inherit
        return None
    names = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
    return next(filter(None, map(shutil.which, names)), None)


class Browser:
    """One running Chromium."""

    def __init__(self, program):
        self._folder = tempfile.TemporaryDirectory(prefix="linsep-browser-", ignore_cleanup_errors=True)
        read, their_write = (high(fd) for fd in os.pipe())
        their_read, write = (high(fd) for fd in os.pipe())
        words = [sys.executable, "-IS", "-c", LAUNCH, str(their_read), str(their_write), program]
        words += [*FLAGS, f"--user-data-dir={self._folder.name}"]
        quiet = dict(stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        ours = dict(pass_fds=(their_read, their_write), start_new_session=True)
        self._process = subprocess.Popen(words, **quiet, **ours)
        os.close(their_read)
        os.close(their_write)
        self._read, self._write, self._buffer, self._number = read, write, b"", 0
        self._listeners = {}
        self.call("Browser.getVersion")

    def call(self, method, session=None, **parameters):
        """Send one command and return its answer; what happens meanwhile goes to whoever listens."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if session is not None:
            message["sessionId"] = session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self._write, data) :]
        number, until = self._number, time.monotonic() + PATIENCE
        while (answer := self.next_message(until)).get("id") != number:
            pass
        if "error" in answer:
            raise RuntimeError(f"{method}: {answer['error']}")
        return answer["result"]

    def next_message(self, until):
        """Return the next message, having told whoever listens of it; raise where none comes in time."""
        while b"\0" not in self._buffer:
            left = max(until - time.monotonic(), GRACE)
            if not select.select([self._read], [], [], left)[0] and time.monotonic() > until + GRACE:
                raise TimeoutError(f"the browser said nothing for {PATIENCE} seconds")
            if not (data := os.read(self._read, 2**20)):
                raise RuntimeError(f"the browser has gone, with code {self._process.poll()}")
            self._buffer += data
        line, _, self._buffer = self._buffer.partition(b"\0")
        message = json.loads(line)
        if "method" in message and (listener := self._listeners.get(message.get("sessionId"))):
            listener(message["method"], message["params"])
        return message

    @contextlib.contextmanager
    def open(self, path, *, width=1000, height=800, dark=False, reduced_motion=False, touch=False):
        """Show a file, or what a server on this machine has at an address, in a new page."""
        address = path if str(path).startswith("http://127.0.0.1") else Path(path).resolve().as_uri()
        local = "/".join(address.split("/")[:3]) + "/" if address.startswith("http") else "file:"
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        page = Page(self, session, local)
        self._listeners[session] = page.hear
        try:
            for domain in ("Page", "Runtime", "Log", "Network"):
                page.call(f"{domain}.enable")
            size = dict(width=width, height=height, deviceScaleFactor=1, mobile=touch)
            page.call("Emulation.setDeviceMetricsOverride", **size)
            schemes = {"prefers-color-scheme": "dark" if dark else "light"}
            schemes["prefers-reduced-motion"] = "reduce" if reduced_motion else "no-preference"
            features = [{"name": name, "value": value} for name, value in schemes.items()]
            page.call("Emulation.setEmulatedMedia", features=features)
            page.call("Emulation.setTouchEmulationEnabled", enabled=touch)
            page.call("Page.navigate", url=address)
            page.wait_for("document.readyState === 'complete' && location.protocol !== 'about:'")
            yield page
        finally:
            del self._listeners[session]
            self.call("Target.closeTarget", targetId=target)

    @contextlib.contextmanager
    def traced(self, *categories):
        """Yield a list that has, in the end, the events of Chromium's trace."""
        events, ended = [], []

        def hear(method, event):
            events.extend(event.get("value", []) if method == "Tracing.dataCollected" else [])
            ended.extend([True] if method == "Tracing.tracingComplete" else [])

        self._listeners[None] = hear
        self.call("Tracing.start", categories=",".join(categories), transferMode="ReportEvents")
        try:
            yield events
            self.call("Tracing.end")
            until = time.monotonic() + PATIENCE
            while not ended:
                self.next_message(until)
        finally:
            del self._listeners[None]

    def close(self):
        """End the browser, and whatever it started."""
        with contextlib.suppress(RuntimeError, TimeoutError, OSError):
            self.call("Browser.close")
        try:
            self._process.wait(5)
        except subprocess.TimeoutExpired:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait(5)
        os.close(self._read)
        os.close(self._write)
        self._folder.cleanup()


class Page:
    """One page, and everything that went wrong on it."""

    def __init__(self, browser, session, local="file:"):
        self._browser, self._session, self._local = browser, session, local
        self.problems = []

    def call(self, method, **parameters):
        return self._browser.call(method, self._session, **parameters)

    def hear(self, method, event):
        """Note errors, warnings and requests."""
        if method == "Runtime.exceptionThrown":
            self.problems.append(event["exceptionDetails"].get("exception", {}).get("description", "an exception"))
        elif method == "Runtime.consoleAPICalled" and event["type"] in ("error", "warning", "assert"):
            self.problems.append(f"console: {[argument.get('value') for argument in event['args']]}")
        elif method == "Log.entryAdded" and event["entry"]["level"] in ("error", "warning"):
            self.problems.append(f"log: {event['entry']['text']}")
        elif method == "Network.requestWillBeSent" and not event["request"]["url"].startswith(
            (self._local, "data:", "blob:")
        ):
            self.problems.append(f"network: {event['request']['url']}")

    def evaluate(self, script):
        """Return the value of an expression (of a promise, what it becomes)."""
        done = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in done:
            raise AssertionError(done["exceptionDetails"].get("exception", {}).get("description", script))
        return done["result"].get("value")

    def wait_for(self, condition, seconds=10.0):
        """Wait until an expression is true, and return its value."""
        until, tries = time.monotonic() + seconds, 0
        while not (value := self.evaluate(condition)):
            tries += 1
            if time.monotonic() > until and tries > 20 * seconds:
                raise AssertionError(f"not true within {seconds} seconds: {condition}")
            time.sleep(0.02)
        return value

    def text(self, selector):
        """Return the text of an element as it is shown."""
        return self.evaluate(f"document.querySelector({json.dumps(selector)}).innerText")

    def click(self, selector):
        """Press and release the mouse in the middle of an element, once it stands still and nothing covers it."""
        script = f"""(() => {{ const element = document.querySelector({json.dumps(selector)});
            element.scrollIntoView({{block: "center", behavior: "instant"}});
            const box = element.getBoundingClientRect(), place = [box.x + box.width / 2, box.y + box.height / 2];
            return [...place, element.contains(document.elementFromPoint(...place))]; }})()"""
        until, seen = time.monotonic() + 10.0, None
        while (found := self.evaluate(script)) != seen or not found[2]:
            if time.monotonic() > until:
                raise AssertionError(f"{selector} does not stand still, or is covered: {found}")
            seen = found
            time.sleep(0.02)
        self.drag(found[:2])

    def drag(self, *places, modifiers=0):
        """Press the mouse at the first place, move it over the others, and release it at the last."""
        self._mouse("mousePressed", places[0], modifiers)
        for place in places[1:]:
            self._mouse("mouseMoved", place, modifiers)
        self._mouse("mouseReleased", places[-1], modifiers)

    def _mouse(self, kind, place, modifiers):
        held = dict(button="left", buttons=1, clickCount=1, modifiers=modifiers)
        self.call("Input.dispatchMouseEvent", type=kind, x=place[0], y=place[1], **held)

    def hover(self, place):
        """Move the mouse to a place."""
        self.call("Input.dispatchMouseEvent", type="mouseMoved", x=place[0], y=place[1])

    def drop_file(self, path, place):
        """Drag a file of this machine over a place, and let it fall."""
        data = dict(items=[], files=[str(path)], dragOperationsMask=1)
        for kind in ("dragEnter", "dragOver", "drop"):
            self.call("Input.dispatchDragEvent", type=kind, x=place[0], y=place[1], data=data)

    def touch(self, *places):
        """Put a finger down at the first place, move it over the others, and lift it."""
        for k, (x, y) in enumerate(places):
            kind = "touchMove" if k else "touchStart"
            self.call("Input.dispatchTouchEvent", type=kind, touchPoints=[dict(x=x, y=y)])
        self.call("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])

    def pinch(self, *places):
        """Put two fingers down at the first pair of places, move them over the others, and lift them."""
        for k, pair in enumerate(places):
            kind = "touchMove" if k else "touchStart"
            fingers = [dict(x=x, y=y, id=number) for number, (x, y) in enumerate(pair)]
            if not k:
                self.call("Input.dispatchTouchEvent", type=kind, touchPoints=fingers[:1])
            self.call("Input.dispatchTouchEvent", type=kind, touchPoints=fingers)
        self.call("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])

    def wheel(self, place, by, modifiers=0):
        """Turn the wheel over a place."""
        where = dict(x=place[0], y=place[1], deltaX=0, deltaY=by, modifiers=modifiers)
        self.call("Input.dispatchMouseEvent", type="mouseWheel", **where)

    def press(self, key, modifiers=0):
        """Press and release a key."""
        code, number = KEYS[key]
        what = dict(key=key, code=code, windowsVirtualKeyCode=number, modifiers=modifiers)
        if len(key) == 1 and not modifiers:
            what["text"] = key
        self.call("Input.dispatchKeyEvent", type="keyDown", **what)
        self.call("Input.dispatchKeyEvent", type="keyUp", **what)

    def screenshot(self, path=None, *, whole=False):
        """Return what is shown as an array of shape (height, width, 3), and write it to a PNG file if asked to."""
        data = base64.b64decode(self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)["data"])
        if path is not None:
            Path(path).write_bytes(data)
        from PIL import Image

        return np.asarray(Image.open(io.BytesIO(data)).convert("RGB"))

    def overflow(self):
        """Return by how many pixels the page is wider than the window."""
        return self.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")


def high(descriptor):
    """Return the same file under a number that nothing else claims; 3 and 4 are the browser's."""
    import fcntl

    duplicate = fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, 10)
    os.close(descriptor)
    return duplicate
