"""What makes a fit slow or suspicious, by name: scale, collinear columns, separation, outliers; and what to do."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .._common.complaints import complaints
from .._common.html import card, rows
from .._common.labels import coded
from .._common.types import FloatArray, IntArray
from .._common.words import many, phrase
from .._core import is_sparse
from ..arithmetic.exact_input import exact_matrix
from ..arithmetic.moments import deviations
from ..arithmetic.redundancy import MANY_FEATURES, find_redundancy
from ..separation.verdict import ProofTimeoutError, separability
from .suspects import MEASURED, NAMED, FileRows, Suspect, dominating, evenly, some_rows, suspects

#: Columns whose spreads differ by more than this are on different scales.
SCALES = 1e3
#: A column whose mean is more than so many spreads from 0 is far off.
FAR = 100.0
#: Numbers beyond these, or their squares, come near the end of what a float holds.
LARGE, SMALL = 1e100, 1e-100
#: A row that makes more than this share of a column's variance dominates it …
ONE_ROW = 0.5
#: … if there are at least so many rows.
ENOUGH = 10
#: Standard deviations of the others that a row of so few is not away by chance, even in a table of many columns.
CHANCE = 10.0
#: Rows of the rarer class that a column should have behind it (a rule of thumb for logistic regression).
EVENTS = 10
#: A relation between more columns than this is not written out.
TERMS = 4
#: So many operations may be spent on looking for columns that depend on each other.
WORK = 2e10
#: Who centres and scales columns already.
DONE_BY = "(a pipeline with StandardScaler does; `linsep fit` does with tables, not with LIBSVM text or NPZ)"
#: How near the optimum the fit has to be that tells which column dominates.
ROUGHLY = 1e-2


@dataclass(frozen=True)
class Diagnosis:
    """What was found in the examples of a fit, worst first by kind, and what could not be looked at.

    Attributes
    ----------
    findings : list of Suspect
        Each with its kind, a message that says what to do, and the columns concerned.
    open : list of str
        Questions that were not decided, and why.
    rows, columns : int
    """

    findings: list[Suspect]
    open: list[str]
    rows: int
    columns: int

    def __iter__(self) -> Iterator[Suspect]:
        return iter(self.findings)

    def __len__(self) -> int:
        return len(self.findings)

    def __str__(self) -> str:
        lines = [f"{found.kind}: {found.message}" for found in self.findings]
        looked = f"{many(self.rows, 'row')}, {many(self.columns, 'column')}"
        return "\n".join(
            [*(lines or [f"nothing stands out in {looked}"]), *(f"not decided: {why}" for why in self.open)]
        )

    def _repr_html_(self) -> str:
        table = rows(
            ["finding", "what it means, and what to do", "columns"],
            [(one.kind, one.message, ", ".join(one.columns)) for one in self],
        )
        title = f"{many(len(self), 'finding')} in {many(self.rows, 'row')}, {many(self.columns, 'column')}"
        undecided = (f"not decided: {why}" for why in self.open)
        return card(title, *undecided, tone="bad" if self.findings else "good", table=table if self.findings else "")

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data."""
        found = [dict(kind=one.kind, message=one.message, columns=list(one.columns)) for one in self.findings]
        return dict(rows=self.rows, columns=self.columns, findings=found, open=self.open)


