"""What is asked of writers and judges, what is checked by code, what scores add up to."""
