import math
import re
from base64 import b64encode
from dataclasses import replace
from hashlib import sha256
from html.parser import HTMLParser

import pytest

from conftest import markdown_tables
from pugnn_paper.pages.blocks import to_html, to_markdown
from pugnn_paper.pages.repeated import TablePage, TableSpec, readings_page, statistics_page, table_page
from pugnn_paper.pages.summary import Result

#: Eight draws around a mean, with a standard deviation of exactly √(8/7) ≈ 1.07.
SHIFTS = (-1.0, 1.0, -1.0, 1.0, -1.0, 1.0, -1.0, 1.0)


def markdown(page):
    return to_markdown(list(table_page(page)))


def html(page):
    return to_html(list(table_page(page)))


def trainings(row, mean, ratio=0.002, dataset="cora", reading="default", draws=8, labels=5, seconds=1.5):
    return [
        Result(reading, dataset, row, ratio, draw, labels, mean + shift, 2 * mean - 60, seconds)
        for draw, shift in enumerate(SHIFTS[:draws])
    ]


@pytest.fixture
def page():
    """Two ratios: at the first all rows are measured, at the second only one."""
    spec = TableSpec(
        title="Comparison (Table 2)",
        question="What is measured?",
        rows={},
        published={
            ("cora", "grab", 0.002): (84.4, 0.3),
            ("cora", "grab", 0.01): (87.5, 0.2),
            ("cora", "pu-gnn", 0.002): (66.0, 0.3),
            ("cora", "pu-gnn", 0.01): (80.0, 0.2),
        },
        datasets=("cora",),
        ratios=(0.002, 0.01),
        reference="pu-gnn",
        kind="comparison",
    )
    return TablePage(
        spec,
        rows=["grab", "pu-gnn", "upu", "never"],
        readings={"default": "as the `package` does", "unused": "not measured"},
        results=[
            *trainings("pu-gnn", 70.0),
            *trainings("grab", 75.0),
            *trainings("upu", 60.0),
            *trainings("pu-gnn", 80.0, ratio=0.01, labels=27),
        ],
        command="pugnn reproduce table2",
        footer="pugnn 0.1.0.",
    )


def changed(page, **changes):
    """The page with other values, its own or those of its table."""
    own = {name: changes.pop(name) for name in ("rows", "readings", "results", "command", "footer") if name in changes}
    return replace(page, spec=replace(page.spec, **changes), **own)


def test_measured_above_published_with_difference_marks_and_the_best_in_bold(page):
    found = markdown_tables(markdown(page))["Cora, 8 draws"]
    # Eight pairs that all point one way: p = 2 / 2⁸, times the two rows, is below 5 %.
    assert found == [
        ["label ratio", "0.002<br><sub>5 labels</sub>", "0.01<br><sub>27 labels</sub>"],
        ["grab", "**▲ 75.0 ± 1.1**<br><sub>84.4 ± 0.3 (−9.4)</sub>", "–<br><sub>87.5 ± 0.2</sub>"],
        ["pu-gnn", "70.0 ± 1.1<br><sub>66.0 ± 0.3 (+4.0)</sub>", "80.0 ± 1.1<br><sub>80.0 ± 0.2 (0.0)</sub>"],
        ["upu", "▼ 60.0 ± 1.1<br><sub>–</sub>", "–<br><sub>–</sub>"],
    ]


def test_ranks_ranking_quality_time_and_pairs(page):
    results = [*page.results, *trainings("grab", 72.0, dataset="dblp"), *trainings("pu-gnn", 72.0, dataset="dblp")]
    published = {**page.spec.published, ("dblp", "grab", 0.002): (85.7, 0.3), ("dblp", "pu-gnn", 0.002): (86.6, 0.2)}
    found = markdown_tables(markdown(changed(page, results=results, published=published)))
    assert found["Average rank"] == [
        # upu was measured on one data set only, and has no rank over both.
        ["", "Cora<br><sub>8 blocks</sub>", "DBLP<br><sub>8 blocks</sub>", "all<br><sub>16 blocks</sub>"],
        ["grab", "1.00", "1.50", "1.25"],
        ["pu-gnn", "2.00", "1.50", "1.75"],
        ["upu", "3.00", "–", "–"],
    ]
    # pu-gnn's is the mean of 80 and 100, at the two ratios.
    assert found["Mean ROC-AUC (%), over ratios and draws"][1:] == [
        ["grab", "90.0", "84.0"],
        ["pu-gnn", "90.0", "84.0"],
        ["upu", "60.0", "–"],
    ]
    assert found["Mean training time (seconds)"][1] == ["grab", "1.50", "1.50"]
    assert found["Pairs of the paper's rows"][1:] == [
        ["pu-gnn – grab", "0 / 0 / 8<br><sub>p = 0.008</sub>", "0 / 8 / 0<br><sub>p = 1.00</sub>"]
    ]


