"""A quick start and a quick end of the command.

Modules that scikit-learn and pyarrow load, and no command uses, are left out: more than half of the time that a small
file takes. Only the process of a command does this, before anything else: a library that is imported leaves the import
of others alone. ``LINSEP_PLAIN_START=1`` turns off all of it.
"""

from __future__ import annotations

import atexit
import ctypes
import os
import signal
import sys
import time
from collections.abc import Collection
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from threading import RLock, Thread
from types import ModuleType
from typing import Any

from .._common.threads import address_limit, is_room

#: Turns off what starts and ends a command quickly.
PLAIN = "LINSEP_PLAIN_START"
#: What other packages load at their own start, and most commands never ask for.
SELDOM = ("asyncio", "numpy.f2py", "numpy.testing", "pyarrow.parquet", "scipy.stats")
#: Seconds that a command has to clean up after a signal.
GRACE = 1.5
#: Bytes of addresses below which it is luck whether a command ends: the packages and their threads take most of them.
LEAST = 1 << 30


def is_plain() -> bool:
    """Whether a command shall start and end as any program of Python does: somebody says so, or watches it.

    Coverage and profilers trace the process, or have registered by now what shall run at its end.
    """
    watched = sys.gettrace() is not None or sys.getprofile() is not None or atexit._ncallbacks() > 0
    return watched or os.environ.get(PLAIN, "") not in ("", "0")


def end_in_time(*signals: int) -> None:
    """Let this process end within `GRACE` seconds of a signal, whatever it is doing then.

    A handler in Python waits for a loop in C to come back, and a pool of threads for its work. Another thread hears of
    the signal at once, and ends the process where that has not cleaned up in time.
    """
    hears, told = os.pipe()
    os.set_blocking(told, False)
    signal.set_wakeup_fd(told, warn_on_full_buffer=False)

    restore = ctypes.CDLL(None).signal  # now: there may be no memory left to look for it then

    def listen() -> None:
        while number := os.read(hears, 1):
            if number[0] in signals:
                time.sleep(GRACE)
                restore(number[0], None)  # which Python allows its main thread alone
                os.kill(os.getpid(), number[0])

    if is_room():
        Thread(target=listen, name="linsep-signals", daemon=True).start()


def check_addresses() -> None:
    """Raise where this process may use fewer addresses than any command takes.

    There libraries fail while they are loaded, each in its own way: some end the process, some wait for ever.
    """
    limit = address_limit()
    if limit is not None and limit < LEAST:
        raise MemoryError(
            f"ulimit -v leaves this process {limit >> 20:,} MB of addresses, and {LEAST >> 20:,} are needed"
        )


def defer(*names: str) -> None:
    """Let modules be loaded when something of them is first used, and not when they are imported.

    The standard library's `LazyLoader` loads at the second import, which asks for the module's ``__spec__``.

    Examples
    --------
    >>> defer("pyclbr")
    >>> import pyclbr
    >>> "readmodule" in vars(pyclbr), callable(pyclbr.readmodule), "readmodule" in vars(pyclbr)
    (False, True, True)
    """
    sys.meta_path.insert(0, _Deferring(names))


class _Deferring(MetaPathFinder):
    """Finds some modules as the system does, to be loaded when they are used."""

    def __init__(self, names: Collection[str]) -> None:
        self.names = names

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        spec = PathFinder.find_spec(name, path, target) if name in self.names else None
        if spec is not None and spec.loader is not None:
            spec.loader = _WhenUsed(spec.loader)
        return spec


class _WhenUsed(Loader):
    """Loads a module when it is first asked for something that a module does not have by itself."""

    def __init__(self, loader: Loader) -> None:
        self.loader, self.lock, self.begun = loader, RLock(), False

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self.loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        names = vars(module)

        def load(attribute: str) -> Any:
            with self.lock:  # another thread waits until all is there
                if not self.begun:
                    self.begun = True
                    self.loader.exec_module(module)
                    if names.get("__getattr__") is load:
                        del names["__getattr__"]
                elif names.get("__getattr__") is load and attribute not in names:  # it asks itself while it is loaded
                    raise AttributeError(f"module {module.__name__!r} has no attribute {attribute!r}")
            return getattr(module, attribute)

        names["__getattr__"] = load


class _Absent(MetaPathFinder):
    """Finds that some packages are not there."""

    def __init__(self, names: Collection[str]) -> None:
        self.names = names

    def find_spec(self, name: str, path: object = None, target: object = None) -> None:
        if name in self.names:
            raise ModuleNotFoundError(f"{name} is not used by this process", name=name)


def leave_out(*names: str) -> None:
    """Let packages that others use if they are there seem not to be, unless they are imported already."""
    sys.meta_path.insert(0, _Absent(names))
