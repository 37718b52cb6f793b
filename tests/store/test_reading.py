import csv
import datetime
import decimal
import json
import os
import re
import tempfile
import uuid
import warnings
from itertools import pairwise

import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pugnn.errors import PugnnError, PugnnWarning
from pugnn.features import Recipe
from pugnn.graph import Graph
from pugnn.runs.writers import score_table, write_scores
from pugnn.store import read_graph
from pugnn.task import PUTask

EDGES = "source,target\na,b\nb,c\n"
NODES = "id,x\na,1\nb,2\nc,4\n"


@pytest.fixture
def write(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def write(name: str, content: str) -> str:
        (tmp_path / name).write_text(content)
        return name

    return write


@pytest.fixture
def read(write):
    def read(edges=EDGES, nodes=NODES, positives=None, truth=None, **options):
        given = {"edges": edges, "nodes": nodes, "positives": positives, "truth": truth}
        files = {role: write(f"{role}.csv", text) for role, text in given.items() if text is not None}
        return read_graph(**files, **options)

    return read


def neighbours(graph: Graph) -> dict[object, list[object]]:
    ids = graph.ids.tolist()
    return {ids[node]: [ids[other] for other in graph.neighbours(node)] for node in range(graph.num_nodes)}


PATH = {"a": ["b"], "b": ["a", "c"], "c": ["b"]}


# ---------------------------------------------------------------------- a graph


def test_a_graph_from_two_tables(read):
    data = read(positives="id\nc\n", truth="id\nc\na\n")
    assert neighbours(data.graph) == PATH
    assert data.graph.ids.tolist() == ["a", "b", "c"]
    assert data.graph.feature_names == ("x",)
    assert data.graph.features.shape == (3, 1)
    assert data.graph.recipe == data.recipe.to_plain()
    assert data.graph.weights is None
    assert (data.known.nonzero()[0].tolist(), data.positive.nonzero()[0].tolist(), data.notes) == ([2], [0, 2], ())


def test_a_bare_edge_list(read):
    data = read(nodes=None)
    assert neighbours(data.graph) == PATH
    assert data.graph.num_features > 0
    assert data.known is None
    assert data.positive is None
    assert data.notes == ()


def test_nodes_stand_in_the_order_of_their_table_and_then_of_the_edges(read):
    data = read("target,source\nz,y\nb,z\na,x\n", "id,v\nb,1\nq,2\na,4\n")
    assert data.graph.ids.tolist() == ["b", "q", "a", "y", "z", "x"]
    assert data.notes == (
        "edges.csv: 3 nodes with no row in nodes.csv; all attributes are missing there",
        "nodes.csv: 1 node with no edge; kept",
    )
    assert len(data.graph.features) == 6


def test_columns_by_name(read):
    edges = "weight,payee,payer,amount\n9,b,a,1\n9,c,b,2.5\n"
    data = read(
        edges,
        "x,account\n1,a\n2,b\n4,c\n",
        "account\nb\n",
        source="payer",
        target="Payee",
        id="account",
        weight="amount",
    )
    assert data.graph.to_scipy().toarray().tolist() == [[0, 1, 0], [1, 0, 2.5], [0, 2.5, 0]]
    assert data.known.nonzero()[0].tolist() == [1]
    assert data.notes == (
        "edges.csv: 'amount' is the weight, and so does not describe the nodes at both ends",
        "edges.csv: column 'weight' not used: the same value in all rows",
    )


def test_cleaning_is_noted(read):
    data = read("source,target,weight\na,b,1\nb,a,2\na,b,4\na,a,1\nb,c,1\nb,b,1\n")
    assert data.graph.to_scipy().toarray()[0].tolist() == [0, 7, 0]
    assert data.notes == (
        "edges.csv: 2 self loops dropped",
        "edges.csv: 1 duplicate edge merged, their weights added",
        "edges.csv: 1 edge given in both directions merged, their weights added; direction does not matter",
    )


def test_white_space_around_ids(read):
    data = read("source,target\n a,b\nb ,\u00a0c\n", "id,x\na ,1\nb,2\n\tc,4\n", "id\n c\n")
    assert neighbours(data.graph) == PATH
    assert data.known.nonzero()[0].tolist() == [2]
    assert data.notes == (
        "nodes.csv: white space around 2 ids removed",
        "edges.csv: white space around 3 ids removed",
        "positives.csv: white space around 1 id removed",
    )


def test_case_is_kept(read):
    data = read("source,target\na,A\nA,b\n", "id,x\na,1\nA,2\nb,4\n", "id\nA\n")
    assert data.graph.ids.tolist() == ["a", "A", "b"]
    assert data.known.nonzero()[0].tolist() == [1]


def test_rows_that_say_the_same_are_merged(read):
    data = read(nodes="id,x,y\na,1,u\nb,2,v\na,1,u\nc,4,w\n b,2,v\n", kinds={"y": "category"})
    assert data.graph.ids.tolist() == ["a", "b", "c"]
    assert data.notes[:2] == (
        "nodes.csv: white space around 1 id removed",
        "nodes.csv: 2 rows skipped, with the same id and attributes as an earlier one",
    )
    plain = read(nodes="id,x,y\na,1,u\nb,2,v\nc,4,w\n", kinds={"y": "category"})
    assert np.array_equal(data.graph.features, plain.graph.features)
    with pytest.raises(PugnnError, match=r"nodes.csv, row 5, column 'x': 'many' is not a number"):
        read(nodes="id,x\na,1\na,1\nb,2\nc,many\n", kinds={"x": "number"})


def test_phases_are_told(read):
    phases = []
    read(positives="id\na\n", truth="id\na\nb\n", on_phase=phases.append)
    reading = [f"reading {name}.csv" for name in ("nodes", "edges", "positives", "truth")]
    assert phases == [*reading, "building the graph", "making features"]


def test_a_recipe_is_used_again(read):
    learned = read().recipe
    again = read(nodes="id,x\na,1\nb,2\nc,400\n", recipe=Recipe.from_plain(learned.to_plain()))
    assert again.graph.features[0, 0] == read().graph.features[0, 0]
    assert again.recipe.to_plain() == learned.to_plain()


# ---------------------------------------------------------------------- lists of nodes


def test_positives_beside_other_columns(read):
    scores = "id,score,decision,rank\nc,0.9,1,1\na,0.8,1,2\n"
    assert read(positives=scores).known.nonzero()[0].tolist() == [0, 2]


def test_positives_without_a_header(read):
    data = read(positives="c\n\nb\n")
    assert data.known.nonzero()[0].tolist() == [1, 2]
    assert data.notes == ("positives.csv: has no header; its first line is read as an id",)


def test_a_formula_as_a_run_writes_it(read):
    edges, nodes = "source,target\n=a,b\nb,'c\n", "id,x\n=a,1\nb,2\n'c,4\n"
    data = read(edges, nodes, "id\n'=a\n'c\n")
    assert data.known.nonzero()[0].tolist() == [0, 2]
    assert data.notes == ("positives.csv: the ' before 1 id removed, which keeps spreadsheets from running a formula",)


def test_repeated_positives(read):
    data = read(positives="id\nb\nb\n b\n")
    assert data.known.nonzero()[0].tolist() == [1]
    assert data.notes[-1] == "positives.csv: 2 rows with a repeated id skipped"


@pytest.mark.parametrize(
    ("positives", "message"),
    [
        ("id\n", "positives.csv names no positives; at least one is needed"),
        ("id\na\n\nzoe\n", "positives.csv, row 4: 'zoe' is not a node of the graph; its ids look like 'a', 'b', 'c'"),
        ("id\nB\n", "positives.csv, row 2: 'B' is not a node of the graph; the graph has 'b'"),
        ("zoe\na\n", "positives.csv, row 1: 'zoe' is not a node of the graph, nor the usual name of a column of ids"),
        ('id,why\na,x\n"",y\n', "positives.csv, row 3: the id is empty"),
        ("id\na\nb\nc\n", "positives.csv names all 3 nodes; there is nothing left to find"),
        ("who,why\na,x\n", "positives.csv has no column 'id'; its columns are 'who', 'why'.* --id NAME"),
        ("1,2\n2,3\n", "positives.csv has no column 'id'; its columns are 'column 1', 'column 2'"),
        ("a,2026-01-31\nb,2026-02-01\n", "no column 'id'.* It seems to have no header: 'a' is the id of a node"),
        ('id\n"two\nlines"\nzoe\n', "positives.csv, row 2: 'two.nlines' is not a node"),
        ("id\n'zoe\n", 'positives.csv, row 2: "\'zoe" is not a node'),
    ],
)
def test_bad_positives(read, positives, message):
    with pytest.raises(PugnnError, match=message):
        read(positives=positives)
    with pytest.raises(
        PugnnError, match=message.replace("positives.csv", "truth.csv").replace("no positives", "no true positives")
    ):
        read(truth=positives)


# ---------------------------------------------------------------------- bad tables


@pytest.mark.parametrize(
    ("edges", "message"),
    [
        ("source,target\n", "edges.csv has no rows"),
        ("source,target\na,a\nb,b\n", "edges.csv contains only self loops"),
        ("source,target\na,b\n\n ,c\n", "edges.csv, row 4: the source is empty"),
        ("source,target\na,b\nb,\n", "edges.csv, row 3: the target is empty"),
        ("source,where\na,b\n", "edges.csv has no column 'target'; its columns are 'source', 'where'.* --target NAME"),
        ("from,source,target\na,b,c\n", "any of the columns 'from', 'source' may be the source"),
        ("source\na\n", "edges.csv has no column 'target'"),
        ("a\nb\n", "edges.csv has one column; edges need two"),
        ("source,target,target\na,b,c\n", "edges.csv has several columns named 'target'"),
        ("source,target,weight\na,b,1\nb,c,0\n", "edges.csv, row 3: weight '0' is not a positive, finite number"),
        ("source,target,weight\na,b,1\nb,c,inf\n", "edges.csv, row 3: weight 'inf' is not a positive, finite number"),
        ("source,target,weight\na,b,1\nb,c,1e300\n", "row 3: weight '1e300' is not at most 3.4e.38; it is too large"),
        ("source,target,weight\na,b,low\nb,c,high\n", "edges.csv: no cell of the column 'weight' is a number; choose"),
        ("source,target,weight\na,b,1\nb,c,-2\n", "edges.csv, row 3: weight '-2' is not a positive"),
        ("source,target,weight\na,b,1\nb,c,1e-60\n", "edges.csv, row 3: weight '1e-60' is not a positive"),
        ("source,target,weight\na,b,1e60\n", "edges.csv, row 2: weight '1e60' is not at most 3.4e.38; it is too"),
        ("source,target,weight\na,b,nan\n", "edges.csv, row 2: weight 'nan' is not a positive, finite"),
        ("source,target,weight\na,b,inf\n", "edges.csv, row 2: weight 'inf' is not a positive, finite"),
        ("source,target,weight\na,b,heavy\n", "edges.csv, row 2: weight 'heavy' is not a positive, finite"),
        ("source,target,Weights\na,b,\n", "edges.csv, row 2: the weight is empty"),
        ("source,target\na,b\n\nb,c,d\n", "edges.csv, row 4: 3 cells where the header has 2.* ','"),
        ("source\ttarget\na\tb\nb\n", "edges.csv, row 3: 1 cell where the header has 2.*Add the missing ones"),
        ("1,2\n2,3\n3\n", "edges.csv, row 3: 1 cell where the first row has 2"),
        ('source,target\n"x\ny",b\nb,"c\n', "edges.csv, row 4: a quotation mark is opened and not closed"),
        ('source,target\n"a"b,c\n', "edges.csv, row 2: .*text follows a closing one"),
    ],
)
def test_bad_edges(read, edges, message):
    with pytest.raises(PugnnError, match=message):
        read(edges)


@pytest.mark.parametrize(
    ("nodes", "message"),
    [
        ("id,x\n", "nodes.csv has no rows"),
        ("key,x\na,1\n", "nodes.csv has no column 'id'; its columns are 'key', 'x'.* --id NAME"),
        ("id,x\na,1\n\n,2\n", "nodes.csv, row 4: the id is empty"),
        ("id,x\na,1\nb,2\na,3\n", "nodes.csv, row 4: id 'a' is already in nodes.csv, row 2, with other attributes"),
        ('id,x\na,"1\n"\nb,2\n a,3\n', "nodes.csv, row 5: id 'a' is already in nodes.csv, row 2"),
    ],
)
def test_bad_nodes(read, nodes, message):
    with pytest.raises(PugnnError, match=message):
        read(nodes=nodes)


def test_given_names_must_be_there(read):
    with pytest.raises(PugnnError, match=r"edges.csv has no column 'payer' \(--source\)"):
        read(source="payer")
    with pytest.raises(PugnnError, match="source and target are both the column 'target'"):
        read(source="target")


def test_damaged_typed_files(tmp_path, write):
    pd.DataFrame({"source": ["a", "b"], "target": ["b", "c"]}).to_parquet(tmp_path / "edges.parquet")
    content = (tmp_path / "edges.parquet").read_bytes()
    (tmp_path / "edges.parquet").write_bytes(content[:-20])
    with pytest.raises(PugnnError, match=r"cannot read edges.parquet: .* It may be damaged or cut short"):
        read_graph("edges.parquet")
    middle = bytearray(content)
    middle[4:60] = b"\xff" * 56
    (tmp_path / "edges.parquet").write_bytes(bytes(middle))
    with pytest.raises(PugnnError, match=r"cannot read edges.parquet: "):
        read_graph("edges.parquet")
    with pytest.raises(PugnnError, match=r"edges.jsonl, row 2: not JSON, from character 12 on"):
        read_graph(write("edges.jsonl", '{"source": "a", "target": "b"}\n{"source": }\n'))
    with pytest.raises(PugnnError, match=r"edges.jsonl: it is JSON, but not of objects"):
        read_graph(write("edges.jsonl", '{"source": "a", "target": "b"}\n[3]\n'))
    with pytest.raises(PugnnError, match=r"edges.json, row 3: not JSON, from character 1 on"):
        read_graph(write("edges.json", '[\n{"source": "a", "target": "b"}\n{"source": 1}]'))
    with pytest.raises(PugnnError, match=r"edges.jsonl, column 'source' holds values of several types"):
        read_graph(write("edges.jsonl", '{"source": 7, "target": "b"}\n{"source": "7", "target": "c"}\n'))


# ---------------------------------------------------------------------- ids of any type

DAYS = [datetime.date(2024, 1, day) for day in (1, 2, 3)]
TYPED_IDS = [
    [1, 2, 3],
    [2**63 - 1, -(2**63), 0],
    [2**70, 2**71, 7],
    [1.5, 2.5, -0.25],
    ["a", "b", "c"],
    ["1", "2", "3"],
    ["007", "7", "7.0"],
    DAYS,
    [datetime.datetime(2024, 1, 1, 12, 30, second) for second in (1, 2, 3)],
    [datetime.datetime(2024, 1, 1, 12, 30, 0, micro) for micro in (1, 200_000, 3)],
    [uuid.UUID(int=value) for value in (1, 2, 3)],
    [decimal.Decimal(text) for text in ("1.50", "2.25", "3.00")],
]


@pytest.mark.parametrize("ids", TYPED_IDS, ids=str)
@pytest.mark.parametrize("form", ["mapping", "pandas", "parquet"])
def test_ids_keep_their_type(ids, form, tmp_path):
    edges = {"source": [ids[2], ids[0]], "target": [ids[0], ids[1]]}
    nodes = {"id": [ids[2], ids[1]], "x": [1.0, 2.0]}
    if form != "mapping":
        if isinstance(ids[0], int) and max(ids) >= 2**63 and form == "parquet":
            pytest.skip("Arrow has no whole numbers of this size")
        edges, nodes = pd.DataFrame(edges), pd.DataFrame(nodes)
    if form == "parquet":
        edges.to_parquet(tmp_path / "edges.parquet")
        nodes.to_parquet(tmp_path / "nodes.parquet")
        edges, nodes = tmp_path / "edges.parquet", tmp_path / "nodes.parquet"
    data = read_graph(edges, nodes, positives=[ids[1]])
    assert data.graph.ids.tolist() == [ids[2], ids[1], ids[0]]
    assert [type(value) for value in data.graph.ids.tolist()] == [type(ids[0])] * 3
    assert neighbours(data.graph)[ids[0]] == [ids[2], ids[1]]
    assert data.known.nonzero()[0].tolist() == [1]


#: Those that are written in several ways, and those that no table knows.
MORE_IDS = [
    [1.0, 2.0, 2.5],
    [datetime.datetime(2024, 1, 1), datetime.datetime(2024, 1, 1, 6), datetime.datetime(2024, 1, 2)],
    [("a", 1), ("b", 2), ("c", 3)],
    ["=1+1", "-x", "'q"],
]


@pytest.mark.parametrize("ids", TYPED_IDS + MORE_IDS, ids=str)
@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_scores_of_a_run_name_the_positives_of_the_next(ids, form, tmp_path):
    edges = {"source": [ids[2], ids[0]], "target": [ids[0], ids[1]]}
    graph = read_graph(edges).graph
    path = tmp_path / f"scores.{form}"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PugnnWarning)  # about formulas
        task = PUTask.from_positives(graph, np.array([0]))
        write_scores(path, score_table(graph, np.array([0.9, 0.8, 0.1]), 0.5, task))
    again = read_graph(edges, positives=_first_rows(path, 2))
    assert [again.graph.ids.tolist()[at] for at in np.flatnonzero(again.known)] == graph.ids.tolist()[:2]


