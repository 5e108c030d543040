"""Calibrated probabilities: the Brier score of support vector machines against logistic regression's, on held-out rows.

    python benchmarks/calibrating.py [--data FOLDER] [--only adult debian]

Every line is one data set and one C: for both models 1, the default, or chosen by cross-validation of five folds on the
training rows (logistic regression by log loss, the machine by accuracy). It has the Brier score of logistic regression,
that of `LinearSVC` by both methods of `linsep.calibrate` (five folds, as `linsep fit --calibrate` takes them), and how
much worse these are. Adult is measured on its own test file, columns encoded as the command encodes them; of the Debian
packages, sections for programmers against the rest, the packages of every fifth source are held out, since siblings of
one source repeat each other's text.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import os
import tempfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import datasets
import numpy as np
from sklearn.metrics import brier_score_loss
from sklearn.model_selection import StratifiedKFold

from linsep import LinearSVC, LinearSVCCV, LogisticRegression, LogisticRegressionCV, calibrate
from linsep.workflows.preparation import encoded, prepare

#: How much worse a calibrated machine may be.
ALLOWED = 0.002
Rows = tuple[Any, Any, Any, Any]


def adult(folder: Path) -> Rows:
    """Return training and test rows of Adult, whose test file ends its labels in a dot."""
    from linsep.data.readers import Hints

    with tempfile.TemporaryDirectory() as place:
        for name in ("adult.data", "adult.test"):
            rows = [line.rstrip(".") for line in (folder / name).read_text().splitlines() if line.count(",") == 14]
            (Path(place) / f"{name}.csv").write_text("\n".join(rows) + "\n")
        hints = Hints(header=False)
        train = prepare(Path(place) / "adult.data.csv", "-1", hints=hints)
        test = encoded(Path(place) / "adult.test.csv", train.encoding, None, hints)
    return train.X, train.y, test.X, test.y


def debian(folder: Path) -> Rows:
    """Return descriptions of packages, those of every fifth source as test rows."""
    X, y = datasets.debian_descriptions(folder)
    with gzip.open(folder / "debian_packages.tsv.gz", "rt", encoding="utf-8", newline="") as file:
        sources = [package["source"] for package in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)]
    test = np.array([zlib.crc32(source.encode()) % 5 == 0 for source in sources])
    return X[~test], y[~test], X[test], y[test]


SETS: dict[str, Callable[[Path], Rows]] = {"adult": adult, "debian": debian}


def lines(name: str, folder: Path) -> list[str]:
    """Return what is measured of one data set."""
    X, y, X_test, y_test = SETS[name](folder)
    folds, found = StratifiedKFold(5, shuffle=True, random_state=0), []

    def score(model: Any) -> float:
        return float(brier_score_loss(y_test, model.predict_proba(X_test)[:, 1], pos_label=model.classes_[1]))

    for which in ("1", "auto"):
        logistic: Any = LogisticRegression()
        machine: Any = LinearSVC()
        if which == "auto":
            logistic.C = LogisticRegressionCV(Cs=9, cv=folds, scoring="neg_log_loss").fit(X, y).C_
            machine.C = LinearSVCCV(Cs=9, cv=folds).fit(X, y).C_
        best = score(logistic.fit(X, y))
        machine.fit(X, y)
        told = [f"{name:8} C {which:4} ({logistic.C:g}, {machine.C:g}): logistic {best:.5f}"]
        for method in ("sigmoid", "isotonic"):
            one = score(calibrate(machine, X, y, method, cv=folds))
            told.append(f"{method} {one:.5f} ({one - best:+.5f}, {'ok' if one - best <= ALLOWED else 'NOT ok'})")
        found.append(", ".join(told))
    return found


def main() -> None:
    """Print a line a data set and C."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", type=Path, default=os.environ.get("LINSEP_DATA"))
    parser.add_argument("--only", nargs="+", choices=SETS, default=list(SETS))
    asked = parser.parse_args()
    if asked.data is None:
        parser.error("say where the data are with --data, or in LINSEP_DATA")
    for name in asked.only:
        print("\n".join(lines(name, Path(asked.data))), flush=True)


if __name__ == "__main__":
    main()
