"""What runs account for: reasons to end from anywhere inside, Ctrl-C, what is reported."""

from types import SimpleNamespace

import numpy as np
import pytest

from linsep.losses import Logistic
from linsep.objective.duality import Bound
from linsep.objective.heads import Margin
from linsep.objective.objective import Objective
from linsep.penalties import L2
from linsep.schedules import Constant
from linsep.solvers import STOPPED_BY_OBSERVER, Newton
from linsep.solvers.first_order.step_watch import StepWatch
from linsep.solvers.run import EndOfRun, GapRun, GapSolver, Run, SteppedRun, no_step_lowers
from linsep.stopping import MaxIterations, ParameterChange, Progress
from storage import STORAGES, STREAMED, Workspace, rows_of_classes

METHOD = SimpleNamespace(tol=0.1, max_iter=3)


def deep(levels, error):
    if levels == 0:
        raise error
    deep(levels - 1, error)


def test_a_reason_leads_out_from_however_deep_and_is_remembered():
    run = Run("nothing happened")
    with run.until_it_ends():
        deep(5, EndOfRun("enough", converged=True, advice="go home"))
    assert (run.message, run.converged, run.advice, run.interrupted) == ("enough", True, "go home", False)


def test_without_a_reason_the_message_is_the_first_one():
    run = Run("stopped after all")
    with run.until_it_ends():
        pass
    assert (run.message, run.converged, run.interrupted) == ("stopped after all", False, False)


def test_ctrl_c_is_remembered_and_errors_are_not_swallowed():
    run = Run("nothing happened")
    with run.until_it_ends():
        deep(2, KeyboardInterrupt())
    assert (run.message, run.interrupted) == ("interrupted", True)
    with pytest.raises(ZeroDivisionError), run.until_it_ends():
        deep(2, ZeroDivisionError())


def test_the_end_of_a_run_within_a_run_is_its_own():
    outer, inner = Run("outer"), Run("inner")
    with outer.until_it_ends():
        with inner.until_it_ends():
            raise no_step_lowers("gap")
        assert inner.message.startswith("no step lowers the gap")
    assert outer.message == "outer"


def test_the_observer_hears_the_joined_point_and_may_end_the_run():
    heard = []
    run = Run("", lambda k, theta, objective: heard.append((k, theta.tolist(), objective)) or k == 2)
    with run.until_it_ends():
        for k in range(5):
            run.tell(k, np.array([1.0, 2.0]), 3.0, 0.5)
    assert heard == [(k, [1.0, 2.0, 3.0], 0.5) for k in range(3)]
    assert run.message == STOPPED_BY_OBSERVER


def test_a_gap_run_ends_with_its_proof_and_reports_it():
    run, proof = GapRun(METHOD), Bound(1.0, 0.95)
    with run.until_it_ends():
        run.end_if_proven(Bound(1.0, 0.5))
        run.end_if_proven(proof)
    w, alpha = np.ones(2), np.zeros(3)
    result = run.outcome(w, 0.5, 7, proof, alpha=alpha)
    assert (result.message, result.converged, result.n_iter) == ("the duality gap is 5.0e-02", True, 7)
    assert result.proof is proof
    assert result.last.w is w
    assert result.last.alpha is alpha
    assert not GapRun(METHOD).outcome(w, 0.5, 7, None).converged
    assert not GapRun(METHOD).outcome(w, 0.5, 7, Bound(np.inf, -np.inf)).converged


def test_a_gap_run_ends_after_its_last_iteration():
    run = GapRun(METHOD)
    with run.until_it_ends():
        for k in range(9):
            run.end_if_exhausted(k)
    assert (k, run.message) == (3, "stopped after max_iter=3")


def test_a_record_of_a_run_that_goes_down_is_its_best():
    run = GapRun(METHOD)
    run.record(4, SimpleNamespace(mean_objective=0.5, risk=0.25, zero_one=0.125))
    (record,) = run.history.records
    assert (record.step, record.objective, record.risk, record.zero_one, record.best) == (4, 0.5, 0.25, 0.125, 0.5)


