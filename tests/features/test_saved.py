"""A saved recipe may be damaged in any way; it is an error then, and never anything else."""

import copy
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attribute_tables import attributes_of, learned
from pugnn.errors import PugnnError
from pugnn.features.recipe import Recipe

TABLE = {
    "age": ["1", "2", "", "4"] * 3,
    "city": ["a", "b", "c", "a"] * 3,
    "bio": [f"a text of {i}" for i in range(12)],
    "ok": ["yes", "no"] * 6,
    "place": [f"[{i}, 2]" for i in range(12)],
    "user": [f"u{i}" for i in range(12)],
}
SAVED = learned(attributes_of(TABLE)).to_plain()
BARE = learned(attributes_of({}, num_nodes=4)).to_plain()


def paths(plain, path=()):
    """The way to everything inside."""
    yield path
    items = plain.items() if isinstance(plain, dict) else enumerate(plain) if isinstance(plain, list) else ()
    for key, value in items:
        yield from paths(value, (*path, key))


def changed(plain, path, value):
    if not path:
        return value
    plain = copy.deepcopy(plain)
    inner = plain
    for key in path[:-1]:
        inner = inner[key]
    if value is DELETED:
        del inner[path[-1]]
    else:
        inner[path[-1]] = value
    return plain


DELETED = object()
ODD = [None, -1, 2**70, 10**400, 0.5, float("nan"), float("inf"), True, "", "number", [], {}, [None], [[]], {"name": 1}]
ODD.append(DELETED)


@settings(deadline=None, max_examples=300)
@given(st.sampled_from([SAVED, BARE]), st.data())
def test_anything_odd_is_an_error_or_a_recipe(plain, data):
    path = data.draw(st.sampled_from(list(paths(plain))))
    odd = data.draw(st.sampled_from(ODD))
    if not path and odd is DELETED:
        odd = None
    try:
        recipe = Recipe.from_plain(changed(plain, path, odd))
    except PugnnError:
        return
    json.dumps(recipe.to_plain(), allow_nan=False)
    recipe.describe()
    assert len(set(recipe.feature_names)) == len(recipe.feature_names)


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        ((), None, "'format' of the recipe is missing or not valid"),
        (("format",), 99, "has format 99, but this version reads 2"),
        (("columns",), DELETED, "'columns' of the recipe is missing"),
        (("columns", 0, "kind"), "colour", "'age' is of the kind 'colour', which is not installed here. Install"),
        (("columns", 0, "mean"), "x", "'mean' of column 'age' is missing or not valid"),
        (("columns", 1, "values"), ["a", "a"], "'values' of column 'city' is missing or not valid"),
        (("columns", 1, "nodes"), -1, "'nodes' of column 'city' is missing or not valid"),
        (("rowless",), True, "'rowless' of the recipe is missing or not valid"),
        (("structure",), {"width": 3}, "'hops' of structure is missing or not valid"),
        (("structure",), {"width": 3, "hops": 2}, "neither columns nor structure, or both"),
        (("columns",), [], "neither columns nor structure, or both"),
    ],
)
def test_damage_is_named(path, value, message):
    with pytest.raises(PugnnError, match=message):
        Recipe.from_plain(changed(SAVED, path, value))
