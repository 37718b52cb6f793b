"""Columns of edges that describe the nodes at their ends."""

import numpy as np
import pytest

from pugnn.errors import PugnnError
from pugnn.features import Recipe
from pugnn.store import build_store, open_store, read_graph

ENDS = [("a", "b"), ("a", "c"), ("b", "c"), ("c", "a"), ("d", "d"), ("d", "a")]
AMOUNTS = [1.0, 4.0, 2.0, None, 9.0, 5.0]
WAYS = ["web", "web", "phone", "web", "app", "web"]
EDGES = {"source": [u for u, _ in ENDS], "target": [v for _, v in ENDS], "amount": AMOUNTS, "way": WAYS}
NODES = {"id": list("abcd"), "x": [1.0, 2.0, 4.0, 8.0]}


def column(data, name):
    """A column of nodes as it was before it was standardised; NaN counts as the mean."""
    encoding = next(each for each in Recipe.from_plain(data.graph.recipe).encodings if each.column == name)
    return data.graph.features[:, data.graph.feature_names.index(name)] * encoding.deviation + encoding.mean


def at(node, *, out=None):
    """Amounts of the edges at a node: all, or those that begin or end there; without self loops."""
    return [
        amount
        for (u, v), amount in zip(ENDS, AMOUNTS, strict=True)
        if u != v and amount is not None and ((node in (u, v)) if out is None else node == (u if out else v))
    ]


def test_both_ends_have_them():
    data = read_graph(EDGES, NODES)
    np.testing.assert_allclose(column(data, "amount, sum"), [sum(at(node)) for node in "abcd"], rtol=1e-6)
    np.testing.assert_allclose(column(data, "amount, max"), [max(at(node)) for node in "abcd"], rtol=1e-6)
    np.testing.assert_allclose(column(data, "edges, count"), [4, 2, 3, 1], rtol=1e-6)
    np.testing.assert_allclose(column(data, "way = web, share"), [1, 1 / 2, 2 / 3, 1], rtol=1e-6)
    assert data.notes == (
        "edges: 1 self loop dropped",
        "edges: 1 edge given in both directions merged; direction does not matter",
        "nodes: column 'way = app, share' is not used: the same value in all rows",
    )


def test_directions_are_told_apart():
    data = read_graph(EDGES, NODES, directed=True)
    names = data.graph.feature_names
    assert "out: amount, mean" in names
    recipe = data.recipe.recipes[""]
    encoding = next(each for each in recipe.encodings if each.column == "in: amount, sum")
    found = data.graph.features[:, names.index("in: amount, sum")] * encoding.deviation + encoding.mean
    np.testing.assert_allclose(found, [sum(at(node, out=False)) for node in "abcd"], atol=1e-5)


def test_relations_name_their_columns():
    data = read_graph({"pays": EDGES, "knows": [("a", "b")]}, NODES)
    assert "pays: amount, mean" in data.graph.feature_names
    assert not any(name.startswith("knows") for name in data.graph.feature_names)


def test_kinds_of_nodes_have_their_own_columns():
    orders = {"user": ["u1", "u2", "u2"], "item": ["i1", "i1", "i2"], "price": [1.0, 2.0, 4.0]}
    data = read_graph({"user:bought:item": orders}, {"user": {"id": ["u1", "u2"], "age": [1.0, 2.0]}}, target="user")
    names = data.graph.feature_names
    assert {"age", "price, sum", "item.price, sum"} <= set(names)
    features = data.graph.features if isinstance(data.graph.features, np.ndarray) else data.graph.features.toarray()
    assert features[0, names.index("price, sum")] < features[1, names.index("price, sum")]
    assert features[:2, names.index("item.price, sum")].tolist() == [0, 0]


def test_without_attributes_the_structure_counts_as_well():
    data = read_graph(EDGES)
    assert data.graph.feature_names[0] == "edges, count"
    assert data.graph.feature_names[-1] == "structure[31]"
    assert data.graph.num_features == len(data.graph.feature_names)
    again = read_graph(EDGES, recipe=data.recipe.to_plain())
    np.testing.assert_array_equal(again.graph.features, data.graph.features)


def test_just_ends_and_weight_are_as_before():
    plain = {"source": EDGES["source"], "target": EDGES["target"], "weight": [1.0] * 6}
    assert read_graph(plain, NODES).graph.feature_names == ("x",)
    assert read_graph(plain).graph.feature_names[0] == "structure[0]"


def test_a_model_reads_the_same_columns_of_new_edges():
    recipe = read_graph(EDGES, NODES).recipe
    new = EDGES | {"amount": [10.0] * 6, "way": ["fax"] * 6, "more": [1, 2, 3, 4, 5, 6]}
    data = read_graph(new, NODES, recipe=recipe)
    np.testing.assert_allclose(column(data, "amount, mean"), [10] * 4, rtol=1e-6)
    np.testing.assert_allclose(column(data, "way = web, share"), [0] * 4, atol=1e-6)
    assert "edges: column 'more' not used: the model was trained without" in data.notes
    lacking = read_graph({name: new[name] for name in ("source", "target", "way")}, NODES, recipe=recipe)
    assert any("amount, sum" in note and "absent" in note for note in lacking.notes)


def test_columns_can_be_left_out():
    data = read_graph(EDGES, NODES, kinds={"amount": "ignore", "way = web, share": "ignore"})
    assert not any("amount" in name or "web" in name for name in data.graph.feature_names)
    with pytest.raises(PugnnError, match="no column 'price'"):
        read_graph(EDGES, NODES, kinds={"price": "ignore"})


