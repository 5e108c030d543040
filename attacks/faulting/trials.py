"""One trial: a scene in a fresh folder, a fault at a random moment, and what has to hold afterwards.

A trial is a fork of a process that has linsep imported, so that a thousand of them take minutes; one in twenty starts
an interpreter of its own, and may be hit while it imports.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from .scenes import SCENES, Scene, write_table

SIGNALS = {"kill -9": signal.SIGKILL, "SIGTERM": signal.SIGTERM, "Ctrl-C": signal.SIGINT}
FAULTS = (*SIGNALS, *SIGNALS, "disk full", "file limit", "read-only folder", "out of memory", "two writers")
NO_ROOM = ("disk full", "file limit")
PATIENCE = 120.0  # seconds, after which something hangs; the machine may be busy with other things
NOBODY = 65534
#: What a scene says goes through a pipe that takes all of it: a limit on files and a full disk do not silence it.
HEARING, SPEAKING = os.pipe()
fcntl.fcntl(SPEAKING, fcntl.F_SETPIPE_SZ, 2**20)
os.set_blocking(HEARING, False)


def heard() -> str:
    """Return what was said since it was last asked for."""
    said = b""
    with contextlib.suppress(BlockingIOError):
        while part := os.read(HEARING, 2**20):
            said += part
    return said.decode("utf-8", "replace")


@dataclass
class Trial:
    """What happened."""

    scene: str
    fault: str
    code: int = 0
    hit: bool = False  # whether the signal came before the end
    lost: list[str] = field(default_factory=list)
    left: int = 0  # temporary files that stayed


class Stage:
    """A folder with data and a model, what every scene writes when nothing disturbs it, and how long that takes."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.room = folder / "original"
        self.room.mkdir()
        write_table(self.room / "data.csv")
        fitted = Scene("", SCENES[0].play, "out.json")
        self.seconds: dict[str, float] = {}
        self.written: dict[str, bytes] = {}
        self.undisturbed(fitted)
        (self.room / "model.json").write_bytes(self.written[""])

    def undisturbed(self, scene: Scene) -> None:
        """Play a scene, and keep what it writes."""
        place = self.fresh("undisturbed")
        began = time.perf_counter()
        process = start(scene, place)
        code = ended(process)
        if code not in (0, 1):
            raise RuntimeError(f"{scene.name} does not even work undisturbed: {heard()}")
        heard()
        self.seconds[scene.name] = time.perf_counter() - began
        if scene.output is not None:
            self.written[scene.name] = (place / scene.output).read_bytes()

    def fresh(self, name: str) -> Path:
        """Return a folder with a copy of what a scene needs."""
        place = self.folder / name
        shutil.rmtree(place, ignore_errors=True)
        shutil.copytree(self.room, place)
        return place


