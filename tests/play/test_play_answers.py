"""Answers to the page's questions, against the library called directly and the program that the page gives away."""

import gzip
import io
import json
import re
import time

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet
from sklearn.preprocessing import PolynomialFeatures

import linsep
from asking import ANSWERS, asked, preset
from linsep import HardMarginSVC, LinearSVC, LogisticRegression, Perceptron, ZeroOneClassifier, losses
from linsep.arithmetic.exact._clock import ProofTimeoutError
from linsep.play.answers import Answers
from linsep.play.errors import RefusedError
from linsep.play.files import MOST_BYTES, Files
from linsep.play.methods import ALGORITHMS, SETTINGS, described, estimator_of
from linsep.play.presets import PRESETS
from linsep.play.protocol import read


@pytest.mark.parametrize(
    ("method", "model"),
    [
        ({"name": "perceptron"}, Perceptron(order="cyclic", keep="best", max_iter=100)),
        ({"name": "hard_margin"}, HardMarginSVC()),
        ({"name": "soft_margin", "C": 3}, LinearSVC(C=3.0)),
        ({"name": "logistic", "intercept": False}, LogisticRegression(fit_intercept=False)),
        ({"name": "zero_one"}, ZeroOneClassifier(time_limit=5.0)),
    ],
)
def test_a_fit_is_the_librarys_own_to_the_last_digit(method, model):
    points, X, y = preset("separable")
    answer = asked("fit", points=points, method=method)
    model.fit(X, y)
    assert answer["model"]["coef"] == model.coef_[0].tolist()
    assert answer["model"]["intercept"] == model.intercept_[0]
    frames = answer["film"]["frames"]
    np.testing.assert_allclose(frames["plane"][-1], [*model.coef_[0], model.intercept_[0]], rtol=1e-5, atol=1e-12)
    z = np.where(y > 0, 1, -1) * (X @ model.coef_[0] + model.intercept_[0])
    np.testing.assert_allclose(answer["each"]["z"], z, rtol=1e-5)
    np.testing.assert_allclose(answer["each"]["distance"], z / np.linalg.norm(model.coef_), rtol=1e-5)


@pytest.mark.parametrize("names", [["a"], ["a", "a"], ["a", ""], ["a", 1], "ab", ["a", "b" * 81], {"a": 1}])
def test_names_that_are_none_are_malformed(names):
    answer = asked("fit", points=preset("separable")[0], method={"name": "perceptron"}, names=names)
    assert answer["kind"] == "error"
    assert "two different words" in answer["why"]


def test_a_film_cut_short_still_reports_the_whole_fit():
    points, X, y = preset("margin")
    answer = asked("fit", points=points, method={"name": "perceptron"}, steps=5)
    assert len(answer["film"]["frames"]["step"]) <= 6
    assert answer["model"]["coef"] == Perceptron(order="cyclic", keep="best", max_iter=100).fit(X, y).coef_[0].tolist()


def test_a_proof_that_takes_too_long_is_said_without_parameters(monkeypatch):
    def late(*words, **named):
        raise ProofTimeoutError("undecided within time_limit=60 s; raise time_limit")

    monkeypatch.setattr("linsep.play.answers.record_fit", late)
    answer = asked("fit", points=preset("separable")[0], method={"name": "hard_margin"})
    assert answer["kind"] == "refused"
    assert "could not be proven in time" in answer["why"]


def test_a_draft_is_the_model_of_its_film():
    points, _, _ = preset("margin")
    answer = asked("fit", points=points, method={"name": "perceptron", "keep": "last"}, steps=5, draft=True)
    np.testing.assert_allclose(
        [*answer["model"]["coef"], answer["model"]["intercept"]], answer["film"]["frames"]["plane"][-1], rtol=1e-5
    )


def test_m13_the_verdict_comes_with_its_proof():
    points, X, y = preset("separable")
    found = asked("separability", points=points)
    w, b = np.array(found["plane"][:2]), found["plane"][2]
    z = np.where(y > 0, 1, -1) * (X @ w + b)
    assert found["separable"]
    assert found["verified"]
    assert found["margin"] == pytest.approx(z.min() / np.linalg.norm(w))
    points, X, y = preset("overlap")
    found = asked("separability", points=points)
    rows, weights = np.array(found["points"]), np.array(found["weights"])
    assert not found["separable"]
    assert found["verified"]
    assert len(rows) <= 4
    for side in (0, 1):
        assert weights[y[rows] == side].sum() == pytest.approx(1)
        np.testing.assert_allclose(weights[y[rows] == side] @ X[rows[y[rows] == side]], found["common"])
    assert "of row" in found["words"] or "row " in found["words"]


