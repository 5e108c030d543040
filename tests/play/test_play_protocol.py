"""The protocol of the page: what is read, what is refused, and that garbage ends a question and nothing else."""

import json
from contextlib import suppress

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from asking import ANSWERS, asked
from linsep.play import protocol
from linsep.play.errors import RefusedError
from linsep.play.protocol import MalformedError, Question, read, write

SETTINGS = settings(max_examples=100, deadline=None)
POINTS = {"x": [0, 0.5, 2, 3], "y": [0, 1, 1, 2], "positive": [0, 0, 1, 1]}


def test_a_question_is_read_and_an_answer_written():
    assert read('{"v": 1, "id": 7, "do": "fit", "steps": 3}') == Question(7, "fit", {"steps": 3})
    assert json.loads(write(7, "film", a=0.1)) == {"v": 1, "id": 7, "kind": "film", "a": 0.1}
    with pytest.raises(ValueError, match="Out of range float"):
        write(7, "film", a=np.nan)


@pytest.mark.parametrize(
    ("message", "why"),
    [
        ("", "not JSON"),
        ("[1]", "a JSON object"),
        ("[" * 200_000, "nested too deeply|not JSON"),
        ('{"v": 1, "id": 1, "do": "fit", "steps": NaN}', "NaN is no number"),
        ('{"v": 1, "id": 1, "do": "fit", "steps": -Infinity}', "-Infinity is no number"),
        ('{"v": 1, "id": 1, "do": "fit", "steps": ' + "9" * 5000 + "}", "not JSON"),
        ('{"v": 1, "do": "hello"}', "has an id"),
        ('{"v": 1, "id": -1, "do": "hello"}', "has an id"),
        ('{"v": 1, "id": true, "do": "hello"}', "has an id"),
        ('{"v": 2, "id": 1, "do": "hello"}', "speaks version 1, not '2'; load the page again"),
        ('{"v": 1, "id": 1, "do": "rm"}', "none of the questions"),
        ('{"v": 1, "id": 1, "do": ["fit"]}', "none of the questions"),
        ('{"v": 1, "id": 1, "do": "hello", "x": 1}', "hello has no entry 'x'"),
        ('"' + "x" * protocol.MOST_BYTES + '"', "at most 4,000,000 are read"),
    ],
)
def test_what_is_no_question_is_said(message, why):
    with pytest.raises(MalformedError, match=why):
        read(message)


@pytest.mark.parametrize(
    ("value", "why"),
    [
        (None, "points are"),
        ({"x": [1], "y": [1]}, "points are"),
        ({"x": [1, 2], "y": [1], "positive": [1]}, "2 x, 1 y and 1 classes"),
        ({"x": [1e10], "y": [1], "positive": [1]}, "not between"),
        ({"x": [10**400], "y": [1], "positive": [1]}, "not between"),
        ({"x": [True], "y": [1], "positive": [1]}, "no number"),
        ({"x": ["1"], "y": [1], "positive": [1]}, "no number"),
        ({"x": [1], "y": [1], "positive": [2]}, "class is 0 or 1"),
        ({"x": [1], "y": [1], "positive": ["<b>"]}, "class is 0 or 1"),
        ({"x": [[1]], "y": [1], "positive": [1]}, "no number"),
        ({"x": [1] * 20_001, "y": [1], "positive": [1]}, "at most 20,000"),
    ],
)
def test_points_that_are_none_are_said(value, why):
    with pytest.raises(MalformedError, match=why):
        protocol.points(value)


def test_no_points_are_refused_in_words():
    with pytest.raises(RefusedError, match="Click into the picture"):
        protocol.points({"x": [], "y": [], "positive": []})


@pytest.mark.parametrize("window", [[1, 2], [[0, 1]], [[1, 0], [0, 1]], [[0, 1], [0, "1"]], "wide"])
def test_a_window_goes_from_left_to_right(window):
    answer = asked("fit", points=POINTS, method={"name": "perceptron"}, window=window)
    assert answer["kind"] == "error"


KNOWN = st.sampled_from(
    ["v", "id", "fit", "points", "names", "method", "features", "steps", "x", "y", "positive", "name", "C"]
)
LEAVES = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | KNOWN
GARBAGE = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3) | KNOWN, inner, max_size=4)
)


@SETTINGS
@given(st.text() | GARBAGE.map(json.dumps))
def test_any_message_is_a_question_or_malformed(message):
    with suppress(MalformedError):
        assert read(message).do in protocol.QUESTIONS


@SETTINGS
@given(do=st.sampled_from(list(protocol.QUESTIONS)), body=st.data())
def test_any_question_has_an_answer(do, body):
    entries = {
        name: body.draw(GARBAGE | st.just(POINTS)) for name in protocol.QUESTIONS[do] if body.draw(st.booleans())
    }
    answer = json.loads(ANSWERS.answer(Question(3, do, entries)))
    assert (answer["v"], answer["id"]) == (1, 3)
    assert ("why" in answer) == (answer["kind"] in ("refused", "error"))


@pytest.mark.slow
@SETTINGS
@given(
    rows=st.lists(
        st.tuples(
            st.floats(-1e9, 1e9, allow_nan=False) | st.integers(-3, 3),
            st.floats(-1e9, 1e9, allow_nan=False) | st.integers(-3, 3),
            st.integers(0, 1),
        ),
        max_size=12,
    ),
    method=st.sampled_from(
        ["perceptron", "soft_margin", "logistic", "least_squares", "hard_margin", "gradient_descent"]
    ),
    features=st.sampled_from(["plain", "standardised", "squares"]),
)
def test_any_points_have_a_film_or_a_reason(rows, method, features):
    x, y, positive = (list(part) for part in zip(*rows, strict=True)) if rows else ([], [], [])
    points = dict(x=x, y=y, positive=positive)
    answer = asked("fit", points=points, features=features, method={"name": method}, steps=20)
    assert answer["kind"] == "film" or (answer["kind"] == "refused" and answer["why"])
