"""Blocks of examples on the disk: what is read is what was written, and a full disk is said to be full."""

import errno

import numpy as np
import pytest
from scipy import sparse

from linsep.data.scratch import DiskVector, Scratch, ScratchWriter, check_space, disk_errors
from linsep.data.sources import DataError


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
def test_what_is_written_is_read_again_and_again(tmp_path, make):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((50, 7)) * (rng.random((50, 7)) < 0.5)
    codes = rng.integers(0, 3, 50)
    writer = ScratchWriter(tmp_path)
    for first in range(0, 50, 11):
        writer.add(make(X[first : first + 11]), codes[first : first + 11])
    writer.finish(7)
    found = Scratch(tmp_path)
    for _ in range(2):
        rows, classes, firsts = [], [], []
        for block in found:
            rows.append(np.array(block.rows.X.toarray() if block.rows.is_sparse else block.rows.X))
            classes.append(block.codes.copy())
            firsts.append(block.first)
        assert np.array_equal(np.vstack(rows), X)
        assert np.array_equal(np.concatenate(classes), codes)
        assert firsts == [0, 11, 22, 33, 44]
    assert np.array_equal(np.concatenate(list(found.codes(7))), codes)
    assert found.counts.tolist() == np.bincount(codes).tolist()
    assert found.squares == pytest.approx(np.bincount(codes, weights=(X**2).sum(axis=1)))


def test_columns_numbered_from_one_and_classes_in_another_order(tmp_path):
    writer = ScratchWriter(tmp_path)
    X = sparse.csr_array(np.array([[0.0, 1.0, 2.0], [0.0, 0.0, 3.0]]))  # column 0 is never there
    writer.add(X, np.array([0, 1]))
    found = writer.finish(2, base=1, order=[1, 0])
    (block,) = found
    assert block.rows.X.toarray().tolist() == [[1.0, 2.0], [0.0, 3.0]]
    assert block.codes.tolist() == [1, 0]
    assert found.squares.tolist() == [9.0, 5.0]


def test_vectors_begin_at_zero_and_keep_what_is_written(tmp_path):
    vector = DiskVector(tmp_path / "v.bin", 10)
    vector.write(slice(3, 6), np.array([1.0, 2.0, 3.0]))
    assert DiskVector(tmp_path / "v.bin", 10).read(slice(0, 10)).tolist() == [0, 0, 0, 1, 2, 3, 0, 0, 0, 0]


def test_a_full_disk_is_said_to_be_full(tmp_path):
    with pytest.raises(DataError, match=r"the disk is full.*--scratch"), disk_errors(tmp_path):
        raise OSError(errno.ENOSPC, "No space left on device")
    with pytest.raises(DataError, match=r"may not grow that large.*--scratch"), disk_errors(tmp_path):
        raise OSError(errno.EFBIG, "File too large")
    with pytest.raises(DataError, match=r"take about .* MB, and .* MB are left.*--scratch"):
        check_space(tmp_path, 10**18)


def test_a_file_that_was_cut_short_is_noticed(tmp_path):
    writer = ScratchWriter(tmp_path)
    writer.add(np.ones((5, 2)), np.zeros(5, dtype=int))
    found = writer.finish(2)
    (tmp_path / "rows.bin").write_bytes(bytes(24))
    with pytest.raises(DataError, match="ends too early"):
        list(found)
