"""What is asked for a probe, how fast, at what cost, and what becomes of the answer."""