def test_xor_is_separable_in_squares_only():
    points, _, _ = preset("xor")
    assert not asked("separability", points=points)["separable"]
    assert asked("separability", points=points, features="squares")["separable"]
    film = asked("fit", points=points, features="squares", method={"name": "perceptron"}, window=[[-4, 4], [-3, 3]])[
        "film"
    ]
    assert (film["picture"]["kind"], film["picture"]["u"][0], film["picture"]["v"][-1]) == ("map", -4, 3)
    assert film["frames"]["zero_one"][-1] == 0
    phi = PolynomialFeatures(2, include_bias=False)
    corner = phi.fit_transform([[-4.0, -3.0]])[0]
    np.testing.assert_allclose([part[0] for part in film["picture"]["basis"]], corner)


@pytest.mark.parametrize("name", PRESETS)
def test_presets_show_what_they_say(name):
    points, X, y = preset(name)
    separable = linsep.separability(X, y).separable
    assert separable == (name in ("separable", "margin", "outlier"))
    assert (np.abs(X) <= [4, 3]).all(), "all of it is in the picture"
    assert (
        asked("fit", points=points, features=PRESETS[name].features, method={"name": PRESETS[name].method})["kind"]
        == "film"
    )


def test_outliers_make_least_squares_err_where_others_do_not():
    points, _, _ = preset("outlier")
    methods = [{"name": name} for name in ("least_squares", "hard_margin", "logistic")]
    found = {one["name"]: one["mistakes"] for one in asked("planes", points=points, methods=methods)["planes"]}
    assert found["least_squares"] > found["hard_margin"] == 0 == found["logistic"]


def test_the_small_margin_takes_more_mistakes():
    counts = {}
    for name in ("separable", "margin"):
        film = asked("fit", points=preset(name)[0], method={"name": "perceptron"})["film"]
        counts[name] = film["frames"]["updates"][-1]
        assert counts[name] <= film["bound"]["most"]
    assert counts["margin"] > 5 * counts["separable"]


def test_planes_and_a_hand_drawn_line_are_judged_alike():
    points, X, y = preset("overlap")
    (found,) = asked("planes", points=points, methods=[{"name": "logistic"}])["planes"]
    judged = asked("judge", points=points, plane=found["plane"])
    z = np.where(y > 0, 1, -1) * (X @ found["plane"][:2] + found["plane"][2])
    assert judged["mistakes"] == found["mistakes"] == (z <= 0).sum()
    for name, value in judged["risks"].items():
        assert value == found["risks"][name] == pytest.approx(losses.get(name).value(z).mean())
    (hard,) = asked("planes", points=points, methods=[{"name": "hard_margin"}])["planes"]
    assert hard == {"name": "hard_margin", "why": "no line separates the classes"}


@pytest.mark.parametrize(
    ("method", "why"),
    [
        ({"name": "perceptron", "C": 1}, "it has no penalty"),
        ({"name": "perceptron", "eta": 1}, "every step has length 1"),
        ({"name": "hard_margin", "C": 1}, "no mistake is allowed"),
        ({"name": "sgd", "loss": "zero_one"}, "flat almost everywhere"),
        ({"name": "sgd", "keep": "vote"}, "Only the perceptron lets its lines vote"),
        ({"name": "gradient_descent", "loss": "perceptron"}, "least at w = 0"),
        ({"name": "gradient_descent", "order": "random"}, "all examples at once"),
        ({"name": "soft_margin", "C": 0}, "number from 1e-06"),
        ({"name": "soft_margin", "C": "x<y"}, "number from 1e-06"),
        ({"name": "perceptron", "max_iter": 2.5}, "whole number"),
        ({"name": "perceptron", "order": "sideways"}, "none of cyclic, random, worst"),
        ({"name": "perceptron", "intercept": 1}, "yes or no"),
        ({"name": "nearest"}, "none of perceptron"),
        ({"name": "perceptron", "colour": 1}, "the settings are order"),
    ],
)
def test_what_makes_no_sense_is_explained(method, why):
    answer = asked("fit", points=preset("separable")[0], method=method)
    assert answer["kind"] == "refused"
    assert why in answer["why"]


