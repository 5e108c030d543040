"""Every script in examples/ runs, draws, and shows what its documents say."""

import re
import runpy
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pytest

FOLDER = Path(__file__).parent.parent / "examples"
SCRIPTS = sorted(path.stem for path in FOLDER.glob("*.py"))


def run(name, monkeypatch):
    """Run a script; return its variables."""
    monkeypatch.setattr(plt, "show", lambda: None)
    return runpy.run_path(str(FOLDER / f"{name}.py"))


def check_gradient_descent(v):
    np.testing.assert_allclose(v["run"].history.iterates[1:3], [[0.58, 0.3], [0.63, 0.52]], atol=0.01)


def check_tangent_plane(v):
    np.testing.assert_allclose(v["changes"], v["predicted"], atol=0.01)
    steepest = v["steps"][v["changes"].argmin()] / v["length"]
    np.testing.assert_allclose(steepest, -v["gradient"](v["P"]) / np.linalg.norm(v["gradient"](v["P"])), atol=1e-3)


def check_subgradients(v):
    assert all(v["below"].values())


def check_losses_by_label(v):
    for name in v["losses"]:
        np.testing.assert_allclose(v["curves"][name, -1], v["curves"][name, 1][::-1], atol=1e-12)


def check_geometric_margin(v):
    assert np.allclose(v["feet"] @ v["w"] + v["b"], 0)
    np.testing.assert_allclose(np.linalg.norm(v["X"] - v["feet"], axis=1), np.abs(v["gamma"]))
    assert (v["gamma"] < 0).sum() == 1


def check_feature_map(v):
    assert v["left"][0] > v["left"][-1] == 0


def check_overshooting(v):
    slow, right, over, shrinking = (v["J"](run.last) for run in v["runs"].values())
    assert right < 1e-6
    assert shrinking < 1e-3 < 0.5 < over
    assert slow > 1.0


def check_subgradient_descent(v):
    assert v["f"](v["shrinking"].last) < 0.01 < v["f"](v["constant"].last)


def check_outliers_least_squares(v):
    assert v["display"].turned["least squares"] > 15 > 1 > v["display"].turned["logistic"]


def check_zero_one_is_flat(v):
    flat = np.diff(v["landscape"].zero_one, axis=1) == 0
    assert flat.mean() > 0.8
    assert v["exact"].proven_


def check_convexity(v):
    assert {name: test.convex for name, test in v["verdicts"].items()} == {
        "(x − 1)² + 2": True,
        "perceptron loss": True,
        "zero-one loss": False,
    }


def check_separable_or_not(v):
    assert [found.verdict for found in v["verdicts"]] == ["separable", "overlap"]


def check_maximum_margin(v):
    assert max(v["margins"], key=v["margins"].get) == "maximum margin"
    assert v["margins"]["maximum margin"] == pytest.approx(v["models"]["maximum margin"].margin_)


def check_outlier_hard_margin(v):
    hard, soft = v["display"].turned.values()
    assert hard > 1.5 * soft


def check_soft_margin(v):
    weak, strong = v["displays"].values()
    assert len(weak.support) > len(strong.support)


def check_step_sizes(v):
    assert list(v["display"].verdicts.values()) == ["too small", "right", "too large"]


def check_stopping(v):
    assert v["settled"] < v["full"].n_iter_ / 5


def check_novikoff(v):
    assert 5 < v["model"].mistakes_ <= v["model"].best_mistake_bound_


def check_perceptron_steps(v):
    assert len(v["shown"]) == 6
    assert all(v["y"][r.example] in (-1, 1) for r in v["shown"])


def check_digits(v):
    assert all(model.score(v["X"][v["half"] :], v["y"][v["half"] :]) > 0.95 for model in v["models"].values())


CHECKS = {name.removeprefix("check_"): check for name, check in list(globals().items()) if name.startswith("check_")}


@pytest.mark.parametrize("name", SCRIPTS)
def test_the_example_runs_and_draws(name, monkeypatch):
    variables = run(name, monkeypatch)
    figures = [plt.figure(number) for number in plt.get_fignums()]
    assert figures
    assert all(any(ax.has_data() or ax.texts for ax in figure.axes) for figure in figures)
    if name in CHECKS:
        CHECKS[name](variables)


def test_every_example_is_in_the_list():
    listed = set(re.findall(r"`(\w+)\.py`", (FOLDER / "README.md").read_text("utf-8")))
    assert sorted(listed) == SCRIPTS
    assert set(CHECKS) <= set(SCRIPTS)
