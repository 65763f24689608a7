"""From findings to sentences, tables and chart series."""
