"""A quick start of the command: modules that scikit-learn and pyarrow load, and no command uses, are left out.

It is more than half of the time that a small file takes. Only the process of a command does this, before
anything else: a library that is imported leaves the import of others alone.
"""

from __future__ import annotations

import importlib.util
import sys
from importlib.abc import MetaPathFinder
from threading import RLock
from typing import Any


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
