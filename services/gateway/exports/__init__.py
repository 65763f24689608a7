"""Answers and measurements of runs, page by page, for files of others."""
