"""`pugnn audit` on bad input: a clear message, nothing recorded, nothing lost."""

import errno
import os
import shutil

import pytest

from e2e.own_tables import FIT, table
from pugnn import PUNodeClassifier
from pugnn.errors import PugnnError
from pugnn.files import locked


@pytest.fixture
def run(run_folder, here, pugnn_main):
    """A copy of the run on the path of twelve nodes, with four nodes drawn and one of them checked."""
    run = shutil.copytree(run_folder, here / "mine")
    assert pugnn_main("audit", run, "-n", 4).code == 0
    first = names(run)[0]
    (here / "one.csv").write_text(f"id,verdict\n{first},yes\n")
    assert pugnn_main("audit", run, "one.csv").code == 0
    return run


def names(run):
    return [row["id"] for row in table(run / "audit-1.csv")]


def others(run):
    return [f"n{i}" for i in range(2, 12) if f"n{i}" not in names(run)]


def draw_name(run):
    return table(run / "audit-1.csv")[0]["audit"]


def refused(result, *fragments):
    assert (result.code, result.out) == (2, "")
    assert result.err.startswith("error: ")
    assert result.err.count("\n") == 1, result.err
    for fragment in fragments:
        assert fragment in result.err


FILES = {
    "another draw": (
        lambda run: f"audit,id,verdict\ndraw-00000000,{names(run)[1]},yes\n",
        ["checked.csv: the column audit names 'draw-00000000', which is not a draw of this audit"],
    ),
    "not drawn": (
        lambda run: f"audit,id,verdict\n{draw_name(run)},{others(run)[0]},yes\n",
        ["was not drawn by this audit", "without the column audit"],
    ),
    "changed": (
        lambda run: f"id,verdict\n{names(run)[1]},no\n{names(run)[0]},no\n",
        ["was recorded as yes before and is no now", "--revise"],
    ),
    "two verdicts": (
        lambda run: f"id,verdict\n{names(run)[1]},no\n{names(run)[1]},yes\n",
        ["checked.csv, row 2 rejects", "row 3 confirms it"],
    ),
    "unknown": (lambda run: "id,verdict\nzz,yes\n", ["'zz' is not a node of the graph"]),
    "known": (lambda run: "id,verdict\nn0,yes\n", ["'n0' was known before the training"]),
    "neither": (lambda run: f"id,verdict\n{names(run)[1]},perhaps\n", ["'perhaps' is neither yes nor no"]),
    "blank": (lambda run: f"id,verdict\n{names(run)[1]},\n", ["there are no verdicts yet"]),
    "header": (lambda run: "id,verdict\n", ["there are no verdicts yet"]),
    "empty": (lambda run: "", ["there are no verdicts yet"]),
    "no column": (lambda run: f"id,answer\n{names(run)[1]},yes\n", ["has no column 'verdict'"]),
}


@pytest.mark.parametrize("case", FILES)
def test_files(pugnn_main, run, here, case):
    content, fragments = FILES[case]
    (here / "checked.csv").write_text(content(run))
    before = (run / "audit.jsonl").read_bytes()
    (here / "good.csv").write_text(f"id,verdict\n{names(run)[2]},yes\n")
    refused(pugnn_main("audit", run, "good.csv", "checked.csv"), *fragments)
    assert (run / "audit.jsonl").read_bytes() == before


SEVERAL = {
    "not drawn": (lambda run: [(draw_name(run), name, "no") for name in others(run)], 5, "was not drawn by this audit"),
    "known": (lambda run: [("", "n0", "yes"), ("", "n1", "yes")], 2, "was known before the training"),
    "neither": (lambda run: [("", name, "perhaps") for name in others(run)], 5, "'perhaps' is neither yes nor no"),
    "unknown": (lambda run: [("", f"z{at}", "yes") for at in range(9)], 5, "is not a node of the graph"),
    "two verdicts": (
        lambda run: [("", name, verdict) for verdict in ("yes", "no") for name in names(run)],
        4,
        "confirms it. Remove one of them.",
    ),
}


