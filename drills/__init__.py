"""Drills: scripted faults against the real platform, which count what is lost."""
