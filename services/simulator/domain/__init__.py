"""Answers of simulated models, as pure functions of request and seed."""
