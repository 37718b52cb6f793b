import csv
import hashlib
import math
import re
from dataclasses import asdict
from statistics import fmean, stdev

import pytest

from conftest import markdown_tables
from pugnn.errors import PugnnError, PugnnWarning
from pugnn_paper import checks, published, runner
from pugnn_paper.checks import CHECKS, check_cells
from pugnn_paper.records import RecordStore
from pugnn_paper.reproduce import Request, reproduce
from pugnn_paper.rows import ABLATION, DELTAS, MORE_METHODS, PAPER_METHODS, PRIORS, READINGS
from pugnn_paper.tables import TABLES, count_nodes


def number(key, low, high, salt=""):
    """A made-up measurement, the same for the same cell."""
    share = int(hashlib.sha256((salt + key).encode()).hexdigest()[:8], 16) / 16**8
    return round(low + share * (high - low), 3)


def made_up(cell):
    return {
        "key": cell.key,
        "cell": asdict(cell),
        "labels": len(cell.draw().task.labelled),
        "metrics": {name: number(cell.key, 50, 90, name) for name in ("macro_f1", "f1", "roc_auc")},
        "seconds": {"training": number(cell.key, 1, 2), "total": 2.0},
        "versions": {"python": "3.11.0", "torch": "2.6.0", "numpy": "2.0.0"},
    }


@pytest.fixture
def trained(monkeypatch):
    """Cells that were trained; with made-up results instead of real ones."""
    found = []

    def measure(cell):
        found.append(cell)
        return made_up(cell)

    monkeypatch.setattr(runner, "measure", measure)
    return found


def rows_of(path):
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def measured(cell):
    """Mean and deviation in the first line of a cell, without its marks."""
    text = re.sub(r"[*▲▼ ]", "", cell.split("<br>")[0])
    mean, _, deviation = text.partition("±")
    return float(mean), float(deviation) if deviation else None


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


# ---------------------------------------------------------------------- what can be asked for


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"what": "table6"}, "there is no table 'table6'; choose from table1, table2, table3, table4, table5, all, ch"),
        ({"what": ""}, "there is no table ''; choose"),
        ({"methods": ["pu-gnn", "magic"]}, "there is no method 'magic'; choose from naive, nnpu, dist-pu, lsdan, grab"),
        ({"datasets": ["cora", "atlantis"]}, "there is no data set 'atlantis'; choose from citeseer, cora, dblp, pub"),
        ({"readings": ["default", "wild"]}, "there is no reading 'wild'; choose from default, training-u, ratio-of-po"),
        ({"ratios": [0.01, 0.0]}, "a label ratio is a share of nodes between 0 and 1, such as 0.01; got 0.0"),
        ({"ratios": [2.0]}, "such as 0.01; got 2.0"),
        ({"ratios": [-0.1]}, "such as 0.01; got -0.1"),
        ({"ratios": [math.nan]}, "such as 0.01; got nan"),
        ({"ratios": [math.inf]}, "such as 0.01; got inf"),
        ({"draws": 0}, "draws must be a whole number, at least 1; got 0"),
        ({"draws": 1.5}, "draws must be a whole number, at least 1; got 1.5"),
        ({"what": "table3", "methods": ["naive"]}, "--methods has no effect on table3; leave it out"),
        ({"what": "table1", "methods": ["naive"]}, "--methods has no effect on table1; leave it out"),
        ({"what": "table1", "ratios": [0.01]}, "--ratios has no effect on table1; leave it out"),
        ({"what": "checks", "ratios": [0.01]}, "--ratios has no effect on checks; leave it out"),
        ({"what": "table1", "readings": ["one-draw"]}, "--reading has no effect on table1; leave it out"),
        ({"what": "checks", "readings": ["one-draw"]}, "--reading has no effect on checks; leave it out"),
        ({"what": "checks", "datasets": ["cora"]}, "--datasets has no effect on checks; leave it out"),
        ({"what": "graph"}, "table5, all, checks, graphs, wrong-prior, biased-labels, rare"),
        (
            {"what": "graphs", "methods": ["nnpu-mlp"]},
            "there is no method 'nnpu-mlp'; choose from views, smoothed",
        ),
        ({"what": "graphs", "ratios": [0.01]}, "--ratios has no effect on graphs; leave it out"),
        ({"what": "graphs", "readings": ["one-draw"]}, "--reading has no effect on graphs; leave it out"),
        ({"what": "graphs", "labels": [10, 0]}, "labels must be a whole number, at least 1; got 0"),
        ({"what": "graphs", "labels": [1.5]}, "labels must be a whole number, at least 1; got 1.5"),
        ({"what": "wrong-prior", "labels": [10]}, "--labels has no effect on wrong-prior; leave it out"),
        ({"what": "table2", "labels": [10]}, "--labels has no effect on table2; leave it out"),
        ({"what": "graphs", "shares": [0.02]}, "--shares has no effect on graphs; leave it out"),
        ({"what": "rare", "shares": ["natural", 1.5]}, "share must lie between 0 and 1, got 1.5"),
    ],
)
def test_what_cannot_be_asked_for(given, message):
    with pytest.raises(PugnnError, match=re.escape(message)):
        Request(**{"what": "table2", **given})


