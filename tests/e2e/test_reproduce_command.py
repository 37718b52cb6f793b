"""`pugnn reproduce` as people use it: in real processes that are stopped, killed, and started twice."""

import csv
import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from e2e.own_tables import PUGNN
from pugnn_paper.records import RecordStore
from pugnn_paper.reproduce import Request, reproduce

#: Six trainings of less than a second.
SMALL = Request("table2", datasets=["cora"], methods=["naive", "nnpu"], ratios=[0.01], draws=3)
#: 32 trainings of a second or two.
LARGE = Request("table3", ratios=[0.002, 0.01], draws=4)

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals and process groups of Unix")


def start(request, out, *more):
    """The request as a real command in a process group of its own."""
    arguments = [*request.command.split()[1:], "--out", out, *more]
    return subprocess.Popen(
        [*PUGNN, *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def finish(process, limit=500):
    """Wait for the end; gives exit code, standard output, and standard error without lines on how far it is."""
    try:
        out, err = process.communicate(timeout=limit)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        raise
    return process.returncode, out, re.sub(r"(?m)^\d+ of \d+ trainings.*\n", "", err)


def lines(out):
    """How many records a folder has, whole or not."""
    path = out / "records.jsonl"
    return sum(bool(line) for line in path.read_bytes().split(b"\n")) if path.exists() else 0


def stop(process, out, sign, *, later=0.0):
    """Send the process group a signal once there is one record more than now, or as many seconds later."""
    before, give_up = lines(out), time.monotonic() + 300
    while lines(out) == before and process.poll() is None and time.monotonic() < give_up:
        time.sleep(0.005)
    time.sleep(later)
    assert process.poll() is None, finish(process)
    os.killpg(process.pid, sign)
    return finish(process)


def timeless(out):
    """The pages and trainings of a folder without what no two runs have in common: how long trainings took."""
    found = {}
    for path in sorted([*out.glob("table*.md"), *out.glob("table*.html")]):
        text = path.read_text(encoding="utf-8")
        text, footers = re.subn(r"trainings, [^;]* of one core in total;", "trainings;", text)
        text, sections = re.subn(r"(?s)(### |<h3>)Mean training time \(seconds\).*?(?=\n#|<h\d|</main>|$)", "", text)
        text, sentences = re.subn(r"Mean training time: [\d.]+ seconds\.", "", text)
        assert footers == 1
        assert sections + sentences >= 1
        found[path.name] = text
    for path in sorted(out.glob("table*.csv")):
        with path.open(newline="", encoding="utf-8") as file:
            found[path.name] = [{**line, "seconds": ""} for line in csv.DictReader(file)]
    assert {Path(name).suffix for name in found} == {".md", ".html", ".csv"}
    return found


def assert_whole(out, request):
    """Every training has one record, and no line is damaged."""
    keys = {cell.key for grid in request.grids() for cell in grid.cells().values()}
    records = RecordStore(out).read()  # a warning would be an error here
    assert set(records) == keys
    assert lines(out) == len(keys)
    assert not list(out.glob(".*")), "no temporary files are left"


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory):
    """The small grid, done in this very process in one go."""
    out = tmp_path_factory.mktemp("uninterrupted")
    reproduce(SMALL, out, jobs=1)
    assert_whole(out, SMALL)
    return timeless(out)


# ---------------------------------------------------------------------- stopped and started


def test_stopped_and_killed_the_same_command_goes_on_to_the_same_pages(tmp_path, pugnn_main, uninterrupted):
    code, out, err = stop(start(SMALL, tmp_path, "--jobs", "2"), tmp_path, signal.SIGINT)
    assert (code, out) == (130, "")
    assert err.strip() == f"stopped; the same command with --out {tmp_path} continues from here"
    assert 1 <= lines(tmp_path) < 6
    assert not list(tmp_path.glob("table*"))

    code, out, err = stop(start(SMALL, tmp_path, "--jobs", "1"), tmp_path, signal.SIGKILL)
    assert (code, out, err) == (-signal.SIGKILL, "", "")
    kept = (tmp_path / "records.jsonl").read_bytes()
    assert 2 <= lines(tmp_path) < 6

    assert pugnn_main("reproduce", *SMALL.command.split()[2:], "--jobs", "1", "--out", tmp_path).code == 0
    assert (tmp_path / "records.jsonl").read_bytes().startswith(kept)
    assert_whole(tmp_path, SMALL)
    assert timeless(tmp_path) == uninterrupted


@pytest.mark.slow
def test_two_at_once_share_the_work(tmp_path, uninterrupted):
    both = [start(SMALL, tmp_path, "--jobs", "1") for _ in range(2)]
    for code, out, err in map(finish, both):
        assert (code, err) == (0, "")
        assert out.splitlines()[:3] == [str(tmp_path / name) for name in ("table2.md", "table2.html", "table2.csv")]
        assert re.fullmatch(r"done in \d+ s; open an \.html page in a browser", out.splitlines()[3])
    assert_whole(tmp_path, SMALL)
    assert timeless(tmp_path) == uninterrupted


@pytest.mark.slow
def test_killed_again_and_again(tmp_path):
    seed = random.randrange(10**6)
    print(f"seed of the moments: {seed}")
    moments = random.Random(seed)
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    assert finish(start(LARGE, whole, "--jobs", "2"))[0] == 0
    for _ in range(3):
        code, out, err = stop(start(LARGE, killed, "--jobs", "2"), killed, signal.SIGKILL, later=moments.uniform(0, 2))
        assert (code, out, err) == (-signal.SIGKILL, "", "")
    assert 3 <= lines(killed) < 32
    code, _, err = finish(start(LARGE, killed, "--jobs", "2"))
    assert (code, err) == (0, "")
    assert_whole(whole, LARGE)
    assert_whole(killed, LARGE)
    assert timeless(killed) == timeless(whole)


@pytest.mark.slow
def test_workers_that_outlive_their_parent_are_no_trouble(tmp_path, uninterrupted):
    process = start(SMALL, tmp_path, "--jobs", "2")
    try:
        while lines(tmp_path) == 0:
            assert process.poll() is None
            time.sleep(0.005)
        os.kill(process.pid, signal.SIGKILL)
        # What the workers still have in hand is not done twice.
        code, _, err = finish(start(SMALL, tmp_path, "--jobs", "2"))
        assert (code, err) == (0, "")
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        finish(process)
    assert_whole(tmp_path, SMALL)
    assert timeless(tmp_path) == uninterrupted


@pytest.mark.slow
def test_two_at_once_on_a_larger_grid(tmp_path):
    both = [start(LARGE, tmp_path / "both", "--jobs", "2") for _ in range(2)]
    assert [(code, err) for code, _, err in map(finish, both)] == [(0, "")] * 2
    reproduce(LARGE, tmp_path / "one", jobs=1)
    assert_whole(tmp_path / "both", LARGE)
    assert timeless(tmp_path / "both") == timeless(tmp_path / "one")


# ---------------------------------------------------------------------- in one process


QUICK = ["table2", "--datasets", "cora", "--methods", "label-propagation,pagerank", "--ratios", "0.01", "--draws", "2"]


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "160")
    monkeypatch.setenv("PUGNN_CACHE", str(tmp_path / "cache"))
    return tmp_path


