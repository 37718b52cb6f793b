"""The one way in: tables, frames, matrices and foreign objects become a store, in memory or in a folder of files."""

from pugnn.store.assembly.table_graph import TableGraph
from pugnn.store.building import build_store
from pugnn.store.feedback import Feedback, read_feedback
from pugnn.store.opening import Manifest, open_store, read_manifest, read_store
from pugnn.store.reading import read_graph
from pugnn.store.tables.database import write_parquet

__all__ = [
    "Feedback",
    "Manifest",
    "TableGraph",
    "build_store",
    "open_store",
    "read_feedback",
    "read_graph",
    "read_manifest",
    "read_store",
    "write_parquet",
]
