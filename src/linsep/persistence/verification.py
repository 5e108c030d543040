"""`verify`: what is proven of a model, in memory or in a file, checked again from the data alone."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from numpy.typing import ArrayLike

from .._common.types import IntArray
from ..certificates.outcome import Verification
from ..certificates.verify import check
from .reading import read

#: The sections of a file that no attribute of the model holds, and nothing follows from.
FILED = ("encoding", "seed", "versions")


def verify(
    model_or_path: Any,
    X: Any,
    y: ArrayLike | None,
    sample_weight: ArrayLike | None = None,
    *,
    time_limit: float | None = None,
    split: Callable[[IntArray, IntArray], tuple[Any, Any]] | None = None,
) -> Verification:
    """Check what is proven of a model as it predicts, from the data alone and without the solver that found it.

    The sentence that is proven, where the model has it: how far its objective on these rows is from the optimum
    (``certificate_``), the margin of `HardMarginSVC` and that none is larger, the separating plane or the overlap of
    `Perceptron` (``separability_``), the mistakes of `ZeroOneClassifier` and that no plane makes fewer, and of a C that
    was chosen with `prove` how many mistakes it makes on held-out rows, and that no C makes fewer. Labels become
    ±1 as in `predict`; where a model has a threshold, margin and mistakes are those of the plane as it is cut there. A
    changed weight, label, row, parameter or bound is refused.

    Parameters
    ----------
    model_or_path : fitted estimator, path of a model file, or proof
        A proof is what `linsep.separability` and `linsep.estimates` return, a `NotSeparableError`, or a
        ``certificate_``.
    X, y, sample_weight
        What the model was fitted on. Where a file has the hash of its data, they must be the same to the last bit.
    time_limit : float, optional
        Seconds for exact arithmetic, after which `linsep.exact.ProofTimeoutError` says that nothing was decided.
    split : callable, optional
        ``split(train, test)`` returns the columns of these rows, as a model file by ``linsep fit --C auto --prove``
        needs them: there each fold's columns are made by its own rows. `linsep verify` gives it.

    Returns
    -------
    Verification
        True where all is as claimed; ``reason`` is the sentence, or says why not; ``checked`` and ``trusted`` what it
        rests on, ``unchecked`` what else the model reports, and ``proven`` whether the model is optimal within `tol`.

    Examples
    --------
    >>> from linsep import LinearSVC, verify
    >>> X, y = [[0.0], [1.0], [3.0], [4.0]], ["no", "no", "yes", "yes"]
    >>> model = LinearSVC().fit(X, y)
    >>> print(verify(model, X, y))
    Verified: the objective ½‖w‖² + Σ max(0, 1 − z) of this plane on these 4 rows lies within ... of the optimum, ...
    Checked: ...
    Taken on trust: IEEE arithmetic; exp and log to within ... units in the last place.
    Not checked: ...
    >>> print(verify(model, X, ["no", "yes", "yes", "yes"]).reason)
    the rows (or their labels) are not those of the fit
    """
    if isinstance(model_or_path, str | os.PathLike):
        found = read(model_or_path)
        outcome = check(
            found.model,
            X,
            y,
            sample_weight,
            threshold=found.threshold,
            data=found.data,
            time_limit=time_limit,
            split=split,
        )
        return replace(outcome, unchecked=(*outcome.unchecked, *FILED)) if outcome else outcome
    data, threshold = getattr(model_or_path, "_provenance", {}).get("data"), getattr(model_or_path, "threshold_", None)
    known: Any = dict(threshold=threshold, data=data, time_limit=time_limit, split=split)
    return check(model_or_path, X, y, sample_weight, **known)
