"""Where scores are cut and how they become probabilities, as `--threshold` and `--calibrate` ask for it."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .. import losses
from .._common.types import FloatArray, IntArray
from ..data.sources import DataError
from .choosing import Asked, _folds, folds_of
from .preparation import Examples
from .training import class_weights

if TYPE_CHECKING:  # all of which load scikit-learn
    from ..estimators._calibration import Calibration
    from ..selection.out_of_fold import OutOfFold
    from ..selection.thresholds import Aim, Chosen

BY_FOLDS = ("sigmoid", "isotonic")
#: Where one class has so many times the rows of another, it is seldom the one that is looked for.
LOPSIDED = 2


@dataclass(frozen=True)
class Wanted:
    """What is asked for."""

    threshold: str | None = None  # a number, or an aim
    calibrate: str | None = None  # sigmoid, isotonic or none; None corrects log odds for weights of classes
    folds: int = 5
    seed: int = 0
    loss: str = "logistic"  # of the model
    base_rates: tuple[str, ...] = ()  # pairs of a class and its share where the model will be used, as yes=0.02

    def __post_init__(self) -> None:
        number = self.number
        if self.base_rates and not (self.takes_folds or (self.is_likelihood and self.calibrate != "none")):
            raise DataError(
                "--base-rates would be ignored: they belong to probabilities (--calibrate, or a logistic loss) and to "
                "an aim of --threshold"
            )
        if self.has_aim:
            assert self.aim  # which raises for what is none
        elif number is not None and self.has_probabilities and not 0 < number < 1:
            raise DataError(
                f"--threshold {self.threshold}: this model has probabilities, give one between 0 and 1, or an aim"
            )

    @property
    def is_likelihood(self) -> bool:
        """Whether scores are log odds."""
        return bool(losses.LOSSES.get(self.loss, losses.Loss).is_likelihood)

    @property
    def has_probabilities(self) -> bool:
        """Whether such a model will have probabilities that a number can be one of."""
        return self.is_likelihood or self.calibrate in BY_FOLDS

    @property
    def number(self) -> float | None:
        """The threshold as a number, where it is one."""
        try:
            number = None if self.threshold is None else float(self.threshold)
        except ValueError:
            return None
        if number is not None and not np.isfinite(number):
            raise DataError(f"--threshold {self.threshold}: give a finite number, or an aim")
        return number

    @property
    def aim(self) -> Aim:
        """What the threshold is chosen for, where it is no number."""
        from ..selection.thresholds import Aim

        try:
            return Aim.parse(str(self.threshold), "a number, or ")
        except ValueError as error:
            raise DataError(f"--threshold {error}") from error

    @property
    def has_aim(self) -> bool:
        """Whether the threshold is to be chosen."""
        return self.threshold is not None and self.number is None

    @property
    def takes_folds(self) -> bool:
        """Whether out-of-fold scores are needed."""
        return self.has_aim or self.calibrate in BY_FOLDS

    def check(self, y: NDArray[Any], classes: NDArray[Any]) -> None:
        """Raise where these labels cannot have what is asked for."""
        self.rates(classes)
        if self.threshold is not None and len(classes) != 2:
            raise DataError(
                f"--threshold is for two classes; of {len(classes)} the one with the highest score is predicted"
            )
        if not self.takes_folds:
            return
        what = "--calibrate" if self.calibrate in BY_FOLDS else f"--threshold {self.threshold}"
        labels, counts = np.unique(y, return_counts=True)
        if len(labels) < len(classes):
            missing = next(label for label in classes.tolist() if label not in labels)
            raise DataError(
                f"{what}: none of the {len(y):,} rows that there is room for is of class {missing}; give more memory"
            )
        if counts.min() < 2:
            rare = labels[int(np.argmin(counts))]
            raise DataError(
                f"{what} takes at least two rows of each class, each of which is scored by a fit without it; "
                f"{rare} has one; leave it out, or put the class together with another"
            )
        if self.has_aim:
            self._check_class(classes, counts)

    def _check_class(self, classes: NDArray[Any], counts: IntArray) -> None:
        """Raise for a class that there is not; tell whom an aim is about that seems to be meant for the other class."""
        first, second = map(str, classes)
        try:
            about = self.aim.about(classes)
        except ValueError as error:
            raise DataError(f"--threshold {error}") from error
        if about != self.aim and counts[1] > LOPSIDED * counts[0]:
            warnings.warn(
                f"--threshold {self.aim} is about {second}, the second class; where {first} is to be found, say "
                f"--threshold '{self.aim} of {first}'",
                stacklevel=2,
            )

    def rates(self, classes: NDArray[Any]) -> dict[Any, float] | None:
        """Return the share of each class where the model will be used, where that is said."""
        said = class_weights(self.base_rates, classes.tolist(), "--base-rates")
        if said is None:
            return None
        from ..selection.out_of_fold import rates_of

        try:
            return dict(zip(classes.tolist(), rates_of(said, classes).tolist(), strict=True))
        except ValueError as error:
            words = " ".join(self.base_rates)
            raise DataError(f"--base-rates {words}: give the share of each class, above 0, which come to 1") from error

    def decide(self, model: Any, examples: Examples) -> Decision:
        """Decide by all examples; each fold is encoded by what its training rows alone show."""
        classes, codes = examples.coded
        totals = np.bincount(codes, weights=examples.weight).astype(np.float64)
        found = self.on(model, examples.split, examples.y, examples.weight, classes, totals, examples=examples)
        return found.by_rows(examples.rows_of_file) if examples.weighing.is_grouped and self.takes_folds else found

    def on(
        self,
        model: Any,
        take: Callable[[IntArray, IntArray], tuple[Any, Any]],
        y: NDArray[Any],
        weight: FloatArray | None,
        classes: NDArray[Any],
        totals: FloatArray,
        *,
        examples: Examples | None = None,
    ) -> Decision:
        """Decide for a model that is about to be fitted.

        Parameters
        ----------
        model : estimator
            As it will be fitted, or of a sample as this is.
        take : callable
            From rows to learn from and rows to score to both, as the fit takes them.
        y, weight
            Of the rows, or of a sample of them.
        classes, totals : array
            All classes, and how much the rows of each count.
        examples : Examples, optional
            All of them, where they are in memory: successes and failures of a row are then held out together.
        """
        self.check(y, classes)
        found = None
        if self.takes_folds:
            from ..selection.out_of_fold import score_folds

            asked = Asked(folds=self.folds, seed=self.seed)
            folds = _folds(y, asked) if examples is None else folds_of(examples, asked)
            found = score_folds(model, take, y, weight, folds)
        calibration = self._calibration(model, found, classes, totals)
        try:
            return self._cut(calibration, found)
        except ValueError as error:
            raise DataError(f"--threshold {error}") from error

    def _calibration(
        self, model: Any, found: OutOfFold | None, classes: NDArray[Any], totals: FloatArray
    ) -> Calibration | None:
        by_class, rates = getattr(model, "class_weight", None), self.rates(classes)
        as_fitted = (by_class is None and rates is None) or self.calibrate == "none"
        if self.calibrate not in BY_FOLDS and (as_fitted or not losses.scores_are_log_odds(model)):
            return None
        from ..selection.calibration import calibration, is_softmax, prior

        if self.calibrate in BY_FOLDS:
            assert found is not None
            together = is_softmax(model, len(classes))
            return calibration(str(self.calibrate), found, together=together, base_rates=rates)
        weights = np.ones(len(classes)) if by_class is None else model._factors(by_class, classes, totals)
        # Of a class that does not count nothing is known: such probabilities stay as they are fitted.
        return prior(model, weights, classes, totals, rates) if (weights > 0).all() else None

    def _cut(self, calibration: Calibration | None, found: OutOfFold | None) -> Decision:
        from ..estimators._calibration import Sigmoid

        if self.has_aim:
            from ..selection.thresholds import Chosen

            assert found is not None
            chosen = Chosen.by(self.aim, found, self.rates(found.classes))
            return Decision(calibration, chosen.threshold, chosen)
        number = self.number
        if number is not None and self.has_probabilities:
            number = (Sigmoid(1.0, 0.0) if calibration is None else calibration.maps[0]).score(number)
        return Decision(calibration, number)


NOTHING = Wanted()


@dataclass(frozen=True)
class Decision:
    """How a model makes probabilities of scores, the score from which on it predicts the second class, and why."""

    calibration: Calibration | None = None
    threshold: float | None = None
    chosen: Chosen | None = None

    def by_rows(self, rows: int) -> Decision:
        """Return the same with scores counted by rows of the file, each of which successes and failures share."""
        calibration = None if self.calibration is None else replace(self.calibration, rows=rows)
        return replace(
            self, calibration=calibration, chosen=None if self.chosen is None else replace(self.chosen, rows=rows)
        )

    def apply(self, model: Any) -> None:
        """Give it to a fitted model."""
        if self.calibration is not None:
            model.calibration_ = self.calibration
        if self.threshold is not None:
            model.threshold_ = self.threshold
        if self.chosen is not None:
            model.threshold_choice_ = self.chosen.to_dict()


def threshold_in_words(model: Any) -> str:
    """Say from where on the second of two classes is predicted."""
    from ..estimators._calibration import LIKELIEST, map_of

    classes, at, found = model.classes_, getattr(model, "threshold_", None), map_of(model)
    if len(classes) > 2:
        likeliest = "" if getattr(model, "calibration_", None) is None else f", which {LIKELIEST}"
        return f"the class with the highest score is predicted{likeliest}"
    where = "the score is above 0" if at is None else f"the score is at least {at:.6g}"
    if found is not None:
        p = float(found.probability([at or 0.0])[0])
        least = "more than" if at is None else "at least"
        where += f", its probability {least} {'one half' if p == 0.5 else f'{p:.4g}'}"
    return f"{classes[1]} is predicted where {where}"


def choice_in_words(model: Any) -> str | None:
    """Say what the threshold was chosen for, and what that came to on out-of-fold scores."""
    said = getattr(model, "threshold_choice_", None)
    if said is None:
        return None
    from ..selection.thresholds import in_words

    return in_words(said, model.classes_)


def calibration_in_words(model: Any) -> str | None:
    """Say how scores became probabilities, where that is not the loss's own way."""
    found = getattr(model, "calibration_", None)
    if found is None:
        return None
    kept = " (--calibrate none keeps them)" if found.method == "prior" and not found.base_rates else ""
    return f"{found.in_words}{kept}"


def decision_lines(model: Any) -> list[str]:
    """Return what a fit says of the threshold and of probabilities, where there is something to be said."""
    lines = []
    if (how := calibration_in_words(model)) is not None:
        lines.append(f"probability {how}")
    if hasattr(model, "threshold_") or how is not None:
        lines.append(f"threshold   {threshold_in_words(model)}")
    if (choice := choice_in_words(model)) is not None:
        lines.append(f"chosen      {choice}")
    return lines


def decision_record(model: Any) -> dict[str, Any]:
    """Return the same for programs."""
    from ..estimators._calibration import map_of

    at, found = getattr(model, "threshold_", None), map_of(model)
    probability = None if found is None else float(found.probability([at or 0.0])[0])
    calibration = getattr(model, "calibration_", None)
    how = None if calibration is None else {name: getattr(calibration, name) for name in ("method", "folds", "rows")}
    cut = {"score": at, "probability": probability, "choice": getattr(model, "threshold_choice_", None)}
    return {"threshold": None if at is None else cut, "calibration": how}
