"""What to watch out for in training data: leaking, dominating or collinear columns, contradictory labels, rare classes.

None of this is an error. A suspect is something that a person who knows the data should look at before trusting a fit.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._common.labels import coded
from .._common.types import BoolArray, FloatArray, IntArray
from .._common.words import many, phrase
from .._core import Rows, is_sparse, native
from ..arithmetic.moments import deviations

#: How many rows the first look takes; only what stands out there is looked at in full.
GLANCE = 4000
#: How many rows tell how large the values of a column are: a thousandth either way changes no verdict.
MEASURED = 20_000
#: A column that tells a class from the others with at most this balanced error alone may be the answer itself.
GIVES_AWAY = 0.005
#: Of fewer rows than this any of many columns may be the mark by chance.
FEW = 5
#: A column that carries more than this share of all the weight.
DOMINATES = 0.8
#: Columns with a higher correlation than this say the same thing.
SAME = 0.999
#: A class with less than this share of the examples is rare.
RARE = 0.05
#: More columns than this are not compared in pairs.
PAIRS = 1000
#: How many suspects of a kind are named.
NAMED = 5
#: From numbers of rows to what the columns of their file say there, by name: equal numbers for equal values.
FileRows = Callable[[IntArray], Mapping[str, IntArray]]
#: What a column can be divided by at the least.
TINY = np.finfo(np.float64).tiny


@dataclass(frozen=True)
class Suspect:
    """Something to look at: what was seen and what to do about it, and the columns concerned."""

    kind: str  # "leak", "dominates", "collinear", "contradiction", "encoded alike" or "imbalance"
    message: str
    columns: tuple[str, ...] = ()

    def __str__(self) -> str:
        return self.message


def suspects(
    X: Any,
    y: ArrayLike,
    *,
    names: Sequence[str] | None = None,
    sources: Sequence[str] | None = None,
    coef: ArrayLike | None = None,
    file_rows: FileRows | None = None,
    numbers: IntArray | None = None,
    weighted: bool = False,
) -> list[Suspect]:
    """Return what a person should look at before trusting a fit to these data.

    Parameters
    ----------
    X : array or sparse matrix of shape (n, d)
    y : array of shape (n,)
    names : sequence of str, optional
        One a column of X.
    sources : sequence of str, optional
        The column of the file that each column of X was made of; those of one column are not compared.
    coef : array of shape (d,) or (K, d), optional
        The weights of a fit, to see whether one column dominates.
    file_rows : callable, optional
        Where X was made of other columns: what these say in some rows, to tell rows that are equal in the file from
        those that only become so in X.
    numbers : array of shape (n,), optional
        What the rows are numbered, from 0, where they are some of those of a file; a row that was counted several
        times has one number, also where it was seen with either label.
    weighted : bool, default=False
        Whether the classes of the fit have weights.

    Examples
    --------
    >>> X = np.array([[0.0, 1.0], [1.0, 1.0], [0.0, 0.0], [1.0, 0.0]] * 10)
    >>> for suspect in suspects(X, X[:, 0] > 0, names=["alive", "age"]):
    ...     print(suspect)
    'alive' alone tells True from the rest (40 of 40 rows right): is it known before the answer is? if not, leave it out
    """
    X = native(X)
    classes, codes = coded(np.asarray(y))
    names = [f"x{j}" for j in range(X.shape[1])] if names is None else list(names)
    sources = names if sources is None else list(sources)
    some = some_rows(X)
    equal = _equal_rows(X, codes, _largest(some))
    return [
        *_leaks(X, codes, classes, names, sources, equal[0]),
        *([] if coef is None else dominating(deviations(some), coef, names)),
        *_collinear(X, names, sources),
        *_contradictions(equal, codes, file_rows, numbers),
        *imbalance(np.bincount(codes), classes, weighted=weighted),
    ]


# -- columns that give the answer away ------------------------------------------------------------------------------


def _leaks(
    X: Any, codes: IntArray, classes: NDArray[Any], names: Sequence[str], sources: Sequence[str], mixed: IntArray
) -> Iterator[Suspect]:
    """Yield columns of which one threshold tells a class from the others almost without mistakes.

    Mistakes on rows that are equal to one with another label are no column's: `mixed` are not counted.
    """
    counted = np.ones(len(codes), dtype=bool)
    counted[mixed] = False
    glance = _glance(codes, len(classes))
    glanced = _SparseColumns(X[glance]) if is_sparse(X) else X[glance]
    named: set[str] = set()
    for k, label in enumerate(classes if len(classes) > 2 else classes[1:], start=int(len(classes) == 2)):
        is_k = codes == k
        if min(is_k.sum(), (~is_k).sum()) < FEW or is_k[glance].all():
            continue
        # A sample's error scatters about the true one: what fails here by ten times the limit fails in full.
        errors = _balanced_errors(glanced, is_k[glance])
        candidates = np.argsort(errors, kind="stable")[: int((errors <= 10 * GIVES_AWAY).sum())]
        for j in candidates[: 4 * NAMED]:
            column = _column(X, int(j))
            if sources[j] in named or not _gives_away(column, is_k, counted):
                continue
            named.add(sources[j])
            right = len(codes) - _mistakes(column, is_k)
            yield Suspect(
                "leak",
                f"{names[j]!r} alone tells {label} from the rest ({right:,} of {len(codes):,} rows right): "
                "is it known before the answer is? if not, leave it out",
                (names[j],),
            )
            if len(named) == NAMED:
                return


def _gives_away(column: FloatArray, is_k: BoolArray, counted: BoolArray) -> bool:
    """Whether one threshold tells a class almost without mistakes on the rows counted, and with few on all."""
    if _balanced_errors(column, is_k)[0] > 10 * GIVES_AWAY or is_k[counted].all() or not is_k[counted].any():
        return False
    return bool(_balanced_errors(column[counted], is_k[counted])[0] <= GIVES_AWAY)


def _glance(codes: IntArray, K: int) -> IntArray:
    """Return row numbers, evenly spread, with some of each of K classes."""
    if len(codes) <= GLANCE:
        return np.arange(len(codes))
    some = [np.flatnonzero(codes == k)[: max(1, GLANCE // (4 * K))] for k in range(K)]
    return np.unique(np.concatenate([evenly(len(codes), GLANCE), *some]))


def evenly(n: int, count: int) -> IntArray:
    """Return so many of n row numbers, evenly spread."""
    return np.linspace(0, n - 1, count).astype(np.int64)


def _column(X: Any, j: int) -> FloatArray:
    return np.asarray(X[:, [j]].toarray() if is_sparse(X) else X[:, [j]])


def _balanced_errors(X: FloatArray | _SparseColumns, is_k: BoolArray) -> FloatArray:
    """Return for each column the least balanced error of one threshold."""
    weight = np.where(is_k, 0.5 / is_k.sum(), -0.5 / (~is_k).sum())
    if isinstance(X, _SparseColumns):
        return 0.5 - X.largest_balances(weight)
    return np.array([0.5 - np.abs(_balances(X[:, j], weight)).max(initial=0.0) for j in range(X.shape[1])])


class _SparseColumns:
    """The values of a sparse matrix sorted within each column, once for all classes; its zeros are one value more."""

    def __init__(self, X: Any) -> None:
        by_column = X.tocsc(copy=True)
        by_column.eliminate_zeros()
        self.d, starts = X.shape[1], by_column.indptr
        column = np.repeat(np.arange(self.d), np.diff(starts))
        order = np.lexsort((by_column.data, column))
        values = by_column.data[order]
        self.rows, self.column, self.is_above = by_column.indices[order], column, values > 0
        new_column = np.diff(column, append=self.d) != 0
        self.ends = np.flatnonzero(new_column | (np.diff(values, append=np.nan) != 0))  # a threshold may follow

    def largest_balances(self, weight: FloatArray) -> FloatArray:
        """Return the largest |Σ weight| over the rows up to some value, for each column; all weights add up to 0."""
        w = weight[self.rows]
        above = np.bincount(self.column, weights=w * self.is_above, minlength=self.d)
        below = np.bincount(self.column, weights=w * ~self.is_above, minlength=self.d)
        before = np.cumsum(below + above) - (below + above)  # of the columns to the left
        zeros = -(below + above)
        up_to = np.cumsum(w) - before[self.column] + np.where(self.is_above, zeros[self.column], 0.0)
        largest = np.abs(above)  # all but what lies above zero
        np.maximum.at(largest, self.column[self.ends], np.abs(up_to[self.ends]))
        return np.asarray(largest)


def _balances(x: FloatArray, weight: FloatArray) -> FloatArray:
    """Return Σ weight over the rows up to each value of x at which a threshold can lie."""
    order = np.argsort(x, kind="stable")
    last_of_its_value = np.flatnonzero(np.diff(x[order], append=np.nan) != 0)
    return np.cumsum(weight[order])[last_of_its_value]


def _mistakes(column: FloatArray, is_k: BoolArray) -> int:
    """Return the fewest mistakes of one threshold on a column."""
    below = np.rint(np.append(0.0, _balances(column[:, 0], np.where(is_k, 1.0, -1.0))))
    ours, others = int(is_k.sum()), int((~is_k).sum())
    return int(min((others + below).min(), (ours - below).min()))


def dominating(spread: FloatArray, coef: ArrayLike, names: Sequence[str]) -> list[Suspect]:
    """Return whether one column carries the weight of a fit: that |w_j|·sd(x_j) is most of their sum.

    Examples
    --------
    >>> (found,) = dominating(deviations(np.eye(3)), [9.0, 1.0, -0.5], ["age", "height", "weight"])
    >>> print(found)
    'age' carries 86% of the weight: the model is nearly a threshold on this column
    """
    if len(spread) < 3:
        return []
    share = np.abs(np.atleast_2d(np.asarray(coef))) * spread
    total = share.sum(axis=1, keepdims=True)
    share = (share / np.where(total > 0, total, 1.0)).max(axis=0)
    j = int(np.argmax(share))
    if share[j] <= DOMINATES:
        return []
    message = f"{names[j]!r} carries {share[j]:.0%} of the weight: the model is nearly a threshold on this column"
    return [Suspect("dominates", message, (names[j],))]


def some_rows(X: Any) -> Any:
    """Return rows enough to tell how large the values of the columns are."""
    return X if X.shape[0] <= MEASURED else X[evenly(X.shape[0], MEASURED)]


def _collinear(X: Any, names: Sequence[str], sources: Sequence[str]) -> Iterator[Suspect]:
    """Yield pairs of columns, made of different ones of the file, that are nearly multiples of each other."""
    if X.shape[1] > PAIRS or X.shape[0] < 3:
        return
    rows = X[evenly(X.shape[0], min(GLANCE, X.shape[0]))]
    named: set[frozenset[str]] = set()
    correlated = np.abs(np.triu(_correlations(rows.toarray() if is_sparse(rows) else rows), 1)) > SAME
    pairs = np.argwhere(correlated).tolist()
    alike = Counter(frozenset((sources[i], sources[j])) for i, j in pairs)
    for i, j in pairs:
        made_of = frozenset((sources[i], sources[j]))
        if len(made_of) == 1 or made_of in named:
            continue
        both = _column(X, i), _column(X, j)
        r = _correlations(np.hstack(both))[0, 1]
        if abs(r) > SAME and min(map(_exceptions, both)) >= FEW:
            named.add(made_of)
            pair = f"{names[i]!r} and {names[j]!r}"
            more = alike[made_of] - 1
            of_both = " and ".join(repr(name) for name in sorted(made_of))
            do = "does" if more == 1 else "do"
            too = f", as {do} {many(more, 'more pair')} of features of {of_both}" if more else ""
            message = f"{pair} say the same (correlation {r:.4f}){too}: their weights mean little apart"
            yield Suspect("collinear", message, (names[i], names[j]))
        if len(named) == NAMED:
            return


def _exceptions(column: FloatArray) -> int:
    """Return how many rows have another value than most: of very few, two columns may have the same by chance."""
    return int(len(column) - np.unique(column, return_counts=True)[1].max())


def _correlations(X: FloatArray) -> FloatArray:
    """Return the correlations of columns; 0 where one is constant."""
    X = X / np.maximum(np.abs(X).max(axis=0, initial=0.0), TINY)
    centred = np.asarray(X - X.mean(axis=0), dtype=np.float64)
    norm = np.sqrt((centred**2).sum(axis=0))
    constant = norm <= 1e-12 * np.sqrt(len(X))
    centred = np.where(constant, 0.0, centred) / np.where(constant, 1.0, norm)
    return np.asarray(centred.T @ centred)


# -- rows and classes -------------------------------------------------------------------------------------------------


def _contradictions(
    equal: tuple[IntArray, IntArray], codes: IntArray, file_rows: FileRows | None, numbers: IntArray | None
) -> Iterator[Suspect]:
    """Yield that equal rows have different labels: no classifier can be right on all of them.

    Rows that differ in the file and are equal in X only are another thing: more columns could tell them apart.
    """
    rows, group = equal
    if numbers is not None:
        first = np.unique(np.column_stack([numbers[rows], codes[rows]]), axis=0, return_index=True)[1]
        if len(np.unique(numbers[rows])) < len(first):
            return  # a row of the file has both labels: successes and failures among its trials
        rows, group = rows[first], group[first]
    if not len(rows):
        return
    columns = {} if file_rows is None else file_rows(rows)
    in_file = np.unique(np.column_stack([group, *columns.values()]), axis=0, return_inverse=True)[1].reshape(-1)
    truly = _is_mixed(in_file, codes[rows])
    if truly.any():
        message = (
            f"{truly.sum():,} rows are equal to one with another label "
            f"({_named(_a_pair(rows, in_file, codes, truly), numbers)}): no classifier is right on all of them; "
            "correct the labels, or add a column that tells such rows apart"
        )
        yield Suspect("contradiction", message)
    if not truly.all():
        pair = _a_pair(rows, group, codes, ~truly)
        at = [int(np.flatnonzero(rows == i)[0]) for i in pair]
        differing = [repr(name) for name, values in columns.items() if values[at[0]] != values[at[1]]]
        message = (
            f"{(~truly).sum():,} rows differ from one with another label only in what the encoding leaves out "
            f"({_named(pair, numbers)}, in {phrase(differing, 4)}): to this model they are equal"
        )
        yield Suspect("encoded alike", message)


def _named(pair: tuple[int, int], numbers: IntArray | None) -> str:
    """Return two rows as a person counts them."""
    first, other = pair if numbers is None else (int(numbers[i]) for i in pair)
    return f"rows {first + 1:,} and {other + 1:,}, counted from 1"


def _is_mixed(group: IntArray, codes: IntArray) -> BoolArray:
    """Whether the group of each row has rows of another class."""
    lowest, highest = np.full(group.max() + 1, codes.max()), np.zeros(group.max() + 1, dtype=codes.dtype)
    np.minimum.at(lowest, group, codes)
    np.maximum.at(highest, group, codes)
    return np.asarray((lowest < highest)[group])


def _a_pair(rows: IntArray, group: IntArray, codes: IntArray, among: BoolArray) -> tuple[int, int]:
    """Return the first row of those in question and the first one of its group that has another label."""
    i = int(np.argmin(np.where(among, rows, np.iinfo(rows.dtype).max)))
    return int(rows[i]), int(rows[(group == group[i]) & (codes[rows] != codes[rows[i]])].min())


def _equal_rows(X: Any, codes: IntArray, scale: FloatArray) -> tuple[IntArray, IntArray]:
    """Return the rows that are equal to one with another label, and numbers that equal rows have in common."""
    # Equal rows have equal products with any vector, and few others have; columns of any scale count in this one.
    random = np.random.default_rng(20231003).standard_normal(X.shape[1])
    mixing = random / np.maximum(np.where(scale > 0, scale, 1.0), TINY)
    key = Rows(X).matvec(mixing)
    order = np.argsort(key, kind="stable")
    begins = np.flatnonzero(np.diff(key[order], prepend=np.nan) != 0)
    lowest, highest = (f.reduceat(codes[order], begins) for f in (np.minimum, np.maximum))
    ends = np.append(begins[1:], len(order))
    mixed = np.flatnonzero(lowest != highest)  # few groups have more than one label
    pairs = [_opposites(order[begins[k] : ends[k]], codes) for k in mixed]
    members, opposite = np.concatenate(pairs, axis=1) if pairs else np.empty((2, 0), dtype=np.int64)
    differs = X[members] != X[opposite]
    equal = np.asarray(differs.sum(axis=1)).ravel() == 0
    return members[equal], np.repeat(mixed, (ends - begins)[mixed])[equal]


def _opposites(group: IntArray, codes: IntArray) -> IntArray:
    """Return the rows of a group, and for each another row of it with another label."""
    other = group[np.argmax(codes[group] != codes[group[0]])]
    return np.stack([group, np.where(codes[group] == codes[group[0]], other, group[0])])


def _largest(X: Any) -> FloatArray:
    """Return max |x| of each column, without a copy of X."""
    ends = (X.max(axis=0), -X.min(axis=0))
    above, below = (np.asarray(end.toarray() if is_sparse(end) else end, dtype=np.float64).ravel() for end in ends)
    return np.maximum(above, below)


def imbalance(counts: IntArray, classes: NDArray[Any], *, weighted: bool) -> Iterator[Suspect]:
    """Yield that a class is rare, by the rows of each."""
    rarest, every = int(np.argmin(counts)), int(counts.sum())
    # With many classes, each has a small share.
    if counts[rarest] / every < RARE * min(1.0, 2 / len(classes)):
        are = "is" if counts[rarest] == 1 else "are"
        message = (
            f"only {counts[rarest]:,} of {every:,} rows {are} {classes[rarest]}: accuracy says little about it; "
            f"look at balanced accuracy{'' if weighted else ', and consider balanced class weights (--balanced)'}"
        )
        yield Suspect("imbalance", message)
