"""Verbs of the platform's own machine: `biaswatch admin ...`."""
