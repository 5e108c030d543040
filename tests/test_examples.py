"""Every script in examples/ runs, draws, and shows what its documents say."""

import re
import runpy
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.text import Text

from linsep.palette import LIGHT, LOSSES

pytestmark = pytest.mark.slow

FOLDER = Path(__file__).parent.parent / "examples"
SCRIPTS = sorted(path.stem for path in FOLDER.glob("*.py"))


def run(name, monkeypatch):
    """Run a script; return its variables."""
    monkeypatch.setattr(plt, "show", lambda: None)
    monkeypatch.setenv("LINSEP_DATA", "")  # the same as none
    return runpy.run_path(str(FOLDER / f"{name}.py"))


def words(ax):
    return [text.get_text() for text in ax.texts]


def check_gradient_descent(v):
    np.testing.assert_allclose(v["run"].history.iterates[1:3], [[0.58, 0.3], [0.63, 0.52]], atol=0.01)
    assert [text for text in words(v["above"]) if text.isdigit()] == ["0", "1", "2", "3", "4"]
    assert all(number in words(v["table"])[0] for number in ("(0.5858, 0.3000)", "(0.6369, 0.5237)"))


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
    assert len(v["fig"].axes) == 1
    assert not any(mark in text.get_text() for text in v["ax"].get_legend().get_texts() for mark in ("cross", "circle"))


def check_zero_one_is_flat(v):
    flat = np.diff(v["landscape"].zero_one, axis=1) == 0
    assert flat.mean() > 0.8
    assert v["exact"].proven_
    # The path is of the risk that is drawn: it goes down on it all the way.
    z = np.where(v["y"] == 1, 1, -1)[:, None] * (v["X"] @ v["landscape"].path.T)
    risk = np.logaddexp(0, -z).mean(axis=0)
    assert (np.diff(risk) < 0).all()
    assert v["landscape"].name == "mean of log(1 + e^(−z))"
    assert (np.diff(v["stairs"]["zero_one"]) == 0).mean() > 0.9
    assert v["stairs"]["zero_one"].min() * 24 == pytest.approx(v["exact"].n_mistakes_)


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
    soft, hard = v["display"].turned.values()
    assert hard > 1.5 * soft
    # The soft margin is the hinge loss and has its colour; the hard margin takes none that another loss has.
    colours = {name: line.get_color() for name, line in v["display"].lines_[0].items()}
    assert colours["soft margin"] == LIGHT.series[LOSSES["hinge"]]
    assert colours["hard margin"] not in [LIGHT.series[place] for place in LOSSES.values()]


def check_soft_margin(v):
    weak, strong = v["displays"].values()
    assert len(weak.support) > len(strong.support)
    for display in (weak, strong):  # one key serves both panels, so how many there are is said by each
        assert f"{len(display.support)} support vectors" in display.ax_.get_title()
    assert not any(
        "(" in text.get_text() for key in v["fig"].legends for text in key.get_texts() if "vector" in text.get_text()
    )


def check_step_sizes(v):
    assert list(v["display"].verdicts.values()) == ["too small", "right", "too large"]


def check_stopping(v):
    assert v["early"].n_iter_ < v["full"].n_iter_ / 5
    upright = [line.get_xdata()[0] for line in v["ax"].lines if len(set(line.get_xdata())) == 1]
    assert upright == [v["early"].n_iter_, v["full"].n_iter_]
    assert len(v["fig"].axes) == 1


def check_best_so_far(v):
    lines = v["display"].lines_
    assert {line.get_color() for line in lines.values()} == {LIGHT.series[LOSSES["hinge"]]}
    for what in ("objective", "zero_one"):
        now = lines["hinge", what].get_ydata()
        best = lines["hinge", "best" if what == "objective" else "best_zero_one"].get_ydata()
        np.testing.assert_allclose(best[1:], np.minimum.accumulate(now[1:]))


def check_novikoff(v):
    assert 5 < v["model"].mistakes_ <= v["model"].best_mistake_bound_
    assert words(v["left"])[-3:].count("γ") == 1
    assert abs(v["nearest"] @ v["normal"]) == pytest.approx(v["gamma"])


def check_two_bounds(v):
    assert (v["made"] <= v["own_bound"]).all()
    assert (v["made_by_lecture"] <= v["lecture_bound"]).all()
    assert (v["made"] > v["lecture_bound"]).any(), "the lecture's bound is not of b ← b + y"