def test_pages_in_the_default_folder(here, pugnn_main):
    result = pugnn_main("reproduce", *QUICK, "--jobs", "1")
    assert (result.code, result.err) == (0, "")
    files = ["reproduction/table2.md", "reproduction/table2.html", "reproduction/table2.csv"]
    *shown, last = result.out.splitlines()
    assert shown == files
    assert re.fullmatch(r"done in \d+ s; open an \.html page in a browser", last)
    text = (here / "reproduction" / "table2.md").read_text()
    assert f"Made by `pugnn reproduce {' '.join(QUICK)}`. 4 trainings" in text
    before = {path: path.read_bytes() for path in (here / "reproduction").iterdir()}
    again = pugnn_main("reproduce", *QUICK, "--jobs", "1", "--json")
    assert json.loads(again.out) == {"files": files, "seconds": pytest.approx(0, abs=60)}
    assert {path: path.read_bytes() for path in (here / "reproduction").iterdir()} == before


def test_all_readings(here, pugnn_main):
    result = pugnn_main("reproduce", *QUICK, "--jobs", "1", "--reading", "all", "--draws", "1")
    assert result.code == 0
    assert "reproduction/table2-all-readings-compared.md" in result.out
    assert "--draws 1 --reading all`" in (here / "reproduction" / "table2-all-readings.md").read_text()


def test_a_part_of_a_study(here, pugnn_main):
    part = ["graphs", "--datasets", "cora", "--methods", "label-propagation", "--labels", "30,10", "--draws", "2"]
    result = pugnn_main("reproduce", *part, "--jobs", "1")
    assert (result.code, result.err) == (0, "")
    assert result.out.splitlines()[:3] == [f"reproduction/graphs.{kind}" for kind in ("md", "html", "csv")]
    assert lines(here / "reproduction") == 4
    assert f"Made by `pugnn reproduce {' '.join(part)}`. 4 trainings" in (here / "reproduction/graphs.md").read_text()


