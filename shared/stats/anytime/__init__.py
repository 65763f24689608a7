"""Evidence that stays valid however often anyone looks: e-values and confidence sequences."""
