"""Every block of Python and of shell on every page runs, in order, in a folder with the files that pages talk of."""

import sys
from pathlib import Path

import pytest

from page_files import blocks, run_page

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),  # py4j leaves its sockets to the collector
]

ROOT = Path(__file__).parents[2]
WRITTEN = [path for path in sorted((ROOT / "docs").rglob("*.md")) if not {"_build", "gallery"} & set(path.parts)]
PAGES = {path.relative_to(ROOT).as_posix(): path for path in [ROOT / "README.md", *WRITTEN] if blocks(path)}
#: What a page asks for beyond `linsep[all]`.
EXTRAS = {"docs/cluster.md": ("distributed", "pyspark"), "docs/tour.md": ("distributed",)} | dict.fromkeys(
    ("docs/play.md", "README.md", "docs/how_to/teach.md"), ("uvicorn",)
)
#: Blocks that cannot run: they need other people's machines, or a library that tests do not have.
NOT_RUN = {"docs/cluster.md": 2, "docs/how_to/cluster.md": 1}
NOT_RUN |= {"docs/coming_from/liblinear.md": 1, "docs/coming_from/spark.md": 1}


@pytest.mark.parametrize("name", [name for name in PAGES if len(blocks(PAGES[name])) > NOT_RUN.get(name, 0)])
def test_the_blocks_of_a_page_run_one_after_the_other(name, tmp_path, monkeypatch):
    for package in EXTRAS.get(name, ()):
        pytest.importorskip(package)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)  # what an environment that is activated does
    monkeypatch.delenv("LINSEP_DATA", raising=False)
    assert run_page(PAGES[name], tmp_path) > 0


def test_what_is_not_run_says_why_and_is_counted():
    left_out = {name: sum(why is not None for *_, why in blocks(path)) for name, path in PAGES.items()}
    assert {name: count for name, count in left_out.items() if count} == NOT_RUN
