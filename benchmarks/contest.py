"""How the race measures: a solver in a process of its own, a ladder of tolerances, time to a suboptimality."""

from __future__ import annotations

import multiprocessing
import os
import sys
import time
import warnings
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import joblib
import numpy as np
from peers import LINSEP, Case, Peer, find, plane
from scipy.special import log_softmax

TARGETS = (1e-4, 1e-6)
LOOSEST = 30.0  # where a solver reaches a target at the top of the ladder, it may go up to here
SAME_OPTIMUM = 1e-7  # two solvers this close to each other have both arrived
HOPELESS = 20.0  # a run that takes this many times as long as the fastest that has arrived is stopped
IN_THE_RUNNING = 3.0  # only runs within so many times the fastest peer's are repeated
SETTLE = 0.1  # seconds before a run: the threads of a BLAS spin for a while after it was last used
START_LIMIT = 300.0  # seconds for a process to import, load and warm up


@dataclass(frozen=True)
class Limits:
    """Seconds that a single run may take, whether the runs that count are repeated, and how often short ones are."""

    run: float
    repeat: bool
    short: int = 20

    @property
    def ladder(self) -> float:
        """Seconds that all the runs of a ladder may take together."""
        return 3.0 * self.run

    def against(self, fastest: float) -> Limits:
        """Return the limits for a solver that competes with one which has arrived in so many seconds."""
        return replace(self, run=min(self.run, max(0.5, HOPELESS * fastest)))

    def repeats(self, seconds: float) -> int:
        """Return how often a run of so many seconds is made, the best one counting."""
        if not self.repeat:
            return 1
        if seconds > 5.0:
            return 2
        return 3 if seconds > 0.05 else self.short


@dataclass(frozen=True)
class Run:
    """One fit: its tolerance, the seconds it took, the objective it reached, and the bound it proved, if it did."""

    tol: float
    seconds: float
    objective: float
    dual: float | None = None

    def reaches(self, target: float, optimum: float) -> bool:
        """Say whether (P − P*)/P* ≤ target."""
        return self.objective <= optimum * (1.0 + target)


@dataclass
class Score:
    """All the runs of one solver on one case."""

    solver: str
    runs: list[Run] = field(default_factory=list)
    prepare_seconds: float = 0.0
    stopped: float | None = None  # seconds a further run would have taken at least, had it not been stopped
    note: str = ""

    def best(self) -> float:
        """Return the lowest objective that the solver reached."""
        return min((run.objective for run in self.runs), default=np.inf)

    def reaching(self, target: float, optimum: float) -> list[Run]:
        """Return the runs that came this close."""
        return [run for run in self.runs if run.reaches(target, optimum)]

    def seconds(self, target: float, optimum: float) -> float | None:
        """Return the time of the fastest of those, None where there is none."""
        return min((run.seconds for run in self.reaching(target, optimum)), default=None)


def progress(*words: object) -> None:
    print(*words, file=sys.stderr, flush=True)


def objective(case: Case, X: Any, y: np.ndarray, w: np.ndarray, b: Any) -> float:
    """½‖w‖² (or ‖w‖₁) + C Σ ℓ(z) in float64, the same for all; of several classes, with a row of w for each."""
    if case.loss == "softmax":
        scores = X @ w.T + b
        return float(0.5 * (w**2).sum() - case.C * log_softmax(scores, axis=1)[np.arange(len(y)), y].sum())
    z = y * (X @ w + b)
    losses = np.maximum(0.0, 1.0 - z) if case.loss == "hinge" else np.logaddexp(0.0, -z)
    return float((np.abs(w).sum() if case.loss == "l1" else 0.5 * w @ w) + case.C * losses.sum())


def few_rows(X: Any, y: np.ndarray, each: int = 100) -> tuple[Any, np.ndarray]:
    """Return the first rows of every class: enough to import, compile and start threads with."""
    rows = np.sort(np.concatenate([np.flatnonzero(y == one)[:each] for one in np.unique(y)]))
    return X[rows], y[rows]


