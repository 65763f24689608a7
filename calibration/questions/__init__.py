"""Error and power of the three questions of a verdict, on designs whose truth is known."""
