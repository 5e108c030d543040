"""A second opinion on a model file of linsep, for those who do not trust linsep: this file shares no code with it.

    python checker.py model.json rows.csv [--target NAME] [--weights COLUMN]

It needs Python 3.11 only. `rows` are those of the fit: LIBSVM text, or CSV with a header, all numbers but the labels
(where the model encodes categories, dates or text: as `linsep verify MODEL DATA --independent --rows rows.csv` writes
them). It proves one sentence about the model as it predicts (two classes: w·x + b > 0, or ≥ a threshold, is the second;
more: plane k is for class k), minimising what its parameters say. What the file says was proven is but a hint: if
wrong, a proof may fail, never succeed. Exit code 0: proven as the parameters ask; 1: true, but less; 2: not verified.

Arithmetic. Floats are read as the rationals they are; all sums of products are of whole numbers, exactly. Only exp and
log are rounded, by `decimal`, correctly and to 45 digits: they count as off by a share of REL, which is much more.
Weights c are whole multiples of 1/one, rounded down by a share of 2^-120 at the most: losses not being negative, the
least objective only goes down by that, and to the model's objective it is added again.

Mathematics. P(w, b) = l2 ½‖w‖² + l1 ‖w‖₁ + Σ cᵢ ℓ(zᵢ) with c = C × weight × class weight, z = y (w·x + b). By Fenchel,
for α with −αᵢ/cᵢ among the slopes of ℓ and (b being free) Σ αᵢ yᵢ = 0, min P ≥ −Σ cᵢ ℓ*(−αᵢ/cᵢ) − penalty*(Σ αᵢ yᵢ xᵢ);
α = 0 says min P ≥ 0. For the softmax α are masses aᵢₖ ≥ 0 that move from the own class to others, as much out of each
class as into it, and the first sum is Σ cᵢ entropy(aᵢ/cᵢ). Without a penalty see `curvature`.
"""

import argparse, base64, csv, json, re, struct, sys, time  # noqa: E401, I001
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal, localcontext
from fractions import Fraction
from math import gcd, inf, isqrt, lcm
from operator import mul
from pathlib import Path
from typing import Any

Plane = Sequence[Fraction]  # w and, where there are intercepts, b
Masses = list[dict[int, int]]  # of each example, what moves from its class to which other one
Bends = list[tuple[int, int, int, int, int]]  # see `curvature`: example, classes k and l, h, u
REL, TINY, ZERO, PACKED = Decimal("1e-30"), Decimal("1e-12"), Fraction(0), (("values", "<d"), ("columns", "<I"))
MISSING = ("", "?", "NA", "N/A", "n/a", "NaN", "nan", "NULL", "null", "None", "<NA>", "#N/A", "#NA", "NaT")
PROOFS = {"HardMarginSVC": "margin", "Perceptron": "separability", "ZeroOneClassifier": "mistakes"}  # others: "gap"
LOSSES: dict[str, tuple[Any, Any]] = {  # ℓ(z) and −ℓ'(z), beside the logistic loss
    "perceptron": (lambda z: max(0, -z), lambda z: int(z <= 0)),
    "hinge": (lambda z: max(0, 1 - z), lambda z: int(z <= 1)),
    "squared_hinge": (lambda z: max(0, 1 - z) ** 2, lambda z: 2 * max(0, 1 - z)),
    "modified_huber": (lambda z: -4 * z if z < -1 else max(0, 1 - z) ** 2, lambda z: min(4, 2 * max(0, 1 - z))),
    "square": (lambda z: (1 - z) ** 2, lambda z: 2 * (1 - z))}

class Refused(ValueError):  # noqa: N818
    """Why the sentence is not proven."""

@dataclass
class Finding:
    """What was found; `bounds` are, of each problem, P from and to, and what no planes go below."""

    code: int
    sentence: str
    unchecked: list[str] = field(default_factory=list)
    gap: float = 0.0
    bounds: list[tuple[Fraction, Fraction, Fraction]] = field(default_factory=list)

    def __str__(self) -> str:
        lists = f"\nChecked: that, from every row, rounding accounted for.\nNOT checked: {'; '.join(self.unchecked)}."
        head = ("Proven", "True, but not all that was asked for", "NOT verified")[self.code]
        return f"{head}: {self.sentence}.{lists if self.code < 2 else ''}"

# -- reading ----------------------------------------------------------------------------------------------------------
def plain(value: Any) -> Any:
    """Undo how a model file writes settings that JSON does not know."""
    kind, content = next(iter(value.items())) if isinstance(value, dict) and len(value) == 1 else ("", value)
    if kind == "object":
        return content["class"].split(".")[-1], {name: plain(item) for name, item in content["settings"].items()}
    return float(content) if kind == "float" else {plain(k): plain(v) for k, v in content} if kind == "map" else value

