"""What notebooks show: cards that say what the object says, with what comes from data as text; light and dark."""

from html.parser import HTMLParser

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer

import linsep
from linsep import palette
from linsep._common.html import STRIPES
from linsep.analysis.evaluation import evaluate

X, CODES = load_breast_cancer(return_X_y=True)
X = (X - X.mean(axis=0)) / X.std(axis=0)
LABELS = np.where(CODES == 1, "<b>benign</b>", "malignant & more")
CELLS = """
import numpy as np, linsep
from sklearn.datasets import load_iris
X, y = load_iris(return_X_y=True)
model = linsep.LogisticRegression().fit(X, y)
model
---
model.certificate_
---
model.certificate_.verify(X, y)
---
linsep.separability(X, y == 1)
---
linsep.compare(X, y, losses=["hinge", "logistic"])
---
linsep.diagnose(X, y)
"""


class Text(HTMLParser):
    """The words of a piece of HTML; elements that are not closed, or not ours, are errors."""

    def __init__(self, html):
        super().__init__()
        self.open, self.words = [], []
        self.feed(html)
        assert not self.open

    def handle_starttag(self, tag, attributes):
        assert tag in {"div", "b", "p", "table", "thead", "tbody", "tr", "th", "td"}
        assert {name for name, _ in attributes} <= {"style", "scope"}
        self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.words.append(data)


@pytest.fixture(scope="module")
def model():
    return linsep.LogisticRegression().fit(X, LABELS)


@pytest.mark.parametrize(
    ("show", "words"),
    [
        (lambda model: model.certificate_, "Proven"),
        (lambda model: linsep.LinearSVC(max_iter=1, tol=1e-9).fit(X, LABELS).certificate_, "Not proven"),
        (lambda model: model.certificate_.verify(X, LABELS), "Verified"),
        (lambda model: model.certificate_.verify(X[::-1], LABELS), "NOT verified"),
        (lambda model: linsep.separability(X[:100, :3], LABELS[:100]), "both convex hulls"),
        (lambda model: linsep.compare(X[:100], LABELS[:100], losses=["hinge", "logistic"]), "hinge"),
        (lambda model: evaluate(model, X, LABELS), "always saying <b>benign</b>"),
        (lambda model: linsep.diagnose(X, LABELS), "from malignant & more"),
        (lambda model: linsep.HardMarginSVC().fit(X, LABELS).certificate_, "no plane has one above"),
        (lambda model: linsep.estimates(X[:, :3], LABELS), "Overlap"),
        (lambda model: linsep.leave_one_out(model, X, LABELS), "mistakes in 569 rows"),
        (lambda model: linsep.stability_selection(X[:, :5], CODES, pairs=2), "of 4 halves"),
        (lambda model: linsep.regularization_path(X[:, :5], CODES, tol=0.1), "RegularizationPath of"),
    ],
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_notebook_shows_what_the_object_says(model, show, words):
    assert words in " ".join(Text(show(model)._repr_html_()).words)


def test_certificates_of_several_classes_are_shown_together():
    found = linsep.LinearSVC().fit(X, np.where(X[:, 0] > 1, "big", LABELS)).certificate_
    assert "Of 3 classes against the rest" in " ".join(Text(found._repr_html_()).words)


@pytest.mark.parametrize("paper", [palette.LIGHT.background, palette.DARK.background, "#000000"])
@pytest.mark.parametrize("stripe", STRIPES.values())
def test_the_stripe_is_seen_on_any_paper(stripe, paper):
    assert palette.contrast(stripe, paper) >= 3.0


@pytest.mark.slow
@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.filterwarnings("default")  # of the notebook's own machinery
def test_a_notebook_that_is_executed_looks_right(tmp_path, browser, dark):
    nbformat, nbclient = pytest.importorskip("nbformat"), pytest.importorskip("nbclient")
    exporter = pytest.importorskip("nbconvert").HTMLExporter(theme="dark" if dark else "light")
    pytest.importorskip("ipykernel")
    cells = [nbformat.v4.new_code_cell(source.strip()) for source in CELLS.split("---")]
    notebook = nbformat.v4.new_notebook(cells=cells)
    nbclient.NotebookClient(notebook, timeout=120, kernel_name="python3").execute()
    for cell in notebook.cells:
        assert "text/html" in cell.outputs[-1]["data"], cell.source
    exporter.mathjax_url = exporter.require_js_url = exporter.jquery_url = ""
    (tmp_path / "notebook.html").write_text(exporter.from_notebook_node(notebook)[0], "utf-8")
    with browser.open(tmp_path / "notebook.html", width=900, height=3000, dark=dark) as page:
        cards = page.evaluate("document.querySelectorAll('div[style*=border-left]').length")
        assert cards == len(cells) - 1
        # Letters of a card are read on the page's own paper: what is behind them is the notebook's.
        colours = page.evaluate(
            "[...document.querySelectorAll('div[style*=border-left] p, div[style*=border-left] td')]"
            ".map(one => getComputedStyle(one).color)"
        )
        paper = page.evaluate("getComputedStyle(document.body).backgroundColor")
    hexed = lambda rgb: "#" + "".join(f"{int(part):02X}" for part in rgb[rgb.index("(") + 1 : -1].split(",")[:3])  # noqa: E731
    assert min(palette.contrast(hexed(colour), hexed(paper)) for colour in colours) >= 4.5


@pytest.mark.slow
def test_cards_with_wide_tables_are_no_wider_than_a_phone(tmp_path, browser):
    path = tmp_path / "card.html"
    path.write_text(
        f"<meta charset=utf-8>{linsep.compare(X, CODES, losses=['hinge', 'logistic'])._repr_html_()}", "utf-8"
    )
    with browser.open(path, width=360) as page:
        assert page.overflow() <= 0