def test_hard_margin_on_an_overlap_is_refused_with_the_proof():
    answer = asked("fit", points=preset("overlap")[0], method={"name": "hard_margin"})
    assert answer["kind"] == "refused"
    assert answer["overlap"]
    assert "a point lies in both convex hulls" in answer["why"]
    assert asked("separability", points=preset("overlap")[0])["words"] in answer["why"], "rows are counted alike"


def test_one_class_is_refused_in_the_words_of_the_picture():
    answer = asked("fit", points=dict(x=[1, 2], y=[1, 2], positive=[1, 1]), method={"name": "logistic"})
    assert answer["why"].startswith("There is one class only. Draw some squares (■), too")


def test_every_setting_of_every_method_is_used_or_has_a_reason():
    known = described()
    for name, algorithm in ALGORITHMS.items():
        assert set(algorithm.uses) | set(algorithm.without) == set(SETTINGS), name
        assert not set(algorithm.uses) & set(algorithm.without), name
        assert estimator_of({"name": name}) is not None
    json.dumps(known, allow_nan=False)


def test_a_run_that_is_given_up_ends_early():
    question = read(
        json.dumps({"v": 1, "id": 1, "do": "fit", "points": preset("margin")[0], "method": {"name": "perceptron"}})
    )
    asked_so_far = []
    answer = json.loads(ANSWERS.answer(question, lambda: len(asked_so_far) > 2 or asked_so_far.append(1)))
    assert len(answer["film"]["frames"]["step"]) <= 6


# --- files


@pytest.fixture
def answers():
    held = Files()
    yield Answers(held)
    held.close()


CSV = b"height,weight,kind\n1,2,a\n2,1,a\n5,6,b\n6,5,b\n"


def test_two_columns_of_a_file_become_points(answers):
    about = answers.files.add("a<b>.csv", CSV)
    assert (about["rows"], about["columns"], about["numeric"]) == (
        4,
        ["height", "weight", "kind"],
        ["height", "weight"],
    )
    found = asked("columns", answers, file=about["file"], target="kind", columns=["height", "weight"])
    assert found["points"] == {"x": [1, 2, 5, 6], "y": [2, 1, 6, 5], "positive": [0, 0, 1, 1]}
    assert found["classes"] == ["a", "b"]


def test_many_columns_are_seen_from_their_plane(answers):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 5))
    lines = [
        ",".join("pqrst") + ",kind",
        *[",".join(map(repr, row.tolist())) + f",{int(row[0] + row[3] > 0)}" for row in X],
    ]
    about = answers.files.add("many.csv", "\n".join(lines).encode())
    found = asked("columns", answers, file=about["file"], target="kind", columns=None)
    assert found["names"] == list("pqrst")
    film = asked("fit", answers, file=found["held"], method={"name": "soft_margin"})["film"]
    assert film["picture"]["kind"] == "projection"
    answer = asked("fit", answers, file=found["held"], features="squares", method={"name": "soft_margin"})
    assert "made of two columns" in answer["why"]


def test_more_than_two_classes_are_one_against_the_rest(answers):
    about = answers.files.add("a.csv", b"u,v,k\n1,2,a\n2,1,a\n5,6,b\n6,5,c\n")
    found = asked("columns", answers, file=about["file"], target="k", columns=["u", "v"])
    assert found["points"]["positive"] == [1, 1, 0, 0]
    assert "a, the most frequent, stands against the rest" in found["notes"][0]


@pytest.mark.parametrize(
    ("name", "data", "why"),
    [
        ("a.csv", b"", "a.csv"),
        ("a.parquet", b"PAR1 no", "a.parquet"),
        ("a.csv", b"a\n1\n2\n", "two columns"),
        ("a.csv", b"a,b\n" + b"1,2\n" * 50_001, "50,001 rows"),
        ("a.csv", b",".join(b"c%d" % k for k in range(301)) + b"\n" + b",".join([b"1"] * 301) + b"\n", "301 columns"),
        ("a.csv", b"x" * (MOST_BYTES + 1), "at most 20,000,000"),
    ],
)
def test_files_that_cannot_be_used_are_refused(answers, name, data, why):
    with pytest.raises(ValueError, match=why):
        answers.files.add(name, data)


