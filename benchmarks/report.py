"""What the race writes: ratios as text, everything as JSON, and a picture."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from contest import TARGETS, Score, settled
from peers import LINSEP, Case

Fact = dict[str, Any]
FIVEFOLD = {("covtype", "hinge"), ("parity", "hinge")}
HEADER = """\
Seconds to a relative suboptimality, the fastest run of each solver's ladder of tolerances counting.
ratio = fastest peer / linsep; — where a solver did not get there, or was not there; > where every peer was stopped.
liblinear is timed on a prepared problem(), which is kind to it: "+ problem()" adds the time to prepare one.
P* is sure where two solvers agree on it to 1e-7 or linsep's certificate proves it to that; ? = nobody knows better.
"""


def verdict(case: Case, optimum: float, scores: list[Score]) -> list[Fact]:
    """Return one row for each target: linsep, the fastest peer, their ratio and the ratio aimed for."""
    return [race_row(case, optimum, scores, target) for target in TARGETS]


def race_row(case: Case, optimum: float, scores: list[Score], target: float) -> Fact:
    times = {score.solver: score.seconds(target, optimum) for score in scores}
    ours = times.pop(LINSEP.name, None)
    peers = {name: seconds for name, seconds in times.items() if seconds is not None}
    fastest = min(peers, key=lambda name: peers[name], default=None)
    theirs = peers[fastest] if fastest else given_up(scores)
    return dict(
        problem=case.problem,
        loss=case.loss,
        target=target,
        linsep=ours,
        peer=fastest,
        peer_seconds=theirs,
        ratio=theirs / ours if theirs and ours else None,
        at_least=fastest is None,
        settled=settled(optimum, scores),
        goal=goal(case),
        times={LINSEP.name: ours, **times, **with_problem(scores, target, optimum)},
    )


def put(facts: list[Fact], measured: list[Fact]) -> None:
    """Add what was measured of a problem and loss, in place of what was known of them."""

    def title(fact: Fact) -> tuple[str, str]:
        fact = fact.get("case", fact)
        return fact["problem"], fact["loss"]

    measured_now = {title(fact) for fact in measured}
    facts[:] = [fact for fact in facts if title(fact) not in measured_now] + measured


def given_up(scores: list[Score]) -> float | None:
    """Where no peer arrived: after how many seconds the first of those that might have was stopped."""
    return min((score.stopped for score in scores if score.stopped and score.solver != LINSEP.name), default=None)


def goal(case: Case) -> float:
    """Return the ratio to reach, on the problem itself and on all that is made of it."""
    case = replace(case, problem=case.problem.partition("/")[0].partition(",")[0])
    if case.problem in {"breast-cancer", "iris", "wine"}:
        return 1.0
    if case.loss == "softmax" and case.problem != "digits":
        return 3.0
    return 5.0 if (case.problem, case.loss) in FIVEFOLD else 2.0


def with_problem(scores: list[Score], target: float, optimum: float) -> dict[str, float | None]:
    """Return LIBLINEAR's times with those of building its problem added."""
    found = {}
    for score in scores:
        if score.solver.startswith("liblinear"):
            seconds = score.seconds(target, optimum)
            found[f"{score.solver} + problem()"] = None if seconds is None else seconds + score.prepare_seconds
    return found


