"""Graph, quality, learning and cases of the case room."""

import io

import pytest
from PIL import Image

from fake_room import Room

pytestmark = [
    pytest.mark.browser,
    pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"),
]


def drawn(page, at_least=1):
    page.wait_for_function("count => document.querySelectorAll('.drawn li').length >= count", arg=at_least)
    return page.locator("#drawn-count").inner_text()


def colours(page, selector):
    """The most frequent colours of what is painted, none of which is the background."""
    page.wait_for_timeout(1800)  # until the layout stands still
    picture = Image.open(io.BytesIO(page.locator(selector).screenshot())).convert("RGB")
    counted = sorted(picture.getcolors(1 << 20), reverse=True)
    return [colour for count, colour in counted[1:] if count > 20]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_canvas_is_painted(served, opened, scheme):
    page = opened(served().address, "#/graph/3", scheme=scheme)
    drawn(page, 6)
    found = colours(page, ".canvas")
    found_blue = [(red, green, blue) for red, green, blue in found if blue > red + 60 and blue > green]
    assert found_blue, "nodes of a high score are blue"
    known = (176, 106, 0) if scheme == "light" else (232, 178, 60)
    assert known in found, "the path to the known positive"


def test_a_hub_asks_how_many(served, opened):
    page = opened(served(nodes=5000).address, "#/graph/25")
    before = drawn(page, 25)
    assert "+1,2" in page.locator(".drawn [aria-current]").inner_text()
    page.keyboard.press("e")
    page.wait_for_selector("dialog[open]")
    assert "1,2" in page.locator("dialog h2").inner_text()
    assert page.locator("dialog select").first.locator("option").count() == 3
    page.keyboard.type("50")
    page.keyboard.press("Enter")
    page.wait_for_selector("#said:not(:empty)")
    assert page.locator("#said").inner_text() == "50 nodes added around A-0025"
    assert drawn(page) != before
    page.keyboard.press("e")
    page.wait_for_selector("dialog[open]")
    page.keyboard.press("Escape")
    page.wait_for_selector("dialog[open]", state="detached")


def test_a_click_on_the_canvas_chooses_and_unfolds(served, opened):
    page = opened(served().address, "#/graph/3")
    before = drawn(page, 6)
    page.wait_for_timeout(1800)
    box = page.locator(".canvas").bounding_box()
    picture = Image.open(io.BytesIO(page.locator(".canvas").screenshot())).convert("RGB")
    # Any node but the chosen one, which stands out with a dark ring: the blue spot that is farthest from the middle.
    blue = [
        (x, y)
        for x in range(0, picture.width, 2)
        for y in range(0, picture.height, 2)
        if (pixel := picture.getpixel((x, y)))[2] > pixel[0] + 100 and pixel[2] > pixel[1] + 40
    ]
    x, y = max(blue, key=lambda spot: abs(spot[0] - box["width"] / 2) + abs(spot[1] - box["height"] / 2))
    page.mouse.click(box["x"] + x, box["y"] + y)
    page.wait_for_selector("#said:not(:empty)")
    assert "added around" in page.locator("#said").inner_text()
    assert drawn(page) != before


def test_the_graph_by_keyboard(served, opened):
    server = served()
    page = opened(server.address, "#/graph")
    drawn(page, 20)
    page.keyboard.press("End")
    page.keyboard.press("Home")
    page.keyboard.press("j")
    chosen = page.locator(".about h2 bdi").inner_text()
    assert chosen == "A-0001"
    assert page.locator(".drawn [aria-current]").is_visible()
    page.keyboard.press("p")
    page.wait_for_selector(".drawn >> text=on the path >> nth=0")
    page.keyboard.press("c")
    page.wait_for_selector(".about .chip.confirmed")
    for key in ("+", "-", "0"):
        page.keyboard.press(key)
    page.keyboard.press("Enter")
    page.wait_for_selector(f".card h2 >> text={chosen}")


def test_the_slider_tells_what_to_expect(served, opened):
    server = served(nodes=200)
    server.room.post_decisions({"node": 1, "verdict": "yes"})
    page = opened(server.address, "#/quality?taken=40")
    page.wait_for_selector(".chart")
    assert "The first 40 (score from 0.794)" in page.locator(".answer").inner_text()
    # 64 (1 − 1/e) = 40.5 among 40, of 64.
    assert page.locator(".answer dd").first.inner_text() == "40 (32 to 51)"
    page.focus("#taken")
    page.keyboard.press("End")
    assert "nothing was measured here: a guess" in page.locator(".answer").inner_text()
    assert page.locator("#taken").get_attribute("aria-valuetext") == "the first 200"
    assert page.evaluate("location.hash") == "#/quality?taken=200"
    assert page.locator("text=unknown").count() == 1
    assert page.locator(".band.pale").count() == 1