def _first_rows(path, rows):
    if path.suffix == ".parquet":
        return pq.read_table(path).slice(0, rows)
    path.write_text("".join(path.read_text().splitlines(keepends=True)[: rows + 1]))
    return path


def test_ids_written_otherwise_than_in_the_graph(write):
    halves = {"source": [0.5, 1.0], "target": [1.0, 2.5]}
    assert np.flatnonzero(read_graph(halves, positives=write("p.csv", "id\n1.0\n2.50\n")).known).tolist() == [1, 2]
    with pytest.raises(PugnnError, match=r"row 2: '1_0' is not a node"):
        read_graph(halves, positives=write("p.csv", "id\n1_0\n"))


def test_ids_beyond_exact_floats_are_refused_not_merged(tmp_path, write):
    lines = [{"source": 2**53 + 1, "target": 5}, {"source": 2**53, "target": 5}, {"source": 1.5, "target": 5}]
    edges = write("e.jsonl", "".join(json.dumps(line) + "\n" for line in lines))
    with pytest.raises(PugnnError, match=r"e\.jsonl, column 'source': id 9007199254740992 is too large to be exact"):
        read_graph(edges, write("n.csv", "id,x\n5,1\n1.5,2\n"))
    pd.DataFrame({"source": [2**53 + 1], "target": [5]}).to_parquet(tmp_path / "u1.parquet")
    pd.DataFrame({"source": [7.5], "target": [8.0]}).to_parquet(tmp_path / "u2.parquet")
    with pytest.raises(PugnnError, match="too large to be exact"):
        read_graph(str(tmp_path / "u?.parquet"))


