"""Runs over HTTP: started, followed, cancelled, their results shown and interpreted."""
