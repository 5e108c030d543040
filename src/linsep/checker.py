"""A second opinion on a model file of linsep, for those who do not trust linsep: this file shares no code with it.

    python checker.py model.json rows.csv [--target NAME] [--weights COLUMN]

It needs Python 3.11 and nothing else. `rows` are those of the fit: LIBSVM text, or CSV with a header, all numbers but
the labels (where the model encodes categories, dates or text: its features, as `linsep verify MODEL DATA --independent
--rows rows.csv` writes them). It proves one sentence about the model as it predicts: labels become ±1 by the rule of its
predictions (two classes: w·x + b ≥ 0, or its threshold, is the second; more: plane k is for class k), and what is
minimised follows from its parameters. All that the file says was proven is but a hint: a dual point, rows of a hull,
rows in conflict. A wrong hint can make a proof fail, never succeed.
Exit code 0: proven as the model's parameters ask; 1: true, but less than they ask; 2: not verified, or bad input.

Arithmetic. Floats are read as the rationals they are; all sums of products are of whole numbers, exactly. Only exp and
log are rounded, by `decimal`, correctly and to 45 digits; what is made of them counts as off by a share of REL, which is
much more. Weights c are whole multiples of 1/one, rounded down by a share of 2^-120 at the most: as losses are not
negative the least objective only goes down by that, and to the model's objective it is added again.

Mathematics. P(w, b) = l2 ½‖w‖² + l1 ‖w‖₁ + Σ cᵢ ℓ(zᵢ) with c = C × weight × class weight, z = y (w·x + b). By Fenchel, for
every α with −αᵢ/cᵢ among the slopes of ℓ and (b being free) Σ αᵢ yᵢ = 0, min P is at least
−penalty*(Σ αᵢ yᵢ xᵢ) − Σ cᵢ ℓ*(−αᵢ/cᵢ); α = 0 says at least 0. For the softmax α are masses aᵢₖ ≥ 0 that move from the own
class to others, as much out of every class as into it, and the last sum is −Σ cᵢ entropy(aᵢ/cᵢ). Without a penalty see
`curvature`; for other models `verdict`, `margin` and `mistakes`.
"""

import argparse
import csv
import heapq
import json
import re
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal, localcontext
from fractions import Fraction
from itertools import combinations
from math import gcd, inf, isqrt, lcm
from operator import mul
from typing import Any

Row = tuple[Sequence[int], Sequence[float]]  # which columns are not zero, and their values
Plane = Sequence[Fraction]  # w and, where there are intercepts, b
Masses = list[dict[int, int]]  # of each example, what moves from its class to which other one
Bends = list[tuple[int, int, int, int, int]]  # see `curvature`: example, classes k and l, h, u
REL, TINY, ZERO = Decimal("1e-30"), Decimal("1e-12"), Fraction(0)
MISSING = ("", "?", "NA", "N/A", "n/a", "NaN", "nan", "NULL", "null", "None", "<NA>", "#N/A", "#NA", "NaT")
PATIENCE = 20.0  # seconds of search for a light set of rows that meets all conflicts


class Refused(Exception):  # noqa: N818
    """Why the sentence is not proven."""


@dataclass
class Finding:
    """What was found; `bounds` are, of each problem, P from and to, and what no planes go below."""

    code: int
    sentence: str
    checked: list[str] = field(default_factory=list)
    unchecked: list[str] = field(default_factory=list)
    gap: float = 0.0
    bounds: list[tuple[Fraction, Fraction, Fraction]] = field(default_factory=list)

    def __str__(self) -> str:
        head = ("Proven", "True, but not all that was asked for", "NOT verified")[self.code]
        lists = [("Checked", self.checked), ("NOT checked", self.unchecked)]
        return "\n".join([f"{head}: {self.sentence}.", *(f"{name}: {'; '.join(of)}." for name, of in lists if of)])


# -- reading ----------------------------------------------------------------------------------------------------------


def plain(value: Any) -> Any:
    """Undo how a model file writes settings that JSON does not know."""
    if isinstance(value, dict) and len(value) == 1:
        ((kind, content),) = value.items()
        if kind == "object":
            return content["class"].split(".")[-1], {name: plain(item) for name, item in content["settings"].items()}
        return float(content) if kind == "float" else {plain(key): plain(item) for key, item in content}
    return value


