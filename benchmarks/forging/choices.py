"""Models whose choice of C is proven: edits of such a proof, and an oracle that fits every fold at many values of C."""

from __future__ import annotations

import base64
import re
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC

from .edits import Donors, Forgery, UnfitError, edit
from .honest import Data
from .reading import Raw, fold_weights, plain

__all__ = ["CHOICE_EDITS", "Chosen"]

NUMBER = r"([-+]?\d[\d.]*(?:e[-+]?\d+)?)"
SAID = re.compile(
    rf"C={NUMBER} makes (?:between {NUMBER} and )?{NUMBER} mistakes?(?:, those of both classes counting the same "
    rf"together,|, a false alarm counting as [^;]+ and a miss as [^;]+,)? on held-out rows(?: in \d+ folds)?; "
    rf"no C between {NUMBER} and {NUMBER} makes fewer than {NUMBER}"
)
#: How many values of C the oracle tries beside those of the grid.
TRIED = 40
#: Scores that are closer to zero than this are on either side.
NEAR = 1e-5
#: Steps of the machine that is the oracle of the hinge; some of badly scaled rows take for ever.
LIMIT = 100_000
#: What printed numbers, and sums of weights, may differ by.
PRINTED = 1e-5


# -- the oracle -------------------------------------------------------------------------------------------------------


class UnsettledError(Exception):
    """An optimum that the oracle does not find in time."""


