"""From file to model: `linsep` and its peers on the same files, process start to model file, as ratios in one run.

    LINSEP_DATA=<folder> python benchmarks/files.py [--size 1e9] [--only text reading csv] [--repeats 2]

It makes an environment of its own with linsep, scikit-learn, pandas and Vowpal Wabbit; LIBLINEAR's `train` is looked
for as `liblinear-train` (Debian: liblinear-tools) or `train`. Files of about two gigabytes are written to a temporary
folder. The ratios are printed, and written with all times to files.txt and files.json in benchmarks/out.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import race

HERE = Path(__file__).resolve().parent
PEERS = ("scikit-learn", "pandas", "joblib", "vowpalwabbit")
#: Of each loss: LIBLINEAR's solvers, each with its default tolerance, and Vowpal Wabbit's name.
LOSSES = {"logistic": ((0, 7), "logistic"), "hinge": ((3,), "hinge")}
SKLEARN_SCRIPT = """
import sys, joblib, pandas
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
table = pandas.read_csv(sys.argv[1])
y = table.pop("cover")
model = make_pipeline(StandardScaler(), LogisticRegression()).fit(table, y)
joblib.dump(model, sys.argv[2])
"""
READ = {
    "linsep": "from linsep.data.readers import read as load",
    "scikit-learn": "from sklearn.datasets import load_svmlight_file as load",
}


@dataclass(frozen=True)
class Line:
    """One comparison; `ratio` is how often ours fits into theirs, or a rate, and `goal` what it should be."""

    what: str
    peer: str
    ours: float
    theirs: float
    ratio: float
    goal: float
    unit: str = "×"
    note: str = ""

    def __str__(self) -> str:
        times = f"{self.ours:8.2f} s" + (f" {self.theirs:8.2f} s" if self.theirs else " " * 11)
        met = "met" if self.ratio >= self.goal else "NOT MET"
        shown = f"{self.ratio:10,.2f} {self.unit}" if self.unit == "×" else f"{self.ratio:10,.0f} {self.unit}"
        return f"{self.what:28} {self.peer:26}{times} {shown:<16} goal {self.goal:,g} {met:8} {self.note}"


class Bench:
    """Where files are, and how commands are run."""

    def __init__(self, args: argparse.Namespace, folder: Path) -> None:
        self.args, self.folder, self.data = args, folder, Path(args.data)
        self.bin = Path(sys.executable).parent

    def run(self, *command: str | Path, wait: float = 900.0) -> float | None:
        """Return the best of some runs; None where the command fails or takes too long."""
        best: float | None = None
        for _ in range(self.args.repeats):
            print("  ", *map(str, command), file=sys.stderr, flush=True)
            began = time.perf_counter()
            process = subprocess.Popen(
                [str(word) for word in command], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
            )
            try:
                _, complaint = process.communicate(timeout=wait)
            except subprocess.TimeoutExpired:
                process.kill()
                process.communicate()
                return None
            seconds = time.perf_counter() - began
            if process.returncode:
                print(complaint.decode()[-500:], file=sys.stderr)
                return None
            if best is None or seconds < best:
                best = seconds
        return best


# text: the Debian descriptions as LIBSVM text, over and over


def text_section(bench: Bench) -> Iterator[Line]:
    """Fit from LIBSVM text, against LIBLINEAR's `train` and one pass of Vowpal Wabbit."""
    X, y, repeats, svm, vw = debian_files(bench)
    for loss in bench.args.losses:
        solvers, vw_loss = LOSSES[loss]
        model = bench.folder / f"linsep-{loss}.json"
        ours = bench.run(bench.bin / "linsep", "fit", svm, "--loss", loss, "-o", model)
        if ours is None:
            continue
        reached = objective(X, y, repeats, loss, *linsep_plane(model))
        for name, theirs, plane in [
            *liblinear_runs(bench, svm, solvers, X.shape[1]),
            vw_run(bench, vw, vw_loss, X.shape[1]),
        ]:
            if theirs is None or plane is None:
                continue
            found = objective(X, y, repeats, loss, *plane)
            better = "lower" if reached < found else "NOT LOWER"
            note = f"objective {reached:,.1f}, {better} than {found:,.1f}"
            goal = 1.0 if name.startswith("Vowpal") else 2.0
            what = f"{loss}, {svm.stat().st_size / 1e9:.2f} GB"
            yield Line(what, name, ours, theirs, theirs / ours, goal, note=note)


