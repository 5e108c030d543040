"""The replay: what it shows, against a perceptron written out by hand and the fits' own histories; and in a browser."""

import base64
import json
import os
import re
import shutil
import subprocess
import sys
import warnings
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import Perceptron as ScikitPerceptron
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

from linsep import (
    HardMarginSVC,
    LeastSquaresClassifier,
    LinearClassifier,
    LinearSVC,
    LogisticRegression,
    Perceptron,
    SGDClassifier,
)
from linsep.data.encoding import MatrixEncoding
from linsep.replay import film as film_module
from linsep.replay import make_film, record_fit, render, replay, save, save_animation
from linsep.replay.animation import draw_picture
from linsep.replay.page import _bits, _numbers
from linsep.replay.recording import two_classes
from linsep.solvers import DualDescent, GradientDescent, PerceptronRule, StochasticDescent
from linsep.workflows.preparation import Examples
from linsep.workflows.replaying import Method, replay_examples

COMMAND = Path(sys.executable).with_name("linsep.exe" if os.name == "nt" else "linsep")
SETTINGS = settings(max_examples=50, deadline=None)


def flat(n=60, seed=0, gap=1):
    """Points of the plane with whole coordinates that a line separates."""
    rng = np.random.default_rng(seed)
    X = rng.integers(-9, 10, (8 * n, 2)).astype(np.float64)
    score = X @ [2.0, -3.0] + 1
    clear = np.flatnonzero(np.abs(score) > gap)[:n]
    return X[clear], np.where(score[clear] > 0, "yes", "no")


def circle(n=90, seed=1):
    rng = np.random.default_rng(seed)
    X = rng.normal(0, 1.3, (3 * n, 2))
    clear = np.flatnonzero(np.abs((X**2).sum(axis=1) - 1.6) > 0.3)[:n]
    return X[clear], ((X[clear] ** 2).sum(axis=1) > 1.6).astype(int)


def embedded(page):
    """What the page knows."""
    found = re.findall(r'<script type="application/json" id="film">(.*?)</script>', page, re.DOTALL)
    assert len(found) == 1
    return json.loads(found[0])


def wrong(data, k):
    bits = np.frombuffer(base64.b64decode(data["frames"]["wrong"][k]), dtype=np.uint8)
    return np.unpackbits(bits, bitorder="little")[: data["points"]["drawn"]].astype(bool)


def floats(values):
    return np.array([np.nan if value is None else value for value in values], dtype=np.float64)


# --- what is shown, against other computations


def perceptron_by_hand(X, y):
    """The lecture's perceptron, in order: after every mistake the plane, who caused it, and z before and after."""
    w, b, found = np.zeros(X.shape[1]), 0.0, []
    while True:
        mistakes = len(found)
        for i, (x, t) in enumerate(zip(X, y, strict=True)):
            before = t * (w @ x + b)
            if before <= 0:
                w, b = w + t * x, b + t
                found.append((w, b, i, before, t * (w @ x + b)))
        if len(found) == mistakes:
            return found


def test_m23_every_update_of_the_perceptron_is_there_with_the_example_that_causes_it():
    X, y = flat(gap=6)
    data = embedded(render(replay(Perceptron(order="cyclic"), X, y)))
    frames, points = data["frames"], data["points"]
    by_hand = perceptron_by_hand(X, np.where(y == "yes", 1, -1))
    updates = [k for k, cause in enumerate(frames["cause"]) if cause >= 0]
    assert len(updates) == len(by_hand) > 3
    for k, (w, b, i, before, after) in zip(updates, by_hand, strict=True):
        assert frames["plane"][k] == [*w, b]
        assert points["row"][frames["cause"][k]] == i
        assert (frames["before"][k], frames["after"][k]) == (before, after)
        place = frames["cause"][k]
        assert [points["u"][place], points["v"][place], points["positive"][place]] == [*X[i], y[i] == "yes"]
    assert frames["updates"][-1] == len(by_hand)
    assert data["classes"] == ["no", "yes"]


@pytest.mark.parametrize("order", ["random", "cyclic", "worst"])
def test_m23_wrong_examples_and_errors_are_those_of_the_plane_shown(order):
    X, y = flat(40, seed=2)
    data = embedded(render(replay(Perceptron(order=order, random_state=0), X, y)))
    frames, sign = data["frames"], np.where(y == "yes", 1, -1)
    for k, plane in enumerate(frames["plane"]):
        z = sign * (X @ plane[:2] + plane[2])
        np.testing.assert_array_equal(wrong(data, k), z <= 0)
        assert frames["zero_one"][k] == pytest.approx((z <= 0).mean(), rel=1e-5)
        assert frames["objective"][k] == pytest.approx(np.maximum(0, -z).mean(), rel=1e-5)
        assert frames["band"][k] == pytest.approx(max(0, z.min()), rel=1e-5)
    assert frames["zero_one"][-1] == 0


