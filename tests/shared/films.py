"""Examples to replay, and what a page of a replay has in it."""

import json
import re

import numpy as np

from linsep import Perceptron
from linsep.replay import replay


def flat(n=60, seed=0, gap=1):
    """Points of the plane with whole coordinates that a line separates."""
    rng = np.random.default_rng(seed)
    X = rng.integers(-9, 10, (8 * n, 2)).astype(np.float64)
    score = X @ [2.0, -3.0] + 1
    clear = np.flatnonzero(np.abs(score) > gap)[:n]
    return X[clear], np.where(score[clear] > 0, "yes", "no")


def circle(n=90, seed=1):
    rng = np.random.default_rng(seed)
    X = rng.normal(0, 1.3, (3 * n, 2))
    clear = np.flatnonzero(np.abs((X**2).sum(axis=1) - 1.6) > 0.3)[:n]
    return X[clear], ((X[clear] ** 2).sum(axis=1) > 1.6).astype(int)


def embedded(page):
    """What the page knows."""
    found = re.findall(r'<script type="application/json" id="film">(.*?)</script>', page, re.DOTALL)
    assert len(found) == 1
    return json.loads(found[0])


NASTY = ["</script><script>alert(1)</script>", "<img src=x onerror=alert(2)>", "<!--<b>\"'&amp;\u2028"]


def nasty_film():
    X, y = flat(40)
    labels = np.where(y == "yes", NASTY[0], NASTY[2])
    return replay(Perceptron(order="cyclic"), X, labels, title=NASTY[1], feature_names=[NASTY[0], NASTY[1]])
