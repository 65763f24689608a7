"""The platform over HTTP: API, dashboard, ingestion.

Reads the store and exchanges of live systems; serves people and programs, takes definitions and
production answers in; writes runs, monitors, briefs and responses.
"""
