"""Objectives and their duals in rationals; where there are exponentials, to 400 bits with exponents of any size."""

from fractions import Fraction

import mpmath
import numpy as np

from linsep.losses import Hinge, Logistic, Perceptron, Square

mpmath.mp.prec = 400


def fraction(value):
    """An mpmath number as a rational."""
    sign, mantissa, exponent, _ = value._mpf_
    return Fraction((-1) ** sign * int(mantissa)) * Fraction(2) ** int(exponent)


def number(value):
    """A rational to 400 bits."""
    return mpmath.mpf(value.numerator) / mpmath.mpf(value.denominator)


def exact_loss(loss, z):
    """ℓ(z)."""
    if isinstance(loss, Logistic):
        if abs(z) > 10**4:  # e^(−z) is below any float, whatever its weight
            return max(-z, Fraction(0))
        return fraction(mpmath.log1p(mpmath.exp(-number(abs(z)))) + max(-number(z), 0))
    if isinstance(loss, Perceptron):
        return max(Fraction(0), -z)
    short = 1 - z if isinstance(loss, Square) else max(Fraction(0), 1 - z)
    return short if isinstance(loss, Hinge) else short**2


def exact_conjugate(loss, a):
    """ℓ*(a)."""
    if isinstance(loss, Logistic):
        p = number(-a)
        return fraction((p * mpmath.log(p) if p > 0 else 0) + ((1 - p) * mpmath.log1p(-p) if a > -1 else mpmath.mpf(0)))
    if isinstance(loss, Perceptron):
        return Fraction(0)
    return a if isinstance(loss, Hinge) else a + a * a / 4


def exact_rows(problem):
    """Return the rows of an objective in memory."""
    dense = problem.rows.X.toarray() if problem.rows.is_sparse else problem.rows.X
    return [[Fraction(float(x)) for x in row] for row in dense]


def exact_weights(problem):
    """Return what each loss counts."""
    s = np.ones(problem.rows.n) if problem.sample_weight is None else problem.sample_weight
    return [Fraction(problem.weight_of_loss) * Fraction(float(t)) for t in s]


def exact_primal(problem, w, b):
    """P(w, b)."""
    w, b = [Fraction(t) for t in w], Fraction(b)
    penalty = Fraction(problem.penalty.l2) * sum(t * t for t in w) / 2 + Fraction(problem.penalty.l1) * sum(map(abs, w))
    for row, y, c in zip(exact_rows(problem), problem.y.tolist(), exact_weights(problem), strict=True):
        z = int(y) * (sum(x * t for x, t in zip(row, w, strict=True)) + b)
        penalty += c * exact_loss(problem.loss, z)
    return penalty


def exact_dual(problem, alpha):
    """D(α); None where it is −∞."""
    alpha, c = [Fraction(float(a)) for a in alpha], exact_weights(problem)
    low, high = problem.loss.slopes
    for a, limit in zip(alpha, c, strict=True):
        assert a >= 0 or high > 0
        assert low != -1 or a <= limit
    if problem.fit_intercept:
        assert sum(a * int(y) for a, y in zip(alpha, problem.y, strict=True)) == 0
    l1, l2, rows = Fraction(problem.penalty.l1), Fraction(problem.penalty.l2), exact_rows(problem)
    v = [
        sum(a * int(y) * row[j] for a, y, row in zip(alpha, problem.y, rows, strict=True))
        for j in range(problem.rows.d)
    ]
    excess = sum(max(Fraction(0), abs(t) - l1) ** 2 for t in v)
    if excess and not l2:
        return None
    conjugates = sum(t * exact_conjugate(problem.loss, -a / t) for a, t in zip(alpha, c, strict=True) if a)
    return -(excess / (2 * l2) if excess else 0) - conjugates


def least_squares_exactly(X, y):
    """Return min Σ (yᵢ − w·xᵢ − b)², to 400 bits."""
    A = mpmath.matrix([[*row, 1.0] for row in X.tolist()])
    t = mpmath.matrix(y.tolist())
    return mpmath.norm(A * mpmath.lu_solve(A, t) - t) ** 2


def kernel(rows, D):
    """A basis of {v : a·v = 0 for all rows}, by Gauss–Jordan elimination in fractions."""
    M, pivots = [list(row) for row in rows], []
    for c in range(D):
        r = len(pivots)
        k = next((i for i in range(r, len(M)) if M[i][c]), None)
        if k is None:
            continue
        M[r], M[k] = M[k], M[r]
        M[r] = [x / M[r][c] for x in M[r]]
        for i in range(len(M)):
            if i != r and M[i][c]:
                M[i] = [x - M[i][c] * y for x, y in zip(M[i], M[r], strict=True)]
        pivots.append(c)
    basis = []
    for free in (c for c in range(D) if c not in pivots):
        v = [Fraction(int(c == free)) for c in range(D)]
        for r, c in enumerate(pivots):
            v[c] = -M[r][free]
        basis.append(v)
    return basis


def product(a, v):
    return sum(x * y for x, y in zip(a, v, strict=True))


def homogeneous(X, y, intercept):
    rows = [[Fraction(float(x)) for x in row] + [Fraction(1)] * intercept for row in X]
    return [[int(label) * x for x in row] for row, label in zip(rows, y, strict=True)]
