"""Responses become numbers.

Reads responses; measures them with every enabled extractor; writes features, or that a response
is unscorable and why.
"""
