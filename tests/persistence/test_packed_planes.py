"""Very many coefficients: packed in the file, bit for bit, read by the checker too, refused where damaged."""

import base64
import json
import struct

import numpy as np
import pytest
from scipy import sparse

from linsep import LinearSVC, LogisticRegression, checker, load, save, verify
from linsep.persistence import document as layout
from linsep.persistence import planes
from linsep.persistence.model_file import ModelFileError

rng = np.random.default_rng(0)
X = np.where(rng.random((60, 7)) < 0.6, rng.normal(size=(60, 7)), 0.0)
three = np.array(["a", "b", "c"])[np.argmax(X[:, :3] + 0.3 * rng.normal(size=(60, 3)), axis=1)]


def by_hand(section):
    """The numbers of a packed section, one by one, by the format's own words."""
    K, d = section["shape"]
    values = [x for (x,) in struct.iter_unpack("<d", base64.b64decode(section["values"]))]
    if "ends" not in section:
        return [values[k * d : (k + 1) * d] for k in range(K)]
    columns, rows, start = base64.b64decode(section["columns"]), [[0.0] * d for _ in range(K)], 0
    for row, end in zip(rows, section["ends"], strict=True):
        for i in range(start, end):
            row[int.from_bytes(columns[4 * i : 4 * i + 4], "little")] = values[i]
        start = end
    return rows


@pytest.mark.parametrize("share", [1.0, 0.5, 0.0])
def test_many_coefficients_come_back_to_the_bit(share):
    W = np.where(rng.random((3, 5000)) < share, rng.normal(size=(3, 5000)), 0.0)
    W[0, :4] = -0.0, 5e-324, 1.7976931348623157e308, 0.1
    section = planes.written(W)
    assert set(section) == {"shape", "values"} | (set() if share == 1.0 else {"ends", "columns"})
    assert np.array(by_hand(section)).tobytes() == W.tobytes()
    again = planes.read(json.loads(json.dumps(section)), 5000)
    assert again.tobytes() == W.tobytes()
    assert again.flags.writeable


def test_a_large_model_is_half_its_decimals_and_a_sparse_one_a_fraction(tmp_path):
    d = 4000
    words = sparse.random_array((90, d), density=0.05, random_state=np.random.default_rng(1), format="csr")
    labels = np.arange(90) % 6
    for name, model, least in (("dense", LogisticRegression(), 1.7), ("sparse", LinearSVC("l1", "squared_hinge"), 20)):
        model.fit(words, labels)
        save(model, path := tmp_path / name)
        again = load(path)
        assert again.coef_.tobytes() == model.coef_.tobytes()
        assert verify(path, words, labels)
        section = json.loads(path.read_text())["coefficients"]
        assert len(json.dumps(model.coef_.tolist())) > least * len(json.dumps(section))


def test_small_models_stay_readable_numbers(tmp_path):
    model = LogisticRegression().fit(X, three)
    save(model, tmp_path / "m.json")
    assert json.loads((tmp_path / "m.json").read_text())["coefficients"] == model.coef_.tolist()


@pytest.fixture(params=[0.1, 1e-3], ids=["dense", "sparse"])
def packed(request, monkeypatch, tmp_path):
    """A small model, packed all the same: its file, and how to write it again."""
    monkeypatch.setattr(planes, "READABLE", 0)
    model = LogisticRegression(C=request.param, l1_ratio=float(request.param < 0.1)).fit(X, three)
    path = tmp_path / "m.json"
    save(model, path)
    document = json.loads(path.read_text())

    def write(**changes):
        document["coefficients"] |= changes
        lines = {name: layout.in_one_line(value) for name, value in document.items()}
        document["digest"] = layout.digest(lines)
        path.write_text(json.dumps(document))

    return path, document, write


def test_the_independent_checker_reads_packed_planes(packed):
    path, document, _ = packed
    rows = [([*range(7)], row.tolist()) for row in X]
    found = checker.check(document, rows, three.tolist())
    assert found.code == 0, found
    unpacked = document | {"coefficients": load(path).coef_.tolist()}
    assert found.bounds == checker.check(unpacked, rows, three.tolist()).bounds
    assert verify(path, X, three).proven


