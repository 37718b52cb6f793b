"""Reading a graph from tables: edges, node attributes and known positives in files or in memory."""

from pugnn.io.database import write_parquet
from pugnn.io.feedback import Feedback, read_feedback
from pugnn.io.reading import TableGraph, read_graph

__all__ = ["Feedback", "TableGraph", "read_feedback", "read_graph", "write_parquet"]
