"""Reading a graph from tables: edges, node attributes and known positives in files or in memory."""

from pugnn.io.database import write_parquet
from pugnn.io.feedback import Feedback, read_feedback
from pugnn.io.given import as_graph, as_task, given_task, require_edges
from pugnn.io.reading import TableGraph, read_graph

__all__ = [
    "Feedback",
    "TableGraph",
    "as_graph",
    "as_task",
    "given_task",
    "read_feedback",
    "read_graph",
    "require_edges",
    "write_parquet",
]
