"""Monitors, suites and runs as resources of Kubernetes.

Reads BiasMonitor, BiasSuite and BiasRun from the API server, and their state from the gateway.
Requests changes of the gateway and writes status and events; it does not use the bus.
"""
