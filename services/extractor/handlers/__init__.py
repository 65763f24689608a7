"""The I/O of the extractor: loading, measuring, announcing, drop-ins."""
