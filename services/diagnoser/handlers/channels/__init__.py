"""Channels over which alarms are sent, one module for each kind, and who sends what is due."""
