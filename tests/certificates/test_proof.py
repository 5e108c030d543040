"""One kind of proof: a model keeps a list of them, and a new kind is one class that everybody knows from then on."""

import json
import subprocess
import sys

import numpy as np
import pytest

from linsep import LinearSVC, load, save, verify
from linsep.certificates.kinds import known
from linsep.certificates.outcome import ClaimError, Verification
from linsep.certificates.proof import Alone, Proof, check_kinds, proof_of
from linsep.persistence.document import digest, in_one_line
from linsep.persistence.model_file import ModelFileError
from linsep.report.proofs import is_proven, sentences
from linsep.workflows.checking_streams import is_long
from proven_models import CASES, MODELS

X = np.array([[0.0], [1.0], [3.0], [4.0]])
y = np.array(["no", "no", "yes", "yes"])


@pytest.fixture
def longest():
    """A kind of proof that only this test knows: what the longest row is."""

    class LongestRow(Proof):
        kind = "longest row"
        of_any_model = True
        exact = True

        def __init__(self, square):
            self.square = square

        def to_dict(self):
            return {"square": self.square}

        @classmethod
        def from_dict(cls, data, planes):
            return cls(float(data["square"]))

        def check(self, case):
            found = float((case.examples.X**2).sum(axis=1).max())
            if found != self.square:
                raise ClaimError(f"the longest row has the square {found}, not {self.square}")
            yield Verification(True, f"the longest row has the square {found}", proven=True, checked=("every row",))

        def sentences(self, model):
            return [f"No row is longer than {self.square**0.5:g}."]

    yield LongestRow
    del known()[LongestRow.kind]


def test_a_new_kind_is_stored_loaded_verified_and_reported(longest, tmp_path):
    path, model = tmp_path / "model.json", LinearSVC().fit(X, y)
    model._proofs = [*model._proofs, longest(16.0)]
    save(model, path, data=(X, y))
    again = load(path)
    assert [proof.kind for proof in again._proofs] == ["gap", "longest row"]
    for proven in (model, again, path):
        outcome = verify(proven, X, y)
        assert outcome.proven
        assert outcome.reason.endswith("; the longest row has the square 16.0")
        assert "every row" in outcome.checked
    assert "No row is longer than 4." in sentences(again)
    assert is_proven(again)
    with pytest.raises(ValueError, match="no 64-bit float"):  # as is any number that an exact proof would have to round
        verify(path, np.array([[0], [1], [3], [2**53 + 1]], dtype=object), y)


@pytest.mark.parametrize("of_a_cut", [False, True])
def test_a_new_kind_says_itself_whether_it_speaks_of_a_cut(longest, of_a_cut, monkeypatch):
    monkeypatch.setattr(longest, "of_a_cut", of_a_cut)
    model = LinearSVC().fit(X, y)
    model._proofs, model.threshold_ = [*model._proofs, longest(16.0)], 0.5
    assert any("is of a cut at 0" in said for said in sentences(model)) == of_a_cut


def test_a_new_kind_without_its_model_is_verified_by_what_it_says_itself():
    class Least(Alone):
        exact = True

        def check(self, examples, time_limit=None):
            return Verification(bool(examples.X.min() == 0), "no number is below zero")

    assert verify(Least(), X, y).reason == "no number is below zero"
    with pytest.raises(ValueError, match="no 64-bit float"):
        verify(Least(), np.array([[0], [1], [3], [2**53 + 1]], dtype=object), y)


def test_a_new_kind_that_does_not_hold_is_refused(longest, tmp_path):
    model = LinearSVC().fit(X, y)
    model._proofs = [*model._proofs, longest(15.0)]
    assert "longest row has the square 16.0, not 15.0" in verify(model, X, y).reason
    save(model, tmp_path / "model.json")
    assert not verify(tmp_path / "model.json", X, y)


def test_a_kind_says_whether_rows_may_come_in_blocks(longest, tmp_path, monkeypatch):
    data, model = tmp_path / "data.csv", LinearSVC().fit(X, y)
    data.write_text("x,y\n0,no\n")
    monkeypatch.setattr("linsep.workflows.checking_streams.LONG", 0)
    assert is_long(model, str(data))
    model._proofs = [*model._proofs, longest(16.0)]
    assert not is_long(model, str(data))


def test_a_kind_that_is_not_of_any_model_is_of_those_that_name_it(longest, tmp_path):
    longest.of_any_model = False
    model = LinearSVC().fit(X, y)
    model._proofs = [*model._proofs, longest(16.0)]
    with pytest.raises(ClaimError, match="kind"):
        check_kinds(model)
    assert "kind" in verify(model, X, y).reason
    save(model, tmp_path / "model.json")
    with pytest.raises(ModelFileError, match="kind"):
        load(tmp_path / "model.json")


@pytest.mark.parametrize("name", CASES)
def test_all_of_its_proofs_or_none(name, tmp_path):
    """A model with some of its proofs is refused; one with none claims nothing, and is not verified."""
    path, model = tmp_path / "model.json", MODELS[name]
    assert sorted(proof.kind for proof in model._proofs) == sorted(model._kinds_of_proof())
    assert all(proof_of(model, kind) is not None for kind in model._kinds_of_proof())
    for left_out in model._proofs:
        save(model, path)
        document = json.loads(path.read_text())
        del document["certificate"][left_out.kind]
        document["digest"] = digest({section: in_one_line(value) for section, value in document.items()})
        path.write_text(json.dumps(document))
        if len(model._proofs) > 1:
            with pytest.raises(ModelFileError, match="kind"):
                load(path)
        else:
            assert not verify(path, *CASES[name][1:])


CODE = """
import sys
import numpy as np
from linsep import exact, load, verify

for name in sys.argv[1:]:
    data = np.load(name + ".npz")
    load(name + ".json")
    assert verify(name + ".json", data["X"], data["y"]), name
print([name for name in sys.modules if name.startswith("linsep.solvers")])
"""


@pytest.mark.slow
def test_a_check_loads_no_solver(tmp_path):
    names = [str(tmp_path / str(k)) for k in range(len(CASES))]
    for name, (case, (_, X, y)) in zip(names, CASES.items(), strict=True):
        save(MODELS[case], f"{name}.json")
        np.savez(f"{name}.npz", X=X, y=y)
    done = subprocess.run([sys.executable, "-c", CODE, *names], capture_output=True, text=True, check=False)
    assert (done.stdout.strip(), done.returncode) == ("[]", 0), done.stderr