def read_rows(path: str, model: dict[str, Any], target: str | None, weights: str | None) -> tuple[Any, ...]:
    """Return rows, labels as text, weights (or None), and what has to be said of them."""
    with sys.stdin if path == "-" else open(path, encoding="utf-8-sig", newline="") as file:
        text = [line for line in file.read().splitlines() if line.strip()]
    encoding = model.get("encoding") or {}
    if re.fullmatch(r"\s*[^\s,;]+(\s+\d+:\S+)+\s*(#.*)?", text[0]):
        lines = [line.split("#")[0].split() for line in text]
        cells = [[(int(j), float(x)) for j, x in (pair.split(":") for pair in line[1:])] for line in lines]
        base = encoding.get("base", min(1, *(j for row in cells for j, _ in row)))
        return [([j - base for j, _ in row], [x for _, x in row]) for row in cells], [line[0] for line in lines], None, []
    lines = [[*map(str.strip, line)] for line in csv.reader(text, delimiter=max(",\t;|", key=text[0].count))]
    header = lines.pop(0) if encoding.get("header", True) else [f"column_{j + 1}" for j in range(len(lines[0]))]
    at, target = {name: j for j, name in enumerate(header)}, target or encoding.get("target") or header[-1]
    table = encoding if encoding.get("kind") == "table" else None
    raw = table and table["degree"] == 1 and {column["kind"] for column in table["columns"]} <= {"number", "ignored"}
    names = model.get("features", {}).get("names") or [name for name in header if name not in (target, weights)]
    numbers = encoding["numbers"] if raw else dict.fromkeys(names, (0.0, 1.0, False))  # mean, scale, whether some lack
    if lost := [name for name in (*numbers, target, weights) if name is not None and name not in at]:
        how = "linsep verify MODEL DATA --independent --rows rows.csv writes the features; or say --target, --weights"
        raise Refused(f"there is no column {lost[0]!r}, only {', '.join(header[:12])}; {how}")
    known, rows, lack = [line for line in lines if line[at[target]] not in MISSING], [], {*MISSING} if raw else set()
    for line in known:
        given = [(None if line[at[name]] in lack else float(line[at[name]]), *of) for name, of in numbers.items()]
        x = [0.0 if value is None else (value - mean) / scale for value, mean, scale, _ in given]
        x += [float(value is None) for value, _, _, some in given if some]
        rows.append(([j for j, value in enumerate(x) if value], [value for value in x if value]))
    said = [f"{len(lines) - len(known)} rows without a label"] * (len(known) < len(lines))
    said += ["that these features are what the model makes of its table"] * bool(table and not raw)
    return rows, [line[at[target]] for line in known], weights and [float(line[at[weights]]) for line in known], said


def codes_of(labels: Sequence[str], classes: Sequence[Any]) -> list[int]:
    """Return the position of each label among the classes, read as these are: truth values, text or numbers."""
    read: Any = {bool: str.title, str: str}.get(type(classes[0]), float)
    place = {read(str(label)): k for k, label in enumerate(classes)}
    try:
        return [place[read(label)] for label in labels]
    except (KeyError, ValueError) as error:
        raise Refused(f"a label, {error}, is not among the model's classes {list(classes)}") from None


