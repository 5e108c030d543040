"""Fixtures of several tests of solvers."""

import numpy as np
import pytest


@pytest.fixture
def by_conflicts_only(monkeypatch):
    """Keep the search from changing over to cells where the machine is slow."""
    monkeypatch.setattr("linsep.solvers.zero_one.search._Search.seconds_for_cells", lambda search: np.inf)
