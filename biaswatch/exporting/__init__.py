"""What was answered and measured, in files that other tools and `diagnose` read."""