@pytest.mark.parametrize(
    ("given", "command"),
    [
        ({"what": "table1"}, "pugnn reproduce table1"),
        ({"what": "table1", "datasets": ["cora"]}, "pugnn reproduce table1 --datasets cora"),
        ({"what": "all"}, "pugnn reproduce all --draws 10"),
        ({"what": "checks", "draws": 3}, "pugnn reproduce checks --draws 3"),
        ({"what": "graphs"}, "pugnn reproduce graphs --draws 5"),
        ({"what": "graphs", "labels": [10, 30], "draws": 2}, "pugnn reproduce graphs --labels 10,30 --draws 2"),
        ({"what": "wrong-prior", "ratios": [0.01]}, "pugnn reproduce wrong-prior --ratios 0.01 --draws 5"),
        ({"what": "table3", "readings": ["default"]}, "pugnn reproduce table3 --draws 10"),
        ({"what": "table3", "readings": list(READINGS)}, "pugnn reproduce table3 --draws 10 --reading all"),
        (
            {
                "what": "table2",
                "datasets": ["cora", "dblp"],
                "methods": ("nnpu", "pu-gnn"),
                "ratios": [0.001, 0.01],
                "draws": 2,
                "readings": ("default", "one-draw"),
            },
            "pugnn reproduce table2 --datasets cora,dblp --methods nnpu,pu-gnn --ratios 0.001,0.01 --draws 2 "
            "--reading default,one-draw",
        ),
    ],
)
def test_the_command_that_asks_for_it(given, command):
    assert Request(**given).command == command


# ---------------------------------------------------------------------- grids


def test_the_whole_of_the_paper():
    table2, table3, table4, table5 = Request("all").grids()
    assert [grid.table for grid in (table2, table3, table4, table5)] == ["table2", "table3", "table4", "table5"]
    assert table2.rows == (*PAPER_METHODS, *MORE_METHODS)
    assert table2.datasets == ("cora", "citeseer", "pubmed", "dblp")
    assert table2.ratios == table3.ratios == (0.001, 0.002, 0.005, 0.01)
    assert (table3.rows, table4.rows, table5.rows) == (tuple(ABLATION), tuple(PRIORS), tuple(DELTAS))
    assert {(grid.datasets, grid.ratios) for grid in (table4, table5)} == {(("cora",), (0.002,))}
    assert [len(grid.cells()) for grid in (table2, table3, table4, table5)] == [17 * 4 * 4 * 10, 160, 200, 50]
    for grid in (table2, table3, table4, table5):
        places = {(data, row, ratio) for data in grid.datasets for row in grid.rows for ratio in grid.ratios}
        assert set(grid.spec.published) <= places
    assert Request("table1").grids() == Request("checks").grids() == Request("graphs").grids() == []
    assert Request("all").studies() == []


def test_a_part_keeps_the_order_of_the_whole():
    request = Request(
        "table2", methods=["upu", "pu-gnn", "naive"], ratios=[0.01, 0.001], draws=2, readings=["one-draw", "default"]
    )
    (grid,) = request.grids()
    assert grid.rows == ("naive", "pu-gnn", "upu")
    assert grid.ratios == (0.001, 0.01)
    assert grid.readings == ("default", "one-draw")
    draws = [place.draw for place in grid.cells()]
    assert draws == sorted(draws)


def test_methods_concern_table_2_only():
    grids = Request("all", methods=["naive"], datasets=["cora"]).grids()
    assert [len(grid.rows) for grid in grids] == [1, 4, 20, 5]


