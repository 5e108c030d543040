"""What axe-core finds on the page, with every panel open, in light and dark."""

import importlib.util
import json
from pathlib import Path

import pytest

from pages import serving
from playing import ANSWERED

pytestmark = pytest.mark.slow
pytest.importorskip("uvicorn")
AXE = importlib.util.find_spec("axe_core_python")  # the script that this package brings; the rest of it is not needed
CSV = "height,weight,kind\n" + "\n".join(f"{150 + 3 * k},{50 + 2 * k + 5 * (k % 3)},{'ab'[k > 9]}" for k in range(20))
#: Everything that can be opened is.
OPEN = """(() => {
  for (const box of document.querySelectorAll("details")) box.open = true;
  for (const name of ["least_squares", "hard_margin"]) document.querySelector(`[data-compare=${name}]`).click();
  for (const id of ["hand-on", "hand-reveal", "digit-7", "steps-again", "svg"]) document.getElementById(id).click();
  const height = document.getElementById("surface-height");
  height.value = "objective";
  height.dispatchEvent(new Event("change"));
})()"""


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    path = tmp_path_factory.mktemp("axe") / "people.csv"
    path.write_text(CSV)
    with serving(path) as found:
        yield found


@pytest.mark.skipif(AXE is None, reason="needs axe-core-python")
@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize(
    ("hash", "width"),
    [("", 1280), ("#preset=overlap&method=gradient_descent&eta=90&schedule=constant", 360), ("#stop=bound", 800)],
)
def test_axe_finds_no_serious_problem(browser, address, hash, width, dark):
    script = Path(AXE.submodule_search_locations[0]) / "axe.min.js"
    with browser.open(address + hash, width=width, height=900, dark=dark) as page:
        page.wait_for(ANSWERED)
        page.evaluate(OPEN)
        page.wait_for(ANSWERED)
        page.evaluate("play.player.pause()")
        page.evaluate(script.read_text("utf-8") + "; 0")
        found = json.loads(page.evaluate("axe.run().then(found => JSON.stringify(found))"))
    assert len(found["passes"]) > 20
    said = [
        (one["impact"], one["id"], node["target"], node["failureSummary"])
        for one in found["violations"]
        for node in one["nodes"]
    ]
    assert said == []
