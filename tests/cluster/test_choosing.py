"""C by cross-validation over partitions: folds that follow from the rows alone, and the scores of one machine."""

import numpy as np
import pytest

from here import example, fit_here
from linsep import LeastSquaresClassifier, LinearSVC, LogisticRegression, verify
from linsep._core import Rows
from linsep.cluster.choosing import Choosing, Folds
from linsep.objective.examples import Block

CUTS = [1, 1, 17, 1500, 1999]


def folds_of(y, cuts, count=5, seed=0):
    """Return the fold of every row, partition by partition."""
    found = []
    for first, end in zip([0, *cuts], [*cuts, len(y)], strict=True):
        before = tuple(np.bincount(y[:first], minlength=y.max() + 1).tolist())
        block = Block(first, Rows(np.zeros((end - first, 1))), y[first:end])
        found.append(Folds(count, seed, {first: before}).of(block))
    return np.concatenate(found)


def test_folds_follow_from_labels_places_and_the_seed():
    _, y, _ = example(3)
    whole = folds_of(y, [])
    assert np.array_equal(whole, folds_of(y, CUTS))
    assert not np.array_equal(whole, folds_of(y, [], seed=1))
    for k in range(3):
        counts = np.bincount(whole[y == k], minlength=5)
        assert counts.max() - counts.min() <= 1
        place = np.bincount(np.flatnonzero(y == k) % 5 * 5 + whole[y == k], minlength=25)  # no fold is every fifth row
        assert place.min() > 0.5 * place.mean()


@pytest.mark.slow
@pytest.mark.parametrize("kind", [LogisticRegression, LinearSVC, LeastSquaresClassifier])
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("weighted", [False, True])
def test_scores_are_those_of_fits_without_the_fold(kind, classes, weighted):
    X, y, s = example(classes)
    s, grid, tables = s if weighted else None, (1e-3, 0.1, 10.0), []

    def rule(table):
        tables.append(table)
        return int(np.argmax(table.mean(axis=0)))

    settings = dict(class_weight="balanced", tol=1e-6) if kind is LogisticRegression else {}
    found = fit_here(kind(**settings), X, y, CUTS, s, choosing=Choosing(3, 7, rule, grid=grid), workers=2)
    fold, one = folds_of(y, CUTS, 3, 7), np.ones(len(y))
    scores = np.empty((3, 3))
    for f in range(3):
        for k, C in enumerate(grid):
            train, test = fold != f, fold == f
            alone = kind(C=C, **settings).fit(X[train], y[train], None if s is None else s[train])
            scores[f, k] = alone.score(X[test], y[test], (one if s is None else s)[test])
    assert abs(tables[0] - scores).max() < 0.01  # a few rows lie between planes that are as good
    assert grid[rule(tables[0])] == found.C
    assert found.converged_
    assert verify(found, X, y, s)
    other = fit_here(kind(**settings), X, y, [700], s, choosing=Choosing(3, 7, grid=grid))
    assert other.C == found.C


@pytest.mark.slow
def test_a_choice_goes_on_from_its_checkpoint(tmp_path):
    X, y, _ = example()

    class Lost(Exception):  # noqa: N818
        pass

    rounds = []

    def told(one, gap):
        rounds.append(one)
        if len(rounds) == 30:
            raise Lost

    asked = dict(choosing=Choosing(grid=(0.01, 1.0)), checkpoint=tmp_path / "fit")
    whole = fit_here(LogisticRegression(), X, y, CUTS, choosing=Choosing(grid=(0.01, 1.0)))
    with pytest.raises(Lost):
        fit_here(LogisticRegression(), X, y, CUTS, told=told, **asked)
    again = []
    found = fit_here(LogisticRegression(), X, y, CUTS, told=lambda one, gap: again.append(one), **asked)
    assert [one.seconds > 0 for one in again[:31]] == [False] * 29 + [True] * 2
    assert np.array_equal(found.coef_, whole.coef_)
    with pytest.raises(ValueError, match=r"another fit \(C differ\)"):
        fit_here(LogisticRegression(), X, y, CUTS, choosing=Choosing(4), checkpoint=tmp_path / "fit")


def test_too_few_rows_of_a_class_are_told():
    X, y, _ = example()
    y = np.zeros_like(y)
    y[:1] = 1
    with pytest.raises(ValueError, match="at least two examples of each class"):
        fit_here(LogisticRegression(), X, y, CUTS, choosing=Choosing())
    y[:3] = 1
    with pytest.warns(UserWarning, match="3 folds instead of 5: of the rarest class, 1, there are 3 rows"):
        fit_here(LogisticRegression(), X, y, CUTS, choosing=Choosing(grid=(1.0,)))
