import csv
import re
from itertools import pairwise
from statistics import mean, stdev

import pytest

from pugnn.experiments import ablation

RATIOS = (0.001, 0.01)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """The page and the table of a very small ablation: two readings, two ratios, two draws, two epochs."""
    out = tmp_path_factory.mktemp("docs") / "page.md"
    with pytest.MonkeyPatch.context() as patch:
        readings = {name: ablation.READINGS[name] for name in ("default", "share of positives")}
        patch.setattr(ablation, "READINGS", readings)
        patch.setattr(ablation, "RATIOS", RATIOS)
        patch.setattr(ablation, "PUBLISHED", {name: (row[0], row[3]) for name, row in ablation.PUBLISHED.items()})
        ablation.main(draws=2, jobs=1, epochs=2, out=out)
    with out.with_suffix(".csv").open(newline="") as file:
        return out.read_text(encoding="utf-8"), list(csv.DictReader(file))


def sections(page):
    """Rows of each reading's table, by reading."""
    parts = re.split(r"^## Reading “(.*)”$", page, flags=re.MULTILINE)
    return {
        name: [
            [cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line.startswith("|")
        ]
        for name, text in zip(parts[1::2], parts[2::2], strict=True)
    }


def test_the_table_holds_every_draw(made):
    _, rows = made
    cells = [(row["reading"], row["variant"], float(row["ratio"]), int(row["draw"])) for row in rows]
    assert sorted(cells) == sorted(
        (reading, variant, ratio, draw)
        for reading in ("default", "share of positives")
        for variant in ("L_G only", "R_S only", "L_G + α R_S")
        for ratio in RATIOS
        for draw in (0, 1)
    )
    assert all(0 < float(row["macro_f1"]) < 100 for row in rows)
    labels = {(row["reading"], float(row["ratio"])): int(row["labels"]) for row in rows}
    assert labels == {
        ("default", 0.001): 3,
        ("default", 0.01): 27,
        ("share of positives", 0.001): 1,
        ("share of positives", 0.01): 12,
    }


def test_the_page_holds_mean_and_deviation_of_the_draws(made):
    page, rows = made
    tables = sections(page)
    assert list(tables) == ["default", "share of positives"]
    for reading, table in tables.items():
        assert table[0] == ["", "", "ratio 0.001", "ratio 0.01"]
        measured = {line[0]: line[2:] for line in table if line[1] == "measured"}
        assert list(measured) == ["L_G only", "R_S only", "L_G + α R_S"]
        for variant, shown in measured.items():
            for ratio, text in zip(RATIOS, shown, strict=True):
                draws = [
                    float(row["macro_f1"])
                    for row in rows
                    if (row["reading"], row["variant"], float(row["ratio"])) == (reading, variant, ratio)
                ]
                assert len(draws) == 2
                assert text == f"{mean(draws):.1f} ± {stdev(draws):.1f}"


def test_the_page_holds_the_published_values_below_the_measured_ones(made):
    page, _ = made
    for table in sections(page).values():
        published = {above[0]: line[2:] for above, line in pairwise(table) if line[1] == "published"}
        assert published == {
            "L_G only": ["83.2 ± 0.3", "88.7 ± 0.3"],
            "R_S only": ["80.2 ± 0.2", "83.4 ± 0.3"],
            "L_G + α R_S": ["84.8 ± 0.3", "88.3 ± 0.2"],
        }


def test_the_page_says_how_it_was_made(made):
    page, _ = made
    assert "over 2 draws; 2 epochs" in page
    assert "python -m pugnn.experiments.ablation --draws 2" in page
    assert "24 trainings" in page


def test_a_cell_can_be_repeated(made):
    _, rows = made
    row = next(row for row in rows if row["variant"] == "L_G + α R_S" and row["draw"] == "1")
    cell = ablation.Cell(row["reading"], row["variant"], float(row["ratio"]), 1)
    assert ablation.measure(cell, epochs=2) == (int(row["labels"]), float(row["macro_f1"]))


def test_readings_and_published_values_are_complete():
    assert len(ablation.READINGS) >= 3
    assert set(ablation.PUBLISHED) == set(ablation.VARIANTS)
    assert all(len(values) == len(ablation.RATIOS) == 4 for values in ablation.PUBLISHED.values())


@pytest.mark.parametrize(("reading", "same_split"), [("default", False), ("one draw", True)])
def test_what_a_draw_changes(monkeypatch, reading, same_split):
    seen = []

    def evaluate(truth, scores, threshold):
        seen.append((truth.train.tobytes(), truth.task.labelled.tobytes(), scores.tobytes()))
        return {"macro_f1": 50.0}

    monkeypatch.setattr(ablation, "evaluate", evaluate)
    for draw in (0, 1, 0):
        assert ablation.measure(ablation.Cell(reading, "L_G only", 0.01, draw), epochs=1) == (27, 50.0)
    assert seen[0] == seen[2]
    same = [first == second for first, second in zip(seen[0], seen[1], strict=True)]
    assert same == [same_split, same_split, False]
