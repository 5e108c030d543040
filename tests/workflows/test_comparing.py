"""`compare` and `separable` say the same of a file, in its own numbers: zero errors are claimed where proven."""

import numpy as np
import pandas as pd
import pytest

from command import run, run_json
from linsep.analysis.comparison import Comparison, Row


@pytest.mark.parametrize("trial", range(4))
@pytest.mark.parametrize("degree", [1, 2])
def test_the_two_commands_never_disagree(tmp_path, trial, degree):
    rng = np.random.default_rng(trial)
    X = rng.integers(0, 4, (14, 2)) * [0.1, 1.0] + [0.0, 1e4 * (trial % 2)]
    score = X @ rng.standard_normal(2)
    X[rng.random((14, 2)) < 0.15 * (trial % 3 == 0)] = np.nan
    y = score > np.median(score)
    y[0] ^= trial % 3 == 1
    pd.DataFrame(X, columns=["a", "b"]).assign(y=y).to_csv(tmp_path / "t.csv", index=False)
    words = tmp_path / "t.csv", "--target", "y", "--numeric", "a,b", "--degree", degree
    verdict = run_json("separable", *words)["verdict"]
    record = run_json("compare", *words, "--C", "1e4")
    assert record["verdict"] == verdict
    best = next(row for row in record["rows"] if row["loss"] == "zero_one")
    if best["proven"] and best["errors"] == 0:
        assert verdict == "separable"
    if verdict != "separable" and best["errors"] == 0:
        assert not best["proven"]
        assert "due to rounding" in best["note"]
    if verdict == "separable" and best["errors"]:
        assert "a plane without mistakes exists" in best["note"]


def test_standardised_numbers_are_not_what_is_proven_of_the_file(tmp_path):
    """Three points of a line, the one between of the other class: rounded apart, they seem to be separable."""
    rng = np.random.default_rng(1)
    rows = [(a, b, a + b > 0.5) for a, b in rng.integers(0, 9, (40, 2)) / 10]
    rows += [(0.1, 0.4, True), (0.4, 0.1, True), (0.2, 0.3, False), (0.3, 0.2, False)]
    pd.DataFrame(rows, columns=["a", "b", "y"]).to_csv(tmp_path / "t.csv", index=False)
    words = tmp_path / "t.csv", "--target", "y", "--numeric", "a,b"
    assert run_json("compare", *words, "--C", "1e6")["verdict"] == run_json("separable", *words)["verdict"]
    assert "proven: " in run("compare", *words)


def test_a_proof_settles_none_and_one_error():
    def judged(errors, separable):
        row = Row("zero_one", errors=errors, relative_gap=float(errors > 0), proven=errors == 0)
        return Comparison([row], {}, 10, 0).judged(separable)["zero_one"]

    assert judged(0, True).proven
    assert not judged(0, False).proven
    assert "rounding" in judged(0, False).note
    assert judged(1, False).proven
    assert not judged(1, True).proven
    assert not judged(2, False).proven