def stepped(rules, observer=None, advises=True):
    watch = StepWatch(Constant(1e-9), stable=1.0)
    watch.begin(1.0)
    return SteppedRun("stopped after all", observer, watch, rules, advises=advises)


def at(step, objective=1.0):
    return Progress(step, np.zeros(2), np.zeros(2), objective)


@pytest.mark.parametrize(("advises", "converged"), [(True, False), (False, True)])
def test_a_rule_that_small_steps_fire_is_no_success_where_the_steps_were_small(advises, converged):
    run = stepped([ParameterChange(1e-3)], advises=advises)
    with run.until_it_ends():
        run.end_if_told(1, at(1))
    assert (run.message, run.converged) == ("stopped by ParameterChange(tol=0.001)", converged)
    assert ("too small" in run.advice) is advises


def test_rules_come_before_the_observer():
    run = stepped([MaxIterations(2)], observer=lambda *_: True)
    with run.until_it_ends():
        run.end_if_told(2, at(2))
    assert run.message == "stopped by MaxIterations(n=2)"
    with run.until_it_ends():
        run.end_if_told(1, at(1))
    assert run.message == STOPPED_BY_OBSERVER


@pytest.mark.parametrize(("objective", "finite"), [(np.nan, True), (1e300, True), (1.0, False)])
def test_a_lost_run_says_that_its_steps_were_too_large(objective, finite):
    run = stepped([])
    with run.until_it_ends():
        run.end_if_lost(1.0, True)
        run.end_if_lost(objective, finite)
    assert run.message == "diverged"
    assert "too large" in run.advice


class Impatient:
    """A point whose last pass somebody interrupts so many times."""

    objective = 2.0

    def __init__(self, interrupts):
        self.interrupts = interrupts

    def exact_bound(self):
        if self.interrupts:
            self.interrupts -= 1
            raise KeyboardInterrupt
        return Bound(2.0, 1.9)


@pytest.mark.parametrize(("interrupts", "dual"), [(0, 1.9), (1, 1.9), (2, 0.0)])
def test_the_last_pass_of_a_streamed_run_may_be_interrupted_too(interrupts, dual):
    run = GapRun(METHOD)
    assert run.last_proof(Impatient(interrupts)) == Bound(2.0, dual)
    assert run.interrupted is (interrupts > 0)
    again = GapRun(METHOD)
    again.interrupted = True
    assert again.last_proof(Impatient(min(interrupts, 1))).dual == (1.9 if interrupts == 0 else 0.0)


def test_a_run_in_passes_counts_them_and_tells_its_workspace():
    told = []
    workspace = SimpleNamespace(passed=lambda passes, gap: told.append((passes, gap)))
    run = GapRun(METHOD, None, workspace)
    run.count_pass(0.5)
    run.count_pass(0.25)
    assert told == [(1, 0.5), (2, 0.25)]


@pytest.mark.parametrize("storage", STREAMED)
def test_a_run_over_blocks_records_means_over_all_rows_and_tells_of_every_pass(tmp_path, storage):
    X, codes = rows_of_classes(60, 4, 2)
    objective = Objective(STORAGES[storage](X, codes, None, tmp_path), Margin(Logistic()), L2(), C=0.7)
    workspace = Workspace(tmp_path, 60)
    told = []
    workspace.passed = lambda passes, gap: told.append((passes, gap))
    result = Newton(tol=1e-8).solve(objective, workspace=workspace)
    z = np.where(codes == 1, 1.0, -1.0) * (X @ result.w + result.b)
    risk = np.logaddexp(0.0, -z).mean()
    last = result.history.records[-1]
    assert last.risk == pytest.approx(risk)
    assert last.zero_one == np.mean(z <= 0)
    assert last.objective == pytest.approx(risk + result.w @ result.w / 2 / (0.7 * 60))
    objectives = [record.objective for record in result.history.records]
    assert objectives == sorted(objectives, reverse=True)
    assert [passes for passes, _ in told] == list(range(1, len(told) + 1))
    assert told[-1][1] <= 1e-8 < told[0][1]


def test_a_solver_that_stops_at_a_gap_must_say_how_it_runs():
    with pytest.raises(TypeError, match="abstract"):
        GapSolver()
