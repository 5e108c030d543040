"""The processes that compute: a page has one at a time for itself, and more are started while pages wait."""

from __future__ import annotations

import asyncio
import os
import pickle
import socket
import sys
from collections import deque
from contextlib import suppress
from pathlib import Path
from typing import Any

from .errors import RefusedError

#: Processes at the most, and those that stay when nothing is to do; others end after so many seconds of it.
MOST, KEPT, IDLE = 12, 2, 60.0
#: Seconds that a run may go on after it was given up; then its process is ended. Seconds that a page waits for its turn
#: before another process is started.
GRACE, PATIENCE = 0.5, 0.05
#: Seconds after which a process that has not said that it is ready is given up, and another one is started.
LOADED = 60.0
#: Where a process is made by copying one that has loaded everything, which takes a hundredth of the time; elsewhere
#: libraries are known not to bear it.
COPIES = sys.platform == "linux"


def packed(record: Any) -> bytes:
    """Return a record as it goes through a pipe: eight bytes that say how many follow."""
    data = pickle.dumps(record, protocol=5)
    return len(data).to_bytes(8, "big") + data


class Turn:
    """A page's turn to have something computed, until it gives it up."""

    def __init__(self) -> None:
        self.over, self._told = False, asyncio.Event()

    def give_up(self) -> None:
        """Say that nobody waits for the result any more."""
        self.over = True
        self._told.set()

    async def given_up(self) -> None:
        """Wait until it is."""
        await self._told.wait()


class Worker:
    """A process of `linsep.play.worker`, seen from the server; it ends when its connection does."""

    def __init__(self, results: asyncio.StreamReader, tasks: asyncio.StreamWriter) -> None:
        self._results, self._tasks, self._number = results, tasks, 0
        self.begun = False  # whether it has, with what it was asked last
        self.retirement: asyncio.TimerHandle | None = None

    async def ask(self, name: str, *arguments: Any) -> Any:
        """Return what a method of `Answers` does; raise `EOFError` where the process has gone."""
        self._number, self.begun = self._number + 1, False
        self._send((self._number, name, arguments))
        await self.result()
        self.begun = True
        return await self.result()

    def give_up(self) -> None:
        """Tell it that nobody waits for what it computes."""
        self._send((self._number, None, ()))

    def _send(self, task: Any) -> None:
        self._tasks.write(packed(task))

    async def result(self) -> Any:
        """Return what it says next."""
        size = int.from_bytes(await self._results.readexactly(8), "big")
        return pickle.loads(await self._results.readexactly(size))

    @property
    def gone(self) -> bool:
        """Whether the process has ended."""
        return self._results.at_eof()

    def end(self) -> None:
        """End the process, whatever it does."""
        self._tasks.close()

    async def ended(self) -> None:
        """End it, and wait until the connection has gone."""
        self.end()
        with suppress(OSError):
            await self._tasks.wait_closed()