def table(columns: list[str], rows: Iterable[Iterable[object]]) -> str:
    """Lay out a table in plain text, the first column to the left and the others to the right."""
    cells = [columns, *([text(cell) for cell in row] for row in rows)]
    widths = [max(len(row[k]) for row in cells) for k in range(len(columns))]
    lines = [
        "  ".join(
            cell.ljust(width) if k == 0 else cell.rjust(width)
            for k, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in cells
    ]
    return "\n".join([lines[0], "-" * len(lines[0]), *lines[1:]]) + "\n"


def text(cell: object) -> str:
    if cell is None:
        return "—"
    return f"{cell:.3g}" if isinstance(cell, float) else str(cell)


def bound(value: float | None, at_least: bool) -> str:
    return (">" if at_least and value is not None else "") + text(value)


def mark(value: float | None, met: bool) -> str:
    return "" if value is None else ("yes" if met else "NO")


def race_text(rows: list[Fact]) -> str:
    columns = ["problem", "loss", "target", "linsep s", "fastest peer", "peer s", "ratio", "goal", "met", "P*"]
    return HEADER + table(
        columns,
        (
            (
                row["problem"],
                row["loss"],
                f"{row['target']:.0e}",
                row["linsep"],
                row["peer"],
                bound(row["peer_seconds"], row["at_least"]),
                bound(row["ratio"], row["at_least"]),
                row["goal"],
                mark(row["ratio"], (row["ratio"] or 0.0) >= row["goal"]),
                "sure" if row["settled"] else "?",
            )
            for row in rows
        ),
    )


def summary_text(rows: list[Fact]) -> str:
    """Lay out the worst ratio and the geometric mean: of each loss, and over the problems made of each data set."""
    groups: dict[tuple[str, str, float], list[Fact]] = {}
    for row in rows:
        family = row["problem"].partition("/")[0].partition(",")[0]
        for name in (family, "all"):
            groups.setdefault((name, row["loss"], row["target"]), []).append(row)
    lines = []
    for (name, loss, target), chosen in sorted(groups.items(), key=lambda item: (item[0][0] == "all", item[0])):
        known = [row for row in chosen if row["ratio"]]
        if known:
            worst = min(known, key=lambda row: row["ratio"])
            mean = math.exp(sum(math.log(row["ratio"]) for row in known) / len(known))
            lines.append((f"{name} {loss}", f"{target:.0e}", len(known), mean, worst["ratio"], worst["problem"]))
    columns = ["made of", "target", "problems", "geometric mean", "worst", "which"]
    return "Fastest peer's time / linsep's\n" + table(columns, lines)


def solvers_text(rows: list[Fact]) -> str:
    """Lay out the seconds of every solver, a table for each problem and loss."""
    tables = []
    for easy, hard in zip(rows[::2], rows[1::2], strict=True):
        lines = ((name, seconds, hard["times"][name]) for name, seconds in easy["times"].items())
        tables.append(table([f"{easy['problem']} {easy['loss']}", *(f"s to {t:.0e}" for t in TARGETS)], lines))
    return "\n".join(tables)


def memory_text(facts: list[Fact]) -> str:
    rows = (
        (f["problem"], f["loss"], f["ratio"], f["goal"], mark(f["ratio"], (f["ratio"] or 0.0) <= f["goal"]))
        for f in facts
    )
    return "Peak memory of a linsep fit above the input / size of the input\n" + table(
        ["problem", "loss", "ratio", "at most", "met"], rows
    )


def predict_text(facts: list[Fact]) -> str:
    rows = ((f["kind"], f["columns"], f["rows"], f["ratio"], f["per_row"]) for f in facts)
    return "predict: scikit-learn's time / linsep's; linsep's cost per row / the same at the most rows\n" + table(
        ["input", "columns", "rows", "ratio", "per row"], rows
    )


def growth_text(facts: list[Fact]) -> str:
    rows = ((f["problem"], f["loss"], f["rows"], f["ratio"]) for f in facts)
    return "Growth: linsep's time / its time on half of the rows (at most 2)\n" + table(
        ["problem", "loss", "rows", "ratio"], rows
    )


def full_text(result: Fact) -> str:
    parts = [
        race_text(result["race"]),
        summary_text(result["race"]),
        solvers_text(result["race"]),
        memory_text(result["memory"]),
        predict_text(result["predict"]),
        growth_text(result["growth"]),
    ]
    return "\n".join(parts)


def runs(case: Case, optimum: float, scores: list[Score]) -> Fact:
    """Return everything that was measured on a case, for the JSON file."""
    return dict(case=asdict(case), optimum=optimum, scores=[asdict(score) for score in scores])


def write(result: Fact, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "race.txt").write_text(full_text(result), encoding="utf-8")
    (folder / "race.json").write_text(json.dumps(result, indent=1), encoding="utf-8")
    draw(result, folder / "race.png")


def draw(result: Fact, path: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, (left, right) = pyplot.subplots(1, 2, figsize=(13, 6), width_ratios=(2, 1), layout="constrained")
    draw_ratios(left, result["race"])
    draw_growth(right, result["growth"])
    figure.savefig(path, dpi=120)
    pyplot.close(figure)


def draw_ratios(axes: Any, rows: list[Fact]) -> None:
    titles = list(dict.fromkeys(f"{row['problem']} {row['loss']}" for row in rows))
    for k, target in enumerate(TARGETS):
        chosen = [row for row in rows if row["target"] == target]
        places = [place + 0.4 * k - 0.2 for place in range(len(titles))]
        # Bars begin at 1, where linsep and the fastest peer are level.
        lengths = [(row["ratio"] or 1.0) - 1.0 for row in chosen]
        bars = axes.barh(places, lengths, left=1.0, height=0.4, label=f"to {target:.0e}")
        axes.bar_label(bars, [bound(row["ratio"], row["at_least"]) for row in chosen], padding=3)
    for place, row in enumerate(rows[:: len(TARGETS)]):
        axes.plot([row["goal"]] * 2, [place - 0.4, place + 0.4], color="black", label="goal" if place == 0 else None)
    axes.axvline(1.0, color="gray", linewidth=0.8)
    axes.set_yticks(range(len(titles)), titles)
    axes.invert_yaxis()
    axes.set_xscale("log")
    axes.margins(x=0.1)
    axes.xaxis.set_major_formatter("{x:g}")
    axes.xaxis.set_minor_formatter("{x:g}")
    axes.set_xlabel("fastest peer's time / linsep's")
    axes.legend()


def draw_growth(axes: Any, facts: list[Fact]) -> None:
    for loss in dict.fromkeys(fact["loss"] for fact in facts):
        points = [(fact["rows"], fact["seconds"]) for fact in facts if fact["loss"] == loss and fact["seconds"]]
        if points:
            rows, seconds = zip(*points, strict=True)
            line = axes.loglog(rows, seconds, "o-", label=loss, base=2)[0]
            linear = [seconds[0] * n / rows[0] for n in rows]
            axes.loglog(rows, linear, ":", color=line.get_color(), label="proportional to the rows", base=2)
    axes.set_xlabel("rows of covtype")
    axes.set_ylabel("seconds of linsep to a gap of 1e-4")
    if axes.lines:
        axes.legend()
