"""Studies: which trainings they need, and what becomes of them."""

import csv
from dataclasses import replace

import numpy as np
import pytest

from conftest import markdown_tables
from pugnn.datasets import load_dataset
from pugnn.errors import PugnnError
from pugnn_paper import studies
from pugnn_paper.cells import Cell
from pugnn_paper.reproduce import Request, reproduce
from pugnn_paper.rows import MORE_METHODS, PAPER_METHODS, READINGS, Row
from pugnn_paper.studies import STUDIES, Target, extreme_classes, targets

PAPER = ("cora", "citeseer", "pubmed", "dblp")
WITHOUT_TRAINING = {name: MORE_METHODS[name] for name in ("label-propagation", "pagerank")}


@pytest.mark.parametrize(
    ("sizes", "expected"),
    [
        ([200, 900, 149], (1, 0)),
        ([200, 900, 150], (1, 2)),
        ([500, 400], (0, 1)),
        ([900, 149], (0, 0)),
        ([30, 40], (1, 1)),
        ([0, 300, 200], (1, 2)),
        ([200, 200, 200], (0, 0)),
    ],
)
def test_the_largest_class_and_the_smallest_that_is_large_enough(sizes, expected):
    assert extreme_classes(np.repeat(np.arange(len(sizes)), sizes)) == expected


def test_on_the_papers_data_sets_its_classes_are_positive():
    for study in (study for name, study in STUDIES.items() if name != "rare"):
        assert targets(study, PAPER) == [Target(name, "paper's classes", None) for name in PAPER]


@pytest.mark.data("cora_ml", "tolokers")
def test_elsewhere_classes_are_chosen_by_their_size():
    both = targets(STUDIES["graphs"], ("cora_ml", "tolokers"))
    assert [(target.dataset, target.classes) for target in both] == [
        ("cora_ml", (4,)),
        ("cora_ml", (5,)),
        ("tolokers", (0,)),
        ("tolokers", (1,)),
    ]
    assert both[1].words == "class 5"
    assert targets(STUDIES["biased-labels"], ("cora_ml",)) == [both[1]]
    sizes = np.bincount(load_dataset("cora_ml").labels)
    assert (sizes[4], sizes[5]) == (857, 193)


def test_the_trainings_of_many_graphs():
    (grid,) = Request("graphs", datasets=["cora"]).studies()
    cells = grid.cells()
    assert len(cells) == len(STUDIES["graphs"].rows) * 3 * 5
    protocols = [cell.protocol for place, cell in cells.items() if (place.row, place.draw) == ("dist-pu", 2)]
    assert protocols == [{"labels": labels, "sampling": "uniform", "seed": 2} for labels in (10, 30, 100)]
    assert all(cell.seed == cell.protocol["seed"] == place.draw for place, cell in cells.items())
    assert {place.setting for place in cells} == {"10 labels", "30 labels", "100 labels"}
    assert len({cell.key for cell in cells.values()}) == len(cells)


def test_rows_have_the_settings_of_table_2():
    rows = {**PAPER_METHODS, **MORE_METHODS}
    for study in (STUDIES["graphs"], STUDIES["biased-labels"]):
        assert {name: row for name, row in study.rows.items() if name in rows} == {
            name: rows[name] for name in study.rows if name in rows
        }


def test_a_wrong_prior_shares_the_trainings_of_table_2():
    (grid,) = Request("wrong-prior", datasets=["cora"], methods=["dist-pu", "dist-pu-0.1"], draws=1).studies()
    right, wrong = grid.cells().values()
    row = PAPER_METHODS["dist-pu"]
    assert right == Cell.of(row, READINGS["default"], dataset="cora", ratio=0.005, draw=0)
    assert wrong == replace(right, prior_error=-0.1)
    assert {name: STUDIES["wrong-prior"].rows[name].prior_error for name in STUDIES["wrong-prior"].baselines} == {
        name: -0.1 if name.endswith("-0.1") else 0.1 for name in STUDIES["wrong-prior"].baselines
    }


def test_biased_labels_beside_random_ones():
    (grid,) = Request("biased-labels", datasets=["cora"], methods=["dist-pu"], draws=1).studies()
    found = {place.setting: cell.protocol for place, cell in grid.cells().items()}
    assert found == {
        name: {"labels": 30, "sampling": sampling, "seed": 0}
        for name, sampling in (
            ("30 labels", "uniform"),
            ("30 labels, by-degree", "by-degree"),
            ("30 labels, one-community", "one-community"),
        )
    }


def test_rare_positives_at_every_share_that_a_graph_allows():
    (grid,) = Request("rare", datasets=["cora"], methods=["label-propagation"], draws=1).studies()
    found = {(place.positive, place.setting): cell for place, cell in grid.cells().items()}
    # Of 2,708 nodes 818 are of the largest class and 180 of the smallest; 0.1 % of so few are less than ten.
    assert {positive for positive, _ in found} == {"class Neural_Networks", "class Rule_Learning"}
    for others, positive in ((2708 - 818, "class Neural_Networks"), (2708 - 180, "class Rule_Learning")):
        for share in (0.02, 0.005, 0.001):
            exists = round(others * share / (1 - share)) >= 10
            assert ((positive, f"30 labels, {100 * share:g} %") in found) == exists
    assert found["class Rule_Learning", "30 labels, natural"].protocol == {
        "labels": 30,
        "sampling": "uniform",
        "seed": 0,
    }
    cell = found["class Rule_Learning", "100 labels, 2 %"]
    assert cell.protocol == {"labels": 100, "prior": 0.02, "seed": 0}
    drawn = cell.draw()
    assert drawn.positive[drawn.task.unlabelled].mean() == pytest.approx(0.02, abs=2e-4)


