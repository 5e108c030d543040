"""L1 over examples in blocks with more features than a Hessian is kept of: working sets, as in memory."""

import numpy as np
import pytest
from scipy import sparse

from linsep._core import Rows
from linsep.losses import Logistic, SquaredHinge
from linsep.objective.examples import InMemory
from linsep.objective.heads import Margin, Softmax
from linsep.objective.objective import Objective
from linsep.penalties import L1, ElasticNet
from linsep.solvers import ProximalNewton
from linsep.solvers.newton import proximal
from storage import MemoryBlocks, MemoryWorkspace


def examples(n=150, d=300, classes=2):
    rng = np.random.default_rng(0)
    # As `random_array` of late: that of SciPy 1.12 draws others.
    places = rng.choice(n * d, size=n * d // 10, replace=False)
    where = np.unravel_index(places, (n, d), order="F")
    X = sparse.csr_array((rng.uniform(size=len(places)), where), shape=(n, d))
    scores = X[:, :20].sum(axis=1) + 0.2 * rng.standard_normal(n)
    return X, np.digitize(scores, np.quantile(scores, np.arange(1, classes) / classes))


@pytest.mark.parametrize("penalty", [L1(), ElasticNet(0.7)], ids=["L1", "elastic net"])
@pytest.mark.parametrize(
    "head", [Margin(Logistic()), Margin(SquaredHinge()), Softmax(3)], ids=lambda head: head.formula
)
def test_more_features_than_there_is_room_for_at_once(head, penalty, monkeypatch):
    X, codes = examples(classes=head.planes or 2)
    room = 150 * (head.planes or 1)
    monkeypatch.setattr(proximal, "FACTORED", room)
    workspace, C = MemoryWorkspace(len(codes)), 0.6
    blocks = Objective(MemoryBlocks(X, codes, 40), head, penalty, C)
    found = ProximalNewton(1e-7).solve(blocks, workspace=workspace)
    memory = ProximalNewton(1e-7).solve(Objective(InMemory(Rows(X), codes), head, penalty, C))
    assert found.converged
    assert found.proof.primal == pytest.approx(memory.proof.primal, rel=2e-7)
    assert 0 < np.count_nonzero(found.w.any(axis=1) if found.w.ndim > 1 else found.w) < 149
    assert workspace.passes < 200


@pytest.mark.parametrize("head", [Margin(Logistic()), Softmax(3)], ids=lambda head: head.formula)
def test_more_weights_than_there_is_room_for_at_once(monkeypatch, head):
    X, codes = examples(classes=head.planes or 2)
    monkeypatch.setattr(proximal, "FACTORED", 20 * (head.planes or 1))
    workspace = MemoryWorkspace(len(codes))
    blocks = Objective(MemoryBlocks(X, codes, 40), head, L1(), 10.0)
    found = ProximalNewton(1e-6).solve(blocks, workspace=workspace)
    memory = ProximalNewton(1e-6).solve(Objective(InMemory(Rows(X), codes), head, L1(), 10.0))
    assert found.converged, found.message
    assert found.proof.primal == pytest.approx(memory.proof.primal, rel=2e-6)
    assert np.count_nonzero(_largest(memory.w != 0)) > 40
    assert workspace.passes < 1500  # conjugate gradients, one each


def _largest(sizes):
    return sizes if sizes.ndim == 1 else sizes.max(axis=1)
