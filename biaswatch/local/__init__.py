"""The platform on this machine, and connections to its gateway and its bus."""
