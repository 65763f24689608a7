"""Scores of published studies, answer pairs, judges and applicants."""
