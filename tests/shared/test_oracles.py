"""The oracles against each other, and against points nearby: an oracle that is wrong proves nothing."""

import numpy as np
import pytest

from oracles import LOSSES, SLOPES, MarginFormula, SoftmaxFormula

rng = np.random.default_rng(0)
X = rng.standard_normal((30, 3))
signs = np.where(X[:, 0] + rng.standard_normal(30) > 0, 1.0, -1.0)
codes = np.argmax(X + rng.standard_normal((30, 3)), axis=1)
FORMULAS = [
    *((MarginFormula, signs, dict(loss=loss)) for loss in LOSSES),
    (SoftmaxFormula, codes, dict(classes=3)),
]
SETTINGS = [
    dict(C=0.7),
    dict(C=0.7, l2=0.0, l1=1.0),
    dict(C=2.0, l2=0.6, l1=0.4, s=rng.uniform(0.1, 3.0, 30)),
    dict(C=1.0, intercept=False),
    dict(C=np.inf),
]


@pytest.mark.parametrize("settings", SETTINGS, ids=["l2", "l1", "weights", "origin", "no penalty"])
@pytest.mark.parametrize(("formula", "labels", "kind"), FORMULAS, ids=[*LOSSES, "softmax"])
def test_two_oracles_agree_and_nothing_nearby_is_lower(formula, labels, kind, settings):
    it = formula(X, labels, **kind, **settings)
    found = it.conic_optimum()
    assert it.value(found.w, found.b) == found.value
    if kind.get("loss") not in ("perceptron", "hinge"):
        smooth = it.smooth_optimum()
        assert smooth.value == pytest.approx(found.value, rel=1e-7)
        found = min(smooth, found, key=lambda optimum: optimum.value)
    for scale in (1e-3, 1e-1):
        for _ in range(20):
            w = found.w + scale * rng.standard_normal(np.shape(found.w))
            b = found.b + scale * rng.standard_normal(np.shape(found.b)) * it.intercept
            assert it.value(w, b) >= found.value * (1 - 1e-8) - 1e-8


@pytest.mark.parametrize("name", SLOPES)
def test_slopes_are_those_of_the_losses(name):
    z, h = np.linspace(-3, 3, 41) + 0.01, 1e-6
    np.testing.assert_allclose(SLOPES[name](z), (LOSSES[name](z + h) - LOSSES[name](z - h)) / (2 * h), atol=1e-6)
