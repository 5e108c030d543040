"""Commands that learn from a file: fit, compare, separable, replay."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from cyclopts import Parameter

from .._words import many
from .options import (
    COLUMNS,
    READING,
    Columns,
    Intercept,
    Json,
    Output,
    Reading,
    Scaling,
    Seed,
    Several,
    Source,
    Target,
    Tolerance,
    Training,
    ready,
)
from .speech import Waiting, for_commands, for_replays, note, show


@Parameter(name="*")
@dataclass(frozen=True)
class Counting:
    """How much rows and classes count, and from which level coefficients are counted.

    Parameters
    ----------
    weights
        The column that says how often each row was seen, in whole numbers: the same as so many rows.
    sample_weight
        The column that says how much each row counts, in any numbers from 0.
    successes
        Instead of a target: the column with the number of successes among the trials that a row stands for.
    trials
        The column with the number of these trials.
    class_weight
        How much the rows of each class count: yes=5,no=1, or one such pair each time; balanced as --balanced.
    balanced
        Count all classes the same, however many examples they have.
    reference
        column=level: coefficients of the column's other levels are told relative to this one, which changes no
        prediction; without a penalty the first level of each category, if nothing is said.
    """

    weights: str | None = None
    sample_weight: str | None = None
    successes: str | None = None
    trials: str | None = None
    class_weight: Several = ()
    balanced: bool = False
    reference: Several = ()

    def by_class(self) -> tuple[str, ...]:
        """Return what is said of the classes."""
        if self.balanced and self.class_weight:
            raise ValueError("--balanced would be ignored: --class-weight says how much classes count")
        return ("balanced",) if self.balanced else self.class_weight

    def weighing(self) -> Any:
        """Return which columns say how much rows count."""
        from ..workflows.weighing import Weighing

        return Weighing(self.weights, self.sample_weight, self.successes, self.trials)


@Parameter(name="*")
@dataclass(frozen=True)
class Deciding:
    """Where scores are cut, and how they become probabilities.

    Parameters
    ----------
    threshold
        Of two classes, from where on the second is predicted. A number: a probability, or a score if the model has no
        probabilities. Or what it is chosen for, on scores of rows that the fit has not seen: accuracy,
        balanced-accuracy, f1, costs=1:5 (of a false alarm and of a miss), recall@precision=0.9, precision@recall=0.8.
    calibrate
        Probabilities by sigmoid (Platt) or by isotonic regression (for 1,000 rows and more) of scores of rows that the
        fit has not seen. Without it logistic models have their own, corrected for --balanced and --class-weight; none
        leaves them as they are fitted.
    base_rates
        Where rows were drawn by class, so that their shares are not those of the world: yes=0.02, the share of each
        class where the model will be used. Probabilities and aims of --threshold are then those of such rows.
    """

    threshold: Annotated[str | None, Parameter(allow_leading_hyphen=True)] = None
    calibrate: Literal["sigmoid", "isotonic", "none"] | None = None
    base_rates: Several = ()

    def wanted(self, folds: int | None, seed: int, loss: str) -> Any:
        """Return what is asked for; raise for what makes no sense."""
        from ..workflows.deciding import Wanted

        return Wanted(self.threshold, self.calibrate, 5 if folds is None else folds, seed, loss, self.base_rates)


@Parameter(name="*")
@dataclass(frozen=True)
class Choosing:
    """How C is chosen, where it is.

    Parameters
    ----------
    score
        With --C auto: what C is chosen by, accuracy (or balanced_accuracy with --balanced), f1_macro, neg_log_loss, …
    folds
        With --C auto, an aim of --threshold or --calibrate: in how many parts, each held out once; 5 without it.
    rule
        With --C auto: best, or 1se for the smallest C within one standard error of the best.
    prove
        With --C auto, of two classes: bound the mistakes in all folds of every C from 1e-4 to 1e4, to within 1 in 1,000
        rows or as near as it comes, and choose by them. Ctrl-C ends it with what is proven by then.
    effort
        With --prove: it ends after so many times the work of choosing alone; 10 without it, inf for never.
    """

    score: str | None = None
    folds: int | None = None
    rule: str | None = None
    prove: Annotated[bool, Parameter(negative="")] = False
    effort: float | None = None

    def check(self, C: float | None, wanted: Any, *, scaling: bool) -> None:
        """Raise for what would be ignored, or does not go together with the rest."""
        folds = None if wanted.takes_folds else self.folds
        if C is not None and (self.prove, self.score, self.rule, folds) != (False, None, None, None):
            raise ValueError(
                "--prove, --score, --folds and --rule would be ignored: they belong to --C auto (--folds also to "
                "--calibrate and to an aim of --threshold)"
            )
        if self.effort is not None and not (self.prove and self.effort > 0):
            raise ValueError("--effort is a positive number that belongs to --prove: without it, it would be ignored")
        if C is None and not scaling:
            raise ValueError(
                "--C auto standardises in each of its parts: give C as a number, or leave out --no-scaling"
            )

    def asked(self, seed: int, counting: Counting) -> Any:
        """Return what is asked for; raise for what makes no sense."""
        from ..workflows.choosing import Asked

        balanced, prove = counting.by_class() == ("balanced",), self.prove if self.effort is None else self.effort
        return Asked.of(self.score, self.folds, self.rule, seed=seed, balanced=balanced, prove=prove)


@Parameter(name="*")
@dataclass(frozen=True)
class Memory:
    """How much memory a fit may take, and what it keeps on the disk instead.

    Parameters
    ----------
    max_memory
        512MB, 2GB, …: fit a file larger than memory. Its rows are encoded onto the disk and gone through in passes.
        What to watch out for is looked for in a sample, and equal rows are not.
    scratch
        With --max-memory: the folder for the encoded rows, about as large as the table; without it beside the model.
    resume
        With --max-memory: go on with a fit of the same data and settings that was cut short. --no-resume starts anew.
    """

    max_memory: str | None = None
    scratch: Path | None = None
    resume: Annotated[bool, Parameter(negative="--no-resume")] = True

    def check(self, *, prove: bool, whole: bool) -> None:
        """Raise for what would be ignored, or does not go together with the rest; `whole`: scaled, with intercept."""
        if self.max_memory is not None and prove:
            raise ValueError("--prove takes all rows into memory: leave out --max-memory")
        if self.max_memory is not None and not whole:
            raise ValueError("--no-scaling and --no-intercept take their data into memory: leave out --max-memory")
        if self.max_memory is None and (self.scratch is not None or not self.resume):
            raise ValueError("--scratch and --no-resume would be ignored: they belong to --max-memory")


COUNTING, DECIDING, CHOOSING, MEMORY = Counting(), Deciding(), Choosing(), Memory()


def fit(
    data: Source,
    *,
    target: Target = None,
    output: Output | None = None,
    loss: str = "logistic",
    C: Annotated[str, Parameter(name="--C")] = "1",
    choosing: Choosing = CHOOSING,
    l1_ratio: float = 0.0,
    tol: Tolerance = 1e-4,
    counting: Counting = COUNTING,
    deciding: Deciding = DECIDING,
    scaling: Scaling = True,
    intercept: Intercept = True,
    seed: Seed = 0,
    test_share: float | None = None,
    memory: Memory = MEMORY,
    columns: Columns = COLUMNS,
    reading: Reading = READING,
    json: Json = False,
) -> int:
    """Train a model on a file, and prove how near the optimum it is.

    Parameters
    ----------
    data
        CSV, TSV, Parquet, Arrow, Feather, Excel, LIBSVM text or NPZ, also as .gz, .bz2 or .zst; - for standard input.
    output
        Where to write the model, a JSON file.
    loss
        logistic (has probabilities), hinge, squared_hinge, square, perceptron or another that linsep.losses knows.
    C
        How much the losses count against the penalty; inf for no penalty, auto to cross-validate.
    l1_ratio
        Share of the penalty that is ‖w‖₁ instead of ½‖w‖².
    test_share
        Share of the rows to hold out: with 0.2, of each 5 rows of a class one drawn by the seed, so that every class
        has its share to within a row. The model is measured on them, and remembers which they are: evaluate and report
        take them from the same file.
    """
    from ..workflows import training
    from ..workflows.reference import Reference

    ready(output, data)
    chosen, wanted = training.parse_C(C), deciding.wanted(choosing.folds, seed, loss)
    choosing.check(chosen, wanted, scaling=scaling)
    memory.check(prove=choosing.prove, whole=scaling and intercept)
    how = choosing.asked(seed, counting)
    settings: dict[str, Any] = dict(loss=loss, l1_ratio=l1_ratio, tol=tol, seed=seed)
    asked: dict[str, Any] = columns.asked(reading) | dict(weighing=counting.weighing())
    if memory.max_memory is not None:
        settings |= dict(class_weight=counting.by_class(), reference=counting.reference, test_share=test_share)
        settings |= dict(output=output, scratch=memory.scratch, resume=memory.resume, choosing=how, wanted=wanted)
        return _fit_in_parts(data, target, chosen, memory.max_memory, settings | asked, json)
    asked |= dict(scaled=scaling and training.is_scaled(loss, chosen, asked["degree"]))
    asked |= dict(keep_frame=chosen is None or wanted.takes_folds)
    with Waiting(f"reading {data}") as waiting:
        examples, held, kept = _examples(data, target, asked, test_share, seed)
        classes = examples.coded[0]
        wanted.check(examples.y, classes)
        settings |= dict(class_weight=training.class_weights(counting.by_class(), classes.tolist()))
        model = training.estimator(C=chosen or 1.0, fit_intercept=intercept, **settings)
        choice = _choose(model, examples, how, waiting) if chosen is None else None
        if wanted.takes_folds:
            waiting.on("scoring rows out of fold")
        decision = wanted.decide(model, examples)
        reference = Reference.chosen(counting.reference, examples.encoding, penalised=chosen != np.inf)
        facts, interrupted = _fit_in_memory(examples, model, (decision, choice), reference, output, kept, waiting)
    for remark in (*facts.notes, *facts.doubts, *(["interrupted: this is the best so far"] if interrupted else [])):
        note(remark)
    return _print_fit(facts, model, choice, output, json, _measured(model, held))


def _choose(model: Any, examples: Any, how: Any, waiting: Waiting) -> Any:
    """Give a model the C that cross-validation chooses; return the choice."""
    from ..workflows.choosing import choose

    def bounds(best: float, least: float) -> None:
        waiting.say(f"choosing C: {best:g} mistakes, no C makes fewer than {max(least, 0.0):g}")

    waiting.on("choosing C")
    choice = choose(model, examples, how, bounds)
    model.set_params(C=choice.C).choice_ = choice.to_dict()
    return choice


def _examples(
    data: str, target: str | None, asked: dict[str, Any], test_share: float | None, seed: int
) -> tuple[Any, Any, dict[str, Any]]:
    """Return the rows to fit, those held out for a test or None, and what a model file keeps of that."""
    from ..workflows.preparation import prepare

    if test_share is None:
        return prepare(data, target, **asked), None, {}
    from ..workflows import holding_out

    asked |= dict(learned=holding_out.training_rows(test_share, seed), keep_frame=True)
    examples, held, split = holding_out.hold_out(prepare(data, target, **asked), test_share, seed)
    return examples, held, {holding_out.SECTION: split.to_dict()}


def _fit_in_memory(
    examples: Any,
    model: Any,
    after: tuple[Any, Any],
    reference: Any,
    output: Path | None,
    kept: dict[str, Any],
    waiting: Waiting,
) -> tuple[Any, bool]:
    """Fit and write the model; return what there is to say of the rows, and whether the user put an end to it.

    `after` the fit the model is given the threshold and probabilities that were asked for, and the proof of a choice.
    """
    from ..analysis.suspects import dominating
    from ..arithmetic.moments import deviations
    from ..persistence.model_file import save  # all of which load scikit-learn: it is there by now
    from ..workflows import summaries, training

    n, d = examples.X.shape
    waiting.on(f"fitting {many(n, 'row')}, {many(d, 'feature')}")
    with ThreadPoolExecutor(1) as pool:  # beside the fit, which leaves a processor idle now and then
        hashed = None if output is None else pool.submit(training.hashed, examples)
        suspicious = pool.submit(training.doubts, examples, model)
        spread = pool.submit(deviations, examples.X)
        interrupted = training.fit_or_stop(model, examples, list(reference.places(examples.encoding)))
        decision, choice = after
        decision.apply(model)
        if choice is not None:
            choice.keep(model)
        reference = reference.with_estimates(examples, model)
        waiting.on("looking for what is suspicious")
        doubts = [*suspicious.result(), *dominating(spread.result(), model.coef_, examples.encoding.names)]
    if output is not None and hashed is not None:
        encoding = training.kept_encoding(examples, model, reference, spread.result()) | kept
        save(model, output, data=hashed.result(), encoding=encoding)
    return summaries.Facts.of(examples, model, doubts, reference), interrupted


def _measured(model: Any, held: Any) -> Any:
    """Return what a model does on rows that were held out, if there are."""
    from ..analysis.evaluation import evaluate

    return None if held is None else evaluate(model, held.X, held.y)


def _print_fit(facts: Any, model: Any, choice: Any, output: Path | None, json: bool, measured: Any) -> int:
    from ..workflows import summaries

    record, text = summaries.fit_record(facts, model, choice, output), summaries.fit_text(facts, model, choice, output)
    if measured is not None:
        from ..workflows import evaluating

        for remark in evaluating.counted_once(facts.weighing):
            note(remark)
        record["test"] = evaluating.evaluation_record(measured)
        text = f"{text}\n\ntest rows, which the fit did not see: {evaluating.evaluation_text(measured)}"
    show(record, text, json)
    return 0 if record["proven"] else 1


def _fit_in_parts(
    data: str, target: str | None, C: float | None, max_memory: str, settings: dict[str, Any], json: bool
) -> int:
    """Fit a file larger than memory."""
    from ..persistence.model_file import save
    from ..workflows import memory, streaming

    request = streaming.Request(data, target, memory.parse_size(max_memory), C=C, **settings)
    output = request.output
    with Waiting() as waiting:
        found = streaming.fit_in_parts(request, waiting.share)
        if output is not None:
            with found.folder.kept_to_go_on():
                save(found.model, output, data=found.data, encoding=found.encoding)
    for remark in (*found.facts.notes, *found.facts.doubts):
        note(remark)
    if found.interrupted and found.folder.lasting:
        note(f"interrupted: this is the best so far. The same command goes on from {found.folder.folder}")
    else:
        found.folder.remove()
    return _print_fit(found.facts, found.model, found.choice, output, json, found.measured)


def separable(
    data: Training,
    *,
    target: Target = None,
    positive: str | None = None,
    estimates: bool = False,
    time_limit: float = 60.0,
    columns: Columns = COLUMNS,
    reading: Reading = READING,
    json: Json = False,
) -> int:
    """Decide whether a plane separates two classes by the numbers in the file as they are, and prove the answer.

    Parameters
    ----------
    positive
        Of more than two classes, the one to tell from the rest.
    estimates
        Say also which estimates of a logistic regression are finite, which are infinite and in which direction, and
        what the likelihood comes to.
    time_limit
        Seconds to take at the most.
    """
    from ..report.proofs import told
    from ..separation.recession import estimates as maximum_likelihood
    from ..separation.verdict import separability
    from ..workflows.labels import two_classes
    from ..workflows.preparation import prepare

    with Waiting(f"reading {data}") as waiting:
        examples = prepare(data, target, keep_frame=True, **columns.asked(reading))
        y = two_classes(examples, positive)
        waiting.on("looking for a plane, and for a proof that there is none")
        X = examples.own_numbers()
        found = separability(X, y, time_limit=time_limit)
        record = {"verdict": found.verdict, "separable": found.separable, "proof": found.to_dict()}
        text = told(found, examples.encoding.names, len(y))
        if estimates:
            waiting.on("following the likelihood to its supremum")
            names = examples.encoding.names
            limit = maximum_likelihood(X, y, feature_names=names, time_limit=time_limit)
            record["estimates"] = dict(zip([*names, "intercept"], limit.verdicts, strict=True))
            record["supremum"], text = list(limit.supremum), f"{text}\n{limit}"
    show(record, text, json, notes=examples.notes)
    return 0


def compare(
    data: Training,
    *,
    target: Target = None,
    test: str | None = None,
    C: Annotated[float, Parameter(name="--C")] = 1.0,
    tol: Tolerance = 1e-4,
    seed: Seed = 0,
    columns: Columns = COLUMNS,
    reading: Reading = READING,
    json: Json = False,
) -> int:
    """Fit every loss to the same file, and set side by side what each reaches.

    Of two classes, the row of zero_one says what `linsep separable` proves, where that takes no longer than 10 seconds.

    Parameters
    ----------
    test
        Another file, to count errors on.
    C
        How much the losses count against the penalty.
    """
    from ..analysis.comparison import compare as side_by_side
    from ..workflows.comparing import verdict_on, verdict_text
    from ..workflows.preparation import encoded, prepare
    from ..workflows.summaries import finite

    with Waiting(f"reading {data}") as waiting:
        examples = prepare(data, target, keep_frame=True, **columns.asked(reading))
        others = None if test is None else encoded(test, examples.encoding, target, reading.hints())
        waiting.on("fitting every loss")
        further = {} if others is None else dict(X_test=others.X, y_test=others.y)
        table = side_by_side(examples.X, examples.y, C=C, tol=tol, random_state=seed, **further)
        waiting.on("looking for a plane, and for a proof that there is none")
        verdict = verdict_on(examples)
        table = table if verdict is None else table.judged(verdict.separable)
    rows = [row | {"note": for_commands(row["note"])} for row in table.to_dict()]
    record = {"rows": finite(rows), "verdict": None if verdict is None else verdict.verdict}
    show(record, for_commands(f"{table}{verdict_text(verdict)}"), json, notes=examples.notes)
    return 0 if all(row.proven for row in table if row.loss not in ("zero_one", "perceptron")) else 1


def replay(
    data: Training,
    *,
    target: Target = None,
    output: Output = Path("replay.html"),
    loss: str = "perceptron",
    solver: str = "auto",
    order: Literal["random", "cyclic", "worst"] | None = None,
    C: Annotated[float | None, Parameter(name="--C")] = None,
    schedule: str | None = None,
    eta: float | None = None,
    max_iter: int | None = None,
    steps: int | None = None,
    positive: str | None = None,
    scaling: Scaling = True,
    intercept: Intercept = True,
    seed: Seed = 0,
    columns: Columns = COLUMNS,
    reading: Reading = READING,
    json: Json = False,
) -> int:
    """Show a fit step by step: one HTML file to play, pause and step through, or a GIF or MP4 for slides.

    With --degree 2 and two columns of numbers the boundary is drawn in their plane, curved.

    Parameters
    ----------
    output
        Where to: .html, .gif or .mp4.
    loss
        perceptron, hinge, squared_hinge, logistic, square or another that linsep.losses knows.
    solver
        auto (the perceptron, or stochastic descent for other losses), perceptron, sgd, gradient_descent, newton, dual.
    order
        In which order examples come, for a method that takes one at a time; worst is the worst violator each time.
    C
        How much the losses count against the penalty; inf for no penalty.
    schedule
        Step sizes: constant, inverse_time, inverse_sqrt or inverse; by default such as suit the data.
    eta
        The first step size.
    max_iter
        Passes over the data (of a method that takes all examples at once, steps) at the most.
    steps
        After how many recorded steps to stop at the latest.
    positive
        Of more than two classes, the one to tell from the rest.
    """
    from ..replay import check_ending, save
    from ..workflows.preparation import prepare
    from ..workflows.replaying import Method, in_words_of, replay_examples, replay_record, replay_text

    check_ending(output)
    ready(output, data)
    method = Method(loss, solver, order, C, schedule, eta, max_iter, intercept)
    with Waiting(f"reading {data}") as waiting:
        examples = prepare(data, target, scaled=scaling, **columns.asked(reading))
        waiting.on("fitting, step by step")
        film = in_words_of(replay_examples(examples, method, steps=steps, positive=positive, seed=seed), for_replays)
        waiting.on(f"writing {output}")
        save(film, output)
    show(replay_record(film, output), replay_text(film, output), json)
    return 0
