"""Thirty features on paper: the distance from the plane against the direction of largest remaining spread."""

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from linsep import LinearSVC, LogisticRegression
from linsep.display import BoundaryDisplay

fig, (left, right) = plt.subplots(1, 2, figsize=(14, 5), layout="constrained")
cancer = load_breast_cancer(as_frame=True)
model = make_pipeline(StandardScaler(), LinearSVC(C=0.1)).fit(cancer.data, cancer.target)
BoundaryDisplay.from_estimator(model, cancer.data, cancer.target, ax=left, title="30 features, two classes")

iris = load_iris(as_frame=True)
softmax = LogisticRegression().fit(iris.data, iris.target)
BoundaryDisplay.from_estimator(softmax, iris.data, iris.target, ax=right, title="4 features, three classes")
plt.show()
