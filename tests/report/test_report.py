"""The report: its numbers against scikit-learn's, what is hostile stays text, and a real browser shows it."""

import re
from copy import deepcopy

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse
from sklearn import metrics
from sklearn.calibration import calibration_curve
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import train_test_split

from linsep import (
    HardMarginSVC,
    LeastSquaresClassifier,
    LinearSVC,
    LogisticRegression,
    Perceptron,
    SGDClassifier,
    ZeroOneClassifier,
)
from linsep.history import History
from linsep.report import compute, render
from linsep.report.content import in_words
from linsep.report.markup import text
from linsep.report.svg import Axis, bars, image, lines, stepped, ticks

HOSTILE = ["<script>alert(1)</script>", "</style><b>", "\"quoted\" & 'so'", "👩‍🔬 emoji", "x" * 10_000, "\ud800\x00"]


@pytest.fixture(scope="module")
def tumours():
    """A frame of standardised features, split, with labels in words."""
    data = load_breast_cancer(as_frame=True)
    X = (data.data - data.data.mean()) / data.data.std()
    return train_test_split(X, np.where(data.target == 1, "benign", "malignant"), random_state=0)


@pytest.fixture(scope="module")
def logistic(tumours):
    X_train, _, y_train, _ = tumours
    return LogisticRegression().fit(X_train, y_train)


@pytest.fixture(scope="module")
def content(tumours, logistic):
    X_train, X_test, y_train, y_test = tumours
    return compute(logistic, X_test, y_test, training=(X_train, y_train))


def visible(page):
    """Return what a reader sees of a page, more or less."""
    return re.sub(r"<[^>]*>", " ", page.split("</style>")[1])


# -- numbers ----------------------------------------------------------------------------------------------------------


def test_measures_are_scikit_learns(tumours, logistic, content):
    _, X, _, y = tumours
    said, p, score = logistic.predict(X), logistic.predict_proba(X), logistic.decision_function(X)
    expected = {
        "accuracy": metrics.accuracy_score(y, said),
        "balanced_accuracy": metrics.balanced_accuracy_score(y, said),
        "precision": metrics.precision_score(y, said, pos_label=logistic.classes_[1]),
        "recall": metrics.recall_score(y, said, pos_label=logistic.classes_[1]),
        "f1": metrics.f1_score(y, said, pos_label=logistic.classes_[1]),
        "log_loss": metrics.log_loss(y, p, labels=logistic.classes_),
        "brier": metrics.brier_score_loss(y, p[:, 1], pos_label=logistic.classes_[1]),
        "auc": metrics.roc_auc_score(y == logistic.classes_[1], score),
    }
    found = content.evaluation.measures
    assert {name: one.value for name, one in found.items()} == pytest.approx(expected)
    assert all(one.low <= one.value <= one.high for one in found.values())
    counts = [[one.value for one in row] for row in content.evaluation.confusion]
    np.testing.assert_array_equal(counts, metrics.confusion_matrix(y, said, labels=logistic.classes_))
    page = visible(render(content))
    assert all(f"{value:.4f}" in page for value in expected.values())


def test_each_threshold_has_scikit_learns_precision_and_recall(tumours, logistic, content):
    _, X, _, y = tumours
    positive, score = y == logistic.classes_[1], logistic.decision_function(X)
    precision, recall, threshold = metrics.precision_recall_curve(positive, score)
    curve = content.curve
    np.testing.assert_allclose(curve.threshold, threshold)
    np.testing.assert_allclose(curve.measures["precision"], precision[:-1])
    np.testing.assert_allclose(curve.measures["recall"], recall[:-1])
    accuracy = [metrics.accuracy_score(positive, score >= t) for t in threshold]
    np.testing.assert_allclose(curve.measures["accuracy"], accuracy)
    assert curve.chosen == 0
    assert curve.at_chosen["precision"] == pytest.approx(metrics.precision_score(positive, score >= 0))