def test_frames_are_the_recorded_history(overlapping):
    X, y = overlapping
    settings = dict(loss="logistic", max_iter=3, stopping=None, random_state=4)
    with pytest.warns(ConvergenceWarning):
        model = SGDClassifier(**settings, record="update").fit(X, y)
    with pytest.warns(ConvergenceWarning):
        film = replay(SGDClassifier(**settings), X, y)
    history, frames = model.history_, embedded(render(film))["frames"]
    assert len(film.records) == len(history) > 100
    for column in ("step", "passes", "objective", "best", "zero_one", "step_size", "updates"):
        np.testing.assert_allclose(floats(frames[column]), history[column], rtol=1e-5)
    np.testing.assert_array_equal([record.example for record in film.records], history["example"])
    np.testing.assert_array_equal([record.iterate for record in film.records], history.iterates)


def test_m9_the_best_plane_so_far_is_shown_beside_the_current_one(overlapping):
    X, y = overlapping[0][:, :2], overlapping[1]
    with pytest.warns(ConvergenceWarning):
        film = replay(SGDClassifier("hinge", schedule=0.5, C=np.inf, max_iter=4, random_state=0), X, y)
    objective = np.array([record.objective for record in film.records])
    assert film.best_plane(0) is None
    for k in range(1, len(film.records)):
        expected = 1 + int(np.argmin(objective[1 : k + 1]))
        np.testing.assert_array_equal(film.best_plane(k), film.planes[expected])
    best = [record.best for record in film.records[1:]]
    assert best == sorted(best, reverse=True)
    assert objective[-1] > best[-1], "the last is not the best here"


def test_m9_the_perceptrons_best_has_the_fewest_mistakes(overlapping):
    with pytest.warns(ConvergenceWarning):
        film = replay(Perceptron(random_state=0, max_iter=10), *overlapping)
    errors = np.array([record.zero_one for record in film.records])
    np.testing.assert_array_equal(film.best_errors[1:], np.minimum.accumulate(errors[1:]))
    with pytest.warns(ConvergenceWarning):
        model = Perceptron(random_state=0, max_iter=10, record="update").fit(*overlapping)
    assert film.best_errors[-1] == pytest.approx(1 - model.score(*overlapping), abs=1 / len(overlapping[1]))


def test_m11_mistakes_stand_beside_their_bound():
    X, y = flat()
    film = replay(Perceptron(order="cyclic"), X, y)
    model = Perceptron(order="cyclic").fit(X, y)
    data = embedded(render(film))
    assert data["bound"]["value"] == model.best_mistake_bound_ >= data["frames"]["updates"][-1] == model.mistakes_ > 0
    R, gamma = np.sqrt((X**2).sum(axis=1).max() + 1), model.best_margin_
    assert data["bound"]["value"] == pytest.approx((R / gamma) ** 2)
    assert f"R = {R:.4g}" in data["bound"]["sentence"]
    assert f"γ = {gamma:.4g}" in data["bound"]["sentence"]
    assert data["mistakes"]


def test_m11_no_bound_where_no_plane_separates(overlapping):
    with pytest.warns(ConvergenceWarning, match="not linearly separable"):
        film = replay(Perceptron(order="cyclic"), *overlapping)
    data = embedded(render(film))
    assert data["bound"]["value"] is None
    assert "it is proven that no plane separates" in data["bound"]["sentence"]
    assert any("both convex hulls" in note for note in data["notes"])
    assert embedded(render(replay(LogisticRegression(), *overlapping)))["bound"] is None


@pytest.mark.parametrize(("eta", "word"), [(90.0, "too large"), (1e-7, "too small")])
def test_m20_a_wrong_step_size_is_said_on_top_of_the_page(overlapping, eta, word):
    solver = GradientDescent(eta, stopping=None, max_iter=60)
    with pytest.warns(ConvergenceWarning, match=word):
        film = replay(LinearClassifier("logistic", solver=solver), *overlapping)
    data = embedded(render(film))
    assert word in data["advice"]
    assert data["notes"] == []


SOLVED = {
    "newton": LogisticRegression(),
    "proximal_newton": LogisticRegression(l1_ratio=1.0),
    "dual": LinearClassifier("hinge", solver=DualDescent(1e-6), random_state=0),
    "multipliers": LinearSVC(),
    "gradient_descent": LinearClassifier("logistic", solver="gradient_descent"),
    "least_squares": LeastSquaresClassifier(),
    "no intercept": LogisticRegression(fit_intercept=False),
}


