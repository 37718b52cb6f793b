"""The graph store: a folder with a graph in memory-mapped files, built from tables that need not fit into memory."""

from pugnn.store.building import build_store
from pugnn.store.format import Manifest, read_manifest
from pugnn.store.reading import open_store, read_store

__all__ = ["Manifest", "build_store", "open_store", "read_manifest", "read_store"]
