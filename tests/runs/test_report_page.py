import json
import re
from base64 import b64encode
from hashlib import sha256
from html import escape
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

from estimates import CHANGES, ESTIMATE, MEASURED, SUGGESTIONS, band
from pugnn.errors import PugnnError
from pugnn.metrics import METRICS, Metric
from pugnn.runs.report import data as report_data
from pugnn.runs.report import write_report
from report_contents import path_content, random_content

HOSTILE = '</script><img src=x onerror="alert(1)"><script>alert(2)</script>'


class Reader(HTMLParser):
    """Elements of a page with their attributes, and its text."""

    def __init__(self, page):
        super().__init__()
        self.elements, self.text, self.policy = [], [], ""
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if dict(attrs).get("http-equiv") == "Content-Security-Policy":
            self.policy = dict(attrs)["content"]

    def handle_data(self, data):
        self.text.append(data)

    def count(self, tag):
        return sum(name == tag for name, _ in self.elements)


@pytest.fixture
def written(tmp_path):
    def write(content):
        write_report(tmp_path / "report.html", content)
        return (tmp_path / "report.html").read_text(encoding="utf-8")

    return write


def words_of(page):
    return " ".join("".join(Reader(page).text).split())


def test_page_needs_nothing_besides_itself(written):
    reader = Reader(written(random_content(100)))
    outside = [
        (tag, value)
        for tag, attributes in reader.elements
        for name, value in attributes.items()
        if name in ("src", "href", "style", "action") and not value.startswith("#")
    ]
    assert not outside
    assert not any(name.startswith("on") for _, attributes in reader.elements for name in attributes)


def test_policy_lets_only_our_style_and_script_run(written):
    page = written(random_content(100))
    policy = Reader(page).policy
    assert policy.startswith("default-src 'none';")
    for tag in ("style", "script"):
        body = re.findall(rf"<{tag}>(.*?)</{tag}>", page, flags=re.DOTALL)[-1]
        assert f"{tag}-src 'sha256-{b64encode(sha256(body.encode()).digest()).decode()}'" in policy


def test_sections_and_their_content(written, monkeypatch):
    monkeypatch.setitem(METRICS._registered, "error", Metric(max, "decisions", "error rate", "error rate"))
    record = {
        "notes": ["edges.csv: 3 self loops dropped"],
        "recipe": [
            {"column": "age", "kind": "number", "text": "standardised", "features": 2},
            {"column": "zip", "kind": "ignore", "text": "not used: as you say", "features": 0},
        ],
        "warnings": ["near holds nearly all nodes: lower --delta"],
        "metrics": {"macro_f1": 75.25, "roc_auc": None, "error": 12.5},
    }
    words = words_of(written(random_content(100, record=record)))
    for expected in (
        "Report on edges.csv",
        "4 May 2026, 10:11 UTC, pugnn 1.2.3",
        "75.2 %",
        "near holds nearly all nodes",
        "Positives cluster",
        "What helps: Label ten more.",
        "Positives cluster, so the wider neighbourhood counts.",
        "macro-F1 75.2 %",
        "AUC ROC AUC not defined",
        "error rate 12.5 %",
        "each curve goes from the first of 3 epochs",
        "3 self loops dropped",
        "age number, 2 features standardised",
        "zip ignore not used: as you say",
        "pugnn fit --config …/run.json",
        "3.12.0",
    ):
        assert expected.lower() in words.lower()


def test_says_that_nothing_was_trained(written):
    page = written(path_content([0.9, 0.1], log=[], record={"options": {"method": "label-propagation"}}))
    assert "label-propagation trains nothing" in words_of(page)


def test_says_when_the_list_does_not_hold_all(written, monkeypatch):
    assert "scores.csv has all of them" not in words_of(written(random_content(30)))
    monkeypatch.setattr(report_data, "MAX_LISTED", 20)
    assert "The 20 nodes with the best scores, of 30; scores.csv has all of them" in words_of(
        written(random_content(30))
    )


def test_long_recipes_are_shortened(written):
    recipe = [{"column": f"c{at}", "kind": "number", "text": "standardised", "features": 1} for at in range(250)]
    words = words_of(written(path_content([0.9, 0.1], record={"recipe": recipe})))
    assert "c199" in words
    assert "c200" not in words
    assert "and 50 more; run.json has all of them" in words


def test_text_of_users_is_harmless(written):
    ids = [HOSTILE, "known", "{{ 7 * 7 }}", "\x00\ud800\u202e", "ünïcödé 😀"]
    record = {
        "notes": [HOSTILE],
        "warnings": [HOSTILE],
        "recipe": [{"column": HOSTILE, "kind": HOSTILE, "text": HOSTILE, "features": 1}],
        "options": {"edges": HOSTILE, "method": HOSTILE, HOSTILE: HOSTILE},
    }
    content = path_content(
        [0.9, 0.8, 0.7, 0.6, 0.5], ids=ids, record=record, positive=[True] * 5, class_of_node=[HOSTILE] * 5
    )
    reader = Reader(written(content))
    assert reader.count("img") == 0
    assert reader.count("script") == 2
    assert "49" not in reader.text
    data = next(json.loads(text) for text in reader.text if text.startswith('{"steps"'))
    assert data["list"]["names"][0] == HOSTILE