def test_one_draw_differs_in_the_seed_of_the_training_only():
    (grid,) = Request("table3", readings=["one-draw"], draws=3).grids()
    cells = [cell for place, cell in grid.cells().items() if place.row == "GCN" and place.ratio == 0.01]
    assert [(cell.seed, cell.protocol["seed"]) for cell in cells] == [(0, 0), (1, 0), (2, 0)]


# ---------------------------------------------------------------------- pages from records


@pytest.mark.parametrize("what", ["table2", "table3", "table4", "table5"])
def test_a_table_from_its_records(what, tmp_path, trained):
    small = {"datasets": ["cora"], "draws": 3}
    if what == "table2":
        small |= {"methods": ["grab", "pu-gnn", "upu"], "ratios": [0.002, 0.01]}
    request = Request(what, **small)
    written = reproduce(request, tmp_path, jobs=1)
    assert [path.name for path in written] == [f"{what}.md", f"{what}.html", f"{what}.csv"]
    (grid,) = request.grids()
    records = RecordStore(tmp_path).read()
    cells = grid.cells()
    assert len(trained) == len(records) == len(cells)

    lines = rows_of(tmp_path / f"{what}.csv")
    assert len(lines) == len(cells)
    found = {}
    for (place, cell), line in zip(cells.items(), lines, strict=True):
        record = records[cell.key]
        assert line == {
            **{name: str(value) for name, value in vars(place).items()},
            "labels": str(record["labels"]),
            "macro_f1": str(record["metrics"]["macro_f1"]),
            "roc_auc": str(record["metrics"]["roc_auc"]),
            "seconds": str(record["seconds"]["training"]),
        }
        found.setdefault((place.row, place.ratio), []).append(record["metrics"]["macro_f1"])

    text = (tmp_path / f"{what}.md").read_text(encoding="utf-8")
    assert f"Made by `{request.command}`. {len(cells)} trainings, {runner.duration(2 * len(cells))} of one core" in text
    page = markdown_tables(text)
    title = "Cora at ratio 0.002 (5 labels), 3 draws" if what in ("table4", "table5") else "Cora, 3 draws"
    shown = {}
    if what == "table4":
        head, *body = page[title]
        for far, *line in body:
            shown |= {(f"{near}, {far}", 0.002): cell for near, cell in zip(head[1:], line, strict=True)}
    elif what == "table5":
        head, line = page[title]
        shown = {(delta, 0.002): cell for delta, cell in zip(head[1:], line[1:], strict=True)}
    else:
        head, *body = page[title]
        ratios = [float(cell.split("<br>")[0]) for cell in head[1:]]
        for row, *line in body:
            shown |= {(row, ratio): cell for ratio, cell in zip(ratios, line, strict=True) if cell[0] != "–"}
    assert set(shown) == set(found)
    for place, cell in shown.items():
        mean, deviation = measured(cell)
        assert mean == pytest.approx(fmean(found[place]), abs=0.051), place
        assert deviation == pytest.approx(stdev(found[place]), abs=0.051), place
        paper = grid.spec.published.get(("cora", *place))
        if paper:
            assert f"{paper[0]:.1f} ± {paper[1]:.1f} (" in cell
    html = (tmp_path / f"{what}.html").read_text(encoding="utf-8")
    best = max(fmean(values) for values in found.values())
    assert f"{best:.1f}" in html
    assert html.lower().startswith("<!doctype html>")


def test_the_second_time_nothing_is_trained_and_nothing_changes(tmp_path, trained):
    request = Request(
        "all", datasets=["cora"], methods=["naive", "pu-gnn"], draws=1, readings=["default", "literal-sum"]
    )
    written = reproduce(request, tmp_path, jobs=1)
    pages = [f"{name}-default-literal-sum.{kind}" for name in TABLES for kind in ("md", "html", "csv")]
    compared = [f"all-default-literal-sum-compared.{kind}" for kind in ("md", "html")]
    assert [path.name for path in written] == ["table1.md", "table1.html", *pages, *compared]
    before, count = contents(tmp_path), len(trained)
    # Tables and readings share cells; each is trained once.
    places = sum(len(grid.cells()) for grid in request.grids())
    assert count == len({cell.key for grid in request.grids() for cell in grid.cells().values()}) < places
    assert sum(len(rows_of(path)) for path in tmp_path.glob("*.csv")) == places
    assert reproduce(request, tmp_path, jobs=1) == written
    assert len(trained) == count
    assert contents(tmp_path) == before


