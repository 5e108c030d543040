"""Objectives as the tests write them: several classes in memory, and one plane on examples in blocks."""

import numpy as np

from linsep.objective.examples import InMemory
from linsep.objective.heads import Margin, Softmax
from linsep.objective.objective import Objective
from linsep.penalties import L2


def softmax_objective(rows, codes, classes, penalty=None, C=np.inf, sample_weight=None, fit_intercept=True):
    """Return the objective of several classes at once."""
    return Objective(InMemory(rows, codes, sample_weight), Softmax(classes), penalty or L2(), C, None, fit_intercept)


def objective_in_blocks(blocks, positive, loss, penalty=None, C=np.inf, class_weight=None, fit_intercept=True):
    """Return the objective of one plane on examples in blocks."""
    return Objective(blocks, Margin(loss, positive), penalty or L2(), C, class_weight, fit_intercept)
