"""A quick start and a quick end of the command.

Modules that scikit-learn and pyarrow load, and no command uses, are left out: more than half of the time that a small
file takes. Only the process of a command does this, before anything else: a library that is imported leaves the import
of others alone. ``LINSEP_PLAIN_START=1`` turns off all of it.
"""

from __future__ import annotations

import atexit
import ctypes
import importlib.util
import os
import signal
import sys
import time
from importlib.abc import MetaPathFinder
from threading import RLock, Thread
from typing import Any

from .._common.threads import address_limit, is_room

#: Turns off what starts and ends a command quickly.
PLAIN = "LINSEP_PLAIN_START"
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


def defer(name: str) -> None:
    """Let a module be loaded when something of it is first used, and not when it is imported.

    The standard library's `LazyLoader` loads at the second import, which asks for the module's ``__spec__``.

    Examples
    --------
    >>> defer("pyclbr")
    >>> import pyclbr
    >>> "readmodule" in vars(pyclbr), callable(pyclbr.readmodule), "readmodule" in vars(pyclbr)
    (False, True, True)
    """
    spec = None if name in sys.modules else importlib.util.find_spec(name)
    if spec is None or spec.loader is None:
        return
    module, loader, lock = importlib.util.module_from_spec(spec), spec.loader, RLock()

    def load(attribute: str) -> Any:
        with lock:
            if vars(module).pop("__getattr__", None) is not None:
                loader.exec_module(module)
            return getattr(module, attribute)

    vars(module)["__getattr__"] = load
    sys.modules[name] = module
    parent, _, child = name.rpartition(".")
    if parent:
        setattr(sys.modules[parent], child, module)


class _Absent(MetaPathFinder):
    """Finds that one package is not there."""

    def __init__(self, name: str) -> None:
        self.name = name

    def find_spec(self, name: str, path: object = None, target: object = None) -> None:
        if name == self.name:
            raise ModuleNotFoundError(f"{name} is not used by this process", name=name)


def leave_out(name: str) -> None:
    """Let a package that others use if it is there seem not to be, unless it is imported already."""
    if name not in sys.modules:
        sys.meta_path.insert(0, _Absent(name))
