"""All losses of the agreement z, and those of the margin and of the likelihood alone."""

import matplotlib.pyplot as plt

from linsep.display import LossDisplay

fig, axes = plt.subplots(2, 2, figsize=(12, 8), layout="constrained")
LossDisplay.from_losses(ax=axes[0, 0], title="every loss")
LossDisplay.from_losses(["zero_one", "perceptron"], ax=axes[0, 1], title="the perceptron's, and what it stands for")
LossDisplay.from_losses(["zero_one", "hinge"], ax=axes[1, 0], title="the hinge asks for more than correct")
LossDisplay.from_losses(["zero_one", "logistic"], ax=axes[1, 1], title="the logistic loss never rests")
plt.show()
