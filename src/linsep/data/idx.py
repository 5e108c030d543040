"""IDX, the format of the MNIST digits: a short header with the type and the sizes, then the numbers.

bytes 0, 1     zero
byte  2        type of the numbers, a key of `TYPES`
byte  3        how many dimensions
4 bytes each   their sizes, most significant byte first
the rest       the numbers, in C order, most significant byte first
"""

from __future__ import annotations

import gzip
import math
import struct
import zlib
from pathlib import Path
from typing import Any, BinaryIO, cast

import numpy as np
from numpy.typing import NDArray

#: The type byte and what it stands for.
TYPES = {0x08: ">u1", 0x09: ">i1", 0x0B: ">i2", 0x0C: ">i4", 0x0D: ">f4", 0x0E: ">f8"}

#: Names under which the MNIST files are passed around, each also with ``.gz``.
_SPELLINGS = ("{part}-{what}-idx{d}-ubyte", "{part}-{what}.idx{d}-ubyte")
_PARTS = {"train": "train", "test": "t10k"}
_CHUNK = 2**20


def read_idx(path: str | Path) -> NDArray[Any]:
    """Return the array in an IDX file, compressed with gzip or not.

    Parameters
    ----------
    path : str or Path

    Returns
    -------
    array
        Of the shape and type that the file states, in the machine's own byte order.

    Raises
    ------
    ValueError
        If the file is damaged or of another format; the message names the file and what is wrong.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "labels")
    ...     _ = path.write_bytes(bytes([0, 0, 0x08, 1, 0, 0, 0, 3, 7, 3, 7]))
    ...     read_idx(path)
    array([7, 3, 7], dtype=uint8)
    """
    path = Path(path)
    try:
        with _open(path) as stream:
            return _parse(stream)
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise ValueError(f"{path}: the gzip compression is damaged ({error}); fetch the file again") from error
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error


def _open(path: Path) -> BinaryIO:
    """Open the file, seen through its compression. The name is not asked: browsers may unpack and keep it."""
    with path.open("rb") as file:
        compressed = file.read(2) == b"\x1f\x8b"
    return cast(BinaryIO, gzip.open(path) if compressed else path.open("rb"))


def _parse(stream: BinaryIO) -> NDArray[Any]:
    magic = stream.read(4)
    if len(magic) < 4 or magic[:2] != b"\0\0" or magic[2] not in TYPES or magic[3] == 0:
        raise ValueError(f"not an IDX file: it begins with the bytes {magic.hex(' ') or '(none)'}")
    dtype, d = np.dtype(TYPES[magic[2]]), magic[3]
    header = stream.read(4 * d)
    if len(header) < 4 * d:
        raise ValueError(f"ends inside the header, which should state {d} sizes; fetch the file again")
    shape = struct.unpack(f">{d}I", header)
    needed = math.prod(shape) * dtype.itemsize
    content = _read_at_most(stream, needed + 1)
    if len(content) != needed:
        found = f"only {len(content):,}" if len(content) < needed else "more"
        sizes = " × ".join(f"{size:,}" for size in shape)
        raise ValueError(
            f"the header promises {sizes} numbers, {needed:,} bytes, but {found} follow; fetch the file again"
        )
    return np.frombuffer(content, dtype).reshape(shape).astype(dtype.newbyteorder("="), copy=False)


def _read_at_most(stream: BinaryIO, size: int) -> bytearray:
    """Read so many bytes or to the end, without first making room for whatever a damaged header promises."""
    content = bytearray()
    while len(content) < size and (chunk := stream.read(min(_CHUNK, size - len(content)))):
        content += chunk
    return content


def find_mnist(folder: str | Path, part: str = "train") -> tuple[Path, Path]:
    """Return where the images and the labels of MNIST are in a folder.

    Parameters
    ----------
    folder : str or Path
    part : {"train", "test"}
        The 60,000 training or the 10,000 test digits.

    Raises
    ------
    FileNotFoundError
        Naming the folder and the file that is not there.

    Examples
    --------
    >>> find_mnist("nowhere")
    Traceback (most recent call last):
    FileNotFoundError: nowhere: no such folder
    """
    if part not in _PARTS:
        raise ValueError(f"part={part!r} is not possible; use one of {', '.join(map(repr, _PARTS))}")
    folder = Path(folder)
    if not folder.is_dir():
        raise FileNotFoundError(f"{folder}: no such folder")
    return _find(folder, _PARTS[part], "images", 3), _find(folder, _PARTS[part], "labels", 1)


def _find(folder: Path, part: str, what: str, d: int) -> Path:
    names = [spelling.format(part=part, what=what, d=d) for spelling in _SPELLINGS]
    for candidate in (folder / (name + ending) for name in names for ending in (".gz", "")):
        if candidate.is_file():
            return candidate
    raise FileNotFoundError(f"{folder}: no MNIST file {names[0]}.gz (or without .gz) in this folder")


def load_mnist(folder: str | Path, part: str = "train") -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """Return the MNIST images, of shape (n, 28, 28) with pixels 0 to 255, and their labels.

    Parameters
    ----------
    folder : str or Path
    part : {"train", "test"}

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     header = bytes([0, 0, 8, 3, 0, 0, 0, 1, 0, 0, 0, 28, 0, 0, 0, 28])
    ...     _ = Path(folder, "t10k-images-idx3-ubyte").write_bytes(header + bytes(784))
    ...     _ = Path(folder, "t10k-labels-idx1-ubyte").write_bytes(bytes([0, 0, 8, 1, 0, 0, 0, 1, 7]))
    ...     images, labels = load_mnist(folder, "test")
    >>> images.shape, labels
    ((1, 28, 28), array([7], dtype=uint8))
    """
    image_file, label_file = find_mnist(folder, part)
    images, labels = read_idx(image_file), read_idx(label_file)
    for path, array, d in ((image_file, images, 3), (label_file, labels, 1)):
        if array.ndim != d or array.dtype != np.uint8:
            raise ValueError(
                f"{path}: holds {array.dtype} numbers in {array.ndim} dimensions, not uint8 in {d}; is it MNIST's own?"
            )
    if len(images) != len(labels):
        raise ValueError(
            f"{image_file} has {len(images):,} images, but {label_file} has {len(labels):,} labels; fetch both again"
        )
    return images, labels