@pytest.mark.parametrize("case", SEVERAL)
def test_several_bad_verdicts_are_named_with_their_rows(pugnn_main, run, here, case):
    rows, named, words = SEVERAL[case]
    found = rows(run)
    (here / "checked.csv").write_text("audit,id,verdict\n" + "".join(f"{','.join(row)}\n" for row in found))
    bad = len(names(run)) if case == "two verdicts" else len(found)
    first = len(found) - bad + 2
    done = pugnn_main("audit", run, "checked.csv", "--revise")
    refused(done, words, *(f"checked.csv, row {row}" for row in range(first, first + named)))
    assert f"checked.csv, row {first + named}" not in done.err
    assert (f"; and {bad - named} more." in done.err) == (bad > named)


def test_several_changed_verdicts_are_named(pugnn_main, run, here):
    ids = names(run)
    (here / "yes.csv").write_text("id,verdict\n" + "".join(f"{name},yes\n" for name in ids))
    assert pugnn_main("audit", run, "yes.csv").code == 0
    (here / "no.csv").write_text("id,verdict\n" + "".join(f"{name},no\n" for name in ids))
    done = pugnn_main("audit", run, "no.csv")
    refused(done, f"no.csv, row 2: '{ids[0]}' was recorded as yes before and is no now", "--revise")
    assert done.err.endswith(
        f" Likewise: {'; '.join(f'no.csv, row {at + 3}: {name!r}' for at, name in enumerate(ids[1:]))}.\n"
    )


def test_changed_verdicts_are_accepted_if_asked_for(pugnn_main, run, here):
    (here / "checked.csv").write_text(f"id,verdict\n{names(run)[0]},no\n")
    done = pugnn_main("audit", run, "checked.csv", "--revise")
    assert done.code == 0, done.err
    assert "Measured on 1 check, 0 of them positive" in done.out
    assert len((run / "audit.jsonl").read_text().splitlines()) == 3, "the earlier verdict stays in the log"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["-n", 7], "cannot draw 7 nodes: 6 of 10 are neither drawn nor checked yet. Ask for fewer."),
        (["-n", 2, "--recall", 0.9], "not both at once"),
        (["one.csv", "-n", 2], "not both at once"),
        (["--revise"], "--revise goes with the file"),
        (["--recall", 0.9, "--budget", 3], "give one purpose"),
        (["--cost-miss", 3], "costs come in pairs"),
        (["one.csv", "--recall", 7], "recall must lie between 0 and 1"),
        (["-n", 2, "--out", "nodes.csv"], "nodes.csv already exists"),
        (["nowhere.csv"], "nowhere.csv"),
    ],
)
def test_options(pugnn_main, run, arguments, words):
    before = (run / "audit.jsonl").read_bytes()
    refused(pugnn_main("audit", run, *arguments), words)
    assert (run / "audit.jsonl").read_bytes() == before
    assert not (run / "audit-2.csv").exists()


def test_nothing_is_left_to_draw(pugnn_main, run):
    assert pugnn_main("audit", run, "-n", 6).code == 0
    refused(pugnn_main("audit", run, "-n", 1), "cannot draw 1 node: 0 of 10")
    refused(pugnn_main("audit", run, "--all-of", 3), "the first 3 nodes are drawn or checked already")


@pytest.mark.parametrize(
    "spoil",
    [
        lambda log: log.replace("true", "false"),
        lambda log: log.split("\n", 1)[1],
        lambda log: log[:-30],
        lambda log: log + '{"verdicts"',
        lambda log: log + "3\n",
        lambda log: log + "null\n",
        lambda log: "\x00\xff" + log,
        lambda log: log.replace('"edges": [0', '"edges": [1'),
    ],
)
def test_a_log_that_was_changed_or_cut_off(pugnn_main, run, here, spoil):
    log = run / "audit.jsonl"
    log.write_bytes(spoil(log.read_text()).encode("latin-1"))
    before = log.read_bytes()
    for arguments in ([], ["-n", 2], ["one.csv"]):
        refused(pugnn_main("audit", run, *arguments), "audit.jsonl: line ", "was changed or cut off. Restore the file")
    assert log.read_bytes() == before


