"""Counts in two-by-two tables: odds, risks, tests of independence, strata, pairs."""
