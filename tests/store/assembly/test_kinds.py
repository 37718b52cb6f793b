import networkx as nx
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from pugnn import PUNodeClassifier, build_store, open_store, read_graph
from pugnn.errors import PugnnError
from pugnn.graph import Graph
from pugnn.store import read_manifest, read_store
from pugnn.task import PUTask, resolve_positives
from store.assembly.typed_tables import (
    EDGES,
    IDS,
    ITEMS,
    KNOWS,
    NODES,
    ORDERS,
    SOLD,
    USERS,
    assert_rows,
    bought,
    knows,
    sold,
)


def dense(features):
    return features if isinstance(features, np.ndarray) else features.toarray()


def assert_same(one: Graph, other: Graph) -> None:
    assert one.ids.tolist() == other.ids.tolist()
    assert dict(one.kinds) == dict(other.kinds)
    assert list(one.relations) == list(other.relations)
    assert one.recipe == other.recipe
    assert one.feature_names == other.feature_names
    np.testing.assert_array_equal(dense(one.features), dense(other.features))
    for mine, theirs in [(one, other), *((one.relations[name], other.relations[name]) for name in one.relations)]:
        for part in ("indptr", "indices", "weights"):
            np.testing.assert_array_equal(getattr(mine, part), getattr(theirs, part))
    for name, relation in one.relations.items():
        assert (relation.ends, relation.reverse) == (other.relations[name].ends, other.relations[name].reverse)


def test_relations_and_kinds_are_those_of_plain_loops():
    data = read_graph(EDGES, NODES, target="user")
    graph = data.graph
    assert graph.ids.tolist() == IDS
    assert graph.kinds == {"user": 4, "item": 3, "shop": 1}
    assert graph.num_targets == 4
    assert list(graph.relations) == ["bought", "knows", "sold"]
    assert graph.relations["bought"].ends == ("user", "item")
    for name, expected in (
        ("bought", bought()),
        ("knows", [dict.fromkeys(row, 1) for row in knows()]),
        ("sold", sold()),
    ):
        assert_rows(graph.relations[name], expected)
    together = [
        {**one, **dict.fromkeys(two, 1), **three} for one, two, three in zip(bought(), knows(), sold(), strict=True)
    ]
    assert_rows(graph, [dict(sorted(row.items())) for row in together])
    assert "ids are text: those of user as they are, others as item:ID, shop:ID" in data.notes


def test_every_kind_has_columns_of_its_own():
    graph = read_graph(EDGES, NODES, target="user").graph
    assert graph.feature_names == ("age", "no row", "user", "item.price", "item.no row", "item")
    x = dense(graph.features)
    ages = (np.array([30, 50, 80]) - 160 / 3) / np.std([30, 50, 80])
    np.testing.assert_allclose(x[:3, 0], ages, rtol=1e-5)
    np.testing.assert_array_equal(x[:, 1], [0, 0, 0, 1, 0, 0, 0, 0])
    np.testing.assert_array_equal(x[:, 2], [1, 1, 1, 1, 0, 0, 0, 0])
    np.testing.assert_allclose(x[:, 3], [0, 0, 0, 0, -1, 1, 0, 0])
    np.testing.assert_array_equal(x[:, 5], [0, 0, 0, 0, 1, 1, 1, 0])
    assert not x[7].any()


def test_kinds_of_columns_and_sparse_attributes_of_other_kinds():
    words = {"id": ["i2", "u1"], "attribute": ["red", "blue"]}
    options = {"target": "user", "kinds": {"item.price": "category", "age": "ignore"}, "attributes": {"item": words}}
    data = read_graph(EDGES, NODES, **options)
    assert "age" not in data.graph.feature_names
    assert "item.red" in data.graph.feature_names
    assert "item.price" not in data.graph.feature_names
    with pytest.raises(PugnnError, match="no column 'prize'"):
        read_graph(EDGES, NODES, target="user", kinds={"item.prize": "number"})
    with pytest.raises(PugnnError, match="nodes of the kind shop has no column 'size'"):
        read_graph(EDGES, NODES, target="user", kinds={"shop.size": "number"})


