"""Calls to models: `ask` handles a probe, `caller` makes its calls with retries."""
