"""From a model file and a table to its report: the table's own columns, scales and rows in place of features."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .._common.words import many
from ..certificates.data_hash import data_hash, differs
from ..data.encoding import TableEncoding, from_dict
from ..data.readers import Hints
from ..data.sources import DataError
from ..persistence.model_file import ModelFile
from ..report import Content, compute
from .evaluating import counted_once
from .explaining import importance_in
from .holding_out import are_others, rows_of_fit, some, split_of, weighing_of
from .labels import check_known, check_labels
from .preparation import Examples, encoded
from .reference import Reference
from .summaries import finite
from .weighing import Weighing


def report_model(
    found: ModelFile,
    data: str | Path,
    target: str | None,
    *,
    model: Path,
    train: str | Path | None = None,
    hints: Hints | None = None,
    time_limit: float = 10.0,
) -> Content:
    """Return what a report of a model says.

    Parameters
    ----------
    found : ModelFile
    data : str or Path
        The file to measure it on.
    target : str or None
        The column with the labels; without it the one that the model was trained on.
    model : Path
        The file of the model, for the command that checks it again.
    train : str or Path, optional
        The file that it was fitted on.
    hints : Hints, optional
        How the files are written.
    time_limit : float, default=10
        Seconds for the search for a proof of separability.
    """
    encoding = from_dict(found.encoding)
    asked: dict[str, Any] = dict(keep_frame=True, weighing=weighing_of(found, target))
    given = encoded(data, encoding, target, hints, **asked, others=True)
    rows = given.written_out()
    check_labels(encoding, found.model.classes_.tolist(), rows.lacking)
    check_known(rows, found.model.classes_)
    asked |= dict(weighing=Weighing.of_model(found.encoding))
    fitted = None if train is None else _fitted_on(found, encoded(train, encoding, target, hints, **asked))
    split, said = split_of(found), ""
    if split is not None and split.is_of(found, rows):
        fitted, rows, train = some(rows, ~split.test), some(rows, split.test), data
        said = split.sentence(Path(rows.name).name)
    unseen = None if found.data is None else are_others(found.data, given if split is None else rows)
    train = data if train is None and unseen is False else train
    is_table = isinstance(encoding, TableEncoding)
    scaled = encoding.original_scale(found.model.coef_, found.model.intercept_)
    reference = Reference.of_model(found.encoding)
    scaled = reference.told(scaled, encoding)
    return compute(
        found.model,
        rows.X,
        rows.y,
        training=None if fitted is None else (fitted.X, fitted.y),
        unseen=unseen,
        names=encoding.names,
        sources=encoding.origins,
        origins=encoding.origins,
        known=importance_in(found),
        per_unit=(scaled.coef, scaled.intercept) if is_table else None,
        unit_notes=scaled.notes,
        relative=reference.weights(found.model, encoding) if is_table else None,
        cells=_cells(rows) if is_table else None,
        numbers=rows.numbers,
        training_numbers=None if fitted is None else fitted.numbers,
        said_of_rows=said,
        file_rows=(fitted or rows).file_rows if is_table else None,
        threshold=found.threshold,
        title=f"{type(found.model).__name__} on {Path(rows.name).name}",
        recheck=_recheck(model, train, target, hints or Hints()),
        notes=[*rows.notes, *counted_once(Weighing.of_model(found.encoding), given.weighing)],
        time_limit=time_limit,
    )


def _fitted_on(found: ModelFile, examples: Examples) -> Examples:
    """Return the examples of the fit, those that were counted written out; raise where these are others."""
    examples = rows_of_fit(found, examples)
    given = data_hash(examples.X, examples.y, examples.weight, found.data)
    if found.data is not None and (difference := differs(found.data, given)):
        raise DataError(f"{examples.name}: not what the model was fitted on ({difference}); give that file to --train")
    return examples.written_out()


def _cells(rows: Examples) -> Any:
    frame = rows.frame
    assert frame is not None, "encoded(…, keep_frame=True) keeps the rows"

    def cells(i: int) -> Mapping[str, Any]:
        """Return a row of the file without its label: first what the model uses, then the rest."""
        row = frame.slice(i, 1).to_pylist()[0]
        row.pop(rows.encoding.target, None)
        used = rows.encoding.needed if isinstance(rows.encoding, TableEncoding) else []
        return {name: row[name] for name in dict.fromkeys([*used, *row])}

    return cells


def _recheck(model: Path, train: str | Path | None, target: str | None, hints: Hints) -> str:
    """Return the command, with what has to be said of the file again: what else was said the model remembers."""
    data = "TRAINING_DATA" if train is None or str(train) == "-" else str(train)
    said = {"target": target, "encoding": None if hints.encoding == Hints().encoding else hints.encoding}
    said |= {"delimiter": hints.delimiter, "sheet": hints.sheet}
    options = [word for name, value in said.items() if value is not None for word in (f"--{name}", value)]
    return shlex.join(["linsep", "verify", str(model), data, *options])


def report_record(content: Content, output: Path) -> dict[str, Any]:
    """Return where a report is and what it says first."""
    measures = {name: one.value for name, one in content.evaluation.measures.items()}
    return finite(  # type: ignore[no-any-return]
        {
            "output": str(output),
            "bytes": output.stat().st_size,
            "rows": content.evaluation.rows,
            "proven": content.is_proven,
            **measures,
            "mistakes": content.n_mistakes,
            "separability": content.separability,
            "suspects": [suspect.message for suspect in content.suspects],
        }
    )


def report_text(content: Content, output: Path) -> str:
    """Return the same for people."""
    found = content.evaluation
    lines = [
        f"proven      {'yes' if content.is_proven else 'no'}: {content.proof[0]}",
        f"accuracy    {found.measures['accuracy'].value:.4f} on {many(found.rows, 'row')}, "
        f"{many(content.n_mistakes, 'mistake')}",
        *(f"watch out   {suspect.message}" for suspect in content.suspects),
        f"report      {output}, {output.stat().st_size:,} bytes",
    ]
    return "\n".join(lines)
