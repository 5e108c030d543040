"""The files that pages talk of, as they stand for a reader's own; and the blocks of a page, run one after the other."""

import csv
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import numpy as np
import pandas as pd

import linsep
from customers import customers
from pages import serving

#: A block that is run, or the reason why it is not.
BLOCK = re.compile(
    r"(?:<!-- not run: (?P<why>[^\n]+) -->\n)?^ *```(?P<kind>python|sh|console|bash)\n(?P<text>.*?)^ *```", re.M | re.S
)
#: What makes the environment that tests run in.
INSTALLING = ("pip install", "python3 -m venv")


def cells(path):
    """Write the tumours of scikit-learn, as docs/start.md does."""
    from sklearn.datasets import load_breast_cancer

    data = load_breast_cancer()
    rows = ([*row, data.target_names[k]] for row, k in zip(data.data, data.target, strict=True))
    with open(path, "w", newline="") as file:
        csv.writer(file).writerows([[*data.feature_names, "diagnosis"], *rows])


def messages(path, n=400):
    """Write messages, one in five of them unwanted."""
    rng = np.random.default_rng(0)
    wanted = "see you at the station tonight|call me when you are home|the meeting is moved to ten|thanks for dinner"
    unwanted = "win a free prize now|claim your cash reward today|free entry text win to|urgent your prize is waiting"
    lines = [(kind, said) for kind, texts in (("ham", wanted), ("spam", unwanted)) for said in texts.split("|")]
    with open(path, "w", newline="") as file:
        write = csv.writer(file)
        write.writerow(["kind", "message"])
        for _ in range(n):
            spam = rng.random() < 0.2
            kind, said = lines[4 * spam + rng.integers(4)]
            words = said.split() + list(
                rng.choice(["ok", "please", "today", "free", "you", "and", "number", "later"], 4)
            )
            write.writerow([kind, " ".join(rng.permutation(words))])


def write_files(folder):
    """Write every file that a page reads without having written it."""
    cells(folder / "cells.csv")
    messages(folder / "messages.csv")
    people = customers(600).drop(columns="kind").rename(columns={"income": "savings", "bought": "churned"})
    people.head(500).to_csv(folder / "customers.csv", index=False)
    people.tail(100).to_csv(folder / "test.csv", index=False)
    numbered = people.assign(
        id=np.arange(600), income=np.where(people["savings"] + people["age"] / 30 > 1.5, "high", "low")
    )
    numbered.drop(columns="churned").head(500).to_csv(folder / "people.csv", index=False)
    numbered.drop(columns=["churned", "income"]).tail(100).to_csv(folder / "new.csv", index=False)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(5000, 4))
    huge = pd.DataFrame(X, columns=list("abcd")).assign(y=(X.sum(axis=1) + rng.normal(size=5000) > 0).astype(int))
    huge.to_parquet(folder / "huge.parquet")
    (folder / "data").mkdir()
    for k, part in enumerate((huge[:3000], huge[3000:])):
        part.to_parquet(folder / "data" / f"{k}.parquet")
    pd.DataFrame({"x": X[:60, 0], "y": X[:60, 1], "kind": huge["y"][:60]}).to_csv(folder / "points.csv", index=False)
    doses = pd.DataFrame({"dose": np.tile([1.0, 2.0, 4.0, 8.0], 2), "sex": np.repeat(["f", "m"], 4), "n": 20})
    doses.assign(died=[1, 4, 9, 13, 2, 6, 12, 18]).to_csv(folder / "doses.csv", index=False)
    (folder / "checker.py").write_text(Path(linsep.__file__).with_name("checker.py").read_text("utf-8"), "utf-8")


def blocks(page):
    """Return (kind, text, why it is not run) of each block of code on a page."""
    found = BLOCK.finditer(Path(page).read_text("utf-8"))
    return [(block["kind"], dedent(block["text"]), block["why"]) for block in found]


def run_page(page, folder):
    """Run a page's blocks in a folder with its files, Python in one namespace; return how many there were."""
    write_files(folder)
    names, run = {"__name__": "page"}, [block for block in blocks(page) if block[2] is None]
    for kind, text, _ in run:
        if kind == "python":
            exec(compile(text, f"{page}: {text.splitlines()[0]}", "exec"), names)
        else:
            run_shell(text, folder)
    return len(run)


def run_shell(text, folder):
    """Run commands as a reader would; a page that is served is opened, and ended."""
    place = {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}", "COLUMNS": "120"}
    for line in text.replace("\\\n", " ").splitlines():
        if line.startswith("linsep play"):
            with serving(*(word for word in shlex.split(line, comments=True)[2:] if word != "--no-browser")):
                pass
        elif line.strip() and not line.startswith(INSTALLING):
            done = subprocess.run(
                ["bash", "-euc", line], cwd=folder, env=os.environ | place, capture_output=True, text=True, check=False
            )
            assert done.returncode == 0, (line, done.stdout[-800:], done.stderr[-1500:])
            assert "Traceback" not in done.stderr
