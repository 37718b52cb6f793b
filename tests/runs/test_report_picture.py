import numpy as np
import pytest

from pugnn.runs.report.picture import MAX_NODES, TALL, WIDE, picture
from report_contents import path_content, random_content


def test_a_find_is_joined_to_its_nearest_known_positive():
    drawn, lines = picture(path_content([0.9, 0.1, 0.2, 0.8]))
    dots = {dot["name"]: dot for dot in drawn}
    assert dots["n0"]["kind"] == "known"
    assert dots["n0"]["rank"] is None
    assert dots["n3"]["rank"] == 1  # as in the table of scores, where the known one has none
    names = {frozenset((drawn[one]["name"], drawn[other]["name"])) for one, other in lines}
    assert names == {frozenset(("n0", "n1")), frozenset(("n1", "n2")), frozenset(("n2", "n3"))}


def test_the_same_graph_gives_the_same_picture():
    assert picture(random_content(300)) == picture(random_content(300))


@pytest.mark.parametrize(("form", "size"), [("wide", WIDE), ("tall", TALL)])
def test_dots_lie_inside_and_do_not_cover_each_other(form, size):
    dots, _ = picture(random_content(2000))
    assert len(dots) <= MAX_NODES
    places = np.array([dot[form] for dot in dots])
    assert places.min() >= 0
    assert places.max() <= 1
    apart = np.linalg.norm((places[:, None] - places[None]) * size, axis=2)
    np.fill_diagonal(apart, np.inf)
    assert apart.min() > 10


def test_two_nodes():
    dots, lines = picture(path_content([0.9, 0.1]))
    assert len(dots) == 2
    assert lines == [(0, 1)]
    assert np.isfinite([dot["wide"] for dot in dots]).all()