def test_halves_are_rounded_as_on_the_terminal(served, opened):
    room = Room()
    step = {"taken": 10, "score": 0.5, "finds": [2.5, 0.5, 1132.5], "known": True}
    room.get_quality = lambda _: {"measured": None, "expected": {"steps": [step], "positives": [2.5, 0.5, 1132.5]}}
    page = opened(served(room).address, "#/quality")
    page.wait_for_selector(".chart")
    assert page.locator(".answer dd").first.inner_text() == "2 (0 to 1,132)"
    assert page.locator(".answer dd").last.inner_text() == "0"


def test_what_is_measured_follows_each_check(served, opened):
    server = served()
    page = opened(server.address, "#/quality")
    page.wait_for_selector("text=Nothing is measured yet.")
    server.room.post_decisions({"node": 1, "verdict": "yes"})
    page.wait_for_selector("text=Measured on 1 checks")


def test_there_is_something_to_learn_from_after_a_verdict(served, opened):
    room = Room()
    page = opened(served(room).address, "#/learn")
    page.wait_for_selector("[data-action=learn]:disabled")
    page.keyboard.press("t")
    page.wait_for_selector("#said:has-text('nothing to learn from yet')")
    room.post_decisions({"node": 1, "verdict": "yes"})
    page.wait_for_selector("[data-action=learn]:enabled")
    room.learning, room.newer = "done", 2
    page.reload()
    page.wait_for_selector("text=2 verdicts are newer than this training")


def test_nothing_is_trained_in_a_room_that_is_read_only(served, opened):
    room = Room()
    room.post_decisions({"node": 1, "verdict": "yes"})
    room.read_only = True
    page = opened(served(room).address, "#/learn")
    page.wait_for_selector("[data-action=learn]:disabled")
    page.keyboard.press("t")
    page.wait_for_selector("text=This room is read-only: nothing is trained.")
    assert room.learning == "idle"


def test_fit_again_watch_cancel_and_open(served, opened):
    room = Room()
    room.post_decisions({"node": 1, "verdict": "yes"})
    page = opened(served(room).address, "#/learn")
    page.wait_for_selector("[data-action=learn]")
    page.keyboard.press("t")
    page.wait_for_selector("text=epoch 40 of 200")
    page.keyboard.press("x")
    page.wait_for_selector("text=The fit was cancelled")
    page.keyboard.press("t")
    page.wait_for_selector("progress")
    room.learning = "done"
    page.wait_for_selector("text=Of the first 100, 12 are new.")
    with page.expect_navigation():
        page.keyboard.press("o")
    page.wait_for_selector(".queue")
    assert room.learning == "idle"


def test_cases_are_filtered_and_saved(served, opened):
    server = served()
    for node, verdict in ((1, "yes"), (2, "no"), (3, "skip")):
        server.room.post_decisions({"node": node, "verdict": verdict, "note": f"note {node}"})
    page = opened(server.address, "#/cases?status=rejected")
    page.wait_for_selector(".case-list a")
    assert page.locator(".case-list a").all_inner_texts() == ["A-0002"]
    page.get_by_label("confirmed").check()
    page.wait_for_function("() => document.querySelectorAll('.case-list a').length === 2")
    page.keyboard.press("/")
    page.keyboard.type("note 1")
    page.wait_for_function("() => document.querySelectorAll('.case-list a').length === 1")
    with page.expect_download() as download:
        page.click("text=CSV")
    assert download.value.url.endswith("api/export?format=csv")
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    page.wait_for_selector(".card h2 >> text=A-0001")


def test_names_in_the_graph_are_not_cut_off(served, opened):
    page = opened(served().address, "#/graph/3", size="phone")
    drawn(page, 6)
    page.evaluate(
        """() => {
          window.ends = [];
          const {fillText} = CanvasRenderingContext2D.prototype;
          CanvasRenderingContext2D.prototype.fillText = function (text, x, y) {
            window.ends.push(x + this.measureText(text).width - this.canvas.clientWidth);
            fillText.call(this, text, x, y);
          };
        }"""
    )
    page.keyboard.press("End")
    page.keyboard.press("0")
    page.wait_for_timeout(500)
    ends = page.evaluate("window.ends")
    assert len(ends) > 3
    assert max(ends) <= 0


def test_a_long_name_leaves_the_buttons_of_the_graph_in_sight(served, opened):
    room = Room()
    room.text = lambda node: f"{node} " + "long name " * 19
    row = room.row
    room.row = lambda node, **how: {**row(node, **how), "cells": ["word " * 39] * 2}
    page = opened(served(room).address, "#/graph/3")
    page.wait_for_selector(".about [data-action=confirm]")
    about, button = (page.locator(each).bounding_box() for each in (".about", ".about [data-action=confirm]"))
    assert button["y"] + button["height"] <= about["y"] + about["height"]


def test_the_graph_when_everything_is_decided(served, opened):
    room = Room(30)
    room.status = lambda node: "confirmed"
    page = opened(served(room).address, "#/graph")
    page.wait_for_selector(".drawn li")
    assert page.locator("#alarm").inner_text() == ""
