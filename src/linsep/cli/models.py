"""Commands that use a model: predict, evaluate, verify, explain, report, export."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

from .._common.words import many
from .options import CLUSTER, READING, Cluster, Json, Labels, Model, Output, Reading, Several, Source, placed, ready
from .speech import Waiting, note, note_dashboard, print_json, show


def predict(
    model: Model,
    data: Source,
    *,
    output: Output | None = None,
    proba: bool = False,
    keep: Several = (),
    reading: Reading = READING,
    json: bool = False,
) -> int:
    """Predict every row of a file, however long it is.

    Parameters
    ----------
    data
        A file with the columns that the model was trained on; - for standard input.
    output
        .csv, .tsv, .parquet, .arrow or .feather; without it CSV goes to standard output.
    proba
        Add a column for each class, called probability_ and the class: probability_yes.
    keep
        Columns of the file to carry through beside the predictions, one or several: --keep id name; by name or number.
        Those of text files stay text, but for numbers that the model takes.
    json
        Print how many rows were written where for a program; this takes -o.
    """
    from ..workflows.prediction import predict_file

    if json and output is None:
        raise ValueError("--json and the predictions would both go to standard output; say where these go with -o")
    ready(output, model, data)
    asked: dict[str, Any] = dict(proba=proba, keep=keep, hints=reading.hints())
    with Waiting() as waiting:
        asked |= dict(progress=lambda done: waiting.share("predicting", done, 0))
        rows, gaps = predict_file(_read(model), data, output, **asked)
    for remark in gaps.notes():
        note(remark)
    if json:
        print_json({"rows": rows, "output": str(output), **gaps.to_dict()})
    elif output is not None:
        print(f"{many(rows, 'prediction')} in {output}")
    return 0


def evaluate(
    model: Model,
    data: Source,
    *,
    target: Labels = None,
    sample_weight: str | None = None,
    leave_one_out: bool = False,
    reading: Reading = READING,
    json: Json = False,
) -> int:
    """Measure how good a model is on rows with known labels, each number with a 95 % confidence interval.

    Parameters
    ----------
    data
        Rows that the model was not trained on, all of which are taken into memory; - for standard input.
    sample_weight
        The column that says how much each row counts.
    leave_one_out
        Of the file that the model was trained on: how many of its rows a fit without the row gets wrong, between
        which proven numbers, and what support vectors, margins and dimension say of the error.
    """
    from ..analysis import evaluation
    from ..data.encoding import from_dict
    from ..workflows.evaluating import counted_once, evaluation_record, evaluation_text, weights_of
    from ..workflows.gaps import Gaps
    from ..workflows.holding_out import unseen_rows, weighing_of
    from ..workflows.labels import check_known, check_labels
    from ..workflows.preparation import encoded
    from ..workflows.weighing import Weighing

    if leave_one_out and sample_weight is not None:
        raise ValueError("--sample-weight would be ignored: --leave-one-out counts rows, weighed as in the fit")
    found = _read(model)
    if leave_one_out:
        return _leave_one_out(found, data, target, reading, json)
    with Waiting(f"reading {data}") as waiting:
        weighing = weighing_of(found, target)
        weighing = weighing if sample_weight is None or not weighing.weights else Weighing()
        asked: dict[str, Any] = dict(keep_frame=True, weighing=weighing, others=True)
        examples = encoded(data, from_dict(found.encoding), target, reading.hints(), **asked)
        check_labels(examples.encoding, found.model.classes_.tolist(), examples.lacking)
        check_known(examples, found.model.classes_)
        examples, known = unseen_rows(found, examples)
        given, examples = examples.weighing, examples.written_out()
        weight = weights_of(examples, sample_weight)
        gaps = Gaps(examples.encoding)
        gaps.add(examples.frame)
        waiting.on("measuring")
        asked = dict(threshold=found.threshold, sample_weight=weight)
        measured = evaluation.evaluate(found.model, examples.X, examples.y, **asked)
    record = evaluation_record(measured) | gaps.to_dict()
    known += counted_once(Weighing.of_model(found.encoding), given) if weight is None else []
    show(record, evaluation_text(measured), json, notes=[*examples.notes, *known, *gaps.notes()])
    return 0


def _leave_one_out(found: Any, data: str, target: Labels, reading: Reading, json: bool) -> int:
    from ..workflows.leaving_out import left_out, left_out_record, left_out_text

    with Waiting(f"reading {data}") as waiting:
        examples = _rows_of_fit(found, data, target, reading)
        waiting.on("leaving rows out")
        measured = left_out(found, examples)
    show(left_out_record(measured), left_out_text(measured), json, notes=examples.notes)
    return 0


def _rows_of_fit(found: Any, data: str, target: Labels, reading: Reading) -> Any:
    """Return the rows of a file as the fit read and weighed them."""
    from ..data.encoding import from_dict
    from ..workflows.labels import check_known, check_labels
    from ..workflows.preparation import encoded
    from ..workflows.weighing import Weighing

    weighing = Weighing.of_model(found.encoding)
    examples = encoded(data, from_dict(found.encoding), target, reading.hints(), weighing=weighing)
    check_labels(examples.encoding, found.model.classes_.tolist(), examples.lacking)
    check_known(examples, found.model.classes_)
    return examples


def verify(
    model: Model,
    data: Source,
    *,
    target: Labels = None,
    scratch: Path | None = None,
    independent: bool = False,
    rows: Output | None = None,
    cluster: Cluster = CLUSTER,
    reading: Reading = READING,
    json: Json = False,
) -> int:
    """Check all that a model claims to be proven, from its training data alone.

    Exit code 0: all is as claimed and within tol; 1: it is not. With --independent, 0: both checks prove it; 1: one
    proves less than was asked for; 2: one does not verify it, or they disagree.

    Parameters
    ----------
    data
        The file it was trained on.
    scratch
        The folder for the encoded rows of a long file, which is not taken into memory.
    independent
        Check it a second time, by checker.py, a file of 500 lines that shares no code with the rest of linsep.
    rows
        Where to write the rows as the model takes them, for checker.py where linsep is not installed; CSV.
    """
    from ..workflows import checking_streams, second_opinion, summaries

    if rows is not None:
        ready(rows, model, data)
    found, both = _read(model), None
    cluster.check({"--independent": independent, "--rows": rows, "--scratch": scratch})
    with Waiting("starting" if cluster else f"reading {data}") as waiting:
        if cluster:
            outcome = _verified_on_cluster(model, found, data, target, cluster, waiting)
        elif not (independent or rows) and checking_streams.is_long(found.model, data):
            hints = reading.hints()
            outcome = checking_streams.verify_in_parts(model, found, data, target, hints=hints, scratch=scratch)
            outcome = checking_streams.of_encoded_rows(outcome)
        else:
            outcome, examples = _verified_in_memory(model, found, data, target, reading, waiting)
            rows_of_fit = examples.X, examples.y, examples.weight
            if rows is not None:
                second_opinion.write_rows(rows, *rows_of_fit, examples.encoding.target)
            if independent:
                waiting.on("verifying independently")
                both = second_opinion.check_independently(model, *rows_of_fit, outcome)
    if both is not None:
        show(summaries.verification_record(outcome) | both.record(), both, json)
        return both.code
    show(summaries.verification_record(outcome), outcome, json)
    return 0 if outcome and outcome.proven else 1


def _verified_on_cluster(
    model: Path, found: Any, data: str, target: str | None, cluster: Cluster, waiting: Waiting
) -> Any:
    """Check a model on files that the workers of a cluster read."""
    from ..workflows import on_clusters

    with cluster.session() as session:
        note_dashboard(session)
        return on_clusters.verify_on_cluster(model, found, data, target, session, waiting.say)


def _verified_in_memory(
    model: Path, found: Any, data: str, target: str | None, reading: Reading, waiting: Waiting
) -> tuple[Any, Any]:
    """Check a model on a file; return the outcome, and the rows that it was fitted on."""
    from ..certificates.proof import proof_of
    from ..data.encoding import from_dict
    from ..persistence.verification import verify as check
    from ..workflows import checking_streams, holding_out
    from ..workflows.labels import check_labels
    from ..workflows.preparation import encoded
    from ..workflows.weighing import Weighing

    weighing = Weighing.of_model(found.encoding)
    chosen = proof_of(found.model, "choice") is not None  # whose folds are encoded by their own rows
    examples = encoded(data, from_dict(found.encoding), target, reading.hints(), weighing=weighing, keep_frame=chosen)
    waiting.on("verifying")
    check_labels(examples.encoding, found.model.classes_.tolist(), examples.lacking)
    everything, examples = examples, holding_out.rows_of_fit(found, examples)
    outcome = check(model, examples.X, examples.y, examples.weight, split=examples.split if chosen else None)
    outcome = checking_streams.of_encoded_rows(outcome)
    outcome = checking_streams.of_labelled_rows(outcome, examples.lacking)
    outcome = holding_out.of_rows_of_fit(outcome, len(everything.y) - len(examples.y))
    return checking_streams.of_grouped_rows(outcome, examples), examples


def explain(
    model: Model, *, top: int = 20, path: Source | None = None, reading: Reading = READING, json: Json = False
) -> int:
    """Show what a model has learned: its coefficients, the heaviest first, and what is proven of it.

    Parameters
    ----------
    top
        How many coefficients to show; 0 for all.
    path
        The file that it was trained on, of a model with an L1 penalty: show instead which features get weight at which
        C on the way to the model's own.
    """
    from ..workflows.explaining import explanation_record, explanation_text

    if path is None and reading != READING:
        raise ValueError("how a file is read would be ignored: explain reads one with --path only")
    found = _read(model)
    if path is not None:
        from ..workflows.entering import entering, entering_record, entering_text

        with Waiting(f"reading {path}") as waiting:
            examples = _rows_of_fit(found, path, None, reading)
            waiting.on("following the path")
            entered = entering(found, examples)
        show(entering_record(found, entered), entering_text(found, entered, top or None), json, notes=examples.notes)
        return 0
    if json:  # every coefficient of every plane, which takes its time where there are many
        print_json(explanation_record(found))
    else:
        print(explanation_text(found, top or None))
    return 0


def report(
    model: Model,
    data: Source,
    *,
    target: Labels = None,
    output: Output | None = None,
    train: str | None = None,
    time_limit: float = 10.0,
    reading: Reading = READING,
    json: Json = False,
) -> int:
    """Write one HTML file on a model: what is proven, how good it is, its weights, its worst mistakes.

    Parameters
    ----------
    data
        Rows with known labels to measure it on, best ones that it was not trained on; all are taken into memory. - for
        standard input.
    output
        Where to write the page, which needs nothing else; without it report.html, or report-2.html where that is taken.
    train
        The file that it was trained on: separability and what to watch out for are then told of that.
    time_limit
        Seconds for the search for a proof of separability.
    """
    from .._common.atomic_file import write_atomically
    from ..report import render
    from ..workflows.reporting import report_model, report_record, report_text

    output = placed(output, "report.html", model, data, train)
    found = _read(model)
    with Waiting(f"reading {data} and measuring") as waiting:
        options: dict[str, Any] = dict(model=model, train=train, hints=reading.hints(), time_limit=time_limit)
        content = report_model(found, data, target, **options)
        waiting.on(f"writing {output}")
        write_atomically(output, render(content).encode())
    show(report_record(content, output), report_text(content, output), json, notes=content.notes)
    return 0


#: What an export is, by the ending of its name.
ENDINGS: dict[str, Literal["onnx", "sql", "python"]] = {".onnx": "onnx", ".sql": "sql", ".py": "python"}


def export(
    model: Model,
    *,
    to: Literal["onnx", "sql", "python"] | None = None,
    dialect: Literal["duckdb", "sqlite"] | None = None,
    output: Output | None = None,
    json: bool = False,
) -> int:
    """Write a model, its encoding included, in a form that runs without linsep.

    Parameters
    ----------
    to
        onnx; sql, what stands between SELECT and FROM; python, a file that needs nothing but Python. Without it as
        the ending of -o says: .onnx, .sql or .py.
    dialect
        With --to sql: whose functions may be used; text, and dates such as 31.01.2024, need those of DuckDB, and
        isotonic regression so as to leave rows in their order. Without it, what both read.
    output
        Where to; without it SQL and Python go to standard output.
    json
        Print where it went for a program; this takes -o.
    """
    from .._common.atomic_file import write_atomically
    from ..persistence.onnx_graph import to_onnx
    from ..persistence.python_source import to_python
    from ..persistence.sql import to_sql

    to = to or (None if output is None else ENDINGS.get(output.suffix.lower()))
    if to is None:
        raise ValueError("say to what: --to onnx, --to sql or --to python, or -o with a name in .onnx, .sql or .py")
    if output is None and (json or to == "onnx"):
        raise ValueError("say where to write with -o")
    if dialect is not None and to != "sql":
        raise ValueError("--dialect would be ignored: it belongs to --to sql")
    ready(output, model)
    found = _read(model)
    if to == "onnx":
        content = to_onnx(found)
    else:
        content = (to_python(found) if to == "python" else to_sql(found, dialect)).encode()
    method = getattr(getattr(found.model, "calibration_", None), "method", None)
    if to == "sql" and dialect is None and method == "isotonic":
        note("DuckDB may give the rows in another order: select a key beside them, or say --dialect duckdb")
    if output is None:
        print(content.decode())
        return 0
    write_atomically(output, content)
    record = {"output": str(output), "bytes": len(content), "format": to}
    show(record, f"{to} in {output}, {len(content):,} bytes", json)
    return 0


def _read(path: Path) -> Any:
    """Return what a model's file holds; raise where its encoding is not that of its planes."""
    from ..data.encoding import from_dict
    from ..persistence.model_file import read

    found = read(path)
    if found.encoding is not None:
        from_dict(found.encoding, found.model.n_features_in_)
    return found