class Source:
    """Where processes come from."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._model: socket.socket | None = None  # a process to be copied, by the socket that it listens at
        self._processes = list[asyncio.subprocess.Process]()

    async def worker(self) -> Worker:
        """Return one that has loaded what it needs; raise `OSError` or `EOFError` where none can be made."""
        try:
            return await self._ready()
        except (EOFError, OSError):
            self.close()  # what is copied may have gone: once more, from the beginning
            return await self._ready()

    async def _ready(self) -> Worker:
        if COPIES:
            worker = Worker(*await self._copied())
        else:
            process = await self._started(stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE)
            assert process.stdout is not None
            assert process.stdin is not None
            worker = Worker(process.stdout, process.stdin)
        try:
            async with asyncio.timeout(LOADED):
                await worker.result()
        except BaseException:
            await worker.ended()
            raise
        return worker

    async def _started(self, *words: str, **more: Any) -> asyncio.subprocess.Process:
        place = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}  # where linsep was found
        command = [sys.executable, "-m", "linsep.play.worker", str(self._folder), *words]
        process = await asyncio.create_subprocess_exec(*command, env=place, **more)
        self._processes.append(process)
        return process

    async def _copied(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        if self._model is None:
            self._model, theirs = socket.socketpair()
            with theirs:  # what somebody prints there is no part of what the server says
                nothing, number = asyncio.subprocess.DEVNULL, theirs.fileno()
                await self._started(str(number), pass_fds=[number], stdin=nothing, stdout=2)
            self._model.setblocking(False)
        ours, theirs = socket.socketpair()
        try:
            with theirs:
                socket.send_fds(self._model, [b"+"], [theirs.fileno()])
            return await asyncio.open_connection(sock=ours)
        except BaseException:
            ours.close()
            raise

    def close(self) -> None:
        """End the process that is copied."""
        if self._model is not None:
            self._model.close()
        self._model = None

    async def closed(self) -> None:
        """End it, and wait until all that were started have ended, which they do with their connections."""
        self.close()
        for process in self._processes:
            await process.wait()


class Workers:
    """Processes that compute for pages in the order in which they ask; more are started while pages wait."""

    def __init__(self, folder: Path) -> None:
        self._source = Source(folder)
        self._idle, self._all = list[Worker](), set[Worker]()
        self._waiting, self._starting = deque[asyncio.Future[Worker]](), False
        self._tasks = set[asyncio.Task[Any]]()

    def begin(self) -> None:
        """Start the first of them, which a page will want soon."""
        self._grow()

    async def ask(self, turn: Turn, name: str, *arguments: Any) -> Any:
        """Return what a method of `Answers` does with these arguments; None where the turn was given up."""
        return await asyncio.shield(self._kept(self._run(turn, name, arguments)))  # a page may go: the run has to end

    async def _run(self, turn: Turn, name: str, arguments: tuple[Any, ...]) -> Any:
        worker = self._free() or await self._next()
        try:
            return await self._asked(worker, turn, name, arguments)
        except EOFError:
            if (
                not worker.begun
            ):  # it had ended while nobody asked it anything: the next one has just said that it lives
                with suppress(EOFError):
                    return await self._asked(await self._next(), turn, name, arguments)
            raise RefusedError(
                "The process that computed this has ended unexpectedly; ask again, of fewer points."
            ) from None

    async def _asked(self, worker: Worker, turn: Turn, name: str, arguments: tuple[Any, ...]) -> Any:
        work, over = self._kept(worker.ask(name, *arguments)), self._kept(turn.given_up())
        await asyncio.wait([work, over], return_when=asyncio.FIRST_COMPLETED)
        if not work.done():
            worker.give_up()
            await asyncio.wait([work], timeout=GRACE)
        over.cancel()
        lost = not work.done() or work.exception() is not None
        if lost:  # ended by us, or by itself, with its reasons on the standard error
            work.cancel()
            self._end(worker)
            self._grow()
        else:
            self._give_back(worker)
        if lost and not turn.over:
            raise EOFError
        return None if turn.over else work.result()

    def _free(self) -> Worker | None:
        """Take an idle one that is not known to have ended."""
        while self._idle:
            worker = self._idle.pop()
            if worker.retirement is not None:
                worker.retirement.cancel()
            if not worker.gone:
                return worker
            self._end(worker)
        return None

    async def _next(self) -> Worker:
        """Wait for the next one that is started, or that has done its work."""
        ticket: asyncio.Future[Worker] = asyncio.get_running_loop().create_future()
        self._waiting.append(ticket)
        asyncio.get_running_loop().call_later(PATIENCE, lambda: None if ticket.done() else self._grow())
        return await ticket

    def _serve(self) -> None:
        """Give what is free to those who have waited longest."""
        while self._waiting and (worker := self._free()) is not None:
            self._waiting.popleft().set_result(worker)

    def _grow(self) -> None:
        if not self._starting and len(self._all) < MOST:
            self._starting = True
            self._kept(self._started())

    async def _started(self) -> None:
        try:
            worker = await self._source.worker()
        except (EOFError, OSError):
            self._serve()  # to whoever waited for a new one, too: any will do
            while self._waiting and not self._all:
                why = RefusedError("No process could be started to compute this; is memory short?")
                self._waiting.popleft().set_exception(why)
            return
        finally:
            self._starting = False
        self._all.add(worker)
        self._give_back(worker)
        if self._waiting or len(self._all) < KEPT:
            self._grow()

    def _give_back(self, worker: Worker) -> None:
        self._idle.append(worker)
        self._serve()
        if worker in self._idle and len(self._all) > KEPT:
            worker.retirement = asyncio.get_running_loop().call_later(IDLE, self._retire, worker)

    def _retire(self, worker: Worker) -> None:
        if worker in self._idle and len(self._all) > KEPT:
            self._idle.remove(worker)
            self._end(worker)

    def _end(self, worker: Worker) -> None:
        self._all.discard(worker)
        worker.end()

    def _kept(self, work: Any) -> asyncio.Task[Any]:
        """Return a task that nobody needs to remember."""
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def close(self) -> None:
        """End all of them."""
        left = list(self._tasks)
        for task in left:
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)
        for worker in self._all:
            await worker.ended()
        await self._source.closed()
