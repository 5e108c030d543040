"""Replays: every step of a fit, against other computations; what is refused, and what is text."""

import base64
import json
import warnings
from html.parser import HTMLParser

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import Perceptron as ScikitPerceptron

from films import NASTY, embedded, flat, nasty_film
from linsep import (
    HardMarginSVC,
    LeastSquaresClassifier,
    LinearClassifier,
    LinearSVC,
    LogisticRegression,
    Perceptron,
    SGDClassifier,
)
from linsep.replay import film as film_module
from linsep.replay import make_film, record_fit, render, replay
from linsep.replay.page import _bits, rounded
from linsep.replay.recording import two_classes
from linsep.solvers import DualDescent, GradientDescent, PerceptronRule, StochasticDescent

SETTINGS = settings(max_examples=50, deadline=None)


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
    np.testing.assert_array_equal(
        [np.nan if record.example is None else record.example for record in film.records], history["example"]
    )
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
    w, b = recording.plane(film.records[-1])
    np.testing.assert_allclose(w, fitted.coef_[0], rtol=1e-9, atol=1e-12)
    assert b == pytest.approx(fitted.intercept_[0], rel=1e-9, abs=1e-12)
    assert [record.step for record in film.records] == sorted(record.step for record in film.records)
    assert name == "proximal_newton" or not film.planes[0].any(), "it begins at w = 0, unless the solver does not"
    best = film.best_plane(len(film.records) - 1)
    np.testing.assert_allclose(best, film.scene.coefficients(w, b), rtol=1e-9, atol=1e-12)
    assert all(record.example is None for record in film.records)


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
    assert dict(film.facts)["ended"] == "stopped after 3 passes (not converged)"
    assert any("the mean of all planes" in note for note in film.notes)


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


@pytest.mark.slow
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
    assert rows == [record.example for record in long_film.records if record.example is not None]
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
    for value, shown in zip(values, rounded(values), strict=True):
        assert shown is None if not np.isfinite(value) else shown == pytest.approx(value, rel=1e-5)
    json.dumps(rounded(values), allow_nan=False)


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


class Tags(HTMLParser):
    """The elements of a page."""

    def __init__(self, page):
        super().__init__()
        self.tags, self.attributes = [], set()
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.attributes |= {name for name, _ in attributes}


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


def test_how_many_draws_a_pass_has_is_said_where_examples_repeat():
    X, y = np.array([[0.0, 1.0], [1.0, 0.0], [1.0, 1.0], [0.0, 0.0]] * 5), np.array([0, 1, 0, 1] * 5)
    said = "A pass is 4 random draws, as many as there are different examples among the 20."
    for order, told in (("random", True), ("cyclic", False)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            film = make_film(record_fit(Perceptron(max_iter=3, order=order, prove=False), X, y))
        assert (said in film.notes) == told
    film = make_film(record_fit(Perceptron(max_iter=100), X[:4], np.array([0, 1, 0, 0])))
    assert not any("random draws" in note for note in film.notes)


def test_how_far_the_end_is_from_the_optimum_is_said_as_the_certificate_says_it(overlapping):
    model = LeastSquaresClassifier()
    facts = dict(make_film(record_fit(model, *overlapping)).facts)
    model.fit(*overlapping)
    assert model.certificate_.certain_gap > 0.0  # rounding, where the gap itself is nothing
    assert f"within {model.certificate_.certain_gap:.1e} of the optimum" in facts["ended"]
    assert f"within {model.certificate_.certain_gap:.1e} of the optimum" in model.summary()
