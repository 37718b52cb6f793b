import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from pugnn import PUNodeClassifier, read_graph
from pugnn.errors import PugnnError
from pugnn.features.structure import Structure
from pugnn.graph import Graph
from pugnn.store import build_store, open_store, read_manifest
from store.messy import messy_tables, write_tables


def assert_same(stored: Graph, graph: Graph) -> None:
    for name in ("indptr", "indices", "weights"):
        one, other = getattr(stored, name), getattr(graph, name)
        assert (one is None) == (other is None), name
        if one is not None:
            assert one.dtype == other.dtype
            np.testing.assert_array_equal(one, other, err_msg=name)
    assert stored.ids.tolist() == graph.ids.tolist()
    assert stored.cleaning == graph.cleaning
    assert stored.feature_names == graph.feature_names
    assert stored.recipe == graph.recipe
    if isinstance(graph.features, np.ndarray):
        assert stored.features.tobytes() == graph.features.tobytes()
    else:
        for part in ("data", "indices", "indptr"):
            np.testing.assert_array_equal(getattr(stored.features, part), getattr(graph.features, part))


@pytest.mark.parametrize("integers", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("ending", ["parquet", "csv"])
def test_a_store_holds_the_graph_that_read_graph_reads(tmp_path, integers, weighted, ending):
    names = write_tables(tmp_path, messy_tables(integers=integers, weighted=weighted), ending)
    data = read_graph(**names)
    manifest = build_store(tmp_path / "store", **names)
    stored = open_store(tmp_path / "store", verified=True)
    assert_same(stored, data.graph)
    assert list(manifest.notes) == list(data.notes)
    cleaning = data.graph.cleaning
    assert min(cleaning.self_loops, cleaning.duplicates, cleaning.two_way) > 0
    assert "no row" in " ".join(data.notes)
    assert "with no edge" in " ".join(data.notes)


def test_scores_from_a_store_are_those_from_tables(tmp_path):
    names = write_tables(tmp_path, messy_tables(integers=False, weighted=True))
    data = read_graph(**names)
    build_store(tmp_path / "store", **names)
    positives = data.graph.ids[5:15].tolist()
    one = PUNodeClassifier("nnpu", epochs=3, progress=False).fit(data.graph, positives)
    other = PUNodeClassifier("nnpu", epochs=3, progress=False).fit(open_store(tmp_path / "store"), positives)
    assert one.decision_function().tobytes() == other.decision_function().tobytes()


def test_a_bare_edge_list_gets_features_of_the_structure(tmp_path):
    names = write_tables(tmp_path, {"edges": messy_tables(integers=True, weighted=False)["edges"]})
    build_store(tmp_path / "store", **names)
    stored = open_store(tmp_path / "store")
    assert_same(stored, read_graph(**names).graph)
    np.testing.assert_array_equal(stored.features, Structure().encode(stored))


def test_wide_sparse_features_stay_sparse(tmp_path):
    rng = np.random.default_rng(0)
    tables = messy_tables(integers=True, weighted=False)
    names = write_tables(tmp_path, tables)
    words = sp.random_array((tables["nodes"].num_rows, 300), density=0.02, rng=rng, format="csr")
    sp.save_npz(tmp_path / "words.npz", sp.csr_matrix(words))
    names["attributes"] = str(tmp_path / "words.npz")
    build_store(tmp_path / "store", **names)
    stored = open_store(tmp_path / "store")
    assert sp.issparse(stored.features)
    assert_same(stored, read_graph(**names).graph)


def test_the_recipe_of_a_model_makes_its_features_again(tmp_path):
    names = write_tables(tmp_path, messy_tables(integers=True, weighted=False))
    (tmp_path / "later").mkdir()
    later = write_tables(tmp_path / "later", messy_tables(integers=True, weighted=False, seed=1))
    recipe = read_graph(**names).graph.recipe
    build_store(tmp_path / "store", **later, recipe=recipe)
    assert_same(open_store(tmp_path / "store"), read_graph(**later, recipe=recipe).graph)


def test_a_table_that_has_to_be_repaired_is_read_again(tmp_path):
    rows = [f"n{at},n{at * 7 % 50},{at + 1}" for at in range(50)]
    for at in (0, 30):  # files were joined with their headers
        rows.insert(at, "source,target,weight")
    (tmp_path / "edges.csv").write_text("\n".join(rows) + "\n")
    manifest = build_store(tmp_path / "store", tmp_path / "edges.csv")
    data = read_graph(tmp_path / "edges.csv")
    assert_same(open_store(tmp_path / "store", verified=True), data.graph)
    assert list(manifest.notes) == list(data.notes)
    assert "header" in " ".join(data.notes)


@pytest.mark.parametrize(
    ("edges", "message"),
    [
        ("source,target\na,b\n,c\n", r"edges.csv, row 3: the source is empty"),
        ("source,target,weight\na,b,1\nb,c,none\n", r"edges.csv, row 3: weight 'none' is not a positive"),
        ("source,target\na,a\n", "contains only self loops"),
        ("source,target\n", "has no rows"),
        ("from,where\na,b\n", "has no column 'target'"),
    ],
)
def test_bad_edges_are_refused_as_by_read_graph_and_leave_nothing(tmp_path, edges, message):
    (tmp_path / "edges.csv").write_text(edges)
    for read in (
        lambda: build_store(tmp_path / "store", tmp_path / "edges.csv"),
        lambda: read_graph(tmp_path / "edges.csv"),
    ):
        with pytest.raises(PugnnError, match=message):
            read()
    assert os.listdir(tmp_path) == ["edges.csv"]


def test_an_existing_folder_is_not_overwritten(tmp_path):
    (tmp_path / "store").mkdir()
    with pytest.raises(PugnnError, match="already exists and is not overwritten"):
        build_store(tmp_path / "store", [("a", "b")])
    assert os.listdir(tmp_path / "store") == []


def test_an_input_that_changes_meanwhile_is_an_error(tmp_path):
    names = write_tables(tmp_path, messy_tables(integers=True, weighted=False))

    def change(phase: str) -> None:
        if phase == "making features":
            os.utime(names["edges"], ns=(1, 1))

    with pytest.raises(PugnnError, match=r"edges.parquet changed while it was read. Build the store again"):
        build_store(tmp_path / "store", **names, on_phase=change)
    assert sorted(os.listdir(tmp_path)) == ["edges.parquet", "nodes.parquet"]


def test_the_manifest_tells_what_the_store_was_built_from(tmp_path):
    names = write_tables(tmp_path, messy_tables(integers=True, weighted=False))
    build_store(tmp_path / "store", **names)
    found = {entry["file"]: entry["bytes"] for entry in read_manifest(tmp_path / "store").built_from}
    assert found == {name: os.path.getsize(name) for name in names.values()}


_BUILD = """
import os, signal, sys
from pugnn.store import build_store
{before}
def at(phase):
    if phase == "making features":
        {then}
build_store(sys.argv[1], sys.argv[2], on_phase=at)
"""


def _build_elsewhere(tmp_path: Path, before: str = "", then: str = "pass") -> subprocess.CompletedProcess[str]:
    rng = np.random.default_rng(0)
    ends = rng.integers(0, 5000, (20000, 2))
    lines = "".join(f"{u},{v}\n" for u, v in ends)
    (tmp_path / "edges.csv").write_text("source,target\n" + lines)
    code = _BUILD.format(before=before, then=then)
    command = [sys.executable, "-c", code, str(tmp_path / "store"), str(tmp_path / "edges.csv")]
    return subprocess.run(command, capture_output=True, text=True, timeout=600)


def test_a_killed_build_leaves_no_store_and_the_next_one_cleans_up(tmp_path):
    done = _build_elsewhere(tmp_path, then="os.kill(os.getpid(), signal.SIGKILL)")
    assert done.returncode == -signal.SIGKILL
    assert not (tmp_path / "store").exists()
    assert len(os.listdir(tmp_path)) == 2  # what it had begun
    build_store(tmp_path / "store", tmp_path / "edges.csv")
    assert sorted(os.listdir(tmp_path)) == ["edges.csv", "store"]


def test_a_full_disk_is_an_error_and_leaves_nothing(tmp_path):
    limit = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))"
    done = _build_elsewhere(tmp_path, before=limit)
    assert "WriteError: cannot write" in done.stderr
    assert "File too large" in done.stderr
    assert os.listdir(tmp_path) == ["edges.csv"]
