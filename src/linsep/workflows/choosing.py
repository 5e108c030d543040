"""C by cross-validation, as `--C auto` asks for it: folds, scores, the rule, and what is said of them."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from copy import copy
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .._common.types import FloatArray
from .._common.words import many
from ..data.encoding import MatrixEncoding
from ..data.sources import DataError
from ..objective.examples import Block
from .preparation import Examples

if TYPE_CHECKING:
    from ..certificates.held_out import Fold
    from ..selection.proven import Proven

#: The values of C that are tried: three to a power of ten.
GRID = tuple(10.0 ** (k / 3) for k in range(-12, 13))
RULES = ("best", "1se")
#: Scores of one of two classes: of the second one, which is that of the model's scores above zero.
OF_A_CLASS = ("f1", "precision", "recall", "jaccard", "average_precision")


@dataclass(frozen=True)
class Asked:
    """How C is to be chosen.

    Attributes
    ----------
    score : str
        The name of a score, as scikit-learn has them.
    folds : int
    rule : {"best", "1se"}
        The best mean score, or the smallest C within one standard error of it.
    seed : int
    prove : bool or float
        Whether to bound the mistakes of every C from the first to the last that is tried; a number is how many times
        the work of choosing alone that may take.
    """

    score: str = "accuracy"
    folds: int = 5
    rule: str = "best"
    seed: int = 0
    prove: bool | float = False

    def __post_init__(self) -> None:
        if self.rule not in RULES:
            raise DataError(f"--rule {self.rule} is not known; use best, or 1se for one standard error")
        if self.folds < 2:
            raise DataError(f"--folds {self.folds} is too few: with 2 or more, each is held out once")
        counts = self.counts_mistakes
        if self.prove and (not counts or self.rule != "best"):
            raise DataError(
                "--prove bounds mistakes: --score accuracy, balanced_accuracy or costs=1:5, and leave --rule at best"
            )

    @property
    def counts_mistakes(self) -> bool:
        """Whether the score is that of mistakes; raises for costs that are none."""
        from ..certificates.counted_mistakes import counts_mistakes

        try:
            return counts_mistakes(self.score)
        except ValueError as error:
            raise DataError(f"--score {error}") from error

    @classmethod
    def of(
        cls,
        score: str | None,
        folds: int | None,
        rule: str | None,
        *,
        seed: int,
        balanced: bool,
        prove: bool | float = False,
    ) -> Asked:
        """Return what is asked for; where classes count the same, so do their mistakes unless a score is named."""
        usual = "balanced_accuracy" if balanced else "accuracy"
        return cls(score or usual, folds or 5, rule or "best", seed, prove)


ACCURACY = Asked()


@dataclass(frozen=True)
class Choice:
    """A choice of C, and the curve that it was chosen by.

    Attributes
    ----------
    C : float
    score, rule : str
    folds, rows : int
        How many there were; of a file that is larger than memory, those of a sample.
    curve : list of dict
        Of each C the mean score, and its standard deviation between folds.
    of : str or None
        The class that is scored, where the score is of one of two.
    proof : dict or None
        The ``mistakes`` of the choice in all folds, and a ``bound``: no C from ``C_min`` to ``C_max`` makes fewer.
    """

    C: float
    score: str
    rule: str
    folds: int
    rows: int
    curve: list[dict[str, float]]
    of: str | None = None
    proof: dict[str, float] | None = None
    certificate: Any = None  # what a check needs to prove that again

    @classmethod
    def by(cls, asked: Asked, scores: FloatArray, rows: int, of: str | None = None) -> Choice:
        """Return the choice by a table of scores, a row a fold and a column a C."""
        folds = len(scores)
        mean, spread = scores.mean(axis=0), scores.std(axis=0, ddof=1)
        at = int(np.argmax(mean))
        if asked.rule == "1se":
            at = int(np.argmax(mean >= mean[at] - spread[at] / np.sqrt(folds)))
        curve = [{"C": C, "mean": float(m), "spread": float(s)} for C, m, s in zip(GRID, mean, spread, strict=True)]
        return cls(GRID[at], asked.score, asked.rule, folds, rows, curve, of)

    def proven(self, proof: Proven, folds: list[Fold], totals: list[float], certificate: Any) -> Choice:
        """Return the choice that a proof makes, with its own place on the curve; `totals` are rows of each fold."""
        costs = [fold.mistakes(proof.C) / total for fold, total in zip(folds, totals, strict=True)]
        scores = -np.array(costs) if self.score.startswith("costs=") else 1.0 - np.array(costs)
        own = {"C": proof.C, "mean": float(np.mean(scores)), "spread": float(np.std(scores, ddof=1))}
        curve = sorted([*(one for one in self.curve if one["C"] != proof.C), own], key=lambda one: one["C"])
        return replace(self, C=proof.C, curve=curve, proof=certificate.claimed.summary, certificate=certificate)

    def to_dict(self) -> dict[str, Any]:
        """Return it as a model file keeps it."""
        return {name: value for name, value in vars(self).items() if name != "certificate"}

    def keep(self, model: Any) -> None:
        """Give a fitted model the proof of the choice, beside its own."""
        from ..certificates.proof import keep_proof

        if self.certificate is not None and model._proofs:
            keep_proof(model, self.certificate)

    @property
    def record(self) -> list[dict[str, float]]:
        """The curve, by the name of the score."""
        return [{"C": one["C"], self.score: one["mean"], "spread": one["spread"]} for one in self.curve]

    @property
    def lines(self) -> list[str]:
        """The same for people."""
        chosen = next(one for one in self.curve if one["C"] == self.C)
        how = "the best" if self.rule == "best" else "the smallest within one standard error of the best"
        how = f"{how} of {len(self.curve)}" if self.proof is None else "that with the fewest mistakes in all folds"
        tried = ", ".join(f"{one['C']:.3g}: {one['mean']:.4f}" for one in self.curve)
        name = self.score if self.of is None else f"{self.score} of {self.of}"
        score = f"{name} {chosen['mean']:.4f} ± {chosen['spread']:.4f} between {self.folds} folds"
        bound = []
        if self.proof is not None:
            from ..certificates.counted_mistakes import in_words

            made, (low, high) = many(self.proof["mistakes"], "mistake"), (self.proof["C_min"], self.proof["C_max"])
            bound += [
                f"proven      the chosen C makes {made}{in_words(self.score)} in {self.folds} folds; no C between "
                f"{low:g} and {high:g} makes fewer than {self.proof['bound']:g}"
            ]
        return [
            *bound,
            f"C           {self.C:.4g}, {how}: {score}, {self.rows:,} rows",
            f"tried       {tried}",
            *(f"watch out   {doubt}" for doubt in self._doubts()),
        ]

    def _doubts(self) -> list[str]:
        """Say where the choice is no choice between others on either side of it."""
        if len({one["mean"] for one in self.curve}) == 1:
            return ["every C has the same score: it does not tell them apart; another --score may"]
        if self.curve[-1]["C"] == self.C:
            return [f"{self.C:g} is the largest C that is tried: a larger one may be better; compare --C inf"]
        if self.curve[0]["C"] == self.C and self.rule == "best":
            return [f"{self.C:g} is the smallest C that is tried: the columns seem to say little of the target"]
        return []


def choose(
    model: Any,
    examples: Examples,
    asked: Asked = ACCURACY,
    progress: Callable[[float, float], None] | None = None,
) -> Choice:
    """Choose C by cross-validation along warm starts.

    Each fold is encoded by what its training rows alone show, so nothing of the rows it is tested on leaks into it.
    `progress` hears, where a choice is to be proven, the fewest mistakes so far and how many any C makes at the least.
    """
    from ..estimators._fitting import posed

    classes = np.unique(examples.y)
    scorer, folds, scores = scorer_of(asked.score, model, classes), list(folds_of(examples, asked)), []
    bounded: list[Fold] = []
    if asked.prove and (len(classes) != 2 or not model._penalty().l2 or not model._loss().convex):
        raise DataError("--prove is for two classes, a convex loss, and a penalty with a share of L2")
    for train, test in folds:
        X_train, X_test = examples.split(train, test)
        counted = [None if examples.weight is None else examples.weight[rows] for rows in (train, test)]
        parts = posed(model, X_train, examples.y[train], counted[0])
        scores.append(_scores(parts, asked, scorer, X_test, examples.y[test], counted[1]))
        if asked.prove:
            bounded.append(_bounded(parts, asked, X_test, examples.y[test], counted[1]))
    choice = Choice.by(asked, np.array(scores), len(examples.y), class_of(asked.score, classes))
    return _proven(choice, bounded, asked, progress, folds, model, examples) if asked.prove else choice


def choose_on_sample(model: Any, sample: Block, total: float, classes: NDArray[Any], asked: Asked) -> Choice:
    """Choose C for rows of a total weight by a sample of them, which count together as much as all rows do."""
    from ..objective.examples import InMemory

    model.n_features_in_ = sample.rows.d
    scorer, labels, weight = scorer_of(asked.score, model, classes), classes[sample.codes], sample.weight
    examples, scores = InMemory(sample.rows, sample.codes, weight), []
    factor = total / float(sample.rows.n if weight is None else weight.sum())
    for train, test in _folds(labels, asked):
        counted = [None if weight is None else weight[rows] for rows in (train, test)]
        parts = model, examples.chosen(train, counted[0]), classes
        scores.append(_scores(parts, asked, scorer, sample.rows.X[test], labels[test], counted[1], factor))
    return Choice.by(asked, np.array(scores), len(labels), class_of(asked.score, classes))


def folds_of(examples: Examples, asked: Asked) -> Iterator[tuple[Any, Any]]:
    """Yield which examples are learned from and which are held out; successes and failures of a row stay together."""
    from sklearn.model_selection import KFold

    if not examples.weighing.is_grouped:
        yield from _folds(examples.y, asked)
        return
    rows, which = np.unique(examples.file_numbers(), return_inverse=True)
    count = min(asked.folds, len(rows))
    if count < 2:
        raise DataError(f"{examples.name}: of one row nothing can be held out; give C and --threshold as numbers")
    if count < asked.folds:
        _warn_of_fewer(count, asked, f"there are {count:,} rows of trials")
    for train, test in KFold(count, shuffle=True, random_state=asked.seed).split(rows):
        yield np.flatnonzero(np.isin(which, train)), np.flatnonzero(np.isin(which, test))


def _warn_of_fewer(count: int, asked: Asked, why: str) -> None:
    warnings.warn(f"{count:,} folds instead of {asked.folds:,}: {why}, one for each", stacklevel=4)


def _folds(y: NDArray[Any], asked: Asked) -> Iterator[tuple[Any, Any]]:
    from sklearn.model_selection import StratifiedKFold

    labels, counts = np.unique(y, return_counts=True)
    least, rarest = int(counts.min()), labels[np.argmin(counts)]
    if least < 2:
        raise DataError("--C auto needs at least two examples of each class to cross-validate; give C as a number")
    if asked.folds > least:
        _warn_of_fewer(least, asked, f"of the rarest class, {rarest}, there are {least:,} rows")
    yield from StratifiedKFold(min(asked.folds, least), shuffle=True, random_state=asked.seed).split(y, y)


def class_of(name: str, classes: NDArray[Any]) -> str | None:
    """Return the class that a score is of, where it is of one."""
    return str(classes[1]) if name in OF_A_CLASS and len(classes) == 2 else None


def scorer_of(name: str, model: Any, classes: NDArray[Any]) -> Any:
    """Return a scorer; raise for one that is not known, or that asks what such a model or such classes have not."""
    from sklearn.metrics import get_scorer_names

    from ..certificates.counted_mistakes import costs_of_two
    from ..selection.scores import scorer_named

    if "C" not in model.get_params():
        raise DataError("--C auto would be ignored: the perceptron has no penalty")
    own = costs_of_two(name)
    if own is not None and len(classes) > 2:
        raise DataError(f"--score {name} is of two classes, and here are {len(classes)}; use accuracy")
    if own is None and name not in get_scorer_names():
        raise DataError(
            f"--score {name} is not known; use accuracy, balanced_accuracy, costs=1:5, f1_macro, roc_auc or "
            "neg_log_loss"
        )
    if name in ("neg_log_loss", "neg_brier_score") and not hasattr(model, "predict_proba"):
        raise DataError(f"--score {name} needs probabilities; fit with --loss logistic, or take another score")
    if name in OF_A_CLASS and len(classes) > 2:
        raise DataError(f"--score {name} is of one of two classes, and here are {len(classes)}; use {name}_macro")
    return scorer_named(name)


def _scores(
    parts: tuple[Any, Any, Any], asked: Asked, scorer: Any, X: Any, y: NDArray[Any], weight: Any, factor: float = 1.0
) -> list[float]:
    """Return the score on a fold's test rows for each C."""
    from ..selection.folds import LOOSER
    from ..selection.tracks import Track

    track = Track(*parts, LOOSER * parts[0].tol, asked.seed)
    if len(parts[2]) == 2:  # as 0 and 1, whatever they are called: scores of one class are of the second
        track.template.classes_, y = np.array([0, 1]), (y == parts[2][1]).astype(np.int64)
    weights = {} if weight is None else {"sample_weight": weight}
    try:
        return [float(scorer(track.model(C * factor), X, y, **weights)) for C in GRID]
    except ValueError as error:
        raise DataError(f"--score {asked.score}: {error}") from error


