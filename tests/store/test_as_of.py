"""Tables as they were at a moment."""

import datetime

import numpy as np
import pytest

from pugnn.errors import PugnnError, PugnnWarning
from pugnn.store import build_store, open_store, read_graph

EDGES = "source,target,when\na,b,2026-01-01\nb,c,2026-01-05\nc,d,2026-02-01\nd,e,2026-03-01\n"
POSITIVES = "id,when\nb,2026-01-02\nc,2026-02-01\ne,2026-03-01\n"


@pytest.fixture
def read(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def read(edges=EDGES, *, time="when", **given):
        files = {role: text for role, text in given.items() if role in ("nodes", "positives", "truth", "attributes")}
        for role, text in {"edges": edges, **files}.items():
            (tmp_path / f"{role}.csv").write_text(text)
        given |= {role: f"{role}.csv" for role in files}
        return read_graph("edges.csv", time=time, **given)

    return read


@pytest.mark.parametrize("moment", ["2026-01-31", datetime.date(2026, 1, 31), datetime.datetime(2026, 1, 31, 23)])
def test_later_edges_and_positives_do_not_exist(read, moment):
    data = read(positives=POSITIVES, as_of=moment)
    assert data.graph.ids.tolist() == ["a", "b", "c"]
    assert data.graph.num_edges == 2
    assert data.known.tolist() == [False, True, False]
    assert any(note.startswith("edges.csv: 2 of 4 rows are later than 2026-01-31") for note in data.notes)


def test_a_date_includes_its_day(read):
    edges = "source,target,when\na,b,2026-01-01T09:00\nb,c,2026-01-05T23:59:59\nc,d,2026-01-06T00:00\n"
    data = read(edges, as_of="2026-01-05")
    assert data.graph.num_edges == 2
    assert "edges.csv: 1 of 3 rows is later than 2026-01-05; it does not exist as of then" in data.notes
    assert read(edges, as_of="2026-01-05T10:00").graph.num_edges == 1


def test_rows_of_nodes_have_times_too(read):
    nodes = "id,x,when\nd,1,2026-02-01\na,2,2025-01-01\nb,4,2025-01-01\nc,8,2025-01-01\nz,9,2025-01-01\n"
    data = read(nodes=nodes, as_of="2026-01-31")
    assert data.graph.ids.tolist() == ["a", "b", "c", "z"]
    x = data.graph.features[:, data.graph.feature_names.index("x")]
    np.testing.assert_allclose(np.diff(x) / (x[1] - x[0]), [1, 2, 0.5], rtol=1e-5)


def test_nodes_that_appear_later_are_not_there_yet(read):
    nodes = "id,x\nd,1\na,2\nb,4\nc,8\nz,9\n"
    data = read(nodes=nodes, as_of="2026-01-31")
    assert data.graph.ids.tolist() == ["a", "b", "c", "z"], "z has no edge at any time"
    x = data.graph.features[:, data.graph.feature_names.index("x")]
    np.testing.assert_allclose(np.diff(x) / (x[1] - x[0]), [1, 2, 0.5], rtol=1e-5)
    assert any("nodes.csv: 1 of 5 rows are of nodes whose first edge is later" in note for note in data.notes)


def test_messages_name_the_row_of_the_whole_table(read):
    nodes = "id,x\nd,1\na,2\nb,4\nb,5\n"
    with pytest.raises(PugnnError, match=r"nodes.csv, row 5: id 'b' is already in nodes.csv, row 4"):
        read(nodes=nodes, as_of="2026-01-31")
    edges = "source,target,when,weight\na,b,2026-02-01,1\nb,c,2026-01-01,-1\n"
    with pytest.raises(PugnnError, match=r"edges.csv, row 3: weight '-1'"):
        read(edges, as_of="2026-01-31")


def test_a_table_that_must_be_repaired_is_cut_as_well(read):
    data = read(EDGES + "source,target,when\nc,a,2026-01-09\n", as_of="2026-01-31")
    assert data.graph.num_edges == 3
    assert "edges.csv: 1 repeated header skipped" in data.notes


def test_sparse_attributes_are_cut(read):
    attributes = "id,word,when\na,tax,2026-01-01\nb,tax,2026-03-01\nb,law,2026-01-01\nc,sun,2025-01-01\n"
    data = read(nodes="id\na\nb\nc\n", attributes=attributes, as_of="2026-01-31")
    assert "tax" in data.graph.feature_names
    features = data.graph.features if isinstance(data.graph.features, np.ndarray) else data.graph.features.toarray()
    assert features[1, data.graph.feature_names.index("tax")] == 0


def test_truth_is_not_cut_and_may_name_nodes_of_the_future(read):
    data = read(positives=POSITIVES, truth="id\nb\nc\ne\n", as_of="2026-01-31")
    assert data.positive.tolist() == [False, True, True]
    assert "truth.csv: 1 id of true positives not in the graph as of 2026-01-31; skipped" in data.notes


def test_who_became_known_later(read):
    data = read(positives=POSITIVES, as_of="2026-01-31", then="2026-12-31")
    assert data.known.tolist() == [False, True, False]
    assert data.positive.tolist() == [False, True, True]
    assert (data.later.as_of, data.later.then, data.later.absent) == ("2026-01-31", "2026-12-31", 1)


def test_a_relation_without_times_is_always_there(read):
    edges = {
        "pays": {"source": ["a", "b"], "target": ["b", "c"], "when": ["2026-01-01", "2026-02-01"]},
        "is": [("c", "d")],
    }
    data = read_graph(edges, {"id": list("abcde")}, time="when", as_of="2026-01-31")
    assert data.graph.ids.tolist() == list("abcde")
    assert data.graph.relations["pays"].num_edges == data.graph.relations["is"].num_edges == 1
    assert "edges['is']: has no column 'when'; all of its rows count as there as of 2026-01-31" in data.notes


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"as_of": "2026-01-31", "time": None}, "--as-of needs --time"),
        ({"as_of": "2025-01-31"}, "all rows are later than --as-of 2025-01-31; the first is of 2026-01-01"),
        ({"as_of": "soon"}, "--as-of is a date such as 2026-01-31"),
        ({"time": "paid"}, r"edges.csv has no column 'paid' \(--time\); its columns are 'source', 'target', 'when'"),
        ({"as_of": "2026-01-31T12:00Z", "edges": "source,target,when\na,b,2026-01-01T09:00\n"}, r"--as-of .* has one"),
        ({"as_of": "2026-01-31", "edges": EDGES + "d,f,\n"}, r"row 6: the time \(when\) is empty"),
        ({"as_of": "2026-01-01", "positives": POSITIVES}, "positives.csv: all rows are later than --as-of 2026-01-01"),
        ({"as_of": "2026-01-31", "then": "2026-01-31"}, "--then 2026-01-31 must be later than --as-of 2026-01-31"),
        ({"as_of": "2026-01-31", "then": "2026-12-31", "positives": "id\nb\n"}, "does not say when each positive"),
    ],
)  # fmt: skip
def test_bad_input(read, given, message):
    with pytest.raises(PugnnError, match=message):
        read(**given)