def test_readings_do_not_overwrite_each_other(tmp_path, trained):
    names = []
    for readings in (["default"], ["one-draw"], ["default", "one-draw"], list(READINGS)):
        written = reproduce(Request("table5", draws=1, readings=readings), tmp_path, jobs=1)
        names += [path.name for path in written if path.suffix == ".md"]
    assert names == [
        "table5.md",
        "table5-one-draw.md",
        "table5-default-one-draw.md",
        "table5-default-one-draw-compared.md",
        "table5-all-readings.md",
        "table5-all-readings-compared.md",
    ]


@pytest.mark.parametrize("bad", ["some", "all"])
def test_what_cannot_be_trained_is_left_out_and_named(tmp_path, trained, monkeypatch, bad):
    measure = runner.measure

    def failing(cell):
        if bad == "all" or cell.options.get("delta") == 2:
            raise PugnnError("the loss became nan")
        return measure(cell)

    monkeypatch.setattr(runner, "measure", failing)
    count = 10 if bad == "all" else 2
    message = (
        f"^{count} trainings failed; the pages are written without them. "
        rf"cora with pu-gnn \({count}\): the loss became nan$"
    )
    with pytest.raises(PugnnError, match=message):
        reproduce(Request("table5", draws=2), tmp_path, jobs=1)
    assert len(RecordStore(tmp_path).read()) == len(rows_of(tmp_path / "table5.csv")) == 10 - count
    monkeypatch.setattr(runner, "measure", measure)
    reproduce(Request("table5", draws=2), tmp_path, jobs=1)
    assert len(trained) == len(rows_of(tmp_path / "table5.csv")) == 10


def test_many_reasons_are_counted(tmp_path, monkeypatch):
    def failing(cell):
        raise PugnnError(f"reason {cell.options['delta']}")

    monkeypatch.setattr(runner, "measure", failing)
    with pytest.raises(PugnnError, match=r"\(2\): reason 1; .*: reason 2; .*: reason 3; and 2 more kinds$"):
        reproduce(Request("table5", draws=2), tmp_path, jobs=1)


def test_checks_without_all_their_trainings_have_no_page(tmp_path, monkeypatch):
    monkeypatch.setattr(checks, "CHECKS", [check for check in CHECKS if check.dataset == "cora"])

    def failing(cell):
        raise PugnnError("no")

    monkeypatch.setattr(runner, "measure", failing)
    with pytest.raises(PugnnError, match="6 trainings failed"):
        reproduce(Request("checks", draws=1), tmp_path, jobs=1)
    assert not list(tmp_path.glob("checks.*"))


def test_a_larger_request_keeps_what_is_there(tmp_path, trained):
    reproduce(Request("table5", draws=2), tmp_path, jobs=1)
    assert len(trained) == 10
    reproduce(Request("table5", draws=3), tmp_path, jobs=1)
    assert len(trained) == 15
    assert {cell.seed for cell in trained[10:]} == {2}
    # δ = 3 is the paper's PU-GNN, and draws 0 to 2 of it at this ratio are there.
    reproduce(Request("table2", datasets=["cora"], methods=["pu-gnn"], draws=3), tmp_path, jobs=1)
    assert len(trained) == 15 + 3 * 3


def test_a_damaged_record_is_made_again_and_the_pages_are_the_same(tmp_path, trained):
    reproduce(Request("table5", draws=1), tmp_path, jobs=1)
    before, path = contents(tmp_path), tmp_path / "records.jsonl"
    spoilt = before["records.jsonl"].replace(b'"macro_f1":', b'"macro_f1":1', 1)
    path.write_bytes(spoilt)
    with pytest.warns(PugnnWarning, match="damaged record in line 2"):
        reproduce(Request("table5", draws=1), tmp_path, jobs=1)
    assert len(trained) == 6
    after = contents(tmp_path)
    assert {name for name in after if after[name] != before[name]} == {"records.jsonl"}
    assert after["records.jsonl"].startswith(spoilt)


def test_too_many_labels_are_found_before_any_training(tmp_path, trained):
    request = Request("table2", datasets=["cora"], ratios=[0.001, 0.4], draws=1)
    with pytest.raises(PugnnError, match=r"cannot label 1083 nodes: the training split of cora holds \d+ positives"):
        reproduce(request, tmp_path, jobs=1)
    assert trained == []


