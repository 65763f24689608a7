"""The platform over HTTP: API, dashboard, ingestion.

Reads the store; serves people and programs, takes definitions and production responses in; writes
runs and monitors.
"""
