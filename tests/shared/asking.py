"""Questions of the page, asked as its messages are; and its presets as arrays."""

import json

import numpy as np

from linsep.play.answers import Answers
from linsep.play.presets import PRESETS
from linsep.play.protocol import read

ANSWERS = Answers()


def asked(do, answers=ANSWERS, **body):
    """Return the answer to a question."""
    return json.loads(answers.answer(read(json.dumps({"v": 1, "id": 5, "do": do, **body}))))


def preset(name):
    """Return the points of a preset as the page sends them, their coordinates, and 0 or 1 for each."""
    points = PRESETS[name].to_dict()["points"]
    return points, np.column_stack([points["x"], points["y"]]), np.array(points["positive"])
