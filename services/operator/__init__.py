"""Monitors, suites and runs as resources of Kubernetes.

Reads BiasMonitor, BiasSuite and BiasRun from the API server, and what became of them from the
gateway; asks the gateway for what they say; writes their status and events, and nothing to the bus.
"""
