"""The run: lots of one honest model and some forgeries of it, each from its seed; what came out, in numbers."""

from __future__ import annotations

import signal
import threading
import time
import traceback
import warnings
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

import linsep
from linsep.exact import ProofTimeoutError
from linsep.persistence.model_file import ModelFileError

from .edits import Donors, Forgery
from .forgeries import forge
from .honest import FAMILIES, Data, Honest, folder, make
from .judging import Judge, Judgement
from .packing import coefficients
from .sealing import resealed, written

__all__ = ["Fault", "Tally", "lot", "table"]

#: Seconds for the exact arithmetic of one check, and for anything at all.
TIME_LIMIT, PATIENCE = 5.0, 60.0

#: What can become of a forgery, in the order of the table.
OUTCOMES = ("refused", "undecided", "same", "true", "unchecked", "silent", "untrue", "false", "crash")

#: Those that must not be, of forgeries and of honest models.
FAULTS = ("silent", "untrue", "false", "crash", "refused")


@dataclass(frozen=True)
class Fault:
    """Something that must not be: where, what kind, and why."""

    seed: int
    index: int | None  # of the forgery; None for the honest model
    kinds: tuple[str, ...]
    verdict: str
    why: tuple[str, ...]

    def __str__(self) -> str:
        where = f"--only {self.seed}" + ("" if self.index is None else f":{self.index}")
        return f"{self.verdict:8} {where:16} {' + '.join(self.kinds)}\n    " + "\n    ".join(self.why)


@dataclass
class Tally:
    """What came out of some lots."""

    forgeries: Counter[str] = field(default_factory=Counter)
    kinds: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    honest: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    unjudged: Counter[str] = field(default_factory=Counter)
    faults: list[Fault] = field(default_factory=list)
    seconds: float = 0.0  # of a processor

    def add(self, other: Tally) -> None:
        """Take in another tally."""
        self.forgeries += other.forgeries
        self.unjudged += other.unjudged
        for mine, theirs in ((self.kinds, other.kinds), (self.honest, other.honest)):
            for name, counts in theirs.items():
                mine[name] += counts
        self.faults += other.faults
        self.seconds += other.seconds

    @property
    def clean(self) -> bool:
        """Whether nothing false was accepted, nothing crashed, and no honest model was refused."""
        return not self.faults

    def to_json(self) -> dict[str, Any]:
        """Return it in terms of JSON."""
        return {
            "forgeries": dict(self.forgeries),
            "kinds": {name: dict(counts) for name, counts in self.kinds.items()},
            "honest": {name: dict(counts) for name, counts in self.honest.items()},
            "unjudged": dict(self.unjudged),
            "faults": [vars(fault) for fault in self.faults],
            "seconds": self.seconds,
        }


