"""The command line: one module for each group of verbs; each parses, calls, prints."""
