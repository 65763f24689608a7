"""Monitors of simulated models with planted effects: what is planted, how it runs, what is said."""
