"""Files that an earlier linsep wrote, in format version 2, kept as it wrote them."""

from pathlib import Path

import numpy as np
import pytest

from linsep import load, save, verify
from linsep.persistence.document import VERSION
from linsep.persistence.model_file import ModelFileError
from proven_models import forged

OLDER = Path(__file__).with_name("older")
X = np.array([[0.0, 0.0], [1.0, 0.5], [2.0, 1.0], [3.0, -1.0], [4.0, 0.0], [1.5, 1.0]])


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("soft_hard_margin", "proofs are of the kind 'seals', 'margin'"),  # it said that it was a hard one
        ("elastic_net_sgd", "needs l1_ratio"),  # which was one half where nobody said
        ("elastic_net_logistic", "needs l1_ratio"),
    ],
)
def test_what_would_mean_something_else_today_is_refused_and_says_how_to_go_on(name, why):
    path = OLDER / f"{name}.json"
    with pytest.raises(ModelFileError) as error:
        load(path)
    assert str(error.value).startswith(str(path))
    assert why in str(error.value)
    assert str(error.value).endswith(
        "an earlier linsep wrote it (format version 2): fit the model again, and save that"
    )


@pytest.mark.parametrize(("name", "labels"), [("logistic", "ababba"), ("three_classes", "abcbac")])
def test_a_logistic_model_is_read_proven_and_has_todays_attributes(name, labels, tmp_path):
    y = np.array(list(labels))
    model = load(OLDER / f"{name}.json")
    assert verify(model, X, y)
    assert isinstance(model.n_iter_, np.ndarray)
    assert model.n_iter_.shape == (1,)
    save(model, tmp_path / "today.json", data=(X, y))
    assert load(tmp_path / "today.json").n_iter_.tolist() == model.n_iter_.tolist()


def test_a_file_of_todays_format_does_not_speak_of_an_earlier_one(tmp_path):
    path = tmp_path / "model.json"
    path.write_text((OLDER / "soft_hard_margin.json").read_text())
    forged(path, lambda document: document.update(version=VERSION, calibration=None))
    with pytest.raises(ModelFileError) as error:
        load(path)
    assert "earlier" not in str(error.value)