def test_whole_numbers_are_an_array_of_them():
    data = read_graph({"source": np.array([5, 7], dtype=np.uint8), "target": [7, 9]})
    assert data.graph.ids.dtype == np.int64
    assert data.graph.ids.tolist() == [5, 7, 9]


def test_csv_takes_the_type_of_the_others(write):
    nodes = pd.DataFrame({"id": [1, 2, 3], "x": [1.0, 2.0, 4.0]})
    data = read_graph(write("edges.csv", "source,target\n1,2\n2,4\n"), nodes, positives=write("p.csv", "id\n4\n"))
    assert data.graph.ids.dtype == np.int64
    assert data.graph.ids.tolist() == [1, 2, 3, 4]
    assert data.known.nonzero()[0].tolist() == [3]
    data = read_graph(write("edges.csv", "source,target\n1,2\n2,04\n"), nodes)
    assert data.graph.ids.tolist() == ["1", "2", "3", "04"]
    assert "ids are kept as text: not all are integers as in the other tables, such as '04'" in data.notes
    data = read_graph(pd.DataFrame({"source": [1], "target": [2]}), write("nodes.csv", "id\n1\nx\n"))
    assert data.graph.ids.tolist() == ["1", "x", "2"]


def test_csv_alone_is_text(read):
    assert read("source,target\n1,2\n", "id\n1\n2\n3\n").graph.ids.tolist() == ["1", "2", "3"]


