"""The proof that a perceptron will never end: when it is looked for, what it costs, what it says."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from linsep import Perceptron, separability
from linsep.exact import ProofTimeoutError
from linsep.solvers.first_order.prover import LAST_WORK, Prover

not_converged = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@pytest.mark.parametrize("intercept", [True, False])
def test_m12_the_perceptron_stops_with_a_proof_that_no_plane_separates(overlapping, intercept):
    X, y = overlapping
    with pytest.warns(ConvergenceWarning, match="stopped by a proof: the classes -1 and 1 are not linearly separable"):
        model = Perceptron(max_iter=100_000, fit_intercept=intercept, random_state=0).fit(X, y)
    assert model.n_iter_ < 1000
    assert not model.converged_
    assert model.separability_.verdict == "overlap"
    assert model.separability_.verify(X, y)
    assert np.isnan(model.best_margin_)
    assert np.isinf(model.mistake_bound_)


def test_m12_the_proof_is_worked_at_while_the_perceptron_runs(overlapping, monkeypatch):
    X, y = overlapping
    asked = []
    ask = Prover.ask

    def heard(prover, work=LAST_WORK, ranking=None):
        asked.append((work, ranking))
        return ask(prover, work, ranking)

    monkeypatch.setattr(Prover, "ask", heard)
    with pytest.warns(ConvergenceWarning, match="stopped by a proof"):
        model = Perceptron(keep="last", random_state=0).fit(X, y)
    assert model.n_iter_ == 2 ** int(np.log2(model.n_iter_)) <= 64  # with the proof, at once
    *during, afterwards = asked
    assert during[-1][0] <= 2 * model.n_iter_ * (5e5 + 2 * X.size)
    assert during[-1][1].min() < 0  # rows that moved the plane come first
    assert afterwards == (LAST_WORK, None)  # whether a plane separates weakly is asked of small data, at the end
    with pytest.warns(ConvergenceWarning, match="stopped by a proof"):
        settled = Perceptron(random_state=0).fit(X, y)
    assert settled.n_iter_ >= 50
    assert settled.score(X, y) >= model.score(X, y)
    assert settled.separability_.points == model.separability_.points


def test_m12_too_little_work_proves_nothing_and_says_so(overlapping):
    X, y = overlapping
    with pytest.raises(ProofTimeoutError, match=r"undecided within 1e.04 operations"):
        separability(X, y, budget=1e4)
    assert separability(X, y, budget=1e9).verdict == "overlap"


def test_m12_a_run_too_short_for_a_proof_says_what_small_data_are(overlapping, separable):
    with pytest.warns(ConvergenceWarning, match="max_iter=2: the classes -1 and 1 are not linearly separable"):
        Perceptron(max_iter=2, random_state=0).fit(*overlapping)
    with pytest.warns(ConvergenceWarning, match="although the data are linearly separable: raise max_iter"):
        Perceptron(max_iter=1, random_state=0).fit(*separable)


def test_m12_of_several_classes_the_one_that_overlaps_is_named():
    X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array(["a", "b", "b", "c"])
    with pytest.warns(ConvergenceWarning, match="class b and the rest are not linearly separable"):
        model = Perceptron(max_iter=200, order="cyclic").fit(X, y)
    assert [proof.verdict for proof in model.separability_] == ["separable", "overlap", "separable"]
    assert all(proof.verify(X, y == label) for label, proof in zip("abc", model.separability_, strict=True))


@not_converged
def test_m12_examples_without_weight_do_not_count_in_the_proof(overlapping):
    X, y = overlapping
    weight = (np.arange(len(y)) % 2).astype(float)
    found = Perceptron(max_iter=3, random_state=0).fit(X, y, sample_weight=weight).separability_
    assert all(i % 2 == 1 for i in found.points or [])
    assert found.verdict == "overlap" or found.verify(X[1::2], y[1::2])


def test_m12_a_run_without_mistakes_carries_its_plane_as_proof(separable):
    X, y = separable
    model = Perceptron(order="cyclic").fit(X, y)
    assert model.separability_.separable
    assert model.separability_.verify(X, y)
    np.testing.assert_array_equal(model.separability_.coef, model.coef_[0])
    assert not model.separability_.verify(X, -y)
