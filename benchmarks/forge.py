"""A forger: honest models must verify, and a forged file that verifies must be true all the same.

    python benchmarks/forge.py --honest 20000 --forgeries 200000 --seed 0 --jobs 2 [--minutes 30] [--json out.json]
    python benchmarks/forge.py --only 123        # one honest model and its forgeries; 123:4 for one of these
    python benchmarks/forge.py --family "a proven choice of C"        # of one kind of model only

Each lot is a small model of a seed, saved as a user would, and forgeries of its file: one to four edits, of single
values or of several that belong together, or of the data, with all digests made to fit again. Whatever `linsep.verify`
accepts is judged by oracles that share nothing with linsep (`forging.judging`): objectives in 48 digits and planes that
do better, margins by a quadratic program, mistakes by all cells, separability by linear programs in whole numbers,
choices of C by fits of every fold at many values of C.

The exit code is 1 if something false was accepted, something other than a `ModelFileError` was raised, or an honest
model was refused.
"""

from __future__ import annotations

import os

# A process a processor, a thread a process; before NumPy looks.
for name in ("LINSEP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(name, "1")

import argparse  # noqa: E402
import json  # noqa: E402
import sys  # noqa: E402
import time  # noqa: E402
from collections.abc import Iterator  # noqa: E402
from functools import partial  # noqa: E402
from multiprocessing import get_context  # noqa: E402
from pathlib import Path  # noqa: E402

from forging.honest import FAMILIES  # noqa: E402
from forging.running import Tally, lot, table  # noqa: E402


def tallies(seeds: range, count: int, jobs: int, family: str | None) -> Iterator[Tally]:
    """Yield what comes out of each lot."""
    work = partial(lot, count=count, family=family)
    if jobs == 1:
        yield from map(work, seeds)
        return
    with get_context("spawn").Pool(jobs) as pool:
        yield from pool.imap_unordered(work, seeds, chunksize=4)


def run(chosen: argparse.Namespace, count: int) -> tuple[Tally, float]:
    """Return what came out, and the seconds it took."""
    whole, began, shown = Tally(), time.perf_counter(), 0.0
    for tally in tallies(range(chosen.seed, chosen.seed + chosen.honest), count, chosen.jobs, chosen.family):
        whole.add(tally)
        for fault in tally.faults:
            print(fault, file=sys.stderr, flush=True)
        passed = time.perf_counter() - began
        if passed - shown > 20:
            shown = passed
            tried = whole.forgeries["tried"]
            print(f"{passed:6.0f} s  {tried} forgeries, {len(whole.faults)} faults", file=sys.stderr, flush=True)
        if passed > 60 * chosen.minutes:
            break
    return whole, time.perf_counter() - began


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--honest", type=int, default=2000, help="honest models")
    parser.add_argument("--forgeries", type=int, default=20000, help="forgeries of them, in all")
    parser.add_argument("--seed", type=int, default=0, help="the first seed")
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    parser.add_argument("--minutes", type=float, default=60.0, help="stop after so long")
    parser.add_argument("--shown", type=int, default=40, help="faults to print")
    parser.add_argument("--family", choices=FAMILIES, help="of what kind all models are; of any without it")
    parser.add_argument("--only", help="a seed, or seed:index, to try again")
    parser.add_argument("--json", type=Path, help="a file for all numbers and faults")
    chosen = parser.parse_args()
    count = -(-chosen.forgeries // chosen.honest)
    if chosen.only:
        seed, _, index = chosen.only.partition(":")
        whole = lot(int(seed), count, int(index) if index else None, chosen.family)
        passed = whole.seconds
    else:
        whole, passed = run(chosen, count)
    print(table(whole, chosen.shown))
    tried, alone = whole.forgeries["tried"], max(whole.seconds, 1e-9)
    models = sum(counts["tried"] for counts in whole.honest.values())
    print(
        f"\n{models} honest models and {tried} forgeries in {passed:.0f} s, {tried / alone:.0f} a second of a processor"
    )
    if chosen.json:
        chosen.json.write_text(json.dumps(whole.to_json() | {"wall_seconds": passed}, indent=1), "utf-8")
    return 0 if whole.clean else 1


if __name__ == "__main__":
    sys.exit(main())
