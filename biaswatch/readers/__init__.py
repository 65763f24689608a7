"""Readers of the files that users write: suites, probes, tables, cases, monitors."""
