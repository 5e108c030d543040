"""Stochastic descent is noisy; the best so far never rises, and is what is reported."""

import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.exceptions import ConvergenceWarning

from linsep import SGDClassifier
from linsep.display import ConvergenceDisplay

plt.style.use("linsep.display.slides")

rng = np.random.default_rng(12)
X = np.vstack([rng.normal([0, 0], 1, (80, 2)), rng.normal([2, 1.5], 1, (80, 2))])
y = np.repeat([0, 1], 80)
noisy = SGDClassifier("hinge", C=np.inf, schedule=0.1, stopping=None, max_iter=3, record="update", random_state=0)
with warnings.catch_warnings():
    warnings.simplefilter("ignore", ConvergenceWarning)  # three passes are not enough
    noisy.fit(X, y)

fig, axes = plt.subplots(2, 1, figsize=(13.33, 7.2), sharex=True, height_ratios=(1.6, 1))
title = "hinge loss, η = 0.1: one example a step"
display = ConvergenceDisplay.from_histories({"hinge": noisy.history_}, ax=axes, title=title)
print(f"In the end {noisy.history_['objective'][-1]:.3f}, the best {np.nanmin(noisy.history_['best']):.3f}.")
plt.show()