@pytest.mark.parametrize("name", SOLVED)
def test_any_solver_can_be_replayed_to_the_plane_it_reports(overlapping, name):
    X, y = overlapping
    recording = record_fit(SOLVED[name], X, y)
    film = make_film(recording)
    fitted = SOLVED[name].__class__(**SOLVED[name].get_params()).fit(X, y)
    w, b = recording.plane(film.records[-1].iterate)
    np.testing.assert_allclose(w, fitted.coef_[0], rtol=1e-9, atol=1e-12)
    assert b == pytest.approx(fitted.intercept_[0], rel=1e-9, abs=1e-12)
    assert [record.step for record in film.records] == sorted(record.step for record in film.records)
    assert name == "proximal_newton" or not film.planes[0].any(), "it begins at w = 0, unless the solver does not"
    best = film.best_plane(len(film.records) - 1)
    np.testing.assert_allclose(best, film.scene.coefficients(w, b), rtol=1e-9, atol=1e-12)
    assert all(record.example == -1 for record in film.records)


def test_the_hard_margin_ends_with_its_margin(separable):
    film = replay(HardMarginSVC(), *separable)
    w = HardMarginSVC().fit(*separable).coef_[0]
    assert film.records[-1].objective == pytest.approx(w @ w / 2)
    assert film.records[-1].zero_one == 0


@pytest.mark.parametrize(
    ("solver", "formula"),
    [
        (PerceptronRule(), "Σ max(0, −z)"),
        (StochasticDescent(max_iter=3, stopping=None), "½‖w‖² + Σ max(0, 1 − z)"),
        (GradientDescent(), "½‖w‖² + Σ max(0, 1 − z)"),
    ],
)
def test_a_solver_is_replayed_on_its_usual_loss(separable, solver, formula):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        film = replay(solver, *separable)
    assert ("minimised", formula) in film.facts
    assert len(film.records) > 2


def test_the_estimator_given_is_not_touched(separable):
    model = Perceptron(order="cyclic", warm_start=True).fit(*separable)
    before = dict(vars(model))
    film = replay(model, *separable)
    assert vars(model) == before
    assert film.records[0].iterate.tolist() == [0, 0, 0, 0]


def test_how_the_fit_ended_is_said(overlapping):
    ended = dict(replay(LogisticRegression(), *overlapping).facts)["ended"]
    assert ended.startswith("proven to be within")
    assert float(ended.split()[4]) <= 1e-4
    film = replay(LogisticRegression(C=np.inf), *overlapping)
    assert float(dict(film.facts)["ended"].split()[4]) <= 1e-4
    with pytest.warns(ConvergenceWarning):
        film = replay(Perceptron(keep="average", max_iter=3, random_state=0), *overlapping)
    assert dict(film.facts)["ended"] == "stopped after max_iter=3 (not converged)"
    assert any("the mean of all planes" in note for note in film.notes)


# --- the picture


def test_m23_through_a_feature_map_the_boundary_is_drawn_in_the_original_plane():
    X, y = circle()
    pipe = make_pipeline(PolynomialFeatures(2, include_bias=False), Perceptron(random_state=0))
    data = embedded(render(replay(pipe, X, y)))
    picture, frames = data["picture"], data["frames"]
    assert picture["kind"] == "map"
    pipe.set_params(perceptron__keep="last").fit(X, y)
    corners = np.column_stack([part.ravel() for part in np.meshgrid(picture["u"], picture["v"])])
    *w, b = frames["plane"][-1]
    g = np.tensordot(w, np.array(picture["basis"]), axes=1) + b
    np.testing.assert_allclose(g, pipe.decision_function(corners), rtol=1e-3, atol=1e-3)
    np.testing.assert_allclose(np.column_stack([data["points"]["u"], data["points"]["v"]]), X, rtol=1e-5)
    assert g.min() < 0 < g.max()


def test_a_feature_map_of_a_data_frame_keeps_its_names():
    X, y = circle()
    frame = pd.DataFrame(X, columns=["width", "height"])
    film = replay(make_pipeline(StandardScaler(), PolynomialFeatures(3), Perceptron(random_state=0)), frame, y)
    assert film.scene.names == ("width", "height")
    assert film.scene.kind == "map"


def test_many_features_are_projected_and_the_final_plane_is_upright():
    X, y = load_breast_cancer(return_X_y=True)
    frame = pd.DataFrame(StandardScaler().fit_transform(X), columns=load_breast_cancer().feature_names)
    model = LinearSVC().fit(frame, y)
    film = replay(LinearSVC(), frame, y)
    assert film.scene.kind == "projection"
    distance = model.decision_function(frame) / np.linalg.norm(model.coef_)
    np.testing.assert_allclose(film.scene.points[:, 0], distance, atol=1e-9)
    p, q, r = film.best_plane(len(film.records) - 1)
    assert p == pytest.approx(np.linalg.norm(model.coef_))
    assert (q, r) == pytest.approx((0, 0), abs=1e-9)
    assert "30 features on two axes" in film.scene.sentence
    assert "error" in film.scene.sentence, "the sentence names the features of the second axis"
    assert film.band.tolist() == [1.0] * len(film.records)


