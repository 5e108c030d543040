"""Whether what `verify` says of an accepted file is true, and whatever else the file says with it.

The outcome is read from its intervals and its words, the model from the raw JSON; nothing of linsep's arithmetic is
used. A complaint names what is false; whatever the outcome lists as not checked may be anything.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from .choices import Chosen
from .honest import Data
from .objectives import Numbers, Objective, Plane, largest_margin, margin_of, mp, mpf
from .rationals import least_mistakes, moves, recession, whole_rows
from .reading import Case, Raw, objective_in_words

__all__ = ["Judge", "Judgement"]

#: What weights and sums in doubles may differ by from the same in rationals.
ROUNDING = 1e-13
#: What a number with some digits printed may differ by.
PRINTED = 1e-5


@dataclass(frozen=True)
class Judgement:
    """What an accepted file is, and why.

    Attributes
    ----------
    verdict : str
        "same" as the honest one; "true" all the same; "unchecked": only what the outcome says it did not check differs;
        "false": the sentence is not so; "untrue": a number of the file is not so; "silent": something was changed that
        is neither checked nor said not to be. The last three must not be.
    complaints, unjudged : tuple of str
        What is wrong, and what the oracle cannot tell.
    """

    verdict: str
    complaints: tuple[str, ...] = ()
    unjudged: tuple[str, ...] = ()


# -- the judge --------------------------------------------------------------------------------------------------------

NUMBER = r"(?:about )?([-+]?(?:\d[\d.]*(?:e[-+]?\d+)?|inf|nan))"
GAP = re.compile(rf"within {NUMBER} of the optimum")
ORIGIN = "(?: through the origin)?"
MARGIN = re.compile(rf"largest margin of any plane{ORIGIN} lies between {NUMBER} and {NUMBER}")
CUT_MARGIN = re.compile(rf"the plane keeps a margin of {NUMBER}, and no plane{ORIGIN} has one above {NUMBER}")
AGAINST = re.compile(r"class ([^;]+?) against the rest: ")
MAKES = re.compile(r"(?<!no )plane(?: where its scores are cut at \S+)? makes ")
MADE = re.compile(rf"^{NUMBER} mistakes?|^mistakes[^;]* of weight {NUMBER}")
FEWER = re.compile(rf"and no plane{ORIGIN} makes (?:fewer|them of less weight)(?: than {NUMBER})?")
VERDICT = re.compile(r"(?:^|; )(separable only weakly|not separable|separable):")
WORDS = {"separable": ("separable",), "separable only weakly": ("quasi",), "not separable": ("quasi", "overlap")}
RECORDS = {
    "separable": ("separable",),
    "quasi": ("quasi",),
    "overlap": ("overlap",),
    "inseparable": ("quasi", "overlap"),
}

#: Settings of how a fit was made: they are no part of what is proven.
HOW = {
    "solver", "max_iter", "random_state", "warm_start", "n_jobs", "verbose", "dual", "intercept_scaling", "time_limit",
    "order", "keep", "record", "prove", "schedule", "stopping", "on_overlap",
}  # fmt: skip

#: Sections that nothing proven rests on.
NEUTRAL = {"format", "version", "versions", "seed", "digest", "data", "encoding"}

#: What attributes of a model sections of its file are.
CALLED = {"objective": "objective_", "history": "history_", "names": "feature_names_in_"}

#: Numbers of a fit that are judged below.
JUDGED = {
    "dual_gap_", "converged_", "n_mistakes_", "lower_bound_", "proven_", "margin_", "radius_", "mistake_bound_",
    "best_margin_", "best_mistake_bound_", "choice_",
}  # fmt: skip


class Judge:
    """The oracle of one honest model and its forgeries; what it works out once is kept."""

    def __init__(self, honest: dict[str, Any]) -> None:
        self.honest = honest
        self.hints = Raw.of(honest).planes
        self._numbers: dict[bytes, Numbers] = {}
        self._values: dict[Any, Any] = {}
        self._known_faults: set[str] = set()

    def honest_outcome(self, data: Data, outcome: Any) -> Judgement:
        """Judge the honest model itself; what is wrong with that is not held against its forgeries too."""
        found = self.judge(self.honest, data, outcome)
        self._known_faults = {complaint.split(":")[0] for complaint in found.complaints}
        return found

    def judge(self, document: dict[str, Any], data: Data, outcome: Any, other_data: bool = False) -> Judgement:
        """Return whether an accepted file speaks the truth."""
        try:
            raw = Raw.of(document)
            case = Case(raw, data, self._of(data))
            objective_in_words(raw)
        except (LookupError, TypeError, ValueError, AttributeError, OverflowError) as error:
            return Judgement("false", (f"the file's own numbers and settings mean nothing: {error!r}",))
        listed = tuple(getattr(outcome, "unchecked", ()))
        if any(len(w) != case.numbers.X.shape[1] for w, _ in raw.planes):
            return Judgement("false", ("the planes are of other columns than the data have",))
        if len(raw.planes) != (1 if len(raw.classes) == 2 else len(raw.classes)):
            return Judgement("false", ("there are more or fewer planes than classes ask for",))
        if not case.known:
            return Judgement("false", ("some label of y is none of the model's classes",))
        hearing = _Hearing(self, case, outcome, listed, data)
        false = list(hearing.sentence())
        untrue = [text for text in hearing.record() if text.split(":")[0] not in self._known_faults]
        changed = self._changed(document)
        silent = [
            f"{name}: changed, and neither checked nor said not to be"
            for name in changed
            if name not in JUDGED and not _is_listed(name, listed)
            if name != "tol" or _believes_tol(str(outcome.reason))
        ]
        for verdict, found in (("false", false), ("untrue", untrue), ("silent", silent)):
            if found:
                return Judgement(verdict, (*false, *untrue, *silent), tuple(hearing.unjudged))
        same = document == self.honest and not other_data
        verdict = "same" if same else "unchecked" if changed and self._only(document, changed) else "true"
        return Judgement(verdict, (), tuple(hearing.unjudged))

    def _of(self, data: Data) -> Numbers:
        X = data.rows()
        key = X.tobytes() + str(X.shape).encode()
        if key not in self._numbers:
            self._numbers[key] = Numbers(X)
        return self._numbers[key]

    def known(self, key: Any, compute: Any) -> Any:
        """Return what was worked out before, or work it out."""
        if key not in self._values:
            self._values[key] = compute()
        return self._values[key]

    def _changed(self, document: dict[str, Any]) -> list[str]:
        """Return what differs from the honest file and neither is judged nor means nothing."""
        before, found = self.honest, []
        if document["history"] != before["history"]:
            found.append("history")
        if document["features"]["names"] not in (None, before["features"]["names"]):
            found.append("names")
        fitted = sorted(set(document["fitted"]) - JUDGED)
        found += [name for name in fitted if document["fitted"].get(name) != before["fitted"].get(name)]
        if Raw.of(document).tol != Raw.of(before).tol:
            found.append("tol")
        return found

    def _only(self, document: dict[str, Any], changed: list[str]) -> bool:
        """Whether nothing else differs."""
        apart = NEUTRAL | {"objective", "history", "features", "fitted", "estimator"}
        return all(document[name] == self.honest[name] for name in document if name not in apart)


def _believes_tol(reason: str) -> bool:
    """Whether words speak of `tol` as if it were known what was asked for, and not as what the model names."""
    return ("tol=" in reason or "asked for" in reason) and "that the model names" not in reason


def _is_listed(name: str, listed: Sequence[str]) -> bool:
    """Whether something is among what was not checked, by its name as a word."""
    words = {name, CALLED.get(name, name)}
    return any(word in re.findall(r"[\w]+", text) for text in listed for word in words)


class _Hearing:
    """One outcome and one file, statement by statement."""

    def __init__(self, judge: Judge, case: Case, outcome: Any, listed: Sequence[str], data: Data) -> None:
        self.judge, self.case, self.raw, self.outcome, self.listed = judge, case, case.raw, outcome, listed
        self.data = data
        self.reason = str(outcome.reason)
        self.unjudged: list[str] = []

    # -- what the outcome says ----------------------------------------------------------------------------------------

    def sentence(self) -> Iterator[str]:
        """Yield what is false in the outcome's own words and numbers."""
        raw = self.raw
        words = (self.reason, *self.listed)
        if raw.threshold and not any(told in text for text in words for told in ("threshold", "cut at", "by vote")):
            yield "a threshold moves all predictions, and nothing is said of it"
        heard = self.outcome.primal is not None and self.outcome.dual is not None
        if heard:
            yield from self._gap()
        for k, part in self._parts():
            for pattern, plane in ((MARGIN, raw.planes[k]), (CUT_MARGIN, raw.cut(k))):
                for found in pattern.finditer(part):
                    heard = True
                    yield from self._said_margin(k, plane, *(float(x) for x in found.groups()))
            for found in MAKES.finditer(part):
                heard = True
                yield from self._said_mistakes(k, "scores are cut at" in part, part[found.end() :])
            for verdict in VERDICT.findall(part):
                heard = True
                if self.verdict(k) not in WORDS[verdict]:
                    yield f"plane {k}: the classes are said to be {verdict}, the truth is {self.verdict(k)}"
        if self._chosen is not None:
            heard = True
            yield from self._chosen.complaints(self.reason)
        if not heard:
            self.unjudged.append("words of another kind")

    @property
    def _chosen(self) -> Chosen | None:
        """The oracle of a choice of C, where the outcome says that this was checked."""
        if not self.raw.proofs.get("choice") or "on held-out rows" not in self.reason:
            return None
        return Chosen(self.raw, self.data, self.case.codes, self.judge.known)

    def _parts(self) -> Iterator[tuple[int, str]]:
        """Yield what is said of each plane: of several, after the name of its class."""
        pieces = AGAINST.split(self.reason)
        if len(pieces) == 1:
            yield 0, self.reason
        named = {repr(label): k for k, label in enumerate(self.raw.classes)}
        for label, text in zip(pieces[1::2], pieces[2::2], strict=True):
            if label in named and len(self.raw.planes) > 1:
                yield named[label], text
            else:
                self.unjudged.append("words on a class of another name")

    def gaps(self) -> list[tuple[Any, Any]]:
        """Return P and the least value known, of each plane, or of all together."""
        return [self._values(k) for k in range(1 if self.raw.at_once else len(self.raw.planes))]

    def _values(self, k: int) -> tuple[Any, Any]:
        raw, case = self.raw, self.case
        l2, l1, C = raw.penalty()
        planes = raw.planes if raw.at_once else [raw.planes[k]]
        codes = tuple(case.codes) if raw.at_once else tuple(case.signs(k))
        problem = Objective(
            case.numbers, codes, tuple(case.weights), raw.loss(), l2, l1, C, raw.intercept,
            len(raw.planes) if raw.at_once else 1,
        )  # fmt: skip
        where = (id(case.numbers), codes, tuple(case.weights), problem.loss, l2, l1, C, raw.intercept, problem.classes)
        problem = self.judge.known(where, lambda: problem)
        value = self.judge.known((where, str(planes)), lambda: problem.value(planes))
        best = self.judge.known((where, "best"), lambda: problem.best(self._hints(problem, k)))
        return value, min(best, value)

    def _hints(self, problem: Objective, k: int) -> list[list[Plane]]:
        """Return planes of the honest model that this problem could have."""
        d, hints = self.case.numbers.X.shape[1], self.judge.hints
        if not all(len(w) == d for w, _ in hints) or (not problem.intercept and any(b != 0 for _, b in hints)):
            return []
        if problem.classes > 1:
            return [list(hints)] if len(hints) == problem.classes else []
        w, b = hints[min(k, len(hints) - 1)]
        return [[(w, b)], [([-x for x in w], -b)]]

    def _gap(self) -> Iterator[str]:
        outcome, raw = self.outcome, self.raw
        if raw.name not in GAPPED:
            self.unjudged.append(f"a gap of {raw.name}")
            return
        if not raw.intercept and any(b != 0 for _, b in raw.planes):
            yield "the planes have intercepts, the objective has none"
            return
        pairs = self.gaps()
        stated = float(outcome.relative_gap)
        printed = GAP.search(self.reason)
        for k, (value, best) in enumerate(pairs):
            gap = _share(value, best)
            if gap > stated * (1 + 1e-9) + ROUNDING:
                yield f"plane {k} is {float(gap):.3g} above the optimum, not within {stated:.3g}"
            elif printed and gap > float(printed[1]) * 1.06 + ROUNDING:
                yield f"plane {k} is {float(gap):.3g} above the optimum, not within {printed[1]} as printed"
            if outcome.proven and raw.name in ASKED and gap > raw.tol * (1 + 1e-9) + ROUNDING:
                yield f"plane {k} is {float(gap):.3g} above the optimum: tol={raw.tol:g} is not proven"
        low, high, bound = (mpf(float(x)) for x in (outcome.primal.low, outcome.primal.high, outcome.dual.low))
        inside = [
            (value, best) for value, best in pairs if low - ROUNDING * abs(low) <= value <= high + ROUNDING * abs(high)
        ]
        if not inside:
            shown = ", ".join(mp.nstr(value, 12) for value, _ in pairs)
            yield f"the objective is {shown}, not between {float(low):.17g} and {float(high):.17g}"
        elif not any(bound <= best + ROUNDING * abs(best) for _, best in inside):
            shown = ", ".join(mp.nstr(best, 12) for _, best in inside)
            yield f"some plane reaches {shown}, below the bound {float(bound):.17g}"

    def _said_margin(self, k: int, plane: Plane, low: float, high: float) -> Iterator[str]:
        own, best = self.margins(k, plane)
        if not low <= own * (1 + 1e-10):
            yield f"plane {k} keeps a margin of {mp.nstr(own, 12)}, not of {low:.12g}"
        if not best <= mpf(high) * (1 + 1e-10):
            yield f"some plane keeps a margin of {mp.nstr(best, 12)}, more than {high:.12g}"

    def margins(self, k: int, plane: Plane) -> tuple[Any, Any]:
        """Return the margin of a plane for class k, and the largest known."""
        raw, case = self.raw, self.case
        rows = case.counted
        numbers = self._part(rows)
        y = [case.signs(k)[i] for i in rows]
        key = (id(numbers), tuple(y), raw.intercept)
        best = self.judge.known((key, "margin"), lambda: largest_margin(numbers, y, raw.intercept)[0])
        own = margin_of(numbers, y, plane)
        return own, max(best, own) if raw.intercept or plane[1] == 0 else best

    def _part(self, rows: list[int]) -> Numbers:
        if len(rows) == len(self.case.codes):
            return self.case.numbers
        key = ("part", id(self.case.numbers), tuple(rows))
        return self.judge.known(key, lambda: Numbers(self.case.numbers.X[rows]))

    def _said_mistakes(self, k: int, is_cut: bool, words: str) -> Iterator[str]:
        """Judge "… mistakes, and no plane makes fewer than …"; a perceptron counts rows, whatever they weigh."""
        found, fewer = MADE.search(words), FEWER.search(words)
        if found is None:
            self.unjudged.append("mistakes in other words")
            return
        made = float(found[1] or found[2])
        plane = self.raw.cut(k) if is_cut else self.raw.planes[k]
        weights = self.case.weights
        if self.raw.name == "Perceptron":
            weights = [Fraction(weight > 0) for weight in weights]
        counts = self.mistakes(k, plane, weights)
        if not any(_close(made, count, PRINTED) for count in counts):
            yield f"plane {k} errs on {float(counts[0]):g}, not on {made:g}"
        if fewer is not None:
            bound, least = Fraction(made) if fewer[1] is None else Fraction(float(fewer[1])), self.least(k)
            if bound > least * (1 + Fraction(PRINTED)):
                yield f"some plane errs on {float(least):g} only, less than {float(bound):g}"

    def mistakes(self, k: int, plane: Plane, weights: Sequence[Fraction]) -> list[Fraction]:
        """Return the weight of a plane's mistakes, by z ≤ 0 and as `predict` breaks ties: either may be meant."""
        strict, ties = Fraction(0), Fraction(0)
        for sign, g, weight in zip(self.case.signs(k), self.case.numbers.scores(plane), weights, strict=True):
            strict += weight if sign * g <= 0 else 0
            ties += weight if (g >= 0) != (sign > 0) else 0
        return [strict, ties]

    def least(self, k: int) -> Fraction:
        """Return the least weight of mistakes that any plane makes for class k."""
        y = self.case.signs(k)
        key = (id(self.case.numbers), tuple(y), tuple(self.case.weights), self.raw.intercept, "mistakes")
        found: Fraction = self.judge.known(key, lambda: self._least(y))
        return found

    def _least(self, y: list[int]) -> Fraction:
        rows = whole_rows(self.case.numbers.X.tolist(), y, self.raw.intercept)
        return least_mistakes(rows, self.case.weights)

    def verdict(self, k: int) -> str:
        """Return whether class k and the rest are separable."""
        rows = self._rows(k)
        return str(self.judge.known(("verdict", tuple(rows)), lambda: recession(rows)))

    def _rows(self, k: int) -> list[tuple[int, ...]]:
        counted, y = self.case.counted, self.case.signs(k)
        return whole_rows(self.case.numbers.X[counted].tolist(), [y[i] for i in counted], self.raw.intercept)

    # -- what the file says -------------------------------------------------------------------------------------------

    def record(self) -> Iterator[str]:
        """Yield what is false in the file, unless it is said not to be checked."""
        for name, check in (
            ("dual_gap_", self._dual_gap),
            ("converged_", self._converged),
            ("margin_", self._margin_),
            ("radius_", self._radius),
            ("mistake_bound_", self._novikoff),
            ("best_margin_", self._best_margin),
            ("n_mistakes_", self._n_mistakes),
            ("lower_bound_", self._lower_bound),
            ("proven_", self._proven),
        ):
            if name in self.raw.fitted and not _is_listed(name, self.listed):
                yield from (f"{name}: {complaint}" for complaint in check(self.raw.fitted[name]))
        if self._chosen is not None:
            yield from self._chosen.record()
        elif self._differs("choice_") and "choice_" not in self.listed:  # its scores alone are not all of it
            yield "choice_: changed, and neither checked nor said not to be"
        words = objective_in_words(self.raw)
        if self.raw.document["objective"] not in words and not _is_listed("objective", self.listed):
            yield f"objective: {self.raw.document['objective']!r} is said, the parameters mean {words[0]!r}"
        if not _is_listed("separability_", self.listed):
            for k, proof in enumerate(self.raw.proofs.get("separability") or []):
                if proof is not None:
                    yield from (f"separability of plane {k}: {complaint}" for complaint in self._separability(k, proof))

    def _differs(self, name: str) -> bool:
        return bool(self.raw.fitted.get(name) != Raw.of(self.judge.honest).fitted.get(name))

    def _dual_gap(self, said: Any) -> Iterator[str]:
        if self.raw.name in GAPPED and self.outcome.primal is not None:
            worst = max(_share(*pair) for pair in self.gaps())
            if not said >= worst * (1 - 1e-6) - ROUNDING:
                yield f"{said!r} is claimed, the gap is {float(worst):.3g}"

    def _converged(self, said: Any) -> Iterator[str]:
        if said is not True:
            return
        if self.raw.name in ASKED and self.outcome.primal is not None:
            worst = max(_share(*pair) for pair in self.gaps())
            if worst > self.raw.tol * (1 + 1e-6) + ROUNDING:
                yield f"the gap is {float(worst):.3g}, not tol={self.raw.tol:g}"
        if self.raw.name == "Perceptron" and any(self.verdict(k) != "separable" for k in range(len(self.raw.planes))):
            yield "no plane separates the classes"

    def _numbers(self, said: Any) -> list[float]:
        values = said if isinstance(said, list) else [said]
        return [float(x) for x in values] * (len(self.raw.planes) if len(values) == 1 else 1)

    def _margin_(self, said: Any) -> Iterator[str]:
        for k, value in enumerate(self._numbers(said)):
            if self.raw.name == "HardMarginSVC":
                own, _ = self.margins(k, self.raw.planes[k])
                if not 0.99 * own <= value <= own * (1 + 1e-9):  # it is what rounding leaves of it
                    yield f"{value!r} is claimed of plane {k}, which keeps {mp.nstr(own, 12)}"
            elif self.raw.name == "Perceptron":
                own = self._augmented(k)
                if not abs(mpf(value) - own) <= 1e-5 * self._R():
                    yield f"{value!r} is claimed of plane {k}, which keeps {mp.nstr(own, 12)}"

    def _augmented(self, k: int) -> Any:
        """Return the margin of a plane in the space with one more coordinate, which is 1."""
        w, b = self.raw.planes[k]
        length = mp.sqrt(mp.fsum(mpf(x) ** 2 for x in [*w, b]))
        scores = self.case.numbers.scores((w, b))
        return min(y * g for y, g in zip(self.case.signs(k), scores, strict=True)) / length if length else mpf(0)

    def _R(self) -> Any:
        X = self.case.numbers.X.tolist()
        return mp.sqrt(max(mp.fsum(mpf(x) ** 2 for x in row) for row in X) + int(self.raw.intercept))

    def _radius(self, said: Any) -> Iterator[str]:
        R = self._R()
        if not all(abs(mpf(value) - R) <= 1e-5 * R for value in self._numbers(said)):
            yield f"{said!r} is claimed, the data give {mp.nstr(R, 12)}"

    def _novikoff(self, said: Any) -> Iterator[str]:
        for k, value in enumerate(self._numbers(said)):
            own, R = self._augmented(k), self._R()
            if own <= 1e-5 * R:
                if value < 0.5e5**2:
                    yield f"{value!r} is claimed of plane {k}, which separates nothing"
            elif not abs(mpf(value) - (R / own) ** 2) <= 1e-3 * (R / own) ** 3:
                yield f"{value!r} is claimed of plane {k}, it is {mp.nstr((R / own) ** 2, 12)}"

    def _best_margin(self, said: Any) -> Iterator[str]:
        X = self.case.numbers.X
        numbers = self.judge.known(
            ("augmented", id(self.case.numbers)), lambda: Numbers(np.column_stack([X, np.ones(len(X))]))
        ) if self.raw.intercept else self.case.numbers  # fmt: skip
        for k, value in enumerate(self._numbers(said)):
            if np.isnan(value):
                continue
            y = self.case.signs(k)
            key = ("best margin", id(numbers), tuple(y))
            kept, most = self.judge.known(key, lambda y=y: largest_margin(numbers, y, False))
            if not 0.9 * kept <= value <= most * (1 + 1e-6):
                yield f"{value!r} is claimed of plane {k}, the largest is from {mp.nstr(kept, 9)} to {mp.nstr(most, 9)}"

    def _n_mistakes(self, said: Any) -> Iterator[str]:
        for k, value in enumerate(self._numbers(said)):
            counts = self.mistakes(k, self.raw.planes[k], self.case.weights)
            if not any(_close(value, count, 1e-12) for count in counts):
                yield f"{value!r} is claimed of plane {k}, which errs on {float(counts[0])!r}"

    def _lower_bound(self, said: Any) -> Iterator[str]:
        for k, value in enumerate(self._numbers(said)):
            least = self.least(k)
            if not Fraction(value) <= least * (1 + Fraction(1, 10**12)):
                yield f"{value!r} is claimed, some plane errs on {float(least)!r} only"

    def _proven(self, said: Any) -> Iterator[str]:
        for k in range(len(self.raw.planes)) if said is True else ():
            made, least = min(self.mistakes(k, self.raw.planes[k], self.case.weights)), self.least(k)
            if not made <= least * (1 + Fraction(1, 10**12)):
                yield f"plane {k} errs on {float(made)!r}, some plane on {float(least)!r} only"

    def _separability(self, k: int, proof: dict[str, Any]) -> Iterator[str]:
        truth, verdict = self.verdict(k), proof["verdict"]
        if truth not in RECORDS.get(verdict, ()):
            yield f"{verdict!r} is said, {truth!r} is so"
            return
        named = proof.get("feature_names") in (None, self.raw.document["features"]["names"])
        if not named and not _is_listed("names", self.listed):
            yield "its columns have other names than the model's"
        if verdict in ("separable", "quasi") and proof.get("coef") is not None:
            yield from self._plane(k, proof, strict=verdict == "separable")
        if proof.get("infinite") is not None and verdict in ("separable", "quasi"):
            yield from self._infinite(k, proof["infinite"])

    def _plane(self, k: int, proof: dict[str, Any], strict: bool) -> Iterator[str]:
        """The plane separates; its rounded form is it, or does so too; and its margin is no larger than that."""
        counted = self.case.counted
        numbers, y = self._part(counted), [self.case.signs(k)[i] for i in counted]
        b = float(proof["intercept"] or 0.0)
        rounded: Plane = ([float(x) for x in proof["coef"]], b)
        if len(rounded[0]) != numbers.X.shape[1]:
            yield "its plane has another number of coefficients than the data"
            return
        z = [sign * g for sign, g in zip(y, numbers.scores(rounded), strict=True)]
        wrong = min(z) < 0 or (strict and min(z) <= 0)
        if proof.get("plane") is None and wrong:
            yield "its plane has a row on the wrong side"
        if proof.get("plane") is not None:
            exact = [_read(text) for text in proof["plane"]]
            if any(abs(a - Fraction(c)) > abs(a) * Fraction(1, 10**9) + max(map(abs, exact)) * Fraction(1, 10**9)
                   for a, c in zip(_unit(exact), _unit([*rounded[0], b]), strict=True)):  # fmt: skip
                yield "its coefficients are not those of its exact plane"
        margin = proof.get("margin")
        if strict and margin is not None and any(rounded[0]):
            own = margin_of(numbers, y, rounded)
            if not mpf(margin) <= max(own, mpf(0)) * (1 + 1e-8):
                yield f"a margin of {margin!r} is said, the plane keeps {mp.nstr(own, 12)}"
        if not strict and proof.get("plane") is not None and proof["on_plane"] != _zeros(numbers, proof["plane"]):
            yield "another number of rows lies on its plane"

    def _infinite(self, k: int, said: list[int] | str) -> Iterator[str]:
        """Every column that some separating direction moves, and no other; not judged where columns are redundant."""
        rows = self._rows(k)
        redundant = self.judge.known(("rank", tuple(rows)), lambda: _rank(rows) < len(rows[0]))
        if redundant:
            self.unjudged.append("infinite coefficients of redundant columns")
            return
        columns = range(len(rows[0]))  # the intercept's is the last
        truth = self.judge.known(("moves", tuple(rows)), lambda: [j for j in columns if any(moves(rows, j))])
        if (list(columns) if said == "all" else sorted(said)) != truth:
            yield f"columns {said} are said to be infinite, {truth} are"


