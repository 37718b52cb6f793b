"""The queue of the case room, by keyboard: what is shown, what is saved, and what is not."""

import re

import pytest

from fake_room import TOKEN, Room

pytestmark = [
    pytest.mark.browser,
    # Playwright's own event loop, and connections that a browser has left open.
    pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"),
]


def shown(page):
    """The id of the case on the screen, once all of it is there."""
    page.wait_for_selector(".card[aria-busy=false]")
    return page.locator(".card h2 bdi").inner_text()


def press(page, key, expected):
    page.keyboard.press(key)
    page.wait_for_function("id => document.querySelector('.card h2 bdi')?.textContent === id", arg=expected)


def test_an_audit_by_keyboard_alone_to_its_end(served, opened):
    server = served(drawn=4)
    page = opened(server.address)
    assert shown(page) == "A-0001"
    assert page.locator(".progress").inner_text() == "case 1 · 0 of 4 checked"
    press(page, "c", "A-0002")
    assert page.locator("#said").inner_text() == "A-0001 confirmed, 1 of 4 checked"
    press(page, "r", "A-0003")
    press(page, "s", "A-0004")
    page.keyboard.press("c")
    page.wait_for_selector("text=Every case here has been seen.")
    assert page.locator(".progress").inner_text() == "3 of 4 checked"
    assert [entry["verdict"] for entry in server.room.log] == ["yes", "no", "skip", "yes"]
    press(page, "k", "A-0004")
    assert page.locator(".card .chip").first.inner_text() == "confirmed"


def test_no_score_is_told_in_the_audit_before_the_decision(served, opened):
    server = served(drawn=4)
    page = opened(server.address, "#/queue/audit")
    shown(page)
    text = page.locator(".card").inner_text()
    assert "hidden until you decide" in text
    assert "Rank" not in text
    assert not re.search(r"[+−]\d\.\d\d|0\.9\d\d", text)
    assert "score" not in page.locator(".picture").inner_html()
    press(page, "c", "A-0002")
    press(page, "k", "A-0001")
    assert shown(page) == "A-0001"
    assert "0.987" in page.locator(".card").inner_text()


def test_the_graph_of_an_audit_case_tells_no_score_before_the_decision(served, opened):
    server = served(drawn=4)
    page = opened(server.address, "#/queue/audit")
    shown(page)
    page.keyboard.press("v")
    page.wait_for_selector(".drawn li >> nth=3")
    view = page.locator(".graph-view")
    assert "hidden until you decide" in view.inner_text()
    assert not re.search(r"0\.\d\d\d|score low", view.inner_text())
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    shown(page)
    assert "hidden until you decide" in page.locator(".card").inner_text()
    page.go_back()
    page.wait_for_selector(".drawn li >> nth=3")
    page.keyboard.press("Home")
    page.locator(".drawn button", has_text="A-0001").click()
    page.keyboard.press("c")
    page.wait_for_selector(".about .chip.confirmed")
    assert "Score 0.987" in view.inner_text()
    assert "score low to high" in view.inner_text()


def test_enter_on_an_audit_case_tells_no_score(served, opened):
    page = opened(served(drawn=4).address, "#/queue/audit")
    shown(page)
    page.keyboard.press("Enter")
    page.wait_for_selector("h1:text('Case')", state="attached")
    shown(page)
    assert "hidden until you decide" in page.locator(".card").inner_text()


def test_undo_brings_the_case_back(served, opened):
    server = served(drawn=4)
    page = opened(server.address)
    shown(page)
    press(page, "c", "A-0002")
    press(page, "u", "A-0001")
    page.wait_for_function("() => document.querySelector('.card .chip').textContent === 'open'")
    assert page.locator("#said").inner_text() == "Undone: A-0001 is open again"
    assert page.locator(".progress").inner_text() == "case 1 · 0 of 4 checked"


def test_why_is_asked_for_again_until_it_is_worked_out(served, opened):
    room = Room(drawn=4)
    room.pending = 1_000_000
    page = opened(served(room).address)
    shown(page)
    assert page.locator(".why").inner_text().split("\n")[-1] == "Working out why …"
    page.keyboard.press("n")
    page.keyboard.type("two cards")
    page.wait_for_timeout(1200)
    assert len([path for path in room.requests if "/case/1?" in path]) > 1
    room.pending = 0
    page.wait_for_selector(".why .reasons")
    assert "Working out" not in page.locator(".card").inner_text()
    assert page.evaluate("document.activeElement.value") == "two cards"


def test_why_of_a_case_that_was_left_is_not_asked_for_again(served, opened):
    room = Room(drawn=4)
    room.pending = 1_000_000
    page = opened(served(room).address)
    shown(page)
    press(page, "c", "A-0002")
    page.wait_for_timeout(300)
    before = len([path for path in room.requests if "/case/1?" in path])
    page.wait_for_timeout(1500)
    assert len([path for path in room.requests if "/case/1?" in path]) == before


