"""Tables in files and in memory, of any format, as relations of DuckDB."""
