"""Plans runs and rounds of monitors, and closes them once everything expected has arrived.

Reads runs, monitors and features; writes probes and completions.
"""
