"""The table of shapes: how often verdicts about groups err, and what they find, by simulation."""
