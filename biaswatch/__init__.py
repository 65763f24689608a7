"""The command line, and everything in one process for a laptop."""
