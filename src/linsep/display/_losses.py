"""`LossDisplay`: losses as functions of the agreement z."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from .. import losses as all_losses
from .. import palette
from .._common.types import FloatArray
from ..losses import Loss
from ._canvas import Display, legend, line_look, theme_of


@dataclass
class LossDisplay(Display):
    """Losses ℓ(z) of the agreement z = y g(x).

    Parameters
    ----------
    z : array
        Where they were evaluated.
    values : dict of str to array
        ℓ(z), by what the legend says.

    Attributes
    ----------
    ax_, figure_
        Where it was drawn.
    lines_ : dict of str to Line2D

    Examples
    --------
    >>> from linsep.display import LossDisplay
    >>> display = LossDisplay.from_losses(["hinge", "logistic"])
    >>> list(display.lines_)
    ['hinge: max(0, 1 − z)', 'logistic: log(1 + e^(−z))']
    """

    z: FloatArray
    values: dict[str, FloatArray]

    @classmethod
    def from_losses(
        cls,
        losses: Iterable[str | Loss] | None = None,
        *,
        low: float = -2.0,
        high: float = 3.0,
        ax: Any = None,
        **drawing: Any,
    ) -> Self:
        """Evaluate losses and draw them.

        Parameters
        ----------
        losses : list of str or Loss, optional
            Names or objects of `linsep.losses`, or your own; by default all.
        low, high : float
            From which z to which.
        ax, **drawing
            Passed to `plot`.
        """
        if not low < high:
            raise ValueError(f"low={low!r} must be less than high={high!r}")
        chosen = [all_losses.get(loss) for loss in (all_losses.LOSSES if losses is None else losses)]
        # The kinks and the jump are at 0 and 1: points exactly there keep them sharp.
        extra = [at for at in (0.0, np.nextafter(0.0, 1.0), 1.0) if low <= at <= high]
        z = np.union1d(np.linspace(low, high, 501), extra)
        values = {f"{loss.name.replace('_', '-')}: {loss.formula}": loss.value(z) for loss in chosen}
        return cls(z, values).plot(ax, **drawing)

    def plot(self, ax: Any = None, *, top: float | None = 4.0, title: str | None = None) -> Self:
        """Draw them; the picture ends at the height `top`, where the square loss would leave no room for others."""
        (ax,) = self._axes(ax)
        theme = theme_of(ax)
        ax.axvline(0.0, color=theme.grid, linewidth=1, zorder=0)
        ax.axvline(1.0, color=theme.grid, linewidth=1, zorder=0)
        self.lines_ = {}
        places = palette.loss_places(name.partition(":")[0].replace("-", "_") for name in self.values)
        for place, (name, values) in zip(places, self.values.items(), strict=True):
            self.lines_[name] = ax.plot(self.z, values, label=name, **line_look(theme, place, 2))[0]
        ax.set(xlabel="agreement z = y g(x)", ylabel="loss ℓ(z)", xlim=(self.z[0], self.z[-1]))
        ax.set_title(f"{title}\n" if title else "", fontsize="medium")  # above the words on either side of zero
        highest = max(float(values.max()) for values in self.values.values())
        ax.set_ylim(-0.1, highest * 1.05 if top is None else min(highest * 1.05, top))
        look: Any = dict(transform=ax.get_xaxis_transform(), ha="center", va="bottom", color=theme.muted, size="small")
        ax.text(0.0, 1.01, "mistake ◂ ▸ right", **look)
        legend(ax, "beside") if len(self.values) > 3 else legend(ax, loc="upper right")
        return self
