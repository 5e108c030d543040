"""Fits without a penalty against 50-digit Newton: right and proven, or warned about, never silent."""

import warnings
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from linsep import HardMarginSVC, LeastSquaresClassifier, LinearClassifier, LinearSVC, LogisticRegression
from linsep.redundancy import find_redundancy
from linsep.split_product import split_product

mpmath = pytest.importorskip("mpmath")


def labels(rng, odds):
    return (rng.random(len(odds)) < 1 / (1 + np.exp(-odds))).astype(int)


def collinear(noise, n=150):
    rng = np.random.default_rng(1)
    z = rng.normal(size=n)
    return np.c_[z, z + noise * rng.normal(size=n)], labels(rng, z)


def polynomial(n=200):
    rng = np.random.default_rng(2)
    t = rng.uniform(0, 10, n)
    return np.vander(t, 11)[:, :-1], labels(rng, np.sin(t))


def time_stamps(n=150):
    rng = np.random.default_rng(3)
    t = np.floor(1.6e9 + rng.uniform(0, 3e7, n))
    z = rng.normal(size=n)
    return np.c_[t, z], labels(rng, z + (t - 1.615e9) / 1e7)


def far_from_zero(n=150):
    rng = np.random.default_rng(4)
    z = rng.normal(size=(n, 3))
    return 1e8 + z, labels(rng, z[:, 0])


def scales(n=150):
    rng = np.random.default_rng(5)
    z = rng.normal(size=(n, 5))
    return z * 10.0 ** np.array([-8, -4, 0, 4, 8]), labels(rng, z[:, 0] - z[:, 4])


def imbalance(n=20_002):
    rng = np.random.default_rng(6)
    z = rng.normal(size=(n, 2))
    y = np.zeros(n, dtype=int)
    y[:2] = 1  # 1 : 10,000
    return z, y


def overlap_by(width):
    x = np.concatenate([np.linspace(-1, 0, 50), np.linspace(width, 1, 50)])
    y = np.repeat([0, 1], 50)
    y[49], y[50] = 1, 0
    return x[:, None], y


HARD = {
    "collinear 1e-8": collinear(1e-8),
    "collinear 1e-11": collinear(1e-11),
    "polynomial of degree 10": polynomial(),
    "time stamps": time_stamps(),
    "means of 1e8": far_from_zero(),
    "scales 1e-8 to 1e8": scales(),
    "1 : 10,000": imbalance(),
    "overlap by 1e-9": overlap_by(1e-9),
}


def fifty_digits(X, y, start):
    """Newton's method on the likelihood in 50 digits: θ and the objective at the optimum."""
    mp = mpmath.mp.clone()
    mp.dps = 50
    groups, counts = np.unique(np.c_[X, y], axis=0, return_counts=True)
    rows = [[mp.mpf(float(v)) for v in row[:-1]] + [mp.mpf(1)] for row in groups]
    sign = [1 if row[-1] else -1 for row in groups]
    d = len(rows[0])

    def value(theta):
        return mp.fsum(
            int(n) * mp.log1p(mp.exp(-s * mp.fdot(row, theta)))
            for n, s, row in zip(counts, sign, rows, strict=True)
        )

    theta = [mp.mpf(float(v)) for v in start]
    for _ in range(100):
        g, H = mp.matrix(d, 1), mp.matrix(d, d)
        for n, s, row in zip(counts, sign, rows, strict=True):
            p = 1 / (1 + mp.exp(s * mp.fdot(row, theta)))
            for i in range(d):
                g[i] -= int(n) * s * p * row[i]
                for j in range(i + 1):
                    H[i, j] += int(n) * p * (1 - p) * row[i] * row[j]
        for i in range(d):
            for j in range(i):
                H[j, i] = H[i, j]
        step = mp.lu_solve(H, -g)
        t, now = mp.mpf(1), value(theta)
        while value([a + t * b for a, b in zip(theta, step, strict=True)]) > now and t > mp.mpf(10) ** -20:
            t /= 2
        theta = [a + t * b for a, b in zip(theta, step, strict=True)]
        if -mp.fdot(list(g), list(step)) < mp.mpf(10) ** -32 * now:
            break
    return theta, value(theta), value


def fitted(model, X, y, **more):
    """The fitted model, and what it warned of."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(X, y, **more)
    return model, [str(one.message) for one in caught if issubclass(one.category, ConvergenceWarning)]


@pytest.mark.parametrize("name", HARD)
def test_hard_data_are_solved_and_proven_or_it_is_said(name):
    X, y = HARD[name]
    model, warned = fitted(LogisticRegression(C=np.inf), X, y)
    assert model.converged_ == model.certificate_.proven
    assert model.converged_ or warned
    theta = np.append(model.coef_[0], model.intercept_)
    if len(y) > 1000:  # in 50 digits on the rows that matter: those that are told apart by more than their weight
        pytest.skip("20,002 rows in 50 digits take minutes")
    exact, least, value = fifty_digits(X, y, theta)
    reached = value([mpmath.mpf(float(v)) for v in theta])
    assert model.converged_
    assert not warned
    assert (reached - least) / least <= model.dual_gap_ <= 1e-10
    outcome = model.certificate_.verify(X, y)
    assert outcome
    assert outcome.proven
    np.testing.assert_allclose(theta, [float(v) for v in exact], rtol=1e-4)
