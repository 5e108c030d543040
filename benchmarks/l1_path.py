"""The path of L1 logistic regression: a hundred values of C against adelie, celer and skglm, each to the same gap.

    python benchmarks/l1_path.py [--data FOLDER] [--only twenty_newsgroups_binary mnist_parity] [--values 100]

From where the first feature enters to `--reach` times that, without intercept, since celer's has none. Whoever takes
part runs along the values from one solution to the next, at tolerances that get smaller by ten, until no model of it is
further from the optimum than `--gap`, as a share of the objective. The optima are bounded from below by our own proofs.
A line has the seconds of the first run that is good enough, those of the faster of two. It needs the packages of
`requirements.txt`, and adelie.
"""

from __future__ import annotations

import argparse
import os
import time
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import datasets
import numpy as np
from scipy import sparse
from scipy.special import expit

from linsep import LogisticRegression
from linsep._core import Rows
from linsep.objective.examples import InMemory

#: A path: rows, labels ±1, values of C ascending, tolerance; returns a row of weights for each C.
Way = Callable[[Any, np.ndarray, np.ndarray, float], np.ndarray]
#: A run that takes longer is the last one of its solver.
LIMIT = 300.0


def linsep(X: Any, y: np.ndarray, values: np.ndarray, tol: float) -> np.ndarray:
    """Fit from one C to the next."""
    return np.array([model.coef_[0] for model in models(X, y, values, tol)])


def models(X: Any, y: np.ndarray, values: np.ndarray, tol: float) -> Any:
    """Yield a model for each C, the same one."""
    examples = InMemory(Rows(X), signs=y)
    model = LogisticRegression(penalty="l1", tol=tol, fit_intercept=False, warm_start=True)
    for C in values:
        yield model.set_params(C=C).fit_examples(examples, [-1, 1])


def adelie(X: Any, y: np.ndarray, values: np.ndarray, tol: float) -> np.ndarray:
    """Run adelie, whose penalty is divided by the number of rows."""
    import adelie as ad

    matrix = ad.matrix.sparse(sparse.csc_matrix(X), method="naive", n_threads=2) if sparse.issparse(X) else X
    how = dict(intercept=False, n_threads=2, early_exit=False, progress_bar=False, lmda_path=1.0 / (values * len(y)))
    state = ad.grpnet(matrix, ad.glm.binomial((y > 0).astype(float)), tol=tol, irls_tol=tol, **how)
    return np.asarray(state.betas.toarray())


def celer(X: Any, y: np.ndarray, values: np.ndarray, tol: float) -> np.ndarray:
    """Run celer, proximal Newton on its working sets."""
    from celer import celer_path

    return np.asarray(celer_path(X, y, "logreg", alphas=1.0 / values, tol=tol, use_PN=True)[1]).T


def skglm(X: Any, y: np.ndarray, values: np.ndarray, tol: float) -> np.ndarray:
    """Run skglm's proximal Newton from one solution to the next."""
    from skglm.datafits import Logistic
    from skglm.penalties import L1
    from skglm.solvers import ProxNewton

    w, found = np.zeros(X.shape[1]), []
    for C in values:
        solver = ProxNewton(tol=tol, max_iter=1000, fit_intercept=False)
        w = solver.solve(X, y, Logistic(), L1(1.0 / (C * len(y))), w_init=w, Xw_init=X @ w)[0]
        found.append(w.copy())
    return np.array(found)


#: Who takes part, and the first tolerance each is tried at.
PEERS: dict[str, tuple[Way, float]] = {
    "adelie": (adelie, 1e-4),
    "celer": (celer, 1e-1),
    "skglm": (skglm, 1e-2),
}


def objective(X: Any, y: np.ndarray, C: float, w: np.ndarray) -> float:
    """Return ‖w‖₁ + C Σ log(1 + exp(−y w·x))."""
    return float(np.abs(w).sum() + C * np.logaddexp(0.0, -y * (X @ w)).sum())


def smallest(X: Any, y: np.ndarray) -> float:
    """Return the C at which the first feature gets weight."""
    return 1.0 / float(np.abs(X.T @ (y * expit(np.zeros(len(y))))).max())


def timed(path: Callable[[], np.ndarray]) -> tuple[float, np.ndarray]:
    """Return the seconds of the faster of two runs, one where it takes long, and what it found."""
    seconds, found = np.inf, np.empty(0)
    for _ in range(2):
        begun = time.perf_counter()
        found = path()
        seconds = min(seconds, time.perf_counter() - begun)
        if seconds > 60:
            break
    return seconds, found


def good_enough(
    path: Callable[[float], np.ndarray], first: float, off: Callable[[np.ndarray], float], gap: float
) -> str:
    """Return the seconds of the first tolerance that leads near enough everywhere, and which that is."""
    for tol in first / 10.0 ** np.arange(9):
        seconds, found = timed(partial(path, tol))
        worst = off(found)
        if worst <= gap:
            return f"{seconds:8.2f} s at tol={tol:.0e}, off by {worst:.1e}"
        if seconds > LIMIT:
            return f"{seconds:8.0f} s at tol={tol:.0e}, still off by {worst:.1e}"
    return "       —  never near enough"


def line(name: str, folder: Path, args: argparse.Namespace) -> None:
    """Print what each takes on one data set."""
    X, labels = getattr(datasets, name)(folder)
    y = np.where(np.asarray(labels) == np.unique(labels)[-1], 1.0, -1.0)
    columns = sparse.csc_matrix(X) if sparse.issparse(X) else np.asfortranarray(X)
    values = smallest(X, y) * np.geomspace(1.01, args.reach, args.values)
    lower = np.array([model.certificate_.dual for model in models(X, y, values, 0.01 * args.gap)])
    print(f"{name}, {len(y)} × {X.shape[1]}, {args.values} values of C from {values[0]:.2g} to {values[-1]:.2g}")

    def off(found: np.ndarray) -> float:
        found = np.vstack([found, np.zeros((len(values) - len(found), X.shape[1]))])
        return max(objective(X, y, C, w) / least - 1.0 for C, w, least in zip(values, found, lower, strict=True))

    for who, (path, first) in {"linsep": (linsep, args.gap), **PEERS}.items():
        given = X if who == "linsep" else columns
        print(f"  {who:8}", good_enough(partial(_run, path, given, y, values), first, off, args.gap), flush=True)


def _run(path: Way, X: Any, y: np.ndarray, values: np.ndarray, tol: float) -> np.ndarray:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return path(X, y, values, tol)


def main() -> None:
    """Measure."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", type=Path, default=os.environ.get("LINSEP_DATA"), help="folder with the data sets")
    parser.add_argument("--only", nargs="+", default=["twenty_newsgroups_binary", "mnist_parity"])
    parser.add_argument("--values", type=int, default=100, help="of C")
    parser.add_argument("--reach", type=float, default=100.0, help="the last C as a multiple of the first")
    parser.add_argument("--gap", type=float, default=1e-4, help="how far from the optimum a model may be")
    args = parser.parse_args()
    for name in args.only:
        line(name, args.data, args)


if __name__ == "__main__":
    main()
