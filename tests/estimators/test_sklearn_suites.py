"""scikit-learn's own tests with these classes in place, against the list of differences: the quick suites."""

import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture(scope="module")
def suites():
    sys.path.insert(0, str(BENCHMARKS))
    try:
        import sklearn_suites

        yield sklearn_suites
    finally:
        sys.path.remove(str(BENCHMARKS))


@pytest.mark.slow
@pytest.mark.parametrize("suite", ["logistic", "svm", "threshold", "rfe", "self_training"])
def test_what_scikit_learn_asks_of_its_classes_is_so_of_these(suites, suite):
    outcome = suites.run(suite, only="not versus_sgd")  # stochastic descent takes long
    assert len(outcome.passed) > 5
    assert outcome.good, f"{outcome}: {[*outcome.unexpected, *outcome.stale]}"


def test_every_difference_has_a_reason_of_a_known_kind(suites):
    listed = {path.stem: suites.differences(path.stem) for path in suites.DIFFERENCES.glob("*.toml")}
    assert set(listed) <= set(suites.SUITES)
    assert all(len(reason.partition(":")[2]) > 10 for reasons in listed.values() for reason in reasons.values())


def test_a_copy_has_the_classes_of_this_library(suites, tmp_path):
    source = tmp_path / "source.py"
    source.write_text(
        "from sklearn.linear_model import LogisticRegression as L, Ridge\nfrom sklearn import svm\n"
        "def model():\n    return svm.LinearSVC()\n"
        "def test_ours():\n    assert type(model()).__module__.startswith('linsep')\n"
        "def test_theirs():\n    assert Ridge().alpha\n"
    )
    suites.copy(source, tmp_path / "copy.py", everything=False)
    text = (tmp_path / "copy.py").read_text()
    assert "from linsep import LogisticRegression as L" in text
    assert "linsep.LinearSVC()" in text
    assert "test_ours" in text
    assert "test_theirs" not in text
    found: dict = {}
    exec(text, found)
    found["test_ours"]()


def test_results_are_sorted_by_what_the_list_says(suites):
    from xml.etree import ElementTree

    cases = "".join(
        f'<testcase name="{name}">{inner}</testcase>'
        for name, inner in (
            ("test_a[1]", "<failure>why</failure>"),
            ("test_b", ""),
            ("test_c", "<failure>how</failure>"),
            ("test_d", "<skipped/>"),
        )
    )
    results = ElementTree.ElementTree(ElementTree.fromstring(f"<testsuite>{cases}</testsuite>"))
    outcome = suites.compared(results, {"test_a[*": "tol: x", "test_b": "tol: x", "test_e": "tol: x"}, complete=True)
    assert outcome.as_listed == ["test_a[1]"]
    assert outcome.unexpected == {"test_c": "how"}
    assert len(outcome.stale) == 3  # test_b passes, and no test_b or test_e fails
    assert not outcome.good