def unpacked(said: Any) -> Any:
    """Return the coefficients of each plane: lists, or packed, all or those that are not zero with their columns."""
    if isinstance(said, list):
        return said
    texts, (K, d) = [(base64.b64decode(said.get(name, "")), kind) for name, kind in PACKED], said["shape"]
    x, at = ([value for (value,) in struct.iter_unpack(kind, raw)] for raw, kind in texts)
    ends, at = said.get("ends", [*range(d, K * d + 1, d)]), at or [*range(d)] * K
    parts = [dict(zip(at[a:b], x[a:b], strict=True)) for a, b in zip([0, *ends], ends, strict=False)]
    return [[*map(part.get, range(d), [0.0] * d)] for part in parts]

def read_rows(path: str, model: dict[str, Any], target: str | None, weights: str | None) -> tuple[Any, ...]:
    """Return rows, labels as text, weights (or None), and what has to be said of them."""
    content = sys.stdin.read() if path == "-" else Path(path).read_text("utf-8-sig")
    text, encoding = [line for line in content.splitlines() if line.strip()], model.get("encoding") or {}
    if any(":" in of for of in text) and all(re.fullmatch(r"\s*[^\s,;]+(\s+\w+:\S+)*\s*(#.*)?", of) for of in text):
        lines = [[of for of in line.split("#")[0].split() if not of.startswith("qid:")] for line in text]
        cells = [[(int(j), float(x)) for j, x in (pair.split(":") for pair in line[1:])] for line in lines]
        base = encoding.get("base", min(1, *(j for row in cells for j, _ in row)))
        return [([j - base for j, _ in row], [x for _, x in row]) for row in cells], [of[0] for of in lines], None
    lines = [[*map(str.strip, line)] for line in csv.reader(text, delimiter=max(",\t;|", key=text[0].count))]
    has_names = encoding.get("header", True) or (target or encoding.get("target")) in lines[0]
    header = lines.pop(0) if has_names else [f"column_{j + 1}" for j in range(len(lines[0]))]
    at, target = {name: j for j, name in enumerate(header)}, target or encoding.get("target") or header[-1]
    table = encoding if encoding.get("kind") == "table" else None
    raw = table and table["degree"] == 1 and not (table["levels"] or table["words"]) and {*table["numbers"]} <= {*at}
    names = model.get("features", {}).get("names") or [name for name in header if name not in (target, weights)]
    numbers = encoding["numbers"] if raw else dict.fromkeys(names, (0.0, 1.0, False))  # mean, scale, lacks, fill
    width, rows = sum(1 + bool(of[2]) for of in numbers.values()), []
    lost = [f"{name} lacks" for name in (*numbers, target, weights) if name is not None and name not in at]
    if lost or (n := model.get("features", {}).get("count", width)) != width:
        raise Refused(f"not the model's columns: {header[:12]}; {', '.join(lost) or f'{width} features, not {n}'}")
    known, absent = [of for of in lines if of[at[target]] not in MISSING], (*MISSING, *encoding.get("missing", ()))
    for line in known:
        given = [(None if raw and line[at[n]] in absent else float(line[at[n]]), *of) for n, of in numbers.items()]
        x = [(((fill or [mean])[0] if x is None else x) - mean) / scale for x, mean, scale, _, *fill in given]
        x += [float(value is None) for value, _, _, some, *_ in given if some]
        rows.append(([j for j, value in enumerate(x) if value], [value for value in x if value]))
    s, lack = weights and [float(line[at[weights]]) for line in known], len(lines) - len(known)
    unsaid = ["how its features were made"] * bool(table and not raw) + [f"{lack} rows without a label"] * bool(lack)
    return rows, [line[at[target]] for line in known], s, *unsaid

def encode(classes: Sequence[Any], labels: Sequence[str]) -> list[int]:
    """Return the number of each label's class, whole numbers and texts (but for spaces around) being read exactly."""
    key: Any = {bool: str.title, str: str.strip, int: Context(99, traps=[]).create_decimal}.get(type(classes[0]), float)
    number = {key(str(label)): k for k, label in enumerate(classes)}
    if len(number) < len(classes) or len({*map(type, classes)}) > 1:
        raise Refused(f"the classes {classes} cannot be told apart by their labels in text: rename them")
    if lost := [label for label in labels if key(label) not in number]:
        raise Refused(f"the label {lost[0]!r} is not among the model's classes {classes}")
    return [number[key(label)] for label in labels]

