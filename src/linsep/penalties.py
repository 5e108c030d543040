"""Penalties on the weights: ½‖w‖², ‖w‖₁ and mixtures. The intercept is never among them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ._common.types import FloatArray
from ._common.words import shown

__all__ = ["L1", "L2", "ElasticNet", "NoPenalty", "Penalty", "get"]


@dataclass(frozen=True)
class Penalty:
    """``l2 · ½‖w‖² + l1 · ‖w‖₁``: every penalty here is one of these.

    Examples
    --------
    >>> import numpy as np
    >>> Penalty(l2=0.5, l1=0.5).value(np.array([3.0, -4.0]))
    9.75
    """

    l2: float
    l1: float

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if not (np.isfinite(value) and value >= 0):
                raise ValueError(f"Penalty({name}={shown(value)}): a penalty's weight must be zero or more, and finite")

    @property
    def numbers(self) -> tuple[float, float]:
        """l2 and l1."""
        return self.l2, self.l1

    def value(self, w: FloatArray) -> float:
        """l2 · ½‖w‖² + l1 · ‖w‖₁."""
        absolute = self.l1 * float(np.abs(w).sum()) if self.l1 else 0.0
        return float(self.l2 * 0.5 * np.einsum("i,i->", w, w)) + absolute

    def slope(self, w: FloatArray) -> FloatArray:
        """A subgradient: l2 · w + l1 · sign(w)."""
        return self.l2 * w + self.l1 * np.sign(w)

    def prox(self, w: FloatArray, step: float) -> FloatArray:
        """Return argmin_u ½‖u − w‖² + step · penalty(u): soft-threshold, then shrink."""
        return np.sign(w) * np.maximum(np.abs(w) - step * self.l1, 0.0) / (1.0 + step * self.l2)

    def conjugate(self, u: FloatArray) -> float:
        """Return sup_w (u·w − penalty(w)); infinite where nothing quadratic holds u back."""
        excess = np.maximum(np.abs(u) - self.l1, 0.0) if self.l1 else u
        if self.l2 == 0:
            return np.inf if excess.any() else 0.0
        square, divisor = float(np.einsum("i,i->", excess, excess)), 2.0 * self.l2
        return square / divisor if divisor > 0 else np.inf  # beyond the largest float

    @property
    def formula(self) -> str:
        """The penalty in one line, for reports."""
        parts = [(self.l2, "½‖w‖²"), (self.l1, "‖w‖₁")]
        return " + ".join(norm if c == 1 else f"{c:g}·{norm}" for c, norm in parts if c) or "0"


class ElasticNet(Penalty):
    """(1 − r) · ½‖w‖² + r · ‖w‖₁."""

    def __init__(self, l1_ratio: float = 0.5) -> None:
        if not 0 <= l1_ratio <= 1:
            raise ValueError(f"l1_ratio={shown(l1_ratio)} must lie between 0 (L2) and 1 (L1)")
        super().__init__(l2=1.0 - l1_ratio, l1=float(l1_ratio))


class L2(Penalty):
    """½‖w‖²."""

    def __init__(self) -> None:
        super().__init__(l2=1.0, l1=0.0)


class L1(Penalty):
    """‖w‖₁."""

    def __init__(self) -> None:
        super().__init__(l2=0.0, l1=1.0)


class NoPenalty(Penalty):
    """Nothing: what ``C=inf`` means."""

    def __init__(self) -> None:
        super().__init__(l2=0.0, l1=0.0)


def get(penalty: str | Penalty | None, l1_ratio: float | None = None) -> Penalty:
    """Return the penalty of that name (``"l2"``, ``"l1"``, ``"elasticnet"``, None), or the penalty itself.

    Examples
    --------
    >>> get("elasticnet", 0.25).formula
    '0.75·½‖w‖² + 0.25·‖w‖₁'
    """
    if penalty == "elasticnet":
        if l1_ratio is None:
            raise ValueError("penalty='elasticnet' needs l1_ratio, the share of L1 from 0 to 1, e.g. l1_ratio=0.5")
        return ElasticNet(l1_ratio)
    if l1_ratio is not None:
        raise ValueError(
            f"l1_ratio={shown(l1_ratio)} would be ignored: it goes with penalty='elasticnet', not {penalty!r}"
        )
    if penalty is None:
        return NoPenalty()
    if isinstance(penalty, Penalty):
        return penalty
    if penalty in ("l2", "l1"):
        return L2() if penalty == "l2" else L1()
    raise ValueError(f"penalty={penalty!r} is not known; use 'l2', 'l1', 'elasticnet', None or a Penalty object")
