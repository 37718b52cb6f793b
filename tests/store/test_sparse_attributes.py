import bz2
import gzip
import itertools

import numpy as np
import pandas as pd
import pytest
import scipy.io
import scipy.sparse as sp

from pugnn.errors import PugnnError
from pugnn.graph import Graph
from pugnn.store import read_graph

IDS = ["a", "b", "c", "d", "e"]
EDGES = list(itertools.pairwise(IDS))
LONG = pd.DataFrame({"id": ["a", "a", "c", "c"], "word": ["tea", "jam", "tea", "rye"], "count": [3, 4, 2, 0]})
MATRIX = sp.csr_array(np.array([[3.0, 4, 0], [0, 0, 0], [2, 0, 0], [0, 0, 0], [0, 0, 0]]))


def dense(data) -> list[list[float]]:
    x = data.graph.features
    return (x if isinstance(x, np.ndarray) else x.toarray()).astype(float).round(6).tolist()


@pytest.mark.parametrize("form", ["memory", "csv", "no header", "parquet"])
def test_a_long_table(form, tmp_path):
    path = tmp_path / "attributes"
    LONG.to_parquet(path) if form == "parquet" else LONG.to_csv(path, index=False, header=form != "no header")
    data = read_graph(EDGES, attributes=LONG if form == "memory" else path)
    assert data.graph.feature_names == ("tea", "jam")  # nobody has rye
    assert dense(data) == [[0.6, 0.8], [0, 0], [1, 0], [0, 0], [0, 0]]


def test_beside_other_attributes_and_on_another_snapshot():
    nodes = {"id": IDS, "age": [1, 2, 3, 4, 10]}
    first = read_graph(EDGES, nodes, attributes=LONG)
    assert first.graph.feature_names == ("age", "tea", "jam")
    later = pd.DataFrame({"id": ["b"], "word": ["jam"], "count": [7]})
    again = read_graph(EDGES, nodes, attributes=later, recipe=first.recipe)
    assert [row[1:] for row in dense(again)] == [[0, 0], [0, 1], [0, 0], [0, 0], [0, 0]]
    assert any("'tea' is absent" in note for note in again.notes)


def test_rows_that_need_a_word():
    table = pd.DataFrame({"id": ["a", "a", "zz"], "word": ["tea", "tea", "tea"]})
    data = read_graph(EDGES, attributes=table)
    assert data.notes[-3:] == (
        "attributes: 1 row skipped, of nodes that are not in the graph",
        "attributes: has no column of values; each row counts as 1",
        "attributes: 1 row added to an earlier value of the same node and attribute",
    )


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ("id,word,count\na,tea,many\n", r"long\.csv, row 2: value 'many' is not a finite number"),
        ("id,word,count\na,tea,1_000\n", "row 2: value '1_000'"),
        ("id,word,count\na,tea,\n", "row 2: the value is empty"),
        ("id,word,count\na,,1\n", "row 2: the attribute is empty"),
        ("id,word,count\n,tea,1\n", "row 2: the id is empty"),
        ("id,word,count\nzz,tea,1\n", "no id in common"),
        ("id,tea,jam\na,3,4\n", r"no column 'attribute'.*belong in --nodes"),
        ("id,word,count\n", "has no rows"),
    ],
)
def test_bad_long_tables(tmp_path, rows, message):
    path = tmp_path / "long.csv"
    path.write_text(rows)
    with pytest.raises(PugnnError, match=message):
        read_graph(EDGES, attributes=path)


@pytest.mark.parametrize("form", ["csr", "coo matrix", "npz", "mtx", "mtx.gz", "mtx.bz2"])
def test_a_matrix(form, tmp_path):
    given = sp.coo_matrix(MATRIX) if form == "coo matrix" else MATRIX
    if form not in ("csr", "coo matrix"):
        given = tmp_path / f"attributes.{form}"
        plain = tmp_path / "plain.mtx"
        scipy.io.mmwrite(plain, MATRIX)
        pack = {"mtx": bytes, "mtx.gz": gzip.compress, "mtx.bz2": bz2.compress}
        sp.save_npz(given, MATRIX) if form == "npz" else given.write_bytes(pack[form](plain.read_bytes()))
    data = read_graph(EDGES, IDS, attributes=given)
    assert data.graph.feature_names == ("attributes[0]", "attributes[1]")
    assert dense(data) == [[0.6, 0.8], [0, 0], [1, 0], [0, 0], [0, 0]]