def test_another_threshold_is_the_one_in_use(tumours, logistic):
    _, X, _, y = tumours
    found = compute(logistic, X, y, threshold=1.5)
    said = logistic.classes_[(logistic.decision_function(X) >= 1.5).astype(int)]
    assert found.n_mistakes == (said != y).sum()
    assert found.curve.at_chosen["accuracy"] == pytest.approx(metrics.accuracy_score(y, said))
    assert "the score is at least 1.5" in render(found)
    used = [at for at, _ in found.curve.table]
    assert 1.5 in used
    assert f"{1 / (1 + np.exp(-1.5)):.4g}\nin use" in render(found)


def test_calibration_is_scikit_learns(tumours, logistic, content):
    _, X, _, y = tumours
    came, said = calibration_curve(y == logistic.classes_[1], logistic.predict_proba(X)[:, 1], n_bins=10)
    np.testing.assert_allclose([one.said for one in content.evaluation.reliability.bins], said)
    np.testing.assert_allclose([one.came_true for one in content.evaluation.reliability.bins], came)
    assert sum(one.count for one in content.evaluation.reliability.bins) == len(y)


def test_m3_margins_and_the_worst_mistakes_are_distances(tumours, logistic, content):
    _, X, _, y = tumours
    sign = np.where(y == logistic.classes_[1], 1, -1)
    distance = sign * logistic.decision_function(X) / np.linalg.norm(logistic.coef_)
    wrong = np.flatnonzero(logistic.predict(X) != y)
    ranked = wrong[np.argsort(distance[wrong])]
    assert [one.row for one in content.mistakes] == [i + 1 for i in ranked[:10]]
    assert content.n_mistakes == len(wrong)
    np.testing.assert_allclose([one.distance for one in content.mistakes], distance[ranked[:10]])
    worst, frame = content.mistakes[0], tumours[0]
    push = np.where(worst.said == "malignant", 1, -1) * logistic.coef_[0] * (X.iloc[ranked[0]] - frame.mean())
    first, value = worst.cells[0]
    assert first == np.abs(push).idxmax()
    assert value == f"{X[first].iloc[ranked[0]]:.6g}"
    assert worst.pushes[first] == pytest.approx(push[first])
    left_of_0 = content.margins.edges[:-1] < -1e-12
    assert sum(count.sum() for count in content.margins.counts.values()) == len(y)
    assert sum(count[left_of_0].sum() for count in content.margins.counts.values()) == (distance < 0).sum()


def test_m22_the_most_important_weight_comes_first_with_its_direction(tumours, logistic, content):
    (plane,) = content.weights
    important = np.abs(logistic.coef_[0]) * tumours[0].std(ddof=0).to_numpy()
    heaviest = np.argsort(-important)[:20]
    assert plane.names == logistic.feature_names_in_[heaviest].tolist()
    np.testing.assert_array_equal(plane.weights, logistic.coef_[0, heaviest])
    np.testing.assert_allclose(plane.importance, important[heaviest])
    np.testing.assert_allclose(plane.odds_ratios, np.exp(plane.weights))
    assert (plane.towards, plane.away, plane.left_out) == ("malignant", "benign", 10)


def test_the_gap_falls_to_the_one_of_the_certificate(logistic, content):
    (journey,) = content.journeys
    assert journey.gap[-1] == pytest.approx(logistic.certificate_.relative_gap)
    assert (np.diff(journey.gap) <= 0).all()
    assert content.is_proven
    assert str(logistic.certificate_) in content.proof
    assert "linsep.verify(model, X_train, y_train)" in render(content)


def test_a_fit_with_one_measured_step_says_its_numbers(tumours, logistic):
    _, X, _, y = tumours
    model = deepcopy(logistic)
    model.history_ = History.of(logistic.history_.records[-1:], 1, 1)
    found = compute(model, X, y)
    assert len(found.journeys[0].step) == 1
    said = f"is the last, {model.n_iter_[0]}: objective {model.history_['objective'][0]:.6g}"
    assert said in render(found)
    model.history_ = History()
    assert "No steps are known" in render(compute(model, X, y))


def test_rows_are_counted_from_1_wherever_a_report_names_them():
    X, y = np.array([[0.0], [1.0], [3.0], [3.0], [5.0]]), np.array([0, 0, 0, 1, 1])
    found = compute(LogisticRegression().fit(X, y), X, y)
    assert "rows 3 and 4 are the same point" in found.separability[0]
    assert "(rows are counted from 1)" in found.separability[0]
    assert any("rows 3 and 4, counted from 1" in suspect.message for suspect in found.suspects)


