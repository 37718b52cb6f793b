"""A kind of column is one class, which registers itself."""

from dataclasses import dataclass

import numpy as np
import pytest

from pugnn import read_graph
from pugnn.errors import PugnnError
from pugnn.features.encoding import ENCODINGS, ColumnFeatures, Encoding
from pugnn.features.recipe import Recipe

EDGES = [("a", "b"), ("b", "c")]
NODES = {"id": ["a", "b", "c"], "word": ["x", "xyz", "xy"]}


@pytest.fixture
def length(monkeypatch):
    monkeypatch.setattr(ENCODINGS, "_registered", dict(ENCODINGS.items()))

    @ENCODINGS.register("length")
    @dataclass(frozen=True)
    class LengthEncoding(Encoding):
        needs_text = True
        group = "length in letters"
        stand_in = "0"

        longest: int

        @classmethod
        def learn(cls, cells):
            return cls(cells.name, 0, int(cells.read("len(cell)", 0).max()))

        def read(self, cells):
            return ColumnFeatures(cells.read("len(cell)", 0)[:, None] / self.longest, cells.missing())

        def describe_values(self):
            return f"length, up to {self.longest}"


def test_a_kind_of_another_package_is_learned_saved_and_described(length):
    data = read_graph(EDGES, NODES, kinds={"word": "length"})
    np.testing.assert_allclose(data.graph.features[:, 0], [1 / 3, 1, 2 / 3])
    recipe = Recipe.from_plain(data.recipe.to_plain())
    assert [(line.kind, line.text) for line in recipe.describe()] == [("length", "length, up to 3")]


def test_unknown_kinds_are_told_with_those_there_are():
    with pytest.raises(
        PugnnError, match="no kind 'colour'; there are 'amount', 'boolean', 'category', 'number', 'text', "
    ):
        read_graph(EDGES, NODES, kinds={"word": "colour"})
