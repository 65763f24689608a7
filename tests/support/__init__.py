"""Record makers, a real nats-server and real databases for tests."""