def packed(kind):
    """Return little that unpacks to much."""
    if kind == "parquet":
        table = pa.table({"a": np.zeros(20_000_000), "b": np.zeros(20_000_000, dtype=np.int8)})
        parquet.write_table(table, into := io.BytesIO())
        return into.getvalue()
    if kind == "columns":
        return gzip.compress(b",".join([b"1"] * 1_000_000) + b"\n" + b",".join([b"1"] * 1_000_000))
    return pa.compress(b"a,b\n" + b"1,2\n" * 50_000_000, "zstd", asbytes=True)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["parquet", "text", "columns"])
def test_a_small_file_that_unpacks_to_much_is_refused_in_time(answers, kind):
    data = packed(kind)
    assert len(data) < 1_000_000
    begun = time.process_time()
    with pytest.raises(RefusedError, match=r"room for 160\.0 MB|1,000,000 columns"):
        answers.files.add("a.csv", data)
    assert time.process_time() - begun < 5


def test_questions_about_files_that_are_gone_are_refused(answers):
    first = answers.files.add("a.csv", CSV)["file"]
    for _ in range(8):
        answers.files.add("b.csv", CSV)
    for file in (first, "../../etc/passwd", None, 3):
        assert asked("columns", answers, file=file, target="kind", columns=None)["kind"] == "refused"
        assert asked("fit", answers, file=file, method={"name": "logistic"})["kind"] == "refused"
    kept = answers.files.add("b.csv", CSV)["file"]
    for target, columns in (
        ("nothing", None),
        ("kind", ["height", "height"]),
        ("kind", ["kind", "height"]),
        ("kind", ["x", "y"]),
    ):
        assert asked("columns", answers, file=kept, target=target, columns=columns)["kind"] == "refused"


@pytest.mark.slow
@pytest.mark.parametrize("name", ["gradient_descent", "sgd"])
@pytest.mark.parametrize(("eta", "word"), [(50, "η = 50.0 is too large"), (1e-5, "η = 1e-05 is too small")])
def test_m20_a_step_size_is_named_in_the_pages_words_and_another_one_helps(name, eta, word):
    method = {"name": name, "schedule": "constant", "eta": eta}
    film = asked("fit", points=preset("overlap")[0], method=method)["film"]
    assert word in film["advice"]
    assert "eta=" not in film["advice"] + " ".join(film["notes"])
    better = asked("fit", points=preset("overlap")[0], method=method | film["try"])["film"]
    assert better["frames"]["best"][-1] < film["frames"]["best"][-1]
    assert better["advice"] == ""


def test_passes_that_are_used_up_are_told_without_parameters():
    method = {"name": "gradient_descent", "schedule": "constant", "eta": 0.1}
    (note,) = asked("fit", points=preset("overlap")[0], method=method)["film"]["notes"]
    assert note.startswith("It has not arrived: stopped after 100 passes; allow more passes")
    assert "=" not in note


@pytest.mark.parametrize("name", ["gradient_descent", "sgd"])
@pytest.mark.parametrize("schedule", SETTINGS["schedule"].choices)
@pytest.mark.parametrize("eta", [1e-4, 1e4])
def test_every_schedule_has_a_film_and_what_is_advised_can_be_chosen(name, schedule, eta):
    method = {"name": name, "schedule": schedule, "eta": eta, "max_iter": 20}
    film = asked("fit", points=preset("separable")[0], method=method, steps=20, draft=True)["film"]
    assert not re.search(r"\w=|\(eta", film["advice"])
    if film["try"]:
        assert asked("fit", points=preset("separable")[0], method=method | film["try"], draft=True)["kind"] == "film"


@pytest.mark.parametrize(
    ("name", "method"),
    [
        ("overlap", {"name": "gradient_descent", "stopping": "zero_one_unchanged"}),
        ("separable", {"name": "perceptron", "max_iter": 1}),
        ("overlap", {"name": "soft_margin", "C": "inf"}),
        ("overlap", {"name": "perceptron"}),
        ("overlap", {"name": "gradient_descent", "C": "inf"}),
    ],
)
def test_notes_name_no_class_and_no_parameter(name, method):
    film = asked("fit", points=preset(name)[0], method=method)["film"]
    assert film["notes"]
    for note in film["notes"]:
        assert note.startswith("It has not arrived: ")
        assert not re.search(r"max_iter|tol=|solver|Classifier|SVC|classes 0 and 1|within 1\.0e\+00", note), note


