"""Whether a plane separates two classes, with a proof either way that exact arithmetic confirms.

Floats search, whole numbers decide. A row is aᵢ = yᵢ [xᵢ, 1], a plane θ = [w, b].

1. A few passes of the perceptron; most separable data fall to them.
2. The linear program  max t  s.t.  aᵢ·θ ≥ t, |θ| ≤ 1  on a set of rows that grows by those it gets wrong. If t > 0 the
   plane is tried on all rows, exactly. If t = 0 its multipliers name rows with Σ λᵢ aᵢ = 0, solved for exactly.
3. Where floats do not resolve it, an exact dual simplex method goes on from where they ended.
4. Rows with such a λ lie on every weak plane. Modulo the space V that they span the same question is asked again: a
   plane that is strict there is a quasi-separation, and if V holds all rows there is none.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from scipy.optimize import linprog

from . import losses, rational
from ._core import Rows, is_sparse
from .exact import Check, Clock, ProofTimeoutError, check_overlap, check_plane, check_support, depends, sides
from .geometry import augment, margin

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
Circuit = dict[int, Fraction]  # row: λ
Plane = Any  # floats in an array, or a list of Fractions

__all__ = ["NotSeparableError", "ProofTimeoutError", "Separability", "explain_no_optimum", "separability"]

PASSES = 12  # of the perceptron, at the most
FLAT = 1e-9  # an optimum t or a multiplier below this is looked at exactly
NEGLIGIBLE = 1e-9  # the share of a row's length outside V below which floats say nothing
TIME_LIMIT = 60.0


@dataclass(frozen=True, eq=False)
class Separability:
    """What is proven of two classes.

    Attributes
    ----------
    verdict : {"separable", "quasi", "overlap"}
        A plane with every point strictly on its own side; none, but one with no point on the wrong side and some off
        the plane (the likelihood of logistic regression has then no maximum); neither.
    coef, intercept : array and float, or None
        The plane, unless the classes overlap.
    plane : tuple of Fraction, or None
        The same plane [w, b] exactly, where `coef` and `intercept` round it and the rounded one proves less.
    margin : float or None
        The smallest distance of a point to the plane: a lower bound on the largest possible margin.
    points, weights : lists of int and Fraction, or None
        Unless separable: at most d + 2 rows, and weights that sum to one in each class, such that the two convex
        combinations are the same point. (Without an intercept: weights that sum to one over both, Σ λᵢ yᵢ xᵢ = 0.)
    support, support_weights : lists of int and Fraction, or None
        For an overlap: the same on rows that span all others, which excludes a quasi-separation.
    dependencies : dict
        For an overlap: columns that are combinations {column: Fraction} of others on all rows (column d is constant).
    infinite : list of int
        Columns whose coefficients run to infinity in unpenalised logistic regression: those with a weight in the plane.
    on_plane : int
        How many points lie on the plane.
    classes : tuple
        The negative and the positive label.
    feature_names : list of str or None
    fit_intercept : bool

    Examples
    --------
    >>> result = separability([[0.0], [1.0], [2.0]], ["a", "b", "a"])
    >>> result.verdict, result.points, [str(weight) for weight in result.weights]
    ('overlap', [0, 1, 2], ['1/2', '1', '1/2'])
    >>> bool(result.verify([[0.0], [1.0], [2.0]], ["a", "b", "a"]))
    True
    """

    verdict: str
    classes: tuple[Any, Any]
    coef: FloatArray | None = None
    intercept: float | None = None
    plane: tuple[Fraction, ...] | None = None
    margin: float | None = None
    points: list[int] | None = None
    weights: list[Fraction] | None = None
    support: list[int] | None = None
    support_weights: list[Fraction] | None = None
    dependencies: dict[int, dict[int, Fraction]] = field(default_factory=dict)
    infinite: list[int] = field(default_factory=list)
    on_plane: int = 0
    feature_names: list[str] | None = None
    fit_intercept: bool = True

    @property
    def separable(self) -> bool:
        """Whether a plane has every point strictly on its own side."""
        return self.verdict == "separable"

    def verify(self, X: Any, y: ArrayLike, *, time_limit: float | None = None) -> Check:
        """Check the proof on the data, in exact rational arithmetic and without the solver that found it.

        Returns
        -------
        Check
            True or false, with a `reason`. Raises `ProofTimeoutError` after `time_limit` seconds.
        """
        X, labels = _matrix(X), np.asarray(y)
        known = np.isin(labels, np.array(self.classes))
        if labels.shape != (X.shape[0],) or not known.all():
            return Check(False, f"y must hold a label {self.classes[0]!r} or {self.classes[1]!r} for each row of X")
        signs = np.where(labels == self.classes[1], 1.0, -1.0)
        clock: Any = dict(time_limit=time_limit)
        if self.verdict != "overlap":
            if self.coef is None or self.intercept is None:
                return Check(False, "there is no plane to check")
            coef: Any = self.coef if self.plane is None else self.plane[: len(self.coef)]
            b: Any = self.intercept if self.plane is None else self.plane[-1]
            plane = check_plane(X, signs, coef, b if self.fit_intercept else None, strict=self.separable, **clock)
            if self.separable or not plane:
                return plane
        if self.points is None or self.weights is None:
            return Check(False, "there are no points to check")
        touching = check_overlap(X, signs, self.points, self.weights, intercept=self.fit_intercept, **clock)
        if not touching or self.verdict == "quasi":
            return touching
        if self.support is None or self.support_weights is None:
            return Check(False, "there is no proof that excludes a quasi-separation")
        proof = self.support, self.support_weights, self.dependencies
        return check_support(X, signs, *proof, intercept=self.fit_intercept, **clock)

    def name(self, column: int) -> str:
        """Return what a column is called."""
        return f"x{column}" if self.feature_names is None else self.feature_names[column]

    def _names(self, columns: Sequence[int], most: int = 8) -> str:
        shown = ", ".join(self.name(j) for j in columns[:most])
        return shown + (f" and {len(columns) - most} more" if len(columns) > most else "")

    def _common_point(self) -> str:
        """The overlap proof in words."""
        assert self.points is not None
        assert self.weights is not None
        if len(self.points) == 2 and self.fit_intercept:
            return f"rows {self.points[0]} and {self.points[1]} are the same point with different labels"
        shown = [f"{_short(w)} × row {i}" for i, w in zip(self.points[:6], self.weights[:6], strict=True)]
        more = f" + {len(self.points) - 6} more" if len(self.points) > 6 else ""
        if not self.fit_intercept:
            return f"zero is a convex combination of the points y·x: {' + '.join(shown)}{more}"
        return f"a point lies in both convex hulls, a combination of {len(self.points)} rows: {', '.join(shown)}{more}"

    def __str__(self) -> str:
        if self.verdict == "separable":
            return f"separable: a plane has all points strictly on their own side, with margin {self.margin:.6g}"
        if self.verdict == "overlap":
            return f"overlap: no plane separates, not even weakly; {self._common_point()}"
        return (
            f"quasi-separable: a plane has no point on the wrong side and {self.on_plane} on it, and no plane "
            f"separates strictly; {self._common_point()}. Coefficients that run to infinity without a penalty: "
            f"{self._names(self.infinite) or 'the intercept'}"
        )

    __repr__ = __str__


def _short(value: Fraction) -> str:
    return str(value) if value.denominator < 10**6 else f"{float(value):.6g}"


class NotSeparableError(ValueError):
    """No plane separates the classes; `proof` is the `Separability` that shows it.

    Examples
    --------
    >>> proof = separability([[0.0], [1.0], [2.0]], [0, 1, 0])
    >>> print(NotSeparableError(proof))
    the classes 0 and 1 are not linearly separable: a point lies in both convex hulls, ...
    """

    def __init__(self, proof: Separability, hint: str = "") -> None:
        self.proof = proof
        negative, positive = proof.classes
        super().__init__(
            f"the classes {negative} and {positive} are not linearly separable: {proof._common_point()}{hint}"
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuilt, (self.proof, str(self))


def _rebuilt(proof: Separability, message: str) -> NotSeparableError:
    error = NotSeparableError(proof)
    error.args = (message,)
    return error


def separability(
    X: Any, y: ArrayLike, *, fit_intercept: bool = True, time_limit: float | None = TIME_LIMIT, seed: int = 0
) -> Separability:
    """Decide whether a plane separates two classes, and prove it.

    Parameters
    ----------
    X : array, sparse matrix or DataFrame of shape (n, d)
        Finite numbers. The verdict is on these floats, exactly.
    y : array of shape (n,)
        Labels of two classes.
    fit_intercept : bool, default=True
        Whether planes may miss the origin.
    time_limit : float or None, default=60
        Seconds after which `linsep.exact.ProofTimeoutError` says that nothing was decided; None for no limit.
    seed : int
        Of the order in which the perceptron visits the points.

    Returns
    -------
    Separability

    Examples
    --------
    >>> print(separability([[0.0, 1.0], [1.0, 1.0], [2.0, 0.0], [3.0, 0.0]], [0, 0, 1, 1]))
    separable: a plane has all points strictly on their own side, with margin ...
    >>> print(separability([[0.0], [1.0], [1.0], [2.0]], [0, 0, 1, 1]))
    quasi-separable: a plane has no point on the wrong side and 2 on it, and no plane separates strictly; rows 1 and 2
    are the same point with different labels. Coefficients that run to infinity without a penalty: x0
    """
    clock = Clock(time_limit)
    names = [str(name) for name in X.columns] if hasattr(X, "columns") else None
    X = _matrix(X)
    labels = np.asarray(y)
    if labels.shape != (X.shape[0],):
        raise ValueError(f"y has shape {labels.shape}; it needs one label for each of the {X.shape[0]} rows of X")
    if labels.dtype.kind == "f" and not np.isfinite(labels).all():
        raise ValueError("y has a label that is not a finite number")
    classes = np.unique(labels)
    if len(classes) != 2:
        raise ValueError(
            f"y has {len(classes)} class{'es' * (len(classes) != 1)}; separability is a question about two. "
            "Of more, ask for each one against the rest: separability(X, y == label)"
        )
    signs = np.where(labels == classes[1], 1.0, -1.0)
    found = _Search(X, signs, fit_intercept, clock, seed).decide()
    pair = (classes[0].item(), classes[1].item()) if hasattr(classes[0], "item") else (classes[0], classes[1])
    return Separability(classes=pair, feature_names=names, fit_intercept=fit_intercept, **found)


def explain_no_optimum(X: Any, y: ArrayLike, *, fit_intercept: bool = True, time_limit: float = 10.0) -> str | None:
    """Say why unpenalised logistic regression has no finite optimum on these data, or None where it has one.

    The likelihood has a maximum if and only if the classes overlap; on others some coefficients run to infinity.

    Examples
    --------
    >>> print(explain_no_optimum([[0.0], [1.0], [2.0]], [0, 0, 1]))
    the data are separable, so no finite optimum exists: coefficients x0 run to infinity; use a finite C
    >>> explain_no_optimum([[0.0], [1.0], [2.0]], [0, 1, 0]) is None
    True
    """
    found = separability(X, y, fit_intercept=fit_intercept, time_limit=time_limit)
    if found.verdict == "overlap":
        return None
    kind = "separable" if found.separable else "quasi-separable"
    which = f"coefficients {found._names(found.infinite)} run" if found.infinite else "the intercept runs"
    return f"the data are {kind}, so no finite optimum exists: {which} to infinity; use a finite C"


def _matrix(X: Any) -> Any:
    """Return X as a float matrix, dense or CSR; raise for what is not finite."""
    if is_sparse(X):
        matrix: Any = sparse.csr_matrix(X)
        if not matrix.has_canonical_format:
            matrix = matrix.copy()
            matrix.sum_duplicates()
    else:
        matrix = np.asarray(X)
        if matrix.dtype.kind == "O":
            matrix = matrix.astype(np.float64)
        if matrix.ndim != 2:
            raise ValueError(f"X has shape {matrix.shape}; it needs rows and columns")
    if matrix.dtype.kind not in "fiub":
        raise ValueError(f"X has dtype {matrix.dtype}; it needs numbers")
    if matrix.shape[0] == 0:
        raise ValueError("X has no rows")
    if matrix.dtype not in (np.float32, np.float64):
        wide = matrix.astype(np.float64)
        if matrix.dtype.itemsize == 8 and (wide != matrix).sum():
            raise ValueError("X has whole numbers above 2**53, which floats cannot hold; give them as floats")
        matrix = wide
    values = matrix.data if is_sparse(matrix) else matrix
    if not np.isfinite(values).all():
        row = _first_bad_row(matrix)
        raise ValueError(f"X has a NaN or an infinite value in row {row}; leave such rows out or fill them in first")
    return matrix


def _first_bad_row(matrix: Any) -> int:
    if is_sparse(matrix):
        return int(np.searchsorted(matrix.indptr, int(np.argmax(~np.isfinite(matrix.data))), side="right")) - 1
    return int(np.argmax(~np.isfinite(matrix).all(axis=1)))


# -- floats that search -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _View:
    """The rows modulo V in floats: aᵢ·θ for θ ⟂ V, where θ = lift(v)."""

    rows: Rows
    y: FloatArray
    intercept: bool
    lift: Callable[[FloatArray], FloatArray]
    live: IntArray  # rows that floats see outside V

    @property
    def size(self) -> int:
        """How long v is."""
        return self.rows.d + self.intercept

    def agreements(self, v: FloatArray) -> FloatArray:
        """aᵢ·θ of every row."""
        return self.y * (self.rows.matvec(v[: self.rows.d]) + (v[-1] if self.intercept else 0.0))

    def block(self, which: IntArray) -> Any:
        """Return some rows aᵢ, each of length one."""
        part = self.rows.X[which].astype(np.float64)
        y = self.y[which]
        part = augment(part) if self.intercept else part
        if is_sparse(part):
            lengths = np.sqrt(np.asarray(part.multiply(part).sum(axis=1)).ravel())
            return sparse.diags(y / np.where(lengths > 0, lengths, 1.0)) @ part
        lengths = np.sqrt(np.einsum("ij,ij->i", part, part))
        return np.asarray(part * (y / np.where(lengths > 0, lengths, 1.0))[:, None])


def _scaled(X: Any) -> tuple[Any, IntArray]:
    """Return X with columns multiplied by 2^k to be of size about one where they differ much, and these k."""
    largest = np.asarray(abs(X).max(axis=0).todense() if is_sparse(X) else _column_sizes(X)).ravel()
    k = -np.frexp(largest.astype(np.float64))[1].astype(np.int64)
    k[largest == 0] = 0
    if np.abs(k).max(initial=0) <= 8:
        return X, np.zeros_like(k)
    if not is_sparse(X):
        return np.ldexp(X.astype(np.float64), k), k
    scaled = X.astype(np.float64)
    scaled.data = np.ldexp(scaled.data, k[scaled.indices])
    return scaled, k


def _filled(X: Any) -> NDArray[np.bool_]:
    """Whether each row has a number other than zero."""
    return np.asarray((X != 0).sum(axis=1)).ravel() > 0


def _column_sizes(X: FloatArray) -> FloatArray:
    return np.asarray(np.maximum(X.max(axis=0), -X.min(axis=0)))


class _Search:
    """The state of one question: the data, the rows E that span V, and the positive combination that proves it."""

    def __init__(self, X: Any, y: FloatArray, intercept: bool, clock: Clock, seed: int) -> None:
        self.X, self.y, self.intercept, self.clock, self.seed = X, y, intercept, clock, seed
        self.n, self.d = (int(size) for size in X.shape)
        self.size = self.d + intercept
        self.basis: list[int] = []  # E: independent rows that span V
        self.total: Circuit = {}  # λ > 0 on rows that span V, Σ λᵢ aᵢ = 0
        self.points: Circuit = {}
        self.scaled, self.exponents = _scaled(X)

    def decide(self) -> dict[str, Any]:
        """Return the fields of a `Separability`."""
        view = self._whole_space()
        if len(view.live) < self.n:  # without an intercept a row of zeros is on every plane
            self.points = self.total = {int(np.setdiff1d(np.arange(self.n), view.live)[0]): Fraction(1)}
        theta = self._quick(view)
        if theta is not None:
            return self._separating(theta)
        self._absorb_twins()
        while True:
            self.clock.check("the search for a plane")
            if len(self.basis) == self.size:
                return self._overlapping({})
            view = self._whole_space() if not self.basis else self._quotient()
            if len(view.live):
                found = self._round(view)
            else:
                dependencies, strangers = self._dependencies()
                if not len(strangers):
                    return self._overlapping(dependencies)
                found = self._exactly(view, strangers)
            if isinstance(found, dict):
                self._absorb(found)
            else:
                return self._separating(found)

    # -- views ----------------------------------------------------------------------------------------------------

    def _whole_space(self) -> _View:
        rows = Rows(self.scaled)
        live = np.arange(self.n) if self.intercept else np.flatnonzero(_filled(self.X))
        return _View(rows, self.y, self.intercept, lambda v: v, live)

    def _quotient(self) -> _View:
        """Return the rows modulo V, in coordinates of a space orthogonal to E."""
        A = self._augmented(self.scaled, self.basis)
        if is_sparse(self.X) and self.size > 1000:
            reduced, lift = self._eliminated(A)
        else:
            A = A.toarray() if is_sparse(A) else A
            Q, _ = np.linalg.qr((A / np.linalg.norm(A, axis=1, keepdims=True)).T, mode="complete")
            Z = Q[:, len(self.basis) :]
            reduced = np.asarray(self.scaled @ Z[: self.d], dtype=np.float64)
            if self.intercept:
                reduced += Z[self.d]

            def lift(v: FloatArray) -> FloatArray:
                return np.asarray(Z @ v)

        rows = Rows(reduced)
        whole = Rows(self.scaled).squared_norms() + self.intercept
        return _View(rows, self.y, False, lift, np.flatnonzero(rows.squared_norms() > NEGLIGIBLE**2 * whole))

    def _eliminated(self, A: Any) -> tuple[Any, Callable[[FloatArray], FloatArray]]:
        """Return the rows with as many columns eliminated as E has rows, for sparse data."""
        dense = A[:, np.unique(A.indices)].toarray()
        pivot = np.unique(A.indices)[_pivot_columns(dense)]
        free = np.setdiff1d(np.arange(self.size), pivot)
        R = sparse.csr_matrix(np.linalg.solve(A[:, pivot].toarray(), A[:, free].toarray()))
        whole = augment(self.scaled) if self.intercept else self.scaled
        reduced = sparse.csr_matrix(whole[:, free] - whole[:, pivot] @ R)
        reduced.data[np.abs(reduced.data) < NEGLIGIBLE] = 0.0
        reduced.eliminate_zeros()

        def lift(v: FloatArray) -> FloatArray:
            theta = np.zeros(self.size)
            theta[free], theta[pivot] = v, -(R @ v)
            return theta

        return reduced, lift

    def _augmented(self, X: Any, which: Sequence[int]) -> Any:
        """Return the rows aᵢ = yᵢ [xᵢ, 1]."""
        index = np.asarray(which, dtype=np.int64)
        part = X[index].astype(np.float64)
        part = augment(part) if self.intercept else part
        if is_sparse(part):
            return sparse.csr_matrix(sparse.diags(self.y[index]) @ part)
        return part * self.y[index, None]

    # -- the search in floats -------------------------------------------------------------------------------------

    def _quick(self, view: _View) -> Plane | None:
        """Return a plane that separates, if a few passes of the perceptron find one; remember the average."""
        rng = np.random.default_rng(self.seed)
        rows, d = view.rows, view.rows.d
        w, b, sum_w, sum_b = np.zeros(d), np.zeros(1), np.zeros(d), np.zeros(1)
        ones, fewest = np.ones(self.n), self.n + 1
        for k in range(PASSES):
            self.clock.check("the perceptron's passes")
            order = rng.permutation(view.live)
            rows.stochastic_steps(
                view.y,
                None,
                order,
                ones[: len(order)],
                losses.Perceptron(),
                l2=0.0,
                l1=0.0,
                intercept=view.intercept,
                w=w,
                b=b,
                sum_w=sum_w,
                sum_b=sum_b,
            )
            last = np.append(w, b) if view.intercept else w
            mean = (np.append(sum_w, sum_b) if view.intercept else sum_w) / (len(order) * (k + 1))
            z = [view.agreements(v)[view.live] for v in (last, mean)]
            mistakes = [int((part <= 0).sum()) for part in z]
            self.guess = (last, mean)[int(np.argmin(mistakes))]
            if min(mistakes) == 0 and not len(self._refused(view, theta := self._exact_plane(view, self.guess))):
                return theta
            if k >= 3 and min(mistakes) > 0.7 * fewest:
                break  # no progress
            fewest = min(fewest, *mistakes)
        return None

    def _exact_plane(self, view: _View, v: FloatArray) -> Plane:
        """Return θ in the columns' own scale, orthogonal to E exactly."""
        theta = view.lift(v)
        theta = np.append(np.ldexp(theta[: self.d], self.exponents), theta[self.d :])
        largest = np.abs(theta).max(initial=0.0)
        if largest > 0:
            theta = np.ldexp(theta, -int(np.frexp(largest)[1]))
        return self._orthogonal(theta) if self.basis else theta

    def _orthogonal(self, theta: FloatArray) -> list[Fraction]:
        """Return θ with as many coefficients changed as E has rows, so that aₑ·θ = 0 exactly."""
        M, columns, c = self._whole_rows(self.basis)
        rows, pivot = rational.pivots(M, self.clock)
        exact = [Fraction(value) for value in theta]
        rest = [k for k in range(len(columns)) if k not in set(pivot)]
        # in the scaled columns φ_j = θ_j 2^c_j the equations are those of whole numbers
        phi = [exact[j] * Fraction(2) ** int(e) for j, e in zip(columns, c, strict=True)]
        scale = 1
        for k in rest:
            scale = max(scale, phi[k].denominator)  # all are powers of two
        whole = np.array([int(phi[k] * scale) for k in rest] or [0], dtype=object)
        rhs = -(M[rows][:, rest].dot(whole) if rest else np.zeros(len(rows), dtype=object))
        N, D = rational.solve(M[rows][:, pivot], rhs[:, None], self.clock)
        for k, numerator in zip(pivot, N[:, 0], strict=True):
            exact[columns[k]] = Fraction(numerator, D * scale) / Fraction(2) ** int(c[k])
        return exact

    def _whole_rows(self, which: Sequence[int]) -> tuple[Any, list[int], IntArray]:
        """Return rows aᵢ in whole numbers, each up to a positive factor, on the columns where they are not all zero."""
        A = self._augmented(self.X, which)
        columns = np.unique(A.indices) if is_sparse(A) else np.arange(self.size)
        A = A[:, columns].toarray() if is_sparse(A) else A
        M, self._row_exponents, c = rational.to_whole(A)
        return M, columns.tolist(), c

    def _refused(self, view: _View, theta: Plane) -> IntArray:
        """Return the rows that the plane has on the wrong side, or on itself where it should not."""
        signs = sides(self.X, self.y, theta, intercept=self.intercept, clock=self.clock)
        bad = signs < 0
        bad[view.live] |= signs[view.live] == 0
        return np.flatnonzero(bad)

    def _round(self, view: _View) -> Circuit | Plane:
        """Return a plane that is strict on the rows outside V, or a combination of them that lies in V."""
        if self.basis:
            theta = self._quick(view)
            if theta is not None:
                return theta
        many = max(150, 3 * view.size)
        z = view.agreements(self.guess)
        working = self._worst(view, z, many, np.empty(0, dtype=np.int64))
        while True:
            self.clock.check("linear programs")
            t, v, multipliers = _program(view.block(working))
            if t <= FLAT:
                support = working[multipliers > FLAT * multipliers.max(initial=0.0)]
                circuit = self._circuit(support)
                return self._exactly(view, working) if circuit is None else circuit
            z = view.agreements(v)
            wrong = view.live[z[view.live] <= 0]
            if not len(wrong):
                theta = self._exact_plane(view, v)
                wrong = self._refused(view, theta)
                if not len(wrong):
                    return theta
            new = self._worst(view, z, many, working, wrong)
            if not len(new):
                return self._exactly(view, working)
            working = np.concatenate([working, new])

    def _worst(self, view: _View, z: FloatArray, many: int, known: IntArray, among: IntArray | None = None) -> IntArray:
        """Return the rows of lowest agreement that are not known yet, of both classes at the beginning."""
        among = np.setdiff1d(view.live if among is None else among, known)
        if len(among) <= many:
            return among
        if len(known):
            return among[np.argpartition(z[among], many)[:many]]
        halves = [among[view.y[among] == label] for label in (-1.0, 1.0)]
        return np.concatenate([half[np.argsort(z[half], kind="stable")[: many // 2]] for half in halves])

    # -- exact answers --------------------------------------------------------------------------------------------

    def _circuit(self, support: IntArray) -> Circuit | None:
        """Return λ > 0 on (some of) these rows, and any on E, with Σ λᵢ aᵢ = 0, if the rows have one such λ only."""
        if not len(support):
            return None
        rows = [*self.basis, *support.tolist()]
        M, _, _ = self._whole_rows(rows)
        exponents = self._row_exponents
        chosen, pivot = rational.pivots(M, self.clock)
        if len(chosen) > rational.WIDEST:
            return None
        for last in sorted(set(range(len(rows))) - set(chosen))[:3]:
            N, D = rational.solve(M[chosen][:, pivot].T, -M[last][pivot][:, None], self.clock)
            weights = [*N[:, 0], D]
            places = [*chosen, last]
            signs = [w for place, w in zip(places, weights, strict=True) if place >= len(self.basis)]
            if all(w >= 0 for w in signs) and not (M[chosen].T.dot(N[:, 0]) + M[last] * D).any():
                return {
                    rows[place]: Fraction(w) / Fraction(2) ** int(exponents[place])
                    for place, w in zip(places, weights, strict=True)
                    if w
                }
        return None

    def _exactly(self, view: _View, working: IntArray) -> Circuit | Plane:
        """Return what `_round` returns, by the exact simplex method on rows that grow by those a plane gets wrong."""
        first: list[int] = []
        while True:
            found, first = self._simplex(working, first)
            if isinstance(found, dict):
                return found
            signs = sides(self.X, self.y, found, intercept=self.intercept, clock=self.clock)
            bad = signs < 0
            bad[view.live] |= signs[view.live] == 0
            new = np.setdiff1d(np.flatnonzero(bad), working)
            if not len(new):
                return found
            working = np.concatenate([working, new[: max(50, self.size)]])

    def _simplex(self, working: IntArray, first: list[int]) -> tuple[Circuit | Plane, list[int]]:
        """Return a plane with aₑ·θ = 0 on E and aᵢ·θ > 0 on these rows, or λ that excludes one; and the last basis.

        The dual simplex method for  min c·θ  s.t.  aᵢ·θ ≥ 1, aₑ·θ = 0  with a c = Σ μⱼ aⱼ that makes the first basis
        dual feasible. A basis is E and rows J; its θ has aⱼ·θ = 1. A row that it gets wrong, aᵢ = Σ αⱼ aⱼ, enters for
        the j of least μⱼ/αⱼ with αⱼ > 0; if there is none, aᵢ − Σ αⱼ aⱼ = 0 is the proof.
        """
        e = len(self.basis)
        rest = [i for i in working.tolist() if i not in set(first)]
        rows = [*self.basis, *first, *rest]
        M, columns, c = self._whole_rows(rows)
        exponents = self._row_exponents
        basis, pivot = rational.pivots(M, self.clock)
        P = M[:, pivot]
        rng = np.random.default_rng(self.seed)
        mu = {k: Fraction(int(rng.integers(1, 2**20))) for k in basis if k >= e}
        while True:
            self.clock.check("exact pivots")
            ones = np.array([int(k >= e) for k in basis], dtype=object)
            N, D = rational.solve(P[basis], ones[:, None], self.clock)
            z = P[e:].dot(N[:, 0])
            if all(value > 0 for value in z):
                theta: list[Any] = [Fraction(0)] * self.size
                for k, value in zip(pivot, N[:, 0], strict=True):
                    theta[columns[k]] = Fraction(value, D) / Fraction(2) ** int(c[k])
                return theta, [rows[k] for k in basis if k >= e]
            # a step of length zero would let the method run in circles, unless the first row enters (Bland)
            stuck = any(value == 0 for value in mu.values())
            i = e + (next(k for k, value in enumerate(z) if value <= 0) if stuck else min(range(len(z)), key=z.item))
            alpha, scale = rational.solve(P[basis].T, P[i][:, None], self.clock)
            share = dict(zip(basis, alpha[:, 0], strict=True))
            leaving = [k for k in basis if k >= e and share[k] > 0]
            if not leaving:
                circuit = {i: scale} | {k: -value for k, value in share.items() if value}
                if M[list(circuit)].T.dot(np.array(list(circuit.values()), dtype=object)).any():
                    raise ArithmeticError("a rank was found too low: this cannot be, please report it")
                exact = {rows[k]: Fraction(v) / Fraction(2) ** int(exponents[k]) for k, v in circuit.items()}
                return exact, []
            out = min(leaving, key=lambda k: (mu[k] / share[k], k))
            step = mu[out] * scale / share[out]
            mu = {k: value - step * Fraction(share[k], scale) for k, value in mu.items() if k != out} | {i: step}
            basis[basis.index(out)] = i

    # -- V --------------------------------------------------------------------------------------------------------

    def _absorb(self, circuit: Circuit) -> None:
        """Let V take in the rows of a new combination."""
        new = [i for i in circuit if i not in set(self.basis)]
        if not self.points:
            self.points = circuit
        # enough of the old combination makes the sum positive where the new one is negative
        enough = max((-circuit[i] / self.total[i] for i in circuit if i in self.total), default=Fraction(0))
        factor = max(enough, Fraction(0)) + 1
        total = {i: factor * weight for i, weight in self.total.items()}
        for i, weight in circuit.items():
            total[i] = total.get(i, Fraction(0)) + weight
        self.total = total
        self.basis += new[:-1]

    def _absorb_twins(self) -> None:
        """Let V take in equal points of different classes: each pair is a proof of its own."""
        pairs = _twins(self.X, self.y)
        if not pairs:
            return
        most = 4 * self.size if self.size <= 500 else 400
        pairs = pairs[:most]
        self.points = self.points or {i: Fraction(1) for i in pairs[0]}
        M, _, _ = self._whole_rows([i for i, _ in pairs])
        independent, _ = rational.pivots(M, self.clock)
        self.basis = [pairs[k][0] for k in independent]
        self.total |= {i: Fraction(1) for k in independent for i in pairs[k]}

    def _dependencies(self) -> tuple[dict[int, dict[int, Fraction]], IntArray]:
        """Return the columns as combinations of as many as V has dimensions; or rows that are not in V after all."""
        A = self._augmented(self.X, self.basis)
        M, _, c = rational.to_whole(A.toarray() if is_sparse(A) else A)
        rows, pivot = rational.pivots(M, self.clock)
        free = [j for j in range(self.size) if j not in set(pivot)]
        N, D = rational.solve(M[rows][:, pivot], M[rows][:, free], self.clock)
        found: dict[int, dict[int, Fraction]] = {}
        for k, j in enumerate(free):
            combination = {
                p: Fraction(value, D) * Fraction(2) ** int(c[j] - c[p])
                for p, value in zip(pivot, N[:, k], strict=True)
                if value
            }
            found[j] = combination
            if depends(self.X, j, combination, intercept=self.intercept, clock=self.clock):
                continue
            theta = [-combination.get(p, Fraction(0)) for p in range(self.size)]
            theta[j] = Fraction(1)
            signs = sides(self.X, self.y, theta, intercept=self.intercept, clock=self.clock)
            return {}, np.flatnonzero(signs)[: max(50, 2 * self.size)]
        return found, np.empty(0, dtype=np.int64)

    # -- results --------------------------------------------------------------------------------------------------

    def _separating(self, theta: Plane) -> dict[str, Any]:
        """Return the fields for a plane; strict where V is nothing."""
        exact = None if isinstance(theta, np.ndarray) else [Fraction(value) for value in theta]
        rounded = theta if exact is None else _rounded(exact)
        coef: Any = np.asarray(rounded[: self.d])
        b = float(rounded[self.d]) if self.intercept else 0.0
        strict = not self.points
        if exact is not None:
            check = check_plane(self.X, self.y, coef, b if self.intercept else None, strict=strict)
            exact = None if check and strict else exact
        fields: dict[str, Any] = dict(verdict="separable" if strict else "quasi", coef=coef, intercept=b)
        if exact is not None:
            fields["plane"] = tuple(exact) if self.intercept else (*exact, Fraction(0))
        source = coef if exact is None else exact[: self.d]
        fields["infinite"] = [j for j, value in enumerate(source) if value != 0]
        if coef.any():
            fields["margin"] = max(0.0, margin(self.X, self.y, coef, b)) if strict else 0.0
        else:
            fields["margin"] = np.inf if strict else 0.0
        if not strict:
            signs = sides(self.X, self.y, theta, intercept=self.intercept, clock=self.clock)
            fields["on_plane"] = int((signs == 0).sum())
            fields["points"], fields["weights"] = self._normalised(self.points)
        return fields

    def _overlapping(self, dependencies: dict[int, dict[int, Fraction]]) -> dict[str, Any]:
        points, weights = self._normalised(self.points)
        support, support_weights = self._normalised(self.total)
        return dict(
            verdict="overlap",
            points=points,
            weights=weights,
            support=support,
            support_weights=support_weights,
            dependencies=dependencies,
        )

    def _normalised(self, circuit: Circuit) -> tuple[list[int], list[Fraction]]:
        """Return rows in order and weights that sum to one in each class (over both, without an intercept)."""
        rows = sorted(circuit)
        counted = [circuit[i] for i in rows if self.y[i] > 0 or not self.intercept]
        whole = sum(counted, Fraction(0))
        return rows, [circuit[i] / whole for i in rows]


def _rounded(exact: Sequence[Fraction]) -> FloatArray:
    """Return θ in floats, times a power of two where it would not fit."""
    bits = max((abs(v.numerator).bit_length() - v.denominator.bit_length() for v in exact if v), default=0)
    factor = Fraction(2) ** -bits
    return np.array([float(value * factor) for value in exact])


def _program(A: Any) -> tuple[float, FloatArray, FloatArray]:
    """Return t, v and λ ≥ 0 of  max t  s.t.  A v ≥ t, |v| ≤ 1, 0 ≤ t ≤ 1."""
    n, q = A.shape
    ones: Any = np.ones((n, 1))
    matrix: Any = sparse.hstack([-A, ones], format="csc") if is_sparse(A) else np.hstack([-A, ones])
    bounds = [(-1.0, 1.0)] * q + [(0.0, 1.0)]
    found = linprog(np.append(np.zeros(q), -1.0), matrix, np.zeros(n), bounds=bounds, method="highs-ds")
    if found.x is None:  # floats failed: let exact arithmetic go on from all rows alike
        return 0.0, np.zeros(q), np.zeros(n)
    return float(found.x[-1]), np.asarray(found.x[:-1]), np.maximum(0.0, -np.asarray(found.ineqlin.marginals))


def _pivot_columns(A: FloatArray) -> IntArray:
    """Return as many columns as A has rows on which it is well regular, by elimination with column pivoting."""
    from scipy.linalg import qr

    return np.sort(qr(A, mode="r", pivoting=True)[1][: len(A)])


def _twins(X: Any, y: FloatArray) -> list[tuple[int, int]]:
    """Return pairs of equal rows with different labels."""
    rng = np.random.default_rng(0)
    rows = Rows(X)
    with np.errstate(over="ignore", invalid="ignore"):
        key = rows.matvec(rng.standard_normal(rows.d))
    pairs: list[tuple[int, int]] = []
    order = np.argsort(key, kind="stable")
    same = key[order][1:] == key[order][:-1]
    starts = np.flatnonzero(np.append(True, ~same))
    for first, end in zip(starts, np.append(starts[1:], len(order)), strict=True):
        if end - first < 2:
            continue
        group = order[first:end]
        positive, negative = group[y[group] > 0], group[y[group] < 0]
        if not (len(positive) and len(negative)):
            continue
        i, j = int(positive[0]), int(negative[0])
        if np.array_equal(_values(X, i), _values(X, j)):
            pairs.append((i, j))
    return pairs


def _values(X: Any, i: int) -> FloatArray:
    return np.asarray(X[[i]].toarray()[0] if is_sparse(X) else X[i])
