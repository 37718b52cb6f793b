import networkx as nx
import numpy as np
import pandas as pd
import pytest

from pugnn import build_store, open_store, read_graph
from pugnn.errors import PugnnError
from pugnn.graph import Graph
from pugnn.graph.arrays import dense
from pugnn.store.assembly.input_tables import MAX_RELATIONS, named_table, tables_of
from store.messy import messy_tables, write_tables

PAYS = pd.DataFrame({"source": ["a", "b", "c", "a"], "target": ["b", "c", "a", "b"], "weight": [1.0, 2.0, 3.0, 4.0]})
DEVICE = pd.DataFrame({"source": ["a", "d"], "target": ["d", "b"]})
ACCOUNTS = pd.DataFrame({"id": ["d", "a"], "age": [1.0, 2.0]})

#: The first digits of digests of the messy tables, before there were relations: of integers as ids, and of text.
DIGESTS = {
    True: ["74e97df6792c", "b934c7208cc4", "902283a92c96", "e045e1b6e9fa"],
    False: ["74e97df6792c", "b934c7208cc4", "6bb2d837829b", "e045e1b6e9fa"],
}


def assert_same_relations(one: Graph, other: Graph) -> None:
    assert list(one.relations) == list(other.relations)
    for mine, theirs in [(one, other), *((one.relations[name], other.relations[name]) for name in one.relations)]:
        for part in ("indptr", "indices", "weights"):
            np.testing.assert_array_equal(getattr(mine, part), getattr(theirs, part))


@pytest.mark.parametrize("integers", [True, False])
def test_one_relation_is_what_it_was(tmp_path, integers):
    names = write_tables(tmp_path, messy_tables(integers=integers, weighted=True))
    for edges in (names["edges"], {"pays": names["edges"]}):
        graph = read_graph(edges, names["nodes"]).graph
        assert not graph.relations
        assert [digest[:12] for digest in graph.digests.values()] == DIGESTS[integers]
    build_store(tmp_path / "store", **names)
    assert not any(path.name.startswith("relation") for path in (tmp_path / "store").iterdir())
    assert '"relations"' not in (tmp_path / "store" / "store.json").read_text()


def test_several_tables_are_relations():
    graph = read_graph({"pays": PAYS, "device": DEVICE}, ACCOUNTS).graph
    assert graph.ids.tolist() == ["d", "a", "b", "c"]
    expected = {"pays": {(1, 2): 5, (2, 3): 2, (1, 3): 3}, "device": {(0, 1): 1, (0, 2): 1}}
    total = np.zeros((4, 4), np.float32)
    for name, relation in graph.relations.items():
        matrix = np.zeros((4, 4), np.float32)
        for (u, v), weight in expected[name].items():
            matrix[u, v] = matrix[v, u] = weight
        alone = Graph(relation.indptr, relation.indices, graph.features, graph.ids, relation.weights)
        np.testing.assert_array_equal(alone.to_scipy().toarray(), matrix)
        total += matrix
    np.testing.assert_array_equal(graph.to_scipy().toarray(), total)


def test_a_column_names_relations_and_rows_stay_right(tmp_path):
    links = pd.concat([PAYS.assign(kind="pays"), DEVICE.assign(kind=" device ", weight=1.0)], ignore_index=True)
    mixed = links.sample(frac=1, random_state=0)
    tables = {"device": DEVICE.assign(weight=1.0), "pays": PAYS}
    nodes = ["a", "b", "c", "d"]
    expected = read_graph(tables, nodes).graph
    assert_same_relations(read_graph(mixed, nodes, edge_type="kind").graph, expected)
    mixed.to_csv(tmp_path / "links.csv", index=False)
    build_store(tmp_path / "store", tmp_path / "links.csv", nodes, edge_type="Kind")
    assert_same_relations(open_store(tmp_path / "store"), expected)
    links.loc[3, "kind"] = None
    with pytest.raises(PugnnError, match="edges, row 4: the relation is empty"):
        read_graph(links, edge_type="kind")


def test_direction_makes_two_relations(tmp_path):
    PAYS.to_csv(tmp_path / "pays.csv", index=False)
    graph = read_graph(tmp_path / "pays.csv", directed=True).graph
    assert list(graph.relations) == ["pays out", "pays in"]
    out, back = graph.relations.values()
    assert (out.reverse, back.reverse) == ("pays in", "pays out")
    assert [out.indices.tolist(), out.weights.tolist()] == [[1, 2, 0], [5, 2, 3]]
    assert [back.indices.tolist(), back.weights.tolist()] == [[2, 0, 1], [3, 5, 2]]
    undirected = read_graph(tmp_path / "pays.csv").graph
    for part in ("indptr", "indices", "weights"):
        np.testing.assert_array_equal(getattr(graph, part), getattr(undirected, part))
    build_store(tmp_path / "store", {"pays": tmp_path / "pays.csv", "device": DEVICE}, directed=True)
    both = read_graph({"pays": PAYS, "device": DEVICE}, directed=True).graph
    assert_same_relations(open_store(tmp_path / "store"), both)


