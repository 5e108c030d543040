"""Every loss side by side: the numbers are those of the single fits, and a loss that fails spoils no other."""

import sys

import narwhals
import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.preprocessing import scale

from linsep import compare, losses
from linsep.geometry import margin
from linsep.losses import Loss

NAMES = ["perceptron", "hinge", "squared_hinge", "modified_huber", "logistic", "square", "zero_one"]


@pytest.fixture(scope="module")
def data():
    X, y = load_breast_cancer(return_X_y=True)
    return scale(X)[:, :6], np.where(y == 1, "benign", "malignant")


@pytest.fixture(scope="module")
def table(data):
    X, y = data
    return compare(X[:400], y[:400], C=0.5, X_test=X[400:], y_test=y[400:])


def test_m4_all_losses_are_there(table):
    assert [row.loss for row in table] == NAMES
    assert len(table) == len(NAMES) == 7
    assert table[4] is table["logistic"]
    with pytest.raises(KeyError, match="'cubic'"):
        _ = table["cubic"]


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "logistic", "square"])
def test_a_row_says_what_its_own_fit_does(table, data, loss):
    X, y = data
    row, model = table[loss], table.models[loss]
    z = np.where(y[:400] == "malignant", 1, -1) * model.decision_function(X[:400])
    assert row.risk == pytest.approx(losses.get(loss).value(z).mean())
    assert row.errors == np.sum(model.predict(X[:400]) != y[:400])
    assert row.test_errors == np.sum(model.predict(X[400:]) != y[400:])
    signs = np.where(y[:400] == "malignant", 1, -1)
    assert row.margin == pytest.approx(margin(X[:400], signs, model.coef_[0], float(model.intercept_[0])))
    assert row.relative_gap == model.certificate_.relative_gap
    assert row.proven == model.certificate_.proven
    assert row.seconds > 0
    assert model.C == 0.5


def test_smooth_losses_are_proven(table):
    assert all(table[loss].proven for loss in ("squared_hinge", "logistic", "square"))
    assert table["logistic"].solver == "newton"


def test_m18_zero_one_is_the_yardstick(table):
    fewest = min(row.errors for row in table if row.loss != "zero_one")
    assert table["zero_one"].errors == fewest
    assert table["zero_one"].risk == fewest / 400
    assert table["zero_one"].proven == (fewest == 0)
    assert table.models["zero_one"] in [table.models[name] for name in NAMES[:-1]]


def test_each_loss_has_the_least_risk_of_its_own_kind(data):
    X, y = data
    smooth = compare(X, y, C=None, losses=["logistic", "square"])
    signs = np.where(y == "malignant", 1, -1)
    for loss in ("logistic", "square"):
        risks = {
            name: losses.get(loss).value(signs * model.decision_function(X)).mean()
            for name, model in smooth.models.items()
        }
        assert min(risks, key=risks.get) == loss


def test_the_table_reads(table):
    text = str(table)
    heads = "loss risk errors test errors margin relative gap proven seconds solver"
    assert " ".join(text.splitlines()[0].split()) == heads
    assert all(name in text for name in NAMES)
    assert repr(table) == text
    assert "%" in text


def test_without_test_data_there_is_no_such_column(data):
    X, y = data
    text = str(compare(X, y, losses=["square"]))
    assert "test errors" not in text


def test_m24_more_than_two_classes():
    X, y = load_iris(return_X_y=True)
    table = compare(X, y)
    assert [row.loss for row in table] == NAMES
    model = table.models["logistic"]
    scores = model.decision_function(X)
    z = [np.where(y == k, 1, -1) * scores[:, k] for k in range(3)]
    assert table["logistic"].risk == pytest.approx(np.log1p(np.exp(-np.array(z))).mean())
    assert table["logistic"].errors == np.sum(model.predict(X) != y)
    lengths = np.linalg.norm(model.coef_, axis=1)
    assert table["logistic"].margin == pytest.approx(min(np.min(each) / n for each, n in zip(z, lengths, strict=True)))