def test_types_that_disagree_become_text():
    data = read_graph({"source": [1, 2], "target": [2, 3]}, {"id": ["1", "2", "3"], "x": [1.0, 2.0, 3.0]})
    assert data.graph.ids.tolist() == ["1", "2", "3"]
    assert data.notes[0] == "ids are text in nodes and integers in edges; they are compared, and kept, as text"


def test_whole_numbers_as_floats_are_whole_numbers():
    edges = pd.DataFrame({"source": [1.0, 2.0], "target": [2.0, 3.0]})
    assert read_graph(edges, {"id": [1, 2, 3]}).graph.ids.tolist() == [1, 2, 3]
    assert read_graph(edges).graph.ids.dtype == np.int64
    with pytest.raises(PugnnError, match="edges, row 2: the target is empty"):
        read_graph(pd.DataFrame({"source": [1.0, 2.0], "target": [2.0, None]}))
    with pytest.raises(PugnnError, match="column 'source': id 10000000000000000 is too large to be exact"):
        read_graph(pd.DataFrame({"source": [1e16, 0.5], "target": [2.0, 3.0]}))


def test_types_that_cannot_be_ids():
    with pytest.raises(PugnnError, match=r"edges, column 'source' is of type INTEGER\[\], which cannot be ids"):
        read_graph({"source": [[1], [2]], "target": [1, 2]})


