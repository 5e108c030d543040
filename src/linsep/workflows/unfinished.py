"""The folder of a fit under way: what its passes have found so far, from which a killed run goes on."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import shlex
import shutil
import tempfile
import weakref
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from .. import __version__
from .._common.atomic_file import write_atomically
from ..data.scratch import DiskVector, disk_errors
from ..data.sources import DataError

#: What the folder is called beside the model.
ENDING = ".partial"
IDENTITY, PREPARED, STATE, RESULTS = "run.json", "prepared.json", "state.json", "results.json"
#: Locked by the process that fits, which it names.
LOCK = "lock"
#: How much of either end of a file is hashed.
END = 1 << 20


def identity(path: Path, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return what tells one run from another: the data, by size, time and both ends; the settings; the version."""
    about, ends = path.stat(), hashlib.sha256()
    with path.open("rb") as file:
        ends.update(file.read(END))
        file.seek(max(0, about.st_size - END))
        ends.update(file.read(END))
    data = {"size": about.st_size, "modified": about.st_mtime_ns, "ends": ends.hexdigest()}
    known: dict[str, Any] = json.loads(json.dumps({"linsep": __version__, "data": data, "settings": dict(settings)}))
    return known


class Unfinished:
    """A folder with all that a run has to remember.

    Parameters
    ----------
    output : Path or None
        Where the model goes; the folder is beside it. Without it the folder is a temporary one, and lost with the run.
    scratch : Path or None
        Where the folder is instead.
    run : dict
        What `identity` says.
    resume : bool
        Whether a folder of the same run is gone on with; else what is there is thrown away.
    """

    def __init__(self, output: Path | None, scratch: Path | None, run: dict[str, Any], *, resume: bool) -> None:
        self.lasting, self._held = output is not None, None
        if output is None:
            self.folder = Path(tempfile.mkdtemp(prefix="linsep-", suffix=ENDING, dir=scratch))
        else:
            self.folder = (scratch or output.parent) / f"{output.name}{ENDING}"
            self._check_ours()
        self._held = self._locked() if self.lasting else None
        if self._held is not None:
            weakref.finalize(self, self._held.close)  # whoever forgets the run lets go of its folder
        try:
            self.resumed = self.lasting and resume and self._same(run)
            if not self.resumed:
                self._begin(run)
        except BaseException:
            self.release()
            raise

    def _same(self, run: dict[str, Any]) -> bool:
        """Whether the folder is of this run; raise if it is of another."""
        path = self.folder / IDENTITY
        if not path.exists():
            return False
        try:
            known = json.loads(path.read_bytes())
        except ValueError:
            known = {}
        if difference := _difference(known, run):
            raise DataError(
                f"{self.folder}: an unfinished fit of {difference}. Give the same again to go on with it, or "
                "--no-resume to throw it away"
            )
        return True

    def _check_ours(self) -> None:
        """Raise where something else than a fit has made the folder."""
        found = {path.name for path in self.folder.iterdir()} if self.folder.exists() else set()
        if found and not found & {IDENTITY, LOCK}:
            raise DataError(f"{self.folder}: the folder is there, but no fit made it; move it, or write elsewhere: -o")

    def _locked(self) -> Any:
        """Return the open file by which no other fit takes this folder; raise where one has it.

        The system unlocks it when this process ends, however that is: nothing of a dead one is in the way.
        """
        while True:
            with disk_errors(self.folder):
                self.folder.mkdir(parents=True, exist_ok=True)
                file = (self.folder / LOCK).open("a+")
            if not _lock(file):
                file.seek(0)
                who = file.read().strip() or "another process"
                file.close()
                raise DataError(f"{self.folder}: {who} is fitting there; wait until it ends, or write elsewhere: -o")
            if (self.folder / LOCK).exists() and os.path.samestat(os.fstat(file.fileno()), os.stat(self.folder / LOCK)):
                self._sign(file)
                return file
            file.close()  # of a folder that its fit has deleted meanwhile

    def _sign(self, file: Any) -> None:
        """Write into the lock who has it; where there is no room even for that, leave the folder as it was."""
        try:
            with disk_errors(self.folder):
                os.ftruncate(file.fileno(), 0)
                os.write(file.fileno(), f"process {os.getpid()} of {platform.node() or 'this machine'}\n".encode())
        except BaseException:
            if os.listdir(self.folder) == [LOCK]:
                (self.folder / LOCK).unlink()
                self.folder.rmdir()
            file.close()
            raise

    def _begin(self, run: dict[str, Any]) -> None:
        self._clear()
        try:
            with disk_errors(self.folder):
                self.folder.mkdir(parents=True, exist_ok=True)
                write_atomically(self.folder / IDENTITY, json.dumps(run).encode())
        except BaseException:
            self.remove()
            raise

    def _clear(self) -> None:
        """Delete all but the lock."""
        for path in list(self.folder.iterdir()) if self.folder.exists() else []:
            if path.is_dir():
                shutil.rmtree(path, ignore_errors=True)
            elif path.name != LOCK:
                path.unlink(missing_ok=True)

    def _read(self, name: str) -> Any:
        path = self.folder / name
        return json.loads(path.read_bytes()) if path.exists() else None

    def _write(self, name: str, value: Any) -> None:
        with disk_errors(self.folder):
            write_atomically(self.folder / name, json.dumps(value).encode())

    @property
    def prepared(self) -> dict[str, Any] | None:
        """What the passes before the first step found; None while they are not complete."""
        found: dict[str, Any] | None = self._read(PREPARED)
        return found

    def prepare(self, found: dict[str, Any]) -> None:
        """Remember that the rows are encoded, and how."""
        self._write(PREPARED, found)

    @property
    def results(self) -> list[dict[str, Any]]:
        """What was found of the planes that are finished."""
        return list(self._read(RESULTS) or [])

    def finish(self, result: dict[str, Any]) -> None:
        """Remember a plane, and forget how it was found."""
        self._write(RESULTS, [*self.results, result])
        (self.folder / STATE).unlink(missing_ok=True)
        for path in self.folder.glob("vector-*.bin"):
            path.unlink()

    def place(self, n: int, passed: Callable[[int, float], None]) -> Place:
        """Return the workspace of the next plane, for so many examples; `passed` hears of every pass over them."""
        return Place(self, n, passed)

    @contextmanager
    def kept_to_go_on(self) -> Iterator[None]:
        """Keep the folder after an error where the same command would go on from it; else it would stop the next one.

        Ctrl-C is no reason to lose what was found, nor is a lack of room on the disk or in memory. After any other
        error the same command would fail again, and another one must not be refused for what this one has left.
        """
        try:
            yield
        except BaseException as error:
            lacks_room = isinstance(error, OSError | MemoryError) or isinstance(error.__cause__, OSError)
            goes_on = lacks_room or not isinstance(error, Exception)
            if not (self.lasting and goes_on and self.prepared is not None):
                self.remove()
            self.release()
            raise

    def remove(self) -> None:
        """Delete everything: the model is written, or nobody will ask again."""
        with suppress(OSError):  # another fit may begin there as soon as the lock is gone
            self._clear()
            (self.folder / LOCK).unlink(missing_ok=True)
            self.folder.rmdir()
        self.release()

    def release(self) -> None:
        """Let another process go on from the folder."""
        if self._held is not None:
            self._held.close()


