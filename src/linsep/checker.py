"""A second opinion on a model file of linsep, for somebody who does not trust linsep: this file shares no code with it.

    python checker.py model.json rows.csv [--target NAME] [--weights COLUMN]

It needs Python 3.11 and nothing else. `rows` are the rows that the model was fitted on: LIBSVM text, or CSV with a header
(numbers; where the model encodes categories, dates or text, its features, which
`linsep verify MODEL DATA --independent --rows rows.csv` writes). It proves one sentence about the model as it predicts:
labels become ±1 by the rule of its predictions (two classes: w·x + b ≥ 0, or ≥ its threshold, is the second class; more:
plane k speaks for class k), and what is minimised follows from its parameters. Whatever the file says was proven is a
hint: a dual point, rows of a hull, sets of rows in conflict. A wrong hint can make a proof fail, never succeed.

Exit code 0: proven as the model's parameters ask; 1: true, but less than they ask; 2: not verified, or bad input.

Arithmetic. Floats are read as the rationals they are; all sums of products are of whole numbers or Fractions, exactly.
Only exp and log are rounded: by `decimal`, to 45 digits, correctly; every result of theirs counts as off by a share of
REL, much more than that. Weights c are whole multiples of 1/one, rounded down by a share of 2^-120 at the most: losses are
not negative, so the least objective only goes down by it, and for the objective itself it is added again.

Mathematics. P(w, b) = l2 ½‖w‖² + l1 ‖w‖₁ + Σ cᵢ ℓ(zᵢ), c = C × weight × class weight, z = y (w·x + b).
- For every α with −αᵢ/cᵢ among the slopes of ℓ and (b being free) Σ αᵢ yᵢ = 0: min P ≥ −penalty*(Σ αᵢ yᵢ xᵢ) − Σ cᵢ
  ℓ*(−αᵢ/cᵢ) (Fenchel). α = 0 says min P ≥ 0. Softmax: masses aᵢₖ ≥ 0 that move from an example's own class to the others,
  as much out of every class as into it; then Σ cᵢ entropy(aᵢ/cᵢ) takes the place of the second term.
- Without a penalty see `curvature`; separation and overlap `verdict`; margins `margin`; mistakes `mistakes`.
"""

from __future__ import annotations

import argparse
import csv
import heapq
import io
import json
import re
import sys
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal, localcontext
from fractions import Fraction
from functools import cmp_to_key
from itertools import combinations
from math import gcd, inf, isqrt, lcm, log2
from operator import mul
from typing import Any

Row = tuple[Sequence[int], Sequence[float]]  # which columns are not zero, and their values
Plane = tuple[Sequence[Fraction], Fraction]
Masses = list[dict[int, int]]  # of each example, what moves from its class to others
REL = Decimal("1e-30")
CONTEXT = Context(prec=45, Emax=MAX_EMAX, Emin=MIN_EMIN)
MISSING = ("", "?", "NA", "N/A", "n/a", "NaN", "nan", "NULL", "null", "None", "<NA>", "#N/A", "#NA", "NaT")
SLOPED = {"perceptron": 0, "hinge": 0, "squared_hinge": 1, "square": 1}  # losses of one plane: the degree of their slope
PATIENCE = 20.0  # seconds for the search for light sets of rows


class Refused(Exception):  # noqa: N818
    """What keeps the sentence from being proven; the message says it."""


@dataclass
class Finding:
    """What was found: the exit code, a sentence, what it rests on, and enclosures of the numbers in it."""

    code: int
    sentence: str
    checked: list[str] = field(default_factory=list)
    unchecked: list[str] = field(default_factory=list)
    gap: float = inf  # relative, rounded up
    bounds: list[tuple[Fraction, Fraction, Fraction]] = field(default_factory=list)  # P from, to; no P is below

    def __str__(self) -> str:
        lists = (("Checked", self.checked), ("NOT checked", self.unchecked))
        head = ("Proven", "True, but not what was asked for", "NOT verified")[self.code]
        return "\n".join([f"{head}: {self.sentence}.", *(f"{name}: {'; '.join(of)}." for name, of in lists if of)])


# -- reading ----------------------------------------------------------------------------------------------------------


def plain(value: Any) -> Any:
    """Undo how a model file writes what JSON does not know."""
    if isinstance(value, dict) and len(value) == 1:
        ((kind, content),) = value.items()
        if kind == "float":
            return float(content)
        if kind == "map":
            return {plain(key): plain(item) for key, item in content}
        if kind == "object":
            return content["class"].split(".")[-1], {name: plain(item) for name, item in content["settings"].items()}
    return value


def read_rows(path: str, model: dict[str, Any], target: str | None, weights: str | None) -> tuple[Any, ...]:
    """Return rows, labels as text, weights (or None) and remarks."""
    with sys.stdin if path == "-" else open(path, encoding="utf-8-sig", newline="") as file:
        text = file.read()
    first = next((line for line in text.splitlines() if line.strip()), "")
    encoding = model.get("encoding") or {}
    if re.fullmatch(r"\s*[^\s,;]+(\s+\d+:\S+)+\s*(#.*)?", first):
        lines = [line.split("#")[0].split() for line in text.splitlines()]
        cells = [[(int(j), float(x)) for j, x in (pair.split(":") for pair in line[1:])] for line in lines if line]
        base = encoding.get("base", min((j for row in cells for j, _ in row), default=1) and 1)
        rows = [([j - base for j, x in row if x], [x for _, x in row if x]) for row in cells]
        return rows, [line[0] for line in lines if line], None, []
    lines = [line for line in csv.reader(io.StringIO(text), delimiter=max(",\t;|", key=first.count)) if line]
    header, lines = [name.strip() for name in lines[0]], [[cell.strip() for cell in line] for line in lines[1:]]
    target = target or encoding.get("target") or header[-1]
    for name in filter(None, (target, weights)):
        if name not in header:
            raise Refused(f"no column {name!r} in {path}; it has {', '.join(header[:12])}: say --target or --weights")
    at = {name: j for j, name in enumerate(header)}
    known = [line for line in lines if line[at[target]] not in MISSING]
    remarks = [f"{len(lines) - len(known)} rows without a label"] if len(known) < len(lines) else []
    s = [float(line[at[weights]]) for line in known] if weights else None
    features, more = features_of(known, at, model, encoding, {target, weights})
    rows = [([j for j, x in enumerate(row) if x], [x for x in row if x]) for row in features]
    return rows, [line[at[target]] for line in known], s, remarks + more


