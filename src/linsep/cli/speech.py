"""Output of the commands: results on standard output, progress and remarks on standard error."""

from __future__ import annotations

import json as json_format
import re
import sys
import threading
import time
from collections.abc import Callable, Iterable
from typing import Any

from .._common.threads import is_room

#: What the library says in terms of its parameters, and what that is for somebody who typed a command.
PHRASES = (
    (
        r"(are not linearly separable): .*?\. (The planes? reported|All planes vote)",
        r"\1 (`linsep separable` shows why). \2",
    ),
    (r"; raise max_iter, (?:or scale the features|scale the features, or choose another stopping rule)", ""),
    (r"\braise max_iter\b", "it takes more passes"),
    (r"\braise tol\b", "raise --tol"),
    (r"\bafter max_iter=(\d+)(?: iterations)?", r"after \1 iterations"),
    (r", e\.g\. with sklearn\.preprocessing\.StandardScaler", ""),
    (r"`separability` has the proof", "`linsep separable` has the proof"),
    (r"`estimates` tells which are finite", "`linsep separable --estimates` tells which are finite"),
    (r"\blinsep\.estimates has the limit", "`linsep separable --estimates` proves it"),
    (r"\b(?:use|give) a finite C\b", "give a finite --C"),
    (r"\bpenalty='l2'", "--l1-ratio 0"),
    (r"\bnot tol=", "not the --tol "),
    (r"\bwithin time_limit=(\S+) s\b", r"within --time-limit \1"),
    (r"\braise time_limit\b", "raise --time-limit"),
    (r"\bsample_weight \(times class_weight\) is zero for all examples", "every row has the weight 0"),
)

#: What `linsep replay` has its own options for.
REPLAYED = (
    (r"^\w+(?:Classifier|SVC|Regression|Perceptron)? (did not converge|has not reached its goal)", r"The fit \1"),
    (r"\braise max_iter\b", "raise --max-iter"),
    (r"\bafter max_iter=(\d+)(?: iterations)?", r"after --max-iter \1"),
    (r"solver '\w+' (stopped by its own rule); leave it more iterations, or use solver='auto'", r"it \1"),
    (r"\b(raise --max-iter), (?:or scale the features|scale the features, or choose another stopping rule)", r"\1"),
    (r"(?:;|, or) raise tol\b", ""),
    (r", (?:hence )?not tol=[0-9.e-]*[0-9]", ""),
)


def for_commands(message: object) -> str:
    """Return what the library says in the words of the commands.

    Examples
    --------
    >>> for_commands("nothing more can be proven; use a finite C")
    'nothing more can be proven; give a finite --C'
    """
    text = str(message)
    for pattern, words in PHRASES:
        text = re.sub(pattern, words, text)
    return text


def for_replays(message: object) -> str:
    """Return the same in the words of `linsep replay`, which has options for steps and their sizes.

    Examples
    --------
    >>> for_replays("the step size Constant(eta=5.0) is too large. Try InverseSqrt(eta=0.5)")
    'the step size (--schedule constant --eta 5.0) is too large. Try --schedule inverse_sqrt --eta 0.5'
    """
    from ..schedules import SCHEDULES

    text = str(message)
    for pattern, words in REPLAYED:
        text = re.sub(pattern, words, text)
    for option, schedule in SCHEDULES.items():
        written, said = rf"{schedule.__name__}\(eta=([^,)]+)[^)]*\)", rf"--schedule {option} --eta \1"
        text = re.sub(rf"\b{written}", said, re.sub(rf"\bstep size {written}", f"step size ({said})", text))
    return for_commands(text)


def print_json(record: dict[str, Any]) -> None:
    """Print a result for a program."""
    print(json_format.dumps(record, indent=2, ensure_ascii=False, allow_nan=False))


def show(record: dict[str, Any], text: object, json: bool, notes: Iterable[object] = ()) -> None:
    """Print a result, for a program or for people, and say beside it what else is to be known."""
    for remark in notes:
        note(remark)
    if json:
        print_json(record)
    else:
        print(text)


def print_styled(render: Callable[[bool], str]) -> None:
    """Print text in rich's markup where there is colour, plain text elsewhere."""
    from rich.console import Console

    console = Console()
    # Sixteen colours cannot show a faint blue beside a faint orange; shades of characters can.
    color = console.color_system in ("256", "truecolor") and not console.no_color
    # Left to itself, rich folds lines at the width it guesses, which is 80 in a pipe.
    console.print(render(color), markup=color, highlight=False, emoji=False, soft_wrap=True)


class Waiting:
    """Says on standard error what is going on, once it has taken more than a second; and how fast rows go by."""

    def __init__(self, what: str = "", patience: float = 1.0) -> None:
        self._patience, self._began, self._what = patience, time.monotonic(), what
        self._lock = threading.Lock()
        self._status: Any = None
        self._timer: threading.Timer | None = None
        self._told = 0.0
        self._what_began, self._done = ("", 0.0, 0), 0

    def __enter__(self) -> Waiting:
        if self._what:
            self.on(self._what)
        return self

    def __exit__(self, *failure: object) -> None:
        with self._lock:
            if self._timer is not None:
                self._timer.cancel()
            if self._status is not None:
                self._status.stop()

    def on(self, what: str) -> None:
        """Name the next thing that takes time."""
        with self._lock:
            if self._timer is not None:
                self._timer.cancel()
            self._what = what
            if self._status is not None:
                self._status.update(what)
                return
            self._timer = threading.Timer(self._patience, self._show)
            self._timer.daemon = True
            if is_room():
                self._timer.start()

    def share(self, what: str, done: int, total: int) -> None:
        """Tell what is going on, how much of it is done, at what rate and, if there is a total, how long it takes."""
        now = time.monotonic()
        if what != self._what_began[0] or done <= self._done:  # rows that come by again under the same name, too
            self._what_began = what, now, done
        self._done = done
        if self._is_due():
            rate = (done - self._what_began[2]) / max(now - self._what_began[1], 1e-3)
            speed = f", {rate:,.0f} a second" if rate else ""  # nobody knows how fast the first of them went
            left = f", {(total - done) / rate:,.0f} s left" if total and rate else ""
            self._tell(f"{what}: {done:,}{f' of {total:,}' if total else ''} rows{speed}{left}")

    def say(self, text: str) -> None:
        """Tell how far it has come, now and then."""
        if self._is_due():
            self._tell(text)

    def _is_due(self) -> bool:
        """Whether it is time to tell: not at first, and not more often than twice a second."""
        now = time.monotonic()
        due = now - self._told > 0.5 and now - self._began > self._patience
        if due:
            self._told = now
        return due

    def _tell(self, text: str) -> None:
        with self._lock:
            self._what = text
        self._show()

    def _show(self) -> None:
        from rich.console import Console

        console = Console(stderr=True)
        with self._lock:
            if self._status is not None:
                self._status.update(self._what)
            elif not console.is_terminal:
                print(f"linsep: {self._what} …", file=sys.stderr, flush=True)
            else:
                self._status = console.status(self._what)
                self._status.start()


def note(message: object) -> None:
    """Say something that is not the result."""
    print(f"linsep: {message}", file=sys.stderr)


def note_dashboard(session: Any) -> None:
    """Say where a cluster shows what it does."""
    if session.dashboard is not None:
        note(f"the cluster shows what it does at {session.dashboard}")
