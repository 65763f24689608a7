"""How monitors gather evidence: one file a method, named as monitors name it."""