def test_the_page_says_what_it_is_and_how_it_was_made(page):
    text = markdown(page)
    assert text.startswith(
        "# Comparison (Table 2)\n\nWhat is measured?\n\nMade by `pugnn reproduce table2`. pugnn 0.1.0."
    )
    assert "## Reading “default”\n\nAs the `package` does.\n" in text
    assert "unused" not in text
    assert "worse than pu-gnn (5 % level, two-sided Wilcoxon" in text
    assert "Wilcoxon" not in markdown(changed(page, reference="other")).split("### Pairs")[0]


def test_one_draw_has_no_spread_and_no_tests(page):
    text = markdown(changed(page, results=[result for result in page.results if result.draw == 0]))
    assert markdown_tables(text)["Cora, 1 draw"][1][1] == "**74.0**<br><sub>84.4 ± 0.3 (−10.4)</sub>"
    assert "One draw: there is no spread, and nothing is tested." in text
    assert "nan" not in text
    assert "### Pairs" not in text


def test_too_few_draws_for_a_mark_are_admitted(page):
    text = markdown(changed(page, results=[result for result in page.results if result.draw < 6]))
    # 2 / 2⁶ times the two other rows is 0.0625.
    assert "With 6 draws, a test corrected over 2 rows cannot reach the 5 % level" in text
    assert not re.search(r"[▲▼] \d", text)


def test_scores_that_are_not_finite_count_as_not_measured(page):
    lost = replace(page.results[0], macro_f1=math.nan, roc_auc=math.nan)
    text = markdown(changed(page, results=[lost, *page.results[1:]]))
    assert "### Cora, 7 to 8 draws" in text
    assert "nan" not in text


