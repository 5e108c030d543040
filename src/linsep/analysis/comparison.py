"""Every loss on the same data, side by side: what each reaches, what is proven of it, and what it costs."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import ConvergenceWarning

from .. import losses as known_losses
from .._common.complaints import complaints
from .._common.html import card, rows
from .._common.words import many
from ..estimators import LinearClassifier, Perceptron
from ..estimators._specification import check_C
from ..history import histories_of
from ..losses import Loss

#: What a fit may raise because of its loss and these data; the row says so and the table goes on.
FAILURES = (ValueError, TypeError, AttributeError, ArithmeticError, RuntimeError, MemoryError, np.linalg.LinAlgError)
#: What is said where a margin would say nothing.
NO_PLANE = "w is so near 0 that every row gets the same answer, and there is no margin to speak of; a larger C has one"


@dataclass(frozen=True)
class Row:
    """One loss.

    Attributes
    ----------
    loss : str
    risk : float
        The mean loss on the training data; with more than two classes, the mean over the planes too.
    errors, test_errors : int or None
        Examples that are misclassified.
    margin : float
        The smallest y g(x)/‖w‖: positive where the plane separates the classes. Of several planes the smallest. NaN
        where w is 0, or so near 0 that the plane lies farther from every example than these lie apart.
    relative_gap : float
        How far above the optimum of its own objective the plane can be, as a share of it.
    proven : bool
        Whether that is at most `tol`.
    seconds : float
        What the fit took.
    solver : str
    note : str
        Why it failed or did not converge; empty if nothing is wrong.
    """

    loss: str
    risk: float = np.nan
    errors: int | None = None
    test_errors: int | None = None
    margin: float = np.nan
    relative_gap: float = np.nan
    proven: bool = False
    seconds: float = np.nan
    solver: str = ""
    note: str = ""


class Comparison(Sequence[Row]):
    """The rows of a comparison, by number or by the name of the loss.

    Attributes
    ----------
    rows : list of Row
    models : dict
        The fitted estimator of each loss that did not fail.
    n, n_test : int
        How many examples were trained on, and tested on (0 if none).
    """

    def __init__(self, rows: list[Row], models: dict[str, Any], n: int, n_test: int) -> None:
        self.rows, self.models, self.n, self.n_test = rows, models, n, n_test

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, which: Any) -> Any:
        if not isinstance(which, str):
            return self.rows[which]
        for row in self.rows:
            if row.loss == which:
                return row
        raise KeyError(f"no loss {which!r} was compared, only {', '.join(row.loss for row in self.rows)}")

    def judged(self, separable: bool) -> Comparison:
        """Return the same with what a proof says: whether a plane without mistakes exists settles 0 errors, and 1.

        Examples
        --------
        >>> table = compare([[0.0], [1.0], [2.0], [3.0], [9.0]], [0, 0, 1, 0, 1], losses=["hinge", "zero_one"])
        >>> table["zero_one"].errors, table["zero_one"].proven, table.judged(separable=False)["zero_one"].proven
        (1, False, True)
        """
        return Comparison([_judged(row, separable) for row in self.rows], self.models, self.n, self.n_test)

    def to_frame(self) -> Any:
        """Return the rows as a table of pandas, or of polars or pyarrow if that is what is installed."""
        columns = {field.name: [getattr(row, field.name) for row in self.rows] for field in fields(Row)}
        for backend in ("pandas", "polars", "pyarrow"):
            try:
                return nw.from_dict(columns, backend=backend).to_native()
            except ModuleNotFoundError:
                continue
        raise ModuleNotFoundError("to_frame() needs pandas, polars or pyarrow: pip install pandas")

    def to_dict(self) -> list[dict[str, Any]]:
        """Return one dictionary a row."""
        return [asdict(row) for row in self.rows]

    def __str__(self) -> str:
        heads, lines = self._cells()
        widths = [max(map(len, column)) for column in zip(heads, *lines, strict=True)]
        sides = ["<", *">" * (len(heads) - 2), "<"]  # words to the left, numbers to the right
        forms = [f"{side}{width}" for side, width in zip(sides, widths, strict=True)]
        ruled = [heads, ["─" * width for width in widths], *lines]
        text = ["  ".join(map(format, line, forms)) for line in ruled]
        notes = [f"{row.loss}: {row.note}" for row in self.rows if row.note]
        return "\n".join(line.rstrip() for line in [*text, *([""] if notes else []), *notes])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        notes = (f"{row.loss}: {row.note}" for row in self.rows if row.note)
        return card(f"{many(len(self), 'loss', 'losses')} on {many(self.n, 'row')}", *notes, table=rows(*self._cells()))

    def _cells(self) -> tuple[list[str], list[list[str]]]:
        """Return the heads and the cells of the table as text."""
        columns: list[tuple[str, Callable[[Row], str]]] = [
            ("loss", lambda row: row.loss),
            ("risk", lambda row: _number(row.risk, ".5g")),
            ("errors", lambda row: _count(row.errors, self.n)),
            ("test errors", lambda row: _count(row.test_errors, self.n_test)),
            ("margin", lambda row: _number(row.margin, ".3g")),
            ("relative gap", lambda row: _number(row.relative_gap, ".1e")),
            ("proven", lambda row: "" if np.isnan(row.relative_gap) else "yes" if row.proven else "no"),
            ("seconds", lambda row: _number(row.seconds, ".3g")),
            ("solver", lambda row: row.solver),
        ]
        shown = [column for column in columns if self.n_test or column[0] != "test errors"]
        return [head for head, _ in shown], [[cell(row) for _, cell in shown] for row in self.rows]


def _judged(row: Row, separable: bool) -> Row:
    """Return a row in the light of a proof that a plane without mistakes exists, or that none does."""
    if row.errors is None:
        return row
    if row.errors == 0 and not separable:
        note = "its 0 errors are due to rounding: no plane separates the numbers of the file"
        worse: dict[str, Any] = dict(relative_gap=1.0, proven=False) if row.loss == known_losses.ZeroOne.name else {}
        return replace(row, note="; ".join(filter(None, [row.note, note])), **worse)
    if row.loss != known_losses.ZeroOne.name:
        return row
    if separable and row.errors:
        note = "a plane without mistakes exists (linsep separable shows it), which no loss found with this C"
        return replace(row, note=note)
    if row.errors == 1:
        return replace(row, relative_gap=0.0, proven=True)
    return row


def _number(value: float, form: str) -> str:
    return "" if np.isnan(value) else f"{value:{form}}"


def _count(errors: int | None, n: int) -> str:
    return "" if errors is None else f"{errors} ({100 * errors / max(1, n):.1f} %)"


def compare(
    X: Any,
    y: ArrayLike,
    *,
    C: float | None = 1.0,
    losses: Sequence[str | Loss] | None = None,
    penalty: str | None = "l2",
    X_test: Any = None,
    y_test: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    fit_intercept: bool = True,
    class_weight: Mapping[Any, float] | str | None = None,
    tol: float = 1e-4,
    max_iter: int | None = None,
    random_state: Any = 0,
    n_jobs: int | None = None,
) -> Comparison:
    """Fit every loss to the same data with the same C, and set side by side what each reaches.

    The perceptron is the algorithm, which takes no penalty: its penalised risk is smallest at w = 0. The zero-one loss
    is the yardstick: its row is the plane with the fewest training errors that the other losses found; no errors at
    all is the only number that proves itself.

    Parameters
    ----------
    X : array, sparse matrix or DataFrame of shape (n, d)
    y : array of shape (n,)
        Labels, any two or more values.
    C : float or None, default=1.0
        How much the losses count against the penalty; inf or None for no penalty.
    losses : sequence of str or Loss, optional
        By default all that `linsep.losses` knows by name.
    penalty : {"l2", "l1", "elasticnet", None}, default="l2"
    X_test, y_test : optional
        Data to count further errors on.
    sample_weight : array of shape (n,), optional
    fit_intercept : bool, default=True
    class_weight : dict, "balanced" or None
    tol : float, default=1e-4
        The relative duality gap to reach.
    max_iter : int, optional
        Iterations at the most, of each solver.
    random_state : int, RandomState or None, default=0
    n_jobs : int or None
        Threads over the classes, where there are more than two.

    Returns
    -------
    Comparison
        Printed, it is a table; ``to_frame()`` gives a DataFrame, ``models`` the fitted estimators.

    Examples
    --------
    >>> from linsep import compare
    >>> X, y = [[0.0, 0.0], [0.0, 1.0], [3.0, 2.0], [4.0, 3.0]], ["no", "no", "yes", "yes"]
    >>> table = compare(X, y, losses=["hinge", "logistic", "zero_one"])
    >>> [(row.loss, row.errors, row.proven) for row in table]
    [('hinge', 0, True), ('logistic', 0, True), ('zero_one', 0, True)]
    """
    if (X_test is None) != (y_test is None):
        raise ValueError("X_test and y_test go together: give both, or neither")
    check_C(C)
    shared: dict[str, Any] = dict(
        fit_intercept=fit_intercept, class_weight=class_weight, random_state=random_state, n_jobs=n_jobs
    )
    table = _Table(X, np.asarray(y), sample_weight, X_test, None if y_test is None else np.asarray(y_test))
    known = sorted(known_losses.LOSSES, key=lambda name: not known_losses.LOSSES[name].convex)  # the yardstick last
    chosen = [known_losses.get(loss) for loss in (known if losses is None else losses)]
    if not chosen:
        raise ValueError(f"losses is empty; name some of {', '.join(known)}")
    for loss in chosen:
        if isinstance(loss, known_losses.ZeroOne):
            continue
        if isinstance(loss, known_losses.Perceptron):
            model: Any = Perceptron(**shared)
            if max_iter is not None:
                model.set_params(max_iter=max_iter)
        else:
            model = LinearClassifier(loss, penalty=penalty, C=C, tol=tol, max_iter=max_iter, **shared)
        table.add(loss, model)
    if table.failures and not table.models:  # data that no loss can use are an error, not a table
        raise table.failures[0]
    return table.comparison(chosen)


class _Table:
    """A comparison in the making."""

    def __init__(self, X: Any, y: NDArray[Any], weight: Any, X_test: Any, y_test: NDArray[Any] | None) -> None:
        self.X, self.y, self.weight, self.X_test, self.y_test = X, y, weight, X_test, y_test
        self.rows: dict[str, Row] = {}
        self.models: dict[str, Any] = {}
        self.failures: list[Exception] = []

    def add(self, loss: Loss, model: Any) -> None:
        """Fit, and note what came of it."""
        try:
            began = time.perf_counter()
            with complaints(ConvergenceWarning) as said:
                model.fit(self.X, self.y, sample_weight=self.weight)
            seconds = time.perf_counter() - began
            self.rows[label(loss)] = self._row(loss, model, seconds, "; ".join(said))
            self.models[label(loss)] = model
        except FAILURES as failure:
            self.failures.append(failure)
            self.rows[label(loss)] = Row(label(loss), note=f"failed: {failure}")

    def _row(self, loss: Loss, model: Any, seconds: float, note: str) -> Row:
        scores = np.atleast_2d(np.asarray(model.decision_function(self.X)).T)
        positive = model.classes_[1:] if len(scores) == 1 else model.classes_
        z = np.where(self.y.reshape(-1)[None, :] == positive[:, None], scores, -scores)  # y g(x), one row a plane
        values, lengths = loss.value(z).mean(axis=0), np.linalg.norm(model.coef_, axis=1)
        weight = None if self.weight is None else np.broadcast_to(np.asarray(self.weight, dtype=float), values.shape)
        certificate = getattr(model, "certificate_", None)
        is_far = (lengths == 0) | (np.abs(scores).min(axis=1) > np.ptp(scores, axis=1))  # w = 0 is no plane
        return Row(
            label(loss),
            float(np.average(values, weights=weight)),
            _errors(model, self.X, self.y),
            None if self.y_test is None else _errors(model, self.X_test, self.y_test),
            np.nan if is_far.any() else float((z.min(axis=1) / lengths).min()),
            np.inf if certificate is None else certificate.relative_gap,
            False if certificate is None else certificate.proven,
            seconds,
            histories_of(model)[0].solver,
            "; ".join(filter(None, [note, NO_PLANE if is_far.any() else ""])),
        )

    def comparison(self, chosen: Sequence[Loss]) -> Comparison:
        """Return the rows in the order asked for, the yardstick among them."""
        rows = [self.rows[label(loss)] if label(loss) in self.rows else self._yardstick(loss) for loss in chosen]
        n_test = 0 if self.y_test is None else len(self.y_test)
        return Comparison(rows, self.models, len(self.y), n_test)

    def _yardstick(self, loss: Loss) -> Row:
        """Return the zero-one row: the plane with the fewest training errors, whatever loss it was found by."""
        found = [row for row in self.rows.values() if row.errors is not None]
        if not found:
            return Row(loss.name, note="failed: it takes a plane that another loss has found; compare one beside it")
        best = min(found, key=lambda row: (row.errors, row.loss))
        self.models[loss.name] = self.models[best.loss]
        risk, solver = (best.errors or 0) / max(1, len(self.y)), f"fewest errors, by {best.loss}"
        proof: Any = dict(relative_gap=float(best.errors != 0), proven=best.errors == 0, seconds=np.nan, note="")
        return replace(best, loss=loss.name, risk=risk, solver=solver, **proof)


def label(loss: Loss) -> str:
    """Return what a row is called: the loss's name, or its class's where it has none."""
    return loss.name or type(loss).__name__


def _errors(model: Any, X: Any, y: NDArray[Any]) -> int:
    return int(np.sum(model.predict(X) != y.reshape(-1)))
