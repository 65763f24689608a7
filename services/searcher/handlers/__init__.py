"""The I/O of the searcher."""
