"""How far sums over columns may be off, where the columns are many and sparse."""

from fractions import Fraction

import numpy as np
from scipy import sparse

from linsep.arithmetic import enclosure
from linsep.penalties import L2, ElasticNet, Penalty


def text(n=3000, d=5000, seed=0):
    rng = np.random.default_rng(seed)
    X = sparse.random_array((n, d), density=0.004, random_state=rng, format="csr")
    return X, rng.standard_normal(n)


def test_rare_columns_have_the_radii_of_short_sums():
    """A column with four entries is off by a few units of rounding, not by those of all rows; and no more than said."""
    X, u = text()
    v, radius = enclosure.combination(X, u)
    columns = X.tocsc()
    rare = np.flatnonzero((np.diff(columns.indptr) > 0) & (np.diff(columns.indptr) <= 12))[:50]
    for j in rare:
        entries = slice(columns.indptr[j], columns.indptr[j + 1])
        pairs = zip(columns.data[entries], columns.indices[entries], strict=True)
        terms = [(Fraction(float(x)), Fraction(u[i])) for x, i in pairs]
        assert abs(sum(x * c for x, c in terms) - Fraction(v[j])) <= Fraction(radius[j])
        assert radius[j] <= 40 * enclosure.U * float(sum(abs(x * c) for x, c in terms))


def test_columns_within_the_box_are_not_looked_at_again(monkeypatch):
    """Only what may leave the box for l1 decides how the dual point is scaled: the others are harmless."""
    X, u = text()
    v, radius = enclosure.combination(X, u)
    radius = np.full_like(radius, 1e-6)
    asked = []
    monkeypatch.setattr(enclosure, "column_sums", lambda parts, u, some: (asked.extend(some), (v[some], 1.0))[1])
    box = float(np.sort(np.abs(v))[-3])
    enclosure.sharpened(X, u, v, radius, Penalty(l2=0.0, l1=box), 1.0)
    assert 1 <= len(asked) <= 3  # those that reach as far as the furthest
    asked.clear()
    enclosure.sharpened(X, u, v, radius, ElasticNet(0.5), 1.0)
    assert set(asked) <= set(np.flatnonzero(np.abs(v) + radius > 0.5))
    asked.clear()
    enclosure.sharpened(X, u, v, radius, L2(), 1.0)
    assert len(asked) > 100  # without a box every column counts
