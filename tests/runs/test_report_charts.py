import numpy as np

from pugnn.runs.report.charts import MAX_POINTS, curves, histogram, score_axis
from report_contents import path_content


def test_histogram_is_as_tall_as_its_box_and_shows_single_nodes():
    outline = histogram(np.array([0.5] * 999 + [0.99]), (0.0, 1.0))
    tops = [float(part.split("h")[0]) for part in outline.split("V")[1:-1]]
    assert tops[25] == 0
    assert tops[49] == 96
    assert sorted(set(tops)) == [0, 96, 100]


def test_narrow_scores_have_an_axis_of_their_own():
    assert score_axis(path_content([0.9, 0.1])) == (0, 1)
    low, high = score_axis(path_content([0.011, 0.012]))
    assert 0 < low < 0.011 < 0.012 < high < 0.02
    low, high = score_axis(path_content([0.5, 0.5]))
    assert low < 0.5 < high


def test_curves_have_every_term_and_the_total_first():
    log = [{"epoch": epoch, "near": 1 / epoch, "total": -2.0, "seconds": 0.1} for epoch in range(1, 2001)]
    total, near = curves(log)
    assert (total["name"], near["name"]) == ("total", "near")
    assert (near["first"], near["last"]) == (1, 1 / 2000)
    assert near["path"].count("L") == MAX_POINTS - 1
    assert total["zero"] == 0  # a loss below zero hangs from its line
    assert curves([]) == []


def test_curve_of_one_epoch_is_a_line():
    (total,) = curves([{"epoch": 1, "total": 1.0, "seconds": 0.1}])
    assert total["path"] == "M0.00,0.00h100"