def check_cost_of_a_step(v):
    for loss in ("perceptron", "hinge", "logistic"):
        (full_cost, full), (cost, risk) = (v["reached"][loss, name] for name in ("full gradient", "one example"))
        assert full_cost[0] == v["n"]
        assert cost[-1] == full_cost[-1]
        assert risk[cost <= v["n"]][-1] < full[0], "one pass of single steps does more than one step of a full gradient"


def check_losses(v):
    lines = {name.partition(":")[0]: line for name, line in v["every"].lines_.items()}
    for display in v["pairs"].values():
        for name, line in display.lines_.items():
            assert line.get_color() == lines[name.partition(":")[0]].get_color()
    assert len({line.get_color() for line in lines.values()}) == len(lines)


def check_perceptron_steps(v):
    assert len(v["shown"]) == 6
    assert all(v["y"][r.example] in (-1, 1) for r in v["shown"])


def check_digits(v):
    assert v["side"] == 28
    assert 0.96 < v["accuracy"]["least squares"] < v["accuracy"]["perceptron"], "marginally worse"


CHECKS = {name.removeprefix("check_"): check for name, check in list(globals().items()) if name.startswith("check_")}


@pytest.mark.parametrize("name", SCRIPTS)
def test_the_example_runs_and_draws(name, monkeypatch):
    variables = run(name, monkeypatch)
    figures = [plt.figure(number) for number in plt.get_fignums()]
    assert figures
    assert all(any(ax.has_data() or ax.texts for ax in figure.axes) for figure in figures)
    for figure in figures:
        check_projection(figure)
        check_nothing_hides(figure)
    if name in CHECKS:
        CHECKS[name](variables)


def check_projection(figure):
    """A figure fills a slide of 13.33 by 7.5 inches, its type has 14 points, and nothing is drawn in perspective."""
    figure.draw_without_rendering()
    width, height = figure.get_size_inches()
    enlarged = min(13.34 / width, 7.55 / height)
    assert 13.34 / width <= 7.55 / height, "it is as wide as a slide"
    said = [text for text in figure.findobj(Text) if text.get_visible() and text.get_text().strip()]
    assert [text.get_text() for text in said if text.get_fontsize() * enlarged < 14] == []
    assert all(ax.name != "3d" for ax in figure.axes)
    edges = figure.get_window_extent()
    for text in [title for ax in figure.axes for title in (ax.title, ax.xaxis.label) if title.get_text().strip()]:
        box = text.get_window_extent()
        assert edges.x0 - 1 <= box.x0 < box.x1 <= edges.x1 + 1, text


def check_nothing_hides(figure):
    """No words lie on others or on the key, and no line that the key names runs behind it."""
    for ax in figure.axes:
        keys = [key.get_window_extent() for key in [ax.get_legend()] if key]
        texts = [text for text in ax.texts if text.get_visible() and text.get_text().strip()]
        boxes = [Text.get_window_extent(text) for text in texts]  # of an annotation the words alone, without its arrow
        for k, box in enumerate(boxes):
            others = [*boxes[:k], *keys]
            assert not any(box.overlaps(other) for other in others), (ax.get_title(), texts[k].get_text())
        named = [line for line in ax.lines if not line.get_label().startswith("_")]
        for line in named:
            drawn = line.get_transform().transform_path(line.get_path())
            assert not any(drawn.intersects_bbox(box, filled=False) for box in keys), (ax.get_title(), line)


def test_one_loss_has_one_colour_in_every_example(monkeypatch):
    colours = {}
    for name in ("losses", "losses_by_label", "stopping", "zero_one_is_flat", "outliers_least_squares"):
        run(name, monkeypatch)
        for number in plt.get_fignums():
            for line in (line for ax in plt.figure(number).axes for line in ax.lines):
                for loss in ("logistic", "zero-one", "hinge", "perceptron", "least squares"):
                    if line.get_label().startswith(loss) and "unchanged" not in line.get_label():
                        colours.setdefault(loss, set()).add(line.get_color())
        plt.close("all")
    assert len(colours) == 5
    assert all(len(found) == 1 for found in colours.values()), colours


def test_every_example_is_in_the_list():
    listed = set(re.findall(r"`(\w+)\.py`", (FOLDER / "README.md").read_text("utf-8")))
    assert sorted(listed) == SCRIPTS
    assert set(CHECKS) <= set(SCRIPTS)
