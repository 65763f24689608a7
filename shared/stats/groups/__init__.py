"""Groups described: summary statistics, disparity between them, its null distribution."""