def _bounded(parts: tuple[Any, Any, Any], asked: Asked, X: Any, y: NDArray[Any], weight: Any) -> Fold:
    """Return a fold whose mistakes can be bounded for every C."""
    from ..certificates.counted_mistakes import costs
    from ..certificates.held_out import Fold
    from ..selection.tracks import Track

    codes = (y == parts[2][1]).astype(np.int64)
    cost = costs(codes, weight, asked.score)
    return Fold(Track(*parts, 1.0).objectives[0], parts[0]._rows(X), np.where(codes == 1, 1.0, -1.0), cost)


def _proven(
    choice: Choice,
    folds: list[Fold],
    asked: Asked,
    progress: Callable[[float, float], None] | None,
    rows: list[Any],
    model: Any,
    examples: Examples,
) -> Choice:
    """Return the choice that branch and bound over C makes, to within 1 mistake in 1,000 rows."""
    from ..certificates.case import Case
    from ..certificates.kinds.choice import partition
    from ..certificates.training_data import TrainingData
    from ..selection.proven import Search, allowance

    search, slack = Search(folds, seed=asked.seed), 1e-3 * sum(float(fold.weight.sum()) for fold in folds)
    found = search.run(GRID, slack, most=allowance(asked.prove, len(folds) * len(GRID)), progress=progress)
    chosen = copy(model).set_params(C=found.C)
    chosen.classes_ = np.unique(examples.y)
    case = Case(chosen, TrainingData(examples.X, examples.y, examples.weight), None, None, examples.split)
    held_out, encoded = partition(rows, len(examples.y)), not isinstance(examples.encoding, MatrixEncoding)
    totals = [float(len(test) if examples.weight is None else examples.weight[test].sum()) for _, test in rows]
    proof = search.proof(found, GRID, asked.score, held_out, case, encoded=encoded)
    return choice.proven(found, folds, totals, proof)
