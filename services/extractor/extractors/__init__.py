"""One extractor a file; the file's name is the extractor's, and nothing is registered."""
