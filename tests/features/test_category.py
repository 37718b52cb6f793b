import numpy as np

from attribute_tables import cells_of
from pugnn.features import category
from pugnn.features.category import CategoryEncoding

CITIES = ["Bern", "Genf", "Bern", "Chur", "Genf", " Genf", "Bern", "Bern", "", "Sion"]


def test_one_hot_by_plain_loops():
    cells = cells_of(CITIES, num_nodes=11)
    encoding = CategoryEncoding.learn(cells)
    assert encoding == CategoryEncoding("x", 1, ("Bern", "Genf"), pooled=2, nodes=9)
    assert encoding.feature_names == ["x=Bern", "x=Genf", "x other", "x missing"]
    (one_hot, indicator), remarks = encoding.encode(cells)
    expected = np.zeros((11, 3))
    for node, city in enumerate(city.strip() for city in CITIES):
        if city:
            expected[node, {"Bern": 0, "Genf": 1}.get(city, 2)] = 1
    np.testing.assert_array_equal(one_hot.toarray(), expected)
    np.testing.assert_array_equal(indicator[:, 0], [*[0] * 8, 1, 0, 1])
    assert not remarks


def test_as_frequent_values_are_in_the_order_of_the_alphabet():
    assert CategoryEncoding.learn(cells_of(["b", "a", "c"] * 3)).values == ("a", "b", "c")


def test_only_the_most_frequent_values_have_a_feature(monkeypatch):
    monkeypatch.setattr(category, "MAX_VALUES", 2)
    encoding = CategoryEncoding.learn(cells_of(["a"] * 3 + ["b"] * 5 + ["c"] * 4))
    assert (encoding.values, encoding.pooled) == (("b", "c"), 3)
    assert "beyond the 2 most frequent (3 nodes)" in encoding.describe().text


def test_unseen_values_are_other_where_there_were_others():
    encoding = CategoryEncoding("x", 0, ("a", "b"), pooled=1, nodes=10)
    (one_hot,), remarks = encoding.encode(cells_of(["a", "new", "b", "c"]))
    np.testing.assert_array_equal(one_hot.toarray(), [[1, 0, 0], [0, 0, 1], [0, 1, 0], [0, 0, 1]])
    assert remarks == [
        "2 nodes with a value that was rare or unseen in training ('c', 'new'); it counts as other",
    ]


def test_unseen_values_are_nothing_where_there_were_no_others():
    encoding = CategoryEncoding("x", 0, ("a", "b"), pooled=0, nodes=10)
    (one_hot,), remarks = encoding.encode(cells_of(["a", "new", "b", "new"]))
    np.testing.assert_array_equal(one_hot.toarray(), [[1, 0], [0, 0], [0, 1], [0, 0]])
    assert remarks == [
        "2 nodes with a value that was rare or unseen in training ('new'); it counts as none of the values",
    ]


def test_whole_floats_are_the_integers_they_were():
    encoding = CategoryEncoding.learn(cells_of([1, 1, 1, 2, 2, 2], "INTEGER"))
    (one_hot,), remarks = encoding.encode(cells_of([2.0, 1.0], "DOUBLE"))
    np.testing.assert_array_equal(one_hot.toarray(), [[0, 1], [1, 0]])
    assert not remarks


def test_others_alone_have_no_feature():
    encoding = CategoryEncoding.learn(cells_of(["a", "b", "c"]))
    assert encoding.feature_names == []
    assert encoding.encode(cells_of(["a", "b", "d"]))[0][0].shape == (3, 0)


def test_hostile_values_stay_values():
    values = ["'; DROP TABLE nodes; --", "<b>", "=1+1"] * 3
    cells = cells_of(values)
    encoding = CategoryEncoding.learn(cells)
    np.testing.assert_array_equal(encoding.encode(cells)[0][0].toarray().sum(axis=0), [3, 3, 3])


def test_names_of_long_values_are_short():
    (name,) = CategoryEncoding("x", 0, ("y" * 1000,), 0, 3).feature_names
    assert name == "x=" + "y" * 40 + "…"
