"""Every record reaches the store, once.

Reads every record; writes each into the store keyed by its id; writes nothing to the bus.
"""
