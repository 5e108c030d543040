"""`linsep.separability` as a module: calling it is calling the function of that name.

Importing a submodule puts it in the place of the package's function of the same name; both have to work.
"""

import sys
from types import ModuleType
from typing import Any

from .separation.verdict import NotSeparableError, ProofTimeoutError, Separability, separability

__all__ = ["NotSeparableError", "ProofTimeoutError", "Separability", "separability"]


class _Callable(ModuleType):
    """A module that is its function, too."""

    def __call__(self, *args: Any, **kwargs: Any) -> Separability:
        return separability(*args, **kwargs)


sys.modules[__name__].__class__ = _Callable
