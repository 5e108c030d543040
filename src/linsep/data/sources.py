"""Where data come from: a file or standard input, whatever compresses it, and which format its first bytes show."""

from __future__ import annotations

import io
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa

from .room import check_room

#: How many bytes of the content are looked at to tell what it is.
HEAD = 1 << 20
#: How many bytes are unpacked before one looks whether there is room for more.
UNPACKED = 1 << 24
#: First bytes, and what pyarrow calls that compression.
COMPRESSIONS = {b"\x1f\x8b": "gzip", b"BZh": "bz2", b"\x28\xb5\x2f\xfd": "zstd"}
#: First bytes of the content, and its format.
MAGIC = {
    b"PAR1": "parquet",
    b"ARROW1": "arrow",
    b"FEA1": "arrow",
    b"\xff\xff\xff\xff": "arrow",
    b"\xd0\xcf\x11\xe0": "excel",
}
#: Archives are NPZ or, by the name of the file that comes first, workbooks.
ARCHIVE = b"PK\x03\x04"
WORKBOOK = re.compile(rb".{30}(?:\[Content_Types\]\.xml|_rels/|xl/|docProps/|mimetypeapplication/vnd)", re.DOTALL)
#: Endings of names that leave no doubt; the others are told by their content.
ENDINGS = {".svm": "libsvm", ".libsvm": "libsvm", ".svmlight": "libsvm", ".csv": "csv", ".tsv": "csv", ".tab": "csv"}
#: A line of LIBSVM text that is a label alone, all its numbers being zero; such lines may be anything else, too.
LABEL_ALONE = re.compile(rb"^[+-]?[0-9.]+(?:[eE][+-]?[0-9]+)?$")
#: A line of LIBSVM text that has at least one entry.
LIBSVM_LINE = re.compile(rb"^[+-]?[0-9.]+(?:[eE][+-]?[0-9]+)?(?:\s+qid:\S+)?(?:\s+[0-9]+:[-+.0-9eE]+)+\s*(?:#.*)?$")


class DataError(ValueError):
    """Data that cannot be used: the message names the file, the place in it, and what to do.

    Attributes
    ----------
    column : str or None
        The one that could be set aside to use the others.
    """

    def __init__(self, message: str, column: str | None = None) -> None:
        super().__init__(message)
        self.column = column


class BadValueError(DataError):
    """A value that is not what its column holds; who knows the file says on which line, see `Table.blaming`.

    Attributes
    ----------
    fits : callable
        Whether some of the column's values are all as they should be.
    advice : str
        What to do.
    """

    column: str

    def __init__(self, where: str, column: str, advice: str, fits: Callable[[Any], bool]) -> None:
        super().__init__(f"{where}, column {column!r}: a value {advice}", column)
        self.advice, self.fits = advice, fits


@contextmanager
def blame(name: str) -> Iterator[None]:
    """Turn what a library says of a damaged file into an error that names the file."""
    try:
        yield
    except DataError:
        raise
    except FileNotFoundError as error:
        raise DataError(f"{name}: no such file") from error
    except (IsADirectoryError, PermissionError) as error:
        raise DataError(f"{name}: {error.strerror or error}") from error
    except (pa.ArrowException, OSError, EOFError) as error:
        first = (str(error).strip().splitlines() or [type(error).__name__])[0].rstrip(".")
        raise DataError(f"{name}: the file is damaged or ends too early ({first}); write or fetch it again") from error


@contextmanager
def of_file(name: str) -> Iterator[None]:
    """Let an error that speaks of a column say of which file."""
    try:
        yield
    except BadValueError:
        raise
    except DataError as error:
        raise error if str(error).startswith(name) else DataError(f"{name}: {error}", error.column) from error


class _Joined(io.RawIOBase):
    """Bytes that were already read, then the rest of the stream: standard input cannot be rewound."""

    def __init__(self, head: bytes, rest: Any) -> None:
        self._head, self._rest = head, rest

    def readable(self) -> bool:
        return True

    def readinto(self, into: Any) -> int:
        if self._head:
            chunk, self._head = self._head[: len(into)], self._head[len(into) :]
        else:
            chunk = self._rest.read(len(into))
        into[: len(chunk)] = chunk
        return len(chunk)

    def close(self) -> None:
        if self._rest is not sys.stdin.buffer:
            self._rest.close()
        super().close()


def _read_up_to(stream: Any, size: int) -> bytes:
    """Read so many bytes, or to the end: a pipe gives what it has."""
    parts: list[bytes] = []
    while size > 0 and (chunk := stream.read(size)):
        parts.append(chunk)
        size -= len(chunk)
    return b"".join(parts)


