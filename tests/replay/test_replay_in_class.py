"""What a student reads off a replay: what counts as a mistake, what is best, updates in numbers, axes with ticks."""

import warnings
from dataclasses import replace
from importlib.resources import files

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import StandardScaler

from command import run
from films import embedded, flat
from linsep import Perceptron, SGDClassifier
from linsep.replay import render, replay, save
from linsep.workflows.preparation import prepare
from linsep.workflows.replaying import Method, replay_examples, replay_text

LONG = "household income before taxes, in thousands a year and head, as reported"


@pytest.fixture(params=["perceptron", "hinge"])
def noisy(request, overlapping):
    """A film whose objective and errors go up and down, each at its own time."""
    rule = Perceptron(random_state=0, max_iter=10)
    descent = SGDClassifier("hinge", schedule=0.5, C=np.inf, max_iter=4, random_state=0)
    with pytest.warns(ConvergenceWarning):
        return replay(rule if request.param == "perceptron" else descent, *overlapping)


def test_m9_each_curve_shows_the_best_of_what_it_draws(noisy):
    frames = embedded(render(noisy))["frames"]
    for now, best in (("objective", "best"), ("zero_one", "best_errors")):
        assert frames[best][0] is None, "w = 0 is no plane"
        assert frames[best][1:] == np.minimum.accumulate(frames[now][1:]).tolist()


def test_m9_the_animations_best_line_never_lies_above_the_other(noisy):
    from matplotlib.figure import Figure

    from linsep.replay.animation import draw_objective

    axes = Figure().add_subplot()
    draw_objective(noisy, len(noisy.records) - 1, axes)
    now, best = (line.get_ydata() for line in axes.lines[1:3])
    assert (best[1:] <= now[1:]).all()
    assert (np.diff(best[1:]) <= 0).all()


def test_the_plane_that_is_best_so_far_says_by_what():
    assert replay(Perceptron(order="cyclic"), *flat(gap=6)).best_by == "fewest mistakes after any update"
    with pytest.warns(ConvergenceWarning):
        assert (
            replay(SGDClassifier("hinge", max_iter=1, random_state=0), *flat(gap=6)).best_by
            == "lowest objective of any step shown"
        )


def test_m9_the_curve_says_where_its_best_leaves_out_a_start_that_is_lower():
    # From 0 at w = 0 the risk goes up, and at the end of separable data it is 0 again: on the way the best lies above.
    data = embedded(render(replay(Perceptron(order="cyclic"), *flat(gap=6))))
    frames = data["frames"]
    assert frames["objective"][0] == frames["best"][-1] == 0 < max(frames["best"][1:])
    assert data["start_is_least"]
    with pytest.warns(ConvergenceWarning):
        never = replay(SGDClassifier("hinge", C=np.inf, stopping=None, max_iter=1, random_state=0), *flat(gap=6))
    assert not embedded(render(never))["start_is_least"]


@pytest.mark.slow
def test_m5_what_is_counted_as_a_mistake_is_told_apart_from_the_accuracy(browser, tmp_path):
    X, y = flat(40, gap=6)
    film = replay(Perceptron(order="cyclic"), X, y, tmp_path / "film.html")
    assert (film.on_plane[0], film.right[0], film.records[0].zero_one) == (40, (y == "no").sum(), 1.0)
    for k, (w, b) in enumerate((plane[:2], plane[2]) for plane in film.planes):
        predicted = np.where(X @ w + b > 0, "yes", "no")
        assert film.right[k] == (predicted == y).sum()
        if not film.on_plane[k]:
            assert film.records[k].zero_one == pytest.approx(1 - film.right[k] / 40)
    with browser.open(tmp_path / "film.html") as page:
        assert "z ≤ 0, on the wrong side or on the plane" in page.text("#errors-chart figcaption")
        page.press("Home")
        said = page.text("#status")
        assert "40 on the plane count as mistakes (z = 0), but are predicted as no" in said
        assert f"predictions are right for {film.right[0]} of 40" in said
        page.press("End")
        assert "0 of 40 on the wrong side." in page.text("#status")


