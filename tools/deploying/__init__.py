"""What a deployment is made of, derived from the code, so that a new service is in all of it."""
