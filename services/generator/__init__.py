"""Probes become responses.

Reads probes; puts them to the target through their scaffold, holding the keys, the rate and the
budget; writes one response for each probe.
"""