def test_without_any_attributes_features_come_from_the_structure():
    data = read_graph(EDGES, {"user": USERS[["id"]]}, target="user")
    assert data.recipe.structure is not None
    assert data.graph.num_features == 32
    again = read_graph(EDGES, {"user": USERS[["id"]]}, target="user", recipe=data.graph.recipe)
    assert_same(data.graph, again.graph)


@pytest.mark.parametrize("directed", [False, True])
def test_files_frames_and_stores_agree(tmp_path, directed):
    files = {}
    for name, frame in {"bought": ORDERS, "knows": KNOWS, "sold": SOLD, "users": USERS, "items": ITEMS}.items():
        files[name] = str(tmp_path / f"{name}.csv")
        frame.to_csv(files[name], index=False)
    edges = {"user:bought:item": files["bought"], "user:knows:user": files["knows"], "item:sold:shop": files["sold"]}
    nodes = {"user": files["users"], "item": files["items"]}
    from_files = read_graph(edges, nodes, target="user", directed=directed)
    assert_same(from_files.graph, read_graph(EDGES, NODES, target="user", directed=directed).graph)
    build_store(tmp_path / "store", edges, nodes, target="user", directed=directed)
    stored = open_store(tmp_path / "store", verified=True)
    assert_same(stored, from_files.graph)
    other = from_files.graph.digests
    assert {name for name, digest in stored.digests.items() if digest != other[name]} == {"ids or order of nodes"}
    assert read_store(tmp_path / "store", positives=["u1"]).task.unlabelled.tolist() == [0, 2, 3]
    manifest = read_manifest(tmp_path / "store")
    assert manifest.kinds == [["user", 4], ["item", 3], ["shop", 1]]
    assert len(manifest.built_from) == 5
    if directed:
        assert_rows(stored.relations["knows out"], [dict.fromkeys(row, 1) for row in knows(out=True)])
        assert_rows(stored.relations["knows in"], [dict.fromkeys(row, 1) for row in knows(out=False)])
        assert "the direction of relations between two kinds of nodes is given by the kinds" in " ".join(
            from_files.notes
        )


def test_hetero_data_is_the_same_graph():
    torch = pytest.importorskip("torch")
    hetero = pytest.importorskip("torch_geometric.data").HeteroData()
    rng = np.random.default_rng(0)
    x = (rng.random((6, 25)) < 0.3).astype(np.float32)
    pairs = rng.integers(0, (6, 4), (15, 2))
    hetero["author"].x, hetero["author"].y = torch.from_numpy(x), torch.arange(6) % 2
    hetero["paper"].num_nodes = 4
    hetero["author", "to", "paper"].edge_index = torch.from_numpy(pairs.T.copy())
    hetero["paper", "to", "author"].edge_index = torch.from_numpy(pairs[::-1, ::-1].T.copy())
    hetero["author", "knows", "author"].edge_index = torch.tensor([[0, 1], [1, 2]])
    found = read_graph(hetero)
    edges = {
        "author:to:paper": pairs,
        "author:knows:author": [(0, 1), (1, 2)],
    }
    nodes = {"author": list(range(6)), "paper": list(range(4))}
    tables = read_graph(edges, nodes, attributes=sp.csr_array(x), target="author")
    assert "is left out: it has the edges of 'author:to:paper', the other way round" in " ".join(found.notes)
    assert list(found.graph.relations) == ["author:to:paper", "knows"]
    for mine, theirs in zip(found.graph.relations.values(), tables.graph.relations.values(), strict=True):
        np.testing.assert_array_equal(mine.indices, theirs.indices)
    np.testing.assert_array_equal(dense(found.graph.features), dense(tables.graph.features))
    assert found.graph.ids.tolist() == tables.graph.ids.tolist()
    scores = PUNodeClassifier(progress=False).fit(hetero, [0, 2]).predict_proba()
    assert scores.shape == (6, 2)
    del hetero["author"].y
    with pytest.raises(PugnnError, match="Say which of them is looked for"):
        read_graph(hetero)


