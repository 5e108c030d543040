"""Factors of Hessians, H = l2·I + Σ hᵢ [xᵢ, 1][xᵢ, 1]ᵀ, that turn gradients into steps."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.linalg import blas, lapack

from ..._common.types import FloatArray, IntArray
from ...objective.objective import Objective
from ..sampling import draw

#: Up to this many features the Hessian is factored …
FACTORED = 3000
#: … unless its rows are sparse, and one takes as long as more than so many products with it: then conjugate gradients
#: with its diagonal arrive sooner, at least at first. (w8a, a sixteenth of its rows, worth 10: 4.4 ms instead of 7.1;
#: all, worth 6, and a quarter, worth 7: as long; a quarter of a9a, worth 4: a factor takes 4.2 instead of 5.4.)
DEAR = 6.0
#: A factor takes as long as going over so many stored numbers as the cube of the features over this.
CUBES = 80.0
#: Of rows with no more numbers than this all are added up: some of them would save less than the products that follow.
SHORT = 16
#: What is added to a diagonal of ones, for directions in which nothing bends.
NUDGE = 1e-10
#: The same in single precision.
ROUGH = 1e-6


class Metric(ABC):
    """H, or something like it, that can be divided by."""

    exact = False
    cost = 0.0  # of making it, in products of the Hessian with a vector; about

    @abstractmethod
    def solve(self, g: FloatArray) -> FloatArray:
        """Return H⁻¹ g."""

    def serves(self, products: int) -> bool:
        """Whether it is to be used again after a step that took so many products."""
        return products <= self.cost


def metric_at(point: Any, rng: np.random.Generator | None, *, exact: bool = True, factor: bool | None = None) -> Metric:
    """Return what preconditions a step from a point; see `factored`.

    `exact`: whether it may be the whole Hessian; `factor`: whether one is to be made, None for unless it is dear.
    """
    problem = point.problem
    if problem.head.planes is not None:
        assert rng is not None, "of several classes no step has to be from all rows"
        metric: Metric = _of_classes(point, rng)
        metric.exact = metric.exact and exact
        return metric
    if point.gram is not None:  # that a pass has added up
        return scaled_factor(problem, problem.weight_of_loss * point.gram)
    h = problem.weight_of_loss * point.sums.h
    factor = not is_dear(problem) if factor is None else factor
    metric = factored(problem, h, rng) if problem.d <= FACTORED and factor else diagonal(problem, h)
    metric.exact = metric.exact and exact
    return metric


def is_dear(problem: Objective) -> bool:
    """Whether a factor of the features' Hessian takes longer than the products of a step without it are likely to."""
    return problem.rows.is_sparse and problem.penalty.l2 > 0 and products_of_factor(problem) > DEAR


def products_of_factor(problem: Objective) -> float:
    """Return how many products with the Hessian of sparse rows take as long as to add it up and to factor it."""
    rows = problem.rows
    lengths = np.diff(rows.X.indptr).astype(np.float64)
    exact, size = _rows_to_add(problem, rows.n)
    added = 0.5 * float(lengths @ lengths) * (1.0 if exact else size / rows.n)
    return (added + work_of_factor(rows.d)) / (2 * max(1, rows.stored))


def work_of_factor(d: int) -> float:
    """Return how many stored numbers could be gone over while a matrix of so many rows is factored."""
    return d**3 / CUBES


def factored(problem: Objective, h: FloatArray, rng: np.random.Generator | None = None) -> Metric:
    """Return the factor that is cheapest: of the examples' products where few of them bend, else of the features'.

    With a random generator the latter may come from a sample of the examples.
    """
    rows = np.flatnonzero(h != 0)  # of truths NumPy counts several at a time
    if 2 * len(rows) < problem.rows.d and problem.penalty.l2 > 0:  # Woodbury's formula divides by it
        return _ByRows(problem, h, rows)
    return _by_columns(problem, h, rows, rng)


class Cholesky:
    """A Cholesky factor of a matrix with a unit diagonal, nudged as little as makes one possible.

    LAPACK's own functions: what SciPy puts around them takes longer than they do on a small matrix.
    """

    def __init__(self, matrix: FloatArray, nudge: float = NUDGE) -> None:
        info, single = 1, matrix.dtype == np.float32
        factor, self._solve = (lapack.spotrf, lapack.spotrs) if single else (lapack.dpotrf, lapack.dpotrs)
        while info:
            nudged = matrix.copy()
            np.einsum("jj->j", nudged)[:] += nudge
            # The lower triangle of a C-ordered matrix is the upper one of what LAPACK sees.
            self.factor, info = factor(nudged.T, lower=0, overwrite_a=1, clean=0)
            nudge *= 100

    def solve(self, g: FloatArray) -> FloatArray:
        """Return the matrix's inverse times g."""
        x, _ = self._solve(self.factor, g, lower=0)
        return np.asarray(x)

    def inverse(self) -> FloatArray:
        """Return the lower triangle of the matrix's inverse."""
        invert = lapack.spotri if self.factor.dtype == np.float32 else lapack.dpotri
        inverse, _ = invert(self.factor, lower=0)
        return np.tril(inverse.T)


