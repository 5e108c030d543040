"""The estimator for a loss by name, and a fit as a model file wants it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from .. import losses
from .._common.types import FloatArray
from .._common.words import listed
from .._core import one_thread
from ..analysis.suspects import Suspect, suspects
from ..data.sources import DataError
from .preparation import Examples
from .reference import Reference


def parse_C(text: str) -> float | None:
    """Return C as a number, or None for ``auto``.

    Examples
    --------
    >>> parse_C("0.5"), parse_C("inf"), parse_C("auto")
    (0.5, inf, None)
    """
    if text == "auto":
        return None
    try:
        C = float(text)
    except ValueError:
        C = np.nan
    if not C > 0:
        raise DataError(f"--C {text} is not possible; give a positive number, inf for no penalty, or auto")
    return C


def check_loss(loss: str) -> None:
    """Raise unless this is the name of a loss that has a minimum to be found: a convex one."""
    convex = [name for name, known in losses.LOSSES.items() if known.convex]
    if loss not in convex:
        raise DataError(f"--loss {loss} is not known; use one of {', '.join(convex)}")


def class_weights(words: Sequence[str], classes: Iterable[Any], option: str = "--class-weight") -> Any:
    """Return what `--class-weight` or another such option says: weights by label, "balanced", or None.

    Pairs may be separated by commas or come one by one; a name may have commas and = in it.

    Examples
    --------
    >>> class_weights(["yes=5,no=1"], ["no", "yes"]), class_weights(["a,b=2,1=3"], ["a,b", 1])
    ({'yes': 5.0, 'no': 1.0}, {'a,b': 2.0, 1: 3.0})
    """
    if list(words) == ["balanced"]:
        return "balanced"
    known, found = {str(label): label for label in classes}, dict[Any, float]()
    for word in words:
        pending = ""
        for part in word.split(","):
            pending = f"{pending},{part}" if pending else part
            name, _, value = pending.rpartition("=")
            if name.strip() in known:
                found[known[name.strip()]], pending = _class_weight(value, word, option), ""
        if pending:
            raise DataError(
                f"{option} {word}: {pending!r} is no pair of a class and its weight, as yes=5; the classes are "
                f"{listed(list(known), 12)}"
            )
    return found or None


def _class_weight(text: str, word: str, option: str) -> float:
    try:
        weight = float(text)
    except ValueError:
        weight = np.nan
    if not 0 <= weight < np.inf:
        raise DataError(f"{option} {word}: {text!r} is no weight; give a number that is 0 or more")
    return weight


def is_scaled(loss: str, C: float | None, degree: int) -> bool:
    """Whether a fit takes numbers standardised, or as they are, so that what is proven is of the file's own.

    Without a penalty the optimum predicts the same on any scale, and second-order methods reach it on any where the
    loss is self-concordant, as the logistic and the square loss are. Products of numbers that are missing depend on
    what these are taken for: they stay products of standardised numbers.

    Examples
    --------
    >>> is_scaled("logistic", 1.0, 1), is_scaled("logistic", np.inf, 1), is_scaled("hinge", np.inf, 1)
    (True, False, True)
    """
    return (
        C is None
        or bool(np.isfinite(C))
        or degree > 1
        or bool(np.isinf(losses.LOSSES.get(loss, losses.Loss).self_concordance))
    )


def estimator(
    loss: str,
    *,
    C: float = 1.0,
    l1_ratio: float = 0.0,
    tol: float = 1e-4,
    class_weight: Any = None,
    fit_intercept: bool = True,
    seed: int = 0,
) -> Any:
    """Return the estimator that minimises a loss.

    Parameters
    ----------
    loss : str
        The name of a convex loss of `linsep.losses`.
    C : float, default=1.0
    l1_ratio : float, default=0.0
        r in ``(1 − r)·½‖w‖² + r·‖w‖₁``.
    tol : float, default=1e-4
        The relative duality gap to reach.
    class_weight : dict, "balanced" or None
        How much the examples of each class count; balanced, all classes the same.
    fit_intercept : bool, default=True
        Whether the plane may miss the origin.
    seed : int, default=0

    Examples
    --------
    >>> type(estimator("hinge")).__name__
    'LinearSVC'
    """
    from .. import estimators  # which loads scikit-learn: that can be done while a file is read

    check_loss(loss)
    shared: dict[str, Any] = dict(class_weight=class_weight, fit_intercept=fit_intercept, random_state=seed)
    if loss == "perceptron":
        if C != 1.0 or l1_ratio:
            raise DataError("--C and --l1-ratio would be ignored: the perceptron has no penalty")
        return estimators.Perceptron(**shared)
    if loss == "logistic":
        return estimators.LogisticRegression(C=C, l1_ratio=l1_ratio, tol=tol, **shared)
    if loss in ("hinge", "squared_hinge") and l1_ratio in (0.0, 1.0):
        return estimators.LinearSVC("l1" if l1_ratio else "l2", loss, C=C, tol=tol, **shared)
    if loss == "square" and not l1_ratio and np.isinf(C):
        return estimators.LeastSquaresClassifier(class_weight=class_weight, fit_intercept=fit_intercept)
    return estimators.LinearClassifier(loss, penalty="elasticnet", l1_ratio=l1_ratio, C=C, tol=tol, **shared)


def fit_or_stop(model: Any, examples: Examples, left_out: Sequence[int] = ()) -> bool:
    """Fit as a model file wants it, with nothing that speaks of single examples, nor messages of columns left out.

    Return whether the user put an end to it, which leaves the best so far.
    """
    from ..estimators import support_left_out
    from ..estimators._specification import columns_named

    try:
        with support_left_out(), columns_named(examples.encoding.names, left_out):
            model.fit(examples.X, examples.y, examples.weight)
    except KeyboardInterrupt:
        if not hasattr(model, "dual_gap_"):
            raise
        return True
    return False


def is_proven(model: Any) -> bool:
    """Whether the fit reached what was asked for: a certificate where there is one, else its own stopping rule."""
    certificate = getattr(model, "certificate_", None)
    return bool(model.converged_ if certificate is None else certificate.proven)


def hashed(examples: Examples) -> dict[str, Any]:
    """Return the hash of the examples, by the calling thread alone: the fit beside it needs the others."""
    from ..certificates.data_hash import data_hash

    with one_thread():
        return data_hash(examples.X, examples.y, examples.weight)


def kept_encoding(
    examples: Examples, model: Any, reference: Reference, spread: FloatArray | None = None
) -> dict[str, Any]:
    """Return what a model file keeps of its table: how columns become features, and what these do in these rows.

    `spread` are the standard deviations of the features.
    """
    from ..analysis.importance import importance

    found = importance(examples.X, model.coef_, examples.encoding.origins, spread, examples.weight)
    kept = examples.encoding.to_dict() | examples.weighing.to_dict() | reference.to_dict()
    return kept | {"importance": found.to_dict()}


def doubts(examples: Examples, model: Any) -> list[Suspect]:
    """Return what a person should look at before trusting a fit of this model to these examples."""
    encoding = examples.encoding
    if examples.weighing.is_grouped:  # every row is one of both classes
        return []
    known = None if examples.frame is None else examples.file_rows
    told: dict[str, Any] = dict(names=encoding.names, sources=encoding.origins, file_rows=known)
    told |= dict(numbers=examples.numbers, weighted=getattr(model, "class_weight", None) is not None)
    return suspects(examples.X, examples.y, **told)
