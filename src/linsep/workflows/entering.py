"""What is said of the path of a model's features: which of them an L1 penalty takes up at which C."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from .._common.words import cut, many
from ..data.encoding import from_dict
from ..data.sources import DataError
from ..selection.path import Entering, regularization_path
from .holding_out import rows_of_fit
from .leaving_out import check_rows_of_fit
from .preparation import Examples
from .summaries import finite

#: Of names, what is shown.
WIDEST = 40


def entering(found: Any, examples: Examples) -> list[Entering]:
    """Return when features enter on the way to a model's C, from the rows of its fit; raise where none does."""
    statement = found.model._statement()
    if not statement.in_force[0].l1:
        raise DataError(
            "--path tells which features a penalty with L1 takes up as C grows, and this model was fitted without; "
            "`linsep fit --l1-ratio 1` has one"
        )
    rows = rows_of_fit(found, examples)
    check_rows_of_fit(found, rows, "--path")
    try:
        path = regularization_path(rows.X, rows.y, found.model, C_max=statement.C, sample_weight=rows.weight)
    except RuntimeError as error:  # a proof for every C that takes too many fits, or none that floats can give
        raise DataError(f"--path cannot be proven for these rows: {error}") from error
    return path.entering(from_dict(found.encoding).names)


def entering_record(found: Any, entered: list[Entering]) -> dict[str, Any]:
    """Return it for a program."""
    return finite({"C": found.model._statement().C, "entering": [asdict(one) for one in entered]})  # type: ignore[no-any-return]


def entering_text(found: Any, entered: list[Entering], top: int | None) -> str:
    """Return it for people, the first to enter first."""
    C, d, shown = found.model._statement().C, found.model.n_features_in_, entered[:top]
    lines = [f"{len(entered):,} of {many(d, 'feature')} get weight on the way to C={C:g}, the first ones first", ""]
    width = max([len(cut(one.feature, WIDEST)) for one in shown] + [len("feature")])
    lines.append(f"{'feature':{width}} {'from C':>10} {'not yet at':>10}")
    for one in shown:
        left = f"   none again from {', '.join(f'{C:.3g}' for C in one.leaves)}" if one.leaves else ""
        lines.append(f"{cut(one.feature, WIDEST):{width}} {one.C:10.3g} {one.after:10.3g}{left}")
    rest = len(entered) - len(shown)
    return "\n".join([*lines, *([f"… and {rest:,} more (--top 0 for all)"] if rest else [])])
