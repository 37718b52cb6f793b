"""What holds in every view of the case room: keys, addresses, sizes, colours, hostile texts, and who may read it."""

import json
import re
from pathlib import Path

import pytest

from fake_room import HOSTILE, PAGE, Room

pytestmark = [
    pytest.mark.browser,
    pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"),
]

SOURCE = Path(__file__).parents[3] / "explorer"
AXE = SOURCE / "node_modules/axe-core/axe.min.js"
#: Addresses, and what is there when each is loaded.
VIEWS = {
    "#/queue": ".card[aria-busy=false]",
    "#/queue/finds": ".card[aria-busy=false]",
    "#/case/25": ".card[aria-busy=false]",
    "#/list": ".spacer .row .score",
    "#/graph": ".drawn li",
    "#/graph/25": ".drawn li",
    "#/quality": ".chart",
    "#/learn": "[data-action=openRun]",
    "#/cases": ".case-list a",
}


@pytest.fixture
def busy(served):
    """A room where something of everything has happened."""

    def serve(**options):
        room = Room(**options)
        for node, verdict in ((1, "yes"), (2, "no"), (4, "skip"), (33, "yes")):
            room.post_decisions({"node": node, "verdict": verdict, "note": HOSTILE[node % len(HOSTILE)]})
        room.learning = "done"
        return served(room)

    return serve


def bindings():
    text = (SOURCE / "src/keys.ts").read_text(encoding="utf-8")
    found = re.findall(r'\{ action: "(\w+)", keys: (\[[^\]]+\]), words: "[^"]+"', text)
    return {action: json.loads(keys) for action, keys in found}, text


def test_every_action_has_a_key_of_its_own():
    of, text = bindings()
    actions = re.findall(r'"(\w+)"', re.search(r"type Action =(.*?);", text, re.DOTALL)[1])
    assert sorted(of) == sorted(actions)
    keys = [key for each in of.values() for key in each]
    assert len(keys) == len(set(keys))
    assert "g" not in keys, "it begins the keys of the views"
    # What browsers and screen readers do with one key alone: find, scroll, back, next field.
    assert not {"'", " ", "Backspace", "Tab", "PageUp", "PageDown"} & set(keys)


def test_every_button_of_an_action_shows_its_key(busy, opened):
    of, _ = bindings()
    server = busy()
    for view, ready in VIEWS.items():
        page = opened(server.address, view)
        page.wait_for_selector(ready)
        for name in page.eval_on_selector_all("[data-action]", "all => all.map((each) => each.dataset.action)"):
            assert name in of


def test_no_key_fires_with_a_modifier_or_while_typing(served, opened):
    server = served()
    page = opened(server.address)
    page.wait_for_selector(".card[aria-busy=false]")
    for modifier in ("Control", "Alt", "Meta"):
        for key in "crsu":
            if (modifier, key) != ("Control", "r"):  # reloads, as it should
                page.keyboard.press(f"{modifier}+{key}")
    page.focus("textarea")
    page.keyboard.type("crsugq?/j")
    assert server.room.log == []
    assert page.locator("dialog").count() == 0


def test_help_shows_all_keys_and_can_turn_them_off(served, opened):
    server = served()
    page = opened(server.address)
    page.wait_for_selector(".card[aria-busy=false]")
    page.keyboard.press("?")
    page.wait_for_selector("dialog[open]")
    assert page.locator("dialog [data-action]").count() == len(bindings()[0])
    page.uncheck("#single-keys")
    page.keyboard.press("Escape")
    page.wait_for_selector("dialog", state="detached")
    page.keyboard.press("c")
    page.keyboard.press("?")
    page.wait_for_selector("dialog[open]")
    assert server.room.log == []


def test_views_by_key(busy, opened):
    page = opened(busy().address)
    views = {"q": ".queue", "l": ".list-view", "g": ".graph-view", "h": ".quality", "f": ".learn", "c": ".cases"}
    for key, view in views.items():
        page.keyboard.press("g")
        page.keyboard.press(key)
        page.wait_for_selector(view)
    assert page.locator("nav [aria-current]").inner_text() == "Cases"


