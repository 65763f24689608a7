"""Rows in Parquet files, in a folder or an object store; loaded only where needed."""