class ScaledFactor(Metric):
    """A Cholesky factor of a matrix, of which the lower triangle is filled; the matrix itself is used up."""

    exact = True

    def __init__(self, matrix: FloatArray, nudge: float = NUDGE) -> None:
        diagonal = np.einsum("jj->j", matrix)
        # A direction in which nothing bends is left to the line search; one in which next to nothing does is nudged.
        diagonal[diagonal <= 0] = 1.0
        self.scale: FloatArray = 1.0 / np.sqrt(diagonal)  # columns of one scale
        matrix *= self.scale[:, None]
        matrix *= self.scale
        self.factor = Cholesky(matrix, nudge)

    def solve(self, g: FloatArray) -> FloatArray:
        """Return the matrix's inverse times g."""
        return self.factor.solve(self.scale * g) * self.scale

    def inverse(self) -> FloatArray:
        """Return the matrix's inverse."""
        inverse = self.factor.inverse()
        inverse += np.tril(inverse, -1).T
        inverse *= self.scale[:, None]
        inverse *= self.scale
        return inverse


def scaled_factor(
    problem: Objective, gram: FloatArray, diagonal: FloatArray | None = None, nudge: float = NUDGE
) -> ScaledFactor:
    """Return the factor of l2·I and a sum Σ hᵢ [xᵢ, 1][xᵢ, 1]ᵀ, which is used up.

    Another diagonal is that of an interior point, where small numbers count beside very large ones: it is not nudged.
    """
    d, size = problem.d, problem.d + problem.fit_intercept
    np.einsum("jj->j", gram)[:d] += problem.penalty.l2 if diagonal is None else diagonal
    return ScaledFactor(gram[:size, :size], nudge if diagonal is None else 1e-16)


def _by_columns(problem: Objective, h: FloatArray, rows: IntArray, rng: np.random.Generator | None) -> Metric:
    """Return a Cholesky factor of the Hessian, or of its estimate from those of the examples that matter most."""
    n, d = problem.rows.n, problem.rows.d
    stored = max(1, problem.rows.stored)
    all_of_them, size = _rows_to_add(problem, len(rows))
    exact = rng is None or all_of_them
    if rng is not None and not exact:
        # Those that bend much matter, and long ones, in which features show that are rare; a few of all the others.
        bends, lengths = h[rows], problem.rows.squared_norms()[rows]
        chosen, p = draw((bends + bends.mean()) * (lengths + lengths.mean()), size, rng)
        rows, whole, h = rows[chosen], h, np.zeros(n)
        h[rows] = whole[rows] / p
    metric = scaled_factor(problem, problem.rows.gram(h, rows))
    metric.exact = exact
    # Half of xxᵀ for each row, then d³/3 steps of the kind that a processor is fastest at.
    metric.cost = (len(rows) * (stored / n) ** 2 / 2 + d**3 / 60) / (2 * stored)
    return metric


