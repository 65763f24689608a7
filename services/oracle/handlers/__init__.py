"""What the oracle does: asks judges about the pairs of closed runs, and closes each pair."""
