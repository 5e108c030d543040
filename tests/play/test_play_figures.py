"""The lectures' figures on the page: the points of the scripts in examples/, and that each shows what it says."""

import re
import runpy
from pathlib import Path

import numpy as np
import pytest

from asking import asked
from linsep.play.descents import FUNCTIONS
from linsep.play.digits import READERS
from linsep.play.figures import DOCUMENTS, FIGURES
from linsep.play.presets import PRESETS

FOLDER = Path(__file__).parent.parent.parent / "examples"
PAGE = FOLDER.parent / "src" / "linsep" / "play" / "page"
#: The script of each figure, and how its points are made of the script's variables.
SCRIPTS = {
    "hinge": ("soft_margin", lambda v: (v["X"], v["y"] > 0)),
    "hulls": ("separable_or_not", lambda v: (v["X"], v["y"] > 0)),
    "noisy": ("best_so_far", lambda v: (v["X"], v["y"] > 0)),
    "bishop": ("outliers_least_squares", lambda v: (np.vstack([v["X"][40:], v["far"], v["X"][:40]]), None)),
    "flat": ("zero_one_is_flat", lambda v: (v["X"], v["y"] > 0)),
    "novikoff": ("novikoff", lambda v: (v["X"], v["y"] > 0)),
    "widest": ("maximum_margin", lambda v: (v["X"], v["y"] > 0)),
    "turned": ("outlier_hard_margin", lambda v: (np.vstack([v["X"], [[1.4, 2.6]]]), np.append(v["y"] > 0, True))),
    "update": ("perceptron_steps", lambda v: (v["X"], v["y"] > 0)),
    "map": ("feature_map", lambda v: (v["X"], v["y"] > 0)),
    "bias": ("two_bounds", lambda v: (v["X"] + 6.0, v["y"] > 0)),
    "stopping": ("stopping", lambda v: (v["X"], v["y"] > 0)),
}


def film_of(name):
    figure = FIGURES[name].to_dict()
    more = {"steps": figure["steps"]} if figure["steps"] else {}
    answer = asked("fit", points=figure["points"], features=figure["features"], method=figure["method"], **more)
    assert answer["kind"] == "film", answer
    return answer


def test_every_figure_belongs_to_a_document():
    assert {figure.document for figure in FIGURES.values()} == set(DOCUMENTS)
    assert set(SCRIPTS) == set(FIGURES) - {"apart"}  # the other half of hulls


@pytest.mark.slow
@pytest.mark.parametrize("name", SCRIPTS)
def test_points_are_those_of_the_script(name, monkeypatch):
    plt = pytest.importorskip("matplotlib.pyplot")
    monkeypatch.setattr(plt, "show", lambda: None)
    monkeypatch.setenv("LINSEP_DATA", "")
    script, points = SCRIPTS[name]
    X, positive = points(runpy.run_path(str(FOLDER / f"{script}.py")))
    plt.close("all")
    found = FIGURES[name].to_dict()["points"]
    np.testing.assert_allclose(np.column_stack([found["x"], found["y"]]), X, atol=0.00501)
    if positive is not None:
        assert found["positive"] == positive.astype(int).tolist()


@pytest.mark.slow
@pytest.mark.parametrize("name", FIGURES)
def test_every_figure_has_its_film(name):
    assert len(film_of(name)["film"]["frames"]["step"]) > 1
    assert all(asked("planes", points=FIGURES[name].to_dict()["points"], methods=[{"name": one}])["kind"] == "planes"
               for one in FIGURES[name].compare)  # fmt: skip


@pytest.mark.slow
def test_figures_show_what_they_say():
    points = {name: figure.to_dict()["points"] for name, figure in FIGURES.items()}
    assert not asked("separability", points=points["hulls"])["separable"]
    assert asked("separability", points=points["apart"])["separable"]
    bias = film_of("bias")
    mistakes, lecture = bias["film"]["frames"]["updates"][-1], bias["beside"]["lecture"]["most"]
    assert lecture < mistakes < bias["film"]["bound"]["most"]
    assert film_of("novikoff")["film"]["bound"]["most"] == 98
    squares, logistic = asked(
        "planes", points=points["bishop"], methods=[{"name": "least_squares"}, {"name": "logistic"}]
    )["planes"]
    assert squares["mistakes"] > logistic["mistakes"]
    assert film_of("map")["film"]["frames"]["zero_one"][-1] == 0
    margins = asked("planes", points=points["widest"], methods=[{"name": "hard_margin"}, {"name": "perceptron"}])[
        "planes"
    ]
    assert [one["mistakes"] for one in margins] == [0, 0]


#: What each entry of an address can begin with.
NAMES = {
    "stop": set(re.findall(r"^  (\w+): \{$", (PAGE / "tour.js").read_text("utf-8"), flags=re.MULTILINE)),
    "preset": {*PRESETS, *FIGURES},
    "steps": set(FUNCTIONS),
    "digit": set(READERS),
}


def slides():
    """Return document, slide, figure and state of the page of each row of the list of slides."""
    documents = re.split(r"^## ", (FOLDER / "README.md").read_text("utf-8"), flags=re.MULTILINE)
    rows = [(part[:3], line) for part in documents if re.match(r"\d{3}: ", part) for line in part.splitlines()]
    cells = [(name, *re.split(r" (?<!\\)\| ", line.strip("| "))) for name, line in rows if line.startswith("| ")]
    return [row for row in cells if row[1] not in ("slides", "section", "section or picture")]


def states():
    return [found for *_, state in slides() for found in re.findall(r"`#([^`]+)`", state)]


def test_a_lecturer_finds_figure_and_state_of_the_page_for_every_slide():
    assert {row[0] for row in slides()} == {*DOCUMENTS, "004"}
    assert [row for row in slides() if len(row) != 4 or not re.search(r"`\w+\.py`", row[2]) or "`#" not in row[3]] == []
    begun = [re.match(r"(\w+)=(\w+)", state).groups() for state in states()]
    assert [(name, what) for name, what in begun if what not in NAMES[name]] == []
    assert {what for name, what in begun if name == "preset"} >= set(FIGURES)
    assert {what for name, what in begun if name == "stop"} == NAMES["stop"]


@pytest.mark.parametrize("state", sorted({state for state in states() if "&method=" in state}))
def test_points_of_a_slide_by_another_method_have_a_film(state):
    said = dict(part.split("=") for part in state.split("&"))
    begun = (PRESETS | FIGURES)[said.pop("preset")].to_dict()
    answer = asked("fit", points=begun["points"], features="plain", method={"name": said.pop("method"), **said})
    assert answer["kind"] == "film", answer
    assert len(answer["film"]["frames"]["step"]) > 1
