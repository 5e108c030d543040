"""Step sizes η_k for k = 0, 1, 2, …, and whether they meet Σ η_k = ∞ and Σ η_k² < ∞."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np

from ._common.words import shown, typed

__all__ = ["Adaptive", "Constant", "Inverse", "InversePower", "InverseSqrt", "InverseTime", "Schedule", "get"]


@dataclass(frozen=True)
class Schedule:
    """A sequence of step sizes: callable on a step number or on an array of them."""

    converges: ClassVar[bool] = False  # Σ η_k = ∞ and Σ η_k² < ∞
    formula: ClassVar[str] = ""  # η_k, for pictures

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if not (np.isfinite(value) and value > 0):
                raise ValueError(
                    f"{type(self).__name__}({name}={shown(value)}): a step size must be positive and finite"
                )

    def __str__(self) -> str:
        """Return it as somebody would type it, whatever kind of number it was given."""
        return typed(self)

    def __call__(self, k: Any) -> Any:
        """η_k."""
        raise TypeError(f"{type(self).__name__} does not say its step sizes")

    def with_first(self, eta: float) -> Self:
        """Return the same schedule with η_0 = `eta`: what a message can tell a user to try."""
        first = vars(self).get("eta")
        if first is None or first != self(0):
            raise TypeError(f"{type(self).__name__} cannot be rescaled")
        return replace(self, **{"eta": eta})


@dataclass(frozen=True)
class Constant(Schedule):
    """η for every step: Σ η = ∞, but Σ η² = ∞ too.

    Examples
    --------
    >>> Constant(0.1)(7), Constant(0.1).converges
    (0.1, False)
    """

    eta: float = 0.1
    formula: ClassVar[str] = "{eta:g}"

    def __call__(self, k: Any) -> Any:
        """η."""
        return self.eta + 0.0 * k


@dataclass(frozen=True)
class InverseTime(Schedule):
    """η/(1 + decay·k); with the defaults 1/(k + 1). Meets both conditions.

    Examples
    --------
    >>> InverseTime()(3), InverseTime().converges
    (0.25, True)
    """

    eta: float = 1.0
    decay: float = 1.0
    converges: ClassVar[bool] = True
    formula: ClassVar[str] = "{eta:g}/(1 + {decay:g} k)"

    def __call__(self, k: Any) -> Any:
        """η/(1 + decay·k)."""
        return self.eta / (1.0 + self.decay * k)


@dataclass(frozen=True)
class InverseSqrt(Schedule):
    """η/√(k + 1): the subgradient method's. Σ η² = ∞ just barely, yet the best iterate still converges.

    Examples
    --------
    >>> InverseSqrt(1.0)(3), InverseSqrt().converges
    (0.5, False)
    """

    eta: float = 1.0
    formula: ClassVar[str] = "{eta:g}/√(k + 1)"

    def __call__(self, k: Any) -> Any:
        """η/√(k + 1)."""
        return self.eta * (1.0 + k) ** -0.5


@dataclass(frozen=True)
class Inverse(Schedule):
    """1/(α (k + 1)), for a risk with curvature α. Meets both conditions.

    Examples
    --------
    >>> Inverse(alpha=0.5)(1), Inverse().converges
    (1.0, True)
    """

    alpha: float = 1.0
    converges: ClassVar[bool] = True
    formula: ClassVar[str] = "1/({alpha:g} (k + 1))"

    def __call__(self, k: Any) -> Any:
        """1/(α (k + 1))."""
        return 1.0 / (self.alpha * (1.0 + k))

    def with_first(self, eta: float) -> Self:
        """Inverse(1/eta)."""
        return replace(self, alpha=1.0 / eta)


@dataclass(frozen=True)
class InversePower(Schedule):
    """η/(k + 1)^power. Meets both conditions for ½ < power ≤ 1.

    Examples
    --------
    >>> InversePower(1.0, 0.5)(3), InversePower(1.0, 0.75).converges
    (0.5, True)
    """

    eta: float = 1.0
    power: float = 0.5
    formula: ClassVar[str] = "{eta:g}/(k + 1)^{power:g}"

    @property
    def converges(self) -> bool:  # type: ignore[override]
        """Σ η_k = ∞ and Σ η_k² < ∞."""
        return 0.5 < self.power <= 1

    def __call__(self, k: Any) -> Any:
        """η/(k + 1)^power."""
        return self.eta * (1.0 + k) ** -self.power


@dataclass(frozen=True)
class Adaptive(Constant):
    """η for every step, until a stopping rule would end the run: then a fifth of it, down to a millionth.

    Stochastic descent alone goes on so.

    Examples
    --------
    >>> Adaptive(0.1).shorter(), Adaptive(1e-7).shorter()
    (Adaptive(eta=0.02), None)
    """

    def shorter(self) -> Adaptive | None:
        """Return the steps to go on with; None where they are short enough."""
        return Adaptive(self.eta / 5) if self.eta > 1e-6 else None


SCHEDULES: dict[str, type[Schedule]] = {
    "constant": Constant,
    "inverse_time": InverseTime,
    "inverse_sqrt": InverseSqrt,
    "inverse": Inverse,
}


def get(schedule: str | float | Schedule) -> Schedule:
    """Return the schedule of that name, a constant one for a number, or the schedule itself.

    Examples
    --------
    >>> get("inverse_time"), get(0.5)
    (InverseTime(eta=1.0, decay=1.0), Constant(eta=0.5))
    """
    if isinstance(schedule, Schedule):
        return schedule
    if isinstance(schedule, str) and schedule in SCHEDULES:
        return SCHEDULES[schedule]()
    if isinstance(schedule, int | float | np.number) and not isinstance(schedule, bool):
        return Constant(float(schedule))
    raise ValueError(
        f"schedule={shown(schedule)} is not known; use one of {', '.join(SCHEDULES)}, a number or a Schedule"
    )
