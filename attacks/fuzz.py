"""Fuzzing: whatever the input, it is answered or refused; no crash, no hang over 20 s, no memory beyond the bound.

    python attacks/fuzz.py readers --cases 1000000 [--first 0] [--minutes 60] [--memory 4]
    python attacks/fuzz.py kernels --sanitize          # kernels built with both sanitizers; LINSEP_KERNELS=baseline
                                                       # has those for any processor instead of those for AVX2
    python attacks/fuzz.py readers --only 123 [--save FOLDER]

Targets: `readers` (CSV, TSV, LIBSVM, NPZ, Parquet, Feather, Arrow, IDX, Excel, gz, bz2, zst: small files, damaged),
`columns` (cells in every notation, through the choice of column types and encoding), `protocol` (questions of the
page), `models` (models of every kind with entries gone, of another type, length or size, in every command),
`kernels` (random shapes, strides, types, indices that lie, into fits, predictions, separability), `meanwhile`
(the same while another thread writes other numbers into the matrix), `structure` (and other indices, too). Model files
and certificates have their own: `benchmarks/fuzz_model_file.py`.

A case follows from its number. Cases run in a child: what crashes it is written down, and the next case goes on. What
found something is kept in `tests/attacks/corpus`, which the tests read. The exit code is 1 if something was found.
"""

from __future__ import annotations

import os

for name in ("LINSEP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(name, "1")
os.environ.setdefault("MPLBACKEND", "Agg")

import argparse  # noqa: E402
import sys  # noqa: E402
import time  # noqa: E402
from pathlib import Path  # noqa: E402

from fuzzing import arrays, files, models  # noqa: E402
from fuzzing.running import Target, case_of, run  # noqa: E402
from fuzzing.sanitizing import look_there, sanitized  # noqa: E402
from warming import warm  # noqa: E402

TARGETS = {
    "readers": Target(files.readers, files.read),
    "columns": Target(files.columns, files.prepare),
    "protocol": Target(files.messages, files.ask),
    "models": Target(models.models, models.command),
    "kernels": Target(arrays.arrays, arrays.call),
    "meanwhile": Target(arrays.arrays, arrays.meanwhile),
    "structure": Target(arrays.arrays, arrays.structure),
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("target", choices=TARGETS)
    parser.add_argument("--cases", type=int, default=10_000)
    parser.add_argument("--first", type=int, default=0, help="the number of the first case")
    parser.add_argument("--minutes", type=float, default=60.0, help="stop after so long")
    parser.add_argument("--memory", type=float, default=4.0, help="GiB of address space of the child")
    parser.add_argument("--sanitize", action="store_true", help="with kernels under both sanitizers")
    parser.add_argument("--only", type=int, help="one case, in this process")
    parser.add_argument("--save", type=Path, help="with --only: write the case into this folder first")
    chosen = parser.parse_args()
    if chosen.sanitize and "LINSEP_SANITIZED" not in os.environ:
        return sanitized(sys.argv)
    if chosen.sanitize:
        look_there()
    target = TARGETS[chosen.target]
    if chosen.only is not None:
        case = case_of(chosen.target, target, chosen.only)
        if chosen.save is not None:
            (chosen.save / f"{chosen.target}-{chosen.only}{case[0]}").write_bytes(case[1])
        target.attack(case)
        return 0
    began = time.perf_counter()
    warm()  # once, and not in every child
    memory = 0 if chosen.sanitize else int(chosen.memory * 2**30)  # a sanitizer reserves terabytes
    count, found = run(chosen.target, target, chosen.first, chosen.cases, memory, chosen.minutes)
    for line in found:
        print(line)
    print(f"{chosen.target}: {count} cases in {time.perf_counter() - began:.0f} s, {len(found)} found")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
