"""The report in headless Chromium: slider, search, export, picture, and what must not happen."""

import csv
import io
import os
import shutil
import time
from dataclasses import replace

import numpy as np
import pytest

from estimates import CHANGES, ESTIMATE, MEASURED, SUGGESTIONS, band
from pugnn.runs.report import write_report
from pugnn.runs.report.data import page_data
from report_contents import path_content, random_content, with_task

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on the path"),
    # Playwright's own event loop, not ours.
    pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"),
]

SIZES = {"laptop": {"width": 1280, "height": 800}, "phone": {"width": 390, "height": 844}}


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    playwright = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
    with pytest.MonkeyPatch.context() as patch:
        if not os.path.isdir(os.path.expanduser("~")):  # Playwright and Chromium need some home folder
            patch.setenv("HOME", str(tmp_path_factory.mktemp("home")))
        yield from launched(playwright)


def launched(playwright):
    with playwright.sync_playwright() as started:
        chromium = started.chromium.launch(
            executable_path=CHROMIUM, args=["--headless", "--no-sandbox", "--disable-gpu"]
        )
        yield chromium
        chromium.close()


@pytest.fixture
def opened(browser, tmp_path):
    """Open the report of a run; console errors and pop-ups fail the test at the end."""
    troubles, contexts = [], []

    def open_report(content, *, size="laptop", scheme="light"):
        write_report(tmp_path / "report.html", content)
        context = browser.new_context(viewport=SIZES[size], color_scheme=scheme)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: troubles.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: troubles.append(str(error)))
        page.on("dialog", lambda dialog: (troubles.append(f"dialog {dialog.message}"), dialog.dismiss()))
        page.on("request", lambda request: troubles.append(request.url) if "http" in request.url else None)
        page.goto((tmp_path / "report.html").as_uri())
        page.wait_for_selector("html[data-ready]", state="attached")
        return page

    yield open_report
    for context in contexts:
        context.close()
    assert not troubles


def number(page, selector):
    return int(page.locator(selector).inner_text().replace(",", ""))


def move_slider(page, step):
    page.locator("#threshold").evaluate("(slider, step) => { slider.value = step; }", step)
    page.locator("#threshold").dispatch_event("input")


def saved(page):
    with page.expect_download() as download:
        page.click("#export")
    text = download.value.path().read_text(encoding="utf-8-sig")
    return list(csv.DictReader(io.StringIO(text)))