def test_an_id_of_a_million_characters_is_shortened(written):
    page = written(path_content([0.9, 0.8, 0.1], ids=["a" * 1_000_000, "b" * 1_000_000, "c"]))
    assert len(page) < 100_000
    assert f"{'b' * 59}…" in page


@pytest.mark.parametrize(
    "content",
    [
        path_content([0.9, 0.1]),
        path_content([0.2, 0.1, 0.0]),
        path_content([1.0, 1.0, 1.0]),
        path_content([0.9, 0.1], ids=[("a", 1), 2]),
        path_content([0.9, 0.1], ids=[1, 2], positive=[True, False], class_of_node=["1", "2"]),
        path_content([0.9] * 40),  # more rings than are shown one by one
    ],
    ids=["two nodes", "none found", "all found", "mixed ids", "integer ids", "many rings"],
)
def test_small_and_strange_runs_have_a_report(written, content):
    assert words_of(written(content)).startswith("Report on edges.csv")


@pytest.mark.parametrize(
    ("title", "folder", "heading"),
    [
        ("Fraud, March", "mine", "Fraud, March"),
        (None, "mine", "Report on mine"),
        ("", "mine", "Report on mine"),
        (" \n\t ", "mine", "Report on mine"),
        ("two\nlines\tof  it", "mine", "two lines of it"),
        ("\x1b[31mred\x7f", "mine", "�[31mred�"),
        (HOSTILE, "mine", HOSTILE),
        ("a" * 100_000, "mine", "a" * 119 + "…"),
        (None, "a" * 200, "Report on " + "a" * 59 + "…"),
        (None, "run\udce9 <b>", "Report on run� <b>"),
    ],
)
def test_titles(written, title, folder, heading):
    content = path_content([0.9, 0.1], path=Path(folder))
    content.settings.options = {**content.settings.options, **({} if title is None else {"title": title})}
    page = written(content)
    shown = escape(heading, quote=False)
    assert f"<title>{shown}</title>" in page.replace("&#34;", '"').replace("&#39;", "'")
    assert f"<h1>{shown}</h1>" in page.replace("&#34;", '"').replace("&#39;", "'")
    assert Reader(page).count("script") == 2


def test_nodes_that_no_known_one_reaches(written):
    content = random_content(20)
    content.task.distances[content.others] = 2**31 - 1
    content.task.nearest[content.others] = -1
    words = words_of(written(content))
    assert "no path joins it to a known one" in words


def test_distant_rings_are_put_together():
    labels = list(path_content([0.5] * 40).rings)
    assert labels == [*(f"{hops} hop{'s' if hops > 1 else ''}" for hops in range(1, 9)), "9 or more"]