def test_sparse_examples_and_a_single_feature_have_a_picture(overlapping):
    X, y = overlapping
    dense, csr = replay(LinearSVC(), X, y), replay(LinearSVC(), sparse.csr_array(X), y)
    np.testing.assert_allclose(dense.scene.points, csr.scene.points, atol=1e-6)
    film = replay(Perceptron(order="cyclic"), [[0.0], [1.0], [3.0]], [0, 0, 1])
    assert film.scene.points.shape == (3, 2)
    assert np.isfinite(film.scene.v).all()


def test_two_features_are_drawn_as_they_are():
    X, y = flat()
    film = replay(Perceptron(order="cyclic"), X, y, feature_names=["a", "b"])
    assert (film.scene.kind, film.scene.names) == ("features", ("a", "b"))
    np.testing.assert_array_equal(film.scene.points, X)


# --- size, thinning, order


def test_the_same_seed_gives_the_same_bytes_and_another_seed_others(overlapping):
    def page(seed):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            return render(replay(SGDClassifier("logistic", random_state=seed, max_iter=3), *overlapping))

    assert page(0) == page(0)
    assert page(0) != page(1)


@pytest.fixture(scope="module")
def long_film():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((2000, 6))
    y = np.where(X @ np.arange(1, 7) + rng.standard_normal(2000) > 0, 1, 0)
    return replay(SGDClassifier("logistic", stopping=None, random_state=0), X, y, steps=10_000)


def test_ten_thousand_steps_stay_below_five_megabytes_and_thinning_is_said(long_film):
    page = render(long_film)
    assert 1_000_000 < len(page.encode()) < 5_000_000
    data = embedded(page)
    assert data["frames"]["step"][-1] == 10_000
    notes = " ".join(data["notes"])
    stride = data["frames"]["step"][1]
    assert stride > 1
    assert f"one recorded step in {stride} is shown" in notes
    assert "stopped after 10,000 steps" in notes
    assert "1,500 of 2,000 examples are drawn" in notes


def test_an_example_that_is_not_drawn_is_still_shown_when_it_causes_an_update(long_film):
    data = embedded(render(long_film))
    points, drawn = data["points"], data["points"]["drawn"]
    assert drawn == 1500
    rows = [points["row"][cause] for cause in data["frames"]["cause"] if cause >= 0]
    assert rows == [record.example for record in long_film.records if record.example >= 0]
    assert max(data["frames"]["cause"]) >= drawn
    assert len(points["u"]) == len(points["row"]) == len(set(points["row"]))


def test_thinned_frames_still_know_the_best_plane(monkeypatch, overlapping):
    X, y = overlapping[0][:, :2], overlapping[1]
    with pytest.warns(ConvergenceWarning):
        recording = record_fit(SGDClassifier("hinge", schedule=0.5, C=np.inf, max_iter=4, random_state=0), X, y)
    monkeypatch.setattr(film_module, "FRAME_BYTES", 4000)
    film, history = make_film(recording), recording.history
    assert len(film.records) < len(history) / 2
    assert film.records[-1] is history.records[-1]
    objective, steps = history["objective"], history["step"].tolist()
    for k, record in enumerate(film.records[1:], 1):
        expected = 1 + int(np.argmin(objective[1 : steps.index(record.step) + 1]))
        np.testing.assert_array_equal(film.best_plane(k), history.iterates[expected])
    assert np.isnan(film.before).all(), "the frame before is not the point before the update"


@SETTINGS
@given(count=st.integers(1, 30_000), shown=st.integers(1, 1500), coefficients=st.integers(2, 61))
def test_kept_frames_are_even_and_fit(count, shown, coefficients):
    kept = film_module._kept(count, shown, coefficients)
    assert kept[0] == 0
    assert kept[-1] == count - 1
    assert len(set(np.diff(kept)[:-1].tolist())) <= 1
    assert len(kept) * (shown / 6 + 9 * (coefficients + 12)) <= film_module.FRAME_BYTES + 2000


@SETTINGS
@given(st.lists(st.booleans(), min_size=1, max_size=40))
def test_bits_come_back(row):
    data = np.frombuffer(base64.b64decode(_bits(np.array(row))), dtype=np.uint8)
    assert np.unpackbits(data, bitorder="little")[: len(row)].tolist() == row


@SETTINGS
@given(st.lists(st.floats(allow_nan=True, allow_infinity=True)))
def test_numbers_keep_six_digits(values):
    for value, shown in zip(values, _numbers(values), strict=True):
        assert shown is None if not np.isfinite(value) else shown == pytest.approx(value, rel=1e-5)
    json.dumps(_numbers(values), allow_nan=False)