def _whole(name: str, stream: Any) -> Any:
    """Return all that comes of a stream; raise before it is more than there is room for."""
    parts: list[bytes] = []
    size = 0
    while chunk := stream.read(UNPACKED):
        parts.append(chunk)
        size += len(chunk)
        check_room(name, size, "what it unpacks to" if size > UNPACKED else "its content")
    return pa.py_buffer(b"".join(parts))


@dataclass(frozen=True)
class Source:
    r"""A file, or standard input.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "flowers")
    ...     _ = path.write_text("+1 1:0.5 4:2\n-1 2:1\n")
    ...     Source.of(path).format
    'libsvm'
    """

    name: str  # how errors call it
    path: Path | None  # None for what can be read once only: standard input, a pipe
    compression: str | None
    format: str  # csv, libsvm, npz, parquet, arrow or excel
    head: bytes  # the first bytes of the content
    rest: Any = None

    @classmethod
    def of(cls, path: str | Path) -> Source:
        """Look at the first bytes of a file, or of standard input for ``-``."""
        if str(path) == "-":
            return cls._of_stream("standard input", sys.stdin.buffer)
        path = Path(path)
        name = str(path)
        with blame(name):
            if path.exists() and not path.is_file() and not path.is_dir():  # a pipe, as of <(…) in a shell
                return cls._of_stream(name, path.open("rb"), name)
            with path.open("rb") as file:
                compression = _compression(file.read(4))
            with _decompress(path.open("rb"), compression) as stream:
                head = _read_up_to(stream, HEAD)
        return cls(name, path, compression, _format(name, head), head)

    @classmethod
    def _of_stream(cls, name: str, stream: BinaryIO, called: str = "") -> Source:
        with blame(name):
            start = _read_up_to(stream, 4)
            compression = _compression(start)
            content = _decompress(_Joined(start, stream), compression)
            head = _read_up_to(content, HEAD)
        return cls(name, None, compression, _format(called, head), head, content)

    @property
    def size(self) -> int | None:
        """Bytes on disk, None for what can be read once only."""
        return None if self.path is None else self.path.stat().st_size

    def open(self, *, mapped: bool = True) -> Any:
        """Return the content from its beginning, as a stream that pyarrow reads; of a pipe once only.

        Pages of a mapped file count as the process's memory: whoever goes through a long one says no.
        """
        if self.path is None:
            return pa.PythonFile(self._once(), mode="r")
        if self.compression is None:
            plain = pa.memory_map if mapped else pa.OSFile
            return plain(str(self.path)) if self.size else pa.BufferReader(b"")
        return pa.CompressedInputStream(pa.OSFile(str(self.path)), self.compression)

    def _once(self) -> BinaryIO:
        return io.BufferedReader(_Joined(self.head, self.rest), 1 << 20)

    def buffer(self) -> Any:
        """Return the whole content; a plain file is mapped, not copied."""
        with blame(self.name):
            if self.path is None:  # which has no size to ask for
                with self._once() as pipe:
                    return _whole(self.name, pipe)
            with self.open() as stream:
                return stream.read_buffer() if self.compression is None else _whole(self.name, stream)

    def seekable(self, *, mapped: bool = True) -> Any:
        """Return the content as a file that can be read anywhere."""
        if self.path is not None and self.compression is None:
            return self.open(mapped=mapped)
        return pa.BufferReader(self.buffer())


def _compression(start: bytes) -> str | None:
    return next((kind for magic, kind in COMPRESSIONS.items() if start.startswith(magic)), None)


def _decompress(stream: Any, compression: str | None) -> Any:
    return stream if compression is None else pa.CompressedInputStream(pa.PythonFile(stream, mode="r"), compression)


def _format(name: str, head: bytes) -> str:
    """Return the format that the content shows, or else the name."""
    if not head.strip():
        raise DataError(f"{name or 'standard input'}: it is empty; give a file with a header and rows")
    for magic, kind in MAGIC.items():
        if head.startswith(magic):
            return kind
    if head.startswith(ARCHIVE):
        return "excel" if WORKBOOK.match(head) else "npz"
    endings = Path(name.lower().removesuffix(".gz").removesuffix(".bz2").removesuffix(".zst")).suffixes[-1:]
    if endings and endings[0] in ENDINGS:
        return ENDINGS[endings[0]]
    lines = [line for line in head.split(b"\n")[:50] if line.strip() and not line.lstrip().startswith(b"#")]
    telling = [line.strip() for line in (lines[:-1] or lines) if not LABEL_ALONE.match(line.strip())]
    looks = [bool(LIBSVM_LINE.match(line)) for line in telling]
    return "libsvm" if looks and sum(looks) > len(looks) / 2 else "csv"
