"""Monitors over HTTP: applied, paused, shown with their evidence and alarms."""
