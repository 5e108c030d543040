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
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from .._common.types import FloatArray, IntArray
from .._core import Rows, is_sparse
from ..arithmetic import rational
from ..arithmetic.exact import Dependencies, ProofTimeoutError
from . import _outcome as outcome
from ._question import Plane, Question, quotient, whole_space
from ._relations import Relation, aliases, circuit, combined, exactly, spanned, without_aliases
from .common_point import common_point, fewest
from .floats import Perceptron, View, partition, program
from .nearest import nearest_points

FEW_PASSES, PASSES = 3, 60  # of the perceptron, where there are few columns and where there are many
FLAT = 1e-9  # an optimum t or a multiplier below this is looked at exactly
TINY = 1e-11  # the share of the largest singular value below which one is rounding
BROAD = 100  # columns from which on linear programs are slower than the maximum of a likelihood
WIDE = 300  # columns from which on linear programs are slower than the nearest points of hulls
QUICK = 5e10  # operations of which a share goes into the perceptron's passes

Weights = dict[int, Fraction]  # row: λ


class Search:
    """The state of a search: the rows E that span V, the positive combination that proves it, and the working set."""

    def __init__(self, asked: Question, ranking: FloatArray | None = None) -> None:
        self.asked = asked
        self.basis: list[int] = []  # E: independent rows that span V
        self.total: Weights = {}  # λ > 0 on rows that span V, Σ λᵢ aᵢ = 0
        self.points: Weights = {}
        # agreements with the best plane so far; who gives a ranking has looked for a plane in quick ways already
        self.ranking, self.is_ranked = np.zeros(asked.n) if ranking is None else ranking, ranking is not None
        self.inside: set[int] = set()  # rows in V
        self.working = np.empty(0, dtype=np.int64)

    def decide(self, *, weakly: bool = True) -> dict[str, Any]:
        """Return the fields of a `Separability`; if no plane separates, say whether one does weakly only if asked."""
        view = whole_space(self.asked)
        if len(view.live) < self.asked.n:  # without an intercept a row of zeros is on every plane
            self.points = self.total = {int(np.setdiff1d(np.arange(self.asked.n), view.live)[0]): Fraction(1)}
        theta = self._quick(view) if len(view.live) and not self.is_ranked else None
        if theta is not None:
            return self._separating(theta)
        self._absorb_twins()
        while True:
            self.asked.clock.check("the search for a plane")
            if self.points and not weakly:
                return outcome.inseparable(self.asked, self.points)
            if len(self.basis) == self.asked.size:
                return outcome.overlap(self.asked, self.points, self.total, {})
            view = self._view()
            if len(view.live):
                found = self._round(view)
            else:
                dependencies, strangers = spanned(self.asked, self.basis)
                if not len(strangers):
                    return outcome.overlap(self.asked, self.points, self.total, dependencies)
                found = exactly(self.asked, self.basis, view, strangers)
            if not isinstance(found, Relation) and self.points:
                found = self._strict(view, found)
            if isinstance(found, Relation):
                self._absorb(found)
            else:
                return self._separating(found)

    def beyond(self, basis: Sequence[int]) -> Plane | Weights:
        """Return a plane that is zero on these rows and strict on others, or λ with Σ λᵢ aᵢ = 0, positive on others.

        Examples
        --------
        >>> from linsep.exact import Clock
        >>> rows = np.array([[1.0, 0.0], [1.0, 1.0], [-1.0, 0.0]])
        >>> search = Search(Question(rows, np.ones(3), False, Clock(None)))
        >>> sorted(search.beyond([]))  # the first and the last are opposite
        [0, 2]
        """
        self.basis, self.inside = list(basis), set(basis)
        view = self._view()
        live = np.setdiff1d(np.arange(self.asked.n), self.basis)
        found = self._round(replace(view, live=live))
        return found.weights if isinstance(found, Relation) else found

    def _strict(self, view: View, theta: Plane) -> Relation | Plane:
        """Return a weak plane that is zero on the rows of V only, or a relation that takes more rows into V.

        Floats may have taken a row for one of V that is not quite in it, and left it on the plane.
        """
        while not isinstance(theta, Relation):
            try:
                on = np.flatnonzero(self.asked.sides(theta) == 0)
                off = self.asked.only(on).sides(self.asked.face(self.basis).direction()) != 0
            except ProofTimeoutError:  # that it separates weakly is known
                return theta
            strangers = on[off]
            if not len(strangers):
                return theta
            view = replace(view, live=np.union1d(view.live, strangers))
            theta = exactly(self.asked, self.basis, view, np.union1d(self.working, strangers))
        return theta

    def _view(self) -> View:
        """Return the rows modulo V."""
        return quotient(self.asked, self.basis, self.inside) if self.basis else whole_space(self.asked)

    def _separating(self, theta: Plane) -> dict[str, Any]:
        """Return the fields for a plane; strict where V is nothing."""
        if not self.points:
            return outcome.separable(self.asked, theta)
        theta, dependencies = self._without_aliases([Fraction(value) for value in theta])
        return outcome.quasi(self.asked, theta, self.points, self.total, dependencies)

    def _without_aliases(self, theta: list[Fraction]) -> tuple[list[Fraction], Dependencies]:
        """Return the same plane with no weight on columns that are combinations of others, and these."""
        if self.asked.size > WIDE:
            return theta, {}
        try:
            dependencies, _ = aliases(self.asked, [*self.basis, *self.working.tolist()])
        except ProofTimeoutError:  # it is a plane all the same
            return theta, {}
        return without_aliases(theta, dependencies), dependencies

    # -- the search in floats -------------------------------------------------------------------------------------

    def _quick(self, view: View) -> Plane | None:
        """Return a plane that separates, if a few passes of the perceptron find one; remember how the rows rank."""
        walk = Perceptron(view, np.random.default_rng(self.asked.seed))
        enough = self._share(0.15)
        few = self._few(view)
        for k in range(PASSES if view.size > WIDE else FEW_PASSES):
            self.asked.clock.check("the perceptron's passes", 5.0 * view.rows.stored)
            walk.step(view.live)
            z = [view.agreements(v) for v in walk.planes()]
            mistakes = [int((part[view.live] <= 0).sum()) for part in z]
            better = int(np.argmin(mistakes))
            self.ranking = z[better]
            if mistakes[better] == 0:
                theta = self._exact_plane(view, walk.planes()[better])
                if not len(self.asked.refused(view, theta)):
                    return theta
            if k >= FEW_PASSES:
                if mistakes[better] > few or enough():
                    break
                walk.practise(view.live[np.argsort(z[0][view.live])[: 30 * few]], self.asked.clock, enough)
        return None

    def _share(self, share: float) -> Callable[[], bool]:
        """Return what tells whether that share of the time and the work allowed is used up from now on."""
        clock = self.asked.clock
        end = time.monotonic() + (np.inf if clock.limit is None else share * clock.limit)
        most = clock.spent + share * (QUICK if clock.budget is None else min(QUICK, clock.budget))
        return lambda: time.monotonic() > end or clock.spent > most

    def _exact_plane(self, view: View, v: FloatArray) -> Plane:
        """Return θ in the columns' own scale, orthogonal to E exactly."""
        fraction, exponent = np.frexp(view.lift(v))
        exponent = exponent + np.append(self.asked.like_scaled[1], np.zeros(int(self.asked.intercept), dtype=np.int64))
        # the largest is about one, and the smallest may vanish: what is left is tried exactly
        theta = np.ldexp(fraction, exponent - exponent[fraction != 0].max(initial=-10_000))
        return self.asked.face(self.basis).orthogonal(theta) if self.basis else theta

    def _round(self, view: View) -> Relation | Plane:
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
            t, v, multipliers = program(block, self.asked.clock)
            if t <= FLAT:
                found = self._relation(block, lengths, multipliers)
                return exactly(self.asked, self.basis, view, self.working) if found is None else found
            z = view.agreements(v)
            wrong = view.live[z[view.live] <= 0]
            if not len(wrong):
                theta = self._exact_plane(view, v)
                wrong = self.asked.refused(view, theta)
                if not len(wrong):
                    return theta
            new = self._worst(view, z, many, wrong)
            if not len(new):
                return exactly(self.asked, self.basis, view, self.working)
            self.working = np.concatenate([self.working, new])

    def _looks_mixed(self, view: View) -> bool:
        """Whether the best plane so far is wrong on so many rows, in so many columns, that no plane is expected."""
        mistakes = int((self.ranking[view.live] <= 0).sum())
        dense = BROAD <= view.size <= rational.WIDEST and (not view.rows.is_sparse or view.size <= 1000)
        return not self.points and dense and mistakes > self._few(view) and len(view.live) > 2 * view.size

    def _by_likelihood(self, view: View) -> Relation | None:
        """Return a relation of rows that the likelihood's maximum names, if there is one of those that rank first."""
        which = self._worst(view, self.ranking, 3 * view.size)
        block, _ = view.block(which)
        rows = common_point(block.toarray() if is_sparse(block) else block, self.asked.clock)
        return None if rows is None else circuit(self.asked, self.basis, which[rows])

    @staticmethod
    def _few(view: View) -> int:
        return len(view.live) // 100 + 10

    def _by_hulls(self, view: View) -> Relation | Plane | None:
        """Return a plane or a relation from the nearest points of the hulls, where floats are enough for it."""
        live = view.live
        rows = view.rows if len(live) == self.asked.n else Rows(view.rows.X[live])
        y = view.y[live]
        if view.intercept and abs(y.sum()) == len(y):  # one class is left
            return None
        near = nearest_points(
            rows,
            y,
            intercept=view.intercept,
            tol=1.0,  # any plane that separates will do
            max_iter=20 * (view.size + 50),
            tick=lambda: self.asked.clock.check("the nearest points of the hulls", 3.0 * rows.stored),
        )
        self.working = np.union1d(self.working, live[near.support])
        if near.low > 0:
            theta = self._exact_plane(view, np.append(near.v, -near.middle) if view.intercept else near.v)
            return None if len(self.asked.refused(view, theta)) else theta
        if len(near.support) > view.size + 20:
            return None
        support = live[near.support]
        if self.points:
            return combined(self.asked, self.basis, support, near.weights)
        block, lengths = view.block(support)
        U, sizes, _ = np.linalg.svd(block.toarray() if is_sparse(block) else block, full_matrices=False)
        few = fewest(U[:, sizes > TINY * sizes.max(initial=0.0)], near.weights * lengths, self.asked.clock)
        return None if few is None else circuit(self.asked, self.basis, support[few])

    def _relation(self, block: Any, lengths: FloatArray, multipliers: FloatArray) -> Relation | None:
        """Return a relation of the working rows: a minimal one at first, later one that takes in all there are."""
        if self.points:
            weights = partition(block, self.asked.clock)
            chosen = weights > 0
            found = combined(self.asked, self.basis, self.working[chosen], weights[chosen] / lengths[chosen])
            if found is not None:
                return found
        return circuit(self.asked, self.basis, self.working[multipliers > FLAT * multipliers.max(initial=0.0)])

    def _worst(self, view: View, z: FloatArray, many: int, among: IntArray | None = None) -> IntArray:
        """Return the rows of lowest agreement that are not worked with yet, of both classes at the beginning."""
        among = np.setdiff1d(view.live if among is None else among, self.working)
        if len(among) <= many:
            return among
        if len(self.working):
            return among[np.argpartition(z[among], many)[:many]]
        halves = [among[view.y[among] == label] for label in (-1.0, 1.0)]
        return np.concatenate([half[np.argsort(z[half], kind="stable")[: many // 2]] for half in halves])

    # -- V --------------------------------------------------------------------------------------------------------

    def _absorb(self, relation: Relation) -> None:
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
        self.asked.clock.check("equal points", 2.0 * Rows(self.asked.X).stored + 100.0 * self.asked.n)
        pairs = _twins(self.asked.X, self.asked.y, 4 * self.asked.size if self.asked.size <= 500 else 400)
        if not pairs:
            return
        self.points = self.points or {i: Fraction(1) for i in pairs[0]}
        whole = self.asked.whole_rows([i for i, _ in pairs])
        independent, _ = rational.pivots(whole.M, self.asked.clock)
        self.basis = [pairs[k][0] for k in independent]
        self.total |= {i: Fraction(1) for k in independent for i in pairs[k]}
        self.inside |= {i for pair in pairs for i in pair}


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
