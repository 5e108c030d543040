"""``|w_j|`` is the importance of a feature, its sign the direction; and which features enter as the penalty weakens."""

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from linsep import LogisticRegression
from linsep.display import MarginHistogramDisplay, RegularizationPathDisplay, WeightsDisplay

plt.style.use("linsep.display.slides")

data = load_breast_cancer(as_frame=True)
X, y = data.data, data.target_names[data.target]
model = make_pipeline(StandardScaler(), LogisticRegression(C=0.1, l1_ratio=1.0)).fit(X, y)
kept = int((model[-1].coef_ != 0).sum())

fig, (left, right) = plt.subplots(1, 2, figsize=(13.33, 6.4))
weights = WeightsDisplay.from_estimator(model, top=kept, ax=left)
margins = MarginHistogramDisplay.from_estimator(model, X, y, ax=right)
right.legend(loc="upper right")  # clear of the plane
fig, ax = plt.subplots(figsize=(13.33, 6.4))
path = RegularizationPathDisplay.from_estimator(model, X, y, ax=ax)
print(f"{kept} of {X.shape[1]} weights are not zero: the penalty ‖w‖₁ leaves the others out.")
plt.show()
