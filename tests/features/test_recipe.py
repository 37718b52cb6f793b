import json

import numpy as np
import pytest
import scipy.sparse as sp

from attribute_tables import attributes_of, features_of, learned, ring
from pugnn.datasets import load_dataset
from pugnn.errors import PugnnError
from pugnn.features.recipe import Recipe

TABLE = {
    "age": ["31", "", "45", "28", "60", "33", "41", "29"],
    "city": ["Bern", "Genf", "Bern", "Genf", "Bern", "Genf", "Chur", ""],
    "member": ["yes", "no", "yes", "yes", "no", "no", "yes", "no"],
    "bio": [f"likes {word} and walks" for word in ("tea", "wine", "milk", "jazz", "snow", "rain", "sun", "ice")],
    "place": [f"[{i}, 0.1, 0]" for i in range(8)],
    "since": [f"202{i}-03-01" for i in range(8)],
    "user": [f"u{i}" for i in range(8)],
    "country": ["CH"] * 8,
}


@pytest.fixture
def table():
    return attributes_of(TABLE, num_nodes=9)


@pytest.fixture
def recipe(table):
    return learned(table)


def test_statement_of_the_recipe(recipe):
    lines = recipe.describe()
    assert [(line.column, line.kind, line.features) for line in lines] == [
        ("age", "number", 2),
        ("city", "category", 4),
        ("member", "boolean", 1),
        ("bio", "text", 11),
        ("place", "vector", 3),
        ("since", "number", 1),
        ("no row", "boolean", 1),
        ("user", "ignore", 0),
        ("country", "ignore", 0),
    ]
    assert lines[0].text == (
        "standardised: mean 38.14, standard deviation 10.67; missing in 1 node → the mean and an indicator"
    )
    assert lines[-1].text == "not used: the same value in all rows"


def test_features_have_names_and_notes_tell_what_is_left_out(recipe, table):
    encoded = recipe.apply(table, ring(9))
    assert encoded.blocks.joined().shape == (9, 23)
    assert encoded.blocks.joined().dtype == np.float32
    assert encoded.names == recipe.feature_names
    assert encoded.names[:7] == ("age", "age missing", "city=Bern", "city=Genf", "city other", "city missing", "member")
    assert encoded.names[-5:] == ("place[0]", "place[1]", "place[2]", "since", "no row")
    assert [note.partition(" is not used: ")[0] for note in encoded.notes] == [
        "nodes.csv: column 'user'",
        "nodes.csv: column 'country'",
    ]


def test_node_without_a_row_is_missing_in_all_columns(recipe, table):
    row = dict(zip(recipe.feature_names, features_of(recipe, table)[8], strict=True))
    assert {name for name, value in row.items() if value} == {"age missing", "city missing", "member", "no row"}
    assert row["member"] == 0.5  # the share


def test_saved_recipe_gives_the_same_bits(recipe, table):
    again = Recipe.from_plain(json.loads(json.dumps(recipe.to_plain(), allow_nan=False)))
    assert again == recipe
    np.testing.assert_array_equal(features_of(again, table), features_of(recipe, table))
    assert again.describe() == recipe.describe()


def test_order_of_columns_and_rows_and_types_make_no_difference(recipe, table):
    turned = attributes_of(
        {name: TABLE[name][::-1] for name in reversed(TABLE)}, positions=list(range(8))[::-1], num_nodes=9
    )
    np.testing.assert_array_equal(features_of(recipe, turned), features_of(recipe, table))
    typed = TABLE | {
        "age": [31, None, 45, 28, 60, 33, 41, 29],
        "member": [value == "yes" for value in TABLE["member"]],
        "place": [[i, 0.1, 0] for i in range(8)],
    }
    types = {"age": "BIGINT", "member": "BOOLEAN", "place": "DOUBLE[]", "since": "DATE"}
    np.testing.assert_array_equal(
        features_of(recipe, attributes_of(typed, types, num_nodes=9)), features_of(recipe, table)
    )


def test_column_that_is_not_there_counts_as_missing(recipe, table):
    rest = {name: values for name, values in TABLE.items() if name != "age"}
    renamed = attributes_of(rest | {"Age": TABLE["age"]}, num_nodes=9)
    expected = features_of(recipe, table)
    expected[:, 0], expected[:, 1] = 0, 1
    np.testing.assert_array_equal(features_of(recipe, renamed), expected)
    assert recipe.apply(renamed, ring(9)).notes[2:] == (
        "nodes.csv: column 'age' is absent: missing for all nodes. If 'Age' is 'age', rename it",
        "nodes.csv: not used, since the model was trained without: 'Age'",
    )


