"""The tables of the PU-GNN paper and studies beside them, measured with :mod:`pugnn`."""
