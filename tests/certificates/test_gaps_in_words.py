"""What is said of a gap beside `tol`: the number that was compared, in digits that do not contradict the verdict."""

import re
import warnings
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from linsep import LinearSVC
from linsep.certificates.gap.certificate import Certificates
from linsep.certificates.kinds.gap import Gap
from linsep.certificates.outcome import beside

TINY = st.floats(1e-14, 1e-3)


@given(gap=TINY, tol=TINY, near=st.floats(0.999, 1.001))
def test_a_gap_reads_on_the_side_of_tol_that_it_is_on(gap, tol, near):
    for one in (gap, tol, near * tol):
        text = beside(one, tol)
        assert (float(text) <= tol) == (one <= tol)
        assert float(text) == pytest.approx(one, rel=0.051)


@pytest.fixture
def model():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 2))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return LinearSVC(tol=1e-6).fit(X, np.where(X[:, 0] + rng.normal(size=40) > 0, 1, -1))


def unsure(claim):
    """The same claim with rounding that takes the gap, which is less than `tol`, beyond it."""
    return replace(claim, dual=claim.primal * (1 - 0.94e-6), rounding=0.1e-6 * claim.primal)


def named(text, before):
    return float(re.search(rf"{before} ([0-9.e-]+[0-9])", text)[1])


def test_the_warning_says_the_number_that_was_compared(model):
    model._proofs = [Gap([unsure(model._proofs[0].each[0])])]
    certificate, words = model.certificate_, model._how_far()
    assert certificate.relative_gap < model.tol < certificate.certain_gap
    assert not certificate.proven
    assert words.endswith(f"only, not tol={model.tol:g}")
    assert named(words, "within") == pytest.approx(certificate.certain_gap, rel=0.05)
    assert named(words, "within") > model.tol


@pytest.mark.parametrize("classes", [2, 3])
def test_a_certificate_says_the_number_that_was_compared(model, classes):
    certificate = replace(model.certificate_, claim=unsure(model.certificate_.claim))
    certificate = certificate if classes == 2 else Certificates([model.certificate_] * 2 + [certificate])
    assert "does not prove tol=1e-06" in str(certificate)
    assert named(str(certificate), "within") > 1e-6
    assert model.tol < certificate.certain_gap < 1.1e-6


def test_a_proof_reads_as_one(model):
    text = str(model.certificate_)
    assert "proven to tol=1e-06" in text
    assert named(text, "within") <= 1e-6


def test_where_rounding_is_more_than_the_objective_no_number_is_said(model):
    model._proofs = [Gap([replace(claim, rounding=2 * claim.primal) for claim in model._proofs[0].each])]
    assert "nobody knows how far above the optimum, which does not prove tol" in str(model.certificate_)
    assert "inf" not in model._how_far()
    assert model._how_far().endswith("hence not tol=1e-06")