def test_names_of_columns_are_for_the_tables_that_have_them():
    pays = PAYS.rename(columns={"source": "payer", "weight": "amount"})
    graph = read_graph({"pays": pays, "device": DEVICE}, source="payer", weight="amount").graph
    assert_same_relations(graph, read_graph({"pays": PAYS, "device": DEVICE}).graph)
    with pytest.raises(PugnnError, match=r"has no column 'payee' \(--target\)"):
        read_graph({"pays": PAYS, "device": DEVICE}, target="payee")


def test_a_mapping_of_columns_is_a_table():
    columns = {"source": ["a", "b"], "target": ["b", "c"]}
    assert not read_graph(columns).graph.relations
    assert list(read_graph({"x": columns, "y": [("a", "c")]}).graph.relations) == ["x", "y"]


def test_names_before_files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a=b.csv").write_text("source,target\n1,2\n")
    assert named_table("a=b.csv") == ("", "a=b.csv")
    assert named_table("x=a=b.csv") == ("x", "a=b.csv")
    assert named_table("sqlite:///bank.db?select a, b from pays where x=1")[0] == ""
    assert tables_of(["pays=p.csv", "data/devices.csv.gz"], "edges") == {
        "pays": "p.csv",
        "devices": "data/devices.csv.gz",
    }
    assert tables_of("p.csv", "edges") == "p.csv"
    with pytest.raises(PugnnError, match="'p' is given twice"):
        tables_of(["a/p.csv", "b/p.csv"], "edges")


ORDERS = pd.DataFrame({"user": ["u1", "u2"], "item": ["i1", "i2"]})
TYPED = {"user:bought:item": ORDERS}


@pytest.mark.parametrize(
    ("edges", "options", "words"),
    [
        (TYPED, {}, "several kinds: 'user', 'item'. Say which of them is looked for: --target KIND"),
        (TYPED, {"target": "shop"}, "--target shop: there is no such kind of nodes; the edges link 'user', 'item'"),
        (TYPED, {"target": "user", "nodes": {"shop": ["s"]}}, "--nodes shop=…: there is no such kind of nodes"),
        (TYPED, {"target": "user", "nodes": ["u1"]}, "Say of which kind those of --nodes are: --nodes user=FILE"),
        (PAYS, {"nodes": {"user": ACCOUNTS, "item": ACCOUNTS}}, "Name them: --edges user:NAME:item=orders.csv"),
        ({**TYPED, "knows": PAYS}, {"target": "user"}, "'knows' does not say which kinds of nodes it links"),
        ({**TYPED, ("user", "bought", "item"): ORDERS}, {"target": "user"}, "two relations are called"),
        ({"a\x07": PAYS, "b": DEVICE}, {}, "is not printable"),
        ({"a" * 101: PAYS, "b": DEVICE}, {}, "longer than 100 letters"),
        ({"": PAYS, "b": DEVICE}, {}, "a relation has no name"),
        (
            {**TYPED, "knows": PAYS},
            {"target": "user", "nodes": ACCOUNTS},
            "'knows' does not say which kinds of nodes it links, but others do. Name them, as in --edges user:knows:",
        ),
        ({"user:knows": PAYS, "b": DEVICE}, {"target": "user"}, "or KIND:NAME:KIND, such as user:bought:item; got"),
        ({":bought:item": ORDERS}, {"target": "item"}, "such as user:bought:item; got ':bought:item'"),
        (PAYS, {"target": "user"}, "If that is a kind of nodes, name it: --edges user:RELATION:user=FILE"),
        ({"a": ORDERS, "b": DEVICE}, {}, "Where ends are of two kinds, name these: --edges account:"),
        (nx.Graph([(1, 2)]), {"edge_type": "kind"}, "no edge of the NetworkX graph has the attribute 'kind'"),
        ({("a", "b"): PAYS, "c": DEVICE}, {}, "a relation is a name, or KIND:NAME:KIND"),
        ({"a": PAYS, "b": DEVICE}, {"edge_type": "kind"}, "Give one of both"),
        (PAYS, {"edge_type": "kind"}, "edges has no column 'kind' (--edge-type)"),
        (
            {"user:bought:item": PAYS.rename(columns={"target": "x"})},
            {"target": "user"},
            "no column for the target of its edges, of the kind 'item'; its columns are 'source', 'x', 'weight'. Give "
            "it one of the names 'item', 'item_id', 'target', 'dst', 'to', 'v', 'target_id', 'to_id': rename it, or "
            "select it as item in SQL",
        ),
        (
            {"user:knows:user": PAYS.rename(columns={"source": "x"}), "user:bought:item": DEVICE},
            {"target": "user"},
            "no column for the source of its edges, of the kind 'user'; its columns are 'x', 'target', 'weight'. Give "
            "it one of the names 'source', 'src', 'from', 'u', 'source_id', 'from_id': rename it, or select it as "
            "source in SQL",
        ),
        (PAYS, {"directed": 1}, "directed must be True or False"),
        ({str(at): DEVICE for at in range(MAX_RELATIONS + 1)}, {}, "65 relations or more, and at most 64"),
    ],
)
def test_bad_input(edges, options, words):
    with pytest.raises(PugnnError) as caught:
        read_graph(edges, **options)
    assert words in str(caught.value)


