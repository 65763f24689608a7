"""Handlers of the notifier: deliveries, alerts that must be repeated, announcements of channels."""
