"""Rows that repeat are merged into weights: the same optimum, the same proof, and one dual variable for each row."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from linsep import LinearSVC, LogisticRegression
from linsep._core import Rows, reference
from linsep.solvers.reductions import repeats
from linsep.solvers.reductions.repeats import find_repeats


def repeated(n=60, copies=5, d=40, seed=0, form=sparse.csr_array):
    """Rows that all occur several times, some under both labels, in random order."""
    rng = np.random.default_rng(seed)
    X = np.where(rng.random((n, d)) < 0.2, rng.standard_normal((n, d)), 0.0)
    X[1] = X[0]
    y = np.sign(X @ rng.standard_normal(d) + rng.standard_normal(n))
    y[:2] = 1, -1
    order = rng.permutation(np.repeat(np.arange(n), copies))
    return form(X[order]), y[order]


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2), st.integers(0, 1)), min_size=1, max_size=30))
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_compiled_grouping_is_the_plain_one(dtype, form, rows):
    table = np.array(rows, dtype=dtype)
    X, codes = form(np.ascontiguousarray(table[:, :2])), table[:, 2].astype(np.int64)
    different = list(dict.fromkeys(rows))
    expected = [different.index(row) for row in rows]
    for most in (len(rows), len(different), len(different) - 1):
        found = Rows(X).groups(codes, most)
        group, first = np.empty(len(rows), np.int64), np.empty(most, np.int64)
        count = reference.group_rows(X, codes, group, first, 1)
        if most < len(different):
            assert found is None
            assert count == 0
            continue
        assert count == len(different)
        assert found[0].tolist() == group.tolist() == expected
        assert found[1].tolist() == first[:count].tolist() == [expected.index(g) for g in range(count)]


def test_many_groups_do_not_depend_on_threads(monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 40, (200_000, 3)).astype(np.float64)
    expected = np.unique(X, axis=0, return_inverse=True)[1].reshape(-1)
    for threads in ("1", "3"):
        monkeypatch.setenv("LINSEP_NUM_THREADS", threads)
        group, first = Rows(X).groups(np.zeros(len(X), np.int64), len(X))
        assert len(first) == expected.max() + 1
        np.testing.assert_array_equal(expected[first][group], expected)
        np.testing.assert_array_equal(X[first][group], X)


def test_a_sample_tells_whether_rows_repeat(monkeypatch):
    X = np.random.default_rng(0).standard_normal((20_000, 60))
    y = np.zeros(20_000, np.int64)
    asked = []
    monkeypatch.setattr(Rows, "groups", lambda rows, codes, most: asked.append(rows.n) or original(rows, codes, most))
    assert find_repeats(Rows(X), y) is None
    assert asked == [1600]  # the sample was enough
    assert find_repeats(Rows(X[:100]), y[:100]) is None
    assert asked == [1600]  # too small to look
    X[10_000:] = X[:10_000]
    found = find_repeats(Rows(X), y)
    assert len(found.first) == 10_000
    X[:12_000] = X[0]  # few different pairs, but not enough rows to leave out
    X[2000:] = np.random.default_rng(1).standard_normal((18_000, 60))
    assert find_repeats(Rows(X), y) is None


original = Rows.groups


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize(
    "model",
    [LogisticRegression(), LogisticRegression(l1_ratio=1.0), LinearSVC(), LinearSVC(loss="squared_hinge")],
    ids=["logistic", "l1", "hinge", "squared hinge"],
)
@pytest.mark.parametrize("weighted", [False, True])
def test_m10_the_same_optimum_and_proof_as_without_merging(monkeypatch, form, model, weighted):
    X, y = repeated(form=form)
    weight = np.random.default_rng(1).integers(0, 3, len(y)).astype(float) if weighted else None
    model.set_params(tol=1e-7, random_state=0)
    plain = model.fit(X, y, sample_weight=weight).certificate_
    monkeypatch.setattr(repeats, "WORTH", 0)
    model.fit(X, y, sample_weight=weight)
    assert "300 rows merged into 60 different ones" in model.summary()
    certificate = model.certificate_
    assert certificate.proven
    assert certificate.primal == pytest.approx(plain.primal, rel=2e-7)
    assert certificate.verify(X, y, sample_weight=weight)
    if isinstance(model, LinearSVC):
        np.testing.assert_allclose(model.dual_coef_ @ model.support_vectors_, model.coef_, atol=1e-3)
        s = np.ones(len(y)) if weight is None else weight
        assert (np.abs(model.dual_coef_) <= s[model.support_] * (1 + 1e-12)).all() or model.loss != "hinge"


def test_more_classes_and_stochastic_solvers(monkeypatch):
    X, y = repeated()
    groups = y + 2 * (np.asarray(X.sum(axis=1)).ravel() > 0)
    plain = LogisticRegression(multi_class="ovr", tol=1e-7).fit(X, groups)
    monkeypatch.setattr(repeats, "WORTH", 0)
    merged = LogisticRegression(multi_class="ovr", tol=1e-7).fit(X, groups)
    assert all("merged" in history.reason for history in merged.history_)
    np.testing.assert_allclose(merged.coef_, plain.coef_, atol=1e-3)
    stochastic = LogisticRegression(solver="sgd", max_iter=2000, tol=0.5, random_state=0).fit(X, y)
    assert "merged" not in stochastic.history_.reason


def test_m10_heavy_examples_are_visited_as_often_as_they_are_heavy():
    rng = np.random.default_rng(0)
    X = sparse.random_array((3000, 4000), density=0.01, random_state=rng, format="csr")
    X = sparse.csr_array(sparse.vstack([X, X[:20]]))  # the same rows, of the other class, and heavy
    y = np.append(rng.choice([-1.0, 1.0], 3000), np.zeros(20))
    y[-20:] = -y[:20]
    weight = np.ones(3020)
    weight[:20] = weight[-20:] = 50.0
    model = LogisticRegression(solver="dual", random_state=0).fit(X, y, sample_weight=weight)
    assert model.converged_
    assert model.n_iter_ <= 150  # 1137 where each is visited once
