"""One group compared with another: gaps, tests, effect sizes, corrections, conclusions."""
