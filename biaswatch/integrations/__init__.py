"""Other tools: exports to their formats and servers, and our extractors as their scorers."""
