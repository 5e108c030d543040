"""Options of `linsep fit` alone, in groups that belong together: each says what it asks for, and what it refuses."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import Parameter

from .options import Several


@Parameter(name="*")
@dataclass(frozen=True)
class Counting:
    """How much rows and classes count, and from which level coefficients are counted.

    Parameters
    ----------
    weights
        The column that says how often each row was seen, in whole numbers: the same as so many rows.
    sample_weight
        The column that says how much each row counts, in any numbers from 0.
    successes
        Instead of a target: the column with the number of successes among the trials that a row stands for.
    trials
        The column with the number of these trials.
    class_weight
        How much the rows of each class count: yes=5,no=1, or one such pair each time; balanced as --balanced.
    balanced
        Count all classes the same, however many examples they have.
    reference
        column=level: coefficients of the column's other levels are told relative to this one, which changes no
        prediction; without a penalty the first level of each category, if nothing is said.
    """

    weights: str | None = None
    sample_weight: str | None = None
    successes: str | None = None
    trials: str | None = None
    class_weight: Several = ()
    balanced: bool = False
    reference: Several = ()

    def by_class(self) -> tuple[str, ...]:
        """Return what is said of the classes."""
        if self.balanced and self.class_weight:
            raise ValueError("--balanced would be ignored: --class-weight says how much classes count")
        return ("balanced",) if self.balanced else self.class_weight

    def weighing(self) -> Any:
        """Return which columns say how much rows count."""
        from ..workflows.weighing import Weighing

        return Weighing(self.weights, self.sample_weight, self.successes, self.trials)


@Parameter(name="*")
@dataclass(frozen=True)
class Deciding:
    """Where scores are cut, and how they become probabilities.

    Parameters
    ----------
    threshold
        Of two classes, from where on the second is predicted. A number: a probability, or a score if the model has no
        probabilities. Or what it is chosen for, on scores of rows that the fit has not seen: accuracy,
        balanced-accuracy, f1, costs=1:5 (of a false alarm and of a miss), recall@precision=0.9, precision@recall=0.8;
        of the second class, or as in 'f1 of yes' of the one that is named.
    calibrate
        Probabilities by sigmoid (Platt) or by isotonic regression (for 1,000 rows and more) of scores of rows that the
        fit has not seen. Without it logistic models have their own, corrected for --balanced and --class-weight; none
        leaves them as they are fitted.
    base_rates
        Where rows were drawn by class, so that their shares are not those of the world: yes=0.02, the share of each
        class where the model will be used. Probabilities and aims of --threshold are then those of such rows.
    """

    threshold: Annotated[str | None, Parameter(allow_leading_hyphen=True)] = None
    calibrate: Literal["sigmoid", "isotonic", "none"] | None = None
    base_rates: Several = ()

    def wanted(self, folds: int | None, seed: int, loss: str) -> Any:
        """Return what is asked for; raise for what makes no sense."""
        from ..workflows.deciding import Wanted

        return Wanted(self.threshold, self.calibrate, 5 if folds is None else folds, seed, loss, self.base_rates)


@Parameter(name="*")
@dataclass(frozen=True)
class Choosing:
    """How C is chosen, where it is.

    Parameters
    ----------
    score
        With --C auto: what C is chosen by, accuracy (or balanced_accuracy with --balanced), costs=1:5 (of a false alarm
        and of a miss), f1_macro, neg_log_loss, …
    folds
        With --C auto, an aim of --threshold or --calibrate: in how many parts, each held out once; 5 without it.
    rule
        With --C auto: best, or 1se for the smallest C within one standard error of the best.
    prove
        With --C auto, of two classes: bound the mistakes in all folds of every C from 1e-4 to 1e4, to within 1 in 1,000
        rows or as near as it comes, and choose by them. Ctrl-C ends it with what is proven by then.
    effort
        With --prove: it ends after so many times the work of choosing alone; 10 without it, inf for 100,000 steps.
    """

    score: str | None = None
    folds: int | None = None
    rule: str | None = None
    prove: Annotated[bool, Parameter(negative="")] = False
    effort: float | None = None

    def check(self, C: float | None, wanted: Any, *, scaling: bool) -> None:
        """Raise for what would be ignored, or does not go together with the rest."""
        folds = None if wanted.takes_folds else self.folds
        if C is not None and (self.prove, self.score, self.rule, folds) != (False, None, None, None):
            raise ValueError(
                "--prove, --score, --folds and --rule would be ignored: they belong to --C auto (--folds also to "
                "--calibrate and to an aim of --threshold)"
            )
        if self.effort is not None and not (self.prove and self.effort > 0):
            raise ValueError("--effort is a positive number that belongs to --prove: without it, it would be ignored")
        if C is None and not scaling:
            raise ValueError(
                "--C auto standardises in each of its parts: give C as a number, or leave out --no-scaling"
            )

    def asked(self, seed: int, counting: Counting) -> Any:
        """Return what is asked for; raise for what makes no sense."""
        from ..workflows.choosing import Asked

        balanced, prove = counting.by_class() == ("balanced",), self.prove if self.effort is None else self.effort
        return Asked.of(self.score, self.folds, self.rule, seed=seed, balanced=balanced, prove=prove)


@Parameter(name="*")
@dataclass(frozen=True)
class Memory:
    """How much memory a fit may take, and what it keeps on the disk instead.

    Parameters
    ----------
    max_memory
        512MB, 2GB, …: fit a file larger than memory. Its rows are encoded onto the disk and gone through in passes.
        What to watch out for is looked for in a sample, and equal rows are not.
    scratch
        With --max-memory: the folder for the encoded rows, about as large as the table; without it beside the model.
    resume
        With --max-memory: go on with a fit of the same data and settings that was cut short. --no-resume starts anew.
    """

    max_memory: str | None = None
    scratch: Path | None = None
    resume: Annotated[bool, Parameter(negative="--no-resume")] = True

    def check(self, *, prove: bool) -> None:
        """Raise for what would be ignored, or does not go together with the rest."""
        if self.max_memory is not None and prove:
            raise ValueError("--prove takes all rows into memory: leave out --max-memory")
        if self.max_memory is None and (self.scratch is not None or not self.resume):
            raise ValueError("--scratch and --no-resume would be ignored: they belong to --max-memory")


COUNTING, DECIDING, CHOOSING, MEMORY = Counting(), Deciding(), Choosing(), Memory()