def test_a_chosen_kind_that_columns_of_edges_do_not_take():
    with pytest.raises(PugnnError, match=r"column 'amount' of edges cannot be read as 'text'; .* number, amount, bool"):
        read_graph(EDGES, NODES, kinds={"amount": "text"})
    recipe = read_graph(EDGES, NODES).recipe
    read_graph(EDGES, NODES, kinds={"amount": "text"}, recipe=recipe)  # a model knows how it reads them
    both = NODES | {"amount": ["some words", "more words", "other words", "last words"]}
    assert "amount, sum" in read_graph(EDGES, both, kinds={"amount": "text"}).graph.feature_names
    orders = {"user": ["u1", "u2"], "item": ["i1", "i2"], "price": [1.0, 2.0]}
    with pytest.raises(PugnnError, match="kind item has no column 'price'"):  # it is of edges
        read_graph({"user:bought:item": orders}, target="user", kinds={"item.price": "number"})


def test_what_says_nothing_is_left_out_with_a_note():
    more = {"tx": [f"t{i}" for i in range(6)], "currency": ["EUR"] * 6, "order_id": range(6), "blank": [None] * 6}
    data = read_graph(EDGES | {name: list(cells) for name, cells in more.items()}, NODES)
    notes = "\n".join(data.notes)
    assert "columns 'tx', 'order_id' not used: its values hardly repeat, as with identifiers" in notes
    assert "column 'currency' not used: the same value in all rows" in notes
    assert "column 'blank' not used: empty in all rows" in notes


def test_dates_and_truth_values(tmp_path):
    file = tmp_path / "edges.csv"
    file.write_text("source,target,day,late\na,b,2026-01-01,yes\na,c,2026-01-11,no\nb,c,,no\n")
    data = read_graph(str(file), {"id": list("abc"), "x": [1, 2, 4]})
    np.testing.assert_allclose(column(data, "late, share"), [1 / 2, 1 / 2, 0], atol=1e-6)
    days = column(data, "day, last") - (np.datetime64("2026-01-01") - np.datetime64("1970-01-01")).astype(int)
    np.testing.assert_allclose(days, [10, 0, 10], atol=1e-2)
    assert "dates, standardised: mean 2026-01-08" in next(
        s.text for s in data.recipe.describe() if s.column == "day, last"
    )


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        (
            ["1"] * 19 + ["n.b."],
            r"edges.csv, row 21, column 'amount': 'n.b.' is not a finite number.*--column amount=category",
        ),
        (["1"] * 10 + ["2"] * 9 + ["1e400"], "row 21, column 'amount': '1e400' is not a finite number"),
        (["1,50"] * 10 + ["2,25"] * 10, "column 'amount', such as '1,50', are not written like 1234.5"),
        (["01.02.2026"] * 10 + ["02.02.2026"] * 10, "are not written like 2024-12-31"),
    ],
)
def test_bad_cells(cells, message, tmp_path):
    file = tmp_path / "edges.csv"
    file.write_text("source;target;amount\n" + "".join(f"a;b{at};{cell}\n" for at, cell in enumerate(cells)))
    with pytest.raises(PugnnError, match=message):
        read_graph(str(file))


def test_long_tails_are_logarithms():
    rng, size = np.random.default_rng(0), 400
    edges = {"source": np.arange(size), "target": np.arange(size) + 1, "amount": rng.lognormal(3, 2, size)}
    data = read_graph(edges)
    encoding = next(each for each in data.recipe.encodings if each.column == "amount, max")
    assert encoding.name == "amount"
    found = data.graph.features[:, data.graph.feature_names.index("amount, max")] * encoding.deviation + encoding.mean
    amounts = edges["amount"]
    expected = [max(amounts[max(i - 1, 0)], amounts[min(i, size - 1)]) for i in range(size + 1)]
    np.testing.assert_allclose(found, np.log1p(expected), rtol=1e-4)
    assert "log(1 + amount), standardised" in encoding.describe().text


def test_amounts_as_weights_are_logarithms_and_capped():
    rng, size = np.random.default_rng(0), 400
    amounts = rng.lognormal(3, 2, size)
    edges = {"source": np.arange(size), "target": np.arange(size) + 1, "amount": amounts}
    data = read_graph(edges, weight="amount")
    cap = np.quantile(amounts.astype(np.float32), 0.99)
    expected = [np.log1p(min(amount, cap)) for amount in amounts]
    np.testing.assert_allclose([data.graph.to_scipy()[i, i + 1] for i in range(size)], expected, rtol=1e-5)
    own, capped = data.notes[:2]
    assert own == "edges: 'amount' is the weight, and so does not describe the nodes at both ends"
    assert capped.startswith("edges: weights are log(1 + amount), with amount capped at ")
    named = read_graph({"source": edges["source"], "target": edges["target"], "weight": amounts})
    np.testing.assert_allclose(named.graph.to_scipy()[0, 1], amounts[0], rtol=1e-6)
    assert not named.notes


def test_negative_amounts_are_no_weights():
    with pytest.raises(PugnnError, match=r"edges, row 2: weight -3.0 is not a positive, finite number"):
        read_graph({"source": [1, 2], "target": [2, 3], "amount": [1.0, -3.0]}, weight="amount")


def test_a_store_has_the_same(tmp_path):
    build_store(tmp_path / "store", EDGES, NODES)
    stored, read = open_store(tmp_path / "store"), read_graph(EDGES, NODES).graph
    assert stored.feature_names == read.feature_names
    np.testing.assert_array_equal(np.asarray(stored.features), read.features)