@pytest.mark.parametrize("view", VIEWS)
def test_every_address_can_be_reloaded(busy, opened, view):
    page = opened(busy().address, view)
    page.wait_for_selector(VIEWS[view])
    before = page.evaluate("location.hash"), page.locator("h1").inner_text(), page.title()
    page.reload()
    page.wait_for_selector(VIEWS[view])
    assert (page.evaluate("location.hash"), page.locator("h1").inner_text(), page.title()) == before


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", ["laptop", "phone"])
def test_hostile_texts_are_harmless_and_nothing_hangs_over(busy, opened, size, scheme):
    server = busy(hostile=True)
    page = opened(server.address, size=size, scheme=scheme)
    for view, ready in VIEWS.items():
        page.goto("about:blank")
        page.goto(server.address + view)
        page.wait_for_selector(ready)
        assert page.locator("img").count() == 0
        assert page.locator("script").count() == 1
        assert page.evaluate("document.documentElement.scrollWidth") == page.viewport_size["width"], view
    dark = page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(20, 22, 26)"
    assert dark == (scheme == "dark")


def test_marks_of_direction_are_seen_and_turn_nothing_round(busy, opened):
    server = busy(hostile=True)
    page = opened(server.address)
    for view, ready in VIEWS.items():
        page.goto("about:blank")
        page.goto(server.address + view)
        page.wait_for_selector(ready)
        assert "\u202e" not in page.locator("main").text_content(), view
    cells = page.locator(".case-list .cells").first
    assert cells.locator("bdi").count() == 2
    assert "\N{REPLACEMENT CHARACTER}drawkcab" in page.locator(".case-list").inner_text()


def test_the_keys_can_be_closed_without_scrolling(served, opened):
    page = opened(served().address)
    page.wait_for_selector(".card[aria-busy=false]")
    page.keyboard.press("?")
    box = page.locator("dialog button").bounding_box()
    assert box["y"] + box["height"] < 800
    page.click("dialog button")
    page.wait_for_selector("dialog", state="detached")


@pytest.mark.skipif(not AXE.is_file(), reason="needs `npm ci` in explorer")
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious(busy, opened, scheme):
    server = busy()
    # The checker itself is a script that the page's policy rightly refuses.
    page = opened(server.address, scheme=scheme, bypass_csp=True)
    found = []
    for view, ready in VIEWS.items():
        page.goto("about:blank")
        page.goto(server.address + view)
        page.wait_for_selector(ready)
        if view == "#/list":
            page.keyboard.press("f")
        page.add_script_tag(content=AXE.read_text(encoding="utf-8"))
        result = page.evaluate("axe.run()")
        found += [
            (view, each["id"], each["nodes"][0]["html"][:200], each["nodes"][0]["failureSummary"][:300])
            for each in result["violations"]
            if each["impact"] in ("serious", "critical")
        ]
    assert not found


def test_all_of_it_without_a_mouse_has_visible_focus(busy, opened):
    server = busy()
    for view, ready in VIEWS.items():
        page = opened(server.address, view)
        page.wait_for_selector(ready)
        for _ in range(25):
            page.keyboard.press("Tab")
            style = page.evaluate(
                """() => {
                  const focused = document.activeElement;
                  return focused === document.body ? null : getComputedStyle(focused).outlineStyle;
                }"""
            )
            assert style in (None, "solid", "auto"), view


def test_stillness_is_kept_where_it_is_wanted(served, opened):
    page = opened(served().address, "#/graph/3", reduced_motion="reduce")
    page.wait_for_selector(".drawn li")
    pictures = []
    while len(pictures) < 2 or pictures[-1] != pictures[-2]:  # a busy machine paints late
        page.wait_for_timeout(300)
        pictures.append(page.locator(".canvas").screenshot())
        assert len(pictures) < 20


def test_the_page_is_small_and_asks_nobody_else():
    files = [path for path in PAGE.rglob("*") if path.is_file()]
    assert sum(path.stat().st_size for path in files) <= 500_000
    assert {path.relative_to(PAGE).as_posix() for path in files} >= {"index.html", "assets/app.js", "assets/app.css"}
    index = (PAGE / "index.html").read_text(encoding="utf-8")
    assert "style=" not in index
    assert not re.search(r"<script(?![^>]*src=)", index)
    lock = json.loads((SOURCE / "package-lock.json").read_text(encoding="utf-8"))
    assert not any("resolved" in package for package in lock["packages"].values())
    wanted = json.loads((SOURCE / "package.json").read_text(encoding="utf-8"))
    versions = [*wanted["dependencies"].values(), *wanted["devDependencies"].values()]
    assert all(re.fullmatch(r"\d+\.\d+\.\d+", version) for version in versions)
