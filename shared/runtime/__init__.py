"""What makes a process out of stages: settings, lifecycle, health, and waiting for records."""