class Chosen:
    """What is claimed of the choice in a file, and what fits of every fold say of it."""

    def __init__(self, raw: Raw, data: Data, codes: list[int], known: Callable[[Any, Any], Any]) -> None:
        self.raw, self.codes, self.known = raw, np.array(codes), known
        self.X, self.s = data.rows(), np.ones(len(codes)) if data.s is None else np.asarray(data.s, dtype=float)
        self.claimed = raw.proofs["choice"]

    def complaints(self, reason: str) -> Iterator[str]:
        """Yield what is false in what an outcome says of the choice."""
        said = SAID.search(reason)
        if said is None:
            return
        C, low, high, first, last, bound = (None if one is None else float(one) for one in said.groups())
        grid = [float(one) for one in self.claimed["grid"]]
        for name, printed, meant in (("C", C, self.claimed["C"]), ("C", first, grid[0]), ("C", last, grid[-1])):
            if not abs(printed - meant) <= PRINTED * meant:
                yield f"{name}={printed:g} is said, {meant:g} is meant"
        made = self.cost(float(self.claimed["C"]))
        if high < made[0] * (1 - PRINTED) or (high if low is None else low) > made[1] * (1 + PRINTED) + 1e-12:
            yield f"the choice makes from {made[0]:g} to {made[1]:g} mistakes, not {said[0]!r}"
        yield from self._bound(bound)

    def _bound(self, bound: float) -> Iterator[str]:
        grid = [float(one) for one in self.claimed["grid"]]
        for C in sorted({*np.geomspace(grid[0], grid[-1], TRIED).tolist(), *grid, float(self.claimed["C"])}):
            if grid[0] <= C <= grid[-1] and self.cost(C)[1] < bound * (1 - PRINTED):
                yield f"C={C:g} makes {self.cost(C)[1]:g} mistakes, fewer than {bound:g}"
                return

    def record(self) -> Iterator[str]:
        """Yield what the file says in ``choice_`` that is not so; scores on the way are not checked."""
        said = self.raw.fitted.get("choice_")
        if said is None:
            return
        said = {key: plain(value) for key, value in said.items()} if isinstance(said, dict) else {}
        C, grid = float(self.claimed["C"]), self.claimed["grid"]
        proof = said.get("proof")
        if not isinstance(proof, dict):
            yield "choice_: it says nothing of its proof"
            return
        yield from (f"choice_: {one}" for one in self._bound(float(proof["bound"])))
        made = self.cost(C)
        if not made[0] - 1e-9 <= float(proof["mistakes"]) <= made[1] + 1e-9 and not self._are_own(proof["mistakes"]):
            yield f"choice_: {proof['mistakes']!r} mistakes are said, they are from {made[0]:g} to {made[1]:g}"
        if [proof["C_min"], proof["C_max"]] != [grid[0], grid[-1]]:
            yield "choice_: another range is said"
        if said.get("rule") != "best" or (said.get("score") or "accuracy") != self.claimed["score"]:
            yield "choice_: another rule or score is said"
        if "bound" in said:
            words = SAID.search(str(said["bound"]))
            want = [C, proof["mistakes"], grid[0], grid[-1], proof["bound"]]
            found = [] if words is None else [float(words[k]) for k in (1, 3, 4, 5, 6)]
            if not (len(found) == 5 and np.allclose(found, want, rtol=PRINTED, atol=0)):
                yield f"choice_: {said['bound']!r} is said"

    def _are_own(self, mistakes: float) -> bool:
        """Whether the stored planes make so many, which need not be optima."""
        total = 0.0
        for number, stored in enumerate(self.claimed["folds"]):
            test = self._held_out() == number
            planes = _floats(stored["planes"]).reshape(len(stored["C"]), -1)
            g = self.X[test] @ (theta := planes[stored["C"].index(self.claimed["C"])])[:-1] + theta[-1]
            total += self._costs(test)[(g > 0) != (self.codes[test] == 1)].sum()
        return bool(abs(total - mistakes) <= 1e-9 * len(self.codes))

    def cost(self, C: float) -> tuple[float, float]:
        """Return what the optima of all folds at C cost on held-out rows, from and to."""
        key = "choice", C, str(self.raw.parameters), self.X.tobytes(), self.s.tobytes(), self.codes.tobytes()
        where = *key, self.claimed["held_out"], self.claimed["score"]
        found: tuple[float, float] = self.known(where, lambda: self._cost(C))
        return found

    def _cost(self, C: float) -> tuple[float, float]:
        least = most = 0.0
        for number in range(len(self.claimed["folds"])):
            test = self._held_out() == number
            try:
                g = self._scores(C, ~test, test)
            except UnsettledError:  # then any of its mistakes may be
                most += self._costs(test).sum()
                continue
            near = np.abs(g) <= NEAR * (1 + np.abs(g).max(initial=0.0))
            wrong, cost = (g > 0) != (self.codes[test] == 1), self._costs(test)
            least, most = least + cost[wrong & ~near].sum(), most + cost[wrong | near].sum()
        return float(least), float(most)

    def _held_out(self) -> np.ndarray:
        return np.frombuffer(base64.b64decode(self.claimed["held_out"]), dtype="<u2").astype(int)

    def _costs(self, test: np.ndarray) -> np.ndarray:
        cost, codes = self.s[test].copy(), self.codes[test]
        if self.claimed["score"] == "balanced_accuracy":
            totals = [cost[codes == k].sum() for k in (0, 1)]
            cost = cost * 0.5 * cost.sum() / np.where(codes == 1, totals[1], totals[0])
        elif self.claimed["score"].startswith("costs="):
            false_alarm, miss = (float(one) for one in self.claimed["score"].partition("=")[2].split(":"))
            cost = cost * np.where(codes == 1, miss, false_alarm)
        return cost

    def _scores(self, C: float, train: np.ndarray, test: np.ndarray) -> np.ndarray:
        """Return the scores of held-out rows by the optimum."""
        weights = fold_weights(self.s[train].tolist(), self.codes[train].tolist(), self.raw)
        c = C * np.array([float(one) for one in weights])
        y, l2 = np.where(self.codes[train] == 1, 1.0, -1.0), self.raw.penalty()[0]
        theta = _optimum(self.raw.loss(), self.X[train], y, c / l2, self.raw.intercept)
        return np.asarray(self.X[test] @ theta[:-1] + theta[-1])


