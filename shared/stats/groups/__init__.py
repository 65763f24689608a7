"""Groups described: summary statistics, disparity between them, what chance alone would give."""
