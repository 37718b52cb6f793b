import math
import re
from importlib.resources import files
from itertools import pairwise
from xml.etree import ElementTree

import pytest

from pugnn_paper import pages
from pugnn_paper.pages.line_charts import STRONG_COLOURS, WEAK_COLOURS, Point, Series, Tick, line_chart
from pugnn_paper.rows import MORE_METHODS, PAPER_METHODS

SVG = "{http://www.w3.org/2000/svg}"
TICKS = [Tick(0.001, "0.001", "3 labels"), Tick(0.01, "0.01", "27 labels")]


def source(name):
    return files(pages).joinpath(name).read_text(encoding="utf-8")


def series(name, low, high, deviation=1.0, published=(), strong=True):
    points = [Point(0.001, low, deviation), Point(0.01, high, deviation)]
    return Series(name, points, [Point(0.001, value, 0.2) for value in published], strong)


def chart(*rows, ticks=TICKS, log=True):
    return ElementTree.fromstring(line_chart(rows, ticks, title="a < b", x_title="ratio & co", log=log))


def texts(tree):
    return [element.text for element in tree.iter(f"{SVG}text")]


def titles(tree):
    return [element.text for element in tree.iter(f"{SVG}title")]


def markers(tree):
    """Heights of the markers by what they tell."""
    found = {}
    for path in tree.iter(f"{SVG}path"):
        title = path.find(f"{SVG}title")
        if title is not None:
            found[title.text] = float(re.match(r"translate\(\S+ (\S+)\)", path.get("transform"))[1])
    return found


def test_a_chart_is_an_image_with_a_name():
    tree = chart(series("pu-gnn", 70, 80))
    assert tree.get("role") == "img"
    assert tree.get("aria-label") == "a < b"
    assert {"0.001", "3 labels", "0.01", "27 labels", "ratio & co", "pu-gnn"} <= set(texts(tree))


def test_points_tell_their_values_and_text_is_escaped():
    tree = chart(series("<script>", 70.04, 80, published=[84.8]))
    assert titles(tree) == [
        "<script>, published: 84.8 ± 0.2",
        "<script>, measured: 70.0 ± 1.0",
        "<script>, measured: 80.0 ± 1.0",
    ]


def test_higher_scores_stand_higher_and_equal_ones_level():
    heights = markers(chart(series("a", 60, 80), series("b", 70, 80)))
    assert heights["a, measured: 60.0 ± 1.0"] > heights["b, measured: 70.0 ± 1.0"]
    assert heights["a, measured: 80.0 ± 1.0"] == heights["b, measured: 80.0 ± 1.0"]


def test_bands_belong_to_the_foreground_and_need_a_spread():
    assert len(list(chart(series("a", 60, 80)).iter(f"{SVG}polygon"))) == 1
    assert not list(chart(series("a", 60, 80, strong=False)).iter(f"{SVG}polygon"))
    one_draw = chart(series("a", 60, 80, deviation=math.nan))
    assert not list(one_draw.iter(f"{SVG}polygon"))
    assert "nan" not in ElementTree.tostring(one_draw, encoding="unicode")


def test_labels_of_a_crowd_do_not_cover_each_other():
    names = [f"row {number}" for number in range(13)]
    tree = chart(*(series(name, 60, 80 + at / 100, strong=at < 6) for at, name in enumerate(names)))
    heights = sorted(float(text.get("y")) for text in tree.iter(f"{SVG}text") if text.text in names)
    assert len(heights) == 13
    assert all(upper + 12 <= lower for upper, lower in pairwise(heights))


def test_a_single_tick_an_unmeasured_row_and_no_row_at_all():
    tree = chart(Series("a", [], [Point(3.0, 86.0, 0.3)], True), Series("b", [], [], True), ticks=[Tick(3.0, "3")])
    assert "a" in texts(tree)
    assert "b" not in texts(tree)
    assert "nan" not in ElementTree.tostring(tree, encoding="unicode")
    assert line_chart([], TICKS, title="", x_title="", log=True) == ""


@pytest.mark.parametrize("deviation", [0.0, 5.0])
@pytest.mark.parametrize("value", [0.0, 80.0, 100.0])
def test_the_axis_has_a_length_and_stays_within_percentages(value, deviation):
    drawn = chart(series("a", value, value, deviation))
    shown = [float(text.text) for text in drawn.iter(f"{SVG}text") if text.get("text-anchor") == "end"]
    assert 0 <= min(shown) < max(shown) <= 100


def test_every_row_of_table_2_has_a_colour_of_its_own_in_light_and_dark():
    light, dark = source("style.css").split("prefers-color-scheme: dark")
    assert (len(PAPER_METHODS), len(MORE_METHODS)) == (STRONG_COLOURS, WEAK_COLOURS)
    for theme in (light, dark):
        colours = dict(re.findall(r"--((?:strong|weak)\d+): (#\w+);", theme))
        assert len(set(colours.values())) == len(colours) == STRONG_COLOURS + WEAK_COLOURS


def test_every_variable_and_class_of_the_charts_is_in_the_style_sheet():
    style, charts = source("style.css"), source("lines.svg")
    used = set(re.findall(r"var\((--\w+)\)", charts))
    assert used == {"--page", "--rule"}
    assert all(f"{name}:" in style for name in used)
    assert all(f".{name} {{" in style for name in ("quiet", "small", "strong", "series"))
