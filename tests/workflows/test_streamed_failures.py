"""What is said, and what is left behind, where a fit in parts fails."""

import numpy as np
import pandas as pd
import pytest

from linsep.cli import learning
from linsep.cli.fit_options import Memory
from linsep.solvers import contract
from linsep.workflows.streaming import Request, fit_in_parts


@pytest.fixture
def table(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(300, 2)), columns=["a", "b"])
    frame["y"] = np.where(frame["a"] + rng.normal(size=300) > 0, "yes", "no")
    frame.to_csv(path := tmp_path / "t.csv", index=False)
    return str(path)


def test_max_memory_is_to_be_left_out_only_where_that_helps(table, tmp_path, monkeypatch):
    asked = Request(table, "y", 10**10, loss="hinge", l1_ratio=1.0, output=tmp_path / "m.json")
    found = fit_in_parts(asked)
    assert found.model.history_.solver == "interior_point"
    assert found.model.certificate_.proven
    found.folder.remove()
    monkeypatch.setattr(contract, "VECTORS", 10**9)  # as if there were many more rows
    with pytest.raises(ValueError, match=r"needs room in memory for some .*: leave out --max-memory"):
        fit_in_parts(asked)
    monkeypatch.undo()
    with pytest.raises(ValueError, match="tol=-1") as raised:
        fit_in_parts(Request(table, "y", 10**10, tol=-1.0, output=tmp_path / "m.json"))
    assert "--max-memory" not in str(raised.value)
    assert not (tmp_path / "m.json.partial").exists()


def test_an_error_while_the_model_is_written_leaves_no_folder(table, tmp_path, monkeypatch):
    def fails(*args, **kwargs):
        raise RuntimeError("internal")

    monkeypatch.setattr("linsep.persistence.writing.save", fails)
    with pytest.raises(RuntimeError, match="internal"):
        learning.fit(table, target="y", output=tmp_path / "m.json", memory=Memory("10GB"))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["t.csv"]
