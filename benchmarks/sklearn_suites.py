"""scikit-learn's own tests with this library's classes in the place of scikit-learn's, against a list of differences.

    python benchmarks/sklearn_suites.py [logistic svm …] [-n 1] [--show] [--all]

The tests are those that the installed scikit-learn brings along, or where somebody left them out those of its wheel,
which pip fetches. Each module is copied with the classes of `OURS`
imported from here, and run; of the suites that are about something else, only the tests that have to do with one of
them (`--all` runs the others too; those of sequential selection know none of them). A test that fails must stand in
`sklearn_differences/<suite>.toml` with a reason (`"test_name[parameters]" = "intercept: …"`; a name may end in *), and
one that stands there must fail. A reason begins with one of `REASONS`. `--show` prints how the unexpected ones failed.
"""

from __future__ import annotations

import argparse
import ast
import importlib.metadata
import importlib.util
import subprocess
import sys
import tempfile
import tomllib
import xml.etree.ElementTree as ElementTree
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

DIFFERENCES = Path(__file__).resolve().parent / "sklearn_differences"
OURS = ("LogisticRegression", "LogisticRegressionCV", "LinearSVC", "Perceptron", "SGDClassifier")
#: Where scikit-learn keeps the tests.
SUITES = {
    "logistic": "linear_model/tests/test_logistic.py",
    "svm": "svm/tests/test_svm.py",
    "perceptron": "linear_model/tests/test_perceptron.py",
    "sgd": "linear_model/tests/test_sgd.py",
    "calibration": "tests/test_calibration.py",
    "threshold": "model_selection/tests/test_classification_threshold.py",
    "stacking": "ensemble/tests/test_stacking.py",
    "voting": "ensemble/tests/test_voting.py",
    "bagging": "ensemble/tests/test_bagging.py",
    "from_model": "feature_selection/tests/test_from_model.py",
    "rfe": "feature_selection/tests/test_rfe.py",
    "search": "model_selection/tests/test_search.py",
    "successive_halving": "model_selection/tests/test_successive_halving.py",
    "validation": "model_selection/tests/test_validation.py",
    "multiclass": "tests/test_multiclass.py",
    "pipeline": "tests/test_pipeline.py",
    "self_training": "semi_supervised/tests/test_self_training.py",
    "scorers": "metrics/tests/test_score_objects.py",
}
#: Why a test may fail, as the first word of a reason.
REASONS = {
    "intercept": "the intercept is not penalised here",
    "tol": "tol is the relative duality gap here, proven",
    "internals": "it looks at how scikit-learn does its work, or at the words of its messages",
    "private": "it calls a private helper of scikit-learn",
    "design": "it asks for something that is not ours by design; the reason says what",
}


# -- the copies -------------------------------------------------------------------------------------------------------


class Exchange(ast.NodeTransformer):
    """Imports these classes from here."""

    def visit_ImportFrom(self, node: ast.ImportFrom) -> list[ast.ImportFrom]:
        """Split an import in two."""
        ours = [alias for alias in node.names if alias.name in OURS and (node.module or "").startswith("sklearn")]
        others = [alias for alias in node.names if alias not in ours]
        parts = ((node.module, others, node.level), ("linsep", ours, 0))
        return [ast.ImportFrom(module, names, level) for module, names, level in parts if names]

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        """Exchange what is reached by way of scikit-learn's modules."""
        self.generic_visit(node)
        by_way_of = isinstance(node.value, ast.Name) and node.value.id in ("linear_model", "svm")
        return ast.Attribute(ast.Name("linsep"), node.attr) if by_way_of and node.attr in OURS else node


def concerned(tree: ast.Module) -> set[str]:
    """Return the module's functions and names that lead to one of these classes, directly or by way of others."""
    uses: dict[str, set[str]] = {}
    for node in tree.body:
        words = {leaf.id for leaf in ast.walk(node) if isinstance(leaf, ast.Name)}
        words |= {leaf.attr for leaf in ast.walk(node) if isinstance(leaf, ast.Attribute)}
        words |= {leaf.arg for leaf in ast.walk(node) if isinstance(leaf, ast.arg)}  # fixtures
        for name in _defined(node):
            uses.setdefault(name, set()).update(words)
    found, reached = set(OURS), set()
    while found != reached:
        reached = set(found)
        found |= {name for name, words in uses.items() if words & reached}
    return found


def _defined(node: ast.stmt) -> Iterator[str]:
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        yield node.name
    elif isinstance(node, ast.Assign):
        yield from (leaf.id for target in node.targets for leaf in ast.walk(target) if isinstance(leaf, ast.Name))


def without(tree: ast.Module, names: set[str]) -> None:
    """Leave out the tests of these names."""
    tree.body = [node for node in tree.body if not (isinstance(node, ast.FunctionDef) and node.name in names)]


def copy(source: Path, target: Path, *, everything: bool) -> None:
    """Write the module with the classes exchanged."""
    tree = ast.parse(source.read_text())
    if not everything:
        tests = {node.name for node in tree.body if isinstance(node, ast.FunctionDef) and node.name.startswith("test")}
        without(tree, tests - concerned(tree))
    tree = ast.fix_missing_locations(Exchange().visit(tree))
    target.write_text("import linsep\n" + ast.unparse(tree))


