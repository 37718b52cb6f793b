"""Tables in: edges, node attributes and known positives as people have them, read through DuckDB."""

from pugnn.tables.attributes import Attributes
from pugnn.tables.reading import TableGraph, read_graph
from pugnn.tables.recipe import Encoded, Recipe
from pugnn.tables.statements import Statement, grouped
from pugnn.tables.writing import write_parquet

__all__ = ["Attributes", "Encoded", "Recipe", "Statement", "TableGraph", "grouped", "read_graph", "write_parquet"]
