"""Tables in: edges, node attributes and known positives as people have them, read through DuckDB."""

from pugnn.io.reading import TableGraph, read_graph
from pugnn.io.writing import write_parquet

__all__ = ["TableGraph", "read_graph", "write_parquet"]
