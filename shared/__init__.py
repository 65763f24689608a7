"""Libraries shared by all services; imports nothing."""
