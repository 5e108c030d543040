"""From a model file and a table to its report: the table's own columns, scales and rows in place of features."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..certificates.data_hash import data_hash, differs
from ..data.encoding import TableEncoding, from_dict
from ..data.readers import Hints
from ..data.sources import DataError
from ..persistence.model_file import ModelFile
from ..report import Content, compute
from .labels import check_labels
from .preparation import Examples, encoded
from .summaries import finite


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
    rows = encoded(data, encoding, target, hints, keep_frame=True)
    check_labels(encoding, found.model.classes_.tolist(), rows.lacking)
    fitted = None if train is None else _fitted_on(found, encoded(train, encoding, target, hints, keep_frame=True))
    is_table = isinstance(encoding, TableEncoding)
    scaled = encoding.original_scale(found.model.coef_, found.model.intercept_)
    return compute(
        found.model,
        rows.X,
        rows.y,
        training=None if fitted is None else (fitted.X, fitted.y),
        unseen=None if found.data is None else bool(differs(found.data, data_hash(rows.X, rows.y))),
        names=encoding.names,
        sources=encoding.sources,
        per_unit=(scaled.coef, scaled.intercept) if is_table else None,
        cells=_cells(rows) if is_table else None,
        file_rows=(fitted or rows).file_rows if is_table else None,
        threshold=found.threshold,
        title=f"{type(found.model).__name__} on {Path(rows.name).name}",
        recheck=_recheck(model, train, target),
        notes=rows.notes,
        time_limit=time_limit,
    )


def _fitted_on(found: ModelFile, examples: Examples) -> Examples:
    """Return the examples; raise where they are not the ones of the fit."""
    if found.data is not None and (difference := differs(found.data, data_hash(examples.X, examples.y))):
        raise DataError(f"{examples.name}: not what the model was fitted on ({difference}); give that file to --train")
    return examples


def _cells(rows: Examples) -> Any:
    frame = rows.frame
    assert frame is not None, "encoded(…, keep_frame=True) keeps the rows"

    def cells(i: int) -> Mapping[str, Any]:
        """Return a row of the file: first what the model uses, then the rest."""
        row = frame.slice(i, 1).to_pylist()[0]
        used = rows.encoding.needed if isinstance(rows.encoding, TableEncoding) else []
        return {name: row[name] for name in dict.fromkeys([*used, *row])}

    return cells


def _recheck(model: Path, train: str | Path | None, target: str | None) -> str:
    data = "TRAINING_DATA" if train is None or str(train) == "-" else shlex.quote(str(train))
    said = "" if target is None else f" --target {shlex.quote(target)}"
    return f"linsep verify {shlex.quote(str(model))} {data}{said}"


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
        f"accuracy    {found.measures['accuracy'].value:.4f} on {found.rows:,} rows, {content.n_mistakes:,} mistakes",
        *(f"watch out   {suspect.message}" for suspect in content.suspects),
        f"report      {output}, {output.stat().st_size:,} bytes",
    ]
    return "\n".join(lines)