def test_a_note_is_typed_without_deciding_and_goes_with_the_decision(served, opened):
    server = served(drawn=4)
    page = opened(server.address)
    shown(page)
    page.keyboard.press("n")
    page.keyboard.type("crs? two cards")
    assert server.room.log == []
    page.keyboard.press("Escape")
    press(page, "c", "A-0002")
    assert [(entry["verdict"], entry["note"]) for entry in server.room.log] == [("yes", "crs? two cards")]
    page.keyboard.press("n")
    page.keyboard.type("ask Ann")
    page.keyboard.press("Control+Enter")
    page.wait_for_selector(".history li")
    assert server.room.log[-1]["verdict"] == "note"
    assert shown(page) == "A-0002"


def test_a_note_that_was_begun_outlives_a_reload(served, opened):
    server = served(drawn=4)
    page = opened(server.address)
    shown(page)
    page.keyboard.press("n")
    page.keyboard.type("two cards")
    page.reload()
    shown(page)
    assert page.locator("textarea").input_value() == "two cards"
    press(page, "c", "A-0002")
    assert page.locator("textarea").input_value() == ""
    assert server.room.log[0]["note"] == "two cards"
    press(page, "u", "A-0001")
    assert page.evaluate("sessionStorage.length") == 0


def test_what_was_not_saved_is_never_shown_as_saved(served, opened):
    server = served(drawn=4)
    page = opened(server.address)
    shown(page)
    server.room.full = True
    page.keyboard.press("c")
    page.wait_for_selector("#alarm:not(:empty)")
    assert page.locator("#alarm").inner_text() == "Not saved: A-0001. the disk is full; nothing was changed"
    assert shown(page) == "A-0001"
    assert page.locator(".card .chip").first.inner_text() == "open"
    server.room.full = False
    press(page, "c", "A-0002")
    assert page.locator("#alarm").inner_text() == ""


def test_a_server_that_is_gone_and_comes_back(served, opened):
    server = served(drawn=4)
    page = opened(server.address)
    shown(page)
    server.stop()
    page.keyboard.press("c")
    page.wait_for_selector("#gone:not([hidden])")
    command = f"pugnn explore {server.room.path} --port {server.port} --token={TOKEN}"
    assert page.locator("#gone code").inner_text() == command
    assert page.locator("#alarm").inner_text().startswith("Not known to be saved: A-0001")
    assert shown(page) == "A-0001"
    assert "0 of 4 checked" in page.locator(".progress").inner_text()
    server.start()
    page.wait_for_selector("#gone", state="hidden")
    press(page, "c", "A-0002")
    assert len(server.room.log) == 1


def test_two_windows_see_each_other(served, opened):
    server = served(drawn=4)
    one, two = opened(server.address), opened(server.address, "#/list")
    shown(one)
    press(one, "c", "A-0002")
    two.wait_for_selector(".spacer .chip.confirmed")
    assert "1 confirmed" in two.locator(".counts").inner_text()
    two.keyboard.press("u")
    two.wait_for_selector(".spacer .chip.confirmed", state="detached")
    one.wait_for_function("() => document.querySelector('.progress').textContent.includes('0 of 4')")


def test_a_window_follows_when_another_one_opens_the_next_run(served, opened):
    room = Room(drawn=4)
    server = served(room)
    page = opened(server.address, "#/case/3")
    shown(page)
    room.post_open({})
    page.keyboard.press("c")
    page.wait_for_selector("#alarm:has-text('Another window opened another run')")
    assert shown(page) == "A-0001"
    assert room.log == []
    assert "#/queue" in page.evaluate("location.hash")
    press(page, "c", "A-0002")
    assert len(room.log) == 1


def test_what_somebody_else_decides_after_this_window_is_told(served, opened):
    room = Room(drawn=4)
    page = opened(served(room).address)
    shown(page)
    press(page, "c", "A-0002")
    room.post_decisions({"node": 1, "verdict": "yes", "who": "bob"})
    room.post_decisions({"node": 2, "verdict": "no", "who": "bob"})
    room.post_decisions({"node": 1, "verdict": "no", "who": "bob"})
    page.wait_for_selector("#alarm:not(:empty)")
    assert page.locator("#alarm").inner_text() == "bob rejected A-0001 after you."


def test_a_room_that_is_read_only(served, opened):
    room = Room(drawn=4)
    room.read_only = True
    page = opened(served(room).address)
    shown(page)
    assert page.locator(".decisions button:enabled").count() == 0
    page.keyboard.press("c")
    page.wait_for_selector("text=This room is read-only: nothing is saved.")


def test_the_whole_case_is_on_one_screen(served, opened):
    page = opened(served().address, "#/queue/finds")
    shown(page)
    assert page.evaluate("document.documentElement.scrollHeight") <= 800
