"""The perceptron through a feature map φ(x): a plane in the space of φ, a curve where the examples live."""

import matplotlib.pyplot as plt
import numpy as np

from linsep import Perceptron
from linsep.palette import LIGHT, MARKERS

plt.style.use("linsep.display.slides")


def phi(x):
    """Squares and products beside the numbers themselves."""
    a, b = x.T
    return np.column_stack([a, b, a * a, a * b, b * b])


rng = np.random.default_rng(14)
X = rng.normal(size=(90, 2))
distance = np.linalg.norm(X, axis=1)
X, distance = X[np.abs(distance - 1.2) > 0.15], distance[np.abs(distance - 1.2) > 0.15]
y = np.where(distance < 1.2, 1, -1)

model = Perceptron(order="cyclic", record="update").fit(phi(X), y)
steps = [record for record in model.history_.records if record.updates > 0]
updates = [next(record for record in steps if record.updates == k) for k in range(1, model.mistakes_ + 1)]
shown = [updates[k] for k in (1, len(updates) // 2, len(updates) - 1)]

a, b = np.meshgrid(np.linspace(-3, 3, 201), np.linspace(-3, 3, 201))
grid = phi(np.column_stack([a.ravel(), b.ravel()]))
fig, axes = plt.subplots(1, 3, figsize=(13.33, 5.6), sharey=True)
left = []
for ax, record in zip(axes, shown, strict=True):
    w, c = record.iterate[:-1], record.iterate[-1]
    left.append(int((y * (phi(X) @ w + c) <= 0).sum()))
    g = (grid @ w + c).reshape(a.shape)
    ax.contourf(a, b, g, levels=[-np.inf, 0, np.inf], colors=[LIGHT.negative, LIGHT.positive], alpha=0.12)
    ax.contour(a, b, g, levels=[0], colors=LIGHT.text, linewidths=3)
    for label, colour, marker in ((-1, LIGHT.negative, MARKERS[0]), (1, LIGHT.positive, MARKERS[1])):
        ax.scatter(*X[y == label].T, color=colour, marker=marker, s=45)
    ax.plot(*X[record.example], "o", markersize=24, fillstyle="none", color=LIGHT.series[3], markeredgewidth=3)
    ax.set(xlabel="x0", aspect="equal", xlim=(-3, 3), ylim=(-3, 3))
    mistakes = f"{left[-1]} mistake{'s' * (left[-1] != 1)} left"
    ax.set_title(f"update {record.updates:.0f} of {len(updates)}:\n{mistakes}")
axes[0].set_ylabel("x1")
print("Circled: the example that caused the update. `linsep replay DATA --degree 2` plays this with your own data.")
plt.show()