def start(scene: Scene, place: Path, prepare: Callable[[], None] = lambda: None, own: bool = False) -> int:
    """Start a scene in a folder, and return the process's number: it leads a group of its own."""
    if own:
        return _started_anew(scene, place, prepare)
    pid = os.fork()
    if pid:
        with contextlib.suppress(OSError):
            os.setpgid(pid, pid)
        return pid
    code = 70
    try:
        os.setpgid(0, 0)
        for number in (signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        os.chdir(place)
        os.environ["TMPDIR"] = str(place)
        for stream in (1, 2):
            os.dup2(SPEAKING, stream)
        sys.stdout, sys.stderr = open(1, "w", closefd=False), open(2, "w", closefd=False)  # noqa: SIM115
        prepare()
        code = scene.play()
    except SystemExit as end:  # a command leaves as Python does where something is to be done at its end
        code = end.code if isinstance(end.code, int) else 0
    except KeyboardInterrupt:
        code = 130
    except BaseException:  # noqa: BLE001  the parent's code must not run on in the child
        with contextlib.suppress(BaseException):
            traceback.print_exc()
            sys.stderr.flush()
    finally:
        os._exit(code)


def _started_anew(scene: Scene, place: Path, prepare: Callable[[], None]) -> int:
    number = next(k for k, other in enumerate(SCENES) if other.name == scene.name)
    program = f"from faulting.scenes import SCENES; raise SystemExit(SCENES[{number}].play())"
    paths = [str(Path(__file__).parents[1]), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(paths), "TMPDIR": str(place)}
    process = subprocess.Popen(
        [sys.executable, "-c", program],
        cwd=place, env=environment, stdout=SPEAKING, stderr=SPEAKING, process_group=0, preexec_fn=prepare,
    )  # fmt: skip
    process.returncode = 0  # it is waited for by its number
    return process.pid


def ended(pid: int, patience: float = PATIENCE) -> int | None:
    """Wait for a process and return its code, negative for a signal, or None if it hangs; nothing of it stays."""
    waited, seen = 0.0, time.monotonic()
    while True:
        found, status = os.waitpid(pid, os.WNOHANG)
        if found:
            break
        if (waited > patience and _is_idle(pid)) or waited > 5 * patience:
            os.killpg(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
            return None
        time.sleep(0.005)
        # Where the machine stood still, or ran others, so did this process: that is no waiting.
        waited, seen = waited + min(time.monotonic() - seen, 0.1), time.monotonic()
    _gone(pid)
    return os.waitstatus_to_exitcode(status)


def _is_idle(group: int, seconds: float = 5.0) -> bool:
    """Say whether the processes of a group do nothing for so long: one that is slow on a busy machine is no hang."""
    before = _ticks(group)
    time.sleep(seconds)
    return _ticks(group) == before


def _ticks(group: int) -> int:
    """Return how much of a processor the processes of a group, and their children that have ended, have had."""
    found = 0
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            fields = path.read_text().rpartition(")")[2].split()
            found += sum(map(int, fields[11:15])) if int(fields[2]) == group else 0
    return found


def _gone(group: int, patience: float = 10.0) -> None:
    """Let workers whose parent has ended do so too; whoever is there for longer has to."""
    until = time.monotonic() + patience
    with contextlib.suppress(ProcessLookupError):
        while time.monotonic() < until:
            os.killpg(group, 0)
            time.sleep(0.01)
        os.killpg(group, signal.SIGKILL)


def tried(stage: Stage, seed: int, faults: tuple[str, ...] = FAULTS, kept: Path | None = None) -> Trial:
    """Return what came out of one trial; a folder of one that has lost something is copied to where such are kept."""
    rng = random.Random(seed)
    # The demonstration takes as long as ten others.
    scene = rng.choices(SCENES, [0.1 if scene.name == "demo" else 1.0 for scene in SCENES])[0]
    fault = rng.choice(faults)
    trial = Trial(scene.name, fault)
    if scene.name not in stage.seconds:
        stage.undisturbed(scene)
    with _place(stage, seed, fault) as place:
        before = digests(place)
        old = rng.random() < 0.5 and scene.output is not None
        if old:
            (place / str(scene.output)).write_bytes(b"what was there before\n")
        (_disturbed if fault in SIGNALS else _hindered)(stage, scene, place, trial, rng)
        look(stage, scene, place, trial, before, old)
        again = fault in SIGNALS and (rng.random() < 0.2 or scene.name == "fit in blocks")
        if again and not trial.lost:
            _again(stage, scene, place, trial)
        if trial.lost and kept is not None:
            shutil.copytree(place, kept / f"trial{seed}", dirs_exist_ok=True)
    return trial


@contextlib.contextmanager
def _place(stage: Stage, seed: int, fault: str) -> Iterator[Path]:
    place = stage.fresh(f"trial{seed}")
    mounted = fault == "disk full" and _mounted(stage, place, seed)
    try:
        yield place
    finally:
        if mounted:
            subprocess.run(["umount", "-l", str(place)], check=True)
        os.chmod(place, 0o755)
        shutil.rmtree(place)


def _mounted(stage: Stage, place: Path, seed: int) -> bool:
    """Put a small disk there, if the system lets us; else a limit on files has to do."""
    size = (sum(path.stat().st_size for path in place.iterdir()) // 4096 + 4 + seed % 8) * 4096
    command = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(place)]
    done = subprocess.run(command, capture_output=True, check=False)
    if done.returncode == 0:
        for path in stage.room.iterdir():
            shutil.copy(path, place / path.name)
    return done.returncode == 0


def _disturbed(stage: Stage, scene: Scene, place: Path, trial: Trial, rng: random.Random) -> None:
    """Send a signal at a random moment of the time that the scene takes."""
    own = scene.is_command and rng.random() < 0.05
    span = 1.1 * stage.seconds[scene.name] + 2.0 * own
    pid = start(scene, place, own=own)
    time.sleep(rng.random() * span)
    trial.hit = os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None
    with contextlib.suppress(ProcessLookupError):
        # A terminal sends Ctrl-C to all who belong together.
        (os.killpg if trial.fault == "Ctrl-C" else os.kill)(pid, SIGNALS[trial.fault])
    code = ended(pid)
    if code is None:
        trial.lost.append("it did not end")
    trial.code = code or 0
    allowed = {0, 1, 130, 143, -SIGNALS[trial.fault]} | ({1} if not scene.is_command else set())
    if code is not None and code not in allowed:
        trial.lost.append(f"exit code {code}")


def _hindered(stage: Stage, scene: Scene, place: Path, trial: Trial, rng: random.Random) -> None:
    """Run where the disk is full, the folder may not be written, memory is short, or another one writes the same."""
    prepare = {
        "file limit": lambda: _limit(resource.RLIMIT_FSIZE, rng.choice([0, 100, 1000, 4096])),
        "read-only folder": lambda: _locked(place),
        "out of memory": lambda: _limit(resource.RLIMIT_AS, _address_space() + rng.choice([0, 2, 8, 32, 128]) * 2**20),
    }.get(trial.fault, lambda: None)
    if trial.fault == "read-only folder":
        os.chmod(place, 0o555)
    pids = [start(scene, place, prepare) for _ in range(2 if trial.fault == "two writers" else 1)]
    codes = [ended(pid) for pid in pids]
    if None in codes:
        trial.lost.append("it did not end")
    trial.code = max(-signal.SIGKILL if code is None else code for code in codes)
    if scene.is_command and any(code not in (0, 1, 2, None) for code in codes):
        trial.lost.append(f"exit codes {codes}")
    if trial.fault == "two writers" and not {0, 1} & {*codes}:  # one of them may be told to wait
        trial.lost.append(f"two writers ended with {codes}")


def _limit(what: int, size: int) -> None:
    if what == resource.RLIMIT_FSIZE:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(what, (size, size))


def _address_space() -> int:
    """Return what this process has of it, in bytes."""
    return int(Path("/proc/self/statm").read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")


def _locked(place: Path) -> None:
    """Give up the rights of root, to whom every folder is open."""
    if os.getuid() == 0:
        os.setgroups([])
        os.setgid(NOBODY)
        os.setuid(NOBODY)


def digests(place: Path) -> dict[str, str]:
    """Return what tells each file's content from another."""
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in place.iterdir() if path.is_file()}


def look(stage: Stage, scene: Scene, place: Path, trial: Trial, before: dict[str, str], old: bool) -> None:
    """Write down what was lost: inputs, the old content, half of the new one, or words."""
    after = digests(place)
    trial.lost += [f"{name} has changed" for name, digest in before.items() if after.get(name) != digest]
    if scene.output is not None:
        path = place / scene.output
        content = path.read_bytes() if path.exists() else None
        whole = content is not None and same(content, stage.written[scene.name])
        whole = whole or (trial.fault == "Ctrl-C" and content is not None and _is_best_so_far(path))
        kept = content == b"what was there before\n" if old else content is None
        if not (whole or kept):
            sizes = f"{None if content is None else len(content)} bytes, not {len(stage.written[scene.name])}"
            trial.lost.append(f"{scene.output} is neither the old file nor the new one: {sizes}")
        if trial.code == 0 and not whole and trial.fault not in SIGNALS:
            trial.lost.append(f"it says that all is well, but {scene.output} is not there")
    # A fit in blocks that was cut short, or found no more room on the disk, leaves what it goes on from.
    partial = place / f"{scene.output}.partial"
    goes_on = trial.fault in SIGNALS or (trial.fault in NO_ROOM and (partial / "prepared.json").exists())
    expected = {*before, scene.output, "scores.txt", *([partial.name] if goes_on else [])}
    trial.left = len(set(os.listdir(place)) - expected)
    # A program in Python that does not listen to SIGTERM dies of it as of kill -9; commands listen.
    unheard = trial.fault == "kill -9" or (trial.fault == "SIGTERM" and not scene.is_command)
    if trial.left and not unheard:
        trial.lost.append(f"left behind: {sorted(set(os.listdir(place)) - expected)}")
    said = heard()
    if scene.is_command and ("Traceback" in said or "internal error" in said):
        lines = [line.strip() for line in said.splitlines() if line.strip()]
        first = next(k for k, line in enumerate(lines) if "Traceback" in line or "internal error" in line)
        trial.lost.append(f"not a line for users: {' | '.join([*lines[first : first + 3], *lines[-3:]])[:600]}")


def same(content: bytes, other: bytes) -> bool:
    """Say whether two files are the same but for a few digits, such as those of the time that something took."""
    return content == other or (abs(len(content) - len(other)) <= 64 and content[-2:] == other[-2:])


def _is_best_so_far(path: Path) -> bool:
    """Say whether a file is a whole model of a fit that Ctrl-C has ended, which writes the best that it has."""
    import linsep

    if path.suffix != ".json":
        return False
    try:
        model = linsep.load(path)
    except ValueError:
        return False
    return not model.converged_ and list(model.classes_) == ["no", "yes"]


def _again(stage: Stage, scene: Scene, place: Path, trial: Trial) -> None:
    """Run it once more, undisturbed: it goes on or begins anew, and ends well."""
    code = ended(start(scene, place))
    if code not in (0, 1):
        trial.lost.append(f"run again it ends with {code}")
    elif scene.output is not None and not _as_good(place / scene.output, stage.written[scene.name]):
        trial.lost.append(f"run again it writes another {scene.output}")


def _as_good(path: Path, other: bytes) -> bool:
    """Say whether a file is the same, or a model of the same plane: one that was resumed tells of other passes."""
    import linsep

    if same(path.read_bytes(), other):
        return True
    if path.suffix != ".json":
        return False
    written = path.with_name("undisturbed.json")
    written.write_bytes(other)
    found, expected = linsep.load(path), linsep.load(written)
    written.unlink()
    close = np.allclose(found.coef_, expected.coef_, rtol=1e-2, atol=1e-3)
    return bool(found.certificate_.proven and close and list(found.classes_) == list(expected.classes_))