@given(
    st.lists(
        st.text(min_size=1, max_size=12).filter(
            lambda text: text.strip() == text and "\0" not in text and "\ufeff" not in text
        ),
        min_size=3,
        max_size=12,
        unique=True,
    )
)
@settings(deadline=None, max_examples=40)
def test_text_survives(tmp_path_factory, ids):
    folder = tmp_path_factory.mktemp("ids")
    frame = pd.DataFrame(list(pairwise(ids)), columns=["source", "target"])
    nodes = pd.DataFrame({"id": ids[::-1], "x": range(len(ids))})
    frame.to_csv(folder / "edges.csv", index=False, quoting=csv.QUOTE_ALL)
    nodes.to_parquet(folder / "nodes.parquet")
    pd.DataFrame({"id": ids[:1]}).to_json(folder / "p.jsonl", orient="records", lines=True)
    data = read_graph(folder / "edges.csv", folder / "nodes.parquet", positives=folder / "p.jsonl")
    assert data.graph.ids.tolist() == ids[::-1]
    assert data.graph.num_edges == len(ids) - 1
    assert data.known.nonzero()[0].tolist() == [len(ids) - 1]


# ---------------------------------------------------------------------- tables in memory

SOURCES, TARGETS = ["a", "b"], ["b", "c"]


