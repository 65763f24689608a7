"""Suites of our own: names, templates and twins by a fixed design; the same bytes every time."""