def test_rows_of_a_matrix_follow_those_of_the_nodes():
    order = ["e", "a", "b", "c", "d"]
    rows = sp.csr_array(np.array([[5.0], [1], [0], [0], [0]]))
    data = read_graph(EDGES, order, attributes=rows, kinds={"attributes[[]0]": "number"})
    assert data.graph.ids.tolist() == order
    values = np.array([5.0, 1, 0, 0, 0])
    np.testing.assert_allclose(np.ravel(dense(data)), (values - values.mean()) / values.std(), atol=1e-5)


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        (MATRIX[:4], "has 4 rows, but nodes has 5"),
        (MATRIX * 1j, "must hold numbers; it holds complex128"),
        (sp.csr_array(np.array([[1.0], [np.nan], [0], [0], [0]])), r"row 2, column 1: nan is not a finite number"),
    ],
)
def test_bad_matrices(matrix, message):
    with pytest.raises(PugnnError, match=message):
        read_graph(EDGES, IDS, attributes=matrix)


def damaged(kind, part, at, value):
    """A matrix one of whose positions is wrong, which scipy does not see."""
    matrix = kind(np.eye(5))
    getattr(matrix, part)[at] = value
    return matrix


@pytest.mark.parametrize("kind", [sp.csr_array, sp.csc_matrix, sp.bsr_array])
@pytest.mark.parametrize(("part", "at", "value"), [("indices", 2, 10**8), ("indices", 2, -7), ("indptr", 2, 10**8)])
def test_positions_outside_a_matrix_are_refused(tmp_path, kind, part, at, value):
    matrix, path = damaged(kind, part, at, value), tmp_path / "attributes.npz"
    sp.save_npz(path, matrix)
    for given in (matrix, path):
        with pytest.raises(PugnnError, match=r"attributes.*: the parts of the sparse matrix do not fit together"):
            read_graph(EDGES, IDS, attributes=given)
    with pytest.raises(PugnnError, match="the adjacency matrix: the parts of the sparse matrix do not fit"):
        Graph.from_scipy(matrix)
    with pytest.raises(PugnnError, match="the matrix of features: the parts of the sparse matrix do not fit"):
        Graph.from_edges([0], [1], features=matrix)


def test_files_with_positions_that_are_no_integers_and_too_many_columns_are_refused(tmp_path):
    path = tmp_path / "attributes.npz"
    whole = sp.csr_array(np.eye(5))
    parts = {"data": whole.data, "indices": whole.indices + 0.5, "indptr": whole.indptr, "shape": (5, 6)}
    np.savez(path, format=b"csr", **parts)
    with pytest.raises(PugnnError, match="its indices are not integers"):
        read_graph(EDGES, IDS, attributes=path)
    with pytest.raises(PugnnError, match="has 1,000,000,000,000 columns"):
        read_graph(EDGES, IDS, attributes=sp.csr_array((5, 10**12)))


def test_bad_files_and_uses(tmp_path):
    path = tmp_path / "attributes.npz"
    np.savez(path, a=np.arange(3))
    with pytest.raises(PugnnError, match="cannot be read as a sparse matrix"):
        read_graph(EDGES, IDS, attributes=path)
    with pytest.raises(PugnnError, match="nodes names some nodes more than once"):
        read_graph(EDGES, ["a", *IDS], attributes=sp.csr_array(np.eye(6)))
    with pytest.raises(PugnnError, match="give the ids of its rows"):
        read_graph(EDGES, attributes=MATRIX)
    with pytest.raises(PugnnError, match="'tea' is also a column of nodes"):
        read_graph(EDGES, {"id": IDS, "tea": [1, 2, 3, 4, 5]}, attributes=LONG)
    with pytest.raises(PugnnError, match="'tea' is a number and cannot be read as text"):
        read_graph(EDGES, attributes=LONG, kinds={"tea": "text"})
