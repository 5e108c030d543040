"""The path of L1 logistic regression: a hundred values of C against glmnet, adelie, celer and skglm, to the same gap.

    python benchmarks/l1_path.py [--data FOLDER] [--only twenty_newsgroups_binary mnist_parity] [--peers glmnet …]

From where the first feature enters to `--reach` times that, without intercept, since celer's has none. Whoever takes
part runs along the values from one solution to the next, at tolerances that get smaller by ten, until no model of it is
further from the optimum than `--gap`, as a share of the objective. The optima are bounded from below by our own proofs.
A line has the seconds of the first run that is good enough, those of the faster of two; of glmnet the seconds of the
processor that R says, without those of reading the data. It needs the packages of `requirements.txt` and adelie, and R
with glmnet (Debian's `r-cran-glmnet`).
"""

from __future__ import annotations

import argparse
import os
import subprocess
import tempfile
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

#: A path: rows, labels ±1, values of C ascending, tolerance; returns a row of weights for each C, and its own seconds
#: where a clock outside would count more than the path.
Way = Callable[[Any, np.ndarray, np.ndarray, float], Any]
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


GLMNET = """
suppressMessages({library(Matrix); library(glmnet)})
size <- scan("size", quiet = TRUE); n <- size[1]; d <- size[2]
numbers <- function(name, what, count) readBin(name, what, n = count)
y <- numbers("y", "double", n); lambda <- numbers("lambda", "double", size[4])
X <- if (size[5] == 1) {
  new("dgCMatrix", i = numbers("i", "integer", size[3]), p = numbers("p", "integer", d + 1),
      x = numbers("x", "double", size[3]), Dim = as.integer(c(n, d)))
} else matrix(numbers("x", "double", n * d), n, d)
took <- system.time(fit <- glmnet(X, y, family = "binomial", lambda = lambda, standardize = FALSE, intercept = FALSE,
                                  thresh = size[6], maxit = 1e7))
found <- as(fit$beta, "generalMatrix")
writeBin(found@i, "found_i"); writeBin(found@p, "found_p"); writeBin(found@x, "found_x")
cat(took[["user.self"]] + took[["sys.self"]])
"""


def glmnet(X: Any, y: np.ndarray, values: np.ndarray, tol: float) -> tuple[np.ndarray, float]:
    """Run glmnet in R; the data are written to files and read again, which is not counted."""
    with tempfile.TemporaryDirectory() as folder:
        parts = dict(i=X.indices, p=X.indptr) if sparse.issparse(X) else {}
        stored = X.data if sparse.issparse(X) else np.ravel(X, order="F")
        size = [*X.shape, len(stored), len(values), int(sparse.issparse(X)), tol]
        Path(folder, "size").write_text(" ".join(map(str, size)))
        for name, numbers in {**parts, "x": stored, "y": y > 0, "lambda": 1.0 / (values * len(y))}.items():
            numbers.astype(np.int32 if name in "ip" else np.float64).tofile(Path(folder, name))
        said = subprocess.run(["Rscript", "-e", GLMNET], cwd=folder, capture_output=True, text=True, check=True)
        x = np.fromfile(Path(folder, "found_x"))
        i, p = (np.fromfile(Path(folder, f"found_{name}"), dtype=np.int32) for name in "ip")
    return sparse.csc_array((x, i, p), shape=(X.shape[1], len(p) - 1)).toarray().T, float(said.stdout)


#: Who takes part, and the first tolerance each is tried at.
PEERS: dict[str, tuple[Way, float]] = {
    "glmnet": (glmnet, 1e-5),
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


def timed(path: Callable[[], Any]) -> tuple[float, np.ndarray]:
    """Return the seconds of the faster of two runs, one where it takes long, and what it found."""
    seconds, found = np.inf, np.empty(0)
    for _ in range(2):
        begun = time.perf_counter()
        found = path()
        found, took = found if isinstance(found, tuple) else (found, time.perf_counter() - begun)
        seconds = min(seconds, took)
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

    for who, (path, first) in {"linsep": (linsep, args.gap), **{one: PEERS[one] for one in args.peers}}.items():
        given = X if who == "linsep" else columns
        print(f"  {who:8}", good_enough(partial(_run, path, given, y, values), first, off, args.gap), flush=True)


def _run(path: Way, X: Any, y: np.ndarray, values: np.ndarray, tol: float) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return path(X, y, values, tol)


def main() -> None:
    """Measure."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", type=Path, default=os.environ.get("LINSEP_DATA"), help="folder with the data sets")
    parser.add_argument("--only", nargs="+", default=["twenty_newsgroups_binary", "mnist_parity"])
    parser.add_argument("--peers", nargs="*", choices=PEERS, default=list(PEERS))
    parser.add_argument("--values", type=int, default=100, help="of C")
    parser.add_argument("--reach", type=float, default=100.0, help="the last C as a multiple of the first")
    parser.add_argument("--gap", type=float, default=1e-4, help="how far from the optimum a model may be")
    args = parser.parse_args()
    for name in args.only:
        line(name, args.data, args)


if __name__ == "__main__":
    main()
