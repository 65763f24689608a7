"""Judges: examination by questions with known replies, and rates corrected by their errors."""
