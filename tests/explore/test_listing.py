"""The list against plain loops."""

import numpy as np
import pytest

from pugnn.errors import PugnnError
from pugnn.explore.listing import KEPT, Listing, Wanted
from rooms import opened


@pytest.fixture
def listing(room):
    for node, verdict in zip(room.run.others[3:9].tolist(), ("yes", "no", "skip") * 2, strict=True):
        room.decide(node, verdict, None, "list")
    return Listing(room)


def rows(room, nodes):
    return room.rows(np.asarray(nodes))


def test_every_node_is_there_once_in_every_order(room, listing):
    for sort in ("score", "id", "hops", "status", "name", "city"):
        for descending in (False, True):
            found = listing.nodes(Wanted(sort=sort, descending=descending)).tolist()
            assert sorted(found) == list(range(room.graph.num_targets))


def test_orders(room, listing):
    assert listing.nodes(Wanted()).tolist() == room.run.order.tolist()
    by_hops = [row["hops"] for row in rows(room, listing.nodes(Wanted(sort="hops", descending=False)))]
    assert by_hops == sorted(by_hops, key=lambda hops: 99 if hops is None else hops)
    by_city = [row["cells"][1] for row in rows(room, listing.nodes(Wanted(sort="city", descending=True)))]
    assert by_city == sorted(by_city, key=int, reverse=True)  # numbers by their size
    by_id = [row["id"] for row in rows(room, listing.nodes(Wanted(sort="id", descending=False)))]
    assert by_id == sorted(by_id)


@pytest.mark.parametrize(
    ("wanted", "belongs"),
    [
        (Wanted(text="N1"), lambda row: "n1" in row["id"] or "n1" in "".join(row["cells"]).lower()),
        (Wanted(text="name 3"), lambda row: row["cells"][0] == "Name 3"),
        (Wanted(text="nothing like it"), lambda _: False),
        (Wanted(statuses=frozenset({"confirmed", "skipped"})), lambda row: row["status"] in ("confirmed", "skipped")),
        (Wanted(decided=True), lambda row: row["decided"]),
        (Wanted(decided=False, known=0), lambda row: not row["decided"] and not row["known"]),
        (Wanted(known=1), lambda row: row["known"] == 1),
        (Wanted(hops=1), lambda row: row["hops"] == 1),
        (Wanted(hops=-1), lambda row: row["hops"] is None),
        (Wanted(least=0.3, most=0.7), lambda row: 0.3 <= row["score"] <= 0.7),
    ],
)
def test_filters(room, listing, wanted, belongs):
    expected = [row["node"] for row in rows(room, room.run.order) if belongs(row)]
    assert listing.nodes(wanted).tolist() == expected


def test_known_negatives_are_no_positives(room, listing):
    room.run.known[20] = -1
    assert listing.nodes(Wanted(known=-1)).tolist() == [20]
    assert 20 not in listing.nodes(Wanted(known=1))
    assert 20 not in listing.nodes(Wanted(known=0))


def test_relations(relations_run):
    room = opened(relations_run)
    for name, relation in room.graph.relations.items():
        linked = [node for node in room.run.order.tolist() if relation.indptr[node] < relation.indptr[node + 1]]
        assert Listing(room).nodes(Wanted(relation=name)).tolist() == linked
    with pytest.raises(PugnnError, match="no relation"):
        Listing(room).nodes(Wanted(relation="owes"))


def test_places(room, listing):
    wanted = Wanted(sort="id", descending=False, statuses=frozenset({"open"}))
    for place, node in enumerate(listing.nodes(wanted).tolist()):
        assert listing.place(node, wanted) == place
    assert listing.place(int(room.run.others[3]), wanted) is None


def test_a_new_decision_changes_lists_by_status(room, listing):
    wanted = Wanted(statuses=frozenset({"rejected"}))
    before, node = len(listing.nodes(wanted)), int(room.run.others[20])
    room.decide(node, "no", None, "list")
    assert len(listing.nodes(wanted)) == before + 1
    assert node in listing.nodes(wanted)


def test_few_lists_are_kept(listing):
    for least in np.linspace(0, 1, 3 * KEPT):
        listing.nodes(Wanted(least=float(least)))
        listing.nodes(Wanted(text=str(least)))
    assert len(listing._lists) == len(listing._found) == KEPT


def test_unknown_columns(listing):
    with pytest.raises(PugnnError, match="score, id, hops, status, name, city"):
        listing.nodes(Wanted(sort="__class__"))
