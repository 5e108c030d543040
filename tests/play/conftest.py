"""A server for the tests of a file."""

import pytest

from pages import serving


@pytest.fixture(scope="module")
def address():
    with serving() as found:
        yield found