# --- labels, escaping, refusals


def test_one_class_of_many_stands_against_the_rest():
    X, y = load_iris(return_X_y=True)
    names = load_iris().target_names[y]
    film = replay(Perceptron(random_state=0), X, names, positive="setosa")
    assert film.classes == ("(the rest)", "setosa")
    np.testing.assert_array_equal(film.positive, names == "setosa")
    assert film.records[-1].zero_one == 0
    np.testing.assert_array_equal(two_classes(y, 2)[0], y == 2)
    assert two_classes(np.array([3, 5]), 3)[1] == ("5", "3")


@pytest.mark.parametrize(
    ("estimator", "y", "settings", "complaint"),
    [
        (ScikitPerceptron(), [0, 0, 1, 1], {}, "Perceptron does not tell its steps; use an estimator of linsep"),
        (Perceptron(), [0, 1, 2, 2], {}, r"y has 3 classes \(0, 1, 2\); say which one"),
        (Perceptron(), [0, 1, 2, 2], {"positive": 7}, "positive=7 is not among the classes: 0, 1, 2"),
        (Perceptron(), [1, 1, 1, 1], {}, "one class only, 1"),
        (Perceptron(), [0, 0, 1, 1], {"steps": 0}, "steps=0"),
        (Perceptron(), [0, 0, 1, 1], {"path": "replay.pdf"}, r"replay.pdf: a replay is written as .html, .gif or .mp4"),
    ],
)
def test_what_cannot_be_replayed_is_refused_with_what_to_do(estimator, y, settings, complaint):
    with pytest.raises(ValueError, match=complaint):
        replay(estimator, [[0.0, 0.0], [0.0, 1.0], [3.0, 2.0], [4.0, 3.0]], y, **settings)


NASTY = ["</script><script>alert(1)</script>", "<img src=x onerror=alert(2)>", "<!--<b>\"'&amp;\u2028"]


class Tags(HTMLParser):
    """The elements of a page."""

    def __init__(self, page):
        super().__init__()
        self.tags, self.attributes = [], set()
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.attributes |= {name for name, _ in attributes}


def nasty_film():
    X, y = flat(40)
    labels = np.where(y == "yes", NASTY[0], NASTY[2])
    return replay(Perceptron(order="cyclic"), X, labels, title=NASTY[1], feature_names=[NASTY[0], NASTY[1]])


def test_everything_the_user_supplies_is_text():
    page = render(nasty_film())
    tags = Tags(page)
    assert tags.tags.count("script") == 2
    assert "img" not in tags.tags
    assert not {name for name in tags.attributes if name.startswith("on")}
    data = embedded(page)
    assert data["picture"]["names"] == NASTY[:2]
    assert sorted(data["classes"]) == sorted([NASTY[0], NASTY[2]])
    assert "innerHTML" not in page
    assert "http" not in page.replace("http-equiv", "")


# --- animations


def test_m23_the_animation_draws_the_plane_where_it_is():
    from matplotlib.figure import Figure

    X, y = flat()
    film = replay(Perceptron(order="cyclic"), X, y)
    k = len(film.records) - 1
    axes = Figure().add_subplot()
    draw_picture(film, k, axes)
    lines = [c for c in axes.collections if type(c).__name__ == "QuadContourSet"]
    vertices = np.concatenate([path.vertices for path in lines[1].get_paths()])
    np.testing.assert_allclose(vertices @ film.planes[k][:2] + film.planes[k][2], 0, atol=1e-9)
    assert sum(len(c.get_offsets()) for c in axes.collections[:4]) == len(X)


def test_an_animation_has_the_frames_asked_for(tmp_path):
    from PIL import Image

    X, y = flat()
    film = replay(Perceptron(order="cyclic"), X, y, tmp_path / "all.html")
    save_animation(film, tmp_path / "some.gif", fps=1, frames=3)
    lasts = 0
    with Image.open(tmp_path / "some.gif") as picture:
        assert picture.n_frames >= 3
        for k in range(picture.n_frames):
            picture.seek(k)
            lasts += picture.info["duration"]
    assert lasts == 4000, "three frames of a second, and the last stands for another"
    assert (tmp_path / "all.html").read_text() == render(film)


