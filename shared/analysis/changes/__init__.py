"""Changes between two runs: of gaps, of means and of shares of missing answers."""
