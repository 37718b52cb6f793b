"""Tables in: edges, node attributes and known positives as people have them, read through DuckDB."""
