"""What the builder does in the world: reads plans and sources, asks, writes suites."""
