"""How probes are asked: a call goes through ask, caller, call_cache, budget and rate_limiter."""