@contextmanager
def _patience() -> Iterator[None]:
    """Raise `TimeoutError` after a while, where a signal can."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def late(*_: object) -> None:
        raise TimeoutError(f"not done after {PATIENCE:g} s")

    before = signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, PATIENCE)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def lot(seed: int, count: int, only: int | None = None, family: str | None = None) -> Tally:
    """Fit the honest model of a seed (of one family, if that is named), and try `count` forgeries (or one of them)."""
    tally, began = Tally(), time.process_time()
    with warnings.catch_warnings(), folder() as room, np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        path = Path(room) / "model.json"
        try:
            with _patience():
                honest = make(seed, family, room=room)
        except Exception:  # noqa: BLE001 (what a fit may refuse, `make` draws again)
            family = family or str(np.random.default_rng([7, seed]).choice(list(FAMILIES)))
            tally.honest[family].update(["tried", "crash"])
            tally.faults.append(Fault(seed, None, ("honest", family), "crash", (_last_line(),)))
            return tally
        judge = Judge(honest.document)
        if only is None:
            _try_honest(honest, judge, path, tally)
        donors = Donors(honest)
        for index in range(count) if only is None else [only]:
            forgery = forge(honest, np.random.default_rng([11, seed, index]), donors)
            if forgery.kinds:
                _try_forgery(honest, judge, forgery, index, path, tally)
    tally.seconds = time.process_time() - began
    return tally


def _last_line() -> str:
    """Return the error at hand in a line, with its place."""
    lines = traceback.format_exc().strip().splitlines()
    places = [line.strip() for line in lines if line.strip().startswith("File ")]
    return f"{lines[-1][:300]} ({places[-1].split('/')[-1] if places else ''})"


def _try_honest(honest: Honest, judge: Judge, path: Path, tally: Tally) -> None:
    """An honest model must not be refused, and what is said of it must be true."""
    path.write_text(honest.text, "utf-8")
    verdict, why, outcome = _checked(path, honest.data)
    if outcome:
        verdict = "proven" if outcome.proven else "not proven"
        judgement = judge.honest_outcome(honest.data, outcome)
        tally.unjudged.update(judgement.unjudged)
        if judgement.complaints:
            verdict, why = judgement.verdict, judgement.complaints
    tally.honest[honest.family].update(["tried", verdict])
    if verdict in FAULTS:
        tally.faults.append(Fault(honest.seed, None, ("honest", honest.family), verdict, why))


def _checked(path: Path, data: Data) -> tuple[str, tuple[str, ...], Any]:
    """Return what `verify` makes of a file: refused, undecided or crashed; why; and the outcome where it accepts."""
    try:
        with _patience():
            outcome = linsep.verify(path, data.X, data.y, data.s, time_limit=TIME_LIMIT)
    except ModelFileError as error:
        return "refused", (str(error),), None
    except ProofTimeoutError:
        return "undecided", (), None
    except Exception:  # noqa: BLE001 (any other is what we are after)
        return "crash", (_last_line(),), None
    return "refused", (outcome.reason,), outcome if outcome else None


def _try_forgery(honest: Honest, judge: Judge, forgery: Forgery, index: int, path: Path, tally: Tally) -> None:
    """A forgery must be refused, or what is said of it must be true all the same."""
    if forgery.reseal:
        resealed(forgery.document)
    try:
        path.write_bytes(written(forgery.document))
    except (ValueError, OverflowError, RecursionError):
        return  # nothing that could be in a file
    verdict, why, outcome = _checked(path, forgery.data)
    if outcome:
        try:
            judgement = _judged(judge, forgery, honest, outcome, path)
        except Exception as error:
            raise RuntimeError(f"the oracle fails on {honest.seed}:{index}, {forgery.kinds}") from error
        verdict, why = judgement.verdict, judgement.complaints
        tally.unjudged.update(judgement.unjudged)
    tally.forgeries.update(["tried", verdict])
    for kind in dict.fromkeys(forgery.kinds):
        tally.kinds[kind].update(["tried", verdict])
    if verdict in FAULTS and verdict != "refused":
        tally.faults.append(Fault(honest.seed, index, (honest.family, *forgery.kinds), verdict, why))


def _judged(judge: Judge, forgery: Forgery, honest: Honest, outcome: Any, path: Path) -> Judgement:
    """Return the judgement, and whether the model that linsep loads predicts as the file's planes and threshold do."""
    found = judge.judge(forgery.document, forgery.data, outcome, forgery.data is not honest.data)
    if "ballots" in forgery.document["fitted"] or found.complaints or found.verdict == "same":
        return found
    model = linsep.persistence.model_file.read(path).model
    told = np.asarray(model.predict(forgery.data.rows())).tolist()
    W, b = coefficients(forgery.document), np.array(forgery.document["intercept"], dtype=float)
    X, cut = forgery.data.rows(), float(forgery.document["threshold"] or 0.0)
    scores, doubt = X @ W.T + b - cut, (np.abs(X) @ np.abs(W).T + np.abs(b) + abs(cut)) * 1e-12
    classes = forgery.document["classes"]["values"]
    for label, g, off in zip(told, scores, doubt, strict=True):
        sure = np.isfinite(g).all() and (abs(g[0]) > off[0] if len(g) == 1 else _first(g) > 2 * off.max())
        expected = classes[int(g[0] >= 0)] if len(g) == 1 else classes[int(g.argmax())]
        if sure and label != expected:
            return Judgement("false", (*found.complaints, f"the model predicts {label!r}, its planes {expected!r}"))
    return found


def _first(scores: np.ndarray) -> float:
    """Return by how much the highest score leads."""
    two = np.sort(scores)[-2:]
    return float(two[1] - two[0])


# -- tables -----------------------------------------------------------------------------------------------------------


def table(tally: Tally, shown: int = 40) -> str:
    """Return what came out in lines; of the faults, the first of each kind come first."""
    head = [name.upper() if name in FAULTS[:4] else name for name in OUTCOMES]
    lines = ["Forgeries (one of several edits counts under each of them)", ""]
    lines.append(f"{'edit':58} {'tried':>8} " + " ".join(f"{name:>9.9}" for name in head))
    for name, counts in sorted(tally.kinds.items()):
        lines.append(f"{name:58} {counts['tried']:8} " + " ".join(f"{counts[o] or '':>9}" for o in OUTCOMES))
    total = tally.forgeries
    lines.append(f"{'all':58} {total['tried']:8} " + " ".join(f"{total[o] or 0:>9}" for o in OUTCOMES))
    columns = ("proven", "not proven", "undecided", "refused", "untrue", "false", "crash")
    lines += ["", "Honest models", "", f"{'estimator':44} {'tried':>8} " + " ".join(f"{o:>10}" for o in columns)]
    for name, counts in sorted(tally.honest.items()):
        lines.append(f"{name:44} {counts['tried']:8} " + " ".join(f"{counts[o] or '':>10}" for o in columns))
    together: Counter[str] = sum(tally.honest.values(), Counter())
    lines.append(f"{'all':44} {together['tried']:8} " + " ".join(f"{together[o] or 0:>10}" for o in columns))
    if tally.unjudged:
        lines += ["", "What no oracle here can judge", ""]
        lines += [f"{count:8}  {what}" for what, count in tally.unjudged.most_common(12)]
    if tally.faults:
        lines += ["", f"{len(tally.faults)} faults; the first of each kind:", ""]
        lines += [str(fault) for fault in _first_of_each(tally.faults)[:shown]]
    return "\n".join(lines)


def _first_of_each(faults: list[Fault]) -> list[Fault]:
    """Return faults that differ in what is wrong, the simplest of each."""
    found: dict[tuple[str, ...], Fault] = {}
    for fault in sorted(faults, key=lambda fault: (len(fault.kinds), fault.seed)):
        what = " ".join(word for word in fault.why[0].split()[:4] if not any(c.isdigit() for c in word))
        found.setdefault((fault.verdict, fault.kinds[-1], what), fault)
    return list(found.values())
