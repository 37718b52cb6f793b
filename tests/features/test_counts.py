import json
import math

import numpy as np
import pandas as pd
import pytest

from pugnn.errors import PugnnError
from pugnn.features import Recipe
from pugnn.store import read_graph

NODES = [f"n{i}" for i in range(12)]
RING = [(NODES[i], NODES[i - 1]) for i in range(12)]
RNG = np.random.default_rng(0)
WORDS = {f"w_{j}": np.where(RNG.random(12) < 0.2, RNG.integers(1, 5, 12), 0) for j in range(30)}
for first, word in enumerate(WORDS.values()):
    word[np.flatnonzero(word)[2:]] = 0  # mostly zero
    word[first % 12] = 2  # and never the same everywhere
WORDS["w_0"] = np.array([2, *[0] * 11])


def table(**more) -> pd.DataFrame:
    return pd.DataFrame({"id": NODES, **WORDS, **more})


def dense(data) -> np.ndarray:
    x = data.graph.features
    return x if isinstance(x, np.ndarray) else x.toarray()


@pytest.mark.parametrize("form", ["csv", "memory"])
def test_rows_have_length_one_and_nothing_else_is_done(form, tmp_path):
    frame = table(age=np.arange(12))
    nodes = frame
    if form == "csv":
        nodes = tmp_path / "nodes.csv"
        frame.to_csv(nodes, index=False)
    data = read_graph(RING, nodes)
    words = list(WORDS)
    assert data.graph.feature_names == ("age", *words)
    for node in range(12):
        length = math.sqrt(sum(float(WORDS[name][node]) ** 2 for name in words))
        for place, name in enumerate(words, 1):
            wanted = WORDS[name][node] / length if length else 0.0
            assert dense(data)[node, place] == pytest.approx(wanted, abs=1e-6)
    assert not isinstance(data.graph.features, np.ndarray)


def test_counts_of_any_size():
    tiny = read_graph(RING, table(**{name: word * 1e-200 for name, word in WORDS.items()}))
    np.testing.assert_allclose(dense(tiny), dense(read_graph(RING, table())), atol=1e-6)


def test_few_such_columns_are_numbers_and_truth_values():
    frame = table()[["id", "w_1", "w_2"]]
    assert {line.kind for line in read_graph(RING, frame).recipe.describe()} <= {"number", "boolean"}


@pytest.mark.parametrize(
    ("cells", "kind"),
    [
        ([-1, *[0] * 11], "number"),  # below zero
        ([1] * 7 + [0] * 5, "counts"),  # mostly one, but like its siblings
        ([4, 3, 2, 1] * 2 + [0] * 4, "counts"),  # a frequent word
        ([99, 3, 2, 1] * 2 + [0] * 4, "number"),  # too large for a word
        ([4, 3, 2, 1] * 2 + [0.5] * 4, "number"),  # no integers, and never zero
        (["yes", "no"] * 6, "boolean"),
        ([1] * 7 + [None] + [0] * 4, "boolean"),  # a missing one is neither
        ([None, 2, 3, *[0] * 9], "number"),  # a missing number is not a zero
        ([None] * 9 + [1] * 3, "counts"),  # but nothing or one is as good as zero or one
        ([0] * 10 + [0.5, 1], "counts"),  # weights of words
    ],
)
def test_what_is_taken_for_a_count(cells, kind):
    lines = {line.column: line.kind for line in read_graph(RING, table(x=cells)).recipe.describe()}
    assert lines["x"] == kind
    assert lines["w_0"] == "counts"


def test_the_user_decides_by_name_or_pattern():
    kinds = {line.column: line.kind for line in read_graph(RING, table(), kinds={"w_*": "number"}).recipe.describe()}
    assert kinds["w_0"] == "number"
    chosen = {"w_*": "ignore", "w_0": "counts", "age": "counts"}
    recipe = read_graph(RING, table(age=[-1, *range(11)]), kinds=chosen).recipe
    assert recipe.feature_names == ("w_0", "age")


def test_a_chosen_column_that_holds_something_else_is_named():
    with pytest.raises(PugnnError, match=r"nodes, row 3, column 'x': 'many' is not a number"):
        read_graph(RING, table(x=["1", "2", "many", *"345678901"]), kinds={"x": "counts"})


def test_another_table_by_the_same_recipe():
    recipe = Recipe.from_plain(json.loads(json.dumps(read_graph(RING, table()).recipe.to_plain())))
    later = table().drop(columns="w_0").assign(new=1)[["w_2", "id", *[f"w_{j}" for j in range(3, 30)], "w_1", "new"]]
    data = read_graph(RING, later, recipe=recipe)
    assert data.graph.feature_names == recipe.feature_names
    assert not dense(data)[:, recipe.feature_names.index("w_0")].any()
    wanted = dense(read_graph(RING, table(w_0=0), recipe=recipe))
    np.testing.assert_array_equal(dense(data), wanted)
    assert any("'w_0' is absent" in note for note in data.notes)
    assert any("'new'" in note for note in data.notes)


def test_columns_that_are_the_same_everywhere_share_a_note():
    data = read_graph(RING, table(**{f"z_{j}": 0 for j in range(40)}))
    notes = [note for note in data.notes if "the same value in all rows" in note]
    assert len(notes) == 1
    assert "40 columns ('z_0', 'z_1', 'z_2' and 37 more) are not used" in notes[0]


@pytest.mark.parametrize("damage", [{"share": "x"}, {"columns": ["a", "a"]}, {"columns": "w"}])
def test_damaged_recipes_are_refused(damage):
    plain = read_graph(RING, table()).recipe.to_plain()
    with pytest.raises(PugnnError, match="damaged"):
        Recipe.from_plain({**plain, "counts": {**plain["counts"], **damage}})