def test_what_was_cut_off_can_be_removed(pugnn_main, run):
    log = run / "audit.jsonl"
    first = log.read_text().splitlines()[0]
    log.write_text(first)  # without an end of line, as some editors leave it
    assert "0 of 4 checked" in pugnn_main("audit", run).out
    assert pugnn_main("audit", run, "one.csv").code == 0
    assert log.read_text().splitlines()[0] == first


@pytest.mark.parametrize("error", [errno.ENOSPC, errno.EROFS, errno.EACCES])
def test_a_log_that_cannot_be_written(pugnn_main, run, here, monkeypatch, error):
    def fail(handle):
        raise OSError(error, os.strerror(error))

    before = sorted(path.name for path in run.iterdir())
    content = (run / "audit.jsonl").read_bytes()
    (here / "two.csv").write_text(f"id,verdict\n{names(run)[1]},yes\n")
    with monkeypatch.context() as patched:
        patched.setattr("os.fsync", fail)
        for arguments in (["-n", 2], ["two.csv"]):
            refused(pugnn_main("audit", run, *arguments), "nothing was recorded: cannot write", os.strerror(error))
    assert (run / "audit.jsonl").read_bytes() == content
    assert sorted(path.name for path in run.iterdir()) == before, "no file to fill in that nobody could give back"
    assert pugnn_main("audit", run, "two.csv").code == 0


def test_probabilities_that_cannot_be_written_do_not_hide_the_result(pugnn_main, run, monkeypatch):
    (run / "probabilities.parquet").unlink()
    (run / "probabilities.parquet").mkdir()
    done = pugnn_main("audit", run, "--recall", 0.5)
    assert done.code == 0
    assert "For a recall of 0.5" in done.out
    assert "warning: what was measured is not written" in done.err


def test_two_processes_at_once(pugnn_main, run):
    before = (run / "audit.jsonl").read_bytes()
    with locked(run) as free:
        assert free
        refused(pugnn_main("audit", run, "-n", 2), "another process is recording the audit")
        assert pugnn_main("audit", run).code == 0, "looking at it does no harm"
    assert (run / "audit.jsonl").read_bytes() == before


def test_scores_that_have_changed_since(pugnn_main, run, here):
    assert pugnn_main(*FIT[:-2], "--method", "label-propagation", "--out", "other").code == 0
    shutil.copy(run / "audit.jsonl", here / "other")
    refused(pugnn_main("audit", here / "other"), "audit.jsonl", "another ranking", "Move it away")
    (here / "other" / "audit.jsonl").unlink()
    assert pugnn_main("audit", here / "other", "-n", 2).code == 0
    filled = (run / "audit-1.csv").read_text().replace(",\n", ",yes\n")
    (here / "filled.csv").write_text(filled)
    refused(pugnn_main("audit", here / "other", "filled.csv"), "filled.csv: ", "which is not a draw of this audit")


def test_a_run_that_hid_nothing_and_a_store(pugnn_main, here):
    tables = ["--edges", "edges.csv", "--nodes", "nodes.csv"]
    assert pugnn_main("build", *tables, "--out", "store").code == 0
    fit = ["fit", "--store", "store", "--positives", "positives.csv", "--method", "nnpu", "--epochs", 3]
    done = pugnn_main(*fit, "--prior", 0.3, "--out", "mine")
    assert done.code == 0, done.err
    assert pugnn_main("audit", "mine", "-n", 4).code == 0
    rows = table(here / "mine" / "audit-1.csv")
    verdicts = [f"{row['id']},{'yes' if number else 'no'}" for number, row in enumerate(rows)]
    (here / "checked.csv").write_text("\n".join(["id,verdict", *verdicts]) + "\n")
    done = pugnn_main("audit", "mine", "checked.csv")
    assert done.code == 0, done.err
    assert "Hidden positives were not used to narrow this: no known positives were hidden." in done.out


def test_a_loaded_model_has_no_ranking(run):
    with pytest.raises(PugnnError, match="pugnn audit RUN"):
        PUNodeClassifier.load(run / "model.safetensors").audit()
    with pytest.raises(PugnnError):
        PUNodeClassifier().audit()
