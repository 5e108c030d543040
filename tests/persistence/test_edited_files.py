"""Whatever is edited in a model file, digests that fit included: it is refused by name, or predicts what it did."""

import copy
import json
import random

import numpy as np
import pytest

from linsep import save, verify
from linsep.certificates.outcome import Verification
from linsep.persistence.document import digest as _digest
from linsep.persistence.document import in_one_line as _line
from linsep.persistence.model_file import ModelFileError, read
from proven_models import CASES, MODELS, forged

#: Edits tried of each model; `benchmarks/forge.py` tries more, and in concert.
TRIES = 60
#: The hash of four rows.
PARTED = {"rows": 4, "columns": 3, "X": "", "y": "", "sample_weight": None}


def places(value, path=()):
    """Yield the way to every value of a document; of long lists, the first two and the last."""
    if path:
        yield path
    if isinstance(value, dict):
        for key in value:
            yield from places(value[key], (*path, key))
    elif isinstance(value, list):
        for k in sorted({0, 1, len(value) - 1} & set(range(len(value)))):
            yield from places(value[k], (*path, k))


def others(value):
    """Return what could stand there instead: another kind, another size, another order."""
    found = [None, "text", "nan", "inf", "-1/0", True, -1, 0, 1.5, 10**400, 1e308, -1e-320, [], {}, [[]]]
    found += [["a", "b", "c"], {"float": "nan"}, {"float": "inf"}]
    if isinstance(value, bool):
        found += [not value]
    elif isinstance(value, int | float):
        found += [-value, value + 1, value * 1.0001]
    elif isinstance(value, list):
        found += [value[::-1], value[:-1], value + value, [*value, None], [value]]
    elif isinstance(value, str):
        found += [value + "x", value[:-1], 3]
    else:
        found += [{**(value or {}), "more": 1}]
    return [other for other in found if type(other) is not type(value) or other != value]


def edits(document, seed):
    """Yield edited copies, each with the way to what is different."""
    choose = random.Random(seed)
    ways = list(places(document))
    for _ in range(TRIES):
        # Each section as often as any other, however many numbers it has.
        section = choose.choice(sorted({way[0] for way in ways}))
        way = choose.choice([way for way in ways if way[0] == section])
        edited = copy.deepcopy(document)
        parent = edited
        for step in way[:-1]:
            parent = parent[step]
        if choose.random() < 0.1:
            del parent[way[-1]]
        else:
            parent[way[-1]] = choose.choice(others(parent[way[-1]]))
        if way != ("digest",):
            edited["digest"] = _digest({name: _line(part) for name, part in edited.items()})
        yield way, edited


def outcome_of(path, X, y):
    """Return what `verify` says; the only other way out is an error that names the file."""
    try:
        return verify(path, X, y)
    except ModelFileError as error:
        return Verification(False, str(error).removeprefix(f"{path}: "))


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_m13_m14_m18_every_edited_file_is_refused_by_name_or_predicts_the_same(name, tmp_path):
    _, X, y = CASES[name]
    path = tmp_path / "model.json"
    save(MODELS[name], path, data=(X, y), encoding={"any": [1]})
    document, predicted = json.loads(path.read_text()), MODELS[name].predict(X)
    refused = 0
    for way, edited in edits(document, seed=name):
        path.write_text(json.dumps(edited))
        outcome = outcome_of(path, X, y)
        assert isinstance(outcome, Verification), way
        if not outcome:
            assert len(outcome.reason) > 10, way
            assert not outcome.reason.startswith(str(tmp_path)), way
            refused += 1
        elif way == ("threshold",):  # the sentence is one about another cut, and says so
            at = edited["threshold"]
            assert not at or f"cut at {at:g}" in outcome.reason, way
        elif "vote" not in outcome.reason:
            assert np.array_equal(read(path).model.predict(X), predicted), way
    assert refused > TRIES / 3


@pytest.mark.parametrize(
    ("section", "value", "word"),
    [
        ("data", {}, "data must have"),
        ("data", PARTED | {"parts": [1, 2]}, "the parts of its data are no numbers of rows that sum up"),
        ("data", PARTED | {"parts": [4, 0]}, "the parts of its data are no numbers of rows that sum up"),
        ("data", PARTED | {"parts": "4"}, "parts is '4', which is no list"),
        ("versions", {"linsep": 3}, "versions"),
        ("features", {"count": 3, "names": "abc"}, "names"),
    ],
)
def test_sections_are_what_they_have_to_be(section, value, word, tmp_path):
    path = tmp_path / "model.json"
    save(MODELS["logistic"], path)
    forged(path, lambda document: document.update({section: value}))
    with pytest.raises(ModelFileError, match=word):
        verify(path, *CASES["logistic"][1:])
