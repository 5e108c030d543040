"""Thirty features on a slide: the distance from the plane against the direction of largest remaining spread."""

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from linsep import LinearSVC, LogisticRegression
from linsep.display import BoundaryDisplay

plt.style.use("linsep.display.slides")

cancer = load_breast_cancer(as_frame=True)
kinds = cancer.target_names[cancer.target]
model = make_pipeline(StandardScaler(), LinearSVC(C=0.1)).fit(cancer.data, kinds)
two = BoundaryDisplay.from_estimator(model, cancer.data, kinds, title="30 features, two classes")

iris = load_iris(as_frame=True)
flowers = iris.target_names[iris.target]
softmax = LogisticRegression().fit(iris.data, flowers)
three = BoundaryDisplay.from_estimator(softmax, iris.data, flowers, title="4 features, three classes")
for display in (two, three):
    display.figure_.set_size_inches(13.33, 6.6)
plt.show()