@pytest.mark.parametrize(
    "edges",
    [
        [("a", "b"), ("b", "c")],
        [["a", "b"], ["b", "c"]],
        np.array([["a", "b"], ["b", "c"]]),
        np.array([["a", "b"], ["b", "c"]], dtype=object),
        {"source": SOURCES, "target": TARGETS},
        {"target": np.array(TARGETS), "source": np.array(SOURCES)},
        pd.DataFrame({"source": SOURCES, "target": TARGETS}, index=[7, 3]),
        pd.DataFrame({"source": SOURCES, "target": TARGETS}).astype(object),
        pd.DataFrame({"source": pd.Categorical(SOURCES), "target": pd.Categorical(TARGETS)}),
        pd.DataFrame({"source": SOURCES, "target": TARGETS}).set_index("source"),
        pl.DataFrame({"source": SOURCES, "target": TARGETS}),
        pl.LazyFrame({"source": SOURCES, "target": TARGETS}),
        pa.table({"source": SOURCES, "target": TARGETS}),
        pa.table({"source": pa.array(SOURCES).dictionary_encode(), "target": pa.array(TARGETS, pa.large_string())}),
        pa.record_batch({"source": SOURCES, "target": TARGETS}),
        nx.Graph([("a", "b"), ("b", "c")]),
        nx.MultiDiGraph([("a", "b"), ("b", "c")]),
    ],
    ids=lambda value: type(value).__module__ + "." + type(value).__name__,
)
def test_edges_in_memory(edges):
    data = read_graph(edges, positives=["b"])
    assert neighbours(data.graph) == PATH
    assert data.known.nonzero()[0].tolist() == [1]


@pytest.mark.parametrize(
    "positives",
    [
        ["c", "a"],
        ("c", "a"),
        {"c", "a"},
        np.array(["c", "a"]),
        pd.Series(["c", "a"]),
        pd.Series(["c", "a"], name="account"),
        pl.Series(["c", "a"]),
        pd.DataFrame({"id": ["c", "a"], "why": [1, 2]}),
        pl.DataFrame({"node": ["c", "a"]}),
        {"id": ["c", "a"]},
    ],
    ids=lambda value: type(value).__module__ + "." + type(value).__name__,
)
def test_positives_in_memory(positives):
    assert read_graph([("a", "b"), ("b", "c")], positives=positives).known.nonzero()[0].tolist() == [0, 2]


def test_weights_in_memory():
    triples = [("a", "b", 2), ("b", "c", 0.5)]
    expected = [[0, 2, 0], [2, 0, 0.5], [0, 0.5, 0]]
    graph = nx.Graph()
    graph.add_weighted_edges_from(triples)
    for edges in (triples, graph, pd.DataFrame(triples, columns=["u", "v", "weight"])):
        assert read_graph(edges).graph.to_scipy().toarray().tolist() == expected
    with pytest.raises(PugnnError, match="edges, row 2: weight -1 is not a positive"):
        read_graph([("a", "b", 1), ("b", "c", -1)])


def test_a_networkx_graph_with_attributes():
    graph = nx.Graph([(1, "1x"), ("1x", (2, 3))])
    graph.add_node("alone", age=5.0)
    graph.nodes[1].update(age=1.0, id="not the id")
    data = read_graph(graph, positives=[(2, 3)], kinds={"id (attribute)": "ignore"})
    assert data.graph.ids.tolist() == [1, "1x", (2, 3), "alone"]
    assert neighbours(data.graph)["1x"] == [1, (2, 3)]
    assert data.known.nonzero()[0].tolist() == [2]
    assert "age" in data.graph.feature_names
    with pytest.raises(PugnnError, match="do not give nodes as well"):
        read_graph(graph, {"id": [1]})


def test_ids_that_differ_by_their_type_alone():
    with pytest.raises(PugnnError, match="edges, column 'source': 1 and '1' differ only in type"):
        read_graph([(1, 2), ("1", 3)])


def test_attributes_of_a_data_frame():
    nodes = pd.DataFrame(
        {
            "id": ["a", "b", "c"],
            "vector": [np.array([1.0, 2.0]), np.array([3.0, 4.0]), np.array([5.0, 6.5])],
            "missing": [1.0, None, 3.0],
            3: [True, False, True],
        }
    )
    names = read_graph([("a", "b"), ("b", "c")], nodes).graph.feature_names
    assert {name.split("[")[0].split(" ")[0] for name in names} >= {"vector", "missing", "3"}
    named = nodes.set_index("id")
    assert read_graph([("a", "b"), ("b", "c")], named).graph.feature_names == names


@pytest.mark.parametrize(
    ("edges", "message"),
    [
        (42, "edges cannot be read from int; give a file name"),
        ([1, 2], r"a list of edges holds pairs .* got 1, 2"),
        ([("a", "b"), ("b",)], "a list of edges holds pairs"),
        ([], "a list of edges holds pairs"),
        ({}, "edges has no columns"),
        ({"source": ["a"], "target": ["b", "c"]}, "the columns of edges have different lengths"),
        (pd.DataFrame([[1, 2]], columns=["source", "source"]), "edges has several columns named 'source'"),
        (pd.DataFrame({"source": [], "target": []}), "edges has no rows"),
        (pd.DataFrame({"a": [1], "b": [2]}), "edges has no column 'source'; its columns are 'a', 'b'"),
        (nx.Graph(), "nodes has no rows"),
        (nx.empty_graph(2), "edges has no rows"),
    ],
    ids=str,
)
def test_bad_edges_in_memory(edges, message):
    with pytest.raises(PugnnError, match=message):
        read_graph(edges)


