"""A fit on a file larger than memory: its rows are encoded once, onto the disk, and gone through in passes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ..certificates.data_hash import RowsHash, hash_of_codes
from ..certificates.gap.certify import certify
from ..certificates.gap.claim import Claim
from ..certificates.kinds.gap import Gap
from ..data.encoding import MatrixEncoding, TableEncoding, from_dict
from ..data.readers import Hints, Matrix, Table, stream
from ..data.scratch import Scratch, ScratchWriter, check_space
from ..data.sources import DataError, Source
from ..data.statistics import TableStatistics
from ..history import History
from ..objective.examples import Block, InBlocks
from ..objective.parted import PartedProblem
from ..solvers.dual.streamed_dual import StreamedDual
from ..solvers.newton.preconditioner import FACTORED
from ..solvers.newton.streamed_multipliers import StreamedMultipliers
from ..solvers.newton.streamed_newton import StreamedNewton
from ..solvers.newton.streamed_softmax import PartedSoftmax, StreamedSoftmax
from ..solvers.result import Result, Start
from ..solvers.sampling import gather
from .memory import Budget, give_back
from .preparation import CLASSES, Encoding, check_width, labels, target_column, types_said, with_label
from .summaries import Facts
from .training import estimator
from .unfinished import Unfinished, identity

__all__ = ["Outcome", "Request", "fit_in_parts"]

#: Told what is going on, how much of it is done, and how much there is (0 where nobody knows).
Progress = Callable[[str, int, int], None]


@dataclass(frozen=True)
class Request:
    """What shall be fitted, how, and in how much room; the names are those of `linsep fit`."""

    data: str
    target: str | None
    max_memory: int
    hints: Hints = field(default_factory=Hints)
    kinds: Mapping[str, str] = field(default_factory=dict)
    degree: int = 1
    loss: str = "logistic"
    C: float = 1.0
    l1_ratio: float = 0.0
    tol: float = 1e-4
    balanced: bool = False
    seed: int = 0
    output: Path | None = None
    scratch: Path | None = None
    resume: bool = True

    def settings(self) -> dict[str, Any]:
        """Return what the answer depends on, in terms of JSON."""
        hints = {
            name: sorted(value) if isinstance(value, frozenset) else value for name, value in vars(self.hints).items()
        }
        names = ("target", "degree", "loss", "C", "l1_ratio", "tol", "balanced", "seed")
        return {"kinds": dict(self.kinds), "reading": hints, **{name: getattr(self, name) for name in names}}


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
    source = _source(request.data)
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
    except BaseException:
        if not folder.lasting or folder.prepared is None:  # nothing to go on with
            folder.remove()
        raise


def _source(data: str) -> Source:
    """Return the file; raise for what cannot be gone through twice."""
    source = Source.of(data)
    if source.path is None:
        raise DataError(f"{source.name}: --max-memory goes through the data several times; write them to a file first")
    if source.format == "npz":
        raise DataError(f"{data}: NPZ is read whole; write Parquet, Arrow, CSV or LIBSVM text for --max-memory")
    if source.format in ("parquet", "arrow") and source.compression is not None:
        raise DataError(
            f"{data}: {source.format} inside {source.compression} is read whole; unpack it for --max-memory"
        )
    return source


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
            prepared = self._prepare()
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

    # -- from the file to blocks on the disk --------------------------------------------------------------------------

    def _prepare(self) -> dict[str, Any]:
        if self.source.format == "libsvm":
            encoding, classes, notes = self._write_matrix()
        else:
            encoding, classes, notes = self._write_table()
        return {"encoding": encoding.to_dict(), "classes": np.asarray(classes).tolist(), "notes": notes}

    def _write_matrix(self) -> tuple[Encoding, NDArray[Any], list[str]]:
        """Write LIBSVM text in one pass: the numbers of columns and classes are known when it is over."""
        request, name = self.request, self.source.name
        if request.kinds or request.degree != 1:
            raise DataError(f"{name}: its numbers are used as they are; --degree and column types need a table")
        size = self.source.size or 0
        check_space(self.folder.folder, size * 3 // 2)
        places = dict[float, int]()
        lowest, width, rows = 2**31, 0, 0
        with closing(ScratchWriter(self.folder.folder)) as writer:
            for block in stream(request.data, request.hints, base=0, size=self.budget.block * 2):
                assert isinstance(block, Matrix)
                assert block.y is not None
                values, found = np.unique(block.y, return_inverse=True)
                codes = np.array([places.setdefault(float(value), len(places)) for value in values], dtype=np.int64)
                _check_classes(len(places), rows, name)
                writer.add(block.X, codes[found])
                lowest, width = min(lowest, int(block.X.indices.min(initial=2**31 - 1))), max(width, block.X.shape[1])
                rows += block.X.shape[0]
                self.progress("reading rows", rows, 0)
            base = 0 if lowest == 0 else 1
            classes = labels(pa.chunked_array([pa.array(list(places))]), "label", name) if places else np.empty(0)
            _check_classes(len(classes), rows, name, least=2)
            check_width(name, width - base)
            order = np.argsort(np.argsort(classes))
            writer.finish(width - base, base, order.tolist())
        return MatrixEncoding(width - base, base, None, request.target), np.sort(classes), []

    def _write_table(self) -> tuple[Encoding, NDArray[Any], list[str]]:
        """Write a table in two passes: one to decide on the encoding, one to encode."""
        counted = _Counting(self.request, self.source, self.budget, self.progress).run()
        give_back()
        encoding = counted.encoding
        d = len(encoding.names)
        width = 8 * (d if not encoding.is_sparse else 12)
        check_space(self.folder.folder, counted.rows * (width + 2))
        rows_at_once = max(
            16, self.budget.block // max(8 * len(encoding.columns), 8 * d if not encoding.is_sparse else 0)
        )
        done, total, columns = 0, counted.rows + counted.lacking, [*encoding.needed, counted.target]
        reading: dict[str, Any] = dict(types=counted.types, size=self.budget.block, columns=columns)
        with closing(ScratchWriter(self.folder.folder)) as writer:
            for block in stream(self.request.data, self.request.hints, **reading):
                assert isinstance(block, Table)
                for first in range(0, block.frame.num_rows, rows_at_once):
                    frame = with_label(block.frame[first : first + rows_at_once], counted.target)
                    if frame.num_rows:
                        with block.blaming():
                            X = encoding.transform(frame, self.source.name)
                        writer.add(X, counted.codes(frame))
                done += block.frame.num_rows
                self.progress("encoding rows", done, total)
            writer.finish(d)
        return encoding, counted.classes, counted.notes

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
        model._proofs = [Gap([claim for _, claim in found])]
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
        blocks = _Watched(rows, self.progress, which)
        watched, told = replace(problem, examples=blocks), _teller(blocks, which)
        solver = self._solver(problem, tol)
        result, duals = solver.solve(watched, place, sample=sample, told=told)
        if result.proof is None:
            raise KeyboardInterrupt
        result.history.solver, result.history.reason = solver.name, "the data are larger than memory"
        known = replace(result, alpha=duals)
        return result, certify(watched, known, self.model._statement(), self.model.classes_, tol)

    def _solver(self, problem: PartedProblem, tol: float) -> Any:
        """Return the method that suits the problem and the room; raise where none does."""
        d, loss, penalty = problem.rows.d, problem.loss, problem.penalty
        few = d <= min(FACTORED, self.budget.features)
        if loss.smooth and few:
            return StreamedNewton(tol)
        if loss.defines("dual_step") and penalty.l2 > 0 and penalty.l1 == 0:
            return StreamedMultipliers(tol) if few else StreamedDual(tol)
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

    def __init__(self, blocks: Any, progress: Progress, which: str) -> None:
        self._blocks, self._progress, self._what = blocks, progress, f"pass 1{which}"
        self.n, self.d, self.counts, self.squares = blocks.n, blocks.d, blocks.counts, blocks.squares

    def say(self, what: str) -> None:
        """Name the next pass."""
        self._what = what

    def __iter__(self) -> Iterator[Block]:
        for block in self._blocks:
            yield block
            self._progress(self._what, block.first + block.rows.n, self.n)


def _teller(blocks: _Watched, which: str) -> Callable[[int, float], None]:
    return lambda passes, gap: blocks.say(f"pass {passes + 1}{which}, gap {gap:.1e}")


def _check_classes(count: int, rows: int, where: str, least: int = 0) -> None:
    if count < least:
        found = f"only one class in {rows:,} rows" if count else "no row has a label"
        raise DataError(f"{where}: {found}; a classifier needs examples of at least two classes")
    if count > CLASSES:
        raise DataError(f"{where}: {count:,} different values are no classes; is this the right --target?")


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


@dataclass(frozen=True)
class _Counted:
    """What the first pass over a table found."""

    encoding: TableEncoding
    types: dict[str, pa.DataType]
    target: str
    classes: NDArray[Any]
    values: pa.Array  # of the target, in the order of the classes
    rows: int
    lacking: int
    notes: list[str]

    def codes(self, frame: pa.Table) -> NDArray[np.int64]:
        """Return the class of each row."""
        found = pc.index_in(_plain(frame[self.target]), value_set=self.values)
        if found.null_count:
            raise DataError(f"column {self.target!r} has other values than a moment ago: the file is being changed")
        return np.asarray(found.to_numpy(), dtype=np.int64)


class _Counting:
    """The first pass over a table: types, the encoding, the classes.

    The types of a CSV file's columns are told by its first rows; where a later row does not fit, the pass is begun
    again with a wider type for that column.
    """

    def __init__(self, request: Request, source: Source, budget: Budget, progress: Progress) -> None:
        self.request, self.source, self.budget, self.progress = request, source, budget, progress

    def run(self) -> _Counted:
        """Return what was found."""
        types = types_said(self.request.kinds)
        while True:
            self.seen: dict[str, pa.DataType] = {}
            try:
                return self._count(types)
            except DataError as error:
                wider = _wider(error.__cause__, self.seen, types)
                if wider is None:
                    raise
                types = types | wider

    def _count(self, types: dict[str, pa.DataType]) -> _Counted:
        request, name = self.request, self.source.name
        statistics: TableStatistics | None = None
        counts: dict[Any, int] = {}
        target, done, lacking, values_type, header = "", 0, 0, pa.null(), True
        for block in stream(request.data, request.hints, types=types, size=self.budget.block):
            assert isinstance(block, Table)
            frame = block.frame
            if statistics is None:
                self.seen, header = dict(zip(frame.column_names, frame.schema.types, strict=True)), block.header
                target, statistics = self._begin(block)
                values_type = _plain(frame[target]).type
            frame = with_label(frame, target)
            lacking += block.frame.num_rows - frame.num_rows
            if pa.types.is_nested(values_type):
                labels(frame[target], target, name)  # which says why it cannot be
            for pair in _plain(frame[target]).value_counts().to_pylist():
                counts[pair["values"]] = counts.get(pair["values"], 0) + pair["counts"]
            _check_classes(len(counts) if pa.types.is_string(values_type) else 0, done, f"{name}, column {target!r}")
            with block.blaming():
                statistics.add(frame.drop_columns([target]))
            done += block.frame.num_rows
            self.budget.check(f"{name}: reading its rows")
            self.progress("counting rows", done, 0)
        if statistics is None:
            raise DataError(f"{name}: no rows below the header; if the first line is data, say --no-header")
        classes, values = self._classes(counts, values_type, target, done - lacking)
        encoding = statistics.encoding(
            degree=request.degree, target=target, header=header, missing=request.hints.missing
        )
        notes = [f"{lacking:,} rows without a value in {target!r} are left out"] if lacking else []
        notes += [
            f"column {c.name!r}{' is set aside' if c.kind == 'ignored' else ''}: {c.note}"
            for c in encoding.columns
            if c.note and c.note != "asked for"
        ]
        return _Counted(encoding, {**self.seen, **types}, target, classes, values, done - lacking, lacking, notes)

    def _begin(self, block: Table) -> tuple[str, TableStatistics]:
        target = target_column(block, self.request.target)
        kinds = {block.column(column): kind for column, kind in self.request.kinds.items()}
        if target in kinds:
            raise DataError(f"{block.name}: column {target!r} is the target; do not give it another role")
        if self.request.degree < 1:
            raise DataError(f"degree={self.request.degree} must be 1 or more; 2 adds squares and products")
        schema = block.frame.schema
        schema = schema.remove(schema.get_field_index(target))
        line = 1 + block.header if self.source.format == "csv" else None
        room = self.budget.free // 4
        as_text = self.request.hints.as_text
        return target, TableStatistics(block.name, schema, kinds, room=room, line=line, as_text=as_text)

    def _classes(
        self, counts: Mapping[Any, int], kind: pa.DataType, target: str, rows: int
    ) -> tuple[NDArray[Any], pa.Array]:
        """Return the classes in order, and the values of the target that stand for them."""
        where = f"{self.source.name}, column {target!r}"
        values = pa.array(list(counts), type=kind)
        found = labels(pa.chunked_array([values]), target, self.source.name)
        _check_classes(len(found), rows, where, least=2)
        order = np.argsort(found)
        return found[order], values.take(pa.array(order))


def _plain(column: pa.ChunkedArray) -> pa.ChunkedArray:
    return column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column


def _wider(
    cause: BaseException | None, seen: Mapping[str, pa.DataType], types: Mapping[str, pa.DataType]
) -> dict[str, pa.DataType] | None:
    """Return the column that did not fit its type, with the next wider one; None where that is not what went wrong."""
    import re

    found = re.search(r"column #(\d+).*conversion error", str(cause)) if isinstance(cause, pa.ArrowInvalid) else None
    if found is None or int(found.group(1)) >= len(seen):
        return None
    name = list(seen)[int(found.group(1))]
    ladder = [pa.null(), pa.int64(), pa.float64(), pa.string()]
    now = types.get(name, seen[name])
    if now == pa.string():
        return None
    return {name: ladder[ladder.index(now) + 1] if now in ladder else pa.string()}