@pytest.mark.parametrize("damage", ["cut", "spoilt", "rubbish"])
def test_damaged_records_are_one_warning_and_then_a_right_result(here, pugnn_main, damage):
    assert pugnn_main("reproduce", *QUICK, "--jobs", "1", "--out", "out").code == 0
    path = here / "out" / "records.jsonl"
    right, kept = timeless(here / "out"), RecordStore(here / "out").read()
    content = path.read_bytes()
    spoilt = {
        "cut": content[:-200],
        "spoilt": content.replace(b'"macro_f1":', b'"macro_f1":1', 1),
        "rubbish": content + b"rubbish",
    }[damage]
    path.write_bytes(spoilt)
    result = pugnn_main("reproduce", *QUICK, "--jobs", "1", "--out", "out")
    assert result.code == 0
    line = {"cut": 8, "spoilt": 2, "rubbish": 9}[damage]
    assert result.err.startswith(f"warning: out/records.jsonl: damaged record in line {line} is ignored")
    assert result.err.count("\n") == 1
    assert timeless(here / "out") == right
    assert path.read_bytes().startswith(spoilt)
    records = RecordStore(here / "out").read(warn=False)
    assert set(records) == set(kept)
    # The one that was made again may agree in its times by chance.
    assert sum(records[key] == kept[key] for key in kept) >= (4 if damage == "rubbish" else 3)


def test_interrupted_in_this_process(here, pugnn_main, monkeypatch):
    from pugnn_paper import runner

    measure, count = runner.measure, []

    def interrupted(cell):
        count.append(cell)
        if len(count) == 3:
            raise KeyboardInterrupt
        return measure(cell)

    monkeypatch.setattr(runner, "measure", interrupted)
    result = pugnn_main("reproduce", *QUICK, "--jobs", "1", "--out", "out")
    assert result.code == 130
    assert result.err.strip() == "stopped; the same command with --out out continues from here"
    assert lines(here / "out") == 2
    assert pugnn_main("reproduce", *QUICK, "--jobs", "1", "--out", "out").code == 0
    assert len(count) == 5


@pytest.mark.parametrize(
    ("arguments", "fragments"),
    [
        (["table6"], ["there is no table 'table6'; choose from table1, table2", "checks"]),
        (["table2", "--methods", "pu-gnn,magic"], ["there is no method 'magic'; choose from naive, nnpu"]),
        (["table2", "--methods", ","], ["expected names separated by commas, got ','"]),
        (["table2", "--datasets", "atlantis"], ["there is no data set 'atlantis'; choose from citeseer, cora"]),
        (["table2", "--ratios", "abc"], ["--ratios are numbers separated by commas, such as 0.001,0.01; got 'abc'"]),
        (["table2", "--ratios", "7"], ["a label ratio is a share of nodes between 0 and 1", "got 7.0"]),
        (["table2", "--ratios", "0.01,nan"], ["a label ratio is a share of nodes between 0 and 1", "got nan"]),
        (["table2", "--ratios", ""], ["expected names separated by commas, got ''"]),
        (["table3", "--reading", "wild"], ["there is no reading 'wild'; choose from default, training-u"]),
        (["table3", "--draws", "0"], ["draws must be a whole number, at least 1; got 0"]),
        (["table3", "--jobs", "0"], ["jobs must be a whole number, at least 1; got 0"]),
        (["table3", "--methods", "naive"], ["--methods has no effect on table3; leave it out"]),
        (["checks", "--ratios", "0.1"], ["--ratios has no effect on checks; leave it out"]),
        (["graphs", "--labels", "few"], ["--labels are numbers separated by commas, such as 10,30; got 'few'"]),
        (["graphs", "--labels", "0"], ["labels must be a whole number, at least 1; got 0"]),
        (["graphs", "--ratios", "0.1"], ["--ratios has no effect on graphs; leave it out"]),
        (["table5", "--out", "file"], ["cannot write to file/records.jsonl: file is a file. Choose another --out."]),
        (["table5", "--out", "file/out"], ["cannot write to file/out/records.jsonl: Not a directory."]),
        (["table5", "--out", "x" * 300], ["cannot write to xxx", "File name too long. Choose another --out."]),
        (["table5", "--out", "folder"], ["cannot read folder/records.jsonl: Is a directory"]),
    ],
)
def test_bad_input_is_one_message(here, pugnn_main, arguments, fragments):
    (here / "file").write_text("precious")
    (here / "folder" / "records.jsonl").mkdir(parents=True)
    result = pugnn_main("reproduce", *arguments)
    assert (result.code, result.out) == (2, "")
    assert result.err.startswith("error: ")
    assert result.err.count("\n") == 1
    for fragment in fragments:
        assert fragment in result.err
    assert sorted(path.name for path in here.rglob("*")) == ["file", "folder", "records.jsonl"]


def test_too_many_labels_leave_no_record(here, pugnn_main):
    result = pugnn_main("reproduce", "table2", "--datasets", "cora", "--ratios", "0.5", "--out", "out")
    assert result.code == 2
    assert result.err.startswith("error: cannot label 1354 nodes: the training split of cora holds ")
    assert result.err.count("\n") == 1
    assert lines(here / "out") == 0


def test_wrong_usage(here, pugnn_main):
    for arguments in (["--draws", "many"], [], ["table2", "--dance"]):
        result = pugnn_main("reproduce", *arguments)
        assert result.code == 2
        assert "Usage: pugnn reproduce" in result.err
        assert "Traceback" not in result.err