def test_separability_and_suspects_are_of_the_training_rows(tumours, logistic):
    _, X, _, y = tumours
    told = np.where(y == "malignant", 1.0, 0.0)
    leaking = X.assign(told=told)
    model = LogisticRegression().fit(leaking, y)
    found = compute(model, leaking, y)
    assert any("told" in suspect.message for suspect in found.suspects)
    assert found.separability[0].startswith("separable")
    assert "expect worse on others" in render(found)


def test_m24_more_classes_have_a_confusion_table_and_weights_each():
    X, y = load_iris(return_X_y=True, as_frame=True)
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    model = LogisticRegression().fit(X, names)
    found = compute(model, X, names)
    counts = [[one.value for one in row] for row in found.evaluation.confusion]
    np.testing.assert_array_equal(counts, metrics.confusion_matrix(names, model.predict(X)))
    assert [plane.towards for plane in found.weights] == ["setosa", "versicolor", "virginica"]
    assert found.curve is None
    assert [line.split(":")[0] for line in found.separability] == [
        f"{name} against the rest" for name in model.classes_
    ]
    likeliest = model.predict_proba(X).max(axis=1)
    right = model.predict(X) == names
    assert sum(one.count * one.came_true for one in found.evaluation.reliability.bins) == pytest.approx(right.sum())
    assert sum(one.count * one.said for one in found.evaluation.reliability.bins) == pytest.approx(likeliest.sum())
    assert "versicolor against the rest" in render(found)


@pytest.mark.parametrize(
    "model",
    [
        LinearSVC(),
        LeastSquaresClassifier(),
        Perceptron(random_state=0),
        SGDClassifier(random_state=0),
        HardMarginSVC(),
        ZeroOneClassifier(),
    ],
    ids=lambda model: type(model).__name__,
)
def test_every_estimator_reports(model, separable, tmp_path):
    X, y = separable
    model.fit(X, y).report(tmp_path / "report.html", X, y)
    page = (tmp_path / "report.html").read_text("utf-8")
    assert type(model).__name__ in page
    assert "no probabilities" in page or hasattr(model, "predict_proba")
    if isinstance(model, HardMarginSVC):
        assert "no plane has one above" in page
    if isinstance(model, ZeroOneClassifier):
        assert "no plane makes fewer than 0" in page
    if isinstance(model, Perceptron):
        assert f"made {model.mistakes_} mistakes" in page


def test_every_objective_is_said_in_words(separable):
    X, y = separable
    models = (
        LogisticRegression(),
        LogisticRegression(l1_ratio=0.5),
        LinearSVC(),
        LinearSVC(loss="squared_hinge"),
        LeastSquaresClassifier(),
        Perceptron(random_state=0),
        ZeroOneClassifier(),
    )
    said = {in_words(model.fit(X, y).objective_) for model in models}
    said.add(in_words(LogisticRegression().fit(X, np.where(X[:, 0] > 5, 0, y)).objective_))
    assert not any("the loss of each row" in words for words in said)
    assert len(said) == 8, "softmax has words of its own"
    assert sum("squared length" in words for words in said) == 5
    assert sum("absolute values" in words for words in said) == 1
    assert "widest margin" in in_words(HardMarginSVC().fit(X, y).objective_)


def test_what_is_not_proven_or_decided_is_said(overlapping):
    X, y = overlapping
    with pytest.warns(ConvergenceWarning):
        model = SGDClassifier(random_state=0, max_iter=5).fit(X, y)
    found = compute(model, X, y, time_limit=1e-9)
    assert not found.is_proven
    assert not found.is_decided
    page = visible(render(found))
    assert "not proven" in page
    assert "Not decided within" in page
    assert "exact arithmetic" not in page


def test_rows_of_one_class_leave_undefined_what_is(separable):
    X, y = separable
    model = LogisticRegression().fit(X, y)
    for label in (-1, 1):
        found = compute(model, X[y == label], y[y == label], training=(X, y))
        page = visible(render(found))
        assert "nan" not in page
        assert ("recall undefined" in page) == (label == -1)
        assert found.evaluation.measures["accuracy"].value == 1