@pytest.mark.parametrize("form", [sparse.csr_array, sparse.csc_matrix, pd.DataFrame, np.float32, list])
def test_data_of_any_form(data, form):
    X, y = data
    expected = compare(X, y, losses=["logistic", "square", "zero_one"])
    found = compare(form(X), pd.Series(y), losses=["logistic", "square", "zero_one"])
    for one, other in zip(expected, found, strict=True):
        assert one.errors == other.errors
        assert one.risk == pytest.approx(other.risk, rel=1e-4)


def test_a_polars_frame_with_names(data):
    X, y = data
    frame = pl.DataFrame(X, schema=[f"c{j}" for j in range(6)])
    table = compare(frame, y, losses=["logistic"], X_test=frame, y_test=y)
    assert table["logistic"].errors == table["logistic"].test_errors
    assert list(table.models["logistic"].feature_names_in_) == frame.columns


def test_weights(data):
    X, y = data
    s = np.random.default_rng(0).integers(1, 4, len(y))
    weighted = compare(X, y, losses=["logistic"], sample_weight=s)
    repeated = compare(np.repeat(X, s, axis=0), np.repeat(y, s), losses=["logistic"])
    assert weighted["logistic"].risk == pytest.approx(repeated["logistic"].risk, rel=1e-6)


class Broken(Loss):
    """A loss that cannot be computed."""

    formula = "<b>?</b>"

    def value(self, z):
        raise FloatingPointError("no <value> & no slope")

    slope = value


def test_a_loss_that_fails_says_why_in_its_row(data):
    X, y = data
    table = compare(X, y, losses=["logistic", Broken(), "zero_one"])
    assert table["Broken"].errors is None
    assert "no <value> & no slope" in table["Broken"].note
    assert "Broken: failed: no <value>" in str(table)
    assert table["logistic"].proven
    html = table._repr_html_()
    assert "no &lt;value&gt; &amp; no slope" in html
    assert "<value>" not in html
    assert "Broken" not in table.models


def test_what_does_not_converge_says_so(data):
    X, y = data
    table = compare(X, y, losses=["perceptron", "logistic"], max_iter=2)
    assert "did not converge" in table["perceptron"].note
    assert not table["perceptron"].proven


def test_an_l1_penalty_or_none(data):
    X, y = data
    assert compare(X, y, penalty="l1", losses=["logistic"], C=0.1)["logistic"].relative_gap < 1
    assert np.isfinite(compare(X, y, penalty=None, losses=["square"])["square"].risk)


def test_zero_one_alone_has_no_plane_to_measure(data):
    X, y = data
    assert "another loss" in compare(X, y, losses=["zero_one"])["zero_one"].note


def test_a_plane_that_is_none_has_no_margin():
    table = compare(np.zeros((4, 1)), [0, 1, 0, 1], losses=["logistic"])
    assert np.isnan(table["logistic"].margin)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"X_test": [[0.0] * 6]}, "go together"),
        ({"losses": []}, "empty"),
        ({"losses": ["cubic"]}, "not known"),
        ({"C": -1.0}, "C=-1.0"),
    ],
)
def test_bad_arguments_are_errors(data, arguments, words):
    with pytest.raises(ValueError, match=words):
        compare(*data, **arguments)


def test_data_that_no_loss_can_use_are_an_error(data):
    X, y = data
    with pytest.raises(ValueError, match="NaN"):
        compare(np.where(X > 1, np.nan, X), y)
    with pytest.raises(ValueError, match="one class"):
        compare(X, ["a"] * len(y))


def test_to_frame(table, monkeypatch):
    frame = table.to_frame()
    assert isinstance(frame, pd.DataFrame)
    assert list(frame["loss"]) == NAMES
    assert frame["proven"].dtype == bool
    assert table.to_dict()[0]["loss"] == "perceptron"

    def without(*missing):
        made = narwhals.from_dict

        def from_dict(columns, backend):
            if backend in missing:
                raise ModuleNotFoundError(backend)
            return made(columns, backend=backend)

        return from_dict

    module = sys.modules["linsep.analysis.comparison"].nw
    monkeypatch.setattr(module, "from_dict", without("pandas"))
    assert isinstance(table.to_frame(), pl.DataFrame)
    monkeypatch.setattr(module, "from_dict", without("pandas", "polars", "pyarrow"))
    with pytest.raises(ModuleNotFoundError, match="pip install pandas"):
        table.to_frame()
