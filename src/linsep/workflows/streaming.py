"""A fit on a file larger than memory: its rows are encoded once, onto the disk, and gone through in passes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..certificates.claim import Claim
from ..certificates.data_hash import RowsHash, hash_of_codes
from ..certificates.parted_claim import certify_parts
from ..data.encoding import from_dict
from ..data.scratch import Scratch
from ..data.sources import DataError, Source
from ..history import History
from ..objective.examples import Block, InBlocks
from ..objective.parted import PartedProblem
from ..solvers import DualDescent, Multipliers
from ..solvers.newton.preconditioner import FACTORED
from ..solvers.newton.streamed_newton import StreamedNewton
from ..solvers.newton.streamed_softmax import PartedSoftmax, StreamedSoftmax, enclosed_in_passes
from ..solvers.result import Result, Start
from ..solvers.sampling import gather
from .memory import Budget, give_back
from .preparing_streams import Preparation, file_to_stream
from .request import Progress, Request
from .summaries import Facts
from .training import estimator
from .unfinished import Unfinished, identity

__all__ = ["Outcome", "Request", "fit_in_parts"]


@dataclass(frozen=True)
class Outcome:
    """A model, what there is to say of the rows it was fitted on, and the folder of the run.

    The folder is for `Unfinished.remove`, once the model is written; an interrupted run goes on from there.
    """

    model: Any
    facts: Facts
    interrupted: bool
    folder: Unfinished


def fit_in_parts(request: Request, progress: Progress = lambda what, done, total: None) -> Outcome:
    """Fit a file of any length within a limit of memory; see `linsep fit --max-memory`."""
    source = file_to_stream(request.data)
    settings = dict(l1_ratio=request.l1_ratio, tol=request.tol, balanced=request.balanced, seed=request.seed)
    model = estimator(request.loss, C=request.C, **settings)  # type: ignore[arg-type]
    if request.loss == "perceptron":
        raise DataError("--loss perceptron takes its data into memory: leave out --max-memory, or say --loss hinge")
    budget = Budget.of(request.max_memory)
    assert source.path is not None
    run = identity(source.path, request.settings())
    folder = Unfinished(request.output, request.scratch, run, resume=request.resume)
    try:
        return _Fit(request, budget, folder, source, model, progress).run()
    except BaseException as error:
        folder.leave(error)
        raise


class _Fit:
    """One fit, from the file to the model."""

    def __init__(
        self, request: Request, budget: Budget, folder: Unfinished, source: Source, model: Any, progress: Progress
    ) -> None:
        self.request, self.budget, self.folder, self.source = request, budget, folder, source
        self.model, self.progress = model, progress

    def run(self) -> Outcome:
        """Prepare, solve, certify, and measure."""
        prepared = self.folder.prepared
        if prepared is None:
            prepared = Preparation(self.request, self.source, self.folder.folder, self.budget, self.progress).run()
            give_back()
            self.folder.prepare(prepared)
        scratch = Scratch(self.folder.folder)
        classes = np.array(prepared["classes"])
        interrupted = self._learn(scratch, classes)
        accuracy = self._measure(scratch, classes)
        counts = dict(zip(classes.tolist(), scratch.counts.tolist(), strict=True))
        encoding, notes = from_dict(prepared["encoding"]), [*prepared["notes"], *self._unproven(interrupted)]
        facts = Facts(self.source.name, scratch.d, counts, encoding, notes, accuracy)
        return Outcome(self.model, facts, interrupted, self.folder)

    def _unproven(self, interrupted: bool) -> list[str]:
        """Say why nothing is proven without a penalty, where that is so."""
        if self.model.converged_ or interrupted or not np.isinf(self.request.C):
            return []
        return [
            "the fit is not proven to be near an optimum: without a penalty there is none if a plane separates the "
            "classes (`linsep separable` tells), and columns that are nearly the same hide it; give a finite --C"
        ]

    # -- from blocks to planes ----------------------------------------------------------------------------------------

    def _learn(self, scratch: Scratch, classes: NDArray[Any]) -> bool:
        """Fit one plane for two classes, one a class for more; return whether that was interrupted."""
        model, statement = self.model, self.model._statement()
        model.classes_, model.n_features_in_ = classes, scratch.d
        weight = None
        if self.request.balanced:
            weight = scratch.counts.sum() / (len(classes) * scratch.counts.astype(np.float64))
        if getattr(model, "_at_once", lambda: False)():
            return self._learn_at_once(scratch, weight)
        shared = dict(loss=statement.loss, penalty=statement.penalty, C=statement.C, class_weight=weight)
        positive = [1] if len(classes) == 2 else range(len(classes))
        problems = [PartedProblem(scratch, k, **shared) for k in positive]
        found = [_read_result(one) for one in self.folder.results]
        sample: Block | None = None
        for k, problem in enumerate(problems[len(found) :], start=len(found)):
            place = self.folder.place(scratch.n)
            if sample is None and place.state is None:
                sample = self._sample(scratch, weighted=True)
            result, claim = self._plane(
                problem, place, sample, f", class {k + 1} of {len(problems)}" * (len(problems) > 1)
            )
            found.append((result, claim))
            if result.interrupted:
                break
            self.folder.finish(_written_result(result, claim))
        if len(found) < len(problems):
            raise KeyboardInterrupt
        model._store_planes(problems, [result for result, _ in found])
        model._claims = [claim for _, claim in found]
        model.dual_gap_ = float(model.certificate_.relative_gap)
        model._believe_the_proof()
        return any(result.interrupted for result, _ in found)

    def _learn_at_once(self, scratch: Scratch, weight: NDArray[np.float64] | None) -> bool:
        """Fit the planes of all classes together, by softmax."""
        statement, K = self.model._statement(), len(self.model.classes_)
        if statement.penalty.l1 > 0:
            raise DataError("--l1-ratio with more than two classes takes a --loss other than logistic")
        room = K * 8 * (scratch.d + 1) ** 2 * 3
        if scratch.d <= FACTORED and room > self.budget.free // 2:
            enough = (self.budget.limit + 2 * room - self.budget.free) / 1e6
            raise DataError(f"{K} classes and {scratch.d:,} features take --max-memory {enough:,.0f}MB")
        rows = _Watched(scratch, self.progress, "")
        problem = PartedSoftmax(rows, K, statement.penalty, statement.C, weight, statement.fit_intercept)
        sample = self._sample(scratch) or gather(scratch, scratch.n, np.random.default_rng(0))
        told = _teller(rows, "")
        found = StreamedSoftmax(self.request.tol).solve(problem, self.folder.place(scratch.n), sample=sample, told=told)
        found.history.solver, found.history.reason = StreamedSoftmax.name, "the data are larger than memory"
        if np.isinf(statement.C):
            found = replace(found, enclosed=enclosed_in_passes(problem, found.W, found.b))
        self.model._store_softmax(problem, found)
        self.model._believe_the_proof()
        return found.interrupted

    def _sample(self, scratch: Scratch, *, weighted: bool = False) -> Block | None:
        """Return examples to begin with; None where there are too few of them to be worth it."""
        a_row = 12 * scratch.stored // scratch.n if scratch.is_sparse else 8 * scratch.d
        size = min(self.budget.sample // (a_row + 160), scratch.n // 4)
        if size < 1000:
            return None
        return gather(scratch, size, np.random.default_rng(self.request.seed), weighted=weighted)

    def _plane(self, problem: PartedProblem, place: Any, sample: Block | None, which: str) -> tuple[Result, Claim]:
        rows, tol = problem.rows, float(getattr(self.model, "tol", self.request.tol))
        blocks = _Watched(rows, self.progress, which, sample)
        watched, told = replace(problem, examples=blocks), _teller(blocks, which)
        solver = self._solver(problem, tol)
        if isinstance(solver, StreamedNewton):
            result, duals = solver.solve(watched, place, sample=sample, told=told)
        else:
            place.passed = told
            result = solver.solve(watched, workspace=place)
            duals = result.alpha
        if result.proof is None:
            raise KeyboardInterrupt
        result.history.solver, result.history.reason = solver.name, "the data are larger than memory"
        return result, certify_parts(watched, result, self.model._statement(), self.model.classes_, tol, duals)

    def _solver(self, problem: PartedProblem, tol: float) -> Any:
        """Return the method that suits the problem and the room; raise where none does."""
        d, loss, penalty = problem.rows.d, problem.loss, problem.penalty
        few = d <= min(FACTORED, self.budget.features)
        if loss.smooth and few:
            return StreamedNewton(tol)
        if loss.defines("dual_step") and penalty.l2 > 0 and penalty.l1 == 0:
            return Multipliers(tol) if few else DualDescent(tol, max_iter=2000)
        what = f"{problem.formula} on {d:,} features"
        if loss.smooth and d <= FACTORED:
            raise DataError(f"{what} takes --max-memory {self.budget.enough_for(d) / 1e6:,.0f}MB")
        raise DataError(
            f"{what} takes its data into memory: leave out --max-memory, or say --l1-ratio 0 and a finite --C"
        )

    def _measure(self, scratch: Scratch, classes: NDArray[Any]) -> float:
        """Return the accuracy on the rows, and hash them for the model file."""
        rows, right = RowsHash(), 0
        done = 0
        for block in scratch:
            right += int((self.model.predict(block.rows.X) == classes[block.codes]).sum())
            rows.add(block.rows.X)
            done += block.rows.n
            self.progress("measuring", done, scratch.n)
        self.model._provenance = {
            "data": {
                "rows": scratch.n,
                "columns": scratch.d,
                "X": rows.digest(),
                "y": hash_of_codes(classes, scratch.codes()),
                "sample_weight": None,
            }
        }
        return right / scratch.n


class _Watched(InBlocks):
    """Blocks, with somebody told how many rows have gone by."""

    def __init__(self, blocks: Any, progress: Progress, which: str, sample: Block | None = None) -> None:
        self._blocks, self._progress, self._what, self._sample = blocks, progress, f"pass 1{which}", sample
        self.n, self.d, self.counts, self.squares = blocks.n, blocks.d, blocks.counts, blocks.squares

    def sample(self, seed: int = 0, *, weighted: bool = False) -> Block | None:
        """Return the sample that all planes share."""
        return self._sample

    def say(self, what: str) -> None:
        """Name the next pass."""
        self._what = what

    def __iter__(self) -> Iterator[Block]:
        for block in self._blocks:
            yield block
            self._progress(self._what, block.first + block.rows.n, self.n)


def _teller(blocks: _Watched, which: str) -> Callable[[int, float], None]:
    return lambda passes, gap: blocks.say(f"pass {passes + 1}{which}, gap {gap:.1e}")


def _written_result(result: Result, claim: Claim) -> dict[str, Any]:
    plane = dict(w=result.w.tolist(), b=result.b, n_iter=result.n_iter, converged=result.converged)
    ended = dict(message=result.message, solver=result.history.solver, reason=result.history.reason)
    return {**plane, **ended, "claim": claim.to_dict()}


def _read_result(kept: Mapping[str, Any]) -> tuple[Result, Claim]:
    w, b, history = np.array(kept["w"]), float(kept["b"]), History()
    history.solver, history.reason = kept["solver"], kept["reason"]
    ended = int(kept["n_iter"]), bool(kept["converged"]), str(kept["message"]), history
    return Result(w, b, *ended, last=Start(w, b)), Claim.from_dict(kept["claim"])


# -- the first pass over a table --------------------------------------------------------------------------------------