def test_slider_counts_as_python_does(opened):
    content = random_content(400)
    data = page_data(content)
    page = opened(content)
    unknown = np.setdiff1d(np.arange(400), content.task.labelled)
    truth, scored = content.truth.positive[content.truth.scored], content.scores[content.truth.scored]
    assert page.locator("#threshold-value").inner_text() == "0.5"
    for step in (data["start"], 0, len(data["steps"]) - 1, data["start"] // 2, data["start"] + 40):
        move_slider(page, step)
        threshold = data["steps"][step]
        assert number(page, "#found-count") == (content.scores[unknown] >= threshold).sum()
        for place, members in enumerate(content.rings.values()):
            assert number(page, f"[data-ring='{place}']") == (content.scores[members] >= threshold).sum()
        decided = scored >= threshold
        assert number(page, "#true-positive") == (truth & decided).sum()
        assert number(page, "#false-positive") == (~truth & decided).sum()
        assert number(page, "#false-negative") == (truth & ~decided).sum()
        assert number(page, "#true-negative") == (~truth & ~decided).sum()


def test_slider_tells_what_was_measured_or_where_hidden_positives_rank(opened):
    first = [
        {"taken": 10, "checked": 4, "precision": band(0.9, 0.7, 1.0)},
        {"taken": 20, "checked": 8, "precision": band(0.85, 0.68, 0.98)},
        {"taken": 50, "checked": 9, "precision": band(0.5, 0.1, 0.9)},
    ]
    audit = {
        "drawn": 20,
        "open": 0,
        "files": [],
        "checked": [],
        "measured": {**MEASURED, "first": first, "decided": None},
    }
    page = opened(random_content(400, record={"estimate": ESTIMATE, "audit": audit}))
    data = page_data(random_content(400))
    reaching = [sum(ring["reach"][step] for ring in data["rings"]) for step in range(len(data["steps"]))]
    move_slider(page, reaching.index(15))  # half-way between the first 10 and the first 20
    assert page.locator("#expected").inner_text() == "Measured: 88 % (69 to 99) of them are positive."
    move_slider(page, reaching.index(50))
    expected = "Unknown: 10 to 90 % of them are positive, as far as it was measured."
    assert page.locator("#expected").inner_text() == expected
    move_slider(page, 0)
    assert page.locator("#expected").inner_text() == "30 of 30 known positives, when hidden, rank as high."


@pytest.mark.parametrize("size", list(SIZES))
def test_the_first_screen_has_the_three_answers(opened, size):
    record = {"estimate": ESTIMATE, "suggestions": SUGGESTIONS, "changes": CHANGES}
    page = opened(random_content(400, record=record), size=size)
    cards = page.locator(".answer").all()
    assert [card.locator("h2").inner_text() for card in cards] == [
        "What is known",
        "What is measured",
        "What to do next",
    ]
    assert all(card.bounding_box()["y"] + card.bounding_box()["height"] <= SIZES[size]["height"] for card in cards)


def test_no_page_is_longer_than_fifteen_screens_of_a_phone(opened):
    recipe = [
        {"column": f"column {at}", "kind": "number", "text": f"standardised, {at} missing", "features": 1}
        for at in range(200)
    ]
    record = {
        "estimate": ESTIMATE,
        "suggestions": SUGGESTIONS,
        "changes": CHANGES,
        "recipe": recipe,
        "notes": [f"edges.csv, row {at}: a self loop was dropped" for at in range(200)],
        "method_notes": ["Views of a node's attributes count as follows. " * 4] * 3,
        "warnings": ["near holds nearly all nodes: lower --delta"] * 3,
        "degenerate": [{"code": "none-positive", "message": "None of the nodes is decided positive. " * 4}] * 2,
        "metrics": {"macro_f1": 75.25, "roc_auc": 90.0},
        "options": {"edges": "edges.csv", "method": "views", **{f"option_{at}": at for at in range(60)}},
    }
    page = opened(random_content(400, record=record), size="phone")
    assert page.evaluate("document.documentElement.scrollHeight") <= 15 * SIZES["phone"]["height"]


def test_scores_that_look_equal_are_told_apart(opened):
    log_odds = np.array([30.0, 12.5, 12.25, 12.0, 41.5, 40.5])
    page = opened(path_content(1 / (1 + np.exp(-log_odds)), log_odds=log_odds))
    assert page.locator("#rows td:nth-child(2)").all_inner_texts() == ["n4", "n5", "n1", "n2", "n3"]
    assert page.locator("#rows td:nth-child(3)").all_inner_texts() == ["1.0000"] * 5
    shown = page.locator("#rows td:nth-child(5)").all_inner_texts()
    assert shown == ["41.500", "40.500", "12.500", "12.250", "12.000"]
    assert [row["log_odds"] for row in saved(page)] == ["41.5", "40.5", "12.5", "12.25", "12"]


def test_rejected_nodes_are_not_among_the_finds(opened):
    content = path_content([0.9, 0.8, 0.7, 0.2])
    task = replace(content.task, negative=np.array([2]), unlabelled=np.array([1, 3]))
    page = opened(with_task(content, task))
    assert page.locator("#rows td:nth-child(2)").all_inner_texts() == ["n1", "n3"]
    page.select_option("#show", "all")
    assert page.locator("#rows td:nth-child(4)").all_inner_texts() == ["known", "positive", "rejected", "no"]
    assert page.locator("#rows td:nth-child(1)").all_inner_texts() == ["known", "1", "known", "2"]


def test_measures_at_the_threshold_of_the_run_are_those_of_the_record(opened):
    from pugnn.metrics import measure

    content = random_content(400)
    page = opened(content)
    metrics = measure(content.truth, content.scores, 0.5)
    assert page.locator("#macro-f1").inner_text() == f"{metrics['macro_f1']:.1f} %"


def test_slider_by_keyboard_and_back(opened):
    page = opened(random_content(400))
    before = number(page, "#found-count")
    page.focus("#threshold")
    for _ in range(30):
        page.keyboard.press("ArrowRight")
    assert number(page, "#found-count") < before
    assert "nodes decided positive" in page.locator("#threshold").get_attribute("aria-valuetext")
    page.click("#reset")
    assert number(page, "#found-count") == before
    assert page.locator("#reset").is_disabled()


def test_list_shows_the_best_finds_and_turns_pages(opened):
    content = random_content(100)
    page = opened(content)
    best = content.task.graph.ids[content.others].tolist()
    assert page.locator("#rows td:nth-child(2)").all_inner_texts() == best[:25]
    page.click("#next")
    assert page.locator("#rows td:nth-child(2)").all_inner_texts() == best[25:50]
    assert page.locator("#page-words").inner_text() == f"26–50 of {len(best)}"


def test_search_and_export(opened):
    content = random_content(300)
    page = opened(content)
    page.fill("#search", "USER-00000")
    rows = saved(page)
    unknown = np.setdiff1d(np.arange(100), content.task.labelled)
    assert {row["id"] for row in rows} == {f"user-{position:07d}" for position in unknown}
    page.fill("#search", "nobody")
    assert page.locator("#page-words").inner_text() == "No node in the list fits."
    assert page.locator("#export").is_disabled()


def test_export_of_what_is_decided_positive_at_the_slider(opened):
    content = random_content(300)
    page = opened(content)
    page.select_option("#show", "found")
    step = page_data(content)["start"] + 20
    move_slider(page, step)
    threshold = page_data(content)["steps"][step]
    rows = saved(page)
    chosen = [node for node in content.others if content.scores[node] >= threshold]
    assert [row["id"] for row in rows] == content.task.graph.ids[chosen].tolist()
    assert [float(row["score"]) for row in rows] == content.scores[chosen].tolist()
    assert {row["decision"] for row in rows} == {"1"}
    assert [int(row["rank"]) for row in rows] == list(range(1, len(chosen) + 1))
    for row, node in zip(rows, chosen, strict=True):
        reached = content.task.nearest[node] >= 0
        assert row["nearest"] == (content.task.graph.ids[content.task.nearest[node]] if reached else "")
        assert row["distance"] == (str(content.task.distances[node]) if reached else "")


def test_hostile_ids_are_harmless_on_the_page_and_in_the_export(opened):
    ids = [
        "known",
        '<img src=x onerror="alert(1)">',
        "</script><script>alert(2)</script>",
        "=HYPERLINK(1)",
        "+1+1",
        "-5",
        "@x",
        'say "a, b"',
        "two\nlines",
        "ünïcödé 😀",
    ]
    page = opened(path_content(np.linspace(0.9, 0.6, len(ids)), ids=ids))
    assert page.locator("img").count() == 0
    assert page.locator("script").count() == 2
    assert page.locator("#rows td:nth-child(2)").all_inner_texts()[0] == ids[1]
    expected = [*ids[1:3], "'=HYPERLINK(1)", "'+1+1", "-5", "'@x", *ids[7:]]
    assert [row["id"] for row in saved(page)] == expected


def test_picture_tells_which_node_it_is(opened):
    page = opened(path_content([0.9, 0.8, 0.3]))
    page.focus("#graph")
    page.keyboard.press("ArrowRight")
    assert page.locator("#dot-words").inner_text() == "n1: score 0.8000"
    page.locator("#graph .dot.known").click()
    assert page.locator("#dot-words").inner_text() == "n0: score 0.9000, known positive"
    assert page.locator("#graph .dot.reached").count() == 2
    move_slider(page, 0)
    assert page.locator("#graph .dot.reached").count() == 3


def explained(text):
    """An explanation as `run.json` has it, with a text wherever there may be one."""
    return {
        "id": text,
        "rank": 2,
        "unit": "log-odds",
        "shown": {text: text},
        "sentences": [text],
        "nodes": [{"id": text, "contribution": 1.25, "hops": 1, "known": "positive", "score_without": 0.4}],
        "speak_for": [{"name": text, "value": text, "contribution": 1.0, "own": 0.75, "around": 0.25}],
        "speak_against": [],
    }


def test_why_a_find_was_found_unfolds(opened):
    page = opened(path_content([0.9, 0.8], record={"explanations": [explained("because of this")]}))
    assert not page.locator("#why table").first.is_visible()
    page.locator("#why summary").first.click()
    assert page.locator("#why table").first.is_visible()
    assert "because of this" in page.locator("#why li").first.text_content()


def test_shown_columns_are_in_the_list_and_in_its_export(opened):
    shown = {"name": np.array(["known", "=Ann <i>", "Bob, jr"], dtype=object)}
    page = opened(path_content([0.9, 0.8, 0.7], shown=shown))
    assert "=Ann <i>" in page.locator("#rows tr").first.text_content()
    assert [row["name"] for row in saved(page)] == ["'=Ann <i>", "Bob, jr"]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", list(SIZES))
def test_nothing_hangs_over_the_page(opened, size, scheme):
    ids = ["known", "w" * 1000, *(f"node {position} " + "ü" * position for position in range(60))]
    record = {
        "notes": ["x" * 500],
        "warnings": ["y" * 500],
        "recipe": [{"column": "c" * 300, "kind": "number", "text": "t" * 300, "features": 1}],
        "options": {"edges": "e" * 300, "method": "pu-gnn", "delta": 3, "z" * 90: "z" * 900},
        "explanations": [explained("w" * 300)] * 8,
    }
    shown = {"s" * 90: np.array(["v" * 200] * len(ids), dtype=object)}
    scores, positive = np.linspace(0.9, 0.2, len(ids)), [True] * len(ids)
    content = path_content(scores, ids=ids, record=record, positive=positive, class_of_node=ids, shown=shown)
    page = opened(content, size=size, scheme=scheme)
    for group in page.locator("details").all():
        group.evaluate("group => { group.open = true; }")
    assert page.evaluate("document.documentElement.scrollWidth") == SIZES[size]["width"]
    dark = page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(20, 22, 26)"
    assert dark == (scheme == "dark")


def test_a_hundred_thousand_nodes_open_fast(opened, tmp_path):
    page = opened(random_content(100_000))
    assert (tmp_path / "report.html").stat().st_size < 10_000_000

    def seconds_to_open():
        started = time.perf_counter()
        page.reload()
        page.wait_for_selector("html[data-ready]", state="attached")
        move_slider(page, 10)
        assert number(page, "#found-count") > 0
        return time.perf_counter() - started

    assert any(seconds_to_open() < 3 for _ in range(5)), "a busy machine has five attempts"