def _lock(file: Any) -> bool:
    """Lock a file for this process, where the system knows how to; return False where another one has it."""
    try:
        import fcntl

        fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except (ImportError, OSError):  # Windows, or a file system without locks: as careful as one can be there
        return True
    return True


class Place:
    """The workspace of one plane: see `linsep.solvers.workspace`."""

    def __init__(self, run: Unfinished, n: int, passed: Callable[[int, float], None]) -> None:
        self._run, self._n, self.passed = run, n, passed

    @property
    def state(self) -> dict[str, Any] | None:
        """What was kept last."""
        found: dict[str, Any] | None = self._run._read(STATE)
        return found

    def keep(self, state: dict[str, Any]) -> None:
        """Remember where the run stands."""
        self._run._write(STATE, state)

    def vector(self, name: str) -> DiskVector:
        """Return one number for each example, on disk."""
        return DiskVector(self._run.folder / f"vector-{name}.bin", self._n)


#: Settings that several options make.
TOGETHER = {
    "kinds": "columns were of other kinds",
    "reading": "the file was read in another way",
    "weights": "rows were weighed by other columns",
    "choosing": "C was chosen in another way",
    "deciding": "threshold or probabilities were asked for in another way",
    "scaled": "numbers were standardised, or taken as they are in the file, and now it is the other way",
    "intercept": "the plane had an offset, or went through the origin, and now it is the other way",
}


def _difference(known: Mapping[str, Any], run: Mapping[str, Any]) -> str:
    """Say in what an earlier run is another one, or nothing."""
    if known.get("linsep") != run["linsep"]:
        return f"another version of linsep, {known.get('linsep')}"
    if known.get("data") != run["data"]:
        return "other data, or of the file as it was before it was changed"
    before = known.get("settings", {})
    changed = [name for name in run["settings"] if before.get(name) != run["settings"][name]]
    if changed:
        name, now = changed[0], run["settings"]
        if name in TOGETHER:
            return f"other settings: {TOGETHER[name]}"
        was, is_ = (_as_given(said.get(name)) for said in (before, now))
        return f"other settings: --{name.replace('_', '-')} was {was} and is now {is_}"
    return ""


def _as_given(value: Any) -> str:
    """Return a setting as it is written on a command line.

    Examples
    --------
    >>> _as_given(None), _as_given([]), _as_given(["town=Ulm", "kind=new one"]), _as_given(0.5)
    ('not given', 'not given', "town=Ulm 'kind=new one'", '0.5')
    """
    if value is None or value == []:
        return "not given"
    words = value if isinstance(value, list) else [value]
    return " ".join(shlex.quote(str(word)) for word in words)
