"""Texts whose grade is known: what judges are asked about them, and what their scores show."""
