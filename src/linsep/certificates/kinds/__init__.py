"""The kinds of proof, one file each: whatever lies here is known to model files, `linsep.verify` and reports."""

from importlib import import_module
from pkgutil import iter_modules

from ..proof import PROOFS

__all__ = ["PROOFS"]

for _module in iter_modules(__path__):
    import_module(f"{__name__}.{_module.name}")
