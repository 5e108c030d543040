"""Newton's method where the loss does not bend at the start: memory and blocks agree."""

import numpy as np
import pytest

from linsep._core import Rows
from linsep.losses import Loss
from linsep.objective.examples import InMemory
from linsep.objective.heads import Margin
from linsep.objective.objective import Objective
from linsep.solvers import Newton
from storage import MemoryBlocks, rows_of_classes


class SmoothHinge(Loss):
    """A hinge with a parabola for its corner, between ½ and 1: ℓ''(0) = 0."""

    name, formula = "smooth_hinge", "h(z)"
    convex = smooth = margin = True
    slopes, max_curvature = (-1.0, 0.0), 2.0

    def value(self, z):
        return np.where(z >= 1, 0.0, np.where(z >= 0.5, (1 - z) ** 2, 0.75 - z))

    def slope(self, z):
        return np.where(z >= 1, 0.0, np.where(z >= 0.5, -2 * (1 - z), -1.0))

    def curvature(self, z):
        return np.where((z < 1) & (z > 0.5), 2.0, 0.0)

    def conjugate(self, a):
        return np.where((a <= 0) & (a >= -1), a + a**2 / 4, np.inf)


@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
def test_a_loss_that_is_straight_at_the_start_is_left_from_there(C):
    X, codes = rows_of_classes(300, 4, 2)
    memory, blocks = (
        Newton(1e-8).solve(Objective(examples, Margin(SmoothHinge()), C=C))
        for examples in (InMemory(Rows(X), codes), MemoryBlocks(X, codes, 100))
    )
    assert memory.converged
    assert blocks.converged
    assert blocks.proof.primal == pytest.approx(memory.proof.primal, rel=1e-8)