def test_only_targets_are_known_unlabelled_and_scored():
    data = read_graph(EDGES, NODES, target="user", positives=["u1", "u9"], truth=["u1", "u9", "u3"], show=["age"])
    assert data.task.labelled.tolist() == [1, 3]
    assert data.task.unlabelled.tolist() == [0, 2]
    assert data.positive.tolist() == [True, True, False, True]
    assert len(data.shown["age"]) == 4
    assert resolve_positives(data.graph, [True, False, False, False]).tolist() == [0]
    with pytest.raises(PugnnError, match="'item:i2' is of the kind 'item'"):
        PUTask.from_positives(data.graph, np.array([4]))
    with pytest.raises(PugnnError, match="'item:i2' is of the kind 'item'"):
        resolve_positives(data.graph, ["item:i2"])
    with pytest.raises(
        PugnnError, match="row 1: 'i2' is not a node of the kind that is looked for, but one of the kind 'item'"
    ):
        read_graph(EDGES, NODES, target="user", positives=["i2"])


def test_a_model_has_the_order_of_its_own_relations_and_kinds():
    data = read_graph(EDGES, NODES, target="user")
    turned = dict(reversed(list(EDGES.items())))
    assert_same(data.graph, read_graph(turned, NODES, target="user", recipe=data.recipe).graph)
    less = {name: table for name, table in EDGES.items() if name != "item:sold:shop"}
    with pytest.raises(PugnnError, match="'sold' is only in one of them"):
        read_graph(less, NODES, target="user", recipe=data.recipe)
    with pytest.raises(
        PugnnError, match="the model was trained with the relations 'bought', 'knows', 'sold', but this"
    ):
        read_graph(KNOWS, recipe=data.recipe)


def test_networkx_multigraphs_name_relations_by_their_keys():
    graph = nx.MultiDiGraph()
    graph.add_edges_from([("a", "b", "pays"), ("b", "c", "pays"), ("a", "c", "device")])
    found = read_graph(graph, directed=True).graph
    frames = {
        name: pd.DataFrame([e[:2] for e in graph.edges(keys=True) if e[2] == name], columns=["source", "target"])
        for name in ("device", "pays")
    }
    assert_same(found, read_graph(frames, ["a", "b", "c"], directed=True).graph)
    for *_, attributes in graph.edges(data=True):
        attributes["what"] = "one"
    assert not read_graph(graph, edge_type="what").graph.relations
    plain = nx.MultiGraph([(1, 2), (2, 3)])  # its keys are numbers
    assert not read_graph(plain).graph.relations


def test_one_kind_by_name_is_no_kind():
    named = read_graph({"user:knows:user": KNOWS}, {"user": USERS}, target="user").graph
    assert_same(named, read_graph(KNOWS, USERS).graph)
    assert not named.relations
    assert not named.kinds
    assert_same(read_graph({"knows": KNOWS}, USERS).graph, named)


def test_kinds_that_have_most_ids_in_common_may_be_one():
    calls = pd.DataFrame({"source": ["p1", "p2", "p3"], "target": ["p2", "p3", "p4"]})
    works = pd.DataFrame({"person": ["p1", "p2"], "company": ["c1", "c2"]})

    def notes(name, calls=calls):
        return [
            note
            for note in read_graph({name: calls, "person:works:company": works}, target="person").notes
            if "also ids" in note
        ]

    (note,) = notes("person:calls:persn")
    words = "2 of 3 ids of 'persn' are also ids of 'person'; they are different nodes. Is one of the kinds misspelt"
    assert note.startswith(words)
    assert not notes("person:calls:person")
    numbers = pd.DataFrame({"source": [1, 2, 3], "target": [1, 2, 3]})
    assert notes("person:calls:persn", numbers)
    assert not notes("person:bought:item", numbers)  # both are counted from 1
