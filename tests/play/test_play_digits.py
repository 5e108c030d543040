"""A drawn digit: the votes of its pixels against the model itself, and digits that nobody learned from."""

import numpy as np
import pytest

from asking import asked
from linsep.demo import embedded_digits
from linsep.play.digits import READERS, as_learned, reader

pytestmark = pytest.mark.slow
SEVEN = np.zeros((28, 28))
SEVEN[4:7, 8:20] = 1.0
for row in range(7, 24):
    SEVEN[row, 24 - row // 2 - 5 : 24 - row // 2 - 2] = 1.0


@pytest.mark.parametrize("name", READERS)
def test_m19_votes_add_up_to_the_score_of_the_model(name):
    answer = asked("digit", pixels=SEVEN.ravel().tolist(), method=name)
    model, seen = reader(name).model, as_learned(SEVEN).ravel()
    assert answer["score"] == pytest.approx(model.decision_function(seen[None])[0], rel=1e-4)
    assert answer["digit"] == model.predict(seen[None])[0]
    assert answer["for"] + answer["against"] + answer["offset"] == pytest.approx(answer["score"], rel=1e-4, abs=1e-4)
    np.testing.assert_allclose(answer["votes"], model.coef_[0] * seen, rtol=1e-3)
    np.testing.assert_allclose(answer["seen"], seen, atol=1e-3)
    assert "of 181 others" in answer["says"]


def test_a_digit_is_found_wherever_and_however_large_it_is_drawn():
    moved = np.zeros((28, 28))
    moved[:14, 12:26] = SEVEN[::2, ::2]
    for pixels in (SEVEN, np.roll(SEVEN, (3, -7), axis=(0, 1)), moved):
        assert asked("digit", pixels=pixels.ravel().tolist())["digit"] == 7
    np.testing.assert_allclose(as_learned(SEVEN), as_learned(np.roll(SEVEN, (3, -7), axis=(0, 1))))


def test_the_digits_themselves_are_read_as_they_are():
    images = embedded_digits()
    right = [asked("digit", pixels=x.tolist())["digit"] == y for x, y in zip(images.X[:60], images.y[:60], strict=True)]
    assert np.mean(right) > 0.95


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        ({"pixels": [0.0] * 784}, "refused"),
        ({"pixels": [0.0] * 783}, "error"),
        ({"pixels": [2.0] * 784}, "error"),
        ({"pixels": "black"}, "error"),
        ({"pixels": [1.0] * 784, "method": "zero_one"}, "error"),
    ],
)
def test_what_is_no_digit_is_said(body, kind):
    assert asked("digit", **body)["kind"] == kind