def features_of(
    lines: list[list[str]], at: dict[str, int], model: dict[str, Any], encoding: dict[str, Any], others: set[str | None]
) -> tuple[list[list[float]], list[str]]:
    """Return the features: numbers standardised as the encoding says, or the columns as they are."""
    numbers, kinds = encoding.get("numbers", {}), {column["kind"] for column in encoding.get("columns") or [] if column}
    if encoding.get("kind") == "table" and kinds <= {"number", "ignored"} and encoding["degree"] == 1:
        if lost := [name for name in numbers if name not in at]:
            raise Refused(f"no column {lost[0]!r}, which the model needs")
        lack = {*MISSING, *encoding["missing"]}
        given = [[None if line[at[name]] in lack else float(line[at[name]]) for name in numbers] for line in lines]
        scale = [(float(mean), float(scale), bool(some)) for mean, scale, some in numbers.values()]
        made = [[0.0 if x is None else (x - m) / s for x, (m, s, _) in zip(row, scale, strict=True)] for row in given]
        gaps = [[float(x is None) for x, (_, _, some) in zip(row, scale, strict=True) if some] for row in given]
        return [row + gap for row, gap in zip(made, gaps, strict=True)], []
    names = model.get("features", {}).get("names") or [name for name in at if name not in others]
    if not set(names) <= at.keys():
        raise Refused(f"no column {next(name for name in names if name not in at)!r}, which the model needs")
    made_of = ["that these features are those of the table"] if encoding.get("kind") == "table" else []
    return [[float(line[at[name]]) for name in names] for line in lines], made_of


def codes_of(labels: Sequence[str], classes: Sequence[Any]) -> list[int]:
    """Return the position of each label among the classes, as text or as numbers, whatever these are."""
    read: Any = {bool: lambda text: {"true": 1.0, "false": 0.0}.get(text.lower(), text), str: str}.get(
        type(classes[0]), float
    )
    place = {read(str(label)): k for k, label in enumerate(classes)}
    try:
        return [place[read(label)] for label in labels]
    except (KeyError, ValueError) as error:
        raise Refused(f"a label, {error}, is not among the model's classes {list(classes)}") from None


