"""Exports from a gateway: answers, and tasks for labelling."""
