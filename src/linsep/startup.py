"""A quick start of the command: what scikit-learn and pyarrow load, and no command uses, is left for later, or out.

It is more than half of the time that a small file takes. Only the process of a command does this, before
anything else: a library that is imported leaves the import of others alone.
"""

from __future__ import annotations

import importlib.util
import sys
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec

__all__ = ["defer", "leave_out"]


class _Later(MetaPathFinder):
    """Finds one module, once, so that it is loaded when something of it is first used."""

    def __init__(self, name: str) -> None:
        self.name = name

    def find_spec(self, name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        if name != self.name:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.loader is not None:
            spec.loader = importlib.util.LazyLoader(spec.loader)
        return spec


def defer(name: str) -> None:
    """Let a module be loaded when something of it is first used, and not when it is imported.

    Examples
    --------
    >>> defer("colorsys")
    >>> import colorsys
    >>> type(colorsys).__name__, colorsys.rgb_to_hsv(0, 0, 0), type(colorsys).__name__
    ('_LazyModule', (0.0, 0.0, 0), 'module')
    """
    if name not in sys.modules:
        sys.meta_path.insert(0, _Later(name))


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