def diagnose(
    X: Any,
    y: ArrayLike,
    *,
    feature_names: Sequence[str] | None = None,
    sources: Sequence[str] | None = None,
    file_rows: FileRows | None = None,
    numbers: IntArray | None = None,
    time_limit: float = 10.0,
) -> Diagnosis:
    """Say what may make a fit to these examples slow, unstable or too good to be true, and what to do about it.

    Parameters
    ----------
    X : array, sparse matrix or DataFrame of shape (n, d)
        Finite numbers, as they are: before scaling.
    y : array of shape (n,)
        Labels of two or more classes.
    feature_names : sequence of str, optional
        By default those of a DataFrame, else x0, x1, …
    sources, file_rows, numbers
        Where X was made of a file: see `linsep.analysis.suspects.suspects`.
    time_limit : float, default=10
        Seconds to look for a plane that separates the classes.

    Returns
    -------
    Diagnosis

    Examples
    --------
    >>> X = [[1.0, 2000.0, 7.0], [2.0, 4000.0, 7.0], [3.0, 6000.0, 7.0], [2.5, 5000.0, 7.0]]
    >>> found = diagnose(X, [0, 0, 1, 0], feature_names=["m", "mm", "unit"])
    >>> [one.kind for one in found]
    ['constant', 'scale', 'redundant', 'separable', 'few rows']
    """
    if feature_names is None:
        feature_names = X.columns if hasattr(X, "columns") else None
    X, labels = exact_matrix(X), np.asarray(y)
    if 0 in X.shape or labels.shape != X.shape[:1]:
        raise ValueError(f"X has shape {X.shape} and y {labels.shape}; give rows, columns, and a label for each row")
    X = X if X.dtype in (np.float32, np.float64) else X.astype(np.float64)
    classes, codes = coded(labels)
    if len(classes) < 2:
        raise ValueError(f"all rows are of one class, {classes[0]}; there is nothing to tell apart")
    names = [f"x{j}" for j in range(X.shape[1])] if feature_names is None else [str(name) for name in feature_names]
    data = _Columns(X, names, names if sources is None else list(sources))
    undecided: list[str] = []
    redundant = list(data.redundant(undecided.append))
    pairs = {frozenset(one.columns) for one in redundant}
    told = dict(zip(names, data.sources, strict=True))
    seen = suspects(X, labels, names=names, sources=sources, file_rows=file_rows, numbers=numbers)
    found = [
        *data.constant(),
        *data.out_of_range(),
        *data.scales(),
        *data.far_off(),
        *data.outliers(numbers),
        *redundant,
        *_separable(X, labels, classes, names, time_limit, undecided.append),
        *_few_rows(codes, classes, int((data.low < data.high).sum())),
        *(one for one in seen if one.kind != "collinear" or frozenset(map(told.get, one.columns)) not in pairs),
        *data.dominating(labels),
    ]
    return Diagnosis(found, undecided, *X.shape)


