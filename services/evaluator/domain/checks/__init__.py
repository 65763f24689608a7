"""What code alone checks in a report: structure, numbers, statements, causes, required notes."""
