"""The parts of a deployment, derived from the code: a new service is in all of them."""