def folder_of_scikit_learn(scratch: Path) -> Path:
    """Return the folder of the installed version, or of its wheel, where the tests are."""
    spec = importlib.util.find_spec("sklearn")
    assert spec is not None
    assert spec.origin is not None
    installed = Path(spec.origin).parent
    if all((installed / module).exists() for module in SUITES.values()):
        return installed
    wanted = f"scikit-learn=={importlib.metadata.version('scikit-learn')}"
    fetch = [
        sys.executable,
        "-m",
        "pip",
        "download",
        "-q",
        "--no-deps",
        "--only-binary",
        ":all:",
        "-d",
        scratch,
        wanted,
    ]
    subprocess.run(fetch, check=True)
    with zipfile.ZipFile(next(scratch.glob("scikit_learn-*.whl"))) as wheel:
        wheel.extractall(scratch)
    return scratch / "sklearn"


# -- running them -----------------------------------------------------------------------------------------------------


@dataclass
class Outcome:
    """How the tests of a suite ended, by their names with their parameters."""

    passed: list[str] = field(default_factory=list)
    as_listed: list[str] = field(default_factory=list)
    unexpected: dict[str, str] = field(default_factory=dict)
    stale: list[str] = field(default_factory=list)

    @property
    def good(self) -> bool:
        """Whether what failed is what the list says."""
        return not (self.unexpected or self.stale)

    def __str__(self) -> str:
        counts = f"{len(self.passed)} passed, {len(self.as_listed)} differ as listed"
        return counts + f", {len(self.unexpected)} UNEXPECTED, {len(self.stale)} STALE" * (not self.good)


def differences(suite: str) -> dict[str, str]:
    """Return the names (or patterns that end in *) of tests that may fail, each with its reason."""
    path = DIFFERENCES / f"{suite}.toml"
    listed = tomllib.loads(path.read_text()) if path.exists() else {}
    for name, reason in listed.items():
        if reason.partition(":")[0] not in REASONS:
            raise SystemExit(f"{path.name}: the reason of {name} begins with none of {', '.join(REASONS)}")
    return listed


def run(suite: str, *, jobs: int = 0, everything: bool = False, only: str | None = None) -> Outcome:
    """Run a suite, or those of its tests that pytest's -k selects, and compare with the list."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        source = folder_of_scikit_learn(folder)
        own = SUITES[suite].startswith(("linear_model", "svm"))
        module = folder / Path(SUITES[suite]).name
        copy(source / SUITES[suite], module, everything=everything or (own and suite != "svm"))
        (folder / "conftest.py").write_text((source / "conftest.py").read_text())
        (folder / "pytest.ini").write_text("[pytest]\nmarkers = thread_unsafe: unused\n")
        command = [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "--tb=short",
            f"-n{jobs}",
            "--junitxml=results.xml",
            module.name,
        ]
        ended = subprocess.run(command + (["-k", only] if only else []), cwd=folder, capture_output=True, text=True)
        if ended.returncode not in (0, 1):
            raise SystemExit(f"{suite}: {ended.stdout[-5000:]}{ended.stderr[-2000:]}")
        return compared(ElementTree.parse(folder / "results.xml"), differences(suite), complete=only is None)


def compared(results: ElementTree.ElementTree, listed: dict[str, str], *, complete: bool) -> Outcome:
    """Sort the results by what the list says."""
    outcome, met = Outcome(), set()
    for case in results.iter("testcase"):
        name = case.get("name", "")
        failure = case.find("failure") if case.find("failure") is not None else case.find("error")
        if case.find("skipped") is not None:
            continue
        patterns = [entry for entry in listed if matches(name, entry)]
        if failure is None:
            outcome.passed.append(name)
            outcome.stale += [f"{name} (listed as {entry})" for entry in patterns]
        elif patterns:
            outcome.as_listed.append(name)
            met.update(patterns)
        else:
            outcome.unexpected[name] = failure.text or ""
    if complete:
        outcome.stale += [f"{entry}: no test of this name fails" for entry in listed if entry not in met]
    return outcome


def matches(name: str, entry: str) -> bool:
    """Whether an entry of the list speaks of the test."""
    return name.startswith(entry[:-1]) if entry.endswith("*") else name == entry


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("suites", nargs="*", choices=[*SUITES, []], metavar="suite", help=", ".join(SUITES))
    parser.add_argument("-n", type=int, default=0, help="processes of pytest")
    parser.add_argument("-k", help="only the tests that pytest's -k selects")
    parser.add_argument("--all", action="store_true", help="also tests that have nothing to do with these classes")
    parser.add_argument("--show", action="store_true", help="print how the unexpected ones failed")
    asked = parser.parse_args()
    good = True
    for suite in asked.suites or SUITES:
        outcome = run(suite, jobs=asked.n, everything=asked.all, only=asked.k)
        print(f"{suite:20} {outcome}", flush=True)
        for name, failure in outcome.unexpected.items():
            print(f"    fails, unlisted: {name}")
            if asked.show:
                print(failure)
        for name in outcome.stale:
            print(f"    listed, passes:  {name}")
        good &= outcome.good
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