def test_a_million_relations():
    rows = np.arange(1000)
    edges = pd.DataFrame({"source": rows, "target": rows + 1, "amount": rows})
    with pytest.raises(PugnnError, match="Leave out --edge-type to read all edges as one, or group its values"):
        read_graph(edges, edge_type="amount")


def test_an_id_that_reads_like_a_node_of_another_kind():
    orders = pd.DataFrame({"user": ["item:i1", "u2"], "item": ["i1", "i2"]})
    with pytest.raises(PugnnError, match="'item:i1' is the id of a node of the kind 'user', but also how nodes"):
        read_graph({"user:bought:item": orders}, target="user")


def test_a_relation_of_self_loops_alone():
    loops = pd.DataFrame({"source": ["a"], "target": ["a"]})
    data = read_graph({"pays": PAYS, "self": loops})
    assert "the relation 'self' has only self loops" in " ".join(data.notes)
    assert data.graph.relations["self"].num_edges == 0
    with pytest.raises(PugnnError, match="contains only self loops"):
        read_graph({"one": loops, "self": loops})


def test_attributes_of_networkx_edges_are_columns_as_in_a_table():
    rows = [("a", "b", 3.0, "2026-01-01"), ("b", "c", None, "2026-01-02"), ("a", "c", 5.5, "2026-01-03")]
    names = ("source", "target", "duration", "started")
    table = dict(zip(names, zip(*rows, strict=True), strict=True))
    given = nx.DiGraph()
    for source, target, *values in rows:
        there = {name: value for name, value in zip(names[2:], values, strict=True) if value is not None}
        given.add_edge(source, target, **there)
    same, graph = read_graph(table, directed=True), read_graph(given, directed=True)
    assert graph.graph.feature_names == same.graph.feature_names
    np.testing.assert_array_equal(dense(graph.graph.features), dense(same.graph.features))
    assert read_graph(given, time="started", as_of="2026-01-02").graph.num_edges == 2
    given["b"]["c"]["duration"] = 1.0
    assert read_graph(given, weight="duration").graph.weights.tolist() == [3.0, 5.5, 3.0, 1.0, 5.5, 1.0]


def test_attributes_of_networkx_edges_that_are_called_like_their_ends():
    data = read_graph(nx.Graph([("a", "b", {"From": 1.5}), ("b", "c", {"From": 2.5})]))
    assert data.graph.ids.tolist() == ["a", "b", "c"]
    assert any("From (attribute)" in name for name in data.graph.feature_names)


def test_relations_show_what_they_are_and_which_there_are():
    graph = read_graph({"pays": PAYS, "device": DEVICE}, directed=True).graph
    assert repr(graph.relations["pays out"]) == "Relation(3 edges)"
    with pytest.raises(
        KeyError, match="no relation 'pays'; there are 'pays out', 'pays in', 'device out', 'device in'"
    ):
        graph.relations["pays"]
    kinds = read_graph({"user:owns:company": DEVICE}, target="user").graph
    assert repr(kinds).startswith("Graph(2 nodes of the kind user, 2 nodes of the kind company, 2 edges")


def test_a_list_of_tables_is_answered_in_a_line():
    with pytest.raises(PugnnError, match="a list of tables is no edges; give a mapping of names to them") as error:
        read_graph([PAYS, DEVICE])
    assert "\n" not in str(error.value)