def _rows_to_add(problem: Objective, count: int) -> tuple[bool, int]:
    """Return whether a Hessian had better be that of all rows that bend, so many, and of about how many otherwise."""
    n, d, stored = problem.rows.n, problem.rows.d, max(1, problem.rows.stored)
    # Of many examples more, since some features are rare; some thousands if that costs no more than a few products.
    size = max(2 * d, n // 16, min(4000, 16 * n * n // stored))
    return count <= 2 * size or problem.rows.narrow or stored <= SHORT * n, size


class _ByRows(Metric):
    """The same by Woodbury's formula, (l2·I + ZᵀZ)⁻¹ = (I − Zᵀ (l2·I + ZZᵀ)⁻¹ Z) / l2.

    Z holds the rows that bend, times √h. The intercept, which has no l2, is eliminated last.
    """

    exact = True

    def __init__(self, problem: Objective, h: FloatArray, rows: IntArray) -> None:
        self.l2, self.fit_intercept = problem.penalty.l2, problem.fit_intercept
        if len(rows) == 0:
            rows = np.zeros(1, dtype=np.int64)  # one that does not bend either
        root = np.sqrt(h[rows])
        self.Z = problem.rows.dense(rows)
        self.Z *= root[:, None]
        # SciPy's BLAS, as for the factor: see `reference.gram`.
        self.factor = Cholesky(blas.dsyrk(1.0 / self.l2, self.Z.T, trans=1, lower=0).T, nudge=1.0)
        if self.fit_intercept:
            self.products = blas.dgemv(1.0, self.Z.T, root)
            self.column = self._weights(self.products)
            total = float(root @ root)
            # Where nothing bends the intercept it is left to the line search.
            self.rest = max(total - float(self.products @ self.column), 1e-10 * total) or 1.0

    def _weights(self, g: FloatArray) -> FloatArray:
        inner = blas.dgemv(1.0 / self.l2, self.Z.T, g, trans=1)
        return np.asarray((g - blas.dgemv(1.0, self.Z.T, self.factor.solve(inner))) / self.l2)

    def solve(self, g: FloatArray) -> FloatArray:
        if not self.fit_intercept:
            return self._weights(g)
        w = self._weights(g[:-1])
        b = (g[-1] - self.products @ w) / self.rest
        return np.append(w - b * self.column, b)


class _Diagonal(Metric):
    """The diagonal of the Hessian."""

    def __init__(self, entries: FloatArray, cost: float = 0.0) -> None:
        self.entries, self.cost = np.where(entries > 0, entries, 1.0), cost

    def solve(self, g: FloatArray) -> FloatArray:
        return g / self.entries


def diagonal(problem: Objective, h: FloatArray) -> Metric:
    """Return the diagonal of the Hessian."""
    return diagonal_of(problem, np.append(problem.rows.square_rmatvec(h), h.sum()))


def diagonal_of(problem: Objective, bends: FloatArray) -> Metric:
    """Return the diagonal of the Hessian, by that of the losses' (with an entry, or row, for b), which is used up."""
    return _Diagonal(_penalised(problem, bends))


def diagonal_in_blocks(point: Any) -> Metric:
    """Return the diagonal of the Hessian, of one plane or several, where examples come by in blocks: one pass."""
    w, b = point.w, point.b

    def task(part: Objective) -> FloatArray:
        return _bends(part.evaluate(w, b, curvature=True, gradient=False))

    return diagonal_of(point.problem, point.problem.sum(task))


def _bends(point: Any) -> FloatArray:
    """Return the diagonal of the Hessian of the losses, with an entry, or row, for b."""
    problem = point.problem
    if problem.head.planes is None:
        h = problem.weight_of_loss * point.sums.h
        return np.append(problem.rows.square_rmatvec(h), h.sum())
    p, X = point.p, problem.rows.X
    h = problem.weight_of_loss * problem.s[:, None] * p * (1.0 - p)
    squares = X.multiply(X) if problem.rows.is_sparse else X**2
    return np.vstack([np.asarray(squares.T @ h), h.sum(axis=0)])


def _penalised(problem: Objective, bends: FloatArray) -> FloatArray:
    bends[: problem.d] += problem.penalty.l2
    return bends if problem.fit_intercept else bends[: problem.d]


# -- several classes --------------------------------------------------------------------------------------------------

#: What a preconditioner of several classes may cost, in products with the Hessian: that of a sample which is as large
#: as this allows; of the whole Hessian twice as much at the most, else the classes are taken one by one.
WORTH = 4.0
#: Multiplications of matrices that take as long as one of a pass over the rows, and those that a pass at least takes.
FASTER, LEAST_WORK = 2.0, 1e6
#: Rows a feature of a sample at the least: with fewer the estimate is worse than none.
ROWS_A_FEATURE = 4
#: Up to so many features a block is inverted by the kernels: more are the business of a BLAS.
FEW = 128


def _of_classes(point: Any, rng: np.random.Generator) -> Metric:
    """Return what preconditions a step of several classes: the whole Hessian, its blocks, or its diagonal."""
    problem = point.problem
    if problem.d > FACTORED:
        return _Diagonal(_penalised(point.problem, _bends(point)), cost=4.0)
    size, product = problem.classes * (problem.d + 1), product_work(problem)
    least = min(problem.n, ROWS_A_FEATURE * problem.d)
    dearest = 2 * WORTH * product
    return _Whole(point, rng) if least * size**2 / 2 + size**3 / 6 <= dearest else _Blocks(point, rng)


def whole_of_classes(point: Any) -> tuple[float, Callable[[], Metric]]:
    """Return what a factor of the whole Hessian of several classes costs, in products with it, and how to make it."""
    problem = point.problem
    size = problem.classes * (problem.d + problem.fit_intercept)
    work = problem.n * size**2 / 2 + size**3 / 6
    return work / product_work(problem), lambda: _Whole(point, None)


def product_work(problem: Objective) -> float:
    """Return what a product with the Hessian takes, in multiplications as fast as those of matrices."""
    return max(LEAST_WORK, FASTER * 2 * problem.rows.stored * problem.classes)


class _Ageing(Metric):
    """One that is made anew once what its age has cost, in products beyond those of its first step, would pay."""

    first: int | None = None
    lost = 0

    def serves(self, products: int) -> bool:
        self.first = products if self.first is None else min(self.first, products)
        self.lost += products - self.first
        return self.lost <= self.cost


class _Whole(_Ageing):
    """The Cholesky factor of the whole Hessian, over all examples or a sample of them."""

    def __init__(self, point: Any, rng: np.random.Generator | None) -> None:
        problem, p, K, n = point.problem, point.p, point.problem.classes, point.problem.n
        d, work = problem.d, product_work(problem)
        size = n if rng is None else max(ROWS_A_FEATURE * d, int(WORTH * work / ((d + 1) * K) ** 2 * 2))
        self.exact = 2 * size >= n
        if self.exact:
            count, gram = n, problem.rows.softmax_gram(p, problem.weight_of_loss * problem.s, None)
        else:
            rows, s = _sampled(problem, problem.s * point.doubt, problem.s, size, rng)
            weight, count = problem.weight_of_loss * s, len(rows)
            gram = problem.rows.softmax_gram(p, weight, rows, problem.rows.rough(weight))
        # All classes moved alike bend nothing, and no gradient points there: anything makes the matrix definite.
        squares = np.einsum("kjkj->kj", gram.reshape(K, d + 1, K, d + 1))
        alike = squares.sum(axis=0) / K**2
        np.einsum("kjlj->klj", gram.reshape(K, d + 1, K, d + 1))[:] += alike
        squares[:, :d] += problem.penalty.l2
        used = d + problem.fit_intercept
        if used == d:
            gram = gram.reshape(K, d + 1, K, d + 1)[:, :d, :, :d].reshape(K * d, K * d)
        self.factor = ScaledFactor(gram, NUDGE if gram.dtype == np.float64 else ROUGH)
        self.cost = (count * (K * used) ** 2 / 2 + (K * used) ** 3 / 6) / work

    def solve(self, G: FloatArray) -> FloatArray:
        step = self.factor.solve(G.T.reshape(-1)).reshape(G.shape[::-1])
        return np.ascontiguousarray(step.T, dtype=np.float64)


class _Blocks(_Ageing):
    """The inverses of the Hessian's blocks on the diagonal, one a class, each over all examples or a sample."""

    def __init__(self, point: Any, rng: np.random.Generator) -> None:
        problem, K = point.problem, point.problem.classes
        size, product, weight = problem.d + problem.fit_intercept, product_work(problem), _weights(problem)
        most = max(ROWS_A_FEATURE * problem.d, int(2 * product / (K * size**2)))
        if problem.d <= FEW and problem.rows.rough(weight) is np.float32:
            told = dict(intercept=problem.fit_intercept, nudge=ROUGH)
            self.inverses = problem.rows.class_inverses(
                point.p, weight, most, rng.random(K), problem.penalty.l2, **told
            )
            work = K * (size**3 + min(most, problem.n) * size**2 / 2)
        else:
            self.inverses, work = _inverses(problem, point.p, weight, most, rng)
        self.cost = work / product

    def solve(self, G: FloatArray) -> FloatArray:
        columns = np.matmul(self.inverses, G.T.astype(np.float32)[:, :, None])
        return np.ascontiguousarray(columns[:, :, 0].T, dtype=np.float64)


def _inverses(
    problem: Objective, p: FloatArray, weight: FloatArray, most: int, rng: np.random.Generator
) -> tuple[FloatArray, float]:
    """Return the inverses of blocks of many features, each over at most about `most` rows, and the work it took."""
    K, size = problem.classes, problem.d + problem.fit_intercept
    inverses: FloatArray = np.empty((K, size, size), dtype=np.float32)
    curvature = p * (1.0 - p)
    work = K * (size**3 / 2 + 4 * LEAST_WORK)
    for k in range(K):
        if k and np.array_equal(curvature[:, k], curvature[:, k - 1]):  # at zero, say, where all classes are alike
            inverses[k] = inverses[k - 1]
            continue
        bends = weight * curvature[:, k]
        rows, h = _sampled(problem, bends, bends, most, rng)
        work += len(rows) * size**2 / 2
        inverses[k] = scaled_factor(problem, problem.rows.rough_gram(h, rows), nudge=ROUGH).inverse()
    return inverses, work


def _weights(problem: Objective) -> FloatArray:
    """Return what the loss of each example counts."""
    return np.asarray(problem.weight_of_loss * problem.s)


def _sampled(
    problem: Objective, bends: FloatArray, s: FloatArray, size: int, rng: np.random.Generator | None
) -> tuple[IntArray, FloatArray]:
    """Return at most about `size` rows, those rather that bend much and are long, and s of all that each stands for."""
    if rng is None or 2 * size >= len(s):
        return np.arange(len(s)), s
    lengths = problem.rows.squared_norms()
    chosen, p = draw(bends * (lengths + (lengths.mean() or 1.0)), size, rng)
    return chosen, s[chosen] / p
