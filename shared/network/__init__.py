"""Outgoing connections: addresses that may be reached, and requests over HTTP."""
