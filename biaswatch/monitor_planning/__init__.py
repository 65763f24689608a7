"""How long a monitor needs to find a gap, computed before it starts."""
