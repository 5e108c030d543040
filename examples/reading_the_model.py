"""|w_j| is the importance of a feature, its sign the direction; and which features come in as the penalty weakens."""

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from linsep import LogisticRegression
from linsep.display import MarginHistogramDisplay, RegularizationPathDisplay, WeightsDisplay

data = load_breast_cancer(as_frame=True)
X, y = data.data, data.target_names[data.target]
model = make_pipeline(StandardScaler(), LogisticRegression(C=0.1, l1_ratio=1.0)).fit(X, y)

weights = WeightsDisplay.from_estimator(model, top=12)
MarginHistogramDisplay.from_estimator(model, X, y)
RegularizationPathDisplay.from_estimator(model, X, y)
plt.show()
