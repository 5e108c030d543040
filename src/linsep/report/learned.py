"""What a model learned, and how: its heaviest weights, and the recorded steps of its fit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .._types import FloatArray
from ..history import histories_of
from .proofs import certificates
from .records import Journey, Weights

#: How many weights of a plane, planes, steps of a fit, and fits are shown.
WEIGHTS, PLANES, STEPS, FITS = 20, 50, 200, 10


def planes(model: Any, names: Sequence[str], per_unit: tuple[FloatArray, FloatArray] | None) -> list[Weights]:
    """Return the heaviest weights of each plane: |w_j| is the importance, its sign the direction."""
    two = len(model.coef_) == 1
    found = []
    for k, (w, b) in enumerate(zip(model.coef_[:PLANES], np.ravel(model.intercept_), strict=False)):
        order = np.argsort(-np.abs(w), kind="stable")[:WEIGHTS]
        towards, away = (model.classes_[1], model.classes_[0]) if two else (model.classes_[k], "the rest")
        unit, at_zero = (None, None) if per_unit is None else (per_unit[0][k, order], float(per_unit[1][k]))
        heaviest, left = [names[j] for j in order], len(w) - len(order)
        found.append(Weights(str(towards), str(away), heaviest, w[order], float(b), unit, at_zero, left))
    return found


def journeys(model: Any) -> list[Journey]:
    """Return the recorded steps of each plane's fit; a model from a file has kept few of them, or none."""
    kept, proofs = histories_of(model), certificates(model)
    alone = len(kept) == 1
    found = []
    for k, history in enumerate(kept[:FITS]):
        proof = proofs[k] if len(proofs) == len(kept) else None
        journey = _journey("" if alone else str(model.classes_[k]), history, proof)
        if journey is not None:
            found.append(journey)
    return found


def _journey(name: str, history: Any, proof: Any) -> Journey | None:
    kept = len(history)
    thin = np.unique(np.linspace(0, kept - 1, min(kept, STEPS)).astype(np.int64))
    columns = ("objective", "best", "risk", "zero_one")
    series = {column: history[column][thin] for column in columns} if kept else {}
    series = {column: values for column, values in series.items() if np.isfinite(values).sum() >= min(kept, 2)}
    if "risk" in series and np.allclose(series["risk"], series["objective"], rtol=1e-9, atol=0.0, equal_nan=True):
        del series["risk"]  # nothing is penalised: it would lie on the objective
    if not series:
        return None
    return Journey(name, history.offered, history["step"][thin], series, _gap(series.get("best"), proof))


def _gap(best: FloatArray | None, proof: Any) -> FloatArray | None:
    """Return (P − D)/P at the best plane so far, for the bound D that is proven in the end.

    The history has the mean objective F = P/(C Σs), the certificate P and D: both have the same ratio of D to the last
    objective, whatever the scale.
    """
    if best is None or proof is None or not proof.proven or not proof.primal > 0 or not best[-1] > 0:
        return None
    bound = best[-1] * proof.dual / proof.primal
    return np.asarray((best - bound) / best)
