"""Experiments: the paper's tables, measured and published values side by side."""
