"""The server of the page: on this machine only, behind a token, bounded in all it takes; others compute."""

from __future__ import annotations

import asyncio
import secrets
import socket
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from importlib.resources import files as resources
from typing import Any, TypeAlias
from urllib.parse import unquote

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from ..palette import Theme, custom_properties, picture_roles
from . import files, protocol
from .errors import RefusedError
from .workers import Turn, Workers

#: Where the page is found, if nobody else is there.
PORT = 8421
#: Seconds after which a reader that takes nothing is given up.
SLOW = 20.0
#: Questions of one page that may wait, those that a newer one has overtaken not counted; one more ends the connection.
WAITING = 16
TYPES = {"html": "text/html", "css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"}
POLICY = "; ".join(
    [
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "connect-src 'self'",
        "img-src 'self' blob: data:",
        "base-uri 'none'",
        "form-action 'none'",
    ]
)
Scope: TypeAlias = dict[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[Any]]
Send: TypeAlias = Callable[[Any], Awaitable[None]]


def page_files() -> dict[str, bytes]:
    """Return every file of the page; what it draws with, and the buttons of playback, are the replay's own."""
    folder = resources("linsep")  # looked into, not imported: a server needs no solver
    found = {one.name: one.read_bytes() for one in folder.joinpath("play", "page").iterdir() if one.is_file()}
    for name in ("drawing.js", "stage.js", "page.css"):
        found[name] = folder.joinpath("replay", name).read_bytes()
    controls = folder.joinpath("replay", "controls.html").read_bytes()
    found["index.html"] = found["index.html"].replace(b"{{controls}}", controls)
    return found | {"colours.css": custom_properties(_roles).encode()}


def _roles(theme: Theme) -> dict[str, str]:
    """Return the replay's colours, and those of lines that are drawn beside each other."""
    return picture_roles(theme) | {f"series{k}": colour for k, colour in enumerate(theme.series)}


class Guard:
    """Lets through what comes to this machine by its own name, from its own page, with the token."""

    def __init__(self, app: Any, token: str, hosts: set[str], framed_by: str) -> None:
        self._app, self._token, self._hosts = app, token, hosts
        self._policy = f"{POLICY}; frame-ancestors {framed_by}"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        given: dict[bytes, list[bytes]] = {}
        for name, value in scope["headers"]:
            given.setdefault(name.lower(), []).append(value)
        why = self._refusal(scope, {name: value[0].decode("latin-1") for name, value in given.items()}, given)
        if why is not None:
            await self._refuse(scope, receive, send, *why)
            return
        rest = "/" + scope["path"].split("/", 2)[2]
        scope = {**scope, "path": rest, "raw_path": rest.encode()}
        await self._app(scope, receive, self._with_headers(send))

    def _refusal(
        self, scope: Scope, headers: dict[bytes, str], given: dict[bytes, list[bytes]]
    ) -> tuple[int, str] | None:
        if len(given.get(b"host", [])) != 1 or headers[b"host"] not in self._hosts:
            return 421, "This page is served to this machine only, by its own name."
        asks = scope["type"] == "websocket" or scope.get("method") not in ("GET", "HEAD")
        origin = headers.get(b"origin")
        if (asks or origin is not None) and origin != f"http://{headers[b'host']}":
            return 403, "Only the page itself may ask this."
        parts = scope["path"].split("/", 2)
        if len(parts) != 3 or not secrets.compare_digest(parts[1].encode(), self._token.encode()):
            return 404, "Open the address that linsep play printed; it has a token that this one lacks."
        return None

    async def _refuse(self, scope: Scope, receive: Receive, send: Send, status: int, why: str) -> None:
        if scope["type"] == "websocket":
            await receive()
            await send({"type": "websocket.close", "code": 1008, "reason": why})
            return
        await PlainTextResponse(why, status)(scope, receive, self._with_headers(send))

    def _with_headers(self, send: Send) -> Send:
        headers = {
            "content-security-policy": self._policy,
            "x-content-type-options": "nosniff",
            "referrer-policy": "no-referrer",
            "cross-origin-resource-policy": "same-origin",
            "cache-control": "no-store",
        }

        async def sending(message: Any) -> None:
            if message["type"] == "http.response.start":
                more = [(name.encode(), value.encode()) for name, value in headers.items()]
                message = {**message, "headers": [*message.get("headers", []), *more]}
            await send(message)

        return sending


