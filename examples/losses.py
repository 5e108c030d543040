"""The losses of the agreement z on one slide, and what each surrogate makes of the zero-one loss on another."""

import matplotlib.pyplot as plt

from linsep.display import LossDisplay

plt.style.use("linsep.display.slides")

# modified_huber is left out: down to z = −1, where this slide ends, it is the squared hinge.
names = ["zero_one", "perceptron", "hinge", "squared_hinge", "logistic", "square"]
every = LossDisplay.from_losses(names, ax=plt.subplots(figsize=(13.33, 6.4))[1])
fig, axes = plt.subplots(1, 3, figsize=(13.33, 5.6), sharey=True)
shown = {
    "perceptron": "silent once it is right",
    "hinge": "asks for more than right",
    "logistic": "never rests",
}
pairs = {}
for ax, (name, words) in zip(axes, shown.items(), strict=True):
    pairs[name] = LossDisplay.from_losses(["zero_one", name], ax=ax, title=f"{name}:\n{words}")
    ax.set(ylim=(-0.1, 3.6), ylabel="loss ℓ(z)" if ax is axes[0] else "")
plt.show()
