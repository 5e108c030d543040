"""Partitions as files on an executor's disk, which all its processes map: one copy in memory, and none to be sent.

Spark gives a partition now to this process, now to that one, and ends those that are idle. What is in the folder
of its executor is there for all of them, and goes with the executor.
"""

from __future__ import annotations

import mmap
import os
import pickle
import shutil
import uuid
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .parts import Answer, Part, Seat, work

#: Arrays begin at multiples of this.
ALIGNED = 64
PART = "part"


def store(path: Path, value: Any) -> None:
    """Write a value, its arrays beside it as they are in memory; whoever reads sees the whole file or none.

    Examples
    --------
    >>> import tempfile, numpy as np
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     store(Path(folder) / "one", {"a": np.arange(3), "b": np.zeros((0, 2))})
    ...     mapped(Path(folder) / "one")
    {'a': array([0, 1, 2]), 'b': array([], shape=(0, 2), dtype=float64)}
    """
    arrays: list[pickle.PickleBuffer] = []
    head = pickle.dumps(value, protocol=5, buffer_callback=arrays.append)
    raws = [one.raw() for one in arrays]
    table = pickle.dumps((head, [one.nbytes for one in raws]))
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_name(f".{path.name}.{uuid.uuid4().hex}")
    with new.open("wb") as file:
        file.write(len(table).to_bytes(8, "little") + table)
        for one in raws:
            file.write(bytes(-file.tell() % ALIGNED))
            file.write(one)
    os.replace(new, path)


def mapped(path: Path) -> Any:
    """Return a value that was stored; its arrays are pages of the file, which change only here."""
    with path.open("rb") as file:
        memory = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY))
    size = int.from_bytes(memory[:8], "little")
    (head, sizes), at, arrays = pickle.loads(memory[8 : 8 + size]), 8 + size, []
    for one in sizes:
        at += -at % ALIGNED
        arrays.append(memory[at : at + one] if one else bytearray())
        at += one
    return pickle.loads(head, buffers=arrays)


#: Of each folder that this process has mapped: the fit that it serves now, and its partition.
_here: dict[Path, tuple[str, Part]] = {}


def part_of(folder: Path, fit: str) -> Part:
    """Return the partition of a folder, and with it what the tasks of a fit have left there, whoever did them."""
    if folder not in _here or _here[folder][0] != fit:
        _here[folder] = fit, mapped(folder / PART)
    part = _here[folder][1]
    for number in _left(folder / fit) - set(part.left):
        part.left[number] = mapped(folder / fit / str(number))
    return part


def work_on(folders: Sequence[Path], fit: str, sent: bytes, seats: Sequence[Seat], leaves: int) -> Answer:
    """Do a job on the partitions of some folders, and leave there what it writes."""
    for folder in [one for one in _here if not one.exists()]:
        del _here[folder]
    parts = [part_of(folder, fit) for folder in folders]
    answer = work(sent, seats, parts, leaves)
    for folder, part in zip(folders, parts, strict=True):
        there = _left(folder / fit)
        for number in set(part.left) - there:
            store(folder / fit / str(number), part.left[number])
        for number in there - set(part.left):
            (folder / fit / str(number)).unlink(missing_ok=True)
    return answer


def _left(folder: Path) -> set[int]:
    return {int(name) for name in os.listdir(folder) if name.isdigit()} if folder.is_dir() else set()


def remove(folder: Path) -> None:
    """Remove a folder, if it is there."""
    shutil.rmtree(folder, ignore_errors=True)
    _here.pop(folder, None)
