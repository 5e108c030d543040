"""What is said of leave-one-out: the rows of a fit, each by a fit without it, and bounds beside the measured error."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from .._common.words import many
from ..analysis.leave_one_out import LeaveOneOut, leave_one_out
from ..data.sources import DataError
from .holding_out import are_others, rows_of_fit
from .preparation import Examples
from .summaries import finite


def check_rows_of_fit(found: Any, rows: Examples, option: str) -> None:
    """Raise unless these are the rows that a model was fitted on."""
    if found.data is None or are_others(found.data, rows):
        raise DataError(
            f"{rows.name} has not the rows of the fit, of which alone {option} can tell; give the file that the model "
            "was trained on"
        )


def left_out(found: Any, examples: Examples) -> LeaveOneOut:
    """Return leave-one-out on the rows of a model's fit; raise where these are others, or it is not known of it."""
    rows = rows_of_fit(found, examples)
    check_rows_of_fit(found, rows, "--leave-one-out")
    rows = rows.written_out()
    try:
        return leave_one_out(found.model, rows.X, rows.y, rows.weight)
    except ValueError as error:
        raise DataError(f"--leave-one-out: {error}") from error


def left_out_record(found: LeaveOneOut) -> dict[str, Any]:
    """Return the numbers for a program."""
    counts = {name: getattr(found, name) for name in ("mistakes", "error", "fewest", "most", "training", "refitted")}
    bounds = [{**asdict(one), "says_something": one.says_something} for one in found.bounds]
    return finite({"rows": len(found.wrong), **counts, "bounds": bounds})  # type: ignore[no-any-return]


def left_out_text(found: LeaveOneOut) -> str:
    """Return the same for people."""
    rows = many(len(found.wrong), "row")
    lines = [
        f"{rows} of the fit, each predicted by a fit without it",
        "",
        f"mistakes on the rows of the fit  {found.training:,}",
        f"mistakes left out                {found.mistakes:,} ({100 * found.error:.2f} % of the rows)",
        f"proven                           {found.proven}",
    ]
    if found.bounds:
        lines += ["", "bounds, which hold for any distribution and are no estimates"]
        lines += [line for one in found.bounds for line in (f"  {one.sentence}", f"    assumes: {one.assumes}")]
    return "\n".join(lines)