@pytest.mark.skipif(shutil.which("ffmpeg") is None, reason="there is no ffmpeg to write MP4 with; .ci/run installs it")
@pytest.mark.slow
def test_m23_an_mp4_shows_what_the_page_shows(tmp_path):
    from PIL import Image

    X, y = flat()
    film = replay(Perceptron(order="cyclic"), X, y)
    for ending in ("gif", "mp4"):
        save_animation(film, tmp_path / f"film.{ending}", fps=2, frames=4)
    words = ["ffmpeg", "-loglevel", "error", "-i", tmp_path / "film.mp4", "-f", "rawvideo", "-pix_fmt", "rgb24", "-"]
    raw = subprocess.run(words, capture_output=True, timeout=300, check=True).stdout
    with Image.open(tmp_path / "film.gif") as picture:
        width, height = picture.size
        expected = np.asarray(picture.convert("RGB")).astype(float)
    frames = np.frombuffer(raw, np.uint8).reshape(-1, height, width, 3)
    assert len(frames) == 4 + 2, "four frames, and the last stands for another second"
    assert np.abs(frames[0] - expected).mean() < 4, "the first frame is that of the GIF, but for compression"
    assert np.abs(frames[0].astype(float) - frames[-1]).mean() > 1
    assert np.abs(frames[-1].astype(float) - frames[-2]).mean() < 0.5


@pytest.mark.skipif(os.name == "nt", reason="the program that fails is a shell script")
def test_an_ffmpeg_that_fails_is_told_with_what_to_do(tmp_path, monkeypatch):
    program = tmp_path / "ffmpeg"
    program.write_text("#!/bin/sh\necho 'Unknown encoder h264' >&2\nexit 1\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    with pytest.raises(ValueError, match=r"a\.mp4: ffmpeg could not write it .*; write a \.gif"):
        save(nasty_film(), tmp_path / "a.mp4")
    assert [path.name for path in tmp_path.iterdir()] == ["ffmpeg"]


def test_an_animation_says_what_it_lacks(tmp_path, monkeypatch):
    film = nasty_film()
    from matplotlib import animation

    monkeypatch.setattr(animation.FFMpegWriter, "isAvailable", classmethod(lambda cls: False))
    with pytest.raises(ValueError, match=r"a\.mp4: MP4 needs the program ffmpeg, which is not installed"):
        save(film, tmp_path / "a.mp4")
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ModuleNotFoundError, match=r"pip install 'linsep\[plot\]'"):
        save(film, tmp_path / "a.gif")
    with pytest.raises(ValueError, match="fps=0"):
        save_animation(film, tmp_path / "a.gif", fps=0)
    assert list(tmp_path.iterdir()) == []


# --- the command


def run(*arguments, code=0):
    words = [str(COMMAND), "replay", *map(str, arguments)]
    done = subprocess.run(words, capture_output=True, encoding="utf-8", timeout=300, check=False)
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr
    return done.stdout if code == 0 else done.stderr


def test_m23_the_command_draws_a_curve_in_the_plane_of_the_files_columns(tmp_path):
    X, y = circle()
    frame = pd.DataFrame({"width": 50 + 10 * X[:, 0], "height": X[:, 1], "kind": np.where(y, "far", "near")})
    frame.to_csv(tmp_path / "circle.csv", index=False)
    words = [tmp_path / "circle.csv", "--target", "kind", "--degree", "2", "-o", tmp_path / "replay.html", "--json"]
    record = json.loads(run(*words))
    data = embedded((tmp_path / "replay.html").read_text())
    assert record["bytes"] == (tmp_path / "replay.html").stat().st_size
    assert (record["picture"], record["zero_one"]) == ("map", 0)
    assert record["updates"] == data["frames"]["updates"][-1] <= record["mistake_bound"]
    assert data["picture"]["names"] == ["width", "height"]
    np.testing.assert_allclose(data["points"]["u"], frame["width"], rtol=1e-4)
    assert data["title"] == "Perceptron on circle.csv, step by step"


def test_the_command_encodes_columns_as_fit_does(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"age": rng.normal(40, 9, 80), "town": rng.choice(["Ede", "Ulm"], 80)})
    frame["kind"] = np.where(frame["age"] + 9 * (frame["town"] == "Ede") > 45, "a", "b")
    frame.loc[3, "kind"] = None
    frame.to_csv(tmp_path / "people.csv", index=False)
    method = ["--loss", "logistic", "--solver", "gradient_descent", "--eta", "0.5", "--max-iter", "30"]
    text = run(tmp_path / "people.csv", "--target", "kind", *method, "-o", tmp_path / "replay.html")
    assert "gradient_descent" in text
    data = embedded((tmp_path / "replay.html").read_text())
    assert data["picture"]["kind"] == "projection"
    assert "1 rows without a value in 'kind' are left out, and not counted in row numbers" in data["notes"]
    assert dict(data["facts"])["examples"] == "79 with 3 features"
    assert data["frames"]["step_size"][1] == 0.5


def test_of_three_classes_the_command_asks_for_one_in_its_own_words():
    examples = Examples("a.csv", np.arange(6.0)[:, None], np.array(list("abcabc")), MatrixEncoding(1), [])
    with pytest.raises(ValueError, match=r"a\.csv: 3 classes \(a, b, c\).*--positive"):
        replay_examples(examples, Method())
    with pytest.raises(ValueError, match="--positive d is not among the classes: a, b, c"):
        replay_examples(examples, Method(), positive="d")