def test_a_place_that_cannot_be_written_is_an_error(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(PugnnError, match="cannot write"):
        write_report(tmp_path / "file" / "report.html", path_content([0.9, 0.1]))


def in_order(words, *texts):
    assert [text for text in texts if text not in words] == []
    places = [words.index(text) for text in texts]
    assert places == sorted(places)


def test_the_three_answers_come_first(written):
    record = {"estimate": ESTIMATE, "suggestions": SUGGESTIONS, "changes": CHANGES}
    words = words_of(written(random_content(100, record=record)))
    in_order(
        words,
        "What is known Half of the 30 known positives, when hidden, rank in the top 4.1 %.",
        "What is measured Nothing yet. Check 20 nodes drawn for it, about 20 minutes.",
        "What to do next Check 20 nodes.",
        "pugnn audit",
        "if they are not typical, the bands are too high",
        "2 % 2 nodes 8 13 × (7 to 21)",
        "10 % 10 nodes 21 7.0 × (5.3 to 8.3)",
        "Precision before any check",
        "first 100 72 % (62 to 81) 75 %",
        "3,100 decided positive 50 % (40 to 62) 52 %",
        "8 user-0000008 0.9920 2 of its 5 neighbours are known positives",
        "about 41 nodes resemble it",
        "at the border, score 0.49",
        "12 nodes confirmed and 8 rejected since the run mine",
        "rose-0 812 → 14 0.310 → 0.970",
        "fell-19 812 → 14",
        "What was known",
        "Scores are not probabilities. Move",
    )


def test_what_was_measured_is_told_and_drawn(written):
    audit = {"drawn": 20, "open": 0, "files": [], "checked": ["audit-1.csv"], "measured": MEASURED}
    page = written(random_content(100, record={"estimate": ESTIMATE, "audit": audit}))
    words = words_of(page)
    in_order(
        words,
        "What is measured 72 (58 to 83) of the first 100 are positive. Measured on 20 checks.",
        "--checked",
        "Measured on 20 checks. Number of positives: 2,800 (1,900 to 4,100) among 17,000 unlabelled nodes.",
        "Recall of the decided: 58 % (40 to 74); F1: 55 % (42 to 66).",
        "are narrowed by where hidden positives rank",
        "first 10 unknown 2 90 %",
        "first 100 72 % (58 to 83) 10 75 %",
        "3,100 decided positive 52 % (38 to 66) 16 52 %",
        "Where hidden positives rank",
        "probabilities.csv has a probability for each",
    )
    assert "Precision before any check" not in words
    assert page.count('class="pale"') == 2, "in the chart and in the table"
    assert page.count('class="value"') == 3


def test_wide_bands_are_pale_and_called_unknown(written):
    wide = [{**each, "precision": band(0.4, 0.02, 1.0)} for each in ESTIMATE["first"]]
    estimate = {**ESTIMATE, "first": wide, "decided": None, "truth": None}
    page = written(random_content(100, record={"estimate": estimate}))
    assert "first 100 unknown first 200 unknown" in words_of(page)
    assert page.count('class="pale"') == len(wide)
    assert "truth" not in words_of(page).lower().split("how good")[0]


def test_every_id_is_there_once(written):
    record = {"estimate": ESTIMATE, "suggestions": SUGGESTIONS, "changes": CHANGES}
    reader = Reader(written(random_content(100, record=record)))
    ids = [attributes["id"] for _, attributes in reader.elements if "id" in attributes]
    assert len(ids) == len(set(ids))
    links = [attributes["href"] for tag, attributes in reader.elements if tag == "a"]
    assert {link[1:] for link in links} <= set(ids)


def test_without_an_estimate_there_are_no_bands(written):
    missing = "with a single known positive nothing can be hidden."
    page = written(path_content([0.9, 0.1], record={"estimate": None, "estimate_missing": missing}))
    assert 'id="good"' not in page
    assert "What is known Nothing. With a single known positive nothing can be hidden." in words_of(page)


def test_suggestions_and_estimates_of_users_are_harmless(written):
    suggested = {
        goal: [{**each, "id": HOSTILE, "reason": HOSTILE} for each in nodes] for goal, nodes in SUGGESTIONS.items()
    }
    moved = [{**each, "id": HOSTILE} for each in CHANGES["rose"]]
    record = {
        "estimate": {**ESTIMATE, "caveat": HOSTILE, "headline": [HOSTILE]},
        "suggestions": suggested,
        "changes": {**CHANGES, "before": HOSTILE, "rose": moved},
    }
    reader = Reader(written(path_content([0.9, 0.1], record=record)))
    assert reader.count("img") == 0
    assert reader.count("script") == 2


def explained(**changes):
    """An explanation as `run.json` has it."""
    part = {"id": HOSTILE, "contribution": 1.25, "hops": 1, "known": "positive", "score_without": 0.4}
    attribute = {"name": HOSTILE, "value": HOSTILE, "contribution": -0.5, "own": -0.75, "around": 0.25}
    lists = {"nodes": [part], "speak_for": [], "speak_against": [attribute]}
    return {
        "id": "n1",
        "rank": 2,
        "unit": "log-odds",
        "shown": {"name": HOSTILE},
        "sentences": [HOSTILE],
        **lists,
        **changes,
    }


def test_finds_are_explained_and_nothing_in_an_explanation_can_run(written):
    page = written(path_content([0.9, 0.8], record={"explanations": [explained(), explained(id="n2", nodes=[])]}))
    reader = Reader(page)
    assert reader.count("img") == 0
    assert reader.count("script") == 2
    assert "What speaks for and against the 2 best finds" in words_of(page)
    assert "+1.250.4000" in words_of(page)
    assert "−0.75+0.25" in words_of(page)
    assert "own value: " in words_of(page)


def test_explanations_beyond_the_fifth_are_folded_once_more(written):
    few, many = (written(path_content([0.9, 0.8], record={"explanations": [explained()] * n})) for n in (5, 8))
    assert "3 more" in words_of(many)
    assert Reader(many).count("details") - Reader(few).count("details") == 4


def test_without_explanations_there_is_no_such_section(written):
    page = written(path_content([0.9, 0.8]))
    assert "Why these" not in words_of(page)


def test_shown_columns_are_part_of_the_list_and_cannot_run(written):
    page = written(path_content([0.9, 0.8], shown={HOSTILE: np.array([HOSTILE, "x"], dtype=object)}))
    assert Reader(page).count("img") == 0
    listed = json.loads(re.search(r'id="data">(.*?)</script>', page, re.DOTALL)[1])["list"]
    assert listed["shown"] == [{"name": HOSTILE, "values": [HOSTILE, "x"]}]
