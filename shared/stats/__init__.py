"""Statistics as pure functions: no I/O, no clock, random numbers only from a given generator."""
