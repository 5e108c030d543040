"""The built site: whole, offline, and looked at in a browser."""

import fcntl
import os
import pkgutil
import subprocess
import sys
from collections import defaultdict
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

import linsep

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
BUILT = ROOT / "docs" / "_build"
#: What a browser loads by itself, and under which attribute.
LOADED = {"script": "src", "link": "href", "img": "src", "source": "src", "iframe": "src", "video": "src"}

#: Packages whose public names stand elsewhere, and modules that are told of where they are met.
ROOMS = ["analysis", "arithmetic", "certificates", "cli", "cluster", "data", "demo", "estimators", "objective"]
ROOMS += ["persistence", "play", "selection", "separation", "workflows", "palette", "history", "separability"]


@pytest.fixture(scope="module")
def site():
    """The site's folder, built as CONTRIBUTING.md says; what is up to date is not built again."""
    for package in ("sphinx", "myst_parser", "sphinx_gallery", "numpydoc", "furo"):
        pytest.importorskip(package)
    BUILT.mkdir(exist_ok=True)
    with open(BUILT / ".lock", "w") as turn:
        fcntl.flock(turn, fcntl.LOCK_EX)
        words = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "docs", "docs/_build"]
        done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False, timeout=900)
    assert done.returncode == 0, done.stderr[-3000:]
    return BUILT


class Read(HTMLParser):
    """What a page loads, where it leads, which anchors it has, and its images without words."""

    def __init__(self, path):
        super().__init__()
        self.loads, self.leads, self.anchors, self.unsaid, self.within = [], [], set(), [], []
        self.name = path.stem
        self.feed(path.read_text("utf-8"))

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        self.anchors |= {given.get("id"), given.get("name")}
        if tag in LOADED and given.get("rel") not in ("next", "prev", "index", "search", "canonical"):
            self.loads.append(given.get(LOADED[tag], ""))
        if tag == "a" and "href" in given:
            self.leads.append(given["href"])
        if tag == "div":
            self.within.append(given.get("class") or "")
        # A thumbnail of the gallery stands above the sentence that is its link; a script's name says nothing.
        words = given.get("alt", "").replace(" ", "_")
        if tag == "img" and words in ("", self.name) and not any("thumbcontainer" in name for name in self.within):
            self.unsaid.append(given["src"])

    def handle_endtag(self, tag):
        if tag == "div":
            self.within.pop()


@pytest.fixture(scope="module")
def pages(site):
    return {path.resolve(): Read(path) for path in sorted(site.rglob("*.html")) if "_static" not in path.parts}


def test_nothing_is_loaded_from_elsewhere(site, pages):
    assert len(pages) > 50
    loaded = {(path.name, address) for path, page in pages.items() for address in page.loads}
    assert [found for found in loaded if urlsplit(found[1]).scheme not in ("", "data")] == []
    styles = "\n".join(path.read_text("utf-8") for path in (site / "_static").rglob("*.css"))
    assert "url(http" not in styles.replace('"', "").replace("'", "")
    assert "@import" not in styles.replace('@import url("basic.css")', "").replace('@import "basic.css"', "")


def test_every_link_inside_leads_to_a_page_and_to_a_place_on_it(pages):
    lost = defaultdict(set)
    for path, page in pages.items():
        for address in page.leads:
            parts = urlsplit(address)
            if parts.scheme:
                continue
            place = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            anchors = pages[place].anchors if place in pages else {unquote(parts.fragment)}
            if not place.exists() or (parts.fragment and unquote(parts.fragment) not in anchors):
                lost[path.name].add(address)
    assert dict(lost) == {}


def test_every_image_has_words(pages):
    assert {path.name: page.unsaid for path, page in pages.items() if page.unsaid} == {}


def test_every_public_name_and_every_command_has_its_place(pages, site):
    api = {path.stem for path in (site / "reference" / "api").glob("*.html")}
    assert {f"linsep.{name}" for name in linsep.__all__} <= api
    public = {f"linsep.{m.name}" for m in pkgutil.iter_modules(linsep.__path__) if not m.name.startswith("_")}
    assert public - {f"linsep.{name}" for name in ROOMS} <= api
    from linsep.cli import _app

    commands = {f"linsep-{name}" for name in _app() if not name.startswith("-")}
    assert "linsep-fit" in commands
    assert commands <= pages[(site / "reference" / "commands.html").resolve()].anchors


def test_what_is_proven_what_is_not_and_the_slides_are_one_click_from_the_first_page(pages, site):
    leads = pages[(site / "index.html").resolve()].leads
    assert {"what_is_proven.html", "what_is_proven.html#not-proven", "proofs.html", "figures.html"} <= set(leads)


def test_what_is_to_be_typed_keeps_its_hyphens_and_quotes(site):
    said = (site / "reference" / "commands.html").read_text("utf-8")
    assert "--C auto" in said
    assert not any(sign in said for sign in "–‘’“”")


def test_every_example_is_drawn_and_can_be_downloaded(site, pages):
    for script in (ROOT / "examples").glob("*.py"):
        page = pages[(site / "gallery" / f"{script.stem}.html").resolve()]
        assert any(f"{script.stem}_001" in address for address in page.loads), script
        (given,) = [address for address in page.leads if address.endswith(script.name)]
        assert (site / "gallery" / given).resolve().read_text("utf-8") == script.read_text("utf-8")


@pytest.mark.parametrize("share", range(4))
def test_pages_fit_a_phone_and_complain_of_nothing(browser, pages, share):
    wrong = {}
    for path in list(pages)[share::4]:
        with browser.open(path, width=360, height=740, dark=share % 2 == 1) as page:
            if page.overflow() or page.problems:
                wrong[path.name] = (page.overflow(), page.problems)
    assert wrong == {}


def test_the_search_works_from_the_disk(browser, site):
    with browser.open(site / "index.html") as page:
        page.evaluate("location.href = 'search.html?q=certificate'")
        page.wait_for("document.querySelectorAll('#search-results li a').length > 3")
        assert page.problems == []
        first = page.evaluate("document.querySelector('#search-results li a').href")
        page.evaluate(f"location.href = {first!r}")
        page.wait_for("document.readyState === 'complete' && document.querySelector('article h1') !== null")
        assert "certificate" in page.evaluate("document.body.innerText").lower()


def test_pages_are_light_dark_and_paper(browser, site):
    seen = {}
    for dark in (False, True):
        with browser.open(site / "what_is_proven.html", dark=dark) as page:
            seen[dark] = page.screenshot().mean()
            page.call("Emulation.setEmulatedMedia", media="print")
            shown = "[...document.querySelectorAll('.sidebar-drawer, .toc-drawer, .mobile-header')]"
            assert page.evaluate(f"{shown}.every(e => getComputedStyle(e).display === 'none' || !e.offsetHeight)")
    assert seen[True] < 80 < 180 < seen[False]


def test_formulas_are_set_by_the_browser(browser, site):
    with browser.open(site / "proofs.html") as page:
        assert page.evaluate("document.querySelectorAll('math').length") > 20
        assert page.evaluate("[...document.querySelectorAll('math')].every(m => m.getBoundingClientRect().height > 5)")
        assert page.evaluate("document.querySelectorAll('merror, .math-error').length") == 0


def test_the_one_command_is_the_one_that_is_told():
    told = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    assert "`python -m sphinx -W --keep-going -q docs docs/_build`" in told
    assert ".venv/bin/python -m sphinx -W --keep-going -q docs docs/_build" in (ROOT / ".ci" / "run").read_text("utf-8")
    assert os.access(ROOT / ".ci" / "run", os.X_OK)
