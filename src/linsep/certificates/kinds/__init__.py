"""The kinds of proof, one file each: whatever lies here is known to model files, `linsep.verify` and reports."""

from importlib import import_module
from pkgutil import iter_modules

from ..proof import PROOFS, Proof

__all__ = ["known"]


def known() -> dict[str, type[Proof]]:
    """Return all kinds by name: those that nobody has asked for yet, as few fits do, are loaded now."""
    for module in iter_modules(__path__):
        import_module(f"{__name__}.{module.name}")
    return PROOFS