def _optimum(loss: str, X: np.ndarray, y: np.ndarray, c: np.ndarray, intercept: bool) -> np.ndarray:
    """Return w and b that minimise ½‖w‖² + Σ cᵢ ℓ(yᵢ (w·xᵢ + b))."""
    X, y, c = X[c > 0], y[c > 0], c[c > 0]
    if loss == "hinge":
        if not intercept:
            raise NotImplementedError("a hinge through the origin")
        with warnings.catch_warnings(action="ignore", category=ConvergenceWarning):
            machine = SVC(kernel="linear", C=1.0, tol=1e-10, max_iter=LIMIT).fit(X, y, sample_weight=c)
        if machine.fit_status_:
            raise UnsettledError
        return np.append(machine.coef_[0], machine.intercept_)
    Z = np.column_stack([X, np.full(len(X), float(intercept))]) * y[:, None]
    theta, pull = np.zeros(Z.shape[1]), np.append(np.ones(X.shape[1]), 0.0 if intercept else 1.0)

    def parts(theta: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
        z = Z @ theta
        if loss == "logistic":
            p = 0.5 * (1 - np.tanh(0.5 * z))
            value, slope, bend = np.logaddexp(0, -z), -p, p * (1 - p)
        else:
            value, slope, bend = np.maximum(1 - z, 0) ** 2, -2 * np.maximum(1 - z, 0), 2.0 * (z < 1)
        H = Z.T @ ((c * bend)[:, None] * Z) + np.diag(pull)
        return 0.5 * float(pull @ theta**2) + float(c @ value), Z.T @ (c * slope) + pull * theta, H

    for _ in range(200):
        value, gradient, H = parts(theta)
        step = np.linalg.lstsq(H, gradient, rcond=1e-14)[0]
        t = 1.0
        while t > 1e-12 and parts(theta - t * step)[0] > value - 1e-4 * t * float(gradient @ step):
            t /= 2
        theta = theta - t * step
        if np.abs(step).max() <= 1e-11 * (1 + np.abs(theta).max()) or t <= 1e-12:
            break
    return theta


# -- edits ------------------------------------------------------------------------------------------------------------

CHOICE_EDITS: list[str] = []


def _choice_edit(name: str) -> Callable[[Any], Any]:
    """List an edit of the proof of a choice; most of the time, ``choice_`` says afterwards what it then claims."""

    def listed(change: Callable[[Forgery, dict[str, Any], np.random.Generator], None]) -> Any:
        def edited(forgery: Forgery, rng: np.random.Generator, donors: Donors) -> None:
            if not forgery.proofs.get("choice"):
                raise UnfitError("no proven choice")
            change(forgery, forgery.proofs["choice"], rng)
            if rng.random() < 0.8:
                _tell(forgery)

        CHOICE_EDITS.append(name)
        return edit(name)(edited)

    return listed


def _tell(forgery: Forgery) -> None:
    claimed, said = forgery.proofs["choice"], dict(forgery.document["fitted"]["choice_"]["map"])
    C, made, bound, grid = claimed["C"], claimed["mistakes"], claimed["bound"], claimed["grid"]
    said["proof"] = {"map": [["mistakes", made], ["bound", bound], ["C_min", grid[0]], ["C_max", grid[-1]]]}
    noun = "mistake" if made == 1 else "mistakes"
    said["bound"] = (
        f"C={C:g} makes {made:g} {noun} on held-out rows; no C between {grid[0]:g} and {grid[-1]:g} makes fewer than "
        f"{bound:g}"
    )
    said["score"] = claimed["score"]
    forgery.document["fitted"]["choice_"] = {"map": [list(pair) for pair in said.items()]}


def _floats(text: str) -> np.ndarray:
    return np.frombuffer(base64.b64decode(text), dtype="<f8").copy()


def _text(values: np.ndarray) -> str:
    return base64.b64encode(np.ascontiguousarray(values).tobytes()).decode("ascii")


@_choice_edit("choice: another C")
def _another_C(forgery: Forgery, claimed: dict[str, Any], rng: np.random.Generator) -> None:
    stops = claimed["folds"][0]["C"]
    claimed["C"] = float(rng.choice([*stops, claimed["C"] * 2, np.nextafter(claimed["C"], 1e9)]))
    forgery.parameters()["C"] = claimed["C"]
    for claim in forgery.claims():
        claim["statement"]["C"] = claimed["C"]


@_choice_edit("choice: mistakes")
def _mistakes(forgery: Forgery, claimed: dict[str, Any], rng: np.random.Generator) -> None:
    claimed["mistakes"] = max(claimed["mistakes"] + float(rng.choice([-2, -1, -0.5, 1, 3])), 0.0)
    claimed["bound"] = min(claimed["bound"], claimed["mistakes"])


@_choice_edit("choice: the bound")
def _bound(forgery: Forgery, claimed: dict[str, Any], rng: np.random.Generator) -> None:
    claimed["bound"] = max(claimed["bound"] + float(rng.choice([-1, 0.5, 1, 1, 2])), 0.0)
    claimed["mistakes"] = max(claimed["mistakes"], claimed["bound"])


@_choice_edit("choice: the range")
def _range(forgery: Forgery, claimed: dict[str, Any], rng: np.random.Generator) -> None:
    factor, end = float(rng.choice([0.1, 0.5, 0.999, 1.001, 2.0, 10.0])), int(rng.choice([0, -1]))
    claimed["grid"][end] *= factor
    for fold in claimed["folds"] if rng.random() < 0.6 else []:
        fold["C"][end] *= factor


@_choice_edit("choice: the grid")
def _grid(forgery: Forgery, claimed: dict[str, Any], rng: np.random.Generator) -> None:
    grid = claimed["grid"]
    if len(grid) > 2 and rng.random() < 0.5:
        del grid[int(rng.integers(len(grid)))]
    else:
        grid[:] = sorted({*grid, float(grid[0] * (grid[-1] / grid[0]) ** rng.random())})


@_choice_edit("choice: which rows are held out")
def _folds(forgery: Forgery, claimed: dict[str, Any], rng: np.random.Generator) -> None:
    held = np.frombuffer(base64.b64decode(claimed["held_out"]), dtype="<u2").copy()
    kind = int(rng.integers(4))
    if kind == 0:
        held = rng.permutation(held)
    elif kind == 1:
        held[int(rng.integers(len(held)))] = int(rng.integers(len(claimed["folds"]) + 1))
    elif kind == 2:
        i, j = rng.choice(len(held), 2, replace=False)
        held[[i, j]] = held[[j, i]]
    else:
        claimed["folds"] = claimed["folds"][1:] + claimed["folds"][:1]
    claimed["held_out"] = _text(held)


@_choice_edit("choice: planes of a fold")
def _planes(forgery: Forgery, claimed: dict[str, Any], rng: np.random.Generator) -> None:
    fold = claimed["folds"][int(rng.integers(len(claimed["folds"])))]
    planes, size = _floats(fold["planes"]).reshape(len(fold["C"]), -1), 10.0 ** rng.uniform(-12, 1)
    kind = int(rng.integers(5))
    if kind == 0:
        planes *= 1 + size * rng.normal(size=planes.shape)
    elif kind == 1:
        planes[:, -1] += size
    elif kind == 2:
        planes = planes[::-1]
    elif kind == 3:
        planes = -planes
    else:
        planes[int(rng.integers(planes.shape[0])), int(rng.integers(planes.shape[1]))] = rng.choice([0, np.nan, 1e300])
    fold["planes"] = _text(planes)


@_choice_edit("choice: stops of a fold")
def _stops(forgery: Forgery, claimed: dict[str, Any], rng: np.random.Generator) -> None:
    fold = claimed["folds"][int(rng.integers(len(claimed["folds"])))]
    planes, at = _floats(fold["planes"]).reshape(len(fold["C"]), -1), int(rng.integers(len(fold["C"])))
    if rng.random() < 0.5:
        del fold["C"][at]
        fold["planes"] = _text(np.delete(planes, at, axis=0))
        if fold["dual_points"]:
            del fold["dual_points"][at]
    else:
        fold["C"][at] *= float(rng.choice([0.5, 0.99, 1.01, 2.0]))


@_choice_edit("choice: dual points of a fold")
def _dual_points(forgery: Forgery, claimed: dict[str, Any], rng: np.random.Generator) -> None:
    fold = claimed["folds"][int(rng.integers(len(claimed["folds"])))]
    points, kind = fold["dual_points"], int(rng.integers(3))
    if not points or kind == 2:
        fold["dual_points"] = None if points else [{"positive": 1.0, "negative": 1.0, "shift": 0.0, "rows": [],
                                                    "values": []}] * len(fold["C"])  # fmt: skip
        return
    point = points[int(rng.integers(len(points)))]
    if kind == 0:
        name = str(rng.choice(["positive", "negative", "shift"]))
        point[name] = float(point[name]) + float(rng.choice([-1, 1e-9, 0.1, 1, 1e9]))
    else:
        point["values"] = [float(x) * float(rng.choice([-1, 0.5, 2, 1e9])) for x in point["values"]]


@_choice_edit("choice: score, rule or words")
def _words(forgery: Forgery, claimed: dict[str, Any], rng: np.random.Generator) -> None:
    kind = int(rng.integers(4))
    if kind == 0:
        claimed["score"] = str(rng.choice(["accuracy", "balanced_accuracy", "costs=1:3", "costs=3:1", "costs=1:1", ""]))
    elif kind == 1:
        claimed["encoded"] = not claimed["encoded"]
    elif kind == 2:
        claimed["left_out"] = "its folds do not hold out each row once"
        claimed["bound"] = claimed["mistakes"] = float(rng.choice([claimed["mistakes"], 0.0]))
    else:
        pairs = forgery.document["fitted"]["choice_"]["map"]
        pair = pairs[int(rng.integers(len(pairs)))]
        pair[1] = "1se" if pair[0] == "rule" else str(pair[1]).replace("no C", "each C") + "0"