class _Columns:
    """The columns of X: their ends, means and spreads."""

    def __init__(self, X: Any, names: Sequence[str], sources: Sequence[str]) -> None:
        self.X, self.names, self.sources = X, names, sources
        ends = (X.min(axis=0), X.max(axis=0))
        self.low, self.high = (
            np.asarray(end.toarray() if is_sparse(end) else end, dtype=np.float64).ravel() for end in ends
        )
        with np.errstate(over="ignore", invalid="ignore"):  # what is out of range is said to be
            self.spread = deviations(some_rows(X))
            self.mean = np.asarray(X.mean(axis=0), dtype=np.float64).ravel()
        # Zeros and ones say whether, not how much: of these neither scale nor mean matters.
        self.measures = (self.low < self.high) & ((self.low != 0) | (self.high != 1)) & np.isfinite(self.spread)

    def _name(self, j: int) -> str:
        return repr(self.names[j])

    def constant(self) -> Iterator[Suspect]:
        """Yield columns that have one value."""
        which = np.flatnonzero(self.low == self.high)
        if len(which):
            some = phrase([self._name(j) for j in which.tolist()], NAMED)
            one = "has" if len(which) == 1 else "have"
            message = f"{some} {one} the same value in every row: leave {'it' if len(which) == 1 else 'them'} out"
            yield Suspect("constant", message, tuple(self.names[j] for j in which.tolist()))

    def out_of_range(self) -> Iterator[Suspect]:
        """Yield columns whose numbers, squared, a float may not hold."""
        size = np.maximum(np.abs(self.low), np.abs(self.high))
        which = np.flatnonzero((size > LARGE) | ((size > 0) & (size < SMALL)))
        if len(which):
            some = phrase([self._name(k) for k in which.tolist()], NAMED)
            message = (
                f"{some}: values such as {size[which[0]]:.0e} are near the end of what a float holds; give them in "
                "another unit"
            )
            yield Suspect("range", message, tuple(self.names[k] for k in which.tolist()))

    def scales(self) -> Iterator[Suspect]:
        """Yield that columns differ in scale."""
        which = np.flatnonzero(self.measures & (self.spread > 0))
        if len(which) < 2:
            return
        least, most = (int(which[end(self.spread[which])]) for end in (np.argmin, np.argmax))
        ratio = self.spread[most] / self.spread[least]
        if ratio > SCALES:
            message = (
                f"{self._name(most)} varies by {self.spread[most]:.3g}, {self._name(least)} by "
                f"{self.spread[least]:.3g}: a penalty hardly holds the weight of the first and all but forbids the "
                f"second, and descent needs many more steps (up to {ratio:.0e} times); standardise the columns "
                f"{DONE_BY}"
            )
            yield Suspect("scale", message, (self.names[most], self.names[least]))

    def far_off(self) -> Iterator[Suspect]:
        """Yield columns that vary little beside how far from zero they are."""
        far = np.flatnonzero(self.measures & (np.abs(self.mean) > FAR * self.spread) & (self.spread > 0))
        for j in far[:NAMED].tolist():
            message = (
                f"{self._name(j)} is {self.mean[j]:.6g} ± {self.spread[j]:.3g}: the intercept has to make up for it, "
                f"which descent does slowly and rounding spoils; subtract its mean {DONE_BY}"
            )
            yield Suspect("far off", message, (self.names[j],))

    def outliers(self, numbers: IntArray | None) -> Iterator[Suspect]:
        """Yield rows that make more than half of a column's variance."""
        if is_sparse(self.X) or len(self.X) < ENOUGH:
            return
        said = 0
        for j in np.flatnonzero(self.measures).tolist():
            x = self.X[:, j].astype(np.float64)
            ends = np.argmin(x), np.argmax(x)
            i = max(ends, key=lambda k: abs(x[k] - self.mean[j]))
            others = np.delete(x, i)
            spread = others.std()
            away = abs(x[i] - others.mean())
            if not 0 < spread * max(np.sqrt(len(others) * (1 - ONE_ROW) / ONE_ROW), CHANCE) < away:
                continue
            row = int(i if numbers is None else numbers[i]) + 1
            message = (
                f"row {row:,}, counted from 1, has {self._name(j)} = {x[i]:.6g}, "
                f"{away / spread:,.0f} standard deviations of the other rows away: most of this "
                "column's variance is this one row; a slip? if not, take a logarithm, and no squared loss"
            )
            yield Suspect("one row", message, (self.names[j],))
            said += 1
            if said == NAMED:
                return

    def redundant(self, leave_open: Callable[[str], None]) -> Iterator[Suspect]:
        """Yield columns that are, exactly or nearly, combinations of others."""
        n, d = self.X.shape
        if n <= d or d > MANY_FEATURES or float(n) * d * d > WORK:
            why = "more columns than rows" if n <= d else "too many columns and rows"
            leave_open(f"which columns are combinations of others ({why})")
            return
        found = find_redundancy(self.X, intercept=True)
        relations, said = found.relations(self.names), set[frozenset[str]]()
        terms_of = {j: [j, *(i for i in others if i < d)] for j, others in found.combinations.items()}
        alike = Counter(frozenset(self.sources[i] for i in terms) for terms in terms_of.values())
        for j, terms in terms_of.items():
            made_of = frozenset(self.sources[i] for i in terms)
            if len(made_of) == 1 or made_of in said:  # a constant, or levels of one category; or told already
                continue
            said.add(made_of)
            both, more = phrase([repr(name) for name in sorted(made_of)]), alike[made_of] - 1
            too = f", and {many(more, 'more relation')} of {both}" if more else ""
            short = f"{self._name(j)} = {relations[self.names[j]]} in every row{too}"
            long = f"some feature of {both} is a sum of others of them in every row{too}"
            remedy = "leave one out" + ", or join levels that always come together" * (len(terms) > TERMS)
            message = (
                f"{short if len(terms) <= TERMS else long}: without a penalty their weights are not determined, with "
                f"one they share the effect; {remedy}"
            )
            yield Suspect("redundant", message, tuple(sorted(made_of)))
        for near in found.nearly[:NAMED]:
            remedy = "subtract its mean" if d in near.others else "leave one out"
            message = f"{near.in_words(self.names)}; their weights mean little apart, and fits take longer; {remedy}"
            yield Suspect(
                "nearly redundant", message, tuple(self.names[i] for i in (near.column, *near.others) if i < d)
            )

    def dominating(self, y: FloatArray) -> list[Suspect]:
        """Return whether one column carries the weight of a fit."""
        from ..estimators import LogisticRegression

        rows = evenly(len(y), min(len(y), MEASURED))
        if is_sparse(self.X) or not np.isfinite(self.spread).all() or len(np.unique(y[rows])) < 2:
            return []
        some = (self.X[rows] - self.mean) / np.where(self.spread > 0, self.spread, 1.0)
        with complaints(UserWarning):
            model = LogisticRegression(tol=ROUGHLY).fit(some, y[rows])
        return dominating(np.where(self.spread > 0, 1.0, 0.0), model.coef_, self.names)


