"""The race run in pieces: what is kept, what is replaced, and what is repeated."""

import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parents[2] / "benchmarks"


@pytest.fixture
def race(monkeypatch):
    monkeypatch.syspath_prepend(FOLDER)
    import contest
    import report

    yield contest, report
    for name in ("contest", "report", "peers"):
        del sys.modules[name]


def test_a_piece_replaces_what_was_known_of_its_problem_and_loss_only(race):
    known = [dict(problem="a", loss="hinge", target=t, ratio=1.0) for t in (1e-4, 1e-6)]
    known += [dict(case=dict(problem="a", loss="l1"))]
    race[1].put(known, [dict(problem="a", loss="hinge", target=t, ratio=2.0) for t in (1e-4, 1e-6)])
    assert known == [
        dict(case=dict(problem="a", loss="l1")),
        dict(problem="a", loss="hinge", target=1e-4, ratio=2.0),
        dict(problem="a", loss="hinge", target=1e-6, ratio=2.0),
    ]


def test_repeated_are_linsep_and_who_came_near_the_fastest_peer_at_either_target(race):
    contest, _ = race
    runs = {
        "linsep": [(0.1, 9.0, 1.00001), (0.01, 40.0, 1.0)],  # however slow
        "fast": [(1.0, 0.1, 1.5), (0.1, 1.0, 1.00005)],
        "near": [(0.1, 2.9, 1.00005), (0.001, 100.0, 1.0)],
        "late": [(0.1, 3.1, 1.00005), (0.01, 8.0, 1.0000001)],  # far at the first target, the fastest at the second
        "slow": [(0.1, 3.1, 1.00005)],
        "lost": [(0.1, 0.1, 2.0)],
    }
    scores = [contest.Score(name, [contest.Run(*run) for run in own]) for name, own in runs.items()]
    assert [score.solver for score in contest.in_the_running(scores, 1.0)] == ["linsep", "fast", "near", "late"]
