"""Commands that learn from a file: fit, compare, separable, replay."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import Parameter

from .._common.words import many
from .._core import helpers
from .fit_options import (
    CHOOSING,
    COUNTING,
    DECIDING,
    MEMORY,
    Choosing,
    Counting,
    Deciding,
    Memory,
)
from .options import (
    CLUSTER,
    COLUMNS,
    GROUPED,
    READING,
    Cluster,
    Columns,
    Grouped,
    Intercept,
    Json,
    Output,
    Reading,
    Scaling,
    Seed,
    Source,
    Target,
    Tolerance,
    Training,
    placed,
    ready,
)
from .speech import Waiting, for_commands, for_replays, note, note_dashboard, show


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
    cluster: Cluster = CLUSTER,
    checkpoint: Path | None = None,
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
    checkpoint
        With --dask or --spark: a file that keeps what each round found, from which the same command goes on.
    """
    from ..workflows import training
    from ..workflows.reference import Reference

    ready(output, data)
    chosen, wanted = training.parse_C(C), deciding.wanted(choosing.folds, seed, loss)
    choosing.check(chosen, wanted, scaling=scaling)
    memory.check(prove=choosing.prove)
    how = choosing.asked(seed, counting)
    settings: dict[str, Any] = dict(loss=loss, l1_ratio=l1_ratio, tol=tol, seed=seed)
    asked: dict[str, Any] = columns.asked(reading) | dict(weighing=counting.weighing())
    refused = {"--max-memory": memory.max_memory, "--prove": choosing.prove, "--test-share": test_share}
    cluster.check(refused | {"an aim of --threshold, or --calibrate,": wanted.takes_folds}, checkpoint)
    scaled = scaling and training.is_scaled(loss, chosen, asked["degree"])
    elsewhere = dict(class_weight=counting.by_class(), reference=counting.reference, wanted=wanted)
    elsewhere |= dict(intercept=intercept, scaled=scaled)
    if cluster:
        settings |= elsewhere | dict(C=chosen, choosing=how, checkpoint=checkpoint)
        return _fit_on_cluster(cluster, data, target, settings | asked, output, json)
    if memory.max_memory is not None:
        settings |= elsewhere | dict(test_share=test_share, choosing=how)
        settings |= dict(output=output, scratch=memory.scratch, resume=memory.resume)
        return _fit_in_parts(data, target, chosen, memory.max_memory, settings | asked, json)
    asked |= dict(scaled=scaled, keep_frame=chosen is None or wanted.takes_folds)
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
        reference = Reference.chosen(counting.reference, examples.encoding, penalised=model._statement().penalised)
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
    from ..persistence.writing import save  # all of which load scikit-learn: it is there by now
    from ..workflows import summaries, training

    n, d = examples.X.shape
    waiting.on(f"fitting {many(n, 'row')}, {many(d, 'feature')}")
    with helpers(1) as pool:  # beside the fit, which leaves a processor idle now and then
        hashed = None if output is None else pool.submit(training.hashed, examples)
        suspicious = pool.submit(training.doubts, examples, model)
        spread = pool.submit(deviations, examples.X, examples.weight)
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
    if held is None:
        return None
    from ..analysis.evaluation import evaluate

    return evaluate(model, held.X, held.y)


def _print_fit(facts: Any, model: Any, choice: Any, output: Path | None, json: bool, measured: Any) -> int:
    from ..workflows import summaries

    record, text = summaries.fit_record(facts, model, choice, output), summaries.fit_text(facts, model, choice, output)
    if measured is not None:
        from ..workflows import evaluating

        for remark in evaluating.counted_once(facts.weighing, facts.weighing):
            note(remark)
        record["test"] = evaluating.evaluation_record(measured)
        text = f"{text}\n\ntest rows, which the fit did not see: {evaluating.evaluation_text(measured)}"
    show(record, text, json)
    return 0 if record["proven"] else 1


def _fit_in_parts(
    data: str, target: str | None, C: float | None, max_memory: str, settings: dict[str, Any], json: bool
) -> int:
    """Fit a file larger than memory."""
    from ..persistence.writing import save
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
        found.folder.release()
    else:
        found.folder.remove()
    return _print_fit(found.facts, found.model, found.choice, output, json, found.measured)


def _fit_on_cluster(
    cluster: Cluster,
    data: str,
    target: str | None,
    settings: dict[str, Any],
    output: Path | None,
    json: bool,
) -> int:
    """Fit files that the workers of a cluster read."""
    from ..persistence.writing import save
    from ..workflows import on_clusters
    from ..workflows.request import Request

    request = Request(data, target, **settings)
    on_clusters.files_of(data)  # before a cluster is started for nothing
    with Waiting("starting") as waiting, cluster.session() as session:
        note_dashboard(session)
        found = on_clusters.fit_on_cluster(request, session, waiting.say)
    if output is not None:
        save(found.model, output, data=found.data, encoding=found.encoding)
    for remark in (*found.facts.notes, *found.facts.doubts):
        note(remark)
    return _print_fit(found.facts, found.model, found.choice, output, json, None)