class Data:
    """Rows y [x, 1] (y = 1 unless given, the 1 where there are intercepts) in whole numbers: all of them times `one`."""

    def __init__(self, rows: Iterable[Row], d: int, intercept: bool, y: Sequence[int] = ()) -> None:
        given = [(tuple(columns), [float(x).as_integer_ratio() for x in values]) for columns, values in rows]
        self.d, self.n, self.intercept, self.width = d, len(given), intercept, d + intercept
        self.y, self.one = list(y) or [1] * len(given), max([1, *(q for _, ratios in given for _, q in ratios)])
        if not all(0 <= j < d for columns, _ in given for j in columns):
            raise Refused(f"a row has more columns than the model, which has {d}")
        self.rows = [
            ((*columns, *[d] * intercept), [sign * a * (self.one // q) for a, q in (*ratios, *[(1, 1)] * intercept)])
            for sign, (columns, ratios) in zip(self.y, given, strict=True)
        ]

    def scores(self, planes: Sequence[Plane]) -> tuple[list[list[int]], int]:
        """Return the product of every plane and row, exactly: whole numbers over the unit that comes with them."""
        unit = lcm(*(a.denominator for plane in planes for a in plane))
        whole = [[int(a * unit) for a in plane] for plane in planes]
        return [[dot(W, row) for row in self.rows] for W in whole], unit * self.one

    def combine(self, a: Sequence[int]) -> list[Fraction]:
        """Return the sum of a times the rows."""
        total = [0] * self.width
        for (columns, values), factor in zip(self.rows, a, strict=True):
            for j, x in zip(columns, values, strict=True) if factor else ():
                total[j] += factor * x
        return [Fraction(value, self.one) for value in total]

    def dense(self, i: int) -> tuple[int, ...]:
        """Return row i, zeros included."""
        found = dict(zip(*self.rows[i], strict=True))
        return tuple(found.get(j, 0) for j in range(self.width))


def dot(vector: Sequence[int], row: tuple[Sequence[int], Sequence[int]]) -> int:
    """Return the product of a vector and a row."""
    return sum(map(mul, map(vector.__getitem__, row[0]), row[1]))


# -- distance from the optimum ----------------------------------------------------------------------------------------

LOSSES: dict[str, tuple[Any, Any]] = {  # ℓ(z) and −ℓ'(z), of numbers of any kind; the logistic loss is in `likelihood`
    "perceptron": (lambda z: max(0, -z), lambda z: int(z <= 0)),
    "hinge": (lambda z: max(0, 1 - z), lambda z: int(z <= 1)),
    "squared_hinge": (lambda z: max(0, 1 - z) ** 2, lambda z: 2 * max(0, 1 - z)),
    "square": (lambda z: (1 - z) ** 2, lambda z: 2 * (1 - z)),
}


@dataclass
class Problem:
    """What is minimised on which rows. Of two classes, 0 and 1, only 1 has a plane; for these there is a hint on α."""

    data: Data
    codes: Sequence[int]
    planes: dict[int, Plane]
    classes: int
    loss: str
    l2: Fraction
    l1: Fraction
    c: list[int]
    one: int
    shift: Fraction = ZERO  # of the intercept, before α = −c ℓ'(z) is taken
    scales: Sequence[Fraction] = (Fraction(1),) * 2  # of α, by class
    known: dict[int, Fraction] = field(default_factory=dict)  # α of some rows


def piecewise(p: Problem) -> tuple[Fraction, Fraction, Masses, Bends]:
    """Return between what Σ c ℓ(z) lies, α = −c ℓ'(z), and what `curvature` needs, for losses that are polynomials."""
    (scores,), unit = p.data.scores([*p.planes.values()])
    (value, slope), total, masses, bends = LOSSES[p.loss], ZERO, Masses(), Bends()
    for i, (code, c) in enumerate(zip(p.codes, p.c, strict=True)):
        y = 2 * code - 1
        z = Fraction(y * scores[i], unit)
        total += c * value(z)
        masses.append({1 - code: int(c * slope(z + y * p.shift) * p.scales[code])})
        bends.append((i, 1, 0, 2 * c, -y * int(2 * c * (1 - z))))
    return total / p.one, total / p.one, masses, bends if p.loss == "square" else []


def likelihood(p: Problem) -> tuple[Fraction, Fraction, Masses, Bends]:
    """Return the same for the logistic loss, log(1 + E) with E = Σ e^(gₖ − g_y) over the classes k ≠ y."""
    scores, unit = p.data.scores([*p.planes.values()])
    scores = scores if len(scores) == p.classes else [[0] * p.data.n, *scores]
    low, high, masses, bends = Decimal(0), Decimal(0), Masses(), Bends()
    moves = [(Decimal(p.shift.numerator) / p.shift.denominator * sign).exp() for sign in (1, -1)]
    for i, (y, c) in enumerate(zip(p.codes, map(Decimal, p.c), strict=True)):
        differences = {k: Decimal(scores[k][i] - scores[y][i]) / unit for k in range(p.classes) if k != y}
        if max(map(abs, differences.values())) > 10**9:
            raise Refused(f"row {i} has scores that differ by more than 1e9, of which this program takes no exp")
        e = {k: x.exp() for k, x in differences.items()}
        E = sum(e.values(), Decimal(0))
        low += c * ((1 + E).ln() * (1 - REL) if E > TINY else E - E * E / 2)
        high += c * ((1 + E).ln() if E > TINY else E)
        there = {k: x * moves[y] if p.shift else x for k, x in e.items()}
        rest = (1 + sum(there.values())) * (1 + REL)
        masses.append({k: int(int(c * x / rest) * p.scales[y % 2]) for k, x in there.items()})
        if not (p.l1 or p.l2):
            q = {k: x / (1 + E) * (1 - REL) for k, x in (e | {y: Decimal(1)}).items()}
            for k, m in ((m, k) if k == y else (k, m) for k, m in combinations(range(p.classes), 2)):
                bends.append((i, k, m, int(c * q[k] * q[m]), int(c * q[k]) if m == y else 0))
    return Fraction(low * (1 - REL)) / p.one, Fraction(high * (1 + REL)) / p.one, masses, bends


def balance(p: Problem, masses: Masses) -> None:
    """Make as much flow out of every class as into it: shrink flows out of one that gives too much into one that gets it.

    Masses shrink in proportion, rounded so that their sum is what it has to be; all vanish where that is not enough.
    """
    classes = range(p.classes)
    flow = [[sum(of.get(m, 0) for y, of in zip(p.codes, masses, strict=True) if y == k) for m in classes] for k in classes]
    surplus = [sum(flow[k]) - sum(row[k] for row in flow) for k in classes]
    for k, m in ((k, m) for k in classes for m in classes):
        taken = min(surplus[k], -surplus[m], flow[k][m])
        if taken > 0:
            surplus[k], surplus[m], seen, kept = surplus[k] - taken, surplus[m] + taken, 0, 0
            for of in (of for y, of in zip(p.codes, masses, strict=True) if y == k):
                seen += of[m]
                of[m] = seen * (flow[k][m] - taken) // flow[k][m] - kept
                kept += of[m]
    for of in masses if any(surplus) else ():
        of.update(dict.fromkeys(of, 0))


def gain(p: Problem, masses: Masses) -> Fraction:
    """Return a number that −Σ c ℓ*(−α/c) is not below: Σ α for the hinge, Σ α − α²/4c for squares, or the entropy."""
    if p.loss != "logistic":
        alpha = [sum(of.values()) for of in masses]
        squares = sum(-(-a * a // (4 * c)) for a, c in zip(alpha, p.c, strict=True)) if p.loss.startswith("sq") else 0
        return Fraction(sum(alpha) - squares, p.one) if p.loss != "perceptron" else ZERO
    total = Decimal(0)
    for c, of in zip(p.c, masses, strict=True):
        for part in filter(None, (*of.values(), c - sum(of.values()))):
            t = Decimal(c - part) / c  # −log(1 − t) is at least t + t²/2
            total += part * (t + t * t / 2 if t < TINY else -(Decimal(part) / c).ln())
    return Fraction(total * (1 - REL)) / p.one


def dual_bound(p: Problem, masses: Masses) -> Fraction:
    """Return a number that no planes go below, from masses that are made feasible first."""
    for i, alpha in p.known.items():
        masses[i] = {1 - p.codes[i]: int(alpha * p.one)}
    for of, c in zip(masses, p.c, strict=True) if p.loss != "square" else ():
        of.update({k: max(0, a if p.loss == "squared_hinge" else min(a, c)) for k, a in of.items()})
    for attempt in range(6):
        if p.data.intercept:
            balance(p, masses)
        v = []
        for k in p.planes:
            flow = [sum(of.values()) if y == k else -of.get(k, 0) for y, of in zip(p.codes, masses, strict=True)]
            v += [abs(x) / p.one for x in p.data.combine(flow)[: p.data.d]]
        if p.l2 or max(v) <= p.l1:
            excess = sum((max(x - p.l1, ZERO) ** 2 for x in v), ZERO)
            return max(ZERO, gain(p, masses) - (excess / (2 * p.l2) if p.l2 else 0))
        shrink = p.l1 / max(v) * (1 - Fraction(attempt, 1 << 60))  # only a box of v has a finite conjugate
        masses = [{k: int(a * shrink) for k, a in of.items()} for of in masses]
    return ZERO


def curvature(p: Problem, bends: Bends) -> Fraction | None:
    """Return what P − min P does not exceed without a penalty, from the curvature at θ; None if nothing can be shown.

    Rows are r = (eₖ − e_l) ⊗ [x, 1], class 0 held at zero; H = Σ h r rᵀ, h being cᵢ pₖ p_l (for the square 2c) rounded
    down; g = Σ u r is the gradient. Along v the scores of an example spread by max |r·v| ≤ m ‖v‖_H, m = max ‖r‖_{H⁻¹}.
    The third derivative is a third central moment, no more than this spread times the second: so the curvature falls no
    faster than e^(−m‖v‖t), and with λ = ‖g‖_{H⁻¹} and s = mλ < 1 (for the square s = 0) no P(θ + v) is below
    P(θ) − λ² (1 + s)/2 (Bach 2010, Self-concordant analysis for logistic regression). Any T with Σ (T H Tᵀ − 1)² ≤ 2^-20
    gives ‖r‖²_{H⁻¹} ≤ ‖T r‖²/(1 − 2^-10). Columns that are exact combinations of others (of all rows, if every h is
    positive) do nothing that these cannot, and are left out.
    """
    D = p.data.width
    N, vectors = D * (p.classes - 1), []
    H, g = [[0] * N for _ in range(N)], [0] * N
    for i, k, m, h, u in bends:
        x = [*zip(*p.data.rows[i], strict=True)]
        r = [(D * (k - 1) + j, value) for j, value in x if k] + [(D * (m - 1) + j, -value) for j, value in x if m]
        vectors.append(r)
        for a, value in r:
            g[a] += u * value
            for b, other in r:
                H[a][b] += h * value * other
    used, T = list(range(N)), whitening(H)
    if T is None and all(h for _, _, _, h, _ in bends):
        used = relations(H)[0]
        T = whitening([[H[a][b] for b in used] for a in used])
    if T is None:
        return None
    place = {a: b for b, a in enumerate(used)}

    def size(r: Iterable[tuple[int, int]]) -> Fraction:
        kept = [(place[a], value) for a, value in r if a in place]
        x = Fraction(sum(sum(t[a] * value for a, value in kept) ** 2 for t in T[0]) << 10, 1023 << 2 * T[1])
        bits = 128 + max(0, x.denominator.bit_length() - x.numerator.bit_length())
        return Fraction(isqrt((x.numerator << 2 * bits) // x.denominator) + 1, 1 << bits)  # √x, rounded up

    m = max(map(size, vectors))
    decrement = size(enumerate(g)) + sum(2 + (p.c[i] >> 90) for i, *_ in bends) * m  # each u may be off by that
    s = ZERO if p.loss == "square" else m * decrement
    return decrement**2 * (1 + s) / 2 / p.one if s < 1 else None


def whitening(H: list[list[int]]) -> tuple[list[list[int]], int] | None:
    """Return T in whole numbers over 2^q with T H Tᵀ near the identity (Gram and Schmidt); how near is checked exactly."""
    N, q = len(H), 256 + max((row[a].bit_length() // 2 for a, row in enumerate(H)), default=0)
    T, HT = list[list[Decimal]](), list[list[Decimal]]()
    with localcontext(Context(prec=120, Emax=MAX_EMAX, Emin=MIN_EMIN)):
        for a in range(N):
            t = [Decimal(int(a == b)) for b in range(N)]
            for done, image in zip(T, HT, strict=True):
                t = [x - image[a] * y for x, y in zip(t, done, strict=True)]
            Ht = [sum(map(mul, row, t), Decimal(0)) for row in H]
            square = sum(map(mul, t, Ht))
            if square <= 0:
                return None
            T.append([x / square.sqrt() for x in t])
            HT.append([x / square.sqrt() for x in Ht])
        whole = [[int(x * (1 << q)) for x in row] for row in T]
    images = [[sum(map(mul, t, column)) for column in H] for t in whole]
    off = sum((sum(map(mul, images[a], whole[b])) - ((a == b) << 2 * q)) ** 2 for a in range(N) for b in range(N))
    return (whole, q) if off << 20 <= 1 << 4 * q else None


def relations(vectors: Sequence[Sequence[int]]) -> tuple[list[int], list[list[int]]]:
    """Return pivot columns, and combinations that span all under which the vectors add up to zero: by elimination."""
    width, pivots = len(vectors[0]), list[int]()
    rows = [[*v, *(int(i == k) for k in range(len(vectors)))] for i, v in enumerate(vectors)]
    for j in range(width):
        k = len(pivots)
        found = [i for i in range(k, len(rows)) if rows[i][j]]
        if found:
            rows[k], rows[found[0]] = rows[found[0]], rows[k]
            pivots.append(j)
            for i in range(k + 1, len(rows)):
                new = [a * rows[k][j] - b * rows[i][j] for a, b in zip(rows[i], rows[k], strict=True)]
                rows[i] = [a // (gcd(*new) or 1) for a in new]
    return pivots, [row[width:] for row in rows[len(pivots) :]]


def optimum(p: Problem) -> tuple[Fraction, Fraction, Fraction]:
    """Return between what P lies, and what no planes go below."""
    low, high, masses, bends = likelihood(p) if p.loss == "logistic" else piecewise(p)
    w = [x for plane in p.planes.values() for x in plane[: p.data.d]]
    penalty = p.l2 / 2 * sum(x * x for x in w) + p.l1 * sum(map(abs, w))
    if p.l1 or p.l2:
        least = dual_bound(p, masses)
    else:
        below = curvature(p, bends) if bends else None
        least = ZERO if below is None else max(ZERO, low - below)
    return low + penalty, high * (1 + Fraction(1, 1 << 110)) + penalty, least


# -- separation, margins, mistakes: rows are y [x, 1] with y = ±1, and their products with a plane z ----------------------


def fraction(x: Any) -> Fraction:
    """Return a number of a file: a float, or p/q in base 16."""
    return Fraction(*(int(part, 16) for part in x.split("/"))) if isinstance(x, str) else Fraction(x)


def hull(data: Data, points: Sequence[int], weights: Iterable[Any]) -> list[int]:
    """Return weights λ of all rows, in whole numbers; raise unless they are positive, and on different rows."""
    shares, a = [*map(fraction, weights)], [0] * data.n
    if len(set(points)) < len(points) or min(shares) <= 0:
        raise Refused("the points of a hull must be different rows with positive weights")
    for i, share in zip(points, shares, strict=True):
        a[i] = int(share * lcm(*(share.denominator for share in shares)))
    return a


def verdict(data: Data, proof: dict[str, Any], place: dict[int, int]) -> str:
    """Check a verdict on separability: a plane with z > 0 (or z ≥ 0, not all 0); λ > 0 on rows that add up to zero.

    Such λ exclude a separation (Gordan); if their rows span all, a weak one too (Stiemke): its plane would be zero on
    them, hence on all. They span all if every vector orthogonal to them is orthogonal to all.
    """
    kind = proof["verdict"]
    if kind in ("separable", "quasi"):
        theta = [*map(fraction, proof["plane"] or [*proof["coef"], proof["intercept"]])][: data.width]
        z = data.scores([theta])[0][0]
        if min(z) < (kind == "separable") or max(z) <= 0:
            raise Refused(f"the plane that is to show {kind!r} does not")
        if kind == "separable":
            return "some plane separates the classes"
    for name in ("", "support_") if kind == "overlap" else ("",):
        rows = [place[i] for i in proof[name[:-1] or "points"]]
        if any(data.combine(hull(data, rows, proof[f"{name}weights"]))):
            raise Refused("the two combinations of rows that are to show an overlap are not the same point")
    for x in relations([*zip(*map(data.dense, rows), strict=True)])[1] if kind == "overlap" else ():
        if any(dot(x, row) for row in data.rows):
            raise Refused("the rows that are to exclude a weak separation do not span all")
    weakly = {"overlap": ", not even weakly", "quasi": " strictly, one does so weakly"}
    return f"no plane separates the classes{weakly.get(kind, '')}"


def margin(data: Data, plane: Plane, points: Sequence[int], weights: Iterable[Any]) -> tuple[Fraction, Fraction]:
    """Return the squares of the margin that the plane keeps, min z/‖w‖, and of one that no plane exceeds.

    Two points of the hulls are no nearer than two margins (through the origin: a point of the hull of y x to it, one).
    """
    (z,), unit = data.scores([plane])
    if min(z) <= 0:
        raise Refused("the plane does not separate the classes, so it has no margin")
    a = hull(data, points, weights)
    sums = {y: sum(x for x, of in zip(a, data.y, strict=True) if y == of or not data.intercept) for y in (1, -1)}
    if not all(sums.values()):
        raise Refused("the points that are to bound the margin are all of one class")
    apart = data.combine([x * sums[-y] for x, y in zip(a, data.y, strict=True)])[: data.d]
    high = sum((x * x for x in apart), ZERO) / (sums[1] * sums[-1]) ** 2 / (4 if data.intercept else 1)
    return Fraction(min(z), unit) ** 2 / sum((x * x for x in plane[: data.d]), ZERO), high


def lightest(conflicts: Iterable[frozenset[int]], weights: Sequence[Fraction]) -> Fraction:
    """Return what no set that meets all conflicts weighs less than: the least weight there is, if time allows.

    Branch and bound, the lightest open case first, which is a bound at any time. A case is bounded by shares of its
    conflicts that load no row with more than its weight.
    """

    def packed(sets: Iterable[frozenset[int]]) -> Fraction:
        left, total = {i: weights[i] for one in sets for i in one}, ZERO
        for one in sorted(sets, key=len):
            share = min(left[i] for i in one)
            total, left = total + share, left | {i: left[i] - share for i in one}
        return total

    start, end, count = [*set(conflicts)], time.monotonic() + PATIENCE, 0
    cases = [(packed(start), 0, ZERO, start)]
    while cases[0][3] and time.monotonic() < end:
        _, _, paid, sets = heapq.heappop(cases)
        rest = sets
        for i in min(sets, key=lambda one: len(one)):  # one of these is in the set: the first, the second but not the first, …
            met, count = [one for one in rest if i not in one], count + 1
            heapq.heappush(cases, (paid + weights[i] + packed(met), count, paid + weights[i], met))
            rest = [one - {i} for one in rest]
            if not all(rest):
                break
    return cases[0][0]


def fewest(points: Sequence[tuple[Sequence[int], Fraction]]) -> Fraction:
    """Return the least weight of vectors a with a·θ < 0, of all θ orthogonal to none.

    Every cell of such θ has a wall, orthogonal to some a. On it the same question is asked in a dimension less, and the
    vectors parallel to a are on either side of it.
    """
    best = sum((s for _, s in points), ZERO)
    for a, _ in points:
        t = next(j for j, x in enumerate(a) if x)
        sums, rest = [ZERO, ZERO], []
        for b, s in points:
            on = [(x * a[t] - b[t] * y) * (1 if a[t] > 0 else -1) for x, y in zip(b, a, strict=True)]
            if any(on):
                rest.append((on[:t] + on[t + 1 :], s))
            else:
                sums[b[t] * a[t] > 0] += s
        best = min(best, min(sums) + fewest(rest))
    return best


def mistakes(
    data: Data, s: list[Fraction], plane: Plane, proof: dict[str, Any], place: dict[int, int]
) -> tuple[Fraction, Fraction, str]:
    """Return the weight of rows with z ≤ 0, what that is at least for every plane, and what is left unchecked.

    A conflict is of rows that λ ≥ 0, not all 0, add up to zero: every plane errs on one of them. A row stands for all
    equal ones, label included.
    """
    wrong = sum((weight for weight, z in zip(s, data.scores([plane])[0][0], strict=True) if z <= 0), ZERO)
    vectors, groups = [data.dense(i) for i in range(data.n)], dict[tuple[int, ...], Fraction]()
    for vector, weight in zip(vectors, s, strict=True):
        groups[vector] = groups.get(vector, ZERO) + weight
    lost = groups.pop((0,) * data.width, ZERO)
    if proof["method"] == "cells":
        if (work := len(groups) ** data.width * 1.5e-6) > 600:
            return wrong, lost, f"the lower bound: to look at all cells would take {work:.0f} s"
        announce(work)
        return wrong, lost + fewest([*groups.items()]), ""
    at, found = {vector: k for k, vector in enumerate(groups)}, []
    for conflict in proof["conflicts"]:
        rows = [vectors[place[i]] for i in conflict]
        if not any(min(x) >= 0 or max(x) <= 0 for x in relations(rows)[1]):
            raise Refused(f"the rows {conflict} are no conflict: some plane has them all on their sides")
        found.append(frozenset(at[row] for row in rows))
    return wrong, lost + lightest(found, [*groups.values()]), ""


# -- the sentence -----------------------------------------------------------------------------------------------------


def announce(seconds: float) -> None:
    """Say how long it will take, if that is more than a few seconds."""
    if seconds > 3:
        print(f"this will take about {seconds:.0f} s", file=sys.stderr)


def shown(x: Fraction, up: bool, digits: int = 10) -> str:
    """Return a number in a few digits, rounded up or down."""
    context = Context(prec=digits, rounding="ROUND_CEILING" if up else "ROUND_FLOOR")
    return f"{context.divide(Decimal(x.numerator), Decimal(x.denominator)):.{digits}g}"


def objective(name: str, said: dict[str, Any]) -> tuple[str, Fraction, Fraction, Fraction]:
    """Return the loss, the weights l2 and l1 of the penalty, and C, from the parameters of an estimator."""
    loss: Any = {"LogisticRegression": "logistic", "LeastSquaresClassifier": "square"}.get(name) or said["loss"]
    loss = loss if isinstance(loss, str) else re.sub(r"(?<!^)([A-Z])", r"_\1", loss[0]).lower()
    penalty, usual = said.get("penalty", "l2"), 0.0 if name == "LogisticRegression" else 0.5
    kind, settings = penalty if isinstance(penalty, tuple) else (penalty, {"l1_ratio": said.get("l1_ratio")})
    r = {"l2": 0.0, "l1": 1.0}.get(str(kind).lower(), settings.get("l1_ratio"))
    r = usual if r is None else r
    if kind in (None, "NoPenalty") or said["C"] in (None, inf):
        return loss, ZERO, ZERO, Fraction(1)
    l2, l1 = (settings["l2"], settings["l1"]) if kind == "Penalty" else (1.0 - r, r)
    return loss, Fraction(l2), Fraction(l1), Fraction(said["C"])


class Check:
    """One model on those rows that have weight; `place` says where each is among them."""

    def __init__(self, model: dict[str, Any], rows: Sequence[Row], labels: Sequence[str], weights: Any) -> None:
        self.name, self.model, self.proofs = model["estimator"]["class"], model, model["certificate"] or {}
        self.said = {key: plain(value) for key, value in model["estimator"]["parameters"].items()}
        self.classes, self.tol = model["classes"]["values"], Fraction(self.said.get("tol", 1e-4))
        codes, s = codes_of(labels, self.classes), [Fraction(float(x)) for x in weights or [1.0] * len(rows)]
        sums = [sum((x for x, code in zip(s, codes, strict=True) if code == k), ZERO) for k in range(len(self.classes))]
        by = self.said.get("class_weight") or {}
        if by == "balanced":  # each class weighs the same
            by = {label: sum(sums) / (len(sums) * of) for label, of in zip(self.classes, sums, strict=True) if of}
        s = [x * Fraction(by.get(self.classes[code], 1)) for x, code in zip(s, codes, strict=True)]
        kept = [i for i, x in enumerate(s) if x]
        if not kept or min(s) < 0:
            raise Refused("weights must not be negative, nor all zero")
        self.place, self.s = {i: k for k, i in enumerate(kept)}, [s[i] for i in kept]
        self.rows, self.codes = [rows[i] for i in kept], [codes[i] for i in kept]
        self.intercept, self.threshold = bool(self.said.get("fit_intercept", True)), model.get("threshold") or 0.0
        planes = [*zip(model["coefficients"], model["intercept"], strict=True)]
        if len(planes) != (1 if len(self.classes) == 2 else len(self.classes)):
            raise Refused("two classes need one plane, more one each")
        if not self.intercept and (self.threshold or any(b for _, b in planes)):
            raise Refused("the model has an intercept or a threshold, but was fitted without one")
        self.planes: list[Plane] = [[*map(Fraction, w), *[Fraction(b)] * self.intercept] for w, b in planes]
        self.whom = [f"{label} against the rest: " for label in self.classes] if len(planes) > 1 else [""]
        self.finding = Finding(0, "", [f"{len(rows)} rows, each number as the rational that it is"])

    def run(self) -> Finding:
        """Return what was found."""
        kinds = {"Perceptron": self.separation, "HardMarginSVC": self.margins, "ZeroOneClassifier": self.zero_one}
        for code, sentence in kinds.get(self.name, self.gaps)():
            self.finding.code = max(self.finding.code, int(code))
            self.finding.sentence += f"; {sentence}" if self.finding.sentence else sentence
        self.finding.unchecked.append("what else is in the file: names, counts, history, digests, claims in words")
        return self.finding

    def data(self, k: int) -> Data:
        """Return the rows, times the labels ±1 of plane k."""
        y = [1 if code == (k if len(self.planes) > 1 else 1) else -1 for code in self.codes]
        return Data(self.rows, self.model["features"]["count"], self.intercept, y)

    def each(self, kind: str) -> Iterator[tuple[str, Data, Plane, Any]]:
        """Yield of whom a plane speaks, its rows y [x, 1], the plane as it predicts, and its proof or None."""
        for k, proof in enumerate(self.proofs.get(kind) or [None] * len(self.planes)):
            *w, last = self.planes[k]
            yield self.whom[k], self.data(k), [*w, last - Fraction(self.threshold)], proof

    def problems(self) -> Iterator[tuple[str, Problem]]:
        """Yield what is minimised: one problem for all classes (softmax), or one for each plane."""
        loss, l2, l1, C = objective(self.name, self.said)
        if loss != "logistic" and loss not in LOSSES:
            raise Refused(f"the loss {loss!r} is none of which this program knows a bound")
        least, K = C * min(self.s), len(self.classes)
        one = 1 << max(0, 130 - least.numerator.bit_length() + least.denominator.bit_length())
        terms = (loss, l2, l1, [int(C * x * one) for x in self.s], one)
        data = Data(self.rows, self.model["features"]["count"], self.intercept)
        if K > 2 and self.name == "LogisticRegression" and self.said["multi_class"] != "ovr":
            yield "", Problem(data, self.codes, dict(enumerate(self.planes)), K, *terms)
            return
        for k, plane in enumerate(self.planes):
            hint = (self.proofs.get("gap") or [{}] * len(self.planes))[k].get("dual_point") or {}
            found = zip(hint.get("rows", []), hint.get("values", []), strict=True)
            known = {self.place[i]: Fraction(x) for i, x in found if i in self.place}
            scales = [Fraction(hint.get(side, 1.0)) for side in ("negative", "positive")]
            codes = [int(code == (k if K > 2 else 1)) for code in self.codes]
            yield self.whom[k], Problem(data, codes, {1: plane}, 2, *terms, Fraction(hint.get("shift", 0)), scales, known)

    def gaps(self) -> Iterator[tuple[bool, str]]:
        """Prove how far from the optimum each plane can be, as a share of its objective."""
        for who, p in self.problems():
            stored = sum(len(columns) for columns, _ in p.data.rows) / p.data.n
            each = 2e-5 + 2e-6 * stored * len(p.planes) + 1e-4 * p.classes * (p.loss == "logistic")
            each += 0 if p.l1 or p.l2 else 3e-7 * (stored * p.classes) ** 2
            announce(p.data.n * each * len(self.planes) / len(p.planes))
            low, high, least = optimum(p)
            gap = ZERO if high <= least else (high - least) / low if low else None
            self.finding.gap = max(self.finding.gap, inf if gap is None else float(gap * (1 + Fraction(1, 1 << 50))))
            self.finding.bounds.append((low, high, least))
            terms = [f"{float(x):g}·{norm}" for x, norm in ((p.l2, "½‖w‖²"), (p.l1, "‖w‖₁")) if x] + [f"{p.loss} loss"]
            what = f"{who}the objective ({' + '.join(terms)}) is at most {shown(high, True)}"
            within = "nothing" if gap is None else f"within {shown(gap, True, 2)} of the optimum"
            proven = f"no coefficients make it less than {shown(least, False)}: {within}"
            yield gap is None or gap > self.tol, f"{what}, {proven} (tol={float(self.tol):g})"
        self.finding.checked += ["the objective, from every row", "the bound, by an exactly feasible dual point or the curvature"]
        self.finding.unchecked += ["the choice of the threshold"] * bool(self.threshold)

    def separation(self) -> Iterator[tuple[bool, str]]:
        """Prove whether the classes can be separated, and whether the plane does."""
        for who, data, plane, proof in self.each("separability"):
            wrong = sum(z <= 0 for z in data.scores([plane])[0][0])
            others = "nothing is said of others" if proof is None else verdict(data, proof, self.place)
            asked = wrong == 0 or (proof is not None and (proof["verdict"] != "separable" or not any(plane)))
            yield not asked, f"{who}the plane has {wrong} rows not strictly on their sides, and {others}"
        self.finding.checked.append("the side of every row, and combinations of rows, exactly")
        if "ballots" in self.model.get("fitted", {}):
            self.finding.unchecked.append("its predictions: many planes vote, of which the plane is the mean")

    def margins(self) -> Iterator[tuple[bool, str]]:
        """Prove the margin of each plane, and that no plane has a larger one."""
        for who, data, plane, proof in self.each("margin"):
            low, high = margin(data, plane, [self.place[i] for i in proof["points"]], proof["weights"])
            gap = max(ZERO, 1 - low / high)
            self.finding.gap = max(self.finding.gap, float(gap))
            squares = f"the margin squared is {shown(low, False)}, that of no plane above {shown(high, True)}"
            yield gap > self.tol, f"{who}{squares}: within {shown(gap, True, 2)} (tol={float(self.tol):g})"
        self.finding.checked.append("the distance of every row, and that of two points of the hulls, exactly")

    def zero_one(self) -> Iterator[tuple[bool, str]]:
        """Prove what each plane's mistakes weigh, and what those of any plane weigh at least."""
        for who, data, plane, proof in self.each("mistakes"):
            wrong, least, left = mistakes(data, self.s, plane, proof, self.place)
            self.finding.unchecked += [left] if left else []
            says = f" (the file says {proof['bound']:g})" if proof["bound"] > least else ""
            best = "no plane less" if least >= wrong else f"no plane less than {shown(least, False)}{says}"
            yield least < wrong, f"{who}the plane makes mistakes of weight {shown(wrong, True)}, {best}"
        self.finding.checked.append("the side of every row, that each conflict costs a mistake, and what all cost")


def check(model: dict[str, Any], rows: Sequence[Row], labels: Sequence[str], weights: Any = None) -> Finding:
    """Return what can be proven of a model, or of a verdict on separability, on these rows."""
    if "verdict" in model:
        d, said = 1 + max([0, *(j for columns, _ in rows for j in columns)]), {"fit_intercept": model["fit_intercept"]}
        about = {"estimator": {"class": "Perceptron", "parameters": said}, "classes": {"values": model["classes"]}}
        zero = {"features": {"count": d}, "coefficients": [[0.0] * d], "intercept": [0.0]}
        model = about | zero | {"certificate": {"separability": [model]}}
    try:
        with localcontext(Context(prec=45, Emax=MAX_EMAX, Emin=MIN_EMIN)):
            return Check(model, rows, labels, weights).run()
    except Refused as error:
        return Finding(2, str(error), gap=inf)


def main(arguments: Sequence[str] | None = None) -> int:
    """Check the model on the rows that the command line names."""
    parser = argparse.ArgumentParser(description="Check what is proven of a model of linsep, without linsep.")
    parser.add_argument("model", help="a model file, or a verdict on separability, in JSON")
    parser.add_argument("rows", help="the rows of the fit: LIBSVM text, or CSV with a header; - for standard input")
    parser.add_argument("--target", help="the column with the labels")
    parser.add_argument("--weights", help="the column with the weights")
    said = parser.parse_args(arguments)
    try:
        with open(said.model, encoding="utf-8") as file:
            model = json.load(file)
        rows, labels, weights, remarks = read_rows(said.rows, model, said.target, said.weights)
        finding = check(model, rows, labels, weights)
        finding.unchecked += remarks
    except (Refused, OSError) as error:
        finding = Finding(2, str(error))
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError, RecursionError) as error:
        finding = Finding(2, f"the files are not what they should be ({error!r})")
    print(finding)
    return finding.code


if __name__ == "__main__":
    sys.exit(main())
