"""Labels as positions among the classes."""

import numpy as np
import pytest

from linsep._common.labels import coded

CASES = {
    "few whole numbers": np.array([4, 2, 4, 9, -1]),
    "the ends of a byte": np.array([-128, 127, 3], dtype=np.int8),
    "beyond 64 bits with a sign": np.array([2**64 - 1, 2**64 - 3, 2**64 - 2], dtype=np.uint64),
    "far apart": np.array([2**62, -(2**62), 5]),
    "two words": np.array(["no", "yes", "no"]),
    "three words": np.array(["no", "yes", "maybe"]),
    "one": np.array([3, 3]),
    "none": np.array([]),
    "true and false": np.array([True, False, True]),
    "floats": np.array([0.5, 2.0, 0.5, 1.0]),
    "a missing one": np.array([np.nan, 1.0, 2.0]),
    "one of two missing": np.array([np.nan, 1.0]),
}


@pytest.mark.parametrize("labels", CASES.values(), ids=CASES)
def test_labels_are_found_and_placed_as_numpy_does(labels):
    different, places = coded(labels)
    expected, inverse = np.unique(labels, return_inverse=True)
    assert different.dtype == labels.dtype
    assert places.dtype == np.int64
    np.testing.assert_array_equal(different, expected)
    np.testing.assert_array_equal(places, inverse)
