"""How probes are asked: a call goes through ask, caller, budget and the limiter of its endpoint."""
