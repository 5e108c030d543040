"""A quick start of the command: what scikit-learn loads and no command uses is left for later, or out.

Half of a second, of which a small file's fit takes a hundredth. Only the process of a command does this, before
anything else: a library that is imported leaves the import of others alone.
"""

from __future__ import annotations

import importlib.util
import sys
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec

__all__ = ["defer", "load_without"]


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


def load_without(name: str, optional: str) -> None:
    """Import a module as if another, which it would also use, were not installed; afterwards that can be imported."""
    if name in sys.modules or optional in sys.modules:
        return
    sys.modules[optional] = None  # type: ignore[assignment]  # Python's own way to say that there is none
    try:
        importlib.import_module(name)
    finally:
        del sys.modules[optional]
