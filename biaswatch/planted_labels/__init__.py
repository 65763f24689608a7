"""Studies whose instrument errs on purpose, and simulated people who know the truth and label."""