def _separable(
    X: Any, y: Any, classes: Any, names: Sequence[str], time_limit: float, leave_open: Callable[[str], None]
) -> Iterator[Suspect]:
    """Yield that a plane separates classes: from each other, or each from the rest."""
    apart: list[str] = []
    on_it: dict[tuple[str, ...], list[str]] = {}  # by the columns whose weights run to infinity
    clock = time.monotonic() + time_limit
    for label in classes[1:] if len(classes) == 2 else classes:
        told = f"{classes[0]} from {label}" if len(classes) == 2 else f"{label} from the rest"
        try:
            verdict = separability(X, y == label, time_limit=max(0.0, clock - time.monotonic()))
        except ProofTimeoutError:
            leave_open(f"whether a plane tells {told} (not within {time_limit:g} s)")
            break
        if verdict.verdict == "separable":
            apart.append(told)
        elif verdict.verdict == "quasi":
            # Of columns that depend on each other, all that do so count as infinite: too many to be of help.
            which = [names[j] for j in verdict.infinite or [] if j < len(names)]
            on_it.setdefault(tuple(which) if 0 < len(which) <= NAMED else (), []).append(told)
    for named, nearly in on_it.items():
        some = phrase([repr(name) for name in named]) if named else "some combinations of columns"
        message = (
            f"a plane tells {phrase(nearly)} but for rows on the plane itself: without a penalty the weights of {some} "
            "run to infinity; keep a penalty (`estimates` tells which are finite)"
        )
        yield Suspect("quasi-separable", message, named)
    if apart:
        why = " (as nearly always with more columns than rows)" if X.shape[1] >= X.shape[0] - 1 else ""
        message = (
            f"a plane tells {phrase(apart)} without a mistake{why}: without a penalty the weights run to infinity, and "
            "where a fit stops says nothing of the data; keep a penalty and choose C by cross-validation "
            "(`separability` has the proof)"
        )
        yield Suspect("separable", message)


def _few_rows(codes: IntArray, classes: Any, features: int) -> Iterator[Suspect]:
    """Yield that a class has too few rows for so many features, of which a category or a date of a file has several."""
    counts = np.bincount(codes)
    k = int(np.argmin(counts))
    if counts[k] < min(EVENTS * features, len(codes)) and features:
        few = f"{many(int(counts[k]), 'row')} of {classes[k]} for {many(features, 'feature')}"
        message = (
            f"{few}: a rule of thumb wants {EVENTS} for each; the error on the rows of the fit says little. Use fewer "
            f"columns or a stronger penalty, and measure by cross-validation"
        )
        yield Suspect("few rows", message)
