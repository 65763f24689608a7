"""Alarms reach the channels that their monitors name.

Reads alarms; writes to the store how each delivery ended; writes nothing to the bus.
"""