def test_edges_after_the_known_positives_are_warned_of(read):
    positives = "id,when\na,2026-01-02\nb,2026-01-03\n"
    (note,) = (note for note in read(positives=positives).notes if "known by" in note)
    assert note == (
        "known positives were known by 2026-01-03, but 75 % of the edges are later; what happened afterwards may give "
        "them away. Use --as-of 2026-01-03"
    )
    assert not any("known by" in note for note in read(positives=POSITIVES).notes)
    assert not any("known by" in note for note in read(positives=positives, as_of="2026-01-31").notes)


def test_a_store_is_built_as_of(tmp_path):
    edges = {"source": ["a", "b"], "target": ["b", "c"], "when": ["2026-01-01", "2026-02-01"]}
    manifest = build_store(tmp_path / "store", edges, time="when", as_of="2026-01-31")
    assert open_store(tmp_path / "store").num_nodes == 2
    assert any("as of then" in note for note in manifest.notes)


# ---------------------------------------------------------------------- other names in other tables

PAYS = {"source": ["a", "b"], "target": ["b", "c"], "paid_at": ["2026-01-01", "2026-02-01"]}
SEEN = {"source": ["a", "c"], "target": ["c", "d"], "seen_at": ["2026-01-01", "2026-03-01"]}
SEVERAL = {"pays": PAYS, "device": SEEN}
KNOWN = {"id": ["a", "b"], "found": ["2026-01-01", "2026-02-01"]}