def test_m10_the_update_is_written_out(browser, tmp_path):
    X, y = [[2.0, 1.0], [3.0, 4.0], [-1.0, 1.0]], ["yes", "yes", "no"]
    film = replay(Perceptron(order="cyclic"), X, y, tmp_path / "film.html")
    assert film.written[:3] == [
        "",
        "w = (0, 0) + (2, 1) = (2, 1), b = 0 + 1 = 1",
        "w = (2, 1) − (−1, 1) = (3, 0), b = 1 − 1 = 0",
    ]
    through = replay(Perceptron(order="cyclic", fit_intercept=False), X, y)
    assert (through.written[1], through.rule) == ("w = (0, 0) + (2, 1) = (2, 1)", "w ← w + y·x")
    with browser.open(tmp_path / "film.html") as page:
        page.press("Home")
        page.press("ArrowRight")
        assert page.text("#update") == "w ← w + y·x, b ← b + y: w = (0, 0) + (2, 1) = (2, 1), b = 0 + 1 = 1"


def test_m8_the_update_of_stochastic_descent_has_its_step_size():
    X, y = flat(gap=6)
    with pytest.warns(ConvergenceWarning):
        film = replay(SGDClassifier("hinge", schedule=0.5, C=np.inf, max_iter=1, random_state=0), X, y)
    x = X[film.records[1].example]
    assert film.written[1].startswith("w = (0, 0) ")
    assert f" 0.5·({x[0]:g}, {x[1]:g}) = ".replace("-", "−") in film.written[1]
    with pytest.warns(ConvergenceWarning):
        penalised = replay(SGDClassifier("hinge", C=1.0, max_iter=1, random_state=0), X, y)
    assert not any(penalised.written), "the penalty moves the plane as well"


def test_m11_one_bound_is_one_number_everywhere():
    from matplotlib.figure import Figure

    from linsep.display import NovikoffDisplay
    from linsep.replay.animation import draw_updates

    rng = np.random.default_rng(3)
    X = np.vstack([rng.normal(0, 1, (30, 2)), rng.normal(5, 1, (30, 2))])
    y = np.repeat([0, 1], 30)
    film, axes = replay(Perceptron(order="cyclic"), X, y), Figure().add_subplot()
    assert film.bound.value % 1 > 0.5, "rounding and cutting off differ"
    most, data = int(film.bound.value), embedded(render(film))
    assert data["bound"]["most"] == most
    assert f"(R/γ)² = {most:,} mistakes" in data["bound"]["sentence"]
    draw_updates(film, 1, axes)
    assert f"at most {most:,} (Novikoff)" in axes.get_title()
    shown = NovikoffDisplay.from_estimator(Perceptron(order="cyclic", record="update").fit(X, y))
    assert any(text.get_text().endswith(f"largest γ: {most:,}") for text in shown.ax_.get_legend().get_texts())


def test_the_page_opens_on_a_frame_that_shows_a_plane(browser, tmp_path):
    film = replay(Perceptron(order="cyclic"), *flat(gap=6), tmp_path / "film.html")
    assert film.opening == 1
    with browser.open(tmp_path / "film.html") as page:
        assert page.evaluate("state.frame") == 1
        assert page.evaluate("isPlane(frames.plane[state.frame])")
    far = np.array([[100.0, 100.0], [101.0, 100.0], [100.0, 101.0], [101.5, 101.5]])
    film = replay(Perceptron(order="cyclic"), far, [0, 0, 1, 1], steps=3)
    assert film.opening == len(film.records) - 1, "no plane is seen: the end is"


