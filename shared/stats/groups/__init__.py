"""Descriptions of groups: summary statistics, disparity between them, its null distribution."""
