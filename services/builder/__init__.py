"""Benchmark plans become suites.

Reads a plan and the answers to its questions; finds keywords and sources, assembles and branches
prompts; writes probes that ask a model, and the finished suite.
"""
