"""A loss has one home: one that is registered here, and nowhere else, is known everywhere.

The compiled losses go the same way: `test_every_compiled_loss_is_registered` ties the one table in ``_core/losses.hpp``
to the registry.
"""

from functools import partial

import numpy as np
import pytest
from scipy.optimize import minimize

from command import call
from linsep import LinearClassifier, SGDClassifier, compare, load, losses, save, verify
from linsep._core import loading, reference
from linsep.display import LossDisplay
from linsep.losses import Loss
from linsep.persistence.json_values import from_json, to_json
from linsep.report.content import in_words


class SmoothedHinge(Loss):
    """A hinge whose kink is rounded off by a parabola: 0 from z = 1 on, ½ − z up to z = 0, ½ (1 − z)² between."""

    name, formula, words = "smoothed_hinge", "½ min(1, max(0, 1 − z))² + max(0, −z)", "what each row lacks, rounded off"
    smooth, max_curvature, slopes, margin = True, 1.0, (-1.0, 0.0), True

    def value(self, z):
        return 0.5 * np.clip(1.0 - z, 0.0, 1.0) ** 2 + np.maximum(0.0, -z)

    def slope(self, z):
        return -np.clip(1.0 - z, 0.0, 1.0)

    def curvature(self, z):
        return ((z >= 0) & (z < 1)).astype(float)

    def conjugate(self, a):
        return np.where((a >= -1) & (a <= 0), a + 0.5 * np.square(a), np.inf)

    def dual_step(self, alpha, z, q, c):
        return min(c, max(0.0, (q * alpha + 1.0 - z) / (q + 1.0 / c)))


@pytest.fixture(autouse=True)
def registered():
    losses.register(SmoothedHinge)
    yield
    del losses.LOSSES["smoothed_hinge"]


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 3))
    return X, np.where(X[:, 0] + 0.5 * rng.standard_normal(60) > 0, "yes", "no")


def objective(X, y, point):
    """½‖w‖² + Σ ℓ(z) at (w, b), and its gradient."""
    w, sign, loss = point[:-1], np.where(y == "yes", 1.0, -1.0), SmoothedHinge()
    z = sign * (X @ w + point[-1])
    u = loss.slope(z) * sign
    return 0.5 * w @ w + loss.value(z).sum(), np.append(w + X.T @ u, u.sum())


@pytest.mark.parametrize("solver", ["auto", "newton", "dual"])
def test_an_estimator_takes_it_by_name_and_proves_its_answer(data, solver):
    X, y = data
    model = LinearClassifier("smoothed_hinge", solver=solver, tol=1e-6, max_iter=20_000).fit(X, y)
    assert model.certificate_.proven
    least = minimize(partial(objective, X, y), np.zeros(4), jac=True, method="BFGS", options=dict(gtol=1e-9)).fun
    assert objective(X, y, np.append(model.coef_, model.intercept_))[0] == pytest.approx(least, rel=2e-6)
    assert SmoothedHinge.formula in model.objective_
    checked = verify(model, X, y)
    assert checked.ok
    assert any("SmoothedHinge" in trust for trust in checked.trusted)  # its formulas are the user's own


def test_stochastic_descent_takes_it_by_name(data):
    X, y = data
    model = SGDClassifier("smoothed_hinge", random_state=0).fit(X, y)
    assert model.score(X, y) > 0.8


def test_a_model_file_says_its_name_and_loads_where_it_is_registered(data, tmp_path):
    X, y = data
    model = LinearClassifier("smoothed_hinge").fit(X, y)
    save(model, tmp_path / "model.json")
    again = load(tmp_path / "model.json")
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    assert verify(tmp_path / "model.json", X, y).ok
    assert from_json(to_json(SmoothedHinge())) == SmoothedHinge()
    del losses.LOSSES["smoothed_hinge"]
    with pytest.raises(ValueError, match=r"smoothed_hinge|SmoothedHinge"):
        load(tmp_path / "model.json").fit(X, y)
    losses.register(SmoothedHinge)


