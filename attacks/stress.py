"""Nasty numbers: every problem is solved to its optimum or refused with a reason, by linsep and by others.

    python attacks/stress.py [--every 1] [--peers PYTHON] [--only TEXT] [--json out.json]

Problems are in `stressing/problems.py`: scales from 1e-150 to 1e150, columns that nearly depend on each other, classes
that are nearly separable, rows all alike, one row, weights that span 1e12 and more, C from 1e-12 to ∞, 3 : 100,000. An
answer is *right* if its objective, in sixty digits, is within a hundredth (linsep's: within its `tol`, 1e-4) of the
optimum that `stressing/reference.py` finds; where there is no optimum, or only one class, if that is said. A warning,
an error, or a warning on a stream counts as said.
`--peers` names the interpreter of an environment with the other libraries; what is missing there is left out.

The exit code is 1 if linsep is wrong silently, crashes or does not end.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from decimal import Decimal
from pathlib import Path

from stressing.contestants import CONTESTANTS, PACKAGES
from stressing.judging import RIGHT, Solver, Table, installed, judged
from stressing.problems import Problem, problems
from stressing.reference import optimum


def least(problem: Problem) -> Decimal | None:
    """Return the optimum, or None where none is asked for."""
    return optimum(problem) if problem.expected == "optimum" else None


def run(chosen: argparse.Namespace) -> tuple[Table, list[dict[str, str]], list[str]]:
    """Return the table, what was not right, and the problems that the reference could not settle."""
    names = [name for name in CONTESTANTS if installed(PACKAGES.get(name), chosen.peers)]
    solvers = [Solver(name, sys.executable if name == "linsep" else chosen.peers) for name in names]
    table, notes, unknown = Table(), [], []
    for number, problem in list(enumerate(problems()))[chosen.first :: chosen.every]:
        if chosen.only not in problem.name:
            continue
        if number % 50 == 0:
            print(f"{number}: {problem.name}", file=sys.stderr, flush=True)
        try:
            goal = least(problem)
        except ArithmeticError as error:  # `Unknown`, or what has no value even in these digits
            unknown.append(f"{problem.name}: {type(error).__name__} {error}")
            continue
        for solver in solvers[: 1 if chosen.alone else None]:
            answer = solver.ask(number)
            if "left out" in answer:
                continue
            verdict, why = judged(solver.name, problem, answer, goal)
            table.add(solver.name, problem, verdict, why)
            if solver.name == "linsep" and any(said.startswith("RuntimeWarning") for said in answer.get("said", [])):
                table.bare.append(problem.name)
            if verdict != RIGHT:
                if solver.name == "linsep":
                    print(f"{number}: {problem.name}: {verdict}: {why}", file=sys.stderr, flush=True)
                notes.append(dict(problem=problem.name, solver=solver.name, verdict=verdict, why=why))
    for solver in solvers:
        solver.end()
    return table, notes, unknown


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--every", type=int, default=1, help="take every so many-th problem")
    parser.add_argument("--first", type=int, default=0, help="begin with the problem of that number")
    parser.add_argument("--only", default="", help="take problems with this in their name")
    parser.add_argument("--alone", action="store_true", help="ask linsep only")
    parser.add_argument("--peers", default=sys.executable, help="interpreter of the environment of the others")
    parser.add_argument("--json", type=Path, help="a file for all that was not right")
    chosen = parser.parse_args()
    began = time.perf_counter()
    table, notes, unknown = run(chosen)
    print(table)
    for line in table.silent:
        print(f"linsep, silently: {line}")
    for line in table.bare:
        print(f"linsep, with a bare warning of NumPy: {line}")
    for line in unknown:
        print(f"not settled by the reference: {line}")
    print(f"{time.perf_counter() - began:.0f} s")
    if chosen.json:
        chosen.json.write_text(json.dumps(notes, indent=1), "utf-8")
    return 1 if table.silent else 0


if __name__ == "__main__":
    sys.exit(main())
