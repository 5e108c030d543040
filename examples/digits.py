"""Handwritten 3s against 7s: the perceptron and least squares, their weights as images, and what they get wrong.

These are the 8 × 8 digits that come with scikit-learn; ``linsep demo --data FOLDER`` does the same with MNIST.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning

from linsep import LeastSquaresClassifier, Perceptron
from linsep.display import MistakesDisplay, WeightImageDisplay

warnings.simplefilter("ignore", ConvergenceWarning)  # with noise the classes may overlap; the best plane is kept

digits = load_digits()
chosen = np.isin(digits.target, (3, 7))
X, y = digits.data[chosen] / 16, digits.target[chosen]
half = len(y) // 2
noisy = X[:half] + np.random.default_rng(0).normal(0, 0.2, X[:half].shape)  # for robustness

models = {
    "perceptron": Perceptron(max_iter=100, prove=False, random_state=0),
    "least squares": LeastSquaresClassifier(),
}
fig, axes = plt.subplots(1, 3, figsize=(12, 3.6), layout="constrained")
axes[0].imshow(X[0].reshape(8, 8), cmap="gray")
axes[0].set(title=f"an example: {y[0]}", xticks=[], yticks=[])
galleries = {}
for ax, (name, model) in zip(axes[1:], models.items(), strict=True):
    model.fit(noisy, y[:half])
    accuracy = model.score(X[half:], y[half:])
    WeightImageDisplay.from_estimator(model, ax=ax, title=f"{name}: {accuracy:.1%} of the test images right")
    galleries[name] = MistakesDisplay.from_estimator(model, X[half:], y[half:], title=name)
plt.show()