def test_rare_positives_from_request_to_page(tmp_path):
    request = Request(
        "rare",
        datasets=["cora"],
        methods=["label-propagation", "graphany"],
        labels=[10],
        shares=["natural", 0.02],
        draws=1,
    )
    assert request.command.endswith("--labels 10 --shares natural,0.02 --draws 1")
    reproduce(request, tmp_path, jobs=1)
    with (tmp_path / "rare.csv").open(newline="", encoding="utf-8") as file:
        lines = list(csv.DictReader(file))
    assert len(lines) == 2 * 2 * 2
    for line in lines:
        assert 0 <= float(line["precision_at_positives"]) <= 100
        assert 0 <= float(line["precision_at_20"]) <= 100
        assert (float(line["share_positive"]) == pytest.approx(2, abs=0.03)) == line["setting"].endswith("2 %")
    text = (tmp_path / "rare.md").read_text(encoding="utf-8")
    assert "### Share: natural" in text
    assert "### Share: 2 %" in text


def test_no_graph_is_large_enough(tmp_path):
    with pytest.raises(PugnnError, match="no data set has enough positives for these shares and numbers of labels"):
        reproduce(Request("rare", datasets=["cora"], shares=[0.001]), tmp_path, jobs=1)


def test_every_row_is_compared_with_the_default_method_that_knows_as_much():
    against = STUDIES["graphs"].baselines
    assert set(against) == set(STUDIES["graphs"].rows) - {"views"}
    assert against["views-no-prior"] == against["dist-pu"] == against["centroid"] == "views"
    assert against["pu-gnn"] == against["grab"] == against["centroid-no-prior"] == "views-no-prior"


@pytest.fixture
def small(monkeypatch):
    """A study of methods that train nothing; one of them is left out on another data set."""
    study = replace(
        STUDIES["graphs"],
        rows={**WITHOUT_TRAINING, "upu": Row("upu", known_prior=True)},
        baselines={"pagerank": "label-propagation"},
        left_out={("upu", "cora"): "too slow"},
        metrics=("average_precision", "macro_f1"),
    )
    monkeypatch.setitem(studies.STUDIES, "graphs", study)
    return study


def test_a_study_from_request_to_pages(small, tmp_path):
    request = Request("graphs", datasets=["cora"], labels=[30, 10], draws=2)
    assert request.command == "pugnn reproduce graphs --datasets cora --labels 30,10 --draws 2"
    written = reproduce(request, tmp_path, jobs=1)
    assert [path.name for path in written] == ["graphs.md", "graphs.html", "graphs.csv"]
    with (tmp_path / "graphs.csv").open(newline="", encoding="utf-8") as file:
        lines = list(csv.DictReader(file))
    assert len(lines) == 2 * 2 * 2
    assert {(line["row"], line["labels"], line["draw"]) for line in lines} == {
        (row, labels, draw) for row in WITHOUT_TRAINING for labels in ("10", "30") for draw in "01"
    }
    for line in lines:
        assert line["prior_given"] == "True"
        assert 40 < float(line["share_positive"]) < 50
        assert float(line["share_decided"]) == pytest.approx(float(line["share_positive"]), abs=10)
        assert 50 < float(line["average_precision"]) <= float(line["precision_at_100"]) <= 100
    text = (tmp_path / "graphs.md").read_text(encoding="utf-8")
    assert "Left out: upu on Cora (too slow)." in text
    assert f"Made by `{request.command}`. 8 trainings" in text
    found = markdown_tables(text)
    assert [line[0] for line in found["Summary"]] == ["row", "label-propagation", "pagerank"]
    assert [line[0] for line in found["Cora, 2 draws"]] == ["", "label-propagation", "pagerank"] * 2

    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    reproduce(request, tmp_path, jobs=1)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before, "nothing was trained again"


def test_all_that_is_asked_for_is_left_out(small, tmp_path):
    with pytest.raises(PugnnError, match=r"^graphs leaves out upu on cora \(too slow\); choose others$"):
        Request("graphs", datasets=["cora"], methods=["upu"])


def test_too_many_labels_are_found_before_any_training(small, tmp_path):
    request = Request("graphs", datasets=["cora"], labels=[2000])
    with pytest.raises(PugnnError, match=r"^cannot label 2000 nodes: cora holds 1244 positives. Label fewer.$"):
        reproduce(request, tmp_path, jobs=1)
    assert (tmp_path / "records.jsonl").read_text() == ""


@pytest.mark.data(*{name for study in STUDIES.values() for name in study.datasets} - {"cora"})
def test_every_study_can_be_drawn_as_it_stands():
    for name in STUDIES:
        (grid,) = Request(name, draws=1).studies()
        cells = grid.cells().values()
        for cell in {(cell.dataset, cell.positive_classes, *cell.protocol.items()): cell for cell in cells}.values():
            benchmark = cell.draw()
            assert benchmark.positive[benchmark.scored].any()
            assert benchmark.task.graph.num_features > 0
