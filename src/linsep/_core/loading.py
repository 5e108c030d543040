"""Which kernels are in use: compiled for this processor, compiled for any, or in plain Python."""

from __future__ import annotations

import os
import warnings
from importlib import import_module
from types import ModuleType
from typing import Any

from . import reference


def load() -> ModuleType | None:
    """Return the compiled kernels that suit this processor, or None: ``LINSEP_KERNELS=reference`` asks for none."""
    wanted = os.environ.get("LINSEP_KERNELS", "")
    if wanted not in ("", "reference", "baseline"):
        known = "use 'reference', 'baseline' or leave it unset"
        warnings.warn(f"LINSEP_KERNELS={wanted!r} is not known and is ignored; {known}", RuntimeWarning, stacklevel=2)
    baseline = None if wanted == "reference" else _import("_kernels")
    if baseline is None or wanted == "baseline" or not baseline.has_avx2():
        return baseline
    return _import("_kernels_avx2") or baseline


def _import(name: str) -> ModuleType | None:
    """Return the compiled module, or None if it was not built. One that was built but does not load is an error."""
    try:
        return import_module(f"{__package__}.{name}")
    except ModuleNotFoundError:
        return None


compiled = load()
#: Those in use.
kernels: Any = compiled or reference
_warned = False


def kernels_in_use() -> str:
    """Name of the kernels in use: ``"avx2"``, ``"baseline"`` or ``"reference"`` (plain Python)."""
    if compiled is None:
        return "reference"
    return "avx2" if compiled.__name__.endswith("avx2") else "baseline"


def warn_if_slow() -> None:
    """Say once per process that the compiled kernels are missing and how to get them."""
    global _warned
    if compiled is None and not _warned and os.environ.get("LINSEP_KERNELS") != "reference":
        _warned = True
        warnings.warn(
            "linsep runs on its plain-Python kernels, which are correct but slow: it was installed without a C++ "
            "compiler. Install one (Debian: apt-get install g++) and reinstall with 'pip install --force-reinstall "
            "--no-deps linsep'; 'linsep doctor' shows what is in use.",
            RuntimeWarning,
            stacklevel=4,  # past fit and the wrapper that serves its callbacks
        )


def compiled_name(loss: Any) -> str | None:
    """Name of the compiled twin of a loss, or None.

    Only of its own class: a subclass that overrides its parent's formula must not run its parent's loop.
    """
    kernel = vars(type(loss)).get("kernel")
    return kernel if isinstance(kernel, str) else None


def kernels_for(loss: Any) -> tuple[Any, Any]:
    """Return the kernels that know a loss, and the loss as they take it: one of the user's own runs in plain Python."""
    name = compiled_name(loss)
    return (reference, loss) if compiled is None or name is None else (compiled, name)
