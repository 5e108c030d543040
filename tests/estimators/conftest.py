"""Examples for the tests of estimators."""

import numpy as np
import pytest


@pytest.fixture(scope="module")
def three():
    """Three classes in four dimensions; every number is exact in single precision."""
    rng = np.random.default_rng(5)
    y = np.arange(90) % 3
    X = rng.standard_normal((90, 4)) + 1.5 * np.eye(4)[y]
    return X.astype(np.float32).astype(np.float64), np.array(["ant", "bee", "cow"])[y]
