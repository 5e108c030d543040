"""What the site's own extensions make of formulas and of tables of figures."""

import re
import sys
import tomllib
from pathlib import Path

import pytest

for package in ("sphinx", "docutils", "matplotlib"):
    pytest.importorskip(package)

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture(autouse=True)
def extensions(monkeypatch):
    monkeypatch.setattr(sys, "path", [str(DOCS / "_extensions"), *sys.path])


def set_by_us(tex):
    import formulas
    from docutils.utils.math.latex2mathml import tex2mathml

    return "".join(formulas.as_set(tex2mathml(tex)).split())


def test_the_index_of_a_letter_with_an_accent_stands_beside_it():
    accent = '<mover><mi>x</mi><mostretchy="false">~</mo></mover>'
    assert f"<msub>{accent}<mi>i</mi></msub>" in set_by_us(r"\tilde x_i")
    assert "<munderover>" in set_by_us(r"\sum_i^n x_i")


def test_fractions_are_written_so_that_they_are_read_as_such():
    # `\frac12 x` would be 12 over x: the parser takes digits together.
    assert "<mfrac><mn>1</mn><mn>2</mn></mfrac>" in set_by_us(r"\frac{1}{2}x")
    pages = [path for path in DOCS.rglob("*.md") if "_build" not in path.parts]
    assert [path.name for path in pages if re.search(r"frac\s*\d", path.read_text("utf-8"))] == []


def test_both_bars_of_a_norm_are_of_one_height():
    assert "a" in set_by_us(r"a\ <\quad b")  # spaces have names that XML does not know
    assert set_by_us(r"\|w\|^2").count('<mostretchy="false">‖</mo>') == 2
    assert '<mostretchy="false">{</mo>' in set_by_us(r"\{a : b \ge 0\}")


def test_names_of_functions_stand_apart():
    space, sign = '<mspacewidth="0.17em"/>', '<morspace="0.17em">\u2061</mo>'
    assert f"<mi>p</mi>{space}<mi>log</mi>{sign}<mi>p</mi>" in set_by_us(r"p \log p")
    assert f'<mostretchy="false">)</mo>{space}<mi>log</mi><mo>\u2061</mo>' in set_by_us(r"(1 - p) \log(1 - p)")
    assert f"<mo>−</mo><mi>log</mi>{sign}" in set_by_us(r"-\log p_y")


@pytest.fixture
def tables():
    return {table["title"]: table for table in tomllib.loads((DOCS / "benchmarks.toml").read_text("utf-8"))["table"]}


def test_the_tables_that_were_measured_are_drawn_and_say_in_words_what_is_seen(tables):
    drawn = {name for name, table in tables.items() if "picture" in table and table["alt"]}
    assert drawn >= {"The race", "From file to model", "Growth", "Nasty numbers", "Faults"}


def test_a_row_without_a_ratio_is_not_drawn_as_one(tables):
    import benchmarks

    figure = benchmarks.ratios(tables["From file to model"])
    (axes,) = figure.axes
    named = [label.get_text() for label in axes.get_yticklabels()]
    assert len(named) == len(axes.patches) == len(tables["From file to model"]["rows"]) - 1
    assert not any("predict" in name for name in named)


def test_numbers_stand_to_the_right():
    import benchmarks

    table = {"rows": [["a", "1,000", "> 2.5", "2 s"], ["b", "—", "1e-4", "3 s"]]}
    assert benchmarks.marks(table) == ["---", "---:", "---:", "---"]


def test_long_names_in_tables_break_at_dots_and_options_stay_whole():
    from breaks import with_breaks

    name = '<code><span class="pre">LogisticRegression(C=np.inf).fit(X)</span></code>'
    broken = with_breaks(f"<td><p>{name}</p></td><p>{name}</p>")
    assert broken.count("Logistic<wbr>Regression(<wbr>C=<wbr>np.<wbr>inf).<wbr>fit(<wbr>X)") == 1
    assert broken.replace("<wbr>", "") == f"<td><p>{name}</p></td><p>{name}</p>"
    assert with_breaks("<h1>LogisticRegression<a") == "<h1>Logistic<wbr>Regression<a"
    said = with_breaks('<span class="pre">--max-memory</span> <span class="pre">e^(-z)</span>')
    assert said == '<span class="pre"><span class="option">--max-memory</span></span> <span class="pre">e^(-z)</span>'
