"""Bodies of the HTTP API, for the gateway and its clients alike."""