def silence() -> None:
    """Send what compiled solvers print on their own to nowhere."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    warnings.simplefilter("ignore")


# in the child


def timed_run(peer: Peer, case: Case, prepared: tuple[Any, ...], data: tuple[Any, np.ndarray], tol: float) -> Run:
    estimator = peer.build(case, tol)
    time.sleep(SETTLE)
    start = time.perf_counter()
    estimator.fit(*prepared)
    seconds = time.perf_counter() - start
    dual = getattr(getattr(estimator, "certificate_", None), "dual", None)
    return Run(tol, seconds, objective(case, *data, *plane(estimator)), None if dual is None else float(dual))


def serve(connection: Connection, case: Case, solver: str, path: Path) -> None:
    """Load, warm up, then answer every tolerance with a `Run`, and a failure with its message."""
    silence()
    try:
        peer = find(solver)
        X, y = joblib.load(path)
        peer.build(case, 0.1).fit(*peer.prepare(*few_rows(X, y)))
        start = time.perf_counter()
        prepared = peer.prepare(X, y)
        connection.send(time.perf_counter() - start)
    except Exception as error:  # noqa: BLE001 -- whatever a peer raises, the race goes on
        connection.send(describe(error))
        return
    while True:
        tol = connection.recv()
        try:
            connection.send(timed_run(peer, case, prepared, (X, y), tol))
        except Exception as error:  # noqa: BLE001
            connection.send(describe(error))


def describe(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"


# in the parent


class Worker:
    """A solver in a process of its own, which can be ended when it takes too long.

    Attributes
    ----------
    problem : str
        What was wrong with the last answer, if anything.
    late : bool
        Whether the last run was still going on when its time was up.
    alive : bool
        Whether it can be asked again.
    """

    def __init__(self, case: Case, solver: str, path: Path) -> None:
        spawn = multiprocessing.get_context("spawn")
        self.connection, theirs = spawn.Pipe()
        self.process = spawn.Process(target=serve, args=(theirs, case, solver, path), daemon=True)
        self.process.start()
        theirs.close()
        self.problem, self.late, self.alive = "", False, True
        self.prepare_seconds = self._answer(START_LIMIT) or 0.0
        self.alive, self.late = not self.problem, False

    def __enter__(self) -> Worker:
        return self

    def __exit__(self, *exception: object) -> None:
        self.process.kill()
        self.process.join()

    def ask(self, tol: float, limit: float) -> Run | None:
        """Run once at `tol`; None where that fails or takes longer than `limit` seconds."""
        if not self.alive:
            return None
        self.connection.send(tol)
        return self._answer(limit)

    def _answer(self, limit: float) -> Any:
        try:
            self.late = not self.connection.poll(limit)
            answer = f"more than {limit:g} s" if self.late else self.connection.recv()
            self.alive = not self.late
        except EOFError:
            self.alive, answer = False, "the process died"
        self.problem = answer if isinstance(answer, str) else ""
        return None if self.problem else answer


def ladder(peer: Peer) -> list[float]:
    return [10.0**-k for k in range(1, peer.rungs + 1)]


def climb(solver: str, worker: Worker, known: float, limits: Limits) -> Score:
    """Run once at every tolerance, until the solver arrives where another one (at `known`) did or time is up."""
    score = Score(solver, prepare_seconds=worker.prepare_seconds)
    for tol in ladder(find(solver)):
        run = worker.ask(tol, limits.run)
        if run is None:
            score.stopped = limits.run if worker.late else None
            break
        score.runs.append(run)
        if np.isfinite(known) and abs(run.objective - known) <= SAME_OPTIMUM * known:
            break
        if sum(run.seconds for run in score.runs) > limits.ladder:
            score.stopped = run.seconds
            break
    score.note = worker.problem
    return score


def repeat(case: Case, score: Score, path: Path, worker: Worker, optimum: float, limits: Limits) -> None:
    """Add to `score`, for each target: looser runs by half rungs while they reach it, then the fastest run again."""
    if not score.reaching(max(TARGETS), optimum):
        return
    with worker if worker.alive else Worker(case, score.solver, path) as ready:
        for target in TARGETS:
            loosen(score, ready, target, optimum, limits)
            again(score, ready, target, optimum, limits)


def loosen(score: Score, worker: Worker, target: float, optimum: float, limits: Limits) -> None:
    """Go up from the loosest tolerance that reaches the target: some solvers are exact at any sensible one."""
    tol = max((run.tol for run in score.reaching(target, optimum)), default=LOOSEST)
    reached = True
    while reached and tol < LOOSEST:
        tol *= 10**0.5
        run = worker.ask(tol, limits.run)
        reached = run is not None and run.reaches(target, optimum)
        score.runs += [run] if run else []


def again(score: Score, worker: Worker, target: float, optimum: float, limits: Limits) -> None:
    fastest = min(score.reaching(target, optimum), key=lambda run: run.seconds, default=None)
    if fastest is None:
        return
    for _ in range(limits.repeats(fastest.seconds) - 1):
        run = worker.ask(fastest.tol, limits.run)
        if run is not None:
            score.runs.append(run)


def settled(optimum: float, scores: list[Score]) -> bool:
    """Say whether P* is more than one solver's word: two agree on it, or a certificate bounds it from below."""
    agree = sum(score.best() <= optimum * (1.0 + SAME_OPTIMUM) for score in scores)
    bounds = [run.dual for score in scores for run in score.runs if run.dual is not None]
    return agree >= 2 or max(bounds, default=-np.inf) >= optimum * (1.0 - SAME_OPTIMUM)


def contest(case: Case, names: list[str], path: Path, limits: Limits) -> tuple[float, list[Score]]:
    """Let every solver climb its ladder, then repeat the runs that count; the optimum is the best any one reached."""
    scores: list[Score] = []
    optimum = np.inf
    fastest = np.inf
    with ExitStack() as waiting:  # processes take longer to start than most fits do
        workers: dict[str, Worker] = {}
        for name in names:
            worker = workers[name] = waiting.enter_context(Worker(case, name, path))
            score = climb(name, worker, optimum, limits.against(fastest))
            fastest = min(fastest, score.seconds(min(TARGETS), min(optimum, score.best())) or np.inf)
            optimum = min(optimum, score.best())
            scores.append(score)
            progress(f"  {case.title}: {name}, {len(score.runs)} runs, best {score.best():.10g} {score.note}")
        for score in in_the_running(scores, optimum):
            repeat(case, score, path, workers[score.solver], optimum, limits)
            optimum = min(optimum, score.best())
    return optimum, scores


def in_the_running(scores: list[Score], optimum: float) -> list[Score]:
    """Return whose runs count: linsep, and the peers that came near the fastest of them at either target."""
    chosen = {LINSEP.name}
    for target in TARGETS:
        peers = {score.solver: score.seconds(target, optimum) for score in scores if score.solver != LINSEP.name}
        times = {name: seconds for name, seconds in peers.items() if seconds is not None}
        chosen |= {name for name, seconds in times.items() if seconds <= IN_THE_RUNNING * min(times.values())}
    return [score for score in scores if score.solver in chosen]