@pytest.mark.parametrize(
    "time",
    [
        {"pays": "paid_at", "device": "seen_at", "positives": "found"},
        {"pays": "paid_at", "edges": "seen_at", "": "found"},
        {"": "seen_at", "positives": "found", "pays": "paid_at", "nodes": "opened"},
    ],
)
def test_each_table_has_its_column_of_times(time):
    data = read_graph(SEVERAL, positives=KNOWN, time=time, as_of="2026-01-31")
    assert {name: relation.num_edges for name, relation in data.graph.relations.items()} == {"pays": 1, "device": 1}
    assert data.graph.ids[data.known].tolist() == ["a"]


def test_a_table_without_a_name_for_its_times_is_all_there():
    with pytest.warns(PugnnWarning, match=r"positives.*when each is known, name it: --time positives=COLUMN"):
        data = read_graph(SEVERAL, positives=KNOWN, time={"pays": "paid_at"}, as_of="2026-01-31")
    assert data.graph.relations["device"].num_edges == 2
    assert "edges['device']: has no column of times; all of its rows count as there as of 2026-01-31" in data.notes


def test_kinds_of_nodes_have_their_columns_of_times():
    orders = {"user": ["a", "b"], "item": ["x", "y"], "bought": ["2026-01-01", "2026-01-02"]}
    users = {"id": ["a", "b", "c"], "joined": ["2026-01-01", "2026-01-01", "2026-03-01"]}
    items = {"id": ["x", "y", "z"], "listed": ["2026-01-01", "2026-01-01", "2026-03-01"]}
    data = read_graph(
        {"user:bought:item": orders},
        {"user": users, "item": items},
        target="user",
        time={"bought": "bought", "user": "joined", "item": "listed"},
        as_of="2026-01-31",
    )
    assert data.graph.kinds == {"user": 2, "item": 2}


@pytest.mark.parametrize(
    ("time", "message"),
    [
        ({"paays": "paid_at"}, r"--time 'paays'=…: there is no such table; name one of 'pays', 'device', 'edges', 'n"),
        (
            {"pays": "seen_at"},
            r"edges\['pays'\] has no column 'seen_at' \(--time pays=…\); its columns are 'source', 't",
        ),
        (
            {"positives": "found"},
            r"edges\['pays'\] has no times; name their column, --time pays=COLUMN; its columns are",
        ),
        ({"pays": "paid_at", "": "when"}, r"edges\['device'\] has no column 'when' \(--time\)"),
        ({"pays": 3}, "time maps names of tables to columns, both text; got 'pays': 3"),
        (["paid_at"], "time must be the name of a column, or a mapping of tables to columns"),
    ],
)
def test_wrong_names_of_tables_and_columns(time, message):
    with pytest.raises(PugnnError, match=message):
        read_graph(SEVERAL, positives=KNOWN, time=time)


# ---------------------------------------------------------------------- numbers

STEPS = "source,target,step\na,b,1\nb,c,34\nc,d,35\nd,e,49\n"


def test_times_may_be_numbers(read):
    positives = "id,step\nb,1\nc,40\ne,49\n"
    data = read(STEPS, positives=positives, time="step", as_of=34, then="40")
    assert data.graph.ids.tolist() == ["a", "b", "c"]
    assert (data.known.tolist(), data.positive.tolist()) == ([False, True, False], [False, True, True])
    assert (data.later.as_of, data.later.then) == ("34", "40")
    assert any("edges.csv: 2 of 4 rows are later than 34" in note for note in data.notes)
    (note,) = (note for note in read(STEPS, positives="id,step\nb,1\n", time="step").notes if "known by" in note)
    assert "known positives were known by 1, but 75 % of the edges are later" in note


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            {"as_of": "2026-01-31"},
            "in the column 'step' are whole numbers, but --as-of 2026-01-31 is not. All must be dates such",
        ),
        ({"as_of": 34, "then": "2026-01-31"}, "in the column 'step' are whole numbers, but --then 2026-01-31 is not"),
        ({"positives": "id,step\nb,2026-01-02\n"}, "'step' are whole numbers, but that of positives.csv is not"),
        ({"as_of": 34, "then": 34}, "--then 34 must be later than --as-of 34"),
        ({"as_of": 0}, "all rows are later than --as-of 0; the first is of 1"),
        ({"edges": EDGES, "time": "when", "as_of": 34}, "in the column 'when' are dates, but --as-of 34 is not"),
    ],
)
def test_numbers_and_dates_are_not_mixed(read, given, message):
    with pytest.raises(PugnnError, match=message):
        read(**{"edges": STEPS, "time": "step", **given})
