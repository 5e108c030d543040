"""Verdicts on coefficients against linear programs over the cone, in exact arithmetic, on random whole designs.

    python benchmarks/estimates.py [--designs 1000] [--seed 0]

The designs are separable, quasi-separable or overlapping, some with columns that depend on others, some with weights.
The oracle, in tests/shared/cone.py, shares nothing with linsep.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from pathlib import Path

from linsep import estimates

sys.path.append(str(Path(__file__).resolve().parents[1] / "tests" / "shared"))

from cone import aliased_of, designs, estimates_of, verdict_of


def compared(count: int, seed: int) -> tuple[Counter[str], float, float]:
    """Return what was seen and how much of it was wrong, and the seconds that linsep and the oracle took."""
    seen: Counter[str] = Counter()
    ours = theirs = 0.0
    for X, y, weight, intercept, kept in designs(seed, count):
        start = time.perf_counter()
        found = estimates(X, y, weight, fit_intercept=intercept)
        verified = found.verify(X, y, weight)
        middle = time.perf_counter()
        rows, labels = X[kept], y[kept]
        same = found.verdicts == estimates_of(rows, labels, intercept) and found.aliased == aliased_of(rows, intercept)
        same = same and found.separability.verdict == verdict_of(rows, labels, intercept)
        ours, theirs = ours + middle - start, theirs + time.perf_counter() - middle
        seen.update([found.separability.verdict, *found.verdicts])
        seen.update({"aliased": bool(found.aliased), "weighted": weight is not None})
        seen.update({"REFUSED": not verified, "OTHERWISE": not same, "supremum not proven": not found.proven})
    return seen, ours, theirs


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--designs", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    wanted = parser.parse_args()
    seen, ours, theirs = compared(wanted.designs, wanted.seed)
    kinds = ", ".join(f"{seen[kind]} {kind}" for kind in ("separable", "quasi", "overlap", "aliased", "weighted"))
    print(f"{wanted.designs} designs: {kinds}")
    verdicts = ("finite", "+inf", "-inf", "not determined")
    told = ", ".join(f"{seen[kind]} {kind}" for kind in verdicts)
    print(f"{sum(seen[kind] for kind in verdicts)} coefficients: {told}")
    print(f"{seen['OTHERWISE']} designs otherwise than by linear programs, {seen['REFUSED']} refused by verify")
    print(f"{seen['supremum not proven']} suprema not proven")
    print(f"{ours:.1f} s for verdicts, proofs and checks; {theirs:.1f} s for the linear programs in fractions")


if __name__ == "__main__":
    main()
