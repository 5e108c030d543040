"""The sums of a fit on a cluster, kept in a file: from them a lost client finds its way again, to the same bits.

Whatever a client computes follows from the sums that it was sent. One that begins again takes them from the file as
long as there are any, and asks the workers for the others; what tasks had left beside the examples is made again when
it is asked for. The file is a sequence of pickles: open none that others wrote.
"""

from __future__ import annotations

import os
import pickle
from collections.abc import Mapping
from pathlib import Path
from typing import Any


class Checkpoint:
    """A file of sums.

    Parameters
    ----------
    path : path
        Where it is, or will be.
    identity : dict
        What tells this fit from others: the data, their partitions, the parameters, the version.

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
        self._places: dict[int, tuple[int, int]] = {}
        if self.path.exists() and self.path.stat().st_size:
            self._read(dict(identity))
        else:
            self._append(dict(identity))

    def _read(self, identity: dict[str, Any]) -> None:
        """Note where each sum is; cut off one that was being written when the client was lost."""
        with self.path.open("rb") as file:
            try:
                there = pickle.load(file)
            except (pickle.UnpicklingError, EOFError, AttributeError) as error:
                raise ValueError(f"{self.path}: this is no checkpoint of a fit; name another file") from error
            if there != identity:
                before = there if isinstance(there, dict) else {}
                changed = [name for name in identity if before.get(name) != identity[name]]
                raise ValueError(
                    f"{self.path}: a checkpoint of another fit ({', '.join(changed)} differ); give the same data, "
                    "partitions and parameters again to go on with it, or delete it"
                )
            whole = file.tell()
            while True:
                try:
                    number, _ = pickle.load(file)
                except (EOFError, pickle.UnpicklingError):
                    break
                self._places[number] = whole, file.tell()
                whole = file.tell()
        os.truncate(self.path, whole)

    def known(self, number: int) -> Any:
        """Return a sum that is there; None, if it is not."""
        if number not in self._places:
            return None
        with self.path.open("rb") as file:
            file.seek(self._places[number][0])
            return pickle.load(file)[1]

    def keep(self, number: int, found: Any) -> None:
        """Write a sum behind the others."""
        self._append((number, found))

    def _append(self, what: Any) -> None:
        with self.path.open("ab") as file:
            pickle.dump(what, file)
            file.flush()
            os.fsync(file.fileno())
