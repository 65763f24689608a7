"""Production traffic over HTTP: the answers of live systems, for the monitors that watch them."""
