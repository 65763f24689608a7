"""Rows in files of Parquet, in a folder or an object store; whoever needs none never loads it."""
