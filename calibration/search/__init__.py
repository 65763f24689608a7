"""Simulated searches and their bars."""
