"""Edited model files in the commands that read them: entries once led to an internal error, and are told in a line."""

import copy
import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[2] / "attacks"))

from fuzzing import models
from fuzzing.running import Target, case_of

pytestmark = pytest.mark.slow

#: What is edited: the model, the way to the entry, what stands there then (or GONE), who reads it, what is said.
GONE = object()
PREDICT = ("predict", "MODEL", "DATA")
EDITS = [
    ("held out", ("encoding", "levels", "town"), ["Ede"], ("explain", "MODEL"), "features, its planes"),
    ("held out", ("encoding", "numbers", "often"), GONE, ("export", "MODEL", "--to", "sql"), "features, its planes"),
    ("held out", ("encoding", "columns", 0, "name"), "x", ("verify", "MODEL", "DATA"), "'age' is no column"),
    ("held out", ("encoding", "columns", 1, "name"), "age", PREDICT, "a column stands there twice"),
    ("held out", ("encoding", "numbers", "age", 1), 0.0, PREDICT, "no standard deviation"),
    ("held out", ("encoding", "numbers", "age", 0), "nan", PREDICT, "no finite number"),
    ("held out", ("encoding", "levels", "town"), ["Ede"] * 3, PREDICT, "or one twice"),
    ("held out", ("encoding", "words", "note", 1), [1.0], PREDICT, "one number for each"),
    ("held out", ("encoding", "degree"), 0, ("explain", "MODEL"), "the degree is 0"),
    ("held out", ("encoding", "degree"), 10**18, ("explain", "MODEL"), "features, its planes"),
    ("held out", ("encoding", "kind"), ["table"], ("explain", "MODEL"), "of the kind"),
    ("held out", ("fitted", "threshold_choice_", "map", 1, 0), "aimless", ("explain", "MODEL"), "lacks 'aim'"),
    ("voted", ("fitted", "ballots", 0, "map", 0, 1), 0.5, PREDICT, "rows with 3 columns"),
    ("voted", ("fitted", "ballots", 0, "map", 1, 1, "array", "values", 0), 10**6, PREDICT, "of no row"),
    ("voted", ("fitted", "ballots"), [], PREDICT, "votes of 0 planes, not of 1"),
    ("voted", ("fitted", "mistakes_"), GONE, ("report", "MODEL", "DATA", "-o", "o.html"), "mistakes_ is missing"),
]  # fmt: skip


@pytest.fixture(scope="module")
def originals():
    return {name: (document, file) for name, document, file in models.originals(("held out", "matrix", "voted"))}


@pytest.mark.parametrize(("model", "way", "value", "words", "said"), EDITS)
def test_an_edited_entry_is_refused_in_words(model, way, value, words, said, originals):
    document, file = originals[model]
    holder = document = copy.deepcopy(document)
    for step in way[:-1]:
        holder = holder[step]
    if value is GONE:
        del holder[way[-1]]
    else:
        holder[way[-1]] = value
    code, answer = models.answer((".json", models.sealed(document), words, file.name))
    assert code == 2
    assert said in answer
    assert "internal error" not in answer


def test_scores_as_large_as_floats_are_drawn(originals):
    document, file = originals["held out"]
    document = copy.deepcopy(document)
    document["intercept"] = [1.5e308]
    document["coefficients"][0][0] = -1e308
    code, answer = models.answer(
        (".json", models.sealed(document), ("report", "MODEL", "DATA", "-o", "o.html"), file.name)
    )
    assert code == 0, answer


def test_a_path_that_no_float_can_prove_is_refused():
    case = case_of("models", Target(models.models, models.command), 91003116)
    code, answer = models.answer(case)
    assert code == 2
    assert "--path cannot be proven for these rows" in answer