class Data:
    """Rows y [x, 1] (y = 1 unless given, the 1 where there are intercepts) in whole numbers, which are times `one`."""

    def __init__(self, rows: Iterable[Any], d: int, intercept: bool, y: Sequence[int] = ()) -> None:
        given = [(tuple(columns), [float(x).as_integer_ratio() for x in values]) for columns, values in rows]
        if any(len({*of}) < len(of) or min(of, default=0) < 0 or max(of, default=0) >= d for of, _ in given):
            raise Refused(f"a row has a column twice, or one that is not among the model's {d}")
        self.d, self.n, self.intercept, self.width = d, len(given), intercept, d + intercept
        self.origin = "" if intercept else " through the origin"
        self.y, self.one = list(y) or [1] * len(given), max([1, *(q for _, ratios in given for _, q in ratios)])
        whole = [[sign * a * (self.one // q) for a, q in of] for sign, (_, of) in zip(self.y, given, strict=True)]
        ones = [([d] * intercept, [sign * self.one] * intercept) for sign in self.y]
        self.rows = [((*of, *j), [*x, *b]) for (of, _), x, (j, b) in zip(given, whole, ones, strict=True)]

    def scores(self, planes: Sequence[Plane]) -> tuple[list[list[int]], int]:
        """Return the product of every plane and row, exactly: whole numbers over the unit that comes with them."""
        unit = lcm(*(a.denominator for plane in planes for a in plane))
        whole = [[int(a * unit) for a in plane].__getitem__ for plane in planes]
        return [[sum(map(mul, map(W, columns), x)) for columns, x in self.rows] for W in whole], unit * self.one

    def combine(self, a: Sequence[int]) -> list[Fraction]:
        """Return the sum of a times the rows."""
        total = [0] * self.width
        for (columns, values), factor in zip(self.rows, a, strict=True):
            for j, x in zip(columns, values, strict=True) if factor else ():
                total[j] += factor * x
        return [Fraction(value, self.one) for value in total]

    def dense(self, i: int) -> tuple[int, ...]:
        """Return row i, zeros included."""
        return tuple(map(dict(zip(*self.rows[i], strict=True)).get, range(self.width), [0] * self.width))

# -- distance from the optimum: p is a `Case`, of two classes, 0 and 1, only 1 has a plane ----------------------------
def examine(p: "Case", floor: Fraction = ZERO) -> tuple[Fraction, Fraction, Masses, Bends]:
    """Return between what Σ c ℓ lies, α = −c ℓ', and what `curvature` needs; the logistic loss is log(1 + Σ e^−z)."""
    scores, unit = p.data.scores([*p.planes.values()])
    scores, total = scores if len(scores) == p.K else [[0] * p.data.n, *scores], ZERO
    low, high, masses, bends, moves = Decimal(0), Decimal(0), Masses(), Bends(), [(p.shift * sign) for sign in (-1, 1)]
    for i, (y, c) in enumerate(zip(p.codes, p.c, strict=True)):
        z = {k: Fraction(scores[y][i] - scores[k][i], unit) for k in range(p.K) if k != y}
        if p.loss != "logistic":
            total, near = total + c * LOSSES[p.loss][0](z[1 - y]), round((z[1 - y] + moves[y]) * 2**60)  # a kink is one
            masses.append({1 - y: int(c * LOSSES[p.loss][1](Fraction(near, 2**60)) * p.scales[y])})
            bends += [(i, 1, 0, 2 * c, (1 - 2 * y) * int(2 * c * (1 - z[1 - y])))] if p.loss == "square" else []
            continue
        if max(map(abs, z.values())) > 10**9:
            raise Refused(f"row {i} has scores that differ by more than 1e9, of which this program takes no exp")
        e = {k: (-Decimal(x.numerator) / x.denominator).exp() for k, x in z.items()}
        E = sum(e.values(), Decimal(0))
        low += c * ((1 + E).ln() * (1 - REL) if E > TINY else E - E * E / 2) * (counts := floor <= E)
        high += c * ((1 + E).ln() if E > TINY else E)
        there = {k: x * (-Decimal(float(moves[y]))).exp() for k, x in e.items()} if p.shift else e
        rest = (1 + sum(there.values())) * (1 + REL)
        masses.append({k: int(int(c * x / rest) * p.scales[y]) for k, x in there.items()})
        q = {k: x / (1 + E) * (1 - REL) for k, x in (e | {y: Decimal(1)}).items()}
        for k, m in ((b, a) if a == y else (a, b) for b in range(p.K) for a in range(b) if counts and not p.l1 + p.l2):
            bends.append((i, k, m, int(c * q[k] * q[m]), int(c * q[k]) if m == y else 0))
    return (total + Fraction(low * (1 - REL))) / p.one, (total + Fraction(high * (1 + REL))) / p.one, masses, bends

def balance(p: "Case", masses: Masses) -> None:
    """Make as much flow out of every class as into it: shrink flows from one with too much to one with too little."""
    classes = range(p.K if p.intercept else 0)
    of_class = [[mass for y, mass in zip(p.codes, masses, strict=True) if y == k] for k in classes]
    flow = [[sum(mass.get(m, 0) for mass in of) for m in classes] for of in of_class]
    surplus = [sum(flow[k]) - sum(row[k] for row in flow) for k in classes]
    for k, m in ((k, m) for k in classes for m in classes if k != m):
        taken, seen, kept = max(0, min(surplus[k], -surplus[m], flow[k][m])), 0, 0
        surplus[k], surplus[m] = surplus[k] - taken, surplus[m] + taken
        for mass in of_class[k] if taken else ():
            seen += mass[m]
            mass[m] = seen * (flow[k][m] - taken) // flow[k][m] - kept  # in proportion, the sum being exact
            kept += mass[m]
    for mass in masses if any(surplus) else ():  # that was not enough
        mass.update(dict.fromkeys(mass, 0))

def gain(p: "Case", masses: Masses) -> Fraction:
    """Return a number that −Σ c ℓ*(−α/c) is not below: Σ α for the hinge, Σ α − α²/4c for squares, or the entropy."""
    total, alpha = Decimal(0), [sum(mass.values()) for mass in masses]
    if p.loss != "logistic":
        squares = sum(-(-a * a // (4 * c)) for a, c in zip(alpha, p.c, strict=True)) if p.loss[0] in "sm" else 0
        return Fraction(sum(alpha) - squares, p.one) if p.loss != "perceptron" else ZERO
    for c, mass in zip(p.c, masses, strict=True):
        for part in filter(None, (*mass.values(), c - sum(mass.values()))):
            t = Decimal(c - part) / c  # −log(1 − t) is at least t + t²/2
            total += part * (t + t * t / 2 if t < TINY else -(Decimal(part) / c).ln())
    return Fraction(total * (1 - REL)) / p.one

def dual_bound(p: "Case", masses: Masses) -> Fraction:
    """Return a number that no planes go below, from masses that are made feasible first."""
    for i, alpha in p.known.items():
        masses[i] = {1 - p.codes[i]: int(alpha * p.one)}
    for mass, c in zip(masses, p.c, strict=True) if p.loss != "square" else ():
        mass.update({k: max(0, min(a, c * {"s": 1 << 99, "m": 4}.get(p.loss[0], 1))) for k, a in mass.items()})
    for attempt in range(6):
        balance(p, masses)
        flows = [mass | {y: -sum(mass.values())} for y, mass in zip(p.codes, masses, strict=True)]
        v = [abs(x) / p.one for k in p.planes for x in p.data.combine([of.get(k, 0) for of in flows])[: p.data.d]]
        if p.l2 or max(v) <= p.l1:
            return max(ZERO, gain(p, masses) - (sum(max(x - p.l1, ZERO) ** 2 for x in v) / (2 * p.l2) if p.l2 else 0))
        shrink = p.l1 / max(v) * (1 - Fraction(attempt, 1 << 60))  # only a box of v has a finite conjugate
        masses = [{k: int(a * shrink) for k, a in mass.items()} for mass in masses]
    return ZERO

def curvature(p: "Case", bends: Bends) -> Fraction | None:
    """Return what P − min P does not exceed without a penalty, from the curvature at θ; None if nothing can be shown.

    Rows are r = (eₖ − e_l) ⊗ [x, 1], class 0 held at zero; H = Σ h r rᵀ, h being cᵢ pₖ p_l (for the square 2c) rounded
    down; g = Σ u r is the gradient. Along v scores of an example spread by ``max |r·v|`` ≤ m ‖v‖_H, m = max ‖r‖_{H⁻¹}.
    The third derivative is a third central moment, at most this spread times the second: the curvature falls no faster
    than e^(−m‖v‖t), and with λ = ‖g‖_{H⁻¹}, s = mλ < 1 (for the square s = 0) no P(θ + v) is below P(θ) − λ² (1 + s)/2
    (Bach 2010, Self-concordant analysis for logistic regression). Eliminating below the diagonal makes T with T H Tᵀ
    diagonal, and leaves out columns that are combinations of others on all rows with h > 0.
    """
    g, vectors = [0] * (p.data.width * (p.K - 1)), list[list[tuple[int, int]]]()  # these without their zeros
    H = [[0] * len(g) for _ in g]
    for i, k, m, h, u in bends:
        parts = [(p.data.width * (of - 1), 1 if of == k else -1) for of in (k, m) if of]
        vectors.append(r := [(at + j, sign * x) for at, sign in parts for j, x in zip(*p.data.rows[i], strict=True)])
        for j, x in r:
            g[j] += u * x
            for other, value in r:
                H[j][other] += h * x * value
    short, bits = [], 256 + max(map(max, H)).bit_length()
    for image, T in relations(H)[0]:
        by = max(map(abs, T)).bit_length() - 512  # so many bits of T will do
        short.append(([int(t * Fraction(2) ** -by) for t in T], int(sum(map(mul, image, T)) * Fraction(4) ** -by)))
    def size(r: Sequence[tuple[int, int]]) -> Fraction:  # the root of Σ (T r)²/(T H Tᵀ), rounded up
        off = sum(abs(x) for _, x in r)
        squares = sum(1 + ((abs(sum(T[j] * x for j, x in r)) + off) ** 2 << 2 * bits) // of for T, of in short)
        return Fraction(isqrt(squares) + 1, 1 << bits)
    longest = max(map(size, vectors))
    decrement = size([*enumerate(g)]) + sum(2 + (p.c[i] >> 90) for i, *_ in bends) * longest  # each u may be off
    s, whole = ZERO if p.loss == "square" else longest * decrement, len(short) == len(g) or all(of[3] for of in bends)
    return decrement**2 * (1 + s) / 2 / p.one if s < 1 and whole else None

def relations(vectors: Sequence[Sequence[int]]) -> tuple[list[tuple[list[int], list[int]]], list[list[int]]]:
    """Eliminate: return reduced vectors with the combinations they are, and a basis of combinations that give zero."""
    width, k, rows = len(vectors[0]), 0, [[*v, *(i == j for j in range(len(vectors)))] for i, v in enumerate(vectors)]
    for j in range(width):
        if found := [i for i in range(k, len(rows)) if rows[i][j]]:
            rows[k], rows[found[0]], pivot, k = rows[found[0]], rows[k], rows[found[0]], k + 1
            for i in range(k, len(rows)):
                new = [a * pivot[j] - b * rows[i][j] for a, b in zip(rows[i], pivot, strict=True)]
                rows[i] = [a // common for a in new] if (common := gcd(*new)) else new
    return [(row[:width], row[width:]) for row in rows[:k]], [row[width:] for row in rows[k:]]

def optimum(p: "Case", floor: Fraction = ZERO) -> tuple[Fraction, Fraction, Fraction]:
    """Return between what P lies, and what no planes go below."""
    (low, high, masses, bends), w = examine(p, floor), [x for plane in p.planes.values() for x in plane[: p.data.d]]
    penalty = p.l2 / 2 * sum(x * x for x in w) + p.l1 * sum(map(abs, w))
    below = curvature(p, bends) if bends and not (p.l1 or p.l2) else None
    if below is None and bends and p.loss == "logistic" and not floor:  # far rows without their loss: no P rises
        return optimum(p, min(p.tol, Fraction(1)) / 4 * low * p.one / sum(p.c))
    least = dual_bound(p, masses) if p.l1 or p.l2 else max(ZERO, low - below) if below is not None else ZERO
    return low + penalty, high * (1 + Fraction(1, 1 << 110)) + penalty, least

# -- separation, margins, mistakes: rows are y [x, 1] with y = ±1, z their products with a plane ----------------------
def fraction(x: Any) -> Fraction:
    """Return a number of a file: a float, or p/q in base 16."""
    return Fraction(*(int(part, 16) for part in x.split("/"))) if isinstance(x, str) else Fraction(x)

def hull(data: Data, points: Sequence[int], weights: Iterable[Any]) -> list[int]:
    """Return weights λ of all rows, in whole numbers; raise unless they are positive, and on different rows."""
    shares = dict(zip(points, map(fraction, weights), strict=True))
    if len(shares) < len(points) or min(shares.values()) <= 0:
        raise Refused("the points of a hull must be different rows with positive weights")
    unit = lcm(*(share.denominator for share in shares.values()))
    return [int(shares.get(i, 0) * unit) for i in range(data.n)]

def verdict(data: Data, proof: dict[str, Any], place: dict[int, int]) -> str:
    """Check a verdict on separability: a plane with z > 0 (or z ≥ 0, not all 0); λ > 0 on rows that add up to zero.

    Such λ exclude a separation (Gordan); if their rows span all, a weak one too (Stiemke): its plane would be zero on
    them, hence on all. They span all if every vector orthogonal to them is orthogonal to all.
    """
    if (kind := proof["verdict"]) in ("separable", "quasi"):
        theta = [*map(fraction, proof["plane"] or [*proof["coef"], proof["intercept"]])][: data.width]
        if min(z := data.scores([theta])[0][0]) < (kind == "separable") or max(z) <= 0:
            raise Refused(f"the plane that is to show {kind!r} does not")
        if kind == "separable":
            return f"some plane{data.origin} separates the classes"
    for name in ("", "support_") if kind == "overlap" else ("",):
        rows = [place[i] for i in proof[name[:-1] or "points"]]
        if any(data.combine(hull(data, rows, proof[f"{name}weights"]))):
            raise Refused("the two combinations of rows that are to show an overlap are not the same point")
    for x in relations([*zip(*map(data.dense, rows), strict=True)])[1] if kind == "overlap" else ():
        if any(data.scores([[*map(Fraction, x)]])[0][0]):
            raise Refused("the rows that are to exclude a weak separation do not span all")
    how = {"overlap": ", not even weakly", "quasi": " strictly, one does so weakly"}.get(kind, "")
    return f"no plane{data.origin} separates the classes{how}"

def margin(p: "Case", z: Sequence[Fraction], points: Sequence[int]) -> tuple[Fraction, Fraction]:
    """Return the squares of the plane's margin, min z/‖w‖, and of one that none exceeds: half the hulls' distance."""
    if min(z) <= 0 and not p.threshold:
        raise Refused("the plane does not separate the classes, so it has no margin")
    data, a = p.data, hull(p.data, points, p.proof["weights"])
    sums = {y: sum(x for x, of in zip(a, data.y, strict=True) if y == of or not data.intercept) for y in (1, -1)}
    apart = data.combine([x * sums[-y] for x, y in zip(a, data.y, strict=True)])[: data.d]
    high = sum((x * x for x in apart), ZERO) / (sums[1] * sums[-1]) ** 2 / (4 if data.intercept else 1)
    return max(ZERO, min(z)) ** 2 / sum((x * x for x in p.planes[1][: data.d]), ZERO), high

def lightest(conflicts: list[frozenset[int]], weights: Sequence[Fraction], most: Fraction, end: float) -> Fraction:
    """Return what no set of rows that meets all conflicts weighs less than: the least weight, or `most` if above."""
    left, bound = {i: weights[i] for one in conflicts for i in one}, ZERO
    for one in sorted(conflicts, key=len):  # shares that load no row with more than its weight
        bound, left = bound + (share := min(left[i] for i in one)), left | {i: left[i] - share for i in one}
    if bound >= most or not conflicts or time.monotonic() > end:
        return min(bound, most)
    for i in min(conflicts, key=lambda one: len(one)):  # one of these is in the set: i, or one of those after it
        most = min(most, weights[i] + lightest([c for c in conflicts if i not in c], weights, most - weights[i], end))
        conflicts = [one - {i} for one in conflicts]
    return most

def fewest(points: Sequence[tuple[Sequence[int], Fraction]]) -> Fraction:
    """Return the least weight of vectors a with a·θ < 0, of all θ orthogonal to none."""
    # A cell of such θ has a wall, orthogonal to some a: on it the same is asked in a dimension less, without parallels.
    best = sum((s for _, s in points), ZERO)
    for a, _ in points:
        t, left, sides = next(j for j, x in enumerate(a) if x), [], [ZERO, ZERO]
        for b, s in points:
            on = [(x * a[t] - b[t] * y) * (1 if a[t] > 0 else -1) for x, y in zip(b, a, strict=True)]
            left += [(on, s)] if any(on) else []
            sides[b[t] * a[t] > 0] += s if not any(on) else 0
        best = min(best, min(sides) + fewest(left))
        if not left:
            break  # all are parallel, and have one wall
    return best

def mistakes(p: "Case", z: Sequence[Fraction]) -> tuple[Fraction, Fraction]:
    """Return the weight of rows with z ≤ 0, and what that is at least for every plane, equal rows being one."""
    data, proof, wrong = p.data, p.proof, sum((weight for weight, of in zip(p.s, z, strict=True) if of <= 0), ZERO)
    vectors, groups = [data.dense(i) for i in range(data.n)], dict[tuple[int, ...], Fraction]()
    for vector, weight in zip(vectors, p.s, strict=True):
        groups[vector] = groups.get(vector, ZERO) + weight
    lost, found, at = groups.pop((0,) * data.width, ZERO), [], {of: k for k, of in enumerate(groups)}  # z = 0 for all
    if proof["method"] == "cells":
        return wrong, lost + fewest([*groups.items()]) if announce(1e-5 * len(at) ** data.width) else ZERO
    for conflict in proof["conflicts"]:
        rows = [vectors[p.place[i]] for i in conflict]  # λ ≥ 0 add them up to zero: every plane errs on one of them
        if not any(min(x) >= 0 or max(x) <= 0 for x in relations(rows)[1]):
            raise Refused(f"the rows {conflict} are no conflict: some plane has them all on their sides")
        found.append(frozenset(at[row] for row in rows))
    return wrong, lost + lightest(found, [*groups.values()], wrong - lost, time.monotonic() + 20)

# -- the sentence -----------------------------------------------------------------------------------------------------
def announce(seconds: float) -> bool:
    """Say how long it will take, if that is more than a few seconds; return whether one can wait for it."""
    print(f"this will take about {seconds:.0f} s\n" * (seconds > 3), end="", file=sys.stderr)
    return seconds < 120

def shown(x: Fraction, up: bool, digits: int = 10) -> str:
    """Return a number in a few digits, rounded up or down."""
    context = Context(prec=digits, rounding="ROUND_CEILING" if up else "ROUND_FLOOR")
    return format(context.divide(Decimal(x.numerator), Decimal(x.denominator)), ".10g" if digits > 2 else ".1e")

def objective(name: str, said: dict[str, Any]) -> tuple[str, Fraction, Fraction, Fraction]:
    """Return the loss, the weights l2 and l1 of the penalty, and C, from the parameters of an estimator."""
    loss: Any = {"LogisticRegression": "logistic", "LeastSquaresClassifier": "square"}.get(name) or said.get("loss", "")
    loss = loss if isinstance(loss, str) else re.sub(r"(?<!^)([A-Z])", r"_\1", loss[0]).lower()
    penalty, C, by = said.get("penalty", "l2"), said.get("C"), said.get("multi_class", "ovr")
    kind, settings = penalty if isinstance(penalty, tuple) else (penalty, {"l1_ratio": said.get("l1_ratio")})
    usual = settings.get("l1_ratio") or 0.5 * (settings.get("l1_ratio") is None and name != "LogisticRegression")
    r = {"l2": 0.0, "l1": 1.0, "elasticnet": usual, "deprecated": usual}.get(str(kind).lower(), -1.0)
    l2, l1 = (settings["l2"], settings["l1"]) if kind == "Penalty" else (1.0 - r, r)
    l2, l1, C = (0, 0, 1) if kind in (None, "NoPenalty") or C in (None, inf) else (l2, l1, C)
    if name not in PROOFS and (loss not in ("logistic", *LOSSES) or min(l2, l1) < 0 or C <= 0 or "crammer" in by):
        raise Refused(f"no bound is known for the loss {loss!r} ({by}) with C={C}, {l2}·½‖w‖² and {l1}·‖w‖₁")
    return loss, Fraction(l2), Fraction(l1), Fraction(C)

class Case:
    """A plane of a model, or all of a softmax, on those rows that have weight (`place`: where each is among them)."""

    def __init__(self, model: dict[str, Any], rows: Sequence[Any], labels: Sequence[str], weights: Any, k: int) -> None:
        said = {key: plain(value) for key, value in model["estimator"]["parameters"].items()}
        self.name, classes, by = model["estimator"]["class"], model["classes"]["values"], said.get("class_weight") or {}
        codes, s = encode(classes, labels), [Fraction(x) for x in weights or [1] * len(rows)]
        if by == "balanced":  # every class weighs the same
            sums = [sum(x for x, code in zip(s, codes, strict=True) if code == k) for k in range(len(classes))]
            by = {label: sum(sums) / (len(sums) * of) for label, of in zip(classes, sums, strict=True) if of}
        s = [x * Fraction(by.get(classes[code], 1)) for x, code in zip(s, codes, strict=True)]
        kept, biases = [i for i, x in enumerate(s) if x], [*map(Fraction, model["intercept"])]
        self.s, self.codes = [s[i] for i in kept], [codes[i] for i in kept]
        self.threshold, self.intercept = Fraction(model.get("threshold") or 0), bool(said.get("fit_intercept", True))
        if not kept or min(s) < 0 or (any(biases) and not self.intercept) or (self.threshold and len(classes) > 2):
            raise Refused("weights must be positive, intercepts asked for, and a threshold is for two classes")
        d, both = model["features"]["count"], [*zip(unpacked(model["coefficients"]), biases, strict=True)]
        if len(both) != (1 if len(classes) == 2 else len(classes)) or any(len(w) != d for w, _ in both):
            raise Refused(f"two classes need one plane, more one each, with {d} coefficients")
        self.planes: dict[int, Plane] = {k: [*map(Fraction, w), *[b] * self.intercept] for k, (w, b) in enumerate(both)}
        (self.loss, self.l2, self.l1, C), at = objective(self.name, said), {i: k for k, i in enumerate(kept)}
        most = Fraction(max([1.0, *(abs(x) for i in kept for x in rows[i][1])]))
        self.place, K, least, goal = at, len(classes), C * min(self.s) / most**2, said.get("tol")  # α may be small
        self.tol = Fraction(goal if isinstance(goal, int | float) else 1e-4)
        self.one = 1 << max(0, 130 - least.numerator.bit_length() + least.denominator.bit_length())
        self.c = [int(C * x * self.one) for x in self.s]
        softmax = K > 2 and self.name == "LogisticRegression" and said["multi_class"] != "ovr"
        self.count, self.K = 1 if softmax or K == 2 else K, K if softmax else 2
        self.who = f"{classes[k]} against the rest: " if self.count > 1 else ""
        proofs = (model["certificate"] or {}).get(PROOFS.get(self.name, "gap")) or [None] * self.count
        self.proof, hint = proofs[k], (proofs[k] or {}).get("dual_point") or {"rows": [], "values": []}
        self.known = {at[i]: Fraction(x) for i, x in zip(hint["rows"], hint["values"], strict=True) if i in at}
        self.scales = [Fraction(hint.get(side, 1)) for side in ("negative", "positive")] + [Fraction(1)] * K
        self.shift, self.asked = Fraction(hint.get("shift", 0)), f" (tol={float(self.tol):g})"
        if not softmax:
            self.planes, self.codes = {1: self.planes[k]}, [int(code == (k if K > 2 else 1)) for code in self.codes]
        self.data = Data([rows[i] for i in at], d, self.intercept, [y or -1 for y in self.codes if self.name in PROOFS])

    def gap(self, found: Finding) -> tuple[bool, str]:
        """Prove how far from the optimum it can be, as a share of the objective."""
        stored = sum(len(columns) for columns, _ in self.data.rows) / self.data.n
        bends = 0 if self.l1 or self.l2 else 4e-7 * (stored * self.K + 6) * self.data.width * self.K
        announce(self.data.n * (3e-5 + 2e-6 * stored + 1e-4 * self.K * (self.loss == "logistic") + bends))
        low, high, least = optimum(self)
        share = ZERO if high <= least else (high - least) / low if low else None
        found.gap = max(found.gap, inf if share is None else float(share * (1 + Fraction(1, 1 << 50))))
        found.bounds.append((low, high, least))
        terms = [f"{float(x):g}·{norm} + " for x, norm in ((self.l2, "½‖w‖²"), (self.l1, "‖w‖₁")) if x]
        within = "nothing" if share is None else f"{shown(share, True, 2)} of the optimum"
        what = f"the objective ({''.join(terms)}{self.loss} loss) is at most {shown(high, True)}, no coefficients give"
        return share is None or share > self.tol, f"{what} less than {shown(least, False)}: within {within}{self.asked}"

    def exact(self, found: Finding) -> tuple[bool, str]:
        """Prove what the plane does as it predicts, and that none does better: keep a margin, err, separate."""
        data, proof, moved = self.data, self.proof, bool(self.threshold) and not self.intercept
        (scores,), unit = data.scores([self.planes[1]])
        z = [Fraction(a, unit) - y * self.threshold for a, y in zip(scores, data.y, strict=True)]
        none = f"no plane{data.origin}{' (which this, with its threshold, is not)' * moved}"
        if self.name == "HardMarginSVC":
            low, high = margin(self, z, [self.place[i] for i in proof["points"]])
            found.gap = max(found.gap, float(share := max(ZERO, 1 - low / high)))
            kept = f"the margin squared is at least {shown(low, False)}, that of {none} above {shown(high, True)}"
            return moved or not low or share > self.tol, f"{kept}: within {shown(share, True, 2)}{self.asked}"
        if self.name == "ZeroOneClassifier":
            weight, least = mistakes(self, z)
            best = "" if least >= weight else f" than {shown(least, False)} (the file says {proof['bound']:g})"
            return moved or least < weight, f"mistakes weigh {shown(weight, True)}, and with {none} less{best}"
        wrong = sum(of <= 0 for of in z)
        others = "nothing is said of others" if proof is None else verdict(data, proof, self.place)
        asked = not wrong or (proof is not None and proof["verdict"] != "separable")
        return moved or not asked, f"the plane leaves {wrong} rows not strictly on their sides, {others}"

def check(model: Any, rows: Sequence[Any], labels: Sequence[str], weights: Any = None, *said: str) -> Finding:
    """Return what can be proven of a model, or of a verdict on separability, on these rows."""
    found, case, k = Finding(0, "", [*said, "what else it says: names, counts, history, digests, threshold"]), None, 0
    try:
        if "verdict" in model:
            d, (no, yes) = 1 + max([0, *(j for columns, _ in rows for j in columns)]), model["classes"]
            data = Data(rows, d, model["fit_intercept"], [2 * code - 1 for code in encode([no, yes], labels)])
            return Finding(0, verdict(data, model, {i: i for i in range(data.n)}), ["what else is in the file"])
        with localcontext(Context(prec=45, Emax=MAX_EMAX, Emin=MIN_EMIN)):
            while case is None or k < case.count:
                case = Case(model, rows, labels, weights, k)
                less, sentence = case.exact(found) if case.name in PROOFS else case.gap(found)
                found.code, k = max(found.code, int(less)), k + 1
                found.sentence += f"{'; ' if found.sentence else ''}{case.who}{sentence}"
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError, RecursionError) as error:
        return Finding(2, str(error) if isinstance(error, Refused) else f"the file is damaged ({error!r})", gap=inf)
    if "ballots" in str(model.get("fitted")):
        found.code, found.sentence = 1, f"{found.sentence}; but predictions are by a vote of other planes, not checked"
    return found

def main(arguments: Sequence[str] | None = None) -> int:
    """Check the model on the rows that the command line names."""
    parser = argparse.ArgumentParser(description="Check what is proven of a model of linsep, without linsep.")
    parser.add_argument("model", help="a model file, or a verdict on separability, in JSON")
    parser.add_argument("rows", help="the rows of the fit: LIBSVM text, or CSV with a header; - for standard input")
    parser.add_argument("--target", help="the column with the labels")
    parser.add_argument("--weights", help="the column with the weights")
    said = parser.parse_args(arguments)
    try:
        model = json.loads(Path(said.model).read_text("utf-8"))
        finding = check(model, *read_rows(said.rows, model, said.target, said.weights))
    except (OSError, ArithmeticError, AttributeError, LookupError, TypeError, ValueError, RecursionError) as error:
        finding = Finding(2, f"the files cannot be read: {error}")
    print(finding)
    return finding.code

if __name__ == "__main__":
    sys.exit(main())
