"""How far an optimum is at the most, where the curvature changes slowly: by the gradient, in the metric of the Hessian.

With M for which |D³f[u, u, v]| ≤ M max |x·v| D²f[u, u] and L the longest row in H⁻¹, from a gradient of length λ in H⁻¹
the optimum is no more than −log(1 − M L λ)/(M L) away: λ‖δ‖ ≥ −∇f·δ ≥ ‖δ‖² (1 − e^−ρ)/ρ with ρ = M L ‖δ‖.
"""

from __future__ import annotations

import numpy as np
from scipy import linalg

from .._common.types import FloatArray

#: Curvatures below this share of the largest are none, and shares of a row's length that count as being along them.
FLAT, ALONG = 1e-13, 1e-7


def inverted(H: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the inverse of a Hessian where it is curved, and directions in which it is flat, a column each.

    Nothing is known of a row that has a share in the latter.

    Examples
    --------
    >>> inverse, flat = inverted(np.array([[2.0, 0.0], [0.0, 0.0]]))
    >>> inverse.tolist(), np.abs(flat).tolist()
    ([[0.5, 0.0], [0.0, 0.0]], [[0.0], [1.0]])
    """
    values, vectors = linalg.eigh(H)
    curved = values > FLAT * max(float(values.max(initial=0.0)), 1e-300)
    kept = vectors[:, curved]
    return np.asarray((kept / values[curved]) @ kept.T), np.asarray(vectors[:, ~curved])


def radius(gradient: FloatArray, steep: FloatArray) -> FloatArray:
    """−log(1 − M L λ)/(M L) of λ and M L; infinite where their product reaches one.

    Examples
    --------
    >>> radius(np.array([0.1, 0.1, 2.0]), np.array([0.0, 1.0, 1.0])).round(4)
    array([0.1   , 0.1054,    inf])
    """
    product = gradient * steep
    with np.errstate(divide="ignore", invalid="ignore"):
        found = np.where(product > 1e-9, -np.log1p(-np.minimum(product, 1.0)) / steep, gradient * (1.0 + 1e-9))
    return np.where(product < 1.0, found, np.inf)


def after_a_step(length: FloatArray, steep: FloatArray, rest: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return how far the optimum is from the end of a Newton step of that length, and by what lengths are longer there.

    All are in the metric where the step begins; `rest` is the length of what the gradient had there that the step does
    not go along. The step leaves a gradient of length σ (e^ρ − 1 − ρ)/ρ with ρ = M L σ, and at its end the Hessian is
    at least e^−ρ of what it was.
    """
    rho = np.minimum(steep * length, 500.0)
    bend = np.where(rho > 1e-4, (np.expm1(rho) - rho) / np.maximum(rho, 1e-300), 0.51 * rho)
    wider = np.exp(0.5 * rho)
    return radius((length * bend + rest) * wider, steep * wider), wider


def largest_of_others(values: FloatArray) -> FloatArray:
    """Return for each the largest of all the others.

    Examples
    --------
    >>> largest_of_others(np.array([1.0, 3.0, 2.0]))
    array([3., 2., 3.])
    """
    if len(values) < 2:
        return np.zeros_like(values)
    first = int(values.argmax())
    out = np.full_like(values, values[first])
    out[first] = np.delete(values, first).max()
    return out