class Data:
    """The rows in whole numbers: x of column j is a whole number over 2^shift[j]."""

    def __init__(self, rows: Iterable[Row], d: int) -> None:
        ratios = [(tuple(columns), [float(x).as_integer_ratio() for x in values]) for columns, values in rows]
        self.d, self.n, self.shift = d, len(ratios), [0] * d
        for columns, values in ratios:
            if columns and not 0 <= min(columns) <= max(columns) < d:
                raise Refused(f"a row has column number {max(columns)}, the model has {d} columns")
            for j, (_, q) in zip(columns, values, strict=True):
                self.shift[j] = max(self.shift[j], q.bit_length() - 1)
        self.rows = [
            (columns, [a << self.shift[j] - q.bit_length() + 1 for j, (a, q) in zip(columns, values, strict=True)])
            for columns, values in ratios
        ]

    def scores(self, planes: Sequence[Plane]) -> tuple[list[list[int]], int]:
        """Return w·x + b of every plane and row, exactly: whole numbers over the common unit that comes with them."""
        units = [[a.denominator << shift for a, shift in zip(w, self.shift, strict=True)] for w, _ in planes]
        unit, found = lcm(*(b.denominator for _, b in planes), *(q for of in units for q in of)), []
        for (w, b), of in zip(planes, units, strict=True):
            W = [a.numerator * (unit // q) for a, q in zip(w, of, strict=True)]
            B = b.numerator * (unit // b.denominator)
            found.append([sum(map(mul, map(W.__getitem__, columns), values), B) for columns, values in self.rows])
        return found, unit

    def combine(self, a: Sequence[int]) -> list[Fraction]:
        """Return Σ aᵢ xᵢ."""
        total = [0] * self.d
        for (columns, values), factor in zip(self.rows, a, strict=True):
            for j, x in zip(columns, values, strict=True) if factor else ():
                total[j] += factor * x
        return [Fraction(value, 1 << shift) for value, shift in zip(total, self.shift, strict=True)]

    def dense(self, i: int, intercept: bool, factor: int = 1) -> list[int]:
        """Return row i times a factor, with a 1 for the intercept, each column times its power of two."""
        row = [0] * self.d + [factor] * intercept
        for j, x in zip(*self.rows[i], strict=True):
            row[j] = factor * x
        return row


# -- distance from the optimum ----------------------------------------------------------------------------------------


@dataclass
class Problem:
    """What is minimised on which rows; `planes` by class (of two classes the second has one), `hint` a dual point."""

    data: Data
    codes: list[int]
    classes: int
    planes: dict[int, Plane]
    loss: str
    l2: Fraction
    l1: Fraction
    c: list[int]
    one: int
    intercept: bool
    hint: dict[str, Any]

    def moved(self) -> list[Plane]:
        """Return the planes, and if the hint says so once more with the intercept shifted: where α is to be taken."""
        shift = Fraction(float(self.hint.get("shift", 0.0)))
        return [*self.planes.values(), *((w, b + shift) for w, b in self.planes.values() if shift)]

    def scale(self, code: int) -> Fraction:
        """Return the factor by which the hint scales α of a class down."""
        return Fraction(float(self.hint.get("positive" if code else "negative", 1.0))) if self.classes == 2 else Fraction(1)


Bends = list[tuple[int, int, int, int, int]]  # example, two classes, curvature h, gradient u along (e_k − e_l) ⊗ x


def piecewise(p: Problem) -> tuple[Fraction, Fraction, Masses, Bends]:
    """Return between what Σ c ℓ(z) lies, α = −c ℓ'(z), and curvatures: losses made of powers of 1 − z, or of −z."""
    scores, unit = p.data.scores(p.moved())
    degree, margin, both = SLOPED[p.loss], 0 if p.loss == "perceptron" else unit, p.loss == "square"
    total, masses, bends = 0, [], []
    for code, c, g, moved in zip(p.codes, p.c, scores[0], scores[-1], strict=True):
        y = 1 if code else -1
        short, there = margin - y * g, margin - y * moved
        total += c * (short if short > 0 or both else 0) ** (degree + 1)
        slope = 2 * c * there // unit if degree else c
        masses.append({1 - code: int(slope * p.scale(code)) if there >= 0 or both else 0})
        bends.append((len(bends), 1, 0, 2 * c, -y * (2 * c * short // unit)))
    value = Fraction(total, unit ** (degree + 1) * p.one)
    return value, value, masses, bends if both else []


def log1p(t: Decimal) -> tuple[Decimal, Decimal]:
    """Return between what log(1 + t) lies, t ≥ 0."""
    if t < Decimal("1e-12"):
        return (t - t * t / 2) * (1 - REL), t * (1 + REL)
    value = (1 + t).ln()
    return value * (1 - REL), value * (1 + REL)


def likelihood(p: Problem) -> tuple[Fraction, Fraction, Masses, Bends]:
    """Return the same of the logistic loss: −log of the softmax of the scores, which for two classes are 0 and g."""
    scores, unit = p.data.scores(p.moved())
    low, high, masses, bends, K, U = Decimal(0), Decimal(0), [], [], p.classes, Decimal(unit)
    own = [[0] * p.data.n, *scores] if len(p.planes) < K else scores
    for i, (y, c) in enumerate(zip(p.codes, map(Decimal, p.c), strict=True)):
        d = {k: Decimal(own[k][i] - own[y][i]) / U for k in range(K) if k != y}
        if any(abs(difference) > 10**9 for difference in d.values()):
            raise Refused(f"row {i} has scores that differ by more than 1e9, of which this program takes no exp")
        e = {k: difference.exp() for k, difference in d.items()}
        E = sum(e.values(), Decimal(0))
        below, above = log1p(E)
        low, high = low + c * below, high + c * above
        q = {k: x / (1 + E) * (1 - REL) for k, x in e.items()}
        if not (p.l1 or p.l2):
            q[y] = 1 / (1 + E) * (1 - REL)
            bends += [(i, k, m, int(c * q[k] * q[m]), int(c * q[k]) if m == y else 0) for k, m in pairs(K, y)]
        elif len(scores) > len(p.planes):
            e = {k: (Decimal((1 - 2 * y) * scores[-1][i]) / U).exp() for k in e}
            q = {k: x / (1 + x) * (1 - REL) for k, x in e.items()}
        masses.append({k: int(int(c * q[k]) * p.scale(y)) for k in e})
    ends = Fraction(low * (1 - REL)) / p.one, Fraction(high * (1 + REL)) / p.one
    return *ends, masses, bends


def pairs(K: int, y: int) -> list[tuple[int, int]]:
    """Return all pairs of classes, y coming second."""
    return [(m, k) if k == y else (k, m) for k, m in combinations(range(K), 2)]


def balanced(p: Problem, masses: Masses) -> Masses:
    """Make as much flow out of every class as into it: flows from where too much comes to where too much goes shrink."""
    masses, K = [dict(mass) for mass in masses], range(p.classes)
    for exactly in (False, True):
        flow = [[0] * p.classes for _ in K]
        for y, mass in zip(p.codes, masses, strict=True):
            for k, a in mass.items():
                flow[y][k] += a
        surplus = [sum(flow[k]) - sum(row[k] for row in flow) for k in K]
        for k, m in ((k, m) for k in K for m in K if k != m):
            taken = min(surplus[k], -surplus[m], flow[k][m])
            if taken > 0:
                surplus[k], surplus[m], left = surplus[k] - taken, surplus[m] + taken, taken
                for mass in (mass for y, mass in zip(p.codes, masses, strict=True) if y == k):
                    less = min(left, max(mass[m], 0)) if exactly else -(-mass[m] * taken // flow[k][m])
                    mass[m], left = mass[m] - less, left - less
    return masses if not any(surplus) else [dict.fromkeys(mass, 0) for mass in masses]


def gain(p: Problem, masses: Masses) -> Fraction:
    """Return a number that −Σ c ℓ*(−α/c) is not below; of masses, Σ c entropy."""
    if p.loss == "logistic":
        total = Decimal(0)
        for c, mass in zip(p.c, masses, strict=True):
            for part in (*mass.values(), c - sum(mass.values())):
                if part:
                    t = Decimal(c - part) / c
                    minus_log = t + t * t / 2 if t < Decimal("1e-12") else -(Decimal(part) / c).ln()
                    total += part * minus_log
        return Fraction(total * (1 - REL)) / p.one
    alpha = [next(iter(mass.values())) for mass in masses]
    if p.loss == "perceptron":
        return Fraction(0)
    squares = sum(-(-a * a // (4 * c)) for a, c in zip(alpha, p.c, strict=True) if c) if SLOPED[p.loss] else 0
    return Fraction(sum(alpha) - squares, p.one)


def dual_bound(p: Problem, masses: Masses) -> Fraction:
    """Return a number that no planes go below, from masses that are made feasible first."""
    for i, value in zip(p.hint.get("rows", []), p.hint.get("values", []), strict=True):
        if 0 <= i < len(masses):
            masses[i] = {1 - p.codes[i]: int(Fraction(float(value)) * p.one)}
    if p.loss != "square":
        most = [c if p.loss != "squared_hinge" or not c else inf for c in p.c]
        masses = [{k: int(min(max(a, 0), c)) for k, a in mass.items()} for mass, c in zip(masses, most, strict=True)]
    masses = [mass if c else dict.fromkeys(mass, 0) for mass, c in zip(masses, p.c, strict=True)]
    for attempt in range(6):
        masses = balanced(p, masses) if p.intercept else masses
        v = []
        for k in p.planes:
            flow = [sum(m.values()) if y == k else -m.get(k, 0) for y, m in zip(p.codes, masses, strict=True)]
            v += [x / p.one for x in p.data.combine(flow)]
        largest = max(map(abs, v), default=Fraction(0))
        if p.l2 or largest <= p.l1:
            excess = sum((max(abs(x) - p.l1, Fraction(0)) ** 2 for x in v), Fraction(0))
            return max(Fraction(0), gain(p, masses) - (excess / (2 * p.l2) if p.l2 else 0))
        shrink = p.l1 / largest * (1 - Fraction(attempt, 1 << 60))  # only a box of v has a finite conjugate
        masses = [{k: int(a * shrink) for k, a in mass.items()} for mass in masses]
    return Fraction(0)


def curvature(p: Problem, bends: Bends) -> Fraction | None:
    """Return what P − min P does not exceed without a penalty, from the curvature at θ; None if nothing can be shown.

    Rows are r = (eₖ − e_l) ⊗ [x, 1], the first class held at zero; H = Σ h r rᵀ, h being cᵢ pₖ p_l (for the square 2c)
    rounded down, and g = Σ u r is the gradient. Along v the scores of an example spread by max |r·v| ≤ m ‖v‖_H at the
    most, m = max ‖r‖_{H⁻¹}; the third derivative is a third central moment, no more than that spread times the second;
    so the curvature falls no faster than e^(−m‖v‖t) and, with λ = ‖g‖_{H⁻¹} and s = mλ < 1 (for the square s = 0), no
    P(θ + v) is below P(θ) − λ² (1 + s)/2 (Bach 2010, Self-concordant analysis for logistic regression).

    Any T with ‖T H Tᵀ − 1‖ ≤ 2^-20 in the sum of squares gives ‖r‖²_{H⁻¹} ≤ ‖T r‖²/(1 − 2^-10); columns that are exact
    combinations of others on all rows, found by elimination, change nothing that θ can do and are left out.
    """
    D = p.data.d + p.intercept
    N = D * (p.classes - 1)
    H, g, vectors, lost, slack = [[0] * N for _ in range(N)], [0] * N, [], False, 0
    for i, k, m, h, u in bends:
        x = [(j, value) for j, value in enumerate(p.data.dense(i, p.intercept)) if value]
        r = [(D * (k - 1) + j, value) for j, value in x if k] + [(D * (m - 1) + j, -value) for j, value in x if m]
        if p.c[i]:
            vectors.append(r)
            lost, slack = lost or h == 0, slack + 2 + (p.c[i] >> 90)
            for a, value in r:
                g[a] += u * value
                row, scaled = H[a], h * value
                for b, other in r:
                    row[b] += scaled * other
    used: list[int] = list(range(N))
    T = whitening(H)
    if T is None and not lost:
        used = relations(H)[0]
        T = whitening([[H[a][b] for b in used] for a in used])
    if T is None or not used:
        return Fraction(0) if not any(g) and not used and not lost else None
    rows, q = T
    place = {a: b for b, a in enumerate(used)}

    def size(r: Iterable[tuple[int, int]]) -> Fraction:
        kept = [(place[a], value) for a, value in r if a in place]
        squares = sum(sum(t[a] * value for a, value in kept) ** 2 for t in rows)
        return root(Fraction(squares, 1 << 2 * q) / (1 - Fraction(1, 1 << 10)))

    m = max(map(size, vectors))
    decrement = size(enumerate(g)) + slack * m
    s = Fraction(0) if p.loss == "square" else m * decrement
    return decrement**2 * (1 + s) / 2 / p.one if s < 1 else None


def whitening(H: list[list[int]]) -> tuple[list[list[int]], int] | None:
    """Return T in whole numbers over 2^q with T H Tᵀ near the identity, or None; how near is checked exactly."""
    N, q = len(H), 256 + max((H[a][a].bit_length() // 2 for a in range(len(H))), default=0)
    L = [[Decimal(0)] * N for _ in range(N)]
    with localcontext(Context(prec=120, Emax=MAX_EMAX, Emin=MIN_EMIN)):
        inverse = [[Decimal(int(a == b)) for b in range(N)] for a in range(N)]
        for a in range(N):
            for b in range(a + 1):
                value = Decimal(H[a][b]) - sum(map(mul, L[a][:b], L[b][:b]))
                if a == b and value <= 0:
                    return None
                L[a][b] = value.sqrt() if a == b else value / L[b][b]
            for k in range(a):
                inverse[a] = [x - L[a][k] * y for x, y in zip(inverse[a], inverse[k], strict=True)]
            inverse[a] = [x / L[a][a] for x in inverse[a]]
        T = [[int(x * (1 << q)) for x in row] for row in inverse]
    TH = [[sum(map(mul, t, column)) for column in H] for t in T]
    off = sum((sum(map(mul, TH[a], T[b])) - (a == b) * (1 << 2 * q)) ** 2 for a in range(N) for b in range(N))
    return (T, q) if off << 20 <= 1 << 4 * q else None


def root(x: Fraction) -> Fraction:
    """Return √x, rounded up."""
    bits = 128 + max(0, x.denominator.bit_length() - x.numerator.bit_length())
    return Fraction(isqrt((x.numerator << 2 * bits) // x.denominator) + 1, 1 << bits) if x else x


def relations(vectors: Sequence[Sequence[int]]) -> tuple[list[int], list[list[int]]]:
    """Return pivot columns, and combinations in whole numbers that span all under which the vectors add up to zero."""
    width, pivots = len(vectors[0]), list[int]()
    rows = [[*v, *(int(i == k) for k in range(len(vectors)))] for i, v in enumerate(vectors)]
    for j in range(width):
        k = len(pivots)
        found = next((i for i in range(k, len(rows)) if rows[i][j]), None)
        if found is not None:
            rows[k], rows[found] = rows[found], rows[k]
            pivots.append(j)
            for i in range(k + 1, len(rows)):
                if x := rows[i][j]:
                    new = [a * rows[k][j] - b * x for a, b in zip(rows[i], rows[k], strict=True)]
                    rows[i] = [a // (gcd(*new) or 1) for a in new]
    return pivots, [row[width:] for row in rows[len(pivots) :]]


def optimum(p: Problem) -> tuple[Fraction, Fraction, Fraction, str]:
    """Return between what P lies, what no planes go below, and where that is from."""
    if not p.intercept and any(b for _, b in p.planes.values()):
        raise Refused("the model has an intercept, its objective has none")
    low, high, masses, bends = likelihood(p) if p.loss == "logistic" else piecewise(p)
    w = [x for weights, _ in p.planes.values() for x in weights]
    penalty = p.l2 / 2 * sum(x * x for x in w) + p.l1 * sum(map(abs, w))
    ends = low + penalty, high * (1 + Fraction(1, 1 << 110)) + penalty
    if p.l1 or p.l2:
        return *ends, dual_bound(p, masses), "a dual point that is feasible exactly"
    below = curvature(p, bends) if bends else None
    return *ends, max(Fraction(0), low - below) if below is not None else Fraction(0), "the curvature at the planes"


# -- separation, margins, mistakes ------------------------------------------------------------------------------------


@dataclass
class Sides:
    """Rows with labels y = ±1, of which those with weight count."""

    data: Data
    y: list[int]
    weights: list[Fraction]
    intercept: bool

    def agreements(self, plane: Plane) -> tuple[list[int], int]:
        """Return y (w·x + b) of the rows that count, over a common unit."""
        if plane[1] and not self.intercept:
            raise Refused("the plane has an intercept, the model's planes go through the origin")
        (scores,), unit = self.data.scores([plane])
        return [y * g for y, g, s in zip(self.y, scores, self.weights, strict=True) if s], unit

    def shares(self, points: Sequence[int], weights: Iterable[Fraction]) -> list[int]:
        """Return weights of rows times their labels, in whole numbers; raise unless rows and weights can be of a hull."""
        a, weights = [0] * self.data.n, list(weights)
        if len(set(points)) < len(points) or not points or min(weights) <= 0 or min(points) < 0:
            raise Refused("the points of a hull must be different rows with positive weights")
        unit = lcm(*(weight.denominator for weight in weights))
        for i, weight in zip(points, weights, strict=True):
            a[i] = self.y[i] * int(weight * unit)
        if any(x and not s for x, s in zip(a, self.weights, strict=True)):
            raise Refused("a point of a hull is a row without weight")
        return a

    def check_hull(self, points: Sequence[int], weights: Sequence[str]) -> None:
        """Raise unless the weights λ > 0 give Σ λᵢ yᵢ [xᵢ, 1] = 0: then no plane has all these rows on their sides."""
        a = self.shares(points, map(fraction, weights))
        if any(self.data.combine(a)) or (self.intercept and sum(a)):
            raise Refused("the two combinations that are to prove an overlap are not the same point")


def fraction(text: str) -> Fraction:
    """Read p/q in base 16."""
    return Fraction(*(int(part, 16) for part in text.split("/")))


def verdict(rows: Sides, proof: dict[str, Any]) -> str:
    """Check a verdict on separability: a plane with z > 0 (or z ≥ 0, not all 0); a point of both hulls (Gordan).

    Overlap means that nothing separates even weakly: the points of the hulls span all rows (Stiemke), so that a plane
    with z ≥ 0, being zero on them, is zero on all. That they do is seen from the vectors orthogonal to the points.
    """
    kind = proof["verdict"]
    if kind in ("separable", "quasi"):
        theta = [*map(fraction, proof["plane"])] if proof["plane"] else [*map(Fraction, proof["coef"] + [proof["intercept"]])]
        z, _ = rows.agreements((theta[:-1], theta[-1]))
        if min(z) < (kind == "separable") or max(z) <= 0:
            raise Refused(f"the plane that is to show {kind!r} does not")
        if kind == "separable":
            return "a plane separates the classes"
    if kind not in ("quasi", "inseparable", "overlap"):
        raise Refused(f"{kind!r} is no verdict that could be checked")
    rows.check_hull(proof["points"], proof["weights"])
    if kind == "overlap":
        rows.check_hull(proof["support"], proof["support_weights"])
        points = [rows.data.dense(i, rows.intercept) for i in proof["support"]]
        for x in relations([*zip(*points, strict=True)])[1]:
            for (columns, values), s in zip(rows.data.rows, rows.weights, strict=True):
                if s and sum(map(mul, map(x.__getitem__, columns), values), x[-1] if rows.intercept else 0):
                    raise Refused("the points that are to exclude a weak separation do not span all rows")
    weakly = {"quasi": "a plane separates the classes weakly, and ", "overlap": "not even weakly: "}.get(kind, "")
    return f"{weakly}no plane separates them, since their hulls meet"


def margin(rows: Sides, plane: Plane, proof: dict[str, Any]) -> tuple[Fraction, Fraction]:
    """Return the squares of the margin that the plane keeps, min z/‖w‖, and of one that no plane exceeds.

    Two points of the hulls are no nearer than twice any margin (through the origin: a point of the hull of y x, once).
    """
    z, unit = rows.agreements(plane)
    if min(z) <= 0:
        raise Refused("the plane does not separate the classes as it predicts, so it has no margin")
    a = rows.shares(proof["points"], (Fraction(float(weight)) for weight in proof["weights"]))
    plus, minus = sum(x for x in a if x > 0), -sum(x for x in a if x < 0)
    plus, minus = (plus, minus) if rows.intercept else (plus + minus, plus + minus)
    if not (plus and minus):
        raise Refused("the points that are to bound the margin are all of one class")
    apart = rows.data.combine([x * (minus if x > 0 else plus) for x in a])
    high = sum((x * x for x in apart), Fraction(0)) / (plus * minus) ** 2 / (4 if rows.intercept else 1)
    return Fraction(min(z), unit) ** 2 / sum((x * x for x in plane[0]), Fraction(0)), high


def lightest(conflicts: Iterable[frozenset[int]], weights: Sequence[Fraction]) -> Fraction:
    """Return a number that no set meeting all conflicts weighs less than: the least such weight, if time allows.

    Best first; conflicts packed so that no row carries more than its weight bound what is left. The lightest open case
    is a bound at any time.
    """
    def packed(sets: list[frozenset[int]]) -> Fraction:
        left, total = {i: weights[i] for one in sets for i in one}, Fraction(0)
        for one in sorted(sets, key=len):
            share = min(left[i] for i in one)
            total += share
            left |= {i: left[i] - share for i in one}
        return total

    start, end, count = list(set(conflicts)), time.monotonic() + PATIENCE, 0
    cases = [(packed(start), 0, Fraction(0), start)]
    while cases[0][3] and time.monotonic() < end:
        _, _, paid, sets = heapq.heappop(cases)
        out: set[int] = set()
        for i in sorted(min(sets, key=len), key=lambda i: -sum(i in one for one in sets)):
            rest = [one - out for one in sets if i not in one]
            out.add(i)
            count += 1
            if all(rest):
                heapq.heappush(cases, (paid + weights[i] + packed(rest), count, paid + weights[i], rest))
    return cases[0][0]


def fewest(points: Sequence[tuple[Sequence[int], Fraction]]) -> Fraction:
    """Return the least weight of vectors a with a·θ < 0, of all θ that are orthogonal to none: by looking at all cells.

    Every cell has a wall: the θ orthogonal to some a. On a wall the same question is asked in a dimension less; vectors
    parallel to a are on either side of it.
    """
    best = sum((s for _, s in points), Fraction(0))
    for a, _ in points:
        t = next(j for j, x in enumerate(a) if x)
        sign, sums, rest = 1 if a[t] > 0 else -1, [Fraction(0), Fraction(0)], []
        for b, s in points:
            on = [sign * (x * a[t] - b[t] * y) for j, (x, y) in enumerate(zip(b, a, strict=True)) if j != t]
            if any(on):
                rest.append((on, s))
            else:
                sums[b[t] * a[t] > 0] += s
        best = min(best, min(sums) + fewest(rest))
    return best


def mistakes(rows: Sides, plane: Plane, proof: dict[str, Any]) -> tuple[Fraction, Fraction, str]:
    """Return the weight of rows not strictly on their own side, what it is at least for any plane, and by what.

    Each conflict is a set of rows with λ ≥ 0, not all 0, and Σ λᵢ yᵢ [xᵢ, 1] = 0: every plane errs on one of them. A row
    stands for all that are equal to it, label included.
    """
    z, _ = rows.agreements(plane)
    counted = [i for i, s in enumerate(rows.weights) if s]
    wrong = sum((rows.weights[i] for i, agreement in zip(counted, z, strict=True) if agreement <= 0), Fraction(0))
    group: dict[Any, int] = {}
    member = {i: group.setdefault(tuple(rows.data.dense(i, rows.intercept, rows.y[i])), len(group)) for i in counted}
    weights = [Fraction(0)] * len(group)
    for i, k in member.items():
        weights[k] += rows.weights[i]
    lost = sum((weights[k] for a, k in group.items() if not any(a)), Fraction(0))
    cells = [(a, weights[k]) for a, k in group.items() if any(a)]
    if proof["method"] == "cells":
        work = len(cells) ** (len(cells[0][0]) if cells else 0) * 1.5e-6
        if work > 600:
            return wrong, lost, f"the lower bound: to look at all cells anew would take {work:.0f} s"
        announce(work)
        return wrong, lost + fewest(cells), ""
    found = []
    for conflict in proof["conflicts"]:
        vectors = [rows.data.dense(i, rows.intercept, rows.y[i]) for i in conflict]
        if not all(i in member for i in conflict) or not any(
            min(x) >= 0 or max(x) <= 0 for x in relations(vectors)[1]
        ):
            raise Refused(f"some plane has the rows {conflict} all on their sides, or they do not count: no conflict")
        found.append(frozenset(member[i] for i in conflict))
    return wrong, lost + lightest(found, weights), ""


# -- the sentence -----------------------------------------------------------------------------------------------------


def announce(seconds: float) -> None:
    """Say how long it will take, if that is more than a few seconds."""
    if seconds > 3:
        print(f"this will take about {seconds:.0f} s", file=sys.stderr)


def objective(name: str, said: dict[str, Any]) -> tuple[str, Fraction, Fraction, Fraction]:
    """Return the loss, the weights l2 and l1 of the penalty, and C, from the parameters of the estimator."""
    loss: Any = {"LogisticRegression": "logistic", "LeastSquaresClassifier": "square"}.get(name) or said["loss"]
    loss = loss if isinstance(loss, str) else re.sub(r"(?<!^)([A-Z])", r"_\1", loss[0]).lower()
    penalty, ratio, C = said.get("penalty", "l2"), said.get("l1_ratio"), said.get("C")
    if isinstance(penalty, tuple):
        penalty, ratio = penalty[0], penalty[1].get("l1_ratio", penalty[1])
    half = 0.0 if name == "LogisticRegression" else 0.5
    r: Any = {"l2": 0.0, "L2": 0.0, "l1": 1.0, "L1": 1.0}.get(penalty, half if ratio is None else ratio)
    l2, l1 = (r["l2"], r["l1"]) if isinstance(r, dict) and r else (1.0 - r, r) if not isinstance(r, dict) else (0.0, 0.0)
    if penalty is None or C is None or C == inf:
        return loss, Fraction(0), Fraction(0), Fraction(1)
    return loss, Fraction(l2), Fraction(l1), Fraction(C)


def weighed(s: list[Fraction], codes: list[int], classes: Sequence[Any], by: Any) -> list[Fraction]:
    """Return weights times class weights, which are given or, "balanced", Σ s / (K Σₖ s)."""
    if by is None:
        return s
    if by == "balanced":
        sums = [sum((x for x, code in zip(s, codes, strict=True) if code == k), Fraction(0)) for k in range(len(classes))]
        factors = [sum(sums) / (len(sums) * total) if total else Fraction(0) for total in sums]
    else:
        factors = [Fraction(by.get(label, 1.0)) for label in classes]
    return [x * factors[code] for x, code in zip(s, codes, strict=True)]


def shown(x: Fraction | float, up: bool) -> str:
    """Return a number in 10 digits, rounded up or down."""
    x = Fraction(x)
    context = Context(prec=10, rounding="ROUND_CEILING" if up else "ROUND_FLOOR")
    return f"{context.divide(Decimal(x.numerator), Decimal(x.denominator)):g}"


def check(model: dict[str, Any], rows: Sequence[Row], labels: Sequence[str], weights: Any = None) -> Finding:
    """Return what can be proven of a model on these rows."""
    with localcontext(CONTEXT):
        return Check(model, rows, labels, weights).run()


class Check:
    """One model on its rows."""

    def __init__(self, model: dict[str, Any], rows: Sequence[Row], labels: Sequence[str], weights: Any) -> None:
        self.name = model["estimator"]["class"]
        self.said = {key: plain(value) for key, value in model["estimator"]["parameters"].items()}
        self.model, self.classes = model, model["classes"]["values"]
        self.data, self.codes = Data(rows, model["features"]["count"]), codes_of(labels, self.classes)
        s = [Fraction(float(x)) for x in weights or [1.0] * len(rows)]
        self.weights = weighed(s, self.codes, self.classes, self.said.get("class_weight"))
        if not any(self.weights) or min(self.weights) < 0:
            raise Refused("weights must not be negative, nor all zero")
        self.intercept = bool(self.said.get("fit_intercept", True))
        shift = Fraction(model.get("threshold") or 0.0)
        coefficients = [[*map(Fraction, w)] for w in model["coefficients"]]
        self.planes: list[Plane] = [*zip(coefficients, map(Fraction, model["intercept"]), strict=True)]
        if len(self.planes) != (1 if len(self.classes) == 2 else len(self.classes)):
            raise Refused("there is not one plane for two classes, or one for each of more")
        self.predicting = [(w, b - shift) for w, b in self.planes]
        self.proofs = model.get("certificate") or {}
        self.finding = Finding(0, "", [f"{self.data.n} rows, each number as the rational it is"])

    def run(self) -> Finding:
        """Return what was found."""
        kinds = {"Perceptron": self.separation, "HardMarginSVC": self.margins, "ZeroOneClassifier": self.zero_one}
        kinds.get(self.name, self.gaps)()
        self.finding.unchecked.append("what else the file says: history, iterations, digest, names, numbers of the fit")
        return self.finding

    def each(self) -> Iterable[tuple[int, str, Sides]]:
        """Yield the number of each plane, of whom it speaks, and the rows with its labels ±1."""
        for k in range(len(self.planes)):
            positive = 1 if len(self.planes) == 1 else k
            y = [1 if code == positive else -1 for code in self.codes]
            who = "" if len(self.planes) == 1 else f"class {self.classes[k]} against the rest: "
            yield k, who, Sides(self.data, y, self.weights, self.intercept)

    def add(self, code: int, sentence: str) -> None:
        """Add to the sentence; the worst code counts."""
        found = self.finding
        found.code, found.sentence = max(found.code, code), "; ".join(filter(None, (found.sentence, sentence)))

    def problems(self) -> Iterable[tuple[str, Problem]]:
        """Yield what is minimised: one problem for all classes (softmax), or one for each plane."""
        loss, l2, l1, C = objective(self.name, self.said)
        if loss not in ("logistic", *SLOPED):
            raise Refused(f"the loss {loss!r} has no bound that this program knows")
        c = [C * s for s in self.weights]
        least = min(x for x in c if x)
        one = 1 << max(0, 130 - least.numerator.bit_length() + least.denominator.bit_length())
        whole, K = [int(x * one) for x in c], len(self.classes)
        shared = (loss, l2, l1, whole, one, self.intercept)
        if K > 2 and self.name == "LogisticRegression" and self.said.get("multi_class") != "ovr":
            yield "", Problem(self.data, self.codes, K, dict(enumerate(self.planes)), *shared, {})
            return
        hints = self.proofs.get("gap") or []
        for k, who, sides in self.each():
            hint = hints[k]["dual_point"] if len(hints) == len(self.planes) else {}
            yield who, Problem(self.data, [y > 0 for y in sides.y], 2, {1: self.planes[k]}, *shared, hint)

    def gaps(self) -> None:
        """Prove how far from the optimum each plane can be, as a share of its objective."""
        tol = Fraction(float(self.said.get("tol", 1e-4)))
        self.finding.gap = 0.0
        for who, p in self.problems():
            stored = sum(len(columns) for columns, _ in self.data.rows) / max(1, self.data.n)
            wide = (stored + 1) * min(2, p.classes - 1) if not (p.l1 or p.l2) and p.loss in ("logistic", "square") else 0
            each = 2e-5 + stored * 2e-6 * len(p.planes) + 2e-4 * p.classes * (p.loss == "logistic") + wide**2 * 4e-7
            announce(self.data.n * each * len(self.planes) / len(p.planes))
            low, high, dual, how = optimum(p)
            gap = Fraction(0) if high <= dual else (high - dual) / low if low > 0 else None
            self.finding.gap = max(self.finding.gap, inf if gap is None else float(gap * (1 + Fraction(1, 1 << 50))))
            self.finding.bounds.append((low, high, dual))
            penalty = " + ".join(f"{float(x):g}·{norm}" for x, norm in ((p.l2, "½‖w‖²"), (p.l1, "‖w‖₁")) if x)
            what = f"{penalty or 'no penalty'} with the {p.loss} loss"
            within = "nothing follows" if gap is None else f"within {shown(gap, True)[:8]} of the optimum"
            at = f"{who}the objective ({what}) is at most {shown(high, True)}, no coefficients make it less than "
            self.add(gap is None or gap > tol, f"{at}{shown(dual, False)}: {within}, tol being {float(tol):g}")
            self.finding.checked.append(f"{who}the objective from every row; the bound from {how}")
        if self.model.get("threshold"):
            self.finding.unchecked.append(f"the choice of the threshold, {self.model['threshold']}")

    def separation(self) -> None:
        """Prove whether the classes can be separated, and whether the plane does."""
        proofs = self.proofs.get("separability") or [None] * len(self.planes)
        for k, who, rows in self.each():
            z, _ = rows.agreements(self.predicting[k])
            wrong = sum(x <= 0 for x in z)
            if not wrong:
                self.add(0, f"{who}the plane separates the classes")
            elif proofs[k] is None:
                self.add(1, f"{who}the plane errs on {wrong} rows; nothing is said of other planes")
            else:
                can = verdict(rows, proofs[k])
                self.add(proofs[k]["verdict"] == "separable", f"{who}the plane errs on {wrong} rows; {can}")
        self.finding.checked.append("the side of every row, and combinations of rows, exactly")
        if "ballots" in self.model.get("fitted", {}):
            self.finding.unchecked.append("predictions: many planes vote, of which this is the mean")

    def margins(self) -> None:
        """Prove the margin of each plane, and that no plane has a larger one."""
        tol = Fraction(float(self.said.get("tol", 1e-4)))
        self.finding.gap = 0.0
        for k, who, rows in self.each():
            low, high = margin(rows, self.predicting[k], self.proofs["margin"][k])
            gap = max(Fraction(0), 1 - low / high)
            self.finding.gap = max(self.finding.gap, float(gap))
            kept, most = shown(low, False), shown(high, True)
            self.add(gap > tol, f"{who}the square of the margin is {kept}, no plane has one above {most}")
        self.finding.checked.append("the distance of every row, and of two points of the hulls, exactly")

    def zero_one(self) -> None:
        """Prove how many mistakes each plane makes, and how few any plane can."""
        for k, who, rows in self.each():
            wrong, least, left = mistakes(rows, self.predicting[k], self.proofs["mistakes"][k])
            claimed = self.proofs["mistakes"][k]["bound"]
            less = f"; the file says {claimed:g}" if least < claimed else ""
            best = "no plane on less" if least >= wrong else f"no plane on less than {shown(least, False)}{less}"
            self.add(least < wrong, f"{who}the plane errs on rows of weight {shown(wrong, True)}, {best}")
            self.finding.unchecked += [left] if left else []
        self.finding.checked.append("the side of every row, exactly; that each conflict costs a mistake; what they add up to")


def main(arguments: Sequence[str] | None = None) -> int:
    """Check the model and the rows that the command line names."""
    parser = argparse.ArgumentParser(description="Check what a model of linsep is proven to be, without linsep.")
    parser.add_argument("model", help="a model file, in JSON")
    parser.add_argument("rows", help="the rows it was fitted on: LIBSVM text, or CSV with a header; - for standard input")
    parser.add_argument("--target", help="the column with the labels")
    parser.add_argument("--weights", help="the column with the weights")
    said = parser.parse_args(arguments)
    try:
        with open(said.model, encoding="utf-8") as file:
            model = json.load(file)
        rows, labels, weights, remarks = read_rows(said.rows, model, said.target, said.weights)
        finding = check(model, rows, labels, weights)
        finding.unchecked += remarks
    except (Refused, OSError, ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        finding = Finding(2, str(error) if isinstance(error, Refused | OSError) else f"the file is damaged ({error!r})")
    print(finding)
    return finding.code


if __name__ == "__main__":
    sys.exit(main())
