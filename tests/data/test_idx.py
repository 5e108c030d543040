"""The IDX reader: real files, whole and damaged."""

import gzip
import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from linsep.data.idx import TYPES, find_mnist, load_mnist, read_idx

IMAGES, LABELS = "train-images-idx3-ubyte", "train-labels-idx1-ubyte"


def idx_bytes(array):
    code = next(code for code, name in TYPES.items() if np.dtype(name) == array.dtype.newbyteorder(">"))
    sizes = struct.pack(f">{array.ndim}I", *array.shape)
    return bytes([0, 0, code, array.ndim]) + sizes + array.astype(TYPES[code]).tobytes()


def write_mnist(folder, images, labels, compress=gzip.compress, ending=".gz"):
    (folder / (IMAGES + ending)).write_bytes(compress(idx_bytes(images)))
    (folder / (LABELS + ending)).write_bytes(compress(idx_bytes(labels)))


@pytest.fixture
def digits():
    rng = np.random.default_rng(0)
    return rng.integers(0, 256, (5, 28, 28), dtype=np.uint8), np.array([3, 7, 1, 7, 3], dtype=np.uint8)


@given(st.sampled_from(sorted(TYPES.values())).flatmap(lambda name: hnp.arrays(name, hnp.array_shapes(max_dims=4))))
def test_what_was_written_is_read(tmp_path_factory, array):
    path = tmp_path_factory.mktemp("idx") / "numbers"
    path.write_bytes(idx_bytes(array))
    read = read_idx(path)
    np.testing.assert_array_equal(read, array)
    assert read.dtype == array.dtype.newbyteorder("=")
    assert read.flags.writeable


@pytest.mark.parametrize("name", ["labels", "labels.gz"])
@pytest.mark.parametrize("compress", [gzip.compress, bytes])
def test_compression_is_seen_in_the_file_not_in_its_name(tmp_path, name, compress):
    path = tmp_path / name
    path.write_bytes(compress(idx_bytes(np.array([3, 7], dtype=np.uint8))))
    assert read_idx(path).tolist() == [3, 7]


WHOLE = idx_bytes(np.zeros((2, 3), dtype=np.uint8))
PACKED = gzip.compress(idx_bytes(np.random.default_rng(0).integers(0, 256, 1000, dtype=np.uint8)), mtime=0)


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b"", r"not an IDX file: it begins with the bytes \(none\)"),
        (b"\0\0", "not an IDX file"),
        (b"a,b,c\n1,2,3\n", "not an IDX file: it begins with the bytes 61 2c 62 2c"),
        (b"\0\0\x0a\x01" + WHOLE[4:], "not an IDX file"),
        (b"\0\0\x08\x00", "not an IDX file"),
        (WHOLE[:9], "ends inside the header, which should state 2 sizes"),
        (WHOLE[:-1], "promises 2 × 3 numbers, 6 bytes, but only 5 follow"),
        (WHOLE + b"\0", "promises 2 × 3 numbers, 6 bytes, but more follow"),
        (b"\0\0\x0e\x03" + b"\xff" * 12, "but only 0 follow"),
        (PACKED[:-20], "gzip compression is damaged"),
        (PACKED[:500] + bytes(50) + PACKED[550:], "gzip compression is damaged"),
        (b"\x1f\x8b rubbish", "gzip compression is damaged"),
        (gzip.compress(WHOLE, mtime=0)[:-8] + bytes(8), "gzip compression is damaged"),
    ],
)
def test_damage_is_named_with_the_file(tmp_path, content, complaint):
    path = tmp_path / "damaged.gz"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=complaint) as caught:
        read_idx(path)
    assert str(path) in str(caught.value)


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match="nothing"):
        read_idx(tmp_path / "nothing")


@pytest.mark.parametrize(("compress", "ending"), [(gzip.compress, ".gz"), (bytes, "")])
def test_mnist_is_found_and_loaded(tmp_path, digits, compress, ending):
    write_mnist(tmp_path, *digits, compress, ending)
    assert [path.name for path in find_mnist(tmp_path)] == [IMAGES + ending, LABELS + ending]
    images, labels = load_mnist(tmp_path)
    np.testing.assert_array_equal(images, digits[0])
    np.testing.assert_array_equal(labels, digits[1])


def test_the_spelling_with_dots_is_found(tmp_path):
    for name in ("t10k-images.idx3-ubyte", "t10k-labels.idx1-ubyte"):
        (tmp_path / name).touch()
    assert find_mnist(tmp_path, "test")[0].name == "t10k-images.idx3-ubyte"


def test_missing_mnist_files_are_named(tmp_path, digits):
    with pytest.raises(FileNotFoundError, match="no such folder"):
        find_mnist(tmp_path / "nowhere")
    with pytest.raises(FileNotFoundError, match=rf"no MNIST file {IMAGES}\.gz"):
        find_mnist(tmp_path)
    write_mnist(tmp_path, *digits)
    (tmp_path / f"{LABELS}.gz").unlink()
    with pytest.raises(FileNotFoundError, match=rf"no MNIST file {LABELS}\.gz"):
        find_mnist(tmp_path)
    with pytest.raises(ValueError, match="part='validation' is not possible; use one of 'train', 'test'"):
        find_mnist(tmp_path, "validation")


def test_images_and_labels_must_belong_together(tmp_path, digits):
    images, labels = digits
    write_mnist(tmp_path, images, labels[:-1])
    with pytest.raises(ValueError, match=r"has 5 images, but .*labels.* has 4 labels"):
        load_mnist(tmp_path)
    write_mnist(tmp_path, labels, labels)
    with pytest.raises(ValueError, match=r"images.*holds uint8 numbers in 1 dimensions, not uint8 in 3"):
        load_mnist(tmp_path)