def separable(
    data: Training,
    *,
    target: Target = None,
    positive: str | None = None,
    grouped: Grouped = GROUPED,
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
    from ..workflows.reference import Reference

    with Waiting(f"reading {data}") as waiting:
        examples = prepare(data, target, keep_frame=True, weighing=grouped.weighing(), **columns.asked(reading))
        y = two_classes(examples, positive)
        waiting.on("looking for a plane, and for a proof that there is none")
        # Estimates are relative to a level of each category, as in `fit --C inf`; whether a plane separates stays.
        reference = Reference.chosen([], examples.encoding, penalised=not estimates)
        X, names = reference.features(examples.own_numbers(), examples.encoding)
        found = separability(X, y, time_limit=time_limit)
        record = {"verdict": found.verdict, "separable": found.separable, "proof": found.to_dict()}
        text = told(found, names, len(y), examples.numbers)
        if estimates:
            waiting.on("following the likelihood to its supremum")
            limit = maximum_likelihood(X, y, examples.weight, feature_names=names, time_limit=time_limit)
            record["estimates"] = dict(zip([*names, "intercept"], limit.verdicts, strict=True))
            record["reference"] = reference.levels
            text = f"{text}\n{reference.remark()}" if reference.levels else text
            record["supremum"], text = list(limit.supremum), f"{text}\n{limit}"
    show(record, text, json, notes=examples.notes)
    return 0


def doctor(
    data: Annotated[str | None, Parameter(allow_leading_hyphen=True)] = None,
    *,
    target: Target = None,
    grouped: Grouped = GROUPED,
    time_limit: float = 10.0,
    columns: Columns = COLUMNS,
    reading: Reading = READING,
    json: Json = False,
) -> int:
    """Diagnose a file on which a fit is slow or looks too good, or, without a file, this installation.

    Named are columns on other scales, far from zero, constant, collinear, or giving the answer away; classes that a
    plane separates; equal rows with other labels; a row or a column that decides all; too few rows; columns that are
    not understood, all of them; each with what to do. Without a file: versions, compiled kernels, threads.

    Parameters
    ----------
    data
        A file, as for `linsep fit`.
    time_limit
        Seconds to look for a plane that separates the classes.
    """
    if data is None:
        from .showing import installation

        return installation(json)
    from ..workflows.diagnosing import diagnosis
    from ..workflows.preparation import prepare

    with Waiting(f"reading {data}") as waiting:
        odd: list[Any] = []
        asked = dict(keep_frame=True, weighing=grouped.weighing(), odd=odd) | columns.asked(reading)
        examples = prepare(data, target, **asked).written_out()
        waiting.on("looking for what makes a fit slow or suspicious")
        found = diagnosis(examples, time_limit, odd)
    show(found.to_dict(), for_commands(found), json, notes=examples.notes)
    return 0


def compare(
    data: Training,
    *,
    target: Target = None,
    test: str | None = None,
    grouped: Grouped = GROUPED,
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
    from ..estimators._specification import columns_named
    from ..workflows.comparing import verdict_on, verdict_text
    from ..workflows.preparation import encoded, prepare
    from ..workflows.summaries import finite

    with Waiting(f"reading {data}") as waiting:
        trials = grouped.weighing()
        examples = prepare(data, target, keep_frame=True, weighing=trials, **columns.asked(reading)).written_out()
        others = None if test is None else encoded(test, examples.encoding, target, reading.hints(), weighing=trials)
        others = None if others is None else others.written_out()
        waiting.on("fitting every loss")
        further = {} if others is None else dict(X_test=others.X, y_test=others.y)
        with columns_named(examples.encoding.names):
            table = side_by_side(examples.X, examples.y, C=C, tol=tol, random_state=seed, **further)
        waiting.on("looking for a plane, and for a proof that there is none")
        verdict = verdict_on(examples)
        table = table if verdict is None else table.judged(verdict.separable)
    rows = [row | {"note": for_commands(row["note"])} for row in table.to_dict()]
    record = {"rows": finite(rows), "verdict": None if verdict is None else verdict.verdict}
    show(record, for_commands(f"{table}{verdict_text(verdict, len(examples.y))}"), json, notes=examples.notes)
    return 0 if all(row.proven for row in table if row.loss not in ("zero_one", "perceptron")) else 1


def replay(
    data: Training,
    *,
    target: Target = None,
    output: Output | None = None,
    loss: str = "perceptron",
    solver: str = "auto",
    order: Literal["random", "cyclic", "worst"] | None = None,
    C: Annotated[float | None, Parameter(name="--C")] = None,
    schedule: str | None = None,
    eta: float | None = None,
    max_iter: int | None = None,
    steps: int | None = None,
    positive: str | None = None,
    grouped: Grouped = GROUPED,
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
        Where to: .html, .gif or .mp4; without it replay.html, or replay-2.html where that is taken.
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

    output = placed(output, "replay.html", data)
    check_ending(output)
    method = Method(loss, solver, order, C, schedule, eta, max_iter, intercept)
    with Waiting(f"reading {data}") as waiting:
        asked = dict(scaled=scaling, weighing=grouped.weighing()) | columns.asked(reading)
        examples = prepare(data, target, **asked).written_out()
        waiting.on("fitting, step by step")
        film = in_words_of(replay_examples(examples, method, steps=steps, positive=positive, seed=seed), for_replays)
        waiting.on(f"writing {output}")
        save(film, output)
    show(replay_record(film, output), replay_text(film, output), json)
    return 0
