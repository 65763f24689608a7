"""Writes every record into the store, once.

Reads every record; writes none to the bus.
"""