@pytest.mark.parametrize("width", [360, 1200])
def test_axes_have_ticks_and_names_are_not_cut(browser, tmp_path, width):
    save(replay(Perceptron(order="cyclic"), *flat(gap=6), feature_names=[LONG, LONG[::-1]]), tmp_path / "film.html")
    spy = """(() => { const told = [], draw = CanvasRenderingContext2D.prototype.fillText;
        CanvasRenderingContext2D.prototype.fillText = function (words, x, y) {
          told.push([this.canvas.id || this.canvas.parentElement.id, words, this.textAlign, x, y,
                     this.measureText(words).width, this.canvas.getBoundingClientRect().width]);
          draw.call(this, words, x, y); };
        behind = (canvas, pen, owner, draw) => draw(pen); // axes are drawn once and copied: here, once more
        show(1); return told; })()"""
    with browser.open(tmp_path / "film.html", width=width) as page:
        told = page.evaluate(spy)
        assert (page.text("#across"), page.text("#up")) == (f"→ {LONG}", f"↑ {LONG[::-1]}")
        assert page.overflow() == 0
    for where in ("picture", "objective-chart", "errors-chart", "updates-chart"):
        up = [float(words.replace("−", "-")) for place, words, align, *_ in told if (place, align) == (where, "right")]
        across = [words for place, words, align, *_ in told if (place, align) == (where, "center")]
        assert len(up) >= 3, where
        assert len(across) >= 3, where
        np.testing.assert_allclose(np.diff(up), up[1] - up[0])
    for _, words, align, x, _, long, whole in told:
        begin = x - {"left": 0, "center": long / 2, "right": long}[align]
        assert begin >= 0, words
        assert begin + long <= whole, words


def test_the_last_number_of_an_axis_is_not_cut(browser, tmp_path):
    script = files("linsep.replay").joinpath("drawing.js").read_text("utf-8")
    (tmp_path / "blank.html").write_text(f"<!doctype html><meta charset='utf-8'><script>{script}</script>")
    with browser.open(tmp_path / "blank.html") as page:
        ends = page.evaluate(
            """(() => { const pen = document.createElement("canvas").getContext("2d"), ends = [];
            const size = { width: 300, height: 100 }; pen.font = "16px sans-serif";
            const box = inset(pen, size, [0, 1]), at = { x: u => box.x + u / 50000 * box.width, y: v => v };
            pen.fillText = (words, x) => ends.push([words, x + pen.measureText(words).width / 2]);
            axes(pen, box, at, [0, 25000, 50000], []); return ends; })()"""
        )
    assert [words for words, _ in ends] == ["0", "25,000", "50,000"]
    assert max(end for _, end in ends) <= 300


def test_helpers_for_drawing_know_nothing_of_the_film(browser, tmp_path):
    script = files("linsep.replay").joinpath("drawing.js").read_text("utf-8")
    (tmp_path / "blank.html").write_text(f"<!doctype html><meta charset='utf-8'><script>{script}</script>")
    assert "film" not in script
    with browser.open(tmp_path / "blank.html") as page:
        assert page.evaluate("ticks(-1.03, 1.2, 5)") == [-1, -0.5, 0, 0.5, 1]
        assert page.evaluate("ticks(0, 0.3, 4)") == [0, 0.1, 0.2, 0.3]
        assert page.evaluate("ticks(7, 7, 4)") == [7]
        assert page.evaluate("decades(0.01, 1000, 3)") == [0.01, 1, 100]
        assert page.evaluate("short(-1234.56)") == "−1,235"
        assert page.evaluate("[...discriminant(gridOf({u: [0, 1], v: [0, 2]}), [1, 10, 0.5])]") == [
            0.5,
            1.5,
            20.5,
            21.5,
        ]
        strokes = page.evaluate(
            """(() => { const told = [], noted = name => (...where) => told.push([name, ...where]);
            const pen = new Proxy({}, { get: (_, name) => noted(name), set: () => true });
            const grid = gridOf({ u: [0, 1, 2], v: [0, 5] }), at = { x: u => u, y: v => v };
            contour(pen, at, grid, discriminant(grid, [1, 0, -0.5]), 0, { color: "plane" });
            return told.filter(([name]) => name.endsWith("To")); })()"""
        )
        assert sorted(stroke[0] for stroke in strokes) == ["lineTo", "moveTo"], "once, so that dashes stay dashes"
        assert sorted(stroke[1:] for stroke in strokes) == [[0.5, 0], [0.5, 5]]
        assert page.evaluate("reach([0, 7], false).up") == [0, 8]
        assert page.evaluate("reach([0.02, 900], true).ticks") == [0.01, 1, 100]
        assert page.problems == []