@pytest.fixture
def path(data, tmp_path):
    rows = [",".join(map(str, [*x, label])) for x, label in zip(*data, strict=True)]
    (tmp_path / "data.csv").write_text("\n".join(["a,b,c,target", *rows]) + "\n")
    return tmp_path / "data.csv"


def test_the_command_line_knows_it(path, tmp_path):
    model = tmp_path / "model.json"
    fit = "fit", path, "--target", "target", "--loss"
    done = call(*fit, "smoothed_hinge", "-o", model)
    assert done.code == 0, done.err
    assert call("verify", model, path).code == 0
    assert call("report", model, path, "-o", tmp_path / "report.html").code == 0
    assert b"rounded off" in (tmp_path / "report.html").read_bytes()
    assert call("replay", path, "--target", "target", "--loss", "smoothed_hinge", "-o", tmp_path / "r.html").code == 0
    assert b"smoothed_hinge" in call("compare", path, "--target", "target").out
    refused = call(*fit, "huge")
    assert refused.code != 0
    assert b"smoothed_hinge" in refused.err


def test_a_file_larger_than_memory_is_fitted_with_it(path, tmp_path):
    fit = "fit", path, "--target", "target", "--loss", "smoothed_hinge", "-o", tmp_path / "model.json"
    done = call(*fit, "--max-memory", "4GB")  # of a process that has loaded much
    assert done.code == 0, done.out.decode() + done.err.decode()
    assert call("verify", tmp_path / "model.json", path).code == 0


def test_comparisons_displays_and_reports_know_it(data):
    X, y = data
    assert "smoothed_hinge" in [row.loss for row in compare(X, y)]
    drawn = LossDisplay.from_losses()
    assert any(name.startswith("smoothed-hinge: ") for name in drawn.values)
    words = in_words(f"½‖w‖² + 2·Σ {SmoothedHinge.formula}")
    assert words.startswith("In words: what each row lacks, rounded off (smoothed hinge loss), summed")


class HasSettings(SmoothedHinge):
    name = "with_settings"

    def __init__(self, width=1.0):
        self.width = width


def test_a_loss_with_settings_is_more_than_its_name(data):
    losses.register(HasSettings)
    try:
        assert HasSettings(2.0) != HasSettings(1.0)
        with pytest.raises(ValueError, match="is nothing that linsep knows by name"):
            to_json(HasSettings(2.0))
    finally:
        del losses.LOSSES["with_settings"]


@pytest.mark.parametrize(
    ("members", "words"),
    [
        (dict(name="hinge", formula="z"), "would hide linsep.losses.Hinge"),
        (dict(name="two words", formula="z"), "name without blanks"),
        (dict(name="wordless"), "formula"),
    ],
)
def test_what_cannot_be_told_apart_is_not_registered(members, words):
    own = type("Own", (SmoothedHinge,), {"formula": ""} | members)
    with pytest.raises(ValueError, match=words):
        losses.register(own)
    with pytest.raises(ValueError, match="no subclass of Loss"):
        losses.register(type("Nothing", (Loss,), dict(name="nothing", formula="0")))


def test_a_class_that_is_defined_anew_takes_the_place_of_the_old():
    anew = type("SmoothedHinge", (SmoothedHinge,), {"__module__": __name__, "__qualname__": "SmoothedHinge"})
    assert losses.register(anew) is losses.LOSSES["smoothed_hinge"]


@pytest.mark.skipif(loading.compiled is None, reason="there are no compiled kernels")
def test_every_compiled_loss_is_registered_and_has_the_same_abilities():
    ours = [loss for loss in losses.LOSSES.values() if loss.kernel is not None]
    assert [loss.kernel for loss in ours] == list(loading.compiled.LOSSES)
    assert [loss.kernel for loss in ours if loss().defines("dual_step")] == list(loading.compiled.DUAL_LOSSES)


@pytest.mark.skipif(loading.compiled is None, reason="there are no compiled kernels")
@pytest.mark.parametrize("name", ["PACK", "NARROW", "WORTH_A_THREAD", "IN_ONE_PIECE"])
def test_what_both_sides_of_the_compiler_know_is_the_same(name):
    assert getattr(loading.compiled, name) == getattr(reference, name)
