"""`linsep fit --no-scaling --no-intercept`: the file's own numbers, a plane through the origin."""

import json

import numpy as np
import pandas as pd
import pytest

from command import run
from linsep import LogisticRegression


@pytest.fixture
def people(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"age": rng.normal(40, 9, 80).round(1), "income": rng.normal(3, 1, 80).round(2)})
    frame["kind"] = np.where(frame["age"] / 10 + frame["income"] + rng.normal(0, 0.5, 80) > 7, "yes", "no")
    frame.to_csv(tmp_path / "people.csv", index=False)
    return frame, tmp_path / "people.csv"


@pytest.mark.parametrize("intercept", [True, False])
def test_the_files_own_numbers_are_fitted(people, tmp_path, intercept):
    frame, path = people
    options = ["--no-scaling", *([] if intercept else ["--no-intercept"])]
    assert "(standardised)" in run("fit", path, "--target", "kind", "-o", tmp_path / "scaled.json")
    said = run("fit", path, "--target", "kind", *options, "-o", tmp_path / "model.json")
    assert "numbers     age, income\n" in said
    model = LogisticRegression(fit_intercept=intercept).fit(frame[["age", "income"]].to_numpy(), frame["kind"])
    assert "Verified" in run("verify", tmp_path / "model.json", path)
    shown = json.loads(run("explain", tmp_path / "model.json", "--json"))["planes"][0]
    found = {row["feature"]: row["coefficient"] for row in shown["coefficients"]}
    np.testing.assert_allclose([found["age"], found["income"]], model.coef_[0], rtol=1e-2)
    assert shown["intercept"] == pytest.approx(model.intercept_[0], rel=1e-2, abs=1e-12)


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (["--no-scaling", "--C", "auto"], "--C auto standardises in each of its parts"),
        (["--no-scaling", "--max-memory", "1GB"], "--no-scaling and --no-intercept take their data into memory"),
        (["--no-intercept", "--max-memory", "1GB"], "leave out --max-memory"),
    ],
)
def test_what_cannot_be_combined_is_refused(people, options, complaint):
    assert complaint in run("fit", people[1], "--target", "kind", *options, code=2)