def test_m12_m13_a_warning_counts_rows_as_the_page_does():
    with pytest.warns(ConvergenceWarning):
        film = replay(
            Perceptron(order="cyclic", max_iter=5), np.array([[0.0, 0], [0, 1], [1, 0], [1, 1]]), [0, 1, 1, 0]
        )
    assert "½ of row 1 + ½ of row 4 = ½ of row 2 + ½ of row 3 = (0.5, 0.5)" in " ".join(film.notes)


# --- the command's units


def test_the_command_says_that_it_standardises_and_can_leave_it(tmp_path):
    X, y = flat(gap=6)
    pd.DataFrame({"a": 3 * X[:, 0] + 20, "b": X[:, 1], "kind": y}).to_csv(tmp_path / "a.csv", index=False)
    scaled = replay_examples(prepare(tmp_path / "a.csv", "kind"), Method(order="cyclic"))
    own = replay_examples(prepare(tmp_path / "a.csv", "kind", scaled=False), Method(order="cyclic"))
    raw = np.column_stack([3 * X[:, 0] + 20, X[:, 1]])
    (tmp_path / "film.html").touch()
    for film, points in ((scaled, StandardScaler().fit_transform(raw)), (own, raw)):
        radius = np.sqrt((points**2).sum(axis=1).max() + 1)
        assert f"R = {radius:.4g}" in film.bound.sentence
        said = "standardised" in replay_text(film, tmp_path / "film.html")
        assert said == (film is scaled) == ("columns" in dict(film.facts))
    assert "--no-scaling" in dict(scaled.facts)["columns"]
    assert own.scene.kind == "features"
    np.testing.assert_allclose(scaled.scene.points, own.scene.points)


def test_the_command_tells_mistakes_on_the_way_from_rows_that_are_wrong(tmp_path):
    X, y = flat(gap=6)
    pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "kind": y}).to_csv(tmp_path / "a.csv", index=False)
    film = replay_examples(prepare(tmp_path / "a.csv", "kind"), Method(order="cyclic"))
    (tmp_path / "film.html").touch()
    told = replay_text(film, tmp_path / "film.html")
    assert f"mistakes    {film.records[-1].updates:.0f} on the way, an update each\n" in told


@pytest.mark.parametrize("method", [Method(), Method("hinge"), Method("logistic", "gradient_descent")])
def test_no_intercept_goes_through_the_origin(method):
    assert method.estimator(0).fit_intercept
    assert not replace(method, intercept=False).estimator(0).fit_intercept


def test_both_options_are_there(tmp_path):
    X, y = flat(gap=6)
    pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "kind": y}).to_csv(tmp_path / "a.csv", index=False)
    words = ["replay", tmp_path / "a.csv", "--target", "kind", "--no-scaling", "--no-intercept"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        run(*words, "-o", tmp_path / "film.html")
    data = embedded((tmp_path / "film.html").read_text())
    assert data["rule"] == "w ← w + y·x"
    assert data["frames"]["plane"][-1][2] == 0


def test_a_fit_that_was_cut_short_says_at_which_step_of_the_axis(overlapping):
    film = replay(Perceptron(random_state=0, max_iter=1000), *overlapping, steps=50)
    last = film.records[-1].step
    assert last > 50  # most steps of the perceptron change nothing, and are not recorded
    assert f"The fit was stopped at step {last:,}, when 50 steps were recorded; by itself it would go on." in film.notes