def test_a_perceptron_that_a_proof_has_stopped_says_what_is_proven():
    film = asked("fit", points=preset("overlap")[0], method={"name": "perceptron"})["film"]
    ended = dict(film["facts"])["ended"]
    assert ended == "stopped because it is proven that no plane separates the classes (not converged)"


@pytest.mark.parametrize(
    ("method", "loss"),
    [
        ({"name": "logistic", "C": 3}, lambda z: np.logaddexp(0, -z)),
        ({"name": "least_squares", "C": 2}, lambda z: (1 - z) ** 2),
    ],
)
@pytest.mark.parametrize("features", ["plain", "squares"])
def test_gradients_and_dual_variables_are_those_of_the_plane_reported(method, loss, features):
    points, X, y = preset("overlap")
    answer = asked("fit", points=points, method=method, features=features)
    gradient, dual = np.array(answer["each"]["gradient"]), np.array(answer["each"]["dual"])
    Z = X if features == "plain" else PolynomialFeatures(2, include_bias=False).fit_transform(X)
    Z, signs = np.column_stack([Z, np.ones(len(X))]), np.where(y > 0, 1, -1)
    theta = np.array([*answer["model"]["coef"], answer["model"]["intercept"]])
    for part, h in zip(gradient, 1e-5 * np.eye(len(theta)), strict=True):
        slope = (loss(signs * (Z @ (theta + h))) - loss(signs * (Z @ (theta - h)))) / 2e-5
        np.testing.assert_allclose(part, slope, rtol=1e-3, atol=1e-5)
    np.testing.assert_allclose((dual * signs) @ Z, [*theta[:-1], 0], atol=0.05)  # the gap is 1e-4 of the objective


def test_the_hard_margin_of_points_that_lie_on_each_other_is_refused_in_words():
    rng = np.random.default_rng(0)
    x, y = np.round(rng.standard_normal((2, 300)), 1)
    points = dict(x=x.tolist(), y=y.tolist(), positive=(np.arange(300) % 2).tolist())
    answer = asked("fit", points=points, method={"name": "hard_margin"})
    assert answer["kind"] == "refused"
    assert "no line separates the classes" in answer["why"]


def test_a_method_that_cannot_be_compared_says_why_and_leaves_the_others():
    methods = [{"name": "sgd", "keep": "vote"}, {"name": "gradient_descent"}, {"name": "sgd", "loss": "zero_one"}]
    planes = asked("planes", points=preset("overlap")[0], methods=methods)["planes"]
    assert [one["name"] for one in planes] == ["sgd", "gradient_descent", "sgd"]
    assert "mistakes" in planes[1]
    assert "flat" in planes[2]["why"]


def test_what_is_proven_is_said_without_parameters():
    for name in ("logistic", "gradient_descent", "hard_margin"):
        words = asked("fit", points=preset("separable")[0], method={"name": name})["model"]["words"]
        assert "tol" not in words
        assert "proven" in words


def test_a_draft_of_stochastic_descent_with_a_penalty_is_kept_by_passes_and_ends_where_the_fit_does():
    body = dict(points=preset("overlap")[0], method={"name": "sgd"})
    draft, fitted = asked("fit", **body, draft=True), asked("fit", **body)
    assert draft["model"]["coef"] == fitted["model"]["coef"]
    steps, updates = (len(answer["film"]["frames"]["step"]) for answer in (draft, fitted))
    assert steps < updates / 4


@pytest.mark.parametrize("value", [{}, [], [["hinge"]], None, 3])
def test_a_word_that_is_no_word_is_refused(value):
    method = {"name": "gradient_descent", "loss": value}
    assert asked("fit", points=preset("overlap")[0], method=method)["kind"] == "refused"


def test_columns_that_are_no_names_are_refused(tmp_path):
    files = Files(tmp_path)
    number = files.add("a.csv", b"a,b,kind\n1,2,x\n3,4,y\n")["file"]
    with pytest.raises(RefusedError, match="two different columns"):
        files.choose(number, "kind", [{}, ["a"]])