class Outline(HTMLParser):
    """Tags and attributes of a page; fails on tags that are not closed."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.attributes, self._open = [], [], []
        self.feed(text)
        assert not self._open

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs
        if tag != "meta":
            self._open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs

    def handle_endtag(self, tag):
        assert self._open.pop() == tag


def every_html(page):
    counts = {"cora": {"nodes": 5}}
    priors = {("cora", "0.6, 0.3", 0.002): (86.0, 0.3), ("cora", "0.5, 0.1", 0.002): (84.6, 0.3)}
    delta = {("cora", str(number), 0.002): (83.0, 0.4) for number in (1, 2)}
    yield html(page)
    yield html(
        changed(page, kind="priors", rows=["0.6, 0.3", "0.5, 0.1"], published=priors, results=trainings("0.6, 0.3", 70))
    )
    yield html(changed(page, kind="delta", rows=["1", "2"], published=delta, results=trainings("2", 70)))
    yield html(changed(page, results=[]))
    yield to_html(list(statistics_page(counts, counts, "pugnn reproduce table1")))
    yield to_html(list(readings_page([page], "pugnn reproduce all")))


def test_html_is_closed_and_needs_nothing_from_outside(page):
    for text in every_html(page):
        outline = Outline(text)
        assert {"main", "h1", "style"} <= set(outline.tags)
        assert not {"script", "link", "img", "iframe"} & set(outline.tags)
        assert all(
            not value.startswith(("http:", "https:", "//")) for name, value in outline.attributes if name != "xmlns"
        )
        assert not re.search(r"url\(|@import|https?://(?!www\.w3\.org/2000/svg)", text)
        assert "prefers-color-scheme: dark" in text
        assert ">nan<" not in text


def test_a_browser_accepts_no_style_but_ours_and_no_script(page):
    text = html(page)
    policy = re.search(r'<meta http-equiv="Content-Security-Policy" content="([^"]+)">', text).group(1)
    style = re.search(r"<style>(.*?)</style>", text, re.DOTALL).group(1)
    digest = b64encode(sha256(style.encode()).digest()).decode()
    assert set(policy.split("; ")) == {
        "default-src 'none'",
        f"style-src 'sha256-{digest}'",
        "base-uri 'none'",
        "form-action 'none'",
    }
    assert "style=" not in text, "which the policy would leave without effect"


def test_html_shows_the_same_cells_and_a_chart(page):
    text = html(page)
    assert '<td><strong>▲ 75.0 ± 1.1</strong><span class="under">84.4 ± 0.3 (−9.4)</span></td>' in text
    assert text.count("<svg") == 1
    assert "As the <code>package</code> does." in text


def test_everything_shown_is_escaped(page):
    evil = "<script>alert('x|y')</script>"
    known = {**page.spec.published, ("cora", evil, 0.002): (50.0, 0.1)}
    nasty = changed(
        page,
        title=evil,
        question=evil,
        command=evil,
        footer=evil,
        rows=[*page.rows, evil],
        published=known,
        results=[*page.results, *trainings(evil, 65.0), *trainings("grab", 65.0, dataset=evil, reading=evil)],
        readings={"default": evil, evil: evil},
        reference=evil,
    )
    for blocks in (table_page(nasty), readings_page([nasty], evil), statistics_page({evil: {evil: 1}}, {}, evil)):
        text = to_html(list(blocks))
        assert "<script" not in text
        Outline(text)
    text = markdown(nasty)
    assert "<script" not in re.sub(r"`[^`]*`", "", text)
    assert {len(line) for line in markdown_tables(text.replace("\\|", "/"))["Cora, 8 draws"]} == {3}


def test_priors_stand_near_across_and_far_down(page):
    published = {("cora", f"{near}, {far}", 0.002): (86.0, 0.3) for near in ("0.5", "0.6") for far in ("0.1", "0.3")}
    rows = [row for _, row, _ in published]
    results = [*trainings("0.6, 0.3", 70.0), *trainings("0.5, 0.3", 75.0)]
    priors = changed(
        page, kind="priors", rows=rows, published=published, results=results, reference="0.6, 0.3", readings={}
    )
    assert markdown_tables(markdown(priors))["Cora at ratio 0.002 (5 labels), 8 draws"] == [
        ["far π̆, near π̂", "0.5", "0.6"],
        ["0.1", "–<br><sub>86.0 ± 0.3</sub>", "–<br><sub>86.0 ± 0.3</sub>"],
        ["0.3", "**▲ 75.0 ± 1.1**<br><sub>86.0 ± 0.3 (−11.0)</sub>", "70.0 ± 1.1<br><sub>86.0 ± 0.3 (−16.0)</sub>"],
    ]
    assert "Mean training time: 1.50 seconds." in markdown(priors)
    assert html(priors).count("<polyline") >= 2


def test_delta_stands_in_one_line(page):
    published = {("cora", "1", 0.002): (83.0, 0.4), ("cora", "2", 0.002): (85.8, 0.2)}
    delta = changed(
        page, kind="delta", rows=["1", "2"], published=published, results=trainings("2", 70.0), reference="2"
    )
    assert markdown_tables(markdown(delta))["Cora at ratio 0.002 (5 labels), 8 draws"] == [
        ["δ", "1", "2"],
        ["macro-F1", "–<br><sub>83.0 ± 0.4</sub>", "70.0 ± 1.1<br><sub>85.8 ± 0.2 (−15.8)</sub>"],
    ]
    assert "worse than δ = 2" in markdown(delta)


def test_the_closest_reading_stands_first(page):
    results = [
        *page.results,
        *trainings("pu-gnn", 67.0, reading="other"),
        *trainings("grab", 80.4, reading="other"),
    ]
    compared = changed(page, results=results, readings={"default": "as it is", "other": "otherwise"})
    text = to_markdown(list(readings_page([compared], "pugnn reproduce all")))
    # Both readings have only the first ratio: grab differs by 4.0 and 9.4, pu-gnn by 1.0 and 4.0.
    assert markdown_tables(text)["Comparison (Table 2)"] == [
        ["reading", "all<br><sub>2 cells</sub>", "grab", "pu-gnn"],
        ["other", "**2.5**", "4.0", "1.0"],
        ["default", "6.7", "9.4", "4.0"],
    ]
    assert "“other”: Otherwise." in text
    nothing = to_markdown(list(readings_page([changed(page, results=[])], "pugnn reproduce all")))
    assert "No published cell was measured under every reading." in nothing


def test_statistics_beside_the_published_ones():
    measured = {"cora": {"nodes": 2708, "training": 270}}
    published = {"cora": {"nodes": 2708, "training": 271}, "dblp": {"nodes": 17716, "training": 1772}}
    assert markdown_tables(to_markdown(list(statistics_page(measured, published, "pugnn reproduce table1"))))[
        "Statistics of the data sets (Table 1 of the paper)"
    ] == [
        ["", "Cora", "DBLP"],
        ["nodes", "2,708<br><sub>2,708 (0)</sub>", "–<br><sub>17,716</sub>"],
        ["training", "270<br><sub>271 (−1)</sub>", "–<br><sub>1,772</sub>"],
    ]
