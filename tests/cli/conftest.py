"""Files that the tests of several commands read."""

import pytest

from command import run
from customers import customers


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Files of the same customers, and models of them."""
    place = tmp_path_factory.mktemp("customers")
    customers().to_csv(place / "train.csv", index=False)
    customers(seed=1).to_csv(place / "test.csv", index=False)
    run("fit", place / "train.csv", "--target", "bought", "--ignore", "kind", "-o", place / "model.json")
    run("fit", place / "train.csv", "--target", "kind", "--ignore", "bought", "-o", place / "three.json")
    return place
