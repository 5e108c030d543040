"""Handwritten 3s against 7s: the perceptron and least squares, their weights as images, and what they get wrong.

Offline with scikit-learn's digits, enlarged to MNIST's 28 × 28 pixels; where LINSEP_DATA names a folder with MNIST's
own files, with 4,132 and 680 of those, as in the lecture (perceptron 97.3 %, least squares 96.7 %).
"""

import os
import warnings

import matplotlib.pyplot as plt
from sklearn.exceptions import ConvergenceWarning

from linsep import LeastSquaresClassifier, Perceptron
from linsep.demo import draw, embedded_digits, mnist
from linsep.display import MistakesDisplay, WeightImageDisplay

plt.style.use("linsep.display.slides")
warnings.simplefilter("ignore", ConvergenceWarning)  # the classes may overlap; the best plane is kept

images = mnist(os.environ["LINSEP_DATA"]) if os.environ.get("LINSEP_DATA") else embedded_digits()
train, test = draw(len(images.y), images.n_train, images.n_test, seed=0)
X, y, side = images.X, images.y, images.side

models = {
    "perceptron": Perceptron(max_iter=100, prove=False, random_state=0).fit(X[train], y[train]),
    "least squares": LeastSquaresClassifier().fit(X[train], y[train]),
}
accuracy = {name: model.score(X[test], y[test]) for name, model in models.items()}
fig, axes = plt.subplots(1, 3, figsize=(13.33, 5))
axes[0].imshow(X[train[0]].reshape(side, side), cmap="gray")
axes[0].set(title=f"a training image:\nlabel {y[train[0]]}", xticks=[], yticks=[])
galleries = {}
for ax, (name, model) in zip(axes[1:], models.items(), strict=True):
    WeightImageDisplay.from_estimator(model, ax=ax)
    ax.set_title(f"{name}:\n{accuracy[name]:.1%} of the test images")
    if (model.predict(X[test]) != y[test]).any():
        galleries[name] = MistakesDisplay.from_estimator(model, X[test], y[test], title=name, top=6)
        galleries[name].figure_.set_size_inches(13.33, 3.6)
print(f"{images.name}: {images.n_train:,} images to learn from, {images.n_test:,} to test. Blue pixels speak for 7.")
print("Without noise on the training images least squares is marginally worse:", accuracy)
plt.show()
