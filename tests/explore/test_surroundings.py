"""Neighbourhoods, folded hubs and paths against plain loops."""

from types import SimpleNamespace

import networkx as nx
import numpy as np
import pytest

from pugnn.errors import PugnnError
from pugnn.explore import surroundings
from pugnn.explore.surroundings import FIRST, Link, Surroundings, links_of
from pugnn.graph.relations import Relation
from rooms import opened


@pytest.fixture
def around(room):
    return Surroundings(room)


def plain_graph(graph):
    found = nx.Graph()
    found.add_nodes_from(range(graph.num_nodes))
    found.add_edges_from(zip(graph.sources.tolist(), graph.indices.tolist(), strict=True))
    return found


def nodes_of(reply):
    return [node["node"] for node in reply["nodes"]]


def relevant(room, nodes):
    """Known or confirmed positives first, then by score."""
    return sorted(nodes, key=lambda node: (not room.positives[node], -room.log_odds[node]))


@pytest.mark.parametrize("hops", [0, 1, 2])
def test_all_around_a_node_is_drawn_where_it_is_little(room, around, hops):
    plain = plain_graph(room.graph)
    for node in (0, 30, 59):
        reply = around.around([node], hops)
        expected = nx.ego_graph(plain, node, hops)
        if max(dict(plain.degree).values()) <= FIRST:
            assert set(nodes_of(reply)) == set(expected)
            edges = {frozenset((edge["source"], edge["target"])) for edge in reply["edges"]}
            assert edges == set(map(frozenset, plain.subgraph(expected).edges))
            assert not reply["cut"]
        for drawn in reply["nodes"]:
            inside = set(plain[drawn["node"]]) & set(nodes_of(reply))
            assert (drawn["degree"], drawn["shown"]) == (plain.degree[drawn["node"]], len(inside))


def test_the_most_relevant_neighbours_come_first(room, around, monkeypatch):
    monkeypatch.setattr(surroundings, "FIRST", 3)
    room.decide(int(room.run.others[-1]), "yes", None, "graph")
    for node in range(room.graph.num_nodes):
        neighbours = relevant(room, room.graph.neighbours(node).tolist())
        assert nodes_of(around.around([node], 1)) == [node, *neighbours[:3]]


def test_a_hub_is_expanded_step_by_step_to_its_end(room, around):
    hub = int(np.argmax(room.graph.degrees))
    have, neighbours = [hub], room.graph.neighbours(hub).tolist()
    while True:
        reply = around.expand(hub, have, "", "score", 4)
        new = [node for node in nodes_of(reply) if node not in have]
        best = sorted(set(neighbours) - set(have), key=lambda node: -room.log_odds[node])
        assert new == best[:4]
        have += new
        assert reply["left"] == [{"relation": "", "count": len(best) - len(new)}]
        if not new:
            break
    assert sorted(have) == sorted([hub, *neighbours])


def test_expanding_by_relation_and_weight(relations_run):
    room = opened(relations_run)
    around, node = Surroundings(room), 5
    for name, relation in room.graph.relations.items():
        row = relation.indices[relation.indptr[node] : relation.indptr[node + 1]].tolist()
        reply = around.expand(node, [], name, "weight", 100)
        assert set(nodes_of(reply)) == {node, *row}
        for edge in reply["edges"]:
            mine = room.graph.relations[edge["relation"]]
            assert edge["target"] in mine.indices[mine.indptr[edge["source"]] : mine.indptr[edge["source"] + 1]]
        others = {other: len(np.diff(r.indptr)) for other, r in room.graph.relations.items() if other != name}
        assert {each["relation"] for each in reply["left"]} == {name, *others}


def test_the_order_by_weight():
    indptr, indices = np.array([0, 3, 4, 5, 6]), np.array([1, 2, 3, 0, 0, 0], np.int32)
    edges = Relation(indptr, indices, np.array([1.0, 5.0, 2.0, 1.0, 5.0, 2.0], np.float32))
    found, weights = Link("pays", edges).neighbours(0)
    assert found.tolist() == [1, 2, 3]
    assert weights.tolist() == [1.0, 5.0, 2.0]


def test_both_directions_are_one_link():
    out = Relation(np.array([0, 1, 1]), np.array([1], np.int32), reverse="pays in")
    back = Relation(np.array([0, 0, 1]), np.array([0], np.int32), reverse="pays out")

    (link,) = links_of(SimpleNamespace(relations={"pays out": out, "pays in": back}))
    assert link.name == "pays"
    assert link.neighbours(0)[0].tolist() == [1]
    assert link.neighbours(1)[0].tolist() == [0]
    assert link.degrees.tolist() == [1, 1]


def test_limits(room, around, monkeypatch):
    monkeypatch.setattr(surroundings, "MAX_NODES", 7)
    monkeypatch.setattr(surroundings, "MAX_EDGES", 5)
    reply = around.around([0, 1, 2], 3)
    assert len(reply["nodes"]) == 7
    assert len(reply["edges"]) == 5
    assert reply["cut"]
    reply = around.expand(0, [1, 2, 3, 4], "", "known", 100)
    assert len(reply["nodes"]) == 1 + 2
    assert reply["cut"]


def test_paths_lead_to_the_nearest_positives(room, around):
    plain, confirmed = plain_graph(room.graph), int(room.run.others[-1])
    for _ in range(2):
        for node in range(room.graph.num_nodes):
            ends = [
                end for end in np.flatnonzero(room.positives).tolist() if end != node and nx.has_path(plain, node, end)
            ]
            lengths = sorted(nx.shortest_path_length(plain, node, end) for end in ends)
            paths = around.paths(node)
            assert [len(path) - 1 for path in paths] == lengths[: len(paths)]
            assert bool(paths) == bool(ends)
            for path in paths:
                assert path[0] == node
                assert path[-1] in ends
                assert nx.is_path(plain, path)
            assert around.path(node) == (paths[0] if paths else [])
        room.decide(confirmed, "yes", None, "graph")


def test_nodes_that_there_are_not(around):
    for ask in (lambda: around.around([60], 1), lambda: around.expand(60, [], "", "known", 3), lambda: around.path(60)):
        with pytest.raises(PugnnError, match="no node 60"):
            ask()
    with pytest.raises(PugnnError, match="no node 99"):
        around.expand(0, [99], "", "known", 3)
