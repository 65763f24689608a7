"""Searches over HTTP: started, followed, cancelled, with their findings."""