def test_none_of_the_columns_is_an_error(recipe):
    with pytest.raises(PugnnError, match=r"trained on the attributes 'age', 'city'.*but nodes\.csv has only 'weight'"):
        recipe.apply(attributes_of({"weight": ["1", "2"]}), ring(2))
    with pytest.raises(PugnnError, match="none were given"):
        recipe.apply(attributes_of({}, num_nodes=2), ring(2))


def test_column_of_another_kind_is_an_error(recipe):
    with pytest.raises(PugnnError, match=r"row 3, column 'age': 'old' is not a number\. Correct it, leave it empty"):
        recipe.apply(attributes_of({"age": ["31", "old"]}), ring(2))


def test_remarks_name_file_and_column(recipe):
    encoded = recipe.apply(attributes_of({**TABLE, "member": ["", *TABLE["member"][1:]]}, num_nodes=9), ring(9))
    assert (
        "nodes.csv: column 'member': no value in 1 node, the share of true values instead; in training all had one"
        in encoded.notes
    )


# ------------------------------------------------------------------ kinds that users give


def test_given_kinds_win():
    table = attributes_of({"zip": ["8001", "8002", "8001"] * 2, "age": ["1", "2", "3"] * 2})
    recipe = learned(table, zip="category", age="ignore")
    assert recipe.feature_names == ("zip=8001", "zip other")
    assert recipe.describe()[-1].text == "not used: as you chose"
    assert recipe.apply(table, ring(6)).notes == ()  # nothing that the user does not know


def test_kind_that_does_not_fit_is_an_error_with_row_and_value():
    with pytest.raises(PugnnError, match=r"row 2, column 'x': 'red' is not a number\..*--column x=category"):
        learned(attributes_of({"x": ["red", "blue"]}), x="number")


def test_nearly_a_column_of_numbers_is_an_error_with_remedies():
    with pytest.raises(PugnnError, match=r"row 12, column 'x': 'ten' is not a number\. Correct it, leave it empty, or"):
        learned(attributes_of({"x": [*map(str, range(10)), "ten"]}))


def test_given_kind_of_an_empty_column():
    assert "empty in all rows" in learned(attributes_of({"x": ["", "NA"], "y": ["1", "2"]}), x="number").ignored["x"]


def test_column_that_gives_no_feature_is_left_out():
    recipe = learned(attributes_of({"x": ["a", "b", "c"], "y": ["1", "2", "3"]}), x="category")
    assert recipe.ignored == {"x": "no value occurs in 3 nodes"}
    assert recipe.feature_names == ("y",)


# ------------------------------------------------------------------ names, structure, forms


def test_names_are_unique():
    table = attributes_of({"a": ["1", "", "3"], "a missing": ["4", "5", "6"], "no row": ["7", "8", "9"]}, num_nodes=4)
    assert learned(table).feature_names == ("a", "a missing", "a missing (2)", "no row", "no row (2)")


@pytest.mark.parametrize("columns", [{}, {"user": [f"u{i}" for i in range(8)]}])
def test_without_usable_columns_features_come_from_the_structure(columns):
    table = attributes_of(columns, num_nodes=8)
    recipe = learned(table)
    encoded = recipe.apply(table, ring(8))
    assert encoded.blocks.joined().shape == (8, len(recipe.feature_names))
    assert recipe.describe()[0].column == "structure"
    assert Recipe.from_plain(json.loads(json.dumps(recipe.to_plain()))) == recipe
    told = [note for note in encoded.notes if note.endswith("features come from the structure of the graph")]
    assert len(told) == len(columns)


def test_structure_ignores_columns_of_a_new_table():
    recipe = learned(attributes_of({}, num_nodes=8))
    encoded = recipe.apply(attributes_of({"age": ["1"] * 8}), ring(8))
    assert encoded.notes == ("nodes.csv: not used, since the model was trained without: 'age'",)


def test_dense_where_more_than_a_quarter_is_filled():
    table = attributes_of({"x": ["1", "2"]})
    assert isinstance(learned(table).apply(table, ring(2)).blocks.joined(), np.ndarray)


@pytest.mark.parametrize("as_text", [True, False])
def test_vectors_of_cora_are_its_features_to_the_bit(as_text):
    features = load_dataset("cora").graph.features[:300]
    rows = [row.tolist() for row in features.toarray()]
    if as_text:
        cells = ["[" + ", ".join(map(str, row)) + "]" for row in features.toarray()]
        table = attributes_of({"words": cells})
    else:
        table = attributes_of({"words": rows}, "FLOAT[]")
    made = learned(table).apply(table, ring(300)).blocks.joined()
    assert isinstance(made, sp.csr_array)
    for part in ("data", "indices", "indptr"):
        one, other = getattr(made, part), getattr(features, part)
        assert one.dtype == other.dtype
        np.testing.assert_array_equal(one, other)
