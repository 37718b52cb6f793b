"""File formats: delimited text, Parquet and JSON, compressed or not."""
