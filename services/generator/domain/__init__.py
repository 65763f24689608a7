"""Pure decisions: the calls of a probe, how fast they go, what they cost, the response."""