def test_truth_holds_the_known_positives_too(read):
    data = read(positives="id\na\nb\n", truth="id\nb\nc\n")
    assert data.positive.nonzero()[0].tolist() == [0, 1, 2]
    assert data.notes == ("truth.csv: lacks 1 known positive, which count as true positives",)


def test_long_cells_are_shortened_in_messages(read):
    with pytest.raises(PugnnError) as caught:
        read(positives=f"id\n{'x' * 1_000_000}\n")
    assert len(str(caught.value)) < 300


def test_numbers_that_are_missing(tmp_path):
    edges = pa.table({"source": [1.0, float("nan")], "target": [2.0, 3.0]})
    with pytest.raises(PugnnError, match="edges, row 2: the source is empty"):
        read_graph(edges)


# ---------------------------------------------------------------------- ids beside columns of mixed types


@pytest.mark.parametrize(("ids", "edges"), [([1, 2, 3], [(1, 2), (2, 3)]), (["1", "2", "3"], [("1", "2"), ("2", "3")])])
def test_attributes_of_mixed_types_leave_the_ids_alone(ids, edges):
    data = read_graph(edges, {"id": ids, "x": [1, "b", 2.5]})
    assert data.graph.ids.tolist() == ids


def test_a_networkx_graph_with_mixed_ids_and_attributes():
    graph = nx.path_graph(3)
    graph.add_edge((0, 1), "a")
    graph.add_edge("a", 0)
    for node, tag in zip(graph, (1, "b", 2.5, "c", "d"), strict=True):
        graph.nodes[node].update(tag=tag, place=(1.0, float(hash(str(node)) % 7)))
    data = read_graph(graph, kinds={"tag": "ignore"})
    assert data.graph.ids.tolist() == [0, 1, 2, (0, 1), "a"]
    assert data.graph.feature_names == ("place[0]", "place[1]"), "a tuple among the attributes is a vector"


def test_ids_of_several_types_in_the_edges_are_all_text():
    data = read_graph([(1, "a"), (2, 3)])
    assert data.graph.ids.tolist() == ["1", "a", "2", "3"]
    assert data.notes == ("ids are of several types; they are compared, and kept, as text",)


def test_the_same_number_or_day_is_the_same_id_in_every_type():
    one = [decimal.Decimal("1.50"), decimal.Decimal("2.00"), decimal.Decimal("3.00")]
    edges = {
        "source": [decimal.Decimal("1.5"), decimal.Decimal("2.0")],
        "target": [decimal.Decimal("2.0"), decimal.Decimal("3.0")],
    }
    assert read_graph(edges, {"id": one, "x": [1.0, 2.0, 4.0]}).graph.ids.tolist() == one
    assert read_graph([(2, 3)], {"id": one, "x": [1.0, 2.0, 4.0]}).graph.num_nodes == 3
    days = [datetime.date(2024, 1, day) for day in (1, 2)]
    times = {"source": [datetime.datetime(2024, 1, 1)], "target": [datetime.datetime(2024, 1, 2)]}
    assert read_graph(times, {"id": days, "x": [1.0, 2.0]}).graph.num_nodes == 2


def test_tables_without_an_id_in_common_are_refused():
    with pytest.raises(PugnnError, match=r"no id in common: '1a', '2a' in the former, '1', '2' in the latter"):
        read_graph([("1a", "2a")], {"id": ["1", "2"], "x": [1.0, 2.0]})


def test_columns_as_people_hold_them():
    edges = [(0, 1), (1, 2)]
    frame = pd.DataFrame({"id": [0, 1, 2], "x": [1.0, 2.0, 4.0]}).set_index("id", drop=False)
    assert read_graph(edges, frame).graph.num_features == 1
    assert np.array_equal(read_graph(edges, {"id": [0, 1, 2], "v": 2 * np.eye(3)}).graph.features, 2 * np.eye(3))
    with pytest.raises(PugnnError, match=r"edges, column 'source' must be a list or an array.* got 5"):
        read_graph({"source": 5, "target": 6})


# ---------------------------------------------------------------------- what nobody means


def test_a_header_in_the_middle_is_left_out_and_rows_keep_their_numbers(write):
    joined = EDGES + EDGES.replace("b,c", "b,d")
    data = read_graph(write("e.csv", joined), write("n.csv", "id,x\na,1\nid,x\nb,2\nc,5\nd,7\n"))
    assert data.graph.ids.tolist() == ["a", "b", "c", "d"]
    assert data.graph.feature_names == ("x",)
    assert sum("1 repeated header skipped" in note for note in data.notes) == 2
    with pytest.raises(PugnnError, match=r"e\.csv, row 7: the target is empty"):
        read_graph(write("e.csv", joined + "a,\n"))


def test_ids_that_are_called_like_the_columns(write):
    data = read_graph(write("e.csv", "source,target\nsource,a\na,target\n"))
    assert data.graph.ids.tolist() == ["source", "a", "target"]
    assert any("though 'source' is also a cell below it" in note for note in data.notes)


