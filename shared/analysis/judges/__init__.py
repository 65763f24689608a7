"""Questions to judges with known replies: their record and the bank they are drawn from."""
