"""The search for a plane that separates, or for the relation between rows that excludes one.

Floats search, whole numbers decide. A row is aᵢ = yᵢ [xᵢ, 1], a plane θ = [w, b].

1. A few passes of the perceptron; most separable data fall to them.
2. The linear program  max t  s.t.  aᵢ·θ ≥ t, |θ| ≤ 1  on a set of rows that grows by those it gets wrong. If t > 0 the
   plane is tried on all rows, exactly. If t = 0 its multipliers name rows with Σ λᵢ aᵢ = 0, solved for exactly.
   Where there are many columns and many mistakes, the maximum of the likelihood names such rows more quickly.
3. Where floats do not resolve it, an exact dual simplex method goes on from where they ended.
4. Rows with such a λ lie on every weak plane. Modulo the space V that they span the same question is asked again: a
   plane that is strict there is a quasi-separation, and if V holds all rows there is none.

The same search, asked with a row −e_j beside the others, tells whether some weak plane has a negative θ_j, and else
gives the λ ≥ 0 with Σ λᵢ aᵢ = e_j that excludes one (`Search.beyond`).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import lcm
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .._core import Rows, is_sparse
from ..arithmetic import rational
from ..arithmetic.exact import Clock, ProofTimeoutError, check_plane, depends, plane_margin, sides
from ..geometry import augment
from .common_point import common_point
from .face import Face, signed_rows, unbounded
from .floats import Perceptron, View, filled, partition, pivot_columns, program, scaled
from .nearest import nearest_points

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
Weights = dict[int, Fraction]  # row: λ
Plane = Any  # floats in an array, or a list of Fractions

__all__ = ["Search", "rounded"]

FEW_PASSES, PASSES = 3, 60  # of the perceptron, where there are few columns and where there are many
FLAT = 1e-9  # an optimum t or a multiplier below this is looked at exactly
NEGLIGIBLE = 1e-9  # the share of a row's length outside V below which floats say nothing
BROAD = 100  # columns from which on linear programs are slower than the maximum of a likelihood
WIDE = 300  # columns from which on linear programs are slower than the nearest points of hulls
QUICK = 5e10  # operations of which a share goes into the perceptron's passes
GRAIN = 24  # bits of the weights that may be chosen freely


@dataclass(frozen=True)
class _Relation:
    """Weights with Σ λᵢ aᵢ = 0, positive outside E, and rows outside E that span its rows with E, independently."""

    weights: Weights
    independent: list[int]


class Search:
    """The state of one question: the data, the rows E that span V, and the positive combination that proves it."""

    def __init__(
        self,
        X: Any,
        y: FloatArray,
        intercept: bool,
        clock: Clock,
        seed: int,
        ranking: FloatArray | None = None,
    ) -> None:
        self.X, self.y, self.intercept, self.clock, self.seed = X, y, intercept, clock, seed
        self.n, self.d = (int(size) for size in X.shape)
        self.size = self.d + intercept
        self.basis: list[int] = []  # E: independent rows that span V
        self.total: Weights = {}  # λ > 0 on rows that span V, Σ λᵢ aᵢ = 0
        self.points: Weights = {}
        self.scaled, self.exponents = scaled(X)
        # agreements with the best plane so far; who gives a ranking has looked for a plane in quick ways already
        self.ranking, self.is_ranked = np.zeros(self.n) if ranking is None else ranking, ranking is not None
        self.inside: set[int] = set()  # rows in V
        self.working = np.empty(0, dtype=np.int64)
        self.dependencies: dict[int, dict[int, Fraction]] = {}  # columns that are combinations of others on all rows

    def decide(self, *, weakly: bool = True) -> dict[str, Any]:
        """Return the fields of a `Separability`; if no plane separates, say whether one does weakly only if asked."""
        view = self._whole_space()
        if len(view.live) < self.n:  # without an intercept a row of zeros is on every plane
            self.points = self.total = {int(np.setdiff1d(np.arange(self.n), view.live)[0]): Fraction(1)}
        theta = self._quick(view) if len(view.live) and not self.is_ranked else None
        if theta is not None:
            return self._separating(theta)
        self._absorb_twins()
        while True:
            self.clock.check("the search for a plane")
            if self.points and not weakly:
                return self._inseparable()
            if len(self.basis) == self.size:
                return self._overlapping({})
            view = self._whole_space() if not self.basis else self._quotient()
            if len(view.live):
                found = self._round(view)
            else:
                dependencies, strangers = self._dependencies(self.basis)
                if not len(strangers):
                    return self._overlapping(dependencies)
                found = self._exactly(view, strangers)
            if not isinstance(found, _Relation) and self.points:
                found = self._strict(view, found)
            if isinstance(found, _Relation):
                self._absorb(found)
            else:
                return self._separating(found)

    def beyond(self, basis: Sequence[int]) -> Plane | Weights:
        """Return a plane that is zero on these rows and strict on others, or λ with Σ λᵢ aᵢ = 0, positive on others.

        Examples
        --------
        >>> rows = np.array([[1.0, 0.0], [1.0, 1.0], [-1.0, 0.0]])
        >>> search = Search(rows, np.ones(3), False, Clock(None), 0)
        >>> sorted(search.beyond([]))  # the first and the last are opposite
        [0, 2]
        """
        self.basis, self.inside = list(basis), set(basis)
        view = self._quotient() if self.basis else self._whole_space()
        live = np.setdiff1d(np.arange(self.n), self.basis)
        found = self._round(replace(view, live=live))
        return found.weights if isinstance(found, _Relation) else found

    def _strict(self, view: View, theta: Plane) -> _Relation | Plane:
        """Return a weak plane that is zero on the rows of V only, or a relation that takes more rows into V.

        Floats may have taken a row for one of V that is not quite in it, and left it on the plane.
        """
        while not isinstance(theta, _Relation):
            try:
                signs = sides(self.X, self.y, theta, intercept=self.intercept, clock=self.clock)
                on = np.flatnonzero(signs == 0)
                face = Face(self.X, self.y, self.basis, intercept=self.intercept, clock=self.clock)
                off = sides(self.X[on], self.y[on], face.direction(), intercept=self.intercept, clock=self.clock) != 0
            except ProofTimeoutError:  # that it separates weakly is known
                return theta
            strangers = on[off]
            if not len(strangers):
                return theta
            view = replace(view, live=np.union1d(view.live, strangers))
            theta = self._exactly(view, np.union1d(self.working, strangers))
        return theta

    # -- views ----------------------------------------------------------------------------------------------------

    def _whole_space(self) -> View:
        rows = Rows(self.scaled)
        live = np.arange(self.n) if self.intercept else np.flatnonzero(filled(self.X))
        return View(rows, self.y, self.intercept, lambda v: v, live)

    def _quotient(self) -> View:
        """Return the rows modulo V, in coordinates of a space orthogonal to E."""
        self.clock.check("a change of coordinates", 5.0 * self.size**3 + 2.0 * self.size * Rows(self.scaled).stored)
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
        outside = rows.squared_norms() > NEGLIGIBLE**2 * whole
        outside[list(self.inside)] = False
        return View(rows, self.y, False, lift, np.flatnonzero(outside))

    def _eliminated(self, A: Any) -> tuple[Any, Callable[[FloatArray], FloatArray]]:
        """Return the rows with as many columns eliminated as E has rows, for sparse data."""
        used = np.unique(A.indices)
        # rare columns go first: a common one, such as the intercept's, would fill all rows
        common = np.append(self.scaled.getnnz(axis=0), [self.n] * self.intercept)[used]
        pivot = used[pivot_columns(A[:, used].toarray() / common)]
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
        return signed_rows(X, self.y, which, intercept=self.intercept)

    # -- the search in floats -------------------------------------------------------------------------------------

    def _quick(self, view: View) -> Plane | None:
        """Return a plane that separates, if a few passes of the perceptron find one; remember how the rows rank."""
        walk = Perceptron(view, np.random.default_rng(self.seed))
        enough = self._share(0.15)
        few = self._few(view)
        for k in range(PASSES if view.size > WIDE else FEW_PASSES):
            self.clock.check("the perceptron's passes", 5.0 * view.rows.stored)
            walk.step(view.live)
            z = [view.agreements(v) for v in walk.planes()]
            mistakes = [int((part[view.live] <= 0).sum()) for part in z]
            better = int(np.argmin(mistakes))
            self.ranking = z[better]
            if mistakes[better] == 0:
                theta = self._exact_plane(view, walk.planes()[better])
                if not len(self._refused(view, theta)):
                    return theta
            if k >= FEW_PASSES:
                if mistakes[better] > few or enough():
                    break
                walk.practise(view.live[np.argsort(z[0][view.live])[: 30 * few]], self.clock, enough)
        return None

    def _share(self, share: float) -> Callable[[], bool]:
        """Return what tells whether that share of the time and the work allowed is used up from now on."""
        clock = self.clock
        end = time.monotonic() + (np.inf if clock.limit is None else share * clock.limit)
        most = clock.spent + share * (QUICK if clock.budget is None else min(QUICK, clock.budget))
        return lambda: time.monotonic() > end or clock.spent > most

    def _exact_plane(self, view: View, v: FloatArray) -> Plane:
        """Return θ in the columns' own scale, orthogonal to E exactly."""
        fraction, exponent = np.frexp(view.lift(v))
        exponent = exponent + np.append(self.exponents, np.zeros(int(self.intercept), dtype=np.int64))
        # the largest is about one, and the smallest may vanish: what is left is tried exactly
        theta = np.ldexp(fraction, exponent - exponent[fraction != 0].max(initial=-10_000))
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

    def _refused(self, view: View, theta: Plane) -> IntArray:
        """Return the rows that the plane has on the wrong side, or on itself where it should not."""
        signs = sides(self.X, self.y, theta, intercept=self.intercept, clock=self.clock)
        bad = signs < 0
        bad[view.live] |= signs[view.live] == 0
        return np.flatnonzero(bad)

    def _round(self, view: View) -> _Relation | Plane:
        """Return a plane that is strict on the rows outside V, or a combination of them that lies in V."""
        if self.basis and view.rows.is_sparse:  # many columns, of which a linear program would be slow
            theta = self._quick(view)
            if theta is not None:
                return theta
        found = self._by_likelihood(view) if self._looks_mixed(view) else None
        if found is None and (not self.points or view.size > WIDE):
            found = self._by_hulls(view)
        if found is not None:
            return found
        many = max(150, 3 * view.size)
        self.working = np.intersect1d(self.working, view.live)
        if not len(self.working):
            self.working = self._worst(view, self.ranking, many)
        while True:
            block, lengths = view.block(self.working)
            t, v, multipliers = program(block, self.clock)
            if t <= FLAT:
                found = self._relation(block, lengths, multipliers)
                return self._exactly(view, self.working) if found is None else found
            z = view.agreements(v)
            wrong = view.live[z[view.live] <= 0]
            if not len(wrong):
                theta = self._exact_plane(view, v)
                wrong = self._refused(view, theta)
                if not len(wrong):
                    return theta
            new = self._worst(view, z, many, wrong)
            if not len(new):
                return self._exactly(view, self.working)
            self.working = np.concatenate([self.working, new])

    def _looks_mixed(self, view: View) -> bool:
        """Whether the best plane so far is wrong on so many rows, in so many columns, that no plane is expected."""
        mistakes = int((self.ranking[view.live] <= 0).sum())
        dense = BROAD <= view.size <= rational.WIDEST and (not view.rows.is_sparse or view.size <= 1000)
        return not self.points and dense and mistakes > self._few(view) and len(view.live) > 2 * view.size

    def _by_likelihood(self, view: View) -> _Relation | None:
        """Return a relation of rows that the likelihood's maximum names, if there is one of those that rank first."""
        which = self._worst(view, self.ranking, 3 * view.size)
        block, _ = view.block(which)
        rows = common_point(block.toarray() if is_sparse(block) else block, self.clock)
        return None if rows is None else self._circuit(which[rows])

    @staticmethod
    def _few(view: View) -> int:
        return len(view.live) // 100 + 10

    def _by_hulls(self, view: View) -> _Relation | Plane | None:
        """Return a plane or a relation from the nearest points of the hulls, where floats are enough for it."""
        live = view.live
        rows = view.rows if len(live) == self.n else Rows(view.rows.X[live])
        y = view.y[live]
        if view.intercept and abs(y.sum()) == len(y):  # one class is left
            return None
        near = nearest_points(
            rows,
            y,
            intercept=view.intercept,
            tol=1.0,  # any plane that separates will do
            max_iter=20 * (view.size + 50),
            tick=lambda: self.clock.check("the nearest points of the hulls", 3.0 * rows.stored),
        )
        self.working = np.union1d(self.working, live[near.support])
        if near.low > 0:
            theta = self._exact_plane(view, np.append(near.v, -near.middle) if view.intercept else near.v)
            return None if len(self._refused(view, theta)) else theta
        if len(near.support) > view.size + 20:
            return None
        support, weights = live[near.support], near.weights
        if not self.points:
            support, weights = self._reduced(view, support, weights)
        return self._combined(support, weights)

    def _reduced(self, view: View, support: IntArray, weights: FloatArray) -> tuple[IntArray, FloatArray]:
        """Return as few of the rows as combine to the same point (Carathéodory)."""
        while True:
            block, lengths = view.block(support)
            block = block.toarray() if is_sparse(block) else block
            U, sizes, _ = np.linalg.svd(block, full_matrices=True)
            rank = int((sizes > 1e-11 * sizes.max(initial=0.0)).sum())
            if len(support) - rank < 2:
                return support, weights
            direction = U[:, -1] / lengths  # a second relation between the rows
            positive = direction > 0
            if not positive.any():
                direction, positive = -direction, ~positive
            steps = weights[positive] / direction[positive]
            weights = weights - steps.min() * direction
            out = np.flatnonzero(positive)[int(steps.argmin())]
            stays = np.arange(len(support)) != out
            support, weights = support[stays], np.maximum(weights[stays], 0.0)

    def _relation(self, block: Any, lengths: FloatArray, multipliers: FloatArray) -> _Relation | None:
        """Return a relation of the working rows: a minimal one at first, later one that takes in all there are."""
        if self.points:
            weights = partition(block, self.clock)
            chosen = weights > 0
            found = self._combined(self.working[chosen], weights[chosen] / lengths[chosen])
            if found is not None:
                return found
        return self._circuit(self.working[multipliers > FLAT * multipliers.max(initial=0.0)])

    def _worst(self, view: View, z: FloatArray, many: int, among: IntArray | None = None) -> IntArray:
        """Return the rows of lowest agreement that are not worked with yet, of both classes at the beginning."""
        among = np.setdiff1d(view.live if among is None else among, self.working)
        if len(among) <= many:
            return among
        if len(self.working):
            return among[np.argpartition(z[among], many)[:many]]
        halves = [among[view.y[among] == label] for label in (-1.0, 1.0)]
        return np.concatenate([half[np.argsort(z[half], kind="stable")[: many // 2]] for half in halves])

    # -- exact answers --------------------------------------------------------------------------------------------

    def _circuit(self, support: IntArray) -> _Relation | None:
        """Return λ > 0 on these rows, and any on E, with Σ λᵢ aᵢ = 0, if that determines λ."""
        found = self._combined(support, np.ones(len(support)))
        return (
            found
            if found is not None and len(found.independent) == len(found.weights.keys() - self.basis) - 1
            else None
        )

    def _combined(self, support: IntArray, weights: FloatArray) -> _Relation | None:
        """Return λ > 0 on these rows, near the weights given, and any on E, with Σ λᵢ aᵢ = 0, if floats were right.

        Rows that depend on others keep their weights, rounded; those of independent rows are solved for.
        """
        rows = [*self.basis, *support.tolist()]
        M, _, _ = self._whole_rows(rows)
        chosen, pivot = rational.pivots(M, self.clock)
        free = sorted(set(range(len(self.basis), len(rows))) - set(chosen))
        if not free or len(chosen) > rational.WIDEST:
            return None
        given = self._grains(weights, free, rows)
        N, D = rational.solve(M[chosen][:, pivot].T, -M[free][:, pivot].T.dot(given)[:, None], self.clock)
        solved = N[:, 0]
        outside = [value for k, value in zip(chosen, solved, strict=True) if k >= len(self.basis)]
        positive = all(value > 0 or (value == 0 and len(free) == 1) for value in outside)
        others = sorted(set(range(M.shape[1])) - set(pivot))  # what a rank found modulo a prime may have missed
        if not positive or (M[chosen][:, others].T.dot(solved) + M[free][:, others].T.dot(given) * D).any():
            return None
        exact = dict(zip([*chosen, *free], [*solved, *(given * D)], strict=True))
        exponents = self._row_exponents
        independent = [rows[k] for k in chosen if k >= len(self.basis) and exact[k]]
        found = {rows[k]: Fraction(value) / Fraction(2) ** int(exponents[k]) for k, value in exact.items() if value}
        return _Relation(found, independent)

    def _grains(self, weights: FloatArray, free: list[int], rows: list[int]) -> Any:
        """Return weights of rows in whole numbers, for the rows as `_whole_rows` scales them."""
        places = np.array(free) - len(self.basis)
        wanted = weights[places] * np.ldexp(1.0, self._row_exponents[free] - self._row_exponents[free].max())
        return np.maximum(1, np.round(np.ldexp(wanted / wanted.max(), GRAIN))).astype(np.int64).astype(object)

    def _exactly(self, view: View, working: IntArray) -> _Relation | Plane:
        """Return what `_round` returns, by the exact simplex method on rows that grow by those a plane gets wrong."""
        first: list[int] = []
        while True:
            found, first = self._simplex(working, first)
            if isinstance(found, _Relation):
                return found
            signs = sides(self.X, self.y, found, intercept=self.intercept, clock=self.clock)
            bad = signs < 0
            bad[view.live] |= signs[view.live] == 0
            new = np.setdiff1d(np.flatnonzero(bad), working)
            if not len(new):
                return found
            working = np.concatenate([working, new[: max(50, self.size)]])

    def _simplex(self, working: IntArray, first: list[int]) -> tuple[_Relation | Plane, list[int]]:
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
                return _Relation(exact, [rows[k] for k in circuit if k >= e and k != i]), []
            out = min(leaving, key=lambda k: (mu[k] / share[k], k))
            step = mu[out] * scale / share[out]
            mu = {k: value - step * Fraction(share[k], scale) for k, value in mu.items() if k != out} | {i: step}
            basis[basis.index(out)] = i

    # -- V --------------------------------------------------------------------------------------------------------

    def _absorb(self, relation: _Relation) -> None:
        """Let V take in the rows of a new relation."""
        new = relation.weights
        if not self.points:
            self.points = new
        # enough of the old combination makes the sum positive where the new one is negative
        enough = max((-new[i] / self.total[i] for i in new if i in self.total), default=Fraction(0))
        factor = Fraction(int(max(enough, Fraction(0))) + 1)
        total = {i: factor * weight for i, weight in self.total.items()}
        for i, weight in new.items():
            total[i] = total.get(i, Fraction(0)) + weight
        self.total = total
        self.inside |= new.keys()
        self.basis += relation.independent

    def _absorb_twins(self) -> None:
        """Let V take in equal points of different classes: each pair is a proof of its own."""
        self.clock.check("equal points", 2.0 * Rows(self.X).stored + 100.0 * self.n)
        pairs = _twins(self.X, self.y, 4 * self.size if self.size <= 500 else 400)
        if not pairs:
            return
        self.points = self.points or {i: Fraction(1) for i in pairs[0]}
        M, _, _ = self._whole_rows([i for i, _ in pairs])
        independent, _ = rational.pivots(M, self.clock)
        self.basis = [pairs[k][0] for k in independent]
        self.total |= {i: Fraction(1) for k in independent for i in pairs[k]}
        self.inside |= {i for pair in pairs for i in pair}

    def _dependencies(self, spanning: list[int]) -> tuple[dict[int, dict[int, Fraction]], IntArray]:
        """Return columns as combinations of others on all rows, if these rows span all; else rows that they do not."""
        A = self._augmented(self.X, spanning)
        M, _, c = rational.to_whole(A.toarray() if is_sparse(A) else A)
        # the last column, the intercept's, is the first to be kept
        rows, backwards = rational.pivots(M[:, ::-1], self.clock)
        pivot = [self.size - 1 - j for j in backwards]
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

    def aliases(self, spanning: list[int]) -> tuple[dict[int, dict[int, Fraction]], list[int]]:
        """Return columns that are combinations of others on all rows, and rows that span all, beginning with some."""
        while True:
            dependencies, strangers = self._dependencies(spanning)
            if not len(strangers):
                return dependencies, spanning
            spanning = [*spanning, *strangers.tolist()]

    def _without_aliases(self, theta: list[Fraction]) -> list[Fraction]:
        """Return the same plane with no weight on columns that are combinations of others on all rows."""
        if self.size > WIDE:
            return theta
        try:
            dependencies, _ = self.aliases([*self.basis, *self.working.tolist()])
        except ProofTimeoutError:  # it is a plane all the same
            return theta
        self.dependencies = dependencies
        for column, others in dependencies.items():
            weight, theta[column] = theta[column], Fraction(0)
            for j, factor in others.items():
                theta[j] += weight * factor
        return theta

    # -- results --------------------------------------------------------------------------------------------------

    def _separating(self, theta: Plane) -> dict[str, Any]:
        """Return the fields for a plane; strict where V is nothing."""
        return self._strictly_separating(theta) if not self.points else self._weakly_separating(theta)

    def _strictly_separating(self, theta: Plane) -> dict[str, Any]:
        fields = self._plane(theta)
        if fields["plane"] is not None and check_plane(
            self.X, self.y, fields["coef"], fields["intercept"] if self.intercept else None
        ):
            fields["plane"], theta = None, self._rounded_plane(fields)
        width = np.inf
        if fields["coef"].any():
            width, _ = plane_margin(self.X, self.y, theta, intercept=self.intercept, clock=self.clock)
        return fields | dict(verdict="separable", margin=width, infinite=list(range(self.size)))

    def _weakly_separating(self, theta: Plane) -> dict[str, Any]:
        theta = self._without_aliases([Fraction(value) for value in theta])
        signs = sides(self.X, self.y, theta, intercept=self.intercept)
        fields = self._plane(theta)
        fields["points"], fields["weights"] = self._normalised(self.points)
        fields |= dict(verdict="quasi", margin=0.0, on_plane=int((signs == 0).sum()), infinite=None)
        rows, weights = self._normalised(self.total)
        try:
            unheld = unbounded(
                self.X, self.y, rows, np.flatnonzero(signs == 0), intercept=self.intercept, clock=self.clock
            )
        except ProofTimeoutError:  # the verdict stands; which coefficients it concerns is left open
            return fields
        if unheld is not None:
            fields |= dict(support=rows, support_weights=weights, infinite=unheld, dependencies=self.dependencies)
        return fields

    def _plane(self, theta: Plane) -> dict[str, Any]:
        """Return a plane in floats, and exactly unless it is one of floats."""
        exact = None if isinstance(theta, np.ndarray) else theta
        near = theta if exact is None else rounded(exact)
        b = float(near[self.d]) if self.intercept else 0.0
        whole = None if exact is None else tuple(exact) if self.intercept else (*exact, Fraction(0))
        return dict(coef=np.asarray(near[: self.d]), intercept=b, plane=whole)

    def _rounded_plane(self, fields: dict[str, Any]) -> FloatArray:
        return np.append(fields["coef"], fields["intercept"]) if self.intercept else fields["coef"]

    def _inseparable(self) -> dict[str, Any]:
        points, weights = self._normalised(self.points)
        return dict(verdict="inseparable", points=points, weights=weights)

    def _overlapping(self, dependencies: dict[int, dict[int, Fraction]]) -> dict[str, Any]:
        points, weights = self._normalised(self.points)
        same = self.total == self.points
        support, support_weights = (points, weights) if same else self._normalised(self.total)
        return dict(
            verdict="overlap",
            points=points,
            weights=weights,
            support=support,
            support_weights=support_weights,
            dependencies=dependencies,
            infinite=[],
        )

    def _normalised(self, weights: Weights) -> tuple[list[int], list[Fraction]]:
        """Return rows in order and weights that sum to one in each class (over both, without an intercept)."""
        rows = sorted(weights)
        scale = lcm(*(weights[i].denominator for i in rows))
        whole = [weights[i].numerator * (scale // weights[i].denominator) for i in rows]
        total = sum(value for i, value in zip(rows, whole, strict=True) if self.y[i] > 0 or not self.intercept)
        return rows, [Fraction(value, total) for value in whole]


def rounded(exact: Sequence[Fraction]) -> FloatArray:
    """Return θ in floats, times a power of two where it would not fit."""
    bits = max((abs(v.numerator).bit_length() - v.denominator.bit_length() for v in exact if v), default=0)
    factor = Fraction(2) ** -bits
    return np.array([float(value * factor) for value in exact])


def _twins(X: Any, y: FloatArray, most: int) -> list[tuple[int, int]]:
    """Return pairs of equal rows with different labels, at most one of each group of equal rows."""
    rows = Rows(X)
    with np.errstate(over="ignore", invalid="ignore"):
        key = rows.matvec(np.random.default_rng(0).standard_normal(rows.d))
    positive, negative = np.flatnonzero(y > 0), np.flatnonzero(y < 0)
    _, i, j = np.intersect1d(key[positive], key[negative], return_indices=True)
    i, j = positive[i][:most], negative[j][:most]
    unequal = np.asarray((X[i] != X[j]).sum(axis=1)).ravel()  # a key that is the same proves nothing
    return list(zip(i[unequal == 0].tolist(), j[unequal == 0].tolist(), strict=True))
