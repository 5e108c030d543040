"""Asking and judging: right, wrong and said so, or wrong silently."""

from __future__ import annotations

import json
import os
import select
import subprocess
from collections import Counter
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np

from .problems import Problem
from .reference import Formula

RIGHT, SAID, SILENT, ENDLESS = "right", "wrong, and said so", "wrong, silently", "no answer"
SECONDS = 20.0  # of a processor, after which a fit counts as not ending
NEAR = Decimal("1e-2")  # share of the optimum that a right answer may be above it
PROMISED = Decimal("1.001e-4")  # what linsep promises with its default tol


class Solver:
    """A process that solves with one library; started again where it dies or does not end."""

    def __init__(self, name: str, python: str) -> None:
        self.name, self.python, self.process = name, python, None

    def ask(self, number: int) -> dict[str, Any]:
        """Return the answer to the problem of that number."""
        process = self.process = self.process or self._start()
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(f"{number}\n".encode())
        process.stdin.flush()
        began = processor_seconds(process.pid)
        while not select.select([process.stdout], [], [], 1.0)[0]:
            if processor_seconds(process.pid) - began > SECONDS:
                self.end()
                return {"endless": True}
        line = process.stdout.readline()
        if not line:
            code = process.wait()
            self.end()
            return {"endless": True, "crashed": code}
        return json.loads(line)

    def _start(self) -> subprocess.Popen[bytes]:
        command = [self.python, str(Path(__file__).with_name("worker.py")), self.name]
        alone = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "LINSEP_NUM_THREADS"), "1")
        environment = os.environ | alone
        return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment)

    def end(self) -> None:
        """End the process, if there is one."""
        if self.process is not None:
            self.process.kill()
            self.process.communicate()
            self.process = None


def processor_seconds(pid: int) -> float:
    """Return what a process has taken of the processors: on a machine that others use too, clocks say nothing."""
    user, system = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


def judged(solver: str, problem: Problem, answer: dict[str, Any], least: Decimal | None) -> tuple[str, str]:
    """Return the verdict on an answer, and why."""
    if "endless" in answer:
        return ENDLESS, f"crashed with {answer['crashed']}" if "crashed" in answer else f"no end within {SECONDS:.0f} s"
    said = answer.get("error") or "; ".join(answer.get("said", []))
    if problem.expected != "optimum":
        refused = "error" in answer if problem.expected == "refusal" else bool(said)
        return (RIGHT, said) if refused else (SILENT, "there is no optimum" if np.isinf(problem.C) else "one class")
    if "error" in answer:
        return SAID, said
    excess = above(problem, answer, least)
    if excess <= (PROMISED if solver == "linsep" else NEAR):
        return RIGHT, said
    return (SAID if said else SILENT), f"{excess:.2g} above the optimum. {said}"


def above(problem: Problem, answer: dict[str, Any], least: Decimal | None) -> Decimal:
    """Return how far an answer is above the optimum, as a share of that."""
    assert least is not None
    coef, intercept = (np.array([float.fromhex(x) for x in answer[name]]) for name in ("coef", "intercept"))
    if not (np.isfinite(coef).all() and np.isfinite(intercept).all()):
        return Decimal("Infinity")
    formula = Formula(problem)
    if formula.K > 1 and len(coef) != formula.K * (formula.rows.shape[1] - formula.intercept):
        return Decimal("Infinity")
    nothing = formula.value(formula.planes(0 * coef, 0 * intercept))
    # Where nothing is left of the losses, compared with what coefficients of zero leave.
    share = max(least, Decimal("1e-9") * nothing)
    return (formula.value(formula.planes(coef, intercept)) - least) / share


@dataclass
class Table:
    """What came out, of each solver."""

    counts: dict[str, Counter[str]] = field(default_factory=dict)
    silent: list[str] = field(default_factory=list)
    bare: list[str] = field(default_factory=list)

    def add(self, solver: str, problem: Problem, verdict: str, why: str) -> None:
        """Count a verdict."""
        self.counts.setdefault(solver, Counter())[verdict] += 1
        if solver == "linsep" and verdict in (SILENT, ENDLESS):
            self.silent.append(f"{problem.name}: {why}")

    def __str__(self) -> str:
        verdicts = (RIGHT, SAID, SILENT, ENDLESS)
        lines = ["| | asked | " + " | ".join(verdicts) + " |", "|---|" + "---:|" * (len(verdicts) + 1)]
        for solver, counts in self.counts.items():
            cells = [str(sum(counts.values())), *(str(counts[verdict]) for verdict in verdicts)]
            lines.append(f"| {solver} | " + " | ".join(cells) + " |")
        return "\n".join(lines)


def installed(package: str | None, python: str) -> bool:
    """Say whether that interpreter has that package."""
    if package is None:
        return True
    found = subprocess.run([python, "-c", f"import {package}"], capture_output=True, check=False)
    return found.returncode == 0
