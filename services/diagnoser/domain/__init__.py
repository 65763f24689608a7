"""What the diagnoser computes: findings of runs and tables, evidence of monitors. Pure."""
