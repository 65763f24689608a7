"""OTLP over HTTP: spans and log events of instrumented applications become production answers."""