def test_bad_labels_are_named(separable):
    X, y = separable
    model = LinearSVC().fit(X, y)
    with pytest.raises(ValueError, match="the label 5 occurs"):
        compute(model, X, np.full(len(y), 5))
    with pytest.raises(ValueError, match="one label for each of the 40 rows"):
        compute(model, X, y[:3])


# -- what is hostile, and what is large -------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def hostile():
    """A report in which every name and every cell wants to be markup."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, len(HOSTILE)))
    labels = np.array([HOSTILE[0], HOSTILE[1]])[(X[:, 0] + rng.standard_normal(40) > 0).astype(int)]
    about = dict(title=HOSTILE[0], names=HOSTILE, notes=HOSTILE, recheck=HOSTILE[1])
    model = LogisticRegression().fit(X, labels)
    return render(compute(model, X, labels, cells=lambda i: dict.fromkeys(HOSTILE, HOSTILE[0]), **about))


def test_markup_in_names_and_cells_stays_text(hostile):
    assert "<script" not in hostile
    assert hostile.count("</style>") == 1
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in hostile
    assert "👩‍🔬 emoji" in hostile
    assert "x" * 301 not in hostile
    assert "(10,000 characters)" in hostile
    hostile.encode()


@given(st.text())
def test_text_never_ends_an_attribute_or_opens_a_tag(words):
    assert not set(text(words)) & set("<>\"'\x00")


def test_a_large_report_stays_small():
    rng = np.random.default_rng(0)
    n, d, each = 100_000, 5_000, 5
    columns = rng.integers(0, d, n * each)
    X = sparse.csr_array((rng.standard_normal(n * each), columns, np.arange(0, n * each + 1, each)), shape=(n, d))
    w = rng.standard_normal(d)
    y = np.where(X @ w + rng.standard_normal(n) > 0, "yes", "no")
    with pytest.warns(ConvergenceWarning):
        model = SGDClassifier(random_state=0, max_iter=2).fit(X, y)
    page = render(compute(model, X, y, time_limit=0.2)).encode()
    assert 10_000 < len(page) < 3_000_000


# -- charts -----------------------------------------------------------------------------------------------------------


@given(st.floats(-1e6, 1e6), st.floats(1e-3, 1e6))
def test_ticks_are_few_round_and_inside(low, length):
    high = low + length
    found = ticks(low, high)
    assert 2 <= len(found) <= 11
    assert all(low - 1e-6 * length <= t <= high + 1e-6 * length for t in found)
    assert np.ptp(np.diff(found)) <= 1e-6 * length


def test_a_line_is_drawn_where_its_numbers_are():
    drawn = lines(Axis("x", 0, 10), Axis("y", 0, 1), {"a": ([0, 5, 10], [0, np.nan, 1])}, title="t")
    (path,) = re.findall(r'<path class="line s0" d="([^"]*)"', drawn)
    assert path == "M0.0 190.0 M1000.0 0.0"


def test_the_threshold_chart_is_a_staircase_of_what_the_data_have():
    """At 0.9 every second of the highest scores is right: no line leads from below up to the only one at the end."""
    score = np.array([-2.0, -1.0, 0.0, 1.0, 2.0, 3.0])
    model = LogisticRegression(C=1e9).fit([[-1.0], [1.0], [-0.9], [0.9]], [0, 1, 1, 0])
    model.coef_, model.intercept_ = np.array([[1.0]]), np.array([0.0])
    y = np.array([0, 1, 0, 1, 0, 1])
    found = compute(model, score[:, None], y, training=([[-1.0], [1.0], [-0.9], [0.9]], [0, 1, 1, 0]))
    corners = stepped(1 / (1 + np.exp(-found.curve.threshold)), found.curve.measures["precision"])
    for p in np.linspace(0.13, 0.94, 200):  # between two thresholds the precision is that of the rows above
        k = np.searchsorted(corners[0], p)
        said = 1 / (1 + np.exp(-score)) >= p
        assert corners[1][k] == corners[1][k - 1] == pytest.approx(y[said].mean())
    page = render(found)
    path = re.findall(r'<path class="line s1" d="([^"]*)"', page)[0]
    xs, ys = np.array([word.strip("ML") for word in path.split()], dtype=float).reshape(-1, 2).T
    assert ((np.diff(xs) == 0) | (np.diff(ys) == 0)).all(), "only along or up and down"


def test_a_long_line_keeps_its_ends_and_extremes():
    x, y = np.linspace(0, 1, 50_000), np.random.default_rng(0).random(50_000)
    y[[777, 30_000]] = 0.0, 1.0
    drawn = lines(Axis("x", 0, 1), Axis("y", 0, 1), {"a": (x, y)}, title="t")
    (path,) = re.findall(r'<path class="line s0" d="([^"]*)"', drawn)
    points = np.array([word.strip("ML") for word in path.split()], dtype=float).reshape(-1, 2)
    assert len(points) <= 2500
    assert (points[0, 0], points[-1, 0]) == (0, 1000)
    assert (points[:, 1].min(), points[:, 1].max()) == (0, 190)


def test_roc_and_precision_recall_are_scikit_learns(tumours, logistic, content):
    _, X, _, y = tumours
    positive, score = y == logistic.classes_[1], logistic.decision_function(X)
    alarms, found, _ = metrics.roc_curve(positive, score, drop_intermediate=False)
    np.testing.assert_allclose(content.curve.false_alarms[::-1], alarms[1:])
    np.testing.assert_allclose(content.curve.measures["recall"][::-1], found[1:])
    assert f"average precision is {metrics.average_precision_score(positive, score):.4f}" in visible(render(content))


def test_more_classes_than_a_table_holds_are_told_by_their_worst_confusions():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 12, 400)
    X = np.eye(12)[y] + 0.5 * rng.standard_normal((400, 12))
    page = visible(render(compute(LogisticRegression().fit(X, y), X, y, time_limit=0.1)))
    assert "The most frequent confusions" in page
    assert "all 12 classes" in page
    assert "rows that are …" not in page


def test_a_logarithmic_axis_places_powers_evenly():
    axis = Axis.over("x", [1e-8, 1.0], logarithmic=True)
    np.testing.assert_allclose(axis.place([1e-8, 1e-4, 1.0]), [0, 0.5, 1])
    assert axis.ticks()[-1] == 1.0


def test_axes_reach_as_far_as_floats():
    axis = Axis("x", -1.5e308, 1.5e308)
    np.testing.assert_allclose(axis.place([-1.5e308, 0.0, 1.5e308]), [0, 0.5, 1])
    assert axis.ticks() == [-1e308, 0.0, 1e308]
    assert Axis.over("x", [5e-324], logarithmic=True).ticks()


def test_bars_point_to_the_side_of_their_sign():
    drawn = bars(["up", "down"], [2.0, -1.0], title="t")
    found = re.findall(r'<rect class="(\w+)" x="([\d.]+)%" y="[\d.]+" width="([\d.]+)%"', drawn)
    assert [kind for kind, _, _ in found] == ["positive", "negative"]
    (_, x_up, w_up), (_, x_down, w_down) = found
    assert float(x_up) == pytest.approx(float(x_down) + float(w_down), abs=0.01) == 50
    assert float(w_up) == pytest.approx(2 * float(w_down), abs=0.01)


@given(hnp.arrays(np.float64, (5, 7), elements=st.sampled_from([-1.0, -0.5, 0.0, 0.5, 1.0])))
def test_every_pixel_of_an_image_is_drawn_once(pixels):
    found = np.zeros_like(pixels)
    for name, opacity, path in re.findall(
        r'<path class="(\w+)" opacity="([\d.]+)" d="([^"]*)"', image(pixels, title="")
    ):
        for x, y, width in re.findall(r"M(\d+) (\d+)h(\d+)v", path):
            found[int(y), int(x) : int(x) + int(width)] += float(opacity) * (1 if name == "positive" else -1)
    np.testing.assert_array_equal(found, pixels)


#: Names of axes that lie over a number beside an axis.
OVERPRINTED = """[...document.querySelectorAll('.chart')].flatMap(chart => {
    const box = one => one.getBoundingClientRect(), ticks = [...chart.querySelectorAll('.tick')].map(box);
    const over = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
    return [...chart.querySelectorAll('.label')].filter(name => ticks.some(tick => over(box(name), tick)))
        .map(name => name.textContent);
})"""
#: Names of axes that reach beyond their card.
OUTSIDE = """[...document.querySelectorAll('.label')].filter(name => {
    const text = document.createRange(), card = name.closest('section').getBoundingClientRect();
    text.selectNodeContents(name);
    const box = text.getBoundingClientRect();
    return box.right > card.right || box.left < card.left;
}).map(name => name.textContent)"""


# -- in a browser -----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def pages(tmp_path_factory, content, hostile):
    folder = tmp_path_factory.mktemp("pages")
    (folder / "plain.html").write_text(render(content), "utf-8")
    (folder / "hostile.html").write_bytes(hostile.encode())
    return folder


@pytest.mark.parametrize("name", ["plain", "hostile"])
@pytest.mark.parametrize("width", [360, 1000])
def test_it_fits_any_screen_without_complaint(browser, pages, name, width):
    with browser.open(pages / f"{name}.html", width=width) as page:
        page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
        assert page.overflow() <= 0
        assert page.problems == []
        assert page.evaluate(OVERPRINTED) == []
        assert page.evaluate(OUTSIDE) == []
        if name == "plain":
            assert page.evaluate(
                "[...document.querySelectorAll('.wide')].every(w => w.scrollWidth <= w.clientWidth + 1)"
            )
        wide = page.evaluate("[...document.querySelectorAll('.chart svg[role=img]')].map(s => s.clientWidth)")
        card = page.evaluate("document.querySelector('section').clientWidth")
        assert name == "hostile" or max(wide) > card - 110, "a chart uses the width of its card"
        assert page.evaluate("document.querySelectorAll('script, b, iframe, img').length") == 0
        assert page.evaluate(
            "[...document.querySelectorAll('main svg[role=img]')].every(s => s.getAttribute('aria-label'))"
        )
        heads = page.evaluate("[...document.querySelectorAll('h2')].map(h => h.innerText)")
    assert heads[0] == "What was fitted"
    assert len(heads) == 12


@pytest.mark.slow
def test_light_dark_and_print_are_readable(browser, pages):
    shades = {}
    for dark in (False, True):
        with browser.open(pages / "plain.html", dark=dark) as page:
            shot = page.screenshot()
            shades[dark] = np.median(shot)
            assert len(np.unique(shot.reshape(-1, 3), axis=0)) > 20, "not blank"
            page.call("Emulation.setEmulatedMedia", media="print")
            paper = page.evaluate("getComputedStyle(document.body).backgroundColor")
            assert paper == "rgb(255, 255, 255)"
            pdf = page.call("Page.printToPDF")["data"]
            assert len(pdf) > 20_000
    assert shades[False] > 200 > 60 > shades[True]


def test_a_rare_class_has_the_width_of_its_threshold_chart():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 1))
    y = rng.random(3000) < 1 / (1 + np.exp(5 - X[:, 0]))
    chart = render(compute(LogisticRegression().fit(X, y), X, y)).split("Accuracy, precision and recall at each")[2]
    path = re.findall(r'<path class="line s2" d="([^"]*)"', chart)[0]
    xs, ys = np.array([word.strip("ML") for word in path.split()], dtype=float).reshape(-1, 2).T
    assert (xs.min() >= 0, xs.max() <= 1000) == (True, True)
    assert np.ptp(xs[(ys > 0.05 * 190) & (ys < 0.95 * 190)]) > 250, "of 1,000: recall falls over what can be seen"
    assert ">0.01</text>" in chart


def test_a_small_push_is_written_with_its_digits():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    y = X[:, 0] + rng.normal(size=200) > 0
    page = render(compute(LogisticRegression(C=1e-6).fit(X, y), X, y))
    pushes = re.findall(r'<span class="push">([^<]*)</span>', page)
    assert pushes
    assert all(float(push) for push in pushes)
