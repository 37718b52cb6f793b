"""Features: how the attributes of nodes, or the structure of the graph alone, become the inputs of a network."""

from pugnn.features.attribute_table import AttributeTable
from pugnn.features.encoding import Statement, grouped
from pugnn.features.recipe import Encoded, Recipe
from pugnn.features.structure import Structure

__all__ = ["AttributeTable", "Encoded", "Recipe", "Statement", "Structure", "grouped"]
