"""How many prompts and repeats a run needs to find a gap, computed before it starts."""
