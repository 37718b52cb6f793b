"""The list of the case room: a million rows, of which every one can be reached."""

import time

import pytest

from fake_room import Room

pytestmark = [
    pytest.mark.browser,
    pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"),
]

MILLION = 1_000_000


def rows(page):
    page.wait_for_selector(".spacer .row .score")
    return page.locator(".spacer .row .name bdi").all_inner_texts()


def active_row(page, expected):
    """The active row, which has to be inside of the list."""
    page.wait_for_function("id => document.querySelector('#active-row .name bdi')?.textContent === id", arg=expected)
    return page.evaluate(
        """() => {
          const [row, list, head] = ["#active-row", ".virtual", ".row.head"]
            .map((selector) => document.querySelector(selector).getBoundingClientRect());
          return row.top >= head.bottom - 2 && row.bottom <= list.bottom + 2;
        }"""
    )


def test_the_last_row_of_a_million_is_reached(served, opened):
    page = opened(served(nodes=MILLION).address, "#/list")
    assert rows(page)[0] == "A-0000"
    assert page.locator("#total").inner_text() == "1,000,000 of 1,000,000 nodes"
    page.keyboard.press("End")
    assert active_row(page, "A-999999")
    assert "node=999999" in page.evaluate("location.hash")
    page.keyboard.press("k")
    assert active_row(page, "A-999998")
    page.keyboard.press("Home")
    assert active_row(page, "A-0000")
    page.locator(".virtual").evaluate("list => { list.scrollTop = list.scrollHeight; }")
    page.wait_for_selector("text=A-999999")
    page.locator(".virtual").evaluate("list => { list.scrollTop = list.scrollHeight / 2; }")
    page.wait_for_function("() => document.querySelectorAll('.spacer .row .score').length > 10")
    assert all(MILLION * 0.49 < int(name[2:]) < MILLION * 0.51 for name in rows(page))


def test_the_active_row_stays_in_sight_step_by_step(served, opened):
    page = opened(served(nodes=MILLION).address, "#/list?node=500000")
    assert active_row(page, "A-500000")
    for step in range(1, 41):
        page.keyboard.press("j" if step % 2 else "ArrowDown")
    assert active_row(page, "A-500040")
    for _ in range(80):
        page.keyboard.press("ArrowUp")
    assert active_row(page, "A-499960")


def test_a_reload_comes_back_to_the_same_row_order_and_filter(served, opened):
    page = opened(served().address, "#/list?sort=name&desc=1&hops=2&node=10")
    assert active_row(page, "A-0010")
    before = rows(page)
    page.reload()
    assert active_row(page, "A-0010")
    assert rows(page) == before


def test_sorted_by_its_head_and_back(served, opened):
    page = opened(served(nodes=200).address, "#/list")
    assert rows(page)[0] == "A-0000"
    head = page.locator("[role=columnheader]", has_text="Score")
    assert head.get_attribute("aria-sort") == "descending"
    head.locator("button").click()
    page.keyboard.press("Home")
    assert active_row(page, "A-0199")
    page.locator("[role=columnheader] button", has_text="name").click()
    page.keyboard.press("Home")
    page.wait_for_function("() => document.querySelector('#active-row .cell')?.textContent.startsWith('Ann')")


def test_search_and_filters_by_keyboard(served, opened):
    server = served(nodes=200)
    server.room.post_decisions({"node": 5, "verdict": "yes"})
    page = opened(server.address, "#/queue")
    page.wait_for_selector(".card[aria-busy=false]")
    page.keyboard.press("/")
    page.wait_for_selector("input[type=search]:focus")
    page.keyboard.type("bashir")
    page.wait_for_function("() => document.querySelector('#total').textContent.startsWith('34 of')")
    page.keyboard.press("Escape")
    page.keyboard.press("f")
    page.select_option("#filters select >> nth=0", "confirmed")
    page.wait_for_function("() => document.querySelector('#total').textContent === 'No node fits.'")
    assert "q=bashir" in page.evaluate("location.hash")


def test_decisions_go_down_the_list(served, opened):
    server = served(nodes=200)
    page = opened(server.address, "#/list?node=1")
    assert active_row(page, "A-0001")
    page.keyboard.press("c")
    assert active_row(page, "A-0002")
    page.keyboard.press("r")
    assert active_row(page, "A-0003")
    page.keyboard.press("u")
    assert active_row(page, "A-0002")
    assert [entry["verdict"] for entry in server.room.log] == ["yes", "no", "undo"]
    page.keyboard.press("Enter")
    page.wait_for_selector(".card h2 >> text=A-0002")


def covered(page):
    """Which buttons that decide lie under the words on what was done."""
    return page.evaluate(
        """() => {
          const said = document.querySelector("#said").getBoundingClientRect();
          return [...document.querySelectorAll("button[data-action]")].filter((button) => {
            const box = button.getBoundingClientRect();
            return box.left < said.right && box.right > said.left && box.top < said.bottom && box.bottom > said.top;
          }).map((button) => button.dataset.action);
        }"""
    )


@pytest.mark.parametrize("size", ["laptop", "phone"])
@pytest.mark.parametrize(("route", "there"), [("#/list", "#active-row .score"), ("#/queue", ".card[aria-busy=false]")])
def test_what_was_done_is_said_beside_the_buttons(served, opened, size, route, there):
    page = opened(served(nodes=200).address, route, size=size)
    page.wait_for_selector(there)
    page.keyboard.press("c")
    page.wait_for_selector("#said:not(:empty)")
    assert covered(page) == []


@pytest.mark.parametrize(("size", "seen"), [("laptop", 3), ("phone", 1)])
def test_how_many_of_the_columns_are_seen_is_told(served, opened, size, seen):
    room = Room(200)
    run, row = room.get_run, room.row
    room.get_run = lambda asked: {**run(asked), "columns": ["name", "town", "opened", "remarks"]}
    room.row = lambda node, **how: {**row(node, **how), "cells": [*room.cells(node), "2026", "Two cards"]}
    page = opened(served(room).address, "#/list", size=size)
    page.wait_for_selector("#active-row .score")
    assert page.locator("#active-row .cell:visible").count() == seen
    assert page.locator("#total").inner_text() == f"200 of 200 nodes · {seen} of 4 columns, all of them in the case"


def test_a_known_positive_is_not_decided(served, opened):
    server = served(nodes=200)
    page = opened(server.address, "#/list?node=7")
    assert active_row(page, "A-0007")
    page.keyboard.press("r")
    page.wait_for_selector("text=A-0007 was known before: there is nothing to decide.")
    assert server.room.log == []


def test_steps_in_a_million_rows_are_quick(served, opened):
    page = opened(served(nodes=MILLION).address, "#/list")
    rows(page)

    def seconds_for_a_step():
        started = time.perf_counter()
        page.keyboard.press("j")
        page.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
        return time.perf_counter() - started

    assert any(seconds_for_a_step() < 0.1 for _ in range(10)), "a busy machine has ten attempts"