@pytest.mark.parametrize("name", ["Unnamed: 0", "", "__index_level_0__"])
def test_row_numbers_of_pandas_are_no_attribute(write, name):
    data = read_graph(write("e.csv", EDGES), write("n.csv", f"{name},id,x\n5,a,1\n7,b,2\n9,c,4\n"))
    assert data.graph.feature_names == ("x",)
    assert any("row numbers written by pandas" in note for note in data.notes)


def test_columns_that_differ_in_case_alone(tmp_path, write):
    path = tmp_path / "e.parquet"
    pd.DataFrame({"source": ["a", "b"], "Target": ["x", "y"], "target": ["b", "c"]}).to_parquet(path)
    with pytest.raises(PugnnError, match="any of the columns 'Target', 'target' may be the target"):
        read_graph(path)
    assert read_graph(path, target="target").graph.ids.tolist() == ["a", "b", "c"]
    assert read_graph(path, target="Target").graph.ids.tolist() == ["a", "x", "b", "y"]
    with pytest.raises(PugnnError, match=r"the columns 'Target' and 'target' differ only in upper and lower case"):
        read_graph(write("e.jsonl", '{"source": "a", "Target": "x", "target": "b"}\n'), target="target")


@pytest.mark.parametrize(
    ("edges", "message"),
    [
        (np.ones((2, 4)), r"two columns.*shape \(2, 4\)"),
        (np.ones((2, 2, 2)), r"shape \(2, 2, 2\)"),
        ({"source": np.array([1j, 2]), "target": [1, 2]}, "complex"),
        ({"source": np.ma.array([1, 2], mask=[0, 1]), "target": [2, 3]}, "row 2: the source is empty"),
    ],
)
def test_arrays_of_another_form(edges, message):
    with pytest.raises(PugnnError, match=message):
        read_graph(edges)


def test_nodes_are_no_matrix():
    with pytest.raises(PugnnError, match=r"nodes as an array must be a list of ids.*shape \(2, 5\)"):
        read_graph([(1, 2)], np.ones((2, 5)))


@pytest.mark.parametrize("weight", ["1_000", "+-5", "inf", "0x10", "true"])
def test_weights_that_are_no_numbers(write, weight):
    with pytest.raises(PugnnError, match=rf"e\.csv, row 2: weight '{re.escape(weight)}' is not a positive"):
        read_graph(write("e.csv", f"source,target,weight\na,b,{weight}\nb,c,1\n"))


def test_a_process_that_is_killed_while_reading_leaves_nothing(tmp_path, monkeypatch):
    (tmp_path / "tmp").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "tmp"))
    (tmp_path / "e.csv").write_bytes(EDGES.encode("utf-16"))  # needs a copy
    left = []
    read_graph(tmp_path / "e.csv", on_phase=lambda _: left.append(os.listdir(tmp_path / "tmp")))
    assert left
    assert not any(left)


def test_a_model_meets_tables_that_lack_columns_of_every_kind(write):
    nodes = "id,x,colour,about,when\n" + "".join(
        f"n{i},{i},{'red' if i % 2 else 'blue'},some words {i},2024-01-{i + 1:02}\n" for i in range(9)
    )
    edges = write("e.csv", "source,target\n" + "".join(f"n{i},n{i + 1}\n" for i in range(8)))
    long = write("long.csv", "id,word\nn0,tea\nn1,rye\n")
    first = read_graph(edges, write("n.csv", nodes), attributes=long)
    kept = {"x", "tea", "rye"}
    bare = read_graph(edges, write("n2.csv", "id,x\n" + "".join(f"n{i},{i}\n" for i in range(9))), recipe=first.recipe)
    alone = read_graph(edges, attributes=long, recipe=first.recipe)
    for data in (bare, alone):
        assert data.graph.feature_names == first.graph.feature_names
    there = [at for at, name in enumerate(first.graph.feature_names) if name in kept]
    assert len(there) == 3
    with pytest.raises(PugnnError, match="'colour' is a number and cannot be read as category"):
        read_graph(edges, attributes=write("l2.csv", "id,word\nn0,colour\n"), recipe=first.recipe)


def test_the_cell_that_is_no_number_is_the_one_that_is_named(write):
    nodes = write("n.csv", "id,x\na,0\nb,1\nc,yes\n")
    with pytest.raises(PugnnError, match=r"n\.csv, row 4, column 'x': 'yes' is not a number"):
        read_graph(write("e.csv", EDGES), nodes, kinds={"x": "number"})


def test_a_column_without_a_name_may_be_an_attribute(write):
    data = read_graph(write("e.csv", EDGES), write("n.csv", "id,,x\na,red,1\nb,red,2\nc,blue,4\n"))
    assert "row numbers" not in " ".join(data.notes)
