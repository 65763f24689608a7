"""Recorded answers from files of other tools, as the API takes them."""
