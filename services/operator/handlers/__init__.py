"""Reconciliation of resources with the gateway."""