def test_another_number_in_packed_planes_is_no_proof(packed):
    path, document, write = packed
    W = planes.read(document["coefficients"], 7)
    W[0, 0] += 0.25
    write(**planes.written(W))
    assert not verify(path, X, three)
    assert checker.check(document, [([*range(7)], row.tolist()) for row in X], three.tolist()).code


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"values": "AAAA"}, "cannot be used"),
        ({"values": "!!"}, "cannot be used"),
        ({"values": 3}, "values is 3, which is no text"),
        ({"shape": [3, 10**12]}, "7 columns need coefficients"),
        ({"shape": [10**12, 7]}, "cannot be used"),
        ({"shape": [3, 7.0]}, "shape is 7.0"),
        ({"more": 1}, "a list of numbers, or shape"),
        ({"values": base64.b64encode(np.full(21, np.nan).tobytes()).decode()}, "cannot be used"),
    ],
)
def test_damaged_packed_planes_are_refused(packed, changes, why):
    path, _, write = packed
    write(**changes)
    with pytest.raises(ModelFileError, match=why):
        load(path)


@pytest.mark.parametrize(
    ("columns", "ends", "why"),
    [
        ([1, 0, 2], [3, 3], "must grow, below 3"),
        ([0, 0, 2], [3, 3], "must grow, below 3"),
        ([0, 1, 3], [3, 3], "must grow, below 3"),
        ([0, 1, 2], [3, 2], "do not end"),
        ([0, 1, 2], [2, 4], "do not end"),
        ([0, 1, 2], [3], "do not end"),
        ([0, 1], [1, 2], "do not end"),
    ],
)
def test_columns_that_make_no_sense_are_refused(columns, ends, why):
    text = base64.b64encode(np.array(columns, dtype="<u4").tobytes()).decode()
    values = base64.b64encode(np.ones(3).tobytes()).decode()
    with pytest.raises(ValueError, match=why):
        planes.read({"shape": [2, 3], "ends": ends, "columns": text, "values": values}, 3)


def test_files_of_version_2_are_read_too(tmp_path):
    model = LogisticRegression().fit(X, three)
    save(model, path := tmp_path / "m.json")
    document = json.loads(path.read_text()) | {"version": 2}
    del document["calibration"]
    document["digest"] = layout.digest({name: layout.in_one_line(value) for name, value in document.items()})
    path.write_text(json.dumps(document))
    assert load(path).coef_.tobytes() == model.coef_.tobytes()


def test_a_file_as_it_was_saved_is_read_without_being_written_again(packed, monkeypatch):
    path, *_ = packed
    expected = load(path)

    def never(value):
        raise AssertionError("a section was written again to compare its digest")

    with monkeypatch.context() as watched:
        watched.setattr(layout, "in_one_line", never)
        np.testing.assert_array_equal(load(path).coef_, expected.coef_)


@pytest.mark.parametrize("ending", ["", "\n"])
@pytest.mark.parametrize("indent", [None, 0, 1])
def test_a_file_in_another_layout_means_the_same(packed, tmp_path, indent, ending):
    (saved, document, _), path = packed, tmp_path / "other.json"
    path.write_text(json.dumps(document, indent=indent) + ending)
    np.testing.assert_array_equal(load(path).coef_, load(saved).coef_)
    document["threshold"] = 0.5
    path.write_text(json.dumps(document, indent=indent) + ending)
    with pytest.raises(ModelFileError, match="its digest does not fit"):
        load(path)


def test_what_is_no_json_in_one_section_is_named_by_its_line(packed, tmp_path):
    lines, path = packed[0].read_bytes().split(b"\n"), tmp_path / "damaged.json"
    for k in (5, len(lines) - 4):
        path.write_bytes(b"\n".join([*lines[:k], lines[k].replace(b": ", b": ?", 1), *lines[k + 1 :]]))
        with pytest.raises(ModelFileError, match=rf"it is no JSON: .* in line {k + 1};"):
            load(path)
    path.write_bytes(b"\n".join([*lines[:3], *lines[2:]]))
    with pytest.raises(ModelFileError, match="a key stands twice"):
        load(path)


def test_a_text_that_has_no_utf_8_is_not_saved(tmp_path):
    model = LogisticRegression().fit(X, three)
    with pytest.raises(ModelFileError, match="cannot be saved"):
        save(model, tmp_path / "m.json", encoding={"name": "\ud800"})
    assert not list(tmp_path.iterdir())
