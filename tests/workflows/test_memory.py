"""Amounts of memory, as users write them and as they are shared out."""

import pytest

from linsep.data.sources import DataError
from linsep.workflows.memory import Budget, parse_size, peak_memory


@pytest.mark.parametrize(
    ("text", "size"), [("512MB", 512 * 10**6), ("2g", 2 * 10**9), ("1.5 GiB", 3 * 2**29), ("300000000", 3 * 10**8)]
)
def test_amounts(text, size):
    assert parse_size(text) == size


@pytest.mark.parametrize("text", ["", "lots", "-5MB", "5 parsecs", "0", "1..5GB"])
def test_what_is_no_amount_is_refused(text):
    with pytest.raises(DataError, match="is no amount of memory; write 512MB"):
        parse_size(text)


def test_a_limit_that_is_too_small_says_what_would_do():
    with pytest.raises(DataError, match=r"10MB is too small: .* take [0-9,]+ MB already.*give [0-9,]+MB or more"):
        Budget.of(10**7)


def test_rows_beyond_the_limit_are_not_said_to_be_parquet():
    said = r"^t.tsv: reading its rows takes [0-9,]+ MB, more than --max-memory 10MB; give [0-9,]+MB\. A Parquet file, "
    with pytest.raises(DataError, match=said):
        Budget(limit=10**7, taken=0).check("t.tsv: reading its rows")


def test_shares_stay_within_the_limit():
    budget = Budget.of(peak_memory() + 200 * 10**6)
    assert 24 * budget.block <= budget.free < 200 * 10**6
    roomy = Budget.of(budget.limit_for(10**9))
    assert roomy.free == 10**9
    assert roomy.free + roomy.taken < roomy.limit


@pytest.mark.parametrize("limit", [320 * 10**6, 512 * 10**6, 4 * 10**9])
def test_what_the_libraries_happen_to_take_changes_no_share(limit):
    """Two runs of one command start with some pages more or less: their blocks must not follow."""
    one, other = Budget(limit, taken=208_789_504), Budget(limit, taken=209_117_184)
    for share in ("free", "block", "sample", "features"):
        assert getattr(one, share) == getattr(other, share)
