"""A process that computes for pages: tasks come through its standard input, results leave by its standard output.

Given a socket instead, it loads what is needed and waits there for connections, for each of which it makes a copy of
itself that computes.

A task is ``(number, name of a method of Answers, its arguments)``; ``(number, None, ())`` says that nobody waits for
the result of a task any more. It says None when it is ready and when it has begun with a task, whose result follows. It
ends when its input does, which is when the server has gone.
"""

from __future__ import annotations

import os
import pickle
import queue
import signal
import socket
import sys
import threading
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

from .answers import Answers
from .files import Files
from .workers import packed

Task = tuple[int, str | None, tuple[Any, ...]]


class Listener(threading.Thread):
    """Reads tasks while another one is computed, and remembers whose result nobody waits for."""

    def __init__(self, stream: BinaryIO) -> None:
        super().__init__(daemon=True)
        self._stream, self._given_up, self.tasks = stream, -1, queue.SimpleQueue[Task]()

    def run(self) -> None:
        """Read until the server goes: at the end of a task, in the middle of one, or without having read a result."""
        with suppress(OSError):
            while (task := self._next()) is not None:
                number, name, arguments = pickle.loads(task)
                if name is None:
                    self._given_up = number
                else:
                    self.tasks.put((number, name, arguments))
        os._exit(0)  # whatever is being computed: nobody is left to hear of it

    def _next(self) -> bytes | None:
        """Return a task as it came, or None where the stream ends before it does."""
        if len(size := self._stream.read(8)) < 8:
            return None
        task = self._stream.read(length := int.from_bytes(size, "big"))
        return task if len(task) == length else None

    def given_up(self, number: int) -> bool:
        """Return whether nobody waits for a task."""
        return number <= self._given_up


def compute(answers: Answers, tasks: BinaryIO, results: BinaryIO) -> None:
    """Compute until the tasks end."""
    listener = Listener(tasks)
    listener.start()

    def say(result: Any) -> None:
        try:
            results.write(packed(result))
            results.flush()
        except OSError:
            os._exit(0)  # the server has gone

    say(None)
    while True:
        number, name, arguments = listener.tasks.get()
        say(None)
        say(getattr(answers, str(name))(*arguments, partial(listener.given_up, number)))


def copy(answers: Answers, asked: socket.socket) -> None:
    """Make a copy for everyone who asks."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for those that have ended
    while True:
        _, given, _, _ = socket.recv_fds(asked, 1, 1)
        if not given:
            os._exit(0)  # the server has gone
        if os.fork() == 0:
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            asked.close()
            line = socket.socket(fileno=given[0])
            compute(answers, line.makefile("rb"), line.makefile("wb"))
        os.close(given[0])


def main(folder: str, number: str | None = None) -> None:
    """Do so with the files of a folder, and with the socket of that number."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the server's, whose end ends this
    answers = Answers(Files(Path(folder)))
    if number is not None:
        copy(answers, socket.socket(fileno=int(number)))
    results = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what somebody prints is no result
    compute(answers, sys.stdin.buffer, results)


if __name__ == "__main__":
    main(*sys.argv[1:])
