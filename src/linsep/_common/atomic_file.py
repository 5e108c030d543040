"""Files that are written whole or not at all."""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

__all__ = ["atomic_file", "check_target", "write_atomically"]


def write_atomically(path: str | os.PathLike[str], content: bytes) -> None:
    """Write a file so that at any moment its name holds the old content or the new, even if the process is killed.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_atomically(f"{folder}/a.txt", b"hello")
    ...     os.listdir(folder)
    ['a.txt']
    """
    with atomic_file(path) as file:
        file.write(content)


def check_target(path: str | os.PathLike[str], *read: str | os.PathLike[str] | None) -> None:
    """Raise `ValueError` where a file cannot be written, or is one of those that are read: before the work, not after.

    Examples
    --------
    >>> check_target("no/such/folder/model.json")
    Traceback (most recent call last):
    ValueError: no/such/folder/model.json: no such folder to write model.json into; make it first
    """
    target = Path(os.path.realpath(path))
    if target.is_dir():
        raise ValueError(f"{path}: it is a folder; give the name of a file in it")
    if not target.parent.is_dir():
        raise ValueError(f"{path}: no such folder to write {target.name} into; make it first")
    if not os.access(target.parent if target.is_file() or not target.exists() else target, os.W_OK):
        raise ValueError(f"{path}: it may not be written; choose another place")
    for other in read:
        if other is not None and target.is_file() and Path(other).exists() and target.samefile(other):
            raise ValueError(f"{path}: it is read by this command, which would overwrite it; write to another file")


@contextmanager
def atomic_file(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Yield a file to write, which takes its name when all is written and on the disk.

    The content goes to a file in the same folder first that has no name, where the file system can, so that nothing is
    left of it if the process is killed, else to a temporary one. A failure (a full disk, a folder that cannot be
    written) removes it and raises `OSError`. A link is followed, the permissions of a file that is
    there already are kept, and what is no file (a pipe, a device) is written to as it is.
    """
    target = Path(os.path.realpath(path))
    if target.is_dir():
        raise IsADirectoryError(f"{path} is a folder; give the name of a file in it")
    try:
        with target.open("wb") if target.exists() and not target.is_file() else _replacing(target) as file:
            yield file
    except OSError as error:
        if error.filename is not None or error.errno is None:
            raise
        raise OSError(error.errno, error.strerror, os.fspath(path)) from error  # writing does not know its name


@contextmanager
def _replacing(target: Path) -> Iterator[BinaryIO]:
    temporary: str | None = None
    descriptor = _unnamed(target.parent)
    if descriptor is None:
        descriptor, temporary = _named(target)
    try:
        with os.fdopen(descriptor, "w+b") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
            temporary = temporary or _name(file, target)
        os.chmod(temporary, _mode(target))
        os.replace(temporary, target)
    except BaseException:
        if temporary is not None:
            with suppress(FileNotFoundError):
                os.unlink(temporary)
        raise
    _sync_folder(target.parent)


def _named(target: Path) -> tuple[int, str]:
    return tempfile.mkstemp(prefix=f".{target.name}.", suffix=".tmp", dir=target.parent)


def _unnamed(folder: Path) -> int | None:
    """Return a file in the folder that has no name yet, which nothing is left of if the process is killed, or None."""
    if not hasattr(os, "O_TMPFILE"):
        return None
    try:
        return os.open(folder, os.O_TMPFILE | os.O_RDWR, 0o600)
    except OSError:  # not every file system can
        return None


def _name(file: BinaryIO, target: Path) -> str:
    """Give the file a name beside its target, for the moment until it takes its place, and return it."""
    descriptor, temporary = _named(target)
    os.close(descriptor)
    try:
        os.unlink(temporary)
        os.link(f"/proc/self/fd/{file.fileno()}", temporary, follow_symlinks=True)
    except OSError:  # there is no /proc: a copy
        file.seek(0)
        try:
            with open(temporary, "wb") as copy:
                shutil.copyfileobj(file, copy)
                copy.flush()
                os.fsync(copy.fileno())
        except BaseException:
            os.unlink(temporary)
            raise
    return temporary


def _mode(target: Path) -> int:
    """Return the permissions of the file that is there, or those that a new file gets."""
    if target.exists():
        return stat.S_IMODE(target.stat().st_mode)
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


def _sync_folder(folder: Path) -> None:
    """Make the new name outlast a power failure, on systems that can."""
    if not hasattr(os, "O_DIRECTORY"):
        return
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
