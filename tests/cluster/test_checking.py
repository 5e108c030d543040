"""`verify` on partitions: by sums where they are, with what it says on one machine; and what sums do not say."""

import numpy as np
import pytest
from sklearn.base import clone

from here import Here, example
from linsep import LeastSquaresClassifier, LinearSVC, LogisticRegression, verify
from linsep.certificates.data_hash import data_hash
from linsep.cluster.checking import InPartitions, verify_parts
from linsep.cluster.fitting import as_part, joined_summaries, learn, summary

MODELS = {
    "logistic": LogisticRegression(tol=1e-6),
    "l1": LogisticRegression(l1_ratio=1.0, C=0.05, tol=1e-6),
    "elastic net": LogisticRegression(l1_ratio=0.5, C=0.05, tol=1e-6),
    "balanced": LogisticRegression(class_weight="balanced", fit_intercept=False, tol=1e-6),
    "hinge": LinearSVC(C=0.1, tol=1e-5, random_state=0),
    "squared hinge": LinearSVC(loss="squared_hinge", C=0.1, tol=1e-6, random_state=0),
    "squares": LeastSquaresClassifier(C=2.0),
    "no penalty": LogisticRegression(C=np.inf),
}
CUTS = [1, 1, 17, 1500, 1999]


class Watched(Here):
    """An engine that counts the partitions that are taken to the client."""

    came = 0

    def part(self, k):
        self.came += 1
        return super().part(k)


class OtherDigits(Watched):
    """Workers whose scores have other digits from the third round of a check on."""

    begun = None

    def run(self, sent, seats):
        if self.begun is not None and self.runs == self.begun + 2:
            part = self.parts[3]
            moved = part.rows.X * (1.0 + 1e-9)
            self.parts[3] = as_part(3, moved, part.labels[part.codes])
        return super().run(sent, seats)


def there(X, y, weight=None, kind=Watched, cuts=CUTS):
    pieces = [slice(*pair) for pair in zip([0, *cuts], [*cuts, len(X)], strict=True)]
    parts = [as_part(k, X[one], y[one], None if weight is None else weight[one]) for k, one in enumerate(pieces)]
    return kind(parts, workers=2), [summary(part) for part in parts]


@pytest.mark.slow
@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("weighted", [False, True])
def test_sums_prove_what_rows_prove_and_no_row_travels(name, classes, weighted):
    X, y, s = example(classes)
    s = s if weighted else None
    engine, summaries = there(X, y, s)
    model = learn(clone(MODELS[name]), engine, summaries)
    found, alone = verify_parts(model, engine, summaries), verify(model, X, y, s)
    assert found and found.proven  # noqa: PT018
    assert found.checked == alone.checked
    for name_ in ("primal", "dual"):
        one, other = getattr(found, name_), getattr(alone, name_)
        assert max(one.low, other.low) <= min(one.high, other.high) + 1e-9 * abs(one.high)
    if name != "no penalty":  # which is proven by the curvature, partition after partition
        assert engine.came == 0


@pytest.mark.slow
def test_what_is_not_so_is_refused():
    X, y, s = example()
    engine, summaries = there(X, y)
    model = learn(LinearSVC(C=0.1, random_state=0), engine, summaries)
    assert verify_parts(model, engine, summaries)
    other = y.copy()
    other[[0, 3]] = 1 - other[[0, 3]]
    assert "not those of the fit" in verify_parts(model, *there(X, other)).reason
    assert "weights of the examples are not" in verify_parts(model, *there(X, y, s)).reason
    assert "the label 7, which the fit did not know" in verify_parts(model, *there(X, np.where(y == 1, 7, 0))).reason
    claim = model._proofs[0].each[0]
    point = claim.dual_point
    raised = type(point)(point.positive, point.negative, point.rows, 1.5 * point.values + 0.01)
    model._proofs[0].each[0] = type(claim)(**(vars(claim) | {"dual_point": raised}))
    assert not verify_parts(model, engine, summaries).proven
    beyond = type(point)(point.positive, point.negative, np.array([len(X)]), np.ones(1))
    model._proofs[0].each[0] = type(claim)(**(vars(claim) | {"dual_point": beyond}))
    assert "names a row that the data do not have" in verify_parts(model, engine, summaries).reason


@pytest.mark.parametrize("name", ["logistic", "squared hinge"])
def test_units_that_do_not_balance_prove_nothing(name):
    """Workers of different machines may see other digits: then the rows are looked at in one place."""
    X, y, _ = example()
    engine, summaries = there(X, y, kind=OtherDigits)
    model = learn(clone(MODELS[name]), engine, summaries)
    engine.begun = engine.runs
    assert verify_parts(model, engine, summaries)
    assert engine.came > 0


def test_hashes_are_those_of_one_machine():
    X, y, s = example(3)
    engine, summaries = there(X, y, s)
    data = InPartitions(engine, *joined_summaries(summaries, "a test"))
    whole = data_hash(X, y, s)
    assert data.hashed(whole) == whole
    engine.came = 0
    parts = [size for size in np.diff([0, *CUTS, len(X)]).tolist() if size]
    in_parts = data.hashed({"parts": parts})
    assert engine.came == 0
    assert in_parts == data_hash(X, y, s, {"parts": parts})
    assert data.hashed({"parts": [1000, 1000]}) == data_hash(X, y, s, {"parts": [1000, 1000]})
