"""Records that lack an entry are refused by its name, not by a bare KeyError."""

import json

import pytest

from linsep import HardMarginSVC, LinearClassifier, LogisticRegression, ZeroOneClassifier, estimates, separability

X, TWO, THREE = [[0.0], [1.0], [3.0], [4.0], [6.0], [7.0]], [0, 0, 0, 1, 1, 1], ["a", "a", "b", "b", "c", "c"]
MIXED = [0, 1, 0, 1, 0, 1]

RECORDS = {
    "separable": separability(X, TWO),
    "overlap": separability(X, MIXED),
    "estimates": estimates(X, MIXED),
    "margin": HardMarginSVC().fit(X, TWO).certificate_,
    "mistakes": ZeroOneClassifier().fit(X, MIXED).lower_bound_proof_,
    "gap": LinearClassifier("logistic").fit(X, MIXED).certificate_,
    "gaps": LinearClassifier("logistic").fit(X, THREE).certificate_,
    "softmax": LogisticRegression().fit(X, THREE).certificate_,
}


def entries(data, at=()):
    """Yield the way to every entry of a document."""
    for name, value in data.items():
        yield *at, name
        if isinstance(value, dict):
            yield from entries(value, (*at, name))


@pytest.mark.parametrize("kind", RECORDS)
def test_an_entry_that_is_lost_is_named(kind):
    record = RECORDS[kind]
    written = json.dumps(record.to_dict())
    assert json.dumps(type(record).from_dict(json.loads(written)).to_dict()) == written
    for *at, name in entries(json.loads(written)):
        data = inner = json.loads(written)
        for step in at:
            inner = inner[step]
        del inner[name]
        lost = "data" if name == "planes" else name  # without its planes it is taken for the record of one
        with pytest.raises(ValueError, match=f"lacks '{lost}'"):
            type(record).from_dict(data)


@pytest.mark.parametrize("kind", RECORDS)
def test_what_is_no_object_is_refused(kind):
    with pytest.raises(ValueError, match="no object"):
        type(RECORDS[kind]).from_dict([])