#: Estimators with a gap, and those that ask for one.
GAPPED = {
    "LogisticRegression", "LinearSVC", "LinearClassifier", "LeastSquaresClassifier", "SGDClassifier", "Perceptron",
}  # fmt: skip
ASKED = {"LogisticRegression", "LinearSVC", "LinearClassifier", "LeastSquaresClassifier"}


def _share(value: Any, best: Any) -> Any:
    return (value - best) / value if value > 0 else mpf(0)


def _close(said: float, exact: Fraction, tolerance: float) -> bool:
    if not np.isfinite(said):
        return False
    return abs(Fraction(said) - exact) <= Fraction(tolerance) * abs(exact)


def _read(text: str) -> Fraction:
    numerator, denominator = text.split("/")
    return Fraction(int(numerator, 16), int(denominator, 16))


def _unit(values: Sequence[Any]) -> list[Fraction]:
    """Return a vector divided by its largest entry."""
    exact = [Fraction(value) for value in values]
    largest = max(map(abs, exact))
    return [value / largest for value in exact] if largest else exact


def _zeros(numbers: Numbers, plane: list[str]) -> int:
    exact = [_read(text) for text in plane]
    rows = [[Fraction(x) for x in row] for row in numbers.X.tolist()]
    return sum(sum((a * c for a, c in zip(row, exact, strict=False)), exact[-1]) == 0 for row in rows)


def _rank(rows: Sequence[tuple[int, ...]]) -> int:
    left, rank = [[Fraction(x) for x in row] for row in rows], 0
    for j in range(len(rows[0])):
        pivot = next((row for row in left if row[j]), None)
        if pivot is None:
            continue
        left.remove(pivot)
        rank += 1
        left = [[a - row[j] / pivot[j] * c for a, c in zip(row, pivot, strict=True)] for row in left]
    return rank