def test_a_ratio_that_is_too_much_for_one_draw_of_many(tmp_path, trained):
    # Splits differ in how many positives they hold: find a ratio that the first has enough for, and a later one not.
    (grid,) = Request("table5", draws=10).grids()
    held = {}
    for place, cell in grid.cells().items():
        benchmark = cell.draw()
        held[place.draw] = int(benchmark.positive[benchmark.train].sum())
    assert min(held.values()) < held[0]
    ratio = held[0] / 2708
    reproduce(Request("table5", ratios=[ratio], draws=1), tmp_path, jobs=1)
    assert len(trained) == 5
    with pytest.raises(PugnnError, match=f"cannot label {held[0]} nodes"):
        reproduce(Request("table5", ratios=[ratio], draws=10), tmp_path, jobs=1)
    assert len(trained) == 5


@pytest.mark.parametrize("jobs", [0, -1, 1.5])
def test_jobs_are_whole_numbers_from_one(tmp_path, jobs):
    with pytest.raises(PugnnError, match="jobs must be a whole number, at least 1"):
        reproduce(Request("table1"), tmp_path / "out", jobs=jobs)
    assert not (tmp_path / "out").exists()


def test_pages_that_cannot_be_written(tmp_path, trained):
    (tmp_path / "table5.md").mkdir()
    with pytest.raises(PugnnError, match=r"^cannot write .*table5.md: Is a directory"):
        reproduce(Request("table5", draws=1), tmp_path, jobs=1)
    assert len(RecordStore(tmp_path).read()) == 5
    assert not [path.name for path in tmp_path.iterdir() if path.name.startswith(".")]


# ---------------------------------------------------------------------- table 1 and the checks


def test_table_1_of_cora(tmp_path):
    written = reproduce(Request("table1", datasets=["cora"]), tmp_path, jobs=1)
    assert [path.name for path in written] == ["table1.md", "table1.html"]
    assert count_nodes(["cora"]) == {"cora": published.TABLE1["cora"]}
    head, *body = markdown_tables((tmp_path / "table1.md").read_text())[
        "Statistics of the data sets (Table 1 of the paper)"
    ]
    assert head[1] == "Cora"
    assert body[0] == ["nodes", "2,708<br><sub>2,708 (0)</sub>"]
    assert all(line[1].endswith("(0)</sub>") for line in body)


@pytest.mark.data
@pytest.mark.parametrize("name", ["citeseer", "pubmed", "dblp"])
def test_table_1_of_the_others(name):
    assert count_nodes([name])[name] == published.TABLE1[name]


@pytest.mark.data(*{check.dataset for check in CHECKS} - {"cora"})
def test_the_checks(tmp_path, trained):
    request = Request("checks", draws=3)
    written = reproduce(request, tmp_path, jobs=1)
    assert [path.name for path in written] == ["checks.md", "checks.html"]
    cells = check_cells(3)
    assert len(trained) == len(cells) == 3 * len(CHECKS)
    records = RecordStore(tmp_path).read()
    text = (tmp_path / "checks.md").read_text()
    assert f"Made by `{request.command}`. {3 * len(CHECKS)} trainings" in text
    lines = [line for table in markdown_tables(text).values() for line in table[1:]]
    assert len(lines) == len(CHECKS)
    for place, (check, line) in enumerate(zip(CHECKS, lines, strict=True)):
        values = [records[cells[place, draw].key]["metrics"]["f1"] for draw in range(3)]
        mean, deviation = measured(line[4])
        assert mean == pytest.approx(fmean(values), abs=0.051)
        assert deviation == pytest.approx(stdev(values), abs=0.051)
        assert line[1] == check.words
        assert line[5] == f"{check.published:.1f}"
        difference = float(line[6].replace("−", "-"))
        assert difference == pytest.approx(fmean(values) - check.published, abs=0.051)
    assert len(re.findall("<tr", (tmp_path / "checks.html").read_text())) == len(CHECKS) + 2


def test_the_checks_draw_labels_as_their_sources_do():
    cells = check_cells(3)
    for place, check in enumerate(CHECKS):
        seeds = [cells[place, draw].protocol["seed"] for draw in range(3)]
        assert seeds == ([0, 0, 0] if check.one_split else [0, 1, 2])
        assert [cells[place, draw].seed for draw in range(3)] == [0, 1, 2]
    sizes = {"cora": 818}
    for place, check in enumerate(CHECKS):
        if check.dataset in sizes:
            benchmark = cells[place, 0].draw()
            assert benchmark.positive.sum() == sizes[check.dataset]
            assert len(benchmark.task.labelled) == round(check.share * sizes[check.dataset])
