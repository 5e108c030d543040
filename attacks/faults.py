"""Faults at random moments: kill -9, SIGTERM, Ctrl-C, full disks, read-only folders, no memory, two writers; and on.

    python attacks/faults.py --trials 1000 [--seed 0] [--minutes 60] [--keep FOLDER]
    python attacks/faults.py --only 123         # one trial, by its seed

Every command that ends by itself and fits in Python (alone, in threads, in joblib's processes, after a fork) are
disturbed; `faulting/trials.py` says what has to hold afterwards: inputs are as they were, the file that is written is
the old one or the whole new one, nothing else is left behind (but by kill -9), the process has ended, with an exit code
that says how, and with a line for users instead of a traceback. One in five that was hit is run again, and has to end
well.

The exit code is 1 if something was lost.
"""

from __future__ import annotations

import os

# Before NumPy looks: a fork has no threads but its own.
for name in ("LINSEP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(name, "1")
os.environ.setdefault("MPLBACKEND", "Agg")

import argparse  # noqa: E402
import signal  # noqa: E402
import sys  # noqa: E402
import tempfile  # noqa: E402
import time  # noqa: E402
from collections import Counter  # noqa: E402
from pathlib import Path  # noqa: E402

from faulting.scenes import SCENES  # noqa: E402
from faulting.trials import FAULTS, SIGNALS, Stage, tried  # noqa: E402
from warming import warm  # noqa: E402


def run(chosen: argparse.Namespace, folder: Path) -> tuple[Counter[str], list[str]]:
    """Return counts of faults, and what was lost."""
    stage, counts, lost = Stage(folder), Counter[str](), []
    seeds = [chosen.only] if chosen.only is not None else range(chosen.seed, chosen.seed + chosen.trials)
    began = shown = time.monotonic()
    for seed in seeds:
        trial = tried(stage, seed, tuple(chosen.faults), chosen.keep)
        counts["trials"] += 1
        counts[trial.fault] += 1
        counts[trial.scene] += 1
        counts["signals that came before the end"] += trial.hit
        counts["left a temporary file after kill -9"] += bool(trial.left and trial.fault == "kill -9")
        for what in trial.lost:
            lost.append(f"{seed}: {trial.scene}, {trial.fault}: {what}")
            print(lost[-1], file=sys.stderr, flush=True)
        now = time.monotonic()
        if now - shown > 20:
            print(f"{now - began:6.0f} s  {counts['trials']} trials, {len(lost)} lost", file=sys.stderr, flush=True)
            shown = now
        if now - began > 60 * chosen.minutes:
            break
    return counts, lost


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trials", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0, help="the first seed")
    parser.add_argument("--only", type=int, help="one seed, to try again")
    parser.add_argument("--faults", nargs="+", default=FAULTS, choices=FAULTS, help="only these; all without it")
    parser.add_argument("--keep", type=Path, help="a folder for what trials that lose something have left")
    parser.add_argument("--minutes", type=float, default=60.0, help="stop after so long")
    chosen = parser.parse_args()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    warm()
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        counts, lost = run(chosen, Path(folder))
    print(f"{counts['trials']} trials on {len(SCENES)} scenes:")
    for name, count in counts.items():
        print(f"  {count:5} {name}")
    print(f"lost: {len(lost)} ({sum(counts[name] for name in SIGNALS)} signals sent)")
    return 1 if lost else 0


if __name__ == "__main__":
    sys.exit(main())