@pytest.mark.parametrize(
    ("method", "complaint"),
    [
        (Method(eta=3.0), "--eta would be ignored: the perceptron has no penalty and steps of length one"),
        (Method(C=2.0), "--C would be ignored"),
        (Method("logistic", "newton", order="cyclic"), "order would be ignored: solver 'newton' has no such setting"),
        (Method("logistic", "guess"), "solver='guess' is not known"),
        (Method("guess"), "guess"),
        (Method("hinge", schedule="guess"), "schedule='guess' is not known"),
    ],
)
def test_a_setting_that_makes_no_sense_is_refused(method, complaint):
    with pytest.raises(ValueError, match=complaint):
        method.estimator(0)


def test_settings_reach_the_method():
    assert Method(order="worst", max_iter=7).estimator(3).get_params()["order"] == "worst"
    assert Method("hinge", schedule="inverse_time", eta=0.25).estimator(0).schedule(0) == 0.25
    assert Method("hinge", order="cyclic", max_iter=4).estimator(0).solver == StochasticDescent(
        order="cyclic", max_iter=4
    )
    assert np.isinf(Method("perceptron", "gradient_descent").estimator(0).C)
    assert Method("logistic", C=5.0).estimator(0).C == 5.0


# --- in a browser


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """Four pages: in the plane, through a feature map, of many features, and with markup in every name."""
    place = tmp_path_factory.mktemp("pages")
    X, y = flat(gap=6)
    replay(Perceptron(order="cyclic"), X, y, place / "plane.html")
    curved = make_pipeline(PolynomialFeatures(2, include_bias=False), Perceptron(random_state=0))
    replay(curved, *circle(), place / "map.html")
    B, t = load_breast_cancer(return_X_y=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        sgd = SGDClassifier("logistic", random_state=0, max_iter=1)
        replay(sgd, StandardScaler().fit_transform(B), t, place / "many.html")
    save(nasty_film(), place / "nasty.html")
    return place


@pytest.mark.parametrize("name", ["plane", "map", "many", "nasty"])
def test_the_page_fits_a_phone_and_complains_of_nothing(browser, pages, name):
    with browser.open(pages / f"{name}.html", width=360, height=740, touch=True) as page:
        assert page.overflow() == 0
        for button in ("forward", "forward", "back", "last", "first", "forward"):
            page.click(f"#{button}")
        assert page.evaluate("state.frame") == 1
        assert page.text("#status").startswith("Frame 2 of")
        assert len(np.unique(page.screenshot().reshape(-1, 3), axis=0)) > 100
        assert page.problems == []


def test_play_pause_keys_and_scrubbing_work(browser, pages):
    with browser.open(pages / "many.html") as page:
        count = page.evaluate("count")
        page.click("#play")
        page.wait_for("state.frame > 3")
        assert page.text("#play") == "Pause"
        page.press(" ")  # on the button itself, which has the focus
        page.wait_for("!state.playing")
        stopped = page.evaluate("state.frame")
        assert page.evaluate("new Promise(done => setTimeout(() => done(state.frame), 100))") == stopped
        page.evaluate("document.activeElement.blur()")
        for key, frame in [("Home", 0), ("ArrowRight", 1), ("ArrowRight", 2), ("ArrowLeft", 1), ("End", count - 1)]:
            page.press(key)
            assert page.evaluate("state.frame") == frame
            assert page.evaluate("Number(document.getElementById('scrub').value)") == frame
        page.press(" ")  # from the end, it begins again
        page.wait_for("state.playing && state.frame < count - 1")
        page.press(" ")
        page.click("#scrub")  # in its middle
        assert abs(page.evaluate("state.frame") - (count - 1) / 2) <= 0.02 * count
        page.click("#errors-chart canvas")
        assert abs(page.evaluate("state.frame") - (count - 1) / 2) <= 1
        page.evaluate("document.getElementById('speed').value = 1000")
        page.evaluate("document.getElementById('speed').dispatchEvent(new Event('change'))")
        assert page.evaluate("state.speed") == 1000
        page.evaluate("play()")
        page.wait_for("state.frame === count - 1 && !state.playing")
        assert page.problems == []


def colour(page, name):
    text = page.evaluate(f"color({name!r})")
    return np.array([int(text[k : k + 2], 16) for k in (1, 3, 5)])


def is_near(shot, place, wanted, reach=2):
    """Whether a pixel of that colour lies within reach of a place."""
    x, y = (round(part) for part in place)
    part = shot[max(0, y - reach) : y + reach + 1, max(0, x - reach) : x + reach + 1]
    return bool((np.abs(part.astype(int) - wanted).max(axis=2) < 40).any())


def test_m23_what_is_drawn_is_where_the_numbers_are(browser, pages):
    data = embedded((pages / "plane.html").read_text())
    u, v, frames, points = data["picture"]["u"], data["picture"]["v"], data["frames"], data["points"]
    k = max(k for k, cause in enumerate(frames["cause"]) if cause >= 0)
    with browser.open(pages / "plane.html", width=1000, height=900) as page:
        page.evaluate(f"show({k})")
        box = page.evaluate(
            "(box => [box.x, box.y, box.width, box.height])(element('picture').getBoundingClientRect())"
        )
        shot = page.screenshot()
        colours = {name: colour(page, name) for name in ("plane", "cause", "negative", "positive")}
    left, top, width, height = box

    def at(a, b):
        x = left + 22 + (a - u[0]) / (u[-1] - u[0]) * (width - 26)
        return x, top + 4 + (height - 26) * (1 - (b - v[0]) / (v[-1] - v[0]))

    p, q, r = frames["plane"][k]
    line = [(a, -(p * a + r) / q) for a in np.linspace(u[0], u[-1], 40)]
    inside = [at(a, b) for a, b in line if v[2] < b < v[-3] and u[1] < a < u[-2]]
    assert len(inside) > 5
    assert sum(is_near(shot, place, colours["plane"]) for place in inside) >= 0.9 * len(inside)
    x, y = at(points["u"][frames["cause"][k]], points["v"][frames["cause"][k]])
    assert all(is_near(shot, (x + dx, y + dy), colours["cause"]) for dx, dy in [(13, 0), (-13, 0), (0, 13), (0, -13)])
    for a, b, positive in zip(points["u"], points["v"], points["positive"], strict=True):
        assert is_near(shot, at(a, b), colours["positive" if positive else "negative"], reach=6)


def test_names_with_markup_are_shown_as_they_are(browser, pages):
    with browser.open(pages / "nasty.html") as page:
        assert page.text("h1") == NASTY[1]
        assert NASTY[0] in page.text("#legend")
        assert NASTY[0] in page.text("#status") or page.evaluate("show(2)") or NASTY[0] in page.text("#status")
        assert page.evaluate("document.images.length + document.scripts.length") == 2
        assert page.problems == []


def contrast(one, other):
    """WCAG's contrast ratio of two colours."""

    def luminance(rgb):
        linear = np.array([c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in np.array(rgb) / 255])
        return linear @ [0.2126, 0.7152, 0.0722]

    high, low = sorted([luminance(one), luminance(other)], reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("dark", [False, True])
def test_light_and_dark_are_readable(browser, pages, dark):
    with browser.open(pages / "plane.html", dark=dark) as page:
        ground, panel = colour(page, "ground"), colour(page, "panel")
        assert (ground.mean() < 60) == dark
        assert np.abs(page.screenshot()[-5, 5].astype(int) - ground).max() <= 1
        for name in ("ink", "quiet"):
            assert contrast(colour(page, name), ground) >= 4.5
            assert contrast(colour(page, name), panel) >= 4.5
        assert contrast(colour(page, "ink"), colour(page, "warn")) >= 4.5
        for name in ("negative", "positive", "plane", "best", "cause"):
            assert contrast(colour(page, name), panel) >= 3


def test_the_page_speaks_to_readers_of_the_screen_and_moves_little_where_asked(browser, pages):
    with browser.open(pages / "plane.html", reduced_motion=True) as page:
        assert page.evaluate("state.speed") <= 2
        assert not page.evaluate("state.playing")
        unnamed = "[...document.querySelectorAll('button, input, main canvas:not([aria-hidden])')]"
        assert page.evaluate(f"{unnamed}.filter(one => !one.getAttribute('aria-label')).length") == 0
        assert page.evaluate("document.querySelector('label select') !== null")
        assert page.evaluate("element('status').getAttribute('aria-live')") == "polite"
        page.evaluate("play()")
        assert page.evaluate("element('status').getAttribute('aria-live')") == "off"
        assert page.evaluate("element('play').getAttribute('aria-label')") == "Pause"
        page.evaluate("pause()")
        page.press("Tab")
        assert page.evaluate("document.activeElement.id") == "first"


def test_m11_the_page_counts_mistakes_against_the_bound(browser, pages):
    data = embedded((pages / "plane.html").read_text())
    with browser.open(pages / "plane.html") as page:
        page.press("End")
        most = int(data["bound"]["value"])
        assert f"{data['frames']['updates'][-1]} mistakes so far, at most {most:,} by Novikoff" in page.text("#status")
        assert "The end: stopped by NoMistakes()" in page.text("#status")
        assert page.text("#bound") == data["bound"]["sentence"]
        told = page.evaluate("document.querySelector('#updates-chart canvas').getAttribute('aria-label')")
        assert "Novikoff's bound" in told
