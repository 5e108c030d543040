"""Exact linear algebra on floats: ranks, solutions and kernels in whole numbers, by p-adic lifting.

A system of floats is a system of whole numbers after scaling rows and columns by powers of two. Its solution is found
modulo a prime p, then modulo p², p³, … (Dixon), and read off as fractions once there are enough digits; every answer is
multiplied out before it is returned, so a prime that happens to be unlucky costs time, never the truth.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import isqrt, lcm
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._common.types import FloatArray, IntArray
from .exact import Clock, mantissas

Whole = NDArray[Any]  # Python's own whole numbers

#: Primes whose digits, times 20-bit limbs of a matrix of up to 2¹¹ columns, sum up exactly in doubles.
PRIMES = (4194301, 4194287, 4194277, 4194271, 4194247)
LIMB = 20
SURE = 30  # bits by which a denominator that is one is shorter than what chance would let it be
DRAWS = 3  # a prime q that is missing from the denominator of one random sum with chance 1/q is likely in another
WIDEST = 2048
BLOCK = 128  # rows that are eliminated one by one


def to_whole(A: FloatArray) -> tuple[Whole, IntArray, IntArray]:
    """Return whole M and exponents r, c with A_ij = M_ij 2^(r_i + c_j).

    Examples
    --------
    >>> M, r, c = to_whole(np.array([[0.5, 3.0], [0.25, 0.0]]))
    >>> M.tolist(), r.tolist(), c.tolist()
    ([[2, 3], [1, 0]], [0, 0], [-2, 0])
    """
    m, e = mantissas(A)
    far = np.int64(10_000)
    c = np.where(m != 0, e, far).min(axis=0, initial=far)
    c = np.where(c == far, 0, c)
    r = np.where(m != 0, e - c, far).min(axis=1, initial=far)
    r = np.where(r == far, 0, r)
    shift = np.where(m != 0, e - c - r[:, None], 0)
    if not m.size:
        return m.astype(object), r, c
    return np.left_shift(m.astype(object), shift.astype(object)), r, c


def pivots(M: Whole, clock: Clock) -> tuple[list[int], list[int]]:
    """Return rows and columns, as many as each other, on which M is certain to be regular; earlier rows come first."""
    p = PRIMES[0]
    A = (M % p).astype(np.float64)
    rows, columns = [], []
    for i in range(A.shape[0]):
        clock.check("the rank of the points", 4.0 * (A.shape[0] - i) * A.shape[1])
        filled = np.flatnonzero(A[i])
        if not len(filled):
            continue
        j = int(filled[0])
        rows.append(i)
        columns.append(j)
        if len(columns) == A.shape[1]:
            break
        row = _mod(A[i] * float(pow(int(A[i, j]), -1, p)), p)
        below = A[i + 1 :]
        active = np.flatnonzero(below[:, j])
        if len(active):
            below[active] = _mod(below[active] - np.outer(below[active, j], row), p)
    return rows, columns


def _mod(A: FloatArray, p: int) -> FloatArray:
    """Return A modulo p, for whole |A| < 2⁵³."""
    A = A - np.floor(A * (1.0 / p)) * p
    return np.where(A < 0, A + p, np.where(p <= A, A - p, A))


def _inverse(M: Whole, p: int, clock: Clock) -> FloatArray | None:
    """Return M⁻¹ modulo p, or None where p divides the determinant."""
    residues = (M % p).astype(np.float64)
    found = _by_blocks(residues, p, clock) if len(M) > BLOCK else None
    return _row_by_row(residues, p, clock) if found is None else found


def _times(A: FloatArray, B: FloatArray, p: int) -> FloatArray:
    """Return AB modulo p."""
    product = np.zeros((len(A), B.shape[1]))
    for first in range(0, A.shape[1], BLOCK):  # so few products of residues sum up exactly
        product = _mod(product + A[:, first : first + BLOCK] @ B[first : first + BLOCK], p)
    return product


def _by_blocks(A: FloatArray, p: int, clock: Clock) -> FloatArray | None:
    """Return A⁻¹ modulo p by the block formula, in products of matrices; None where that meets a singular block."""
    q, half = len(A), len(A) // 2
    if q <= BLOCK:
        return _row_by_row(A, p, clock)
    clock.check("a system of equations", 2.0 * q**3)
    first = _by_blocks(A[:half, :half], p, clock)
    if first is None:
        return None
    right, below = _times(first, A[:half, half:], p), _times(A[half:, :half], first, p)
    rest = _by_blocks(_mod(A[half:, half:] - _times(A[half:, :half], right, p), p), p, clock)
    if rest is None:
        return None
    corner, edge = _times(right, rest, p), _times(rest, below, p)
    return np.block([[_mod(first + _times(corner, below, p), p), _mod(-corner, p)], [_mod(-edge, p), rest]])


def _row_by_row(A: FloatArray, p: int, clock: Clock) -> FloatArray | None:
    """Return A⁻¹ modulo p by elimination with exchanges of rows, or None where there is none."""
    q = len(A)
    A = np.hstack([A, np.eye(q)])
    for j in range(q):
        clock.check("a system of equations", 8.0 * q * q)
        filled = np.flatnonzero(A[j:, j])
        if not len(filled):
            return None
        k = j + int(filled[0])
        if k != j:
            A[[j, k]] = A[[k, j]]
        live = slice(j, q + q)
        A[j, live] = _mod(A[j, live] * float(pow(int(A[j, j]), -1, p)), p)
        factors = A[:, j].copy()
        factors[j] = 0.0
        active = np.flatnonzero(factors)
        if len(active):
            A[active, live] = _mod(A[active, live] - np.outer(factors[active], A[j, live]), p)
    return A[:, q:]


def solve(M: Whole, B: Whole, clock: Clock) -> tuple[Whole, int]:
    """Return whole N and D > 0 with M (N/D) = B, for a regular M and one or more right-hand sides (columns of B).

    Examples
    --------
    >>> N, D = solve(np.array([[2, 1], [0, 4]], dtype=object), np.array([[1], [1]], dtype=object), Clock(None))
    >>> N.tolist(), D
    ([[3], [2]], 8)
    """
    if len(M) > WIDEST:
        raise ValueError(f"exact systems are solved up to {WIDEST} equations, this one has {len(M)}")
    if not B.any():
        return B.copy(), 1
    for p in PRIMES:
        C = _inverse(M, p, clock)
        if C is not None:
            return _Lifting(M, B, p, C, clock).solution()
    raise ArithmeticError("the system is singular: its equations depend on one another")


def columns_as_combinations(
    M: Whole, c: IntArray, rows: Sequence[int], pivot: Sequence[int], free: Sequence[int], clock: Clock
) -> dict[int, dict[int, Fraction]]:
    """Return free columns as combinations of the pivots on some rows; M and c are what `to_whole` makes of them."""
    N, D = solve(M[rows][:, pivot], M[rows][:, free], clock)
    return {
        j: {p: Fraction(int(N[k, m]), D) * Fraction(2) ** int(c[j] - c[p]) for k, p in enumerate(pivot) if N[k, m]}
        for m, j in enumerate(free)
    }


class _Lifting:
    """x = x₀ + x₁ p + x₂ p² + …, one digit at a time: xₖ = M⁻¹ rₖ mod p, rₖ₊₁ = (rₖ − M xₖ)/p."""

    def __init__(self, M: Whole, B: Whole, p: int, C: FloatArray, clock: Clock) -> None:
        self.M, self.B, self.p, self.clock = M, B, p, clock
        self.high, self.low = np.floor(C / 2048), C % 2048  # so that sums of products stay exact
        self.limbs = _limbs(M)
        self.residual = B.copy()
        self.digits: list[IntArray] = []
        self.most = 2 * (_hadamard(M) + _bits(B)) // (p.bit_length() - 1) + 8

    def solution(self) -> tuple[Whole, int]:
        """Lift until the fractions read off solve the system."""
        wanted = 6
        while True:
            while len(self.digits) < min(wanted, self.most):
                self._lift()
            found = self._read()
            if found is not None:
                return found
            if wanted >= self.most:
                raise ArithmeticError("no fractions within Hadamard's bound: this cannot be, please report it")
            wanted *= 2

    def _lift(self) -> None:
        self.clock.check("a system of equations", (4.0 + len(self.limbs)) * self.high.size)
        p = self.p
        r = (self.residual % p).astype(np.float64)
        x = _mod(_mod(self.high @ r, p) * 2048 + _mod(self.low @ r, p), p)
        product: Whole = np.zeros(x.shape, dtype=object)
        for k, limb in enumerate(self.limbs):
            product += (limb @ x).astype(np.int64).astype(object) << (LIMB * k)
        self.residual = (self.residual - product) // p
        self.digits.append(x.astype(np.int64))

    def _read(self) -> tuple[Whole, int] | None:
        """Return fractions N/D that solve the system, if the digits so far tell them."""
        D = self._likely_denominator()
        if D is None:
            return None
        found = self._multiplied_out(D)
        if found is None and (exact := self._denominator()) is not None and exact != D:
            found = self._multiplied_out(exact)
        return found

    def _likely_denominator(self) -> int | None:
        """Return that of Σ cᵢ xᵢ for a few random c, most likely that of all x; None for too few digits."""
        modulus, size, D = self.p ** len(self.digits), self.B.size, 1
        bits = min(20 + size.bit_length(), 40)  # of a sum, which with those of a digit fit into 64
        bound = isqrt(modulus // 2)
        c = np.random.default_rng(len(self.digits)).integers(1, 2 ** (bits - size.bit_length()), (size, DRAWS))
        for value in _number([x.ravel() @ c for x in self.digits], self.p):
            self.clock.check("reading fractions", 1e-2 * bound.bit_length() ** 2)
            D = lcm(D, fraction_of(int(value) % modulus, modulus, bound << bits)[1])
            if bound >> bits + SURE < D:
                return None
        return D

    def _denominator(self) -> int | None:
        """Return the denominator of all x, one after the other; None for too few digits."""
        modulus, D = self.p ** len(self.digits), 1
        x = _number(self.digits, self.p)
        bound = isqrt(modulus // 2)
        for value in x.ravel():
            self.clock.check("reading fractions", 1e-2 * bound.bit_length() ** 2)
            numerator = value * D % modulus
            numerator = min(numerator, numerator - modulus, key=abs)
            if abs(numerator) <= bound:
                continue
            _, denominator = fraction_of(numerator % modulus, modulus, bound)
            D *= denominator
            if bound < D:
                return None
        return D

    def _multiplied_out(self, D: int) -> tuple[Whole, int] | None:
        """Return N = x D if that solves the system; half of the digits tell N, which is as short as D."""
        half = len(self.digits) // 2 + 2
        modulus = self.p**half
        self.clock.check("reading fractions", 1e-3 * self.B.size * modulus.bit_length() ** 2)
        N = _balanced(_number(self.digits[:half], self.p) * (D % modulus), modulus)
        self.clock.check("solutions multiplied out", 0.1 * self.M.size * D.bit_length())
        return (N, D) if not (self.M.dot(N) - self.B * D).any() else None


def _number(digits: Sequence[NDArray[Any]], p: int) -> Whole:
    """Σ digitₖ pᵏ, by halves."""
    parts: list[Whole] = [digit.astype(object) for digit in digits]
    power = p
    while len(parts) > 1:
        pairs = [parts[k] + parts[k + 1] * power for k in range(0, len(parts) - 1, 2)]
        parts = pairs + parts[len(parts) & ~1 :]
        power *= power
    return parts[0]


def _balanced(values: Whole, modulus: int) -> Whole:
    """Return whole numbers modulo another, those of least size."""
    values = values % modulus
    return np.where(2 * values > modulus, values - modulus, values)


def fraction_of(value: int, modulus: int, bound: int) -> tuple[int, int]:
    """Return n, d with n = value·d modulo the modulus and |n| ≤ bound, d > 0 as small as Euclid's algorithm finds it.

    Examples
    --------
    >>> fraction_of(2 * pow(3, -1, 1009) % 1009, 1009, 22)
    (2, 3)
    """
    a, b, s, t = modulus, value, 0, 1
    while b > bound:
        quotient, rest = divmod(a, b)
        a, b, s, t = b, rest, t, s - quotient * t
    return (b, t) if t > 0 else (-b, -t)


def _limbs(M: Whole) -> list[FloatArray]:
    """Return 20-bit parts of M, lowest first, each with M's signs."""
    rest: Whole = abs(M)
    sign, limbs = np.where(M < 0, -1.0, 1.0), []
    while rest.any():
        limbs.append((rest & (2**LIMB - 1)).astype(np.float64) * sign)
        rest = rest >> LIMB
    return limbs


def _bits(M: Whole) -> int:
    return max((abs(value).bit_length() for value in M.ravel()), default=0)


def _hadamard(M: Whole) -> int:
    """Return how many bits the determinant of M, or of M with one column changed for its longest, has at the most."""
    return sum(_bits(row) for row in M) + len(M) * len(M).bit_length() // 2 + 1