def debian_files(bench: Bench) -> tuple[Any, Any, int, Path, Path]:
    """Write both files; return the examples as well, and how often they are repeated."""
    import datasets
    import numpy as np
    from sklearn.datasets import dump_svmlight_file

    X, y = datasets.debian_descriptions(bench.data)
    labels = np.where(y == 1, 1, -1)
    once = bench.folder / "once.svm"
    dump_svmlight_file(X, labels, str(once), zero_based=False)
    content = once.read_bytes()
    repeats = max(1, -(-int(bench.args.size) // len(content)))
    svm, vw = bench.folder / "debian.svm", bench.folder / "debian.vw"
    with svm.open("wb") as file:
        for _ in range(repeats):
            file.write(content)
    lines = b"".join(line.replace(b" ", b" | ", 1) for line in content.splitlines(keepends=True))
    with vw.open("wb") as file:
        for _ in range(repeats):
            file.write(lines)
    return X, labels, repeats, svm, vw


def objective(X: Any, y: Any, repeats: int, loss: str, w: Any, b: float) -> float:
    """½‖w‖² + Σ ℓ(z), C = 1, of all rows as often as the file has them."""
    import numpy as np

    z = y * (X @ w + b)
    losses = np.logaddexp(0.0, -z) if loss == "logistic" else np.maximum(0.0, 1.0 - z)
    return float(0.5 * (w @ w) + repeats * losses.sum())


def linsep_plane(path: Path) -> tuple[Any, float]:
    from linsep import load

    model = load(path)
    return model.coef_[0], float(model.intercept_[0])


Compared = tuple[str, float | None, tuple[Any, float] | None]


def liblinear_runs(bench: Bench, svm: Path, solvers: tuple[int, ...], d: int) -> Iterator[Compared]:
    train = shutil.which("liblinear-train") or shutil.which("train")
    if train is None:
        print("LIBLINEAR's train is not installed (Debian: liblinear-tools); it is left out", file=sys.stderr)
        return
    for solver in solvers:
        model = bench.folder / f"liblinear-{solver}.model"
        # -B 1: with an intercept, though a penalised one
        run = bench.run(train, "-q", "-s", str(solver), "-B", "1", svm, model)
        yield f"LIBLINEAR -s {solver}", run, None if run is None else liblinear_plane(model, d)


def liblinear_plane(path: Path, d: int) -> tuple[Any, float]:
    """Read w and the intercept's weight, turned so that +1 is the positive class."""
    import numpy as np

    header, _, weights = path.read_text().partition("\nw\n")
    values = np.array([float(line) for line in weights.split()])
    first = next(line for line in header.splitlines() if line.startswith("label")).split()[1]
    values = values if first == "1" else -values
    return values[:d], float(values[d])


def vw_run(bench: Bench, vw: Path, loss: str, d: int) -> Compared:
    """One pass with the defaults, in a table large enough for no two features to meet."""
    model = bench.folder / "vw.txt"
    command = [sys.executable, "-m", "vowpalwabbit", "--quiet", "-b", "20", "--loss_function", loss, "-d", vw]
    run = bench.run(*command, "-f", bench.folder / "vw.model")
    subprocess.run([*map(str, command), "--readable_model", str(model)], check=False, stdout=subprocess.DEVNULL)
    return "Vowpal Wabbit, one pass", run, None if run is None else vw_plane(model, d)


def vw_plane(path: Path, d: int) -> tuple[Any, float]:
    """Read "number:weight" lines: features have their own numbers, and what is beyond them is the intercept."""
    import numpy as np

    w, b = np.zeros(d), 0.0
    for line in path.read_text().splitlines():
        index, _, weight = line.partition(":")
        if index.isdigit() and weight:
            if 1 <= int(index) <= d:
                w[int(index) - 1] = float(weight.split()[0])
            else:
                b = float(weight.split()[0])
    return w, b


# reading: LIBSVM text alone


def reading_section(bench: Bench) -> Iterator[Line]:
    """Read LIBSVM text into a matrix, in a process that has its libraries loaded."""
    if not (bench.folder / "debian.svm").exists():
        debian_files(bench)
    part = bench.folder / "part.svm"
    content = (bench.folder / "once.svm").read_bytes()
    part.write_bytes(content * max(1, int(min(bench.args.size, 2e8)) // len(content)))
    seconds = {}
    for name, load in READ.items():
        script = f"import sys, time\n{load}\nt = time.perf_counter()\nload(sys.argv[1])\nprint(time.perf_counter() - t)"
        runs = [
            subprocess.run([sys.executable, "-c", script, str(part)], capture_output=True, text=True, check=True)
            for _ in range(bench.args.repeats)
        ]
        seconds[name] = min(float(run.stdout) for run in runs)
    ours, theirs = seconds["linsep"], seconds["scikit-learn"]
    rate = f"{part.stat().st_size / ours / 1e6:,.0f} MB/s"
    yield Line("LIBSVM text into a matrix", "load_svmlight_file", ours, theirs, theirs / ours, 5.0, note=rate)


# csv: covtype


def covtype_file(bench: Bench) -> tuple[Path, int]:
    """Write covtype with a header, class 2 against the rest; return the file and its rows."""
    table, rows = bench.folder / "covtype.csv", 0
    with gzip.open(bench.data / "covtype.data.gz", "rt") as lines, table.open("w") as file:
        file.write(",".join([*(f"x{j}" for j in range(54)), "cover"]) + "\n")
        for line in lines:
            if values := line.strip():
                numbers, _, kind = values.rpartition(",")
                file.write(f"{numbers},{int(kind == '2')}\n")
                rows += 1
    return table, rows


def csv_section(bench: Bench) -> Iterator[Line]:
    """Fit from CSV against pandas and scikit-learn, and predict the same file."""
    table, rows = covtype_file(bench)
    model, script = bench.folder / "covtype.json", bench.folder / "script.py"
    script.write_text(SKLEARN_SCRIPT)
    ours = bench.run(bench.bin / "linsep", "fit", table, "--target", "cover", "-o", model)
    theirs = bench.run(sys.executable, script, table, bench.folder / "covtype.joblib")
    if ours is not None and theirs is not None:
        ratio = theirs / ours
        yield Line("covtype from CSV", "pandas + scikit-learn", ours, theirs, ratio, 3.0)
    predicted = bench.run(bench.bin / "linsep", "predict", model, table, "-o", bench.folder / "out.csv")
    if predicted is not None:
        yield Line("predict covtype's CSV", "", predicted, 0.0, rows / predicted, 300_000, "rows/s")


SECTIONS: dict[str, Callable[[Bench], Iterator[Line]]] = {
    "text": text_section,
    "reading": reading_section,
    "csv": csv_section,
}


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=os.environ.get("LINSEP_DATA"), help="folder with the data sets")
    parser.add_argument("--size", type=float, default=1e9, help="bytes of LIBSVM text [1e9]")
    parser.add_argument("--only", nargs="+", choices=SECTIONS, help="some sections")
    parser.add_argument("--losses", nargs="+", choices=LOSSES, default=list(LOSSES))
    parser.add_argument("--repeats", type=int, default=2, help="times are the least of so many")
    parser.add_argument("--scratch", type=Path, help="where the temporary folder is made")
    parser.add_argument("--env", type=Path, default=HERE / ".venv-files", help="where the environment is made and kept")
    parser.add_argument("--no-install", action="store_true", help="use the environment as it is")
    parser.add_argument("--out", type=Path, default=HERE / "out", help="folder for files.txt and files.json")
    args = parser.parse_args()
    if args.data is None or not Path(args.data).is_dir():
        parser.error("--data (or LINSEP_DATA) must name the folder with the data sets")
    return args


def install(env: Path) -> None:
    """Make the environment once, and put linsep as it is now into it every time."""
    if not race.python_of(env).exists():
        race.venv.create(env, with_pip=True)
        for peer in PEERS:
            race.pip(env, peer)
    race.pip(env, f"{HERE.parent}[cli]", f"-Cbuild-dir={env.resolve() / 'build'}")


def main() -> None:
    args = arguments()
    if not race.inside(args.env):
        if not args.no_install:
            install(args.env)
        python = str(race.python_of(args.env))
        os.execv(python, [python, *sys.argv])
    lines: list[Line] = []
    with tempfile.TemporaryDirectory(dir=args.scratch) as folder:
        bench = Bench(args, Path(folder))
        for name, section in SECTIONS.items():
            if args.only is None or name in args.only:
                for line in section(bench):
                    print(line, flush=True)
                    lines.append(line)
    args.out.mkdir(parents=True, exist_ok=True)
    (args.out / "files.txt").write_text("".join(f"{line}\n" for line in lines))
    (args.out / "files.json").write_text(json.dumps([asdict(line) for line in lines], indent=2) + "\n")


if __name__ == "__main__":
    main()
