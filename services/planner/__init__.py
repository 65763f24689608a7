"""Definitions become probes, and completions when everything they expect is there.

Reads runs and monitors and the records that complete them; expands them into probes and watches
until each has its response and its features; writes probes and completions.
"""
