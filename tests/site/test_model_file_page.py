"""The page on model files: no file has a field that it does not list, and it lists none that no file has."""

import json
import re
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import every_model
import proven_models
from command import call
from linsep import (
    LinearSVC,
    LinearSVCCV,
    LogisticRegression,
    LogisticRegressionCV,
    Perceptron,
    ZeroOneClassifier,
    calibrate,
    choose_threshold,
    save,
)
from linsep.persistence.document import SECTIONS, VERSION
from page_files import write_files
from proven_models import X, two

pytestmark = pytest.mark.slow

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "model_file.md"
FITS = [
    "customers.csv --target churned --test-share 0.2",
    "cells.csv --target diagnosis --C auto --prove --effort 1",
    "messages.csv --target kind --calibrate sigmoid --threshold f1",
    "doses.csv --successes died --trials n --C inf --reference sex=f",
    "huge.parquet --target y --max-memory 9GB",
    "customers.csv --target churned --degree 2 --class-weight yes=2,no=1 --base-rates yes=0.1",
    "rows.svm --C 1",
    "drug.csv --target died --C inf",
]
#: What the page lists, and no file below happens to have.
RARE = {
    "encoding.reference.decided",
    "certificate.separability[].plane[]",
    "certificate.gap[].statement.class_weight[][]",
}


def listed():
    return re.findall(r"^\| `([a-z][^`]*)` \|", PAGE.read_text("utf-8"), re.MULTILINE)


def pattern(field):
    """Return the expression of a listed field: a star is a name, and at the end whatever is there."""
    deep = r".*" if field.endswith("*") else ""
    return re.compile(re.escape(field).replace(r"\*", r"[^\[\]]*?") + deep)


def paths(value, path=""):
    """Yield the path of every number, text and null in a document."""
    if isinstance(value, dict):
        for name, part in value.items():
            yield from paths(part, f"{path}.{name}" if path else name)
    elif isinstance(value, list):
        for part in value:
            yield from paths(part, f"{path}[]")
        if not value:
            yield f"{path}[]"
    else:
        yield path


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """The paths that files of every kind have."""
    folder = tmp_path_factory.mktemp("models")
    found, file = set(), folder / "model.json"

    def look(model, **settings):
        save(model, file, **settings)
        found.update(paths(json.loads(file.read_text("utf-8"))))

    machine = LinearSVC().fit(X, two)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, model in proven_models.MODELS.items():
            look(model, data=proven_models.CASES[name][1:])
        for model in every_model.MODELS.values():
            look(proven_models.fitted(model, X, two))
        for chosen in (LogisticRegressionCV(Cs=5, prove=True), LinearSVCCV(Cs=5, prove=True)):
            look(chosen.fit(X, two))
        weighed = LogisticRegression(class_weight={"no": 1.0, "yes": 2.0}).fit(X, two)
        for model in (calibrate(machine, X, two, "isotonic"), calibrate(weighed, X, two, "prior")):
            look(choose_threshold(model, X, two, "f1"))
        table = pd.DataFrame(X, columns=["a", "b", "c"])
        look(Perceptron(max_iter=20, random_state=0).fit(table, two))
        rng = np.random.default_rng(0)
        cloud = rng.normal(size=(30, 4))
        look(ZeroOneClassifier().fit(cloud, cloud[:, 0] + 0.5 * rng.normal(size=30) > 0))
        wide = sparse.random(20, 20_000, density=0.01, random_state=0, format="csr")
        look(LogisticRegression(l1_ratio=1.0, C=10.0).fit(wide, two[:20]))
        look(LogisticRegression().fit(wide.toarray() + 1e-3 * np.arange(20)[:, None], two[:20]))
    write_files(folder)
    lines = [f"{int(v > 0)} 1:{v:.3f} 3:1" for v in X[:, 0]]
    (folder / "rows.svm").write_text("\n".join(lines))
    (folder / "drug.csv").write_text(
        "drug,dose,died\n" + "a,1,no\na,2,no\na,4,yes\na,3,yes\na,1,yes\nb,1,no\nb,3,no\n" * 3
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for line in FITS:
            assert call("fit", *line.split(), "-o", file).code in (0, 1), line
            found.update(paths(json.loads(file.read_text("utf-8"))))
    return found


def test_every_field_of_a_file_is_on_the_page(written):
    known = [pattern(field) for field in listed()]
    assert len(known) > 100
    assert sorted(path for path in written if not any(one.fullmatch(path) for one in known)) == []


def test_every_field_on_the_page_is_in_some_file(written):
    values = {"encoding.columns[]", "encoding.columns"}  # of matrices, whose columns have names only in NPZ files
    seen = {field for field in listed() if any(pattern(field).match(path) for path in written)}
    assert set(listed()) - seen - RARE - values == set()


def test_sections_and_version_are_those_of_the_code():
    assert {re.split(r"[.\[]", field)[0] for field in listed()} == set(SECTIONS)
    assert f"**version {VERSION}**" in PAGE.read_text("utf-8")
