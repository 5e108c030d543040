"""The short form of every attack in `attacks/`: the command runs, finds nothing, and could find something."""

import itertools
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
sys.path.append(str(ROOT / "attacks"))  # at the end: nothing there hides what others import

from faulting.scenes import Scene  # noqa: E402
from faulting.trials import Stage, Trial, ended, look, start  # noqa: E402
from fuzzing import running  # noqa: E402
from fuzzing.running import Target  # noqa: E402
from stressing.judging import RIGHT, SAID, SILENT, judged  # noqa: E402
from stressing.problems import Problem, problems  # noqa: E402
from stressing.reference import optimum  # noqa: E402

from oracles import MarginFormula, SoftmaxFormula  # noqa: E402


def attack(name, *options, code=0):
    """Run an attack and return what it prints."""
    command = [sys.executable, str(ROOT / "attacks" / f"{name}.py"), *map(str, options)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=os.environ | {"MPLBACKEND": "Agg"})
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout


# --- numbers


def test_nasty_numbers_are_solved_or_refused_with_a_reason():
    said = attack("stress", "--alone", "--every", 41)
    asked, right = map(int, re.search(r"\| linsep \| (\d+) \| (\d+) \|", said).groups())
    assert asked >= 25
    assert right >= 0.7 * asked


def test_there_are_more_than_two_hundred_problems_of_every_loss():
    found = list(problems())
    assert len({problem.name for problem in found}) == len(found) > 1000
    assert min(sum(problem.loss == loss for problem in found) for loss in ("logistic", "hinge", "softmax")) > 150


@pytest.mark.parametrize("loss", ["logistic", "hinge", "squared_hinge", "square", "softmax"])
@pytest.mark.parametrize("intercept", [True, False])
def test_the_reference_finds_the_optimum_that_other_solvers_find(loss, intercept):
    problem = Problem("plain", loss, 1.0, intercept)
    X, y, _, _ = problem.data
    if loss == "softmax":
        formula = SoftmaxFormula(X, y, intercept=intercept, classes=3)
    else:
        formula = MarginFormula(X, np.where(y == 1, 1.0, -1.0), intercept=intercept, loss=loss)
    assert float(optimum(problem)) == pytest.approx(formula.optimum().value, rel=1e-6)


def test_the_judge_tells_right_from_wrong_and_said_from_silent():
    problem = Problem("plain", "logistic", 1.0, True)
    zeros = {"coef": ["0x0p+0"] * 3, "intercept": ["0x0p+0"]}
    assert judged("linsep", problem, zeros | {"said": []}, optimum(problem))[0] == SILENT
    assert judged("linsep", problem, zeros | {"said": ["ConvergenceWarning"]}, optimum(problem))[0] == SAID
    assert judged("linsep", problem, {"error": "no"}, optimum(problem))[0] == SAID
    alone = Problem("one row", "logistic", 1.0, True)
    assert judged("linsep", alone, {"error": "one class"}, None)[0] == RIGHT
    assert judged("linsep", alone, zeros | {"said": ["a warning"]}, None)[0] == SILENT


# --- bits


def test_threads_storage_and_names_do_not_change_bits_and_nothing_changes_the_optimum():
    said = attack("bits", "--rows", 200)
    assert "0 of these do not hold" in said


# --- faults


def test_a_few_faults_lose_nothing():
    # Out of memory is left to the command: whether there is room for a thread is the machine's affair.
    said = attack("faults", "--trials", 8, "--faults", "kill -9", "SIGTERM", "Ctrl-C", "file limit")
    assert "lost: 0" in said


def test_the_harness_notices_a_file_that_is_neither_old_nor_new(tmp_path):
    def half():
        Path("out.json").write_text("half")
        return 0

    stage = Stage(tmp_path)
    scene = Scene("half", half, "out.json")
    stage.written["half"], stage.seconds["half"] = b"the whole of it", 0.1
    trial = Trial("half", "kill -9")
    place = stage.fresh("there")
    assert ended(start(scene, place)) == 0
    look(stage, scene, place, trial, {}, old=False)
    assert trial.lost == ["out.json is neither the old file nor the new one: 4 bytes, not 15"]


# --- fuzzing


@pytest.mark.parametrize("target", ["readers", "columns", "protocol", "models", "kernels", "meanwhile", "structure"])
def test_some_cases_of_every_target_find_nothing(target):
    if target == "protocol":
        pytest.importorskip("starlette")
    cases = {"columns": 60, "meanwhile": 40, "structure": 200}.get(target, 300)
    said = attack("fuzz", target, "--cases", cases, "--first", 10_000_000)
    assert re.search(r": \d+ cases in .* 0 found", said)


def test_a_crash_a_hang_and_an_error_are_each_found(monkeypatch):
    def attacked(case):
        if case == 3:
            os.kill(os.getpid(), signal.SIGSEGV)
        if case == 5:
            raise KeyError("five")
        while case == 7:
            pass

    monkeypatch.setattr(running, "SECONDS", 0.2)
    target, numbers = Target(lambda rng: next(numbers), attacked), itertools.count()
    monkeypatch.setattr(running, "case_of", lambda name, target, number: number)
    count, found = running.run("some", target, 0, 10, 0, 1.0)
    assert count == 10
    assert [line.split(":")[0] for line in found] == ["some 3", "some 5", "some 7"]
    assert "ended with -11" in found[0]
    assert "KeyError" in found[1]
    assert "no end" in found[2]


def test_a_child_without_room_for_another_case_leaves_it_to_the_next_one():
    drawn, tried = [], []

    def draw(rng):
        if len(drawn) == 3:  # a child begins with the list as it is here
            raise MemoryError
        drawn.append(1)

    count, found = running.run("some", Target(draw, tried.append), 0, 10, 0, 1.0)
    assert (count, found) == (10, [])


# --- load


def test_a_loaded_model_answers_fast_and_keeps_its_memory():
    said = attack("load", "--calls", 5000, "--seconds", 1)
    assert "0 wrong" in said
