"""Engines: sums of tables larger than memory, as plain SQL, and the diagnosis that follows."""
