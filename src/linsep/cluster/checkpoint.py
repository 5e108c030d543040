"""The sums of a fit on a cluster, kept in a file: from them a lost client finds its way again, to the same bits.

Whatever a client computes follows from the sums that it was sent. One that begins again takes them from the file as
long as there are any, and asks the workers for the others; what tasks had left beside the examples is made again when
it is asked for.

The file is plain data: a line that says what it is, then records. A record is a line, the checksum of a text of JSON
and that text, and as many bytes as it says, with a checksum there. The first says which fit it is of, each other one is
a sum (see `plain`). What is cut off at the end was being written when the client was lost; anything else is damage.
"""

from __future__ import annotations

import hashlib
import json
import os
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO

from .._common.atomic_file import write_atomically
from .plain import read, written

MAGIC = b"linsep checkpoint 1\n"
#: A line is no longer than this; what stands there instead is no record.
LONGEST = 1 << 24


class Checkpoint:
    """A file of sums.

    Parameters
    ----------
    path : path
        Where it is, or will be.
    identity : dict
        What tells this fit from others, in terms of JSON: the data, their partitions, the parameters, the version.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     Checkpoint(Path(folder) / "fit", {"C": 1.0}).keep(1, 0.5)
    ...     Checkpoint(Path(folder) / "fit", {"C": 1.0}).known(1)
    0.5
    """

    def __init__(self, path: str | os.PathLike[str], identity: Mapping[str, Any]) -> None:
        self.path = Path(path)
        self._places: dict[int, int] = {}
        if self.path.exists() and self.path.stat().st_size:
            self._look(json.loads(json.dumps(identity)))
        else:
            write_atomically(self.path, MAGIC + _record({"identity": identity}, b""))

    def _look(self, identity: Any) -> None:
        """Note where each sum is; cut off one that was being written when the client was lost."""
        with self.path.open("rb") as file:
            if file.read(len(MAGIC)) != MAGIC:
                raise ValueError(f"{self.path}: this is no checkpoint of a fit by linsep; name another")
            records, whole = self._records(file), len(MAGIC)
            for number, (at, head, _) in enumerate(records):
                if number == 0:
                    self._compare(head.get("identity"), identity)
                elif type(head.get("round")) is int:
                    self._places[head["round"]] = at
                else:
                    raise self._damaged(at)
                whole = file.tell()
        if whole == len(MAGIC):
            raise self._damaged(whole)
        os.truncate(self.path, whole)

    def _compare(self, before: Any, identity: Mapping[str, Any]) -> None:
        if before != identity:
            known = before if isinstance(before, dict) else {}
            changed = [name for name in {**known, **identity} if known.get(name) != identity.get(name)]
            raise ValueError(
                f"{self.path}: a checkpoint of another fit ({', '.join(changed)} differ); give the same data, "
                "partitions and parameters again to go on with it, or delete it"
            )

    def _records(self, file: BinaryIO) -> Iterator[tuple[int, dict[str, Any], bytes]]:
        """Yield where each record begins, what its line says, and its bytes, up to one that ends too early."""
        while True:
            at = file.tell()
            line = file.readline(LONGEST)
            if not line.endswith(b"\n") and len(line) < LONGEST:
                return
            head = _head(line)
            if head is None:
                raise self._damaged(at)
            content = file.read(head["bytes"])
            if len(content) < head["bytes"]:
                return
            if hashlib.sha256(content).hexdigest() != head.get("sha256"):
                raise self._damaged(at)
            yield at, head, content

    def _damaged(self, at: int) -> ValueError:
        return ValueError(
            f"{self.path}: a damaged checkpoint (what stands at byte {at}); delete it, and the fit starts"
        )

    def known(self, number: int) -> Any:
        """Return a sum that is there; None, if it is not."""
        if number not in self._places:
            return None
        with self.path.open("rb") as file:
            file.seek(self._places[number])
            at, head, content = next(self._records(file))
        try:
            return read(head.get("value"), content)
        except (ValueError, TypeError, RecursionError) as error:
            raise self._damaged(at) from error

    def keep(self, number: int, found: Any) -> None:
        """Write a sum behind the others."""
        value, arrays = written(found)
        with self.path.open("ab") as file:
            file.write(_record({"round": number, "value": value}, b"".join(arrays)))
            file.flush()
            os.fsync(file.fileno())


def _record(head: dict[str, Any], content: bytes) -> bytes:
    """Return a record: its line, and its bytes."""
    about = {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
    text = json.dumps(head | about).encode()
    return b"%08x %s\n" % (zlib.crc32(text), text) + content


def _head(line: bytes) -> dict[str, Any] | None:
    """Return what the line of a record says; None, if it is not as it was written."""
    checksum, _, text = line.rstrip(b"\n").partition(b" ")
    if checksum != b"%08x" % zlib.crc32(text):
        return None
    try:
        head = json.loads(text)
    except (ValueError, RecursionError):
        return None
    whole = isinstance(head, dict) and type(head.get("bytes")) is int and head["bytes"] >= 0
    return head if whole else None
