"""The process around the stages: settings, lifecycle, health, and waiting for records."""
