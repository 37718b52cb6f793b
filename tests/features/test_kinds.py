import pytest

from attribute_tables import cells_of
from pugnn.features.kinds import Choice, kind_of

WORDS = ["red", "green", "blue"]
SENTENCES = [f"this is the story of node {i}" for i in range(20)]


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (["1", "2.5", "-3e4", "", "NA"], "number"),
        ([" 1", "2 ", "3\t"], "number"),
        (["1"] * 9 + ["2", "one"], "number"),  # nearly all: the odd one is an error when it is read
        (["1"] * 3 + ["2", "one", "two", "two"], "category"),
        (["0", "1", "1", ""], "boolean"),
        (["1.0", "0.0", "1"], "boolean"),
        (["yes", "No", "YES", "n/a"], "boolean"),
        (["t", "F", "t"], "boolean"),
        (["yes", "no", "maybe"] * 3, "category"),
        (["2024-01-31", "2024-02-01 10:00:00", ""], "number"),
        (["[1, 2]", " [0.5,2e3] ", ""], "vector"),
        (["[deleted]", "[removed]"] * 3, "category"),
        (["0.1 2 3", "1 2 3", "4 5 6"], "text"),
        (WORDS * 4, "category"),
        (SENTENCES, "text"),
        (SENTENCES[:5] * 4, "category"),
        ([f"user{i}" for i in range(20)], "ignore"),
        ([f"1_{i:03}" for i in range(20)], "ignore"),  # codes, whatever DuckDB takes them for
        ([f"zip{i % 12}" for i in range(20)], "category"),
        (["same"] * 5, "ignore"),
        (["5"] * 5, "ignore"),
        (["same", ""], "category"),
        (["5", ""], "category"),
        (["", "NA", None], "ignore"),
    ],
)
def test_kinds_of_texts(values, kind):
    assert kind_of(cells_of(values)).kind == kind


@pytest.mark.parametrize(
    ("type_name", "values", "kind"),
    [
        ("BIGINT", [1, 2, 3], "number"),
        ("VARCHAR", [f"2024-01-{day:02}" for day in range(1, 21)], "number"),  # dates that nobody made dates of
        ("DOUBLE", [0.5, float("nan")], "category"),
        ("DOUBLE", [float("nan"), None], "ignore"),
        ("DECIMAL(9, 2)", [1, 2.5], "number"),
        ("DATE", ["2024-01-31", "2024-02-01"], "number"),
        ("TIMESTAMP WITH TIME ZONE", ["2024-01-31 00:00:00+00", "2024-02-01 00:00:00+00"], "number"),
        ("DATE", ["2024-01-31", "2024-01-31"], "ignore"),
        ("VARCHAR", ["1", "2", "1", "2"], "category"),  # someone chose text
        ("VARCHAR", SENTENCES, "text"),
        ("ENUM ('a', 'b')", ["a", "b", "a", "b"], "category"),
        ("FLOAT[]", [[1, 2], [3, 4]], "vector"),
        ("INTEGER[2]", [[1, 2], [3, 4]], "vector"),
        ("FLOAT[]", [None, None], "ignore"),
        ("VARCHAR[]", [["a", "b"], ["c"]], "text"),
        ("INTEGER[][]", [[[1]], [[2]]], "ignore"),
        ("UUID", ["6ccd780c-baba-1026-9564-5b8c656024db"], "ignore"),
        ("STRUCT(a INTEGER)", [{"a": 1}, {"a": 2}], "ignore"),
        ("TIME", ["10:00:00", "11:00:00"], "ignore"),
        ("JSON", ["1", "2.5", "null"], "number"),
    ],
)
def test_kinds_of_types(type_name, values, kind):
    assert kind_of(cells_of(values, type_name)).kind == kind


def test_the_same_value_in_all_rows_is_left_out_even_if_nodes_lack_a_row():
    assert kind_of(cells_of(["same", "same"], num_nodes=3)) == Choice("ignore", "the same value in all rows")


def test_reason_for_identifiers_shows_one_and_the_remedy():
    reason = kind_of(cells_of([f"user{i}" for i in range(20)])).reason
    assert "'user0'" in reason
    assert "--column x=text" in reason
