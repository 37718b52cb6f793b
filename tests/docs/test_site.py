"""The site builds without a warning, needs nothing from elsewhere, and documents every public name."""

from __future__ import annotations

import os
import re
from html.parser import HTMLParser
from importlib import import_module
from pathlib import Path

import pytest

import pugnn

ROOT = Path(__file__).parents[2]
#: Rooms that others build on; what else is public stands at the top of the package.
ROOMS = [
    "checkup",
    "datasets",
    "features",
    "graph",
    "losses",
    "methods",
    "metrics",
    "models",
    "priors",
    "regularisers",
    "runs",
    "store",
    "task",
    "training",
    "views",
]


@pytest.fixture(scope="module")
def site() -> Path:
    """The site that `make docs` has built."""
    if "PUGNN_SITE" not in os.environ:
        pytest.skip("`make docs` builds the site and runs these tests")
    return Path(os.environ["PUGNN_SITE"])


class Fetches(HTMLParser):
    """What a page makes a browser fetch, and the words outside of code."""

    def __init__(self) -> None:
        super().__init__()
        self.addresses: list[str] = []
        self.words: list[str] = []
        self._code = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._code += tag in ("code", "pre", "script", "style")
        self.addresses += [
            value or "" for name, value in attrs if name in ("src", "srcset") or (tag == "link" and name == "href")
        ]

    def handle_endtag(self, tag: str) -> None:
        self._code -= tag in ("code", "pre", "script", "style")

    def handle_data(self, data: str) -> None:
        if not self._code:
            self.words.append(data)


def pages(site: Path) -> list[tuple[str, Fetches]]:
    found = []
    for path in sorted(site.rglob("*.html")):
        page = Fetches()
        page.feed(path.read_text(encoding="utf-8"))
        found.append((str(path.relative_to(site)), page))
    assert len(found) > 25
    return found


def test_nothing_is_fetched_from_elsewhere(site: Path) -> None:
    outside = [(name, to) for name, page in pages(site) for to in page.addresses if re.match(r"(https?:)?//", to)]
    assert outside == []


def test_no_formula_or_reference_is_left_as_source(site: Path) -> None:
    for name, page in pages(site):
        text = " ".join(page.words)
        found = re.search(r".{0,40}(:[a-z]+:`|\.\. math::|\\operatorname|\\sum|\$\$|={20}).{0,40}", text)
        assert found is None, f"{name}: {found}"


def test_links_of_the_root_fit_the_site(site: Path) -> None:
    page = (site / "contributing.html").read_text(encoding="utf-8")
    assert 'href="design.html"' in page
    assert 'href="docs/' not in page


def test_formulas_have_a_font(site: Path) -> None:
    assert 50_000 < (site / "formulas.ttf").stat().st_size < 500_000
    assert "<math" in (site / "mathematics.html").read_text(encoding="utf-8")


def test_every_public_name_is_documented(site: Path) -> None:
    api = "".join(path.read_text(encoding="utf-8") for path in (site / "api").glob("*.html"))
    anchors = set(re.findall(r'id="(pugnn\.[\w.]+)"', api))
    in_rooms = {(anchor.split(".")[1], anchor.rpartition(".")[2]) for anchor in anchors}
    missing = [
        f"{room}.{name}"
        for room in ROOMS
        for name in import_module(f"pugnn.{room}").__all__
        if not name.isupper() and (room, name) not in in_rooms  # constants are named where they matter
    ]
    anywhere = {name for _, name in in_rooms} | {"__version__"}
    assert missing + [name for name in pugnn.__all__ if name not in anywhere] == []


def test_every_command_is_in_the_reference(site: Path) -> None:
    from typer.main import get_command

    from pugnn.cli import app

    reference = (site / "commands.html").read_text(encoding="utf-8")
    for name in get_command(app).commands:  # type: ignore[attr-defined]
        assert f"pugnn {name}" in reference
