"""A fit on a file larger than memory: its rows are encoded once, onto the disk, and gone through in passes."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from .._common.words import phrase
from .._core import helpers
from ..analysis.evaluation import Evaluation, look, measure
from ..analysis.importance import ImportanceSums
from ..analysis.suspects import Suspect, dominating, imbalance, suspects
from ..arithmetic.moments import deviations
from ..certificates.data_hash import RowsHash, hash_of_codes, hash_of_weights
from ..data.encoding import from_dict
from ..data.room import at_most
from ..data.scratch import Scratch
from ..data.sources import DataError, Source
from ..objective.examples import Block, InBlocks, gather
from ..solvers.contract import NotInMemoryError
from ..solvers.newton.preconditioner import FACTORED
from .choosing import Choice, choose_on_sample
from .deciding import Decision
from .memory import Budget, give_back
from .preparation import Encoding
from .preparing_streams import TEST, Preparation, file_to_stream
from .reference import Reference, is_likelihood
from .request import Progress, Request
from .summaries import Facts
from .training import class_weights, is_proven
from .unfinished import Place, Unfinished, identity
from .weighing import Weighing

__all__ = ["Outcome", "Request", "fit_in_parts"]

#: Bytes that are kept of a test row to measure on it, and to sort its score among the others.
MEASURED = 200
#: How many rows are looked at for columns that give the answer away, at the most, and copies that this makes of them.
LOOKED_AT, COPIES = 20_000, 6


@dataclass(frozen=True)
class Outcome:
    """A model, what there is to say of the rows it was fitted on, what a model file says of them, and the folder.

    The file's encoding is that of the rows, with the importance of what was made of them.
    The folder is for `Unfinished.remove`, once the model is written; an interrupted run goes on from there.
    """

    model: Any
    facts: Facts
    data: dict[str, Any]
    encoding: dict[str, Any]
    interrupted: bool
    folder: Unfinished
    choice: Choice | None = None
    measured: Evaluation | None = None  # on the test rows


def fit_in_parts(request: Request, progress: Progress = lambda what, done, total: None) -> Outcome:
    """Fit a file of any length within a limit of memory; see `linsep fit --max-memory`."""
    source = file_to_stream(request.data)
    model = request.estimator("leave out --max-memory, or say --loss hinge")
    budget = Budget.of(request.max_memory)
    assert source.path is not None
    run = identity(source.path, request.settings())
    folder = Unfinished(request.output, request.scratch, run, resume=request.resume)
    with folder.kept_to_go_on(), at_most(budget.free):
        return _Fit(request, budget, folder, source, model, progress).run()


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
        scratch, held = Scratch(self.folder.folder), None
        if self.request.test_share is not None:
            held = Scratch(self.folder.folder / TEST)
            self._check_room_to_measure(held)
        classes = np.array(prepared["classes"])
        encoding, weighing = from_dict(prepared["encoding"]), Weighing.of_model(prepared["encoding"])
        self.model.set_params(class_weight=class_weights(self.request.class_weight, classes.tolist()))
        choice = None if self.request.C is not None else self._choose(scratch, classes)
        decision = self._decide(scratch, classes)
        reference = Reference.chosen(self.request.reference, encoding, penalised=self.model._statement().penalised)
        interrupted = self._learn(scratch, classes, encoding)
        reference = self._estimated(reference, scratch, classes, encoding, interrupted)
        decision.apply(self.model)
        accuracy, data, important = self._measure(scratch, classes, encoding)
        seen = scratch.counts if weighing.sample_weight else scratch.totals.astype(np.int64)
        counts = dict(zip(classes.tolist(), seen.tolist(), strict=True))
        notes = [*prepared["notes"], *self._unproven(interrupted, reference)]
        told: dict[str, Any] = dict(weighing=weighing, reference=reference, rows_of_file=prepared["rows_of_file"])
        doubts = [] if weighing.is_grouped else self._doubts(scratch, classes, encoding)
        facts = Facts(self.source.name, scratch.d, counts, encoding, notes, accuracy, doubts, **told)
        kept = prepared["encoding"] | reference.to_dict() | {"importance": important}
        measured = None if held is None else self._measure_on(held)
        return Outcome(self.model, facts, data, kept, interrupted, self.folder, choice, measured)

    def _choose(self, scratch: Scratch, classes: NDArray[Any]) -> Choice:
        """Choose C by cross-validation of as many rows as there is room for, and take it."""
        self.progress("choosing C", 0, 0)
        asked, sample = self.request.choosing, self._sample(scratch)
        choice = choose_on_sample(clone(self.model), sample, float(scratch.totals.sum()), classes, asked)
        self.model.set_params(C=choice.C).choice_ = choice.to_dict()
        return choice

    def _sample(self, scratch: Scratch) -> Block:
        """Return as many rows as there is room for beside those of a fold; always the same ones."""
        size = max(1000, self.budget.sample // (2 * self._size_of_row(scratch)))
        return gather(scratch, size, np.random.default_rng(self.request.seed))

    def _decide(self, scratch: Scratch, classes: NDArray[Any]) -> Decision:
        """Decide on threshold and probabilities, by the scores of a sample that counts as much as all rows do."""
        wanted, totals = self.request.wanted, scratch.totals
        if not wanted.takes_folds:
            return wanted.on(self.model, lambda train, test: (None, None), classes, None, classes, totals)
        self.progress("scoring rows out of fold", 0, 0)
        sample = self._sample(scratch)
        X, labels, weight = sample.rows.X, classes[sample.codes], sample.weight
        model = clone(self.model)
        model.set_params(C=model.C * float(totals.sum()) / float(len(labels) if weight is None else weight.sum()))
        return wanted.on(model, lambda train, test: (X[train], X[test]), labels, weight, classes, totals)

    def _doubts(self, scratch: Scratch, classes: NDArray[Any], encoding: Encoding) -> list[Suspect]:
        """Return what stands out in the columns of a sample, and which class is rare; equal rows take all rows."""
        size = min(LOOKED_AT, max(100, self.budget.sample // (COPIES * self._size_of_row(scratch))))
        self.progress("looking for what is suspicious", 0, 0)
        return doubts_of_sample(scratch, size, classes, encoding, self.model, self.request.seed)

    def _size_of_row(self, scratch: Scratch) -> int:
        return int(12 * scratch.stored // scratch.n if scratch.is_sparse else 8 * scratch.d) + 160

    def _estimated(
        self, reference: Reference, scratch: Scratch, classes: NDArray[Any], encoding: Encoding, interrupted: bool
    ) -> Reference:
        """Return the reference with what runs to infinity, looked for where all rows have room at once."""
        if self.model.converged_ or interrupted or self.model._statement().penalised or not is_likelihood(self.model):
            return reference
        if scratch.n > self.budget.sample // (COPIES * self._size_of_row(scratch)):
            return replace(reference, decided=False)
        self.progress("looking for what runs to infinity", 0, 0)
        rows = gather(scratch, scratch.n, np.random.default_rng(0))
        return reference.estimated(rows.rows.X, classes[rows.codes], rows.weight, encoding)

    def _unproven(self, interrupted: bool, reference: Reference) -> list[str]:
        """Say why nothing is proven without a penalty, where that is so."""
        if self.model.converged_ or interrupted or self.model._statement().penalised:
            return []
        if reference.infinite:
            return [
                f"no finite optimum exists, the fit stops on the way: to infinity run {phrase(reference.infinite)}; "
                "`linsep separable --estimates` proves it; give a finite --C"
            ]
        if is_proven(self.model):
            return [
                "some coefficients seem to run to infinity, because the losses of some rows vanish as they do: `linsep "
                "separable --estimates` tells which; give a finite --C"
            ]
        return [
            "the fit is not proven to be near an optimum: without a penalty there is none if a plane separates the "
            "classes (`linsep separable` tells), and columns that are nearly the same hide it; give a finite --C"
        ]

    def _learn(self, scratch: Scratch, classes: NDArray[Any], encoding: Encoding) -> bool:
        """Fit; return whether that was interrupted, which leaves the best so far."""
        from sklearn.exceptions import ConvergenceWarning

        self._check_room(scratch, len(classes))
        examples = _Watched(scratch, self.progress, self._sample_size(scratch), self.budget.free / (16.0 * scratch.n))
        asked: dict[str, Any] = dict(names=encoding.names, run=_Run(self.folder, examples))
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)  # the summary says what is proven
                self.model.fit_examples(examples, classes, most_features=self.budget.features, **asked)
        except KeyboardInterrupt:
            if not hasattr(self.model, "dual_gap_"):
                raise
            return True
        except NotInMemoryError as error:
            raise DataError(f"{error}: leave out --max-memory, or say --l1-ratio 0 and a finite --C") from error
        return False

    def _check_room(self, scratch: Scratch, classes: int) -> None:
        """Raise where the matrices of Newton's method for all classes at once take too much memory."""
        if self.request.loss != "logistic" or classes == 2 or scratch.d > FACTORED:
            return
        room = classes * 8 * (scratch.d + 1) ** 2 * 3
        if room > self.budget.free // 2:
            enough = self.budget.limit_for(2 * room) / 1e6
            raise DataError(
                f"{classes} classes and {scratch.d:,} features take --max-memory {enough:,.0f}MB; "
                "give that, or use fewer columns"
            )

    def _check_room_to_measure(self, held: Scratch) -> None:
        """Raise where what is kept of each test row takes too much memory: intervals need all scores at once."""
        if (room := held.n * MEASURED) > self.budget.free:
            enough = self.budget.limit_for(room) / 1e6
            raise DataError(
                f"--test-share {self.request.test_share:g} makes {held.n:,} test rows, to measure on which takes "
                f"--max-memory {enough:,.0f}MB; give that, or a smaller share"
            )

    def _measure_on(self, held: Scratch) -> Evaluation:
        """Return how good the model is on test rows."""
        seen, done = [], 0
        for block in held:
            seen.append(look(self.model, block.rows.X, block.codes))
            done += block.rows.n
            self.progress("measuring on test rows", done, held.n)
        return measure(self.model, seen)

    def _sample_size(self, scratch: Scratch) -> int:
        """Return how many examples there is room for at once; 0 where there are too few of them to be worth it."""
        size = min(self.budget.sample // self._size_of_row(scratch), scratch.n // 4)
        return 0 if size < 1000 else size

    def _measure(
        self, scratch: Scratch, classes: NDArray[Any], encoding: Encoding
    ) -> tuple[float, dict[str, Any], dict[str, Any]]:
        """Return the accuracy on the rows, and what a model file says of them: their hash, and what is important."""
        rows, right, done, important = RowsHash(), 0.0, 0, ImportanceSums(self.model.coef_, encoding.origins)
        with helpers(1) as hasher:  # beside what NumPy does
            for block in scratch:
                hashed = hasher.submit(rows.add, block.rows.X)
                hits = self.model.predict(block.rows.X) == classes[block.codes]
                right += float(hits.sum() if block.weight is None else block.weight @ hits)
                important.add(block.rows.X, block.weight)
                hashed.result()
                done += block.rows.n
                self.progress("measuring", done, scratch.n)
        weights = hash_of_weights(scratch.weights()) if scratch.weighted else None
        hashes = dict(X=rows.digest(), y=hash_of_codes(classes, scratch.codes()), sample_weight=weights)
        sizes = {"rows": scratch.n, "columns": scratch.d}
        return right / float(scratch.totals.sum()), sizes | hashes, important.result().to_dict()


def doubts_of_sample(
    examples: InBlocks, size: int, classes: NDArray[Any], encoding: Encoding, model: Any, seed: int
) -> list[Suspect]:
    """Return what stands out in the columns of a sample of so many examples, and which class is rare among all."""
    sample = gather(examples, size, np.random.default_rng(seed))
    X, names = sample.rows.X, encoding.names
    if not len(sample.codes):
        return []
    found = suspects(X, classes[sample.codes], names=names, sources=encoding.origins)
    of_columns = [one for one in found if one.kind in ("leak", "collinear")]
    if sample.rows.n < examples.n:
        of = f"in a sample of {sample.rows.n:,} rows, "
        of_columns = [replace(one, message=of + one.message) for one in of_columns]
    rare = imbalance(examples.counts, classes, weighted=model.class_weight is not None)
    return [*of_columns, *dominating(deviations(X), model.coef_, names), *rare]


class _Watched(InBlocks):
    """Blocks, with somebody told how many rows have gone by."""

    def __init__(self, blocks: Scratch, progress: Progress, sample_size: int, holds: float) -> None:
        self._blocks, self._progress, self._pass, self._of = blocks, progress, 1, ""
        self.sample_size, self.holds = sample_size, holds
        self.n, self.d, self.counts, self.squares = blocks.n, blocks.d, blocks.counts, blocks.squares
        self.weighted = blocks.weighted

    def __iter__(self) -> Iterator[Block]:
        return self._watched(iter(self._blocks))

    def shuffled(self, seed: int) -> Iterator[Block]:
        """Yield the blocks in random order."""
        return self._watched(self._blocks.shuffled(seed))

    def begins(self, of: str) -> None:
        """Name the passes that come, of one plane of several."""
        self._pass, self._of = 1, of

    def goes_on(self, number: int, of: str) -> None:
        """Say which pass comes, and how far the fit is; no number comes twice."""
        self._pass, self._of = max(self._pass, number), of

    def _watched(self, blocks: Iterator[Block]) -> Iterator[Block]:
        done = 0
        for block in blocks:
            yield block
            done += block.rows.n
            self._progress(f"pass {self._pass}{self._of}", done, self.n)
        self._pass += 1


class _Run:
    """The folder as the fit sees it, which names the passes for those who wait: see `linsep.estimators`."""

    def __init__(self, folder: Unfinished, examples: _Watched) -> None:
        self._folder, self._examples = folder, examples
        self.finish = folder.finish

    @property
    def results(self) -> list[dict[str, Any]]:
        """What was found of the planes that are finished."""
        return self._folder.results

    def place(self, k: int, count: int) -> Place:
        """Return the workspace of objective k, of so many."""
        which = f", class {k + 1} of {count}" if count > 1 else ""

        def passed(passes: int, gap: float) -> None:
            self._examples.goes_on(passes + 1, which + (f", gap {gap:.1e}" if gap < 1.0 else ""))

        self._examples.begins(which)
        return self._folder.place(self._examples.n, passed)
