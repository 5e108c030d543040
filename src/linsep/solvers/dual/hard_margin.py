"""The plane of maximum margin: min ½‖w‖² subject to y(w·x + b) ≥ 1, as the nearest points of the two classes' hulls."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..._common.checks import check_count
from ..._common.types import FloatArray, IntArray
from ..._core import Rows
from ...arithmetic.exact import check_plane
from ...history import Record
from ...objective.duality import Bound
from ...objective.objective import Objective
from ...separation.nearest import Nearest, nearest_points
from ...separation.verdict import NotSeparableError, separability
from ..result import STOPPED_BY_OBSERVER, Observer, Result, Start
from ..run import GapRun, words_of

#: Data whose mean is this many times as far from the origin as they are wide are moved there first.
FAR = 10.0
#: The square of a distance whose inverse is still a float.
SMALLEST_SQUARE = float(np.finfo(np.float64).tiny)


@dataclass(frozen=True)
class HardMargin:
    """Wolfe's active set method for the nearest points; exact up to rounding on what it is given.

    Of the problem it takes the examples, the labels, whether there is an intercept, and which weights are zero: those
    examples are left out. Its answer is that of the hinge loss with C large enough.

    Parameters
    ----------
    tol : float
        The relative duality gap at which to stop.
    max_iter : int
        How many examples may enter the active set.
    """

    tol: float = 1e-4
    max_iter: int = 100_000
    name = "hard_margin"

    def __post_init__(self) -> None:
        check_count("max_iter", self.max_iter)

    def solve(
        self, problem: Objective, *, start: Start | None = None, seed: int = 0, observer: Observer | None = None
    ) -> Result:
        """Find the plane; raise `NotSeparableError` where there is none. A start is of no use to it."""
        weight = problem.sample_weight
        kept = np.arange(problem.rows.n) if weight is None else np.flatnonzero(weight)
        if problem.fit_intercept and abs(problem.y[kept].sum()) == len(kept):
            raise ValueError(
                "the examples with a positive sample_weight are of one class only: a margin needs two classes"
            )
        rows = problem.rows if len(kept) == problem.rows.n else Rows(problem.rows.X[kept])
        return _Run(self, rows, problem.y[kept], kept, problem, observer, seed).result()


class _Run(GapRun):
    """One run, on the examples that count."""

    def __init__(
        self,
        method: HardMargin,
        rows: Rows,
        y: FloatArray,
        kept: IntArray,
        problem: Objective,
        observer: Observer | None,
        seed: int,
    ) -> None:
        super().__init__(method, observer)
        self.rows, self.y, self.kept, self.seed = rows, y, kept, seed
        self.n, self.intercept = problem.rows.n, problem.fit_intercept
        self.best: Nearest | None = None
        self.origin = self._origin()

    def _origin(self) -> FloatArray | None:
        """Return the mean of data far from the origin, where products would drown the differences that matter."""
        if not self.intercept or self.rows.is_sparse:
            return None
        mean = np.asarray(self.rows.X.mean(axis=0, dtype=np.float64))
        square = float(mean @ mean)
        wide = float(self.rows.squared_norms().mean()) - square
        return mean if square > FAR**2 * max(wide, 0.0) else None

    def result(self) -> Result:
        """Search until the gap is proven small; ask `separability` where no plane comes out."""
        rows = self.rows if self.origin is None else Rows(self.rows.X - self.origin)
        tol, max_iter, found = self.method.tol, self.method.max_iter, None
        with self.until_it_ends():
            found = nearest_points(
                rows, self.y, intercept=self.intercept, observer=self._note, tol=tol, max_iter=max_iter
            )
        found = found or self.best
        if found is None:
            raise KeyboardInterrupt
        w, b = self._plane(found)
        keeps = self._keeps(w, b)
        if not keeps > 0 and not self.interrupted and not found.stopped:
            w, b, keeps = self._decided()
        square = (2 * found.high) ** 2 if self.intercept else found.high**2
        if not square >= SMALLEST_SQUARE:
            raise ValueError(
                "the classes are so near each other that the square of their distance is no float: scale the columns "
                "first, e.g. with sklearn.preprocessing.StandardScaler (linsep.separability takes them as they are)"
            )
        w, b, proof = self._scaled(w, b, keeps, found.high)
        if not self.interrupted:
            where = f"at a duality gap of {proof.relative_gap:.1e}" if np.isfinite(proof.primal) else "with no bound"
            self.message = words_of(proof) if self.proves(proof) else f"stopped {where}"
        if found.stopped:
            self.message = STOPPED_BY_OBSERVER
        alpha = np.zeros(self.n)
        alpha[self.kept[found.support]] = found.weights * ((2.0 if self.intercept else 1.0) / square)
        return self.outcome(w, b, found.n_iter, proof, alpha=alpha)

    @staticmethod
    def _scaled(w: FloatArray, b: float, keeps: float, high: float) -> tuple[FloatArray, float, Bound]:
        """Return the plane with min z = 1, if it keeps any distance, and its objective between bounds."""
        dual = 0.5 / high**2
        with np.errstate(over="ignore", invalid="ignore"):
            scaled, c = (w / keeps, b / keeps) if keeps > 0 else (w, b)
            primal = 0.5 * float(scaled @ scaled)
        if not (keeps > 0 and np.isfinite(primal) and np.isfinite(c)):
            return w, b, Bound(np.inf, dual)
        return scaled, c, Bound(primal, dual)

    def _note(self, k: int, found: Nearest) -> bool:
        self.best = found
        objective = 0.5 / found.low**2 if found.low > 0 else np.inf
        self.history.add(Record(k, k, objective, np.nan, np.nan, best=objective))
        w, b = self._plane(found)
        return self.observer is not None and self.observer(k, np.append(w, b) if self.intercept else w, objective)

    def _plane(self, found: Nearest) -> tuple[FloatArray, float]:
        b = -found.middle
        if self.origin is not None:
            b -= float(found.v @ self.origin)
        return found.v, b

    def _keeps(self, w: FloatArray, b: float) -> float:
        """Return min z of the plane if it separates in exact arithmetic, else zero."""
        z = self.y * (self.rows.matvec(w) + b)
        if not z.min() > 0:
            return 0.0
        longest = float(np.sqrt(self.rows.squared_norms().max()))
        rounding = 2.0**-50 * (len(w) + 8) * (longest * float(np.linalg.norm(w)) + abs(b))
        if z.min() > rounding:  # floats are proof enough
            return float(z.min())
        plane = check_plane(self.rows.X, self.y, w, b if self.intercept else None)
        return float(z.min()) if plane else 0.0

    def _decided(self) -> tuple[FloatArray, float, float]:
        """Return a plane that separates; raise with the proof that there is none."""
        proof = separability(self.rows.X, self.y, fit_intercept=self.intercept, seed=self.seed)
        if not proof.separable:
            raise NotSeparableError(proof.in_rows(self.kept.tolist()))
        assert proof.coef is not None
        assert proof.intercept is not None
        z = self.y * (self.rows.matvec(proof.coef) + proof.intercept)
        return proof.coef, proof.intercept, max(0.0, float(z.min()))