class Site:
    """The page and its questions."""

    def __init__(self, given: files.Files) -> None:
        self._given, self._files, self._workers = given, page_files(), Workers(given.folder)

    def app(self, token: str, hosts: set[str], framed_by: str = "'none'") -> Guard:
        """Return the application."""
        routes = [
            WebSocketRoute("/live", self._live),
            Route("/upload", self._upload, methods=["POST"]),
            Route("/{name:path}", self._file),
        ]
        return Guard(Starlette(routes=routes, lifespan=self._lives), token, hosts, framed_by)

    @asynccontextmanager
    async def _lives(self, app: Starlette) -> AsyncIterator[None]:
        """Start who computes before a page asks, and end them with the server."""
        self._workers.begin()
        yield
        await self._workers.close()

    async def _file(self, request: Request) -> Response:
        name = request.path_params["name"] or "index.html"
        if name not in self._files:
            return PlainTextResponse("There is no such file.", 404)
        return Response(self._files[name], media_type=TYPES[name.rpartition(".")[2]])

    async def _upload(self, request: Request) -> Response:
        data = bytearray()
        async for part in request.stream():
            data += part
            if len(data) > files.MOST_BYTES:
                return JSONResponse({"why": f"The page takes files of at most {files.MOST_BYTES:,} bytes."}, 413)
        name = unquote(request.headers.get("x-name", "file.csv"))
        try:
            record = await self._workers.ask(Turn(), "take", name, bytes(data))
        except RefusedError as error:
            record = {"why": str(error)}
        return JSONResponse(record, 422 if "why" in record else 200)

    async def _live(self, socket: WebSocket) -> None:
        await socket.accept()
        page = Conversation(socket, self._workers)
        try:
            await page.hold()
        finally:
            page.end()

    def close(self) -> None:
        """Forget the files."""
        self._given.close()


class Conversation:
    """One page's questions in turn. A newer question of a kind makes an older one pointless: that run ends."""

    def __init__(self, socket: WebSocket, workers: Workers) -> None:
        self._socket, self._workers = socket, workers
        self._waiting, self._come = deque[tuple[protocol.Question, Turn]](), asyncio.Event()
        self._latest: dict[str, Turn] = {}

    async def hold(self) -> None:
        """Read questions and answer them until the page goes."""
        async with asyncio.TaskGroup() as tasks:
            answering = tasks.create_task(self._answer())
            try:
                while True:
                    await self._hear(await self._socket.receive_text())
            except (WebSocketDisconnect, KeyError, asyncio.QueueFull, TimeoutError):
                self.end()
                with suppress(RuntimeError, WebSocketDisconnect):  # it may have gone already
                    await self._socket.close(1008)
            finally:
                answering.cancel()

    async def _hear(self, message: str) -> None:
        try:
            question = protocol.read(message)
        except protocol.MalformedError as error:
            await self._send(protocol.write(error.id, "error", why=str(error)))
            return
        superseded = self._latest.pop(question.do, None)
        if superseded is not None and question.do != "download":
            superseded.give_up()
        self._latest[question.do] = Turn()
        self._waiting = deque(one for one in self._waiting if not one[1].over)
        if len(self._waiting) == WAITING:
            raise asyncio.QueueFull
        self._waiting.append((question, self._latest[question.do]))
        self._come.set()

    async def _next(self) -> tuple[protocol.Question, Turn]:
        while not self._waiting:
            self._come.clear()
            await self._come.wait()
        return self._waiting.popleft()

    async def _answer(self) -> None:
        while True:
            question, turn = await self._next()
            if turn.over:
                continue
            try:
                text = await self._workers.ask(turn, "answer", question)
            except RefusedError as error:
                text = protocol.write(question.id, "refused", why=str(error))
            if not turn.over:
                await self._send(text)

    async def _send(self, text: str) -> None:
        try:
            async with asyncio.timeout(SLOW):
                await self._socket.send_text(text)
        except (TimeoutError, RuntimeError, WebSocketDisconnect):
            self.end()
            with suppress(RuntimeError, WebSocketDisconnect):  # it may have gone already
                await self._socket.close(1008)

    def end(self) -> None:
        """Give up whatever is being computed for this page."""
        for turn in self._latest.values():
            turn.give_up()


def bind(port: int | None) -> socket.socket:
    """Return a socket on this machine: at the port asked for, else at the usual one or any that is free."""
    for one in (port,) if port is not None else (PORT, 0):
        made = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            made.bind(("127.0.0.1", one))
            made.listen(128)  # only now is it ours: two may be bound to a port that nobody listens at yet
            return made
        except OSError as error:
            made.close()
            if port is not None:
                raise RefusedError(
                    f"port {port} is taken ({error.strerror}); choose another one, or leave --port out"
                ) from error
    raise AssertionError("unreachable: port 0 is any that is free")


class Running:
    """A server, bound but not yet serving: `address` is where it will be."""

    def __init__(
        self, given: files.Files, port: int | None = None, token: str | None = None, framed_by: str = "'none'"
    ) -> None:
        self._socket = bind(port)
        self.port = int(self._socket.getsockname()[1])
        self.token = token or secrets.token_urlsafe(12)
        self.address = f"http://127.0.0.1:{self.port}/{self.token}/"
        self._site = Site(given)
        hosts = {f"127.0.0.1:{self.port}", f"localhost:{self.port}"}
        config = uvicorn.Config(
            self._site.app(self.token, hosts, framed_by),
            log_level="warning",
            access_log=False,
            server_header=False,
            ws="websockets-sansio",
            ws_max_size=protocol.MOST_BYTES,
            timeout_graceful_shutdown=1,
            lifespan="on",
        )
        self.server = uvicorn.Server(config)

    def serve(self) -> None:
        """Serve until somebody interrupts."""
        try:
            self.server.run(sockets=[self._socket])
        finally:
            self._site.close()
            self._socket.close()
